//! What Go's decoder of ASN.1 says of texts that are no structure of a kind.

use super::der::{self, Reader};

/// What a sequence holds that is a structure of Go's by this name; the error is the message.
pub fn structure<'d>(reader: &mut Reader<'d>, name: &str) -> Result<Reader<'d>, String> {
    if reader.is_empty() {
        return Err(truncated("sequence"));
    }
    if reader.claim().is_none() {
        return Err(broken(*reader));
    }
    if let Some(tag) = reader.peek().filter(|tag| *tag != der::SEQUENCE) {
        return Err(mismatch(16, tag, *reader, name));
    }
    match reader.any() {
        Some(element) => Ok(Reader::new(element.content)),
        None => Err(broken(*reader)),
    }
}

/// Says what is wrong with the next element, which cannot be read.
fn broken(reader: Reader<'_>) -> String {
    const LARGEST: u32 = 1 << 23;
    const TRUNCATED: &str = "asn1: syntax error: truncated tag or length";
    let (first, mut rest) = match reader.rest() {
        [_, 0x80, ..] => return "asn1: syntax error: indefinite length found (not DER)".to_owned(),
        [tag, first, rest @ ..] if *first > 0x80 && tag & 0x1f != 0x1f => (first, rest.iter()),
        [tag, _, ..] if tag & 0x1f != 0x1f => return truncated("data"),
        _ => return TRUNCATED.to_owned(),
    };
    let mut length = 0_u32;
    for _ in 0..first & 0x7f {
        let Some(digit) = rest.next() else {
            return TRUNCATED.to_owned();
        };
        if length >= LARGEST {
            return "asn1: structure error: length too large".to_owned();
        }
        length = length << 8 | u32::from(*digit);
        if length == 0 {
            return "asn1: structure error: superfluous leading zeros in length".to_owned();
        }
    }
    if length < 0x80 {
        return "asn1: structure error: non-minimal length".to_owned();
    }
    truncated("data")
}

/// Says that something ends too early.
pub fn truncated(what: &str) -> String {
    format!("asn1: syntax error: {what} truncated")
}

/// Says that there is something after the end.
pub fn trailing() -> String {
    "asn1: syntax error: trailing data".to_owned()
}

/// Says that a field of a structure is missing or of another kind.
pub fn field(reader: Reader<'_>, name: &str) -> String {
    let mut ahead = reader;
    if reader.is_empty() {
        truncated("sequence")
    } else if ahead.any().is_none() {
        broken(reader)
    } else {
        format!("asn1: structure error: malformed {name}")
    }
}

/// Says that a whole number is missing or is something else.
pub fn number(reader: Reader<'_>) -> String {
    match reader.peek() {
        None => truncated("sequence"),
        Some(tag) => mismatch(2, tag, reader, "int"),
    }
}

/// Says that the next element should have had another tag.
fn mismatch(wanted: u8, tag: u8, reader: Reader<'_>, name: &str) -> String {
    let (class, number, compound) = (tag >> 6, tag & 0x1f, tag & 0x20 != 0);
    let Some((start, length)) = reader.claim() else {
        return "asn1: syntax error: truncated tag or length".to_owned();
    };
    format!(
        "asn1: structure error: tags don't match ({wanted} vs {{class:{class} tag:{number} length:{length} isCompound:{compound}}}) {{optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> stringType:0 timeType:0 set:false omitEmpty:false}} {name} @{start}"
    )
}
