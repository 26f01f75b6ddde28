//! The engine, called as by the protocol, for results that the protocol does not contain.

use serde_json::Value;
use solon::internal::compile::Options;
use solon::internal::value::json;
use solon::trace::Detail;
use solon::{Change, Engine, ExplainOptions, Explanation, Path, Request};
use solon_syntax::ast::Version;

/// Returns the explanation of a case's request.
pub fn explain(request: &Value, detail: Detail) -> Explanation {
    let flag = |name: &str| request[name].as_bool().unwrap_or_default();
    let version = if flag("v0") { Version::V0 } else { Version::V1 };
    let options = Options::default().strict(flag("strict"));
    let engine = Engine::builder().version(version).compiler(options).build();
    let mut change = Change::default();
    for (name, text) in request["modules"].as_object().into_iter().flatten() {
        change.set_module(name, text.as_str().unwrap());
    }
    let read = |value: &Value| json::read(value.to_string().as_bytes()).unwrap();
    if let Some(data) = request.get("data") {
        change.put(Path::default(), read(data));
    }
    engine.apply(change).unwrap();
    let query = engine.prepare_query(request["query"].as_str().unwrap());
    let input = request.get("input").map(read);
    let mut asked = Request::new().strict_builtin_errors(flag("strict_builtin_errors"));
    if let Some(input) = &input {
        asked = asked.input(input);
    }
    let watched = ExplainOptions::new(detail).documents(true);
    query.unwrap().explain(&asked, watched)
}
