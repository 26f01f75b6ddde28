//! Archives: gzip-compressed tar, read and written.
//!
//! Reading writes nothing, so no path can escape. Paths that leave the bundle are rejected anyway: they would be names of policies
//! and documents.

use std::collections::HashSet;
use std::io::{self, BufReader, Read};

use flate2::bufread::GzDecoder;
use flate2::{Compression, GzBuilder};
use tar::{Archive, Builder, EntryType, Header};

use super::BundleFile;
use super::archive_path::check_path;
use crate::limits::{BUNDLE_HEADER_BYTES, BUNDLE_PADDING, BUNDLE_RATIO_FROM, BundleLimits};

/// Returns the files of an archive in its order, decompressed in memory.
///
/// # Errors
/// The gzip stream or an entry is not valid, two entries have the same path, a path is not accepted by [`check_path`], or the archive
/// exceeds `limits`. Reading stops at the first error.
pub fn read(archive: &[u8], limits: &BundleLimits) -> Result<Vec<BundleFile>, String> {
    let mut input = Decompressed::new(archive, *limits)?;
    let mut files = Vec::new();
    let mut names = HashSet::new();
    let mut archived = Archive::new(&mut input);
    let entries = archived.entries().map_err(|error| archive_error(&error))?;
    // Raw entries: the library would read extended headers of any size.
    let mut extended = Extended::default();
    for (entry_count, entry) in entries.raw(true).enumerate() {
        let mut entry = entry.map_err(|error| archive_error(&error))?;
        if entry_count >= limits.entries {
            return Err(failed(format!("more than {} entries", limits.entries)));
        }
        let size = entry
            .header()
            .entry_size()
            .map_err(|error| archive_error(&error))?;
        match entry.header().entry_type() {
            kind @ (EntryType::XHeader | EntryType::GNULongName) => {
                let mut text = Vec::new();
                if size > BUNDLE_HEADER_BYTES {
                    return Err(failed(format!(
                        "an extended header is larger than {BUNDLE_HEADER_BYTES} bytes"
                    )));
                }
                entry
                    .read_to_end(&mut text)
                    .map_err(|error| archive_error(&error))?;
                if !is_complete(text.len(), size) {
                    return Err(failed(TRUNCATED));
                }
                extended.add(kind, &text)?;
                continue;
            }
            // Comments of programs like git; records of the next entries would be overridden by those of each.
            EntryType::XGlobalHeader => continue,
            _ => {}
        }
        let header_path = entry.path_bytes().into_owned();
        let path = extended.path.take().unwrap_or(header_path);
        let path = std::str::from_utf8(&path).map_err(|_| {
            failed(format!(
                "the path `{}` is not valid UTF-8",
                String::from_utf8_lossy(&path)
            ))
        })?;
        let kind = entry.header().entry_type();
        if kind == EntryType::Directory {
            // Its contents have entries of their own.
            check_path(path, limits).map_err(failed)?;
            continue;
        }
        if !matches!(kind, EntryType::Regular | EntryType::Continuous) {
            return Err(failed(format!(
                "`{path}` is {}; only files and folders are allowed",
                kind_name(kind)
            )));
        }
        let path = check_path(path, limits).map_err(failed)?;
        if size > limits.file_bytes {
            return Err(failed(format!(
                "bundle file {path} size ({size} bytes) exceeds configured size_limit_bytes ({} bytes)",
                limits.file_bytes
            )));
        }
        if !names.insert(path.trim_start_matches('/').to_owned()) {
            return Err(failed(format!("duplicate entry `{path}`")));
        }
        let mut bytes = Vec::new();
        let result = entry.read_to_end(&mut bytes);
        result.map_err(|error| entry_error(&path, &reason(&error)))?;
        if !is_complete(bytes.len(), size) {
            return Err(entry_error(&path, TRUNCATED));
        }
        bytes.shrink_to_fit();
        files.push(BundleFile { path, bytes });
    }
    if extended.path.is_some() {
        return Err(failed(TRUNCATED));
    }
    input.finish()?;
    Ok(files)
}

