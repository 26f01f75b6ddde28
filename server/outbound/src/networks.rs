//! Rules for the networks that connections may lead to.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// Rules for the addresses that connections may lead to. They are checked on the address that a connection is made to, after the name
/// was resolved.
///
/// The default denies nothing: it is meant for addresses that an operator configured. Addresses that a policy or a tenant chose are
/// restricted with [`Self::deny_metadata`] at least.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetworkRules {
    denies_metadata: bool,
    denies_private: bool,
    /// Exceptions from `denies_private`.
    allowed: Vec<Network>,
}

/// Addresses with a common prefix: `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

impl FromStr for Network {
    type Err = String;

    /// Reads `ADDRESS/LENGTH`, or an address alone.
    fn from_str(text: &str) -> Result<Self, String> {
        let invalid = || {
            format!(
                "invalid network `{text}`: expected an address and the length of its prefix, such as `10.0.0.0/8`"
            )
        };
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| invalid())?;
        let all = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            None => all,
            // `+8` and `08` are not lengths
            Some(bits) if bits.starts_with('+') || bits.len() > 1 && bits.starts_with('0') => {
                return Err(invalid());
            }
            Some(bits) => bits.parse().map_err(|_| invalid())?,
        };
        if bits > all {
            return Err(invalid());
        }
        Ok(Self { address, bits })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

impl Network {
    /// Returns `true` if the network contains an address. An IPv4 address mapped to IPv6 is the IPv4 address.
    pub fn contains(&self, address: IpAddr) -> bool {
        is_in_block(address.to_canonical(), self.address, self.bits)
            || is_in_block(address, self.address, self.bits)
    }
}

/// Addresses that are not public, and whose use differs from that of their block.
const METADATA: [IpAddr; 9] = [
    // Amazon, Azure, Google and most others
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    // Google, over IPv6
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
    // credentials of Amazon's containers: ECS and EKS
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 2)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 23)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23)),
    // Tencent
    IpAddr::V4(Ipv4Addr::new(169, 254, 0, 23)),
    // Alibaba
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    // Azure's platform services, which all virtual machines access at this address
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
];

/// Blocks of IPv4 that are not public: address, length of the prefix, use.
/// From the IANA IPv4 Special-Purpose Address Registry, with multicast.
const IPV4: [(Ipv4Addr, u8, &str); 16] = [
    (Ipv4Addr::UNSPECIFIED, 8, "unspecified"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "private"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "carrier-grade NAT"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "loopback"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "link-local"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "private"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "protocol assignments"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "documentation"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "6to4 relay"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "private"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "benchmarking"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "multicast"),
    (Ipv4Addr::BROADCAST, 32, "broadcast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "reserved"),
];

/// Blocks of IPv6 that are not public: first two groups, length of the prefix, use.
/// From the IANA IPv6 Special-Purpose Address Registry, with multicast and the former site-local block.
const IPV6: [(Ipv6Addr, u8, &str); 14] = [
    (Ipv6Addr::LOCALHOST, 128, "loopback"),
    (Ipv6Addr::UNSPECIFIED, 128, "unspecified"),
    (block([0x64, 0xff9b, 1]), 48, "local NAT64"),
    (block([0x100, 0, 0]), 64, "discard"),
    (block([0x2001, 0, 0]), 32, "Teredo"),
    (block([0x2001, 2, 0]), 48, "benchmarking"),
    // the rest of the protocol assignments, including ORCHID.
    (block([0x2001, 0, 0]), 23, "protocol assignments"),
    (block([0x2001, 0xdb8, 0]), 32, "documentation"),
    (block([0x3fff, 0, 0]), 20, "documentation"),
    (block([0x5f00, 0, 0]), 16, "segment routing"),
    (block([0xfc00, 0, 0]), 7, "unique local"),
    (block([0xfe80, 0, 0]), 10, "link-local"),
    (block([0xfec0, 0, 0]), 10, "site-local"),
    (block([0xff00, 0, 0]), 8, "multicast"),
];

/// Prefixes of IPv6 addresses that embed an IPv4 address: prefix, its length, and the number of bits after the IPv4
/// address.
const EMBEDDED: [(Ipv6Addr, u8, u32); 4] = [
    // mapped: `::ffff:127.0.0.1`
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96, 0),
    // compatible: `::127.0.0.1`
    (Ipv6Addr::UNSPECIFIED, 96, 0),
    // NAT64: `64:ff9b::127.0.0.1`
    (block([0x64, 0xff9b, 0]), 96, 0),
    // 6to4: `2002:7f00:1::`
    (block([0x2002, 0, 0]), 16, 80),
];

/// Second half of an address by ISATAP, up to the IPv4 address. The two bits in `ISATAP_FLAGS` vary.
const ISATAP: u32 = 0x0000_5efe;
const ISATAP_FLAGS: u32 = 0x0300_0000;

const fn block([a, b, c]: [u16; 3]) -> Ipv6Addr {
    Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0)
}

/// Use of addresses in [`METADATA`].
const METADATA_USE: &str = "metadata service";

impl NetworkRules {
    /// Returns rules that deny nothing.
    pub fn unrestricted() -> Self {
        Self::default()
    }

    /// Denies the metadata services of clouds, which issue credentials to every program of the machine.
    #[must_use]
    pub fn deny_metadata(mut self) -> Self {
        self.denies_metadata = true;
        self
    }

    /// Denies every address that is not public, and Unix sockets. Metadata services are denied by [`Self::deny_metadata`] only.
    #[must_use]
    pub fn deny_private(mut self) -> Self {
        self.denies_private = true;
        self
    }

