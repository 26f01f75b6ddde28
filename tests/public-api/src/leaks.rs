//! Finds types that a signature of the public API names although the crate does not export them.
//!
//! rustdoc prints such a type with the path of its definition. A user cannot write that path, and a change of the type is a
//! change of the API that the record does not show.

use std::collections::{BTreeMap, BTreeSet};

/// Returns each path of `krate` that a line names and no line declares, with the first line that names it.
pub fn find<'l>(lines: &'l [String], krate: &str) -> BTreeMap<&'l str, &'l str> {
    let declared: BTreeSet<&str> = lines
        .iter()
        .filter_map(|line| declared(line, krate))
        .collect();
    let mut leaks = BTreeMap::new();
    for line in lines {
        for path in paths(line, krate) {
            if !declared.contains(path) {
                leaks.entry(path).or_insert(line.as_str());
            }
        }
    }
    leaks
}

/// Returns the path of the item that a line declares. Lines of implementations declare nothing.
fn declared<'l>(line: &'l str, krate: &str) -> Option<&'l str> {
    if line.starts_with("impl") {
        return None;
    }
    paths(line, krate).next()
}

/// Returns the paths of items of the crate in a line, without generic arguments.
fn paths<'l>(line: &'l str, krate: &str) -> impl Iterator<Item = &'l str> {
    let is_name = |c: char| c == ':' || c == '_' || c.is_ascii_alphanumeric();
    line.split(move |c| !is_name(c)).filter_map(move |word| {
        // `self::…` and types before a colon, such as `value: solon::Value`, are words of their own
        let path = word.trim_end_matches(':');
        let rest = path.strip_prefix(krate)?;
        (rest.is_empty() || rest.starts_with("::")).then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::find;

    fn leaks(lines: &[&str]) -> Vec<String> {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        find(&lines, "solon")
            .into_keys()
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn exported_types_are_no_leaks() {
        let none: [String; 0] = [];
        let lines = [
            "pub mod solon",
            "#[non_exhaustive] pub struct solon::json::Style<'l>",
            "pub solon::json::Style::html: bool",
            "impl<'l> solon::json::Style<'l>",
            "pub const fn solon::json::Style<'l>::html(self, bool) -> Self",
            "pub enum solon::Value",
            "pub fn solon::read(&[u8], solonic::Other) -> core::result::Result<solon::Value, solon_syntax::Error>",
        ];
        assert_eq!(leaks(&lines), none);
    }

    #[test]
    fn types_of_private_modules_are_leaks_wherever_they_are_named() {
        let lines = [
            "pub enum solon::Value",
            "pub solon::Value::Short(solon::value::Short)",
            "impl solon::sort::Sortable for solon::Value",
            "impl core::convert::From<solon::Broken> for solon::Value",
            "pub fn solon::read<T: solon::Bound>(&solon::Source<'_>) -> alloc::vec::Vec<solon::Item>",
            "pub type solon::List = alloc::vec::Vec<solon::inner::Entry>",
        ];
        let expected = [
            "solon::Bound",
            "solon::Broken",
            "solon::Item",
            "solon::Source",
            "solon::inner::Entry",
            "solon::sort::Sortable",
            "solon::value::Short",
        ];
        assert_eq!(leaks(&lines), expected);
    }
}
