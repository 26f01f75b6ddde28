//! Requests that stay open: their response is not read, and dropping one closes its connection.

use std::io::Write as _;
use std::net::TcpStream;

/// A connection on which one request was sent.
pub struct Unread(TcpStream);

impl Unread {
    /// Sends a request without a body.
    pub fn get(address: &str, target: &str) -> Self {
        Self::send(
            address,
            format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        )
    }

    /// Sends bytes, which may be part of a request.
    pub fn send(address: &str, bytes: impl AsRef<[u8]>) -> Self {
        let mut stream = TcpStream::connect(address).expect("the server listens");
        stream.write_all(bytes.as_ref()).unwrap();
        Self(stream)
    }

    /// Returns `true` if no byte of a response has come so far.
    pub fn is_unanswered(&self) -> bool {
        self.0.set_nonblocking(true).unwrap();
        let error = self.0.peek(&mut [0]).err();
        error.is_some_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
    }

    /// Returns the bytes of the response that have arrived so far.
    pub fn response(&self) -> String {
        let mut bytes = [0; 4096];
        self.0.set_nonblocking(true).unwrap();
        let read = self.0.peek(&mut bytes).unwrap_or(0);
        String::from_utf8_lossy(&bytes[..read]).into_owned()
    }
}
