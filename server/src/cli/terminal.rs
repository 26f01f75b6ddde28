//! Standard output and standard error.

use std::io::{self, Write};

/// Writes to standard output. A closed pipe is not an error, because the reader needs no more output.
pub fn print(text: impl AsRef<[u8]>) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_ref()).and_then(|()| out.flush());
}

/// Writes to standard error.
pub fn complain(text: impl AsRef<[u8]>) {
    // a failure cannot be reported anywhere
    let _ = io::stderr().lock().write_all(text.as_ref());
}
