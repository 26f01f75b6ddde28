//! Versions, by the crate `semver`.

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
];

fn versions(data: &Value) -> impl Iterator<Item = Version> {
    let texts = texts(data, "versions");
    texts.filter_map(|text| Version::parse(text.strip_prefix('v').unwrap_or(text)).ok())
}
