//! Large buffers, in pages of their own. These go back to the system at once, whichever thread drops them; an allocator keeps
//! what another thread frees until the thread that took it comes by, and as long the process is as large as all of that.

use hyper::body::Bytes;
use memmap2::MmapMut;

use super::budget::Spent;

/// Bytes from which on a buffer has pages of its own. Smaller ones are better off with memory that was used before.
const LARGE: usize = 8 << 20;

/// Bytes that are collected.
#[derive(Debug)]
pub enum Buffer {
    /// In memory of the allocator.
    Small(Vec<u8>),
    /// In pages of their own.
    Large {
        /// The pages.
        pages: MmapMut,
        /// How many of their bytes are used.
        length: usize,
    },
}

impl Default for Buffer {
    fn default() -> Self {
        Self::Small(Vec::new())
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Small(bytes) => bytes,
            Self::Large { pages, length } => pages.get(..*length).unwrap_or_default(),
        }
    }
}

impl Buffer {
    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.as_ref().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many there is room for.
    pub fn capacity(&self) -> usize {
        match self {
            Self::Small(bytes) => bytes.capacity(),
            Self::Large { pages, .. } => pages.len(),
        }
    }

    /// Makes room for so many bytes, if the system has it.
    pub fn make_room(&mut self, capacity: usize) -> Result<(), Spent> {
        if capacity <= self.capacity() {
            return Ok(());
        }
        match self {
            Self::Small(bytes) if capacity < LARGE => {
                bytes.reserve_exact(capacity - bytes.len());
            }
            _ => {
                let mut pages = MmapMut::map_anon(capacity).map_err(|_| Spent)?;
                let length = self.len();
                copy(self.as_ref(), &mut pages)?;
                *self = Self::Large { pages, length };
            }
        }
        Ok(())
    }

    /// Adds bytes, all or none: pages have room for what was asked for beforehand.
    pub fn push(&mut self, more: &[u8]) -> Result<(), Spent> {
        match self {
            Self::Small(bytes) => bytes.extend_from_slice(more),
            Self::Large { pages, length } => {
                copy(more, pages.get_mut(*length..).unwrap_or_default())?;
                *length += more.len();
            }
        }
        Ok(())
    }

    /// All of them.
    pub fn finish(self) -> Bytes {
        match self {
            Self::Small(bytes) => bytes.into(),
            large @ Self::Large { .. } => Bytes::from_owner(large),
        }
    }
}

/// Bytes that are kept for a while; large ones in pages of their own, where the system has them.
pub fn kept(bytes: Bytes) -> Bytes {
    let mut buffer = Buffer::default();
    if bytes.len() < LARGE || buffer.make_room(bytes.len()).is_err() {
        return bytes;
    }
    match buffer.push(&bytes) {
        Ok(()) => buffer.finish(),
        Err(Spent) => bytes,
    }
}

/// Copies bytes to the beginning of a place, if there is room for all of them.
fn copy(from: &[u8], to: &mut [u8]) -> Result<(), Spent> {
    to.get_mut(..from.len()).ok_or(Spent)?.copy_from_slice(from);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Buffer, LARGE, Spent, kept};

    #[test]
    fn bytes_stay_what_they_are_when_their_buffer_grows() {
        let part: Vec<u8> = (0..=250).collect();
        let mut buffer = Buffer::default();
        let mut want = Vec::new();
        while want.len() <= 2 * LARGE {
            let capacity = buffer.capacity().max(buffer.len() + part.len());
            let room = capacity.max(if want.len() > LARGE / 2 { 3 * LARGE } else { 0 });
            buffer.make_room(room).unwrap();
            buffer.push(&part).unwrap();
            want.extend_from_slice(&part);
        }
        assert!(matches!(buffer, Buffer::Large { .. }));
        assert!(buffer.capacity() >= 3 * LARGE);
        assert_eq!(buffer.len(), want.len());
        let bytes = buffer.finish();
        assert!(*bytes == *want && *kept(bytes.clone()) == *bytes);
        // there is no room without asking for it, and nothing is left out
        let mut full = Buffer::default();
        full.make_room(LARGE).unwrap();
        full.push(&want[..LARGE - 1]).unwrap();
        assert_eq!(full.push(&want[..2]), Err(Spent));
        assert_eq!(full.push(&want[LARGE - 1..LARGE]), Ok(()));
        assert_eq!(full.push(&want[..1]), Err(Spent));
        assert!(*full.as_ref() == want[..LARGE]);
    }
}
