//! The distinguished encoding of ASN.1: a reader that accepts exactly what Go's does, and a little writing.

/// `BOOLEAN`
pub const BOOLEAN: u8 = 1;
/// `INTEGER`
pub const INTEGER: u8 = 2;
/// `BIT STRING`
pub const BIT_STRING: u8 = 3;
/// `OCTET STRING`
pub const OCTET_STRING: u8 = 4;
/// `NULL`
pub const NULL: u8 = 5;
/// `OBJECT IDENTIFIER`
pub const OID: u8 = 6;
/// `SEQUENCE`
pub const SEQUENCE: u8 = 0x30;
/// `SET`
pub const SET: u8 = 0x31;
/// The constructed tag `[0]`.
pub const CONTEXT_0: u8 = 0xa0;

/// What is left to read of a run of elements.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'d>(&'d [u8]);

/// One element.
#[derive(Clone, Copy, Debug)]
pub struct Element<'d> {
    /// Its tag.
    pub tag: u8,
    /// What it holds.
    pub content: &'d [u8],
    /// All of it.
    pub whole: &'d [u8],
}

impl<'d> Reader<'d> {
    /// Reads what a constructed element holds.
    pub fn new(content: &'d [u8]) -> Self {
        Self(content)
    }

    /// Whether all is read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All that is left.
    pub fn rest(&self) -> &'d [u8] {
        self.0
    }

    /// The tag of the next element.
    pub fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    /// The tag of the next element, the length that it claims to have, and what follows.
    fn header(&self) -> Option<(u8, usize, &'d [u8])> {
        const HIGH_TAG: u8 = 0x1f;
        let (&[tag, first], rest) = self.0.split_first_chunk::<2>()?;
        if tag & HIGH_TAG == HIGH_TAG {
            return None;
        }
        match first {
            0..=0x7f => Some((tag, first.into(), rest)),
            0x81..=0x84 => {
                let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                let length = digits
                    .iter()
                    .fold(0, |length, byte| length << 8 | usize::from(*byte));
                let shortest = length > 0x7f && digits.first() != Some(&0);
                shortest.then_some((tag, length, rest))
            }
            _ => None,
        }
    }

    /// How many bytes of the next element come before what it holds, and how long that claims to be, whether it is or
    /// not.
    pub fn claim(&self) -> Option<(usize, usize)> {
        let (_, length, rest) = self.header()?;
        Some((self.0.len() - rest.len(), length))
    }

    /// The next element, whatever it is. Lengths must be as short as they can be.
    pub fn any(&mut self) -> Option<Element<'d>> {
        let (tag, length, rest) = self.header()?;
        let (content, rest) = rest.split_at_checked(length)?;
        let (whole, _) = self.0.split_at_checked(self.0.len() - rest.len())?;
        self.0 = rest;
        Some(Element {
            tag,
            content,
            whole,
        })
    }

    /// The next element if it has a tag.
    pub fn element(&mut self, tag: u8) -> Option<Element<'d>> {
        let mut ahead = *self;
        let found = ahead.any().filter(|element| element.tag == tag)?;
        *self = ahead;
        Some(found)
    }

    /// What the next element holds if it has a tag.
    pub fn take(&mut self, tag: u8) -> Option<&'d [u8]> {
        self.element(tag).map(|element| element.content)
    }

    /// What the next element with a tag consists of.
    pub fn inside(&mut self, tag: u8) -> Option<Self> {
        self.take(tag).map(Self)
    }

    /// What the next element holds if it has a tag; `None` within when it has another, outside when it is broken.
    #[expect(clippy::option_option, reason = "broken, absent and present")]
    pub fn optional(&mut self, tag: u8) -> Option<Option<&'d [u8]>> {
        if self.peek() == Some(tag) {
            self.take(tag).map(Some)
        } else {
            Some(None)
        }
    }

    /// A whole number: its bytes, the highest bit being the sign, as few as can be.
    pub fn integer(&mut self) -> Option<&'d [u8]> {
        self.take(INTEGER).filter(|bytes| match bytes {
            [] => false,
            [0, next, ..] => next & 0x80 != 0,
            [0xff, next, ..] => next & 0x80 == 0,
            _ => true,
        })
    }

    /// A whole number that is not negative, without zeros in front.
    pub fn natural(&mut self) -> Option<&'d [u8]> {
        match self.integer()? {
            [0, rest @ ..] => Some(rest),
            [first, ..] if first & 0x80 != 0 => None,
            bytes => Some(bytes),
        }
    }

    /// A whole number that fits.
    pub fn small(&mut self) -> Option<i64> {
        let bytes = self.integer()?;
        let negative = bytes.first().is_some_and(|first| first & 0x80 != 0);
        let start = if negative { -1 } else { 0 };
        (bytes.len() <= size_of::<i64>()).then(|| {
            bytes
                .iter()
                .fold(start, |number, byte| number << 8 | i64::from(*byte))
        })
    }

    /// A truth value.
    pub fn boolean(&mut self) -> Option<bool> {
        match self.take(BOOLEAN)? {
            [0] => Some(false),
            [0xff] => Some(true),
            _ => None,
        }
    }

    /// A truth value that defaults to `false` when another element is next.
    pub fn boolean_or_false(&mut self) -> Option<bool> {
        if self.peek() == Some(BOOLEAN) {
            self.boolean()
        } else {
            Some(false)
        }
    }

    /// An object identifier.
    pub fn oid(&mut self) -> Option<&'d [u8]> {
        self.take(OID).filter(|oid| arcs(oid).is_some())
    }

    /// A string of bits.
    pub fn bits(&mut self) -> Option<Bits<'d>> {
        Bits::new(self.take(BIT_STRING)?)
    }
}

