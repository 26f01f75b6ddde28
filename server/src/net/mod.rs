//! Sockets, TLS, and the hosts that requests may name.

mod hosts;
mod listen;
mod tls;
#[cfg(unix)]
mod unix;

pub use hosts::{AllowedHosts, ForeignName, NamedHost};
pub use listen::{Address, Listener, NewConnection};
pub use tls::{Certificates, TlsState};

/// Maximum number of connections that wait to be accepted; systems lower it to their own maximum.
const QUEUE: u32 = 4096;
