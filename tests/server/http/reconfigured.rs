//! Random changes of the discovered configuration under load: no decision fails, no event is lost, no task remains.
//!
//! `SOLON_CHANGES` is the number of changes, and `SOLON_SEED` the seed of the random numbers, which a failure prints.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value, json};

use crate::client::{Client, Message};
use crate::distribution::{bundle, json_at};
use crate::process::Server;
use crate::service::{Reply, Service, archive};
use crate::sink::Sink;
use crate::waiting::wait_until;

/// Number of changes unless the environment has one; with `SOLON_FULL` it is [`ALL_CHANGES`].
const CHANGES: u64 = 40;
const ALL_CHANGES: u64 = 500;

/// A generator of random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn less_than(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)) % end
    }

    fn one<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[usize::try_from(self.less_than(texts.len() as u64)).unwrap()]
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// Returns a random configuration. Decisions are always logged.
fn configuration(random: &mut Random, step: u64, service: &Service) -> Value {
    let mut services = Map::new();
    for at in 0..random.less_than(4) {
        services.insert(
            format!("n{at}"),
            json!({"url": service.url(), "headers": {"x-step": step.to_string()}}),
        );
    }
    let mut names: Vec<String> = services.keys().cloned().collect();
    names.push("s".to_owned());
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut bundles = Map::new();
    for name in ["a", "b", "c"] {
        if random.less_than(2) == 0 {
            let polling = json!({"min_delay_seconds": 0, "max_delay_seconds": random.less_than(3)});
            bundles.insert(name.to_owned(), json!({
                "service": random.one(&names), "resource": format!("bundles/{name}"), "polling": polling,
            }));
        }
    }
    let reporting = match random.less_than(3) {
        0 => json!({"min_delay_seconds": 0, "max_delay_seconds": 0}),
        1 => {
            json!({"min_delay_seconds": 0, "max_delay_seconds": 1, "buffer_type": "event", "buffer_size_limit_events": 100_000})
        }
        _ => {
            json!({"min_delay_seconds": 0, "max_delay_seconds": 1, "upload_size_limit_bytes": 4096 + random.less_than(4096)})
        }
    };
    let mut config = json!({
        "services": services,
        "bundles": bundles,
        "labels": {"step": step.to_string()},
        "default_decision": random.one(&["/p/allow", "/a/allow"]),
        "decision_logs": {"service": random.one(&["l1", "l2"]), "reporting": reporting},
    });
    if random.less_than(2) == 0 {
        config["keys"] = json!({"k": {"key": format!("secret {step}"), "algorithm": "HS256"}});
    }
    if random.less_than(2) == 0 {
        config["status"] = json!({"service": random.one(&names), "prometheus": true});
    }
    config
}

fn open_files(server: &Server) -> usize {
    fs::read_dir(format!("/proc/{}/fd", server.id()))
        .unwrap()
        .count()
}

fn threads(server: &Server) -> usize {
    fs::read_dir(format!("/proc/{}/task", server.id()))
        .unwrap()
        .count()
}

#[test]
fn random_reconfigurations_lose_no_decision_and_leave_nothing_behind() {
    let seed = number("SOLON_SEED", 1);
    let is_full = std::env::var_os("SOLON_FULL").is_some();
    let changes = if is_full { ALL_CHANGES } else { CHANGES };
    let mut random = Random(seed);
    let (service, sinks) = (Service::start(), [Sink::start(), Sink::start()]);
    for name in ["a", "b", "c"] {
        let reply = Reply::archive(bundle(name, "1")).etag("\"1\"");
        service.reply(&format!("/bundles/{name}"), vec![reply]);
    }
    let apply = |step: u64, document: &Value| {
        let archive = archive(&[("data.json", &document.to_string())]);
        let reply = Reply::archive(archive).etag(&format!("\"{step}\""));
        service.reply("/discovery", vec![reply]);
    };
    let first = json!({
        "labels": {"step": "0"},
        "decision_logs": {"service": "l1", "reporting": {"min_delay_seconds": 0, "max_delay_seconds": 0}},
    });
    apply(0, &first);
    let boot = json!({
        "services": {
            "s": {"url": service.url()}, "l1": {"url": sinks[0].url()}, "l2": {"url": sinks[1].url()},
        },
        "discovery": {
            "service": "s", "resource": "discovery",
            "polling": {"min_delay_seconds": 0, "max_delay_seconds": 0},
        },
    });
    let files = [
        ("p.rego", "package p\n\nallow := input.x\n"),
        ("c.yaml", &*boot.to_string()),
    ];
    let mut server = Server::start_with(&["-c", "c.yaml", "--compat", "opa"], &files);
    let step_of =
        |server: &Server| json_at(server, "/v1/config")["result"]["labels"]["step"].clone();
    wait_until("the first configuration", || step_of(&server) == "0");
    let (files_before, threads_before) = (open_files(&server), threads(&server));
    let address = server.address().to_owned();
    let made = Mutex::new(BTreeSet::new());
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut client = Client::connect(&address);
                let mut x = 0_u64;
                while !is_over.load(Ordering::Relaxed) {
                    x += 1;
                    let body = json!({"input": {"x": x}}).to_string();
                    let answer = client.send(&Message::new("POST", "/v1/data/p/allow").body(body));
                    assert_eq!(answer.status, 200, "{}", answer.text());
                    let answer: Value = serde_json::from_slice(&answer.body).unwrap();
                    assert_eq!(answer["result"], x);
                    let id = answer["decision_id"].as_str().unwrap().to_owned();
                    assert!(made.lock().unwrap().insert(id));
                    // the sinks keep every event
                    std::thread::sleep(std::time::Duration::from_millis(2));
                }
            });
        }
        for step in 1..=number("SOLON_CHANGES", changes) {
            let document = configuration(&mut random, step, &service);
            apply(step, &document);
            let what = format!("seed {seed}, step {step}");
            wait_until(&what, || step_of(&server) == *step.to_string());
            let shown = json_at(&server, "/v1/config")["result"].clone();
            for name in ["bundles", "decision_logs", "default_decision"] {
                assert_eq!(shown[name], document[name], "{what}");
            }
            for name in document["bundles"].as_object().unwrap().keys() {
                wait_until(&format!("{what}: {name}"), || {
                    json_at(&server, &format!("/v1/data/{name}/allow"))["result"] == true
                });
            }
            for name in ["a", "b", "c"] {
                if document["bundles"].get(name).is_none() {
                    wait_until(&format!("{what}: no {name}"), || {
                        json_at(&server, &format!("/v1/data/{name}"))
                            .get("result")
                            .is_none()
                    });
                }
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    apply(u64::MAX, &first);
    wait_until("the first configuration again", || step_of(&server) == "0");
    // each client of a removed service closes its connections
    wait_until("no connection is left", || {
        open_files(&server) <= files_before + 8
    });
    wait_until("no thread is left", || {
        threads(&server) <= threads_before + 8
    });
    let page = String::from_utf8(crate::client::get(server.address(), "/metrics").body).unwrap();
    let counts: Vec<&str> = page
        .lines()
        .filter(|line| line.contains("decision_logs_") && !line.starts_with('#'))
        .collect();
    server.terminate();
    let logged: BTreeSet<String> = sinks
        .iter()
        .flat_map(Sink::events)
        .map(|event| event["decision_id"].as_str().unwrap().to_owned())
        .collect();
    let made = made.into_inner().unwrap();
    let lost: Vec<&String> = made.difference(&logged).collect();
    assert!(
        lost.is_empty(),
        "seed {seed}: {} of {} events are lost\n{counts:#?}",
        lost.len(),
        made.len()
    );
}
