//! `docs/functions.md`: every function with its arguments, its result and its recorded errors.
//!
//! `BLESS=1` regenerates the page.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use solon::internal::builtins::{self, BuiltinEntry};

/// Maximum number of listed errors of one function.
const ERRORS: usize = 12;

/// Maximum length of a listed error, in characters.
const LONGEST: usize = 160;

const HEAD: &str = "# Functions

What policies may call, in the order of names. A line of code names the arguments and the result with their types, in the
notation of the table of built-ins; what stands for an operator says so.

Unless a function says otherwise: times and durations are nanoseconds, times counted since 1970 in UTC; positions and
lengths in strings are code points, from 0, and those in arrays are elements, from 0; sizes are bytes; negative positions
are errors or mean the end, as each function says. A function whose argument is of another type than it takes is a type
error where the compiler sees it, and otherwise an error of the evaluation (`operand 1 must be string but got number`),
which makes the expression undefined unless built-in errors are strict. Every function stops at the deadline of its
evaluation, and none takes more memory than it may.

Errors are those that the recorded cases meet; `…` stands for a text, `N` for a number.
";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the sources of results that do not depend on arguments alone.
fn source(name: &str) -> Option<&'static str> {
    Some(match name {
        "http.send" => "the server that is asked, once for equal requests of an evaluation",
        "net.lookup_ip_addr" => "the resolver of the host, once for a name in an evaluation",
        "opa.runtime" => "the description of the host",
        "rand.intn" => "the random source of the host, seeded once for an evaluation",
        "time.now_ns" => "the clock of the host, read once for an evaluation",
        "uuid.rfc4122" => "the random source of the host, once for a key in an evaluation",
        _ => return None,
    })
}

/// Returns an error with the parts removed that differ between calls.
fn shape(message: &str, name: &str) -> String {
    let message = message
        .strip_prefix(name)
        .and_then(|rest| rest.strip_prefix(": "));
    let message = message
        .unwrap_or_default()
        .lines()
        .next()
        .unwrap_or_default();
    let mut shape = String::new();
    let mut quote = None;
    for c in message.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => {
                quote = None;
                shape.push(c);
            }
            (Some(_), _) => {}
            (None, '"' | '`') => {
                quote = Some(c);
                shape.extend([c, '…']);
            }
            (None, c) if c.is_ascii_digit() => {
                if !shape.ends_with('N') {
                    shape.push('N');
                }
            }
            (None, c) if c.is_control() => {}
            (None, c) => shape.push(c),
        }
    }
    shape
}

/// Collects the errors of each function in the files of a folder.
fn errors_in(folder: &Path, found: &mut BTreeMap<String, BTreeSet<String>>) {
    let mut add = |name: &str, message: &str| {
        let shape = shape(message, name);
        if !shape.is_empty() && shape.chars().count() <= LONGEST {
            found.entry(name.to_owned()).or_default().insert(shape);
        }
    };
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        match serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap() {
            Json::Array(cases) => {
                for case in cases {
                    let call = case["call"].as_str().unwrap_or_default();
                    let name = call.split('(').next().unwrap_or_default();
                    if let Some(message) = case["error"]["message"].as_str() {
                        add(name, message);
                    }
                }
            }
            Json::Object(functions) => {
                for (name, cases) in functions {
                    for case in cases.as_array().into_iter().flatten() {
                        if let Some(message) = case[1][1].as_str() {
                            add(&name, message);
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

fn section(entry: &BuiltinEntry, errors: Option<&BTreeSet<String>>, page: &mut String) {
    let builtin = entry.builtin;
    let (name, signature) = (builtin.name, builtin.signature.trim());
    let (arguments, result) = signature.split_once("=>").unwrap();
    let (arguments, result) = (arguments.trim(), result.trim());
    let mut line = |text: std::fmt::Arguments<'_>| writeln!(page, "{text}").unwrap();
    line(format_args!(
        "\n## `{name}`\n\n    {name}({arguments}) => {result}\n"
    ));
    line(format_args!("{}", builtin.doc));
    if !builtin.infix.is_empty() {
        line(format_args!(
            "Written between its operands: `{}`.",
            builtin.infix
        ));
    }
    if builtin.deprecated {
        line(format_args!("Deprecated: only modules of v0 may call it."));
    }
    if let Some(source) = source(name) {
        line(format_args!("Its source is {source}."));
    }
    let Some(errors) = errors.filter(|errors| !errors.is_empty()) else {
        return;
    };
    line(format_args!("\nErrors:\n"));
    for error in errors.iter().take(ERRORS) {
        line(format_args!("- {}", code(error)));
    }
    if errors.len() > ERRORS {
        line(format_args!("- and {} more", errors.len() - ERRORS));
    }
}

/// Returns a code span of Markdown: messages contain characters with a meaning there.
fn code(text: &str) -> String {
    if text.contains('`') {
        format!("`` {text} ``")
    } else {
        format!("`{text}`")
    }
}

#[test]
fn every_function_is_described() {
    let mut entries: Vec<&BuiltinEntry> = builtins::all().collect();
    entries.sort_by_key(|entry| entry.builtin.name);
    assert_eq!(entries.len(), 206);
    let mut errors = BTreeMap::new();
    let cases = root().join("tests/cases/builtins");
    errors_in(&cases, &mut errors);
    errors_in(&cases.join("differential"), &mut errors);
    errors_in(&cases.join("differential/edges"), &mut errors);
    let mut page = HEAD.to_owned();
    for entry in entries {
        let builtin = entry.builtin;
        assert!(
            builtin.doc.len() > 5 && builtin.doc.ends_with('.'),
            "{} has no description",
            builtin.name
        );
        let nondeterministic = source(builtin.name).is_some();
        assert!(
            builtin.nondeterministic || !nondeterministic,
            "{} asks the outside",
            builtin.name
        );
        section(entry, errors.get(builtin.name), &mut page);
    }
    let path = root().join("docs/functions.md");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/functions.md is old; BLESS=1 writes it again"
    );
}
