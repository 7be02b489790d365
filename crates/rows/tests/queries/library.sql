-- A lending library: keys, foreign keys, CHECKs, nullable and required columns. Every engine reads it.

CREATE TABLE branches (
    id      INTEGER PRIMARY KEY,
    city    VARCHAR(30) NOT NULL,
    opened  DATE
);

CREATE TABLE members (
    id        INTEGER PRIMARY KEY,
    name      VARCHAR(40) NOT NULL,
    email     VARCHAR(60) UNIQUE,
    tier      VARCHAR(8) NOT NULL DEFAULT 'basic' CHECK (tier IN ('basic', 'plus', 'gold')),
    born      DATE,
    sponsor   INTEGER,
    FOREIGN KEY (sponsor) REFERENCES members (id)
);

CREATE TABLE books (
    isbn      VARCHAR(13) PRIMARY KEY,
    title     VARCHAR(60) NOT NULL,
    author    VARCHAR(40),
    pages     INTEGER CHECK (pages > 0),
    price     NUMERIC(7, 2) NOT NULL CHECK (price >= 0),
    branch    INTEGER NOT NULL,
    FOREIGN KEY (branch) REFERENCES branches (id)
);

CREATE TABLE loans (
    id        INTEGER PRIMARY KEY,
    member    INTEGER NOT NULL,
    isbn      VARCHAR(13) NOT NULL,
    taken     DATE NOT NULL,
    due       DATE NOT NULL,
    returned  DATE,
    fee       NUMERIC(6, 2),
    CHECK (due >= taken),
    CHECK (returned >= taken),
    FOREIGN KEY (member) REFERENCES members (id),
    FOREIGN KEY (isbn) REFERENCES books (isbn)
);

CREATE TABLE reviews (
    member    INTEGER NOT NULL,
    isbn      VARCHAR(13) NOT NULL,
    stars     INTEGER NOT NULL CHECK (stars BETWEEN 1 AND 5),
    words     VARCHAR(200),
    PRIMARY KEY (member, isbn),
    FOREIGN KEY (member) REFERENCES members (id),
    FOREIGN KEY (isbn) REFERENCES books (isbn)
);
