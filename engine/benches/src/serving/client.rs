//! Clients that keep connections busy: each sends a request, reads the response, and sends the next request.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::percentile;

/// Request path and body.
pub type Ask = (&'static str, &'static str);

/// Results of a load: number and duration of each request with status 200.
#[derive(Default)]
pub struct Load {
    took: Vec<(usize, Duration)>,
    /// Requests with another status.
    rejected: usize,
    /// Requests without a response in time.
    unanswered: usize,
}

/// Requests of a load.
struct Requests<'w> {
    /// Returns the request for a request number.
    what: &'w (dyn Fn(usize) -> Ask + Sync),
    /// Time after which a request without a response is abandoned.
    patience: Duration,
    /// Pause after each response.
    pause: Duration,
}

/// Time after which a request without a response is abandoned.
const PATIENCE: Duration = Duration::from_mins(2);

impl Load {
    /// Keeps connections busy for a duration. `what` returns the request for a request number.
    pub fn run(
        address: &str,
        connections: usize,
        time: Duration,
        what: &(dyn Fn(usize) -> Ask + Sync),
    ) -> Result<Self, String> {
        let end = Instant::now() + time;
        Self::until(address, connections, what, PATIENCE, move |_| {
            Instant::now() < end
        })
    }

    /// Sends a request on each connection for a duration, with a pause after each response.
    pub fn run_spaced(
        address: &str,
        connections: usize,
        time: Duration,
        pause: Duration,
        ask: Ask,
    ) -> Result<Self, String> {
        let end = Instant::now() + time;
        let requests = Requests {
            what: &|_| ask,
            patience: PATIENCE,
            pause,
        };
        Self::until_with(address, connections, &requests, move |_| {
            Instant::now() < end
        })
    }

    /// Keeps connections busy with one request until `is_over` is set.
    pub fn run_until(
        address: &str,
        connections: usize,
        ask: Ask,
        is_over: &Arc<AtomicBool>,
    ) -> Result<Self, String> {
        let is_over = is_over.clone();
        Self::until(address, connections, &|_| ask, PATIENCE, move |_| {
            !is_over.load(Ordering::Relaxed)
        })
    }

    /// Sends one request on each of `connections` connections.
    pub fn once(address: &str, connections: usize, ask: Ask) -> Result<Self, String> {
        Self::once_within(address, connections, ask, PATIENCE)
    }

    /// Sends one request on each of `connections` connections. Requests without a response after `patience` count as unanswered.
    pub fn once_within(
        address: &str,
        connections: usize,
        ask: Ask,
        patience: Duration,
    ) -> Result<Self, String> {
        Self::until(address, connections, &|_| ask, patience, |turn| turn == 0)
    }

    fn until(
        address: &str,
        connections: usize,
        what: &(dyn Fn(usize) -> Ask + Sync),
        patience: Duration,
        goes_on: impl Fn(usize) -> bool + Clone + Send + 'static,
    ) -> Result<Self, String> {
        let requests = Requests {
            what,
            patience,
            pause: Duration::ZERO,
        };
        Self::until_with(address, connections, &requests, goes_on)
    }

    fn until_with(
        address: &str,
        connections: usize,
        requests: &Requests<'_>,
        goes_on: impl Fn(usize) -> bool + Clone + Send + 'static,
    ) -> Result<Self, String> {
        let (patience, pause) = (requests.patience, requests.pause);
        let what = requests.what;
        // requests are built beforehand; they repeat after a hundred
        let requests: Arc<Vec<Vec<u8>>> = Arc::new((0..100).map(|at| bytes(what(at))).collect());
        let next = Arc::new(AtomicUsize::new(0));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        runtime.block_on(async {
            let tasks: Vec<_> = (0..connections)
                .map(|_| {
                    let (requests, next, goes_on) =
                        (requests.clone(), next.clone(), goes_on.clone());
                    let address = address.to_owned();
                    tokio::spawn(async move {
                        let mut stream = TcpStream::connect(&address).await?;
                        stream.set_nodelay(true)?;
                        let (mut load, mut turn) = (Self::default(), 0);
                        let mut buffer = Vec::with_capacity(4096);
                        while goes_on(turn) {
                            let at = next.fetch_add(1, Ordering::Relaxed);
                            let request = requests.get(at % 100).map(Vec::as_slice);
                            let start = Instant::now();
                            stream.write_all(request.unwrap_or_default()).await?;
                            let answered = answer(&mut stream, &mut buffer);
                            let Ok(status) = tokio::time::timeout(patience, answered).await else {
                                load.unanswered += 1;
                                break;
                            };
                            if status? == 200 {
                                load.took.push((at, start.elapsed()));
                            } else {
                                load.rejected += 1;
                            }
                            turn += 1;
                            if !pause.is_zero() {
                                tokio::time::sleep(pause).await;
                            }
                        }
                        Ok::<_, std::io::Error>(load)
                    })
                })
                .collect();
            let mut all = Self::default();
            for task in tasks {
                let load = task.await.map_err(|error| error.to_string())?;
                let load = load.map_err(|error| error.to_string())?;
                all.took.extend(load.took);
                all.rejected += load.rejected;
                all.unanswered += load.unanswered;
            }
            Ok(all)
        })
    }

    /// Returns the number of requests with status 200.
    pub fn answered(&self) -> usize {
        self.took.len()
    }

    /// Returns the number of requests with another status or without a response.
    pub fn failed(&self) -> usize {
        self.rejected + self.unanswered
    }

    /// Returns the percentile `part` of the latencies, in milliseconds.
    pub fn percentile(&self, part: f64) -> f64 {
        self.percentile_of(part, |_| true)
    }

    /// Returns the percentile `part` of the latencies of requests whose number satisfies `counts`, in milliseconds.
    pub fn percentile_of(&self, part: f64, counts: impl Fn(usize) -> bool) -> f64 {
        let some = self.took.iter().filter(|(at, _)| counts(*at));
        percentile(some.map(|(_, took)| *took).collect(), part)
    }
}

fn bytes((path, body): Ask) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    head.into_bytes()
}

/// Reads a response with a `Content-Length` and returns its status.
async fn answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> std::io::Result<u16> {
    buffer.clear();
    loop {
        if stream.read_buf(buffer).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let text = String::from_utf8_lossy(buffer);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            let is_length = name.eq_ignore_ascii_case("content-length");
            is_length.then(|| value.parse::<usize>().ok()).flatten()
        });
        if body.len() >= length.unwrap_or_default() {
            let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
            return status.ok_or_else(|| std::io::ErrorKind::InvalidData.into());
        }
    }
}

/// Returns the duration of one request on a new connection.
pub fn ask(address: &str, ask: Ask) -> Result<Duration, String> {
    let load = Load::once(address, 1, ask)?;
    Ok(Duration::from_secs_f64(load.percentile(1.0) / 1e3))
}

/// Opens connections that send one request each and then stay idle.
pub fn idle(address: &str, count: usize) -> Result<Vec<std::net::TcpStream>, String> {
    use std::io::{Read as _, Write as _};
    let mut open = Vec::new();
    for _ in 0..count {
        let Ok(mut stream) = std::net::TcpStream::connect(address) else {
            // the limit of open files of this process
            break;
        };
        let text = |error: std::io::Error| error.to_string();
        stream
            .write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .map_err(text)?;
        let mut answer = [0; 512];
        if stream.read(&mut answer).map_err(text)? == 0 {
            return Err("a connection was closed".to_owned());
        }
        open.push(stream);
    }
    Ok(open)
}
