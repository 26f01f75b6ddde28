-- The work on each bundle: who builds it, what it was built from, when it is due. No row: it was never built. Times are
-- microseconds since 1970 by the clock of the database.
CREATE TABLE bundle_builds (
    bundle_id BIGINT NOT NULL PRIMARY KEY REFERENCES items (id) ON DELETE CASCADE,
    -- number of changes of the bundle and of what it depends on, and the number that the last attempt has seen
    changes BIGINT NOT NULL,
    attempted_changes BIGINT NOT NULL,
    -- number of requested builds, and the number that the last attempt has served
    requested BIGINT NOT NULL,
    served BIGINT NOT NULL,
    -- the lease: the instance that holds it, its last renewal, and a number that grows with each lease
    holder TEXT,
    renewed_at BIGINT,
    fence BIGINT NOT NULL,
    -- end of the last attempt, the delay until the next one, and consecutive failures
    attempted_at BIGINT,
    delay BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    -- digest of the inputs of the archive in the storage, and its revision
    input_digest TEXT,
    revision TEXT,
    succeeded_at BIGINT
);

-- finished attempts, for the history of builds
CREATE TABLE build_attempts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    bundle_id BIGINT NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    fence BIGINT NOT NULL,
    revision TEXT NOT NULL,
    phase TEXT NOT NULL,
    status TEXT NOT NULL,
    error_message TEXT NOT NULL,
    ended_at BIGINT NOT NULL,
    -- durations in microseconds, or NULL if the stage did not run
    sync_duration BIGINT,
    build_duration BIGINT,
    push_duration BIGINT
);

CREATE INDEX build_attempts_bundle ON build_attempts (bundle_id, id);
