//! Hosts of secrets at fetches and publications: an item keeps its reference to a secret whose `allowed_hosts` change later.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use solon_control::model::{
    Bundle, Compat, FieldPath, Origin, Reader, Resource as _, Secret, Status, StatusRecord,
};
use solon_control::storage::StorageTarget;
use solon_control::sync::{FetchOptions, Fetcher};
use solon_control::worker::WorkerOptions;

use crate::databases::On;
use crate::plane::Plane;
use crate::sync::http_server::{HttpServer, response};
use crate::sync::{Folder, fetch_with, secret, source};

/// Returns a server that accepts everything.
fn server() -> HttpServer {
    HttpServer::start(|_| response("200 OK", &[], "{}"))
}

/// Returns the host with the port of a server, as `allowed_hosts` names it.
fn host(server: &HttpServer) -> String {
    server.address.trim_start_matches("http://").to_owned()
}

fn named(value: &Value, hosts: &[&str], is_foreign: bool) -> BTreeMap<String, Secret> {
    let mut secret = secret(&json!({"value": value, "allowed_hosts": hosts}));
    "k".clone_into(&mut secret.name);
    secret.is_foreign = is_foreign;
    BTreeMap::from([("k".to_owned(), secret)])
}

/// Returns sources that use a secret at an address, each with a value of a suitable type.
fn sources(address: &str) -> Vec<(Value, Value)> {
    let datasource = |kind: &str, config: Value| {
        json!({"name": "s", "datasources": [
            {"name": "d", "path": "d", "type": kind, "config": config, "credentials": "k"}
        ]})
    };
    let token = json!({"type": "token_auth", "token": "t"});
    let basic = json!({"type": "basic_auth", "username": "u", "password": "p"});
    let aws = json!({"type": "aws_auth", "access_key_id": "a", "secret_access_key": "s"});
    let azure = json!({"type": "azure_auth", "account_name": "a", "account_key": "a2V5"});
    let key = json!({"type": "api_key", "key": "k", "value": "v", "in": "query"});
    let http = datasource("http", json!({"url": format!("{address}/x")}));
    let s3 = json!({"bucket": "b", "key": "k", "region": "r", "endpoint": address});
    let blob = json!({"account_url": format!("{address}/a"), "container": "c", "path": "p"});
    let git = json!({"name": "s", "git": {"repo": format!("{address}/r.git"), "reference": "main", "credentials": "k"}});
    vec![
        (http.clone(), token),
        (http.clone(), basic.clone()),
        (http, key),
        (datasource("s3", s3), aws),
        (datasource("azure", blob), azure),
        (git, basic),
    ]
}

#[tokio::test]
async fn a_source_sends_a_secret_only_to_its_hosts_of_today() {
    let folder = Folder::new("allowed-hosts");
    let server = server();
    let own = host(&server);
    let fetcher = Fetcher::new(folder.options()).unwrap();
    for (body, value) in sources(&server.address) {
        let source = source(&body);
        let fetch = |hosts: Vec<&str>, is_foreign: bool| {
            let secrets = named(&value, &hosts, is_foreign);
            let (fetcher, source) = (&fetcher, &source);
            async move { fetch_with(fetcher, source, None, &secrets).await }
        };
        // the connection of an earlier fetch must not be used either
        for (hosts, is_foreign) in [
            (vec![], false),
            (vec![own.as_str()], false),
            (vec!["elsewhere.example.org", own.as_str()], true),
        ] {
            let before = server.count();
            let fetched = fetch(hosts.clone(), is_foreign).await;
            assert!(server.count() > before, "{body} {hosts:?}: {fetched:?}");
            let before = server.count();
            for (hosts, is_foreign) in [
                (vec![], true),
                (vec!["elsewhere.example.org"], false),
                (vec!["elsewhere.example.org"], true),
                // another port, and the default one
                (vec!["127.0.0.1:1"], false),
                (vec!["127.0.0.1"], true),
                (vec!["*.0.0.1"], true),
            ] {
                let failure = fetch(hosts.clone(), is_foreign).await.unwrap_err();
                assert_eq!(failure.status, Status::SyncFailed);
                let message = failure.message;
                assert!(
                    message.contains("secret \"k\"") && message.contains("`allowed_hosts`"),
                    "{body} {hosts:?}: {message}"
                );
            }
            assert_eq!(server.count(), before, "{body}");
        }
    }
}

