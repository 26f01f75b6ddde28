//! Distinguished names of certificates and requests.

use std::borrow::Cow;

use super::Asn1Error;
use crate::builtins::crypto::asn1::{Asn1Value, FieldReader};
use crate::builtins::crypto::der::{self, DerReader};

#[derive(Clone, Debug)]
pub struct Attribute<'d> {
    pub kind: &'d [u8],
    /// Value. In certificates it is a string.
    pub value: Asn1Value<'d>,
}

/// Attributes in source order.
pub type Name<'d> = Vec<Attribute<'d>>;

/// Reads a name from the content of its sequence. The error is Go's message.
pub fn read(mut sets: DerReader<'_>) -> Result<Name<'_>, Asn1Error> {
    const INVALID: &str = "x509: invalid RDNSequence";
    let mut name = Vec::new();
    while !sets.is_empty() {
        let mut set = sets.inside(der::SET).ok_or(INVALID)?;
        while !set.is_empty() {
            let mut attribute = set
                .inside(der::SEQUENCE)
                .ok_or("x509: invalid RDNSequence: invalid attribute")?;
            let kind = attribute
                .oid()
                .ok_or("x509: invalid RDNSequence: invalid attribute type")?;
            let value = attribute
                .any()
                .ok_or("x509: invalid RDNSequence: invalid attribute value")?;
            let value = text(value.tag, value.content).map_err(|error| {
                format!("x509: invalid RDNSequence: invalid attribute value: {error}")
            })?;
            name.push(Attribute {
                kind,
                value: Asn1Value::Text(value),
            });
        }
    }
    Ok(name)
}

/// Reads the name of a certificate request, whose attribute values may have any type.
pub fn of_request(text: &[u8]) -> Result<Name<'_>, Asn1Error> {
    let mut name = Vec::new();
    let mut outer = FieldReader::inside(text);
    for set in outer.list(der::SEQUENCE, Some(der::SET))? {
        for attribute in FieldReader::members(set.content, Some(der::SEQUENCE))? {
            let mut attribute = FieldReader::inside(attribute.content);
            let (kind, value) = (attribute.oid()?, attribute.interpreted()?);
            name.push(Attribute { kind, value });
        }
    }
    Ok(name)
}

/// Decodes UTF-16 code units, which may end with a zero. Returns `None` for surrogates and noncharacters.
pub fn bmp(bytes: &[u8]) -> Option<String> {
    let (units, []) = bytes.as_chunks::<2>() else {
        return None;
    };
    let units = match units {
        [rest @ .., [0, 0]] => rest,
        all => all,
    };
    let decode = |unit: &[u8; 2]| match u16::from_be_bytes(*unit) {
        0xfdd0..=0xfdef | 0xfffe | 0xffff => None,
        unit => char::from_u32(unit.into()),
    };
    units.iter().map(decode).collect()
}

/// Decodes a string of one of the ASN.1 string types.
fn text(tag: u8, bytes: &[u8]) -> Result<String, Cow<'static, str>> {
    const NUMERIC: u8 = 18;
    const UTF8: u8 = 12;
    const PRINTABLE: u8 = 19;
    const TELETEX: u8 = 20;
    const IA5: u8 = 22;
    const BMP: u8 = 30;
    let ascii = |is_allowed: fn(&u8) -> bool, error: &'static str| match std::str::from_utf8(bytes)
    {
        Ok(text) if bytes.iter().all(is_allowed) => Ok(text.to_owned()),
        _ => Err(error.into()),
    };
    match tag {
        TELETEX => Ok(bytes.iter().map(|byte| char::from(*byte)).collect()),
        PRINTABLE => ascii(|byte| is_printable(*byte), "invalid PrintableString"),
        UTF8 => String::from_utf8(bytes.to_vec()).map_err(|_| "invalid UTF-8 string".into()),
        BMP => bmp(bytes).ok_or("invalid BMPString".into()),
        IA5 => ascii(u8::is_ascii, "invalid IA5String"),
        NUMERIC => ascii(
            |byte| byte.is_ascii_digit() || *byte == b' ',
            "invalid NumericString",
        ),
        other => Err(format!("unsupported string type: {other}").into()),
    }
}

/// Go allows `*` and `&` in addition to the characters of the standard.
fn is_printable(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b" '()+,-./:=?*&".contains(&byte)
}
