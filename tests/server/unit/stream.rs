//! Time-outs of connections, with a paused clock.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

use super::{ConnectionState, PREFACE, TimeoutStream, is_preface};
use crate::config::Bounds;
use crate::http::Budget;

const HEAD: Duration = Duration::from_secs(10);
const IDLE: Duration = Duration::from_secs(100);

fn stream() -> (
    DuplexStream,
    Arc<ConnectionState>,
    TimeoutStream<DuplexStream>,
) {
    let (client, server) = duplex(64);
    let state = Arc::<ConnectionState>::default();
    let bounds = Arc::new(Bounds {
        head_within: HEAD,
        more_within: HEAD,
        idle: IDLE,
        ..Bounds::default()
    });
    let stream = TimeoutStream::new(server, state.clone(), bounds, &Budget::new(1 << 20));
    (client, state, stream)
}

/// Reads until the time-out and returns how long that took.
async fn timed_out(stream: &mut TimeoutStream<DuplexStream>) -> Duration {
    let start = tokio::time::Instant::now();
    let error = stream.read(&mut [0; 16]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    start.elapsed()
}

#[tokio::test(start_paused = true)]
async fn heads_have_less_time_than_idle_connections() {
    let (mut client, _, mut stream) = stream();
    assert!(timed_out(&mut stream).await >= IDLE);
    client.write_all(b"GET").await.unwrap();
    assert_eq!(stream.read(&mut [0; 16]).await.unwrap(), 3);
    let took = timed_out(&mut stream).await;
    assert!(took >= HEAD && took < IDLE, "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn requests_stop_the_clock() {
    let (mut client, state, mut stream) = stream();
    client.write_all(b"GET /").await.unwrap();
    assert_eq!(stream.read(&mut [0; 16]).await.unwrap(), 5);
    let request = state.start_request();
    let mut buffer = [0; 16];
    let open = tokio::time::timeout(10 * IDLE, stream.read(&mut buffer));
    assert!(open.await.is_err());
    drop(request);
    let took = timed_out(&mut stream).await;
    assert!(took >= IDLE && took < 2 * IDLE, "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn clients_must_read() {
    let (_client, _, mut stream) = stream();
    let error = stream.write_all(&[0; 100]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
}

#[test]
fn methods_may_begin_as_http2_does() {
    assert!(is_preface(PREFACE) && is_preface(&PREFACE[..3]));
    assert!(is_preface(&[PREFACE, b"more"].concat()));
    for other in ["P", "PR", "PRI / HTTP/1.1", "PRIX / HTTP/1.1\r\n", "PUT /"] {
        assert!(!is_preface(other.as_bytes()), "{other}");
    }
}
