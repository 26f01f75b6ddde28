PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE solon_migrations (version BIGINT NOT NULL PRIMARY KEY, applied_at BIGINT NOT NULL);
INSERT INTO solon_migrations VALUES(1,1795856843530781);
INSERT INTO solon_migrations VALUES(2,1795856843531285);
INSERT INTO solon_migrations VALUES(3,1795856843531989);
INSERT INTO solon_migrations VALUES(4,1795856843534297);
INSERT INTO solon_migrations VALUES(5,1795856843535003);
CREATE TABLE writer (
    id BIGINT NOT NULL PRIMARY KEY
);
INSERT INTO writer VALUES(1);
CREATE TABLE settings (
    name TEXT NOT NULL PRIMARY KEY,
    value BLOB NOT NULL
);
INSERT INTO settings VALUES('service_keys',X'356630336630646162646336313932630a1948da7ab6253f1117d18bdabb2cd3bc63fe66d468e7b6b50579789ba9fa3449376f32d6f45dc884a5b1f8ff3edb7edbf18c905856ca08dd14f8aa1d');
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
INSERT INTO tokens VALUES(1,'admin','administrator',X'64106b9ed81ede6a0e076a134cd0cb4874c73a4cfc70c1a788a524a19d17cadf',NULL,1795856843707125,NULL,1795856843723574);
INSERT INTO tokens VALUES(2,'viewer','viewer',X'df486c894c387b780ef1c5fd165edc06f6e385d85d4fca1fb71ae51f78757367',NULL,1795856843708838,NULL,NULL);
INSERT INTO tokens VALUES(3,'owner1','owner',X'5c24c8b8ceb8b25bfeb6dad888c327d6d259141b29d7fec264d18793e271431e',NULL,1795856843711259,NULL,NULL);
INSERT INTO tokens VALUES(4,'owner2','owner',X'dd6ca1937509ca80796c3b202acfb21eacfea96481cda130c93b3b7cf4f010ca',NULL,1795856843712699,NULL,NULL);
INSERT INTO tokens VALUES(5,'stack1','stack_owner',X'1305a8847bf8179a2c9070e0b65945f28a4a3e900b3b92ad27db5fb4fce6d1f4',NULL,1795856843714357,NULL,NULL);
INSERT INTO tokens VALUES(6,'stack2','stack_owner',X'7ab20391d8f3dcc09088dc5ea638991fb62b6cd7a89888bc578aed26e5f09091',NULL,1795856843716354,NULL,NULL);
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
INSERT INTO items VALUES(1,'sources','lib',1,1,NULL,'{"name":"lib","files":{"a.rego":"cGFja2FnZSBhCg=="}}',1795856843719597,1795856843719598);
INSERT INTO items VALUES(2,'secrets','key',1,1,NULL,'{"type":"signing_key"}',1795856843742916,1795856843742923);
INSERT INTO items VALUES(3,'bundles','b',1,1,NULL,'{"name":"b","requirements":[{"source":"lib"}],"signing":{"key":"key","algorithm":"HS256"}}',1795856843748010,1795856843748013);
INSERT INTO items VALUES(4,'secrets','hook',1,1,NULL,'{"type":"password"}',1795856843852439,1795856843852439);
INSERT INTO items VALUES(5,'sources','hooked',1,1,NULL,'{"name":"hooked","webhook":{"provider":"gitlab","secret":"hook"}}',1795856843855695,1795856843855696);
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
INSERT INTO secret_values VALUES(2,'5f03f0dabdc6192c',X'2479cb20055ab7f5b7c9fa41a62db25b05880e76dcbf89d687dd884f1abbba3fef1ee596746ab1fbd80a10707f75bb55b0211b4f67cc3637d2dd8641bae43f03234c');
INSERT INTO secret_values VALUES(4,'5f03f0dabdc6192c',X'91328cd5786223413dbc3d2a2092ef254c02509bcb51f402b86a1a5199bc108c8f274e04d0946cbf6ac90f788be14bc94f28c90b24c16646021804093b8fd88ff2dd7f70');
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
INSERT INTO statuses VALUES(1,3,'two','PUSH','SUCCESS','',1795856843882824,1795856843882824);
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
INSERT INTO audit VALUES(1,1795856843707409,'the command line','','create','tokens','admin',NULL,'{"created_at":"2026-11-28T09:07:23.707125Z","expires_at":null,"last_used_at":null,"name":"admin","role":"administrator"}');
INSERT INTO audit VALUES(2,1795856843708949,'the command line','','create','tokens','viewer',NULL,'{"created_at":"2026-11-28T09:07:23.708838Z","expires_at":null,"last_used_at":null,"name":"viewer","role":"viewer"}');
INSERT INTO audit VALUES(3,1795856843711403,'the command line','','create','tokens','owner1',NULL,'{"created_at":"2026-11-28T09:07:23.711259Z","expires_at":null,"last_used_at":null,"name":"owner1","role":"owner"}');
INSERT INTO audit VALUES(4,1795856843712822,'the command line','','create','tokens','owner2',NULL,'{"created_at":"2026-11-28T09:07:23.712699Z","expires_at":null,"last_used_at":null,"name":"owner2","role":"owner"}');
INSERT INTO audit VALUES(5,1795856843714660,'the command line','','create','tokens','stack1',NULL,'{"created_at":"2026-11-28T09:07:23.714357Z","expires_at":null,"last_used_at":null,"name":"stack1","role":"stack_owner"}');
INSERT INTO audit VALUES(6,1795856843716497,'the command line','','create','tokens','stack2',NULL,'{"created_at":"2026-11-28T09:07:23.716354Z","expires_at":null,"last_used_at":null,"name":"stack2","role":"stack_owner"}');
INSERT INTO audit VALUES(7,1795856843722104,'admin','1','create','sources','lib',NULL,'{"name":"lib","files":{"a.rego":"cGFja2FnZSBhCg=="}}');
INSERT INTO audit VALUES(8,1795856843743101,'admin','2','create','secrets','key',NULL,'{"type":"signing_key"}');
INSERT INTO audit VALUES(9,1795856843748674,'admin','3','create','bundles','b',NULL,'{"name":"b","requirements":[{"source":"lib"}],"signing":{"key":"key","algorithm":"HS256"}}');
INSERT INTO audit VALUES(10,1795856843842187,'admin','4','rollback','bundles','b','{"id":2,"revision":"two","digest":"3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3","size":3,"created_at":"2026-11-28T09:07:23.826946Z","active":true}','{"id":1,"revision":"one","digest":"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed","size":3,"created_at":"2026-11-28T09:07:23.822822Z","active":true}');
INSERT INTO audit VALUES(11,1795856843853101,'admin','5','create','secrets','hook',NULL,'{"type":"password"}');
INSERT INTO audit VALUES(12,1795856843857282,'admin','6','create','sources','hooked',NULL,'{"name":"hooked","webhook":{"provider":"gitlab","secret":"hook"}}');
INSERT INTO audit VALUES(13,1795856843870111,'admin','7','build','bundles','b',NULL,'{"id":1,"state":"waiting","requested_at":"2026-11-28T09:07:23.859Z"}');
INSERT INTO audit VALUES(14,1795856843888403,'admin','8','build','bundles','b',NULL,'{"id":2,"state":"waiting","requested_at":"2026-11-28T09:07:23.886Z"}');
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
INSERT INTO artifacts VALUES(1,3,'one','7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed',3,1,'b8d14f7e5c714d18854bfbc848051eb9.tar.gz',1795856843822822);
INSERT INTO artifacts VALUES(2,3,'two','3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3',3,2,'f8bf8f84b271f36d82beb436e07eed2d.tar.gz',1795856843826946);
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
INSERT INTO bundle_builds VALUES(3,1,1,2,1,NULL,NULL,1,1795856843882000,30000000,0,'d','two',1795856843882000);
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
INSERT INTO build_attempts VALUES(1,3,1,'two','PUSH','SUCCESS','',1795856843883000,7000,NULL,30000000);
CREATE TABLE build_requests (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    bundle_id BIGINT NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    requested_at BIGINT NOT NULL,
    attempt_id BIGINT REFERENCES build_attempts (id) ON DELETE CASCADE
);
INSERT INTO build_requests VALUES(1,3,1,1795856843859000,1);
INSERT INTO build_requests VALUES(2,3,2,1795856843886000,NULL);
CREATE TABLE source_triggers (
    source_id BIGINT NOT NULL PRIMARY KEY REFERENCES items (id) ON DELETE CASCADE,
    triggers BIGINT NOT NULL,
    triggered_at BIGINT NOT NULL,
    is_waiting BIGINT NOT NULL
);
INSERT INTO source_triggers VALUES(5,1,1795856843891000,1);
CREATE TABLE webhook_deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source_id BIGINT NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    digest BLOB NOT NULL,
    received_at BIGINT NOT NULL,
    CONSTRAINT webhook_deliveries_digest UNIQUE (source_id, digest)
);
INSERT INTO webhook_deliveries VALUES(1,5,X'b7fe48acf1769095342dfda9e3fa986950449e2b1a95efb3b58211b9e91a6b98',1795856843890000);
INSERT INTO webhook_deliveries VALUES(2,5,X'739c911dcd0130a552b9763e482b7c9a06c441cf74de81f6083227af279718aa',1795856843893000);
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    token_id BIGINT NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
    digest BLOB NOT NULL UNIQUE,
    key_hash BLOB NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('tokens',6);
INSERT INTO sqlite_sequence VALUES('audit',14);
INSERT INTO sqlite_sequence VALUES('items',5);
INSERT INTO sqlite_sequence VALUES('artifacts',2);
INSERT INTO sqlite_sequence VALUES('build_requests',2);
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
