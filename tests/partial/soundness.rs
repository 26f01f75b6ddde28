//! Evaluated later with the unknowns filled in, residuals must have the results of the whole query.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use solon::{
    Change, Engine, Error, ErrorEntry, PartialOptions, Path, PreparedQuery, Residuals, Solution,
};
use solon_syntax::ast::visit::{Descent, Terms, WalkMut};
use solon_syntax::ast::{Term, TermKind};

use crate::generate::Request;
use crate::programs::{Drawn, draw, reduced};

/// Variable for the query's value.
const ANSWER: &str = "whole_answer";

/// Outcome for a program.
pub enum Comparison {
    Same,
    /// Nothing to compare, with the reason.
    Nothing(&'static str),
    Differs(String),
}

/// Compares `count` programs, and more until `seconds` have passed. Returns how many differ.
pub fn compare(seed: u64, (count, seconds): (u64, u64), filter: &str) -> usize {
    let start = Instant::now();
    let next = AtomicU64::new(0);
    let seen: Mutex<(usize, BTreeMap<&'static str, usize>, Vec<String>)> = Mutex::default();
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count && start.elapsed().as_secs() >= seconds {
                        break;
                    }
                    let Some(drawn) = draw(seed, number, filter) else {
                        continue;
                    };
                    let result = compare_one(&drawn);
                    let mut seen = seen.lock().unwrap();
                    match result {
                        Comparison::Same => seen.0 += 1,
                        Comparison::Nothing(reason) => *seen.1.entry(reason).or_default() += 1,
                        Comparison::Differs(_) => {
                            let name = drawn.name.clone();
                            let how = |one: &Drawn| match compare_one(one) {
                                Comparison::Differs(how) => Some(how),
                                _ => None,
                            };
                            let reduced = reduced(drawn, |one| how(one).is_some());
                            let how = how(&reduced).unwrap_or_default();
                            seen.2.push(format!("{name} of seed {seed}: {how}"));
                        }
                    }
                }
            });
        }
    });
    let (same, skipped, differences) = seen.into_inner().unwrap();
    for difference in differences.iter().take(40) {
        println!("{difference}");
    }
    println!("not compared: {skipped:?}");
    println!(
        "whole and residual: {same} passed, {} failed",
        differences.len()
    );
    // a test that compares few programs would not be informative
    let drawn = count.max(next.into_inner());
    let enough = !filter.is_empty() || same as u64 * 3 >= drawn * 2;
    differences.len() + usize::from(!enough)
}

