//! Large texts, numbers and collections, and bytes that are not text.

use std::fmt::Write;
use std::time::Duration;

use solon::internal::value::{Arena, Value, json, yaml};
use solon::{Engine, Request};

use crate::{answer, evaluate, on_small_stack, on_small_stack_within};

#[test]
fn strings_of_ten_megabytes() {
    let text = "ab\u{e9} ".repeat(2 << 20);
    let module =
        format!("package t\np := [count(\"{text}\"), count(\"{text}x\") - count(`{text}`)]");
    let length = text.chars().count();
    assert_eq!(
        answer("in a policy", &module)
            .unwrap()
            .unwrap()
            .rego_text()
            .to_string(),
        format!("[{length}, 1]")
    );

    let quoted = format!("\"{text}\"");
    let calls = "[count(input), count(split(input, \" \")), lower(input) == input, contains(input, \"x\"), indexof(input, \"x\"), \
                 count(replace(input, \"a\", \"bb\")), count(json.marshal(input)), base64.decode(base64.encode(input)) == input, \
                 regex.match(\"x$\", input), count(trim(input, \"a\")), startswith(input, \"ab\"), count(sprintf(\"%s\", [input])), \
                 reverse(reverse_of) == input, count(concat(\"\", [input, input]))]";
    let calls = calls.replace(
        "reverse(reverse_of)",
        "strings.reverse(strings.reverse(input))",
    );
    let found = on_small_stack("in the input", || {
        let engine = Engine::new();
        let query = engine.prepare_query(&calls).unwrap();
        query
            .solutions(&Request::new().input_json(quoted.as_bytes()))
            .unwrap()
    });
    assert!(
        found[0].values[0]
            .rego_text()
            .to_string()
            .starts_with(&format!("[{length}, "))
    );
    let comment = format!("# {text}\npackage t\np := 1 # {text}");
    assert_eq!(answer("in comments", &comment).unwrap(), Some(1.into()));
}

#[test]
fn numbers_out_of_range_in_either_direction() {
    let digits = "7".repeat(100_000);
    let fraction = format!("0.{digits}");
    let mut numbers = vec![
        "1e400",
        "-1e400",
        "1e99999999",
        "-1e-99999999",
        "1e-99999999",
        "1e999999999999999999999",
        "0e99999999",
        "1e-400",
    ];
    numbers.extend([&*digits, &*fraction]);
    for number in numbers {
        let what: String = number.chars().take(24).collect();
        for call in [
            "X",
            "X + 1",
            "X * X",
            "X - X",
            "X / 3",
            "X % 7",
            "X == X + 0",
            "abs(X)",
            "ceil(X)",
            "floor(X)",
            "round(X)",
            "X < 1",
            "sum([X, 1])",
            "product([X, X])",
            "max([X, 1])",
            "sort([X, 1, 2])",
            "sprintf(\"%d %v %.3f %x %e\", [X, X, X, X, X])",
            "json.marshal(X)",
            "format_int(X, 10)",
            "format_int(X, 2)",
            "to_number(\"X\")",
            "json.unmarshal(\"X\")",
            "yaml.unmarshal(\"X\")",
            "yaml.marshal(X)",
            "bits.lsh(X, 100000000000)",
            "bits.lsh(1, X)",
            "bits.rsh(X, 3)",
            "bits.and(X, X)",
            "bits.negate(X)",
            "numbers.range(X, X + 1)",
            "numbers.range_step(0, X, X)",
            "units.parse(\"X\")",
            "units.parse_bytes(\"XK\")",
            "semver.is_valid(\"X.0.0\")",
            "rand.intn(\"a\", X)",
            "substring(\"abc\", X, X)",
            "array.slice([1], X, X)",
            "{X: 1}",
            "{X, 1}",
            "[1][X]",
            "object.get({}, X, 1)",
        ] {
            // a result or an error: both are valid
            drop(evaluate(
                &format!("{call} of {what}"),
                &call.replace('X', number),
            ));
        }
        on_small_stack("reading", || {
            drop(
                json::read(number.as_bytes())
                    .map(|value| (value.rego_text().to_string(), value.clone() == value)),
            );
            drop(
                json::read_into(&Arena::new(), number.as_bytes())
                    .map(solon::internal::value::ValueRef::to_value),
            );
            drop(yaml::read(number.as_bytes()));
        });
    }
}

#[test]
fn integers_of_many_digits() {
    // more than OPA reads
    json::read("7".repeat(100_000).as_bytes()).unwrap_err();
    let digits = "7".repeat(30_000);
    on_small_stack_within(Duration::from_secs(2), "integers of many digits", || {
        let value = json::read(digits.as_bytes()).unwrap();
        assert_eq!(value.rego_text().to_string(), digits);
        let query = format!("{digits} + {digits} - {digits}");
        let query = Engine::new().prepare_query(&query).unwrap();
        let sum = query.solutions(&Request::new()).unwrap().remove(0);
        assert_eq!(sum.values, [value]);
    });
}

