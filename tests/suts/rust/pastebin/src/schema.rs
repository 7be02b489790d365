//! The tables, as diesel knows them, and as SQLite makes them.

/// Makes the tables.
pub(crate) const CREATE: &str = "
    PRAGMA foreign_keys = ON;
    CREATE TABLE IF NOT EXISTS pastes (
        id TEXT NOT NULL PRIMARY KEY,
        title TEXT NOT NULL,
        author TEXT,
        syntax TEXT NOT NULL,
        visibility TEXT NOT NULL CHECK (visibility IN ('public', 'unlisted', 'private')),
        password TEXT,
        edit_key TEXT NOT NULL,
        parent TEXT REFERENCES pastes (id) ON DELETE SET NULL,
        version INTEGER NOT NULL,
        views INTEGER NOT NULL DEFAULT 0,
        most_views INTEGER,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL,
        expires_at BIGINT,
        CHECK ((visibility = 'private') = (password IS NOT NULL))
    );
    CREATE TABLE IF NOT EXISTS versions (
        paste_id TEXT NOT NULL REFERENCES pastes (id) ON DELETE CASCADE,
        number INTEGER NOT NULL,
        content TEXT NOT NULL,
        digest TEXT NOT NULL,
        note TEXT NOT NULL DEFAULT '',
        created_at BIGINT NOT NULL,
        PRIMARY KEY (paste_id, number)
    );
    CREATE INDEX IF NOT EXISTS pastes_by_time ON pastes (created_at, id);
";

diesel::table! {
    pastes (id) {
        id -> Text,
        title -> Text,
        author -> Nullable<Text>,
        syntax -> Text,
        visibility -> Text,
        password -> Nullable<Text>,
        edit_key -> Text,
        parent -> Nullable<Text>,
        version -> Integer,
        views -> Integer,
        most_views -> Nullable<Integer>,
        created_at -> BigInt,
        updated_at -> BigInt,
        expires_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    versions (paste_id, number) {
        paste_id -> Text,
        number -> Integer,
        content -> Text,
        digest -> Text,
        note -> Text,
        created_at -> BigInt,
    }
}

diesel::joinable!(versions -> pastes (paste_id));
diesel::allow_tables_to_appear_in_same_query!(pastes, versions);
