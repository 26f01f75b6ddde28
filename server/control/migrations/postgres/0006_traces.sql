-- The trace that a change belongs to, in the format of the header `traceparent`: of a bundle, for its next build, and of a source,
-- for its next fetch.
CREATE TABLE traces (
    item_id BIGINT NOT NULL PRIMARY KEY REFERENCES items (id) ON DELETE CASCADE,
    parent TEXT NOT NULL
);
