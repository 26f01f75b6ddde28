//! The metrics of `/metrics`.

use std::collections::BTreeSet;

use crate::client::{Client, Message, get};
use crate::process::Server;
use crate::unread::Unread;
use crate::waiting::wait_until;
use crate::{ENDLESS, slow_policy};

fn page(server: &Server) -> String {
    let answer = get(server.address(), "/metrics");
    assert_eq!(answer.status, 200);
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    assert_eq!(answer.header("content-type"), Some(kind));
    answer.text()
}

/// Returns the value of a line.
fn value(page: &str, name: &str) -> Option<f64> {
    let mut lines = page.lines();
    lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

#[test]
fn requests_are_counted_by_handler_method_and_status() {
    let server = Server::start(&[]);
    for (method, target) in [
        ("GET", "/v1/data/x"),
        ("GET", "/v1/data/x/y"),
        ("POST", "/v0/data/x"),
        ("GET", "/"),
        ("PUT", "/v1/policies/p"),
        ("BREW", "/health"),
        ("GET", "/health"),
        ("GET", "/v1/status"),
        ("GET", "/none"),
    ] {
        let message = Message::new(method, target).body("{}");
        Client::connect(server.address()).send(&message);
    }
    let page = page(&server);
    for (labels, count) in [
        ("code=\"200\",handler=\"v1/data\",method=\"get\"", 2.0),
        ("code=\"404\",handler=\"v0/data\",method=\"post\"", 1.0),
        ("code=\"200\",handler=\"index\",method=\"get\"", 1.0),
        ("code=\"400\",handler=\"v1/policies\",method=\"put\"", 1.0),
        ("code=\"405\",handler=\"health\",method=\"unknown\"", 1.0),
        ("code=\"200\",handler=\"health\",method=\"get\"", 1.0),
        ("code=\"500\",handler=\"v1/status\",method=\"get\"", 1.0),
        ("code=\"404\",handler=\"catchall\",method=\"get\"", 1.0),
    ] {
        let name = format!("http_request_duration_seconds_count{{{labels}}}");
        assert_eq!(value(&page, &name), Some(count), "{labels}: {page}");
        let last = format!("http_request_duration_seconds_bucket{{{labels},le=\"+Inf\"}}");
        assert_eq!(value(&page, &last), Some(count), "{labels}: {page}");
    }
    // each family has exactly one type line
    let kinds: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("# TYPE "))
        .collect();
    let mut names = kinds.clone();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), kinds.len());
}

#[test]
fn the_process_is_measured() {
    let server = Server::start(&[]);
    let page = page(&server);
    for name in [
        "process_cpu_seconds_total",
        "process_max_fds",
        "process_open_fds",
        "process_resident_memory_bytes",
        "process_start_time_seconds",
        "process_virtual_memory_bytes",
    ] {
        let value = value(&page, name);
        assert!(value.is_some_and(|value| value >= 0.0), "{name}: {page}");
    }
    assert!(value(&page, "process_resident_memory_bytes") > Some(1e6));
    assert!(value(&page, "process_start_time_seconds") > Some(1.7e9));
    let bytes = get(server.address(), "/metrics/alloc_bytes").text();
    assert!(
        bytes.trim_end().parse::<u64>().unwrap() > 1_000_000,
        "{bytes}"
    );
    let pretty = get(server.address(), "/metrics/alloc_bytes?pretty=true").text();
    assert!(pretty.ends_with("MB\n"), "{pretty}");
}

/// S-083
#[test]
fn plugins_are_counted_where_that_is_configured() {
    let server = Server::start_with(&["--set", "status.prometheus=true"], &[]);
    let page = page(&server);
    let info = format!("engine_info{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"));
    assert_eq!(value(&page, &info), Some(1.0), "{page}");
    let plugin = "plugin_status_gauge{name=\"status\",status=\"OK\"}";
    assert_eq!(value(&page, plugin), Some(1.0), "{page}");
    assert_eq!(get(server.address(), "/v1/status").status, 200);
    let other = Server::start_with(&["--compat", "opa", "--set", "status.prometheus=true"], &[]);
    assert!(self::page(&other).contains("opa_info{version="));
}

#[test]
fn the_status_is_logged_where_that_is_configured() {
    let mut server = Server::start_with(
        &["--set", "status.console=true", "--set", "labels.id=one"],
        &[],
    );
    assert_eq!(get(server.address(), "/v1/status").status, 200);
    let line = server.logged_message("Status Log");
    assert_eq!(line["type"], "openpolicyagent.org/status");
    let status: serde_json::Value = serde_json::from_str(line["status"].as_str().unwrap()).unwrap();
    assert_eq!(status["labels"]["id"], "one");
    assert_eq!(status["plugins"]["status"]["state"], "OK");
}

#[test]
fn clients_that_go_away_are_counted() {
    let server = Server::start(&[("slow.rego", &slow_policy(ENDLESS))]);
    let open = Unread::get(server.address(), "/v1/data/slow/count_all");
    server.wait_for_work();
    drop(open);
    let name = "http_request_cancellations{code=\"499\",handler=\"v1/data\",method=\"get\"}";
    wait_until("the client that went away is counted", || {
        value(&page(&server), name) == Some(1.0)
    });
}

#[test]
fn profiles_are_rejected_with_a_message() {
    let (code, text) = Server::fail(&["--pprof"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("--pprof: there are no profiles of Go's here"),
        "{text}"
    );
}

/// The page lists exactly the metrics that a server with decision logs exports, and those of the control plane.
#[test]
fn the_page_of_metrics_is_complete() {
    let settings = [
        "decision_logs.console=true",
        "services.s.url=http://127.0.0.1:9/",
        "bundles.b.service=s",
        "bundles.b.resource=x",
        "status.service=s",
        "status.prometheus=true",
    ];
    let flags: Vec<&str> = settings.iter().flat_map(|set| ["--set", *set]).collect();
    let server = Server::start_with(&flags, &[]);
    get(server.address(), "/v1/data");
    // the download fails at any time after the start
    wait_until("the failed download is counted", || {
        let page = page(&server);
        ["bundle_failed_load_counter{", "last_bundle_request{"]
            .iter()
            .all(|name| page.contains(name))
    });
    let exported = page(&server);
    let described = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/metrics.md");
    let described = std::fs::read_to_string(described).unwrap();
    let mut rows: BTreeSet<String> = described
        .lines()
        .filter(|line| line.starts_with("| `"))
        .filter_map(|line| Some(line.rsplit_once(" | ")?.0.to_owned()))
        .collect();
    for line in exported
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "))
    {
        let (name, kind) = line.split_once(' ').unwrap();
        let row = format!("| `{name}` | {kind} | ");
        let own = rows.iter().find(|own| own.starts_with(&row)).cloned();
        let own = own.unwrap_or_else(|| panic!("docs/metrics.md has no row {row}"));
        rows.remove(&own);
    }
    // these need a condition that this server does not meet: a cancelled request, a spool, a buffer, a downloaded bundle, or the control plane
    rows.retain(|row| {
        let absent = [
            "http_request_cancellations",
            "solon_decision_logs_spool_bytes",
            "decision_logs_buffer_size_",
            "bundle_loaded_counter",
            "last_success_bundle_",
            "ocp_",
            "solon_bundle_",
        ];
        !absent.iter().any(|name| row.contains(&format!("`{name}")))
    });
    assert!(rows.is_empty(), "docs/metrics.md describes {rows:?}");
}
