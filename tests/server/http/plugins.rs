//! Plugins: tasks that run in parallel with requests, and their effect on `/health`, health rules and `/v1/status`. The
//! plugins are created here through the library.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, mpsc};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value as Json, json};
use solon::{Engine, Limits};
use solon_server::{
    BundleStatus, Plugin, PluginState, Server, ServerBuilder, ServerOptions, Spelling,
    StatusOptions,
};

use crate::client::{Client, Message, get};
use crate::inside::Inside;
use crate::waiting::{HANG, wait_for};

/// An operation that a test runs in a plugin.
type Order = Box<dyn FnOnce(&Plugin) + Send>;

/// A plugin that runs operations of a test.
pub struct ScriptedPlugin(Sender<(Order, mpsc::Sender<()>)>);

impl ScriptedPlugin {
    /// Adds a plugin to a server.
    pub fn add(builder: ServerBuilder, name: &str) -> (ServerBuilder, Self) {
        let (orders, given) = channel::<(Order, mpsc::Sender<()>)>();
        let builder = builder.plugin(name, |plugin| async move {
            let orders = plugin.clone();
            let _obeys = std::thread::spawn(move || {
                for (order, done) in given {
                    order(&orders);
                    done.send(()).unwrap();
                }
            });
            plugin.stopped().await;
            Ok(())
        });
        (builder, Self(orders))
    }

    /// Runs an operation in the plugin, and waits for its end.
    pub fn send_to(&self, order: impl FnOnce(&Plugin) + Send + 'static) {
        let (done, is_done) = channel();
        self.0.send((Box::new(order), done)).unwrap();
        is_done.recv().unwrap();
    }
}

const HEALTH: &str = "package system.health

# METADATA
# description: all plugins are, or once were, up
live if input.plugins_ready

ready if input.plugin_state.first == \"OK\"

second := input.plugin_state.second == \"WARN\"

broken if 1 / input.zero == 1

clash := 1 if input
clash := 2 if input
";

fn engine() -> Engine {
    let engine = Engine::new();
    engine.set_module("health.rego", HEALTH).unwrap();
    engine
}

fn options(spelling: Spelling) -> ServerOptions {
    ServerOptions {
        spelling,
        ..ServerOptions::default()
    }
}

fn get_json(server: &Inside, target: &str) -> (u16, String) {
    let answer = get(server.address(), target);
    (answer.status, answer.text())
}

fn unwell(error: &str) -> (u16, String) {
    (500, format!("{{\"error\":\"{error}\"}}\n"))
}

fn well() -> (u16, String) {
    (200, "{}\n".to_owned())
}

/// S-011, S-129, S-130, S-131, S-134, S-135, S-304, S-305, S-306, S-308, S-314, S-315, S-316, S-322, S-323.
#[test]
fn plugins_count_where_a_parameter_enables_it() {
    for (spelling, words) in [
        (Spelling::Standard, "not all plugins in OK state"),
        (Spelling::Opa, "one or more plugins are not up"),
    ] {
        let builder = Server::builder()
            .engine(engine())
            .options(options(spelling));
        let (builder, first) = ScriptedPlugin::add(builder, "first");
        let (builder, second) = ScriptedPlugin::add(builder, "second");
        let server = Inside::start(builder);
        // The request does not ask for plugins.
        assert_eq!(get_json(&server, "/health"), well());
        assert_eq!(get_json(&server, "/health?plugins=false"), well());
        assert_eq!(get_json(&server, "/health?exclude-plugin=first"), well());
        // None has started.
        assert_eq!(get_json(&server, "/health?plugins"), unwell(words));
        let excluded = "/health?plugins=true&exclude-plugin=first";
        assert_eq!(get_json(&server, excluded), unwell(words));
        let both = format!("{excluded}&exclude-plugin=second");
        assert_eq!(get_json(&server, &both), well());
        assert_eq!(get_json(&server, "/health/live").0, 500);

        first.send_to(|plugin| plugin.report(PluginState::Ok));
        assert_eq!(get_json(&server, "/health?plugins"), unwell(words));
        assert_eq!(
            get_json(&server, "/health?plugins&exclude-plugin=second"),
            well()
        );
        assert_eq!(get_json(&server, "/health/live").0, 500);
        assert_eq!(get_json(&server, "/health/ready"), well());
        for state in [PluginState::Warn, PluginState::Error, PluginState::NotReady] {
            second.send_to(move |plugin| plugin.report(state));
            assert_eq!(
                get_json(&server, "/health?plugins"),
                unwell(words),
                "{state:?}"
            );
            let is_warned = state == PluginState::Warn;
            assert_eq!(get_json(&server, "/health/second").0 == 200, is_warned);
        }

        second.send_to(|plugin| plugin.report(PluginState::Ok));
        assert_eq!(get_json(&server, "/health?plugins"), well());
        assert_eq!(get_json(&server, "/health/live"), well());
        // A plugin that was ready once stays ready for rules, but not for requests with `plugins`.
        first.send_to(|plugin| plugin.report_because(PluginState::Error, "it broke"));
        assert_eq!(get_json(&server, "/health/live"), well());
        assert_eq!(get_json(&server, "/health/ready").0, 500);
        assert_eq!(get_json(&server, "/health?plugins"), unwell(words));
    }
}

