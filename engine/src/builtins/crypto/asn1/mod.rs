//! A reader of structures with the behavior of Go's `encoding/asn1`, which decodes keys and certificate requests.
//! Certificates use [`super::der`]. Go's error messages name the type and the field, so a general reader cannot replace
//! it.

mod any;

use crate::bug::{Within as _, bug};
use std::borrow::Cow;

pub use any::Asn1Value;

use super::der::{self, Bits, Element};

/// Error message, in Go's words.
pub type Asn1Error = Cow<'static, str>;

/// Largest length to which another length byte may be added.
const LARGEST: usize = 1 << 23;

#[derive(Clone, Copy)]
struct TagHeader {
    class: u8,
    number: u32,
    compound: bool,
    length: usize,
    /// Offset of the value.
    start: usize,
}

/// Tag that a field must have, and Go's name of its type.
#[derive(Clone, Copy)]
struct FieldTag {
    class: u8,
    number: u32,
    compound: bool,
    name: &'static str,
}

impl FieldTag {
    const fn plain(tag: u8, name: &'static str) -> Self {
        Self {
            class: tag >> 6,
            number: (tag & 0x1f) as u32,
            compound: tag & 0x20 != 0,
            name,
        }
    }

    fn fits(self, header: &TagHeader) -> bool {
        header.class == self.class
            && header.number == self.number
            && header.compound == self.compound
    }
}

/// Reads the fields of a structure in order. Fields after the last one read are ignored.
#[derive(Clone, Copy)]
pub struct FieldReader<'d> {
    content: &'d [u8],
    at: usize,
}

#[derive(Clone, Copy)]
struct Raw<'d> {
    header: TagHeader,
    element: Element<'d>,
}

impl<'d> FieldReader<'d> {
    /// Reads a structure, given its name in Go, which errors contain. Also returns the bytes after it.
    pub fn parse_struct(text: &'d [u8], name: &'static str) -> Result<(Self, &'d [u8]), Asn1Error> {
        let mut outer = Self::inside(text);
        let (fields, _) = outer.structure(name)?;
        Ok((fields, outer.rest()))
    }

    /// Returns a reader of a structure's content, or of a sequence of values.
    pub fn inside(content: &'d [u8]) -> Self {
        Self { content, at: 0 }
    }

