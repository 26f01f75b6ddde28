//! Protocol of differential tests with this engine, its language bindings, and OPA: one JSON request and one JSON response per
//! line.
//!
//! A [`Driver`] evaluates such requests. [`Native`] is the engine itself, and [`Process`] a program that reads requests from its
//! standard input. The tests of the C binding have a separate driver. [`conformance`] runs OPA's cases with any driver,
//! [`recorded`] the recorded programs.

pub mod conformance;
mod filters;
mod process;
pub mod recorded;

pub use process::Process;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use solon_syntax::ast::Version;

use solon::host::{HostError, HttpError, HttpRequest, HttpResponse, LookupError, Wait};
use solon::store::Path;
use solon::trace::{Detail, Spelling};
use solon::{
    Change, CompilerOptions as Options, Engine, Error, FixedHost, Host, InputError, PartialOptions,
    Request, Solution, Value, json,
};

/// A request. A field that is `null` counts as absent, except for documents, for which `null` is a value.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Line<'a> {
    /// Source texts of modules, by name.
    #[serde(deserialize_with = "or_default")]
    pub modules: BTreeMap<String, String>,
    /// All base documents.
    #[serde(borrow, deserialize_with = "document")]
    pub data: Option<&'a RawValue>,
    /// Input as JSON.
    #[serde(borrow, deserialize_with = "document")]
    pub input: Option<&'a RawValue>,
    /// Input as a Rego term, instead of JSON.
    #[serde(deserialize_with = "or_default")]
    pub input_term: Option<String>,
    /// Query to evaluate.
    #[serde(deserialize_with = "or_default")]
    pub query: String,
    /// `true` if modules and query are Rego v0.
    #[serde(deserialize_with = "or_default")]
    pub v0: bool,
    /// `true` for the compiler checks of strict mode.
    #[serde(deserialize_with = "or_default")]
    pub strict: bool,
    /// `true` if the first error of a built-in ends the evaluation.
    #[serde(deserialize_with = "or_default")]
    pub strict_builtin_errors: bool,
    /// Time of the clock, in nanoseconds since the Unix epoch.
    #[serde(deserialize_with = "or_default")]
    pub now_ns: i64,
    /// `true` if base documents may have the paths of rules.
    #[serde(deserialize_with = "or_default")]
    pub allow_base_conflicts: bool,
    /// Level of the trace: `full`, `debug`, `fails`, `notes`.
    #[serde(deserialize_with = "or_default")]
    pub explain: String,
    /// `true` for a trace of JSON events instead of lines.
    #[serde(deserialize_with = "or_default")]
    pub explain_json: bool,
    /// `true` for partial evaluation.
    #[serde(deserialize_with = "or_default")]
    pub partial: bool,
    /// Unknowns, by reference.
    pub unknowns: Option<Vec<String>>,
    /// Rules that are not inlined, by reference.
    #[serde(deserialize_with = "or_default")]
    pub disable_inlining: Vec<String>,
    /// `true` if rules that depend on an unknown are not inlined.
    #[serde(deserialize_with = "or_default")]
    pub shallow_inlining: bool,
    /// `true` if nondeterministic built-ins are called once their arguments are known.
    #[serde(deserialize_with = "or_default")]
    pub nondeterministic_builtins: bool,
    /// Package of support rules.
    pub partial_namespace: Option<String>,
    /// `true` if support rules keep the packages of the policy's rules.
    #[serde(deserialize_with = "or_default")]
    pub skip_partial_namespace: bool,
    /// Filter to compile from the query, which is a reference.
    #[serde(borrow)]
    pub filters: Option<filters::FilterFields<'a>>,
}

fn or_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Default + Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

fn document<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

/// Solutions, or what is returned instead of or in addition to them.
struct Output {
    solutions: Vec<Solution>,
    more: Vec<(&'static str, Value)>,
}

/// Options of an evaluation.
struct Manner<'a> {
    options: &'a Options,
    /// Host environment; a host with a fixed clock by default.
    host: Option<Arc<dyn Host>>,
    by: Native,
}

/// An implementation of the protocol.
pub trait Driver {
    /// Returns the response to a request.
    ///
    /// # Errors
    ///
    /// Fails if the implementation fails. Errors of policies are responses.
    fn answer(&mut self, line: &str) -> Result<String, String>;
}

/// The engine in this process.
#[derive(Clone, Copy, Debug)]
pub enum Native {
    /// With the evaluator of plans.
    Plans,
    /// With the tracing evaluator.
    Search,
}

impl Driver for Native {
    fn answer(&mut self, line: &str) -> Result<String, String> {
        Ok(evaluate_native(line, &Options::default(), *self))
    }
}

/// Evaluates one request on a fixed clock. The response has `bindings` and `values` (of each solution), `prints`, or `errors` with
/// `code`, `message`, `file`, `row` and `col`. It is `{}` for an undefined query. With `explain` it also has the lines of a
/// `trace`, with `explain_json` its `events`.
pub fn answer(line: &str) -> String {
    answer_with(line, &Options::default())
}

/// Evaluates one request with a host environment.
pub fn answer_on(line: &[u8], host: Arc<dyn Host>) -> String {
    let options = &Options::default();
    let (host, by) = (Some(host), Native::Plans);
    evaluate_in(line, &Manner { options, host, by })
}

