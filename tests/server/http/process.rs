//! Servers as child processes.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

use crate::waiting::{HANG, Waiting, wait_for, wait_until};

/// A folder that is removed when the test ends.
pub struct Folder(PathBuf);

impl Folder {
    /// Creates a folder with files.
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
    log: Vec<Value>,
    folder: Folder,
}

impl Server {
    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns a line of the process's memory statistics, in KiB.
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

    /// Starts a server with flags. It listens on its own port unless they specify an address.
    pub fn start_with(flags: &[&str], files: &[(&str, &str)]) -> Self {
        Self::start_by(Command::new(env!("CARGO_BIN_EXE_solon")), flags, files)
    }

    /// Starts a server with flags by a command that ends in the program's name.
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
            let line: Value = lines.recv_timeout(HANG).expect("the server starts");
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
            log: seen,
            folder,
        }
    }

    /// Returns the address that it listens on.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the diagnostic address that it listens on.
    pub fn diagnostic_address(&self) -> &str {
        &self.diagnostic
    }

    /// Returns the folder with its files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Starts a server that fails to start. Returns its exit code and its output.
    pub fn fail(flags: &[&str]) -> (Option<i32>, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_solon"))
            .args(["run", "--server", "--log-level", "error"])
            .args(flags)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), text)
    }

    /// Returns the processor time that the process has used so far, in steps of ten milliseconds.
    pub fn processor_time(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.id())).unwrap();
        // the name of the program is in parentheses and may contain spaces
        let fields = stat.rsplit(')').next().unwrap().split_whitespace();
        let times = fields.skip(11).take(2);
        let ticks = times
            .map(|ticks| ticks.parse::<u64>().unwrap())
            .sum::<u64>();
        Duration::from_millis(ticks * 10)
    }

    /// Waits until the process is busy.
    pub fn wait_for_work(&self) {
        let before = self.processor_time();
        wait_until("the server works", || {
            self.processor_time().saturating_sub(before) > Duration::from_millis(200)
        });
    }

    /// Waits until the process is idle.
    pub fn wait_for_rest(&self) {
        wait_until("the server does nothing", || {
            let before = self.processor_time();
            std::thread::sleep(Duration::from_millis(500));
            self.processor_time() == before
        });
    }

    /// Sends a signal.
    pub fn signal(&self, name: &str) {
        let mut kill = Command::new("kill");
        kill.args([format!("-{name}"), self.id().to_string()]);
        assert!(kill.status().unwrap().success());
    }

    /// Waits for its end. Returns the exit code.
    pub fn wait(&mut self) -> Option<i32> {
        let ended = || self.child.try_wait().unwrap();
        wait_for("the server ends", ended).code()
    }

    /// Stops the server if it still runs, and waits for its end. Returns the exit code.
    pub fn terminate(&mut self) -> Option<i32> {
        if self.child.try_wait().unwrap().is_none() {
            self.signal("TERM");
        }
        self.wait()
    }

    /// Stops the server and returns all lines of its log.
    pub fn log(&mut self) -> &[Value] {
        self.terminate();
        while let Ok(line) = self.lines.recv_timeout(HANG) {
            self.log.push(line);
        }
        &self.log
    }

    /// Waits until `count` lines of the log satisfy a condition, and returns the lines until then.
    pub fn logged(&mut self, what: &str, count: usize, is: impl Fn(&Value) -> bool) -> &[Value] {
        let waiting = Waiting::until(what);
        let mut found = self.log.iter().filter(|line| is(line)).count();
        while found < count {
            waiting.check();
            let line = self.lines.recv_timeout(HANG).expect(what);
            found += usize::from(is(&line));
            self.log.push(line);
        }
        &self.log
    }

    /// Waits for a line of the log with a message, and returns the line.
    pub fn logged_message(&mut self, message: &str) -> Value {
        let is = |line: &Value| line["msg"] == message;
        let lines = self.logged(message, 1, is);
        lines.iter().find(|line| is(line)).unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
