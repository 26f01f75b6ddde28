//! A Git server over HTTP, by `git http-backend`.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

/// The token of an installation of a GitHub app that the server issues.
pub const APP_TOKEN: &str = "ghs_of_the_installation";

/// Serves the repositories below a folder by `git http-backend` to requests with a header. Returns the address and the number of
/// requests for objects.
pub fn serve(root: PathBuf, wanted: &str) -> (String, Arc<Mutex<usize>>) {
    serve_accepting(root, Arc::new(Mutex::new(wanted.to_owned())))
}

/// Serves repositories to requests with a header that a test can change. All requests are served if it is empty.
pub fn serve_accepting(root: PathBuf, wanted: Arc<Mutex<String>>) -> (String, Arc<Mutex<usize>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let posts = Arc::new(Mutex::new(0));
    let count = posts.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (root, count) = (root.clone(), count.clone());
            let wanted = wanted.lock().unwrap().clone();
            std::thread::spawn(move || respond(stream.unwrap(), &root, &wanted, &count));
        }
    });
    (address, posts)
}

fn respond(mut stream: TcpStream, root: &Path, wanted: &str, posts: &Mutex<usize>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let mut words = line.split(' ');
    let (method, target) = (words.next().unwrap(), words.next().unwrap_or_default());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        match line.trim().split_once(": ") {
            Some((name, value)) => headers.insert(name.to_ascii_lowercase(), value.to_owned()),
            None => break,
        };
    }
    if target.starts_with("/api/v3/app/installations/") {
        let body = format!(r#"{{"token": "{APP_TOKEN}", "expires_at": "2126-01-01T00:00:00Z"}}"#);
        let length = body.len();
        write!(
            stream,
            "HTTP/1.1 201 Created\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
        .unwrap();
        return;
    }
    if !wanted.is_empty() && headers.get("authorization").is_none_or(|own| own != wanted) {
        stream.write_all(b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
        return;
    }
    let length = headers
        .get("content-length")
        .map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    if target.ends_with("/git-upload-pack") && String::from_utf8_lossy(&body).contains("fetch") {
        *posts.lock().unwrap() += 1;
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let header = |name: &str| headers.get(name).cloned().unwrap_or_default();
    let mut child = Command::new("git")
        .args(["-c", "safe.directory=*", "http-backend"])
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REQUEST_METHOD", method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", length.to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&body).unwrap();
    let out = child.wait_with_output().unwrap().stdout;
    let status = if out.starts_with(b"Status: ") {
        "404 Not Found"
    } else {
        "200 OK"
    };
    write!(stream, "HTTP/1.1 {status}\r\nConnection: close\r\n").unwrap();
    stream.write_all(&out).unwrap();
}
