//! Alternative names of a subject, and name constraints of an authority.

use std::net::IpAddr;

use super::Asn1Error;
use super::domain;
use crate::builtins::crypto::der::{self, DerReader};
use crate::uri::{self, Uri};
use crate::value::display;

mod tag {
    pub const EMAIL: u8 = 0x81;
    pub const DNS: u8 = 0x82;
    pub const URI: u8 = 0x86;
    pub const IP: u8 = 0x87;
}

#[derive(Clone, Debug, Default)]
pub struct AlternativeNames<'d> {
    pub dns: Vec<&'d str>,
    pub emails: Vec<&'d str>,
    /// IP addresses, of 4 or 16 bytes.
    pub addresses: Vec<&'d [u8]>,
    pub uris: Vec<Uri>,
}

impl<'d> AlternativeNames<'d> {
    /// Decodes the content of the extension. The error is Go's message.
    pub fn read(value: &'d [u8]) -> Result<Self, Asn1Error> {
        let mut list = DerReader::new(value)
            .inside(der::SEQUENCE)
            .ok_or("x509: invalid subject alternative names")?;
        let mut names = Self::default();
        while !list.is_empty() {
            let name = list.any().ok_or("x509: invalid subject alternative name")?;
            let ascii = |kind: &str| {
                ascii(name.content)
                    .ok_or_else(|| Asn1Error::from(format!("x509: SAN {kind} is malformed")))
            };
            match name.tag {
                tag::EMAIL => names.emails.push(ascii("rfc822Name")?),
                tag::DNS => names.dns.push(ascii("dNSName")?),
                tag::URI => {
                    let text = ascii("uniformResourceIdentifier")?;
                    let uri_text = quoted(text.as_bytes());
                    let uri = uri::parse(text.as_bytes())
                        .map_err(|error| format!("x509: cannot parse URI {uri_text}: {error}"))?;
                    let host = String::from_utf8_lossy(&uri.host);
                    if !host.is_empty() && !domain::is_valid(&host, false) {
                        let problem = format!("x509: cannot parse URI {uri_text}: invalid domain");
                        return Err(problem.into());
                    }
                    names.uris.push(uri);
                }
                tag::IP => match name.content.len() {
                    4 | 16 => names.addresses.push(name.content),
                    length => {
                        let problem = format!("x509: cannot parse IP address of length {length}");
                        return Err(problem.into());
                    }
                },
                _ => {}
            }
        }
        Ok(names)
    }

    pub fn is_empty(&self) -> bool {
        self.dns.is_empty()
            && self.emails.is_empty()
            && self.addresses.is_empty()
            && self.uris.is_empty()
    }
}

/// Permitted or excluded names.
#[derive(Clone, Debug, Default)]
pub struct Subtrees<'d> {
    pub dns: Vec<&'d str>,
    /// Mailboxes or domains of mailboxes.
    pub emails: Vec<&'d str>,
    /// IP addresses with masks.
    pub ranges: Vec<(&'d [u8], &'d [u8])>,
    /// Host names of URIs.
    pub uris: Vec<&'d str>,
}

/// Constraints on names that an authority may certify.
#[derive(Clone, Debug, Default)]
pub struct NameConstraints<'d> {
    pub permitted: Subtrees<'d>,
    pub excluded: Subtrees<'d>,
    /// `true` if there are constraints on other kinds of names.
    pub unknown: bool,
}

impl<'d> NameConstraints<'d> {
    /// Decodes the content of the extension. The error is Go's message.
    pub fn read(value: &'d [u8]) -> Result<Self, Asn1Error> {
        const INVALID: &str = "x509: invalid NameConstraints extension";
        const EXCLUDED: u8 = 0xa1;
        let mut outer = DerReader::new(value);
        let mut fields = outer.inside(der::SEQUENCE).ok_or(INVALID)?;
        let permitted = fields.optional(der::CONTEXT_0).ok_or(INVALID)?;
        let excluded = fields.optional(EXCLUDED).ok_or(INVALID)?;
        if !outer.is_empty() || !fields.is_empty() {
            return Err(INVALID.into());
        }
        let (permitted, excluded) = (permitted.unwrap_or_default(), excluded.unwrap_or_default());
        if permitted.is_empty() && excluded.is_empty() {
            return Err("x509: empty name constraints extension".into());
        }
        let mut unknown = false;
        Ok(Self {
            permitted: Subtrees::read(DerReader::new(permitted), &mut unknown)?,
            excluded: Subtrees::read(DerReader::new(excluded), &mut unknown)?,
            unknown,
        })
    }
}

impl<'d> Subtrees<'d> {
    fn read(mut list: DerReader<'d>, unknown: &mut bool) -> Result<Self, Asn1Error> {
        const INVALID: &str = "x509: invalid NameConstraints extension";
        let mut trees = Self::default();
        while !list.is_empty() {
            let mut tree = list.inside(der::SEQUENCE).ok_or(INVALID)?;
            let name = tree.any().ok_or(INVALID)?;
            let text = || {
                ascii(name.content).ok_or_else(|| {
                    let text = quoted(name.content);
                    Asn1Error::from(format!(
                        "x509: invalid constraint value: x509: {text} cannot be encoded as an IA5String"
                    ))
                })
            };
            let unfit = |kind: &str, text: &str| -> Asn1Error {
                format!(
                    "x509: failed to parse {kind} constraint {}",
                    quoted(text.as_bytes())
                )
                .into()
            };
            match name.tag {
                tag::DNS => {
                    let text = text()?;
                    if !domain::is_valid(text, true) {
                        return Err(unfit("dnsName", text));
                    }
                    trees.dns.push(text);
                }
                tag::IP => trees.ranges.push(range(name.content)?),
                tag::EMAIL => {
                    let text = text()?;
                    let valid = if text.contains('@') {
                        domain::mailbox(text).is_some()
                    } else {
                        domain::is_valid(text, true)
                    };
                    if !valid {
                        return Err(unfit("rfc822Name", text));
                    }
                    trees.emails.push(text);
                }
                tag::URI => {
                    let text = text()?;
                    if text.parse::<IpAddr>().is_ok() {
                        let problem = unfit("URI", text);
                        return Err(format!("{problem}: cannot be IP address").into());
                    }
                    if !domain::is_valid(text, true) {
                        return Err(unfit("URI", text));
                    }
                    trees.uris.push(text);
                }
                _ => *unknown = true,
            }
        }
        Ok(trees)
    }
}

fn range(bytes: &[u8]) -> Result<(&[u8], &[u8]), Asn1Error> {
    let (address, mask) = match bytes.len() {
        8 | 32 => bytes.split_at(bytes.len() / 2),
        length => {
            return Err(format!("x509: IP constraint contained value of length {length}").into());
        }
    };
    // a mask consists of ones, followed by zeros
    let mut zeros = false;
    let is_mask = mask.iter().all(|byte| {
        let fits = !zeros && byte.leading_ones() + byte.trailing_zeros() >= 8 || *byte == 0;
        zeros |= *byte != 0xff;
        fits
    });
    if !is_mask {
        let mask = hex::encode(mask);
        return Err(format!("x509: IP constraint contained invalid mask {mask}").into());
    }
    Ok((address, mask))
}

fn ascii(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes)
        .ok()
        .filter(|text| text.is_ascii())
}

/// Quotes a text as Go does.
pub fn quoted(text: &[u8]) -> String {
    let mut quoted_text = String::with_capacity(text.len() + 2);
    // writing to a string does not fail
    let _ = display::quote(text, &mut quoted_text);
    quoted_text
}
