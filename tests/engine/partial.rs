//! What policies come down to while something is unknown, as OPA has it.

#![allow(
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a panic in a test program is a failing test"
)]

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::{Value, json};
use solon::{Change, Engine, Error, PartialOptions, Path, Request, Residuals};
use solon_syntax::ast::visit::{Flow, Terms, WalkMut};
use solon_syntax::ast::{Term, TermKind};

/// A case; `want` is what OPA answers.
#[derive(Deserialize)]
struct Case {
    note: String,
    want: BTreeMap<String, Vec<String>>,
    #[serde(flatten)]
    request: BTreeMap<String, Value>,
}

#[test]
fn residuals_are_those_of_opa() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cases/partial");
    let mut failures = Vec::new();
    let mut passed = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for case in serde_json::from_str::<Vec<Case>>(&text).unwrap() {
            let mut request = case.request;
            request.insert("partial".into(), true.into());
            let answer = solon::lines::answer(&json!(request).to_string());
            let got: BTreeMap<String, Vec<String>> =
                serde_json::from_str(&answer).unwrap_or_default();
            let query = request.get("query").and_then(Value::as_str).unwrap_or("");
            if canonical(&got, query) == canonical(&case.want, query) {
                passed += 1;
            } else {
                let want = json!(case.want);
                failures.push(format!("{}\n  want {want}\n  got  {answer}", case.note));
            }
        }
    }
    println!("{passed} passed, {} failed", failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Queries, and modules with their rules, in order, with generated variables renamed.
fn canonical(answer: &BTreeMap<String, Vec<String>>, query: &str) -> BTreeMap<String, Vec<String>> {
    let mut canonical = BTreeMap::new();
    for (field, texts) in answer {
        let mut lines: Vec<String> = texts
            .iter()
            .map(|text| {
                let mut lines: Vec<String> =
                    text.lines().map(|line| renamed(line, query)).collect();
                lines.sort();
                lines.join("\n")
            })
            .collect();
        lines.sort();
        canonical.insert(field.clone(), lines);
    }
    canonical
}

/// A line with its generated variables (those with digits) numbered in the order they come.
fn renamed(line: &str, query: &str) -> String {
    let own: Vec<&str> = words(query).collect();
    let mut names: HashMap<&str, usize> = HashMap::new();
    let mut text = String::new();
    for word in words(line) {
        let generated = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && word.contains(|c: char| c.is_ascii_digit())
            && !own.contains(&word);
        if generated {
            let next = names.len();
            let number = *names.entry(word).or_insert(next);
            // support functions of negations are known by their first and last letters
            let kind = if word.starts_with("__not") {
                "__not"
            } else {
                "v"
            };
            text.push_str(&format!("{kind}{number}"));
        } else {
            text.push_str(word);
        }
    }
    text
}

/// Names, and what is between them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let is_word = |c: char| c == '_' || c.is_alphanumeric();
        let end = match first {
            '"' => rest[1..].find('"').map_or(rest.len(), |at| at + 2),
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (word, tail) = rest.split_at(end);
        rest = tail;
        Some(word)
    })
}

/// Programs whose residuals give an object piece by piece, as OPA's do: the reference ends above keys that are variables
/// of heads, or the keys are numbers, which then are there without a value (see docs/differences.md).
const IN_PIECES: [&str; 2] = ["heads/78", "packages/111"];

/// A recorded random program.
#[derive(Deserialize)]
struct Recorded {
    case: String,
    request: Program,
}

#[derive(Deserialize)]
struct Program {
    #[serde(default)]
    modules: BTreeMap<String, String>,
    data: Option<Value>,
    input: Option<Value>,
    query: String,
    #[serde(default)]
    v0: bool,
}

#[test]
fn residuals_answer_as_the_whole_does() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cases/agreement");
    let only = std::env::var("SOLON_CASE").unwrap_or_default();
    let (mut compared, mut failures) = (0, Vec::new());
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_none_or(|extension| extension != "jsonl")
        {
            continue;
        }
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let recorded: Recorded = serde_json::from_str(line).unwrap();
            if !recorded.case.starts_with(&only) || IN_PIECES.contains(&&*recorded.case) {
                continue;
            }
            let input = recorded.request.input.as_ref();
            let keys = input.and_then(Value::as_object).into_iter();
            let parts = keys.flat_map(|input| input.keys()).map(|key| json!([key]));
            for unknown in std::iter::once(json!([])).chain(parts.take(1)) {
                match compare(&recorded.request, &unknown) {
                    Ok(true) => compared += 1,
                    Ok(false) => {}
                    Err(difference) => {
                        failures.push(format!("{} without {unknown}: {difference}", recorded.case));
                    }
                }
            }
        }
    }
    println!("{compared} compared, {} failed", failures.len());
    assert!(compared > 2000 || !only.is_empty(), "{compared} compared");
    failures.truncate(40);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Compares a whole evaluation with that of the residual; whether there was something to compare.
