//! A service that receives decision logs.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use flate2::read::GzDecoder;
use serde_json::Value;

/// A running sink. It accepts uploads until the process ends.
#[derive(Clone)]
pub struct Sink {
    address: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    uploads: Vec<Upload>,
    /// Statuses of the next responses, or 200 if there are none.
    statuses: VecDeque<u16>,
}

/// A request that the sink received.
#[derive(Clone)]
pub struct Upload {
    /// First line of the request.
    pub line: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as it was sent.
    pub body: Vec<u8>,
    /// The status of the response.
    pub status: u16,
}

impl Upload {
    /// Returns the events of the body.
    pub fn events(&self) -> Vec<Value> {
        let mut text = String::new();
        let read = GzDecoder::new(&*self.body).read_to_string(&mut text);
        read.unwrap();
        serde_json::from_str(&text).unwrap()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    }
}

impl Sink {
    /// Starts a sink on its own port.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let sink = Self {
            address: listener.local_addr().unwrap().to_string(),
            state: Arc::default(),
        };
        let state = sink.state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let state = state.clone();
                std::thread::spawn(move || serve(stream, &state));
            }
        });
        sink
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Responds to the next uploads with these statuses.
    pub fn respond(&self, statuses: &[u16]) {
        self.state.lock().unwrap().statuses.extend(statuses);
    }

    /// Returns the uploads so far.
    pub fn uploads(&self) -> Vec<Upload> {
        self.state.lock().unwrap().uploads.clone()
    }

    /// Returns the events of the uploads that were accepted.
    pub fn events(&self) -> Vec<Value> {
        let uploads = self.uploads().into_iter();
        let accepted = uploads.filter(|upload| upload.status < 300);
        accepted.flat_map(|upload| upload.events()).collect()
    }
}

fn serve(stream: TcpStream, state: &Mutex<State>) {
    let mut reader = BufReader::new(stream);
    while let Some((line, headers, body)) = request(&mut reader) {
        let status = {
            let mut state = state.lock().unwrap();
            let status = state.statuses.pop_front().unwrap_or(200);
            state.uploads.push(Upload {
                line,
                headers,
                body,
                status,
            });
            status
        };
        let response = format!("HTTP/1.1 {status} Status\r\nContent-Length: 0\r\n\r\n");
        if reader.get_mut().write_all(response.as_bytes()).is_err() {
            return;
        }
    }
}

type Request = (String, Vec<(String, String)>, Vec<u8>);

fn request(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut read_line = || {
        let mut line = String::new();
        let length = reader.read_line(&mut line).ok()?;
        (length > 0).then(|| line.trim_end().to_owned())
    };
    let line = read_line()?;
    let mut headers = Vec::new();
    loop {
        let header = read_line()?;
        if header.is_empty() {
            break;
        }
        let (name, value) = header.split_once(':')?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let of = |name: &str| {
        let found = headers.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.clone())
    };
    let mut body = Vec::new();
    if let Some(length) = of("content-length") {
        body.resize(length.parse().ok()?, 0);
        reader.read_exact(&mut body).ok()?;
    } else if of("transfer-encoding").is_some() {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size).ok()?;
            let size = usize::from_str_radix(size.trim(), 16).ok()?;
            let mut chunk = vec![0; size + 2];
            reader.read_exact(&mut chunk).ok()?;
            if size == 0 {
                break;
            }
            body.extend_from_slice(&chunk[..size]);
        }
    }
    Some((line, headers, body))
}
