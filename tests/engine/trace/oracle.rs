//! OPA as an oracle: its protocol, and its command line in a folder with the files of a request.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

/// A running process `ORACLE lines`.
pub struct Lines {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Lines {
    pub fn start(oracle: &str) -> Self {
        let mut child = Command::new(oracle)
            .arg("lines")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, answers }
    }

    pub fn respond(&mut self, line: &str) -> Value {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        // it may have ended already
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A temporary folder with the files of a request.
pub struct Folder {
    path: PathBuf,
    args: Vec<String>,
}

impl Folder {
    pub fn from_request(request: &Value) -> Self {
        let path = std::env::temp_dir().join(format!("solon-trace-{}", std::process::id()));
        let mut args = Vec::new();
        let mut write = |name: &str, text: &str, flag: &str| {
            let file = path.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
            args.extend([flag.to_owned(), name.to_owned()]);
        };
        for (name, text) in request["modules"].as_object().into_iter().flatten() {
            write(name, text.as_str().unwrap(), "-d");
        }
        if let Some(data) = request.get("data") {
            write("data.json", &data.to_string(), "-d");
        }
        if let Some(input) = request.get("input") {
            write("input.json", &input.to_string(), "-i");
        }
        let flags = [
            ("v0", "--v0-compatible"),
            ("strict", "--strict"),
            ("strict_builtin_errors", "--strict-builtin-errors"),
        ];
        for (name, flag) in flags {
            if request[name].as_bool().unwrap_or_default() {
                args.push(flag.to_owned());
            }
        }
        args.push(request["query"].as_str().unwrap().to_owned());
        Self { path, args }
    }

    fn run(&self, oracle: &str, more: &[&str]) -> Vec<u8> {
        let output = Command::new(oracle)
            .arg("eval")
            .args(more)
            .args(&self.args)
            .current_dir(&self.path)
            .output();
        output.unwrap().stdout
    }

    /// Returns the events of a detail.
    pub fn events(&self, oracle: &str, detail: &str) -> Value {
        let text = self.run(oracle, &["--format", "json", "--explain", detail]);
        let answer: Value = serde_json::from_slice(&text).unwrap();
        answer["explanation"].clone()
    }

    /// Returns the first lines of a trace, with locations and the values of variables.
    pub fn lines(&self, oracle: &str, detail: &str, count: usize) -> Vec<String> {
        let args = ["--format", "pretty", "--var-values", "--explain", detail];
        let text = String::from_utf8_lossy(&self.run(oracle, &args)).into_owned();
        text.lines().take(count).map(str::to_owned).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
