//! Universally unique identifiers.

use std::collections::btree_map::Entry;

use super::{Builtin, BuiltinContext, BuiltinError, Operands, call};
use crate::host::Host;
use crate::value::{RefRepr, ValueRef};

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "uuid.parse",
        "uuid: string => result: object[string: any]",
        "The fields of an identifier.",
        parse,
    ),
    Builtin::new(
        "uuid.rfc4122",
        "k: string => output: string",
        "A random identifier. Equal keys yield equal results within an evaluation.",
        rfc4122,
    )
    .nondeterministic(),
];

/// Time between the start of the Gregorian calendar and 1970, in units of 100 ns.
const GREGORIAN_START: u64 = 0x01b2_1dd2_1381_4000;

/// Positions of the dashes in the standard notation.
const DASHES: [usize; 4] = [8, 13, 18, 23];

/// Parses one of the notations: with dashes, also after `urn:uuid:` or between two characters, or digits only.
fn bits(text: &[u8]) -> Option<u128> {
    const URN: &[u8] = b"urn:uuid:";
    let dashed = match text.len() {
        32 => return number(text.iter()),
        36 => text,
        38 => text.get(1..37)?,
        45 => {
            let (urn, dashed) = text.split_at_checked(URN.len())?;
            urn.eq_ignore_ascii_case(URN).then_some(dashed)?
        }
        _ => return None,
    };
    let is_dash = |index: usize| DASHES.contains(&index);
    let split = DASHES.iter().all(|index| dashed.get(*index) == Some(&b'-'));
    let digits = dashed
        .iter()
        .enumerate()
        .filter(|(index, _)| !is_dash(*index));
    split.then(|| number(digits.map(|(_, byte)| byte)))?
}

fn number<'a>(mut digits: impl Iterator<Item = &'a u8>) -> Option<u128> {
    digits.try_fold(0, |number, byte| {
        let digit = char::from(*byte).to_digit(16)?;
        Some(number << 4 | u128::from(digit))
    })
}

/// Formats an identifier in the standard notation.
fn notation(bits: u128) -> String {
    let mut text = format!("{bits:032x}");
    for index in DASHES {
        text.insert(index, '-');
    }
    text
}

fn parse<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let Some(bits) = bits(operands.text(0)?.as_bytes()) else {
        return Err(BuiltinError::Undefined);
    };
    let arena = call.arena;
    let text = |text: &str| arena.text(text);
    let [time_low @ .., _, _, _, _, _, _, _, _, _, _, _, _] = bits.to_be_bytes();
    let [_, _, _, _, time @ .., clock, clock_low, _, _, _, _, _, _] = bits.to_be_bytes();
    let [.., n0, n1, n2, n3, n4, n5] = bits.to_be_bytes();
    let [mid_high, mid_low, high, high_low] = time;
    let version = high >> 4;
    let variant = match clock >> 5 {
        0b000..=0b011 => "Reserved",
        0b100 | 0b101 => "RFC4122",
        0b110 => "Microsoft",
        _ => "Future",
    };
    let mut fields = vec![
        (text("version"), ValueRef(RefRepr::Int(version.into()))),
        (text("variant"), text(variant)),
    ];
    let time_low = u32::from_be_bytes(time_low);
    if matches!(version, 1 | 2) {
        let ticks = u64::from(u16::from_be_bytes([high & 0x0f, high_low])) << 48
            | u64::from(u16::from_be_bytes([mid_high, mid_low])) << 32
            | u64::from(time_low);
        // like all times, nanoseconds wrap around
        let ns = ticks
            .wrapping_sub(GREGORIAN_START)
            .wrapping_mul(100)
            .cast_signed();
        let sequence = i64::from(u16::from_be_bytes([clock & 0x3f, clock_low]));
        let scope = if n0 & 2 == 0 { "global" } else { "local" };
        let address_kind = if n0 & 1 == 0 { "unicast" } else { "multicast" };
        let node = format!("{n0:02x}-{n1:02x}-{n2:02x}-{n3:02x}-{n4:02x}-{n5:02x}");
        fields.extend([
            (text("time"), ValueRef(RefRepr::Int(ns))),
            (text("clocksequence"), ValueRef(RefRepr::Int(sequence))),
            (text("nodeid"), text(&node)),
            (
                text("macvariables"),
                text(&format!("{scope}:{address_kind}")),
            ),
        ]);
    }
    if version == 2 {
        let domain = match clock_low {
            0 => text("Person"),
            1 => text("Group"),
            2 => text("Org"),
            other => text(&format!("Domain{other}")),
        };
        fields.extend([
            (text("id"), ValueRef(RefRepr::Int(time_low.into()))),
            (text("domain"), domain),
        ]);
    }
    Ok(arena.object_from(fields))
}

fn rfc4122<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    // keys of other kinds work like strings
    let key = match operands.operand(0).as_text() {
        Some(text) => [b"\"", text.as_bytes()].concat(),
        None => operands.operand(0).rego_text().to_string().into_bytes(),
    };
    let host = call.host;
    let bits = match call.caches().identifiers.entry(key.into()) {
        Entry::Occupied(entry) => *entry.get(),
        Entry::Vacant(entry) => *entry.insert(random(host)?),
    };
    Ok(call.arena.text(&notation(bits)))
}

/// Returns a random identifier of version 4 (RFC 4122).
fn random(host: &dyn Host) -> Result<u128, BuiltinError> {
    const VERSION: u128 = 0xf << 76;
    const VARIANT: u128 = 0b11 << 62;
    let bits = u128::from_be_bytes(call::random(host)?);
    Ok(bits & !VERSION & !VARIANT | 4 << 76 | 0b10 << 62)
}
