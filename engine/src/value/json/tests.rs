//! JSON parsing and writing, compared with Go's messages.

use super::{
    JsonLayout, is_valid, read, read_into, unmarshal, write, write_go, write_go_layout,
    write_pretty,
};
use crate::limits;
use crate::value::small_stack::on_small_stack;
use crate::value::{Arena, Object, Repr, Value, ValueRef};

fn compact(value: ValueRef<'_>) -> String {
    let mut out = Vec::new();
    write(value, &mut out);
    String::from_utf8(out).unwrap()
}

/// Parses into owned and arena values and writes both.
fn round(text: &[u8]) -> String {
    let owned = read(text).unwrap();
    let arena = Arena::new();
    let borrowed = read_into(&arena, text).unwrap();
    assert_eq!(owned.borrow(), borrowed);
    let text_of_owned = compact(owned.borrow());
    assert_eq!(compact(borrowed), text_of_owned);
    text_of_owned
}

#[test]
fn documents_survive() {
    for text in [
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1.0",
        "1e2",
        "12345678901234567890",
        "\"\"",
        "\"a\"",
        "[]",
        "{}",
        "\"longer than the fourteen bytes in place\"",
        "[1,[2,[3,[]]],{}]",
        r#"{"a":{"b":[null,true]},"b":1}"#,
        r#""\u0000\u0001\b\f\n\r\t\"\\/""#,
        "\"é漢😀\u{7f}\"",
    ] {
        assert_eq!(round(text.as_bytes()), text);
    }
}

