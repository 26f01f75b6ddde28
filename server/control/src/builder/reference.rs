//! References within `data`: parsing, text, and mounts that move them.

use solon_syntax::ast::TermKind;
use solon_syntax::source::{Source as Text, SourceId};
use solon_syntax::{ParseOptions, parse_ref};

/// A mount: what is below `path` moves below `prefix`. Both are steps below `data`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mount {
    /// The selected path. Nothing outside of it is used.
    pub path: Vec<String>,
    pub prefix: Vec<String>,
}

impl Mount {
    /// Returns `true` if the mount changes nothing.
    pub fn is_identity(&self) -> bool {
        self.path.is_empty() && self.prefix.is_empty()
    }

    /// Returns where a path is mounted, or `None` if it is not below the selected path.
    pub fn apply(&self, path: &[String]) -> Option<Vec<String>> {
        let rest = path.strip_prefix(self.path.as_slice())?;
        Some([self.prefix.as_slice(), rest].concat())
    }
}

/// Returns where mounts move a path, or `None` if one of them does not select it.
pub fn apply_all(mounts: &[Mount], path: Vec<String>) -> Option<Vec<String>> {
    mounts
        .iter()
        .try_fold(path, |path, mount| mount.apply(&path))
}

/// Returns the steps of a path or prefix below `data`: a reference with or without `data`, or names separated by slashes.
///
/// # Errors
/// The problem of the text.
pub fn steps(text: &str) -> Result<Vec<String>, &'static str> {
    if text.is_empty() || text == "data" {
        return Ok(Vec::new());
    }
    let full = if text.starts_with("data.") || text.starts_with("data[") {
        text.to_owned()
    } else if text.starts_with('[') {
        format!("data{text}")
    } else {
        format!("data.{text}")
    };
    let source = Text::new(SourceId(0), "path", full.as_str());
    if let Ok(terms) = parse_ref(&source, &ParseOptions::default()) {
        let strings = terms.iter().skip(1).map(|term| match &term.kind {
            TermKind::String(text) => Some(text.to_string()),
            _ => None,
        });
        if let Some(steps) = strings.collect() {
            return Ok(steps);
        }
    }
    let plain = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    if !text.chars().all(|c| plain(c) || c == '/') {
        return Err("is not a reference within `data`");
    }
    let names = text.trim_end_matches('/');
    let steps: Vec<String> = if names.contains('/') {
        let names = names.strip_prefix("data/").unwrap_or(names);
        names.split('/').map(str::to_owned).collect()
    } else {
        let names = names.strip_prefix("data.").unwrap_or(names);
        names.split('.').map(str::to_owned).collect()
    };
    if steps
        .iter()
        .any(|step| step.is_empty() || step == "." || step == "..")
    {
        return Err("is not a reference within `data`");
    }
    Ok(steps)
}

/// Returns the text of a path below `data`, without `data`: `a.b["c d"]`. The root is `data`.
pub fn dotted(steps: &[String]) -> String {
    let mut text = String::new();
    for step in steps {
        let mut letters = step.chars();
        let starts = letters
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        let is_name = starts && letters.all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            text.push_str(&format!("[{step:?}]"));
            continue;
        }
        if !text.is_empty() {
            text.push('.');
        }
        text.push_str(step);
    }
    if text.is_empty() || text.starts_with('[') {
        text.insert_str(0, "data");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{dotted, steps};

    #[test]
    fn references_and_names_have_steps() {
        let joined_steps = |text| steps(text).map(|steps| steps.join("|"));
        for (text, expected) in [
            ("", ""),
            ("data", ""),
            ("lib", "lib"),
            ("data.lib.authz", "lib|authz"),
            ("lib.authz", "lib|authz"),
            ("database", "database"),
            ("data.database.x", "database|x"),
            ("data[\"a b\"].c", "a b|c"),
            ("[\"a b\"].c", "a b|c"),
            ("lib[\"a/b\"]", "lib|a/b"),
            ("lib/authz/", "lib|authz"),
            ("data/lib", "lib"),
            ("v1.2/x", "v1.2|x"),
            ("lib-x.y", "lib-x|y"),
            ("data.lib-x", "lib-x"),
        ] {
            assert_eq!(joined_steps(text).as_deref(), Ok(expected), "{text}");
        }
        for text in [
            "a b", "lib[0]", "lib[x]", "a//b", "a..b", "..", "input(x)", "a\"b",
        ] {
            assert!(joined_steps(text).is_err(), "{text}");
        }
    }

    #[test]
    fn paths_have_texts() {
        let text = |steps: &[&str]| {
            dotted(
                &steps
                    .iter()
                    .map(|&step| step.to_owned())
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(text(&[]), "data");
        assert_eq!(text(&["a", "b"]), "a.b");
        assert_eq!(text(&["a", "b-c", "d"]), "a[\"b-c\"].d");
        assert_eq!(text(&["b-c"]), "data[\"b-c\"]");
    }
}
