//! What the server was told on its command line.

mod options;
mod spelling;

pub use options::{BODY_LIMIT, ServerOptions};
pub use spelling::Spelling;
