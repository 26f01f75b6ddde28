//! The end of a server: connections finish what they are answering.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper_util::server::graceful::GracefulConnection;
use tokio::sync::watch::{self, Receiver, Sender};

use super::wakes::ConnectionWaker;

/// Tells all that hear of it to finish.
pub struct Shutdown(Sender<bool>);

/// Hears of the shutdown; as long as it lives, the shutdown waits.
#[derive(Clone)]
pub struct Stopped(Receiver<bool>);

impl Shutdown {
    /// One that is still to come, and who hears of it.
    pub fn new() -> (Self, Stopped) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), Stopped(receiver))
    }

    /// Begins.
    pub fn begin(&self) {
        // where nobody is left, nobody has to hear
        let _ = self.0.send(true);
    }

    /// Waits until nobody hears of it any more, but not for longer than `grace`.
    pub async fn end(self, grace: Duration) {
        let _ = tokio::time::timeout(grace, self.0.closed()).await;
    }
}

impl Stopped {
    /// Waits for the shutdown to begin.
    pub async fn wait(&mut self) {
        // whoever could begin it is gone: that is an end too
        let _ = self.0.wait_for(|stopped| *stopped).await;
    }

    /// Serves a connection to its end; what is open is finished where the shutdown comes first.
    pub fn watch<C: GracefulConnection>(self, connection: C) -> impl Future<Output = C::Output> {
        let mut stopped = self.clone();
        Graceful {
            // many rest, and a task that had room for either kind of connection would take that for each
            connection: Box::pin(connection),
            stopped: self,
            begun: Some(Box::pin(async move { stopped.wait().await })),
            is_waiting: false,
            waker: ConnectionWaker::default(),
        }
    }
}

/// A connection that hears of the shutdown.
struct Graceful<C> {
    connection: Pin<Box<C>>,
    stopped: Stopped,
    /// Until the shutdown has begun.
    begun: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// Whether `begun` wakes this task.
    is_waiting: bool,
    waker: ConnectionWaker,
}

impl<C: GracefulConnection> Graceful<C> {
    /// Whether the shutdown has begun. The task is woken by it after the first look, so that later ones need not wait in line again.
    fn has_begun(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(begun) = &mut self.begun else {
            return false;
        };
        if self.is_waiting && matches!(self.stopped.0.has_changed(), Ok(false)) {
            return false;
        }
        self.is_waiting = true;
        begun.as_mut().poll(cx).is_ready()
    }
}

impl<C: GracefulConnection> Future for Graceful<C> {
    type Output = C::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.has_begun(cx) {
            self.begun = None;
            self.connection.as_mut().graceful_shutdown();
        }
        let Self {
            connection, waker, ..
        } = &mut *self;
        let mut cx = Context::from_waker(waker.of(cx.waker()));
        connection.as_mut().poll(&mut cx)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::Poll;
    use std::time::Duration;

    use hyper::server::conn::http1;
    use hyper::service::service_fn;
    use hyper_util::rt::TokioIo;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::sync::Notify;

    use super::Shutdown;

    /// Ends hangs.
    const LONG: Duration = Duration::from_mins(2);

    /// Sends a text, begins the shutdown, and returns what comes until the end of the connection.
    async fn ended(text: &[u8]) -> String {
        let (shutdown, stopped) = Shutdown::new();
        let (mut client, server) = tokio::io::duplex(1024);
        let (is_open, goes_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (opened, going_on) = (is_open.clone(), goes_on.clone());
        let answer = move |_: hyper::Request<hyper::body::Incoming>| {
            let (is_open, goes_on) = (is_open.clone(), goes_on.clone());
            async move {
                is_open.notify_one();
                goes_on.notified().await;
                Ok::<_, Infallible>(hyper::Response::new("done".to_owned()))
            }
        };
        let connection =
            http1::Builder::new().serve_connection(TokioIo::new(server), service_fn(answer));
        let served = tokio::spawn(stopped.watch(connection));
        client.write_all(text).await.expect("a write");
        if !text.is_empty() {
            tokio::time::timeout(LONG, opened.notified())
                .await
                .expect("the request is read");
        }
        shutdown.begin();
        going_on.notify_one();
        let mut answered = String::new();
        let read = client.read_to_string(&mut answered);
        tokio::time::timeout(LONG, read)
            .await
            .expect("an end")
            .expect("a text");
        served.await.expect("no panic").expect("an orderly end");
        tokio::time::timeout(LONG, shutdown.end(2 * LONG))
            .await
            .expect("nobody is left");
        answered
    }

    #[tokio::test]
    async fn what_is_open_is_finished() {
        let answered = ended(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
        assert!(answered.ends_with("\r\n\r\ndone"), "{answered}");
        assert_eq!(ended(b"").await, "");
    }

    #[tokio::test]
    async fn who_hears_of_it_is_waited_for() {
        let (shutdown, stopped) = Shutdown::new();
        shutdown.begin();
        stopped.clone().wait().await;
        let mut waiting = pin!(shutdown.end(LONG));
        let is_over = std::future::poll_fn(|cx| Poll::Ready(waiting.as_mut().poll(cx).is_ready()));
        assert!(!is_over.await);
        drop(stopped);
        waiting.await;
    }
}
