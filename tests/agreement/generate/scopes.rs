//! Layers of rules that are evaluated again and again under `with`: some depend on what is replaced, some do not.

use super::random::Random;
use super::request::Request;

/// Terms that read documents of every kind, or none.
const SOURCES: [&str; 26] = [
    "input.a",
    "input.b.c",
    "input.b",
    "input",
    "input[data.base.key]",
    "data.base.x",
    "data.base.y.z",
    "data.base.y",
    "data.base",
    "data.base[input.key]",
    "data[\"base\"][data.base.key]",
    "data.base.list[0]",
    "data.lib.docs.one",
    "data.lib.docs[input.key]",
    "data.lib[data.base.key]",
    "data.lib.value",
    "json.marshal([1, input.b.c])",
    "json.marshal(data.base.y)",
    "json.marshal(\"m\")",
    "upper(\"u\")",
    "lib.f(1)",
    "lib.f(input.a)",
    "lib.g(data.base.x)",
    "lib.deep(2)",
    "lib.deep(input.b.c)",
    "\"constant\"",
];

/// Modifiers.
const MODIFIERS: [&str; 30] = [
    "input as {\"a\": 10, \"b\": {\"c\": 11}, \"key\": \"y\"}",
    "input as {}",
    "input as data.base",
    "input.a as 20",
    "input.a as data.base.x",
    "input.b as {\"c\": 21, \"d\": 22}",
    "input.b.c as 23",
    "input.b.d as 24",
    "input.key as \"y\"",
    "input.other as 25",
    "data.base as {\"x\": 30, \"key\": \"x\"}",
    "data.base.x as 31",
    "data.base.y as {\"z\": 32}",
    "data.base.y.z as 33",
    "data.base.y.w as 34",
    "data.base.key as \"value\"",
    "data.base[\"list\"] as [35]",
    "data.lib.docs as {\"one\": 36}",
    "data.lib.docs.two as 37",
    "data.lib.value as 38",
    "data.other as 39",
    "json.marshal as lib.fake",
    "json.marshal as lib.reading",
    "json.marshal as \"mock\"",
    "json.marshal as upper",
    "upper as lower",
    "lib.f as lib.fake",
    "lib.f as lib.reading",
    "lib.f as lib.g",
    "lib.f as 40",
];

/// The library. `fake`, `reading` and `g` replace functions that they call themselves.
const LIBRARY: &str = r#"package lib

value := [data.base.x, "value"]

docs.one := [data.base.y.z, 1]

docs.two := {"input": input.key}

f(x) := [x, "f"]

g(x) := [x, f(x), data.base.x]

fake(x) := ["fake", x, json.marshal([x]), f(x)]

reading(x) := {"reading": [x, input.a, data.base.x, constants]}

constants := {sprintf("%d", [n]): m | some n in numbers.range(1, 3); m := json.marshal(n)}

deep(x) := [x, g(x), constants] if constants["1"] != 0

deep(x) := [x, count(constants)] if not constants["1"]
"#;

struct Scopes {
    random: Random,
    /// References to the rules so far.
    rules: Vec<String>,
    /// Documents of the rules that can be replaced.
    targets: Vec<String>,
    text: String,
    prints: bool,
}

/// Returns the program of a seed.
pub fn program(seed: u64) -> Request {
    let mut random = Random::new(seed);
    let prints = random.chance(15);
    let strict_builtin_errors = random.chance(10);
    let mut scopes = Scopes {
        random,
        rules: Vec::new(),
        targets: Vec::new(),
        text: "package main\n\nimport data.lib\n".to_owned(),
        prints,
    };
    for number in 0..scopes.random.between(2, 6) {
        scopes.layer(number);
    }
    for number in 0..scopes.random.between(1, 3) {
        scopes.test(number);
    }
    Request {
        modules: vec![
            ("m0.rego".to_owned(), LIBRARY.to_owned()),
            ("m1.rego".to_owned(), scopes.text),
        ],
        data: vec![(
            "base".to_owned(),
            r#"{"x":1,"y":{"z":2,"w":3},"key":"docs","list":[4,5]}"#.to_owned(),
        )],
        input: vec![
            ("a".to_owned(), "6".to_owned()),
            ("b".to_owned(), "{\"c\":7}".to_owned()),
            ("key".to_owned(), "\"x\"".to_owned()),
        ],
        query: "data.main".to_owned(),
        v0: false,
        strict: false,
        strict_builtin_errors,
    }
}

