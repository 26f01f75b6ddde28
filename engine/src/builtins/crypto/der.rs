//! The distinguished encoding of ASN.1: a reader that accepts exactly what Go's `cryptobyte` does.
//!
//! The crate `der` decodes lengths, numbers, booleans and bit strings. This module implements the differences of Go: a
//! tag is a single byte of any class and form, a structure may contain additional elements, and numbers of an object
//! identifier are limited only in size. `tests/certificates` has certificates that Go accepts and that `x509-cert`,
//! which uses the same crate, rejects.

use ::der::asn1::{BitStringRef, IntRef};
use ::der::{AnyRef, Decode as _, Length, Reader as _, SliceReader, Tag};

pub const BOOLEAN: u8 = 1;
pub const INTEGER: u8 = 2;
pub const BIT_STRING: u8 = 3;
pub const OCTET_STRING: u8 = 4;
pub const NULL: u8 = 5;
pub const OID: u8 = 6;
pub const SEQUENCE: u8 = 0x30;
pub const SET: u8 = 0x31;
/// The constructed tag `[0]`.
pub const CONTEXT_0: u8 = 0xa0;

/// Unread part of a sequence of elements.
#[derive(Clone, Copy, Debug)]
pub struct DerReader<'d>(&'d [u8]);

#[derive(Clone, Copy, Debug)]
pub struct Element<'d> {
    pub tag: u8,
    pub content: &'d [u8],
    /// Tag, length and content.
    pub whole: &'d [u8],
}

impl<'d> DerReader<'d> {
    /// Returns a reader of a constructed element's content.
    pub fn new(content: &'d [u8]) -> Self {
        Self(content)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the tag of the next element, or `None` at the end.
    pub fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    /// Reads the next element, of any type. Returns `None` at the end, and if the length does not have its shortest
    /// encoding.
    pub fn any(&mut self) -> Option<Element<'d>> {
        const LONG_FORM: u8 = 0x1f;
        let (&tag, rest) = self.0.split_first()?;
        if tag & LONG_FORM == LONG_FORM {
            return None;
        }
        let mut reader = SliceReader::new(rest).ok()?;
        let length = usize::try_from(Length::decode(&mut reader).ok()?).ok()?;
        let start = usize::try_from(reader.position()).ok()? + 1;
        let (element_bytes, rest) = self.0.split_at_checked(start.checked_add(length)?)?;
        let content = element_bytes.get(start..)?;
        self.0 = rest;
        Some(Element {
            tag,
            content,
            whole: element_bytes,
        })
    }

    /// Reads the next element, which must have the tag. Otherwise returns `None` and does not advance.
    pub fn element(&mut self, tag: u8) -> Option<Element<'d>> {
        let mut ahead = *self;
        let element = ahead.any().filter(|element| element.tag == tag)?;
        *self = ahead;
        Some(element)
    }

    /// Reads the content of the next element. Returns `None` if it has another tag.
    pub fn take(&mut self, tag: u8) -> Option<&'d [u8]> {
        self.element(tag).map(|element| element.content)
    }

    /// Returns a reader of the content of the next element. Returns `None` if it has another tag.
    pub fn inside(&mut self, tag: u8) -> Option<Self> {
        self.take(tag).map(Self)
    }

    /// Reads the content of the next element if it has the tag. Returns `Some(None)` if it has another tag, and `None`
    /// if it is invalid.
    #[expect(clippy::option_option, reason = "broken, absent and present")]
    pub fn optional(&mut self, tag: u8) -> Option<Option<&'d [u8]>> {
        if self.peek() == Some(tag) {
            self.take(tag).map(Some)
        } else {
            Some(None)
        }
    }

    /// Reads an integer: its bytes in two's complement. Returns `None` unless it has the shortest encoding.
    pub fn integer(&mut self) -> Option<&'d [u8]> {
        let content = self.take(INTEGER)?;
        let number = AnyRef::new(Tag::Integer, content).ok()?;
        number.decode_as::<IntRef<'_>>().ok()?;
        Some(content)
    }

    /// Reads a non-negative integer. Returns its bytes without leading zeros.
    pub fn natural(&mut self) -> Option<&'d [u8]> {
        match self.integer()? {
            [0, rest @ ..] => Some(rest),
            [first, ..] if first & 0x80 != 0 => None,
            bytes => Some(bytes),
        }
    }

    /// Reads an integer. Returns `None` unless it fits 64 bits.
    pub fn small(&mut self) -> Option<i64> {
        signed(self.take(INTEGER)?)
    }

    pub fn boolean(&mut self) -> Option<bool> {
        let content = self.take(BOOLEAN)?;
        AnyRef::new(Tag::Boolean, content).ok()?.decode_as().ok()
    }

    /// Reads a boolean. Returns `false` if the next element is not a boolean.
    pub fn boolean_or_false(&mut self) -> Option<bool> {
        if self.peek() == Some(BOOLEAN) {
            self.boolean()
        } else {
            Some(false)
        }
    }

    /// Reads an object identifier. Returns `None` unless its numbers have at most 31 bits.
    pub fn oid(&mut self) -> Option<&'d [u8]> {
        self.take(OID).filter(|oid| is_small(oid))
    }

    /// Reads a bit string. Returns `None` if the next element is not a valid bit string.
    pub fn bits(&mut self) -> Option<Bits<'d>> {
        Bits::new(self.take(BIT_STRING)?)
    }
}

/// Returns the value of an `INTEGER` with this content if it fits 64 bits.
pub fn signed(content: &[u8]) -> Option<i64> {
    AnyRef::new(Tag::Integer, content).ok()?.decode_as().ok()
}

#[derive(Clone, Copy, Debug)]
pub struct Bits<'d>(BitStringRef<'d>);

