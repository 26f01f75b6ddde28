PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE solon_migrations (version BIGINT NOT NULL PRIMARY KEY, applied_at BIGINT NOT NULL);
INSERT INTO solon_migrations VALUES(1,1795886760864794);
INSERT INTO solon_migrations VALUES(2,1795886760865379);
INSERT INTO solon_migrations VALUES(3,1795886760865980);
INSERT INTO solon_migrations VALUES(4,1795886760867395);
INSERT INTO solon_migrations VALUES(5,1795886760868202);
INSERT INTO solon_migrations VALUES(6,1795886760868348);
CREATE TABLE writer (
    id BIGINT NOT NULL PRIMARY KEY
);
INSERT INTO writer VALUES(1);
CREATE TABLE settings (
    name TEXT NOT NULL PRIMARY KEY,
    value BLOB NOT NULL
);
INSERT INTO settings VALUES('service_keys',X'356630336630646162646336313932630a62d0f55a0f08a284df64f6af25e01f8c94294d39cbea271acd08c6a1f535661e20187f62e3a318c634275677c58669b1ffb892cd37afd5edbd9d2f4d');
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
INSERT INTO tokens VALUES(1,'admin','administrator',X'5bf0eaebdeba8724fec7308606c2c19387e03e83027ef5debe8c88cef643b496',NULL,1795886761059751,NULL,1795886761071311);
INSERT INTO tokens VALUES(2,'viewer','viewer',X'a1ea0cfb9e4bfe25401e933dffe760055e4d046fb276ed1a74ef1a5fbd0df520',NULL,1795886761061048,NULL,NULL);
INSERT INTO tokens VALUES(3,'owner1','owner',X'645203e32b95f9f508fb67f73410ce55b764c86bde35df7d5cb19d26dc8c6957',NULL,1795886761066264,NULL,NULL);
INSERT INTO tokens VALUES(4,'owner2','owner',X'c0fe197c4817d911bf3418023754df9646c4ce1e853d341ed3498f296747c18a',NULL,1795886761067070,NULL,NULL);
INSERT INTO tokens VALUES(5,'stack1','stack_owner',X'ca6255d809fd36f2eed9ebf37c1edafa941982a87e7b339eb4738678c3d89e70',NULL,1795886761067962,NULL,NULL);
INSERT INTO tokens VALUES(6,'stack2','stack_owner',X'2f762a7045bbaafaa996f418841448cac40bf05c1bb5b0c057af7b72eeda29f2',NULL,1795886761068738,NULL,NULL);
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
INSERT INTO items VALUES(1,'sources','lib',1,1,NULL,'{"name":"lib","files":{"a.rego":"cGFja2FnZSBhCg=="}}',1795886761070635,1795886761070638);
INSERT INTO items VALUES(2,'secrets','key',1,1,NULL,'{"type":"signing_key"}',1795886761072722,1795886761072724);
INSERT INTO items VALUES(3,'bundles','b',1,1,NULL,'{"name":"b","requirements":[{"source":"lib"}],"signing":{"key":"key","algorithm":"HS256"}}',1795886761076447,1795886761076450);
INSERT INTO items VALUES(4,'secrets','hook',1,1,NULL,'{"type":"password"}',1795886761100568,1795886761100571);
INSERT INTO items VALUES(5,'sources','hooked',1,1,NULL,'{"name":"hooked","webhook":{"provider":"gitlab","secret":"hook"}}',1795886761108351,1795886761108354);
INSERT INTO items VALUES(6,'bundles','kept',1,1,NULL,'{"name":"kept"}',1795886761144239,1795886761144242);
CREATE TABLE item_references (
    user_id BIGINT NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    used_id BIGINT NOT NULL REFERENCES items (id),
    PRIMARY KEY (user_id, used_id)
);
INSERT INTO item_references VALUES(3,1);
INSERT INTO item_references VALUES(3,2);
INSERT INTO item_references VALUES(5,4);
CREATE TABLE secret_values (
    item_id BIGINT NOT NULL PRIMARY KEY REFERENCES items (id) ON DELETE CASCADE,
    key_id TEXT NOT NULL,
    sealed BLOB NOT NULL
);
INSERT INTO secret_values VALUES(2,'5f03f0dabdc6192c',X'acc8dc9db29ba58bcfecf08a2385d20e12504a39f9e8f902a90bef9c926fe41ba047fd1e9e085b8dad5dd42b2eaa9b59c281787eb3492c6cb145c428ee88a0706bc6');
INSERT INTO secret_values VALUES(4,'5f03f0dabdc6192c',X'fb96b1dfd4aac6a4b3ef7aa1423bf002dcf767199fd8816afd53b4dda149122c2034a2bccb0158ebda2720ec1e008d26fe77e53349d71516fdefb549ea039a3459ace95f');
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
INSERT INTO statuses VALUES(1,3,'two','PUSH','SUCCESS','',1795886761126285,1795886761126285);
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
INSERT INTO audit VALUES(1,1795886761060098,'the command line','','create','tokens','admin',NULL,'{"created_at":"2026-11-28T17:26:01.059751Z","expires_at":null,"last_used_at":null,"name":"admin","role":"administrator"}');
INSERT INTO audit VALUES(2,1795886761061197,'the command line','','create','tokens','viewer',NULL,'{"created_at":"2026-11-28T17:26:01.061048Z","expires_at":null,"last_used_at":null,"name":"viewer","role":"viewer"}');
INSERT INTO audit VALUES(3,1795886761066381,'the command line','','create','tokens','owner1',NULL,'{"created_at":"2026-11-28T17:26:01.066264Z","expires_at":null,"last_used_at":null,"name":"owner1","role":"owner"}');
INSERT INTO audit VALUES(4,1795886761067217,'the command line','','create','tokens','owner2',NULL,'{"created_at":"2026-11-28T17:26:01.06707Z","expires_at":null,"last_used_at":null,"name":"owner2","role":"owner"}');
INSERT INTO audit VALUES(5,1795886761068096,'the command line','','create','tokens','stack1',NULL,'{"created_at":"2026-11-28T17:26:01.067962Z","expires_at":null,"last_used_at":null,"name":"stack1","role":"stack_owner"}');
INSERT INTO audit VALUES(6,1795886761068855,'the command line','','create','tokens','stack2',NULL,'{"created_at":"2026-11-28T17:26:01.068738Z","expires_at":null,"last_used_at":null,"name":"stack2","role":"stack_owner"}');
INSERT INTO audit VALUES(7,1795886761071231,'admin','1','create','sources','lib',NULL,'{"name":"lib","files":{"a.rego":"cGFja2FnZSBhCg=="}}');
INSERT INTO audit VALUES(8,1795886761072956,'admin','2','create','secrets','key',NULL,'{"type":"signing_key"}');
INSERT INTO audit VALUES(9,1795886761077114,'admin','3','create','bundles','b',NULL,'{"name":"b","requirements":[{"source":"lib"}],"signing":{"key":"key","algorithm":"HS256"}}');
INSERT INTO audit VALUES(10,1795886761093490,'admin','4','rollback','bundles','b','{"id":2,"revision":"two","digest":"3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3","size":3,"created_at":"2026-11-28T17:26:01.083639Z","active":true}','{"id":1,"revision":"one","digest":"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed","size":3,"created_at":"2026-11-28T17:26:01.079701Z","active":true}');
INSERT INTO audit VALUES(11,1795886761101007,'admin','5','create','secrets','hook',NULL,'{"type":"password"}');
INSERT INTO audit VALUES(12,1795886761108863,'admin','6','create','sources','hooked',NULL,'{"name":"hooked","webhook":{"provider":"gitlab","secret":"hook"}}');
INSERT INTO audit VALUES(13,1795886761124654,'admin','7','build','bundles','b',NULL,'{"id":1,"state":"waiting","requested_at":"2026-11-28T17:26:01.123Z"}');
INSERT INTO audit VALUES(14,1795886761128723,'admin','8','build','bundles','b',NULL,'{"id":2,"state":"waiting","requested_at":"2026-11-28T17:26:01.128Z"}');
INSERT INTO audit VALUES(15,1795886761142967,'admin','b','build','bundles','b',NULL,'{"id":3,"state":"waiting","requested_at":"2026-11-28T17:26:01.142Z"}');
INSERT INTO audit VALUES(16,1795886761144740,'admin','c','create','bundles','kept',NULL,'{"name":"kept"}');
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
INSERT INTO artifacts VALUES(1,3,'one','7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed',3,1,'09667b6804bd44001c49110ab92a20f6.tar.gz',1795886761079701);
INSERT INTO artifacts VALUES(2,3,'two','3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3',3,2,'4e6c314fa965ed4f52db393590cbeb13.tar.gz',1795886761083639);
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
INSERT INTO bundle_builds VALUES(3,1,1,3,1,NULL,NULL,1,1795886761126000,30000000,0,'d','two',1795886761126000);
INSERT INTO bundle_builds VALUES(6,1,1,0,0,'kept by fixture',1795886761144000,1,1795886761144000,30000000,0,'d','',1795886761144000);
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
INSERT INTO build_attempts VALUES(1,3,1,'two','PUSH','SUCCESS','',1795886761126000,7000,NULL,30000000);
CREATE TABLE build_requests (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    bundle_id BIGINT NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    requested_at BIGINT NOT NULL,
    attempt_id BIGINT REFERENCES build_attempts (id) ON DELETE CASCADE
);
INSERT INTO build_requests VALUES(1,3,1,1795886761123000,1);
INSERT INTO build_requests VALUES(2,3,2,1795886761128000,NULL);
INSERT INTO build_requests VALUES(3,3,3,1795886761142000,NULL);
CREATE TABLE source_triggers (
    source_id BIGINT NOT NULL PRIMARY KEY REFERENCES items (id) ON DELETE CASCADE,
    triggers BIGINT NOT NULL,
    triggered_at BIGINT NOT NULL,
    is_waiting BIGINT NOT NULL
);
INSERT INTO source_triggers VALUES(5,1,1795886761129000,1);
CREATE TABLE webhook_deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source_id BIGINT NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    digest BLOB NOT NULL,
    received_at BIGINT NOT NULL,
    CONSTRAINT webhook_deliveries_digest UNIQUE (source_id, digest)
);
INSERT INTO webhook_deliveries VALUES(1,5,X'b7fe48acf1769095342dfda9e3fa986950449e2b1a95efb3b58211b9e91a6b98',1795886761129000);
INSERT INTO webhook_deliveries VALUES(2,5,X'739c911dcd0130a552b9763e482b7c9a06c441cf74de81f6083227af279718aa',1795886761132000);
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    token_id BIGINT NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
    digest BLOB NOT NULL UNIQUE,
    key_hash BLOB NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE TABLE traces (
    item_id BIGINT NOT NULL PRIMARY KEY REFERENCES items (id) ON DELETE CASCADE,
    parent TEXT NOT NULL
);
INSERT INTO traces VALUES(3,'00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('tokens',6);
INSERT INTO sqlite_sequence VALUES('audit',16);
INSERT INTO sqlite_sequence VALUES('items',6);
INSERT INTO sqlite_sequence VALUES('artifacts',2);
INSERT INTO sqlite_sequence VALUES('build_requests',3);
INSERT INTO sqlite_sequence VALUES('statuses',1);
INSERT INTO sqlite_sequence VALUES('build_attempts',1);
INSERT INTO sqlite_sequence VALUES('webhook_deliveries',2);
CREATE INDEX items_kind ON items (kind, id);
CREATE INDEX item_references_used ON item_references (used_id);
CREATE INDEX statuses_bundle ON statuses (bundle_id, id);
CREATE INDEX items_owner ON items (owner_id, kind, id);
CREATE INDEX grants_token ON grants (token_id, permission, item_id);
CREATE INDEX artifacts_bundle ON artifacts (bundle_id, id);
CREATE INDEX publications_sequence ON publications (sequence);
CREATE INDEX build_attempts_bundle ON build_attempts (bundle_id, id);
CREATE INDEX build_requests_bundle ON build_requests (bundle_id, id);
CREATE INDEX build_requests_attempt ON build_requests (attempt_id);
CREATE INDEX sessions_token ON sessions (token_id, id);
COMMIT;
