//! Reading YAML as OPA does since 1.21: YAML 1.2's core schema as go-yaml reads it, merge keys applied, and the
//! result turned into JSON. So `yes` and dates are strings, `0777` is 511, `1_000` is 1000 and `1.0` is 1.

mod build;
mod error;
mod scalar;

pub use error::YamlError;

use saphyr_parser::{Event, Parser};

use super::Value;
use super::text::lossy;
use build::Builder;

/// Reads the first document of a stream; empty text is null. What follows it must be YAML too.
pub fn read(text: &[u8]) -> Result<Value, YamlError> {
    let text = lossy(text);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut builder = Builder::default();
    let mut first = None;
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|error| YamlError::syntax(&error))?;
        if first.is_some() {
            continue;
        }
        if event == Event::DocumentEnd {
            first = Some(builder.finish());
        } else {
            builder.event(event)?;
        }
    }
    Ok(first.unwrap_or(Value::Null))
}

#[cfg(test)]
mod tests {
    use super::read;

    fn json(text: &str) -> String {
        match read(text.as_bytes()) {
            Ok(value) => {
                let mut out = Vec::new();
                crate::value::json::write(value.borrow(), &mut out);
                String::from_utf8(out).unwrap()
            }
            Err(error) => format!("yaml: {error}"),
        }
    }

    #[test]
    fn scalars() {
        for (text, want) in [
            (
                "[null, ~, Null, NULL, 'null', nULL]",
                r#"[null,null,null,null,"null","nULL"]"#,
            ),
            (
                "[true, True, TRUE, tRUE, false, on, y, yes]",
                r#"[true,true,true,"tRUE",false,"on","y","yes"]"#,
            ),
            (
                "[0777, 0o777, 0x1F, 0X1f, 0b101, 1_000, 1__0, 08, 0o8, +1, -1, -0x1f, -017, 07_7, 0_1, 1_, _1, 00]",
                r#"[511,511,31,31,5,1000,10,8,"0o8",1,-1,-31,-15,63,1,1,"_1",0]"#,
            ),
            (
                "[1.0, 1.5, 1e3, .5, 5., 1_0.5, 0.10, 1e400, -1e-400, 123456789.123456789123, 1e21, 1e20, 1e-7, -0, -0.0]",
                r#"[1,1.5,1000,0.5,5,10.5,0.1,"1e400",-0,123456789.12345679,1e+21,100000000000000000000,1e-7,0,-0]"#,
            ),
            (
                "[18446744073709551615, 18446744073709551616, 0xFFFFFFFFFFFFFFFFFF]",
                r#"[18446744073709551615,18446744073709552000,"0xFFFFFFFFFFFFFFFFFF"]"#,
            ),
            (
                "[2001-12-14, 1:30, =, 0x, 1e, 0b2]",
                r#"["2001-12-14","1:30","=","0x","1e","0b2"]"#,
            ),
            (
                "[!!str 1, !!int '3', !!float 3, !!binary aGVsbG8=, !foo bar]",
                r#"["1",3,3,"hello","bar"]"#,
            ),
            (".inf", "yaml: json: unsupported value: +Inf"),
            (
                "!!bool yes",
                "yaml: yaml: cannot decode !!str `yes` as a !!bool",
            ),
        ] {
            assert_eq!(json(text), want, "{text}");
        }
    }

    #[test]
    fn collections() {
        for (text, want) in [
            ("", "null"),
            ("# c", "null"),
            (
                "a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  e: 2",
                r#"{"a":{"b":1},"c":{"b":1},"d":{"b":1,"e":2}}"#,
            ),
            (
                "x: &x {b: 1, c: 2}\ny: &y {b: 3, z: 1}\nd:\n  b: 9\n  <<: [*x, *y]",
                r#"{"d":{"b":9,"c":2,"z":1},"x":{"b":1,"c":2},"y":{"b":3,"z":1}}"#,
            ),
            ("a: 1\na: 2", r#"{"a":2}"#),
            (
                "1: a\ntrue: b\n1.5: c\n0777: o",
                r#"{"1":"a","1.5":"c","511":"o","true":"b"}"#,
            ),
            ("---\na: 1\n---\nb: 2", r#"{"a":1}"#),
            ("!!set {x, y}", r#"{"x":null,"y":null}"#),
            ("\"<<\": {a: 1}", r#"{"<<":{"a":1}}"#),
            ("~: 1", "yaml: unsupported map key of type: null"),
            ("? [a]\n: 1", "yaml: yaml: invalid map key"),
            (
                "<<: 1",
                "yaml: yaml: map merge requires map or sequence of maps as the value",
            ),
            ("a: &x [*x]", "yaml: yaml: anchor value contains itself"),
        ] {
            assert_eq!(json(text), want, "{text}");
        }
        assert!(json("---\na: 1\n---\nb: [").starts_with("yaml: yaml: line"));
    }

    #[test]
    fn size_is_bounded() {
        let nested: String = (0..500)
            .map(|depth| format!("{}a:\n", " ".repeat(depth)))
            .collect();
        assert_eq!(json(&nested), "yaml: yaml: exceeded max depth of 400");
        assert!(json(&"[".repeat(100_000)).starts_with("yaml: yaml: line 1"));
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for i in 1..12 {
            let before = vec![format!("*a{}", i - 1); 10].join(", ");
            bomb.push_str(&format!("a{i}: &a{i} [{before}]\n"));
        }
        assert_eq!(
            json(&bomb),
            "yaml: yaml: document contains excessive aliasing"
        );
    }
}
