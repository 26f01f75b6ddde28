//! Strings: bytes that are nearly always UTF-8.

use std::borrow::Cow;
use std::cmp::Ordering;

use arcstr::ArcStr;
use triomphe::ThinArc;

use super::{RefRepr, Repr, Value, ValueRef};
use crate::bug::{Within as _, bug};

/// A string of at most 14 bytes, stored inline. Invariant: unused bytes are zero, so that equal strings have equal
/// representations.
#[derive(Clone, Copy)]
pub struct Short {
    len: u8,
    bytes: [u8; Short::MAX],
}

impl Short {
    /// Maximum length of an inline string, in bytes.
    pub const MAX: usize = 14;

    /// Creates an inline string. Returns `None` if the text is too long.
    #[inline]
    pub fn new(text: &[u8]) -> Option<Self> {
        if text.len() > Self::MAX {
            return None;
        }
        // stored as whole words: reading a word after writing it byte by byte stalls on store forwarding
        let (low, high) = load_u64_pair(text);
        let mut bytes = [0; Self::MAX];
        let (head, tail) = bytes.split_first_chunk_mut()?;
        *head = low.to_le_bytes();
        tail.copy_from_slice(high.to_le_bytes().first_chunk::<6>()?);
        #[expect(clippy::cast_possible_truncation, reason = "at most 14")]
        Some(Self {
            len: text.len() as u8,
            bytes,
        })
    }

    /// Compares with a text, without creating a string.
    #[inline]
    pub fn equals(&self, text: &[u8]) -> bool {
        let word = |bytes: Option<&[u8; 8]>| bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let (first, last) = (self.bytes.first_chunk(), self.bytes.last_chunk());
        text.len() == usize::from(self.len)
            && load_u64_pair(text) == (word(first), word(last) >> 16)
    }

    /// Returns the bytes, without a copy.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.within(..usize::from(self.len))
    }

    /// Returns the text, or `None` if it is not valid UTF-8. Checks at each call.
    #[inline]
    pub fn utf8(&self) -> Option<&str> {
        std::str::from_utf8(self.as_bytes()).ok()
    }

    #[inline]
    fn is_ascii(&self) -> bool {
        let (first, last) = self.ends();
        (first | last) & 0x8080_8080_8080_8080 == 0
    }

    /// Maps each ASCII character. Returns `None` if there are other characters.
    #[inline]
    pub fn ascii_mapped(self, change: impl Fn(u8) -> u8) -> Option<Self> {
        if !self.is_ascii() {
            return None;
        }
        Some(Self {
            len: self.len,
            bytes: self.bytes.map(change),
        })
    }

    /// Returns the first and the last eight bytes. They overlap and cover all bytes.
    #[inline]
    fn ends(&self) -> (u64, u64) {
        let first = self
            .bytes
            .first_chunk()
            .map_or(0, |bytes| u64::from_be_bytes(*bytes));
        let last = self
            .bytes
            .last_chunk()
            .map_or(0, |bytes| u64::from_be_bytes(*bytes));
        (first, last)
    }

    /// Returns a number that has the order of the bytes. Its lowest part is the length, which distinguishes strings
    /// that only differ in trailing NUL bytes.
    #[inline]
    pub fn rank(&self) -> u128 {
        let (first, last) = self.ends();
        u128::from(first) << 64 | u128::from(last << 16 | u64::from(self.len))
    }

    /// Returns the string as two words, for hashing.
    #[inline]
    pub fn as_u64_pair(&self) -> (u64, u64) {
        let (first, last) = self.ends();
        (first, last ^ u64::from(self.len) << 56)
    }
}

impl PartialEq for Short {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.ends() == other.ends() && self.len == other.len
    }
}

impl Eq for Short {}

impl PartialOrd for Short {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Short {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

/// Loads up to 16 bytes as two little-endian words, with overlapping loads.
#[inline]
fn load_u64_pair(text: &[u8]) -> (u64, u64) {
    if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
        let shift = 8 * (16_usize.saturating_sub(text.len()));
        let high = u64::from_le_bytes(*last).checked_shr(u32::try_from(shift).unwrap_or(64));
        return (u64::from_le_bytes(*first), high.unwrap_or(0));
    }
    if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
        let high = u64::from(u32::from_le_bytes(*last)) << (8 * (text.len() - 4));
        return (u64::from(u32::from_le_bytes(*first)) | high, 0);
    }
    let low = match *text {
        [] => 0,
        [a] => u64::from(a),
        [a, b] => u64::from(a) | u64::from(b) << 8,
        [a, b, c, ..] => u64::from(a) | u64::from(b) << 8 | u64::from(c) << 16,
    };
    (low, 0)
}

