//! A real proxy with a recipe of the documentation, before an application whose requests are received.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;

use crate::client::{Answer, Client, Message};
use crate::process::Folder;
use crate::proxy::{free_port, upstream};
use crate::waiting::{HANG, wait_for};

/// Returns the program that `variable` names, or the one at a usual path. Without it, a test is skipped, unless
/// `SOLON_REQUIRE_SERVICES` is set.
pub fn installed(variable: &str, usual: &str) -> Option<PathBuf> {
    let given = std::env::var_os(variable).map(PathBuf::from);
    let found = given.unwrap_or_else(|| PathBuf::from(usual));
    if found.exists() {
        return Some(found);
    }
    assert!(
        std::env::var_os("SOLON_REQUIRE_SERVICES").is_none(),
        "{usual} is not installed: set {variable}"
    );
    println!("skipped: {usual} is not installed ({variable})");
    None
}

/// Returns the first block of a language in `docs/envoy.md`.
pub fn recipe(language: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/envoy.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

/// Replaces parts of a recipe, each of which occurs once.
pub fn replace(mut text: String, parts: &[(&str, String)]) -> String {
    for (documented, own) in parts {
        assert_eq!(text.matches(documented).count(), 1, "{documented}");
        text = text.replace(documented, own);
    }
    text
}

/// Ports of a test: of the proxy and of the application.
pub struct Ports {
    pub proxy: u16,
    pub application: u16,
}

pub struct FrontProxy {
    child: Child,
    port: u16,
    requests: Receiver<String>,
    folder: Folder,
}

impl Drop for FrontProxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl FrontProxy {
    /// Starts a proxy. `config` returns its configuration, and `arguments` those of the program in the folder of the file.
    pub fn start(
        program: &Path,
        file: &str,
        config: impl FnOnce(&Ports) -> String,
        arguments: &[&str],
    ) -> Self {
        let (application, requests) = upstream();
        // the port is free until the proxy opens it; no other test opens the same one
        let port = free_port();
        let config = config(&Ports {
            proxy: port,
            application,
        });
        let folder = Folder::with(&[(file, &config)]);
        let child = Command::new(program)
            .args(arguments)
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .stdout(Stdio::null())
            .stderr(fs::File::create(folder.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        let mut proxy = Self {
            child,
            port,
            requests,
            folder,
        };
        wait_for("the proxy listens", || {
            let ended = proxy.child.try_wait().unwrap();
            let log = proxy.folder.path().join("log");
            assert!(ended.is_none(), "{}", fs::read_to_string(log).unwrap());
            TcpStream::connect(("127.0.0.1", port)).ok()
        });
        proxy
    }

    pub fn send(&self, message: &Message) -> Answer {
        Client::connect(&format!("127.0.0.1:{}", self.port)).send(message)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send(&Message::new("GET", path))
    }

    /// Returns the request that reached the application, in lower case.
    pub fn forwarded(&self) -> String {
        self.requests.recv_timeout(HANG).unwrap()
    }

    pub fn forwarded_nothing(&self) -> bool {
        self.requests.try_recv().is_err()
    }
}
