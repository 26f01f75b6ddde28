//! Builder of archives that regular programs do not write.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

/// A tar archive that is built entry by entry.
#[derive(Clone, Default)]
pub struct Tarball(pub Vec<u8>);

impl Tarball {
    /// Adds an entry of a kind (`0` is a file), whose header declares `size`.
    pub fn entry(mut self, kind: u8, path: &[u8], link: &str, size: u64, content: &[u8]) -> Self {
        let mut header = [0_u8; 512];
        header[..path.len()].copy_from_slice(path);
        header[100..107].copy_from_slice(b"0000600");
        header[108..115].copy_from_slice(b"0000000");
        header[116..123].copy_from_slice(b"0000000");
        if size < 8 << 30 {
            header[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
        } else {
            header[124] = 0x80;
            header[128..136].copy_from_slice(&size.to_be_bytes());
        }
        header[136..147].copy_from_slice(b"00000000000");
        header[156] = kind;
        header[157..157 + link.len()].copy_from_slice(link.as_bytes());
        header[257..265].copy_from_slice(b"ustar\x0000");
        header[148..156].copy_from_slice(b"        ");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        self.0.extend(header);
        self.0.extend(content);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    /// Adds a file.
    pub fn file(self, path: &str, content: &[u8]) -> Self {
        let size = u64::try_from(content.len()).unwrap();
        self.entry(b'0', path.as_bytes(), "", size, content)
    }

    /// Adds an extended header for the next entry.
    pub fn extended(self, key: &str, value: &str) -> Self {
        let rest = key.len() + value.len() + 3;
        let mut length = rest + 1;
        while length != rest + length.to_string().len() {
            length += 1;
        }
        let record = format!("{length} {key}={value}\n");
        let size = u64::try_from(record.len()).unwrap();
        self.entry(b'x', b"pax", "", size, record.as_bytes())
    }

    /// Ends the archive and compresses it.
    pub fn finish(mut self) -> Vec<u8> {
        self.0.resize(self.0.len() + 1024, 0);
        compressed(&self.0)
    }
}

/// Compresses bytes.
pub fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}
