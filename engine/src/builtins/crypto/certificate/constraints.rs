//! Whether an authority may certify names.

use std::net::{IpAddr, Ipv6Addr};

use super::domain;
use super::names::{AlternativeNames, NameConstraints, Subtrees};

/// How many comparisons are left.
pub struct Allowance(pub usize);

/// Whether constraints permit all names.
pub fn permits(
    constraints: &NameConstraints<'_>,
    names: &AlternativeNames<'_>,
    allowance: &mut Allowance,
) -> bool {
    let emails = names.emails.iter().all(|email| {
        let Some((local, host)) = domain::mailbox(email) else {
            return false;
        };
        one(
            constraints,
            |trees| &trees.emails,
            |constraint| match domain::mailbox(constraint).filter(|_| constraint.contains('@')) {
                Some((own, own_host)) => own == local && own_host.eq_ignore_ascii_case(host),
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
            && one(
                constraints,
                |trees| &trees.dns,
                |constraint| is_below(name, constraint),
                allowance,
            )
    });
    let uris = names.uris.iter().all(|uri| {
        let host = String::from_utf8_lossy(uri.hostname()).into_owned();
        // constraints of whatever kind are about names, so that a URI without one fits none
        let is_literal = uri.host.starts_with(b"[") && uri.host.ends_with(b"]");
        let named = !host.is_empty() && !is_literal && !is_address(&host);
        named
            && one(
                constraints,
                |trees| &trees.uris,
                |constraint| is_below(&host, constraint),
                allowance,
            )
    });
    let addresses = names.addresses.iter().all(|address| {
        one(
            constraints,
            |trees| &trees.ranges,
            |(base, mask)| {
                let bits = address.iter().zip(*base).zip(*mask);
                address.len() == base.len() && { bits }
                    .all(|((own, base), mask)| own & mask == base & mask)
            },
            allowance,
        )
    });
    emails && dns && uris && addresses
}

/// Whether one name matches no excluded constraint, and a permitted one if there are any.
fn one<'t, 'd: 't, C: 't>(
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
        Some(left) => allowance.0 = left,
        None => return false,
    }
    !excluded.iter().any(&matches) && (permitted.is_empty() || permitted.iter().any(&matches))
}

/// Whether a host is an address, perhaps with a zone behind it.
fn is_address(host: &str) -> bool {
    match host.split_once('%') {
        Some((address, zone)) => !zone.is_empty() && address.parse::<Ipv6Addr>().is_ok(),
        None => host.parse::<IpAddr>().is_ok(),
    }
}

/// Whether a name with a star in front stands for a domain as well.
fn is_covered(name: &str, domain: &str) -> bool {
    let above = |name: &str| {
        name.split_once('.')
            .map(|(_, above)| above.to_ascii_lowercase())
    };
    name.starts_with("*.") && !domain.starts_with('.') && above(name) == above(domain)
}

/// Whether a domain is another one or below it; one that starts with a period is only for those below.
fn is_below(name: &str, constraint: &str) -> bool {
    if constraint.is_empty() {
        return true;
    }
    let (above, strictly) = match constraint.strip_prefix('.') {
        Some(above) => (above, true),
        None => (constraint, false),
    };
    let mut labels = name.rsplit('.');
    let fits = above.rsplit('.').all(|label| {
        labels
            .next()
            .is_some_and(|own| own.eq_ignore_ascii_case(label))
    });
    fits && (!strictly || labels.next().is_some())
}

#[cfg(test)]
mod tests {
    use super::is_address;

    #[test]
    fn addresses_have_zones() {
        for address in ["10.0.0.1", "fe80::1", "fe80::1%en0", "::ffff:10.0.0.1%1"] {
            assert!(is_address(address), "{address}");
        }
        for name in ["example.com", "10.0.0.1%en0", "fe80::1%", "10.0.0", ""] {
            assert!(!is_address(name), "{name}");
        }
    }
}
