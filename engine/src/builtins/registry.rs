//! The table of built-ins.

use std::sync::LazyLock;

use hashbrown::HashMap;

#[cfg(feature = "formats")]
use super::graphql;
use super::{
    Builtin, BuiltinEntry, Declaration, aggregates, arithmetic, arrays, aws, bits, comparison,
    conversions, encoding, graph, hashes, http, json, lookup as addresses, net, numbers, objects,
    parsing, printing, runtime, semver, sets, sprintf, strings, template, time, types, units, uri,
    uuid,
};
#[cfg(feature = "crypto")]
use super::{crypto, jwt};
use super::{glob, regex};

/// All families, in the order of their files.
pub(super) const FAMILIES: &[&[Builtin]] = &[
    comparison::TABLE,
    arithmetic::TABLE,
    bits::TABLE,
    numbers::TABLE,
    aggregates::TABLE,
    arrays::TABLE,
    sets::TABLE,
    objects::TABLE,
    strings::TABLE,
    sprintf::TABLE,
    template::TABLE,
    regex::TABLE,
    glob::TABLE,
    types::TABLE,
    conversions::TABLE,
    encoding::TABLE,
    units::TABLE,
    semver::TABLE,
    json::TABLE,
    graph::TABLE,
    #[cfg(feature = "formats")]
    graphql::TABLE,
    printing::TABLE,
    runtime::TABLE,
    parsing::TABLE,
    net::TABLE,
    addresses::TABLE,
    #[cfg(feature = "http")]
    http::TABLE,
    hashes::TABLE,
    #[cfg(feature = "crypto")]
    crypto::TABLE,
    #[cfg(feature = "crypto")]
    jwt::TABLE,
    aws::TABLE,
    uuid::TABLE,
    uri::TABLE,
    time::TABLE,
];

static TABLE: LazyLock<HashMap<&'static str, BuiltinEntry>> = LazyLock::new(|| {
    FAMILIES
        .iter()
        .flat_map(|family| family.iter())
        .map(|builtin| {
            (
                builtin.name,
                BuiltinEntry {
                    builtin,
                    declaration: Declaration::new(builtin.signature),
                },
            )
        })
        .collect()
});

/// Returns `true` if a built-in waits for external I/O, so that its calls may take long.
pub fn may_block(name: &str) -> bool {
    lookup(name).is_some_and(|entry| entry.builtin.waits)
}

/// Returns `true` if the name of such a built-in has this first segment.
pub fn may_block_below(part: &str) -> bool {
    static FIRST_SEGMENTS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        let blocking = all().filter(|entry| entry.builtin.waits);
        let parts = blocking.filter_map(|entry| entry.builtin.name.split('.').next());
        parts.collect()
    });
    FIRST_SEGMENTS.contains(&part)
}

/// Returns a built-in by name, or `None` if no built-in has this name.
pub fn lookup(name: &str) -> Option<&'static BuiltinEntry> {
    TABLE.get(name)
}

/// Returns all built-ins, in unspecified order.
pub fn all() -> impl Iterator<Item = &'static BuiltinEntry> {
    TABLE.values()
}