/// Returns an archive with the files in their order. Equal files give equal bytes on each machine.
///
/// # Errors
/// A path or a size that does not fit a header.
pub fn write(files: &[BundleFile]) -> Result<Vec<u8>, String> {
    let entry_error_text = |path: &str, error: &io::Error| format!("{path}: {error}");
    let gzip = GzBuilder::new()
        .mtime(0)
        .operating_system(255)
        .write(Vec::new(), Compression::default());
    let mut archive = Builder::new(gzip);
    archive.mode(tar::HeaderMode::Deterministic);
    for file in files {
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_size(u64::try_from(file.bytes.len()).unwrap_or(u64::MAX));
        header.set_mode(0o600);
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        let name = file.path.as_bytes();
        let records = set_name(&mut header, name);
        if let Some(records) = records {
            let mut extended = Header::new_ustar();
            extended.set_entry_type(EntryType::XHeader);
            extended.set_size(u64::try_from(records.len()).unwrap_or(u64::MAX));
            set_name(&mut extended, b"PaxHeaders.0/file");
            extended.set_cksum();
            archive
                .append(&extended, records.as_slice())
                .map_err(|error| entry_error_text(&file.path, &error))?;
        }
        header.set_cksum();
        archive
            .append(&header, file.bytes.as_slice())
            .map_err(|error| entry_error_text(&file.path, &error))?;
    }
    let gzip = archive.into_inner().map_err(|error| error.to_string())?;
    gzip.finish().map_err(|error| error.to_string())
}

/// Writes a name with its leading slash, which the library would reject. Returns the records of an extended header if the name
/// does not fit.
fn set_name(header: &mut Header, name: &[u8]) -> Option<Vec<u8>> {
    let field = &mut header.as_old_mut().name;
    let length = name.len().min(field.len());
    if let (Some(field), Some(start)) = (field.get_mut(..length), name.get(..length)) {
        field.copy_from_slice(start);
    }
    if length == name.len() && name.is_ascii() {
        return None;
    }
    // `LENGTH path=NAME\n`, where the length counts itself.
    let rest = name.len() + " path=\n".len();
    let mut total = rest + rest.to_string().len();
    total = rest + total.to_string().len();
    let mut record = format!("{total} path=").into_bytes();
    record.extend_from_slice(name);
    record.push(b'\n');
    Some(record)
}

/// Extended headers before an entry.
#[derive(Default)]
struct Extended {
    path: Option<Vec<u8>>,
}

impl Extended {
    fn add(&mut self, kind: EntryType, text: &[u8]) -> Result<(), String> {
        if kind == EntryType::GNULongName {
            let end = text.iter().position(|byte| *byte == 0);
            let name = end.and_then(|end| text.get(..end)).unwrap_or(text);
            return self.set_path(name);
        }
        for record in tar::PaxExtensions::new(text) {
            let record = record.map_err(|error| archive_error(&error))?;
            let key = record.key_bytes();
            match key {
                b"path" => self.set_path(record.value_bytes())?,
                // They change where an entry ends, what it is, or what it holds.
                b"size" | b"linkpath" => return Err(override_of(key)),
                key if key.starts_with(b"GNU.sparse.") => return Err(override_of(key)),
                _ => {}
            }
        }
        Ok(())
    }

    fn set_path(&mut self, path: &[u8]) -> Result<(), String> {
        match self.path.replace(path.to_vec()) {
            None => Ok(()),
            Some(_) => Err(failed("an entry has two extended paths")),
        }
    }
}

fn override_of(key: &[u8]) -> String {
    let key = String::from_utf8_lossy(key);
    failed(format!("extended header `{key}` is not supported"))
}

fn kind_name(kind: EntryType) -> &'static str {
    match kind {
        EntryType::Link => "a hard link",
        EntryType::Symlink | EntryType::GNULongLink => "a symbolic link",
        EntryType::Char | EntryType::Block => "a device",
        EntryType::Fifo => "a pipe",
        EntryType::GNUSparse => "a sparse file",
        _ => "an entry of an unknown kind",
    }
}

