//! Workloads as handwritten Rust over the same parsed values, with common crates: an estimate of the fastest possible decision.

mod catalogues;
mod encodings;
mod helpers;
mod lookups;
mod networks;
mod objects;
mod patterns;
mod sets;
mod texts;
mod times;
mod tokens;
mod versions;

use std::time::Instant;

use solon::Value;
use solon::internal::value::json;

use crate::engines::{Contender, elapsed_ms};
use crate::manifest::Workload;

/// A handwritten decision. Constants of the policy are prepared in advance; the documents are not.
type Decision = Box<dyn Fn(&Value, &Value) -> Option<Value>>;

/// Prepares a decision. Returns `None` if that fails.
type Prepare = fn() -> Option<Decision>;

/// All decisions by workload name without the size suffix.
const DECISIONS: [&[(&str, Prepare)]; 12] = [
    catalogues::DECISIONS,
    encodings::DECISIONS,
    helpers::DECISIONS,
    lookups::DECISIONS,
    networks::DECISIONS,
    objects::DECISIONS,
    patterns::DECISIONS,
    sets::DECISIONS,
    texts::DECISIONS,
    times::DECISIONS,
    tokens::DECISIONS,
    versions::DECISIONS,
];

/// Returns the name of a workload without the size suffix, for example `_100` or `_1k`.
fn without_size(name: &str) -> &str {
    match name.rsplit_once('_') {
        Some((stem, size)) if size.starts_with(|c: char| c.is_ascii_digit()) => stem,
        _ => name,
    }
}

/// A handwritten decision with its documents.
pub struct Written {
    decide: Decision,
    data: Value,
    input: Value,
    text: String,
    load_ms: f64,
}

impl Written {
    /// Loads a workload that has a handwritten decision.
    ///
    /// # Errors
    /// Fails if the decision does not exist, or its documents are not valid JSON.
    pub fn load(workload: &Workload) -> Result<Self, String> {
        let wanted = without_size(&workload.name);
        let mut all = DECISIONS.into_iter().flatten();
        let known = all.find(|(name, _)| *name == wanted);
        let (_, prepare) = known.ok_or("not written")?;
        let decide = prepare().ok_or("not prepared")?;
        let read = |text: &str| json::read(text.as_bytes()).map_err(|error| error.to_string());
        let start = Instant::now();
        let data = workload.data.as_deref().map_or(Ok(Value::NULL), read)?;
        let load_ms = elapsed_ms(start);
        let text = workload.input.clone().unwrap_or_else(|| "null".to_owned());
        Ok(Self {
            decide,
            data,
            input: read(&text)?,
            text,
            load_ms,
        })
    }
}

impl Contender for Written {
    fn decide(&mut self) {
        std::hint::black_box((self.decide)(
            std::hint::black_box(&self.data),
            std::hint::black_box(&self.input),
        ));
    }

    fn decide_json(&mut self) -> Option<String> {
        let input = json::read(self.text.as_bytes()).ok()?;
        Some((self.decide)(&self.data, &input)?.to_string())
    }

    fn load_ms(&self) -> f64 {
        self.load_ms
    }

    fn prepare_ms(&self) -> f64 {
        0.0
    }
}

fn elements(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().unwrap_or_default().iter()
}

/// Returns the string elements of an array in an object.
fn texts<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v str> {
    let list = value.get(key).map(elements);
    list.into_iter().flatten().filter_map(Value::utf8)
}

/// Returns a string in an object.
fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.utf8()
}

/// Returns a number in an object as a float.
fn float(value: &Value, key: &str) -> Option<f64> {
    Some(value.get(key)?.borrow().as_number()?.to_f64())
}

/// Returns a count or a length as a value.
fn number(count: usize) -> Option<Value> {
    i64::try_from(count).ok().map(Value::from)
}
