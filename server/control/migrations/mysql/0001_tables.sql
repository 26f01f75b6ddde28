-- The row that every write locks first, so that writes come one after another.
CREATE TABLE IF NOT EXISTS writer (
    id BIGINT NOT NULL PRIMARY KEY
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

INSERT IGNORE INTO writer (id) VALUES (1);

-- keys that the service made for itself, encrypted
CREATE TABLE IF NOT EXISTS settings (
    name VARBINARY(1100) NOT NULL PRIMARY KEY,
    value LONGBLOB NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- who asks; the key only as a keyed digest
CREATE TABLE IF NOT EXISTS tokens (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name VARBINARY(1100) NOT NULL UNIQUE,
    role VARCHAR(64) NOT NULL,
    key_hash VARBINARY(64) NOT NULL UNIQUE,
    file LONGTEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    last_used_at BIGINT
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- bundles, sources, stacks and secrets; of a secret the body has its type alone
CREATE TABLE IF NOT EXISTS items (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    kind VARCHAR(64) NOT NULL,
    name VARBINARY(1100) NOT NULL,
    version BIGINT NOT NULL,
    owner_id BIGINT,
    file LONGTEXT,
    body LONGTEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    CONSTRAINT items_name UNIQUE (kind, name),
    CONSTRAINT items_owner FOREIGN KEY (owner_id) REFERENCES tokens (id) ON DELETE SET NULL,
    KEY items_kind (kind, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- which item names which
CREATE TABLE IF NOT EXISTS item_references (
    user_id BIGINT NOT NULL,
    used_id BIGINT NOT NULL,
    PRIMARY KEY (user_id, used_id),
    CONSTRAINT item_references_user FOREIGN KEY (user_id) REFERENCES items (id) ON DELETE CASCADE,
    CONSTRAINT item_references_used FOREIGN KEY (used_id) REFERENCES items (id),
    KEY item_references_used_id (used_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- the values of secrets, encrypted
CREATE TABLE IF NOT EXISTS secret_values (
    item_id BIGINT NOT NULL PRIMARY KEY,
    key_id VARCHAR(64) NOT NULL,
    sealed LONGBLOB NOT NULL,
    CONSTRAINT secret_values_item FOREIGN KEY (item_id) REFERENCES items (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- what someone may do with an item of somebody else
CREATE TABLE IF NOT EXISTS grants (
    item_id BIGINT NOT NULL,
    token_id BIGINT NOT NULL,
    permission VARCHAR(64) NOT NULL,
    PRIMARY KEY (item_id, token_id, permission),
    CONSTRAINT grants_item FOREIGN KEY (item_id) REFERENCES items (id) ON DELETE CASCADE,
    CONSTRAINT grants_token FOREIGN KEY (token_id) REFERENCES tokens (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- documents that were pushed
CREATE TABLE IF NOT EXISTS source_data (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    source_id BIGINT NOT NULL,
    path VARBINARY(1100) NOT NULL,
    version BIGINT NOT NULL,
    body LONGTEXT NOT NULL,
    CONSTRAINT source_data_path UNIQUE (source_id, path),
    CONSTRAINT source_data_source FOREIGN KEY (source_id) REFERENCES items (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- what became of building and pushing bundles
CREATE TABLE IF NOT EXISTS statuses (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    bundle_id BIGINT NOT NULL,
    revision VARBINARY(1100) NOT NULL,
    phase VARCHAR(64) NOT NULL,
    status VARCHAR(64) NOT NULL,
    error_message LONGTEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    CONSTRAINT statuses_bundle_id FOREIGN KEY (bundle_id) REFERENCES items (id) ON DELETE CASCADE,
    KEY statuses_bundle (bundle_id, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- who wrote what
CREATE TABLE IF NOT EXISTS audit (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    at BIGINT NOT NULL,
    principal LONGTEXT NOT NULL,
    request VARCHAR(64) NOT NULL,
    action VARCHAR(64) NOT NULL,
    kind VARCHAR(64) NOT NULL,
    name LONGTEXT NOT NULL,
    before_write LONGTEXT,
    after_write LONGTEXT
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
