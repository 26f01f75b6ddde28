//! URIs as parsed by Go.

mod address;
mod file;

use std::borrow::Cow;
use std::fmt;

use crate::value::display;

pub use file::{FileUrlError, file_path};

/// Components of a URI. Missing components are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uri {
    /// Scheme in lower case, without the colon.
    pub scheme: String,
    /// Text after the scheme if it does not start with a slash.
    pub opaque: Vec<u8>,
    /// User name and password, not decoded.
    pub user: Vec<u8>,
    /// Host and port, decoded.
    pub host: Vec<u8>,
    /// Path, after percent-decoding.
    pub path: Vec<u8>,
    /// Path, not decoded, if encoding the decoded path yields something else.
    pub raw_path: Vec<u8>,
    /// Query, not decoded, without the question mark.
    pub query: Vec<u8>,
    /// `true` for a question mark without a query.
    pub has_empty_query: bool,
    /// Fragment, after percent-decoding. Empty if there is none.
    pub fragment: Vec<u8>,
    /// `true` if only the scheme precedes a path that starts with a slash: `file:/x`.
    pub omits_host: bool,
}

/// Why a text is not a URI, in Go's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriError {
    text: String,
    reason: String,
}

impl fmt::Display for UriError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "parse {}: {}", self.text, self.reason)
    }
}

impl std::error::Error for UriError {}

/// URI component that an encoded text belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UriPart {
    Path,
    Host,
    Zone,
    User,
    Fragment,
}

type UriResult<T> = Result<T, String>;

/// Parses a URI or a reference. Decodes path and fragment.
///
/// # Errors
/// The text is not valid: Go's message.
pub fn parse(text: &[u8]) -> Result<Uri, UriError> {
    let (head, fragment) = cut(text, b'#');
    let fail = |text: &[u8], reason| UriError {
        text: quote(text),
        reason,
    };
    let mut uri = parse_head(head).map_err(|reason| fail(head, reason))?;
    let decoded = decode(fragment, UriPart::Fragment);
    uri.fragment = decoded.map_err(|reason| fail(text, reason))?.into_owned();
    Ok(uri)
}

