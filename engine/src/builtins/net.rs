//! Network addresses and CIDR blocks.

mod range;

use std::sync::Arc;

use smallvec::SmallVec;

use super::{
    Builtin, BuiltinContext, BuiltinError, IndexTest, IntrinsicFunction, IntrinsicResult, Members,
    Operands, Prepared,
};
use crate::bug::bug;
use crate::value::{RefRepr, TextView, TextViewRepr, ValueRef};
pub use range::Range;
use range::{Address, Ipv4Prefix, RangeKind};

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "net.cidr_contains",
        "cidr: string, cidr_or_ip: string => result: boolean",
        "Returns `true` if a block contains an address or all of another block.",
        cidr_contains,
    )
    .testing(IndexTest::Network)
    .specialise(prepare)
    .quick(IntrinsicFunction::Two(IntrinsicResult::Bool, contains)),
    Builtin::new(
        "net.cidr_contains_matches",
        "cidrs: any<string, array[any<string, array[any]>], object[string: any<string, array[any]>], set[any<string, array[any]>]>, cidrs_or_ips: any<string, array[any<string, array[any]>], object[string: any<string, array[any]>], set[any<string, array[any]>]> => output: set[array<any, any>]",
        "The pairs of a block and an address or block in it, identified by index, key or value.",
        cidr_contains_matches,
    ),
    Builtin::new(
        "net.cidr_expand",
        "cidr: string => hosts: set[string]",
        "All addresses of a block.",
        cidr_expand,
    ),
    Builtin::new(
        "net.cidr_intersects",
        "cidr1: string, cidr2: string => result: boolean",
        "Returns `true` if two blocks have an address in common.",
        cidr_intersects,
    )
    .quick(IntrinsicFunction::Two(IntrinsicResult::Bool, intersects)),
    Builtin::new(
        "net.cidr_is_valid",
        "cidr: string => result: boolean",
        "Returns `true` if a string denotes a block.",
        cidr_is_valid,
    )
    .quick(IntrinsicFunction::One(IntrinsicResult::Bool, is_block)),
    Builtin::new(
        "net.cidr_merge",
        "addrs: any<array[any<string>], set[string]> => output: set[string]",
        "The smallest list of blocks that covers the same addresses.",
        cidr_merge,
    ),
    Builtin::new(
        "net.cidr_overlap",
        "string, string => boolean",
        "Former name of `net.cidr_contains`.",
        cidr_contains,
    )
    .deprecated(),
];

/// Memory of an address in a set, in bytes; a low estimate.
const ADDRESS_BYTES: u128 = 32;

fn block(text: TextView<'_>) -> Result<Range, BuiltinError> {
    if let Some((RangeKind::Block, range)) = Range::usual(text.as_bytes()) {
        return Ok(range);
    }
    let text = &*text.to_str();
    match Range::parse(text) {
        Some((_, range)) => Ok(range),
        None => Err(BuiltinError::error(format!("invalid CIDR address: {text}"))),
    }
}

fn block_or_address(text: TextView<'_>) -> Result<Range, BuiltinError> {
    if let Some((_, range)) = Range::usual(text.as_bytes()) {
        return Ok(range);
    }
    let text = &*text.to_str();
    let address = || Address::parse(text).map(|address| Range::block(address, 0));
    let range = Range::parse(text).map(|(_, range)| range);
    range.or_else(address).ok_or_else(|| {
        BuiltinError::error(format!(
            "not a valid textual representation of an IP address or CIDR: {text}"
        ))
    })
}

/// Parses a block or an address. Returns `None` for other texts.
pub fn range(text: &str) -> Option<Range> {
    block_or_address(TextView(TextViewRepr::Utf8(text))).ok()
}

