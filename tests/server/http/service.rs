//! A service for bundle downloads and status uploads.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use solon::bundle::{Bundle, BundleFile, SigningKey};

use crate::waiting::HANG;

/// A reply of the service.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    pub status: u16,
    pub etag: Option<String>,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// The connection ends after this many bytes of the body.
    pub cut: Option<usize>,
    /// A request with the current entity tag waits until there is another reply.
    pub is_held: bool,
}

impl Reply {
    pub fn status(status: u16) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }

    pub fn archive(body: Vec<u8>) -> Self {
        Self {
            body,
            ..Self::status(200)
        }
    }

    pub fn etag(self, etag: &str) -> Self {
        Self {
            etag: Some(etag.to_owned()),
            ..self
        }
    }
}

/// A request that the service has received.
#[derive(Clone, Debug)]
pub struct Received {
    pub method: String,
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
    /// Time at which it was received.
    pub at: Instant,
}

#[derive(Default)]
struct State {
    /// The replies of each path. The last one is repeated.
    replies: BTreeMap<String, Vec<Reply>>,
    received: Vec<Received>,
}

/// A running service.
pub struct Service {
    port: u16,
    state: Arc<(Mutex<State>, Condvar)>,
}

impl Service {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::<(Mutex<State>, Condvar)>::default();
        let shared = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let state = shared.clone();
                std::thread::spawn(move || serve(stream, &state));
            }
        });
        Self { port, state }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Sets the replies of a path, one for each request; the last one is repeated.
    pub fn reply(&self, path: &str, replies: Vec<Reply>) {
        let (state, changed) = &*self.state;
        let mut state = state.lock().unwrap();
        state.replies.insert(path.to_owned(), replies);
        changed.notify_all();
    }

    /// Returns the requests so far whose path begins with a text.
    pub fn received(&self, path: &str) -> Vec<Received> {
        let state = self.state.0.lock().unwrap();
        let received = state.received.iter();
        received
            .filter(|one| one.path.starts_with(path))
            .cloned()
            .collect()
    }
}

fn serve(stream: TcpStream, state: &(Mutex<State>, Condvar)) {
    stream.set_read_timeout(Some(HANG)).unwrap();
    let mut reader = BufReader::new(stream);
    while let Some(request) = receive(&mut reader) {
        let etag = request.headers.get("if-none-match").cloned();
        let mut reply = next(state, request, etag.as_deref());
        let is_known = |tag: &str| {
            etag.iter()
                .any(|tags| tags.split(", ").any(|one| one == tag))
        };
        if reply.etag.as_deref().is_some_and(is_known) {
            (reply.status, reply.body) = (304, Vec::new());
        }
        let mut head = format!("HTTP/1.1 {} Reply\r\n", reply.status);
        if let Some(etag) = &reply.etag {
            head += &format!("ETag: {etag}\r\n");
        }
        for (name, value) in &reply.headers {
            head += &format!("{name}: {value}\r\n");
        }
        if !matches!(reply.status, 204 | 304) {
            head += &format!("Content-Length: {}\r\n", reply.body.len());
        }
        let end = reply.cut.unwrap_or(reply.body.len());
        let bytes = [head.as_bytes(), b"\r\n", &reply.body[..end]].concat();
        if reader.get_mut().write_all(&bytes).is_err() || reply.cut.is_some() {
            return;
        }
    }
}

fn receive(reader: &mut BufReader<TcpStream>) -> Option<Received> {
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length");
    let length = length.map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    if headers
        .get("transfer-encoding")
        .is_some_and(|coding| coding == "chunked")
    {
        body = chunks(reader)?;
    } else {
        reader.read_exact(&mut body).ok()?;
    }
    Some(Received {
        method,
        path,
        headers,
        body,
        at: Instant::now(),
    })
}

fn chunks(reader: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let length = usize::from_str_radix(line.trim(), 16).ok()?;
        let mut chunk = vec![0; length + 2];
        reader.read_exact(&mut chunk).ok()?;
        if length == 0 {
            return Some(body);
        }
        body.extend_from_slice(&chunk[..length]);
    }
}

/// Returns the next reply. A held request waits for another one.
fn next(state: &(Mutex<State>, Condvar), request: Received, etag: Option<&str>) -> Reply {
    let (state, changed) = state;
    let path = request.path.clone();
    let mut state = state.lock().unwrap();
    state.received.push(request);
    loop {
        let reply = match state.replies.get_mut(&path) {
            None => return Reply::status(404),
            Some(replies) if replies.len() > 1 => return replies.remove(0),
            Some(replies) => replies[0].clone(),
        };
        if !reply.is_held || etag.is_none() || reply.etag.as_deref() != etag {
            return reply;
        }
        let time = Duration::from_secs(5);
        let (next, waited) = changed.wait_timeout(state, time).unwrap();
        if waited.timed_out() {
            return reply;
        }
        state = next;
    }
}

/// Returns an archive with files.
pub fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    Bundle::write_archive(&files_of(files)).unwrap()
}

/// Returns an archive with files and their signature by a secret.
pub fn signed(files: &[(&str, &str)], secret: &str) -> Vec<u8> {
    signed_by(files, &SigningKey::new("HS256", secret))
}

pub fn signed_by(files: &[(&str, &str)], key: &SigningKey) -> Vec<u8> {
    let mut files = files_of(files);
    let bytes = Bundle::sign(&files, key).unwrap();
    files.push(BundleFile {
        path: "/.signatures.json".to_owned(),
        bytes,
    });
    Bundle::write_archive(&files).unwrap()
}

fn files_of(files: &[(&str, &str)]) -> Vec<BundleFile> {
    let file = |(path, text): &(&str, &str)| BundleFile {
        path: format!("/{path}"),
        bytes: text.as_bytes().to_vec(),
    };
    files.iter().map(file).collect()
}