fn parse_head(text: &[u8]) -> UriResult<Uri> {
    if text.iter().any(u8::is_ascii_control) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    let mut uri = Uri::default();
    if text == b"*" {
        uri.path = text.to_vec();
        return Ok(uri);
    }
    let (scheme, rest) = split_scheme(text)?;
    uri.scheme = String::from_utf8_lossy(scheme).to_ascii_lowercase();
    let (rest, query) = cut(rest, b'?');
    uri.query = query.to_vec();
    uri.has_empty_query = query.is_empty() && text.ends_with(b"?");
    if !rest.starts_with(b"/") {
        if !uri.scheme.is_empty() {
            uri.opaque = rest.to_vec();
            return Ok(uri);
        }
        if cut(rest, b'/').0.contains(&b':') {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    let mut path = rest;
    if (!uri.scheme.is_empty() || !rest.starts_with(b"///"))
        && let Some(rest) = rest.strip_prefix(b"//")
    {
        let end = rest.iter().position(|byte| *byte == b'/');
        let (authority, path_and_query) = rest
            .split_at_checked(end.unwrap_or(rest.len()))
            .unwrap_or((rest, b""));
        path = path_and_query;
        (uri.user, uri.host) = parse_authority(authority, &uri.scheme)?;
    }
    let authority = path.len() != rest.len();
    uri.omits_host = !authority && !uri.scheme.is_empty() && path.starts_with(b"/");
    uri.path = decode(path, UriPart::Path)?.into_owned();
    if encode_path(&uri.path) != path {
        uri.raw_path = path.to_vec();
    }
    Ok(uri)
}

fn quote(text: &[u8]) -> String {
    let mut quoted_text = String::new();
    // writing to a string does not fail
    let _ = display::quote(text, &mut quoted_text);
    quoted_text
}

/// Splits a text at the first `byte`.
fn cut(text: &[u8], byte: u8) -> (&[u8], &[u8]) {
    match text.iter().position(|b| *b == byte) {
        Some(index) => (
            text.get(..index).unwrap_or_default(),
            text.get(index + 1..).unwrap_or_default(),
        ),
        None => (text, b""),
    }
}

fn split_scheme(text: &[u8]) -> UriResult<(&[u8], &[u8])> {
    let stop = text
        .iter()
        .position(|byte| !(byte.is_ascii_alphanumeric() || b"+-.".contains(byte)));
    let starts = text.first().is_some_and(u8::is_ascii_alphabetic);
    match stop.and_then(|index| Some((index, text.get(index)?))) {
        Some((0, b':')) => Err("missing protocol scheme".to_owned()),
        Some((_, b':')) if starts => Ok(cut(text, b':')),
        _ => Ok((b"", text)),
    }
}

fn parse_authority(text: &[u8], scheme: &str) -> UriResult<(Vec<u8>, Vec<u8>)> {
    let at_sign = text.iter().rposition(|byte| *byte == b'@');
    let host = at_sign.map_or(text, |at_sign| text.get(at_sign + 1..).unwrap_or_default());
    let host = parse_host(host, matches!(scheme, "http" | "https"))?;
    let user = at_sign
        .and_then(|at_sign| text.get(..at_sign))
        .unwrap_or_default();
    let is_valid = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(byte);
    if !user.iter().all(is_valid) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    decode(user, UriPart::User)?;
    Ok((user.to_vec(), host))
}

/// Parses a host. With `web`, more than one colon is an error; otherwise the last one precedes the port, as in
/// `postgres://a:1,b:2`.
fn parse_host(text: &[u8], web: bool) -> UriResult<Vec<u8>> {
    let check_port = |port: &[u8]| match port.split_first() {
        None => Ok(()),
        Some((b':', digits)) if digits.iter().all(u8::is_ascii_digit) => Ok(()),
        _ => Err(format!("invalid port {} after host", quote(port))),
    };
    let last = |byte| text.iter().rposition(|b| *b == byte);
    if text.starts_with(b"[") {
        let end = last(b']').ok_or("missing ']' in host")?;
        let (bracketed, port) = text.split_at_checked(end).unwrap_or_default();
        check_port(port.get(1..).unwrap_or_default())?;
        let zone = bracketed.windows(3).position(|window| window == b"%25");
        let (address, zone) = bracketed
            .split_at_checked(zone.unwrap_or(bracketed.len()))
            .unwrap_or_default();
        let mut host = decode(address, UriPart::Host)?.into_owned();
        host.extend_from_slice(&decode(zone, UriPart::Zone)?);
        address::check(host.get(1..).unwrap_or_default())?;
        host.extend_from_slice(&decode(port, UriPart::Host)?);
        return Ok(host);
    }
    if text.contains(&b'[') {
        return Err("invalid IP-literal".to_owned());
    }
    let first = |byte| text.iter().position(|b| *b == byte);
    if let Some(colon) = if web { first(b':') } else { last(b':') } {
        check_port(text.get(colon..).unwrap_or_default())?;
    }
    Ok(decode(text, UriPart::Host)?.into_owned())
}

/// Decodes percent-encoding.
fn decode(text: &[u8], part: UriPart) -> UriResult<Cow<'_, [u8]>> {
    let in_host = matches!(part, UriPart::Host | UriPart::Zone);
    if !in_host && !text.contains(&b'%') {
        return Ok(Cow::Borrowed(text));
    }
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first != b'%' {
            if in_host && first.is_ascii() && must_encode(*first, part) {
                return Err(format!(
                    "invalid character {} in host name",
                    quote(&[*first])
                ));
            }
            decoded.push(*first);
            continue;
        }
        let escape = [b"%", tail.get(..2).unwrap_or(tail)].concat();
        let wrong = || format!("invalid URL escape {}", quote(&escape));
        let [_, high, low] = escape.as_slice() else {
            return Err(wrong());
        };
        let (high, low) = (hex(*high).ok_or_else(wrong)?, hex(*low).ok_or_else(wrong)?);
        let byte = high * 16 + low;
        let allowed = match part {
            UriPart::Host => high >= 8 || byte == b'%',
            UriPart::Zone => byte == b'%' || byte == b' ' || !must_encode(byte, UriPart::Host),
            _ => true,
        };
        if !allowed {
            return Err(wrong());
        }
        decoded.push(byte);
        rest = tail.get(2..).unwrap_or_default();
    }
    Ok(Cow::Owned(decoded))
}

