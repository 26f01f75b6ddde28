//! YAML read and written against recorded answers of OPA.

use super::{read, write};
use crate::limits;
use crate::value::small_stack::on_small_stack;
use crate::value::{Value, json};

type Case = (String, String, String);

fn cases(name: &str) -> Vec<Case> {
    let path = format!(
        "{}/../tests/cases/yaml/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn compact(value: &Value) -> String {
    let mut out = Vec::new();
    json::write(value.borrow(), &mut out);
    String::from_utf8(out).unwrap()
}

fn report(wrong: &[String], count: usize) {
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn reads_as_opa_reads() {
    let cases = cases(&std::env::var("UN").unwrap_or("unmarshal".into()));
    let mut wrong = Vec::new();
    for (text, kind, want) in &cases {
        let got = match read(text.as_bytes()) {
            Ok(value) => ("value", compact(&value)),
            Err(error) => ("error", error.to_string()),
        };
        // the recorded text went through Go's writer
        let want = match kind.as_str() {
            "value" => compact(&json::read(want.as_bytes()).unwrap()),
            _ => want.clone(),
        };
        if got != (kind.as_str(), want.clone()) && (got.0, kind.as_str()) != ("error", "refused") {
            wrong.push(format!("{text:?} is {} {}, want {want}", got.0, got.1));
        }
    }
    report(&wrong, cases.len());
}

#[test]
fn writes_as_opa_writes() {
    let cases = cases(&std::env::var("MA").unwrap_or("marshal".into()));
    let mut wrong = Vec::new();
    for (text, _, want) in &cases {
        let mut out = String::new();
        let value = json::read(text.as_bytes()).unwrap();
        let got = match write(value.borrow(), &mut out) {
            Ok(()) => out,
            Err(error) => error.to_string(),
        };
        if got != *want {
            wrong.push(format!("{text} is {got:?}, want {want:?}"));
        }
    }
    report(&wrong, cases.len());
}

fn message(text: &str) -> String {
    read(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn what_bounds_a_document() {
    let nest = |depth: usize| format!("{}x", "- ".repeat(depth));
    assert!(read(nest(limits::VALUE_NESTING).as_bytes()).is_ok());
    let deep = format!("yaml: exceeded max depth of {}", limits::VALUE_NESTING);
    assert_eq!(message(&nest(limits::VALUE_NESTING + 1)), deep);
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for i in 1..12 {
        let list = vec![format!("*a{}", i - 1); 10].join(", ");
        bomb += &format!("a{i}: &a{i} [{list}]\n");
    }
    assert_eq!(message(&bomb), "yaml: document contains excessive aliasing");
    assert_eq!(
        read(b"\xff").unwrap_err().to_string(),
        "yaml: invalid leading UTF-8 octet"
    );
    assert_eq!(
        read(b"a\xc3").unwrap_err().to_string(),
        "yaml: incomplete UTF-8 octet sequence"
    );
    let tabs = |count: usize| "a:\tb\n".repeat(count);
    assert!(read(tabs(solon_syntax::yaml::REPAIRS - 1).as_bytes()).is_ok());
    assert!(read(tabs(solon_syntax::yaml::REPAIRS + 1).as_bytes()).is_err());
}

#[test]
fn errors_know_their_line() {
    let error = read(b"a: 1\nb: [\nc: }").unwrap_err();
    assert_eq!(error.line(), Some(3));
}

#[test]
fn deep_values_need_little_stack() {
    let work = || {
        let mut value = Value::from(1);
        for level in 0..limits::VALUE_NESTING {
            value = match level % 3 {
                0 => Value::array(vec![value]),
                1 => Value::object(vec![("a".into(), value)]),
                _ => Value::set(vec![value]),
            };
        }
        let mut out = String::new();
        write(value.borrow(), &mut out).unwrap();
        let again = read(out.as_bytes()).unwrap();
        assert_eq!(compact(&again), compact(&value));
    };
    on_small_stack(work);
}
