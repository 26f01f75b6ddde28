//! Blocks of network addresses (CIDR notation).

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use super::{Builtin, Call, Fault, Members, Operands, Prepared};
use crate::value::{TextView, V};

/// This family's entries.
pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "net.cidr_contains",
        "cidr: string, cidr_or_ip: string => result: boolean",
        "Tells whether a block contains an address or all of another block.",
        cidr_contains,
    )
    .specialise(prepare),
    Builtin::new(
        "net.cidr_contains_matches",
        "cidrs: any<string, array[any<string, array[any]>], object[string: any<string, array[any]>], set[any<string, array[any]>]>, cidrs_or_ips: any<string, array[any<string, array[any]>], object[string: any<string, array[any]>], set[any<string, array[any]>]> => output: set[array<any, any>]",
        "The pairs of a block and an address or block in it, by their positions, keys or selves.",
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
        "Tells whether two blocks have an address in common.",
        cidr_intersects,
    ),
    Builtin::new(
        "net.cidr_is_valid",
        "cidr: string => result: boolean",
        "Tells whether a string denotes a block.",
        cidr_is_valid,
    ),
    Builtin::new(
        "net.cidr_merge",
        "addrs: any<array[any<string>], set[string]> => output: set[string]",
        "The fewest blocks that cover the same addresses.",
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

/// What an address takes in a set of them, in bytes; a low estimate.
const ADDRESS_BYTES: u128 = 32;

/// An address; those of IPv4 are mapped to `::ffff:0:0/96`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Address(u128);

impl Address {
    const V4_BITS: u32 = 32;

    fn parse(text: &str) -> Option<Self> {
        Some(Self::from(ip(text)?))
    }

    /// The form for IPv4, also of an address that was written in the form for IPv6.
    fn to_v4(self) -> Option<Ipv4Addr> {
        Ipv6Addr::from_bits(self.0).to_ipv4_mapped()
    }
}

impl From<IpAddr> for Address {
    fn from(ip: IpAddr) -> Self {
        Self(match ip {
            IpAddr::V4(v4) => v4.to_ipv6_mapped().to_bits(),
            IpAddr::V6(v6) => v6.to_bits(),
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_v4() {
            Some(v4) => v4.fmt(f),
            None => Ipv6Addr::from_bits(self.0).fmt(f),
        }
    }
}

/// Reads an address. Nearly all are of IPv4, in their usual form.
#[inline]
fn ip(text: &str) -> Option<IpAddr> {
    match usual_v4(text.as_bytes()) {
        Some(v4) => Some(IpAddr::V4(v4)),
        None => text.parse().ok(),
    }
}

fn usual_v4(text: &[u8]) -> Option<Ipv4Addr> {
    let (address, rest) = octets(text)?;
    rest.is_empty().then_some(address)
}

/// Four numbers below 256 without leading zeros, and what stands behind them.
#[inline]
fn octets(text: &[u8]) -> Option<(Ipv4Addr, &[u8])> {
    let (mut bits, mut rest) = (0_u32, text);
    for at in 0..4 {
        if at > 0 {
            rest = rest.strip_prefix(b".")?;
        }
        let (value, after) = match *rest {
            [
                a @ b'1'..=b'9',
                b @ b'0'..=b'9',
                c @ b'0'..=b'9',
                ref after @ ..,
            ] => {
                let tens = u32::from(a - b'0') * 10 + u32::from(b - b'0');
                (tens * 10 + u32::from(c - b'0'), after)
            }
            [a @ b'1'..=b'9', b @ b'0'..=b'9', ref after @ ..] => {
                (u32::from(a - b'0') * 10 + u32::from(b - b'0'), after)
            }
            [a @ b'0'..=b'9', ref after @ ..] => (u32::from(a - b'0'), after),
            _ => return None,
        };
        if value > 255 {
            return None;
        }
        bits = bits << 8 | value;
        rest = after;
    }
    Some((Ipv4Addr::from_bits(bits), rest))
}

/// What a text denotes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Address,
    Block,
}

/// Consecutive addresses of one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    first: Address,
    last: Address,
    is_v4: bool,
}

impl Range {
    /// The block around an address whose last `host_bits` bits vary.
    fn block(address: Address, host_bits: u32) -> Self {
        let hosts = 1_u128.checked_shl(host_bits).unwrap_or(0).wrapping_sub(1);
        Self {
            first: Address(address.0 & !hosts),
            last: Address(address.0 | hosts),
            is_v4: address.to_v4().is_some() && host_bits <= Address::V4_BITS,
        }
    }

    /// Reads an address and the length of the prefix it shares with the rest of the block.
    fn parse(text: &str) -> Option<(Address, Self)> {
        let (address, length) = text.split_once('/')?;
        let ip = ip(address)?;
        let bits = if ip.is_ipv4() { u32::BITS } else { u128::BITS };
        if !length.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let host_bits = bits.checked_sub(length.parse().ok()?)?;
        let address = Address::from(ip);
        Some((address, Self::block(address, host_bits)))
    }

    /// Reads a block of IPv4, or an address, in the form that nearly all have. `None` tells nothing: others may be
    /// sound, too.
    #[inline]
    fn usual(text: &[u8]) -> Option<(Form, Self)> {
        let (address, rest) = octets(text)?;
        let (form, length) = match *rest {
            [] => (Form::Address, Address::V4_BITS),
            [b'/', a @ b'0'..=b'9'] => (Form::Block, u32::from(a - b'0')),
            [b'/', a @ b'0'..=b'9', b @ b'0'..=b'9'] => {
                (Form::Block, u32::from(a - b'0') * 10 + u32::from(b - b'0'))
            }
            _ => return None,
        };
        let host_bits = Address::V4_BITS.checked_sub(length)?;
        let hosts = u32::MAX.checked_shr(length).unwrap_or(0);
        let mapped = |bits: u32| Address(u128::from(bits) | 0xffff << 32);
        debug_assert_eq!(hosts.count_ones(), host_bits, "the bits that vary");
        Some((
            form,
            Self {
                first: mapped(address.to_bits() & !hosts),
                last: mapped(address.to_bits() | hosts),
                is_v4: true,
            },
        ))
    }

    /// Whether all of another one lies within.
    pub fn contains(self, other: Self) -> bool {
        self.is_v4 == other.is_v4 && self.first <= other.first && other.last <= self.last
    }

    /// The order in which a range comes behind those that it lies within.
    pub fn outer_first(&self, other: &Self) -> std::cmp::Ordering {
        let key = |range: &Self| (range.is_v4, range.first, std::cmp::Reverse(range.last));
        key(self).cmp(&key(other))
    }

    fn intersects(self, other: Self) -> bool {
        self.is_v4 == other.is_v4 && self.first <= other.last && other.first <= self.last
    }

    /// Whether no address lies between this range and one that starts no earlier.
    fn touches(self, later: Self) -> bool {
        let adjacent =
            self.is_v4 == later.is_v4 && self.last.0.checked_add(1) == Some(later.first.0);
        adjacent || later.first <= self.last
    }

    /// How many bits vary in the largest block at the start of the range.
    fn host_bits(self) -> u32 {
        let length = (self.last.0 - self.first.0).checked_add(1);
        let fitting = length.map_or(u128::BITS, u128::ilog2);
        fitting.min(self.first.0.trailing_zeros())
    }

    /// The fewest blocks that make up the range, with the number of bits that vary in each.
    fn blocks(self) -> impl Iterator<Item = (Address, u32)> {
        let mut rest = Some(self);
        std::iter::from_fn(move || {
            let range = rest?;
            let host_bits = range.host_bits();
            let block = Self::block(range.first, host_bits);
            rest = (block.last < range.last).then(|| Self {
                first: Address(block.last.0 + 1),
                ..range
            });
            Some((range.first, host_bits))
        })
    }

    fn notation(self, address: Address, host_bits: u32) -> String {
        let bits = if self.is_v4 {
            Address::V4_BITS
        } else {
            u128::BITS
        };
        format!("{address}/{}", bits - host_bits)
    }
}

fn block(text: TextView<'_>) -> Result<Range, Fault> {
    if let Some((Form::Block, range)) = Range::usual(text.as_bytes()) {
        return Ok(range);
    }
    let text = &*text.to_str();
    match Range::parse(text) {
        Some((_, range)) => Ok(range),
        None => Err(Fault::error(format!("invalid CIDR address: {text}"))),
    }
}

fn block_or_address(text: TextView<'_>) -> Result<Range, Fault> {
    if let Some((_, range)) = Range::usual(text.as_bytes()) {
        return Ok(range);
    }
    let text = &*text.to_str();
    let address = || Address::parse(text).map(|address| Range::block(address, 0));
    let range = Range::parse(text).map(|(_, range)| range);
    range.or_else(address).ok_or_else(|| {
        Fault::error(format!(
            "not a valid textual representation of an IP address or CIDR: {text}"
        ))
    })
}

/// A string, whichever operand it is of: messages call each the first.
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.first, self.last)
    }
}

