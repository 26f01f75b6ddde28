//! Versions, with the crate `semver`, and sorted numbers and texts.

use semver::Version;
use solon::Value;

use super::{Prepare, number, texts};

pub const DECISIONS: &[(&str, Prepare)] = &[
    ("semver_compare", || {
        let known = Version::parse("5.10.0").ok()?;
        Some(Box::new(move |data, _| {
            let newer = versions(data).filter(|version| *version > known);
            number(newer.count())
        }))
    }),
    ("semver_is_valid", || {
        Some(Box::new(|data, _| number(versions(data).count())))
    }),
    ("sort", || Some(Box::new(sorted))),
    ("numbers_range", || Some(Box::new(|_, _| Some(sum())))),
];

fn versions(data: &Value) -> impl Iterator<Item = Version> {
    let texts = texts(data, "versions");
    texts.filter_map(|text| Version::parse(text.strip_prefix('v').unwrap_or(text)).ok())
}

fn sorted(data: &Value, _: &Value) -> Option<Value> {
    let mut list: Vec<&str> = texts(data, "versions").collect();
    list.sort_unstable();
    number(std::hint::black_box(list).len())
}

fn sum() -> Value {
    let list: Vec<i64> = (1..=1_000).collect();
    Value::from(std::hint::black_box(list).iter().sum::<i64>())
}
