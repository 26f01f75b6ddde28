//! Folders of trees in an archive.

use std::collections::BTreeMap;

/// Assigns each tree a folder of its own. No folder is inside of another one, so trees never share a path.
#[derive(Default)]
pub struct Folders {
    /// Number of trees by escaped name.
    counts: BTreeMap<String, usize>,
    used: Vec<String>,
}

/// The folder of the modules that the optimizer generates.
const OPTIMIZED: &str = "optimized";

impl Folders {
    /// Returns the folder of the next tree of a source: its name, then the name with 1, 2, and so on. Names that are in use
    /// are skipped.
    pub fn next(&mut self, source: &str) -> String {
        let name = escape(source);
        let count = self.counts.entry(name.clone()).or_default();
        loop {
            let number = match *count {
                // a folder needs a name
                0 if !name.is_empty() => String::new(),
                number => number.to_string(),
            };
            *count += 1;
            let folder = format!("{name}{number}");
            let flat = folder.replace('/', "%2F");
            for folder in [folder, flat] {
                if folder != OPTIMIZED
                    && !self
                        .used
                        .iter()
                        .any(|used_folder| overlaps(used_folder, &folder))
                {
                    self.used.push(folder.clone());
                    return folder;
                }
            }
        }
    }
}

/// Returns `true` if one folder contains the other.
fn overlaps(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let rest = long.strip_prefix(short);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Escapes the name of a source: `#` is `##`, `:` is `#`. Steps and characters that archives or file systems treat specially
/// are percent-encoded.
fn escape(source: &str) -> String {
    let steps = source.split('/').map(|step| match step {
        "" if source.is_empty() => String::new(),
        "" => "%".to_owned(),
        "." => "%2E".to_owned(),
        ".." => "%2E%2E".to_owned(),
        step => {
            let mut text = String::new();
            for letter in step.chars() {
                match letter {
                    '#' => text.push_str("##"),
                    ':' => text.push('#'),
                    '\\' => text.push_str("%5C"),
                    letter if letter.is_control() => {
                        text.push_str(&format!("%{:02X}", u32::from(letter)));
                    }
                    letter => text.push(letter),
                }
            }
            text
        }
    });
    steps.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::Folders;

    #[test]
    fn folders_never_overlap() {
        let mut folders = Folders::default();
        let mut next = |source| folders.next(source);
        assert_eq!(next("git:local"), "git#local");
        assert_eq!(next("git:local"), "git#local1");
        assert_eq!(next("git#local"), "git##local");
        assert_eq!(next("s"), "s");
        assert_eq!(next("s1"), "s1");
        assert_eq!(next("s"), "s2", "`s1` is another source");
        assert_eq!(next("a/b"), "a/b");
        assert_eq!(next("a"), "a1", "`a` contains `a/b`");
        assert_eq!(next("s/x"), "s%2Fx");
        assert_eq!(next(""), "0");
        assert_eq!(next(""), "1");
        assert_eq!(next("optimized"), "optimized1");
        assert_eq!(next("../../etc"), "%2E%2E/%2E%2E/etc");
        assert_eq!(next("x\n\\"), "x%0A%5C");
    }
}