/// S-303, S-312, S-313, S-318, S-132, S-133.
#[test]
fn bundles_count_where_a_parameter_enables_it() {
    for (spelling, words) in [
        (
            Spelling::Standard,
            "not all configured bundles have been activated",
        ),
        (
            Spelling::Opa,
            "one or more bundles are not activated: authz, zones",
        ),
    ] {
        let builder = Server::builder().options(options(spelling));
        let (builder, plugin) = ScriptedPlugin::add(builder, "bundle");
        let server = Inside::start(builder);
        assert_eq!(get_json(&server, "/health?bundles"), well());
        plugin.send_to(|plugin| {
            plugin.report_bundle(BundleStatus::new("zones"));
            plugin.report_bundle(BundleStatus::new("authz"));
        });
        assert_eq!(get_json(&server, "/health"), well());
        assert_eq!(get_json(&server, "/health?bundles=true"), unwell(words));
        assert_eq!(get_json(&server, "/health?bundle"), unwell(words));
        let active = |name: &str| BundleStatus {
            last_successful_activation: Some(UNIX_EPOCH + Duration::from_secs(1_700_000_000)),
            ..BundleStatus::new(name)
        };
        let authz = active("authz");
        plugin.send_to(move |plugin| plugin.report_bundle(authz));
        assert_eq!(get_json(&server, "/health?bundles").0, 500);
        let zones = active("zones");
        plugin.send_to(move |plugin| plugin.report_bundle(zones));
        assert_eq!(get_json(&server, "/health?bundles"), well());
        // A later failed download has no effect.
        plugin.send_to(|plugin| {
            plugin.report_bundle(BundleStatus {
                code: Some("bundle_error".to_owned()),
                message: Some("server replied with Not Found".to_owned()),
                http_code: Some(404),
                ..BundleStatus::new("authz")
            });
        });
        assert_eq!(get_json(&server, "/health?bundles"), well());
        plugin.send_to(|plugin| plugin.report_bundle(BundleStatus::new("late")));
        assert_eq!(get_json(&server, "/health?bundles").0, 500);
        plugin.send_to(|plugin| plugin.forget_bundle("late"));
        assert_eq!(get_json(&server, "/health?bundles"), well());
    }
}

/// The error of a failed attempt may have no list of errors, unlike the one before it.
#[test]
fn a_failed_attempt_makes_no_bundle_ready() {
    let builder = Server::builder().options(options(Spelling::Opa));
    let (builder, plugin) = ScriptedPlugin::add(builder, "bundle");
    let server = Inside::start(builder);
    let active = |name: &str| BundleStatus {
        last_successful_activation: Some(UNIX_EPOCH + Duration::from_secs(1_700_000_000)),
        ..BundleStatus::new(name)
    };
    let failed = |name: &str, errors| BundleStatus {
        code: Some("bundle_error".to_owned()),
        errors,
        ..active(name)
    };
    let report = |status| plugin.send_to(move |plugin| plugin.report_bundle(status));
    plugin.send_to(|plugin| plugin.report(PluginState::NotReady));
    report(BundleStatus::new("zones"));
    report(failed("authz", vec!["parse error".into()]));
    report(active("zones"));
    let waiting = unwell("one or more bundles are not activated: authz");
    assert_eq!(get_json(&server, "/health?bundles"), waiting);
    report(failed("authz", Vec::new()));
    report(failed("zones", Vec::new()));
    let waiting = unwell("one or more bundles are not activated");
    assert_eq!(get_json(&server, "/health?bundles"), waiting);
    report(active("zones"));
    assert_eq!(get_json(&server, "/health?bundles"), well());
}

