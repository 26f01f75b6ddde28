//! File format of the spool. All numbers are little-endian.
//!
//! - A segment begins with the 8 bytes `SOLONDL1` and the sequence number of its first event, 8 bytes. A record is the length of the event
//!   in bytes (4), the CRC-32 of the event (4), and the event, a JSON object as UTF-8.
//! - The cursor file consists of the 8 bytes `SOLONDC1`, the sequence number after the last uploaded event (8), and the CRC-32 of
//!   that number (4).

/// First bytes of a segment: format and version.
const SEGMENT: &[u8; 8] = b"SOLONDL1";
/// First bytes of a cursor.
const CURSOR: &[u8; 8] = b"SOLONDC1";
/// Size of the header of a segment, in bytes.
pub const HEADER_BYTES: usize = 16;
/// Size of a record without its event, in bytes.
pub const RECORD_BYTES: usize = 8;

/// Position after the last uploaded event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// Sequence number of the next event.
    pub next: u64,
}

/// Returns the header of a segment: format, and the number of its first event.
pub fn header(first: u64) -> Vec<u8> {
    [SEGMENT.as_slice(), &first.to_le_bytes()].concat()
}

/// Returns the sequence number of the first event of a segment, or `None` if the text is not a segment header.
pub fn read_header(text: &[u8]) -> Option<u64> {
    let number = text.strip_prefix(SEGMENT)?;
    Some(u64::from_le_bytes(number.try_into().ok()?))
}

/// Appends the record of an event: length, CRC-32, and the event itself.
pub fn record(event: &[u8], out: &mut Vec<u8>) {
    // an event is shorter than 4 GiB, because its parts are
    let length = u32::try_from(event.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&crc32fast::hash(event).to_le_bytes());
    out.extend_from_slice(event);
}

/// Returns the length and the checksum of a record.
pub fn read_record(head: [u8; RECORD_BYTES]) -> (usize, u32) {
    // the length is the lower half
    let head = u64::from_le_bytes(head);
    let (length, sum) = (head & u64::from(u32::MAX), head >> 32);
    (
        usize::try_from(length).unwrap_or(usize::MAX),
        u32::try_from(sum).unwrap_or(0),
    )
}

/// Returns the contents of a cursor file.
pub fn cursor_text(cursor: Cursor) -> Vec<u8> {
    let number = cursor.next.to_le_bytes();
    let sum = crc32fast::hash(&number).to_le_bytes();
    [CURSOR.as_slice(), &number, &sum].concat()
}

/// Parses a cursor. Returns `None` if it is damaged; then all events are uploaded again.
pub fn read_cursor(text: &[u8]) -> Option<Cursor> {
    let rest = text.strip_prefix(CURSOR)?;
    let (number, sum) = rest.split_at_checked(8)?;
    let is_valid = crc32fast::hash(number).to_le_bytes() == sum;
    let next = u64::from_le_bytes(number.try_into().ok()?);
    is_valid.then_some(Cursor { next })
}
