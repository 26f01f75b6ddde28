//! URLs of requests: encoding, display, and resolution of references.

use std::fmt::Write;

use crate::bug::Within;
use crate::uri::{self, Uri};
use crate::value::display;

/// Quotes text as Go's `%q` does.
pub fn quoted(text: &str) -> String {
    let mut quoted_text = String::with_capacity(text.len() + 2);
    // writing to a string does not fail
    let _ = display::quote(text.as_bytes(), &mut quoted_text);
    quoted_text
}

/// Parses a URL. The error is the message.
pub fn parse(text: &str) -> Result<Uri, String> {
    uri::parse(text.as_bytes()).map_err(|error| error.to_string())
}

/// Returns the host without brackets, and the port.
pub fn host_and_port(address: &Uri) -> (String, String) {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (text(address.hostname()), text(address.port()))
}

/// Returns host and port as in headers.
pub fn authority(address: &Uri) -> &[u8] {
    let host = address.host.as_slice();
    host.strip_suffix(b":").unwrap_or(host)
}

/// Returns the encoded path and query.
pub fn target(address: &Uri) -> String {
    let path = address.escaped_path();
    let mut target = if path.starts_with(b"/") {
        String::new()
    } else {
        "/".to_owned()
    };
    target.push_str(&String::from_utf8_lossy(&path));
    if !address.query.is_empty() || address.has_empty_query {
        target.push('?');
        encode(&address.query, &mut target);
    }
    target
}

/// Formats the URL with its password redacted.
pub fn redacted(address: &Uri) -> String {
    let mut redacted = address.clone();
    redacted.host = authority(address).to_vec();
    if let Some(colon) = redacted.user.iter().position(|byte| *byte == b':') {
        redacted.user.truncate(colon);
        redacted.user.extend_from_slice(b":***");
    }
    redacted.to_string()
}

/// Resolves a reference relative to `base` (RFC 3986, section 5.2).
pub fn join(base: &Uri, reference: &Uri) -> Result<Uri, String> {
    if !reference.opaque.is_empty() {
        return Ok(reference.clone());
    }
    let absolute = !reference.scheme.is_empty();
    let elsewhere = absolute || !reference.host.is_empty();
    let mut resolved = if absolute { reference } else { base }.clone();
    resolved.fragment.clone_from(&reference.fragment);
    let own_path = String::from_utf8_lossy(&reference.escaped_path()).into_owned();
    if !elsewhere && own_path.is_empty() {
        if !reference.query.is_empty() || reference.has_empty_query {
            resolved.query.clone_from(&reference.query);
        }
        return Ok(resolved);
    }
    if elsewhere {
        resolved.user.clone_from(&reference.user);
        resolved.host.clone_from(&reference.host);
    }
    resolved.query.clone_from(&reference.query);
    resolved.has_empty_query = reference.has_empty_query;
    let path = if elsewhere || own_path.starts_with('/') {
        own_path
    } else {
        let base = base.escaped_path();
        let base = String::from_utf8_lossy(&base);
        let folder = base.rfind('/').and_then(|slash| base.get(..=slash));
        format!("{}{own_path}", folder.unwrap_or("/"))
    };
    let path = parse(&without_dots(&path))?;
    (resolved.path, resolved.raw_path) = (path.path, path.raw_path);
    Ok(resolved)
}

/// Decodes percent-encoding.
pub fn decode(text: &[u8]) -> Vec<u8> {
    let mut parts = text.split(|byte| *byte == b'%');
    let mut decoded = parts.next().unwrap_or_default().to_vec();
    for part in parts {
        let digits = part
            .get(..2)
            .and_then(|code| std::str::from_utf8(code).ok());
        if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            decoded.push(byte);
            decoded.extend_from_slice(part.within(2..));
        } else {
            decoded.push(b'%');
            decoded.extend_from_slice(part);
        }
    }
    decoded
}

/// Appends a text. Percent-encodes bytes that are not allowed in URLs.
fn encode(text: &[u8], out: &mut String) {
    for byte in text {
        if byte.is_ascii_graphic() && !b"\"<>".contains(byte) {
            out.push(char::from(*byte));
        } else {
            // writing to a string does not fail
            let _ = write!(out, "%{byte:02X}");
        }
    }
}

/// Removes the `.` and `..` segments of a path.
fn without_dots(path: &str) -> String {
    let mut segments_kept: Vec<&str> = Vec::new();
    let path = path.strip_prefix('/').unwrap_or(path);
    let mut segments = path.split('/').peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    segments_kept.pop();
                }
                if last {
                    segments_kept.push("");
                }
            }
            other => segments_kept.push(other),
        }
    }
    format!("/{}", segments_kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_encoded() {
        for (text, expected) in [
            (
                "HTTP://u%40:p@Host:8080/a b/é<>?x y=<",
                "/a%20b/%C3%A9%3C%3E?x%20y=%3C",
            ),
            ("http://h", "/"),
            ("http://[::1]:1?q", "/?q"),
            ("http://h/a%2Fb", "/a%2Fb"),
        ] {
            assert_eq!(
                parse(text).map(|address| target(&address)),
                Ok(expected.to_owned())
            );
        }
        let address = parse("http://u%40:p@[::1]:80/x").unwrap_or_default();
        assert_eq!(host_and_port(&address), ("::1".to_owned(), "80".to_owned()));
        assert_eq!(decode(&address.user), b"u@:p");
        assert_eq!(redacted(&address), "http://u%40:***@[::1]:80/x");
        assert_eq!(decode(b"100%"), b"100%");
    }

    #[test]
    fn references_are_resolved() {
        let base = parse("http://h/a/b/c?q").unwrap_or_default();
        for (reference, expected) in [
            ("/x", "http://h/x"),
            ("x", "http://h/a/b/x"),
            ("../x/./y", "http://h/a/x/y"),
            ("..", "http://h/a/"),
            ("../../../../x", "http://h/x"),
            ("?z", "http://h/a/b/c?z"),
            ("", "http://h/a/b/c?q"),
            ("//other/x", "http://other/x"),
            ("https://s/../x%2Fy", "https://s/x%2Fy"),
        ] {
            let resolved = parse(reference).and_then(|reference| join(&base, &reference));
            assert_eq!(
                resolved.map(|url| redacted(&url)),
                Ok(expected.to_owned()),
                "{reference}"
            );
        }
    }
}