/// Compares the results of a program with those of its residuals.
pub fn compare_one(drawn: &Drawn) -> Comparison {
    let Ok(engine) = engine(&drawn.request, &Residuals::default()) else {
        return Comparison::Nothing("modules that do not compile");
    };
    let query = if drawn.captured {
        captured(&drawn.request.query)
    } else {
        drawn.request.query.clone()
    };
    let whole_input = document(&drawn.request.input);
    let mut whole = solon::Request::new();
    if let Some(input) = &whole_input {
        whole = whole.input(input);
    }
    let Ok(prepared) = engine.prepare_query(&query) else {
        return Comparison::Nothing("queries that do not compile");
    };
    let Ok(wanted) = prepared.solutions(&whole) else {
        return Comparison::Nothing("errors");
    };
    // variables declared by `some` have other names in residuals
    let mut names: BTreeSet<String> = wanted.iter().flat_map(names_of).collect();
    if query.contains("some ") {
        names.clear();
    }
    let known = drawn.without_unknowns();
    let known_input = document(&known.input);
    let mut part = solon::Request::new();
    if let Some(input) = &known_input {
        part = part.input(input);
    }
    let options = PartialOptions::default()
        .unknowns(drawn.unknowns.clone())
        .disable_inlining(drawn.disabled.clone());
    let left = self::engine(&known, &Residuals::default());
    let left = left.and_then(|engine| engine.partial(&query, &options, &part));
    let mut left = match left {
        Ok(left) => left,
        Err(error) if is_type_error(&error) => {
            return Comparison::Nothing("queries that types rule out");
        }
        Err(error) if passed_by(&engine, &drawn.request, &error) => {
            return Comparison::Nothing("errors that the whole stops short of");
        }
        Err(error) => return Comparison::Differs(format!("{error}\n{}", drawn.line())),
    };
    left.queries.walk_mut(&mut Terms(named));
    left.support.walk_mut(&mut Terms(named));
    let show = |left: &Residuals| {
        let (queries, support) = (left.query_sources(), left.support_sources());
        format!(
            "{}\n-- unknown {}\n{}\n--\n{}",
            drawn.request.json(),
            drawn.unknowns.join(" "),
            queries.join("\n--\n"),
            support.join("\n")
        )
    };
    let engine = match self::engine(&drawn.request, &left) {
        Ok(engine) => engine,
        Err(error) if is_type_error(&error) => {
            return Comparison::Nothing("support that types rule out");
        }
        Err(error) => return Comparison::Differs(format!("{error}\n{}", show(&left))),
    };
    let mut got = BTreeSet::new();
    for body in left.query_sources() {
        // an empty body holds
        let body = if body.is_empty() { "true" } else { &body };
        let query = match engine.prepare_query(body) {
            Ok(query) => query,
            // a search or a negation that types rule out is meaningful, but cannot be compiled as a query
            Err(error)
                if is_type_error(&error) && body.contains(" = (") && body.contains(" in ") =>
            {
                return Comparison::Nothing("searches that types rule out");
            }
            Err(error)
                if is_type_error(&error) && body.lines().any(|line| line.starts_with("not ")) =>
            {
                return Comparison::Nothing("negations that types rule out");
            }
            // other bodies that types rule out never hold
            Err(error) if is_type_error(&error) => continue,
            Err(error) => return Comparison::Differs(format!("{error}\n{}", show(&left))),
        };
        match answers(&engine, &query, body, &names, &whole) {
            Err(error) if passed_by(&engine, &drawn.request, &error) => {
                return Comparison::Nothing("errors that the whole stops short of");
            }
            Ok(answers) => got.extend(answers),
            Err(error) => return Comparison::Differs(format!("{error}\n{}", show(&left))),
        }
    }
    let wanted = wanted.iter().filter(|one| is_true(one));
    let wanted: BTreeSet<Bindings> = wanted.map(|one| answer_of(one, &names)).collect();
    // by value: residuals, as OPA's, have a known `1` for an equal unknown `1.0`
    if wanted == got {
        return Comparison::Same;
    }
    let [wanted, got] = [wanted, got].map(|all| all.iter().map(text_of).collect::<Vec<_>>());
    Comparison::Differs(format!("want {wanted:?}\n got {got:?}\n{}", show(&left)))
}

/// Returns the results of a residual. A query continues after a false expression and may fail there; the body of a
/// comprehension does not.
fn answers(
    engine: &Engine,
    query: &PreparedQuery,
    body: &str,
    names: &BTreeSet<String>,
    request: &solon::Request<'_>,
) -> Result<Vec<Bindings>, Error> {
    let error = match query.solutions(request) {
        Ok(solutions) => {
            let held = solutions.iter().filter(|one| is_true(one));
            return Ok(held.map(|one| answer_of(one, names)).collect());
        }
        Err(error) => error,
    };
    let shown: Vec<&str> = names.iter().map(String::as_str).collect();
    let within = format!("found = [[{}] | {body}\n]", shown.join(", "));
    let Ok(within) = engine.prepare_query(&within) else {
        return Err(error);
    };
    let found = within.solutions(request).map_err(|_| error)?;
    let rows = found.iter().flat_map(|one| &one.bindings);
    let rows = rows.filter_map(|(_, rows)| rows.borrow().as_array());
    let rows = rows.flat_map(|rows| rows.iter().collect::<Vec<_>>());
    let rows = rows.filter_map(|row| row.as_array());
    Ok(rows
        .map(|row| {
            let values = names.iter().zip(row.iter());
            values
                .map(|(name, value)| (name.clone(), value.to_value()))
                .collect()
        })
        .collect())
}

