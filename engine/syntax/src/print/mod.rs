//! Text form of the tree, as in messages and traces: calls in prefix notation under the built-in's name (only a
//! two-operand `eq` prints as `a = b`), sets and objects sorted, wildcards as `_`.

mod expr;
mod module;
mod outline;
mod quote;
mod term;

pub use expr::{DisplayBody, display_body};
pub use outline::outline;
pub use quote::{is_printable, quote, write_quoted};
pub use term::{DisplayRef, display_ref, is_plain_key, write_key};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Source, SourceId};
    use crate::{ParseOptions, parse_body, parse_module};

    fn print(text: &str) -> String {
        let options = ParseOptions::default();
        let imports = "import rego.v2\n";
        let module = format!("package a\n{imports}p if {{\n{text}\n}}");
        let module = parse_module(&Source::new(SourceId(0), "", module), &options).unwrap();
        display_body(&module.rules[0].body).to_string()
    }

    #[test]
    fn expressions_print_as_in_traces() {
        for (text, expected) in [
            ("x = 1", "x = 1"),
            ("x == 1; y := 2", "equal(x, 1); assign(y, 2)"),
            ("a + b * -1 > c", "gt(plus(a, mul(b, -1)), c)"),
            ("f(x, 2.50); g.h(\"a\")", "f(x, 2.50); g.h(\"a\")"),
            (
                "_ = x[_][\"if\"].y[\"a b\"].and[0]",
                "_ = x[_][\"if\"].y[\"a b\"].and[0]",
            ),
            ("f(1).a[[1]]", "f(1).a[[1]]"),
            (
                "x = {3, 1, 2}; y = set(); z = {}",
                "x = {1, 2, 3}; y = set(); z = {}",
            ),
            (
                "x = {\"b\": 1, \"a\": [null, true], 1: 2}",
                "x = {1: 2, \"a\": [null, true], \"b\": 1}",
            ),
            ("x = [y | y = 1; not z]", "x = [y | y = 1; not z]"),
            (
                "x = {y | y}; z = {k: v | v[k]}",
                "x = {y | y}; z = {k: v | v[k]}",
            ),
            (
                "x with input as 1 with data.y as 2",
                "x with input as 1 with data.y as 2",
            ),
            (
                "some x, y; some z in w; some i, v in w",
                "some x, y; some z in w; some i, v in w",
            ),
            (
                "\"a\" in x; 1, 2 in x",
                "internal.member_2(\"a\", x); internal.member_3(1, 2, x)",
            ),
            (
                "every k, v in x { k = 1; v }",
                "every k, v in x { k = 1; v }",
            ),
            ("every v in [1] { v }", "every v in [1] { v }"),
            ("not {x; y}", "not {x; y}"),
            (
                "not (x or y) with input as 1",
                "not (x or y) with input as 1",
            ),
            ("(x or y) and {z; w}", "(x or y) and { z; w }"),
            ("x and y or not z", "x and y or not z"),
            (
                "x or (y or z); x and (y or z)",
                "x or (y or z); x and (y or z)",
            ),
            ("(x and y) and z", "x and y and z"),
            ("(x with input as 1) or y", "(x with input as 1) or y"),
            (
                "x = $\"a\\{b{y}{1}\\n\"; z = $`\\{{y}`",
                "x = $\"a\\{b{y}{1}\\n\"; z = $`\\{{y}`",
            ),
            (
                "x = `a\"b`; y = \"\\u0007\\u00e9\"",
                "x = \"a\\\"b\"; y = \"\\aé\"",
            ),
        ] {
            assert_eq!(print(text), expected);
        }
        let query = Source::new(SourceId(0), "", "data.a.b[x] = y");
        let body = parse_body(&query, &ParseOptions::default()).unwrap();
        assert_eq!(display_body(&body).to_string(), "data.a.b[x] = y");
    }

    #[test]
    fn modules_are_printed_completely() {
        let text = "package a[\"b c\"].d\nimport data.x as y\ndefault p := 1\np := 2 if {x} else := 3 if {y}\n\
                    q contains x if x\nf(x, _) if x\nr[x].y := z if z";
        let module = parse_module(
            &Source::new(SourceId(0), "", text),
            &ParseOptions::default(),
        )
        .unwrap();
        assert_eq!(
            module.to_string(),
            "package a[\"b c\"].d\n\nimport data.x as y\n\ndefault p := 1\n\np := 2 if { x } else = 3 if { y }\n\n\
             q contains x if { x }\n\nf(x, _) = true if { x }\n\nr[x].y := z if { z }"
        );
    }
}
