//! Downloads from a control plane over HTTP: in pieces, in bounded memory, and waiting for changes.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use solon_control::storage::{Artefact, Published};
use solon_control::{ControlPlane, Options};

use crate::client::{Client, Message};
use crate::control::{Running, output};
use crate::process::Folder;
use crate::waiting::HANG;

/// Publishes an archive in another process than the service. Returns its digest.
fn publish(folder: &Path, revision: &str, archive: &[u8]) -> String {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let options = Options::in_folder(folder.join("data"));
        let plane = ControlPlane::attach(&options).await.unwrap();
        // the store does not compute it
        let digest = format!("{:0>64x}", archive.len());
        let artefact = Artefact {
            archive,
            revision,
            digest: &digest,
        };
        let published = plane.artifacts().publish("b", &artefact, 1).await;
        assert_eq!(published.unwrap(), Published::Stored);
        digest
    })
}

/// Returns a line of `/proc/PID/status` in KiB.
fn memory(running: &Running, name: &str) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", running.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    let number = line.split_whitespace().nth(1).unwrap();
    number.parse().unwrap()
}

/// Starts a control plane with a bundle. Returns it with the key of an administrator.
fn start(folder: &Path) -> (Running, String) {
    let create = ["token", "create", "--role", "administrator", "root"];
    let (_, key, _) = output(folder, &create);
    let running = Running::start(folder, &["--no-build"]);
    let bearer = format!("Bearer {}", key.trim());
    let put = Message::new("PUT", "/v1/bundles/b").header("Authorization", &bearer);
    let put = Client::connect(running.address()).send(&put.body("{}"));
    assert_eq!(put.status, 200, "{}", put.text());
    (running, bearer)
}

const DOWNLOAD: &str = "/v1/bundles/b/download";

#[test]
fn archives_are_sent_in_bounded_memory() {
    let folder = Folder::with(&[]);
    let (running, bearer) = start(folder.path());
    let archive: Vec<u8> = (0..128 << 20).map(|at: u32| (at % 251) as u8).collect();
    let digest = publish(folder.path(), "large", &archive);
    let get = Message::new("GET", DOWNLOAD).header("Authorization", &bearer);
    let mut client = Client::connect(running.address());
    let before = memory(&running, "VmHWM");
    let answer = client.send(&get);
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("etag"),
        Some(format!("\"{digest}\"").as_str())
    );
    assert!(answer.body == archive, "the archive differs");
    let grown = memory(&running, "VmHWM") - before;
    assert!(grown < 32 << 10, "{grown} KiB for one download");
    // the connection serves further requests
    let part = Message::new("GET", DOWNLOAD).header("Authorization", &bearer);
    let part = client.send(&part.header("Range", "bytes=1048575-1048577"));
    assert_eq!(part.status, 206);
    assert!(part.body == archive[1_048_575..1_048_578]);
    let head = Message::new("HEAD", DOWNLOAD).header("Authorization", &bearer);
    let head = client.send(&head);
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(
        head.header("content-length"),
        Some(&*archive.len().to_string())
    );
    // clients that go away in the middle of a download leave nothing
    for _ in 0..20 {
        let mut stream = TcpStream::connect(running.address()).unwrap();
        let request =
            format!("GET {DOWNLOAD} HTTP/1.1\r\nhost: x\r\nauthorization: {bearer}\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        stream.read_exact(&mut [0; 100]).unwrap();
    }
    assert_eq!(client.send(&get).status, 200);
    let grown = memory(&running, "VmHWM") - before;
    assert!(grown < 96 << 10, "{grown} KiB for 20 downloads");
}

#[test]
fn a_thousand_policy_servers_wait_for_a_change() {
    let folder = Folder::with(&[]);
    let (running, bearer) = start(folder.path());
    let first = publish(folder.path(), "first", b"first");
    let before = memory(&running, "VmRSS");
    let request = |tag: &str, wait: u64| {
        format!(
            "GET {DOWNLOAD} HTTP/1.1\r\nhost: x\r\nauthorization: {bearer}\r\nif-none-match: \"{tag}\"\r\nprefer: modes=snapshot,delta;wait={wait}\r\n\r\n"
        )
    };
    let count = 1000;
    let mut waiting = Vec::with_capacity(count);
    for _ in 0..count {
        let mut stream = TcpStream::connect(running.address()).unwrap();
        stream.set_read_timeout(Some(HANG)).unwrap();
        stream.write_all(request(&first, 300).as_bytes()).unwrap();
        waiting.push(stream);
    }
    // they hold no permit of the service: another request is served
    let list = Message::new("GET", "/v1/bundles").header("Authorization", &bearer);
    assert_eq!(Client::connect(running.address()).send(&list).status, 200);
    // a waiting time that ends
    let begun = Instant::now();
    let mut short = TcpStream::connect(running.address()).unwrap();
    short.set_read_timeout(Some(HANG)).unwrap();
    short.write_all(request(&first, 1).as_bytes()).unwrap();
    let mut head = [0; 12];
    short.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"HTTP/1.1 304");
    assert!(begun.elapsed() >= Duration::from_secs(1));
    let grown = memory(&running, "VmRSS").saturating_sub(before);
    assert!(grown < 100 << 10, "{grown} KiB for {count} waiting clients");
    let second = publish(folder.path(), "second", b"second");
    for stream in &mut waiting {
        let mut text = Vec::new();
        while !text.ends_with(b"\r\n\r\nsecond") {
            let mut piece = [0; 1024];
            let read = stream.read(&mut piece).unwrap();
            assert!(read > 0, "{}", String::from_utf8_lossy(&text));
            text.extend_from_slice(&piece[..read]);
        }
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("HTTP/1.1 200"), "{text}");
        assert!(text.contains(&second), "{text}");
        assert!(
            text.contains("application/vnd.openpolicyagent.bundles"),
            "{text}"
        );
    }
    // a revoked key ends the waiting with an error
    let (_, key, _) = output(folder.path(), &["token", "create", "--role", "viewer", "v"]);
    let bearer_of_viewer = format!("Bearer {}", key.trim());
    let text = request(&second, 2).replace(&bearer, &bearer_of_viewer);
    let mut revoked = TcpStream::connect(running.address()).unwrap();
    revoked.set_read_timeout(Some(HANG)).unwrap();
    revoked.write_all(text.as_bytes()).unwrap();
    let (code, _, _) = output(folder.path(), &["token", "revoke", "v"]);
    assert_eq!(code, Some(0));
    revoked.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"HTTP/1.1 401");
    let list = Client::connect(running.address()).send(&list);
    let list: Value = serde_json::from_str(&list.text()).unwrap();
    assert_eq!(list["result"][0]["name"], "b");
}

#[test]
fn a_waiting_download_outlasts_the_time_limit_of_a_request() {
    let folder = Folder::with(&[]);
    let (running, bearer) = start(folder.path());
    let digest = publish(folder.path(), "first", b"first");
    // a request that does not wait is handled within 30 seconds
    let wait = Duration::from_secs(32);
    let get = Message::new("GET", DOWNLOAD)
        .header("Authorization", &bearer)
        .header("If-None-Match", &format!("\"{digest}\""))
        .header(
            "Prefer",
            &format!("modes=snapshot,delta;wait={}", wait.as_secs()),
        );
    let begun = Instant::now();
    let answer = Client::connect(running.address()).send(&get);
    assert_eq!(answer.status, 304, "{}", answer.text());
    assert!(begun.elapsed() >= wait, "{:?}", begun.elapsed());
}
