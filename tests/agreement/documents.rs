//! Documents must equal the results of queries for the same path, with the input as a value and as text: a document may
//! be evaluated by the fast path, a query never is.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::value::RawValue;
use solon::internal::engine::Change;
use solon::internal::value::json;
use solon::{Engine, Error, Path, Request, Value};
use solon_syntax::ast::{Module, Term, Version};

/// The fields of a request that are needed here.
#[derive(Deserialize)]
struct DocumentRequest<'a> {
    #[serde(default)]
    modules: BTreeMap<String, String>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(default)]
    v0: bool,
}

/// Returns the number of compared documents of a request, and those that differ from the query.
pub fn compare(request: &str) -> (usize, Vec<String>) {
    let Ok(asked) = serde_json::from_str::<DocumentRequest<'_>>(request) else {
        return (0, Vec::new());
    };
    let Ok(engine) = engine(&asked) else {
        return (0, Vec::new());
    };
    let text = asked.input.map_or("null", RawValue::get);
    let Ok(input) = json::read(text.as_bytes()) else {
        return (0, Vec::new());
    };
    let mut paths = BTreeSet::new();
    for (_, module) in engine.modules() {
        paths.extend(documents(&module));
    }
    let compared = paths.len();
    let differs = |path: &Vec<String>| !have_equal_lookups(&engine, path, text, &input);
    let other = paths.into_iter().filter(differs);
    (compared, other.map(|path| path.join("/")).collect())
}

fn engine(asked: &DocumentRequest<'_>) -> Result<Engine, Error> {
    let version = if asked.v0 { Version::V0 } else { Version::V1 };
    let engine = Engine::builder()
        .version(version)
        .allow_base_conflicts(true)
        .build();
    let mut change = Change::default();
    for (name, text) in &asked.modules {
        change.set_module(name, text);
    }
    if let Some(data) = asked.data {
        let data = json::read(data.get().as_bytes());
        change.put(Path::default(), data.map_err(Error::from)?);
    }
    engine.apply(change)?;
    Ok(engine)
}

/// Returns the paths of a module's documents with constant names.
fn documents(module: &Module) -> impl Iterator<Item = Vec<String>> {
    let name = |term: &Term| {
        let name = term.as_var().map(ToString::to_string);
        name.or_else(|| term.as_string().map(ToString::to_string))
    };
    let package = module.package.path.iter().skip(1).map(name);
    let package: Option<Vec<String>> = package.collect();
    module.rules.iter().filter_map(move |rule| {
        let mut path = package.clone()?;
        path.push(name(rule.head.reference.first()?)?);
        (rule.head.args.is_empty() && rule.head.reference.len() == 1).then_some(path)
    })
}

fn have_equal_lookups(engine: &Engine, path: &[String], text: &str, input: &Value) -> bool {
    let steps: Vec<String> = path.iter().map(|step| format!("[{step:?}]")).collect();
    let Ok(query) = engine.prepare_query(&format!("document := data{}", steps.concat())) else {
        return true;
    };
    let as_value = Request::new().input(input);
    let as_text = Request::new().input_json(text.as_bytes());
    let expected = query
        .solutions(&as_value)
        .map_err(|error| error.to_string());
    let expected = expected.map(|found| Some(found.first()?.bindings.first()?.1.clone()));
    let document = engine.document(&Path::new(path.iter().cloned()));
    // often enough for the fast path to be disabled
    (0..20).all(|_| {
        [as_value, as_text].iter().all(|request| {
            let found = document
                .evaluate(request)
                .map_err(|error| error.to_string());
            match (&expected, &found) {
                (Ok(expected), Ok(found)) => {
                    let shown = |value: &Option<Value>| {
                        let value = value.as_ref();
                        value.map(|value| value.rego_text().to_string())
                    };
                    expected == found && shown(expected) == shown(found)
                }
                (Err(_), Err(_)) => true,
                _ => false,
            }
        })
    })
}
