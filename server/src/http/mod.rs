//! HTTP without the API: listeners, connections, and what is alike for the requests of every application.
//!
//! A connection comes by [`listen`], [`tls`] and [`stream`] to [`serve`]; [`connection`] passes each request to the [`App`] and its
//! response back. All connections share one [`budget`]. The types of requests and responses are those of the crate `http`; what the
//! server knows of a request beyond that is an extension ([`RequestInfo`]).

mod body;
mod budget;
mod connection;
mod exec;
mod gzip;
mod hosts;
mod json;
mod listen;
mod params;
mod path;
mod pool;
mod rejection;
mod request;
pub mod response;
mod serve;
mod stream;
mod tls;
mod unix;
mod weight;
mod writer;

pub use body::{BodyLimits, parsed_size, read_body};
pub use budget::{Budget, Held, SMALL, Spent};
pub use connection::{App, Service};
pub use exec::{Executor, Longer, Place};
pub use gzip::{accepts_gzip, compress, decompress};
pub use hosts::{AllowedHosts, NamedHost};
pub use http::{Method, StatusCode as Status, header};
pub use json::{Fields, answer_text, escape_html, indent};
pub use listen::{Address, Listener, Socket};
pub use path::{Cleaned, clean, decode, segments, unescape};
pub use pool::{Pace, Pool, Stopwatch};
pub use rejection::Rejection;
pub use request::{
    IncomingRequest, ParsedBody, Request, RequestExt, RequestInfo, Routed, each_header,
};
pub use response::{Response, ResponseExt};
pub use serve::{Serving, serve};
pub use tls::TlsState;
pub use weight::weight;
