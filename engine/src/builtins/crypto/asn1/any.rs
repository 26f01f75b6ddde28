//! ASN.1 values of any type, decoded by their tags as far as Go supports the tag.

use super::{Asn1Error, Raw, arcs, bits, boolean, number};
use crate::builtins::crypto::certificate::name::bmp;
use crate::builtins::crypto::certificate::time::{self, Time};
use crate::builtins::crypto::der::{self, Bits};

#[derive(Clone, Debug)]
pub enum Asn1Value<'d> {
    Nothing,
    Bool(bool),
    Int(i64),
    Text(String),
    Bytes(&'d [u8]),
    Bits(Bits<'d>),
    Oid(&'d [u8]),
    Time(Time),
}

impl Asn1Value<'_> {
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl<'d> Asn1Value<'d> {
    /// Decodes a value. Compound values, and values of other classes, are [`Self::Nothing`].
    pub(super) fn from_raw(raw: &Raw<'d>) -> Result<Self, Asn1Error> {
        const UTF8: u32 = 12;
        const NUMERIC: u32 = 18;
        const PRINTABLE: u32 = 19;
        const TELETEX: u32 = 20;
        const IA5: u32 = 22;
        const UTC: u32 = 23;
        const GENERALIZED: u32 = 24;
        const BMP: u32 = 30;
        let content = raw.element.content;
        if raw.header.class != 0 || raw.header.compound {
            return Ok(Self::Nothing);
        }
        let latin = || Self::Text(content.iter().map(|byte| char::from(*byte)).collect());
        let of_letters = |allowed: fn(&u8) -> bool, name: &str| {
            if content.iter().all(allowed) {
                return Ok(latin());
            }
            let problem = format!("asn1: syntax error: {name} contains invalid character");
            Err(Asn1Error::from(problem))
        };
        Ok(match raw.header.number {
            tag if tag == u32::from(der::BOOLEAN) => Self::Bool(boolean(content)?),
            tag if tag == u32::from(der::INTEGER) => Self::Int(number(content)?),
            tag if tag == u32::from(der::BIT_STRING) => Self::Bits(bits(content)?),
            tag if tag == u32::from(der::OCTET_STRING) => Self::Bytes(content),
            tag if tag == u32::from(der::OID) => {
                arcs(content)?;
                Self::Oid(content)
            }
            PRINTABLE => {
                let is_printable =
                    |byte: &u8| byte.is_ascii_alphanumeric() || b" '()+,-./:=?*&".contains(byte);
                return of_letters(is_printable, "PrintableString");
            }
            NUMERIC => {
                let is_numeric = |byte: &u8| byte.is_ascii_digit() || *byte == b' ';
                return of_letters(is_numeric, "NumericString");
            }
            IA5 => return of_letters(u8::is_ascii, "IA5String"),
            TELETEX => latin(),
            UTF8 => match std::str::from_utf8(content) {
                Ok(text) => Self::Text(text.to_owned()),
                Err(_) => return Err("asn1: invalid UTF-8 string".into()),
            },
            BMP => Self::Text(bmp(content).ok_or("invalid BMPString")?),
            tag @ (UTC | GENERALIZED) => {
                let year_digits = if tag == UTC { 2 } else { 4 };
                let time = time::parse(content, year_digits);
                Self::Time(time.ok_or("asn1: time did not serialize back to the original value")?)
            }
            _ => Self::Nothing,
        })
    }
}