/// Loads fewer than eight bytes as a little-endian word, padded with a byte.
#[inline]
pub fn padded(text: &[u8], byte: u8) -> u64 {
    load_u64_pair(text).0 | u64::from_le_bytes([byte; 8]) << (8 * text.len().min(7))
}

/// Returns `true` if a condition holds for all words of eight bytes. The last word may overlap the one before; a
/// shorter text is padded with blanks.
#[inline]
pub fn all_chunks(text: &[u8], is_so: impl Fn(u64) -> bool) -> bool {
    let word = |chunk: &[u8; 8]| u64::from_le_bytes(*chunk);
    let (chunks, _) = text.as_chunks();
    chunks.iter().all(|chunk| is_so(word(chunk)))
        && is_so(text.last_chunk().map_or_else(|| padded(text, b' '), word))
}

/// The value 1 in each byte of a word.
const ONES: u64 = u64::MAX / 255;

/// The highest bit of each byte.
pub const HIGHS: u64 = ONES << 7;

/// Sets the highest bit of each byte that is less than a bound of at most 0x80. Bits above the lowest one may be false
/// positives.
#[inline]
pub fn flags_below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(ONES * u64::from(limit)) & !word & HIGHS
}

/// Sets the highest bit of each byte that equals `byte`. Bits above the lowest one may be false positives.
#[inline]
pub fn flags_of(word: u64, byte: u8) -> u64 {
    flags_below(word ^ (ONES * u64::from(byte)), 1)
}

/// Returns `true` if eight bytes are printable ASCII characters.
#[inline]
pub fn is_printable(word: u64) -> bool {
    (word & HIGHS) | flags_below(word, b' ') | flags_of(word, 0x7f) == 0
}

/// Returns the first 16 bytes as a number with the order of the strings. Missing bytes count as zero.
#[inline]
pub fn head(text: &[u8]) -> u128 {
    if let Some(first) = text.first_chunk() {
        return u128::from_be_bytes(*first);
    }
    let (low, high) = load_u64_pair(text);
    u128::from(low.swap_bytes()) << 64 | u128::from(high.swap_bytes())
}

/// Returns the 16 bytes from a byte on, like [`head`]. At the end of a longer string they are part of its last 16
/// bytes.
#[inline]
pub fn head_from(text: &[u8], from: usize) -> u128 {
    const HEAD: usize = 16;
    let rest = text.len().saturating_sub(from);
    match text.last_chunk::<HEAD>() {
        Some(last) if rest < HEAD => {
            let shift = u32::try_from(8 * (HEAD - rest)).unwrap_or(u32::MAX);
            let head = u128::from_be_bytes(*last).checked_shl(shift);
            head.unwrap_or(0)
        }
        _ => head(text.get(from..).unwrap_or_default()),
    }
}

/// An owned string longer than [`Short::MAX`], with shared ownership, in one allocation with its reference count.
#[derive(Clone, Debug)]
pub struct SharedText(ArcStr);

impl SharedText {
    /// Copies a string into shared memory.
    #[inline]
    pub fn new(text: &str) -> Self {
        Self(ArcStr::from(text))
    }

    /// Returns the string. O(1).
    #[inline]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the bytes, without a copy.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Returns `true` if both are the same allocation.
    #[inline]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        ArcStr::ptr_eq(&self.0, &other.0)
    }
}

/// An owned string longer than [`Short::MAX`] that is not valid UTF-8, for example from `base64.decode`.
#[derive(Clone, Debug)]
pub struct Bytes(ThinArc<(), u8>);

impl Bytes {
    /// Copies bytes into shared memory.
    pub fn new(bytes: &[u8]) -> Self {
        Self(ThinArc::from_header_and_slice((), bytes))
    }

    /// Returns the bytes, without a copy.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0.slice
    }
}

