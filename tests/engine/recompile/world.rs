//! An engine whose modules change, compared with one that gets them all at once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use solon::{Change, Engine, Error, Path, Request, Value};
use solon_syntax::ast::{Module, Version};
use solon_syntax::source::{Source, SourceId};
use solon_syntax::{ParseOptions, parse_module};

use super::Case;

/// The engine, and the texts that it should contain.
pub struct World<'c> {
    case: &'c Case,
    engine: Engine,
    texts: BTreeMap<&'c str, &'c str>,
    inputs: Vec<Value>,
}

impl<'c> World<'c> {
    /// Creates an engine without rules.
    pub fn new(case: &'c Case) -> Self {
        let inputs = case.inputs.iter().map(value);
        Self {
            case,
            engine: engine(case),
            texts: BTreeMap::new(),
            inputs: inputs.chain([Value::NULL]).collect(),
        }
    }

    /// Changes files. Returns whether some modules were kept compiled, if the change is accepted, or the difference
    /// from an engine that gets all modules at once.
    pub fn change(
        &mut self,
        changes: &BTreeMap<&'c str, Option<&'c str>>,
    ) -> Result<Option<bool>, String> {
        let mut next = self.texts.clone();
        let mut change = Change::default();
        for (name, text) in changes {
            match text {
                Some(text) => {
                    let Some(module) = parse(self.case, name, text) else {
                        return Ok(None);
                    };
                    next.insert(name, text);
                    change.set_parsed_module(name, module);
                }
                None if next.remove(name).is_some() => {
                    change.remove_module(name);
                }
                None => return Ok(None),
            }
        }
        let fresh = engine(self.case);
        let mut all = Change::default();
        for (name, text) in &next {
            all.set_parsed_module(name, parse(self.case, name, text).unwrap());
        }
        let want = outcome(fresh.apply(all));
        let got = outcome(self.engine.apply(change));
        if want != got {
            return Err(format!("wanted:\n{want}\ngot:\n{got}"));
        }
        if want != ACCEPTED {
            return Ok(None);
        }
        self.texts = next;
        same_plans(&fresh.dump(), &self.engine.dump())?;
        let packages = self.texts.values().filter_map(|text| package(text));
        for path in packages.chain(["/".to_owned()]) {
            self.compare(&fresh, &|engine, request| {
                let document = engine.document(&Path::from_slashes(&path));
                Ok(format!("{path}: {:?}", document.evaluate(request)?))
            })?;
        }
        for query in &self.case.queries {
            self.compare(&fresh, &|engine, request| {
                let solutions = engine.prepare_query(query)?.solutions(request)?;
                let bindings = solutions.iter().map(|solution| format!("{solution:?}"));
                Ok(bindings.collect::<Vec<_>>().join("\n"))
            })?;
        }
        Ok(Some(self.engine.work().modules <= self.texts.len()))
    }

    /// Compares the results of both engines for each input, with errors of built-ins strict and not.
    fn compare(
        &self,
        fresh: &Engine,
        answer: &dyn Fn(&Engine, &Request<'_>) -> Result<String, Error>,
    ) -> Result<(), String> {
        for input in &self.inputs {
            for strict in [false, true] {
                let request = || Request::new().input(input).strict_builtin_errors(strict);
                let text = |engine: &Engine| match answer(engine, &request()) {
                    Ok(text) => text,
                    Err(error) => error.to_string(),
                };
                same("answers", &text(fresh), &text(&self.engine))?;
            }
        }
        Ok(())
    }
}

const ACCEPTED: &str = "accepted";

fn outcome(result: Result<(), Error>) -> String {
    match result {
        Ok(()) => ACCEPTED.to_owned(),
        Err(error) => error.to_string(),
    }
}

fn same(what: &str, want: &str, got: &str) -> Result<(), String> {
    if want == got {
        return Ok(());
    }
    Err(format!("{what}, wanted:\n{want}\ngot:\n{got}"))
}

/// Compares plans. Members of a set are evaluated in the order of their terms, which for generated locals depends on
/// their names. So with sets, members and steps may be in another order.
fn same_plans(want: &str, got: &str) -> Result<(), String> {
    let (wanted, had) = (documents(want), documents(got));
    let paired = wanted.iter().zip(&had);
    let mut paired = paired.map(|(want, got)| {
        want == got || (want.contains("set {") && unordered(want) == unordered(got))
    });
    if wanted.len() == had.len() && paired.all(|same| same) {
        return Ok(());
    }
    same("plans", want, got)
}

/// Returns the plans of each document.
fn documents(dump: &str) -> Vec<String> {
    let mut documents: Vec<String> = Vec::new();
    for line in dump.lines() {
        match documents.last_mut().filter(|_| line.starts_with(' ')) {
            Some(document) => document.extend(["\n", line]),
            None => documents.push(line.to_owned()),
        }
    }
    documents
}

/// Returns the words of plans, sorted, without numbers of slots.
fn unordered(plans: &str) -> Vec<String> {
    let words = plans.split(|c: char| c.is_whitespace() || "{}[](),:".contains(c));
    let is_slot = |word: &str| {
        let number = word.strip_prefix('s').filter(|number| !number.is_empty());
        number.is_some_and(|number| number.chars().all(|c| c.is_ascii_digit()))
    };
    let words = words.map(|word| if is_slot(word) { "s" } else { word });
    let mut words: Vec<String> = words.map(str::to_owned).collect();
    words.sort();
    words
}

fn engine(case: &Case) -> Engine {
    let engine = Engine::builder().strict(case.strict).build();
    let mut none = Change::default();
    none.set_parsed_module("none", parse(case, "none", "package none").unwrap());
    engine.apply(none).unwrap();
    if let Some(data) = &case.data {
        let mut change = Change::default();
        change.put(Path::from_slashes("/"), value(data));
        engine.apply(change).unwrap();
    }
    engine
}

fn value(json: &serde_json::Value) -> Value {
    solon::internal::value::json::read(json.to_string().as_bytes()).unwrap()
}

/// Parses a module. `# v0` at its head selects the older language.
fn parse(case: &Case, name: &str, text: &str) -> Option<Arc<Module>> {
    static SOURCES: AtomicU32 = AtomicU32::new(0);
    let id = SourceId(SOURCES.fetch_add(1, Ordering::Relaxed));
    let v0 = case.v0 || text.starts_with("# v0");
    let version = if v0 { Version::V0 } else { Version::V1 };
    let options = ParseOptions::from_version(version);
    let module = parse_module(&Source::new(id, name, text), &options);
    module.ok().map(Arc::new)
}

/// Returns the path of a module's package with slashes.
fn package(text: &str) -> Option<String> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("package "))?;
    let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    line.chars().all(plain).then(|| line.replace('.', "/"))
}
