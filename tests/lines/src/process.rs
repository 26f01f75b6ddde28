//! An engine behind the lines protocol: one JSON request a line in, one JSON answer a line out.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// No program here needs a thousandth of this.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running `PROGRAM lines`, started again when it dies or does not answer.
pub struct Lines {
    program: String,
    running: Option<Running>,
}

struct Running {
    child: Child,
    stdin: ChildStdin,
    answers: Receiver<String>,
}

impl Lines {
    pub fn new(program: impl Into<String>) -> Self {
        Self {
            program: program.into(),
            running: None,
        }
    }

    /// The answer to one request, or why there is none.
    pub fn ask(&mut self, request: &str) -> Result<String, String> {
        let running = match self.running.take() {
            Some(running) => running,
            None => Running::start(&self.program)
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
            // it may be gone already
            let _ = running.child.kill();
            let _ = running.child.wait();
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Running {
    fn start(program: &str) -> io::Result<Self> {
        let mut child = Command::new(program)
            .arg("lines")
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