/// Returns `true` if a document of the policy is in conflict for the whole input, so that evaluating it is an error,
/// and the whole query only succeeds because it finds a solution earlier. Residuals are searched completely.
fn passed_by(engine: &Engine, program: &Request, error: &Error) -> bool {
    let clashes = |error: &Error| {
        let entries = error.entries();
        !entries.is_empty()
            && entries
                .iter()
                .all(|entry| entry.code == "eval_conflict_error")
    };
    let input = document(&program.input);
    let mut whole = solon::Request::new();
    if let Some(input) = &input {
        whole = whole.input(input);
    }
    let mut packages = program.modules.iter().filter_map(|(_, text)| {
        let line = text.lines().next()?;
        line.strip_prefix("package ")
    });
    clashes(error)
        && packages.any(|package| {
            let query = engine.prepare_query(&format!("data.{package}[name]"));
            let found = query.and_then(|query| query.solutions(&whole));
            found.is_err_and(|error| clashes(&error))
        })
}

/// Returns a query that binds the query's value.
fn captured(query: &str) -> String {
    let is_path = |text: &str| text.starts_with("data") && !text.contains([' ', ';', '(']);
    match query.split_once(" with ") {
        Some((document, with)) if is_path(document) => format!("{document} = {ANSWER} with {with}"),
        None if is_path(query) => format!("{query} = {ANSWER}"),
        _ => query.to_owned(),
    }
}

/// Returns `true` if types rule the query out.
fn is_type_error(error: &Error) -> bool {
    let entries = error.entries();
    let of_types = |entry: &ErrorEntry| {
        entry.code == "rego_type_error" || entry.message == "error limit reached"
    };
    !entries.is_empty() && entries.iter().all(of_types)
}

/// Returns `true` if no expression is false: a query returns such solutions, too, but residuals have none for them.
fn is_true(solution: &Solution) -> bool {
    let no = solon::Value::from(false);
    solution.values.iter().all(|value| *value != no)
}

fn names_of(solution: &Solution) -> impl Iterator<Item = String> {
    solution.bindings.iter().map(|(name, _)| name.to_string())
}

/// Values of variables, by name.
type Bindings = BTreeMap<String, solon::Value>;

/// Returns the values of the variables that the whole query returns.
fn answer_of(solution: &Solution, names: &BTreeSet<String>) -> Bindings {
    let bindings = solution.bindings.iter();
    bindings
        .filter(|(name, _)| names.contains(&**name))
        .map(|(name, value)| (name.to_string(), value.clone()))
        .collect()
}

fn text_of(bindings: &Bindings) -> String {
    let shown: Vec<String> = bindings
        .iter()
        .map(|(name, value)| format!("{name} = {}", value.rego_text()))
        .collect();
    shown.join("; ")
}

/// Renames generated variables to valid source names.
fn named(term: &mut Term) -> Descent {
    if let TermKind::Var(name) = &mut term.kind
        && let Some(rest) = name.strip_prefix('$')
    {
        *name = format!("generated_{rest}").into();
    }
    Descent::Into
}

/// Returns a document of these fields, if there are any.
fn document(fields: &[(String, String)]) -> Option<solon::Value> {
    let pairs = fields.iter().map(|(name, text)| {
        let value = solon::internal::value::json::read(text.as_bytes()).expect("JSON");
        (name.as_str().into(), value)
    });
    (!fields.is_empty()).then(|| solon::Value::object(pairs.collect()))
}

fn engine(program: &Request, left: &Residuals) -> Result<Engine, Error> {
    let engine = Engine::new();
    let mut change = Change::default();
    for (name, text) in &program.modules {
        change.set_module(name, text);
    }
    for (at, text) in left.support_sources().iter().enumerate() {
        change.set_module(&format!("left{at}.rego"), text);
    }
    if let Some(data) = document(&program.data) {
        change.put(Path::default(), data);
    }
    engine.apply(change)?;
    Ok(engine)
}
