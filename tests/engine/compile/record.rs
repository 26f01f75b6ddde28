//! Recording of OPA's compile errors.

use std::fs;

use serde_json::{Value as Json, json};

use super::{Case, RecordedError, files};
use solon_lines::Process;

/// Text before the errors of a case, which are last on its line.
const ERRORS: &str = ", \"want_errors\": ";

/// Records all cases again. The protocol has no schemas, so cases with schemas are kept.
pub fn record(oracle: &str) {
    let mut oracle = Process::new(oracle);
    for file in files() {
        let text = fs::read_to_string(&file).unwrap();
        let lines = text.lines().map(|line| {
            let Some((before, errors)) = line.rsplit_once(ERRORS) else {
                return line.to_owned();
            };
            let end = if errors.ends_with(',') { "}," } else { "}" };
            let case: Case = serde_json::from_str(line.trim_end_matches(',')).unwrap();
            if !case.schemas.is_empty() {
                return line.to_owned();
            }
            let found = refusals(&mut oracle, &case);
            if same(&found, &case.want_errors) {
                return line.to_owned();
            }
            format!(
                "{before}{ERRORS}{}{end}",
                written(&found, &case.want_errors)
            )
        });
        let lines: Vec<String> = lines.collect();
        fs::write(&file, lines.join("\n") + "\n").unwrap();
    }
}

fn refusals(oracle: &mut Process, case: &Case) -> Vec<RecordedError> {
    let request = json!({
        "modules": case.modules,
        "query": case.query.as_deref().unwrap_or("true"),
        "data": case.data.clone().unwrap_or_else(|| json!({})),
        "strict": case.strict,
        "v0": case.v0,
    });
    let answer = oracle.request(&request.to_string()).unwrap();
    let answer: Json = serde_json::from_str(&answer).unwrap();
    match answer.get("errors") {
        Some(errors) => serde_json::from_value(errors.clone()).unwrap(),
        None => Vec::new(),
    }
}

/// Returns the part of an error that the protocol contains: everything except lines after the message.
fn essence(refusal: &RecordedError) -> (&str, u32, u32, &str, &str) {
    let RecordedError {
        file,
        row,
        col,
        code,
        message,
        ..
    } = refusal;
    (file, *row, *col, code, message)
}

fn same(found: &[RecordedError], recorded: &[RecordedError]) -> bool {
    let sorted = |refusals: &[RecordedError]| {
        let mut sorted = refusals.to_vec();
        sorted.sort_by(|a, b| essence(a).cmp(&essence(b)));
        sorted
    };
    let (found, recorded) = (sorted(found), sorted(recorded));
    found.len() == recorded.len()
        && found
            .iter()
            .zip(&recorded)
            .all(|(a, b)| essence(a) == essence(b))
}

fn written(found: &[RecordedError], recorded: &[RecordedError]) -> String {
    let errors = found.iter().map(|refusal| {
        let text = |text: &str| Json::from(text).to_string();
        let (file, row, col, code, message) = essence(refusal);
        let place = match row {
            0 => String::new(),
            _ => format!("\"file\": {}, \"row\": {row}, \"col\": {col}, ", text(file)),
        };
        let before = recorded.iter().find(|one| essence(one) == essence(refusal));
        let details = match before.and_then(|before| before.details.as_ref()) {
            Some(details) => {
                let details: Vec<String> = details.iter().map(|line| text(line)).collect();
                format!(", \"details\": [{}]", details.join(", "))
            }
            None => String::new(),
        };
        let (code, message) = (text(code), text(message));
        format!("{{{place}\"code\": {code}, \"message\": {message}{details}}}")
    });
    let errors: Vec<String> = errors.collect();
    format!("[{}]", errors.join(", "))
}
