//! Reading logs as blocks of events.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use indicatif::ProgressBar;
use rusqlite::{Connection, OpenFlags};

use crate::plugins::decision_logs::read_spool;

/// Events of a log, one a line.
pub struct Block {
    pub number: u64,
    pub text: Vec<u8>,
}

/// Size of a block, in bytes. Longer events have blocks of their own.
const BLOCK: usize = 256 << 10;
/// Maximum size of an event, in bytes.
const LONGEST: usize = 512 << 20;

/// First bytes of a SQLite file.
const SQLITE: &[u8] = b"SQLite format 3\0";
/// First bytes of a gzip file.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// Reads logs. `send` returns `false` if no more blocks are needed.
///
/// # Errors
/// Fails if a log cannot be opened or read.
pub fn read_all(
    logs: &[String],
    bar: &ProgressBar,
    send: &mut dyn FnMut(Block) -> bool,
) -> Result<(), String> {
    let size = |log: &String| std::fs::metadata(log).map_or(0, |file| file.len());
    bar.set_length(logs.iter().map(size).sum());
    let mut number = 0;
    let mut blocks = Blocks {
        text: Vec::with_capacity(BLOCK),
        send: &mut |text| {
            number += 1;
            send(Block { number, text })
        },
    };
    for log in logs {
        read(log, bar, &mut blocks).map_err(|error| format!("{log}: {error}"))?;
    }
    Ok(())
}

fn read(log: &str, bar: &ProgressBar, blocks: &mut Blocks<'_>) -> Result<(), String> {
    let failed = |error: io::Error| error.to_string();
    if log == "-" {
        return read_text(&mut BufReader::new(io::stdin().lock()), blocks).map_err(failed);
    }
    let path = Path::new(log);
    if path.is_dir() {
        let mut add = |event: Vec<u8>| {
            bar.inc_length(event.len() as u64);
            bar.inc(event.len() as u64);
            blocks.event(&event)
        };
        read_spool(path, &mut add).map_err(failed)?;
        blocks.flush();
        return Ok(());
    }
    let file = File::open(path).map_err(failed)?;
    let mut file = BufReader::with_capacity(BLOCK, bar.wrap_read(file));
    let start = file.fill_buf().map_err(failed)?;
    if start.starts_with(SQLITE) {
        return read_sqlite(path, bar, blocks);
    }
    if start.starts_with(GZIP) {
        let mut text = BufReader::with_capacity(BLOCK, MultiGzDecoder::new(file));
        return read_text(&mut text, blocks).map_err(failed);
    }
    read_text(&mut file, blocks).map_err(failed)
}

fn read_sqlite(path: &Path, bar: &ProgressBar, blocks: &mut Blocks<'_>) -> Result<(), String> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut read_rows = || -> rusqlite::Result<()> {
        let connection = Connection::open_with_flags(path, flags)?;
        let mut statement = connection.prepare("SELECT event FROM decisions ORDER BY id")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let event = row.get_ref(0)?.as_bytes()?;
            bar.inc(event.len() as u64);
            if !blocks.event(event) {
                break;
            }
        }
        Ok(())
    };
    read_rows().map_err(|error| error.to_string())?;
    blocks.flush();
    Ok(())
}

/// Collects events into blocks.
struct Blocks<'s> {
    text: Vec<u8>,
    send: &'s mut dyn FnMut(Vec<u8>) -> bool,
}

impl Blocks<'_> {
    /// Adds an event that may have several lines. Line breaks are not part of JSON strings. Returns `false` if no more are needed.
    fn event(&mut self, event: &[u8]) -> bool {
        let line = |byte: &u8| if *byte == b'\n' { b' ' } else { *byte };
        self.text.extend(event.iter().map(line));
        self.end_event()
    }

    fn end_event(&mut self) -> bool {
        self.text.push(b'\n');
        self.text.len() < BLOCK || self.send()
    }

    fn send(&mut self) -> bool {
        let text = std::mem::replace(&mut self.text, Vec::with_capacity(BLOCK));
        (self.send)(text)
    }

    /// Sends the last block of a log.
    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.send();
        }
    }
}

/// Reads events as lines, or as JSON arrays and objects that may have several lines.
fn read_text(from: &mut dyn BufRead, blocks: &mut Blocks<'_>) -> io::Result<()> {
    let mut first = Vec::new();
    while first.trim_ascii().is_empty() {
        first.clear();
        if from.take(LONGEST as u64).read_until(b'\n', &mut first)? == 0 {
            return Ok(());
        }
    }
    let text = first.trim_ascii();
    let is_lines = match text.first() {
        Some(b'[') => false,
        Some(b'{') => serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok(),
        _ => true,
    };
    if is_lines {
        blocks.text.extend_from_slice(&first);
        read_lines(from, blocks)
    } else {
        read_objects(&mut first.as_slice().chain(from), blocks)
    }
}

