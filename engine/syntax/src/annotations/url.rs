//! Validates and normalizes the URLs of related resources as Go does, with Go's error messages.

use std::fmt::Write;

use crate::print::quote;

/// Checks a URL and returns its normal form: the scheme in lower case, reserved characters percent-encoded.
pub(super) fn normalize(raw: &str) -> Result<String, String> {
    normalize_components(raw).map_err(|problem| format!("parse {}: {problem}", quote(raw)))
}

fn normalize_components(raw: &str) -> Result<String, String> {
    if raw.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    let (rest, fragment) = match raw.split_once('#') {
        Some((rest, fragment)) => (rest, Some(fragment)),
        None => (raw, None),
    };
    let (scheme, rest) = split_scheme(rest)?;
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, Some(query)),
        None => (rest, None),
    };
    let mut out = scheme
        .as_ref()
        .map_or_else(String::new, |scheme| format!("{scheme}:"));
    if scheme.is_some() && !rest.starts_with('/') && !rest.is_empty() {
        // `mailto:x` is opaque and has no further components
        out.push_str(rest);
    } else {
        if scheme.is_none()
            && rest
                .split('/')
                .next()
                .is_some_and(|first| first.contains(':'))
        {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
        let path = match rest.strip_prefix("//") {
            Some(rest) if scheme.is_some() || !rest.starts_with('/') => {
                let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                out.push_str("//");
                out.push_str(&normalize_authority(authority)?);
                path
            }
            _ => rest,
        };
        check_escapes(path)?;
        out.push_str(&escape(path, |byte| {
            byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@%!'()*[]".contains(&byte)
        }));
    }
    if let Some(query) = query {
        out.push('?');
        out.push_str(query);
    }
    if let Some(fragment) = fragment.filter(|fragment| !fragment.is_empty()) {
        check_escapes(fragment)?;
        out.push('#');
        out.push_str(&escape(fragment, |byte| {
            byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=?@%!()*'[]".contains(&byte)
        }));
    }
    Ok(out)
}

/// Splits off `scheme:`. A colon after any other prefix belongs to the rest.
fn split_scheme(raw: &str) -> Result<(Option<String>, &str), String> {
    let Some((scheme, rest)) = raw.split_once(':') else {
        return Ok((None, raw));
    };
    if scheme.is_empty() {
        return Err("missing protocol scheme".to_owned());
    }
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    Ok(if is_scheme {
        (Some(scheme.to_ascii_lowercase()), rest)
    } else {
        (None, raw)
    })
}

fn normalize_authority(authority: &str) -> Result<String, String> {
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    check_host(host)?;
    let Some(user) = user else {
        return Ok(host.to_owned());
    };
    if !user
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte))
    {
        return Err("net/url: invalid userinfo".to_owned());
    }
    check_escapes(user)?;
    Ok(format!("{user}@{host}"))
}

fn check_host(host: &str) -> Result<(), String> {
    let port = if host.starts_with('[') {
        let Some((_, port)) = host.rsplit_once(']') else {
            return Err("missing ']' in host".to_owned());
        };
        port
    } else if host.contains('[') {
        return Err("invalid IP-literal".to_owned());
    } else {
        host.find(':')
            .map_or("", |start| host.get(start..).unwrap_or_default())
    };
    let digits = port.strip_prefix(':').unwrap_or(port);
    if !digits.bytes().all(|byte| byte.is_ascii_digit())
        || (!port.is_empty() && !port.starts_with(':'))
    {
        return Err(format!("invalid port {} after host", quote(port)));
    }
    let odd = host.chars().find(|c| {
        c.is_ascii() && !c.is_ascii_alphanumeric() && !"-_.~!$&'()*+,;=:[]<>\"%".contains(*c)
    });
    match odd {
        Some(c) => Err(format!(
            "invalid character {} in host name",
            quote(&c.to_string())
        )),
        None => check_escapes(host),
    }
}

/// Checks that every `%` is followed by two hexadecimal digits.
fn check_escapes(text: &str) -> Result<(), String> {
    for (start, _) in text.match_indices('%') {
        let rest = text.get(start..).unwrap_or_default();
        let mut digits = rest.bytes().skip(1).take(2);
        if !(digits.len() == 2 && digits.all(|byte| byte.is_ascii_hexdigit())) {
            return Err(format!(
                "invalid URL escape {}",
                quote(&rest.chars().take(3).collect::<String>())
            ));
        }
    }
    Ok(())
}

fn escape(text: &str, keep: impl Fn(u8) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if keep(byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
