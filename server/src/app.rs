//! A server from start to stop.

use std::io;
use std::sync::Arc;

use solon::Engine;
use tokio::signal::unix::{SignalKind, signal};
use tracing::info;

use crate::api::{Service, State};
use crate::config::ServerOptions;
use crate::http::{Listener, Serving, serve};

/// Serves an engine until the process is told to stop.
pub fn run(engine: Engine, options: ServerOptions) -> io::Result<()> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(serve_all(engine, options))
}

async fn serve_all(engine: Engine, options: ServerOptions) -> io::Result<()> {
    info!(addrs = options.addresses.join(", "), "Initializing server.");
    let mut listeners = Vec::new();
    for address in &options.addresses {
        let listener = Listener::open(address, options.socket_mode).await;
        listeners.push(
            listener.map_err(|error| {
                io::Error::new(error.kind(), format!("listen {address}: {error}"))
            })?,
        );
    }
    let open: Vec<String> = listeners.iter().map(Listener::address).collect();
    info!(addrs = open.join(", "), "Server initialized.");
    let stop = stopped(options.shutdown_wait)?;
    let serving = Serving {
        h2c: options.h2c,
        grace: options.shutdown_grace,
    };
    let service = Arc::new(Service::new(State::new(engine, options)));
    serve(listeners, service, serving, stop).await;
    info!("Server shutdown.");
    Ok(())
}

/// Is there when the process was told to stop and the wait after that is over.
fn stopped(wait: std::time::Duration) -> io::Result<impl Future<Output = ()>> {
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

#[cfg(test)]
#[path = "../../tests/server/faults.rs"]
mod faults;
