//! HTTP without the API: messages as handlers see them, and the listeners that carry them. Nothing above knows
//! which library reads the bytes.
//!
//! A request comes by [`listen`] and [`stream`] to [`serve`], is classified by its head, read and answered in
//! [`connection`], on a reactor, in the [`pool`] or by the [`writer`]; all connections share one [`budget`].

mod admission;
mod body;
mod budget;
mod connection;
mod declared;
mod gzip;
mod hosts;
mod json;
mod listen;
mod message;
mod params;
mod path;
mod pool;
mod serve;
mod stream;
mod tls;
mod unix;
mod weight;
mod writer;

pub use admission::{Admission, BodyLimits};
pub use budget::{Budget, Held, Spent};
pub use connection::{App, Longer, Peer, Refusal, Service};
pub use hosts::{AllowedHosts, NamedHost};
pub use json::{Fields, answer_text, escape_html, indent};
pub use listen::{Address, Listener, Socket};
pub use message::{Head, Message, Method, Place, Request, Response, Status, header};
pub use params::Params;
pub use path::{Cleaned, clean, decode, segments, unescape};
pub use pool::{Pace, Pool, Stopwatch};
pub use serve::{Serving, serve};
pub use tls::TlsState;
pub use weight::weight;
