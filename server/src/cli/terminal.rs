//! Standard output and standard error.

use std::io::{self, Write};

/// Writes to standard output. A reader that has gone away is no error: it has what it wanted.
pub fn print(text: impl AsRef<[u8]>) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_ref()).and_then(|()| out.flush());
}

/// Writes to standard error.
pub fn complain(text: impl AsRef<[u8]>) {
    // nobody is left to hear of a failure
    let _ = io::stderr().lock().write_all(text.as_ref());
}
