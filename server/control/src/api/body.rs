//! Bodies of responses: whole, or archives that are read while they are sent.

use bytes::Bytes;
use http::Response;

use crate::error::ApiError;
use crate::storage::ArchiveReader;

/// Body of a response: bytes, or an archive that is read while it is sent.
pub enum Body {
    /// Bytes in memory.
    Whole(Bytes),
    /// An archive, which is read piece by piece.
    Archive(ArchiveReader),
}

impl Default for Body {
    fn default() -> Self {
        Self::Whole(Bytes::new())
    }
}

impl Body {
    /// Returns the length in bytes.
    pub fn len(&self) -> u64 {
        match self {
            Self::Whole(bytes) => bytes.len() as u64,
            Self::Archive(reader) => reader.remaining(),
        }
    }

    /// Returns `true` if the body has no bytes. Reads no archive.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Reads the whole body of a response into memory.
///
/// # Errors
/// The archive was deleted or cannot be read.
pub async fn whole(response: Response<Body>) -> Result<Response<Bytes>, ApiError> {
    let (head, body) = response.into_parts();
    let bytes = match body {
        Body::Whole(bytes) => bytes,
        Body::Archive(mut reader) => {
            let mut bytes = Vec::new();
            while let Some(piece) = reader.next().await? {
                bytes.extend_from_slice(&piece);
            }
            bytes.into()
        }
    };
    Ok(Response::from_parts(head, bytes))
}