#[test]
fn changes_share_unchanged_nodes() {
    for (text, expected) in [
        (" { \"b\" : 1 ,\n\"a\" :\t[ ] } ", r#"{"a":[],"b":1}"#),
        (r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#),
        (r#""\u0041\/\u00e9\ud83d\ude00""#, "\"A/é😀\""),
        (r#""\ud800""#, "\"\u{fffd}\""),
        (r#""\ud800\u0041""#, "\"\u{fffd}A\""),
        (r#""\udc00\ud800""#, "\"\u{fffd}\u{fffd}\""),
        (r#""\ud800\ud83d\ude00""#, "\"\u{fffd}😀\""),
        ("\"\u{2028}\u{2029}\u{2030}\"", "\"\\u2028\\u2029\u{2030}\""),
    ] {
        assert_eq!(round(text.as_bytes()), expected);
    }
    assert_eq!(
        round(b"[\"1\xff\",\"1\xe2\x82\"]"),
        "[\"1\u{fffd}\",\"1\u{fffd}\u{fffd}\"]"
    );
}

#[test]
fn large_objects() {
    for keys in [1, 8, 9, Object::SHAPED, Object::SHAPED + 1, 3000] {
        let pairs: Vec<String> = (0..keys)
            .rev()
            .map(|i| format!("\"key {i:05}\":{i}"))
            .collect();
        let text = format!("[{{{0}}},{{{0},\"key 00000\":-1}}]", pairs.join(","));
        let sorted: Vec<&str> = pairs.iter().rev().map(String::as_str).collect();
        let with_one_change = sorted.join(",").replacen(":0", ":-1", 1);
        assert_eq!(
            round(text.as_bytes()),
            format!("[{{{}}},{{{with_one_change}}}]", sorted.join(","))
        );
    }
}

#[test]
fn equal_keys_are_shared() {
    let list = read(br#"[{"b":1,"a":2},{"b":3,"a":4},{"a":5,"b":6}]"#).unwrap();
    let Value(Repr::Array(items)) = &list else {
        panic!("{list}", list = list.rego_text())
    };
    let shape = |i: usize| match &items[i] {
        Value(Repr::Object(object)) => std::sync::Arc::as_ptr(object.shaped().unwrap().0),
        other => panic!("{other}", other = other.rego_text()),
    };
    assert_eq!(shape(0), shape(1));
    assert_eq!(
        list.rego_text().to_string(),
        r#"[{"a": 2, "b": 1}, {"a": 4, "b": 3}, {"a": 5, "b": 6}]"#
    );
}

#[test]
fn errors_are_those_of_go() {
    for (text, expected) in [
        ("", "unexpected end of JSON input"),
        ("[1,", "unexpected end of JSON input"),
        ("\"a\\u12", "unexpected end of JSON input"),
        ("-", "unexpected end of JSON input"),
        ("tru", "unexpected end of JSON input"),
        (
            "trux",
            "invalid character 'x' in literal true (expecting 'e')",
        ),
        (
            "nulx",
            "invalid character 'x' in literal null (expecting 'l')",
        ),
        ("-x", "invalid character 'x' in numeric literal"),
        (
            "1.x",
            "invalid character 'x' after decimal point in numeric literal",
        ),
        (
            "1e+x",
            "invalid character 'x' in exponent of numeric literal",
        ),
        ("01", "invalid character '1' after top-level value"),
        ("1 2", "invalid character '2' after top-level value"),
        ("[1 2]", "invalid character '2' after array element"),
        ("[01]", "invalid character '1' after array element"),
        (
            "[1,]",
            "invalid character ']' looking for beginning of value",
        ),
        (
            "{,}",
            "invalid character ',' looking for beginning of object key string",
        ),
        ("{\"a\" 1}", "invalid character '1' after object key"),
        (
            "{\"a\":1 2}",
            "invalid character '2' after object key:value pair",
        ),
        (
            "{\"a\":1,}",
            "invalid character '}' looking for beginning of object key string",
        ),
        (
            "{\"a\":}",
            "invalid character '}' looking for beginning of value",
        ),
        (
            "'a'",
            "invalid character '\\'' looking for beginning of value",
        ),
        ("\"a\nb\"", "invalid character '\\n' in string literal"),
        ("\"\\x\"", "invalid character 'x' in string escape code"),
        (
            "\"\\u12x4\"",
            "invalid character 'x' in \\u hexadecimal character escape",
        ),
        ("é", "invalid character 'Ã' looking for beginning of value"),
        (
            "\0",
            "invalid character '\\x00' looking for beginning of value",
        ),
        ("[1e30103]", "invalid number: number too big"),
        ("[1e30103] 2", "invalid character '2' after top-level value"),
        ("{\"a\":1e99999999999}", "invalid number: invalid float"),
        (
            "\u{feff}1",
            "invalid character 'ï' looking for beginning of value",
        ),
    ] {
        let error = read(text.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text:?}");
        assert_eq!(
            read_into(&Arena::new(), text.as_bytes()).unwrap_err(),
            error
        );
    }
    assert_eq!(
        read(b"\"\xff\" \xfe").unwrap_err().to_string(),
        "invalid character 'þ' after top-level value"
    );
}

#[test]
fn errors_have_positions() {
    let error = read("{\n  \"é\": x\n}".as_bytes()).unwrap_err();
    assert_eq!((error.offset(), error.line(), error.column()), (10, 2, 8));
    let error = read(b"\xff\n[\"\xff\xff\", x]").unwrap_err();
    assert_eq!((error.offset(), error.line(), error.column()), (0, 1, 1));
    let error = read(b"[\"\xff\xff\",\n x]").unwrap_err();
    assert_eq!((error.offset(), error.line(), error.column()), (8, 2, 2));
}

#[test]
fn errors_equal_those_of_the_builtin() {
    let message = |text: &str| match unmarshal(&Arena::new(), text.as_bytes()) {
        Ok(value) => value.rego_text().to_string(),
        Err(message) => message,
    };
    for (text, expected) in [
        ("", "EOF"),
        (" ", "EOF"),
        ("{", "unexpected EOF"),
        ("1 -", "unexpected EOF"),
        ("1 2", "error: invalid character '2' after top-level value"),
        (
            "1 \"abc\"",
            "error: invalid character 'abc' after top-level value",
        ),
        (
            "1 true",
            "error: invalid character '%!s(bool=true)' after top-level value",
        ),
        ("1 null", "1"),
        (
            "1 [1]",
            "error: invalid character '[' after top-level value",
        ),
        (
            "1 x",
            "invalid character 'x' looking for beginning of value",
        ),
        (
            "1,2",
            "invalid character ',' looking for beginning of value",
        ),
        (
            "2 1e3",
            "error: invalid character '1e3' after top-level value",
        ),
        ("[1e30103", "unexpected EOF"),
        (
            "[1e30103] 2",
            "error: invalid character '2' after top-level value",
        ),
        ("[1e30103]", "invalid number: number too big"),
        ("01", "error: invalid character '1' after top-level value"),
        ("[1, {\"a\": null}]", "[1, {\"a\": null}]"),
    ] {
        assert_eq!(message(text), expected, "{text:?}");
    }
    assert!(is_valid(b"[1e30103]") && is_valid(b"\"\xff\"") && !is_valid(b"1 2") && !is_valid(b""));
}

#[test]
fn depth_is_bounded() {
    let nest = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(read(nest(limits::VALUE_NESTING).as_bytes()).is_ok());
    let error = read(nest(limits::VALUE_NESTING + 1).as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "invalid character '[' exceeded max depth"
    );
    assert_eq!(error.offset(), limits::VALUE_NESTING);
}

/// Returns a chain of arrays, objects and sets with the maximum depth.
fn deepest() -> Value {
    let mut value = Value::from(1);
    for level in 0..limits::VALUE_NESTING {
        value = match level % 3 {
            0 => Value::array(vec![value]),
            1 => Value::object(vec![("a".into(), value)]),
            _ => Value::set(vec![value]),
        };
    }
    value
}

#[test]
fn the_deepest_value_needs_little_stack() {
    let work = || {
        let text = format!(
            "{}1{}",
            "[{\"a\":".repeat(limits::VALUE_NESTING / 2),
            "}]".repeat(limits::VALUE_NESTING / 2)
        );
        assert_eq!(round(text.as_bytes()), text);
        let (a, b) = (deepest(), deepest());
        assert_eq!(a.cmp(&b), std::cmp::Ordering::Equal);
        assert!(a == b);
        assert_eq!(
            super::super::order::hash(a.borrow()),
            super::super::order::hash(b.borrow())
        );
        assert_eq!(a.rego_text().to_string(), b.rego_text().to_string());
        let arena = Arena::new();
        let copy = arena.copy_of(&a);
        assert_eq!(copy, b.borrow());
        assert_eq!(compact(copy.to_value().borrow()), compact(b.borrow()));
        let mut pretty = Vec::new();
        write_pretty(copy, &mut pretty);
        assert!(pretty.len() > limits::VALUE_NESTING);
    };
    on_small_stack(work);
}

fn sample() -> Value {
    Value::object(vec![
        (
            "b".into(),
            Value::object(vec![("c".into(), Value::array(vec![]))]),
        ),
        (
            "a".into(),
            Value::array(vec![1.into(), Value::object(vec![])]),
        ),
        ("<".into(), Value::set(vec![1.into()])),
        ("d".into(), Value::set(vec![])),
    ])
}

#[test]
fn layouts() {
    let mut out = Vec::new();
    write_pretty(sample().borrow(), &mut out);
    let expected = "{\n  \"<\": [\n    1\n  ],\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": {\n    \"c\": []\n  },\n  \"d\": []\n}";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
    let mut out = Vec::new();
    let layout = JsonLayout {
        prefix: "> ",
        indent: "\t",
    };
    write_go_layout(read(br#"{"<":[1,2]}"#).unwrap().borrow(), layout, &mut out);
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "{\n> \t\"\\u003c\": [\n> \t\t1,\n> \t\t2\n> \t]\n> }"
    );
}

#[test]
fn keys_that_are_not_strings() {
    let object = Value::object(vec![
        (1.into(), 2.into()),
        ("1".into(), 3.into()),
        (Value(Repr::Null), 1.into()),
        (Value::array(vec![1.into(), "<".into()]), 2.into()),
        (Value::set(vec![2.into()]), 1.into()),
        (
            Value::object(vec![("a".into(), Value::set(vec![1.into()]))]),
            0.into(),
        ),
        (
            Value(Repr::Decimal(2, 150)),
            Value::number(crate::value::NumberBuf::parse("1e3").unwrap()),
        ),
    ]);
    let mut out = Vec::new();
    write_go(object.borrow(), &mut out);
    let expected = r#"{"1":3,"1.50":1e3,"[1,\"\\u003c\"]":2,"[2]":1,"null":1,"{\"a\":[1]}":0}"#;
    assert_eq!(String::from_utf8(out).unwrap(), expected);
    assert_eq!(compact(object.borrow()), expected);
}

#[test]
fn strings_that_are_bytes() {
    assert_eq!(
        compact(Value::bytes(b"ab\xff\x80<").borrow()),
        r#""ab\ufffd\ufffd<""#
    );
}

/// Texts and the recorded results of `json.marshal(json.unmarshal(text))`.
#[test]
fn parses_and_writes_as_opa() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/cases/json/unmarshal.json"
    );
    let cases: Vec<(String, String, String)> =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(cases.len() > 150);
    for (text, kind, expected) in cases {
        let arena = Arena::new();
        let actual = match unmarshal(&arena, text.as_bytes()) {
            Ok(value) => {
                let mut out = Vec::new();
                write_go(value, &mut out);
                ("value", String::from_utf8(out).unwrap())
            }
            Err(message) => ("error", message),
        };
        assert_eq!(actual, (kind.as_str(), expected), "{text:?}");
    }
}

/// A list grows by an estimate from the text before, which the rest need not match.
#[test]
fn long_lists_of_elements_of_any_length() {
    let (short, long) = ("1,".repeat(200_000), "\"a longer string\",".repeat(20_000));
    for (text, length) in [
        (format!("[{short}{long}2]"), 220_001),
        (format!("[{long}{short}2]"), 220_001),
        (format!("[[{short}1],[{short}1],{long}2]"), 20_003),
    ] {
        let value = read(text.as_bytes()).unwrap();
        let items = value.as_array().unwrap();
        assert_eq!(items.len(), length);
        assert_eq!(items.last(), Some(&Value(Repr::Int(2))));
    }
}

/// A byte-wise reference implementation of escaping, which production code does eight bytes at a time.
fn escaped(text: &str, html: bool) -> String {
    let escape = |c: char| match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\n' => "\\n".to_owned(),
        '<' | '>' | '&' if html => format!("\\u00{:x}", u32::from(c)),
        '\0'..='\x1f' => format!("\\u00{:02x}", u32::from(c)),
        '\u{2028}' | '\u{2029}' => format!("\\u{:x}", u32::from(c)),
        c => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}

#[test]
fn escapes_in_any_position() {
    let special = [
        "\"", "\\", "\n", "\0", "\x1f", "<", ">", "&", " ", "~", "\x7f", "é", "\u{2028}",
        "\u{2030}",
    ];
    let texts = (0..20).flat_map(|before| (0..20).map(move |gap| (before, gap)));
    for (before, gap) in texts {
        for (first, second) in special
            .iter()
            .flat_map(|first| special.map(|second| (first, second)))
        {
            let text = format!("{}{first}{}{second}", "a".repeat(before), "b".repeat(gap));
            for html in [false, true] {
                let (value, mut out) = (Value::string(&text), Vec::new());
                let write = if html { write_go } else { write };
                write(value.borrow(), &mut out);
                assert_eq!(String::from_utf8(out).unwrap(), escaped(&text, html));
            }
        }
    }
}
