//! Configuration files: merging, checks with paths, variables, items that files manage, reloading.

use std::path::{Path, PathBuf};

use serde_json::json;
use solon_control::config::ConfigFiles;
use solon_control::model::Compat;
use solon_control::{ControlPlane, Options, commands};

use crate::databases::{Folder, On};
use crate::plane::{options, pause};
use crate::waiting::Waiting;

/// Writes the files of a test and returns options that name them.
pub fn described(folder: &Folder, files: &[(&str, &str)]) -> Options {
    let mut options = options(&folder.0.join("data"));
    options.config = ConfigFiles {
        paths: write(&folder.0, files),
        refuse_conflicts: false,
    };
    options
}

pub fn write(folder: &Path, files: &[(&str, &str)]) -> Vec<PathBuf> {
    let write = |(name, text): &(&str, &str)| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    };
    files.iter().map(write).collect()
}

/// A key of a token.
const KEY: &str = "key-0123456789abcdef0123456789abcdef";

const OPS: &str = "ops-key-0123456789abcdef0123456789abcdef";
const TEAM: &str = "team-key-0123456789abcdef0123456789abcdef";
const K2: &str = "k2-0123456789abcdef0123456789abcdef";

const EVERYTHING: &str = r"
metadata: {exported_from: x}
bundles:
  app:
    labels: {env: prod}
    object_storage: {filesystem: {path: /srv/bundles/app.tar.gz}}
    requirements: [{source: policies}, {source: lib, automount: false}]
sources:
  policies:
    directory: /srv/policies
    paths: ['*.rego']
    requirements: [{source: lib}]
    datasources:
    - {name: users, path: users, type: http, config: {url: 'https://example.com/${PLANE_TEST_UNSET_NOT}x$$'}, credentials: token}
  lib:
    git: {repo: /srv/git/lib, reference: refs/heads/main}
  pushed: null
stacks:
  all: {selector: {env: ['*']}, requirements: [{source: lib}]}
secrets:
  token: {type: token_auth, token: hidden-canary}
tokens:
  ops: {api_key: ops-key-0123456789abcdef0123456789abcdef, scopes: [{role: administrator}]}
  team: {api_key: team-key-0123456789abcdef0123456789abcdef, scopes: [{role: owner}]}
service: {api_prefix: /my/api}
metrics: {http: {enabled: true, request_duration: {buckets_seconds: [0.1, 1]}}, gitsync: {git_sync_count: {enabled: false}}}
database: {sql: {driver: sqlite}}
";

pub async fn send(
    plane: &ControlPlane,
    key: &str,
    request_line: &str,
    body: &str,
) -> (u16, serde_json::Value) {
    let (method, target) = request_line.split_once(' ').unwrap();
    let request = http::Request::builder()
        .method(method)
        .uri(target)
        .header("authorization", format!("Bearer {key}"))
        .body(body.to_owned().into())
        .unwrap();
    let response = plane.service().handle(request).await;
    (response.status().as_u16(), crate::plane::json(&response))
}

