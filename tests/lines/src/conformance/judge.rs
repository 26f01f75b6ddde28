//! One case against the engine.

use std::sync::Arc;

use solon::internal::value::json;
use solon::{Change, Engine, Error, FixedHost, Path, PreparedQuery, Request, Solution, Value};
use solon_syntax::ast::Version;

use crate::case::Case;

/// What the clock shows, in nanoseconds: the certificates of the cases are valid in 2026.
const NOW: i64 = 1_790_000_000_000_000_000;

/// Whether the engine answers as the case wants.
pub fn check(case: &Case) -> Result<(), String> {
    judge(case, ask(case, PreparedQuery::solutions))?;
    let searched = ask(case, |query, request| query.search(request, None));
    judge(case, searched).map_err(|reason| format!("by search: {reason}"))
}

fn judge(case: &Case, answer: Result<Vec<Solution>, Error>) -> Result<(), String> {
    match (&case.want_error, &case.want_error_code) {
        (None, None) => compare(case, answer),
        (message, code) => refuse(answer, message.as_deref(), code.as_deref()),
    }
}

fn refuse(
    answer: Result<Vec<Solution>, Error>,
    message: Option<&str>,
    code: Option<&str>,
) -> Result<(), String> {
    let Err(error) = answer else {
        return Err("an error was wanted".to_owned());
    };
    if let Some(code) = code
        && !error.entries().iter().any(|entry| entry.code == code)
    {
        return Err(format!("wanted code {code}, got {error}"));
    }
    match message {
        Some(message) if !error.to_string().contains(message) => {
            Err(format!("wanted {message}, got {error}"))
        }
        _ => Ok(()),
    }
}

fn compare(case: &Case, answer: Result<Vec<Solution>, Error>) -> Result<(), String> {
    let solutions = answer.map_err(|error| error.to_string())?;
    let Some(want) = &case.want_result else {
        return Ok(());
    };
    let want = json::read(want.get().as_bytes()).map_err(|error| error.to_string())?;
    let rows = solutions.iter().map(|solution| {
        let pairs = solution
            .bindings
            .iter()
            .map(|(name, value)| (Value::from(&**name), as_json(value)));
        Value::object(pairs.collect())
    });
    // solutions come in no published order
    let mut rows: Vec<Value> = rows.collect();
    rows.sort();
    let mut wanted: Vec<Value> = match &want {
        Value::Array(rows) => rows.to_vec(),
        other => return Err(format!("the wanted result is no list but {other}")),
    };
    wanted.sort();
    let (got, want) = (Value::array(rows), Value::array(wanted));
    let (got, want) = if case.sort_bindings {
        (sorted(&got), sorted(&want))
    } else {
        (got, want)
    };
    if got == want {
        Ok(())
    } else {
        Err(format!("wanted {want}, got {got}"))
    }
}

/// A value as it reads back from its JSON form: sets are arrays, keys are strings.
fn as_json(value: &Value) -> Value {
    let mut text = Vec::new();
    json::write(value.borrow(), &mut text);
    json::read(&text).expect("what was written can be read")
}

/// With the elements of all arrays among the bindings in order.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(sorted).collect();
            items.sort();
            Value::array(items)
        }
        Value::Object(object) => Value::object(
            object
                .iter()
                .map(|(key, value)| (key.clone(), sorted(value)))
                .collect(),
        ),
        other => other.clone(),
    }
}

fn ask(
    case: &Case,
    evaluate: impl Fn(&PreparedQuery, &Request<'_>) -> Result<Vec<Solution>, Error>,
) -> Result<Vec<Solution>, Error> {
    let version = if case.v0 { Version::V0 } else { Version::V1 };
    let engine = Engine::builder()
        .host(Arc::new(FixedHost {
            now_ns: NOW,
            ..FixedHost::default()
        }))
        .version(version)
        .allow_base_conflicts(true)
        .build();
    let mut change = Change::default();
    for (at, module) in case.modules.iter().enumerate() {
        change.set_module(&format!("test-{at}.rego"), module);
    }
    if let Some(data) = &case.data {
        let data = json::read(data.get().as_bytes()).map_err(Error::from)?;
        change.put(Path::default(), data);
    }
    engine.apply(change)?;
    let input = match (&case.input, &case.input_term) {
        (Some(input), _) => Some(json::read(input.get().as_bytes()).map_err(Error::from)?),
        (None, Some(term)) => {
            let solutions = Engine::new()
                .prepare_query(term)?
                .solutions(&Request::new())?;
            solutions
                .first()
                .and_then(|solution| solution.values.first())
                .cloned()
        }
        (None, None) => None,
    };
    let query = engine.prepare_query(&case.query)?;
    let mut request = Request::new().strict_builtin_errors(case.strict_error);
    if let Some(input) = &input {
        request = request.input(input);
    }
    evaluate(&query, &request)
}