/// Returns the value of a hexadecimal digit, or `None` for other bytes.
#[inline]
pub fn hex(digit: u8) -> Option<u8> {
    u8::try_from(char::from(digit).to_digit(16)?).ok()
}

fn must_encode(byte: u8, part: UriPart) -> bool {
    if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
        return false;
    }
    match part {
        UriPart::Host | UriPart::Zone => !b"!$&'()*+,;=:[]<>\"".contains(&byte),
        UriPart::Path => !b"$&+,/:;=@".contains(&byte),
        UriPart::User => !b"$&+,;=".contains(&byte),
        UriPart::Fragment => !b"$&+,/:;=?@!()*".contains(&byte),
    }
}

fn encode_path(path: &[u8]) -> Vec<u8> {
    encode(path, UriPart::Path)
}

fn encode(text: &[u8], part: UriPart) -> Vec<u8> {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut encoded = Vec::with_capacity(text.len());
    for byte in text {
        if must_encode(*byte, part) {
            let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or(b'0');
            encoded.extend([b'%', digit(byte >> 4), digit(byte & 15)]);
        } else {
            encoded.push(*byte);
        }
    }
    encoded
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = String::from_utf8_lossy;
        if !self.scheme.is_empty() {
            write!(f, "{}:", self.scheme)?;
        }
        if self.opaque.is_empty() {
            let (user, host) = (text(&self.user), text(&self.host));
            let path = self.escaped_path();
            let has_authority = !user.is_empty() || !host.is_empty();
            if has_authority || !self.scheme.is_empty() && !path.is_empty() && !self.omits_host {
                f.write_str("//")?;
            }
            if !user.is_empty() {
                write!(f, "{user}@")?;
            }
            f.write_str(&text(&encode(&self.host, UriPart::Host)))?;
            if !path.is_empty() && !path.starts_with(b"/") && !host.is_empty() {
                f.write_str("/")?;
            }
            f.write_str(&text(&path))?;
        } else {
            f.write_str(&text(&self.opaque))?;
        }
        if !self.query.is_empty() || self.has_empty_query {
            write!(f, "?{}", text(&self.query))?;
        }
        if !self.fragment.is_empty() {
            let fragment = encode(&self.fragment, UriPart::Fragment);
            write!(f, "#{}", text(&fragment))?;
        }
        Ok(())
    }
}

impl Uri {
    /// Returns the encoded path: as written, if that is a valid encoding.
    pub fn escaped_path(&self) -> Cow<'_, [u8]> {
        let is_encoded =
            |byte: &u8| b"!'()*[]%".contains(byte) || !must_encode(*byte, UriPart::Path);
        if !self.raw_path.is_empty() && self.raw_path.iter().all(is_encoded) {
            Cow::Borrowed(&self.raw_path)
        } else if self.path == b"*" {
            Cow::Borrowed(&self.path)
        } else {
            Cow::Owned(encode_path(&self.path))
        }
    }

    /// Returns the host without port and brackets.
    pub fn hostname(&self) -> &[u8] {
        let (name, _) = self.split_host();
        name.strip_prefix(b"[")
            .and_then(|name| name.strip_suffix(b"]"))
            .unwrap_or(name)
    }

    /// Returns the port, or an empty text if there is none.
    pub fn port(&self) -> &[u8] {
        self.split_host().1
    }

    fn split_host(&self) -> (&[u8], &[u8]) {
        let host = self.host.as_slice();
        match host.iter().rposition(|byte| *byte == b':') {
            Some(colon) => {
                let (name, port) = host.split_at_checked(colon).unwrap_or_default();
                let port = port.get(1..).unwrap_or_default();
                if port.iter().all(u8::is_ascii_digit) {
                    (name, port)
                } else {
                    (host, b"")
                }
            }
            None => (host, b""),
        }
    }
}
