//! URLs of files: from the text of a `file` URL to a path.

use std::borrow::Cow;
use std::fmt;

use super::{UriPart, decode};

/// The reason why a URL does not name a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileUrlError {
    /// The scheme is not `file`.
    UnsupportedScheme {
        /// The whole URL, for the message.
        url: String,
    },
    /// A percent escape is not valid.
    InvalidEscape {
        /// The path of the URL, for the message.
        path: String,
    },
}

impl fmt::Display for FileUrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnsupportedScheme { url } => write!(f, "unsupported URL scheme: {url}"),
            Self::InvalidEscape { path } => write!(f, "invalid URL escape in {path}"),
        }
    }
}

impl std::error::Error for FileUrlError {}

/// Returns the path that a `file` URL names. A text without `://` is a path already and is returned unchanged.
///
/// The scheme is compared without regard to case. Host, query and fragment are ignored, and percent escapes are decoded, as in OPA.
///
/// ```
/// assert_eq!(solon::bundle::file_path("file:///srv/a%20b.rego").as_deref(), Ok("/srv/a b.rego"));
/// ```
///
/// # Errors
/// The scheme is another one, or an escape is broken.
pub fn file_path(text: &str) -> Result<Cow<'_, str>, FileUrlError> {
    let Some((scheme, rest)) = text.split_once("://") else {
        return Ok(text.into());
    };
    if !scheme.eq_ignore_ascii_case("file") {
        let url = text.to_owned();
        return Err(FileUrlError::UnsupportedScheme { url });
    }
    let path = rest
        .find('/')
        .and_then(|index| rest.get(index..))
        .unwrap_or("");
    let end = path.find(['?', '#']).unwrap_or(path.len());
    let path = path.get(..end).unwrap_or(path);
    match decode(path.as_bytes(), UriPart::Path) {
        Ok(decoded) => Ok(String::from_utf8_lossy(&decoded).into_owned().into()),
        Err(_) => {
            let path = path.to_owned();
            Err(FileUrlError::InvalidEscape { path })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::file_path;

    #[test]
    fn urls_name_files() {
        for (url, expected) in [
            ("a/b c.json", "a/b c.json"),
            ("file:///a/b%20c.json?x#y", "/a/b c.json"),
            ("FILE:///a", "/a"),
            ("file://localhost/a", "/a"),
            ("file://host", ""),
        ] {
            assert_eq!(file_path(url).unwrap(), expected, "{url}");
        }
        for invalid in ["http://a/b", "file:///a%2", "file:///a%zz", "file:///a%+f"] {
            assert!(file_path(invalid).is_err(), "{invalid}");
        }
    }
}