impl<'d> Bits<'d> {
    /// Decodes the content of a `BIT STRING`. Returns `None` unless the unused bits of the last byte are zero.
    pub fn new(content: &'d [u8]) -> Option<Self> {
        let (&unused, bytes) = content.split_first()?;
        let bits = BitStringRef::new(unused, bytes).ok()?;
        let spare = bytes.last().map_or(0, |last| last & ((1 << unused) - 1));
        (spare == 0).then_some(Self(bits))
    }

    /// Returns the bit at a position. Bit 0 is the highest bit of the first byte.
    pub fn bit_at(&self, position: usize) -> bool {
        self.0.get(position) == Some(true)
    }

    pub fn len(&self) -> usize {
        self.0.bit_len()
    }

    /// Returns the bytes. The last one may have unused bits.
    pub fn bytes(&self) -> &'d [u8] {
        self.0.raw_bytes()
    }

    /// Returns the bytes, shifted so that the last used bit is the lowest bit of the last byte.
    pub fn aligned(&self) -> std::borrow::Cow<'d, [u8]> {
        let (bytes, unused) = (self.bytes(), self.0.unused_bits());
        if unused == 0 {
            return bytes.into();
        }
        let mut previous = 0_u8;
        let shifted = bytes.iter().map(|byte| {
            let high = previous << (8 - unused);
            previous = *byte;
            high | byte >> unused
        });
        shifted.collect()
    }
}

/// Returns the numbers of an object identifier, or `None` if it is invalid or a number exceeds 31 bits.
///
/// `const-oid` is not sufficient: it rejects `2.999` and identifiers of more than 39 bytes.
pub fn arcs(oid: &[u8]) -> Option<Vec<u32>> {
    let mut arcs = Vec::new();
    each_arc(oid, |arc| {
        if arcs.is_empty() {
            let root = (arc / 40).min(2);
            arcs.extend([root, arc - root * 40]);
        } else {
            arcs.push(arc);
        }
    })?;
    Some(arcs)
}

/// Returns `true` if bytes are an object identifier whose numbers have at most 31 bits.
pub fn is_small(oid: &[u8]) -> bool {
    each_arc(oid, |_| ()).is_some()
}

/// Visits the numbers, the first two of which are encoded as one.
fn each_arc(oid: &[u8], mut visit: impl FnMut(u32)) -> Option<()> {
    const WIDEST: u32 = i32::MAX.cast_unsigned();
    let (mut arc, mut in_arc) = (0_u32, false);
    for byte in oid {
        if !in_arc && *byte == 0x80 {
            return None;
        }
        arc = arc.checked_mul(0x80)? | u32::from(byte & 0x7f);
        if arc > WIDEST {
            return None;
        }
        in_arc = byte & 0x80 != 0;
        if !in_arc {
            visit(arc);
            arc = 0;
        }
    }
    (!in_arc && !oid.is_empty()).then_some(())
}

#[cfg(test)]
mod tests {
    use super::{Bits, DerReader, arcs};

    #[test]
    fn lengths_are_as_short_as_can_be() {
        for (text, length) in [
            (&[4, 0][..], Some(0)),
            (&[4, 0x81, 1, 9], None),
            (&[4, 0x80, 0, 0], None),
            (&[4, 2, 9], None),
            (&[4, 0x84, 0xff, 0xff, 0xff, 0xff, 1], None),
            (&[4, 0x85, 1, 0, 0, 0, 0], None),
            (&[0x1f, 0], None),
            // an unknown tag that is skipped
            (&[7, 1, 0], Some(1)),
            (&[0x21, 1, 0], Some(1)),
            (&[], None),
        ] {
            let actual = DerReader::new(text)
                .any()
                .map(|element| element.content.len());
            assert_eq!(actual, length, "{text:x?}");
        }
    }

    #[test]
    fn numbers_are_as_short_as_can_be() {
        assert_eq!(DerReader::new(&[2, 1, 0x80]).natural(), None);
        assert_eq!(DerReader::new(&[2, 1, 0]).natural(), Some(&[][..]));
        assert_eq!(
            DerReader::new(&[2, 2, 0, 0x80]).natural(),
            Some(&[0x80][..])
        );
        assert_eq!(DerReader::new(&[2, 1, 0x80]).small(), Some(-128));
        assert_eq!(DerReader::new(&[2, 0]).integer(), None);
        assert_eq!(DerReader::new(&[2, 2, 0, 1]).integer(), None);
        assert_eq!(DerReader::new(&[2, 2, 0xff, 0x80]).integer(), None);
        assert_eq!(DerReader::new(&[2, 2, 0xff, 0x7f]).small(), Some(-129));
        assert_eq!(DerReader::new(&[2, 2, 0xff, 0x80]).small(), None);
    }

    #[test]
    fn identifiers_and_bits() {
        assert_eq!(arcs(&[0x2a, 0x86, 0x48]), Some(vec![1, 2, 840]));
        assert_eq!(arcs(&[0x88, 0x37]), Some(vec![2, 999]));
        assert_eq!(arcs(&[0x2a, 0x86]), None);
        assert_eq!(arcs(&[0x80, 1]), None);
        assert_eq!(arcs(&[]), None);
        assert!(Bits::new(&[3, 0b1010_1000]).is_some_and(|bits| bits.bit_at(4) && !bits.bit_at(1)));
        let aligned = Bits::new(&[3, 0b1010_1000, 0b1111_1000]).map(|bits| bits.aligned().to_vec());
        assert_eq!(aligned, Some(vec![0b0001_0101, 0b0001_1111]));
        for invalid in [&[3, 1][..], &[1], &[8, 0], &[255, 0], &[]] {
            assert!(Bits::new(invalid).is_none(), "{invalid:?}");
        }
    }
}
