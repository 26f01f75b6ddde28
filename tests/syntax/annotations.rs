//! METADATA blocks, valid and invalid.

use serde_json::{Value, json};
use solon_syntax::json::{Options, text};

use crate::ast::parse;
use crate::cases::{Case, canonical, check_all, difference};

fn check(case: &Case) -> Result<(), String> {
    let answer = case.answer.as_deref().ok_or("not recorded")?;
    let want: Value = serde_json::from_str(answer.get()).unwrap();
    match (parse(case), want.get("errors")) {
        (Ok(module), None) => {
            let sources = [module.source.clone()];
            let options = Options {
                locations: case.located.then_some(&sources[..]),
                ..Options::default()
            };
            let have = text(&module, options);
            let have = canonical(
                &serde_json::from_str::<Box<serde_json::value::RawValue>>(&have).unwrap(),
            );
            let want = canonical(answer);
            if equal(&have, &want) {
                Ok(())
            } else {
                Err(difference(&want, &have))
            }
        }
        (Err(errors), Some(want)) => {
            let have: Vec<Value> = errors.0.iter().map(error).collect();
            let want: Vec<Value> = want
                .as_array()
                .unwrap()
                .iter()
                .map(location_and_text)
                .collect();
            if have == want {
                Ok(())
            } else {
                Err(format!(
                    "    want {}\n    have {}",
                    json!(want),
                    json!(have)
                ))
            }
        }
        (Err(errors), None) => Err(format!("    unexpected: {errors}")),
        (Ok(_), Some(want)) => Err(format!("    missing: {want}")),
    }
}

/// Returns `true` if two JSON texts are equal. Floats may have different spellings.
fn equal(have: &str, want: &str) -> bool {
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    have == want || same(&value(have), &value(want))
}

fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || left.as_f64() == right.as_f64()
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|((one, left), (two, right))| one == two && same(left, right))
        }
        _ => left == right,
    }
}

fn error(error: &solon_syntax::source::Diagnostic) -> Value {
    json!({
        "row": error.span.row,
        "col": error.span.col,
        "code": error.code.as_str(),
        "message": error.message,
        "details": error.details_json,
    })
}

fn location_and_text(error: &Value) -> Value {
    json!({
        "row": error["location"]["row"],
        "col": error["location"]["col"],
        "code": error["code"],
        "message": error["message"],
        "details": error.get("details"),
    })
}

#[test]
fn blocks_match_the_record() {
    check_all("annotations.json", check);
}
