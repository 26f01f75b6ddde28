//! Processes of the program that serve, and requests to them.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// A process that listens. It is killed when the test ends.
pub struct Process {
    child: Child,
    /// The address, with `unix://` for a socket in a folder.
    pub address: String,
}

impl Process {
    /// Starts a process and waits for the log line with its address.
    pub fn start(mut command: Command, message: &str) -> Result<Self, String> {
        command.stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut before = String::new();
        let address = loop {
            let Some(line) = lines.next() else {
                let _ = child.wait();
                return Err(format!("it ended: {before}"));
            };
            let text = line.unwrap();
            let line: Value = serde_json::from_str(&text).unwrap_or_default();
            if line["msg"] == message {
                break line["addrs"].as_str().unwrap().to_owned();
            }
            before.push_str(&text);
        };
        // the process must not block on a reader of its log
        std::thread::spawn(move || for _ in lines.map_while(Result::ok) {});
        Ok(Self { child, address })
    }

    /// Returns status and body of a response. `request` is method and path. The address is a socket in `folder`, or of TCP.
    pub fn send(&self, folder: &Path, request: &str, headers: &str, body: &str) -> (u16, String) {
        match self.address.strip_prefix("unix://") {
            Some(path) => {
                let stream = UnixStream::connect(folder.join(path)).unwrap();
                receive(stream, request, headers, body)
            }
            None => {
                let stream = TcpStream::connect(&self.address).unwrap();
                receive(stream, request, headers, body)
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn receive(
    mut stream: impl Read + Write,
    request: &str,
    headers: &str,
    body: &str,
) -> (u16, String) {
    let length = body.len();
    let head = format!(
        "{request} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all((head + body).as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, body.to_owned())
}
