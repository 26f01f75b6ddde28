//! The filter format that a client accepts.

use solon::FilterTarget;

use crate::http::weight;

/// Brand names in media types.
const BRANDS: [&str; 3] = ["engine", "opa", "styra"];

/// Response format.
#[derive(Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Media type as the client writes it, without parameters.
    pub media: String,
    /// The target that the media type names.
    pub kind: AcceptedTargets,
}

/// One target, or those that the request lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptedTargets {
    One(FilterTarget),
    Several,
}

impl Accepted {
    /// Returns the best media type of an `Accept` header: the one with the highest weight, and the first of equal ones.
    pub fn from_header(header: &str) -> Result<Self, String> {
        let header = header.trim();
        if header.is_empty() {
            return Err("Accept header: missing required header".to_owned());
        }
        let mut best: Option<(f32, Self)> = None;
        for entry in header.split(',') {
            let mut parts = entry.split(';').map(str::trim);
            let media = parts.next().unwrap_or("");
            let (Some(kind), Some(weight)) = (kind(media), weight(parts)) else {
                continue;
            };
            if weight > 0.0 && best.as_ref().is_none_or(|(other, _)| weight > *other) {
                let media = media.to_owned();
                best = Some((weight, Self { media, kind }));
            }
        }
        best.map(|(_, best)| best)
            .ok_or_else(|| format!("Accept header: unsupported header: {header}"))
    }
}

fn kind(media: &str) -> Option<AcceptedTargets> {
    let rest = media.strip_prefix("application/vnd.")?;
    let rest = rest.strip_suffix("+json")?;
    let (brand, name) = rest.split_once('.')?;
    if !BRANDS.contains(&brand) {
        return None;
    }
    if name == "multitarget" {
        return Some(AcceptedTargets::Several);
    }
    let target = name.replacen('.', "+", 1).parse();
    target.ok().map(AcceptedTargets::One)
}

#[cfg(test)]
mod tests {
    use solon::FilterTarget;

    use super::{Accepted, AcceptedTargets};

    #[test]
    fn headers() {
        let best = |header: &str| {
            Accepted::from_header(header).map(|accepted| (accepted.media, accepted.kind))
        };
        let single = |media: &str, target| Ok((media.to_owned(), AcceptedTargets::One(target)));
        for brand in ["engine", "opa", "styra"] {
            let media = format!("application/vnd.{brand}.sql.sqlite+json");
            assert_eq!(best(&media), single(&media, FilterTarget::Sqlite));
        }
        assert_eq!(
            best(
                "text/html, application/vnd.opa.ucast.linq+json;q=0.5, application/vnd.opa.ucast.all+json;q=0.9"
            ),
            single("application/vnd.opa.ucast.all+json", FilterTarget::UcastAll)
        );
        assert_eq!(
            best("application/vnd.opa.sql.mysql+json,application/vnd.opa.ucast.all+json"),
            single("application/vnd.opa.sql.mysql+json", FilterTarget::Mysql)
        );
        for (header, expected) in [
            ("", "missing required header"),
            ("*/*", "unsupported header: */*"),
            ("application/json", "unsupported header: application/json"),
            (
                "application/vnd.opa.sql.mysql+json;q=0",
                "unsupported header: application/vnd.opa.sql.mysql+json;q=0",
            ),
            (
                "application/vnd.other.sql.mysql+json",
                "unsupported header: application/vnd.other.sql.mysql+json",
            ),
        ] {
            assert_eq!(best(header), Err(format!("Accept header: {expected}")));
        }
    }
}