    /// Allows the addresses of a network that [`Self::deny_private`] denies. Metadata services stay denied.
    #[must_use]
    pub fn allow(mut self, network: Network) -> Self {
        self.allowed.push(network);
        self
    }

    /// Returns `true` if no address is denied.
    pub fn is_unrestricted(&self) -> bool {
        !self.denies_metadata && !self.denies_private
    }

    /// Returns the reason why a connection to an address with some use is denied.
    pub(crate) fn denial(&self, special_use: &str) -> String {
        let networks = if self.denies_private {
            "private networks"
        } else {
            "metadata services"
        };
        format!("{networks} are denied ({special_use})")
    }

    /// Checks the address that a connection is about to be made to.
    ///
    /// # Errors
    /// The use of an address that is not allowed: `loopback`.
    pub fn check(&self, address: IpAddr) -> Result<(), &'static str> {
        if self.is_unrestricted() {
            return Ok(());
        }
        match special_use(address) {
            Some(METADATA_USE) if self.denies_metadata => Err(METADATA_USE),
            Some(METADATA_USE) => Ok(()),
            Some(special_use) if self.denies_private && !self.allows(address) => Err(special_use),
            _ => Ok(()),
        }
    }

    fn allows(&self, address: IpAddr) -> bool {
        self.allowed.iter().any(|network| network.contains(address))
    }

    /// Returns an error if connections to Unix sockets are denied.
    ///
    /// # Errors
    /// They are denied with private networks.
    pub fn check_socket(&self) -> Result<(), &'static str> {
        if self.denies_private {
            Err("Unix socket")
        } else {
            Ok(())
        }
    }

    /// Checks the server that a proxy is to connect to. The proxy resolves its name, so only addresses and names of this
    /// machine are checked.
    ///
    /// # Errors
    /// See [`Self::check`].
    pub fn check_proxied(&self, host: &str) -> Result<(), &'static str> {
        if self.is_unrestricted() {
            return Ok(());
        }
        let name = host.trim_end_matches('.').to_ascii_lowercase();
        if name == "localhost" || name.ends_with(".localhost") {
            let loopback = [
                IpAddr::V4(Ipv4Addr::LOCALHOST),
                IpAddr::V6(Ipv6Addr::LOCALHOST),
            ];
            return loopback
                .into_iter()
                .try_for_each(|address| self.check(address));
        }
        // names of metadata services that only the machine's own resolver knows.
        if self.denies_metadata && METADATA_NAMES.contains(&name.as_str()) {
            return Err(METADATA_USE);
        }
        let bare = name.split('%').next().unwrap_or_default();
        match bare.parse() {
            Ok(address) => self.check(address),
            // programs parse `127.1`, `0x7f000001` and `010.8.8.8` differently
            Err(_) if ends_in_number(bare) => Err("ambiguous address"),
            Err(_) => Ok(()),
        }
    }
}

/// Names of metadata services, which a proxy resolves in the same cloud.
const METADATA_NAMES: [&str; 5] = [
    "metadata.google.internal",
    "metadata",
    "instance-data",
    "instance-data.ec2.internal",
    "metadata.tencentyun.com",
];

/// Returns `true` if the last label of a host is a number, in decimal or hexadecimal digits. No name of the public DNS ends
/// in one.
fn ends_in_number(host: &str) -> bool {
    let label = host.rsplit('.').next().unwrap_or_default();
    match label.strip_prefix("0x") {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_digit()),
    }
}

/// Returns the use of an address that is not public, such as `metadata service`. Returns `None` for public addresses.
fn special_use(address: IpAddr) -> Option<&'static str> {
    if METADATA.contains(&address) {
        return Some(METADATA_USE);
    }
    let special_block = match address {
        IpAddr::V4(v4) => IPV4
            .iter()
            .find(|(block, bits, _)| is_in_block(v4.into(), (*block).into(), *bits))
            .map(|(_, _, name)| *name),
        IpAddr::V6(v6) => IPV6
            .iter()
            .find(|(block, bits, _)| is_in_block(v6.into(), (*block).into(), *bits))
            .map(|(_, _, name)| *name),
    };
    special_block.or_else(|| match address {
        IpAddr::V4(_) => None,
        IpAddr::V6(v6) => embedded(v6).find_map(|v4| special_use(v4.into())),
    })
}

/// Returns the IPv4 addresses that are embedded in an IPv6 address, by a prefix of [`EMBEDDED`] or by ISATAP.
fn embedded(address: Ipv6Addr) -> impl Iterator<Item = Ipv4Addr> {
    let bits = address.to_bits();
    let low = |shifted: u128| u32::try_from(shifted & u128::from(u32::MAX)).unwrap_or_default();
    let prefixed = EMBEDDED
        .iter()
        .filter(move |(block, length, _)| is_in_block(address.into(), (*block).into(), *length))
        .map(move |(_, _, following_bits)| low(bits >> following_bits));
    let interface = low(bits >> 32) & !ISATAP_FLAGS;
    let isatap = (interface == ISATAP).then(|| low(bits));
    prefixed.chain(isatap).map(Ipv4Addr::from_bits)
}

/// Returns `true` if the first bits of two addresses are the same.
pub fn is_in_block(address: IpAddr, block: IpAddr, bits: u8) -> bool {
    let (address, block, all) = match (address, block) {
        (IpAddr::V4(address), IpAddr::V4(block)) => (
            u128::from(address.to_bits()),
            u128::from(block.to_bits()),
            32,
        ),
        (IpAddr::V6(address), IpAddr::V6(block)) => (address.to_bits(), block.to_bits(), 128),
        _ => return false,
    };
    let host_bits = all - u32::from(bits).min(all);
    address.checked_shr(host_bits) == block.checked_shr(host_bits)
}

#[cfg(test)]
mod tests;
