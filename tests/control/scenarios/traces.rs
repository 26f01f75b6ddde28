//! Traces from a webhook, or the begin of a build, to a published bundle, received over OTLP.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::process::Process;
use crate::receiver::GrpcReceiver;
use crate::waiting::wait_for;
use crate::{Folder, commit, endpoint};

/// The key of the administrator.
const KEY: &str = "0123456789abcdef0123456789abcdef";

/// The span of the provider of the repository.
const PROVIDER: (&str, &str) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");

fn configuration(receiver: &str) -> Value {
    let users = json!({
        "name": "users", "type": "http", "path": "users", "transform_query": "input.users",
        "config": {"url": format!("{}/users", endpoint::address())},
    });
    json!({
        "sources": {
            "policies": {
                "git": {"repo": "repository", "reference": "main"},
                "webhook": {"provider": "gitlab", "secret": "push"},
                "datasources": [users],
            },
        },
        "secrets": {"push": {"type": "password", "password": "shared"}},
        "bundles": {"b": {
            "requirements": [{"source": "policies"}],
            "revision": "input.sources.policies.git.commit",
            "rebuild_interval": "1h",
        }},
        "tokens": {"admin": {"api_key": KEY, "scopes": [{"role": "administrator"}]}},
        "distributed_tracing": {
            "type": "grpc",
            "address": receiver,
            "service_name": "plane",
            "batch_span_processor_options": {"batch_timeout_ms": 50},
        },
    })
}

/// Replaces the policy, commits it and returns the commit.
fn push(repository: &Path, policy: &str) -> String {
    std::fs::write(repository.join("a.rego"), policy).unwrap();
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(repository)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .args(["-c", "user.name=test", "-c", "user.email=test@example.com"])
            .args(arguments);
        let output = git.output().unwrap();
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    git(&["commit", "--quiet", "--all", "--message", "change"]);
    git(&["rev-parse", "HEAD"])
}

/// Waits until a trace has spans with these names, and returns its spans.
fn trace(
    receiver: &GrpcReceiver,
    names: &[&str],
    is_wanted: impl Fn(&Value) -> bool,
) -> Vec<Value> {
    wait_for(&format!("a trace has {names:?}"), || {
        let spans = receiver.received.spans();
        let root = spans.iter().find(|span| is_wanted(span))?;
        let trace = root["trace"].clone();
        let spans: Vec<Value> = spans
            .into_iter()
            .filter(|span| span["trace"] == trace)
            .collect();
        let has = |name: &&str| spans.iter().any(|span| span["name"] == **name);
        names.iter().all(has).then_some(spans)
    })
}

fn named<'s>(spans: &'s [Value], name: &str) -> &'s Value {
    let mut found = spans.iter().filter(|span| span["name"] == name);
    let span = found
        .next()
        .unwrap_or_else(|| panic!("no {name}: {spans:#?}"));
    assert!(found.next().is_none(), "two {name}: {spans:#?}");
    span
}

#[test]
fn a_webhook_and_its_build_are_one_trace() {
    let receiver = GrpcReceiver::start();
    let folder = Folder::new();
    let folder = folder.0.as_path();
    let repository = folder.join("repository");
    std::fs::create_dir_all(&repository).unwrap();
    std::fs::write(repository.join("a.rego"), "package a\n\np := 1\n").unwrap();
    commit(&repository);
    let config = configuration(&receiver.address).to_string();
    std::fs::write(folder.join("c.json"), config).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_solon"));
    command
        .current_dir(folder)
        .args(["control", "run", "--config", "c.json"]);
    command.args(["--addr", "127.0.0.1:0"]);
    let plane = Process::start(command, "Control plane initialized.").unwrap();
    let key = format!("Authorization: Bearer {KEY}\r\n");
    let latest = || {
        let request = "GET /v1/bundles/b/status/latest";
        let (_, text) = plane.send(folder, request, &key, "");
        let body: Value = serde_json::from_str(&text).unwrap_or_default();
        body["result"].clone()
    };
    wait_for("the first build", || {
        (latest()["status"] == "SUCCESS").then_some(())
    });

    // the trace of the provider goes on until the bundle is published
    let revision = push(&repository, "package a\n\np := 2\n");
    let (trace_id, span_id) = PROVIDER;
    let headers = format!("X-Gitlab-Token: shared\r\ntraceparent: 00-{trace_id}-{span_id}-01\r\n");
    let (status, text) = plane.send(folder, "POST /webhooks/policies", &headers, "{}");
    assert_eq!(status, 200, "{text}");
    assert!(text.contains("triggered"), "{text}");
    let all = [
        "POST /webhooks/{source}",
        "build bundle",
        "sync",
        "transform",
        "build",
        "push",
    ];
    let spans = trace(&receiver, &all, |span| span["trace"] == trace_id);
    let [webhook, bundle, sync, transform, build, push_span] = all.map(|name| named(&spans, name));
    for (span, parent) in [
        (webhook, &json!(span_id)),
        (bundle, &webhook["id"]),
        (sync, &bundle["id"]),
        (transform, &sync["id"]),
        (build, &bundle["id"]),
        (push_span, &bundle["id"]),
    ] {
        assert_eq!(span["parent"], *parent, "{span:#}");
        assert_eq!(span["is_error"], false, "{span:#}");
    }
    assert_eq!(spans.len(), all.len(), "{spans:#?}");
    assert_eq!(webhook["kind"], "SPAN_KIND_SERVER");
    assert_eq!(webhook["attributes"]["http.response.status_code"], 200);
    assert_eq!(bundle["kind"], "SPAN_KIND_INTERNAL");
    assert_eq!(bundle["attributes"], json!({"solon.bundle": "b"}));
    assert_eq!(sync["attributes"], json!({"solon.source": "policies"}));
    assert_eq!(
        transform["attributes"],
        json!({"solon.datasource": "users"})
    );
    assert_eq!(push_span["attributes"], json!({"solon.revision": revision}));

    // a delivery that waits for the minimum pause, and a policy that the transformation cannot load
    push(&repository, "package a\n\np if {");
    let headers = "X-Gitlab-Token: shared\r\n";
    let (_, text) = plane.send(
        folder,
        "POST /webhooks/policies",
        headers,
        r#"{"second": 1}"#,
    );
    assert!(text.contains("waiting"), "{text}");
    let spans = trace(&receiver, &["build bundle"], |span| {
        span["name"] == "POST /webhooks/{source}" && span["trace"] != trace_id
    });
    let bundle = named(&spans, "build bundle");
    assert_eq!(
        bundle["parent"],
        named(&spans, "POST /webhooks/{source}")["id"]
    );
    assert_eq!(bundle["is_error"], true);
    assert_eq!(named(&spans, "sync")["is_error"], true);
    assert_eq!(named(&spans, "transform")["is_error"], true);
    let is_late = |span: &&Value| span["name"] == "build" || span["name"] == "push";
    assert!(!spans.iter().any(|span| is_late(&span)), "{spans:#?}");

    // a requested build, and a change over the API
    push(&repository, "package a\n\np := 3\n");
    let requests = [
        (
            "POST",
            "/v1/bundles/b/build",
            "",
            "/v1/bundles/{bundle}/build",
        ),
        (
            "PUT",
            "/v1/sources/policies/data/x",
            "1",
            "/v1/sources/{source}/data/{path}",
        ),
    ];
    for (method, path, body, pattern) in requests {
        let (status, text) = plane.send(folder, &format!("{method} {path}"), &key, body);
        assert_eq!(status, 200, "{text}");
        let root = format!("{method} {pattern}");
        let spans = trace(&receiver, &["build bundle", "push"], |span| {
            span["name"] == *root
        });
        assert_eq!(
            named(&spans, "build bundle")["parent"],
            named(&spans, &root)["id"]
        );
    }
    // requests without a change have a span alone, and metrics have none
    let spans = receiver.received.spans();
    let reads = spans
        .iter()
        .filter(|span| span["name"] == "GET /v1/bundles/{bundle}/status/latest");
    for read in reads {
        let same = spans.iter().filter(|span| span["trace"] == read["trace"]);
        assert_eq!(same.count(), 1);
    }
}

