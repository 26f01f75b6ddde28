//! IPv6 addresses in brackets.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::quote;

/// Message, and the invalid rest of the text.
type AddressError<'t> = (&'static str, &'t [u8]);

/// Validates an address, which may have a zone. The error is Go's message.
pub fn check(text: &[u8]) -> Result<(), String> {
    let first = text.iter().find(|byte| b".:%".contains(byte));
    let result = match first {
        Some(b'.') => match std::str::from_utf8(text).map(str::parse::<Ipv4Addr>) {
            Ok(Ok(_)) => return Err("invalid IP-literal".to_owned()),
            _ => ipv4(text),
        },
        Some(b':') => ipv6(text),
        Some(_) => Err(("missing IPv6 address", &b""[..])),
        None => Err(("unable to parse IP", &b""[..])),
    };
    result.map_err(|(problem, rest_of_text)| {
        let location = if rest_of_text.is_empty() {
            String::new()
        } else {
            format!(" (at {})", quote(rest_of_text))
        };
        format!(
            "invalid host: ParseAddr({}): {problem}{location}",
            quote(text)
        )
    })
}

fn ipv6(text: &[u8]) -> Result<(), AddressError<'_>> {
    let zone = text.iter().position(|byte| *byte == b'%');
    let (mut rest, zone) = text
        .split_at_checked(zone.unwrap_or(text.len()))
        .unwrap_or((text, b""));
    if zone == b"%" {
        return Err(("zone must be a non-empty string", b""));
    }
    if let Ok(address) = std::str::from_utf8(rest)
        && address.parse::<Ipv6Addr>().is_ok()
    {
        return Ok(());
    }
    let mut gap = false;
    let mut bytes = 0;
    if let Some(after_gap) = rest.strip_prefix(b"::") {
        (gap, rest) = (true, after_gap);
        if rest.is_empty() {
            return Ok(());
        }
    }
    while bytes < 16 {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_hexdigit());
        let digits = digits.count();
        if digits > 4 {
            return Err(("each group must have 4 or less digits", rest));
        }
        let Some(after_digits) = rest.get(digits..).filter(|_| digits > 0) else {
            let problem = "each colon-separated field must have at least one digit";
            return Err((problem, rest));
        };
        match after_digits {
            [b'.', ..] => {
                if !gap && bytes != 12 {
                    let problem =
                        "embedded IPv4 address must replace the final 2 fields of the address";
                    return Err((problem, rest));
                }
                if bytes + 4 > 16 {
                    let problem =
                        "too many hex fields to fit an embedded IPv4 at the end of the address";
                    return Err((problem, rest));
                }
                ipv4(rest)?;
                rest = b"";
                bytes += 4;
                break;
            }
            [] => {
                rest = after_digits;
                bytes += 2;
                break;
            }
            [b':'] => return Err(("colon must be followed by more characters", after_digits)),
            [b':', rest_of_groups @ ..] => {
                bytes += 2;
                rest = rest_of_groups;
            }
            _ => return Err(("unexpected character, want colon", after_digits)),
        }
        if let [b':', rest_of_groups @ ..] = rest {
            if gap {
                return Err(("multiple :: in address", rest));
            }
            (gap, rest) = (true, rest_of_groups);
            if rest.is_empty() {
                break;
            }
        }
    }
    if !rest.is_empty() {
        return Err(("trailing garbage after address", rest));
    }
    match (bytes < 16, gap) {
        (true, false) => Err(("address string too short", b"")),
        (false, true) => Err(("the :: must expand to at least one field of zeros", b"")),
        _ => Ok(()),
    }
}

fn ipv4(text: &[u8]) -> Result<(), AddressError<'_>> {
    let (mut value, mut digits, mut dots) = (0_u32, 0, 0);
    for (index, byte) in text.iter().enumerate() {
        let rest = text.get(index..).unwrap_or_default();
        match byte {
            b'0'..=b'9' => {
                if digits == 1 && value == 0 {
                    return Err(("IPv4 field has octet with leading zero", b""));
                }
                value = value * 10 + u32::from(byte - b'0');
                digits += 1;
                if value > 255 {
                    return Err(("IPv4 field has value >255", b""));
                }
            }
            b'.' => {
                if digits == 0 || rest.len() == 1 {
                    return Err(("IPv4 field must have at least one digit", rest));
                }
                if dots == 3 {
                    return Err(("IPv4 address too long", b""));
                }
                dots += 1;
                (value, digits) = (0, 0);
            }
            _ => return Err(("unexpected character", rest)),
        }
    }
    if dots < 3 {
        return Err(("IPv4 address too short", b""));
    }
    Ok(())
}
