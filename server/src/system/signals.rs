//! Signals of the system, under the names of `tokio::signal::unix`.

#[cfg(unix)]
pub use tokio::signal::unix::{Signal, SignalKind, signal};

#[cfg(not(unix))]
pub use elsewhere::{Signal, SignalKind, signal};

#[cfg(not(unix))]
mod elsewhere {
    use std::io;

    #[derive(Clone, Copy, Debug)]
    pub struct SignalKind(UnixSignal);

    #[derive(Clone, Copy, Debug)]
    enum UnixSignal {
        Hangup,
        Interrupt,
        Terminate,
    }

    impl SignalKind {
        /// Reload files. This system does not have such a signal.
        pub fn hangup() -> Self {
            Self(UnixSignal::Hangup)
        }

        /// Ctrl+C (SIGINT).
        pub fn interrupt() -> Self {
            Self(UnixSignal::Interrupt)
        }

        /// Termination by the system. It is never received here: consoles send Ctrl+C instead.
        pub fn terminate() -> Self {
            Self(UnixSignal::Terminate)
        }
    }

    /// Stream of occurrences of a signal.
    #[derive(Debug)]
    pub struct Signal(UnixSignal);

    impl Signal {
        /// Waits for the next occurrence.
        pub async fn recv(&mut self) -> Option<()> {
            match self.0 {
                UnixSignal::Interrupt => tokio::signal::ctrl_c().await.ok(),
                UnixSignal::Hangup | UnixSignal::Terminate => std::future::pending().await,
            }
        }
    }

    /// Listens for a kind of signal.
    ///
    /// # Errors
    /// Never fails here; on Unix the system may return an error.
    pub fn signal(kind: SignalKind) -> io::Result<Signal> {
        Ok(Signal(kind.0))
    }
}
