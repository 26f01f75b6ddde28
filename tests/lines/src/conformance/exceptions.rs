//! Cases that may fail, each with a reason.

use solon::internal::builtins;

/// Expected failures.
pub struct Exceptions {
    notes: Vec<String>,
    missing: Vec<String>,
}

impl Exceptions {
    /// Parses the list. Every line is a note, or `built-in NAME` for all cases that call a missing built-in, followed by a tab and
    /// a reason.
    ///
    /// # Panics
    ///
    /// Panics if a line has no reason.
    pub fn read(text: &str) -> Self {
        let mut read = Self {
            notes: Vec::new(),
            missing: Vec::new(),
        };
        let lines = text.lines();
        for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (what, reason) = line
                .split_once('\t')
                .expect("an exception has a note and a reason");
            assert!(!reason.trim().is_empty(), "{what} has no reason");
            match what.strip_prefix("built-in ") {
                Some(name) => read.missing.push(name.to_owned()),
                None => read.notes.push(what.to_owned()),
            }
        }
        read
    }

    /// Returns `true` if a case may fail for this reason.
    pub fn excuse(&self, note: &str, reason: &str) -> bool {
        self.notes.iter().any(|known| known == note)
            || self
                .missing
                .iter()
                .any(|name| reason.contains(&format!("undefined function {name}")))
    }

    /// Returns the entries that excuse no case, given the notes of the failed ones.
    pub fn unused(&self, failed: &[String]) -> Vec<String> {
        let notes = self.notes.iter().filter(|note| !failed.contains(note));
        let present = self
            .missing
            .iter()
            .filter(|name| builtins::lookup(name).is_some());
        notes.chain(present).cloned().collect()
    }
}