#[tokio::test]
async fn a_bundle_is_published_only_to_the_hosts_of_its_secret() {
    let plane = Plane::new(On::Memory).await.unwrap();
    let options = plane.plane.storage_options();
    let body = json!({"name": "b", "object_storage": {"aws": {
        "bucket": "b", "key": "k", "region": "r", "url": "https://s3.example.com:9000", "credentials": "k"
    }}});
    let mut reader = Reader::new(Compat::Strict, Origin::File);
    let bundle = Bundle::read(&mut reader, &FieldPath::Root, &body);
    let bundle = reader.finish(bundle).unwrap();
    let value = json!({"type": "aws_auth", "access_key_id": "a", "secret_access_key": "s"});
    for (hosts, is_foreign, is_open) in [
        (vec![], false, true),
        (vec!["s3.example.com:9000"], false, true),
        (vec!["*.example.com:9000"], true, true),
        (vec![], true, false),
        (vec!["s3.example.com"], false, false),
        (vec!["s3.eu.amazonaws.com"], true, false),
    ] {
        let secrets = named(&value, &hosts, is_foreign);
        let opened = StorageTarget::open(&bundle, &secrets, &options);
        assert_eq!(opened.is_ok(), is_open, "{hosts:?}");
        if let Err(failure) = opened {
            assert_eq!(failure.status, Status::ConfigError);
            assert!(failure.message.contains("`allowed_hosts`"));
        }
    }
}

/// Builds a bundle and returns the result.
async fn build(plane: &Plane, bundle: &str) -> StatusRecord {
    let stages = plane
        .plane
        .stages(FetchOptions::default(), BTreeMap::new())
        .unwrap();
    let worker = plane
        .plane
        .worker(Arc::new(stages), WorkerOptions::new("test"));
    let reports = worker.build_once(&[bundle.to_owned()], |_| {}).await;
    reports.unwrap().remove(0).record
}

#[tokio::test(flavor = "multi_thread")]
async fn narrowed_hosts_apply_to_the_next_build() {
    for on in On::ALL {
        let Some(plane) = Plane::new(on).await else {
            continue;
        };
        let server = server();
        let own = host(&server);
        let put = |hosts: Value| {
            let body =
                json!({"value": {"type": "token_auth", "token": "t"}, "allowed_hosts": hosts});
            let plane = &plane;
            async move {
                plane
                    .done("owner1", "PUT /v1/secrets/k", &body.to_string())
                    .await;
            }
        };
        put(json!([own])).await;
        let grant = "PUT /v1/secrets/k/grants/owner2";
        let permissions = r#"{"permissions": ["secrets.use"]}"#;
        plane.done("admin", grant, permissions).await;
        for who in ["owner1", "owner2", "admin"] {
            let source = json!({"datasources": [{"name": "d", "path": who, "type": "http", "credentials": "k",
                "config": {"url": format!("{}/{who}", server.address)}}]});
            let target = format!("PUT /v1/sources/{who}");
            plane.done(who, &target, &source.to_string()).await;
        }
        // without hosts the secret is for its owner and administrators
        let rounds = [
            (json!([own]), &["owner1", "owner2", "admin"][..]),
            (json!(["elsewhere.example.org"]), &[]),
            (json!([]), &["owner1", "admin"]),
            (json!(["127.0.0.1:1"]), &[]),
            (
                json!(["elsewhere.example.org", own]),
                &["owner1", "owner2", "admin"],
            ),
        ];
        for (round, (hosts, allowed)) in rounds.into_iter().enumerate() {
            put(hosts.clone()).await;
            for who in ["owner1", "owner2", "admin"] {
                // a bundle is built once in a while, a new one at once
                let name = format!("{who}-{round}");
                let bundle = json!({"requirements": [{"source": who}]});
                let target = format!("PUT /v1/bundles/{name}");
                plane.done(who, &target, &bundle.to_string()).await;
                let before = server.count();
                let record = build(&plane, &name).await;
                let is_built = record.status == Status::Success;
                let text = format!("{on:?} {who} {hosts}: {record:?}");
                assert_eq!(is_built, allowed.contains(&who), "{text}");
                let is_sent = server.count() > before;
                assert_eq!(is_sent, is_built, "{text}");
                assert!(
                    is_built || record.error_message.contains("`allowed_hosts`"),
                    "{text}"
                );
            }
        }
    }
}
