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
-- Data for Name: artifact_pieces; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.artifact_pieces VALUES (1, 0, '\x6f6e65');
INSERT INTO public.artifact_pieces VALUES (2, 0, '\x74776f');


--
-- Data for Name: artifacts; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.artifacts OVERRIDING SYSTEM VALUE VALUES (1, 3, 'one', '7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed', 3, 1, NULL, 1795846830425558);
INSERT INTO public.artifacts OVERRIDING SYSTEM VALUE VALUES (2, 3, 'two', '3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3', 3, 2, NULL, 1795846830440373);


--
-- Data for Name: audit; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (1, 1795846830384626, 'the command line', '', 'create', 'tokens', 'admin', NULL, '{"created_at":"2026-11-28T06:20:30.383661Z","expires_at":null,"last_used_at":null,"name":"admin","role":"administrator"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (2, 1795846830387081, 'the command line', '', 'create', 'tokens', 'viewer', NULL, '{"created_at":"2026-11-28T06:20:30.386705Z","expires_at":null,"last_used_at":null,"name":"viewer","role":"viewer"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (3, 1795846830389074, 'the command line', '', 'create', 'tokens', 'owner1', NULL, '{"created_at":"2026-11-28T06:20:30.388639Z","expires_at":null,"last_used_at":null,"name":"owner1","role":"owner"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (4, 1795846830390902, 'the command line', '', 'create', 'tokens', 'owner2', NULL, '{"created_at":"2026-11-28T06:20:30.390616Z","expires_at":null,"last_used_at":null,"name":"owner2","role":"owner"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (5, 1795846830393966, 'the command line', '', 'create', 'tokens', 'stack1', NULL, '{"created_at":"2026-11-28T06:20:30.393612Z","expires_at":null,"last_used_at":null,"name":"stack1","role":"stack_owner"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (6, 1795846830395633, 'the command line', '', 'create', 'tokens', 'stack2', NULL, '{"created_at":"2026-11-28T06:20:30.395329Z","expires_at":null,"last_used_at":null,"name":"stack2","role":"stack_owner"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (7, 1795846830401410, 'admin', '1', 'create', 'sources', 'lib', NULL, '{"name":"lib","files":{"a.rego":"cGFja2FnZSBhCg=="}}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (8, 1795846830404953, 'admin', '2', 'create', 'secrets', 'key', NULL, '{"type":"signing_key"}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (9, 1795846830420562, 'admin', '3', 'create', 'bundles', 'b', NULL, '{"name":"b","requirements":[{"source":"lib"}],"signing":{"key":"key","algorithm":"HS256"}}');
INSERT INTO public.audit OVERRIDING SYSTEM VALUE VALUES (10, 1795846830453491, 'admin', '4', 'rollback', 'bundles', 'b', '{"id":2,"revision":"two","digest":"3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3","size":3,"created_at":"2026-11-28T06:20:30.440373Z","active":true}', '{"id":1,"revision":"one","digest":"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed","size":3,"created_at":"2026-11-28T06:20:30.425558Z","active":true}');


--
-- Data for Name: build_attempts; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: bundle_builds; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: grants; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: item_references; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.item_references VALUES (3, 1);
INSERT INTO public.item_references VALUES (3, 2);


--
-- Data for Name: items; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.items OVERRIDING SYSTEM VALUE VALUES (1, 'sources', 'lib', 1, 1, NULL, '{"name":"lib","files":{"a.rego":"cGFja2FnZSBhCg=="}}', 1795846830399062, 1795846830399062);
INSERT INTO public.items OVERRIDING SYSTEM VALUE VALUES (2, 'secrets', 'key', 1, 1, NULL, '{"type":"signing_key"}', 1795846830404081, 1795846830404081);
INSERT INTO public.items OVERRIDING SYSTEM VALUE VALUES (3, 'bundles', 'b', 1, 1, NULL, '{"name":"b","requirements":[{"source":"lib"}],"signing":{"key":"key","algorithm":"HS256"}}', 1795846830415135, 1795846830415136);


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

INSERT INTO public.secret_values VALUES (2, '5f03f0dabdc6192c', '\x19b07c96c966471310b5cc98aa661ed19b295df7cd65a37d1b14a6608be827b7f2deb9cd527af917709d189edeb0aa452b80fe546b9675bf118f74377c67428c4fb5');


--
-- Data for Name: settings; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.settings VALUES ('service_keys', '\x356630336630646162646336313932630a9df6dfafca2c4c58aa20309a179e91bd7852fe45bfe6fd8c632b93a3d3ae9c514db755b56de5c6fadcfab3b98199c3805c00ccbb94ae5b9df8343922');


--
-- Data for Name: solon_migrations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.solon_migrations VALUES (1, 1795846830350098);
INSERT INTO public.solon_migrations VALUES (2, 1795846830352406);
INSERT INTO public.solon_migrations VALUES (3, 1795846830362062);
INSERT INTO public.solon_migrations VALUES (4, 1795846830370382);


--
-- Data for Name: source_data; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: statuses; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: tokens; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tokens OVERRIDING SYSTEM VALUE VALUES (2, 'viewer', 'viewer', '\xd9b9e877da6a6855d0355cd82e071e6e54e09d6ccb5d11942d57e49b84e00bd9', NULL, 1795846830386705, NULL, NULL);
INSERT INTO public.tokens OVERRIDING SYSTEM VALUE VALUES (3, 'owner1', 'owner', '\x874e95148bc923f11610724c1d0b2b07de238f21d04cfa8942456f5d306ba182', NULL, 1795846830388639, NULL, NULL);
INSERT INTO public.tokens OVERRIDING SYSTEM VALUE VALUES (4, 'owner2', 'owner', '\x833d4d7d93f4918cb2ee05c91c7f20408c81e6e0240928a951125bb8ac1a542a', NULL, 1795846830390616, NULL, NULL);
INSERT INTO public.tokens OVERRIDING SYSTEM VALUE VALUES (5, 'stack1', 'stack_owner', '\x4d6c0d22baf442bb5d22ab47be5100c429cf69fc1c0d28751a21e0a358917123', NULL, 1795846830393612, NULL, NULL);
INSERT INTO public.tokens OVERRIDING SYSTEM VALUE VALUES (6, 'stack2', 'stack_owner', '\x49d5096ca7d71e75ce7435efab5c9dca75c437002f93964ffc375f461ad76c3e', NULL, 1795846830395329, NULL, NULL);
INSERT INTO public.tokens OVERRIDING SYSTEM VALUE VALUES (1, 'admin', 'administrator', '\x8d9ab002ca0a3e6d0707a75ba0dd1ed5ce2510d9e06c26964b97f8f697937234', NULL, 1795846830383661, NULL, 1795846830401597);


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

SELECT pg_catalog.setval('public.audit_id_seq', 10, true);


--
-- Name: build_attempts_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.build_attempts_id_seq', 1, false);


--
-- Name: items_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.items_id_seq', 3, true);


--
-- Name: source_data_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.source_data_id_seq', 1, false);


--
-- Name: statuses_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.statuses_id_seq', 1, false);


--
-- Name: tokens_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.tokens_id_seq', 6, true);


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
-- Name: artifacts_bundle; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX artifacts_bundle ON public.artifacts USING btree (bundle_id, id);


--
-- Name: build_attempts_bundle; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX build_attempts_bundle ON public.build_attempts USING btree (bundle_id, id);


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


