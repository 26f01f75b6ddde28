//! Generated policies, data and inputs that are too large for files. The same name and size produce the same text on every machine.

mod builtins;
pub mod documents;
pub mod policies;
pub mod practice;
pub mod requests;
mod tables;

/// Returns a text of the given size.
type Generator = fn(usize) -> String;

/// Generators by the names that manifests use.
const GENERATORS: &[(&str, Generator)] = &[
    ("accounts", documents::accounts),
    ("addresses", builtins::addresses),
    ("admission_review", requests::admission),
    ("api_call", requests::call),
    ("calls", policies::calls),
    ("catalogue", practice::catalogue),
    ("customers", documents::customers),
    ("documents", builtins::documents),
    ("elses", policies::elses),
    ("encoded", builtins::encoded),
    ("expressions", requests::expressions),
    ("firewall", practice::firewall),
    ("gateway", policies::gateway),
    ("gateway_request", policies::gateway_request),
    ("graph", builtins::graph),
    ("graphql", builtins::graphql),
    ("keys", requests::keys),
    ("leaks", practice::leaks),
    ("letters", practice::letters),
    ("lines", builtins::lines),
    ("members", practice::members),
    ("mixed", policies::mixed),
    ("mocked_tests", policies::mocked_tests),
    ("network_lists", requests::networks),
    ("networks", builtins::networks),
    ("orders", builtins::orders),
    ("packages_with_versions", practice::packages),
    ("patterns", builtins::patterns),
    ("people", documents::people),
    ("permissions", documents::permissions),
    ("plan_of_changes", requests::plan),
    ("pods", practice::pods),
    ("records", documents::records),
    ("report", practice::report),
    ("route_table", requests::routes),
    ("rules", rules),
    ("services", practice::services),
    ("stamps", builtins::stamps),
    ("subjects", practice::subjects),
    ("table_arrays", tables::arrays),
    ("table_elses", tables::elses),
    ("table_first", tables::first),
    ("table_globs", tables::globs),
    ("table_last", tables::last),
    ("table_members", tables::members),
    ("table_method_last", tables::method_last),
    ("table_methods", tables::methods),
    ("table_missed", tables::missed),
    ("table_prefixes", tables::prefixes),
    ("table_roles", tables::roles),
    ("table_tenants", tables::tenants),
    ("tests", policies::tests),
    ("versions", builtins::versions),
    ("windows", practice::windows),
];

/// Returns the text of a generator, or `None` if the generator does not exist.
pub fn text(name: &str, size: usize) -> Option<String> {
    let (_, generator) = GENERATORS.iter().find(|(known, _)| *known == name)?;
    Some(generator(size))
}

/// Returns the modules of a generator that produces several.
pub fn modules(name: &str, size: usize) -> Option<Vec<(String, String)>> {
    (name == "packages").then(|| policies::packages(size))
}

/// Returns rules that differ in one constant.
pub fn rules(count: usize) -> String {
    let mut policy = String::from("package routes\n\ndefault allow := false\n");
    for rule in 0..count {
        policy.push_str(&format!(
            "\nallow if {{\n\tinput.path == \"/api/v1/resource/{rule}\"\n\tinput.method == \"GET\"\n}}\n"
        ));
    }
    policy
}

/// Deterministic pseudorandom numbers (splitmix64).
pub struct Random(u64);

impl Random {
    /// Creates a generator with a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        usize::try_from((z ^ (z >> 31)) % bound).unwrap_or_default()
    }

    /// Returns one of the words.
    pub fn pick<'w>(&mut self, words: &[&'w str]) -> &'w str {
        let at = self.below(words.len());
        words.get(at).copied().unwrap_or_default()
    }
}

/// Returns a JSON array of `one(n)` for each number `n` below `count`.
pub fn array(count: usize, one: impl FnMut(usize) -> String) -> String {
    let items: Vec<String> = (0..count).map(one).collect();
    format!("[{}]", items.join(","))
}
