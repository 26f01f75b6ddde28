--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

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
-- Name: artifact_pieces; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.artifact_pieces (
    artifact_id bigint NOT NULL,
    number bigint NOT NULL,
    content bytea NOT NULL
);


--
-- Name: artifacts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.artifacts (
    id bigint NOT NULL,
    bundle_id bigint NOT NULL,
    revision text NOT NULL COLLATE pg_catalog."C",
    digest text NOT NULL,
    size bigint NOT NULL,
    fence bigint NOT NULL,
    file text,
    created_at bigint NOT NULL
);


--
-- Name: artifacts_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.artifacts ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.artifacts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


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
-- Name: build_attempts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.build_attempts (
    id bigint NOT NULL,
    bundle_id bigint NOT NULL,
    fence bigint NOT NULL,
    revision text NOT NULL,
    phase text NOT NULL,
    status text NOT NULL,
    error_message text NOT NULL,
    ended_at bigint NOT NULL,
    sync_duration bigint,
    build_duration bigint,
    push_duration bigint
);


--
-- Name: build_attempts_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.build_attempts ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.build_attempts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: build_requests; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.build_requests (
    id bigint NOT NULL,
    bundle_id bigint NOT NULL,
    number bigint NOT NULL,
    requested_at bigint NOT NULL,
    attempt_id bigint
);


