--
-- PostgreSQL database dump
--



SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: audit; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit (
    id bigint NOT NULL,
    at bigint NOT NULL,
    principal text NOT NULL,
    request text NOT NULL,
    action text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    before_write text,
    after_write text
);


--
-- Name: audit_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.audit ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: grants; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.grants (
    item_id bigint NOT NULL,
    token_id bigint NOT NULL,
    permission text NOT NULL
);


--
-- Name: item_references; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.item_references (
    user_id bigint NOT NULL,
    used_id bigint NOT NULL
);


--
-- Name: items; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.items (
    id bigint NOT NULL,
    kind text NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    owner_id bigint,
    file text,
    body text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);


--
-- Name: items_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.items ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.items_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: secret_values; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.secret_values (
    item_id bigint NOT NULL,
    key_id text NOT NULL,
    sealed bytea NOT NULL
);


--
-- Name: settings; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.settings (
    name text NOT NULL COLLATE pg_catalog."C",
    value bytea NOT NULL
);


--
-- Name: solon_migrations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.solon_migrations (
    version bigint NOT NULL,
    applied_at bigint NOT NULL
);


--
-- Name: source_data; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.source_data (
    id bigint NOT NULL,
    source_id bigint NOT NULL,
    path text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    body text NOT NULL
);


--
-- Name: source_data_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.source_data ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.source_data_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: statuses; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.statuses (
    id bigint NOT NULL,
    bundle_id bigint NOT NULL,
    revision text NOT NULL COLLATE pg_catalog."C",
    phase text NOT NULL,
    status text NOT NULL,
    error_message text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);


--
-- Name: statuses_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.statuses ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.statuses_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: tokens; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.tokens (
    id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL,
    key_hash bytea NOT NULL,
    file text,
    created_at bigint NOT NULL,
    expires_at bigint,
    last_used_at bigint
);


--
-- Name: tokens_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.tokens ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.tokens_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: writer; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.writer (
    id bigint NOT NULL
);


