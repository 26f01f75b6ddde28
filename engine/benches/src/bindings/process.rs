//! Child process that times a language binding: it receives a form and a number of calls, and responds with the nanoseconds per
//! call.

use std::cell::RefCell;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;

use super::Column;

/// A process that is ready.
pub struct Process {
    forms: Vec<String>,
    pipes: Pipes,
}

struct Pipes {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Process {
    /// Starts a program and waits until it is ready.
    pub fn start(mut command: Command) -> Result<Self, String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|error| format!("{command:?}: {error}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("it has no pipes".to_owned());
        };
        let mut pipes = Pipes {
            child,
            input,
            output: BufReader::new(output),
        };
        let line = pipes.line()?;
        let forms = line.strip_prefix("ready ");
        let forms = forms.ok_or_else(|| format!("it said {line:?}"))?;
        Ok(Self {
            forms: forms.split_whitespace().map(str::to_owned).collect(),
            pipes,
        })
    }

    /// Returns a column for each form of the program.
    pub fn columns(self, binding: &'static str, is_own: bool) -> Vec<Column> {
        let pipes = Rc::new(RefCell::new(self.pipes));
        let column = |form: String| {
            let (pipes, asked) = (pipes.clone(), form.clone());
            Column {
                binding,
                form,
                is_own,
                round: Box::new(move |calls| pipes.borrow_mut().round(&asked, calls)),
            }
        };
        self.forms.into_iter().map(column).collect()
    }
}

impl Pipes {
    fn round(&mut self, form: &str, calls: u32) -> Result<f64, String> {
        let asked = writeln!(self.input, "{form} {calls}").and_then(|()| self.input.flush());
        asked.map_err(|error| error.to_string())?;
        let line = self.line()?;
        line.parse().map_err(|_| format!("it said {line:?}"))
    }

    fn line(&mut self) -> Result<String, String> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line);
        read.map_err(|error| error.to_string())?;
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
