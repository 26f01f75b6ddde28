//! Sockets, TLS, and the hosts that requests may name.

mod hosts;
mod listen;
mod tls;
#[cfg(unix)]
mod unix;

pub use hosts::{AllowedHosts, ForeignName, NamedHost};
pub use listen::{Address, Listener, NewConnection};
pub use tls::{Certificates, TlsState};
