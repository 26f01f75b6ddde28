//! Many decisions against a service that is slow, then fails, then is gone: memory stays within the buffer, and what is dropped is counted.
//!
//! `SOLON_DECISIONS` is the number of decisions; with `SOLON_FULL` it is a million.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use flate2::read::GzDecoder;
use serde_json::{Map, Value, json};

use crate::client::{Client, Message, get};
use crate::process::Server;
use crate::waiting::wait_until;

/// Number of decisions of a batch.
const BATCH: usize = 250;

/// Size in bytes of the buffer of events. Events of a third of the decisions do not fit.
const BUFFER: usize = 256 << 10;

/// Memory in KiB that the process may need in addition to the buffer.
const MEMORY: usize = 50 << 10;

/// Behavior of the service.
const GOOD: u8 = 0;
const SLOW: u8 = 1;
const FAILING: u8 = 2;
const DEAD: u8 = 3;

/// A service whose behavior changes.
struct Service {
    address: String,
    behavior: Arc<AtomicU8>,
    /// Bodies of the uploads that it confirmed.
    uploads: Receiver<Vec<u8>>,
}

impl Service {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let behavior = Arc::new(AtomicU8::new(GOOD));
        let (sender, uploads) = channel();
        let shared = behavior.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (behavior, sender) = (shared.clone(), sender.clone());
                std::thread::spawn(move || serve(stream.unwrap(), &behavior, &sender));
            }
        });
        Self {
            address,
            behavior,
            uploads,
        }
    }

    fn behave(&self, behavior: u8) {
        self.behavior.store(behavior, Ordering::SeqCst);
    }
}

fn serve(stream: TcpStream, behavior: &AtomicU8, uploads: &Sender<Vec<u8>>) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or_default() == 0 {
                return;
            }
            let line = line.trim().to_ascii_lowercase();
            if let Some(text) = line.strip_prefix("content-length: ") {
                length = text.parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let status = match behavior.load(Ordering::SeqCst) {
            DEAD => return,
            FAILING => "500 Internal Server Error",
            kind => {
                if kind == SLOW {
                    std::thread::sleep(Duration::from_millis(30));
                }
                uploads.send(body).unwrap();
                "204 No Content"
            }
        };
        let response = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
        if reader.get_mut().write_all(response.as_bytes()).is_err() {
            return;
        }
    }
}

fn metric(address: &str, name: &str) -> usize {
    let text = get(address, "/metrics").text();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_default().parse().unwrap_or_default()
}

/// Makes decisions on two connections, in batches.
fn decide(address: &str, count: usize) {
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut client = Client::connect(address);
                for number in 0..count / BATCH / 2 {
                    let inputs: Map<String, Value> = (0..BATCH)
                        .map(|at| {
                            (
                                at.to_string(),
                                json!({"x": number, "y": "some text that an event contains"}),
                            )
                        })
                        .collect();
                    let body = json!({ "inputs": inputs }).to_string();
                    let message = Message::new("POST", "/v1/batch/data/p/allow").body(body);
                    let answer = client.send(&message);
                    assert_eq!(answer.status, 200, "{}", answer.text());
                }
            });
        }
    });
}

#[test]
fn a_service_that_does_not_keep_up_costs_bounded_memory_and_counted_events() {
    let full = std::env::var_os("SOLON_FULL").map(|_| 1_000_000_usize);
    let given = std::env::var("SOLON_DECISIONS").ok();
    let count = given
        .map(|text| text.parse().unwrap())
        .or(full)
        .unwrap_or(30_000);
    let service = Service::start();
    let config = json!({
        "services": {"sink": {"url": format!("http://{}", service.address)}},
        "decision_logs": {"service": "sink", "reporting": {"min_delay_seconds": 0, "max_delay_seconds": 1,
            "buffer_size_limit_bytes": BUFFER, "trigger": "immediate"}},
    });
    let files = [
        ("p.rego", "package p\n\nallow := input.x\n"),
        ("c.yaml", &*config.to_string()),
    ];
    let server = Server::start_with(&["-c", "c.yaml"], &files);
    let address = server.address();
    let step = BATCH * 2;
    let each = (count / 3).next_multiple_of(step);
    // memory that decisions need in any case
    decide(address, 10 * step);
    let before = server.memory("VmRSS");
    for behavior in [SLOW, FAILING, DEAD] {
        service.behave(behavior);
        decide(address, each);
    }
    let peak = server.memory("VmHWM");
    let most = before + BUFFER / 1024 + MEMORY;
    println!(
        "{} decisions: {before} KiB before, {peak} KiB at most, bound {most} KiB",
        3 * each
    );
    assert!(peak <= most, "{peak} KiB, {before} KiB before");
    // every event was uploaded or counted as dropped
    service.behave(GOOD);
    let all = 3 * each + 10 * step;
    let dropped = "decision_logs_dropped_buffer_size_limit_bytes_exceeded_total";
    let uploaded = "solon_decision_logs_uploaded_total";
    wait_until("the rest is uploaded", || {
        metric(address, uploaded) + metric(address, dropped) == all
    });
    assert_eq!(metric(address, "solon_decision_logs_events_total"), all);
    let mut ids = BTreeSet::new();
    while let Ok(body) = service.uploads.try_recv() {
        let mut text = String::new();
        GzDecoder::new(&*body).read_to_string(&mut text).unwrap();
        let events: Vec<Value> = serde_json::from_str(&text).unwrap();
        let id = |event: &Value| event["decision_id"].as_str().unwrap().to_owned();
        ids.extend(events.iter().map(id));
    }
    println!(
        "{} uploaded, {} dropped",
        ids.len(),
        metric(address, dropped)
    );
    assert_eq!(ids.len(), metric(address, uploaded));
    assert!(metric(address, dropped) > 0);
}
