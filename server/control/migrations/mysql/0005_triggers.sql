-- Requested builds, numbered for each bundle. The attempt that served a request is its result; without one it waits.
CREATE TABLE IF NOT EXISTS build_requests (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    bundle_id BIGINT NOT NULL,
    number BIGINT NOT NULL,
    requested_at BIGINT NOT NULL,
    attempt_id BIGINT,
    CONSTRAINT build_requests_bundle_id FOREIGN KEY (bundle_id) REFERENCES items (id) ON DELETE CASCADE,
    CONSTRAINT build_requests_attempt_id FOREIGN KEY (attempt_id) REFERENCES build_attempts (id) ON DELETE CASCADE,
    KEY build_requests_bundle (bundle_id, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Fetches that webhooks of a source have triggered: their number, the time of the last one, and 1 if another one is due after
-- the minimum pause. Times are microseconds since 1970 by the clock of the database.
CREATE TABLE IF NOT EXISTS source_triggers (
    source_id BIGINT NOT NULL PRIMARY KEY,
    triggers BIGINT NOT NULL,
    triggered_at BIGINT NOT NULL,
    is_waiting BIGINT NOT NULL,
    CONSTRAINT source_triggers_source FOREIGN KEY (source_id) REFERENCES items (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- digests of the ids of deliveries that webhooks have received, so that a repeated delivery has no effect
CREATE TABLE IF NOT EXISTS webhook_deliveries (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    source_id BIGINT NOT NULL,
    digest VARBINARY(64) NOT NULL,
    received_at BIGINT NOT NULL,
    CONSTRAINT webhook_deliveries_digest UNIQUE (source_id, digest),
    CONSTRAINT webhook_deliveries_source FOREIGN KEY (source_id) REFERENCES items (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Sessions of the page. `digest` is the keyed digest of the cookie, `key_hash` that of the token's key at login: a session ends
-- when the token gets another key.
CREATE TABLE IF NOT EXISTS sessions (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    token_id BIGINT NOT NULL,
    digest VARBINARY(64) NOT NULL UNIQUE,
    key_hash VARBINARY(64) NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    CONSTRAINT sessions_token_id FOREIGN KEY (token_id) REFERENCES tokens (id) ON DELETE CASCADE,
    KEY sessions_token (token_id, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
