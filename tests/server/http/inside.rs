//! Servers within the test process, created by the library.

use solon_server::{Server, ServerBuilder};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A server that runs until it is dropped.
pub struct Inside {
    runtime: Runtime,
    address: String,
    stop: Option<oneshot::Sender<()>>,
    serves: Option<JoinHandle<()>>,
}

impl Inside {
    /// Starts a server on its own port.
    pub fn start(builder: ServerBuilder) -> Self {
        Self::try_start(builder).unwrap()
    }

    /// Starts a server that may fail to start.
    pub fn try_start(builder: ServerBuilder) -> std::io::Result<Self> {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
        let server: Server = builder.address("127.0.0.1:0").build();
        let open = runtime.block_on(server.open())?;
        let address = open.addresses()[0].clone();
        let (stop, stopped) = oneshot::channel();
        let serves = runtime.spawn(open.serve(async { drop(stopped.await) }));
        Ok(Self {
            runtime,
            address,
            stop: Some(stop),
            serves: Some(serves),
        })
    }

    /// Returns the address that it listens on.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Stops the server and waits for its end.
    pub fn end(&mut self) {
        if let (Some(stop), Some(serves)) = (self.stop.take(), self.serves.take()) {
            drop(stop);
            let ended = self.runtime.block_on(serves);
            assert!(ended.is_ok() || std::thread::panicking(), "{ended:?}");
        }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.end();
    }
}
