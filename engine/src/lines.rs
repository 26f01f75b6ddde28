//! One JSON request in, one JSON answer out: how differential tests speak to this engine and to others.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use solon_syntax::ast::Version;

use crate::compile::Options;
use crate::engine::{Change, Engine};
use crate::error::Error;
use crate::partial_query::PartialOptions;
use crate::query::{Request, Solution};
use crate::store::Path;
use crate::trace::{Detail, Spelling};
use crate::value::{Value, json};

/// A request.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(default)]
    modules: BTreeMap<String, String>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(default)]
    query: String,
    #[serde(default)]
    v0: bool,
    #[serde(default)]
    strict: bool,
    #[serde(default)]
    strict_builtin_errors: bool,
    #[serde(default)]
    explain: String,
    #[serde(default)]
    explain_json: bool,
    #[serde(default)]
    partial: bool,
    unknowns: Option<Vec<String>>,
    #[serde(default)]
    disable_inlining: Vec<String>,
    #[serde(default)]
    shallow_inlining: bool,
    #[serde(default)]
    nondeterministic_builtins: bool,
    partial_namespace: Option<String>,
    #[serde(default)]
    skip_partial_namespace: bool,
}

/// Solutions, and what is shown beside them, or in their place.
struct Answer {
    solutions: Vec<Solution>,
    more: Vec<(&'static str, Value)>,
}

/// Which machine answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Plans,
    Search,
}

/// Answers one request. The answer has `bindings` and `values` (of each solution), `prints`, or `errors` with
/// `code`, `message`, `file`, `row`, `col`; an undefined query answers `{}`. With `explain` it has the lines of a
/// `trace` too, with `explain_json` its `events`.
pub fn answer(line: &str) -> String {
    answer_with(line, &Options::default())
}

/// The same with other options of the compiler than the usual ones; the request says which checks are made.
pub fn answer_with(line: &str, options: &Options) -> String {
    answer_by(line, options, By::Plans)
}

/// The same by the machine that searches.
pub fn searched(line: &str) -> String {
    answer_by(line, &Options::default(), By::Search)
}

fn answer_by(line: &str, options: &Options, by: By) -> String {
    let mut out = Vec::new();
    match serde_json::from_str::<Line<'_>>(line) {
        Ok(request) => {
            let prints = RefCell::new(String::new());
            let result = ask(&request, options, &prints, by);
            write_answer(&mut out, &result, &prints.into_inner());
        }
        Err(error) => write_answer(&mut out, &Err(Error::Input(error.to_string())), ""),
    }
    String::from_utf8(out).unwrap_or_default()
}

fn ask(
    request: &Line<'_>,
    options: &Options,
    prints: &RefCell<String>,
    by: By,
) -> Result<Answer, Error> {
    let read = |text: &RawValue| read_json(text.get());
    let version = if request.v0 { Version::V0 } else { Version::V1 };
    let options = Options {
        strict: request.strict,
        ..options.clone()
    };
    let engine = Engine::builder().version(version).compiler(options).build();
    let mut change = Change::default();
    for (name, text) in &request.modules {
        change.set_module(name, text);
    }
    if let Some(data) = request.data {
        change.put(Path::default(), read(data)?);
    }
    engine.apply(change)?;
    let input = request.input.map(read).transpose()?;
    let print = |line: &str| {
        let mut prints = prints.borrow_mut();
        prints.push_str(line);
        prints.push('\n');
    };
    let mut asked = Request::new()
        .strict_builtin_errors(request.strict_builtin_errors)
        .print(&print);
    if let Some(input) = &input {
        asked = asked.input(input);
    }
    if request.partial {
        return left_open(&engine, request, &asked);
    }
    let query = engine.prepare_query(&request.query)?;
    if let Some(detail) = Detail::named(&request.explain) {
        let explained = query.explain(&asked, detail);
        let trace = if request.explain_json {
            ("events", read_json(&explained.json(Spelling::Lower)?)?)
        } else {
            let mut lines = explained.lines(false, false)?;
            if lines.is_empty() {
                lines.push(String::new());
            }
            let lines = lines.into_iter().map(Value::from);
            ("trace", Value::array(lines.collect()))
        };
        return Ok(Answer {
            solutions: explained.answer?,
            more: vec![trace],
        });
    }
    let solutions = match by {
        By::Plans => query.solutions(&asked),
        By::Search => query.search(&asked, None),
    };
    Ok(Answer {
        solutions: solutions?,
        more: Vec::new(),
    })
}

fn read_json(text: &str) -> Result<Value, Error> {
    json::read(text.as_bytes()).map_err(|error| Error::Input(error.to_string()))
}

/// What a query comes down to while something is unknown.
fn left_open(engine: &Engine, line: &Line<'_>, asked: &Request<'_>) -> Result<Answer, Error> {
    let mut options = PartialOptions {
        disable_inlining: line.disable_inlining.clone(),
        shallow_inlining: line.shallow_inlining,
        nondeterministic_builtins: line.nondeterministic_builtins,
        skip_namespace: line.skip_partial_namespace,
        ..PartialOptions::default()
    };
    if let Some(namespace) = &line.partial_namespace {
        options.namespace.clone_from(namespace);
    }
    if let Some(unknowns) = &line.unknowns {
        options.unknowns.clone_from(unknowns);
    }
    let left = engine.partial(&line.query, &options, asked)?;
    let list = |texts: Vec<String>| Value::array(texts.into_iter().map(Value::from).collect());
    let fields = [
        ("queries", left.query_texts()),
        ("support", left.support_texts()),
    ];
    let fields = fields.into_iter().filter(|(_, texts)| !texts.is_empty());
    Ok(Answer {
        solutions: Vec::new(),
        more: fields.map(|(name, texts)| (name, list(texts))).collect(),
    })
}

fn write_answer(out: &mut Vec<u8>, result: &Result<Answer, Error>, prints: &str) {
    let mut fields: Vec<(Value, Value)> = Vec::new();
    if let Ok(answer) = result {
        let more = answer.more.iter();
        fields.extend(more.map(|(name, value)| ((*name).into(), value.clone())));
    }
    match result.as_ref().map(|answer| &answer.solutions) {
        Ok(solutions) if !solutions.is_empty() => {
            let bindings = solutions.iter().map(|solution| {
                Value::object(
                    solution
                        .bindings
                        .iter()
                        .map(|(name, value)| (Value::from(&**name), value.clone()))
                        .collect(),
                )
            });
            fields.push(("bindings".into(), Value::array(bindings.collect())));
            let values = solutions
                .iter()
                .map(|solution| Value::array(solution.values.clone()));
            fields.push(("values".into(), Value::array(values.collect())));
        }
        Ok(_) => {}
        Err(error) => {
            let entries = error.entries().into_iter().map(|entry| {
                let mut pairs: Vec<(Value, Value)> = vec![
                    ("code".into(), entry.code.into()),
                    ("message".into(), entry.message.into()),
                ];
                if let Some((file, row, col)) = entry.location {
                    pairs.push(("file".into(), file.into()));
                    pairs.push(("row".into(), i64::from(row).into()));
                    pairs.push(("col".into(), i64::from(col).into()));
                }
                Value::object(pairs)
            });
            fields.push(("errors".into(), Value::array(entries.collect())));
        }
    }
    if !prints.is_empty() {
        fields.push(("prints".into(), prints.into()));
    }
    json::write(Value::object(fields).borrow(), out);
}