/// S-012, S-310, S-311, S-317, S-319, S-324, S-325, S-404.
#[test]
fn health_rules_report_each_failure() {
    for (spelling, untrue, undefined, failed) in [
        (
            Spelling::Standard,
            "health policy was not true at data.system.health.second",
            "health policy was undefined at data.system.health.nothing",
            "unable to perform evaluation",
        ),
        (
            Spelling::Opa,
            "health check (data.system.health.second) returned unexpected value",
            "health check (data.system.health.nothing) was undefined",
            "health.rego:14: eval_conflict_error: rule data.system.health.clash produced conflicting values:\\n  \
             1 at health.rego:13\\n  2 at health.rego:14",
        ),
    ] {
        let builder = Server::builder()
            .engine(engine())
            .options(options(spelling));
        let (builder, plugin) = ScriptedPlugin::add(builder, "second");
        let server = Inside::start(builder);
        assert_eq!(get_json(&server, "/health/second"), unwell(untrue));
        assert_eq!(get_json(&server, "/health/nothing"), unwell(undefined));
        assert_eq!(get_json(&server, "/health/clash"), unwell(failed));
        plugin.send_to(|plugin| plugin.report(PluginState::Warn));
        assert_eq!(get_json(&server, "/health/second"), well());
    }
}

/// S-307, S-308, S-317.
#[test]
fn a_server_that_cannot_decide_is_unhealthy() {
    let starved = Engine::builder()
        .limits(Limits::default().time(Some(Duration::ZERO)))
        .build();
    let server = Inside::start(Server::builder().engine(starved));
    assert_eq!(
        get_json(&server, "/health"),
        unwell("unable to perform evaluation")
    );
}

fn status(server: &Inside) -> Json {
    let answer = get(server.address(), "/v1/status");
    assert_eq!(answer.status, 200, "{}", answer.text());
    let mut answer: Json = serde_json::from_str(&answer.text()).unwrap();
    answer["result"].take()
}

/// S-014, S-074, S-075, S-076, S-077, S-078, S-079, S-080, S-081, S-082, S-083, S-330, S-331, S-332.
#[test]
fn the_status_tells_of_plugins_bundles_and_counts() {
    let config = r#"{"labels": {"id": "one", "region": "eu"}}"#;
    let options = ServerOptions {
        status: Some(StatusOptions::default()),
        ..ServerOptions::default()
    };
    let builder = Server::builder()
        .config(solon::json::read(config.as_bytes()).unwrap())
        .options(options);
    let (builder, plugin) = ScriptedPlugin::add(builder, "bundle");
    let server = Inside::start(builder);
    plugin.send_to(|plugin| plugin.report_because(PluginState::NotReady, "it waits"));
    let reported = status(&server);
    assert_eq!(reported["labels"], json!({"id": "one", "region": "eu"}));
    assert_eq!(
        reported["plugins"],
        json!({
            "bundle": {"state": "NOT_READY", "message": "it waits"},
            "status": {"state": "OK"},
        })
    );
    assert!(reported.get("bundles").is_none());

    plugin.send_to(|plugin| {
        plugin.report(PluginState::Ok);
        let at = |seconds| Some(UNIX_EPOCH + Duration::from_secs(seconds));
        plugin.report_bundle(BundleStatus {
            active_revision: Some("r1".to_owned()),
            last_successful_activation: at(1_700_000_001),
            last_successful_download: at(1_700_000_000),
            last_successful_request: at(1_700_000_000),
            last_request: at(1_700_000_000),
            metrics: [("timer_bundle_request_ns".to_owned(), 7)].into(),
            ..BundleStatus::new("authz")
        });
        plugin.report_bundle(BundleStatus::new("late"));
    });
    let reported = status(&server);
    assert_eq!(reported["plugins"]["bundle"], json!({"state": "OK"}));
    assert_eq!(
        reported["bundles"]["authz"],
        json!({
            "name": "authz",
            "active_revision": "r1",
            "last_successful_activation": "2023-11-14T22:13:21Z",
            "last_successful_download": "2023-11-14T22:13:20Z",
            "last_successful_request": "2023-11-14T22:13:20Z",
            "last_request": "2023-11-14T22:13:20Z",
            "metrics": {"timer_bundle_request_ns": 7},
        })
    );
    let never = "0001-01-01T00:00:00Z";
    assert_eq!(reported["bundles"]["late"]["last_request"], never);

    let durations = &reported["metrics"]["prometheus"]["http_request_duration_seconds"];
    assert_eq!(durations["type"], "HISTOGRAM");
    let asked = durations["metric"].as_array().unwrap();
    let asked = asked.iter().find(|metric| {
        metric["label"]
            == json!([
                {"name": "code", "value": "200"},
                {"name": "handler", "value": "v1/status"},
                {"name": "method", "value": "get"},
            ])
    });
    assert_eq!(asked.unwrap()["histogram"]["sampleCount"], "1");

    let pretty = get(server.address(), "/v1/status?pretty=true");
    assert!(
        pretty
            .text()
            .starts_with("{\n  \"result\": {\n    \"bundles\": {")
    );
    let post = Client::connect(server.address()).send(&Message::new("POST", "/v1/status"));
    assert_eq!(post.status, 405);
}

