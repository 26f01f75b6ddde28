//! Modules of the engine and the server import only modules of lower layers, so the code can be read bottom up.

use std::collections::BTreeSet;

use crate::source;

/// Layers from bottom to top; modules of one layer do not import each other.
type Layers = &'static [&'static [&'static str]];

const CRATES: [(&str, Layers); 6] = [
    ("engine/src/", ENGINE),
    ("engine/tower/src/", TOWER),
    ("server/src/", SERVER),
    ("server/common/src/", COMMON),
    ("server/control/src/", CONTROL),
    ("server/outbound/src/", OUTBOUND),
];

const ENGINE: Layers = &[
    &["limits", "bug"],
    &["index"],
    &["value"],
    &["uri"],
    &["types", "host", "store"],
    &["graphql"],
    &["builtins"],
    &["program", "trace"],
    &["runtime"],
    &["compile", "eval", "topdown"],
    &["partial"],
    &["filter"],
    &["bundle"],
    &["error"],
    &["snapshot"],
    &["query"],
    &["partial_query"],
    &["filter_query"],
    &["decision", "explanation"],
    &["engine"],
    &["build"],
    &["testing"],
    &["internal"],
];

const TOWER: Layers = &[
    &["input", "rejection"],
    &["policy"],
    &["extract"],
    &["layer"],
];

const SERVER: Layers = &[
    &["config", "json", "wire", "system", "uuid"],
    &["telemetry"],
    &["net", "execution"],
    &["http", "plugins"],
    &["api"],
    &["envoy"],
    &["app", "control"],
    &["cli"],
];

const COMMON: Layers = &[
    &[
        "duration",
        "escapes",
        "metrics",
        "private_files",
        "substitution",
    ],
    &["atomic_file"],
];

const OUTBOUND: Layers = &[
    &["errno", "error", "networks"],
    &["message", "files", "backoff"],
    &["body", "stream", "tls"],
    &["proxy"],
    &["connect"],
    &["transport"],
    &["authorize", "config", "observe"],
    &["credentials"],
    &["client"],
    &["objects", "registry"],
    &["services"],
];

const CONTROL: Layers = &[
    &["limits", "list_digest"],
    &["tree"],
    &["model"],
    &["trace"],
    &["db"],
    &["error"],
    &["secrets", "access"],
    &["changes"],
    &["config", "object_credentials"],
    &["sync", "builder", "storage"],
    &["api", "findings"],
    &["worker"],
    &["control_plane"],
    &["commands"],
];

/// Dependencies that only some modules may name.
const OWNED: [(&str, &[&str]); 1] = [("hyper", &["http"])];

fn layer(layers: Layers, module: &str) -> Option<usize> {
    layers.iter().position(|modules| modules.contains(&module))
}

/// Returns the files of a crate below its root, each with its module path.
fn modules<'f>(
    files: &'f [source::File],
    root: &'f str,
) -> impl Iterator<Item = (&'f source::File, Vec<&'f str>)> {
    let rust = files.iter().filter(|file| file.has_extension(&["rs"]));
    rust.filter_map(move |file| {
        let module = file.path.strip_prefix(root)?;
        (!["lib.rs", "main.rs"].contains(&module)).then(|| (file, module_path(module)))
    })
}

#[test]
fn modules_import_only_smaller_layers() {
    let mut findings = Vec::new();
    let files = source::files();
    for (root, layers) in CRATES {
        for (file, path) in modules(&files, root) {
            let Some(own) = layer(layers, path[0]) else {
                findings.push(format!(
                    "{}: module `{}` has no layer in tests/tidy/layers.rs",
                    file.path, path[0]
                ));
                continue;
            };
            let code = source::code(&file.text);
            for used in imports(source::without_tests(&code), path.len()) {
                match layer(layers, &used) {
                    _ if used == path[0] => {}
                    Some(other) if other < own => {}
                    Some(other) => findings.push(format!(
                        "{}: layer {own} imports `{used}` of layer {other}",
                        file.path
                    )),
                    None => findings.push(format!(
                        "{}: `crate::{used}` is no module with a layer",
                        file.path
                    )),
                }
            }
        }
    }
    crate::report("imports against the layers", &findings);
}

#[test]
fn only_their_owners_name_crates() {
    let mut findings = Vec::new();
    let files = source::files();
    for (file, path) in modules(&files, "server/src/") {
        let code = source::code(&file.text);
        for (name, owners) in OWNED {
            let named = code.match_indices(name).any(|(at, _)| {
                let alone = !code[..at].ends_with(is_word);
                alone && code[at + name.len()..].starts_with([':', '_'])
            });
            if named && !owners.contains(&path[0]) {
                findings.push(format!("{}: names `{name}`", file.path));
            }
        }
    }
    crate::report("crates named outside their modules", &findings);
}

/// Returns the module path of a file: `builtins/strings.rs` is `builtins, strings`; `builtins/mod.rs` is `builtins`.
fn module_path(file: &str) -> Vec<&str> {
    let path = file.trim_end_matches(".rs");
    path.strip_suffix("/mod")
        .unwrap_or(path)
        .split('/')
        .collect()
}

/// Returns the root modules of the crate that `code`, itself `depth` modules deep, names by `crate::` or `super::`.
fn imports(code: &str, depth: usize) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        // paths in a macro are resolved where it is used
        if !code[..at].ends_with(is_word) && !code[..at].ends_with('$') {
            first_names(&code[at + "crate::".len()..], &mut found);
        }
    }
    for (at, _) in code.match_indices("super::") {
        if code[..at].ends_with(is_word) || code[..at].ends_with("super::") {
            continue;
        }
        let mut rest = &code[at..];
        let mut ups = 0;
        while let Some(below) = rest.strip_prefix("super::") {
            rest = below;
            ups += 1;
        }
        if ups == depth {
            first_names(rest, &mut found);
        }
    }
    found
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Adds the first name after `crate::`, or each first name of a group in braces.
fn first_names(path: &str, found: &mut BTreeSet<String>) {
    let Some(group) = path.strip_prefix('{') else {
        found.extend(first_word(path));
        return;
    };
    let mut depth = 0_usize;
    let mut start = 0;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            '}' | ',' if depth == 0 => {
                found.extend(first_word(&group[start..at]));
                start = at + 1;
                if c == '}' {
                    return;
                }
            }
            _ => {}
        }
    }
}

fn first_word(text: &str) -> Option<String> {
    let word: String = text
        .trim_start()
        .chars()
        .take_while(|&c| is_word(c))
        .collect();
    Some(word).filter(|word| !word.is_empty())
}

#[test]
fn imports_are_detected_in_every_form() {
    let code = "use crate::{value::{Value, Set}, limits}; use super::super::store::X; use super::near::Y; pub(crate) fn f(a: crate::host::Host) {}";
    let found: Vec<String> = imports(code, 2).into_iter().collect();
    assert_eq!(found, ["host", "limits", "store", "value"]);
}