/// Returns a string operand. Messages always say operand 1, as in OPA.
fn text(value: ValueRef<'_>) -> Result<TextView<'_>, BuiltinError> {
    [value].text(0)
}

/// Parses a block in its common notation.
#[inline]
fn usual_block(text: &[u8]) -> Option<Range> {
    let (form, range) = Range::usual(text)?;
    (form == RangeKind::Block).then_some(range)
}

fn contains(block: &[u8], part: &[u8]) -> Option<i64> {
    if let Some(block) = usual_prefix(block)
        && let Some(part) = Ipv4Prefix::usual(part)
    {
        return Some(block.contains(part).into());
    }
    let (block, (_, part)) = (usual_block(block)?, Range::usual(part)?);
    Some(block.contains(part).into())
}

fn intersects(left: &[u8], right: &[u8]) -> Option<i64> {
    if let Some(left) = usual_prefix(left)
        && let Some(right) = usual_prefix(right)
    {
        return Some(left.intersects(right).into());
    }
    Some(usual_block(left)?.intersects(usual_block(right)?).into())
}

/// Parses an IPv4 block in its common notation.
#[inline]
fn usual_prefix(text: &[u8]) -> Option<Ipv4Prefix> {
    Ipv4Prefix::usual(text).filter(|prefix| prefix.kind == RangeKind::Block)
}

fn is_block(text: &[u8]) -> Option<i64> {
    usual_block(text).map(|_| 1)
}

fn cidr_contains<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let block = block(text(operands.operand(0))?)?;
    let part = block_or_address(text(operands.operand(1))?)?;
    Ok(ValueRef(RefRepr::Bool(block.contains(part))))
}

struct ConstantBlock(Range);

impl Prepared for ConstantBlock {
    fn call<'e>(
        &self,
        _: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        let part = block_or_address(text(operands.operand(1))?)?;
        Ok(ValueRef(RefRepr::Bool(self.0.contains(part))))
    }

    fn intrinsic_operand(&self) -> Option<(usize, IntrinsicResult)> {
        Some((1, IntrinsicResult::Bool))
    }

    fn intrinsic_result(&self, part: &[u8]) -> Option<i64> {
        let (_, part) = Range::usual(part)?;
        Some(self.0.contains(part).into())
    }
}

fn prepare(operands: &[Option<ValueRef<'_>>]) -> Option<Arc<dyn Prepared>> {
    let text = operands.first().copied()??.as_text()?;
    let (_, range) = Range::parse(&text.to_str())?;
    Some(Arc::new(ConstantBlock(range)))
}

fn cidr_intersects<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let left = block(text(operands.operand(0))?)?;
    let right = block(text(operands.operand(1))?)?;
    Ok(ValueRef(RefRepr::Bool(left.intersects(right))))
}

fn cidr_is_valid<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.operand(0).as_text();
    let valid = text.is_some_and(|text| Range::parse(&text.to_str()).is_some());
    Ok(ValueRef(RefRepr::Bool(valid)))
}

fn cidr_expand<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let Range { first, last, .. } = block(operands.text(0)?)?;
    let bytes = (last.0 - first.0).saturating_mul(ADDRESS_BYTES);
    call.budget
        .reserve(usize::try_from(bytes).unwrap_or(usize::MAX))?;
    let mut addresses = call.arena.list();
    for address in first.0..=last.0 {
        call.budget.spend(1)?;
        addresses.push(call.arena.text(&Address(address).to_string()));
    }
    Ok(call.arena.set_from(addresses))
}

/// Returns the members of an operand, each with the value that represents it in the result. A string is its own member.
fn members<'e>(
    operand: ValueRef<'e>,
) -> Box<dyn Iterator<Item = (ValueRef<'e>, ValueRef<'e>)> + 'e> {
    match operand {
        _ if operand.as_text().is_some() => Box::new(std::iter::once((operand, operand))),
        _ if let Some(object) = operand.as_object() => Box::new(object.iter()),
        _ => match Members::from_value(operand) {
            Some(Members::Array(array)) => Box::new(
                (0..)
                    .map(|index| ValueRef(RefRepr::Int(index)))
                    .zip(array.iter()),
            ),
            Some(Members::Set(set)) => Box::new(set.iter().map(|member| (member, member))),
            None => Box::new(std::iter::empty()),
        },
    }
}

