//! Hosts use the documented API: no crate around the engine names an item that is hidden from the documentation.

use std::collections::BTreeSet;

use crate::source;

/// Folders of crates that a third party could have written.
const HOSTS: [&str; 4] = ["engine/host/", "ffi/", "python/", "server/"];

/// Names under which hosts import the engine.
const ENGINE: [&str; 2] = ["solon", "engine"];

const HIDDEN: &str = "#[doc(hidden)]";

/// Returns the name of the item that a line declares.
fn declared(line: &str) -> Option<&str> {
    let words: Vec<&str> = line
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .collect();
    let keywords = [
        "mod",
        "fn",
        "struct",
        "enum",
        "trait",
        "const",
        "static",
        "type",
        "macro_rules",
    ];
    let is_keyword = |word: &&&str| keywords.contains(*word);
    let mut rest = words.iter().skip_while(|word| !is_keyword(word));
    rest.find(|word| !is_keyword(word)).copied()
}

/// Returns the names that code imports from a crate, or names by path: the first segment after the crate.
fn first_segments(code: &str, krate: &str) -> BTreeSet<String> {
    let mut code = code.to_owned();
    code.retain(|c| c != '\n' && c != ' ');
    let mut found = BTreeSet::new();
    let path = format!("{krate}::");
    for (at, _) in code.match_indices(&path) {
        let before = code[..at].chars().next_back().unwrap_or(' ');
        // `use` and the name are adjacent, since whitespace is removed
        let is_whole = !before.is_alphanumeric() && before != '_' || code[..at].ends_with("use");
        if !is_whole {
            continue;
        }
        let rest = &code[at + path.len()..];
        let name = |text: &str| -> String {
            text.chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect()
        };
        match rest.strip_prefix('{') {
            None => {
                found.insert(name(rest));
            }
            Some(list) => {
                let mut depth = 0;
                let mut begins = true;
                for (at, c) in list.char_indices() {
                    if begins && depth == 0 {
                        found.insert(name(&list[at..]));
                    }
                    begins = c == ',';
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        _ => {}
                    }
                }
            }
        }
    }
    found
}

#[test]
fn hosts_name_no_hidden_item() {
    let files = source::files();
    let rust = || files.iter().filter(|file| file.has_extension(&["rs"]));
    let is_host = |path: &str| HOSTS.iter().any(|host| path.starts_with(host));
    let mut findings = Vec::new();
    let mut hidden = BTreeSet::new();
    for file in rust().filter(|file| file.path.starts_with("engine/") || is_host(&file.path)) {
        let code = source::code(&file.text);
        let lines: Vec<&str> = code.lines().map(str::trim).collect();
        for (at, _) in lines
            .iter()
            .enumerate()
            .filter(|(_, line)| line.contains(HIDDEN))
        {
            let item = lines[at + 1..].iter().find(|line| !line.starts_with("#["));
            match item.copied().and_then(declared) {
                Some(name) if !is_host(&file.path) => {
                    hidden.insert(name.to_owned());
                }
                _ => findings.push(format!("{}:{}: an item is hidden", file.path, at + 1)),
            }
        }
    }
    assert!(hidden.contains("internal"), "{hidden:?}");
    for file in rust().filter(|file| is_host(&file.path)) {
        let code = source::code(&file.text);
        for krate in ENGINE {
            for name in first_segments(&code, krate).intersection(&hidden) {
                findings.push(format!("{}: {krate}::{name} is hidden", file.path));
            }
        }
    }
    crate::report("hosts use hidden items", &findings);
}

#[test]
fn imports_are_read_with_their_lists() {
    let code = "use solon::{\n    Value, internal::limits, store::{Path, internal}};\nlet x = ::solon::json::read();\nmysolon::no();";
    let names: Vec<String> = first_segments(code, "solon").into_iter().collect();
    assert_eq!(names, ["Value", "internal", "json", "store"]);
    assert_eq!(declared("pub mod internal;"), Some("internal"));
    assert_eq!(declared("pub const fn next() {"), Some("next"));
}
