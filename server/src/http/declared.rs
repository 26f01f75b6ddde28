//! What the headers of a request say of it, read in one pass: each look for a name would cost as much.

use hyper::Version;
use hyper::header::{
    CONTENT_ENCODING, CONTENT_TYPE, EXPECT, HOST, HeaderMap, HeaderValue, TRANSFER_ENCODING,
};

use super::connection::Refusal;
use super::message::REQUEST_ID;

/// What the headers say of a request.
#[derive(Clone, Debug, Default)]
pub struct Declared {
    /// Its body is YAML.
    pub is_yaml: bool,
    /// Its body is packed by gzip.
    pub is_packed: bool,
    /// Its client gave it a name.
    pub is_named: bool,
}

/// The values that are asked for, the first of each.
#[derive(Default)]
struct Found<'a> {
    host: Option<&'a HeaderValue>,
    other_host: bool,
    coding: Option<&'a HeaderValue>,
    other_coding: bool,
    expects: Option<&'a HeaderValue>,
    media: Option<&'a HeaderValue>,
    packing: Option<&'a HeaderValue>,
}

impl Declared {
    /// Reads headers. A request that is not what HTTP demands, beside what the reader of heads sees to, has a refusal.
    pub fn by(headers: &HeaderMap, version: Version) -> (Self, Option<Refusal>) {
        let mut found = Found::default();
        let mut is_named = false;
        for (name, value) in headers {
            let place = if name == HOST {
                found.other_host = found.host.is_some();
                &mut found.host
            } else if name == CONTENT_TYPE {
                &mut found.media
            } else if name == TRANSFER_ENCODING {
                found.other_coding = found.coding.is_some();
                &mut found.coding
            } else if name == CONTENT_ENCODING {
                &mut found.packing
            } else if name == EXPECT {
                &mut found.expects
            } else {
                is_named |= name == REQUEST_ID;
                continue;
            };
            place.get_or_insert(value);
        }
        let declared = Self {
            is_yaml: found.media.is_some_and(is_yaml),
            is_packed: text(found.packing).contains("gzip"),
            is_named,
        };
        (declared, found.refusal(version))
    }
}

impl Found<'_> {
    fn refusal(&self, version: Version) -> Option<Refusal> {
        match self.host {
            None if version == Version::HTTP_11 => {
                return Some(Refusal::Host("missing required Host header"));
            }
            // whoever stands in front may have gone by the other
            Some(_) if self.other_host => {
                return Some(Refusal::Host("too many Host headers"));
            }
            Some(host) if !host.as_bytes().iter().all(|&byte| is_of_host(byte)) => {
                return Some(Refusal::Host("malformed Host header"));
            }
            _ => {}
        }
        if let Some(coding) = self.coding
            && (!coding.as_bytes().eq_ignore_ascii_case(b"chunked") || self.other_coding)
        {
            return Some(Refusal::TransferEncoding);
        }
        let expects = text(self.expects);
        let is_known = expects.is_empty() || expects.eq_ignore_ascii_case("100-continue");
        (!is_known).then_some(Refusal::Expectation)
    }
}

/// The text of a header; empty when it is missing or no text.
pub(super) fn text(value: Option<&HeaderValue>) -> &str {
    value.and_then(|value| value.to_str().ok()).unwrap_or("")
}

fn is_yaml(media: &HeaderValue) -> bool {
    // most requests have this one
    media != "application/json" && text(Some(media)).contains("yaml")
}

/// Whether a byte may stand in the name of a host, or behind it.
fn is_of_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'$'
                | b'%'
                | b'&'
                | b'\''
                | b'('
                | b')'
                | b'*'
                | b'+'
                | b','
                | b'-'
                | b'.'
                | b':'
                | b';'
                | b'='
                | b'['
                | b']'
                | b'_'
                | b'~'
        )
}

#[cfg(test)]
mod tests {
    use hyper::Version;
    use hyper::header::{HeaderMap, HeaderName, HeaderValue};

    use super::{Declared, Refusal};

    /// What headers in lines say.
    fn declared(lines: &[&str], version: Version) -> (Declared, Option<Refusal>) {
        let mut headers = HeaderMap::new();
        for line in lines {
            let (name, value) = line.split_once(": ").expect("a name and a value");
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
            headers.append(name, HeaderValue::from_str(value).expect("a value"));
        }
        Declared::by(&headers, version)
    }

    fn refusal(lines: &[&str]) -> Option<Refusal> {
        declared(lines, Version::HTTP_11).1
    }

    #[test]
    fn what_http_demands() {
        let host = |words| Some(Refusal::Host(words));
        assert_eq!(refusal(&["host: a:80"]), None);
        assert_eq!(refusal(&[]), host("missing required Host header"));
        assert_eq!(declared(&[], Version::HTTP_10).1, None);
        assert_eq!(declared(&[], Version::HTTP_2).1, None);
        let two = &["host: a", "host: a"];
        assert_eq!(refusal(two), host("too many Host headers"));
        for odd in ["host: a/b", "host: a b", "host: a@b", "host: \"a\""] {
            assert_eq!(refusal(&[odd]), host("malformed Host header"), "{odd}");
        }
        let coded = |value: &str| refusal(&["host: a", value]);
        assert_eq!(coded("transfer-encoding: Chunked"), None);
        for odd in ["gzip", "gzip, chunked", "identity", ""] {
            let refused = coded(&format!("transfer-encoding: {odd}"));
            assert_eq!(refused, Some(Refusal::TransferEncoding), "{odd}");
        }
        let twice = [
            "host: a",
            "transfer-encoding: chunked",
            "transfer-encoding: chunked",
        ];
        assert_eq!(refusal(&twice), Some(Refusal::TransferEncoding));
        assert_eq!(coded("expect: 100-Continue"), None);
        assert_eq!(coded("expect: 200-ok"), Some(Refusal::Expectation));
    }

    #[test]
    fn what_is_said_of_the_body() {
        let said = |lines: &[&str]| {
            let (said, _) = declared(lines, Version::HTTP_2);
            (said.is_yaml, said.is_packed, said.is_named)
        };
        assert_eq!(
            said(&["content-type: application/json"]),
            (false, false, false)
        );
        assert_eq!(
            said(&["content-type: application/x-yaml"]),
            (true, false, false)
        );
        assert_eq!(said(&["content-encoding: gzip"]), (false, true, false));
        assert_eq!(said(&["x-request-id: a"]), (false, false, true));
        // the first of a name counts
        let two = ["content-type: text/plain", "content-type: text/yaml"];
        assert_eq!(said(&two), (false, false, false));
    }
}