    /// Returns the unread bytes.
    pub fn rest(&self) -> &'d [u8] {
        self.content.within(self.at..)
    }

    fn header(&self, offset: usize) -> Result<TagHeader, Asn1Error> {
        header(self.content, offset)
    }

    /// Returns the value after a header and advances past it.
    ///
    /// # Errors
    /// The content ends before the value.
    fn value(&mut self, header: TagHeader) -> Result<Raw<'d>, Asn1Error> {
        let end = header.start.saturating_add(header.length);
        let content = self.content.get(header.start..end);
        let raw = self.content.get(self.at..end);
        let (Some(content), Some(raw)) = (content, raw) else {
            return Err("asn1: syntax error: data truncated".into());
        };
        self.at = end;
        let tag = raw.first().copied();
        let tag = tag.unwrap_or_else(|| bug!("an element without a tag"));
        let element = Element {
            tag,
            content,
            whole: raw,
        };
        Ok(Raw { header, element })
    }

    fn raw(&mut self) -> Result<Raw<'d>, Asn1Error> {
        if self.rest().is_empty() {
            return Err(TRUNCATED.into());
        }
        let header = self.header(self.at)?;
        self.value(header)
    }

    /// Reads the next value, of any type. Fails at the end, and if it is malformed.
    pub fn any(&mut self) -> Result<Element<'d>, Asn1Error> {
        self.raw().map(|raw| raw.element)
    }

    /// Reads and decodes the next value by its tag.
    pub fn interpreted(&mut self) -> Result<Asn1Value<'d>, Asn1Error> {
        let raw = self.raw()?;
        Asn1Value::from_raw(&raw)
    }

    fn field(&mut self, kind: FieldTag) -> Result<Element<'d>, Asn1Error> {
        if self.rest().is_empty() {
            return Err(TRUNCATED.into());
        }
        let header = self.header(self.at)?;
        if !kind.fits(&header) {
            return Err(mismatch(kind, &header));
        }
        self.value(header).map(|raw| raw.element)
    }

    /// Reads a nested structure, or fails if the next value has another tag. Returns a reader of its fields, and all of its
    /// bytes.
    pub fn structure(&mut self, name: &'static str) -> Result<(Self, &'d [u8]), Asn1Error> {
        let element = self.field(FieldTag::plain(der::SEQUENCE, name))?;
        Ok((Self::inside(element.content), element.whole))
    }

    /// Reads a list with a tag. If `members` is given, all elements must have that tag.
    pub fn list(&mut self, tag: u8, members: Option<u8>) -> Result<Vec<Element<'d>>, Asn1Error> {
        let name = if tag == der::SET { "SET" } else { "" };
        let element = self.field(FieldTag::plain(tag, name))?;
        Self::members(element.content, members)
    }

    pub fn members(content: &'d [u8], kind: Option<u8>) -> Result<Vec<Element<'d>>, Asn1Error> {
        let mut reader = Self::inside(content);
        let mut members = Vec::new();
        while !reader.rest().is_empty() {
            let header = reader.header(reader.at)?;
            if kind.is_some_and(|kind| !FieldTag::plain(kind, "").fits(&header)) {
                return Err("asn1: structure error: sequence tag mismatch".into());
            }
            let member = reader.value(header);
            members.push(
                member
                    .map_err(|_| "asn1: syntax error: truncated sequence")?
                    .element,
            );
        }
        Ok(members)
    }

    /// Reads an integer. Fails unless it fits 64 bits.
    pub fn small(&mut self) -> Result<i64, Asn1Error> {
        number(self.field(FieldTag::plain(der::INTEGER, "int"))?.content)
    }

    /// Reads an integer: its bytes in two's complement. Fails unless it has the shortest encoding.
    pub fn integer(&mut self) -> Result<&'d [u8], Asn1Error> {
        let bytes = self.field(FieldTag::plain(der::INTEGER, ""))?.content;
        minimal(bytes).map(|()| bytes)
    }

    /// Reads an integer, if the next value is one.
    pub fn optional_integer(&mut self) -> Result<Option<&'d [u8]>, Asn1Error> {
        self.next_has_tag(der::INTEGER)?
            .then(|| self.integer())
            .transpose()
    }

    /// Returns `true` if there is another value and it has the tag.
    pub fn next_has_tag(&self, tag: u8) -> Result<bool, Asn1Error> {
        if self.rest().is_empty() {
            return Ok(false);
        }
        let header = self.header(self.at)?;
        Ok(FieldTag::plain(tag, "").fits(&header))
    }

    /// Reads a boolean. Returns `false` if the next value is not a boolean.
    pub fn boolean_or_false(&mut self) -> Result<bool, Asn1Error> {
        if !self.next_has_tag(der::BOOLEAN)? {
            return Ok(false);
        }
        boolean(self.any()?.content)
    }

    /// Reads an octet string. Returns an error if the next value has another tag.
    pub fn octets(&mut self) -> Result<&'d [u8], Asn1Error> {
        let element = self.field(FieldTag::plain(der::OCTET_STRING, ""))?;
        Ok(element.content)
    }

    /// Reads an object identifier. Fails if it is malformed.
    pub fn oid(&mut self) -> Result<&'d [u8], Asn1Error> {
        let element = self.field(FieldTag::plain(der::OID, "ObjectIdentifier"))?;
        arcs(element.content).map(|()| element.content)
    }

    /// Reads a bit string. Returns an error if the next value has another tag or is malformed.
    pub fn bits(&mut self) -> Result<Bits<'d>, Asn1Error> {
        bits(
            self.field(FieldTag::plain(der::BIT_STRING, "BitString"))?
                .content,
        )
    }

    /// Reads an explicitly tagged object identifier, if present.
    pub fn tagged_oid(&mut self, number: u32) -> Result<Option<&'d [u8]>, Asn1Error> {
        let oid = self.tagged(number, der::OID)?;
        oid.map(|oid| arcs(oid).map(|()| oid)).transpose()
    }

    /// Reads an explicitly tagged bit string, if present.
    pub fn tagged_bits(&mut self, number: u32) -> Result<Option<Bits<'d>>, Asn1Error> {
        self.tagged(number, der::BIT_STRING)?.map(bits).transpose()
    }

    fn tagged(&mut self, number: u32, tag: u8) -> Result<Option<&'d [u8]>, Asn1Error> {
        const CONTEXT: u8 = 2;
        if self.rest().is_empty() {
            return Ok(None);
        }
        let outer = self.header(self.at)?;
        if outer.start == self.content.len() {
            return Err("asn1: structure error: explicit tag has no child".into());
        }
        let has_content = outer.length == 0 || outer.compound;
        if outer.class != CONTEXT || outer.number != number || !has_content {
            return Ok(None);
        }
        if outer.length == 0 {
            return Err(
                "asn1: structure error: zero length explicit tag was not an asn1.Flag".into(),
            );
        }
        let header = self.header(outer.start)?;
        if !FieldTag::plain(tag, "").fits(&header) {
            return Ok(None);
        }
        self.value(header).map(|raw| Some(raw.element.content))
    }
}