/// Reason for an archive that ends too early.
const TRUNCATED: &str = "unexpected EOF";

/// Returns `false` if the library ended an entry early, because the archive ends.
fn is_complete(length: usize, size: u64) -> bool {
    u64::try_from(length) == Ok(size)
}

/// Returns the error of a file whose contents cannot be read.
fn entry_error(path: &str, reason: &str) -> String {
    failed(format!("failed to copy file {path}: {reason}"))
}

fn failed(reason: impl std::fmt::Display) -> String {
    format!("bundle read failed: {reason}")
}

fn archive_error(error: &io::Error) -> String {
    failed(reason(error))
}

/// Returns the reason of an error in OPA's words.
fn reason(error: &io::Error) -> String {
    // Errors of reading are inside those of the library.
    let inner = error.get_ref().and_then(|inner| inner.source());
    let text = match (error.kind(), inner) {
        (io::ErrorKind::UnexpectedEof, _) => return TRUNCATED.to_owned(),
        (_, Some(inner)) => inner.to_string(),
        _ => error.to_string(),
    };
    match &*text {
        "failed to read entire block" => TRUNCATED.to_owned(),
        "corrupt deflate stream" => "flate: corrupt input".to_owned(),
        _ => text,
    }
}

/// An archive while it is decompressed, within its limits.
struct Decompressed<'a> {
    gzip: GzDecoder<BufReader<Counted<'a>>>,
    limits: BundleLimits,
    read: u64,
}

/// Compressed bytes, of which the number read is known.
struct Counted<'a> {
    rest: &'a [u8],
    length: usize,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.rest.read(buffer)
    }
}

impl<'a> Decompressed<'a> {
    fn new(archive: &'a [u8], limits: BundleLimits) -> Result<Self, String> {
        let header = |reason: &str| Err(failed(format!("archive read failed: {reason}")));
        match archive {
            [] => return header("EOF"),
            [0x1f, 0x8b, 8, ..] => {}
            [_, _, ..] if archive.len() < 10 => return header("unexpected EOF"),
            _ => return header("gzip: invalid header"),
        }
        let input = Counted {
            rest: archive,
            length: archive.len(),
        };
        Ok(Self {
            gzip: GzDecoder::new(BufReader::with_capacity(16 << 10, input)),
            limits,
            read: 0,
        })
    }

    /// Checks that nothing follows the entries but padding, and nothing the compressed stream.
    fn finish(&mut self) -> Result<(), String> {
        let mut padding = 0;
        let mut buffer = vec![0; 16 << 10];
        loop {
            let length = self
                .read(&mut buffer)
                .map_err(|error| archive_error(&error))?;
            let Some(bytes) = buffer.get(..length).filter(|bytes| !bytes.is_empty()) else {
                break;
            };
            padding += u64::try_from(length).unwrap_or(u64::MAX);
            if padding > BUNDLE_PADDING || bytes.iter().any(|byte| *byte != 0) {
                return Err(failed("trailing data after the last entry"));
            }
        }
        let input = self.gzip.get_ref();
        if input.buffer().is_empty() && input.get_ref().rest.is_empty() {
            return Ok(());
        }
        Err(failed("trailing data after the compressed stream"))
    }
}

impl Read for Decompressed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.gzip.read(buffer)?;
        self.read += u64::try_from(length).unwrap_or(u64::MAX);
        if self.read > self.limits.total_bytes {
            let limit = self.limits.total_bytes;
            return Err(io::Error::other(format!(
                "archive is larger than {limit} bytes after decompression"
            )));
        }
        let input = self.gzip.get_ref();
        let input = input.get_ref().length - input.get_ref().rest.len();
        let max_bytes = u64::try_from(input)
            .unwrap_or(u64::MAX)
            .saturating_mul(self.limits.ratio);
        if self.read > BUNDLE_RATIO_FROM && self.read > max_bytes {
            return Err(io::Error::other(format!(
                "archive decompresses to more than {} times its size",
                self.limits.ratio
            )));
        }
        Ok(length)
    }
}
