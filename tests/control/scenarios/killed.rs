//! Two processes on one database, killed at random moments: readers see whole archives only, never an older one after a newer one,
//! and the last change is published in the end.
//!
//! `SOLON_KILL_SECONDS` sets how long processes are killed, 8 by default.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::servers::{Kind, Server};
use crate::waiting::{Waiting, wait_for};

const BUNDLES: u64 = 3;

/// The key of the token that reads.
const KEY: &str = "0123456789abcdef0123456789abcdef";

#[test]
fn on_postgres() {
    rounds(Kind::Postgres);
}

#[test]
fn on_mariadb() {
    rounds(Kind::Mariadb);
}

/// A process of the control plane.
struct Running {
    child: Child,
    address: String,
}

impl Running {
    fn start(folder: &Path, data: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_solon"));
        let mut child = command
            .args([
                "control",
                "run",
                "--addr",
                "127.0.0.1:0",
                "--apply-migrations",
            ])
            .args(["--config", "c.json", "--data-dir", data])
            .env("SOLON_SECRETS_KEY", "11".repeat(32))
            .current_dir(folder)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut seen = String::new();
        let address = loop {
            let text = lines.next();
            let text = text.unwrap_or_else(|| panic!("it ended: {seen}")).unwrap();
            let line: Value = serde_json::from_str(&text).unwrap_or_default();
            if line["msg"] == "Control plane initialized." {
                break line["addrs"].as_str().unwrap().to_owned();
            }
            seen.push_str(&text);
        };
        // the process must not block on a reader of its log
        std::thread::spawn(move || for _ in lines.map_while(Result::ok) {});
        Self { child, address }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // on Unix, this is SIGKILL
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the body of a download, or `None` if the process was killed, is starting, or has no archive yet.
fn download(address: &str, bundle: u64) -> Option<Vec<u8>> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .ok()?;
    let request = format!(
        "GET /v1/bundles/b{bundle}/download HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {KEY}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
    if !head.starts_with("http/1.1 200 ") {
        return None;
    }
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.unwrap().trim().parse().unwrap();
    let body = answer[end + 4..].to_vec();
    // a kill cuts the connection, which the length reveals to the reader
    (body.len() == length).then_some(body)
}

/// Returns the number in an archive, which must be whole.
fn number_in(archive: &[u8]) -> u64 {
    let mut entries = tar::Archive::new(flate2::read::GzDecoder::new(archive));
    let mut names = Vec::new();
    let mut data = Value::Null;
    for entry in entries.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = String::from_utf8(entry.path_bytes().into_owned()).unwrap();
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        if name == "/data.json" {
            data = serde_json::from_str(&text).unwrap();
        }
        names.push(name);
    }
    assert_eq!(
        names.last().map(String::as_str),
        Some("/.manifest"),
        "{names:?}"
    );
    let number = data["x"]["number"].as_u64().unwrap();
    assert_eq!(data["x"]["check"], number * 7 + 1);
    number
}

/// Replaces the document of each source.
fn write(folder: &Path, number: u64) {
    for bundle in 0..BUNDLES {
        let source = folder.join(format!("s{bundle}/x"));
        std::fs::create_dir_all(&source).unwrap();
        let text = json!({"number": number, "check": number * 7 + 1}).to_string();
        let temporary = folder.join("next.json");
        std::fs::write(&temporary, text).unwrap();
        std::fs::rename(&temporary, source.join("data.json")).unwrap();
    }
}

fn dsn(kind: Kind, server: &Server) -> String {
    match kind {
        Kind::Postgres => server.dsn("postgres"),
        Kind::Mariadb => {
            let port = format!("--port={}", server.port);
            wait_for("MariaDB takes connections", || {
                let mut create = Command::new("mariadb");
                create.args(["--host=127.0.0.1", "--user=root", "--protocol=tcp", &port]);
                let made = create.args(["--execute", "CREATE DATABASE IF NOT EXISTS plane"]);
                let made = made.stderr(Stdio::null()).status().unwrap();
                made.success().then_some(())
            });
            server.dsn("plane")
        }
    }
}

fn configuration(kind: Kind, server: &Server) -> Value {
    let mut sources = serde_json::Map::new();
    let mut bundles = serde_json::Map::new();
    for bundle in 0..BUNDLES {
        let source = format!("s{bundle}");
        let described = json!({
            "requirements": [{"source": source}],
            "rebuild_interval": "1s",
            "revision": format!("input.sources.s{bundle}.sql.hash"),
        });
        bundles.insert(format!("b{bundle}"), described);
        sources.insert(source.clone(), json!({"directory": source}));
    }
    let driver = match kind {
        Kind::Postgres => "postgres",
        Kind::Mariadb => "mysql",
    };
    json!({
        "database": {"sql": {"driver": driver, "dsn": dsn(kind, server)}},
        "tokens": {"reader": {"api_key": KEY, "scopes": [{"role": "viewer"}]}},
        "sources": sources,
        "bundles": bundles,
    })
}

fn rounds(kind: Kind) {
    let Some(server) = Server::start(kind) else {
        return;
    };
    let folder = super::Folder::new();
    write(&folder.0, 0);
    let config = configuration(kind, &server).to_string();
    std::fs::write(folder.0.join("c.json"), config).unwrap();
    let start = |at: usize| Running::start(&folder.0, ["one", "two"][at]);
    let mut running = [start(0), start(1)];
    let addresses = running.each_ref().map(|running| running.address.clone());
    let addresses = Arc::new(Mutex::new(addresses));
    let stopped = Arc::new(AtomicBool::new(false));
    let reads = Arc::new(AtomicU64::new(0));
    let newest: Arc<Mutex<BTreeMap<u64, u64>>> = Arc::default();
    let reader = {
        let (addresses, stopped) = (addresses.clone(), stopped.clone());
        let (reads, newest) = (reads.clone(), newest.clone());
        std::thread::spawn(move || {
            while !stopped.load(Ordering::SeqCst) {
                for bundle in 0..BUNDLES {
                    let all = addresses.lock().unwrap().clone();
                    for address in all {
                        let Some(archive) = download(&address, bundle) else {
                            continue;
                        };
                        let number = number_in(&archive);
                        reads.fetch_add(1, Ordering::SeqCst);
                        let mut newest = newest.lock().unwrap();
                        let last = newest.entry(bundle).or_default();
                        assert!(number >= *last, "b{bundle}: {number} after {last}");
                        *last = number;
                    }
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        })
    };
    let seconds = std::env::var("SOLON_KILL_SECONDS").ok();
    let seconds = seconds.map_or(8, |text| text.parse().unwrap());
    let mut random = u64::from(std::process::id()) | 1;
    println!("the seed is {random}");
    let mut next = move |most: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % most
    };
    let (begun, mut number, mut kills) = (Instant::now(), 0, 0);
    while begun.elapsed() < Duration::from_secs(seconds) || kills < 4 {
        number += 1;
        write(&folder.0, number);
        std::thread::sleep(Duration::from_millis(50 + next(600)));
        if next(3) == 0 {
            let at = usize::from(next(2) == 1);
            running[at].child.kill().unwrap();
            running[at] = start(at);
            addresses.lock().unwrap()[at].clone_from(&running[at].address);
            kills += 1;
        }
    }
    number += 1;
    write(&folder.0, number);
    // a killed process holds its leases until they end
    let waiting = Waiting::until("the last change is published");
    loop {
        let newest = newest.lock().unwrap().clone();
        if newest.len() == usize::try_from(BUNDLES).unwrap()
            && newest.values().all(|last| *last == number)
        {
            break;
        }
        assert!(!reader.is_finished(), "the reader found a fault");
        waiting.check();
        std::thread::sleep(Duration::from_millis(100));
    }
    stopped.store(true, Ordering::SeqCst);
    reader.join().unwrap();
    assert!(reads.load(Ordering::SeqCst) > 20, "{reads:?}");
}