/// The addresses of a block, or the one that a text is.
pub fn range(text: &str) -> Option<Range> {
    block_or_address(TextView::Utf8(text)).ok()
}

fn text(value: V<'_>) -> Result<TextView<'_>, Fault> {
    [value].text(0)
}

fn cidr_contains<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let whole = block(text(operands.at(0))?)?;
    let part = part(call, operands.at(1))?;
    Ok(V::Bool(whole.contains(part)))
}

/// The text that was looked for in a block the last time, and what it denotes: loops over blocks ask for one address.
#[derive(Clone, Copy)]
pub struct LastPart<'e> {
    text: V<'e>,
    range: Range,
}

impl LastPart<'_> {
    /// Whether it was this text, as far as one look tells.
    fn is(&self, text: V<'_>) -> bool {
        match (self.text, text) {
            (V::Short(a), V::Short(b)) => a == b,
            (V::Text(a), V::Text(b)) => a.is(b),
            (V::NewText(a), V::NewText(b)) => std::ptr::eq(a, b),
            _ => false,
        }
    }
}

/// What is looked for in a block.
fn part<'e>(call: &mut Call<'e>, value: V<'e>) -> Result<Range, Fault> {
    if let Some(last) = &call.last_part
        && last.is(value)
    {
        return Ok(last.range);
    }
    let range = block_or_address(text(value)?)?;
    call.last_part = Some(LastPart { text: value, range });
    Ok(range)
}

