-- The tables of the marina.

CREATE TABLE users (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    password TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('master', 'skipper'))
);

CREATE TABLE boats (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner_id INTEGER NOT NULL REFERENCES users (id),
    name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('sail', 'motor', 'rowing')),
    length INTEGER NOT NULL,
    draft INTEGER,
    tags TEXT NOT NULL DEFAULT '[]'
);

CREATE TABLE berths (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    pier TEXT NOT NULL,
    number INTEGER NOT NULL,
    length INTEGER NOT NULL CHECK (length > 0),
    power INTEGER NOT NULL DEFAULT 0,
    CONSTRAINT one_berth_per_number UNIQUE (pier, number)
);

CREATE TABLE bookings (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    boat_id INTEGER NOT NULL REFERENCES boats (id),
    berth_id INTEGER NOT NULL REFERENCES berths (id),
    arrival TEXT NOT NULL,
    departure TEXT NOT NULL,
    notes TEXT NOT NULL DEFAULT ''
);

CREATE TABLE invoices (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    booking_id INTEGER NOT NULL UNIQUE REFERENCES bookings (id) ON DELETE CASCADE,
    due INTEGER NOT NULL,
    paid INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE notices (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    author TEXT,
    title TEXT NOT NULL,
    priority TEXT NOT NULL CHECK (priority IN ('low', 'normal', 'urgent'))
);
