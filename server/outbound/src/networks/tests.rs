//! Addresses that are allowed and denied.

use super::{Network, NetworkRules};

fn public_only() -> NetworkRules {
    NetworkRules::unrestricted().deny_metadata().deny_private()
}

#[test]
fn addresses_that_are_not_public_are_denied() {
    for (address, expected) in [
        ("0.0.0.0", Some("unspecified")),
        ("0.1.2.3", Some("unspecified")),
        ("1.0.0.0", None),
        ("9.255.255.255", None),
        ("10.0.0.0", Some("private")),
        ("10.255.255.255", Some("private")),
        ("11.0.0.0", None),
        ("100.63.255.255", None),
        ("100.64.0.0", Some("carrier-grade NAT")),
        ("100.100.100.200", Some("metadata service")),
        ("100.127.255.255", Some("carrier-grade NAT")),
        ("100.128.0.0", None),
        ("126.255.255.255", None),
        ("127.0.0.0", Some("loopback")),
        ("127.0.0.1", Some("loopback")),
        ("127.255.255.255", Some("loopback")),
        ("128.0.0.0", None),
        ("168.63.129.15", None),
        ("168.63.129.16", Some("metadata service")),
        ("169.253.255.255", None),
        ("169.254.0.1", Some("link-local")),
        ("169.254.169.254", Some("metadata service")),
        ("169.254.170.2", Some("metadata service")),
        ("169.254.170.3", Some("link-local")),
        ("169.254.0.23", Some("metadata service")),
        ("169.255.0.0", None),
        ("172.15.255.255", None),
        ("172.16.0.0", Some("private")),
        ("172.31.255.255", Some("private")),
        ("172.32.0.0", None),
        ("192.0.0.192", Some("protocol assignments")),
        ("192.0.1.0", None),
        ("192.0.2.1", Some("documentation")),
        ("192.88.99.1", Some("6to4 relay")),
        ("192.167.255.255", None),
        ("192.168.0.1", Some("private")),
        ("192.169.0.0", None),
        ("198.17.255.255", None),
        ("198.18.0.1", Some("benchmarking")),
        ("198.19.255.255", Some("benchmarking")),
        ("198.20.0.0", None),
        ("198.51.100.7", Some("documentation")),
        ("203.0.113.7", Some("documentation")),
        ("203.0.114.0", None),
        ("8.8.8.8", None),
        ("223.255.255.255", None),
        ("224.0.0.1", Some("multicast")),
        ("239.255.255.255", Some("multicast")),
        ("240.0.0.1", Some("reserved")),
        ("255.255.255.254", Some("reserved")),
        ("255.255.255.255", Some("broadcast")),
        ("::", Some("unspecified")),
        ("::1", Some("loopback")),
        ("fe80::1", Some("link-local")),
        ("febf::1", Some("link-local")),
        ("fec0::1", Some("site-local")),
        ("fc00::1", Some("unique local")),
        ("fdff::1", Some("unique local")),
        ("fd00:ec2::254", Some("metadata service")),
        ("fd00:ec2::253", Some("unique local")),
        ("fe00::1", None),
        ("ff02::1", Some("multicast")),
        ("100::1", Some("discard")),
        ("100:0:0:1::1", None),
        ("2001::1", Some("Teredo")),
        ("2001:2::1", Some("benchmarking")),
        ("2001:20::1", Some("protocol assignments")),
        ("2001:200::1", None),
        ("2001:db8::1", Some("documentation")),
        ("2001:4860:4860::8888", None),
        ("3fff:fff::1", Some("documentation")),
        ("2606:4700:4700::1111", None),
        ("5f00::1", Some("segment routing")),
        // IPv4-mapped IPv6 addresses
        ("::ffff:127.0.0.1", Some("loopback")),
        ("::ffff:10.0.0.1", Some("private")),
        ("::ffff:169.254.169.254", Some("metadata service")),
        ("::ffff:8.8.8.8", None),
        ("::127.0.0.1", Some("loopback")),
        ("::192.168.1.1", Some("private")),
        ("::2", Some("unspecified")),
        ("64:ff9b::10.0.0.1", Some("private")),
        ("64:ff9b::169.254.169.254", Some("metadata service")),
        ("64:ff9b::8.8.8.8", None),
        ("64:ff9b:1::1", Some("local NAT64")),
        ("2002:7f00:1::", Some("loopback")),
        ("2002:a9fe:a9fe::1", Some("metadata service")),
        ("2002:c0a8:101::1", Some("private")),
        ("2002:808:808::1", None),
        ("2606:4700::5efe:10.0.0.1", Some("private")),
        ("2606:4700::200:5efe:127.0.0.1", Some("loopback")),
        ("2606:4700::5efe:8.8.8.8", None),
    ] {
        let parsed = address.parse().unwrap();
        assert_eq!(public_only().check(parsed).err(), expected, "{address}");
        assert_eq!(
            NetworkRules::unrestricted().check(parsed),
            Ok(()),
            "{address}"
        );
    }
}

