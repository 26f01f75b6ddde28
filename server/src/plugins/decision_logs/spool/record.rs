//! The format of the files of a spool. All numbers are little-endian.
//!
//! - A segment begins with the 8 bytes `SOLONDL1` and the sequence number of its first event, 8 bytes. A record is the length of the event
//!   in bytes (4), the CRC-32 of the event (4), and the event, a JSON object as UTF-8.
//! - The cursor is the 8 bytes `SOLONDC1`, the sequence number after the last event that was uploaded (8), and the CRC-32 of that number
//!   (4).

/// First bytes of a segment: the format and its version.
const SEGMENT: &[u8; 8] = b"SOLONDL1";
/// First bytes of a cursor.
const CURSOR: &[u8; 8] = b"SOLONDC1";
/// Size of the head of a segment.
pub const HEADER_BYTES: usize = 16;
/// Size of a record without its event.
pub const RECORD_BYTES: usize = 8;

/// The position after the last event that was uploaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// Sequence number of the next event.
    pub next: u64,
}

/// Returns the head of a segment.
pub fn header(first: u64) -> Vec<u8> {
    [SEGMENT.as_slice(), &first.to_le_bytes()].concat()
}

/// Returns the sequence number of the first event of a segment, or `None` if a text is no head of a segment.
pub fn read_header(text: &[u8]) -> Option<u64> {
    let number = text.strip_prefix(SEGMENT)?;
    Some(u64::from_le_bytes(number.try_into().ok()?))
}

/// Appends the record of an event.
pub fn record(event: &[u8], out: &mut Vec<u8>) {
    // an event is shorter than 4 GiB, since its parts are
    let length = u32::try_from(event.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&crc32fast::hash(event).to_le_bytes());
    out.extend_from_slice(event);
}

/// Returns length and checksum of a record.
pub fn read_record(head: [u8; RECORD_BYTES]) -> (usize, u32) {
    // the length is the lower half
    let head = u64::from_le_bytes(head);
    let (length, sum) = (head & u64::from(u32::MAX), head >> 32);
    (
        usize::try_from(length).unwrap_or(usize::MAX),
        u32::try_from(sum).unwrap_or(0),
    )
}

/// Returns the text of a cursor.
pub fn cursor_text(cursor: Cursor) -> Vec<u8> {
    let number = cursor.next.to_le_bytes();
    let sum = crc32fast::hash(&number).to_le_bytes();
    [CURSOR.as_slice(), &number, &sum].concat()
}

/// Reads a cursor, or returns `None` if it is damaged: everything is uploaded again.
pub fn read_cursor(text: &[u8]) -> Option<Cursor> {
    let rest = text.strip_prefix(CURSOR)?;
    let (number, sum) = rest.split_at_checked(8)?;
    let is_valid = crc32fast::hash(number).to_le_bytes() == sum;
    let next = u64::from_le_bytes(number.try_into().ok()?);
    is_valid.then_some(Cursor { next })
}
