-- The row that every write locks first, so that writes come one after another.
CREATE TABLE writer (
    id BIGINT NOT NULL PRIMARY KEY
);

INSERT INTO writer (id) VALUES (1);

-- keys that the service made for itself, encrypted
CREATE TABLE settings (
    name TEXT NOT NULL PRIMARY KEY,
    value BLOB NOT NULL
);

-- who asks; the key only as a keyed digest
CREATE TABLE tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    key_hash BLOB NOT NULL UNIQUE,
    file TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    last_used_at BIGINT
);

-- bundles, sources, stacks and secrets; of a secret the body has its type alone
CREATE TABLE items (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    version BIGINT NOT NULL,
    owner_id BIGINT REFERENCES tokens (id) ON DELETE SET NULL,
    file TEXT,
    body TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    CONSTRAINT items_name UNIQUE (kind, name)
);

CREATE INDEX items_kind ON items (kind, id);

-- which item names which
CREATE TABLE item_references (
    user_id BIGINT NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    used_id BIGINT NOT NULL REFERENCES items (id),
    PRIMARY KEY (user_id, used_id)
);

CREATE INDEX item_references_used ON item_references (used_id);

-- the values of secrets, encrypted
CREATE TABLE secret_values (
    item_id BIGINT NOT NULL PRIMARY KEY REFERENCES items (id) ON DELETE CASCADE,
    key_id TEXT NOT NULL,
    sealed BLOB NOT NULL
);

-- what someone may do with an item of somebody else
CREATE TABLE grants (
    item_id BIGINT NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    token_id BIGINT NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
    permission TEXT NOT NULL,
    PRIMARY KEY (item_id, token_id, permission)
);

-- documents that were pushed
CREATE TABLE source_data (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source_id BIGINT NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    version BIGINT NOT NULL,
    body TEXT NOT NULL,
    CONSTRAINT source_data_path UNIQUE (source_id, path)
);

-- what became of building and pushing bundles
CREATE TABLE statuses (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    bundle_id BIGINT NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    revision TEXT NOT NULL,
    phase TEXT NOT NULL,
    status TEXT NOT NULL,
    error_message TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE INDEX statuses_bundle ON statuses (bundle_id, id);

-- who wrote what
CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at BIGINT NOT NULL,
    principal TEXT NOT NULL,
    request TEXT NOT NULL,
    action TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    before_write TEXT,
    after_write TEXT
);
