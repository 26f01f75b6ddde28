//! An HTTP server whose responses a function chooses.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A received request.
#[derive(Clone, Debug)]
pub struct Received {
    pub method: String,
    pub target: String,
    /// Headers with names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Received {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// A running server and what it received.
pub struct HttpServer {
    pub address: String,
    pub requests: Arc<Mutex<Vec<Received>>>,
}

impl HttpServer {
    /// Starts a server, which writes what the function returns and closes the connection.
    pub fn start(respond: impl Fn(&Received) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (log, respond) = (requests.clone(), Arc::new(respond));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (log, respond) = (log.clone(), respond.clone());
                std::thread::spawn(move || exchange(stream.unwrap(), &log, &*respond));
            }
        });
        Self { address, requests }
    }

    pub fn last(&self) -> Received {
        self.requests.lock().unwrap().last().unwrap().clone()
    }

    pub fn count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

fn exchange(
    mut stream: TcpStream,
    log: &Mutex<Vec<Received>>,
    respond: &dyn Fn(&Received) -> Vec<u8>,
) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    if reader.read_line(&mut line).is_err() || line.is_empty() {
        return;
    }
    let mut words = line.split(' ');
    let (method, target) = (words.next().unwrap(), words.next().unwrap_or_default());
    let (method, target) = (method.to_owned(), target.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        match line.trim().split_once(": ") {
            Some((name, value)) => headers.insert(name.to_ascii_lowercase(), value.to_owned()),
            None => break,
        };
    }
    let length = headers.get("content-length");
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    reader.read_exact(&mut body).unwrap();
    let received = Received {
        method,
        target,
        headers,
        body,
    };
    log.lock().unwrap().push(received.clone());
    // the client may have gone
    drop(stream.write_all(&respond(&received)));
}

/// Returns a response with a status, header lines and a body.
pub fn response(status: &str, headers: &[&str], body: &str) -> Vec<u8> {
    let lines: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {status}\r\n{lines}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    text.into_bytes()
}
