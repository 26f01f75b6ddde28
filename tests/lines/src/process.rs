//! Programs that implement the protocol.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use crate::Driver;

/// Time limit of a response, a thousand times as long as any program here needs.
const PATIENCE: Duration = Duration::from_mins(2);

/// A running program that reads a request from each line of its input and writes a response to a line of its output. It
/// is restarted if it exits or does not respond.
pub struct Process {
    program: String,
    arguments: Vec<String>,
    running: Option<Running>,
}

struct Running {
    child: Child,
    stdin: ChildStdin,
    answers: Receiver<String>,
}

impl Process {
    /// Runs `PROGRAM lines`, a command of Solon and of the OPA oracle.
    pub fn new(program: impl Into<String>) -> Self {
        Self::with(program, ["lines"])
    }

    /// Runs a program with arguments.
    pub fn with(
        program: impl Into<String>,
        arguments: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            running: None,
        }
    }

    /// Returns the response to one request.
    ///
    /// # Errors
    ///
    /// Fails if the program cannot be started, or does not respond within the time limit.
    pub fn request(&mut self, request: &str) -> Result<String, String> {
        let running = match self.running.take() {
            Some(running) => running,
            None => Running::start(&self.program, &self.arguments)
                .map_err(|error| format!("cannot start {}: {error}", self.program))?,
        };
        let running = self.running.insert(running);
        let sent = writeln!(running.stdin, "{request}").and_then(|()| running.stdin.flush());
        let answer = sent.map_err(|error| error.to_string()).and_then(|()| {
            running
                .answers
                .recv_timeout(PATIENCE)
                .map_err(|error| format!("no answer: {error}"))
        });
        if answer.is_err() {
            self.stop();
        }
        answer
    }

    fn stop(&mut self) {
        if let Some(mut running) = self.running.take() {
            // it may have exited already
            let _ = running.child.kill();
            let _ = running.child.wait();
        }
    }
}

impl Driver for Process {
    fn answer(&mut self, line: &str) -> Result<String, String> {
        self.request(line)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Running {
    fn start(program: &str, arguments: &[String]) -> io::Result<Self> {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("no pipes"));
        };
        let (sender, answers) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self {
            child,
            stdin,
            answers,
        })
    }
}
