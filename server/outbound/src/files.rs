//! Small files of credentials and certificates.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::errno;
use crate::error::{Error, ErrorKind};

/// Maximum size, in bytes, of a file of tokens, keys or certificates.
const MAX_BYTES: u64 = 4 << 20;

/// Reads a regular file of a bounded size.
///
/// # Errors
/// The file cannot be read, or it is too large. The message names the file.
pub fn read(path: &Path) -> Result<Vec<u8>, String> {
    let with_path = |problem: &str| format!("{}: {problem}", path.display());
    let of_io = |error: std::io::Error| with_path(&errno::text(&error));
    let metadata = std::fs::metadata(path).map_err(of_io)?;
    if !metadata.is_file() {
        return Err(with_path("not a regular file"));
    }
    let file = std::fs::File::open(path).map_err(of_io)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(of_io)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(with_path(&format!("file is larger than {MAX_BYTES} bytes")));
    }
    Ok(bytes)
}

/// Reads a text from a file, without blank characters around it. The file is read on a thread that may block.
///
/// # Errors
/// The file cannot be read, or it is not UTF-8.
pub async fn read_token(path: PathBuf) -> Result<String, Error> {
    let failed = |text: String| Error::new(ErrorKind::Credentials, text);
    let name = path.display().to_string();
    let bytes = tokio::task::spawn_blocking(move || read(&path))
        .await
        .map_err(|error| failed(format!("{name}: {error}")))?
        .map_err(failed)?;
    let text = String::from_utf8(bytes).map_err(|_| failed(format!("{name}: invalid UTF-8")))?;
    Ok(text.trim().to_owned())
}

/// Returns the version of files: their sizes and times of change. Files that cannot be read have none.
pub fn version(paths: &[PathBuf]) -> Vec<Option<(u64, Option<SystemTime>)>> {
    let of_one = |path: &PathBuf| {
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.len(), metadata.modified().ok()))
    };
    paths.iter().map(of_one).collect()
}
