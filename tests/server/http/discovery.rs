//! Discovery: a downloaded configuration that overrides the initial one, and bundles that survive an outage of the service.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::get;
use crate::distribution::{bundle, json_at, start, status, wait_for_document};
use crate::process::{Folder, Server};
use crate::service::{Reply, Service, archive};
use crate::waiting::wait_until;

fn polling() -> Value {
    json!({"min_delay_seconds": 0, "max_delay_seconds": 0})
}

/// Returns the archive of a configuration.
fn configuration(document: &Value) -> Vec<u8> {
    archive(&[("data.json", &document.to_string())])
}

/// Returns the initial configuration.
fn boot(service: &Service) -> Value {
    json!({
        "services": {"s": {"url": service.url(), "credentials": {"bearer": {"token": "of-the-start"}}}},
        "labels": {"region": "eu"},
        "keys": {"k": {"key": "secret", "algorithm": "HS256"}},
        "discovery": {"resource": "discovery", "polling": polling()},
        "status": {"service": "s"},
    })
}

fn discovery(server: &Server) -> Value {
    json_at(server, "/v1/status")["result"]["discovery"].clone()
}

/// S-328
#[test]
fn a_discovered_configuration_is_in_force_and_its_bundles_are_served() {
    let service = Service::start();
    for name in ["a", "b"] {
        service.reply(
            &format!("/bundles/{name}"),
            vec![Reply::archive(bundle(name, "1")).etag("\"1\"")],
        );
    }
    let of = |names: &[&str]| {
        let bundles = names.iter().map(|name| {
            (
                (*name).to_owned(),
                json!({"service": "s", "polling": polling()}),
            )
        });
        json!({
            "bundles": bundles.collect::<serde_json::Map<_, _>>(),
            "labels": {"team": "core"},
            "default_decision": "/a/allow",
        })
    };
    let server = start(&boot(&service), &[]);
    wait_until("discovery fails", || discovery(&server)["http_code"] == 404);
    assert_eq!(get(server.address(), "/health?bundles").status, 500);
    service.reply(
        "/discovery",
        vec![Reply::archive(configuration(&of(&["a", "b"]))).etag("\"1\"")],
    );
    wait_for_document(&server, "a/allow", &json!(true));
    wait_for_document(&server, "b/allow", &json!(true));
    wait_until("health", || {
        get(server.address(), "/health?bundles&plugins").status == 200
    });
    let shown = json_at(&server, "/v1/config")["result"].clone();
    assert_eq!(shown["bundles"], of(&["a", "b"])["bundles"]);
    assert_eq!(shown["default_decision"], "/a/allow");
    assert_eq!(
        (&shown["labels"]["region"], &shown["labels"]["team"]),
        (&json!("eu"), &json!("core"))
    );
    assert_eq!(shown["discovery"]["resource"], "discovery");
    // the other bundle is removed, and nothing else changes
    service.reply(
        "/discovery",
        vec![Reply::archive(configuration(&of(&["a"]))).etag("\"2\"")],
    );
    wait_until("b is gone", || {
        json_at(&server, "/v1/data/b").get("result").is_none()
    });
    assert_eq!(
        json_at(&server, "/v1/data/a/allow"),
        json!({"result": true})
    );
    let requests = service.received("/bundles/a");
    let header = |name: &str| requests.last().unwrap().headers.get(name).cloned();
    assert_eq!(
        header("authorization").as_deref(),
        Some("Bearer of-the-start")
    );
    assert_eq!(header("prefer").as_deref(), Some("modes=snapshot,delta"));
    assert_eq!(header("if-none-match").as_deref(), Some("\"1\""));
    wait_until("the service has the status", || {
        service.received("/status").iter().any(|one| {
            let sent: Value = serde_json::from_slice(&one.body).unwrap();
            one.method == "POST"
                && sent["bundles"]["a"]["active_revision"] == "1"
                && sent["labels"]["team"] == "core"
        })
    });
}