fn read_lines(from: &mut dyn BufRead, blocks: &mut Blocks<'_>) -> io::Result<()> {
    loop {
        let buffer = from.fill_buf()?;
        let (length, is_last) = (buffer.len(), buffer.is_empty());
        // the block ends with a complete line
        let end = memchr::memrchr(b'\n', buffer).map(|end_of_line| end_of_line + 1);
        let (lines, rest) = buffer
            .split_at_checked(end.unwrap_or(0))
            .unwrap_or_default();
        blocks.text.extend_from_slice(lines);
        let is_full = end.is_some() && blocks.text.len() >= BLOCK / 2;
        if is_full && !blocks.send() {
            return Ok(());
        }
        blocks.text.extend_from_slice(rest);
        from.consume(length);
        if is_last {
            blocks.flush();
            return Ok(());
        }
        if blocks.text.len() > LONGEST {
            return Err(io::Error::other("a line is too long"));
        }
    }
}

/// Reads the objects of a sequence of JSON arrays and objects.
fn read_objects(from: &mut dyn BufRead, blocks: &mut Blocks<'_>) -> io::Result<()> {
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    let mut in_array = false;
    let mut start = blocks.text.len();
    loop {
        let buffer = from.fill_buf()?;
        let length = buffer.len();
        if length == 0 {
            break;
        }
        for byte in buffer {
            if depth == 0 {
                match byte {
                    b'{' => start = blocks.text.len(),
                    b'[' | b']' => {
                        in_array = *byte == b'[';
                        continue;
                    }
                    b',' => continue,
                    byte if byte.is_ascii_whitespace() => continue,
                    _ => return Err(io::Error::other("expected a JSON array of events")),
                }
            }
            blocks.text.push(if *byte == b'\n' { b' ' } else { *byte });
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' if in_string => is_escaped = true,
                b'"' => in_string = !in_string,
                b'{' if !in_string => depth += 1,
                b'}' if !in_string => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 && !blocks.end_event() {
                        return Ok(());
                    }
                }
                _ => {}
            }
        }
        from.consume(length);
        if depth > 0 && blocks.text.len() - start > LONGEST {
            return Err(io::Error::other("an event is too long"));
        }
    }
    blocks.flush();
    if depth > 0 || in_array {
        return Err(io::Error::other("the log ends within an array or an event"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::{BLOCK, Blocks, read_text};

    /// Returns the lines of all blocks that a text is read to, with buffers of each size.
    fn lines(text: &str) -> Vec<String> {
        let with = |size: usize| {
            let mut all = Vec::new();
            let mut blocks = Blocks {
                text: Vec::new(),
                send: &mut |text| {
                    all.push(String::from_utf8(text).unwrap());
                    true
                },
            };
            let mut from = BufReader::with_capacity(size, text.as_bytes());
            let result = read_text(&mut from, &mut blocks);
            let mut lines: Vec<String> = all.concat().lines().map(str::to_owned).collect();
            lines.extend(result.err().map(|error| error.to_string()));
            lines
        };
        let first = with(1);
        for size in [2, 3, 7, BLOCK] {
            assert_eq!(first, with(size), "buffers of {size}");
        }
        first
    }

    #[test]
    fn lines_arrays_and_objects() {
        let lines_of = [r#"{"a":"}"}"#, r#"{"b":1}"#];
        for text in [
            "{\"a\":\"}\"}\n{\"b\":1}",
            "{\"a\":\"}\"}\n{\"b\":1}\n",
            "[{\"a\":\"}\"},{\"b\":1}]",
            "[{\"a\":\"}\"}]\n[{\"b\":1}]",
            "[{\"a\":\"}\"}][{\"b\":1}]\n",
        ] {
            assert_eq!(lines(text), lines_of, "{text}");
        }
        assert_eq!(
            lines("{\n\"a\":\n1}\n{\"b\":\"\\\"{\"}"),
            ["{ \"a\": 1}", r#"{"b":"\"{"}"#]
        );
        assert_eq!(lines("x\n{\"b\":1}\n"), ["x", "{\"b\":1}"]);
        assert_eq!(
            lines("[{\"b\":1},{\"c\""),
            [
                "{\"b\":1}",
                "{\"c\"",
                "the log ends within an array or an event"
            ]
        );
        assert_eq!(
            lines("[{\"b\":1}"),
            ["{\"b\":1}", "the log ends within an array or an event"]
        );
        assert_eq!(lines("[1]"), ["expected a JSON array of events"]);
        assert_eq!(lines(""), [""; 0]);
    }
}
