//! Comparison of a driver's response with a case.

use serde::Deserialize;
use serde_json::value::RawValue;
use solon::{Value, json};

use super::case::Case;
use crate::Driver;

/// The compared parts of a response.
#[derive(Deserialize)]
struct JudgedAnswer<'a> {
    #[serde(borrow, default)]
    bindings: Option<&'a RawValue>,
    #[serde(default)]
    errors: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    code: String,
    message: String,
    #[serde(default)]
    file: String,
    #[serde(default)]
    row: u32,
}

impl Entry {
    /// Formats the error as the engine does.
    fn text(&self) -> String {
        let place = match (self.file.as_str(), self.row) {
            (_, 0) => String::new(),
            ("", row) => format!("{row}: "),
            (file, row) => format!("{file}:{row}: "),
        };
        format!("{place}{}: {}", self.code, self.message)
    }
}

/// Checks a driver's response to a case.
pub fn check(case: &Case, driver: &mut dyn Driver) -> Result<(), String> {
    let line = case.line().map_err(|error| error.to_string())?;
    let line = driver.answer(&line)?;
    let answer: JudgedAnswer<'_> =
        serde_json::from_str(&line).map_err(|error| format!("{error} in {line}"))?;
    match (&case.want_error, &case.want_error_code) {
        (None, None) => compare(case, &answer),
        (message, code) => reject(&answer, message.as_deref(), code.as_deref()),
    }
}

fn reject(
    answer: &JudgedAnswer<'_>,
    message: Option<&str>,
    code: Option<&str>,
) -> Result<(), String> {
    if answer.errors.is_empty() {
        return Err("an error was wanted".to_owned());
    }
    let texts: Vec<String> = answer.errors.iter().map(Entry::text).collect();
    let text = texts.join("\n");
    if let Some(code) = code
        && !answer.errors.iter().any(|entry| entry.code == code)
    {
        return Err(format!("wanted code {code}, got {text}"));
    }
    match message {
        Some(message) if !text.contains(message) => Err(format!("wanted {message}, got {text}")),
        _ => Ok(()),
    }
}

fn compare(case: &Case, answer: &JudgedAnswer<'_>) -> Result<(), String> {
    if !answer.errors.is_empty() {
        let texts: Vec<String> = answer.errors.iter().map(Entry::text).collect();
        return Err(texts.join("\n"));
    }
    let Some(want) = &case.want_result else {
        return Ok(());
    };
    let read = |text: &RawValue| {
        let rows = json::read(text.get().as_bytes()).map_err(|error| error.to_string())?;
        match rows.as_array() {
            // The order of solutions is unspecified.
            Some(rows) => Ok(ordered(rows.to_vec())),
            None => Err(format!("the result is not a list but {rows:?}")),
        }
    };
    let none = Value::array(Vec::new());
    let (got, want) = (answer.bindings.map_or(Ok(none), read)?, read(want)?);
    let (got, want) = if case.sort_bindings {
        (sorted(&got), sorted(&want))
    } else {
        (got, want)
    };
    if got == want {
        Ok(())
    } else {
        Err(format!("wanted {want:?}, got {got:?}"))
    }
}

fn ordered(mut items: Vec<Value>) -> Value {
    items.sort();
    Value::array(items)
}

/// Sorts the elements of all arrays in the bindings.
fn sorted(value: &Value) -> Value {
    if let Some(items) = value.as_array() {
        return ordered(items.iter().map(sorted).collect());
    }
    let Some(object) = value.as_object() else {
        return value.clone();
    };
    let pairs = object.iter();
    Value::object(
        pairs
            .map(|(key, value)| (key.clone(), sorted(value)))
            .collect(),
    )
}
