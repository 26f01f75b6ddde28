//! A server that sends given bytes, whether they are valid HTTP or not.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A server that answers each connection with the next of some texts; the last one stays.
pub struct Raw {
    pub address: SocketAddr,
    pub connections: Arc<AtomicU32>,
}

impl Raw {
    pub fn start(answers: &[&[u8]]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicU32::new(0));
        let (answers, counter) = (
            answers.iter().map(|a| a.to_vec()).collect::<Vec<_>>(),
            connections.clone(),
        );
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let number = counter.fetch_add(1, Ordering::SeqCst) as usize;
                let answer = answers.get(number).or(answers.last()).unwrap();
                let mut buffer = [0; 4096];
                let _ = stream.read(&mut buffer);
                let _ = stream.write_all(answer);
            }
        });
        Self {
            address,
            connections,
        }
    }
}
