//! Programs with numbers as keys: of base documents, of the input, of documents of rules, and of replacements by
//! `with`.

use super::random::Random;
use super::request::Request;

/// Numbers by value, each in several notations. A program uses one notation of a value in the documents that it builds
/// itself.
const NUMBERS: [&[&str]; 9] = [
    &["0", "-0", "0.0"],
    &["1", "1.0", "1e0"],
    &["2", "2.00", "0.2e1"],
    &["-1", "-1.0"],
    &["100", "1e2", "1E2", "100.0"],
    &["1.5", "1.50", "15e-1"],
    &["12345678901234567890", "12345678901234567890.0"],
    &["100000000000000000000", "1e20"],
    &["9007199254740993", "9007199254740993.0"],
];

/// Base documents without a rule below, an object of keys in each.
const FLAT: [&str; 4] = [
    "data.flat",
    "data.main.kept",
    "data.users.ann",
    "data.cfg.flat",
];

struct Keys {
    random: Random,
    /// The numbers of the program, all different.
    numbers: Vec<&'static str>,
}

/// Returns the program of a seed.
pub fn program(seed: u64) -> Request {
    let mut random = Random::new(seed);
    let count = random.between(3, 6);
    let values = random.sample(&NUMBERS, count);
    let numbers = values
        .into_iter()
        .map(|all: &[&'static str]| all[random.less_than(all.len())])
        .collect();
    let mut keys = Keys { random, numbers };
    let made = format!(
        "made[k] := v if {{\n\tsome i, k in input.ids\n\tv := i + {}\n}}\n\nkept.made := 1\n\nfixed := {}",
        keys.random.less_than(3),
        keys.policy_object(),
    );
    let mut module = format!("package main\n\n{made}\n");
    for number in 0..keys.random.between(1, 3) {
        module += &format!("\n{}\n", keys.rule(number));
    }
    let query = keys.query();
    let ids: Vec<&str> = (0..3).map(|_| keys.number()).collect();
    let object = keys.stored_object(false);
    let input = [
        ("id", keys.number().to_owned()),
        ("ids", format!("[{}]", ids.join(","))),
        ("name", "\"ann\"".to_owned()),
        ("top", "\"flat\"".to_owned()),
        ("kept", "\"kept\"".to_owned()),
        ("of", object),
    ];
    Request {
        modules: vec![("m0.rego".to_owned(), module)],
        data: keys.documents(),
        input: input.map(|(name, text)| (name.to_owned(), text)).into(),
        query,
        v0: false,
        strict: false,
        strict_builtin_errors: keys.random.chance(5),
    }
}

impl Keys {
    fn number(&mut self) -> &'static str {
        self.numbers[self.random.less_than(self.numbers.len())]
    }

    /// Returns a key of a stored document: mostly the text of a number of the program, sometimes in another notation.
    fn text(&mut self) -> &'static str {
        if self.random.chance(75) {
            return self.number();
        }
        let all = *self.random.pick(&NUMBERS);
        all[self.random.less_than(all.len())]
    }

    fn value(&mut self) -> String {
        match self.random.less_than(6) {
            0 => "false".to_owned(),
            1 => self.number().to_owned(),
            2 => format!("\"{}\"", self.number()),
            3 => format!("\"v{}\"", self.random.less_than(9)),
            _ => "true".to_owned(),
        }
    }

    /// Returns an object whose keys are texts of numbers; with `deep`, its values are objects and lists.
    fn stored_object(&mut self, deep: bool) -> String {
        let mut pairs: Vec<(&str, String)> = Vec::new();
        for _ in 0..self.random.between(2, 5) {
            let key = self.text();
            let value = match self.random.less_than(5) {
                _ if !deep => self.value(),
                0 => format!("[{},{}]", self.value(), self.value()),
                1 => self.value(),
                _ => self.stored_object(false),
            };
            if pairs.iter().all(|(other, _)| *other != key) {
                pairs.push((key, value));
            }
        }
        let pairs: Vec<String> = pairs
            .iter()
            .map(|(key, value)| format!("\"{key}\":{value}"))
            .collect();
        format!("{{{}}}", pairs.join(","))
    }

    /// Returns an object of the policy, with numbers and texts as keys.
    fn policy_object(&mut self) -> String {
        let count = self.random.between(1, 3);
        let numbers = self.numbers.clone();
        let keys = self.random.sample(&numbers, count);
        let pairs: Vec<String> = keys
            .iter()
            .map(|key| {
                let value = self.value();
                if self.random.chance(60) {
                    format!("{key}: {value}")
                } else {
                    format!("\"{key}\": {value}")
                }
            })
            .collect();
        format!("{{{}}}", pairs.join(", "))
    }

    fn documents(&mut self) -> Vec<(String, String)> {
        let entries: Vec<String> = (0..self.random.between(30, 36))
            .map(|at| {
                let (id, of) = (self.number(), self.value());
                format!("{{\"id\":{id},\"n\":{at},\"of\":{of}}}")
            })
            .collect();
        let list: Vec<String> = (0..3).map(|_| self.stored_object(false)).collect();
        let main = format!("{{\"kept\":{}}}", self.stored_object(false));
        let users = format!(
            "{{\"ann\":{},\"ben\":{}}}",
            self.stored_object(false),
            self.stored_object(false)
        );
        let cfg = format!(
            "{{\"flat\":{},\"deep\":{}}}",
            self.stored_object(false),
            self.stored_object(true)
        );
        [
            ("flat", self.stored_object(false)),
            ("deep", self.stored_object(true)),
            ("list", format!("[{}]", list.join(","))),
            ("next", self.number().to_owned()),
            ("entries", format!("[{}]", entries.join(","))),
            ("main", main),
            ("users", users),
            ("cfg", cfg),
        ]
        .map(|(name, text)| (name.to_owned(), text))
        .into()
    }

    /// Returns a key, and the lines that bind its variable first.
    fn key(&mut self, name: &str) -> (Vec<String>, String) {
        let (number, other) = (self.number(), self.number());
        match self.random.less_than(14) {
            0 | 1 => (vec![], number.to_owned()),
            2 | 3 => (vec![], "input.id".to_owned()),
            4 => (vec![], "data.next".to_owned()),
            5 => (vec![], "input.ids[0]".to_owned()),
            6 => (vec![format!("{name} := {number}")], name.to_owned()),
            7 => (vec![format!("{name} := input.id")], name.to_owned()),
            8 => (
                vec![format!("some {name} in [{number}, {other}]")],
                name.to_owned(),
            ),
            9 => (vec![format!("some {name} in input.ids")], name.to_owned()),
            10 => (vec![format!("some {name}, _ in fixed")], name.to_owned()),
            11 => (
                vec![format!(
                    "{name} := count(input.ids) - {}",
                    self.random.less_than(4)
                )],
                name.to_owned(),
            ),
            12 => (
                vec![format!("{name} := to_number(\"{number}\")")],
                name.to_owned(),
            ),
            _ => (vec![], format!("\"{number}\"")),
        }
    }

    /// Returns a reference by a key.
    fn reference(&mut self, key: &str) -> String {
        let other = self.key("unused");
        let second = if other.0.is_empty() {
            other.1
        } else {
            "input.id".to_owned()
        };
        let flat = *self.random.pick(&FLAT);
        match self.random.less_than(24) {
            0..=5 => format!("{flat}[{key}]"),
            6 | 7 => format!("data.deep[{key}][{second}]"),
            8 => format!("data.cfg.deep[{key}][{second}]"),
            9 => format!("data.users[input.name][{key}]"),
            10 => format!("data.users[_][{key}]"),
            11 => format!("data.deep[_][{key}]"),
            12 => format!("data.list[_][{key}]"),
            13 => format!("data.list[{}][{key}]", self.random.less_than(3)),
            14 => format!("data.list[{key}][{second}]"),
            15 => format!("data.flat[data.flat[{key}]]"),
            16 => format!("made[{key}]"),
            17 => format!("input.of[{key}]"),
            18 => format!("data.cfg[_][{key}]"),
            19 => format!("data[input.top][{key}]"),
            20 => format!("data.main[input.kept][{key}]"),
            21 => format!("data.cfg[_][{key}][{second}]"),
            22 => format!("data.deep[{key}][_]"),
            _ => format!("object.get({flat}, {key}, \"no\")"),
        }
    }

    /// Returns a `with` that replaces documents for one expression.
    fn modifier(&mut self) -> String {
        let number = self.number();
        let object = self.policy_object();
        match self.random.less_than(9) {
            0 => format!(" with input.id as {number}"),
            1 => " with data.unrelated as 1".to_owned(),
            2 => format!(" with data.flat as {object}"),
            3 => format!(" with data.flat[\"{number}\"] as {}", self.value()),
            4 => " with data.flat.extra as 1".to_owned(),
            5 => format!(" with data.cfg as {{\"flat\": {object}}}"),
            6 => format!(" with data.deep[\"{number}\"] as {object}"),
            7 => format!(" with data.next as {number}"),
            _ => format!(" with input.ids as [{number}]"),
        }
    }

    /// Returns the lines of a body with a lookup; the last one is `v := …` or a test of it.
    fn body(&mut self) -> Vec<String> {
        let (mut lines, key) = self.key("k");
        let reference = self.reference(&key);
        let modifier = if self.random.chance(30) {
            self.modifier()
        } else {
            String::new()
        };
        let line = match self.random.less_than(10) {
            0 => format!("y := data.flat\n\tv := y[{key}]{modifier}"),
            1 => format!("{reference} = v{modifier}"),
            2 => format!("v := [w | w := {reference}{modifier}]"),
            3 => format!("v := {{a: w | some a in [{key}]; w := {reference}}}"),
            4 => format!("data.deep[{key}][l] = v{modifier}"),
            5 => format!("v := count([1 | {reference}]){modifier}"),
            _ => format!("v := {reference}{modifier}"),
        };
        lines.push(line);
        lines
    }

    fn rule(&mut self, number: usize) -> String {
        let name = format!("p{number}");
        let within = |lines: Vec<String>| format!("if {{\n\t{}\n}}", lines.join("\n\t"));
        let (mut lines, key) = self.key("k");
        let reference = self.reference(&key);
        let modifier = if self.random.chance(25) {
            self.modifier()
        } else {
            String::new()
        };
        match self.random.less_than(15) {
            0 | 1 => format!("{name} contains v {}", within(self.body())),
            2 => format!(
                "{name} := [v | {}]",
                self.body().join("; ").replace("\n\t", "; ")
            ),
            3 | 4 => {
                lines.push(format!("not {reference}{modifier}"));
                format!("{name} {}", within(lines))
            }
            5 => {
                let (one, two) = (self.number(), self.number());
                let reference = self.reference("e");
                format!("{name} if {{\n\tevery e in [{one}, {two}] {{\n\t\t{reference}\n\t}}\n}}")
            }
            6 | 7 => {
                let inner = self.reference("id");
                lines.push(format!("v := of{number}({key}){modifier}"));
                format!(
                    "of{number}(id) := {inner}\n\n{name} contains v {}",
                    within(lines)
                )
            }
            8 => {
                let reference = self.reference("e.id");
                format!(
                    "{name} contains [e.n, v] if {{\n\tsome e in data.entries\n\tv := {reference}\n}}"
                )
            }
            9 => {
                let joined = *self.random.pick(&["e.id == ", "e.of == ", "e.n == "]);
                lines.push(format!("some e in data.entries\n\t{joined}{reference}"));
                format!("{name} contains [e.n] {}", within(lines))
            }
            10 => {
                let rules: Vec<String> = (0..self.random.between(2, 4))
                    .map(|at| {
                        let (flat, number) = (*self.random.pick(&FLAT), self.number());
                        let value = self.value();
                        format!("{name} contains {at} if {flat}[{number}] == {value}")
                    })
                    .collect();
                rules.join("\n\n")
            }
            11 => {
                let (number, other) = (self.number(), self.number());
                let (value, flat) = (self.value(), *self.random.pick(&FLAT));
                format!(
                    "{name} := 1 if {flat}[{number}] == {value}\n\nelse := 2 if {flat}[{other}]\n\nelse := 3"
                )
            }
            12 => {
                let inner = self.reference("id");
                let (one, two) = (self.number(), self.number());
                format!(
                    "of{number}({one}) := 1\n\nof{number}(id) := 1 if {inner}\n\n{name} := [v | some k in [{one}, {two}, input.id]; v := of{number}(k)]"
                )
            }
            13 => {
                let not = if self.random.chance(40) { "not " } else { "" };
                let flat = *self.random.pick(&FLAT);
                lines.push(format!("{not}{reference} in {flat}{modifier}"));
                format!("{name} {}", within(lines))
            }
            _ => {
                let other = self.number();
                lines.push(format!("v := {reference}{modifier}"));
                format!(
                    "{name}[k{number}] := v if {{\n\tsome k{number} in [{other}]\n\t{}\n}}",
                    lines.join("\n\t")
                )
            }
        }
    }

    fn query(&mut self) -> String {
        let number = self.number();
        match self.random.less_than(10) {
            0 => format!("x := data.main.p0{}", self.modifier()),
            1 => format!("k = {number}; {} = v", self.reference("k")),
            2 => format!("x := {}", self.reference(number)),
            3 => format!("some k in input.ids; x := {}", self.reference("k")),
            4 => "x := data.main.p0".to_owned(),
            _ => "x := data.main".to_owned(),
        }
    }
}
