//! Data for the workloads of single built-in functions.

use super::{Random, array};

const NAMES: [&str; 8] = ["ada", "bob", "cho", "dev", "eve", "finn", "gul", "hana"];
const PLACES: [&str; 6] = ["orders", "users", "invoices", "carts", "reports", "teams"];

/// Year, month and day, or hours, minutes and seconds.
type Part = (usize, usize, usize);

/// Regular expressions and globs for paths, one of each per path.
pub fn patterns(count: usize) -> String {
    let mut random = Random::new(1);
    let regexes = array(count, |at| {
        let place = random.pick(&PLACES);
        match at % 4 {
            0 => format!(r#""^/{place}/{at}/[a-z]+/[0-9]+$""#),
            1 => format!(r#""^/v[0-9]+/{place}-{at}/(items|lines)/.*\\.json$""#),
            2 => format!(r#""(?i)/{place}/{at}(/|$)""#),
            _ => format!(r#""^/{place}/[0-9a-f]{{8}}/{at}/?$""#),
        }
    });
    let mut random = Random::new(2);
    let globs = array(count, |at| {
        let place = random.pick(&PLACES);
        match at % 4 {
            0 => format!("\"/{place}/{at}/*/*\""),
            1 => format!("\"/v*/{place}-{at}/**\""),
            2 => format!("\"/{{{place},all}}/{at}/*\""),
            _ => format!("\"/{place}/????????/{at}\""),
        }
    });
    format!("{{\"regexes\":{regexes},\"globs\":{globs}}}")
}

/// Lines of a log.
pub fn lines(count: usize) -> String {
    let mut random = Random::new(3);
    let lines = array(count, |at| {
        let (name, place) = (random.pick(&NAMES), random.pick(&PLACES));
        let (id, status) = (random.below(1 << 31), 200 + random.below(300));
        format!("\"GET /{place}/{at} {status}  id={id:08x} by {name}@example.com in {at}ms\"")
    });
    format!("{{\"lines\":{lines}}}")
}

/// Orders from which texts are built.
pub fn orders(count: usize) -> String {
    let mut random = Random::new(4);
    let orders = array(count, |at| {
        let (name, place) = (random.pick(&NAMES), random.pick(&PLACES));
        let (units, cents) = (random.below(1000), random.below(100));
        format!(
            "{{\"id\":{at},\"owner\":\"{name}\",\"kind\":\"{place}\",\"price\":{units}.{cents:02},\"tags\":[\"t{units}\",{cents}]}}"
        )
    });
    format!("{{\"orders\":{orders}}}")
}

/// Dates and times in several layouts.
pub fn stamps(count: usize) -> String {
    let mut random = Random::new(5);
    let mut parts = Vec::new();
    for _ in 0..count {
        let date = (
            1970 + random.below(130),
            1 + random.below(12),
            1 + random.below(28),
        );
        let time = (random.below(24), random.below(60), random.below(60));
        parts.push((date, time));
    }
    let each = |layout: fn(&(Part, Part)) -> String| {
        let texts: Vec<String> = parts.iter().map(layout).collect();
        format!("[\"{}\"]", texts.join("\",\""))
    };
    let rfc3339 = each(|((y, m, d), (h, min, s))| {
        format!("{y}-{m:02}-{d:02}T{h:02}:{min:02}:{s:02}.{m:03}Z")
    });
    let plain = each(|((y, m, d), (h, min, s))| {
        format!("{y}-{m:02}-{d:02} {h:02}:{min:02}:{s:02} +{m:02}30").replace("+01", "-01")
    });
    let long = each(|((y, m, d), (h, min, s))| {
        let month = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ];
        let month = month.get(m - 1).copied().unwrap_or_default();
        format!("{d:02} {month} {y} {h:02}:{min:02}:{s:02} UTC")
    });
    let durations = each(|(_, (h, min, s))| format!("{h}h{min}m{s}s"));
    format!("{{\"rfc3339\":{rfc3339},\"plain\":{plain},\"long\":{long},\"durations\":{durations}}}")
}

/// Networks of several sizes.
pub fn networks(count: usize) -> String {
    let mut random = Random::new(6);
    let networks = array(count, |at| {
        let length = 16 + random.below(13);
        let (second, third) = (random.below(256), random.below(256));
        match at % 8 {
            7 => format!("\"2001:db8:{second:x}:{third:x}::/{}\"", 48 + length),
            _ => format!("\"{}.{second}.{third}.0/{length}\"", 11 + at % 200),
        }
    });
    format!("{{\"networks\":{networks}}}")
}

/// Addresses.
pub fn addresses(count: usize) -> String {
    let mut random = Random::new(7);
    let addresses = array(count, |at| {
        let (second, third) = (random.below(256), random.below(256));
        format!("\"{}.{second}.{third}.{}\"", 11 + at % 200, at % 256)
    });
    format!("{{\"addresses\":{addresses}}}")
}

/// Graph in which all nodes are reachable, most of them on several paths.
pub fn graph(count: usize) -> String {
    let mut random = Random::new(8);
    let nodes: Vec<String> = (0..count)
        .map(|at| {
            let next = format!("\"n{}\"", (at + 1) % count);
            let others = array(3, |_| format!("\"n{}\"", random.below(count)));
            format!("\"n{at}\":[{next},{}", others.trim_start_matches('['))
        })
        .collect();
    format!("{{\"graph\":{{{}}}}}", nodes.join(","))
}

/// Schema with many types, and a query with many fields.
pub fn graphql(count: usize) -> String {
    let mut schema = String::from("type Query { ");
    let mut query = String::from("query Q($id: ID!, $first: Int = 10) { ");
    for at in 0..count {
        schema.push_str(&format!("t{at}(id: ID!, first: Int): T{at} "));
        query.push_str(&format!(
            "t{at}(id: $id, first: $first) {{ id name ... on T{at} {{ next {{ id size }} }} ...F{at} }} "
        ));
    }
    schema.push_str("} ");
    query.push_str("} ");
    for at in 0..count {
        schema.push_str(&format!(
            "type T{at} {{ id: ID! name: String size: Float tags(kind: Kind): [String!]! next: T{} }} ",
            (at + 1) % count
        ));
        query.push_str(&format!("fragment F{at} on T{at} {{ tags(kind: NEW) }} "));
    }
    schema.push_str("enum Kind { NEW OLD }");
    format!("{{\"schema\":\"{schema}\",\"query\":\"{query}\"}}")
}

/// Documents that are validated against one schema.
pub fn documents(count: usize) -> String {
    let mut random = Random::new(9);
    let documents = array(count, |at| {
        let (name, place) = (random.pick(&NAMES), random.pick(&PLACES));
        let (amount, port) = (random.below(100), 1 + random.below(60_000));
        format!(
            "{{\"id\":{at},\"name\":\"{name}-{at}\",\"kind\":\"{place}\",\"ports\":[{port},443],\"limits\":{{\"cpu\":\"{amount}m\",\"memory\":{amount}}},\"labels\":{{\"owner\":\"{name}\",\"tier\":\"{place}\"}}}}"
        )
    });
    format!("{{\"documents\":{documents}}}")
}

/// Texts in several encodings.
pub fn encoded(count: usize) -> String {
    let mut random = Random::new(10);
    let hex = array(count, |_| {
        format!(
            "\"{:016x}{:016x}\"",
            random.below(1 << 62),
            random.below(1 << 62)
        )
    });
    let json = array(count, |at| {
        let (name, amount) = (random.pick(&NAMES), random.below(1000));
        format!(
            r#""{{\"id\": {at}, \"name\": \"{name}\", \"amount\": {amount}.5, \"tags\": [\"a\", \"b\", null, true]}}""#
        )
    });
    format!("{{\"hex\":{hex},\"json\":{json}}}")
}

/// Versions and amounts with units.
pub fn versions(count: usize) -> String {
    let mut random = Random::new(11);
    let versions = array(count, |at| {
        let (major, minor) = (random.below(10), random.below(20));
        let suffix = random.pick(&["", "-rc.1", "+build.7", ""]);
        format!("\"{major}.{minor}.{at}{suffix}\"")
    });
    let units = array(count, |_| {
        let (amount, unit) = (
            1 + random.below(999),
            random.pick(&["Ki", "Mi", "Gi", "k", "M", ""]),
        );
        format!("\"{amount}{unit}\"")
    });
    format!("{{\"versions\":{versions},\"units\":{units}}}")
}
