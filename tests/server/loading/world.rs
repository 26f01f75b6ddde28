//! A folder with files and a store, and the server that loads them.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::client::{Answer, Client, Message};
use crate::waiting::HANG;

/// A temporary folder and the server that runs in it.
pub struct World {
    folder: PathBuf,
    server: Option<Server>,
}

struct Server {
    child: Child,
    address: String,
    lines: Receiver<String>,
    log: Vec<String>,
    /// Number of log lines that the test has read.
    read: usize,
}

impl World {
    pub fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("solon-loading-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Self {
            folder,
            server: None,
        }
    }

    /// Returns the path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes a file and restores its modification time.
    pub fn write_at_same_time(&self, name: &str, text: &str) {
        let path = self.path(name);
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, text).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(modified).unwrap();
    }

    /// Changes the target of a link atomically.
    pub fn link(&self, name: &str, target: &str) {
        let next = self.path("link-to-be");
        std::os::unix::fs::symlink(target, &next).unwrap();
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::rename(next, path).unwrap();
    }

    /// Runs a command of the program in the folder. Returns its exit code and its output.
    pub fn run(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = self.command(args).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (
            output.status.code(),
            String::from_utf8_lossy(&text).into_owned(),
        )
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_solon"));
        let absolute = self.folder.to_str().unwrap();
        let args = args.iter().map(|arg| arg.replace("FOLDER", absolute));
        command.current_dir(&self.folder).args(args);
        command
    }

    /// Restarts the server with arguments. The error is its output if it does not start.
    pub fn start(&mut self, args: &[&str]) -> Result<(), String> {
        self.begin(args);
        let server = self.server.as_mut().expect("a server");
        loop {
            let Ok(line) = server.lines.recv_timeout(HANG) else {
                let log = server.log.join("\n");
                self.stop();
                return Err(log);
            };
            let value: Value = serde_json::from_str(&line).unwrap_or_default();
            server.log.push(line);
            if value["msg"] == "Server initialized." {
                value["addrs"]
                    .as_str()
                    .unwrap()
                    .clone_into(&mut server.address);
                return Ok(());
            }
        }
    }

    /// Restarts the server with arguments, without waiting until it serves.
    pub fn begin(&mut self, args: &[&str]) {
        self.stop();
        let fixed = ["run", "--server", "--addr", "127.0.0.1:0"];
        let mut command = self.command(&fixed);
        let absolute = self.folder.to_str().unwrap();
        command.args(args.iter().map(|arg| arg.replace("FOLDER", absolute)));
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in log.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        self.server = Some(Server {
            child,
            address: String::new(),
            lines,
            log: Vec::new(),
            read: 0,
        });
    }

    /// Kills the server.
    pub fn stop(&mut self) {
        if let Some(mut server) = self.server.take() {
            let _ = server.child.kill();
            let _ = server.child.wait();
        }
    }

    /// Sends a request.
    pub fn send(&self, method: &str, target: &str, body: &str) -> Answer {
        let server = self.server.as_ref().expect("a server");
        let message = Message::new(method, target).body(body);
        Client::connect(&server.address).send(&message)
    }

    /// Returns all documents except for those of the server itself.
    pub fn data(&self) -> Value {
        let answer = self.send("GET", "/v1/data", "");
        let mut value: Value = serde_json::from_str(&answer.text()).unwrap();
        let mut data = value["result"].take();
        if let Some(object) = data.as_object_mut() {
            object.remove("system");
        }
        data
    }

    /// Returns ids and texts of all policies.
    pub fn policies(&self) -> Vec<(String, String)> {
        let answer = self.send("GET", "/v1/policies", "");
        let value: Value = serde_json::from_str(&answer.text()).unwrap();
        let text = |one: &Value, name: &str| one[name].as_str().unwrap().to_owned();
        let all = value["result"].as_array().unwrap().iter();
        all.map(|one| (text(one, "id"), text(one, "raw"))).collect()
    }

    /// Waits until a value is as expected. Returns the last value.
    pub fn wait_for<T: PartialEq>(&self, want: &T, found: impl Fn(&Self) -> T) -> T {
        let start = Instant::now();
        loop {
            let now = found(self);
            if now == *want || start.elapsed() > HANG {
                return now;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits for a line of the log with a text, after those that were read before.
    pub fn wait_for_log(&mut self, text: &str) -> bool {
        let server = self.server.as_mut().expect("a server");
        let start = Instant::now();
        loop {
            while let Some(line) = server.log.get(server.read) {
                server.read += 1;
                if line.contains(text) {
                    return true;
                }
            }
            match server.lines.recv_timeout(Duration::from_millis(200)) {
                Ok(line) => server.log.push(line),
                Err(_) if start.elapsed() > HANG => return false,
                Err(_) => {}
            }
        }
    }

    /// Returns `true` if a text is in the log so far.
    pub fn has_logged(&mut self, text: &str) -> bool {
        let server = self.server.as_mut().expect("a server");
        server.log.extend(server.lines.try_iter());
        server.log.iter().any(|line| line.contains(text))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Copies a folder with the times of its files.
pub fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(copied.unwrap().success());
}