/// A bundle is built by its interval, again and again.
#[test]
fn builds_without_a_request_are_traces_of_their_own() {
    let receiver = GrpcReceiver::start();
    let folder = Folder::new();
    let folder = folder.0.as_path();
    let policies = folder.join("policies");
    std::fs::create_dir_all(&policies).unwrap();
    std::fs::write(policies.join("a.rego"), "package a\n\np := 1\n").unwrap();
    let mut config = configuration(&receiver.address);
    config["sources"] = json!({"policies": {"directory": "policies"}});
    config["bundles"]["b"] =
        json!({"requirements": [{"source": "policies"}], "rebuild_interval": "1s"});
    std::fs::write(folder.join("c.json"), config.to_string()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_solon"));
    command
        .current_dir(folder)
        .args(["control", "run", "--config", "c.json"])
        .args(["--addr", "127.0.0.1:0"]);
    let _plane = Process::start(command, "Control plane initialized.").unwrap();
    let is_root = |span: &Value| span["name"] == "build bundle" && span["parent"] == "";
    let first = trace(
        &receiver,
        &["build bundle", "sync", "build", "push"],
        is_root,
    );
    let bundle = named(&first, "build bundle");
    assert!(is_root(bundle), "{bundle:#}");
    assert_eq!(bundle["attributes"], json!({"solon.bundle": "b"}));
    for name in ["sync", "build", "push"] {
        assert_eq!(named(&first, name)["parent"], bundle["id"], "{first:#?}");
    }
    assert_eq!(first.len(), 4, "{first:#?}");
    // nothing has changed since
    let second = trace(&receiver, &["build bundle", "sync"], |span| {
        is_root(span) && span["trace"] != bundle["trace"]
    });
    assert_eq!(second.len(), 2, "{second:#?}");
    // and then the policy is not valid any more
    std::fs::write(policies.join("a.rego"), "package a\n\np if {").unwrap();
    let failed = trace(&receiver, &["build bundle", "build"], |span| {
        is_root(span) && span["is_error"] == true
    });
    assert_eq!(named(&failed, "build")["is_error"], true);
}

#[test]
fn an_invalid_section_is_rejected() {
    let folder = Folder::new();
    for (section, wanted) in [
        (json!({"type": "carrier pigeon"}), "carrier pigeon"),
        (json!({"type": "grpc", "unknown": 1}), "unknown"),
        (
            json!({"type": "grpc", "sample_percentage": 101}),
            "sample_percentage",
        ),
    ] {
        let config = json!({"distributed_tracing": section}).to_string();
        std::fs::write(folder.0.join("c.json"), config).unwrap();
        for more in [&["--validate"][..], &["--addr", "127.0.0.1:0"]] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_solon"));
            command
                .current_dir(&folder.0)
                .args(["control", "run", "--config", "c.json"]);
            let output = command.args(more).output().unwrap();
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success(), "{text}");
            assert!(text.contains(wanted), "{text}");
        }
    }
}