#[test]
fn what_belongs_to_the_start_cannot_be_discovered() {
    let service = Service::start();
    service.reply(
        "/bundles/a",
        vec![Reply::archive(bundle("a", "1")).etag("\"1\"")],
    );
    let good = json!({"bundles": {"a": {"service": "s", "polling": polling()}}});
    service.reply("/discovery", vec![Reply::archive(configuration(&good))]);
    let server = start(&boot(&service), &[]);
    wait_for_document(&server, "a/allow", &json!(true));
    let before = json_at(&server, "/v1/config");
    let of_the_start = |key: &str| {
        format!("{key}: belongs to the configuration of the start, and discovery cannot change it")
    };
    let evil = "http://127.0.0.1:9";
    for (document, message) in [
        (
            json!({"services": {"s": {"url": evil, "credentials": {"bearer": {"token": "of-the-start"}}}}}),
            "updates to the discovery service are not allowed".to_owned(),
        ),
        (
            json!({"services": {"t": {"url": evil, "credentials": {"bearer": {"token_path": "/etc/passwd"}}}}}),
            of_the_start("services.t.credentials.bearer"),
        ),
        (
            json!({"services": {"t": {"url": evil, "credentials": {"s3_signing": {"environment_credentials": {}}}}}}),
            of_the_start("services.t.credentials.s3_signing"),
        ),
        (
            json!({"services": {"t": {"url": evil, "credentials": {"oauth2": {"signing_key": "k"}}}}}),
            of_the_start("services.t.credentials.oauth2"),
        ),
        (
            json!({"services": {"t": {"url": evil, "allow_insecure_tls": true}}}),
            of_the_start("services.t.allow_insecure_tls"),
        ),
        (
            json!({"services": {"t": {"url": evil, "tls": {"ca_cert": "x"}}}}),
            of_the_start("services.t.tls"),
        ),
        (
            json!({"services": {"t": {"url": evil, "credentials": {"gcp_service_account": {"path": "/etc/passwd"}}}}}),
            of_the_start("services.t.credentials.gcp_service_account"),
        ),
        (
            json!({"decision_logs": {"otlp": {"type": "grpc", "address": "127.0.0.1:9"}}}),
            of_the_start("decision_logs.otlp"),
        ),
        (
            json!({"services": {"t": {"url": evil, "type": "oci"}}}),
            of_the_start("services.t.type"),
        ),
        (
            json!({"services": {"t": {"url": evil, "proxy": evil}}}),
            of_the_start("services.t.proxy"),
        ),
        (
            json!({"keys": {"k": {"key": "other", "algorithm": "HS256"}}}),
            of_the_start("keys.k"),
        ),
        (
            json!({"server": {"decoding": {"max_length": 1}}}),
            of_the_start("server"),
        ),
        (
            json!({"default_authorization_decision": "/x"}),
            of_the_start("default_authorization_decision"),
        ),
        (
            json!({"persistence_directory": "/tmp"}),
            of_the_start("persistence_directory"),
        ),
        (
            json!({"storage": {"sqlite": {"path": "x"}}}),
            of_the_start("storage"),
        ),
        (json!({"caching": {}}), of_the_start("caching")),
        (
            json!({"bundles": {"a": {"service": "nope"}}}),
            "invalid configuration for bundle \"a\": service name \"nope\" not found".to_owned(),
        ),
        (
            json!({"bundles": 3}),
            "bundles: expected an object, got a number".to_owned(),
        ),
    ] {
        service.reply("/discovery", vec![Reply::archive(configuration(&document))]);
        wait_until(&message, || discovery(&server)["message"] == *message);
        assert_eq!(json_at(&server, "/v1/config"), before, "{document}");
        assert_eq!(
            json_at(&server, "/v1/data/a/allow"),
            json!({"result": true}),
            "{document}"
        );
        assert_eq!(status(&server, "a").get("code"), None);
    }
}

/// Values of the start take precedence, and the status lists the keys of the others, as in OPA.
#[test]
fn keys_that_the_start_overrides_are_reported() {
    let service = Service::start();
    let mut boot = boot(&service);
    boot["default_decision"] = json!("/start");
    let document = json!({
        "labels": {"region": "us", "team": "core", "id": "other", "version": "other"},
        "default_decision": "/discovered",
        "discovery": {"resource": "other"},
        "status": {"service": "s", "console": false},
    });
    service.reply("/discovery", vec![Reply::archive(configuration(&document))]);
    let server = start(&boot, &[]);
    wait_until("the configuration is active", || {
        discovery(&server).get("message").is_some()
    });
    let status = discovery(&server);
    assert_eq!(
        status["message"],
        "Keys in the discovered configuration overridden by boot configuration: default_decision, labels.region"
    );
    assert_eq!((status.get("code"), status.get("metrics")), (None, None));
    let shown = json_at(&server, "/v1/config")["result"].clone();
    assert_eq!(shown["default_decision"], "/start");
    let labels = &shown["labels"];
    assert_eq!(
        (&labels["region"], &labels["team"]),
        (&json!("eu"), &json!("core"))
    );
    assert_ne!(labels["id"], "other");
    assert_ne!(labels["version"], "other");
    assert_eq!(shown["discovery"]["resource"], "discovery");
}

