//! Costs of compiling rules to data filters.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Map, Value as Json};
use solon::{Engine, FilterOptions, FilterTarget, PreparedFilters, Request, Value};

use crate::serving::process::{Process, Who};
use crate::timing::interleaved;

/// Examples of the documentation, with OPA's results.
const EXAMPLES: &str = "../../tests/cases/filters/examples.jsonl";

/// Number of requests to a server that reports its own timing. The fastest counts.
const ASKED: usize = 30;

/// An example that compiles to a filter.
struct Example {
    name: String,
    policy: String,
    path: String,
    target: FilterTarget,
    unknowns: Vec<String>,
    mappings: Option<Json>,
    mask_rule: Option<String>,
    data: Json,
    input: Json,
}

/// Prints the cost of each example, next to OPA's if it is available, and the cost of ten times as many rules.
///
/// # Errors
/// Fails if the engine fails or a server does not start.
pub fn print(budget: Duration, names: &[String]) -> Result<(), String> {
    let examples = examples()?;
    println!(
        "{:<44} {:>9} {:>13} {:>8}",
        "filter", "µs", "reference µs", "times"
    );
    let wanted = |example: &&Example| {
        names.is_empty()
            || names
                .iter()
                .any(|name| example.name.contains(name.as_str()))
    };
    for example in examples.iter().filter(wanted) {
        let own = example.own(budget)?;
        let reference = example.reference()?;
        let shown = |number: Option<f64>| number.map_or("-".to_owned(), |it| format!("{it:.1}"));
        let times = reference.map(|reference| reference / own);
        println!(
            "{:<44} {own:>9.1} {:>13} {:>8}",
            example.name,
            shown(reference),
            shown(times)
        );
    }
    growth(budget)
}

