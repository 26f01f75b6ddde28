//! The file of a document by the path of its data source.

use solon_syntax::ast::TermKind;
use solon_syntax::source::{Source, SourceId};
use solon_syntax::{ParseOptions, parse_ref};

use crate::sync::names;

/// The name of the file with a document.
const FILE: &str = "data.json";

/// Returns the path of the file with the document of a path: names with `/` between, or a reference within `data`.
///
/// # Errors
/// The path has a name that is not the name of a folder.
pub fn file(path: &str) -> Result<String, String> {
    let steps = if path.starts_with("data.") || path == "data" || path.contains('[') {
        reference(path).ok_or_else(|| format!("path {path:?} is not a reference within `data`"))?
    } else {
        let steps = path.trim_end_matches('/').split('/');
        steps.map(str::to_owned).collect()
    };
    if steps.iter().any(|step| step.contains('/')) {
        return Err(format!("path {path:?} has a name with a slash"));
    }
    let mut file: String = steps
        .iter()
        .filter(|step| !step.is_empty() || steps.len() > 1)
        .map(|step| format!("{step}/"))
        .collect();
    file.push_str(FILE);
    match names::problem(&file) {
        Some(problem) => Err(format!("path {path:?}: {problem}")),
        None => Ok(file),
    }
}

fn reference(path: &str) -> Option<Vec<String>> {
    let full = if path == "data" || path.starts_with("data.") || path.starts_with("data[") {
        path.to_owned()
    } else if path.starts_with('[') {
        format!("data{path}")
    } else {
        format!("data.{path}")
    };
    if full == "data" {
        return Some(Vec::new());
    }
    let source = Source::new(SourceId(0), "path", full.as_str());
    let terms = parse_ref(&source, &ParseOptions::default()).ok()?;
    let steps = terms.iter().skip(1).map(|term| match &term.kind {
        TermKind::String(name) => Some(name.to_string()),
        _ => None,
    });
    steps.collect()
}

#[cfg(test)]
mod tests {
    use super::file;

    #[test]
    fn documents_have_files() {
        for (path, wanted) in [
            ("", "data.json"),
            ("data", "data.json"),
            ("users", "users/data.json"),
            ("users/", "users/data.json"),
            ("a/b-c/d.e", "a/b-c/d.e/data.json"),
            ("a.b", "a.b/data.json"),
            ("data.a.b", "a/b/data.json"),
            ("a[\"b c\"]", "a/b c/data.json"),
            ("[\"a\"].b", "a/b/data.json"),
        ] {
            assert_eq!(file(path).as_deref(), Ok(wanted), "{path}");
        }
        for path in [
            "..",
            "a/../b",
            "/a",
            "a//b",
            "a/./b",
            "a[\"b/c\"]",
            "a[\"..\"]",
            "a[0]",
            "a[x]",
            "a\\b",
        ] {
            assert!(file(path).is_err(), "{path}: {:?}", file(path));
        }
    }
}
