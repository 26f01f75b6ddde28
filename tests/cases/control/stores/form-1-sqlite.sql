PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE solon_migrations (version BIGINT NOT NULL PRIMARY KEY, applied_at BIGINT NOT NULL);
INSERT INTO solon_migrations VALUES(1,1795797883807570);
INSERT INTO solon_migrations VALUES(2,1795797883807802);
CREATE TABLE writer (
    id BIGINT NOT NULL PRIMARY KEY
);
INSERT INTO writer VALUES(1);
CREATE TABLE settings (
    name TEXT NOT NULL PRIMARY KEY,
    value BLOB NOT NULL
);
INSERT INTO settings VALUES('service_keys',X'356630336630646162646336313932630a11d0fd40d82e38b078535f4e0a2b8a100df7e78513bbd8c10306e913b5c9f6791152cca482c9599aa057c364b495eef383e9725143ceeaa795842250');
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
INSERT INTO tokens VALUES(1,'admin','administrator',X'3b197fd24562d421b02db9136d111a997bd9564629d3c4b15f13f636686d8db5',NULL,1795797883903048,NULL,1795797883937359);
INSERT INTO tokens VALUES(2,'viewer','viewer',X'a2fa174028d145adb53fa11487171ff9c4baeb80ee0af75a3bb9bb0f086ea05e',NULL,1795797883910403,NULL,NULL);
INSERT INTO tokens VALUES(3,'owner1','owner',X'3e2fabe0e55965b6543dca00cd7a330fcfdd34da8c58dd8253336f1ff6260798',NULL,1795797883914228,NULL,1795797883934732);
INSERT INTO tokens VALUES(4,'owner2','owner',X'2bc6f77c8d4b33f0750fd3d52702164a2cbc6d54ab0143414f8caa45ef5cd1b3',NULL,1795797883918173,NULL,1795797883941290);
INSERT INTO tokens VALUES(5,'stack1','stack_owner',X'338c82a5b056c83452fa5e7d75c78ae281bcc92e6784f66013ab1195e57654ad',NULL,1795797883922158,NULL,1795797883946798);
INSERT INTO tokens VALUES(6,'stack2','stack_owner',X'ee2dfefbe14ee38f0d33e57a00ce627764529dcc286a20ce3bbfc42284c0ca15',NULL,1795797883926141,NULL,NULL);
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
INSERT INTO items VALUES(1,'secrets','shared',1,3,NULL,'{"type":"token_auth"}',1795797883934106,1795797883934110);
INSERT INTO items VALUES(2,'secrets','own',1,3,NULL,'{"type":"basic_auth"}',1795797883935954,1795797883935956);
INSERT INTO items VALUES(3,'sources','plain',1,3,NULL,'{"name":"plain","datasources":[{"name":"headers","path":"a","type":"http","config":{"url":"https://a.example.com/x","headers":{"Accept":"application/json","Cookie":"sid=fixture-credential","Private-Token":"fixture-credential","Proxy-Authorization":"Basic fixture-credential","X-API-KEY":"fixture-credential","authorization":"Bearer fixture-credential"}}},{"name":"url","path":"b","type":"http","config":{"url":"https://b.example.com/x?access_token=fixture-credential&page=1"}},{"name":"json","path":"c","type":"http","config":{"url":"https://c.example.com/x","method":"POST","body":"{\"user\": \"u\", \"password\": \"fixture-credential\"}"}},{"name":"form","path":"d","type":"http","config":{"url":"https://d.example.com/x","method":"POST","body":"grant_type=password&client_secret=fixture-credential"}}]}',1795797883938585,1795797883938586);
INSERT INTO items VALUES(4,'sources','clean',1,3,NULL,'{"name":"clean","datasources":[{"name":"a","path":"a","type":"http","config":{"url":"https://a.example.com/x","headers":{"Accept":"text/csv"}},"credentials":"own"}]}',1795797883939744,1795797883939745);
INSERT INTO items VALUES(5,'sources','using',1,4,NULL,'{"name":"using","datasources":[{"name":"a","path":"a","type":"http","config":{"url":"https://elsewhere.example.org/x"},"credentials":"shared"}]}',1795797883941142,1795797883941144);
INSERT INTO items VALUES(6,'bundles','b',1,3,NULL,'{"name":"b","requirements":[{"source":"clean"}]}',1795797883943779,1795797883943781);
INSERT INTO items VALUES(7,'stacks','s',1,5,NULL,'{"name":"s","selector":{"env":["*"]}}',1795797883946671,1795797883946673);
CREATE TABLE item_references (
    user_id BIGINT NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    used_id BIGINT NOT NULL REFERENCES items (id),
    PRIMARY KEY (user_id, used_id)
);
INSERT INTO item_references VALUES(4,2);
INSERT INTO item_references VALUES(5,1);
INSERT INTO item_references VALUES(6,4);
CREATE TABLE secret_values (
    item_id BIGINT NOT NULL PRIMARY KEY REFERENCES items (id) ON DELETE CASCADE,
    key_id TEXT NOT NULL,
    sealed BLOB NOT NULL
);
INSERT INTO secret_values VALUES(1,'5f03f0dabdc6192c',X'ab725e4a32b3a13514ea2ab19d5fe1e54ecc4448e0104aacfeb22afb3b21d20ecc6536a54071298767c944400f66ac9fd9c64236648ef237fbf4d91a1dc7aa7f10');
INSERT INTO secret_values VALUES(2,'5f03f0dabdc6192c',X'59da903cecd0a37e0c830af83490d5007aa425bf637a2fd8fc00146a0985c77c21106e66966939d1c0b4d5ceab3ff77bc0fc80b5dd47be860d1d00d8a32419a2d5145af111da6add1439660b4bd342');
CREATE TABLE grants (
    item_id BIGINT NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    token_id BIGINT NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
    permission TEXT NOT NULL,
    PRIMARY KEY (item_id, token_id, permission)
);
INSERT INTO grants VALUES(1,4,'secrets.use');
INSERT INTO grants VALUES(1,4,'secrets.view');
CREATE TABLE source_data (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source_id BIGINT NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    version BIGINT NOT NULL,
    body TEXT NOT NULL,
    CONSTRAINT source_data_path UNIQUE (source_id, path)
);
INSERT INTO source_data VALUES(1,4,'x/data.json',1,'{"a":1}');
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
INSERT INTO audit VALUES(1,1795797883903274,'the command line','','create','tokens','admin',NULL,'{"created_at":"2026-11-27T16:44:43.903048Z","expires_at":null,"last_used_at":null,"name":"admin","role":"administrator"}');
INSERT INTO audit VALUES(2,1795797883910567,'the command line','','create','tokens','viewer',NULL,'{"created_at":"2026-11-27T16:44:43.910403Z","expires_at":null,"last_used_at":null,"name":"viewer","role":"viewer"}');
INSERT INTO audit VALUES(3,1795797883914354,'the command line','','create','tokens','owner1',NULL,'{"created_at":"2026-11-27T16:44:43.914228Z","expires_at":null,"last_used_at":null,"name":"owner1","role":"owner"}');
INSERT INTO audit VALUES(4,1795797883918282,'the command line','','create','tokens','owner2',NULL,'{"created_at":"2026-11-27T16:44:43.918173Z","expires_at":null,"last_used_at":null,"name":"owner2","role":"owner"}');
INSERT INTO audit VALUES(5,1795797883922265,'the command line','','create','tokens','stack1',NULL,'{"created_at":"2026-11-27T16:44:43.922158Z","expires_at":null,"last_used_at":null,"name":"stack1","role":"stack_owner"}');
INSERT INTO audit VALUES(6,1795797883926245,'the command line','','create','tokens','stack2',NULL,'{"created_at":"2026-11-27T16:44:43.926141Z","expires_at":null,"last_used_at":null,"name":"stack2","role":"stack_owner"}');
INSERT INTO audit VALUES(7,1795797883934345,'owner1','1','create','secrets','shared',NULL,'{"type":"token_auth"}');
INSERT INTO audit VALUES(8,1795797883936070,'owner1','2','create','secrets','own',NULL,'{"type":"basic_auth"}');
INSERT INTO audit VALUES(9,1795797883937324,'admin','3','grant','secrets','shared','{"permissions":[],"token":"owner2"}','{"permissions":["secrets.use","secrets.view"],"token":"owner2"}');
INSERT INTO audit VALUES(10,1795797883938675,'owner1','4','create','sources','plain',NULL,'{"name":"plain","datasources":[{"name":"headers","path":"a","type":"http","config":{"url":"https://a.example.com/x","headers":{"Accept":"application/json","Cookie":"sid=fixture-credential","Private-Token":"fixture-credential","Proxy-Authorization":"Basic fixture-credential","X-API-KEY":"fixture-credential","authorization":"Bearer fixture-credential"}}},{"name":"url","path":"b","type":"http","config":{"url":"https://b.example.com/x?access_token=fixture-credential&page=1"}},{"name":"json","path":"c","type":"http","config":{"url":"https://c.example.com/x","method":"POST","body":"{\"user\": \"u\", \"password\": \"fixture-credential\"}"}},{"name":"form","path":"d","type":"http","config":{"url":"https://d.example.com/x","method":"POST","body":"grant_type=password&client_secret=fixture-credential"}}]}');
INSERT INTO audit VALUES(11,1795797883939906,'owner1','5','create','sources','clean',NULL,'{"name":"clean","datasources":[{"name":"a","path":"a","type":"http","config":{"url":"https://a.example.com/x","headers":{"Accept":"text/csv"}},"credentials":"own"}]}');
INSERT INTO audit VALUES(12,1795797883941255,'owner2','6','create','sources','using',NULL,'{"name":"using","datasources":[{"name":"a","path":"a","type":"http","config":{"url":"https://elsewhere.example.org/x"},"credentials":"shared"}]}');
INSERT INTO audit VALUES(13,1795797883942784,'owner1','7','create data','sources','clean',NULL,'{"bytes":7,"path":"x/data.json","tag":"0jf_JuJepOvDgq7O"}');
INSERT INTO audit VALUES(14,1795797883943903,'owner1','8','create','bundles','b',NULL,'{"name":"b","requirements":[{"source":"clean"}]}');
INSERT INTO audit VALUES(15,1795797883946761,'stack1','9','create','stacks','s',NULL,'{"name":"s","selector":{"env":["*"]}}');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('tokens',6);
INSERT INTO sqlite_sequence VALUES('audit',15);
INSERT INTO sqlite_sequence VALUES('items',7);
INSERT INTO sqlite_sequence VALUES('source_data',1);
CREATE INDEX items_kind ON items (kind, id);
CREATE INDEX item_references_used ON item_references (used_id);
CREATE INDEX statuses_bundle ON statuses (bundle_id, id);
CREATE INDEX items_owner ON items (owner_id, kind, id);
CREATE INDEX grants_token ON grants (token_id, permission, item_id);
COMMIT;
