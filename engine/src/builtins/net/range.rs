//! Parses addresses and CIDR blocks.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address. IPv4 addresses are mapped to `::ffff:0:0/96`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address(pub u128);

impl Address {
    const V4_BITS: u32 = 32;

    /// Parses an address. Returns `None` if the text is not an IPv4 or IPv6 address.
    pub fn parse(text: &str) -> Option<Self> {
        Some(Self::from(ip(text)?))
    }

    /// Returns the IPv4 address, also of an IPv4-mapped IPv6 address. Returns `None` for other IPv6 addresses.
    pub fn to_v4(self) -> Option<Ipv4Addr> {
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

/// Parses an address, with a fast path for IPv4 in its common notation.
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

/// Parses four numbers below 256 without leading zeros. Also returns the rest of the text.
#[inline]
fn octets(text: &[u8]) -> Option<(Ipv4Addr, &[u8])> {
    let (first, rest) = octet(text)?;
    let (second, rest) = octet(rest.strip_prefix(b".")?)?;
    let (third, rest) = octet(rest.strip_prefix(b".")?)?;
    let (fourth, rest) = octet(rest.strip_prefix(b".")?)?;
    let bits = first << 24 | second << 16 | third << 8 | fourth;
    Some((Ipv4Addr::from_bits(bits), rest))
}

/// Parses a number below 256 without leading zeros. Also returns the rest of the text.
#[inline]
fn octet(text: &[u8]) -> Option<(u32, &[u8])> {
    let digit = |byte: &u8| {
        let digit = byte.wrapping_sub(b'0');
        (digit < 10).then_some(u32::from(digit))
    };
    let (first, after_one) = text.split_first()?;
    let first = digit(first)?;
    let Some((second, two)) = after_one.split_first() else {
        return Some((first, after_one));
    };
    let Some(second) = digit(second) else {
        return Some((first, after_one));
    };
    let tens = first * 10 + second;
    let (value, rest) = match two.split_first() {
        Some((third, three)) => match digit(third) {
            Some(third) => (tens * 10 + third, three),
            None => (tens, two),
        },
        None => (tens, two),
    };
    (first != 0 && value < 256).then_some((value, rest))
}

/// Parses the groups of an IPv6 address without an embedded IPv4 address. Also returns the rest of the text.
fn groups(text: &[u8]) -> Option<(Ipv6Addr, &[u8])> {
    const GROUPS: u32 = 8;
    let (mut bits, mut count, mut gap) = (0_u128, 0, None);
    let mut rest = text;
    if let [b':', b':', after @ ..] = rest {
        (gap, rest) = (Some(0), after);
    }
    loop {
        let (mut group, mut digits) = (0_u32, 0);
        while let [byte, after @ ..] = rest
            && let Some(digit) = char::from(*byte).to_digit(16)
        {
            if digits == 4 {
                return None;
            }
            (group, digits, rest) = (group << 4 | digit, digits + 1, after);
        }
        // a trailing `::` needs no group after it
        if digits == 0 && gap == Some(count) {
            break;
        }
        if digits == 0 || count == GROUPS {
            return None;
        }
        (bits, count) = (bits << 16 | u128::from(group), count + 1);
        match rest {
            [b':', b':', after @ ..] if gap.is_none() => (gap, rest) = (Some(count), after),
            [b':', after @ ..] => rest = after,
            _ => break,
        }
    }
    let bits = match gap {
        None if count == GROUPS => bits,
        Some(before) if count < GROUPS => {
            let (low, high) = (16 * (count - before), 16 * (GROUPS - before));
            let head = bits.checked_shr(low).unwrap_or(0);
            let tail = bits & !u128::MAX.checked_shl(low).unwrap_or(0);
            head.checked_shl(high).unwrap_or(0) | tail
        }
        _ => return None,
    };
    Some((Ipv6Addr::from_bits(bits), rest))
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RangeKind {
    Address,
    Block,
}

/// An IPv4 address or block, with the host bits of its address as written.
#[derive(Clone, Copy)]
pub struct Ipv4Prefix {
    pub kind: RangeKind,
    address: u32,
    /// Mask of the host bits.
    hosts: u32,
}

impl Ipv4Prefix {
    /// Fast path for common notations. A result of `None` has no meaning, as for [`Range::usual`].
    #[inline]
    pub fn usual(text: &[u8]) -> Option<Self> {
        let (address, rest) = octets(text)?;
        Self::new(address, rest)
    }

    /// Returns the prefix for an address and the text after it.
    #[inline]
    fn new(address: Ipv4Addr, rest: &[u8]) -> Option<Self> {
        let (form, length) = match *rest {
            [] => (RangeKind::Address, Address::V4_BITS),
            [b'/', a @ b'0'..=b'9'] => (RangeKind::Block, u32::from(a - b'0')),
            [b'/', a @ b'0'..=b'9', b @ b'0'..=b'9'] => (
                RangeKind::Block,
                u32::from(a - b'0') * 10 + u32::from(b - b'0'),
            ),
            _ => return None,
        };
        (length <= Address::V4_BITS).then(|| Self {
            kind: form,
            address: address.to_bits(),
            hosts: u32::MAX.checked_shr(length).unwrap_or(0),
        })
    }

    fn range(self) -> Range {
        let mapped = |bits: u32| Address(u128::from(bits) | 0xffff << 32);
        Range {
            first: mapped(self.address & !self.hosts),
            last: mapped(self.address | self.hosts),
            is_v4: true,
        }
    }

    /// Returns `true` if this block contains all of another one.
    #[inline]
    pub fn contains(self, other: Self) -> bool {
        other.hosts <= self.hosts && (self.address ^ other.address) & !self.hosts == 0
    }

    /// Returns `true` if some address is in both blocks.
    #[inline]
    pub fn intersects(self, other: Self) -> bool {
        (self.address ^ other.address) & !(self.hosts | other.hosts) == 0
    }
}

/// Consecutive addresses of one IP version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    pub first: Address,
    pub last: Address,
    pub is_v4: bool,
}

impl Range {
    /// Returns the block around an address with `host_bits` host bits.
    pub fn block(address: Address, host_bits: u32) -> Self {
        let hosts = 1_u128.checked_shl(host_bits).unwrap_or(0).wrapping_sub(1);
        Self {
            first: Address(address.0 & !hosts),
            last: Address(address.0 | hosts),
            is_v4: address.to_v4().is_some() && host_bits <= Address::V4_BITS,
        }
    }

    /// Parses an address and a prefix length. Returns `None` if the text is not valid.
    pub fn parse(text: &str) -> Option<(Address, Self)> {
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

    /// Fast path for common notations of blocks and addresses. A result of `None` has no meaning: the text may be valid
    /// in another notation.
    #[inline]
    pub fn usual(text: &[u8]) -> Option<(RangeKind, Self)> {
        match octets(text) {
            Some((address, rest)) => Ipv4Prefix::new(address, rest).map(|v4| (v4.kind, v4.range())),
            None => Self::usual_v6(text),
        }
    }

    fn usual_v6(text: &[u8]) -> Option<(RangeKind, Self)> {
        let (address, rest) = groups(text)?;
        let digit = |byte: u8| u32::from(byte - b'0');
        let (form, length) = match *rest {
            [] => (RangeKind::Address, u128::BITS),
            [b'/', a @ b'0'..=b'9'] => (RangeKind::Block, digit(a)),
            [b'/', a @ b'0'..=b'9', b @ b'0'..=b'9'] => {
                (RangeKind::Block, digit(a) * 10 + digit(b))
            }
            [b'/', b'1', b @ b'0'..=b'9', c @ b'0'..=b'9'] => {
                (RangeKind::Block, 100 + digit(b) * 10 + digit(c))
            }
            _ => return None,
        };
        let host_bits = u128::BITS.checked_sub(length)?;
        Some((form, Self::block(Address(address.to_bits()), host_bits)))
    }

    /// Returns `true` if this range contains all of another one. An IPv4 range never contains an IPv6 range, and vice
    /// versa.
    pub fn contains(self, other: Self) -> bool {
        self.is_v4 == other.is_v4 && self.first <= other.first && other.last <= self.last
    }

    /// Orders ranges so that each comes after the ranges that contain it.
    pub fn outer_first(&self, other: &Self) -> std::cmp::Ordering {
        let key = |range: &Self| (range.is_v4, range.first, std::cmp::Reverse(range.last));
        key(self).cmp(&key(other))
    }

    /// Returns a number that is monotonic in the order of [`Self::outer_first`].
    pub fn rank(&self) -> u64 {
        // all bits of IPv4, and the upper ones of IPv6, which comes first
        let (version_bit, bits) = if self.is_v4 {
            (1 << 63, self.first.0 & u128::from(u32::MAX))
        } else {
            (0, self.first.0 >> 65)
        };
        version_bit | u64::try_from(bits).unwrap_or(u64::MAX)
    }

    /// Returns `true` if some address is in both ranges.
    pub fn intersects(self, other: Self) -> bool {
        self.is_v4 == other.is_v4 && self.first <= other.last && other.first <= self.last
    }

    /// Returns `true` if no address is between this range and one that starts at the same address or later.
    pub fn touches(self, later: Self) -> bool {
        let adjacent =
            self.is_v4 == later.is_v4 && self.last.0.checked_add(1) == Some(later.first.0);
        adjacent || later.first <= self.last
    }

    /// Returns the number of host bits of the largest block at the start of the range.
    fn host_bits(self) -> u32 {
        let length = (self.last.0 - self.first.0).checked_add(1);
        let fitting = length.map_or(u128::BITS, u128::ilog2);
        fitting.min(self.first.0.trailing_zeros())
    }

    /// Returns the smallest list of blocks that make up the range, with the number of host bits of each.
    pub fn blocks(self) -> impl Iterator<Item = (Address, u32)> {
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

    /// Formats the block at an address.
    pub fn notation(self, address: Address, host_bits: u32) -> String {
        let bits = if self.is_v4 {
            Address::V4_BITS
        } else {
            u128::BITS
        };
        format!("{address}/{}", bits - host_bits)
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.first, self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, Ipv4Prefix, Range, RangeKind, ip};

    /// Parses a text as a block or as a range, without the shortcut for common forms.
    fn whole(text: &str) -> Option<(RangeKind, Range)> {
        let block = Range::parse(text).map(|(_, range)| (RangeKind::Block, range));
        block.or_else(|| Some((RangeKind::Address, Range::block(Address::parse(text)?, 0))))
    }

    /// The fast path agrees with the full parser, and covers most common texts.
    #[test]
    fn the_fast_parser_agrees_with_the_full_parser() {
        let texts = [
            "10.0.0.1",
            "192.168.0.0/16",
            "255.255.255.255/32",
            "0.0.0.0/0",
            "2001:db8::/32",
            "2001:db8:0:1:2:3:4:5/128",
            "fd00::/8",
            "::",
            "::1",
            "1::",
            "1::8",
            "1:2:3:4:5:6:7::",
            "::2:3:4:5:6:7:8",
            "FE80::aB/64",
            "::ffff:10.0.0.1",
            "::ffff:a00:1/120",
            "::ffff:a00:1",
        ];
        let mut parsed_count = 0;
        let mut compare = |text: &str| {
            if let Some(usual) = Range::usual(text.as_bytes()) {
                assert!(whole(text) == Some(usual), "{text}");
                parsed_count += 1;
            }
        };
        for text in texts {
            compare(text);
            let changes = [
                "", ":", "::", "/", ".", "0", "1", "00", "g", "/129", "%eth0", " ",
            ];
            for position in 0..=text.len() {
                let (start, end) = text.split_at(position);
                for change in changes {
                    compare(&format!("{start}{change}{end}"));
                    compare(&format!(
                        "{start}{change}{}",
                        end.get(1..).unwrap_or_default()
                    ));
                }
            }
        }
        assert!(parsed_count > 1000, "{parsed_count}");
        let usual = |text: &&&str| Range::usual(text.as_bytes()).is_some();
        assert_eq!(texts.iter().filter(usual).count(), texts.len() - 1);
        assert!(ip("::ffff:10.0.0.1").is_some());
    }

    /// Relations of prefixes agree with those of the ranges they denote.
    #[test]
    fn prefixes_are_related_as_ranges_are() {
        let texts = [
            "0.0.0.0/0",
            "10.0.0.0/8",
            "10.1.2.3/8",
            "10.0.0.0/9",
            "10.128.0.0/9",
            "10.1.0.0/16",
            "11.0.0.0/8",
            "10.1.2.3/32",
            "10.1.2.3",
            "10.1.2.4/31",
            "10.1.2.5",
            "10.1.2.5/31",
            "255.255.255.255/32",
            "255.255.255.254/31",
            "128.0.0.0/1",
            "0.0.0.0",
        ];
        let parse_both = |text: &str| {
            (
                Ipv4Prefix::usual(text.as_bytes()).unwrap(),
                Range::usual(text.as_bytes()).unwrap().1,
            )
        };
        for left in texts {
            for right in texts {
                let ((a, block), (b, part)) = (parse_both(left), parse_both(right));
                assert_eq!(
                    a.contains(b),
                    block.contains(part),
                    "{left} contains {right}"
                );
                assert_eq!(
                    a.intersects(b),
                    block.intersects(part),
                    "{left} intersects {right}"
                );
            }
        }
    }
}
