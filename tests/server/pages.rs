//! Runs the shell sessions of the documentation and compares their output.
//!
//! - A code block `console` contains commands, each after `$ `, and their output.
//! - A block whose info string has `file=NAME` is written to the folder of the page before the commands after it run.
//! - All commands of a page run in one folder and one shell.
//! - In the output, `…` matches any text within a line, and a line with only `…` matches any number of lines.
//! - A command without output in the page may print anything.
//! - Every command must exit with 0.
//! - Commands that end in `&` are servers: the test continues when their port is open, and ends them with the page.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a panic here is a failing test"
)]

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A part of a page that the test acts on.
enum Part {
    File { name: String, text: String },
    Command { line: String, output: Vec<String> },
}

fn code_blocks(page: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            continue;
        };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if let Some(name) = info
            .split_whitespace()
            .find_map(|word| word.strip_prefix("file="))
        {
            parts.push(Part::File {
                name: name.to_owned(),
                text: block.join("\n") + "\n",
            });
        } else if info == "console" {
            for line in block {
                if let Some(command) = line.strip_prefix("$ ") {
                    parts.push(Part::Command {
                        line: command.to_owned(),
                        output: Vec::new(),
                    });
                } else if let Some(Part::Command {
                    line: command,
                    output,
                }) = parts.last_mut()
                {
                    // the rest of a command that continues on the next line
                    if command.ends_with('\\') && output.is_empty() {
                        write!(command, "\n{line}").unwrap();
                    } else {
                        output.push(line.trim_end().to_owned());
                    }
                }
            }
        }
    }
    parts
}

/// Returns `true` if `line` matches `pattern`, in which `…` matches any text.
fn matches_line(pattern: &str, line: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('…') else {
        return pattern == line;
    };
    let Some(mut line) = line.strip_prefix(first) else {
        return false;
    };
    let mut pieces: Vec<&str> = rest.split('…').collect();
    let last = pieces.pop().unwrap_or_default();
    for piece in pieces {
        let Some(at) = line.find(piece) else {
            return false;
        };
        line = &line[at + piece.len()..];
    }
    line.ends_with(last)
}

/// Returns `true` if the lines match the pattern, in which a line `…` matches any number of lines.
fn matches(pattern: &[String], lines: &[&str]) -> bool {
    match pattern.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first == "…" => {
            (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..]))
        }
        Some((first, rest)) => lines
            .split_first()
            .is_some_and(|(line, others)| matches_line(first, line) && matches(rest, others)),
    }
}

