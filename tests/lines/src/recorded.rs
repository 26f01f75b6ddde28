//! Runs the recorded programs with any driver. Its responses must be equal to the engine's.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use solon::json;

use crate::{Driver, Native};

/// A recorded program.
#[derive(Deserialize)]
struct Recorded<'a> {
    #[serde(rename = "case")]
    name: &'a str,
    #[serde(borrow)]
    request: &'a RawValue,
}

/// Results of running a driver.
#[derive(Debug, Default)]
pub struct Comparison {
    /// Number of programs.
    pub asked: usize,
    /// Names of programs with a different response, with both responses.
    pub differ: Vec<(String, String)>,
}

/// Runs all recorded programs of a folder with a driver.
///
/// # Errors
///
/// Fails if a record cannot be read.
pub fn compare(folder: &Path, driver: &mut dyn Driver) -> Result<Comparison, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut paths: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|one| one == "jsonl"))
        .collect();
    paths.sort();
    let mut comparison = Comparison::default();
    for path in paths {
        let text = fs::read_to_string(&path).map_err(|error| error.to_string())?;
        for line in text.lines() {
            let case: Recorded<'_> =
                serde_json::from_str(line).map_err(|error| error.to_string())?;
            let request = case.request.get();
            let (native, other) = (Native::Plans.answer(request), driver.answer(request));
            if !alike(&native, &other) {
                let answers = format!("{native:?}\n  {other:?}");
                comparison.differ.push((case.name.to_owned(), answers));
            }
            comparison.asked += 1;
        }
    }
    Ok(comparison)
}

/// Returns `true` if two responses are the same text, or the same value.
fn alike(native: &Result<String, String>, other: &Result<String, String>) -> bool {
    let value = |text: &str| json::read(text.as_bytes()).ok();
    match (native, other) {
        (Ok(native), Ok(other)) => {
            native == other || (value(native).is_some() && value(native) == value(other))
        }
        _ => native == other,
    }
}