#[tokio::test(flavor = "multi_thread")]
async fn files_describe_everything() {
    let folder = Folder::new();
    let text = EVERYTHING.replace("${PLANE_TEST_UNSET_NOT}", "");
    let options = described(&folder, &[("config.yaml", &text)]);
    commands::validate(&options).await.unwrap();
    let plane = ControlPlane::open(&options).await.unwrap();
    let (status, answer) = send(&plane, OPS, "GET /my/api/v1/sources", "").await;
    assert_eq!(status, 200, "{answer}");
    let names: Vec<&str> = answer["result"]
        .as_array()
        .unwrap()
        .iter()
        .map(|source| source["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["lib", "pushed", "policies"]);
    let url = &answer["result"][2]["datasources"][0]["config"]["url"];
    assert_eq!(url, "https://example.com/x$");
    let (_, secrets) = send(&plane, OPS, "GET /my/api/v1/secrets", "").await;
    assert_eq!(secrets["result"], json!(["token"]));

    // the API cannot change items that files manage.
    let file = options.config.paths[0].display().to_string();
    for (request, body) in [
        ("PUT /my/api/v1/bundles/app", "{}"),
        ("DELETE /my/api/v1/bundles/app", ""),
        ("DELETE /my/api/v1/stacks/all", ""),
        (
            "PUT /my/api/v1/secrets/token",
            r#"{"type":"password","password":"x"}"#,
        ),
        ("DELETE /my/api/v1/tokens/team", ""),
        ("POST /my/api/v1/tokens/ops/rotate", ""),
    ] {
        let (status, answer) = send(&plane, OPS, request, body).await;
        assert_eq!(status, 409, "{request}: {answer}");
        assert_eq!(answer["code"], "conflict");
        let message = answer["message"].as_str().unwrap();
        assert!(message.contains(&file), "{message}");
    }
    // the owner of a token of a file may create items, but not change those of files.
    let (status, _) = send(&plane, TEAM, "PUT /my/api/v1/bundles/app", "{}").await;
    assert_eq!(status, 403);
    let (status, _) = send(&plane, TEAM, "PUT /my/api/v1/bundles/mine", "{}").await;
    assert_eq!(status, 200);
    // data can be pushed to sources of files
    let (status, _) = send(&plane, OPS, "PUT /my/api/v1/sources/pushed/data/x", "1").await;
    assert_eq!(status, 200);

    // loading the same files again changes nothing
    let applied = plane.reload().await.unwrap();
    assert_eq!((applied.written, applied.removed), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn reloading_is_all_or_nothing() {
    for on in [On::Sqlite, On::Postgres, On::Mariadb] {
        let folder = Folder::new();
        let database = on.fresh(&folder.0).await;
        let Some(database) = database else { continue };
        let tokens = "tokens: {ops: {api_key: ops-key-0123456789abcdef0123456789abcdef, scopes: [{role: administrator}]}}\n";
        let mut options = described(
            &folder,
            &[
                ("a.yaml", tokens),
                (
                    "b.yaml",
                    "sources: {one: {}, two: {requirements: [{source: one}]}}\nsecrets: {s: {type: password, password: first}}",
                ),
            ],
        );
        options.database = Some(database);
        let plane = ControlPlane::open(&options).await.unwrap();
        let list = || async { send(&plane, OPS, "GET /v1/sources", "").await.1["result"].clone() };
        assert_eq!(list().await.as_array().unwrap().len(), 2);

        // an invalid reference is found midway, and everything is rolled back
        let broken =
            "sources: {three: {}, two: {requirements: [{source: three}, {source: ghost}]}}";
        write(&folder.0, &[("b.yaml", broken)]);
        let error = plane.reload().await.unwrap_err().to_string();
        assert!(
            error.contains("source \"two\": requirements[1].source names source \"ghost\""),
            "{error}"
        );
        assert_eq!(list().await.as_array().unwrap().len(), 2);

        // items that the API uses stay when files drop them
        let used = r#"{"requirements": [{"source": "one"}]}"#;
        let (status, _) = send(&plane, OPS, "PUT /v1/bundles/b", used).await;
        assert_eq!(status, 200);
        write(&folder.0, &[("b.yaml", "sources: {three: {}}")]);
        let applied = plane.reload().await.unwrap();
        assert_eq!((applied.written, applied.removed), (1, 2));
        assert_eq!(applied.left, ["source \"one\""]);
        assert_eq!(list().await, json!([{"name": "one"}, {"name": "three"}]));
        let (status, _) = send(&plane, OPS, "PUT /v1/sources/one", "{}").await;
        assert_eq!(status, 200);

        // a token that files drop is revoked
        write(
            &folder.0,
            &[(
                "a.yaml",
                "tokens: {other: {api_key: k2-0123456789abcdef0123456789abcdef, scopes: [{role: viewer}]}}",
            )],
        );
        plane.reload().await.unwrap();
        assert_eq!(send(&plane, OPS, "GET /v1/sources", "").await.0, 401);
        assert_eq!(send(&plane, K2, "GET /v1/sources", "").await.0, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_name_the_location_of_each_field() {
    let cases = [
        (
            "bundles: {b: {labelz: {}}}",
            "bundles.b.labelz is not a known field; did you mean `labels`?",
        ),
        (
            "bundlez: {}",
            "bundlez is not a known field; did you mean `bundles`?",
        ),
        ("bundles: []", "bundles must be an object, not an array"),
        (
            "bundles: {b: null}",
            "bundles.b must be an object, not null",
        ),
        ("tokens: {t: null}", "tokens.t must be an object, not null"),
        (
            "tokens: {t: {scopes: [{role: viewer}]}}",
            "tokens.t.api_key is required",
        ),
        (
            "tokens: {t: {api_key: k-0123456789abcdef0123456789abcdef, scopes: []}}",
            "tokens.t.scopes must have exactly one scope",
        ),
        (
            "tokens: {t: {api_key: k-0123456789abcdef0123456789abcdef, scopes: [{role: king}]}}",
            "tokens.t.scopes[0].role must be one of",
        ),
        (
            "secrets: {s: {type: token_auth}}",
            "secrets.s.token is required",
        ),
        (
            "secrets: {s: {type: token_auth, token: $PLANE_TEST_UNSET}}",
            "secrets.s needs the variable PLANE_TEST_UNSET",
        ),
        (
            "bundles: {b: {options: {target: exe}}}",
            "bundles.b.options.target must be `rego`",
        ),
        (
            "sources: {a: {requirements: [{source: b}]}, b: {requirements: [{source: a}]}}",
            "sources require one another: a → b → a",
        ),
        (
            "sources: {a: {requirements: [{source: ghost}]}}",
            "source \"a\": requirements[0].source names source \"ghost\", which does not exist",
        ),
        (
            "service: {api_prefix: api}",
            "service.api_prefix must begin with `/`",
        ),
        (
            "service: {api_prefix: /api/}",
            "service.api_prefix must begin with `/`",
        ),
        (
            "database: {sql: {driver: oracle}}",
            "database.sql.driver must be `sqlite`, `postgres` or `mysql`",
        ),
        (
            "database: {sql: {driver: postgres}}",
            "database.sql.dsn is required",
        ),
        (
            "metrics: {http: {request_duration: {buckets_seconds: [2, 1]}}}",
            "buckets_seconds[1] must be larger",
        ),
        (
            "foo: {}",
            "foo is not a known field; expected one of bundles, sources, stacks, secrets, tokens, metadata, database, service, metrics, audit",
        ),
        (
            "bundles: {b: {}, c: {},\n  b: {}}",
            "config.yaml has \"b\" twice in one object, line 1, column 10",
        ),
        (
            r#"{"secrets": {"s": {"type": "token_auth", "token": "a", "token": "b"}}}"#,
            "config.yaml has \"token\" twice in one object, line 1",
        ),
        (
            "database: {sql: {driver: postgres, dsn: 'postgres://u:p@h:port/x'}}",
            "DSN of PostgreSQL: invalid value for `port`",
        ),
        ("a: [", "neither YAML nor JSON, line"),
        ("- 1", "must be an object"),
        ("? [1]\n: 2", "neither YAML nor JSON"),
    ];
    for (text, wanted) in cases {
        let folder = Folder::new();
        let options = described(&folder, &[("config.yaml", text)]);
        let error = commands::validate(&options).await.unwrap_err().to_string();
        assert!(error.contains(wanted), "{text}: {error}");
        let opened = ControlPlane::open(&options).await;
        assert!(opened.is_err(), "{text}");
    }
    // each problem is reported with its file
    let folder = Folder::new();
    let options = described(
        &folder,
        &[
            ("one.yaml", "bundles: {b: {x: 1}}"),
            ("two.yaml", "stacks: {s: {x: 1}}"),
        ],
    );
    let error = commands::validate(&options).await.unwrap_err().to_string();
    assert!(
        error.contains("one.yaml: bundles.b.x") && error.contains("two.yaml: stacks.s.x"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn folders_and_order() {
    let folder = Folder::new();
    write(
        &folder.0,
        &[
            (
                "config.d/10-a.yaml",
                "bundles: {b: {labels: {x: '1', y: '1'}, excluded_files: ['a']}}",
            ),
            (
                "config.d/20/b.json",
                r#"{"bundles": {"b": {"labels": {"x": "2"}, "excluded_files": ["b", "c"]}}}"#,
            ),
            ("config.d/README.md", "# not: [yaml"),
            ("config.d/.hidden.yaml", "bundlez: {}"),
            ("config.d/30-empty.yml", "# nothing\n"),
        ],
    );
    let mut options = options(&folder.0.join("data"));
    options.config.paths = vec![folder.0.join("config.d")];
    let plane = ControlPlane::open(&options).await.unwrap();
    let key = plane
        .create_token("ops", solon_control::model::Role::Administrator, None)
        .await
        .unwrap();
    let (_, answer) = send(&plane, &key, "GET /v1/bundles/b", "").await;
    let wanted = json!({"name": "b", "labels": {"x": "2", "y": "1"}, "excluded_files": ["b", "c"]});
    assert_eq!(answer["result"], wanted);
    options.config.refuse_conflicts = true;
    let error = commands::validate(&options).await.unwrap_err().to_string();
    assert!(
        error.contains("conflict for config path /bundles/b/excluded_files"),
        "{error}"
    );
    options.config.paths = vec![folder.0.join("none.yaml")];
    assert!(commands::validate(&options).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_fields_are_ignored_where_a_flag_allows_them() {
    let folder = Folder::new();
    let text =
        "bundles: {b: {x: 1}}\nsecrets: {s: {type: token_auth, token: a$PLANE_TEST_UNSET, y: 1}}";
    let mut options = described(&folder, &[("config.yaml", text)]);
    assert!(commands::validate(&options).await.is_err());
    options.compat = Compat::Ocp;
    commands::validate(&options).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_files_are_loaded_again() {
    let folder = Folder::new();
    let options = described(&folder, &[("config.yaml", "bundles: {one: {}}")]);
    let plane = ControlPlane::open(&options).await.unwrap();
    let watched = plane.clone();
    let watching = tokio::spawn(async move {
        watched.watch(std::time::Duration::from_millis(10)).await;
    });
    let key = plane
        .create_token("ops", solon_control::model::Role::Administrator, None)
        .await
        .unwrap();
    let wait = async |name: &str| {
        let what = format!("{name} is loaded");
        let waiting = Waiting::until(&what);
        while send(&plane, &key, &format!("GET /v1/bundles/{name}"), "")
            .await
            .0
            != 200
        {
            pause(&waiting).await;
        }
    };
    wait("one").await;
    write(&folder.0, &[("config.yaml", "bundles: {two: [")]);
    // time to load the broken file; whether it was loaded or skipped, the next one counts
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    write(&folder.0, &[("config.yaml", "bundles: {two: {}}")]);
    wait("two").await;
    watching.abort();
    let (status, _) = send(&plane, &key, "GET /v1/bundles/one", "").await;
    assert_eq!(status, 404);
}

/// A token of a file may be renamed and keep its key.
#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_renamed() {
    for on in [On::Sqlite, On::Postgres, On::Mariadb] {
        let folder = Folder::new();
        let Some(database) = on.fresh(&folder.0).await else {
            continue;
        };
        let token = |name: &str, key: &str| {
            format!("tokens: {{{name}: {{api_key: {key}, scopes: [{{role: administrator}}]}}}}")
        };
        let mut options = described(&folder, &[("a.yaml", &token("one", KEY))]);
        options.database = Some(database);
        let plane = ControlPlane::open(&options).await.unwrap();
        write(&folder.0, &[("a.yaml", &token("two", KEY))]);
        plane.reload().await.unwrap();
        let (_, answer) = send(&plane, KEY, "GET /v1/tokens", "").await;
        let tokens = answer["result"].as_array().unwrap().iter();
        let names: Vec<_> = tokens.map(|token| &token["name"]).collect();
        assert_eq!(names, ["two"], "{on:?}");
        // two tokens cannot have the same key
        let files = [
            ("a.yaml", &*token("two", KEY)),
            ("b.yaml", &token("other", KEY)),
        ];
        options.config.paths = write(&folder.0, &files);
        let refused = ControlPlane::open(&options).await.err().unwrap();
        assert!(
            refused.to_string().contains("has the key of token"),
            "{refused}"
        );
    }
}

/// Numeric keys of YAML are names. The prefix of paths is checked before anything starts.
#[tokio::test(flavor = "multi_thread")]
async fn names_and_prefixes() {
    let folder = Folder::new();
    let mut options = described(
        &folder,
        &[("a.yaml", "bundles: {2024: {labels: {1: one, true: 'yes'}}}")],
    );
    let plane = ControlPlane::open(&options).await.unwrap();
    let key = plane
        .create_token("ops", solon_control::model::Role::Viewer, None)
        .await
        .unwrap();
    let (_, answer) = send(&plane, &key, "GET /v1/bundles/2024", "").await;
    let labels = json!({"1": "one", "true": "yes"});
    assert_eq!(answer["result"]["labels"], labels);
    for (prefix, is_valid) in [("/x", true), ("/", true), ("x", false), ("//x", false)] {
        options.api_prefix = prefix.to_owned();
        assert_eq!(commands::validate(&options).await.is_ok(), is_valid);
        assert_eq!(ControlPlane::open(&options).await.is_ok(), is_valid);
    }
}

/// A service without files that is instructed to reload them loses nothing.
#[tokio::test(flavor = "multi_thread")]
async fn without_files_nothing_is_loaded() {
    let folder = Folder::new();
    let described = described(&folder, &[("a.yaml", EVERYTHING_OF_FILES)]);
    ControlPlane::open(&described).await.unwrap();
    let plane = ControlPlane::open(&options(&folder.0.join("data")))
        .await
        .unwrap();
    let applied = plane.reload().await.unwrap();
    assert_eq!((applied.written, applied.removed), (0, 0));
    assert_eq!(send(&plane, OPS, "GET /v1/bundles/b", "").await.0, 200);
}

const EVERYTHING_OF_FILES: &str = "
bundles: {b: {}}
tokens: {ops: {api_key: ops-key-0123456789abcdef0123456789abcdef, scopes: [{role: administrator}]}}
";