/// A string of bits.
#[derive(Clone, Copy, Debug)]
pub struct Bits<'d> {
    /// The bytes; the bits of the last that do not count are zero.
    pub bytes: &'d [u8],
}

impl<'d> Bits<'d> {
    /// Reads what a `BIT STRING` holds.
    pub fn new(content: &'d [u8]) -> Option<Self> {
        let (&padding, bytes) = content.split_first()?;
        let spare = match bytes.last() {
            _ if padding > 7 => return None,
            None if padding > 0 => return None,
            Some(last) => last & ((1 << padding) - 1),
            None => 0,
        };
        (spare == 0).then_some(Self { bytes })
    }

    /// The bit at a position, the highest of the first byte being at 0.
    pub fn at(&self, position: usize) -> bool {
        self.bytes
            .get(position / 8)
            .is_some_and(|byte| byte >> (7 - position % 8) & 1 == 1)
    }
}

/// The numbers that an object identifier consists of; `None` when it is broken or one is beyond 31 bits.
pub fn arcs(oid: &[u8]) -> Option<Vec<u32>> {
    const WIDEST: u32 = i32::MAX.cast_unsigned();
    let mut arcs = Vec::new();
    let mut bytes = oid.iter().peekable();
    while let Some(first) = bytes.peek() {
        if **first == 0x80 {
            return None;
        }
        let mut arc = 0_u32;
        loop {
            let byte = bytes.next()?;
            arc = arc.checked_mul(0x80)? | u32::from(byte & 0x7f);
            if arc > WIDEST {
                return None;
            }
            if byte & 0x80 == 0 {
                break;
            }
        }
        if arcs.is_empty() {
            let root = (arc / 40).min(2);
            arcs.push(root);
            arc -= root * 40;
        }
        arcs.push(arc);
    }
    (!arcs.is_empty()).then_some(arcs)
}

/// Writes an element.
pub fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len().to_be_bytes();
    let zeros = length.iter().take_while(|byte| **byte == 0).count();
    let digits = length.get(zeros..).unwrap_or_default();
    let mut out = vec![tag];
    match (u8::try_from(content.len()), u8::try_from(digits.len())) {
        (Ok(short @ 0..=0x7f), _) => out.push(short),
        (_, Ok(count)) => {
            out.push(0x80 | count);
            out.extend(digits);
        }
        _ => {}
    }
    out.extend(content);
    out
}

/// Writes a sequence of elements.
pub fn sequence(elements: &[u8]) -> Vec<u8> {
    element(SEQUENCE, elements)
}

/// Writes a whole number that is not negative.
pub fn unsigned(bytes: &[u8]) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let digits = bytes.get(zeros..).unwrap_or_default();
    let mut content = Vec::with_capacity(digits.len() + 1);
    if digits.first().is_none_or(|first| first & 0x80 != 0) {
        content.push(0);
    }
    content.extend(digits);
    element(INTEGER, &content)
}

#[cfg(test)]
mod tests {
    use super::{Bits, Reader, arcs, element, unsigned};

    #[test]
    fn lengths_are_as_short_as_can_be() {
        for (text, length) in [
            (&[4, 0][..], Some(0)),
            (&[4, 0x81, 1, 9], None),
            (&[4, 0x80, 0, 0], None),
            (&[4, 2, 9], None),
            (&[0x1f, 0], None),
        ] {
            let found = Reader::new(text).any().map(|element| element.content.len());
            assert_eq!(found, length, "{text:x?}");
        }
        for length in [0, 1, 0x7f, 0x80, 0xff, 0x100, 0x1_0000] {
            let written = element(4, &vec![7; length]);
            let mut reader = Reader::new(&written);
            assert_eq!(reader.take(4).map(<[u8]>::len), Some(length));
            assert!(reader.is_empty());
        }
    }

    #[test]
    fn numbers_read_back() {
        for bytes in [&[0][..], &[1], &[0x7f], &[0x80], &[0, 0, 1, 2]] {
            let written = unsigned(bytes);
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            let found = Reader::new(&written).natural();
            assert_eq!(found, bytes.get(zeros..), "{bytes:?}");
        }
        assert_eq!(Reader::new(&[2, 1, 0x80]).natural(), None);
        assert_eq!(Reader::new(&[2, 1, 0x80]).small(), Some(-128));
        assert_eq!(Reader::new(&[2, 2, 0, 1]).integer(), None);
    }

    #[test]
    fn identifiers_and_bits() {
        assert_eq!(arcs(&[0x2a, 0x86, 0x48]), Some(vec![1, 2, 840]));
        assert_eq!(arcs(&[0x88, 0x37]), Some(vec![2, 999]));
        assert_eq!(arcs(&[0x2a, 0x86]), None);
        assert_eq!(arcs(&[0x80, 1]), None);
        assert_eq!(arcs(&[]), None);
        assert!(Bits::new(&[3, 0b1010_1000]).is_some_and(|bits| bits.at(4) && !bits.at(1)));
        assert!(Bits::new(&[3, 1]).is_none());
        assert!(Bits::new(&[1]).is_none());
    }
}
