//! Reactions of a server to signals.

use std::future::Future;
use std::io;
use std::time::Duration;

use tracing::info;

use crate::system::signals::{Signal, SignalKind, signal};

/// Action on SIGHUP.
pub type Hangup = Box<dyn Fn() + Send>;

/// Prevents a SIGHUP from ending the process, even without a runtime that handles it. The signal has no effect until a server runs.
///
/// # Errors
/// Fails if the handler cannot be installed.
pub fn survive_hangup() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    // the handler belongs to the process, and remains after the runtime is dropped
    runtime.block_on(async { signal(SignalKind::hangup()).map(drop) })
}

/// Calls the actions for each SIGHUP. Certificates are reloaded elsewhere.
pub async fn reload_on(mut hangup: Signal, actions: Vec<Hangup>, has_certificates: bool) {
    while hangup.recv().await.is_some() {
        if actions.is_empty() && !has_certificates {
            info!(
                "Received SIGHUP, and there is nothing to reload: see --watch, --watch-config and --tls-cert-file."
            );
        }
        for act in &actions {
            act();
        }
    }
}

/// Completes after a stop signal and the wait that follows it.
pub fn stopped(wait: Duration) -> io::Result<impl Future<Output = ()>> {
    let (mut interrupt, mut terminate) = (
        signal(SignalKind::interrupt())?,
        signal(SignalKind::terminate())?,
    );
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        info!("Shutting down.");
        tokio::time::sleep(wait).await;
    })
}