/// Returns the distinct examples that compile to a filter in both engines.
fn examples() -> Result<Vec<Example>, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(EXAMPLES);
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut found = Vec::new();
    for line in text.lines() {
        let case: Json = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let is_refused = case.pointer("/answer/filter").is_none()
            || case.pointer("/ours/errors").is_some()
            || case.pointer("/request/v0").is_some();
        if is_refused {
            continue;
        }
        let text = |pointer: &str| {
            case.pointer(pointer)
                .and_then(Json::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let modules = case.pointer("/request/modules").and_then(Json::as_object);
        let Some(policy) = modules
            .filter(|modules| modules.len() == 1)
            .and_then(|modules| modules.values().next())
        else {
            continue;
        };
        let name = text("/case");
        let target = format!(
            "{}+{}",
            text("/request/filters/target"),
            text("/request/filters/dialect")
        );
        let is_first = target == "sql+postgresql" || target == "ucast+prisma";
        let (Ok(target), true) = (target.parse(), is_first) else {
            continue;
        };
        let unknowns = case.pointer("/request/unknowns").and_then(Json::as_array);
        found.push(Example {
            name: format!("{name} ({})", text("/request/filters/dialect")),
            policy: policy.as_str().unwrap_or_default().to_owned(),
            path: text("/request/query")
                .trim_start_matches("data.")
                .replace('.', "/"),
            target,
            unknowns: unknowns
                .into_iter()
                .flatten()
                .filter_map(Json::as_str)
                .map(str::to_owned)
                .collect(),
            mappings: case.pointer("/request/filters/mappings").cloned(),
            mask_rule: case
                .pointer("/request/filters/mask_rule")
                .and_then(Json::as_str)
                .map(str::to_owned),
            data: case
                .pointer("/request/data")
                .cloned()
                .unwrap_or_else(|| serde_json::json!({})),
            input: case
                .pointer("/request/input")
                .cloned()
                .unwrap_or(Json::Null),
        });
    }
    Ok(found)
}

impl Example {
    /// Returns the time to compute one filter with a prepared rule, in microseconds.
    fn own(&self, budget: Duration) -> Result<f64, String> {
        let engine = Engine::new();
        let text = |error: solon::Error| format!("{}: {error}", self.name);
        engine
            .set_module("filters.rego", &self.policy)
            .map_err(text)?;
        let data = solon::json::read(self.data.to_string().as_bytes());
        let data = data.map_err(|error| error.to_string())?;
        engine.put("data", data).map_err(text)?;
        let mut options = FilterOptions::new([self.target]).unknowns(self.unknowns.clone());
        options.mask_rule.clone_from(&self.mask_rule);
        if let Some(mappings) = &self.mappings {
            let mappings = solon::json::read(mappings.to_string().as_bytes());
            options = options.mappings(mappings.map_err(|error| error.to_string())?);
        }
        let prepared = engine
            .prepare_filters(
                &solon::Path::from_slashes(&self.path).named_reference(),
                &options,
            )
            .map_err(text)?;
        let input = solon::json::read(self.input.to_string().as_bytes())
            .map_err(|error| error.to_string())?;
        let request = if self.input.is_null() {
            Request::new()
        } else {
            Request::new().input(&input)
        };
        prepared.compile(&request).map_err(text)?;
        Ok(microseconds(&prepared, &request, budget))
    }

    /// Returns the microseconds that OPA's server reports, if it is available.
    fn reference(&self) -> Result<Option<f64>, String> {
        if !Who::all().contains(&Who::Oracle) {
            return Ok(None);
        }
        let server = Process::start(Who::Oracle, 2, &self.policy, &self.data.to_string())?;
        let mut options = Map::new();
        if let Some(mappings) = &self.mappings {
            options.insert("targetSQLTableMappings".to_owned(), mappings.clone());
        }
        if let Some(rule) = &self.mask_rule {
            options.insert("maskRule".to_owned(), rule.as_str().into());
        }
        let mut body = Map::new();
        body.insert("unknowns".to_owned(), self.unknowns.clone().into());
        body.insert("options".to_owned(), options.into());
        if !self.input.is_null() {
            body.insert("input".to_owned(), self.input.clone());
        }
        let body = Json::from(body);
        let mut best = f64::INFINITY;
        for _ in 0..ASKED {
            let answer = ask(
                server.address(),
                &self.path,
                &self.media(),
                &body.to_string(),
            );
            let answer = answer.map_err(|error| error.to_string())?;
            let metrics = answer.get("metrics").and_then(Json::as_object);
            let Some(metrics) = metrics else {
                return Err(format!("{}: {answer}", self.name));
            };
            let took = metrics
                .get("timer_server_handler_ns")
                .and_then(Json::as_f64);
            best = best.min(took.unwrap_or(f64::INFINITY) / 1e3);
        }
        Ok(Some(best))
    }

    fn media(&self) -> String {
        format!(
            "application/vnd.opa.{}+json",
            self.target.to_string().replace('+', ".")
        )
    }
}

fn microseconds(prepared: &PreparedFilters, request: &Request<'_>, budget: Duration) -> f64 {
    let calls: &mut [&mut dyn FnMut()] = &mut [&mut || {
        std::hint::black_box(prepared.compile(request).is_ok());
    }];
    let figures = interleaved(calls, budget);
    figures.first().map_or(0.0, |figure| figure.median / 1e3)
}

/// Sends one request on a new connection.
fn ask(address: &str, path: &str, media: &str, body: &str) -> std::io::Result<Json> {
    let mut stream = std::net::TcpStream::connect(address)?;
    let length = body.len();
    write!(
        stream,
        "POST /v1/compile/{path}?metrics HTTP/1.1\r\nHost: localhost\r\nAccept: {media}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    // a chunked response has the length before the body
    let body = body.get(body.find('{').unwrap_or(0)..=body.rfind('}').unwrap_or(0));
    Ok(serde_json::from_str(body.unwrap_or_default())?)
}

/// Prints the cost of rules that each leave a condition, at two sizes.
fn growth(budget: Duration) -> Result<(), String> {
    let mut took = Vec::new();
    for count in [100, 1_000] {
        let mut policy = String::from("package filters\n\n");
        for number in 0..count {
            policy += &format!(
                "include if {{\n\tinput.fruits.price > {number}\n\tinput.user != \"user-{number}\"\n}}\n\n"
            );
        }
        let engine = Engine::new();
        let text = |error: solon::Error| error.to_string();
        engine.set_module("filters.rego", &policy).map_err(text)?;
        let options =
            FilterOptions::new([FilterTarget::Postgresql]).unknowns(["input.fruits".to_owned()]);
        let start = Instant::now();
        let prepared = engine
            .prepare_filters("data.filters.include", &options)
            .map_err(text)?;
        let ready = start.elapsed().as_secs_f64() * 1e3;
        let input = Value::object(vec![("user".into(), "nobody".into())]);
        let request = Request::new().input(&input);
        prepared.compile(&request).map_err(text)?;
        let each = microseconds(&prepared, &request, budget);
        println!(
            "{:<44} {each:>9.1}   prepared in {ready:.1} ms",
            format!("{count} rules that leave a condition")
        );
        took.push(each);
    }
    if let [small, large] = took.as_slice() {
        println!(
            "ten times the rules cost {:.1} times as much",
            large / small
        );
    }
    Ok(())
}
