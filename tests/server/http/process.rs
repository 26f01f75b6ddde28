//! Servers as child processes.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

/// A folder that is gone when the test is.
pub struct Folder(PathBuf);

impl Folder {
    /// A new folder with files.
    pub fn with(files: &[(&str, &str)]) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "solon-http-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        for (name, text) in files {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self(folder)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A running server.
pub struct Server {
    child: Child,
    address: String,
    diagnostic: String,
    lines: Receiver<Value>,
    seen: Vec<Value>,
    folder: Folder,
}

impl Server {
    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// A line of what the system tells of the process's memory, in KiB.
    pub fn memory(&self, name: &str) -> usize {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().nth(1));
        number.unwrap().parse().unwrap()
    }

    /// Starts a server that has loaded files.
    pub fn start(files: &[(&str, &str)]) -> Self {
        Self::start_with(&[], files)
    }

    /// Starts a server with flags. It listens on a port of its own unless they say where.
    pub fn start_with(flags: &[&str], files: &[(&str, &str)]) -> Self {
        Self::start_by(Command::new(env!("CARGO_BIN_EXE_solon")), flags, files)
    }

    /// The same by a command that ends in the program's name.
    pub fn start_by(mut command: Command, flags: &[&str], files: &[(&str, &str)]) -> Self {
        let folder = Folder::with(files);
        command.args(["run", "--server"]).args(flags).args(
            files
                .iter()
                .map(|(name, _)| *name)
                .filter(|name| *name != "c.yaml" && !name.contains(".pem")),
        );
        if !flags.contains(&"--addr") {
            command.args(["--addr", "127.0.0.1:0"]);
        }
        let mut child = command
            .current_dir(folder.path())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let log = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in log.lines().map_while(Result::ok) {
                let line = serde_json::from_str(&line)
                    .unwrap_or_else(|_| panic!("not a log line: {line}"));
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut seen = Vec::new();
        let (address, diagnostic) = loop {
            let line: Value = lines
                .recv_timeout(Duration::from_secs(30))
                .expect("the server starts");
            let opened = line["msg"] == "Server initialized.";
            seen.push(line);
            if opened {
                let last = seen.last().unwrap();
                let text = |name: &str| last[name].as_str().unwrap().to_owned();
                break (text("addrs"), text("diagnostic_addrs"));
            }
        };
        Self {
            child,
            address,
            diagnostic,
            lines,
            seen,
            folder,
        }
    }

    /// Where it listens.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Where it listens for diagnosis.
    pub fn diagnostic_address(&self) -> &str {
        &self.diagnostic
    }

    /// Where its files are.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A server that does not start: its exit code, and what it says.
    pub fn fail(flags: &[&str]) -> (Option<i32>, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_solon"))
            .args(["run", "--server", "--log-level", "error"])
            .args(flags)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), text)
    }

    /// Tells it to stop and waits; the exit code.
    pub fn terminate(&mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &pid])
                .status()
                .unwrap()
                .success()
        );
        self.child.wait().unwrap().code()
    }

    /// What it has logged.
    pub fn log(&mut self) -> &[Value] {
        while let Ok(line) = self.lines.recv_timeout(Duration::from_secs(1)) {
            self.seen.push(line);
        }
        &self.seen
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
