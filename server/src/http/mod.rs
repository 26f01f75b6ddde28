//! HTTP without the API: messages as handlers see them, and the listeners that carry them. Nothing above knows
//! which library reads the bytes.

mod gzip;
mod json;
mod message;
mod params;
mod path;
mod serve;

pub use gzip::{GzipError, accepts_gzip, gunzip, gzip};
pub use json::{Fields, answer_text, escape_html, indent};
pub use message::{Request, Response, Status};
pub use params::Params;
pub use path::{Cleaned, clean, segments};
pub use serve::{App, Listener, Place, Serving, serve};
