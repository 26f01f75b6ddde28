//! Signals of the system, under the names of `tokio::signal::unix`.

#[cfg(unix)]
pub use tokio::signal::unix::{Signal, SignalKind, signal};

#[cfg(not(unix))]
pub use elsewhere::{Signal, SignalKind, signal};

#[cfg(not(unix))]
mod elsewhere {
    use std::io;

    /// A signal that a server reacts to.
    #[derive(Clone, Copy, Debug)]
    pub struct SignalKind(Kind);

    #[derive(Clone, Copy, Debug)]
    enum Kind {
        Hangup,
        Interrupt,
        Terminate,
    }

    impl SignalKind {
        /// Reload files. This system has no such signal.
        pub fn hangup() -> Self {
            Self(Kind::Hangup)
        }

        /// Ctrl+C.
        pub fn interrupt() -> Self {
            Self(Kind::Interrupt)
        }

        /// End, from the system. Ctrl+C is the one that consoles of every such system send.
        pub fn terminate() -> Self {
            Self(Kind::Terminate)
        }
    }

    /// The occurrences of one kind of signal.
    #[derive(Debug)]
    pub struct Signal(Kind);

    impl Signal {
        /// Waits for the next one.
        pub async fn recv(&mut self) -> Option<()> {
            match self.0 {
                Kind::Interrupt => tokio::signal::ctrl_c().await.ok(),
                Kind::Hangup | Kind::Terminate => std::future::pending().await,
            }
        }
    }

    /// Listens for a kind of signal.
    ///
    /// # Errors
    /// None here; on Unix the system may reject it.
    pub fn signal(kind: SignalKind) -> io::Result<Signal> {
        Ok(Signal(kind.0))
    }
}
