//! Tests of YAML parsing and writing, compared with OPA's recorded results.

use super::{read, read_with_checked_numbers, write};
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
fn parses_as_opa() {
    let cases = cases(&std::env::var("UN").unwrap_or("unmarshal".into()));
    let mut wrong = Vec::new();
    for (text, kind, expected) in &cases {
        let actual = match read(text.as_bytes()) {
            Ok(value) => ("value", compact(&value)),
            Err(error) => ("error", error.to_string()),
        };
        // the recorded text was written by Go's library
        let expected = match kind.as_str() {
            "value" => compact(&json::read(expected.as_bytes()).unwrap()),
            _ => expected.clone(),
        };
        if actual != (kind.as_str(), expected.clone())
            && (actual.0, kind.as_str()) != ("error", "refused")
        {
            wrong.push(format!(
                "{text:?} is {} {}, want {expected}",
                actual.0, actual.1
            ));
        }
    }
    report(&wrong, cases.len());
}

#[test]
fn writes_as_opa() {
    let cases = cases(&std::env::var("MA").unwrap_or("marshal".into()));
    let mut wrong = Vec::new();
    for (text, _, expected) in &cases {
        let mut out = String::new();
        let value = json::read(text.as_bytes()).unwrap();
        let actual = match write(value.borrow(), &mut out) {
            Ok(()) => out,
            Err(error) => error.to_string(),
        };
        if actual != *expected {
            wrong.push(format!("{text} is {actual:?}, want {expected:?}"));
        }
    }
    report(&wrong, cases.len());
}

fn message(text: &str) -> String {
    read(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn documents_have_limits() {
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
fn numbers_out_of_range_are_strings_unless_they_are_checked() {
    for (text, line) in [
        ("1e99999", 1),
        ("a: 1e99999", 1),
        ("a: 1\nb: -1e400", 2),
        ("a: +1E309", 1),
        ("a: .1e999", 1),
        ("a: 1_0e999", 1),
        ("{x: [1, 1e999]}", 1),
        ("x: &a 1e999\ny: *a", 1),
        ("{&a 1e400 : 1, x: *a}", 1),
        ("&a 1e400 : 1\nx: [*a]", 1),
        ("k: 1\n&a -1e400 : 1\n\"*b\": *a", 2),
        ("- {&a 1e400 : 1}\n- *a", 1),
        ("- {&a 1e400 : 1}\n- {*a : *a}", 1),
    ] {
        assert!(read(text.as_bytes()).is_ok(), "{text}");
        let error = read_with_checked_numbers(text.as_bytes()).unwrap_err();
        assert_eq!(error.line(), Some(line), "{text}");
        assert!(error.to_string().ends_with("is out of range"), "{error}");
    }
    for text in [
        "a: '1e99999'",
        "a: \"1e99999\"",
        "a: !!str 1e99999",
        "1e99999: a",
        "{&a 1e400 : 1, b: {*a : 2}}",
        "{&a '1e400' : 1, x: *a}",
        "{&a !!str 1e400 : 1, x: *a}",
        "a: |\n  1e99999",
        "a: 1e308",
        "a: 1e-99999",
        "a: 12e",
        "a: infinity",
        "a: 10.0.0.1",
        "a: 123456789012345678901234567890",
    ] {
        let value = read_with_checked_numbers(text.as_bytes()).unwrap();
        assert_eq!(compact(&value), compact(&read(text.as_bytes()).unwrap()));
    }
}

#[test]
fn errors_have_lines() {
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
        let read_back = read(out.as_bytes()).unwrap();
        assert_eq!(compact(&read_back), compact(&value));
    };
    on_small_stack(work);
}

/// Texts that YAML parsers may read as other types, and parts of such texts.
const NASTY: &[&str] = &[
    "a",
    "<<",
    "=",
    "~",
    ".inf",
    ".nan",
    "0o7",
    "0x1",
    "1",
    "_",
    "e",
    "2001-01-01",
    "-",
    "T",
    ":",
    " ",
    "y",
    "on",
    "No",
    "---",
    "...",
    "!",
    "&",
    "*",
    "?",
    "#",
    "'",
    "\"",
    "\\",
    "\t",
    "\n",
    "\r",
    "\u{2028}",
    "\u{2029}",
    "\u{85}",
    "\u{feff}",
    "|",
    ">",
    "%",
    "@",
    "`",
    ",",
    "[",
    "]",
    "{",
    "}",
    "null",
    "true",
    ".",
    "+",
    "é",
    "\u{1f600}",
    "\0",
    "\u{1b}",
    "\u{a0}",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];

/// Random choices that determine a value. After the end all are 0, which selects the smallest value.
struct Choices<'c>(std::slice::Iter<'c, u8>);

impl Choices<'_> {
    fn less_than(&mut self, end: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or_default()) % end
    }

    fn text(&mut self) -> Value {
        let parts = self.less_than(5);
        let parts: String = (0..parts)
            .map(|_| NASTY[self.less_than(NASTY.len())])
            .collect();
        Value::string(&parts)
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.less_than(if depth == 0 { 4 } else { 8 }) {
            0 => Value::from(1),
            1..4 => self.text(),
            4 | 5 => Value::array(
                (0..self.less_than(4))
                    .map(|_| self.value(depth - 1))
                    .collect(),
            ),
            _ => {
                let pairs = (0..self.less_than(4)).map(|_| (self.text(), self.value(depth - 1)));
                Value::object(pairs.collect())
            }
        }
    }
}

/// Returns the defect of the YAML of the value that the choices determine, if there is one.
fn wrong(choices: &[u8]) -> Option<String> {
    let value = Choices(choices.iter()).value(3);
    let mut text = String::new();
    let difference = write(value.borrow(), &mut text).and_then(|()| read(text.as_bytes()));
    let difference = match difference {
        Ok(difference) if difference == value => None,
        Ok(difference) => Some(compact(&difference)),
        Err(error) => Some(error.to_string()),
    };
    // in YAML 1.1 they end a line
    let breaks = text.split(['\u{2028}', '\u{2029}']).skip(1);
    let difference = difference.or_else(|| {
        let mut lines = breaks.filter(|rest| !rest.starts_with('\''));
        lines.next().map(|_| "a line that only some see".to_owned())
    });
    difference.map(|difference| {
        format!(
            "{} is written as {text:?}, which is {difference}",
            compact(&value)
        )
    })
}

/// Shrinks choices that still show the defect.
fn shrunk(mut choices: Vec<u8>) -> Vec<u8> {
    let mut index = 0;
    while index < choices.len() {
        let mut shorter = choices.clone();
        shorter.remove(index);
        let mut smaller = choices.clone();
        smaller[index] /= 2;
        let smaller = (smaller != choices).then_some(smaller);
        match [Some(shorter), smaller]
            .into_iter()
            .flatten()
            .find(|shorter| wrong(shorter).is_some())
        {
            Some(shorter) => (choices, index) = (shorter, 0),
            None => index += 1,
        }
    }
    choices
}

#[test]
fn written_values_are_parsed_back() {
    let mut state = 7_u64;
    let mut byte = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    };
    for _ in 0..5_000 {
        let choices: Vec<u8> = (0..40).map(|_| byte()).collect();
        if wrong(&choices).is_some() {
            let choices = shrunk(choices);
            panic!("{choices:?}: {}", wrong(&choices).unwrap_or_default());
        }
    }
}