/// Returns the string of a member, which is a string or an array that starts with one.
fn string_of_member(member: ValueRef<'_>, position: u8) -> Result<ValueRef<'_>, BuiltinError> {
    match member.as_array().map(|array| array.get(0)) {
        Some(Some(first)) => Ok(first),
        None if member.as_text().is_some() => Ok(member),
        _ => Err(BuiltinError::error(format!(
            "operand {position}: element must be string or non-empty array"
        ))),
    }
}

fn cidr_contains_matches<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    // parsed with the first of the blocks, so that an error in that block is reported first
    let mut parts: Option<SmallVec<[(ValueRef<'e>, Range); 1]>> = None;
    let first_part = members(operands.operand(1)).next();
    let mut pairs = call.arena.list();
    for (key, block_member) in members(operands.operand(0)) {
        let block_text = string_of_member(block_member, 1)?;
        let Some((_, part)) = first_part else {
            continue;
        };
        string_of_member(part, 2)?;
        let block = block(text(block_text)?)?;
        if parts.is_none() {
            let read_part = |(key, part)| {
                let part = text(string_of_member(part, 2)?)?;
                Ok((key, block_or_address(part)?))
            };
            let read_parts: Result<_, BuiltinError> =
                members(operands.operand(1)).map(read_part).collect();
            parts = Some(read_parts?);
        }
        let parts = parts
            .as_deref()
            .unwrap_or_else(|| bug!("parts that were just read are not there"));
        call.budget.spend_len(parts.len())?;
        for (part_key, part) in parts {
            if block.contains(*part) {
                pairs.push(call.arena.array(&[key, *part_key]));
            }
        }
    }
    Ok(call.arena.set_from(pairs))
}

/// Parses a block, or an IPv4 address as the block of its class.
fn block_or_class(text: &str) -> Result<(Address, Range), BuiltinError> {
    let Some(address) = Address::parse(text) else {
        return Range::parse(text)
            .ok_or_else(|| BuiltinError::error(format!("invalid CIDR address: {text}")));
    };
    let Some(v4) = address.to_v4() else {
        return Err(BuiltinError::error("IPv6 invalid: needs prefix length"));
    };
    let host_bits = match v4.octets() {
        [0..=127, ..] => 24,
        [128..=191, ..] => 16,
        [192..=255, ..] => 8,
    };
    // unless it is merged, such a block is formatted with its original address
    Ok((address, Range::block(address, host_bits)))
}

fn cidr_merge<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let Some(members) = Members::from_value(operands.operand(0)) else {
        return Err(BuiltinError::error("operand must be an array"));
    };
    call.budget.spend_len(members.len())?;
    let read_member = |member: ValueRef<'e>| {
        let text = member.as_text();
        let text = text.ok_or_else(|| BuiltinError::error("element must be string"))?;
        let text = text.to_str();
        let (address, range) = block_or_class(&text)?;
        let formatted_as = if text.contains('/') {
            range.first
        } else {
            address
        };
        Ok((range, formatted_as))
    };
    let ranges: Result<Vec<_>, BuiltinError> = members.iter().map(read_member).collect();
    let mut ranges = ranges?;
    ranges.sort_unstable();
    ranges.dedup_by(|(later, _), (range, formatted_as)| {
        let touches = range.touches(*later);
        if touches {
            range.last = range.last.max(later.last);
            range.is_v4 &= later.is_v4;
            *formatted_as = range.first;
        }
        touches
    });
    let mut blocks = call.arena.list();
    for (range, formatted_as) in ranges {
        for (first, host_bits) in range.blocks() {
            // a merged range is formatted with its first address
            let address = first.max(formatted_as);
            blocks.push(call.arena.text(&range.notation(address, host_bits)));
        }
    }
    Ok(call.arena.set_from(blocks))
}
