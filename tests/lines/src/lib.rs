//! One JSON request in, one JSON answer out: how differential tests speak to this engine and to others.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use solon_syntax::ast::Version;

use solon::host::{HttpError, HttpRequest, HttpResponse, LookupError, Wait};
use solon::store::Path;
use solon::trace::{Detail, Spelling};
use solon::{
    Change, CompilerOptions as Options, Engine, Error, FixedHost, Host, InputError, PartialOptions,
    Request, Solution, Value, json,
};

/// A request. A field that is `null` is as if absent, but for documents: `null` is one.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Line<'a> {
    #[serde(deserialize_with = "or_default")]
    modules: BTreeMap<String, String>,
    #[serde(borrow, deserialize_with = "document")]
    data: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "document")]
    input: Option<&'a RawValue>,
    #[serde(deserialize_with = "or_default")]
    query: String,
    #[serde(deserialize_with = "or_default")]
    v0: bool,
    #[serde(deserialize_with = "or_default")]
    strict: bool,
    #[serde(deserialize_with = "or_default")]
    strict_builtin_errors: bool,
    #[serde(deserialize_with = "or_default")]
    explain: String,
    #[serde(deserialize_with = "or_default")]
    explain_json: bool,
    #[serde(deserialize_with = "or_default")]
    partial: bool,
    unknowns: Option<Vec<String>>,
    #[serde(deserialize_with = "or_default")]
    disable_inlining: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    shallow_inlining: bool,
    #[serde(deserialize_with = "or_default")]
    nondeterministic_builtins: bool,
    partial_namespace: Option<String>,
    #[serde(deserialize_with = "or_default")]
    skip_partial_namespace: bool,
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

/// How requests are answered.
struct Manner<'a> {
    options: &'a Options,
    host: Arc<dyn Host>,
    by: By,
}

/// Answers one request. The answer has `bindings` and `values` (of each solution), `prints`, or `errors` with
/// `code`, `message`, `file`, `row`, `col`; an undefined query answers `{}`. With `explain` it has the lines of a
/// `trace` too, with `explain_json` its `events`. The clock stands still.
pub fn answer(line: &str) -> String {
    answer_with(line, &Options::default())
}

/// The same, in a world that policies may ask.
pub fn answer_on(line: &[u8], host: Arc<dyn Host>) -> String {
    let options = &Options::default();
    let by = By::Plans;
    answer_in(line, &Manner { options, host, by })
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
    let host = Arc::new(FixedHost::default());
    answer_in(line.as_bytes(), &Manner { options, host, by })
}

fn answer_in(line: &[u8], manner: &Manner<'_>) -> String {
    let mut out = Vec::new();
    match serde_json::from_slice::<Line<'_>>(line) {
        Ok(request) => {
            let prints = RefCell::new(String::new());
            let result = ask(&request, manner, &prints);
            write_answer(&mut out, &result, &prints.into_inner());
        }
        Err(error) => write_answer(
            &mut out,
            &Err(Error::Input(InputError::new(error.to_string()))),
            "",
        ),
    }
    String::from_utf8(out).unwrap_or_default()
}

/// A host that tells nothing of the program around the engine: requests are answered the same anywhere.
struct Anywhere(Arc<dyn Host>);

impl Host for Anywhere {
    fn now_ns(&self) -> i64 {
        self.0.now_ns()
    }

    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), String> {
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

    fn file(&self, path: &str) -> Result<Vec<u8>, String> {
        self.0.file(path)
    }
}

fn ask(request: &Line<'_>, manner: &Manner<'_>, prints: &RefCell<String>) -> Result<Answer, Error> {
    let read = |text: &RawValue| read_json(text.get());
    let version = if request.v0 { Version::V0 } else { Version::V1 };
    let options = manner.options.clone().strict(request.strict);
    let engine = Engine::builder()
        .version(version)
        .compiler(options)
        .host(Arc::new(Anywhere(Arc::clone(&manner.host))))
        .build();
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
    let solutions = match manner.by {
        By::Plans => query.solutions(&asked),
        By::Search => query.search(&asked, None),
    };
    Ok(Answer {
        solutions: solutions?,
        more: Vec::new(),
    })
}

fn read_json(text: &str) -> Result<Value, Error> {
    Ok(json::read(text.as_bytes())?)
}

/// What a query comes down to while something is unknown.
fn left_open(engine: &Engine, line: &Line<'_>, asked: &Request<'_>) -> Result<Answer, Error> {
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