--
-- Data for Name: audit; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (1, 1795797885467243, 'the command line', '', 'create', 'tokens', 'admin', NULL, '{"created_at":"2026-11-27T16:44:45.466345Z","expires_at":null,"last_used_at":null,"name":"admin","role":"administrator"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (2, 1795797885471317, 'the command line', '', 'create', 'tokens', 'viewer', NULL, '{"created_at":"2026-11-27T16:44:45.470906Z","expires_at":null,"last_used_at":null,"name":"viewer","role":"viewer"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (3, 1795797885475120, 'the command line', '', 'create', 'tokens', 'owner1', NULL, '{"created_at":"2026-11-27T16:44:45.474755Z","expires_at":null,"last_used_at":null,"name":"owner1","role":"owner"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (4, 1795797885479085, 'the command line', '', 'create', 'tokens', 'owner2', NULL, '{"created_at":"2026-11-27T16:44:45.478722Z","expires_at":null,"last_used_at":null,"name":"owner2","role":"owner"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (5, 1795797885483092, 'the command line', '', 'create', 'tokens', 'stack1', NULL, '{"created_at":"2026-11-27T16:44:45.482728Z","expires_at":null,"last_used_at":null,"name":"stack1","role":"stack_owner"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (6, 1795797885486989, 'the command line', '', 'create', 'tokens', 'stack2', NULL, '{"created_at":"2026-11-27T16:44:45.486629Z","expires_at":null,"last_used_at":null,"name":"stack2","role":"stack_owner"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (7, 1795797885499343, 'owner1', '1', 'create', 'secrets', 'shared', NULL, '{"type":"token_auth"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (8, 1795797885508904, 'owner1', '2', 'create', 'secrets', 'own', NULL, '{"type":"basic_auth"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (9, 1795797885517816, 'admin', '3', 'grant', 'secrets', 'shared', '{"permissions":[],"token":"owner2"}', '{"permissions":["secrets.use","secrets.view"],"token":"owner2"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (10, 1795797885524823, 'owner1', '4', 'create', 'sources', 'plain', NULL, '{"name":"plain","datasources":[{"name":"headers","path":"a","type":"http","config":{"url":"https://a.example.com/x","headers":{"Accept":"application/json","Cookie":"sid=fixture-credential","Private-Token":"fixture-credential","Proxy-Authorization":"Basic fixture-credential","X-API-KEY":"fixture-credential","authorization":"Bearer fixture-credential"}}},{"name":"url","path":"b","type":"http","config":{"url":"https://b.example.com/x?access_token=fixture-credential&page=1"}},{"name":"json","path":"c","type":"http","config":{"url":"https://c.example.com/x","method":"POST","body":"{\"user\": \"u\", \"password\": \"fixture-credential\"}"}},{"name":"form","path":"d","type":"http","config":{"url":"https://d.example.com/x","method":"POST","body":"grant_type=password&client_secret=fixture-credential"}}]}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (11, 1795797885535753, 'owner1', '5', 'create', 'sources', 'clean', NULL, '{"name":"clean","datasources":[{"name":"a","path":"a","type":"http","config":{"url":"https://a.example.com/x","headers":{"Accept":"text/csv"}},"credentials":"own"}]}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (12, 1795797885545060, 'owner2', '6', 'create', 'sources', 'using', NULL, '{"name":"using","datasources":[{"name":"a","path":"a","type":"http","config":{"url":"https://elsewhere.example.org/x"},"credentials":"shared"}]}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (13, 1795797885554346, 'owner1', '7', 'create data', 'sources', 'clean', NULL, '{"bytes":7,"path":"x/data.json","tag":"XxFJ6GvaLY24h3O5"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (14, 1795797885561988, 'owner1', '8', 'create', 'bundles', 'b', NULL, '{"name":"b","requirements":[{"source":"clean"}]}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (15, 1795797885568792, 'stack1', '9', 'create', 'stacks', 's', NULL, '{"name":"s","selector":{"env":["*"]}}');


--
-- Data for Name: grants; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.grants VALUES (1, 4, 'secrets.use');
INSERT INTO public.grants VALUES (1, 4, 'secrets.view');


--
-- Data for Name: item_references; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.item_references VALUES (4, 2);
INSERT INTO public.item_references VALUES (5, 1);
INSERT INTO public.item_references VALUES (6, 4);


--
-- Data for Name: items; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.items OVERRIDING SYSTEM VALUE VALUES (1, 'secrets', 'shared', 1, 3, NULL, '{"type":"token_auth"}', 1795797885492650, 1795797885492654);
INSERT INTO public.items OVERRIDING SYSTEM VALUE VALUES (2, 'secrets', 'own', 1, 3, NULL, '{"type":"basic_auth"}', 1795797885508375, 1795797885508380);
INSERT INTO public.items OVERRIDING SYSTEM VALUE VALUES (3, 'sources', 'plain', 1, 3, NULL, '{"name":"plain","datasources":[{"name":"headers","path":"a","type":"http","config":{"url":"https://a.example.com/x","headers":{"Accept":"application/json","Cookie":"sid=fixture-credential","Private-Token":"fixture-credential","Proxy-Authorization":"Basic fixture-credential","X-API-KEY":"fixture-credential","authorization":"Bearer fixture-credential"}}},{"name":"url","path":"b","type":"http","config":{"url":"https://b.example.com/x?access_token=fixture-credential&page=1"}},{"name":"json","path":"c","type":"http","config":{"url":"https://c.example.com/x","method":"POST","body":"{\"user\": \"u\", \"password\": \"fixture-credential\"}"}},{"name":"form","path":"d","type":"http","config":{"url":"https://d.example.com/x","method":"POST","body":"grant_type=password&client_secret=fixture-credential"}}]}', 1795797885524339, 1795797885524345);
INSERT INTO public.items OVERRIDING SYSTEM VALUE VALUES (4, 'sources', 'clean', 1, 3, NULL, '{"name":"clean","datasources":[{"name":"a","path":"a","type":"http","config":{"url":"https://a.example.com/x","headers":{"Accept":"text/csv"}},"credentials":"own"}]}', 1795797885532842, 1795797885532848);
INSERT INTO public.items OVERRIDING SYSTEM VALUE VALUES (5, 'sources', 'using', 1, 4, NULL, '{"name":"using","datasources":[{"name":"a","path":"a","type":"http","config":{"url":"https://elsewhere.example.org/x"},"credentials":"shared"}]}', 1795797885542712, 1795797885542717);
INSERT INTO public.items OVERRIDING SYSTEM VALUE VALUES (6, 'bundles', 'b', 1, 3, NULL, '{"name":"b","requirements":[{"source":"clean"}]}', 1795797885558992, 1795797885558999);
INSERT INTO public.items OVERRIDING SYSTEM VALUE VALUES (7, 'stacks', 's', 1, 5, NULL, '{"name":"s","selector":{"env":["*"]}}', 1795797885568321, 1795797885568323);


--
-- Data for Name: secret_values; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.secret_values VALUES (1, '5f03f0dabdc6192c', '\x4d3216478d34430b0ce5e1d23dd80b67ca0f1dc1c242a17364c8effef303288debe5d5cf768b800b58d58e02a7cb71388d12bfbfa6174e4ac2a372dee6b1c7662f');
INSERT INTO public.secret_values VALUES (2, '5f03f0dabdc6192c', '\xf9c24a575060184a8049b68f12ad293629ce0e8c86c3e15fed372287f0dea625c858dc15d6a6821273f86f3fbe0fddea5004054373375a04d3484935c77b18326d93181e7f444b64f5b0fd0a320006');


--
-- Data for Name: settings; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.settings VALUES ('service_keys', '\x356630336630646162646336313932630a3e208bdd55ed8314422a73a0bf3971e125c6a0f6ebfb25da8602872e1769b49c13ac91a2f7733c47bff9cd80e614e5aa6e8b8cf1281307be367fe7dd');


--
-- Data for Name: solon_migrations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.solon_migrations VALUES (1, 1795797885434305);
INSERT INTO public.solon_migrations VALUES (2, 1795797885442196);


--
-- Data for Name: source_data; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.source_data OVERRIDING SYSTEM VALUE VALUES (1, 4, 'x/data.json', 1, '{"a":1}');


--
-- Data for Name: statuses; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: tokens; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tokens OVERRIDING SYSTEM VALUE VALUES (2, 'viewer', 'viewer', '\x7335323748c5250db303491247d92929615a3e15e3b948b0863511f68cd77045', NULL, 1795797885470906, NULL, NULL);
INSERT INTO public.tokens OVERRIDING SYSTEM VALUE VALUES (6, 'stack2', 'stack_owner', '\x97f9751cdf82c9044d65f645d67b920f54b7084b5cc939c17501d04bdfee073c', NULL, 1795797885486629, NULL, NULL);
INSERT INTO public.tokens OVERRIDING SYSTEM VALUE VALUES (3, 'owner1', 'owner', '\xaf039e03137314fc66467286b3064294ca849c2374fd4108617c9aad0043efef', NULL, 1795797885474755, NULL, 1795797885500636);
INSERT INTO public.tokens OVERRIDING SYSTEM VALUE VALUES (1, 'admin', 'administrator', '\xce028af8dce9168f5188c1e96d02079b0a8d899c5b68ef5495f1aae0fe31bf47', NULL, 1795797885466345, NULL, 1795797885518065);
INSERT INTO public.tokens OVERRIDING SYSTEM VALUE VALUES (4, 'owner2', 'owner', '\xda0bce2c36b3d7e0650a56ed4b31400261d513bb9d9d731cbcbfb8f0a2ed9098', NULL, 1795797885478722, NULL, 1795797885545244);
INSERT INTO public.tokens OVERRIDING SYSTEM VALUE VALUES (5, 'stack1', 'stack_owner', '\xaaf35ed894ae521220be1666edbc898ad04a0d4b81d7270913deab34f57f3b44', NULL, 1795797885482728, NULL, 1795797885569005);


--
-- Data for Name: writer; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.writer VALUES (1);


--
-- Name: audit_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.audit_id_seq', 15, true);


--
-- Name: items_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.items_id_seq', 7, true);


--
-- Name: source_data_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.source_data_id_seq', 1, true);


--
-- Name: statuses_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.statuses_id_seq', 1, false);


--
-- Name: tokens_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.tokens_id_seq', 6, true);


--
-- Name: audit audit_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);


--
-- Name: grants grants_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.grants
    ADD CONSTRAINT grants_pkey PRIMARY KEY (item_id, token_id, permission);


--
-- Name: item_references item_references_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.item_references
    ADD CONSTRAINT item_references_pkey PRIMARY KEY (user_id, used_id);


--
-- Name: items items_name; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.items
    ADD CONSTRAINT items_name UNIQUE (kind, name);


--
-- Name: items items_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.items
    ADD CONSTRAINT items_pkey PRIMARY KEY (id);


--
-- Name: secret_values secret_values_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.secret_values
    ADD CONSTRAINT secret_values_pkey PRIMARY KEY (item_id);


--
-- Name: settings settings_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (name);


--
-- Name: solon_migrations solon_migrations_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.solon_migrations
    ADD CONSTRAINT solon_migrations_pkey PRIMARY KEY (version);


--
-- Name: source_data source_data_path; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.source_data
    ADD CONSTRAINT source_data_path UNIQUE (source_id, path);


--
-- Name: source_data source_data_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.source_data
    ADD CONSTRAINT source_data_pkey PRIMARY KEY (id);


--
-- Name: statuses statuses_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.statuses
    ADD CONSTRAINT statuses_pkey PRIMARY KEY (id);


--
-- Name: tokens tokens_key_hash_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_key_hash_key UNIQUE (key_hash);


--
-- Name: tokens tokens_name_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_name_key UNIQUE (name);


--
-- Name: tokens tokens_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (id);


--
-- Name: writer writer_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.writer
    ADD CONSTRAINT writer_pkey PRIMARY KEY (id);


--
-- Name: grants_token; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX grants_token ON public.grants USING btree (token_id, permission, item_id);


--
-- Name: item_references_used; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX item_references_used ON public.item_references USING btree (used_id);


--
-- Name: items_kind; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX items_kind ON public.items USING btree (kind, id);


--
-- Name: items_owner; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX items_owner ON public.items USING btree (owner_id, kind, id);


--
-- Name: statuses_bundle; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX statuses_bundle ON public.statuses USING btree (bundle_id, id);


--
-- Name: grants grants_item_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.grants
    ADD CONSTRAINT grants_item_id_fkey FOREIGN KEY (item_id) REFERENCES public.items(id) ON DELETE CASCADE;


--
-- Name: grants grants_token_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.grants
    ADD CONSTRAINT grants_token_id_fkey FOREIGN KEY (token_id) REFERENCES public.tokens(id) ON DELETE CASCADE;


--
-- Name: item_references item_references_used_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.item_references
    ADD CONSTRAINT item_references_used_id_fkey FOREIGN KEY (used_id) REFERENCES public.items(id);


--
-- Name: item_references item_references_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.item_references
    ADD CONSTRAINT item_references_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.items(id) ON DELETE CASCADE;


--
-- Name: items items_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.items
    ADD CONSTRAINT items_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.tokens(id) ON DELETE SET NULL;


--
-- Name: secret_values secret_values_item_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.secret_values
    ADD CONSTRAINT secret_values_item_id_fkey FOREIGN KEY (item_id) REFERENCES public.items(id) ON DELETE CASCADE;


--
-- Name: source_data source_data_source_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.source_data
    ADD CONSTRAINT source_data_source_id_fkey FOREIGN KEY (source_id) REFERENCES public.items(id) ON DELETE CASCADE;


--
-- Name: statuses statuses_bundle_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.statuses
    ADD CONSTRAINT statuses_bundle_id_fkey FOREIGN KEY (bundle_id) REFERENCES public.items(id) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--


