//! Reading events after the cursor.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::PathBuf;

use super::record::{Cursor, HEADER_BYTES, RECORD_BYTES, read_header, read_record};

#[derive(Clone, Debug)]
pub struct Segment {
    pub path: PathBuf,
    /// Sequence number of its first event.
    pub first: u64,
    /// Size of its valid part, in bytes.
    pub bytes: u64,
    /// Number of its events.
    pub records: u64,
}

impl Segment {
    /// Reads a segment to find its valid part: all records before the first that is incomplete, or whose checksum is wrong.
    pub fn scan(path: PathBuf, first: u64) -> io::Result<Self> {
        let mut segment = Self {
            path,
            first,
            bytes: HEADER_BYTES as u64,
            records: 0,
        };
        let mut records = Records::open(&segment)?;
        while let Some(event) = records.next()? {
            segment.bytes += (event.len() + RECORD_BYTES) as u64;
            segment.records += 1;
        }
        Ok(segment)
    }

    /// Returns the sequence number after its last event.
    pub fn end(&self) -> u64 {
        self.first + self.records
    }
}

/// Events of a segment in order.
struct Records {
    /// `None` if the file is not a segment.
    file: Option<BufReader<File>>,
    /// Last known size of the file. The last segment grows.
    size: u64,
    /// Size of the part that was read.
    position: u64,
}

impl Records {
    fn open(segment: &Segment) -> io::Result<Self> {
        let file = File::open(&segment.path)?;
        let size = file.metadata()?.len();
        let mut file = BufReader::new(file);
        let mut head = [0; HEADER_BYTES];
        let is_segment =
            is_read(&mut file, &mut head)? && read_header(&head) == Some(segment.first);
        Ok(Self {
            file: is_segment.then_some(file),
            size,
            position: HEADER_BYTES as u64,
        })
    }

    /// Returns the next event, or `None` if no valid event follows.
    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some(file) = &mut self.file else {
            return Ok(None);
        };
        let mut head = [0; RECORD_BYTES];
        if !is_read(file, &mut head)? {
            return Ok(None);
        }
        let (length, sum) = read_record(head);
        let end = self.position + (RECORD_BYTES + length) as u64;
        if end > self.size {
            self.size = file.get_ref().metadata()?.len();
        }
        // a damaged length must not cause a large allocation
        if end > self.size {
            return Ok(None);
        }
        let mut event = vec![0; length];
        if !is_read(file, &mut event)? || crc32fast::hash(&event) != sum {
            return Ok(None);
        }
        self.position = end;
        Ok(Some(event))
    }
}

/// Calls a function with each valid event of a segment, until it returns `false`. Returns its last result.
pub fn read_segment(
    path: PathBuf,
    first: u64,
    each: &mut dyn FnMut(Vec<u8>) -> bool,
) -> io::Result<bool> {
    let segment = Segment {
        path,
        first,
        bytes: 0,
        records: 0,
    };
    let mut records = Records::open(&segment)?;
    while let Some(event) = records.next()? {
        if !each(event) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Fills a buffer. Returns `false` if the file is too short.
fn is_read(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// Reads events in order.
pub struct Reader {
    cursor: Cursor,
    /// Open segment: its first sequence number, that of its next event, and its records.
    open: Option<(u64, u64, Records)>,
}

impl Reader {
    pub fn new(cursor: Cursor) -> Self {
        Self { cursor, open: None }
    }

    /// Returns the position after the last uploaded event.
    pub fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// Moves the cursor. Events before it are not read again.
    pub fn move_to(&mut self, cursor: Cursor) {
        self.cursor = cursor;
    }

    /// Reads events from the cursor on, up to a size. The cursor does not change. The second result is the position after the
    /// events.
    pub fn read(
        &mut self,
        segments: &[Segment],
        bytes: usize,
    ) -> io::Result<(Vec<Vec<u8>>, Cursor)> {
        let (mut events, mut size, mut next) = (Vec::new(), 0, self.cursor.next);
        for segment in segments {
            // numbers before a segment belong to lost events
            next = next.max(segment.first);
            if segment.end() <= next {
                continue;
            }
            let (mut position, mut records) = match self.open.take() {
                Some((first, open_position, records))
                    if first == segment.first && open_position == next =>
                {
                    (open_position, records)
                }
                _ => (segment.first, Records::open(segment)?),
            };
            while position < segment.end() && size < bytes {
                // only the written part is read
                let Some(event) = records.next()? else {
                    return Err(io::Error::other(format!(
                        "{}: a record is damaged",
                        segment.path.display()
                    )));
                };
                if position >= next {
                    size += event.len();
                    events.push(event);
                }
                position += 1;
            }
            next = position;
            if size >= bytes {
                self.open = Some((segment.first, position, records));
                break;
            }
        }
        Ok((events, Cursor { next }))
    }
}
