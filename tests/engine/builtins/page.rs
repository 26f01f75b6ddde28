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

Differences are those of [Differences from OPA](differences.md#built-in-functions).

| function | example | difference from OPA |
|---|---|---|
";

/// Maximum length of an example, in characters.
const EXAMPLE: usize = 80;

/// Starts of differences that name no function, with the prefixes of the names of the functions that they concern.
const TOPICS: &[(&str, &[&str])] = &[
    ("A regular expression", &["regex."]),
    (
        "Time zones",
        &[
            "time.clock",
            "time.date",
            "time.weekday",
            "time.format",
            "time.diff",
            "time.parse_ns",
        ],
    ),
    ("Amounts of units", &["units."]),
    (
        "Keys on the curve P-224",
        &[
            "io.jwt.verify",
            "io.jwt.decode_verify",
            "io.jwt.encode_sign",
            "crypto.x509.",
        ],
    ),
    (
        "A private key on P-224",
        &["crypto.parse_private_keys", "crypto.x509.parse_rsa"],
    ),
    (
        "RSA keys of more than two primes",
        &["crypto.parse_private_keys", "crypto.x509.parse_rsa"],
    ),
    (
        "In messages about requests",
        &["http.send", "io.jwt.encode_sign"],
    ),
    ("JSON Schema", &["json.match_schema", "json.verify_schema"]),
    ("Which of two headers", &["http.send"]),
    ("`cache_ignored_headers`", &["http.send"]),
    ("With `allow_net`", &["http.send", "net.lookup_ip_addr"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the sources of results that do not depend on arguments alone.
fn source(name: &str) -> Option<&'static str> {
    Some(match name {
        "http.send" => "the server of the request, once for equal requests of an evaluation",
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

/// Returns the entries of a section of `docs/differences.md`, each in one line.
fn differences(section: &str) -> Vec<String> {
    let page = fs::read_to_string(root().join("docs/differences.md")).unwrap();
    let heading = format!("\n## {section}\n");
    let (_, rest) = page.split_once(&heading).unwrap();
    let text = rest.split("\n## ").next().unwrap();
    let entries = text.trim().strip_prefix("- ").unwrap().split("\n- ");
    let joined = entries.map(|entry| entry.split_whitespace().collect::<Vec<_>>().join(" "));
    joined.collect()
}

/// Returns the differences of a function from OPA's, for a cell of the table.
fn difference(name: &str, all: &[String]) -> String {
    if name.starts_with("graphql.") {
        return "[GraphQL](differences.md#graphql)".to_owned();
    }
    let concerns = |entry: &&String| {
        let named = entry.contains(&format!("`{name}`"));
        let topic = TOPICS.iter().find(|(start, _)| entry.starts_with(start));
        let of_topic = topic
            .is_some_and(|(_, prefixes)| prefixes.iter().any(|prefix| name.starts_with(prefix)));
        named || of_topic
    };
    let own: Vec<&str> = all.iter().filter(concerns).map(String::as_str).collect();
    if own.is_empty() {
        "none".to_owned()
    } else {
        own.join(" · ")
    }
}

/// Collects the shortest recorded call of each function with its result.
fn examples_in(folder: &Path, found: &mut BTreeMap<String, (String, String)>) {
    let mut add = |name: &str, call: String, result: &str| {
        let length = call.chars().count() + result.chars().count();
        // an example without operands shows nothing
        let is_telling = !call.contains("hide(") && !call.contains("\"\"") && call.is_ascii();
        let shorter = |(call, result): &(String, String)| {
            let known = call.chars().count() + result.chars().count();
            known > 24 && length < known
        };
        if is_telling && length <= EXAMPLE && found.get(name).is_none_or(shorter) {
            found.insert(name.to_owned(), (call, result.to_owned()));
        }
    };
    for entry in sorted(folder) {
        match serde_json::from_str(&fs::read_to_string(&entry).unwrap()).unwrap() {
            Json::Array(cases) => {
                for case in cases {
                    let (Some(call), Some(result)) =
                        (case["call"].as_str(), case["result"].as_str())
                    else {
                        continue;
                    };
                    let name = call.split('(').next().unwrap_or_default();
                    add(name, call.to_owned(), result);
                }
            }
            Json::Object(functions) => {
                for (name, cases) in functions {
                    for case in cases.as_array().into_iter().flatten() {
                        let (Some(operands), Some(result)) = (case[0].as_array(), case[1].as_str())
                        else {
                            continue;
                        };
                        let operands: Vec<&str> =
                            operands.iter().filter_map(Json::as_str).collect();
                        add(&name, format!("{name}({})", operands.join(", ")), result);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns the JSON files of a folder in order.
fn sorted(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().flatten();
    let mut files: Vec<PathBuf> = files.map(|entry| entry.path()).collect();
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    files.sort();
    files
}

/// Returns text for a cell of a table, in which a vertical bar separates cells.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
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
    let mut examples = BTreeMap::new();
    examples_in(&cases, &mut examples);
    examples_in(&cases.join("differential"), &mut examples);
    let known = differences("Built-in functions");
    let mut page = HEAD.to_owned();
    for entry in &entries {
        let name = entry.builtin.name;
        let example = examples.get(name);
        let example = example.map(|(call, result)| code(&format!("{call} == {result}")));
        let anchor = name.replace('.', "").to_lowercase();
        writeln!(
            page,
            "| [`{name}`](#{anchor}) | {} | {} |",
            cell(&example.unwrap_or_default()),
            cell(&difference(name, &known))
        )
        .unwrap();
    }
    for difference in &known {
        let is_used = entries.iter().any(|entry| {
            let of_entry = self::difference(entry.builtin.name, &known);
            of_entry.contains(difference.as_str())
        });
        assert!(is_used, "no function has the difference: {difference}");
    }
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
            "{} depends on its host but is not marked as nondeterministic",
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
