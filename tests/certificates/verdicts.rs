//! Summarizes the results of both engines for a case.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use solon::{Engine, FixedHost, PreparedQuery, Request};

use crate::cases::{Call, Case, query};
use solon_lines::Process;

/// Time of the clock. No certificate starts or ends close to it, or close to the time of a recording.
pub const NOW_NS: i64 = 1_800_000_000_000_000_000;

/// The engine, with its prepared queries.
pub struct Solon {
    engine: Engine,
    queries: HashMap<&'static str, PreparedQuery>,
}

impl Solon {
    pub fn new() -> Self {
        let host = FixedHost::at_time(NOW_NS);
        let engine = Engine::builder().host(Arc::new(host)).build();
        Self {
            engine,
            queries: HashMap::new(),
        }
    }

    pub fn verdict(&mut self, call: &Call) -> String {
        let prepared = self
            .queries
            .entry(call.function)
            .or_insert_with(|| self.engine.prepare_query(&query(call.function)).unwrap());
        let input = json!(call.operands).to_string();
        let request = Request::new()
            .input_json(input.as_bytes())
            .strict_builtin_errors(true);
        match prepared.solutions(&request) {
            Err(error) => {
                let entry = error.entries().into_iter().next().unwrap();
                message(call, &entry.message)
            }
            Ok(solutions) => match solutions.first() {
                None => "undefined".to_owned(),
                Some(solution) => {
                    let x = solution
                        .bindings
                        .iter()
                        .find(|(name, _)| &**name == "x")
                        .unwrap();
                    verdict(&x.1.borrow().as_text().unwrap().to_str())
                }
            },
        }
    }
}

/// Response of OPA, as far as it is used.
#[derive(Deserialize)]
struct OracleResponse {
    #[serde(default)]
    errors: Vec<Failure>,
    #[serde(default)]
    bindings: Vec<Bindings>,
}

#[derive(Deserialize)]
struct Failure {
    message: String,
}

#[derive(Deserialize)]
struct Bindings {
    x: String,
}

/// Returns OPA's results for each call of a case.
pub fn of_oracle(lines: &mut Process, case: &Case) -> Result<Vec<String>, String> {
    let calls = case.calls.iter();
    calls.map(|call| of_call(lines, call)).collect()
}

/// Returns OPA's result for a call.
pub fn of_call(lines: &mut Process, call: &Call) -> Result<String, String> {
    let request = json!({
        "query": query(call.function),
        "input": call.operands,
        "strict_builtin_errors": true,
    });
    let answered = lines.request(&request.to_string())?;
    let answered: OracleResponse =
        serde_json::from_str(&answered).map_err(|error| error.to_string())?;
    Ok(match (answered.errors.first(), answered.bindings.first()) {
        (Some(error), _) => message(call, &error.message),
        (None, Some(solution)) => verdict(&solution.x),
        (None, None) => "undefined".to_owned(),
    })
}

/// Returns the summary of a result. That of an invalid chain is `false`.
fn verdict(text: &str) -> String {
    if text.starts_with("false ") {
        "false".to_owned()
    } else {
        text.to_owned()
    }
}

/// Formats a message in one line, without the function's name.
fn message(call: &Call, text: &str) -> String {
    let text = text.strip_prefix(call.function).unwrap_or(text);
    let text = text.strip_prefix(": ").unwrap_or(text);
    // memory addresses follow
    let text = match text.split_once("unknown elliptic curve: &{") {
        Some((front, _)) => &format!("{front}unknown elliptic curve"),
        None => text,
    };
    format!("error: {}", without_address(text).escape_debug())
}

/// Removes memory addresses from a message.
fn without_address(text: &str) -> String {
    let Some((front, behind)) = text.split_once("tag:0x") else {
        return text.to_owned();
    };
    let behind = behind.trim_start_matches(|c: char| c.is_ascii_hexdigit());
    format!("{front}tag:<nil>{behind}")
}
