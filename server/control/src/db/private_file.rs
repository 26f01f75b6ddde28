//! Files that only their owner can read.

use std::fs::OpenOptions;

/// Returns options that open a file for writing. On Unix a file that they create has the mode 0600.
///
/// Callers add whether to create the file. An existing file keeps its mode.
pub fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