/// Copies the archive that an earlier version persisted to a folder, and returns the configuration for it.
fn persisted(folder: &Folder) -> Value {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/server/http/persisted/bundles/authz/bundle.tar.gz");
    let target = folder.path().join("bundles/authz");
    fs::create_dir_all(&target).unwrap();
    fs::copy(source, target.join("bundle.tar.gz")).unwrap();
    json!({
        "services": {"s": {"url": "http://127.0.0.1:9"}},
        "keys": {"k": {"key": "secret", "algorithm": "HS256"}},
        "bundles": {"authz": {"persist": true, "signing": {"keyid": "k"}, "polling": polling()}},
        "persistence_directory": folder.path(),
        "status": {"prometheus": true},
    })
}

#[test]
fn a_persisted_bundle_is_served_without_its_service() {
    let folder = Folder::with(&[]);
    let server = start(&persisted(&folder), &[]);
    wait_for_document(&server, "authz/admins", &json!(["alice"]));
    wait_until("the download fails", || {
        status(&server, "authz")["code"] == "bundle_error"
    });
    assert_eq!(status(&server, "authz")["active_revision"], "7");
    assert_eq!(get(server.address(), "/health?bundles&plugins").status, 200);
}

#[test]
fn a_persisted_bundle_that_was_changed_is_rejected() {
    let folder = Folder::with(&[]);
    let config = persisted(&folder);
    let file = folder.path().join("bundles/authz/bundle.tar.gz");
    fs::write(&file, bundle("authz", "8")).unwrap();
    let mut server = start(&config, &[]);
    server.logged("the message", 1, |line| {
        line["msg"] == "Failed to load bundle from disk: bundle missing .signatures.json file"
    });
    assert_eq!(json_at(&server, "/v1/data/authz").get("result"), None);
    assert_eq!(get(server.address(), "/health?bundles").status, 500);
}

#[test]
fn an_activated_bundle_is_persisted_for_this_user_alone() {
    let (service, folder) = (Service::start(), Folder::with(&[]));
    let mut config = json!({
        "services": {"s": {"url": service.url()}},
        "bundles": {"team/a": {"persist": true, "polling": polling(), "resource": "a"}},
        "persistence_directory": folder.path(),
    });
    service.reply("/a", vec![Reply::archive(bundle("a", "1")).etag("\"1\"")]);
    let server = start(&config, &[]);
    wait_for_document(&server, "a/revision", &json!("1"));
    let file = folder.path().join("bundles/team/a/bundle.tar.gz");
    wait_until("the file", || {
        fs::read(&file).is_ok_and(|bytes| bytes == bundle("a", "1"))
    });
    service.reply("/a", vec![Reply::archive(bundle("a", "2")).etag("\"2\"")]);
    wait_until("the next file", || {
        fs::read(&file).is_ok_and(|bytes| bytes == bundle("a", "2"))
    });
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    // a configuration that cannot be activated is not persisted
    service.reply(
        "/a",
        vec![Reply::archive(archive(&[(
            "p.rego",
            "package a\nallow if x",
        )]))],
    );
    let requests = service.received("/a").len();
    wait_until("more requests", || {
        service.received("/a").len() > requests + 2
    });
    assert_eq!(fs::read(&file).unwrap(), bundle("a", "2"));
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
    drop(server);
    config["services"]["s"]["url"] = json!("http://127.0.0.1:9");
    let server = start(&config, &[]);
    wait_for_document(&server, "a/revision", &json!("2"));
}

