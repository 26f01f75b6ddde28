//! `net.lookup_ip_addr`

use std::net::{IpAddr, Ipv6Addr};

use super::http::check_name;
use super::{Builtin, BuiltinContext, BuiltinError, EvalErrorCode, Operands};
use crate::host::{LookupError, NO_NETWORK};
use crate::value::ValueRef;

pub const TABLE: &[Builtin] = &[Builtin::new(
    "net.lookup_ip_addr",
    "name: string => addrs: set[string]",
    "The IP addresses of a host name.",
    lookup,
)
.waiting()
.nondeterministic()];

fn lookup<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let operand = operands.text(0)?;
    let name = operand.to_str();
    check_name(call, &name).map_err(BuiltinError::error)?;
    if let Some(cached) = call.caches().lookups.get(operand.as_bytes()) {
        return Ok(*cached);
    }
    let addresses = if let Some(address) = literal(&name) {
        vec![address]
    } else {
        let wait = call.budget.wait();
        let addresses_of_name = if is_name(&name) {
            call.hooks.host_call(|| call.host.addresses(&name, &wait))?
        } else {
            Err(LookupError::Failed("no such host".to_owned()))
        };
        let addresses = addresses_of_name.map_err(|error| failed(call, &name, error))?;
        addresses.iter().map(address_text).collect()
    };
    let arena = call.arena;
    let set = arena.set_from(addresses.iter().map(|address| arena.text(address)));
    call.caches().lookups.insert(operand.as_bytes().into(), set);
    Ok(set)
}

fn failed(call: &BuiltinContext<'_>, name: &str, error: LookupError) -> BuiltinError {
    match call.budget.ended("net.lookup_ip_addr") {
        Some(end) => end,
        None => match error {
            LookupError::Failed(problem) => {
                BuiltinError::error(format!("lookup {name}: {problem}"))
            }
            LookupError::Over(_) => BuiltinError::error(format!("lookup {name}: i/o timeout")),
            LookupError::NoNetwork => BuiltinError::halt(EvalErrorCode::Builtin, NO_NETWORK),
        },
    }
}

/// Returns the text of an IP address, with its zone, if the name is an address.
fn literal(name: &str) -> Option<String> {
    let (address, zone) = name.split_once('%').unwrap_or((name, ""));
    let address: IpAddr = address.parse().ok()?;
    match (address, zone) {
        (_, "") if !name.contains('%') => Some(address_text(&address)),
        (IpAddr::V6(address), zone) if !zone.is_empty() => Some(format!("{address}%{zone}")),
        _ => None,
    }
}

/// Formats an address in its shortest form. IPv4-mapped IPv6 addresses are formatted as IPv4.
fn address_text(address: &IpAddr) -> String {
    match address {
        IpAddr::V6(address) => match Ipv6Addr::to_ipv4_mapped(address) {
            Some(address) => address.to_string(),
            None => address.to_string(),
        },
        IpAddr::V4(address) => address.to_string(),
    }
}

/// Returns `true` if a text is a possible host name. Some system resolvers accept unusual spellings of numbers as
/// addresses, which OPA does not.
fn is_name(name: &str) -> bool {
    if name
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
    {
        return false;
    }
    let inner = name.strip_suffix('.').unwrap_or(name);
    !inner.is_empty()
        && inner.split('.').all(|label| {
            !label.is_empty()
                && label.len() < 64
                && label.bytes().all(|byte| {
                    byte.is_ascii_alphanumeric() || b"-_".contains(&byte) || !byte.is_ascii()
                })
        })
}
