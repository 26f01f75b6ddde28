//! Networks and addresses, with the crate `ipnet`.

use std::net::IpAddr;

use ipnet::IpNet;
use solon::Value;

use super::{Prepare, number, text, texts};

pub const DECISIONS: &[(&str, Prepare)] = &[
    ("cidr_contains", || Some(Box::new(count))),
    ("cidr_matches", || Some(Box::new(count))),
    ("cidr_listed", || Some(Box::new(is_listed))),
];

fn contains(network: &str, address: IpAddr) -> bool {
    network
        .parse::<IpNet>()
        .is_ok_and(|network| network.contains(&address))
}

fn count(data: &Value, input: &Value) -> Option<Value> {
    let address: IpAddr = text(input, "address")?.parse().ok()?;
    let hits = texts(data, "networks").filter(|network| contains(network, address));
    number(hits.count())
}

fn is_listed(data: &Value, input: &Value) -> Option<Value> {
    let address: IpAddr = text(input, "address")?.parse().ok()?;
    let listed = texts(data, "networks").any(|network| contains(network, address));
    Some(Value::from(listed))
}
