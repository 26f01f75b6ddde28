-- built revisions of bundles; `file` names the archive in the data folder, and NULL means that it is in `artifact_pieces`
CREATE TABLE IF NOT EXISTS artifacts (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    bundle_id BIGINT NOT NULL,
    revision VARCHAR(2048) NOT NULL,
    digest VARCHAR(64) NOT NULL,
    size BIGINT NOT NULL,
    fence BIGINT NOT NULL,
    file VARCHAR(255),
    created_at BIGINT NOT NULL,
    CONSTRAINT artifacts_bundle FOREIGN KEY (bundle_id) REFERENCES items (id) ON DELETE CASCADE,
    KEY artifacts_of_bundle (bundle_id, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- archives in pieces, numbered from 0; every piece but the last has 1 MiB
CREATE TABLE IF NOT EXISTS artifact_pieces (
    artifact_id BIGINT NOT NULL,
    number BIGINT NOT NULL,
    content LONGBLOB NOT NULL,
    PRIMARY KEY (artifact_id, number),
    CONSTRAINT artifact_pieces_artifact FOREIGN KEY (artifact_id) REFERENCES artifacts (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- the active artifact of a bundle and the largest fencing token that published one
CREATE TABLE IF NOT EXISTS publications (
    bundle_id BIGINT NOT NULL PRIMARY KEY,
    artifact_id BIGINT NOT NULL,
    fence BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    CONSTRAINT publications_bundle FOREIGN KEY (bundle_id) REFERENCES items (id) ON DELETE CASCADE,
    CONSTRAINT publications_artifact FOREIGN KEY (artifact_id) REFERENCES artifacts (id) ON DELETE CASCADE,
    KEY publications_sequence (sequence)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- the number of changes of `publications` so far
CREATE TABLE IF NOT EXISTS publication_changes (
    id BIGINT NOT NULL PRIMARY KEY,
    count BIGINT NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

INSERT IGNORE INTO publication_changes (id, count) VALUES (1, 0);