impl Scopes {
    /// Returns a term that reads a document or an earlier rule.
    fn source(&mut self) -> String {
        if !self.rules.is_empty() && self.random.chance(55) {
            return self.random.pick(&self.rules).clone();
        }
        (*self.random.pick(&SOURCES)).to_owned()
    }

    fn modifiers(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..self.random.between(1, 3) {
            let target = if !self.targets.is_empty() && self.random.chance(15) {
                let target = self.random.pick(&self.targets).clone();
                format!("{target} as {}", self.random.between(50, 52))
            } else {
                (*self.random.pick(&MODIFIERS)).to_owned()
            };
            text += &format!(" with {target}");
        }
        text
    }

    /// Returns literals that bind `x`, some under modifiers.
    fn body(&mut self) -> String {
        let source = self.source();
        let modifiers = if self.random.chance(20) {
            self.modifiers()
        } else {
            String::new()
        };
        let print = if self.prints && self.random.chance(40) {
            let name = self.rules.len();
            format!("; print(\"r{name}\", x)")
        } else {
            String::new()
        };
        format!("x := {source}{modifiers}{print}")
    }

    /// Writes a rule, a set, an object or a function that may read earlier ones.
    fn layer(&mut self, number: usize) {
        let (body, other) = (self.body(), self.source());
        let name = format!("r{number}");
        let form = self.random.less_than(9);
        self.text += &match form {
            0 => {
                format!("\ndefault {name} := \"none\"\n\n{name} := [x, {other}] if {{ {body} }}\n")
            }
            1 => format!("\n{name} contains x if {{ {body} }}\n\n{name} contains {other}\n"),
            2 => format!("\n{name}[k] := [k, x] if {{ some k in [\"x\", \"y\"]; {body} }}\n"),
            3 => format!(
                "\n{name}.fixed := x if {{ {body} }}\n\n{name}[k].inner := x if {{ some k in [\"x\", \"y\"]; {body} }}\n"
            ),
            4 => format!("\n{name}(n) := [n, x, {other}] if {{ {body} }}\n"),
            5 => format!("\n{name} := x if {{ {body} }} else := {other}\n"),
            6 => format!("\n{name} := [x | some i in [1, 2]; {body}]\n"),
            7 => format!("\n{name} := 1 if {{ {body} }}\n\n{name} := 2 if {{ not {other} }}\n"),
            _ => format!("\n{name} := [x, {other}] if {{ {body} }}\n"),
        };
        let forms: &[&str] = match form {
            1 => &[
                "@",
                "count(@)",
                "{x | some x in @}",
                "@[\"constant\"]",
                "@[data.base.x]",
            ],
            2 => &["@", "@.x", "@[input.key]", "@[_]"],
            3 => &["@", "@.fixed", "@.x", "@[input.key].inner", "@.y.inner"],
            4 => &["@(1)", "@(2)", "@(input.a)", "@(data.base.x)"],
            _ => &["@", "[@, @]"],
        };
        self.rules
            .extend(forms.iter().map(|form| form.replace('@', &name)));
        match form {
            4 => {}
            2 | 3 => {
                self.targets.push(format!("data.main.{name}"));
                self.targets.push(format!("data.main.{name}.x"));
            }
            _ => self.targets.push(format!("data.main.{name}")),
        }
    }

    /// Writes a rule that reads one term in several scopes.
    fn test(&mut self, number: usize) {
        let (one, other) = (self.source(), self.source());
        let (first, second, third) = (self.modifiers(), self.modifiers(), self.modifiers());
        let body = match self.random.less_than(6) {
            0 => format!("y := [{one} | {one}{first}]; z := [{other} | {other}{second}]"),
            1 => format!(
                "y := [v | some i in [1, 2, 1]; v := {one} with input.a as i{first}]; z := [w | w := {other}]"
            ),
            2 => format!("y := [v | v := {one}{first}]; z := [w | w := {one}{second}]"),
            3 => format!(
                "y := [v | v := nested{number}{first}]; z := [w | w := nested{number}{second}]"
            ),
            4 => format!(
                "y := [[v, w] | v := {one}{first}; w := {other}]; z := [v | v := {other}{second}; {one}{third}]"
            ),
            _ => format!(
                "y := [v | some f in [1, 2]; v := lib.f({one}){first}; f > 0]; z := [v | v := {other}{second}]"
            ),
        };
        self.text += &format!("\nnested{number} := [{one}, v] if {{ v := {other}{third} }}\n");
        self.text += &format!("\nt{number} := [y, z] if {{ {body} }}\n");
    }
}
