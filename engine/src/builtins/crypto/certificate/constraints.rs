//! Name constraints of certificate authorities.

use std::net::IpAddr;

use super::domain;
use super::names::{AlternativeNames, NameConstraints, Subtrees};
use crate::uri::Uri;

/// Number of remaining comparisons.
pub struct Allowance(pub usize);

/// Returns `true` if constraints permit all names of a certificate. A malformed mailbox is not permitted.
pub fn permits(
    constraints: &NameConstraints<'_>,
    names: &AlternativeNames<'_>,
    allowance: &mut Allowance,
) -> bool {
    let emails = names.emails.iter().all(|email| {
        let Some((local, host)) = domain::mailbox(email) else {
            return false;
        };
        check_constraint_kind(
            constraints,
            |trees| &trees.emails,
            |constraint| match domain::mailbox(constraint).filter(|_| constraint.contains('@')) {
                Some((constraint_local, constraint_host)) => {
                    constraint_local == local && constraint_host.eq_ignore_ascii_case(host)
                }
                None => is_below(host, constraint),
            },
            allowance,
        )
    });
    let dns = names.dns.iter().all(|name| {
        let covers_excluded = || {
            let excluded = constraints.excluded.dns.iter();
            { excluded }.any(|constraint| is_covered(name, constraint))
        };
        domain::is_valid(name, false)
            && !covers_excluded()
            && check_constraint_kind(
                constraints,
                |trees| &trees.dns,
                |constraint| is_below(name, constraint),
                allowance,
            )
    });
    let uris = names.uris.iter().all(|uri| {
        let host = String::from_utf8_lossy(uri.hostname()).into_owned();
        // constraints of all kinds apply to host names, so that a URI without a host name matches none
        has_name(uri)
            && check_constraint_kind(
                constraints,
                |trees| &trees.uris,
                |constraint| is_below(&host, constraint),
                allowance,
            )
    });
    let addresses = names.addresses.iter().all(|address| {
        check_constraint_kind(
            constraints,
            |trees| &trees.ranges,
            |(base, mask)| {
                let bits = address.iter().zip(*base).zip(*mask);
                address.len() == base.len() && { bits }
                    .all(|((byte, base), mask)| byte & mask == base & mask)
            },
            allowance,
        )
    });
    emails && dns && uris && addresses
}

/// Returns `true` if a name matches no excluded constraint, and a permitted one if there are any.
fn check_constraint_kind<'t, 'd: 't, C: 't>(
    constraints: &'t NameConstraints<'d>,
    of_kind: impl Fn(&'t Subtrees<'d>) -> &'t Vec<C>,
    matches: impl Fn(&C) -> bool,
    allowance: &mut Allowance,
) -> bool {
    let (excluded, permitted) = (
        of_kind(&constraints.excluded),
        of_kind(&constraints.permitted),
    );
    match allowance.0.checked_sub(excluded.len() + permitted.len()) {
        Some(remaining) => allowance.0 = remaining,
        None => return false,
    }
    !excluded.iter().any(&matches) && (permitted.is_empty() || permitted.iter().any(&matches))
}

/// Returns `true` if the host of a URI is a name. Brackets contain an address, which the URI parser has validated,
/// possibly with a zone.
fn has_name(uri: &Uri) -> bool {
    let host = std::str::from_utf8(uri.hostname());
    let is_address = host.is_ok_and(|host| host.parse::<IpAddr>().is_ok());
    !uri.hostname().is_empty() && !uri.host.starts_with(b"[") && !is_address
}

/// Returns `true` if a wildcard name also covers a domain.
fn is_covered(name: &str, domain: &str) -> bool {
    let parent_of = |name: &str| {
        name.split_once('.')
            .map(|(_, parent)| parent.to_ascii_lowercase())
    };
    name.starts_with("*.") && !domain.starts_with('.') && parent_of(name) == parent_of(domain)
}

/// Returns `true` if a domain equals a constraint or is a subdomain of it. A constraint that starts with a dot covers
/// only subdomains.
fn is_below(name: &str, constraint: &str) -> bool {
    if constraint.is_empty() {
        return true;
    }
    let (parent_domain, strictly) = match constraint.strip_prefix('.') {
        Some(parent_domain) => (parent_domain, true),
        None => (constraint, false),
    };
    let mut labels = name.rsplit('.');
    let fits = parent_domain.rsplit('.').all(|label| {
        labels
            .next()
            .is_some_and(|own_label| own_label.eq_ignore_ascii_case(label))
    });
    fits && (!strictly || labels.next().is_some())
}

#[cfg(test)]
mod tests {
    use super::has_name;
    use crate::uri;

    #[test]
    fn addresses_are_no_names() {
        for (text, expected) in [
            ("https://10.0.0.1/", false),
            ("https://[fe80::1]/", false),
            ("https://[fe80::1]:443/", false),
            ("https://[fe80::1%25en0]/", false),
            ("https://[fe80::1%25en0]:443/", false),
            ("https://[::ffff:10.0.0.1%251]/", false),
            ("https:///path", false),
            ("https://example.com/", true),
            ("https://example.com:443/", true),
            ("https://10.0.0/", true),
        ] {
            let is_name = uri::parse(text.as_bytes()).map(|uri| has_name(&uri));
            assert_eq!(is_name.ok(), Some(expected), "{text}");
        }
        for text in [
            "https://[fe80::1%25]/",
            "https://fe80::1%25en0/",
            "https://[name]/",
        ] {
            assert!(uri::parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