#[test]
fn bytes_that_are_not_text() {
    for bytes in [
        &b"\"\xff\xfe\""[..],
        b"[\"a\xc3\"]",
        b"{\"\x80\":1}",
        b"\xff",
        b"\xed\xa0\x80",
        b"\"\xf0\x9f\x98\"",
    ] {
        let read = json::read(bytes);
        let arena = Arena::new();
        let borrowed = json::read_into(&arena, bytes);
        assert_eq!(read.is_ok(), borrowed.is_ok());
        if let (Ok(read), Ok(borrowed)) = (&read, borrowed) {
            assert_eq!(read.borrow(), borrowed);
            assert!(read.rego_text().to_string().contains('\u{fffd}'));
        }
        assert_eq!(json::is_valid(bytes), read.is_ok());
        drop(yaml::read(bytes));
        on_small_stack("input", || {
            let engine = Engine::new();
            let query = engine.prepare_query("x := input").unwrap();
            assert_eq!(
                query.solutions(&Request::new().input_json(bytes)).is_ok(),
                read.is_ok()
            );
        });
    }
    let calls = "x := base64.decode(\"//79w6k=\"); y := [count(x), upper(x), split(x, \"\"), substring(x, 1, 1), strings.reverse(x), \
                 json.marshal(x), hex.encode(x), sprintf(\"%s %v %q %d\", [x, x, x, x]), trim(x, x), indexof(x, x), replace(x, x, \"a\"), \
                 regex.match(\".\", x), x < \"a\", concat(x, [x, x]), urlquery.encode(x), format_int(count(x), 2), {x: x}, yaml.marshal(x), \
                 startswith(x, x), contains(x, x), regex.split(\"\", x), glob.match(x, [x], x), regex.find_n(x, x, -1)]";
    drop(evaluate("decoded bytes", calls));
    assert_eq!(
        evaluate("kept bytes", "hex.encode(base64.decode(\"/w==\"))")
            .unwrap()
            .unwrap(),
        [Value::from("ff")]
    );
}

#[test]
fn modules_of_any_characters() {
    for text in [
        "\0",
        "\u{feff}package t\np := 1",
        "package t\np := \"\0\"",
        "package \u{202e}",
        "package t\np := '",
        "package t\np := \"\\",
        "package t\np := `",
        "$\"{",
        "package t\n\u{2028}p := 1",
        "\r\r\r",
        "# METADATA\n# \u{0}: [\npackage t",
    ] {
        drop(answer("odd characters", text));
        drop(evaluate("odd characters", text));
    }
}

#[test]
fn collections_of_a_hundred_thousand() {
    const LENGTH: usize = 100_000;
    let list = |item: &dyn Fn(usize) -> String| {
        let mut text = String::new();
        for at in 0..LENGTH {
            text.push_str(&item(at));
            text.push(',');
        }
        text
    };
    let set = list(&|at| format!("\"m{}\"", at * 7919 % LENGTH));
    let object = list(&|at| format!("\"k{}\": {at}", at * 7919 % LENGTH));
    let array = list(&|at| format!("x + {at}"));
    let module = format!(
        "package t\ns := {{{set}}}\no := {{{object}}}\np := [count(s), count(o), \"m77\" in s, o.k7919]"
    );
    assert_eq!(
        answer("literals", &module)
            .unwrap()
            .unwrap()
            .rego_text()
            .to_string(),
        format!("[{LENGTH}, {LENGTH}, true, 1]")
    );
    let module = format!("package t\np := count([{array}]) if x := 1");
    assert_eq!(
        answer("computed members", &module).unwrap(),
        Some(100_000.into())
    );
}

#[test]
fn many_rules_of_one_name() {
    let mut module = "package t\n".to_owned();
    for at in 0..20_000 {
        writeln!(module, "p contains {at} if input.x != {at}").unwrap();
        writeln!(module, "q := {at} if input.n == {at}").unwrap();
        writeln!(module, "o[\"k{at}\"] := {at}").unwrap();
    }
    assert!(answer("60,000 rules", &module).unwrap().is_some());
}

#[test]
fn many_expressions_and_variables() {
    let mut module = "package t\np if {\n".to_owned();
    for at in 0..5_000 {
        writeln!(module, "x{at} := {at} + input.n\nx{at} > -1").unwrap();
    }
    module.push_str("}\n");
    assert_eq!(answer("10,000 expressions", &module).unwrap(), None);
    // each expression binds a variable that the previous one needs
    let mut module = "package t\np if {\n".to_owned();
    for at in 0..1_000 {
        writeln!(module, "x{at} = x{} + 1", at + 1).unwrap();
    }
    module.push_str("x1000 = 0\n}\n");
    assert_eq!(
        answer("reordering", &module).unwrap(),
        Some(Value::from(true))
    );
}

#[test]
fn patterns_that_explode() {
    for call in [
        "regex.match(\"(a*)*b\", input)",
        "regex.match(\"(a|aa)+$\", input)",
        "regex.match(\"((a{0,100}){0,100}){0,100}\", input)",
        "regex.match(\"a{1000}{1000}\", input)",
        "glob.match(\"{a,{b,{c,**}}}*a*a*a*a*a*b\", [], input)",
        "glob.match(\"*a*a*a*a*a*a*a*a*b\", [], input)",
        "regex.globs_match(\"a*a*a*a*b\", \"a*a*a*c\")",
        "replace(input, \"\", input)",
        "regex.replace(input, \"a\", input)",
        "sprintf(\"%999999999d\", [1])",
        "sprintf(\"%.999999999f\", [1])",
        "numbers.range(1, 1000000000000)",
        "strings.replace_n({\"a\": input}, input)",
        "array.concat(input, input)",
        "split(input, \"\")",
        "count(concat(input, split(input, \"\")))",
    ] {
        let input = Value::string(&"a".repeat(20_000));
        on_small_stack(call, || {
            let engine = Engine::builder()
                .limits(solon::Limits::default().memory(Some(256 << 20)))
                .build();
            if let Ok(query) = engine.prepare_query(call) {
                drop(query.solutions(&Request::new().input(&input)));
            }
        });
    }
}