/// Evaluates one request with compiler options; the request sets the checks.
pub fn answer_with(line: &str, options: &Options) -> String {
    evaluate_native(line, options, Native::Plans)
}

/// Evaluates one request with the tracing evaluator.
pub fn searched(line: &str) -> String {
    evaluate_native(line, &Options::default(), Native::Search)
}

fn evaluate_native(line: &str, options: &Options, by: Native) -> String {
    let host = None;
    evaluate_in(line.as_bytes(), &Manner { options, host, by })
}

fn evaluate_in(line: &[u8], manner: &Manner<'_>) -> String {
    let mut out = Vec::new();
    match serde_json::from_slice::<Line<'_>>(line) {
        Ok(request) => {
            let prints = RefCell::new(String::new());
            let result = evaluate(&request, manner, &prints);
            write_output(&mut out, &result, &prints.into_inner());
        }
        Err(error) => write_output(
            &mut out,
            &Err(Error::Input(InputError::new(error.to_string()))),
            "",
        ),
    }
    String::from_utf8(out).unwrap_or_default()
}

/// A host without information about the process, so that results do not depend on it.
struct Anywhere(Arc<dyn Host>);

impl Host for Anywhere {
    fn now_ns(&self) -> i64 {
        self.0.now_ns()
    }

    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), HostError> {
        self.0.fill_random(buffer)
    }

    fn runtime(&self) -> Value {
        Value::object(Vec::new())
    }

    fn addresses(&self, name: &str, wait: &Wait<'_>) -> Result<Vec<IpAddr>, LookupError> {
        self.0.addresses(name, wait)
    }

    fn send(&self, request: &HttpRequest, wait: &Wait<'_>) -> Result<HttpResponse, HttpError> {
        self.0.send(request, wait)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.0.variable(name)
    }

    fn file(&self, path: &str) -> Result<Vec<u8>, HostError> {
        self.0.file(path)
    }
}

fn evaluate(
    request: &Line<'_>,
    manner: &Manner<'_>,
    prints: &RefCell<String>,
) -> Result<Output, Error> {
    let read = |text: &RawValue| read_json(text.get());
    let version = if request.v0 { Version::V0 } else { Version::V1 };
    let options = manner.options.clone().strict(request.strict);
    let host: Arc<dyn Host> = match &manner.host {
        Some(host) => Arc::new(Anywhere(Arc::clone(host))),
        None => Arc::new(FixedHost::at_time(request.now_ns)),
    };
    let engine = Engine::builder()
        .version(version)
        .compiler(options)
        .host(host)
        .allow_base_conflicts(request.allow_base_conflicts)
        .build();
    let mut change = Change::default();
    for (name, text) in &request.modules {
        change.set_module(name, text);
    }
    if let Some(data) = request.data {
        change.put(Path::default(), read(data)?);
    }
    engine.apply(change)?;
    let input = match &request.input_term {
        Some(term) => value_of(term)?,
        None => request.input.map(read).transpose()?,
    };
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
    if let Some(wanted) = &request.filters {
        return filters::compile(&engine, request, wanted, &asked);
    }
    if request.partial {
        return left_open(&engine, request, &asked);
    }
    let query = engine.prepare_query(&request.query)?;
    if let Some(detail) = Detail::from_name(&request.explain) {
        let explained = query.explain(&asked, detail);
        let trace = if request.explain_json {
            ("events", read_json(&explained.json(Spelling::Lower)?)?)
        } else {
            let mut lines = explained.lines(solon::TraceLines::default())?;
            if lines.is_empty() {
                lines.push(String::new());
            }
            let lines = lines.into_iter().map(Value::from);
            ("trace", Value::array(lines.collect()))
        };
        return Ok(Output {
            solutions: explained.result?,
            more: vec![trace],
        });
    }
    let solutions = match manner.by {
        Native::Plans => query.solutions(&asked),
        Native::Search => query.search(&asked, solon::SearchOptions::default()),
    };
    Ok(Output {
        solutions: solutions?,
        more: Vec::new(),
    })
}

/// Returns the value of a term.
fn value_of(term: &str) -> Result<Option<Value>, Error> {
    let query = Engine::new().prepare_query(term)?;
    let solutions = query.solutions(&Request::new())?;
    let value = solutions
        .first()
        .and_then(|solution| solution.values.first());
    Ok(value.cloned())
}

fn read_json(text: &str) -> Result<Value, Error> {
    Ok(json::read(text.as_bytes())?)
}

/// Evaluates a query partially.
fn left_open(engine: &Engine, line: &Line<'_>, asked: &Request<'_>) -> Result<Output, Error> {
    let mut options = PartialOptions::default()
        .disable_inlining(line.disable_inlining.clone())
        .shallow_inlining(line.shallow_inlining)
        .nondeterministic_builtins(line.nondeterministic_builtins)
        .skip_namespace(line.skip_partial_namespace);
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
    Ok(Output {
        solutions: Vec::new(),
        more: fields.map(|(name, texts)| (name, list(texts))).collect(),
    })
}

fn write_output(out: &mut Vec<u8>, result: &Result<Output, Error>, prints: &str) {
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
                    if row > 0 {
                        pairs.push(("row".into(), i64::from(row).into()));
                        pairs.push(("col".into(), i64::from(col).into()));
                    }
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
