//! One JSON request in, one JSON answer out: how differential tests speak to this engine and to others.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use solon_syntax::ast::Version;

use crate::compile::Options;
use crate::engine::{Change, Engine};
use crate::error::Error;
use crate::query::{Request, Solution};
use crate::store::Path;
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
}

/// Answers one request. The answer has `bindings` and `values` (of each solution), `prints`, or `errors` with
/// `code`, `message`, `file`, `row`, `col`; an undefined query answers `{}`.
pub fn answer(line: &str) -> String {
    let mut out = Vec::new();
    match serde_json::from_str::<Line<'_>>(line) {
        Ok(request) => {
            let prints = RefCell::new(String::new());
            let result = ask(&request, &prints);
            write_answer(&mut out, &result, &prints.into_inner());
        }
        Err(error) => write_answer(&mut out, &Err(Error::Input(error.to_string())), ""),
    }
    String::from_utf8(out).unwrap_or_default()
}

fn ask(request: &Line<'_>, prints: &RefCell<String>) -> Result<Vec<Solution>, Error> {
    let read = |text: &RawValue| {
        json::read(text.get().as_bytes()).map_err(|error| Error::Input(error.to_string()))
    };
    let version = if request.v0 { Version::V0 } else { Version::V1 };
    let options = Options {
        strict: request.strict,
        ..Options::default()
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
    let query = engine.prepare_query(&request.query)?;
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
    query.solutions(&asked)
}

fn write_answer(out: &mut Vec<u8>, result: &Result<Vec<Solution>, Error>, prints: &str) {
    let mut fields: Vec<(Value, Value)> = Vec::new();
    match result {
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
