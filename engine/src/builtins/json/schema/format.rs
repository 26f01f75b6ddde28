//! String formats of schemas, as checked by OPA's validator.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::LazyLock;

use crate::bug::bug;
use crate::builtins::regex::{Regex, is_pattern};
use crate::builtins::time::matches_layout;
use crate::uri;
use crate::value::{TextView, TextViewRepr};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaFormat {
    Date,
    Time,
    DateTime,
    Hostname,
    Email,
    Ipv4,
    Ipv6,
    Uri,
    UriReference,
    UriTemplate,
    Uuid,
    Regex,
    JsonPointer,
    RelativeJsonPointer,
}

impl SchemaFormat {
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "date" => Self::Date,
            "time" => Self::Time,
            "date-time" => Self::DateTime,
            "hostname" => Self::Hostname,
            "email" | "idn-email" => Self::Email,
            "ipv4" => Self::Ipv4,
            "ipv6" => Self::Ipv6,
            "uri" | "iri" => Self::Uri,
            "uri-reference" | "iri-reference" => Self::UriReference,
            "uri-template" => Self::UriTemplate,
            "uuid" => Self::Uuid,
            "regex" => Self::Regex,
            "json-pointer" => Self::JsonPointer,
            "relative-json-pointer" => Self::RelativeJsonPointer,
            _ => return None,
        })
    }

    pub fn accepts(self, text: &str) -> bool {
        match self {
            Self::Date => matches_layout("2006-01-02", text),
            Self::Time => is_time(text),
            Self::DateTime => {
                is_time(text)
                    || matches_layout("2006-01-02", text)
                    || matches_layout("2006-01-02T15:04:05Z07:00", text)
            }
            Self::Hostname => text.len() < 256 && HOSTNAME.accepts(text),
            Self::Email => super::email::is_address(text),
            Self::Ipv4 => text.contains('.') && text.parse::<IpAddr>().is_ok(),
            Self::Ipv6 => text.parse::<Ipv6Addr>().is_ok(),
            Self::Uri => scheme(text).is_some_and(|scheme| !scheme.is_empty()),
            Self::UriReference => scheme(text).is_some(),
            Self::UriTemplate => scheme(text).is_some() && URI_TEMPLATE.accepts(text),
            Self::Uuid => UUID.accepts(text),
            Self::Regex => is_pattern(text),
            Self::JsonPointer => JSON_POINTER.accepts(text),
            Self::RelativeJsonPointer => RELATIVE_JSON_POINTER.accepts(text),
        }
    }
}

/// Returns the scheme of a URI reference, or an empty text if it has none.
fn scheme(text: &str) -> Option<String> {
    let uri = uri::parse(text.as_bytes()).ok()?;
    (!text.contains('\\')).then_some(uri.scheme)
}

fn is_time(text: &str) -> bool {
    matches_layout("15:04:05", text) || matches_layout("15:04:05Z07:00", text)
}

/// A format defined by a regular expression.
struct RegexFormat(LazyLock<Option<Regex>>);

impl RegexFormat {
    fn accepts(&self, text: &str) -> bool {
        let regex = self.0.as_ref();
        regex.map_or_else(
            || bug!("a pattern of our own is none"),
            |regex| regex.is_match(&TextView(TextViewRepr::Utf8(text))),
        )
    }
}

static HOSTNAME: RegexFormat = RegexFormat(LazyLock::new(|| {
    const LABEL: &str = r"[a-zA-Z0-9]([a-zA-Z0-9\-]{0,61}[a-zA-Z0-9])?";
    Regex::new(&format!(r"^{LABEL}(\.{LABEL})*$")).ok()
}));

static URI_TEMPLATE: RegexFormat =
    RegexFormat(LazyLock::new(|| Regex::new(r"^([^{]*(\{[^}]*\})?)*$").ok()));

static UUID: RegexFormat = RegexFormat(LazyLock::new(|| {
    Regex::new("(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$").ok()
}));

static JSON_POINTER: RegexFormat =
    RegexFormat(LazyLock::new(|| Regex::new("^(/([^~/]|~0|~1)*)*$").ok()));

static RELATIVE_JSON_POINTER: RegexFormat = RegexFormat(LazyLock::new(|| {
    Regex::new("^(0|[1-9][0-9]*)(#|(/([^~/]|~0|~1)*)*)$").ok()
}));
