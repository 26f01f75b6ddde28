-- Requested builds, numbered for each bundle. The attempt that served a request is its result; without one it waits.
CREATE TABLE build_requests (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    bundle_id BIGINT NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    requested_at BIGINT NOT NULL,
    attempt_id BIGINT REFERENCES build_attempts (id) ON DELETE CASCADE
);

CREATE INDEX build_requests_bundle ON build_requests (bundle_id, id);

CREATE INDEX build_requests_attempt ON build_requests (attempt_id);

-- Fetches that webhooks of a source have triggered: their number, the time of the last one, and 1 if another one is due after
-- the minimum pause. Times are microseconds since 1970 by the clock of the database.
CREATE TABLE source_triggers (
    source_id BIGINT NOT NULL PRIMARY KEY REFERENCES items (id) ON DELETE CASCADE,
    triggers BIGINT NOT NULL,
    triggered_at BIGINT NOT NULL,
    is_waiting BIGINT NOT NULL
);

-- digests of the ids of deliveries that webhooks have received, so that a repeated delivery has no effect
CREATE TABLE webhook_deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source_id BIGINT NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    digest BLOB NOT NULL,
    received_at BIGINT NOT NULL,
    CONSTRAINT webhook_deliveries_digest UNIQUE (source_id, digest)
);

-- Sessions of the page. `digest` is the keyed digest of the cookie, `key_hash` that of the token's key at login: a session ends
-- when the token gets another key.
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    token_id BIGINT NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
    digest BLOB NOT NULL UNIQUE,
    key_hash BLOB NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX sessions_token ON sessions (token_id, id);
