//! Programs that must be rejected: statements that break one rule of the language, and broken text.

use super::random::Random;
use super::rule::{Outcome, Rule};
use super::shape::Shape;
use super::writer::Writer;

/// Statements with one mistake. `@` is a rule of the program.
const STATEMENTS: &[&str] = &[
    // unbound variables
    "bad if unbound > <number>",
    "bad := unbound",
    "bad contains x if <boolean>",
    "bad[x] := y if x := <~string>",
    "bad if not unbound",
    "bad if { x := y; y == <number> }",
    "bad if { x == <number> }",
    "bad := [x | y := <number>]",
    "bad if every x in unbound { x > 1 }",
    "bad if { some x in y }",
    "bad if { count(x, n); n > 1 }",
    "bad(x) := y",
    "bad if { x := <~any> with input as y }",
    "bad if { print(unbound) }",
    "bad := $\"{unbound}\"",
    "bad if { not <~any> == unbound }",
    "bad if { {x: 1} = <~map any> }",
    "bad if { some i; <~[any]>[j] == i }",
    // declarations
    "bad if { x := <number>; x := <number> }",
    "bad if { x > 1; x := <number> }",
    "bad if { some x; x := <number> }",
    "bad if { some x, x; x = 1 }",
    "bad(x) := 1 if { x := <number> }",
    "bad(x) := 1 if { some x in <~[any]> }",
    "bad if { some x; <boolean> }",
    "bad if { every x in <~[any]> { <boolean> } }",
    "bad if { every x, y in <~[any]> { x > 1 } }",
    "bad if { not x := 1 }",
    "bad if { 1 := <number> }",
    "bad if { count(<~[any]>) := 1 }",
    "bad if { input.x := 1 }",
    "bad if { count := 1; count(<~[any]>) == 1 }",
    "bad(count(x)) := 1",
    "bad if { x := x }",
    // functions
    "bad if missing(<number>)",
    "bad if data.nowhere.missing(<number>)",
    "bad := count()",
    "bad := count(<~[any]>, <number>, <number>)",
    "bad := startswith(<~string>)",
    "bad := strings.nothing(<~string>)",
    "bad(x) := x\nworse := bad(1, 2, 3)",
    "bad(x) := x\nworse := bad()",
    "bad(x) := x\nworse := bad",
    "bad(x) := x\nworse if bad == 1",
    "bad(x) := 1\nbad(x, y) := 2",
    "bad(x) := 1\nbad := 2",
    "default bad(x, x) := 1",
    "default bad(1) := 1",
    "default bad(_) := 1\ndefault bad(_) := 2",
    "bad := @(1)",
    // types
    "bad := 1 + \"a\"",
    "bad := count(1)",
    "bad := upper(1)",
    "bad := sum(\"a\")",
    "bad := concat(1, [\"a\"])",
    "bad if 1 == \"a\"",
    "bad if { x := <number> + 1; x == \"a\" }",
    "bad if { x := [1, 2]; x == {\"a\": 1} }",
    "bad if { [1, \"a\"] == [\"a\", 1] }",
    "worse := \"abc\"\nbad := worse.x",
    "worse := {\"a\": 1}\nbad := worse.b",
    "worse := [1, 2]\nbad := worse[7]",
    "worse := [1, 2]\nbad := worse.a",
    "worse := 1\nbad if worse == \"a\"",
    "worse contains 1\nbad if worse[\"a\"] == 1",
    "worse contains \"a\"\nbad := sum(worse)",
    "bad := [][_]",
    "bad if { {} == {\"a\": 1} }",
    "bad if 1 in [\"a\"]",
    "bad := data[1]",
    "bad := abs(upper(<~string>))",
    "bad := array.concat([1], {1})",
    "bad := {1} | [1]",
    "bad if { x := {\"a\": 1}; x.a.b }",
    // recursion
    "bad if bad",
    "bad := worse\nworse := bad",
    "bad contains x if some x in bad",
    "bad(x) := bad(x - 1)",
    "bad[x] := 1 if { some x in worse }\nworse contains k if bad[k]",
    "bad := data.main",
    "bad := count(data)",
    // conflicting rules
    "bad := 1\nbad contains 2",
    "bad contains 1\nbad[\"a\"] := 2",
    "default bad := 1\ndefault bad := 2",
    "bad := 1\nbad.a := 2",
    "bad.a.b := 1\nbad.a := 2",
    "bad contains 1\nbad.a := 1",
    "@ contains 1\n@ := 2",
    "default bad := <~any>",
    "default bad := x",
    "default bad contains 1",
    "default bad := 1 if true",
    "bad[x] := 1 if x := \"a\"\nbad.f(x) := 1",
    // reserved names
    "input := 1",
    "data := 1",
    "bad(input) := 1",
    "bad if { input := 1; input == 1 }",
    "bad if { some data in <~[any]>; data == 1 }",
    "if := 1",
    "contains contains 1",
    "in := 2",
    "every := 3",
    "default := 1",
    "some := 1",
    "import := 1",
    "true := 1",
    // `with`
    "bad if true with nothing as 1",
    "bad if <boolean> with input.a",
    "bad if <boolean> with missing.f as 1",
    "bad if true with walk as 1",
    "bad if true with print as 1",
    "bad if true with eq as 1",
    "bad if true with internal.print as 1",
    "bad if { count(<~[any]>) > 1 with count as concat }",
    "bad if true with 1 as 2",
    "worse.a := 1\nbad if true with data.main.worse.a.b as 1",
    "worse(x) := x\nbad := worse(1) with worse as startswith",
    "bad if { x := 1; true with x as 2 }",
    // deprecated and void functions
    "bad if any([<boolean>])",
    "bad if all([<~boolean>])",
    "bad if re_match(\"a\", <~string>)",
    "bad := cast_array(<~any>)",
    "bad := set_diff({1}, {2})",
    "bad if re_match(\"a\", \"abc\")",
    "bad := print(<~any>)",
    "bad := [print(1)]",
    // grammar
    "bad { <boolean> }",
    "bad[x] { x := 1 }",
    "bad if { }",
    "bad if",
    "bad :=",
    "bad := 1 2",
    "bad := [1, 2",
    "bad := {\"a\": 1, \"b\"}",
    "bad := {1, 2: 3}",
    "bad := \"open",
    "bad := 01",
    "bad := 1.",
    "bad := 1e",
    "bad := 3x",
    "bad := \"\\q\"",
    "bad := 'x'",
    "bad := a.1",
    "bad := (1 + 2",
    "bad := 1 +",
    "bad if not",
    "bad if some x",
    "bad if every x in [1]",
    "bad if every 1 in [1] { true }",
    "bad if some 1 in [2]",
    "bad if not some x in [1]",
    "bad if { 1 == 1 2 == 2 }",
    "bad contains",
    "bad contains x := 1 if x := 2",
    "bad(x) contains x",
    "bad()",
    "bad",
    "bad.a",
    "\"bad\"",
    "[1, 2]",
    "1 == 1",
    "bad else := 1",
    "bad contains 1 if false else := 2",
    "bad := 1 if false else := 2 if",
    "package other",
    "import other.thing",
    "import data.a.b as input",
    "import future.keywords.nothing",
    "import rego.v9",
    "import input.x as data",
    "import data.lib\nimport data.other.lib",
    "bad := $\"{\"",
    "bad := $\"{}\"",
    "bad := $\"{x := 1}\"",
    "bad := $\"{not true}\"",
    "bad if { x = 1 = 2 }",
    "bad if a := b := c",
    "bad if x == 1 as y",
    "bad := !true",
    "bad := 1 # fine\nbad := @ @",
    "bad := {x | }",
    "bad := [x || x := 1]",
    "bad := set(1)",
    "bad if <boolean>;;",
    "bad if { <boolean>; }",
    "bad if ( <boolean> ",
    "bad = 1 = 2",
    "bad[1][2]",
    "bad[1] := 2 if",
];