/// The proxy connects to these hosts. It resolves their names itself.
#[test]
fn servers_of_proxies_are_denied_where_their_addresses_are_configured() {
    for (host, expected) in [
        ("localhost", Some("loopback")),
        ("LOCALHOST.", Some("loopback")),
        ("a.localhost", Some("loopback")),
        ("127.0.0.1", Some("loopback")),
        ("127.0.0.1.", Some("loopback")),
        ("::1", Some("loopback")),
        ("fe80::1%eth0", Some("link-local")),
        ("127.1", Some("ambiguous address")),
        ("0x7f.1", Some("ambiguous address")),
        ("0177.0.0.1", Some("ambiguous address")),
        ("010.8.8.8", Some("ambiguous address")),
        ("2130706433", Some("ambiguous address")),
        ("0x7F000001", Some("ambiguous address")),
        ("1.0x", Some("ambiguous address")),
        ("127.0.0.08", Some("ambiguous address")),
        ("1.2.3.4.5", Some("ambiguous address")),
        ("a.1", Some("ambiguous address")),
        ("8.8.8.8", None),
        ("example.com", None),
        ("1.example.com", None),
        ("localhost.example.com", None),
        ("a.1b", None),
        ("0xg", None),
        ("", None),
    ] {
        assert_eq!(public_only().check_proxied(host).err(), expected, "{host}");
        assert_eq!(
            NetworkRules::unrestricted().check_proxied(host),
            Ok(()),
            "{host}"
        );
    }
}

#[test]
fn metadata_services_and_private_networks_are_denied_separately() {
    let network = |text: &str| text.parse::<Network>().unwrap();
    let metadata = NetworkRules::unrestricted().deny_metadata();
    let private = NetworkRules::unrestricted().deny_private();
    let some = public_only()
        .allow(network("10.1.0.0/16"))
        .allow(network("169.254.0.0/16"))
        .allow(network("fc00::/7"));
    let (yes, meta) = (None, Some("metadata service"));
    for (address, of_metadata, of_private, of_some) in [
        ("127.0.0.1", yes, Some("loopback"), Some("loopback")),
        ("10.1.2.3", yes, Some("private"), yes),
        ("::ffff:10.1.2.3", yes, Some("private"), yes),
        ("64:ff9b::10.1.2.3", yes, Some("private"), Some("private")),
        ("10.2.0.0", yes, Some("private"), Some("private")),
        ("169.254.1.1", yes, Some("link-local"), yes),
        ("169.254.169.254", meta, yes, meta),
        ("::ffff:169.254.169.254", meta, yes, meta),
        ("::169.254.169.254", meta, yes, meta),
        ("64:ff9b::a9fe:a9fe", meta, yes, meta),
        ("2002:a9fe:a9fe::", meta, yes, meta),
        ("169.254.170.2", meta, yes, meta),
        ("fd00:ec2::254", meta, yes, meta),
        ("fd00:ec2::23", meta, yes, meta),
        ("fd20:ce::254", meta, yes, meta),
        ("100.100.100.200", meta, yes, meta),
        ("168.63.129.16", meta, yes, meta),
        ("fd00::1", yes, Some("unique local"), yes),
        ("8.8.8.8", yes, yes, yes),
    ] {
        let parsed = address.parse().unwrap();
        assert_eq!(metadata.check(parsed).err(), of_metadata, "{address}");
        assert_eq!(private.check(parsed).err(), of_private, "{address}");
        assert_eq!(some.check(parsed).err(), of_some, "{address}");
    }
    assert_eq!(metadata.check_socket(), Ok(()));
    assert!(private.check_socket().is_err());
    for (host, expected) in [
        ("localhost", None),
        ("127.0.0.1", None),
        ("Metadata.Google.Internal.", meta),
        ("169.254.169.254", meta),
        ("0xa9fea9fe", Some("ambiguous address")),
        ("example.com", None),
    ] {
        assert_eq!(metadata.check_proxied(host).err(), expected, "{host}");
    }
}

#[test]
fn networks_are_read() {
    for (text, address, expected) in [
        ("10.0.0.0/8", "10.255.0.1", true),
        ("10.0.0.0/8", "11.0.0.1", false),
        ("10.0.0.7", "10.0.0.7", true),
        ("10.0.0.7", "10.0.0.8", false),
        ("0.0.0.0/0", "1.2.3.4", true),
        ("0.0.0.0/0", "::1", false),
        ("::/0", "::1", true),
        ("fd00::/8", "fd12::1", true),
        ("fd00::1", "fd00::2", false),
    ] {
        let network: Network = text.parse().unwrap();
        assert_eq!(
            network.contains(address.parse().unwrap()),
            expected,
            "{text} {address}"
        );
    }
    for text in [
        "",
        "10.0.0.0/33",
        "::/129",
        "10.0.0.0/",
        "10/8",
        "10.0.0.0/+8",
        "10.0.0.0/08",
        "a/8",
        "10.0.0.0/-1",
        " 10.0.0.0/8",
    ] {
        let error = text.parse::<Network>().unwrap_err();
        assert!(
            error.starts_with(&format!("invalid network `{text}`")),
            "{error}"
        );
    }
}
