//! `solon bench --e2e`: requests to a policy server in a process of its own.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Map, Value as Json, json};
use solon::{Value, json as document};
use solon_syntax::ParseOptions;
use solon_syntax::ast::TermKind;
use solon_syntax::parse_term;
use solon_syntax::source::{Source, SourceId};

use super::{Args, distribution, given};

/// Maximum time until the server responds.
const START: Duration = Duration::from_secs(30);

/// A policy server in a process of its own, which ends when this is dropped.
pub struct BenchServer {
    child: Child,
    connection: BufReader<TcpStream>,
    request: Vec<u8>,
    /// Times and counts of the server, by name.
    samples: BTreeMap<String, Vec<u64>>,
}

impl BenchServer {
    /// Starts a server with the policies and documents of the arguments.
    ///
    /// # Errors
    /// The server does not start, or does not respond in time.
    pub fn start(args: &Args, query: &str, input: Option<&Value>) -> Result<Self, String> {
        // the port is free again once the listener is dropped
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        drop(listener);
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command.args(["run", "--server", "--log-level", "error", "--compat", "opa"]);
        command.arg(format!("--addr={address}"));
        command.args(args.server_arguments());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        match connect(&mut child, address) {
            Ok(connection) => Ok(Self {
                child,
                connection: BufReader::new(connection),
                request: request(args, address, query, input),
                samples: BTreeMap::new(),
            }),
            Err(error) => {
                stop(&mut child);
                Err(error)
            }
        }
    }

    /// Sends the request. Returns `true` if the response contains a result.
    ///
    /// # Errors
    /// Message of the response, or of a failed connection.
    pub fn send(&mut self) -> Result<bool, String> {
        let failed = |error: std::io::Error| error.to_string();
        let stream = self.connection.get_mut();
        stream.write_all(&self.request).map_err(failed)?;
        let (status, body) = self.response().map_err(failed)?;
        let body: Json = serde_json::from_slice(&body).map_err(|error| error.to_string())?;
        if status != 200 {
            let message = body.get("message").and_then(Json::as_str);
            return Err(message.unwrap_or("the server failed").to_owned());
        }
        let metrics = body.get("metrics").and_then(Json::as_object);
        for (name, value) in metrics.into_iter().flatten() {
            if let Some(number) = value.as_u64() {
                let samples = self.samples.entry(format!("histogram_{name}"));
                samples.or_default().push(number);
            }
        }
        Ok(match body.get("result") {
            Some(Json::Array(results)) => !results.is_empty(),
            Some(Json::Object(result)) if self.is_partial() => result.contains_key("queries"),
            result => result.is_some(),
        })
    }

    fn is_partial(&self) -> bool {
        self.request.starts_with(b"POST /v1/compile")
    }

    /// Returns the distributions of all measured numbers, and forgets these.
    pub fn distributions(&mut self) -> BTreeMap<String, f64> {
        let samples = std::mem::take(&mut self.samples).into_iter();
        // the first request, which fills caches, is not measured
        let measured =
            samples.map(|(name, times)| (name, times.get(1..).unwrap_or_default().to_vec()));
        measured
            .filter(|(_, times)| !times.is_empty())
            .flat_map(|(name, times)| distribution(&name, &times))
            .collect()
    }

    fn response(&mut self) -> std::io::Result<(u16, Vec<u8>)> {
        let mut line = String::new();
        self.connection.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|text| text.parse().ok());
        let status =
            status.ok_or_else(|| std::io::Error::other("the server closed the connection"))?;
        let mut length = 0;
        loop {
            line.clear();
            self.connection.read_line(&mut line)?;
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        let mut body = vec![0; length];
        self.connection.read_exact(&mut body)?;
        Ok((status, body))
    }
}

impl Drop for BenchServer {
    fn drop(&mut self) {
        stop(&mut self.child);
    }
}

fn stop(child: &mut Child) {
    // it may have ended
    let _ = child.kill();
    let _ = child.wait();
}

/// Waits until the server accepts connections, which it does after its policies are loaded.
fn connect(child: &mut Child, address: SocketAddr) -> Result<TcpStream, String> {
    let start = Instant::now();
    loop {
        if let Ok(stream) = TcpStream::connect(address) {
            stream
                .set_nodelay(true)
                .map_err(|error| error.to_string())?;
            return Ok(stream);
        }
        let exit_status = child.try_wait().map_err(|error| error.to_string())?;
        if exit_status.is_some() {
            return Err("the server has ended".to_owned());
        }
        if start.elapsed() > START {
            return Err("the server does not respond".to_owned());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the request that evaluates the query: a document by its path, other queries by their text.
fn request(args: &Args, address: SocketAddr, query: &str, input: Option<&Value>) -> Vec<u8> {
    let mut body = Map::new();
    if let Some(input) = input {
        let mut text = Vec::new();
        document::write(input.borrow(), &mut text);
        body.insert(
            "input".to_owned(),
            serde_json::from_slice(&text).unwrap_or_default(),
        );
    }
    let path = match document_path(query).filter(|_| !args.partial) {
        Some(path) => format!("/v1/data/{path}"),
        None => {
            body.insert("query".to_owned(), query.into());
            if args.partial && !args.unknowns.is_empty() {
                body.insert("unknowns".to_owned(), json!(args.unknowns));
            }
            let api = if args.partial { "compile" } else { "query" };
            format!("/v1/{api}")
        }
    };
    let body = Json::Object(body).to_string();
    let metrics = if args.metrics { "?metrics=true" } else { "" };
    format!(
        "POST {path}{metrics} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Returns the path of a query that is a reference to a document, percent-encoded. Returns `None` for other queries.
fn document_path(query: &str) -> Option<String> {
    let source = Source::new(SourceId(0), "", query);
    let term = parse_term(&source, &ParseOptions::default()).ok()?;
    let TermKind::Ref(terms) = &term.kind else {
        return None;
    };
    let (head, steps) = terms.split_first()?;
    if &**head.as_var()? != "data" {
        return None;
    }
    let encode = |step: &str| {
        percent_encoding::utf8_percent_encode(step, percent_encoding::NON_ALPHANUMERIC).to_string()
    };
    let steps: Option<Vec<String>> = steps
        .iter()
        .map(|step| Some(encode(step.as_string()?)))
        .collect();
    Some(steps?.join("/"))
}

impl Args {
    /// Returns the arguments of `solon run` that have the same effect as these.
    fn server_arguments(&self) -> Vec<String> {
        let mut arguments = self.networks.arguments();
        if let Some(file) = given(self.config_file.as_deref()) {
            arguments.push(format!("--config-file={file}"));
        }
        arguments.extend(
            self.ignore
                .iter()
                .map(|pattern| format!("--ignore={pattern}")),
        );
        if self.v0_compatible {
            arguments.push("--v0-compatible".to_owned());
        }
        arguments.push(format!(
            "--shutdown-grace-period={}",
            self.shutdown_grace_period
        ));
        arguments.push(format!(
            "--shutdown-wait-period={}",
            self.shutdown_wait_period
        ));
        if !self.bundle.is_empty() {
            arguments.push("--bundle".to_owned());
        }
        arguments.push("--".to_owned());
        arguments.extend(self.bundle.iter().chain(&self.data).cloned());
        arguments
    }
}