#[test]
fn a_long_poll_returns_the_next_bundle_at_once() {
    let service = Service::start();
    let held = |revision: &str| {
        let mut reply = Reply::archive(bundle("a", revision)).etag(&format!("\"{revision}\""));
        let kind = "application/vnd.openpolicyagent.bundles";
        reply
            .headers
            .push(("Content-Type".to_owned(), kind.to_owned()));
        reply.is_held = true;
        vec![reply]
    };
    service.reply("/bundles/a", held("1"));
    let config = json!({
        "services": {"s": {"url": service.url(), "response_header_timeout_seconds": 1}},
        "bundles": {"a": {"polling": {
            "min_delay_seconds": 3600, "max_delay_seconds": 3600, "long_polling_timeout_seconds": 30,
        }}},
    });
    let server = start(&config, &[]);
    wait_for_document(&server, "a/revision", &json!("1"));
    wait_until("a held request", || {
        service.received("/bundles/a").len() == 2
    });
    let request = service.received("/bundles/a").remove(1);
    assert_eq!(request.headers["prefer"], "modes=snapshot,delta;wait=30");
    service.reply("/bundles/a", held("2"));
    wait_for_document(&server, "a/revision", &json!("2"));
}

#[test]
fn a_service_can_request_a_longer_delay() {
    let service = Service::start();
    let busy = |status: u16| Reply {
        headers: vec![("Retry-After".to_owned(), "1".to_owned())],
        ..Reply::status(status)
    };
    // 500 does not request a delay
    let replies = vec![
        busy(503),
        busy(429),
        busy(500),
        Reply::archive(bundle("a", "1")),
    ];
    service.reply("/bundles/a", replies);
    let config = json!({
        "services": {"s": {"url": service.url()}},
        "bundles": {"a": {"polling": {"min_delay_seconds": 0, "max_delay_seconds": 0}}},
    });
    let server = start(&config, &[]);
    wait_for_document(&server, "a/revision", &json!("1"));
    let received = service.received("/bundles/a");
    for at in [0, 1] {
        let pause = received[at + 1].at.duration_since(received[at].at);
        assert!(pause >= Duration::from_secs(1), "{at}: {pause:?}");
    }
}

/// As in OPA, the content type of a bundle decides about the following requests; responses without a bundle change nothing.
#[test]
fn long_polling_follows_the_content_type_of_the_last_bundle() {
    let service = Service::start();
    let typed = |reply: Reply, kind: &str| Reply {
        headers: vec![("Content-Type".to_owned(), kind.to_owned())],
        ..reply
    };
    let long = "application/vnd.openpolicyagent.bundles";
    let revision = |number: u32, kind: &str| {
        let etag = format!("\"{number}\"");
        typed(
            Reply::archive(bundle("a", &number.to_string())).etag(&etag),
            kind,
        )
    };
    let other = "application/gzip";
    let sequence = [
        // reply, and `true` if the request contains the long polling time
        (revision(1, long), true),
        (revision(2, other), true),
        (typed(Reply::status(304), other), false),
        (typed(Reply::status(304), long), false),
        (typed(Reply::status(500), long), false),
        (typed(Reply::status(404), other), false),
        (revision(3, other), false),
        (typed(Reply::status(500), long), false),
        (revision(4, long), false),
        (Reply::status(304), true),
        (typed(Reply::status(304), other), true),
        (typed(Reply::status(500), other), true),
        (Reply::status(304), true),
        (Reply::status(304), true),
    ];
    let replies = sequence.iter().map(|(reply, _)| reply.clone()).collect();
    service.reply("/bundles/a", replies);
    let config = json!({
        "services": {"s": {"url": service.url()}},
        "bundles": {"a": {"polling": {
            "min_delay_seconds": 0, "max_delay_seconds": 0, "long_polling_timeout_seconds": 30,
        }}},
    });
    let server = start(&config, &[]);
    wait_until("all requests", || {
        service.received("/bundles/a").len() >= sequence.len()
    });
    let received = service.received("/bundles/a");
    for (at, ((_, is_long), request)) in sequence.iter().zip(&received).enumerate() {
        let want = if *is_long {
            "modes=snapshot,delta;wait=30"
        } else {
            "modes=snapshot,delta"
        };
        assert_eq!(request.headers["prefer"], want, "request {at}");
    }
    // a service that responds at once is not requested without a pause
    let pause = received[13].at.duration_since(received[12].at);
    assert!(pause >= Duration::from_millis(90), "{pause:?}");
    wait_for_document(&server, "a/revision", &json!("4"));
}