/// Writes a small valid program with a bad statement, or with its text damaged afterwards.
pub fn statement(writer: &mut Writer) {
    let rule = writer.random.pick(&writer.rules).head.clone();
    let rule = rule
        .split(['.', '[', '('])
        .next()
        .unwrap_or_default()
        .to_string();
    let template = *writer.random.pick(STATEMENTS);
    let text = writer.fill(template, &Shape::Any, 1).replace('@', &rule);
    let at = writer.random.less_than(writer.rules.len() + 1);
    writer
        .rules
        .insert(at, Rule::new(text, Outcome::True, Vec::new()));
    writer.forget();
}

/// Removes, duplicates or replaces a piece of the text.
pub fn damage(random: &mut Random, text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let marked: Vec<usize> = (0..chars.len())
        .filter(|&at| "{}[]()\":=,.|;<>+-".contains(chars[at]))
        .collect();
    let anywhere = random.less_than(chars.len());
    let at = if marked.is_empty() || random.chance(20) {
        anywhere
    } else {
        *random.pick(&marked)
    };
    let inserted = *random.pick(&[
        "", "", "{", "}", "(", ")", "]", "\"", ",", ":=", " = ", " 1 ", " if ", " not ", "\n", "|",
        ".", ";", "`", "é",
    ]);
    let keep = usize::from(random.chance(40));
    let before: String = chars[..at + keep].iter().collect();
    let after: String = chars[at + 1..].iter().collect();
    format!("{before}{inserted}{after}")
}
