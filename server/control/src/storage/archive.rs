//! Reading of stored archives, with one piece in memory at a time.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::sync::Arc;

use bytes::Bytes;

use crate::db::{Database, Mode};
use crate::error::ApiError;
use crate::limits;

/// Reads a range of an archive. No connection to the database is held between two pieces, so slow clients hold none.
pub struct ArchiveReader {
    source: ArchiveSource,
    position: u64,
    end: u64,
}

enum ArchiveSource {
    Pieces { database: Database, artifact: i64 },
    File(Arc<File>),
}

const PIECE: u64 = limits::ARTIFACT_PIECE as u64;

impl ArchiveReader {
    pub(super) fn of_pieces(database: Database, artifact: i64, from: u64, to: u64) -> Self {
        Self {
            source: ArchiveSource::Pieces { database, artifact },
            position: from,
            end: to,
        }
    }

    pub(super) fn of_file(file: File, from: u64, to: u64) -> Self {
        Self {
            source: ArchiveSource::File(Arc::new(file)),
            position: from,
            end: to,
        }
    }

    /// Returns the number of bytes that were not read yet.
    pub fn remaining(&self) -> u64 {
        self.end.saturating_sub(self.position)
    }

    /// Returns the next bytes, at most one piece, or `None` at the end.
    ///
    /// # Errors
    /// The archive was deleted or cannot be read.
    pub async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        if self.remaining() == 0 {
            return Ok(None);
        }
        let number = self.position / PIECE;
        let first = number * PIECE;
        // pieces of a file begin where the ones of a database do
        let to = self.end.min(first + PIECE);
        let bytes = match &self.source {
            ArchiveSource::Pieces { database, artifact } => {
                let piece = read_piece(database, *artifact, number).await?;
                let offset_in_piece =
                    |position: u64| usize::try_from(position - first).unwrap_or(usize::MAX);
                let (from, to) = (offset_in_piece(self.position), offset_in_piece(to));
                (piece.len() >= to).then(|| piece.slice(from..to))
            }
            ArchiveSource::File(file) => {
                let (file, from) = (file.clone(), self.position);
                let length = usize::try_from(to - from).unwrap_or(usize::MAX);
                let read_task =
                    tokio::task::spawn_blocking(move || read_range(&file, from, length));
                let bytes_read = read_task.await.map_err(|error| archive_error(&error))?;
                Some(bytes_read.map_err(|error| archive_error(&error))?)
            }
        };
        let bytes = bytes.ok_or_else(|| archive_error(&"a piece is too short"))?;
        self.position = to;
        Ok(Some(bytes))
    }
}

fn archive_error(error: &dyn std::fmt::Display) -> ApiError {
    ApiError::internal(format!("an archive cannot be read: {error}"))
}

async fn read_piece(database: &Database, artifact: i64, number: u64) -> Result<Bytes, ApiError> {
    let mut transaction = database.begin(Mode::Read).await?;
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    let piece = transaction.piece(artifact, number).await;
    transaction.roll_back().await;
    let piece = piece?.ok_or_else(|| archive_error(&"it was deleted while it was read"))?;
    Ok(Bytes::from(piece))
}

/// Reads `length` bytes of a file. The reader is the only user of the file's position.
fn read_range(mut file: &File, from: u64, length: usize) -> io::Result<Bytes> {
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = vec![0; length];
    file.read_exact(&mut bytes)?;
    Ok(Bytes::from(bytes))
}