/// A call with a constant block.
struct Block(Range);

impl Prepared for Block {
    fn call<'e>(&self, call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
        let part = part(call, operands.at(1))?;
        Ok(V::Bool(self.0.contains(part)))
    }
}

fn prepare(operands: &[Option<V<'_>>]) -> Option<Arc<dyn Prepared>> {
    let whole = operands.first().copied()??.as_text()?;
    let (_, range) = Range::parse(&whole.to_str())?;
    Some(Arc::new(Block(range)))
}

fn cidr_intersects<'e>(_: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let left = block(text(operands.at(0))?)?;
    let right = block(text(operands.at(1))?)?;
    Ok(V::Bool(left.intersects(right)))
}

fn cidr_is_valid<'e>(_: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let text = operands.at(0).as_text();
    let valid = text.is_some_and(|text| Range::parse(&text.to_str()).is_some());
    Ok(V::Bool(valid))
}

fn cidr_expand<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
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

/// The members of an operand, each with what stands for it in the result; a string is its own member.
fn members<'e>(operand: V<'e>) -> Box<dyn Iterator<Item = (V<'e>, V<'e>)> + 'e> {
    match operand {
        _ if operand.as_text().is_some() => Box::new(std::iter::once((operand, operand))),
        _ if let Some(object) = operand.as_object() => Box::new(object.iter()),
        _ => match Members::of(operand) {
            Some(Members::Array(array)) => Box::new((0..).map(V::Int).zip(array.iter())),
            Some(Members::Set(set)) => Box::new(set.iter().map(|member| (member, member))),
            None => Box::new(std::iter::empty()),
        },
    }
}

