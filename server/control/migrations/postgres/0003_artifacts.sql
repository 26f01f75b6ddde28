-- built revisions of bundles; `file` names the archive in the data folder, and NULL means that it is in `artifact_pieces`
CREATE TABLE artifacts (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    bundle_id BIGINT NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    revision TEXT COLLATE "C" NOT NULL,
    digest TEXT NOT NULL,
    size BIGINT NOT NULL,
    fence BIGINT NOT NULL,
    file TEXT,
    created_at BIGINT NOT NULL
);

CREATE INDEX artifacts_bundle ON artifacts (bundle_id, id);

-- archives in pieces, numbered from 0; every piece but the last has 1 MiB
CREATE TABLE artifact_pieces (
    artifact_id BIGINT NOT NULL REFERENCES artifacts (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (artifact_id, number)
);

-- the active artifact of a bundle and the largest fencing token that published one
CREATE TABLE publications (
    bundle_id BIGINT NOT NULL PRIMARY KEY REFERENCES items (id) ON DELETE CASCADE,
    artifact_id BIGINT NOT NULL REFERENCES artifacts (id) ON DELETE CASCADE,
    fence BIGINT NOT NULL,
    sequence BIGINT NOT NULL
);

CREATE INDEX publications_sequence ON publications (sequence);

-- the number of changes of `publications` so far
CREATE TABLE publication_changes (
    id BIGINT NOT NULL PRIMARY KEY,
    count BIGINT NOT NULL
);

INSERT INTO publication_changes (id, count) VALUES (1, 0);
