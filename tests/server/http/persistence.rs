//! Durability: acknowledged writes survive the end of the process, whatever the cause.

use std::fs::Permissions;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bounds::comes_to_hold;
use crate::client::{Client, Message, get};
use crate::process::{Folder, Server};
use crate::waiting::wait_until;

fn start(folder: &Folder, files: &[(&str, &str)]) -> Server {
    let path = folder.path().to_str().unwrap();
    Server::start_with(&["--data-dir", path, "--log-level", "info"], files)
}

fn data(server: &Server) -> Value {
    let answer = get(server.address(), "/v1/data");
    let mut value: Value = serde_json::from_str(&answer.text()).unwrap();
    let mut data = value["result"].take();
    // documents that the server itself adds.
    data.as_object_mut().unwrap().remove("system");
    data
}

fn policies(server: &Server) -> Vec<String> {
    let answer = get(server.address(), "/v1/policies");
    let value: Value = serde_json::from_str(&answer.text()).unwrap();
    let all = value["result"].as_array().unwrap().iter();
    all.map(|one| one["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn policies_and_documents_are_there_after_a_restart() {
    let folder = Folder::with(&[]);
    let files = [
        ("p.rego", "package p\n\nn := data.n\n"),
        ("f.json", r#"{"file": 1}"#),
    ];
    let server = start(&folder, &files);
    let mut client = Client::connect(server.address());
    for (method, target, body, status) in [
        ("PUT", "/v1/data/n", "1.50", 204),
        ("PUT", "/v1/data/gone", "1", 204),
        ("DELETE", "/v1/data/gone", "", 204),
        ("PUT", "/v1/data/file", "2", 204),
        (
            "PATCH",
            "/v1/data/list",
            r#"[{"op": "add", "path": "", "value": [1]}]"#,
            204,
        ),
        (
            "PATCH",
            "/v1/data/list",
            r#"[{"op": "add", "path": "-", "value": {"a": {}}}]"#,
            204,
        ),
        ("PUT", "/v1/policies/q", "package q\n\nx := data.p.n\n", 200),
        ("PUT", "/v1/policies/r", "package r\n", 200),
        ("DELETE", "/v1/policies/r", "", 200),
    ] {
        let answer = client.send(&Message::new(method, target).body(body.to_owned()));
        assert_eq!(
            answer.status,
            status,
            "{method} {target}: {}",
            answer.text()
        );
    }
    drop(server);
    let server = start(&folder, &files);
    assert_eq!(policies(&server), ["p.rego", "q"]);
    let found = get(server.address(), "/v1/data/q/x").text();
    assert_eq!(found, "{\"result\":1.50}\n");
    let mut left = data(&server);
    left.as_object_mut()
        .unwrap()
        .retain(|key, _| !["p", "q"].contains(&key.as_str()));
    assert_eq!(left, json!({"file": 2, "list": [1, {"a": {}}], "n": 1.5}));
    drop(server);
    // Documents of files are removed with the files, but a client's writes over them stay.
    let put = Message::new("DELETE", "/v1/policies/q");
    let server = start(&folder, &files);
    assert_eq!(Client::connect(server.address()).send(&put).status, 200);
    drop(server);
    let server = start(&folder, &[]);
    assert_eq!(policies(&server), Vec::<String>::new());
    assert_eq!(data(&server)["file"], json!(2));
    // A second process is locked out.
    let (code, text) = Server::fail(&["--data-dir", folder.path().to_str().unwrap()]);
    assert_eq!(code, Some(1));
    assert!(text.contains("another process uses the file"), "{text}");
}

/// Sends a request on a connection that may end at any time. Returns the status if there is a response.
fn send(stream: &mut BufReader<TcpStream>, request: &str, body: &str) -> Option<u16> {
    let head = format!(
        "{request} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.get_mut().write_all((head + body).as_bytes()).ok()?;
    let (mut status, mut length) = (None, 0);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if status.is_none() {
            status = Some(line.split(' ').nth(1)?.parse().ok()?);
        } else if let Some(text) = line.strip_prefix("content-length: ") {
            length = text.parse().ok()?;
        }
    }
    stream.read_exact(&mut vec![0; length]).ok()?;
    status
}

/// Writes until the server ends. Returns the last number that was acknowledged.
fn write(address: &str, first: usize, acknowledged: &Mutex<usize>) {
    let Ok(stream) = TcpStream::connect(address) else {
        return;
    };
    let mut stream = BufReader::new(stream);
    for number in first.. {
        // One request with two related documents; each fifth is a policy.
        let (request, body) = if number.is_multiple_of(5) {
            let text = format!("package policies.p{number}\n\nn := {number}\n");
            (format!("PUT /v1/policies/p{number}"), text)
        } else {
            let add = |name: &str| json!({"op": "add", "path": format!("{name}/{number}"), "value": {"n": number}});
            (
                "PATCH /v1/data".to_owned(),
                json!([add("a"), add("b")]).to_string(),
            )
        };
        match send(&mut stream, &request, &body) {
            Some(200 | 204) => *acknowledged.lock().unwrap() = number,
            Some(other) => panic!("{request}: {other}"),
            None => return,
        }
    }
}

#[test]
fn a_killed_server_has_all_that_was_acknowledged_and_nothing_by_halves() {
    let rounds = std::env::var("SOLON_KILL_ROUNDS").map_or(15, |rounds| rounds.parse().unwrap());
    let folder = Folder::with(&[]);
    let acknowledged = Mutex::new(0);
    let mut wait = Duration::from_millis(3);
    let (mut first, mut slowest) = (1, Duration::ZERO);
    for round in 0..rounds {
        let started = Instant::now();
        let server = start(&folder, &[]);
        slowest = slowest.max(started.elapsed());
        if first == 1 {
            let put = Message::new("PUT", "/v1/data").body(r#"{"a": {}, "b": {}}"#);
            assert_eq!(Client::connect(server.address()).send(&put).status, 204);
        }
        let address = server.address().to_owned();
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| write(&address, first, &acknowledged));
            // some are killed before they have written anything.
            if round % 3 != 0 {
                wait_until("some writes are acknowledged", || {
                    *acknowledged.lock().unwrap() > first
                });
            }
            std::thread::sleep(wait);
            drop(server);
            writing.join().unwrap();
        });
        // Different times in each round.
        wait =
            Duration::from_micros((u64::try_from(wait.as_micros()).unwrap() * 31 + 977) % 120_000);
        let server = start(&folder, &[]);
        let (data, policies) = (data(&server), policies(&server));
        // an unacknowledged write of an earlier round was stored by the end of that round.
        let last = (*acknowledged.lock().unwrap()).max(first - 1);
        let is_there = |number: usize| {
            if number.is_multiple_of(5) {
                return policies.contains(&format!("p{number}"));
            }
            let one = |name: &str| data[name].get(number.to_string());
            assert_eq!(one("a"), one("b"), "{number} is there by half");
            one("a").is_some()
        };
        for number in 1..=last {
            assert!(is_there(number), "{number} of {last} is lost");
        }
        // the unacknowledged one may be stored as well.
        first = if is_there(last + 1) {
            last + 2
        } else {
            last + 1
        };
        assert!(!is_there(first));
    }
    println!("{first} writes, {rounds} kills, slowest start {slowest:?}");
    assert!(first > rounds, "{first} writes in {rounds} rounds");
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_and_stays_as_it_is() {
    let folder = Folder::with(&[]);
    let file = folder.path().join("solon.db");
    let mut server = start(&folder, &[]);
    let put = Message::new("PUT", "/v1/data/a").body("1".to_owned());
    assert_eq!(Client::connect(server.address()).send(&put).status, 204);
    assert_eq!(server.terminate(), Some(0));
    drop(server);
    let before = std::fs::read(&file).unwrap();
    let allow =
        |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    // The file alone, the file in a read-only folder, and that folder alone.
    for (file_mode, folder_mode) in [(0o444, 0o777), (0o444, 0o555), (0o666, 0o555)] {
        allow(&file, file_mode);
        // The write-ahead log, if the server left one, is readable and read-only as well.
        let log = folder.path().join("solon.db-wal");
        if log.exists() {
            allow(&log, 0o644);
        }
        allow(folder.path(), folder_mode);
        let (code, text) = fail_as_nobody(folder.path());
        allow(folder.path(), 0o755);
        allow(&file, 0o644);
        assert_eq!(code, Some(1), "{text}");
        assert!(
            text.contains("solon.db: the file cannot be written"),
            "{text}"
        );
        assert_eq!(std::fs::read(&file).unwrap(), before);
    }
    // A user with write permission can continue.
    let server = start(&folder, &[]);
    assert_eq!(data(&server), json!({"a": 1}));
}

/// Starts a server as a user without privileges, for whom everything may be read-only. Returns its exit code and its
/// output.
fn fail_as_nobody(folder: &Path) -> (Option<i32>, String) {
    let solon = env!("CARGO_BIN_EXE_solon");
    let id = Command::new("id").arg("-u").output().unwrap();
    let mut command = if id.stdout == b"0\n" {
        let mut command = Command::new("setpriv");
        command.args([
            "--reuid",
            "65534",
            "--regid",
            "65534",
            "--clear-groups",
            solon,
        ]);
        command
    } else {
        Command::new(solon)
    };
    command.args([
        "run",
        "--server",
        "--addr",
        "127.0.0.1:0",
        "--log-level",
        "error",
        "--data-dir",
    ]);
    let output = command.arg(folder).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), text)
}

