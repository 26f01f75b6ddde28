use solon::json;

use super::super::event::Event;
use super::mask;

fn masked(input: &str, rules: &str) -> Result<String, String> {
    let mut event = Event {
        input: Some(input.as_bytes().to_vec()),
        ..Event::default()
    };
    mask(&mut event, &json::read(rules.as_bytes()).unwrap())?;
    let input = event.input.unwrap_or_default();
    let input = String::from_utf8(input).unwrap();
    Ok(format!(
        "{input} {} {}",
        event.erased.join(","),
        event.masked.join(",")
    ))
}

#[test]
fn fields_are_removed_and_replaced() {
    for (input, rules, want) in [
        (
            r#"{"a":1,"b":2}"#,
            r#"["/input/a"]"#,
            r#"{"b":2} /input/a "#,
        ),
        (r#"{"a":1}"#, r#"["/input"]"#, " /input "),
        (
            r#"{"a":{"b":[1,2]}}"#,
            r#"["/input/a/b/0"]"#,
            r#"{"a":{"b":[2]}} /input/a/b/0 "#,
        ),
        (r#"{"a":1}"#, r#"["/input/b"]"#, r#"{"a":1}  "#),
        (r#"{"a":1}"#, r#"["/input/a/b"]"#, r#"{"a":1}  "#),
        (r#"{"a":[1]}"#, r#"["/input/a/1"]"#, r#"{"a":[1]}  "#),
        (r#"{"a":[1]}"#, r#"["/input/a/-1"]"#, r#"{"a":[1]}  "#),
        (
            r#"{"a":1}"#,
            r#"[{"op":"upsert","path":"/input/b/c","value":7}]"#,
            r#"{"a":1,"b":{"c":7}}  /input/b/c"#,
        ),
        (
            r#"{"a":1}"#,
            r#"[{"op":"upsert","path":"/input/a/c","value":7}]"#,
            r#"{"a":1}  "#,
        ),
        (
            r#"{"a":1}"#,
            r#"[{"op":"upsert","path":"/input/a"}]"#,
            r#"{"a":null}  /input/a"#,
        ),
        // keys that OPA does not find
        (r#"{"a b":1}"#, r#"["/input/a b"]"#, "{} /input/a+b "),
        (r#"{"a/b":1}"#, r#"["/input/a~1b"]"#, "{} /input/a~1b "),
        (r#"{"a/b":1}"#, r#"["/input/a%2Fb"]"#, "{} /input/a%252Fb "),
        (r#"{"ä":1}"#, r#"["/input/ä"]"#, "{} /input/%C3%A4 "),
    ] {
        let want = want.replace("a~1b ", "a%7E1b ");
        assert_eq!(masked(input, rules).unwrap(), want, "{rules}");
    }
}

#[test]
fn paths_are_bounded() {
    let rule = |keys: usize| {
        format!(
            r#"[{{"op":"upsert","path":"/input{}","value":1}}]"#,
            "/a".repeat(keys)
        )
    };
    assert!(masked("{}", &rule(256)).is_ok());
    assert_eq!(
        masked("{}", &rule(257)).unwrap_err(),
        "mask path has more than 256 keys"
    );
    assert!(masked("{}", &rule(100_000)).is_err());
}

#[test]
fn rules_that_are_not_valid_are_errors_of_opa() {
    for (rules, want) in [
        (r#"["input/a"]"#, "mask must be slash-prefixed"),
        (r#"[""]"#, "mask must be non-empty"),
        (r#"["/foo/a"]"#, "mask prefix not allowed: foo"),
        (r#"["/"]"#, "mask prefix not allowed: "),
        (
            r#"[{"op":"bad","path":"/input/a"}]"#,
            "mask op is not supported: bad",
        ),
        (r#"[{"path":"/input/a"}]"#, "mask op is not supported: "),
        (r#"["/input/%zz"]"#, "invalid URL escape \"%zz\""),
        (r#"["/input/a%"]"#, "invalid URL escape \"%\""),
        ("[7]", "invalid mask rule format encountered: json.Number"),
        ("[null]", "invalid mask rule format encountered: <nil>"),
        (
            r#"[["/input/a"]]"#,
            "invalid mask rule format encountered: []interface {}",
        ),
        (
            r#"[{"op":"remove","path":7}]"#,
            "invalid \"path\" value: 7 json.Number",
        ),
        (r#""str""#, "unexpected rule format str (string)"),
    ] {
        assert_eq!(masked("{}", rules).unwrap_err(), want, "{rules}");
    }
}
