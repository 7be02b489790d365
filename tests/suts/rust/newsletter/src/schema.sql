CREATE TABLE lists (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    slug TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT '',
    open INTEGER NOT NULL DEFAULT 1,
    hour_from INTEGER NOT NULL DEFAULT 0,
    hour_until INTEGER NOT NULL DEFAULT 24,
    offset_minutes INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE subscribers (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    list_id INTEGER NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
    email TEXT NOT NULL,
    name TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL CHECK (state IN ('pending', 'confirmed', 'unsubscribed', 'bounced')),
    token TEXT NOT NULL UNIQUE,
    token_expires INTEGER NOT NULL,
    reason TEXT,
    created_at INTEGER NOT NULL,
    UNIQUE (list_id, email)
);

CREATE TABLE templates (
    name TEXT NOT NULL PRIMARY KEY,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    updated_at INTEGER NOT NULL
);

CREATE TABLE campaigns (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    list_id INTEGER NOT NULL REFERENCES lists (id),
    template TEXT NOT NULL REFERENCES templates (name),
    title TEXT NOT NULL,
    variables TEXT NOT NULL DEFAULT '{}',
    state TEXT NOT NULL CHECK (state IN ('draft', 'scheduled', 'sending', 'paused', 'sent', 'cancelled')),
    send_at INTEGER,
    created_at INTEGER NOT NULL,
    finished_at INTEGER
);

CREATE TABLE deliveries (
    campaign_id INTEGER NOT NULL REFERENCES campaigns (id) ON DELETE CASCADE,
    subscriber_id INTEGER NOT NULL REFERENCES subscribers (id) ON DELETE CASCADE,
    state TEXT NOT NULL CHECK (state IN ('queued', 'delivered', 'deferred', 'failed')),
    attempts INTEGER NOT NULL DEFAULT 0,
    problem TEXT,
    PRIMARY KEY (campaign_id, subscriber_id)
);

CREATE TABLE idempotency (
    operation TEXT NOT NULL,
    key TEXT NOT NULL,
    digest TEXT NOT NULL,
    status INTEGER NOT NULL,
    body TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (operation, key)
);