/// A string in the arena, or borrowed from JSON text; `Bytes` if it is not valid UTF-8. It is longer than the strings that values hold
/// inline.
#[derive(Clone, Copy, Debug)]
pub enum ArenaText<'e> {
    /// Valid UTF-8, checked before.
    Utf8(&'e str),
    /// Bytes that are not valid UTF-8. As text, each invalid byte is U+FFFD.
    Bytes(&'e [u8]),
}

impl<'e> ArenaText<'e> {
    /// Returns the bytes, without a copy.
    #[inline]
    pub fn as_bytes(&self) -> &'e [u8] {
        match self {
            Self::Utf8(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }

    /// Copies a string that is too long for [`Short`].
    pub fn to_value(self) -> Value {
        match self {
            Self::Utf8(text) => Value(Repr::Text(SharedText::new(text))),
            Self::Bytes(bytes) => Value(Repr::Bytes(Bytes::new(bytes))),
        }
    }

    /// Returns the string as built-ins take it.
    #[inline]
    pub fn view(&self) -> TextView<'e> {
        match self {
            Self::Utf8(text) => TextView(TextViewRepr::Utf8(text)),
            Self::Bytes(bytes) => TextView(TextViewRepr::Bytes(bytes)),
        }
    }
}

/// A borrowed string. Each variant consists of whole words, so that it moves without partial stores.
#[derive(Clone, Copy)]
pub struct TextView<'e>(pub(crate) TextViewRepr<'e>);

#[derive(Clone, Copy)]
#[repr(u64)]
pub(crate) enum TextViewRepr<'e> {
    Short(BorrowedText<'e>),
    /// Valid UTF-8, checked before.
    Utf8(&'e str),
    Bytes(&'e [u8]),
}

/// A value that is a short string, so that its bytes can be borrowed.
#[derive(Clone, Copy)]
pub struct BorrowedText<'e>(pub(super) ValueRef<'e>);

impl BorrowedText<'_> {
    /// Returns the string. Invariant: the value is a short string.
    #[inline]
    pub fn short(&self) -> &Short {
        match &self.0 {
            ValueRef(RefRepr::Short(short)) => short,
            _ => bug!("a borrowed short text is not a short string"),
        }
    }

    /// Returns the bytes, without a copy.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.short().as_bytes()
    }
}

impl TextView<'_> {
    /// Returns the bytes, without a check of UTF-8.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self(TextViewRepr::Short(text)) => text.as_bytes(),
            Self(TextViewRepr::Utf8(text)) => text.as_bytes(),
            Self(TextViewRepr::Bytes(bytes)) => bytes,
        }
    }

    /// Returns the text. Each invalid byte becomes one U+FFFD.
    #[inline]
    pub fn to_str(&self) -> Cow<'_, str> {
        match self {
            Self(TextViewRepr::Short(text)) => lossy(text.as_bytes()),
            Self(TextViewRepr::Utf8(text)) => Cow::Borrowed(text),
            Self(TextViewRepr::Bytes(bytes)) => lossy(bytes),
        }
    }

    /// Returns the bytes of [`Self::to_str`]: the text with U+FFFD for invalid bytes.
    #[cold]
    pub fn to_bytes(&self) -> Cow<'_, [u8]> {
        match self.to_str() {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        }
    }

    /// Returns the bytes, if they are known to be UTF-8 without a check.
    #[inline]
    pub(crate) fn utf8_bytes(&self) -> Option<&[u8]> {
        match self {
            Self(TextViewRepr::Short(text)) if text.short().is_ascii() => Some(text.as_bytes()),
            Self(TextViewRepr::Utf8(text)) => Some(text.as_bytes()),
            _ => None,
        }
    }

    /// Returns the text, or `None` if it is not valid UTF-8.
    #[inline]
    pub fn as_utf8(&self) -> Option<&str> {
        match self {
            Self(TextViewRepr::Short(text)) => text.short().utf8(),
            Self(TextViewRepr::Utf8(text)) => Some(text),
            Self(TextViewRepr::Bytes(_)) => None,
        }
    }
}

/// Decodes UTF-8 like Go: each byte that is not part of a character becomes one U+FFFD.
pub fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(std::iter::repeat_n(
            char::REPLACEMENT_CHARACTER,
            chunk.invalid().len(),
        ));
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::{all_chunks, is_printable};

    #[test]
    fn printable_characters_are_detected_in_any_position() {
        for byte in 0..=u8::MAX {
            for (before, after) in
                (0..18).flat_map(|first| (0..18).map(move |second| (first, second)))
            {
                let text = [&vec![b' '; before][..], &[byte], &vec![b'~'; after]].concat();
                assert_eq!(
                    all_chunks(&text, is_printable),
                    (b' '..=b'~').contains(&byte),
                    "{text:?}"
                );
            }
        }
        assert!(all_chunks(b"", is_printable));
    }
}
