//! The face of the crate `solon`: what `lib.rs` re-exports and the methods of its types, as `docs/face.md` records it.
//! `BLESS=1 cargo test -p solon --test tidy` records anew.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::source;

/// Most items that the face may have.
const LARGEST: usize = 190;

const HEAD: &str = "# The face of `solon`

What hosts may rely on: the items that the crate re-exports, each with the public methods of its own. A test compares this
page with the code; `BLESS=1 cargo test -p solon --test tidy` writes it anew. Nothing leaves it without a reason in
`CHANGELOG.md`.
";

#[test]
fn the_face_is_the_recorded_one() {
    let files = source::files();
    let text = |path: &str| {
        let file = files.iter().find(|file| file.path == path);
        source::code(&file.unwrap_or_else(|| panic!("there is no {path}")).text)
    };
    let mut items: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let lib = text("engine/src/lib.rs");
    for (module, body) in namespaces(&lib) {
        for name in exported(&body) {
            items.entry(format!("{module}::{name}")).or_default();
        }
    }
    for name in exported(&outside_of_modules(&lib)) {
        items.entry(name).or_default();
    }
    for module in ["bundle", "host", "store", "trace"] {
        let code = text(&format!("engine/src/{module}/mod.rs"));
        let declared = code.lines().filter_map(declared).map(str::to_owned);
        for name in exported(&code).into_iter().chain(declared) {
            items.entry(format!("{module}::{name}")).or_default();
        }
    }
    for file in files
        .iter()
        .filter(|file| file.path.starts_with("engine/src/") && file.is(&["rs"]))
    {
        let code = source::code(&file.text);
        for (kind, method) in methods(source::without_tests(&code)) {
            for (item, methods) in &mut items {
                let name = item.rsplit("::").next().unwrap_or(item);
                if name == kind || (name == "CompilerOptions" && kind == "Options") {
                    methods.insert(method.clone());
                }
            }
        }
    }
    // types that stand in the root as well are listed there
    let again: Vec<String> = items
        .keys()
        .filter(|item| {
            item.split_once("::")
                .is_some_and(|(_, name)| items.contains_key(name))
        })
        .cloned()
        .collect();
    for item in again {
        items.remove(&item);
    }
    assert!(
        items.len() <= LARGEST,
        "{} items, more than {LARGEST}",
        items.len()
    );
    let mut page = HEAD.to_owned();
    for (item, methods) in &items {
        let methods: Vec<&str> = methods.iter().map(String::as_str).collect();
        let _ = match methods.as_slice() {
            [] => write!(page, "\n- `{item}`"),
            methods => write!(page, "\n- `{item}`: {}", methods.join(", ")),
        };
    }
    page.push('\n');
    let path = crate::root().join("docs/face.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &page).unwrap_or_else(|error| panic!("{error}"));
    }
    let record = std::fs::read_to_string(&path).unwrap_or_default();
    let differing = |left: &str, right: &str| -> Vec<String> {
        let right: BTreeSet<&str> = right.lines().collect();
        let lines = left.lines().filter(|line| !right.contains(line));
        lines.map(str::to_owned).collect()
    };
    let mut findings = differing(&record, &page);
    for line in &mut findings {
        line.insert_str(0, "gone: ");
    }
    let new = differing(&page, &record).into_iter();
    findings.extend(new.map(|line| format!("new: {line}")));
    crate::report("the face is not the recorded one", &findings);
}

/// The bodies of `pub mod x { … }`, by name.
fn namespaces(code: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find("\npub mod ") {
        rest = &rest[at + "\npub mod ".len()..];
        let line = rest.lines().next().unwrap_or_default();
        if let Some(name) = line.strip_suffix(" {") {
            let end = rest.find("\n}").unwrap_or(rest.len());
            found.push((name.to_owned(), rest[..end].to_owned()));
        }
    }
    found
}

/// The code without such bodies.
fn outside_of_modules(code: &str) -> String {
    let mut kept = String::new();
    let mut within = false;
    for line in code.lines() {
        within = within || (line.starts_with("pub mod ") && line.ends_with('{'));
        if !within {
            kept.push_str(line);
            kept.push('\n');
        }
        within = within && line != "}";
    }
    kept
}

/// The names that `pub use` brings.
fn exported(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("pub use ") {
        let path = &code[at + "pub use ".len()..];
        let path = &path[..path.find(';').unwrap_or(path.len())];
        let list = path
            .split_once('{')
            .map_or(path, |(_, list)| list.trim_end_matches('}'));
        for name in list
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
        {
            let name = name.rsplit(" as ").next().unwrap_or(name);
            let name = name.rsplit("::").next().unwrap_or(name);
            found.push(name.trim().to_owned());
        }
    }
    found
}

/// The name of the public item that a line declares at the top of a module.
fn declared(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub ")?;
    let rest = ["struct ", "enum ", "trait ", "fn ", "const ", "type "]
        .iter()
        .find_map(|keyword| rest.strip_prefix(keyword))?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
    Some(&rest[..end.unwrap_or(rest.len())])
}

/// The public methods of types, and those of traits: type and method.
fn methods(code: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut kind: Option<(String, bool)> = None;
    for line in code.lines() {
        if line.starts_with('}') {
            kind = None;
        } else if let Some(rest) = line.strip_prefix("impl") {
            let rest = after_generics(rest).trim_start();
            let name: String = rest
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            kind = (!line.contains(" for ")).then_some((name, false));
        } else if let Some(rest) = line.strip_prefix("pub trait ") {
            let name = rest
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_');
            kind = Some((name.collect(), true));
        } else if let Some((name, is_trait)) = &kind {
            let method = if *is_trait {
                line.strip_prefix("    fn ")
            } else {
                let public = line.strip_prefix("    pub fn ");
                public.or_else(|| line.strip_prefix("    pub const fn "))
            };
            if let Some(method) = method {
                let method = method
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_');
                found.push((name.clone(), method.collect()));
            }
        }
    }
    found
}

/// What follows `<…>` at the beginning.
fn after_generics(text: &str) -> &str {
    if !text.starts_with('<') {
        return text;
    }
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[at + 1..];
        }
    }
    text
}
