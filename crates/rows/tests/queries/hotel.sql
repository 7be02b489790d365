-- A hotel: an enumeration, composite keys, booleans, timestamps. Written for PostgreSQL.

CREATE TYPE room_kind AS ENUM ('single', 'double', 'suite');

CREATE TABLE rooms (
    floor   INTEGER NOT NULL,
    door    INTEGER NOT NULL,
    kind    room_kind NOT NULL,
    smoking BOOLEAN NOT NULL DEFAULT FALSE,
    rate    NUMERIC(6, 2) CHECK (rate > 0),
    PRIMARY KEY (floor, door)
);

CREATE TABLE guests (
    code    CHAR(4) PRIMARY KEY,
    name    VARCHAR(30) NOT NULL,
    vip     BOOLEAN,
    since   TIMESTAMP
);

CREATE TABLE stays (
    guest   CHAR(4) NOT NULL REFERENCES guests (code),
    floor   INTEGER,
    door    INTEGER,
    nights  SMALLINT NOT NULL DEFAULT 1 CHECK (nights BETWEEN 1 AND 90),
    arrived TIMESTAMP NOT NULL,
    paid    BOOLEAN NOT NULL,
    UNIQUE (guest, arrived),
    FOREIGN KEY (floor, door) REFERENCES rooms (floor, door)
);