fn compare(program: &Program, unknown: &Value) -> Result<bool, String> {
    // what is left is source of v1
    let other = program
        .modules
        .values()
        .any(|text| text.contains("import rego.v2"));
    if program.v0 || other || !program.query.starts_with("data") {
        return Ok(false);
    }
    let Ok(engine) = engine(program, &Residuals::default()) else {
        return Ok(false);
    };
    let query = match program.query.split_once(" with ") {
        Some((document, with)) => format!("{document} = whole_answer with {with}"),
        None => format!("{} = whole_answer", program.query),
    };
    let whole_input = program.input.as_ref().map(self::value);
    let mut whole = Request::new();
    if let Some(input) = &whole_input {
        whole = whole.input(input);
    }
    let Ok(prepared) = engine.prepare_query(&query) else {
        return Ok(false);
    };
    let Ok(wanted) = prepared.solutions(&whole) else {
        return Ok(false);
    };
    // what is unknown is not given either
    let mut known = program.input.clone();
    let mut unknowns = "input".to_owned();
    if let Some(key) = unknown.get(0).and_then(Value::as_str) {
        unknowns = format!("input[{}]", json!(key));
        if let Some(known) = known.as_mut().and_then(Value::as_object_mut) {
            known.remove(key);
        }
    }
    let known_input = known.as_ref().map(self::value);
    let mut part = Request::new();
    if let Some(input) = &known_input
        && unknowns != "input"
    {
        part = part.input(input);
    }
    let options = PartialOptions {
        unknowns: vec![unknowns],
        ..PartialOptions::default()
    };
    let mut left = engine
        .partial(&query, &options, &part)
        .map_err(|error| format!("{error}"))?;
    left.queries.walk_mut(&mut Terms(named));
    left.support.walk_mut(&mut Terms(named));
    // what types rule out in the residual cannot be compiled, so it is undefined
    let Ok(asked) = self::engine(program, &left) else {
        return Ok(false);
    };
    let mut got: Vec<String> = Vec::new();
    for source in left.query_sources() {
        let Ok(query) = asked.prepare_query(&source) else {
            return Ok(false);
        };
        let solutions = query.solutions(&whole);
        let solutions = solutions.map_err(|error| format!("{error}\n{source}"))?;
        got.extend(solutions.iter().map(answer_of));
    }
    let mut wanted: Vec<String> = wanted.iter().map(answer_of).collect();
    wanted.sort();
    wanted.dedup();
    got.sort();
    got.dedup();
    if wanted == got {
        return Ok(true);
    }
    let (queries, support) = (left.query_sources(), left.support_sources());
    let left = format!("{}\n{}", queries.join("\n--\n"), support.join("\n"));
    Err(format!("want {wanted:?}\n got {got:?}\n{left}"))
}

fn answer_of(solution: &solon::Solution) -> String {
    let mut bindings = solution.bindings.iter();
    let found = bindings.find(|(name, _)| &**name == "whole_answer");
    found
        .map(|(_, value)| value.to_string())
        .unwrap_or_default()
}

/// Generated variables become ones that source can name.
fn named(term: &mut Term) -> Flow {
    if let TermKind::Var(name) = &mut term.kind
        && let Some(rest) = name.strip_prefix('$')
    {
        *name = format!("generated_{rest}").into();
    }
    Flow::Into
}

fn value(value: &Value) -> solon::Value {
    solon::value::json::read(value.to_string().as_bytes()).unwrap()
}

fn engine(program: &Program, left: &Residuals) -> Result<Engine, Error> {
    let engine = Engine::new();
    let mut change = Change::default();
    for (name, text) in &program.modules {
        change.set_module(name, text);
    }
    for (at, text) in left.support_sources().iter().enumerate() {
        change.set_module(&format!("left{at}.rego"), text);
    }
    if let Some(data) = &program.data {
        change.put(Path::default(), value(data));
    }
    engine.apply(change)?;
    Ok(engine)
}

/// What is left of a query while all input is unknown.
fn left(module: &str, query: &str) -> BTreeMap<String, Vec<String>> {
    let request = json!({"modules": {"t.rego": module}, "query": query, "partial": true});
    serde_json::from_str(&solon::lines::answer(&request.to_string())).unwrap()
}

#[test]
fn few_elements_are_unrolled() {
    let has_every = |elements: usize| {
        let elements: Vec<String> = (0..elements).map(|at| at.to_string()).collect();
        let query = format!("every x in [{}] {{ x != input.y }}", elements.join(", "));
        left("package t", &query)["queries"]
            .concat()
            .contains("every")
    };
    assert!(!has_every(solon::limits::UNROLLED));
    assert!(has_every(solon::limits::UNROLLED + 1));
}

#[test]
fn few_complements_are_queries_of_their_own() {
    let left = |exprs: usize| {
        let exprs: Vec<String> = (0..exprs).map(|at| format!("input.a{at} == 1")).collect();
        let module = format!("package t\np if {{ {} }}", exprs.join("; "));
        let left = left(&module, "not data.t.p");
        (left["queries"].len(), left.contains_key("support"))
    };
    let most = solon::limits::COMPLEMENTS;
    assert_eq!(left(most), (most, false));
    assert_eq!(left(most + 1), (1, true));
}
