//! The recorded programs, asked of any face: it has to answer as the engine does.

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

/// What came of asking a face.
#[derive(Debug, Default)]
pub struct Comparison {
    /// How many programs were asked.
    pub asked: usize,
    /// Names of programs that were answered otherwise than by the engine, with both answers.
    pub differ: Vec<(String, String)>,
}

/// Asks a face all programs that are recorded in a folder.
///
/// # Errors
/// When a record cannot be read.
pub fn compare(folder: &Path, face: &mut dyn Driver) -> Result<Comparison, String> {
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
            let (native, other) = (Native::Plans.answer(request), face.answer(request));
            if !alike(&native, &other) {
                let answers = format!("{native:?}\n  {other:?}");
                comparison.differ.push((case.name.to_owned(), answers));
            }
            comparison.asked += 1;
        }
    }
    Ok(comparison)
}

/// Whether two answers are the same text, or the same value.
fn alike(native: &Result<String, String>, other: &Result<String, String>) -> bool {
    let value = |text: &str| json::read(text.as_bytes()).ok();
    match (native, other) {
        (Ok(native), Ok(other)) => {
            native == other || (value(native).is_some() && value(native) == value(other))
        }
        _ => native == other,
    }
}
