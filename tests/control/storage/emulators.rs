//! Object stores of tests: emulators of S3 and Azure Blob Storage, and a small store with the protocol of Google Cloud Storage.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::sync::http_server::{HttpServer, Received, response};
use crate::waiting::wait_for;

/// The account of Azurite, which its documentation publishes.
pub const ACCOUNT: &str = "devstoreaccount1";
pub const ACCOUNT_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// An emulator that ends with the test.
pub struct Emulator {
    child: Child,
    pub address: String,
}

impl Drop for Emulator {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns a program. Without it, a test is skipped, unless `SOLON_REQUIRE_SERVICES` is set.
pub fn program(name: &str, variable: &str, usual: &str) -> Option<PathBuf> {
    let given = std::env::var_os(variable).map(PathBuf::from);
    let tools = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|folder| folder.join("target/tools"))
        .find(|tools| tools.exists());
    let found = given.unwrap_or_else(|| tools.unwrap_or_default().join(usual));
    if found.exists() {
        return Some(found);
    }
    assert!(
        std::env::var_os("SOLON_REQUIRE_SERVICES").is_none(),
        "{name} is not installed: set {variable}"
    );
    eprintln!("skipped: {name} is not installed ({variable})");
    None
}

fn start(mut command: Command, port: u16) -> Emulator {
    let command = command.stdout(Stdio::null()).stderr(Stdio::null());
    let emulator = Emulator {
        child: command.spawn().unwrap(),
        address: format!("http://127.0.0.1:{port}"),
    };
    wait_for("the emulator listens", || {
        TcpStream::connect(("127.0.0.1", port)).ok()
    });
    emulator
}

/// Returns a port that is free until the emulator opens it.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Starts Debian's registry of images with a configuration, whose address is replaced.
pub fn registry(folder: &Path, auth: &str) -> Option<Emulator> {
    let program = program(
        "docker-registry",
        "SOLON_REGISTRY",
        "/usr/bin/docker-registry",
    )?;
    let port = free_port();
    let files = folder.join("registry").display().to_string();
    let config = format!(
        "version: 0.1\nlog:\n  level: error\nstorage:\n  filesystem:\n    rootdirectory: {files}\nhttp:\n  addr: 127.0.0.1:{port}\n{auth}"
    );
    let path = folder.join("registry.yml");
    std::fs::write(&path, config).unwrap();
    let mut command = Command::new(program);
    command.arg("serve").arg(path);
    Some(start(command, port))
}

/// Starts moto, an emulator of S3, with the bucket `bundles`.
pub fn s3() -> Option<Emulator> {
    let program = program("moto", "SOLON_MOTO", "moto/bin/moto_server")?;
    let port = free_port();
    let mut command = Command::new(program);
    command.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
    let emulator = start(command, port);
    let created = request(port, "PUT /bundles HTTP/1.1\r\n", "");
    assert!(created.starts_with("HTTP/1.1 200"), "{created}");
    Some(emulator)
}

/// Starts Azurite, an emulator of Azure Blob Storage, with the container `bundles`.
pub fn azure() -> Option<Emulator> {
    let usual = "azurite/node_modules/.bin/azurite-blob";
    let program = program("Azurite", "SOLON_AZURITE", usual)?;
    let port = free_port();
    let mut command = Command::new(program);
    command.args(["--silent", "--inMemoryPersistence", "--skipApiVersionCheck"]);
    command.args(["--blobHost", "127.0.0.1", "--blobPort", &port.to_string()]);
    let emulator = start(command, port);
    let date = jiff::Timestamp::now().strftime("%a, %d %b %Y %H:%M:%S GMT");
    let headers = format!("x-ms-date:{date}\nx-ms-version:2021-08-06\n");
    let text = format!(
        "PUT\n\n\n\n\n\n\n\n\n\n\n\n{headers}/{ACCOUNT}/{ACCOUNT}/bundles\nrestype:container"
    );
    let key = hmac::Key::new(hmac::HMAC_SHA256, &STANDARD.decode(ACCOUNT_KEY).unwrap());
    let signature = STANDARD.encode(hmac::sign(&key, text.as_bytes()));
    let created = request(
        port,
        &format!("PUT /{ACCOUNT}/bundles?restype=container HTTP/1.1\r\n"),
        &format!(
            "x-ms-date: {date}\r\nx-ms-version: 2021-08-06\r\nAuthorization: SharedKey {ACCOUNT}:{signature}\r\n"
        ),
    );
    assert!(created.starts_with("HTTP/1.1 201"), "{created}");
    Some(emulator)
}

fn request(port: u16, line: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let head = format!(
        "{line}Host: 127.0.0.1:{port}\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// An object of the store for Google Cloud Storage.
#[derive(Clone, Default)]
struct Stored {
    generation: u64,
    metadata: BTreeMap<String, String>,
    bytes: Vec<u8>,
}

/// Starts a store with the XML protocol of Google Cloud Storage, with conditions on generations.
pub fn gcs() -> HttpServer {
    let objects: Arc<Mutex<BTreeMap<String, Stored>>> = Arc::default();
    HttpServer::start(move |request| {
        let mut objects = objects.lock().unwrap();
        respond(request, objects.entry(request.target.clone()).or_default())
    })
}

fn respond(request: &Received, object: &mut Stored) -> Vec<u8> {
    let exists = object.generation > 0;
    if request.method == "PUT" {
        let wanted = request.header("x-goog-if-generation-match");
        if !wanted.is_empty() && wanted != object.generation.to_string() {
            return response(
                "412 Precondition Failed",
                &[],
                "<Error><Code>PreconditionFailed</Code></Error>",
            );
        }
        object.generation += 1;
        object.bytes.clone_from(&request.body);
        let own = request.headers.iter();
        let own = own.filter(|(name, _)| name.starts_with("x-goog-meta-"));
        object.metadata = own
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
    } else if !exists {
        return response(
            "404 Not Found",
            &[],
            "<Error><Code>NoSuchKey</Code></Error>",
        );
    }
    let etag = format!("\"g{}\"", object.generation);
    if request.header("if-none-match") == etag {
        return response("304 Not Modified", &[&format!("ETag: {etag}")], "");
    }
    let mut lines = vec![
        "HTTP/1.1 200 OK".to_owned(),
        "Connection: close".to_owned(),
        "Last-Modified: Mon, 02 Nov 2026 10:00:00 GMT".to_owned(),
        format!("ETag: {etag}"),
        format!("x-goog-generation: {}", object.generation),
    ];
    lines.extend(
        object
            .metadata
            .iter()
            .map(|(name, value)| format!("{name}: {value}")),
    );
    let is_put = request.method == "PUT";
    let length = if is_put { 0 } else { object.bytes.len() };
    lines.push(format!("Content-Length: {length}\r\n\r\n"));
    let mut out = lines.join("\r\n").into_bytes();
    if request.method == "GET" {
        out.extend_from_slice(&object.bytes);
    }
    out
}