/// A shell in a folder, with `solon` in its path and free ports instead of the default ones.
struct Shell {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
    ports: [(&'static str, u16); 2],
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("localhost:0").unwrap();
    listener.local_addr().unwrap().port()
}

impl Shell {
    fn new(folder: &Path) -> Self {
        let solon = Path::new(env!("CARGO_BIN_EXE_solon"));
        let mut path = solon.parent().unwrap().to_path_buf().into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap());
        let ports = [("8181", free_port()), ("8282", free_port())];
        let mut child = Command::new("bash")
            .current_dir(folder)
            .env("PATH", path)
            .env("SOLON_RUN_ADDR", format!("localhost:{}", ports[0].1))
            .env("NO_PROXY", "*")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut shell = Self {
            child,
            output,
            ports,
        };
        shell.send("exec 2>&1; trap 'kill $(jobs -p) 2>/dev/null' EXIT");
        shell
    }

    fn send(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Runs a command. Returns its output and its exit code.
    fn run(&mut self, command: &str) -> (String, i32) {
        let mut command = command.to_owned();
        for (default, port) in self.ports {
            command = command.replace(
                &format!("localhost:{default}"),
                &format!("localhost:{port}"),
            );
        }
        if let Some(server) = command.strip_suffix('&') {
            let is_second = server.contains("control") || server.contains("http.server");
            let port = self.ports[usize::from(is_second)].1;
            self.send(&format!("{server} >>server.log 2>&1 </dev/null &"));
            self.send("echo; echo '@@' 0");
            let result = self.read();
            let end = Instant::now() + Duration::from_mins(1);
            while TcpStream::connect(("localhost", port)).is_err() {
                assert!(
                    Instant::now() < end,
                    "{command}: nothing listens on its port"
                );
                std::thread::sleep(Duration::from_millis(20));
            }
            return result;
        }
        self.send(&format!("{{ {command}\n}} </dev/null"));
        self.send("code=$?; echo; echo '@@' $code");
        self.read()
    }

    fn read(&mut self) -> (String, i32) {
        let mut text = String::new();
        loop {
            let mut line = String::new();
            let length = self.output.read_line(&mut line).unwrap();
            assert!(length > 0, "the shell has ended:\n{text}");
            if let Some(code) = line.strip_prefix("@@ ") {
                return (text, code.trim().parse().unwrap());
            }
            text.push_str(&line);
        }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.send("exit");
        self.child.wait().unwrap();
    }
}

fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output();
    found.is_ok_and(|output| output.status.success())
}

fn check(page: &Path, failures: &mut String) -> usize {
    let text = fs::read_to_string(page).unwrap();
    let parts = code_blocks(&text);
    let commands = parts
        .iter()
        .filter(|part| matches!(part, Part::Command { .. }))
        .count();
    if commands == 0 {
        return 0;
    }
    let name = page.file_name().unwrap().to_str().unwrap();
    let folder = std::env::temp_dir().join(format!("solon-pages-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let mut shell = Shell::new(&folder);
    for part in parts {
        match part {
            Part::File { name, text } => {
                let path = folder.join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Part::Command { line, output } => {
                let (printed, code) = shell.run(&line);
                let printed: Vec<&str> = printed.trim_end().lines().map(str::trim_end).collect();
                let expected: Vec<String> = {
                    let text = output.join("\n");
                    text.trim_end().lines().map(str::to_owned).collect()
                };
                if code != 0 {
                    writeln!(
                        failures,
                        "{name}: `{line}` exits with {code}:\n{}",
                        printed.join("\n")
                    )
                    .unwrap();
                } else if !expected.is_empty() && !matches(&expected, &printed) {
                    let (printed, expected) = (printed.join("\n"), expected.join("\n"));
                    writeln!(
                        failures,
                        "{name}: `{line}` prints\n{printed}\n-- not\n{expected}"
                    )
                    .unwrap();
                }
            }
        }
    }
    drop(shell);
    fs::remove_dir_all(folder).unwrap();
    commands
}

#[test]
fn sessions_of_the_documentation_print_what_they_show() {
    if !has("bash") || !has("curl") {
        println!("skipped: the sessions of the documentation need bash and curl");
        return;
    }
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut pages: Vec<PathBuf> = fs::read_dir(root.join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.push(root.join("README.md"));
    pages.sort();
    let mut failures = String::new();
    let commands: usize = pages.iter().map(|page| check(page, &mut failures)).sum();
    println!("{commands} commands");
    assert!(failures.is_empty(), "{failures}");
    assert!(commands > 0, "no page has a session");
}

#[test]
fn patterns() {
    assert!(matches_line("a…c", "abc") && matches_line("…", "") && matches_line("x …", "x y"));
    assert!(!matches_line("a…c", "abd") && !matches_line("abc", "abcd"));
    let pattern = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(matches(&pattern("a\n…\nd"), &["a", "b", "c", "d"]));
    assert!(!matches(&pattern("a\n…\nd"), &["a", "b", "c"]));
    assert!(matches(&[], &[]) && !matches(&[], &["a"]));
}

/// The examples of control plane resources are one valid configuration.
#[test]
fn resources_of_the_control_plane_load() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/control-plane-resources.md");
    let page = fs::read_to_string(page).unwrap();
    let examples: Vec<&str> = page
        .split("```yaml\n")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once("```")?.0))
        .collect();
    let roots: Vec<&str> = examples.iter().flat_map(|text| text.lines()).collect();
    for kind in ["bundles:", "sources:", "stacks:", "secrets:", "tokens:"] {
        assert!(roots.contains(&kind), "no example of {kind}");
    }
    let folder = std::env::temp_dir().join(format!("solon-resources-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("all.yaml"), examples.concat()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_solon"))
        .args([
            "control",
            "run",
            "--validate",
            "--config",
            "all.yaml",
            "--data-dir",
            "data",
        ])
        .envs(
            ["GIT_PASSWORD", "AWS_SECRET", "USERS_TOKEN", "PUSH_SECRET"]
                .map(|name| (name, "example")),
        )
        .env("DEPLOYMENT_KEY", "0123456789abcdef0123456789abcdef")
        .current_dir(&folder)
        .output()
        .unwrap();
    fs::remove_dir_all(&folder).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}