#[test]
fn documents_that_were_stored_and_are_loaded_again_are_in_memory_once() {
    let folder = Folder::with(&[]);
    let users: Value = (0..40_000)
        .map(|n| {
            (
                format!("user{n}"),
                json!({"name": n.to_string(), "roles": ["a", "b"], "n": n}),
            )
        })
        .collect::<serde_json::Map<_, _>>()
        .into();
    let text = json!({ "users": users }).to_string();
    let files = [("d.json", text.as_str())];
    let server = Server::start(&files);
    server.wait_for_rest();
    let most = server.memory("VmRSS") + (20 << 10);
    drop(server);
    for turn in ["written", "there already"] {
        let server = start(&folder, &files);
        println!("{turn}");
        comes_to_hold(&server, "VmRSS", most);
        assert_eq!(
            get(server.address(), "/v1/data/users/user39999/n").text(),
            "{\"result\":39999}\n"
        );
    }
    println!("read");
    comes_to_hold(&start(&folder, &[]), "VmRSS", most);
}

#[test]
fn a_full_disk_refuses_the_write_and_memory_stays_as_the_file() {
    let folder = Folder::with(&[]);
    let path = folder.path().to_str().unwrap();
    // Files of at most 400 blocks; exceeding the limit is an error instead of a signal.
    let mut shell = Command::new("sh");
    let limit = "trap '' XFSZ; ulimit -f 400; exec \"$@\"";
    shell.args(["-c", limit, "sh", env!("CARGO_BIN_EXE_solon")]);
    let server = Server::start_by(shell, &["--data-dir", path, "--log-level", "info"], &[]);
    let mut client = Client::connect(server.address());
    let put = |client: &mut Client, text: &str| {
        let put = Message::new("PUT", "/v1/data/a").body(text.to_owned());
        client.send(&put)
    };
    assert_eq!(put(&mut client, "1").status, 204);
    let refused = put(&mut client, &format!("\"{}\"", "x".repeat(2 << 20)));
    assert_eq!(refused.status, 500);
    assert!(refused.text().contains("solon.db: "), "{}", refused.text());
    let text = "package p\n".to_owned() + &"# x\n".repeat(500_000);
    let policy = client.send(&Message::new("PUT", "/v1/policies/p").body(text));
    assert_eq!(policy.status, 500);
    assert_eq!(data(&server), json!({"a": 1}));
    assert_eq!(policies(&server), Vec::<String>::new());
    assert_eq!(put(&mut client, "2").status, 204, "small writes go on");
    drop(server);
    let server = start(&folder, &[]);
    assert_eq!(data(&server), json!({"a": 2}));
}