/// The string of a member, which is one or an array that starts with one.
fn named(member: V<'_>, position: u8) -> Result<V<'_>, Fault> {
    match member.as_array().map(|array| array.get(0)) {
        Some(Some(first)) => Ok(first),
        None if member.as_text().is_some() => Ok(member),
        _ => Err(Fault::error(format!(
            "operand {position}: element must be string or non-empty array"
        ))),
    }
}

fn cidr_contains_matches<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    // the parts are looked at with the first of the blocks, so that a mistake in that one comes first
    let mut parts: Option<Vec<(V<'e>, Range)>> = None;
    let mut pairs = call.arena.list();
    for (key, whole) in members(operands.at(0)) {
        let whole = named(whole, 1)?;
        if let Some((_, part)) = members(operands.at(1)).next() {
            named(part, 2)?;
        } else {
            continue;
        }
        let whole = block(text(whole)?)?;
        if parts.is_none() {
            let read = |(key, part)| {
                let part = text(named(part, 2)?)?;
                Ok((key, block_or_address(part)?))
            };
            let read: Result<_, Fault> = members(operands.at(1)).map(read).collect();
            parts = Some(read?);
        }
        let parts = parts.as_deref().unwrap_or_default();
        call.budget.spend_len(parts.len())?;
        for (part_key, part) in parts {
            if whole.contains(*part) {
                pairs.push(call.arena.array(&[key, *part_key]));
            }
        }
    }
    Ok(call.arena.set_from(pairs))
}

/// Reads a block, or an IPv4 address for the block that its class gives it.
fn block_or_class(text: &str) -> Result<(Address, Range), Fault> {
    let Some(address) = Address::parse(text) else {
        return Range::parse(text)
            .ok_or_else(|| Fault::error(format!("invalid CIDR address: {text}")));
    };
    let Some(v4) = address.to_v4() else {
        return Err(Fault::error("IPv6 invalid: needs prefix length"));
    };
    let host_bits = match v4.octets() {
        [0..=127, ..] => 24,
        [128..=191, ..] => 16,
        [192..=255, ..] => 8,
    };
    // unless it is merged, such a block is shown by the address it was given as
    Ok((address, Range::block(address, host_bits)))
}

fn cidr_merge<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let Some(members) = Members::of(operands.at(0)) else {
        return Err(Fault::error("operand must be an array"));
    };
    call.budget.spend_len(members.len())?;
    let read = |member: V<'e>| {
        let text = member.as_text();
        let text = text.ok_or_else(|| Fault::error("element must be string"))?;
        let text = text.to_str();
        let (address, range) = block_or_class(&text)?;
        let shown = if text.contains('/') {
            range.first
        } else {
            address
        };
        Ok((range, shown))
    };
    let ranges: Result<Vec<_>, Fault> = members.iter().map(read).collect();
    let mut ranges = ranges?;
    ranges.sort_unstable();
    ranges.dedup_by(|(later, _), (range, shown)| {
        let touches = range.touches(*later);
        if touches {
            range.last = range.last.max(later.last);
            range.is_v4 &= later.is_v4;
            *shown = range.first;
        }
        touches
    });
    let mut blocks = call.arena.list();
    for (range, shown) in ranges {
        for (first, host_bits) in range.blocks() {
            // a merged range is shown from its first address on
            let address = first.max(shown);
            blocks.push(call.arena.text(&range.notation(address, host_bits)));
        }
    }
    Ok(call.arena.set_from(blocks))
}
