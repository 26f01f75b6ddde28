//! Policies, data and inputs too large to keep as files. Equal names and sizes give equal texts on every machine.

mod builtins;

/// Makes one text of a size.
type Generator = fn(usize) -> String;

/// What manifests may name.
const GENERATORS: &[(&str, Generator)] = &[
    ("addresses", builtins::addresses),
    ("documents", builtins::documents),
    ("encoded", builtins::encoded),
    ("graph", builtins::graph),
    ("graphql", builtins::graphql),
    ("lines", builtins::lines),
    ("networks", builtins::networks),
    ("orders", builtins::orders),
    ("patterns", builtins::patterns),
    ("rules", rules),
    ("stamps", builtins::stamps),
    ("versions", builtins::versions),
];

/// The text of a generator.
pub fn text(name: &str, size: usize) -> Option<String> {
    let (_, generator) = GENERATORS.iter().find(|(known, _)| *known == name)?;
    Some(generator(size))
}

/// Rules that differ in one constant.
pub fn rules(count: usize) -> String {
    let mut policy = String::from("package routes\n\ndefault allow := false\n");
    for rule in 0..count {
        policy.push_str(&format!(
            "\nallow if {{\n\tinput.path == \"/api/v1/resource/{rule}\"\n\tinput.method == \"GET\"\n}}\n"
        ));
    }
    policy
}

/// Numbers without a pattern, the same each time (splitmix64).
pub struct Random(u64);

impl Random {
    /// Starts at a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        usize::try_from((z ^ (z >> 31)) % bound).unwrap_or_default()
    }

    /// One of some words.
    pub fn pick<'w>(&mut self, words: &[&'w str]) -> &'w str {
        let at = self.below(words.len());
        words.get(at).copied().unwrap_or_default()
    }
}

/// A JSON array of what a function makes for each number below `count`.
pub fn array(count: usize, one: impl FnMut(usize) -> String) -> String {
    let items: Vec<String> = (0..count).map(one).collect();
    format!("[{}]", items.join(","))
}
