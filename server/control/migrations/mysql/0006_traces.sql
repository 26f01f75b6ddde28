-- The trace that a change belongs to, in the format of the header `traceparent`: of a bundle, for its next build, and of a source,
-- for its next fetch.
CREATE TABLE IF NOT EXISTS traces (
    item_id BIGINT NOT NULL PRIMARY KEY,
    parent VARCHAR(255) NOT NULL,
    CONSTRAINT traces_item FOREIGN KEY (item_id) REFERENCES items (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
