-- The work on each bundle: who builds it, what it was built from, when it is due. No row: it was never built. Times are
-- microseconds since 1970 by the clock of the database.
CREATE TABLE IF NOT EXISTS bundle_builds (
    bundle_id BIGINT NOT NULL PRIMARY KEY,
    -- number of changes of the bundle and of what it depends on, and the number that the last attempt has seen
    changes BIGINT NOT NULL,
    attempted_changes BIGINT NOT NULL,
    -- number of requested builds, and the number that the last attempt has served
    requested BIGINT NOT NULL,
    served BIGINT NOT NULL,
    -- the lease: the instance that holds it, its last renewal, and a number that grows with each lease
    holder VARCHAR(255),
    renewed_at BIGINT,
    fence BIGINT NOT NULL,
    -- end of the last attempt, the delay until the next one, and consecutive failures
    attempted_at BIGINT,
    delay BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    -- digest of the inputs of the archive in the storage, and its revision
    input_digest VARCHAR(255),
    revision VARBINARY(1100),
    succeeded_at BIGINT,
    CONSTRAINT bundle_builds_bundle FOREIGN KEY (bundle_id) REFERENCES items (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- finished attempts, for the history of builds
CREATE TABLE IF NOT EXISTS build_attempts (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    bundle_id BIGINT NOT NULL,
    fence BIGINT NOT NULL,
    revision VARBINARY(1100) NOT NULL,
    phase VARCHAR(64) NOT NULL,
    status VARCHAR(64) NOT NULL,
    error_message LONGTEXT NOT NULL,
    ended_at BIGINT NOT NULL,
    -- durations in microseconds, or NULL if the stage did not run
    sync_duration BIGINT,
    build_duration BIGINT,
    push_duration BIGINT,
    CONSTRAINT build_attempts_bundle_id FOREIGN KEY (bundle_id) REFERENCES items (id) ON DELETE CASCADE,
    KEY build_attempts_bundle (bundle_id, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