/// A bundle that is reported but not active is not part of a decision.
#[test]
fn reported_bundles_are_not_part_of_the_provenance() {
    let (builder, plugin) = ScriptedPlugin::add(Server::builder(), "bundle");
    let server = Inside::start(builder);
    plugin.send_to(|plugin| plugin.report_bundle(BundleStatus::new("plain")));
    let answer = get(server.address(), "/v1/data/x?provenance=true");
    let answer: Json = serde_json::from_str(&answer.text()).unwrap();
    assert!(answer["provenance"]["version"].is_string());
    assert_eq!(answer["provenance"].get("bundles"), None);
}

#[test]
fn plugins_that_end_by_themselves_are_in_error() {
    let (told, heard) = channel();
    let server = Server::builder()
        .options(ServerOptions {
            status: Some(StatusOptions::default()),
            ..ServerOptions::default()
        })
        .plugin("fails", |plugin| async move {
            plugin.report(PluginState::Ok);
            Err("no service".to_owned())
        })
        .plugin("panics", |_| async move { panic!("within a plugin") })
        .plugin("twice", |_| async move { Err("the first".to_owned()) })
        .plugin("twice", move |plugin| async move {
            plugin.report(PluginState::Ok);
            told.send(()).unwrap();
            Ok(())
        });
    let server = Inside::start(server);
    heard.recv().unwrap();
    let states = wait_for("plugins fail", || {
        let states = status(&server)["plugins"].take();
        let of = |name: &str| states[name]["state"] == "ERROR";
        (of("fails") && of("panics")).then_some(states)
    });
    assert_eq!(
        states,
        json!({
            "fails": {"state": "ERROR", "message": "no service"},
            "panics": {"state": "ERROR", "message": "it panicked"},
            "status": {"state": "OK"},
            "twice": {"state": "OK"},
        })
    );
}

#[test]
fn a_server_waits_for_its_plugins_on_both_ends() {
    let waits = |within: Duration| ServerOptions {
        ready_within: Some(within),
        ..ServerOptions::default()
    };
    let (ready, ended) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicBool::new(false)),
    );
    let (is_ready, has_ended) = (ready.clone(), ended.clone());
    let builder = Server::builder().options(waits(HANG));
    let builder = builder.plugin("slow", |plugin| async move {
        tokio::time::sleep(Duration::from_millis(20)).await;
        is_ready.store(true, Ordering::SeqCst);
        plugin.report(PluginState::Ok);
        plugin.stopped().await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        has_ended.store(true, Ordering::SeqCst);
        Ok(())
    });
    let mut server = Inside::start(builder);
    assert!(ready.load(Ordering::SeqCst), "it listens before");
    server.end();
    assert!(ended.load(Ordering::SeqCst), "it ends before");

    let builder = Server::builder().options(waits(Duration::from_millis(10)));
    let (builder, _never) = ScriptedPlugin::add(builder, "never");
    let refused = Inside::try_start(builder).err().unwrap().to_string();
    assert_eq!(refused, "plugins are not ready in time: never");
}