--
-- Name: build_requests_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.build_requests ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.build_requests_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: bundle_builds; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.bundle_builds (
    bundle_id bigint NOT NULL,
    changes bigint NOT NULL,
    attempted_changes bigint NOT NULL,
    requested bigint NOT NULL,
    served bigint NOT NULL,
    holder text,
    renewed_at bigint,
    fence bigint NOT NULL,
    attempted_at bigint,
    delay bigint NOT NULL,
    failures bigint NOT NULL,
    input_digest text,
    revision text,
    succeeded_at bigint
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
-- Name: publication_changes; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.publication_changes (
    id bigint NOT NULL,
    count bigint NOT NULL
);


--
-- Name: publications; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.publications (
    bundle_id bigint NOT NULL,
    artifact_id bigint NOT NULL,
    fence bigint NOT NULL,
    sequence bigint NOT NULL
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
-- Name: sessions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sessions (
    id bigint NOT NULL,
    token_id bigint NOT NULL,
    digest bytea NOT NULL,
    key_hash bytea NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL
);


--
-- Name: sessions_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.sessions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.sessions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
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
-- Name: source_triggers; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.source_triggers (
    source_id bigint NOT NULL,
    triggers bigint NOT NULL,
    triggered_at bigint NOT NULL,
    is_waiting bigint NOT NULL
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
-- Name: traces; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.traces (
    item_id bigint NOT NULL,
    parent text NOT NULL
);


--
-- Name: webhook_deliveries; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.webhook_deliveries (
    id bigint NOT NULL,
    source_id bigint NOT NULL,
    digest bytea NOT NULL,
    received_at bigint NOT NULL
);


--
-- Name: webhook_deliveries_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.webhook_deliveries ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.webhook_deliveries_id_seq
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
-- Data for Name: artifact_pieces; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.artifact_pieces VALUES (1, 0, '\x6f6e65');
INSERT INTO public.artifact_pieces VALUES (2, 0, '\x74776f');


--
-- Data for Name: artifacts; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.artifacts OVERRIDING SYSTEM VALUE VALUES (1, 3, 'one', '7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed', 3, 1, NULL, 1795886763293594);
INSERT INTO public.artifacts OVERRIDING SYSTEM VALUE VALUES (2, 3, 'two', '3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3', 3, 2, NULL, 1795886763300301);


--
-- Data for Name: audit; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (1, 1795886763253161, 'the command line', '', 'create', 'tokens', 'admin', NULL, '{"created_at":"2026-11-28T17:26:03.252136Z","expires_at":null,"last_used_at":null,"name":"admin","role":"administrator"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (2, 1795886763255785, 'the command line', '', 'create', 'tokens', 'viewer', NULL, '{"created_at":"2026-11-28T17:26:03.255237Z","expires_at":null,"last_used_at":null,"name":"viewer","role":"viewer"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (3, 1795886763257923, 'the command line', '', 'create', 'tokens', 'owner1', NULL, '{"created_at":"2026-11-28T17:26:03.257488Z","expires_at":null,"last_used_at":null,"name":"owner1","role":"owner"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (4, 1795886763260458, 'the command line', '', 'create', 'tokens', 'owner2', NULL, '{"created_at":"2026-11-28T17:26:03.260016Z","expires_at":null,"last_used_at":null,"name":"owner2","role":"owner"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (5, 1795886763264304, 'the command line', '', 'create', 'tokens', 'stack1', NULL, '{"created_at":"2026-11-28T17:26:03.263867Z","expires_at":null,"last_used_at":null,"name":"stack1","role":"stack_owner"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (6, 1795886763266234, 'the command line', '', 'create', 'tokens', 'stack2', NULL, '{"created_at":"2026-11-28T17:26:03.265837Z","expires_at":null,"last_used_at":null,"name":"stack2","role":"stack_owner"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (7, 1795886763274975, 'admin', '1', 'create', 'sources', 'lib', NULL, '{"name":"lib","files":{"a.rego":"cGFja2FnZSBhCg=="}}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (8, 1795886763278601, 'admin', '2', 'create', 'secrets', 'key', NULL, '{"type":"signing_key"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (9, 1795886763286736, 'admin', '3', 'create', 'bundles', 'b', NULL, '{"name":"b","requirements":[{"source":"lib"}],"signing":{"key":"key","algorithm":"HS256"}}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (10, 1795886763306211, 'admin', '4', 'rollback', 'bundles', 'b', '{"id":2,"revision":"two","digest":"3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3","size":3,"created_at":"2026-11-28T17:26:03.300301Z","active":true}', '{"id":1,"revision":"one","digest":"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed","size":3,"created_at":"2026-11-28T17:26:03.293594Z","active":true}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (11, 1795886763309923, 'admin', '5', 'create', 'secrets', 'hook', NULL, '{"type":"password"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (12, 1795886763314170, 'admin', '6', 'create', 'sources', 'hooked', NULL, '{"name":"hooked","webhook":{"provider":"gitlab","secret":"hook"}}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (13, 1795886763322830, 'admin', '7', 'build', 'bundles', 'b', NULL, '{"id":1,"state":"waiting","requested_at":"2026-11-28T17:26:03.320535Z"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (14, 1795886763338125, 'admin', '8', 'build', 'bundles', 'b', NULL, '{"id":2,"state":"waiting","requested_at":"2026-11-28T17:26:03.337154Z"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (15, 1795886763356383, 'admin', 'b', 'build', 'bundles', 'b', NULL, '{"id":3,"state":"waiting","requested_at":"2026-11-28T17:26:03.352743Z"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (16, 1795886763361645, 'admin', 'c', 'create', 'bundles', 'kept', NULL, '{"name":"kept"}');


--
-- Data for Name: build_attempts; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.build_attempts OVERRIDING SYSTEM VALUE VALUES (1, 3, 1, 'two', 'PUSH', 'SUCCESS', '', 1795886763332323, 7000, NULL, 30000000);


--
-- Data for Name: build_requests; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.build_requests OVERRIDING SYSTEM VALUE VALUES (1, 3, 1, 1795886763320535, 1);
INSERT INTO public.build_requests OVERRIDING SYSTEM VALUE VALUES (2, 3, 2, 1795886763337154, NULL);
INSERT INTO public.build_requests OVERRIDING SYSTEM VALUE VALUES (3, 3, 3, 1795886763352743, NULL);


--
-- Data for Name: bundle_builds; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.bundle_builds VALUES (3, 1, 1, 3, 1, NULL, NULL, 1, 1795886763329860, 30000000, 0, 'd', 'two', 1795886763329860);
INSERT INTO public.bundle_builds VALUES (6, 1, 1, 0, 0, 'kept by fixture', 1795886763368172, 1, 1795886763368172, 30000000, 0, 'd', '', 1795886763368172);


--
-- Data for Name: grants; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: item_references; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.item_references VALUES (3, 1);
INSERT INTO public.item_references VALUES (3, 2);
INSERT INTO public.item_references VALUES (5, 4);


--
-- Data for Name: items; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.items OVERRIDING SYSTEM VALUE VALUES (1, 'sources', 'lib', 1, 1, NULL, '{"name":"lib","files":{"a.rego":"cGFja2FnZSBhCg=="}}', 1795886763272971, 1795886763272974);
INSERT INTO public.items OVERRIDING SYSTEM VALUE VALUES (2, 'secrets', 'key', 1, 1, NULL, '{"type":"signing_key"}', 1795886763277824, 1795886763277827);
INSERT INTO public.items OVERRIDING SYSTEM VALUE VALUES (3, 'bundles', 'b', 1, 1, NULL, '{"name":"b","requirements":[{"source":"lib"}],"signing":{"key":"key","algorithm":"HS256"}}', 1795886763284311, 1795886763284314);
INSERT INTO public.items OVERRIDING SYSTEM VALUE VALUES (4, 'secrets', 'hook', 1, 1, NULL, '{"type":"password"}', 1795886763309077, 1795886763309080);
INSERT INTO public.items OVERRIDING SYSTEM VALUE VALUES (5, 'sources', 'hooked', 1, 1, NULL, '{"name":"hooked","webhook":{"provider":"gitlab","secret":"hook"}}', 1795886763313233, 1795886763313236);
INSERT INTO public.items OVERRIDING SYSTEM VALUE VALUES (6, 'bundles', 'kept', 1, 1, NULL, '{"name":"kept"}', 1795886763360873, 1795886763360876);


--
-- Data for Name: publication_changes; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.publication_changes VALUES (1, 3);


--
-- Data for Name: publications; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.publications VALUES (3, 1, 2, 3);


--
-- Data for Name: secret_values; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.secret_values VALUES (2, '5f03f0dabdc6192c', '\xd238de01ddd489570b4c4021c614d90292992fe09527235d8fa1048f0b84d41180216dc9ba0669b7e3edaa9a8761b91d237e86a5f008354e404f7376dd3122d2aae7');
INSERT INTO public.secret_values VALUES (4, '5f03f0dabdc6192c', '\xb8cd7db379792477e0e6be674ecdaa6bd15a1eb49765ee7ca62af63826aeb26546734202adc8de8c0385a2a380f3b0860552285e01b35973e14099e5a13d0691f0dfa1b6');


--
-- Data for Name: sessions; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: settings; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.settings VALUES ('service_keys', '\x356630336630646162646336313932630a1ad676b52aabb1601e0d4fae0fa8b2947cb427abaa6fb1a108f78ec42bfdc2df92660066d541c6b70a2ac3826020b720b63bde8f6019d55c935f5fc1');


--
-- Data for Name: solon_migrations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.solon_migrations VALUES (1, 1795886763119476);
INSERT INTO public.solon_migrations VALUES (2, 1795886763131447);
INSERT INTO public.solon_migrations VALUES (3, 1795886763175479);
INSERT INTO public.solon_migrations VALUES (4, 1795886763187419);
INSERT INTO public.solon_migrations VALUES (5, 1795886763215763);
INSERT INTO public.solon_migrations VALUES (6, 1795886763227411);


--
-- Data for Name: source_data; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: source_triggers; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.source_triggers VALUES (5, 1, 1795886763342638, 1);


--
-- Data for Name: statuses; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.statuses OVERRIDING SYSTEM VALUE VALUES (1, 3, 'two', 'PUSH', 'SUCCESS', '', 1795886763330314, 1795886763330314);


--
-- Data for Name: tokens; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tokens OVERRIDING SYSTEM VALUE VALUES (2, 'viewer', 'viewer', '\x5d4840ec4e055eeffe6bd001d41a58a2321d2681c2b4dabd8c8c2ca2b18dd494', NULL, 1795886763255237, NULL, NULL);
INSERT INTO public.tokens OVERRIDING SYSTEM VALUE VALUES (3, 'owner1', 'owner', '\x3fa83bbea5bf9559de72a7f7ff39dc1b3b378004a3c0f519e95b148d58404ea8', NULL, 1795886763257488, NULL, NULL);
INSERT INTO public.tokens OVERRIDING SYSTEM VALUE VALUES (4, 'owner2', 'owner', '\x8bed4555f89e5ce78b037b412977f12e031d350adddcd6d4c375ee69d984df6c', NULL, 1795886763260016, NULL, NULL);
INSERT INTO public.tokens OVERRIDING SYSTEM VALUE VALUES (5, 'stack1', 'stack_owner', '\x70c854f31d2bc3619b56ad3df4a9e4694e72e37dc776d7fe5b81717d0ba79f17', NULL, 1795886763263867, NULL, NULL);
INSERT INTO public.tokens OVERRIDING SYSTEM VALUE VALUES (6, 'stack2', 'stack_owner', '\x321ab6e0e212c626459cd9c8cf3c74526e1f22b345f1c24d2faab87f11711de1', NULL, 1795886763265837, NULL, NULL);
INSERT INTO public.tokens OVERRIDING SYSTEM VALUE VALUES (1, 'admin', 'administrator', '\xc7e142ae744f6e62482168ddd4cefa47f505f869fe86547ee422bcfe64ad53eb', NULL, 1795886763252136, NULL, 1795886763275205);


--
-- Data for Name: traces; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.traces VALUES (3, '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01');


--
-- Data for Name: webhook_deliveries; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.webhook_deliveries OVERRIDING SYSTEM VALUE VALUES (1, 5, '\xb7fe48acf1769095342dfda9e3fa986950449e2b1a95efb3b58211b9e91a6b98', 1795886763341485);
INSERT INTO public.webhook_deliveries OVERRIDING SYSTEM VALUE VALUES (2, 5, '\x739c911dcd0130a552b9763e482b7c9a06c441cf74de81f6083227af279718aa', 1795886763349316);


--
-- Data for Name: writer; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.writer VALUES (1);


--
-- Name: artifacts_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.artifacts_id_seq', 2, true);


--
-- Name: audit_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.audit_id_seq', 16, true);


--
-- Name: build_attempts_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.build_attempts_id_seq', 1, true);


--
-- Name: build_requests_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.build_requests_id_seq', 3, true);


--
-- Name: items_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.items_id_seq', 6, true);


--
-- Name: sessions_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.sessions_id_seq', 1, false);


--
-- Name: source_data_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.source_data_id_seq', 1, false);


--
-- Name: statuses_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.statuses_id_seq', 1, true);


--
-- Name: tokens_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.tokens_id_seq', 6, true);


--
-- Name: webhook_deliveries_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.webhook_deliveries_id_seq', 2, true);


--
-- Name: artifact_pieces artifact_pieces_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.artifact_pieces
    ADD CONSTRAINT artifact_pieces_pkey PRIMARY KEY (artifact_id, number);


--
-- Name: artifacts artifacts_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.artifacts
    ADD CONSTRAINT artifacts_pkey PRIMARY KEY (id);


--
-- Name: audit audit_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);


--
-- Name: build_attempts build_attempts_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.build_attempts
    ADD CONSTRAINT build_attempts_pkey PRIMARY KEY (id);


--
-- Name: build_requests build_requests_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.build_requests
    ADD CONSTRAINT build_requests_pkey PRIMARY KEY (id);


--
-- Name: bundle_builds bundle_builds_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.bundle_builds
    ADD CONSTRAINT bundle_builds_pkey PRIMARY KEY (bundle_id);


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
-- Name: publication_changes publication_changes_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.publication_changes
    ADD CONSTRAINT publication_changes_pkey PRIMARY KEY (id);


--
-- Name: publications publications_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.publications
    ADD CONSTRAINT publications_pkey PRIMARY KEY (bundle_id);


--
-- Name: secret_values secret_values_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.secret_values
    ADD CONSTRAINT secret_values_pkey PRIMARY KEY (item_id);


--
-- Name: sessions sessions_digest_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_digest_key UNIQUE (digest);


--
-- Name: sessions sessions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);


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
-- Name: source_triggers source_triggers_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.source_triggers
    ADD CONSTRAINT source_triggers_pkey PRIMARY KEY (source_id);


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
-- Name: traces traces_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.traces
    ADD CONSTRAINT traces_pkey PRIMARY KEY (item_id);


--
-- Name: webhook_deliveries webhook_deliveries_digest; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_digest UNIQUE (source_id, digest);


--
-- Name: webhook_deliveries webhook_deliveries_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id);


--
-- Name: writer writer_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.writer
    ADD CONSTRAINT writer_pkey PRIMARY KEY (id);


--
-- Name: artifacts_bundle; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX artifacts_bundle ON public.artifacts USING btree (bundle_id, id);


--
-- Name: build_attempts_bundle; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX build_attempts_bundle ON public.build_attempts USING btree (bundle_id, id);


--
-- Name: build_requests_attempt; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX build_requests_attempt ON public.build_requests USING btree (attempt_id);


--
-- Name: build_requests_bundle; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX build_requests_bundle ON public.build_requests USING btree (bundle_id, id);


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
-- Name: publications_sequence; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX publications_sequence ON public.publications USING btree (sequence);


--
-- Name: sessions_token; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sessions_token ON public.sessions USING btree (token_id, id);


--
-- Name: statuses_bundle; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX statuses_bundle ON public.statuses USING btree (bundle_id, id);


--
-- Name: artifact_pieces artifact_pieces_artifact_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.artifact_pieces
    ADD CONSTRAINT artifact_pieces_artifact_id_fkey FOREIGN KEY (artifact_id) REFERENCES public.artifacts(id) ON DELETE CASCADE;


--
-- Name: artifacts artifacts_bundle_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.artifacts
    ADD CONSTRAINT artifacts_bundle_id_fkey FOREIGN KEY (bundle_id) REFERENCES public.items(id) ON DELETE CASCADE;


--
-- Name: build_attempts build_attempts_bundle_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.build_attempts
    ADD CONSTRAINT build_attempts_bundle_id_fkey FOREIGN KEY (bundle_id) REFERENCES public.items(id) ON DELETE CASCADE;


--
-- Name: build_requests build_requests_attempt_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.build_requests
    ADD CONSTRAINT build_requests_attempt_id_fkey FOREIGN KEY (attempt_id) REFERENCES public.build_attempts(id) ON DELETE CASCADE;


--
-- Name: build_requests build_requests_bundle_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.build_requests
    ADD CONSTRAINT build_requests_bundle_id_fkey FOREIGN KEY (bundle_id) REFERENCES public.items(id) ON DELETE CASCADE;


--
-- Name: bundle_builds bundle_builds_bundle_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.bundle_builds
    ADD CONSTRAINT bundle_builds_bundle_id_fkey FOREIGN KEY (bundle_id) REFERENCES public.items(id) ON DELETE CASCADE;


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
-- Name: publications publications_artifact_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.publications
    ADD CONSTRAINT publications_artifact_id_fkey FOREIGN KEY (artifact_id) REFERENCES public.artifacts(id) ON DELETE CASCADE;


--
-- Name: publications publications_bundle_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.publications
    ADD CONSTRAINT publications_bundle_id_fkey FOREIGN KEY (bundle_id) REFERENCES public.items(id) ON DELETE CASCADE;


--
-- Name: secret_values secret_values_item_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.secret_values
    ADD CONSTRAINT secret_values_item_id_fkey FOREIGN KEY (item_id) REFERENCES public.items(id) ON DELETE CASCADE;


--
-- Name: sessions sessions_token_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_token_id_fkey FOREIGN KEY (token_id) REFERENCES public.tokens(id) ON DELETE CASCADE;


--
-- Name: source_data source_data_source_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.source_data
    ADD CONSTRAINT source_data_source_id_fkey FOREIGN KEY (source_id) REFERENCES public.items(id) ON DELETE CASCADE;


--
-- Name: source_triggers source_triggers_source_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.source_triggers
    ADD CONSTRAINT source_triggers_source_id_fkey FOREIGN KEY (source_id) REFERENCES public.items(id) ON DELETE CASCADE;


--
-- Name: statuses statuses_bundle_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.statuses
    ADD CONSTRAINT statuses_bundle_id_fkey FOREIGN KEY (bundle_id) REFERENCES public.items(id) ON DELETE CASCADE;


--
-- Name: traces traces_item_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.traces
    ADD CONSTRAINT traces_item_id_fkey FOREIGN KEY (item_id) REFERENCES public.items(id) ON DELETE CASCADE;


--
-- Name: webhook_deliveries webhook_deliveries_source_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_source_id_fkey FOREIGN KEY (source_id) REFERENCES public.items(id) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--