const TRUNCATED: &str = "asn1: syntax error: sequence truncated";

/// Error message for bytes after the end.
pub const TRAILING: &str = "asn1: syntax error: trailing data";

fn header(bytes: &[u8], offset: usize) -> Result<TagHeader, Asn1Error> {
    const CUT: &str = "asn1: syntax error: truncated tag or length";
    let mut offset = offset;
    let mut next = || {
        let byte = bytes.get(offset).copied();
        offset += 1;
        byte
    };
    let first = next().ok_or(CUT)?;
    let mut number = u32::from(first & 0x1f);
    if number == 0x1f {
        number = base_128(&mut next)?;
        if number < 0x1f {
            return Err("asn1: syntax error: non-minimal tag".into());
        }
    }
    let mut length = usize::from(next().ok_or(CUT)?);
    if length == 0x80 {
        return Err("asn1: syntax error: indefinite length found (not DER)".into());
    }
    if length > 0x80 {
        let digits = length & 0x7f;
        length = 0;
        for _ in 0..digits {
            let digit = next().ok_or(CUT)?;
            if length >= LARGEST {
                return Err("asn1: structure error: length too large".into());
            }
            length = length << 8 | usize::from(digit);
            if length == 0 {
                return Err("asn1: structure error: superfluous leading zeros in length".into());
            }
        }
        if length < 0x80 {
            return Err("asn1: structure error: non-minimal length".into());
        }
    }
    Ok(TagHeader {
        class: first >> 6,
        number,
        compound: first & 0x20 != 0,
        length,
        start: offset,
    })
}

/// Reads a number in base 128, of at most 31 bits.
fn base_128(mut next: impl FnMut() -> Option<u8>) -> Result<u32, Asn1Error> {
    const LARGE: &str = "asn1: structure error: base 128 integer too large";
    let mut number = 0_u64;
    for digit in 0.. {
        let byte = next();
        if digit == 5 && byte.is_some() {
            return Err(LARGE.into());
        }
        let byte = byte.ok_or("asn1: syntax error: truncated base 128 integer")?;
        if digit == 0 && byte == 0x80 {
            return Err("asn1: syntax error: integer is not minimally encoded".into());
        }
        number = number << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            break;
        }
    }
    let number = i32::try_from(number).map_err(|_| LARGE)?;
    Ok(number.cast_unsigned())
}

/// Checks an object identifier.
fn arcs(content: &[u8]) -> Result<(), Asn1Error> {
    if content.is_empty() {
        return Err("asn1: syntax error: zero length OBJECT IDENTIFIER".into());
    }
    let mut bytes = content.iter().copied().peekable();
    while bytes.peek().is_some() {
        base_128(|| bytes.next())?;
    }
    Ok(())
}

fn boolean(content: &[u8]) -> Result<bool, Asn1Error> {
    match content {
        [0] => Ok(false),
        [0xff] => Ok(true),
        _ => Err("asn1: syntax error: invalid boolean".into()),
    }
}

/// Checks that an integer has its shortest encoding.
fn minimal(content: &[u8]) -> Result<(), Asn1Error> {
    match content {
        [] => Err("asn1: structure error: empty integer".into()),
        [0, next, ..] if next & 0x80 == 0 => Err(LONG.into()),
        [0xff, next, ..] if next & 0x80 != 0 => Err(LONG.into()),
        _ => Ok(()),
    }
}

const LONG: &str = "asn1: structure error: integer not minimally-encoded";

fn number(content: &[u8]) -> Result<i64, Asn1Error> {
    minimal(content)?;
    der::signed(content).ok_or("asn1: structure error: integer too large".into())
}

fn bits(content: &[u8]) -> Result<Bits<'_>, Asn1Error> {
    if content.is_empty() {
        return Err("asn1: syntax error: zero length BIT STRING".into());
    }
    Bits::new(content).ok_or("asn1: syntax error: invalid padding bits in BIT STRING".into())
}

/// Returns Go's error for a value with the wrong tag.
fn mismatch(expected: FieldTag, header: &TagHeader) -> Asn1Error {
    let TagHeader {
        class,
        number,
        compound,
        length,
        start,
    } = *header;
    // Go's message marks lists in sets among the parameters and does not name them
    let (set, name) = match expected.name {
        "SET" => (true, ""),
        name => (false, name),
    };
    format!(
        "asn1: structure error: tags don't match ({} vs {{class:{class} tag:{number} length:{length} isCompound:{compound}}}) {{optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> stringType:0 timeType:0 set:{set} omitEmpty:false}} {name} @{start}",
        expected.number
    )
    .into()
}
