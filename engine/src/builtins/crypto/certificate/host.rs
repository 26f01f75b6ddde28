//! Matches certificates with host names.

use std::net::IpAddr;

use super::Certificate;

/// Returns `true` if a certificate is valid for a host name or address.
pub fn names_host(certificate: &Certificate<'_>, host: &str) -> bool {
    let names = &certificate.extensions.names;
    let bare = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .filter(|bare| !bare.is_empty());
    if let Ok(address) = bare.unwrap_or(host).parse::<IpAddr>() {
        let address = address.to_canonical();
        return names
            .addresses
            .iter()
            .any(|name| read_address(name) == Some(address));
    }
    let host = host.to_ascii_lowercase();
    let is_name = is_host(&host, false);
    names.dns.iter().any(|pattern| {
        if is_name && is_host(pattern, true) {
            matches(pattern, &host)
        } else {
            let plain = |name: &str| !name.is_empty() && name != ".";
            plain(&host) && plain(pattern) && pattern.eq_ignore_ascii_case(&host)
        }
    })
}

fn read_address(bytes: &[u8]) -> Option<IpAddr> {
    let address = match <[u8; 4]>::try_from(bytes) {
        Ok(bytes) => IpAddr::from(bytes),
        Err(_) => IpAddr::from(<[u8; 16]>::try_from(bytes).ok()?),
    };
    Some(address.to_canonical())
}

/// Returns `true` if a text is a valid host name, or a valid pattern for host names.
fn is_host(text: &str, pattern: bool) -> bool {
    let text = if pattern {
        text
    } else {
        text.strip_suffix('.').unwrap_or(text)
    };
    if text.is_empty() || text == "*" {
        return false;
    }
    text.split('.').enumerate().all(|(index, label)| {
        let star = pattern && index == 0 && label == "*";
        let fits = |(index, c): (usize, char)| {
            c.is_ascii_alphanumeric() || c == '_' || c == '-' && index != 0
        };
        star || !label.is_empty() && label.char_indices().all(fits)
    })
}

/// Returns `true` if a host name matches a pattern, whose first label may be `*`.
fn matches(pattern: &str, host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    let (mut labels, mut host_labels) = (pattern.split('.'), host.split('.'));
    let mut first = true;
    loop {
        match (labels.next(), host_labels.next()) {
            (None, None) => return true,
            (Some(label), Some(host_label)) => {
                let star = first && label == "*";
                if !star && !label.eq_ignore_ascii_case(host_label) {
                    return false;
                }
            }
            _ => return false,
        }
        first = false;
    }
}
