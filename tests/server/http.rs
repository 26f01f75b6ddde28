//! The server over TCP.
