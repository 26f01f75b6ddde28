//! HTTP layer without the APIs: connections, and the processing of requests that is common to all applications.
//!
//! [`serve`] and [`stream`] accept connections. [`connection`] passes each request to the [`App`] and sends its response. All
//! connections share one [`budget`]. The types of requests and responses are those of the crate `http`. Additional data of a
//! request is in an extension ([`RequestInfo`]).

mod body;
mod budget;
mod connection;
mod gzip;
mod params;
mod path;
mod rejection;
mod request;
pub mod response;
mod serve;
mod spans;
mod stream;
mod streamed;
mod weight;

pub use body::{BodyLimits, parsed_size, read_body};
pub use budget::{Budget, BudgetExceeded, Reservation, SMALL};
pub use connection::{App, ConnectionService};
pub use gzip::{accepts_gzip, compress, decompress};
pub use http::{Method, StatusCode as Status, header};
pub use hyper::body::Body as HttpBody;
pub use path::{Cleaned, clean, decode, segments, unescape};
pub use rejection::Rejection;
pub use request::{BufferedRequest, IncomingRequest, ParsedBody, Peer, RequestExt, RequestInfo};
pub use response::{Response, ResponseExt};
pub use serve::{Serving, serve};
pub use spans::span_facts;
pub use streamed::StreamedBody;
pub use weight::weight;
