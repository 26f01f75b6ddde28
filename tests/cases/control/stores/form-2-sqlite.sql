PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE solon_migrations (version BIGINT NOT NULL PRIMARY KEY, applied_at BIGINT NOT NULL);
INSERT INTO solon_migrations VALUES(1,1795846829247779);
INSERT INTO solon_migrations VALUES(2,1795846829248091);
INSERT INTO solon_migrations VALUES(3,1795846829248465);
INSERT INTO solon_migrations VALUES(4,1795846829248675);
CREATE TABLE writer (
    id BIGINT NOT NULL PRIMARY KEY
);
INSERT INTO writer VALUES(1);
CREATE TABLE settings (
    name TEXT NOT NULL PRIMARY KEY,
    value BLOB NOT NULL
);
INSERT INTO settings VALUES('service_keys',X'356630336630646162646336313932630a99eb92d9ffc04beef588247b02a28c4c0149a1c28af766591ff370465bcf1c61fd296f64db7467b9fd8dc99a4cdcc7fb2075cf95de83178b504b6820');
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
INSERT INTO tokens VALUES(1,'admin','administrator',X'2c0fc88c71480e45dbee20c3bd6e570a453e54d5ae23820c3aa0748abee12eea',NULL,1795846829313123,NULL,1795846829332677);
INSERT INTO tokens VALUES(2,'viewer','viewer',X'dd65b5971a564348cfc36936591c982bf4194389b8eceee3d07ea8700a57554a',NULL,1795846829314798,NULL,NULL);
INSERT INTO tokens VALUES(3,'owner1','owner',X'3b2ea2930ef89f0e46d95a7c9dd15dc8d43ee88acf53aa0e81425368d62a7e92',NULL,1795846829327054,NULL,NULL);
INSERT INTO tokens VALUES(4,'owner2','owner',X'484af2ac46a1d499f0572faa9dbca8e26df9a6442c5a63ed44dd4fadcfb9e4f7',NULL,1795846829328229,NULL,NULL);
INSERT INTO tokens VALUES(5,'stack1','stack_owner',X'15d6aa8a891c908acd8d56311cbfcfab3d1aa1f5cba8668c91ed1fee4b7355d5',NULL,1795846829329099,NULL,NULL);
INSERT INTO tokens VALUES(6,'stack2','stack_owner',X'a2668a228b4034abf4051ebd15495baf4a9c5d8174b2367b4a0d06b59fced3fd',NULL,1795846829329996,NULL,NULL);
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
INSERT INTO items VALUES(1,'sources','lib',1,1,NULL,'{"name":"lib","files":{"a.rego":"cGFja2FnZSBhCg=="}}',1795846829332291,1795846829332292);
INSERT INTO items VALUES(2,'secrets','key',1,1,NULL,'{"type":"signing_key"}',1795846829334043,1795846829334043);
INSERT INTO items VALUES(3,'bundles','b',1,1,NULL,'{"name":"b","requirements":[{"source":"lib"}],"signing":{"key":"key","algorithm":"HS256"}}',1795846829335541,1795846829335541);
CREATE TABLE item_references (
    user_id BIGINT NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    used_id BIGINT NOT NULL REFERENCES items (id),
    PRIMARY KEY (user_id, used_id)
);
INSERT INTO item_references VALUES(3,1);
INSERT INTO item_references VALUES(3,2);
CREATE TABLE secret_values (
    item_id BIGINT NOT NULL PRIMARY KEY REFERENCES items (id) ON DELETE CASCADE,
    key_id TEXT NOT NULL,
    sealed BLOB NOT NULL
);
INSERT INTO secret_values VALUES(2,'5f03f0dabdc6192c',X'7fb914fa663021cb95709bbdea494ad5193f4069f7495448cc8456e3ea99b287acbf07e8274e2cde53e10e3d2f62bbd7aadb54f78bd598e8cb660055f66e9ac2a82d');
CREATE TABLE grants (
    item_id BIGINT NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    token_id BIGINT NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
    permission TEXT NOT NULL,
    PRIMARY KEY (item_id, token_id, permission)
);
CREATE TABLE source_data (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source_id BIGINT NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    version BIGINT NOT NULL,
    body TEXT NOT NULL,
    CONSTRAINT source_data_path UNIQUE (source_id, path)
);
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
INSERT INTO audit VALUES(1,1795846829313266,'the command line','','create','tokens','admin',NULL,'{"created_at":"2026-11-28T06:20:29.313123Z","expires_at":null,"last_used_at":null,"name":"admin","role":"administrator"}');
INSERT INTO audit VALUES(2,1795846829314898,'the command line','','create','tokens','viewer',NULL,'{"created_at":"2026-11-28T06:20:29.314798Z","expires_at":null,"last_used_at":null,"name":"viewer","role":"viewer"}');
INSERT INTO audit VALUES(3,1795846829327212,'the command line','','create','tokens','owner1',NULL,'{"created_at":"2026-11-28T06:20:29.327054Z","expires_at":null,"last_used_at":null,"name":"owner1","role":"owner"}');
INSERT INTO audit VALUES(4,1795846829328308,'the command line','','create','tokens','owner2',NULL,'{"created_at":"2026-11-28T06:20:29.328229Z","expires_at":null,"last_used_at":null,"name":"owner2","role":"owner"}');
INSERT INTO audit VALUES(5,1795846829329210,'the command line','','create','tokens','stack1',NULL,'{"created_at":"2026-11-28T06:20:29.329099Z","expires_at":null,"last_used_at":null,"name":"stack1","role":"stack_owner"}');
INSERT INTO audit VALUES(6,1795846829330072,'the command line','','create','tokens','stack2',NULL,'{"created_at":"2026-11-28T06:20:29.329996Z","expires_at":null,"last_used_at":null,"name":"stack2","role":"stack_owner"}');
INSERT INTO audit VALUES(7,1795846829332646,'admin','1','create','sources','lib',NULL,'{"name":"lib","files":{"a.rego":"cGFja2FnZSBhCg=="}}');
INSERT INTO audit VALUES(8,1795846829334355,'admin','2','create','secrets','key',NULL,'{"type":"signing_key"}');
INSERT INTO audit VALUES(9,1795846829336316,'admin','3','create','bundles','b',NULL,'{"name":"b","requirements":[{"source":"lib"}],"signing":{"key":"key","algorithm":"HS256"}}');
INSERT INTO audit VALUES(10,1795846829347071,'admin','4','rollback','bundles','b','{"id":2,"revision":"two","digest":"3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3","size":3,"created_at":"2026-11-28T06:20:29.344584Z","active":true}','{"id":1,"revision":"one","digest":"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed","size":3,"created_at":"2026-11-28T06:20:29.339381Z","active":true}');
CREATE TABLE artifacts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    bundle_id BIGINT NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    revision TEXT NOT NULL,
    digest TEXT NOT NULL,
    size BIGINT NOT NULL,
    fence BIGINT NOT NULL,
    file TEXT,
    created_at BIGINT NOT NULL
);
INSERT INTO artifacts VALUES(1,3,'one','7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed',3,1,'3233010edf1a13aaa74d27b6e08a82de.tar.gz',1795846829339381);
INSERT INTO artifacts VALUES(2,3,'two','3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3',3,2,'b99f6f6c68a95329b1ae09c04a9ef64c.tar.gz',1795846829344584);
CREATE TABLE artifact_pieces (
    artifact_id BIGINT NOT NULL REFERENCES artifacts (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (artifact_id, number)
);
CREATE TABLE publications (
    bundle_id BIGINT NOT NULL PRIMARY KEY REFERENCES items (id) ON DELETE CASCADE,
    artifact_id BIGINT NOT NULL REFERENCES artifacts (id) ON DELETE CASCADE,
    fence BIGINT NOT NULL,
    sequence BIGINT NOT NULL
);
INSERT INTO publications VALUES(3,1,2,3);
CREATE TABLE publication_changes (
    id BIGINT NOT NULL PRIMARY KEY,
    count BIGINT NOT NULL
);
INSERT INTO publication_changes VALUES(1,3);
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
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('tokens',6);
INSERT INTO sqlite_sequence VALUES('audit',10);
INSERT INTO sqlite_sequence VALUES('items',3);
INSERT INTO sqlite_sequence VALUES('artifacts',2);
CREATE INDEX items_kind ON items (kind, id);
CREATE INDEX item_references_used ON item_references (used_id);
CREATE INDEX statuses_bundle ON statuses (bundle_id, id);
CREATE INDEX items_owner ON items (owner_id, kind, id);
CREATE INDEX grants_token ON grants (token_id, permission, item_id);
CREATE INDEX artifacts_bundle ON artifacts (bundle_id, id);
CREATE INDEX publications_sequence ON publications (sequence);
CREATE INDEX build_attempts_bundle ON build_attempts (bundle_id, id);
COMMIT;
