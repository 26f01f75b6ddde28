//! A control plane as a child process, and requests to it.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use http_body_util::{BodyExt as _, Empty};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{AUTHORIZATION, ETAG, HOST};
use hyper_util::rt::TokioIo;
use tokio::runtime::Runtime;

use super::fixture::KEY;
use crate::{serving, usage};

/// Time after which a wait without success is abandoned.
pub const PATIENCE: Duration = Duration::from_mins(15);

/// Number of worker threads of the process.
const THREADS: &str = "2";

/// A running control plane.
pub struct Plane {
    child: Child,
    address: String,
    runtime: Runtime,
}

/// Number of attempts by bundle, with those that found nothing changed.
pub type Attempts = BTreeMap<String, u64>;

/// A response.
pub struct Answer {
    pub status: u16,
    pub tag: Option<String>,
    pub body: Bytes,
}

/// A connection of a client.
pub struct Connection(SendRequest<Empty<Bytes>>);

impl Plane {
    /// Starts a control plane with the configuration of a folder, which also contains its database.
    ///
    /// # Errors
    /// The program does not start.
    pub fn start(folder: &Path) -> Result<Self, String> {
        let text = |error: std::io::Error| error.to_string();
        let probe = TcpListener::bind("127.0.0.1:0").and_then(|probe| probe.local_addr());
        let address = probe.map_err(text)?.to_string();
        let log = folder.join("log");
        let child = Command::new(serving::own_program()?)
            .args(["control", "run", "--config", "config.json"])
            .args(["--data-dir", "data", "--log-level", "error"])
            .args(["--addr", &address])
            .env("TOKIO_WORKER_THREADS", THREADS)
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(File::create(&log).map_err(text)?)
            .spawn()
            .map_err(text)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(text)?;
        let mut plane = Self {
            child,
            address,
            runtime,
        };
        let start = Instant::now();
        while TcpStream::connect(&plane.address).is_err() {
            let has_ended = plane.child.try_wait().map_err(text)?.is_some();
            if has_ended || start.elapsed() > PATIENCE {
                let log = std::fs::read_to_string(&log).unwrap_or_default();
                return Err(format!("the control plane does not start: {log}"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(plane)
    }

    /// Stops the process by a signal, and waits for its end.
    ///
    /// # Errors
    /// The signal cannot be sent.
    pub fn stop(mut self) -> Result<(), String> {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &id]).status();
        sent.and_then(|_| self.child.wait())
            .map_err(|error| error.to_string())?;
        Ok(())
    }

    /// Runs a future of clients.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    /// Returns the address.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the processor time of the process and its children, in seconds.
    pub fn processor_seconds(&self) -> f64 {
        usage::processor_time_with_children(self.child.id()).as_secs_f64()
    }

    /// Returns the resident memory, in megabytes.
    pub fn resident(&self) -> f64 {
        usage::resident(self.child.id())
    }

    /// Returns the peak resident memory, in megabytes.
    pub fn peak(&self) -> f64 {
        usage::peak(self.child.id())
    }

    /// Sends a request on a connection of its own, and returns the body as text.
    ///
    /// # Errors
    /// The response has another status than 200.
    pub fn get(&self, target: &str) -> Result<String, String> {
        let answer = self.block_on(async {
            let mut connection = Connection::open(&self.address).await?;
            connection.get(target, &[]).await
        })?;
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        if answer.status == 200 {
            return Ok(text);
        }
        Err(format!("GET {target}: {} {text}", answer.status))
    }

    /// Returns the number of attempts to build each bundle since the start.
    ///
    /// # Errors
    /// An attempt failed.
    pub fn attempts(&self) -> Result<Attempts, String> {
        let mut attempts = Attempts::new();
        for line in self.get("/metrics")?.lines() {
            let Some(labels) = line.strip_prefix("ocp_bundle_build_count_total{bundle=\"") else {
                continue;
            };
            let (name, rest) = labels.split_once('"').unwrap_or_default();
            if !rest.contains("state=\"SUCCESS\"") {
                return Err(format!(
                    "a bundle was not built: {line}\n{}",
                    self.get(&format!("/v1/bundles/{name}/status"))?
                ));
            }
            let count = rest.rsplit(' ').next().and_then(|count| count.parse().ok());
            attempts.insert(name.to_owned(), count.unwrap_or_default());
        }
        Ok(attempts)
    }

    /// Polls until the attempts satisfy a condition. Returns them.
    ///
    /// # Errors
    /// An attempt failed, or the condition stays false.
    pub fn wait_for_attempts(
        &self,
        what: &str,
        pause: Duration,
        mut is_reached: impl FnMut(&Attempts) -> bool,
    ) -> Result<Attempts, String> {
        let end = Instant::now() + PATIENCE;
        loop {
            let attempts = self.attempts()?;
            if is_reached(&attempts) {
                return Ok(attempts);
            }
            if Instant::now() > end {
                return Err(format!("timed out waiting until {what}"));
            }
            std::thread::sleep(pause);
        }
    }
}

impl Drop for Plane {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// The address cannot be connected to.
    pub async fn open(address: &str) -> Result<Self, String> {
        let stream = tokio::net::TcpStream::connect(address).await;
        let stream = stream.map_err(|error| format!("{address}: {error} (see `ulimit -n`)"))?;
        let (sender, connection) = handshake(TokioIo::new(stream))
            .await
            .map_err(|error| error.to_string())?;
        // requests report the errors of their connection
        tokio::spawn(async move { drop(connection.await) });
        Ok(Self(sender))
    }

    /// Sends a request of the administrator, and reads the whole response.
    ///
    /// # Errors
    /// The connection is closed.
    pub async fn get(&mut self, target: &str, headers: &[(&str, &str)]) -> Result<Answer, String> {
        let text = |error: hyper::Error| format!("GET {target}: {error}");
        let mut request = Request::get(target)
            .header(HOST, "localhost")
            .header(AUTHORIZATION, format!("Bearer {KEY}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request
            .body(Empty::new())
            .map_err(|error| error.to_string())?;
        self.0.ready().await.map_err(text)?;
        let response = self.0.send_request(request).await.map_err(text)?;
        let status = response.status().as_u16();
        let tag = response.headers().get(ETAG);
        let tag = tag.and_then(|tag| tag.to_str().ok()).map(str::to_owned);
        let body = response.into_body().collect().await.map_err(text)?;
        Ok(Answer {
            status,
            tag,
            body: body.to_bytes(),
        })
    }
}
