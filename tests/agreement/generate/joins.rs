//! Programs that repeatedly search long collections for elements with a known value, in all forms.

use super::random::Random;
use super::request::Request;

/// Values of few kinds that often coincide: some are equal in different notation, some only look alike.
const VALUES: [&str; 16] = [
    "1",
    "1.0",
    "\"1\"",
    "2",
    "10e-1",
    "0.10",
    "0.1",
    "\"a\"",
    "\"b\"",
    "\"a text of many letters\"",
    "\"a text of many others\"",
    "null",
    "true",
    "false",
    "[1]",
    "{\"x\":1}",
];

/// Positions of an element's value: the fields to write and the path to read.
const FIELDS: [(&str, &str); 4] = [
    ("\"ref\":@", ".ref"),
    ("\"at\":{\"id\":@}", ".at.id"),
    ("\"pair\":[@,0]", ".pair[0]"),
    ("\"ref\":@", "[\"ref\"]"),
];

struct Joins {
    random: Random,
    /// Position of the value in the elements of the long collection.
    path: (&'static str, &'static str),
    /// Reference of rules to it.
    long: &'static str,
}

/// Returns the program of a seed.
pub fn program(seed: u64) -> Request {
    let mut random = Random::new(seed);
    let place = *random.pick(&FIELDS);
    let long = *random.pick(&["data.long", "data.long", "data.map", "members", "made"]);
    let mut joins = Joins {
        random,
        path: place,
        long,
    };
    let mut module = "package main\n\nmembers contains x if some x in data.long\n\nmade := [x | some x in data.long]\n".to_owned();
    for number in 0..joins.random.between(1, 3) {
        module += &format!("\n{}\n", joins.rule(number));
    }
    let query = joins.query();
    Request {
        modules: vec![("m0.rego".to_owned(), module)],
        data: joins.documents(),
        input: vec![("id".to_owned(), joins.value())],
        query,
        v0: false,
        strict: false,
        strict_builtin_errors: joins.random.chance(20),
    }
}

impl Joins {
    fn value(&mut self) -> String {
        (*self.random.pick(&VALUES)).to_owned()
    }

    fn documents(&mut self) -> Vec<(String, String)> {
        let asked: Vec<String> = (0..self.random.between(5, 9))
            .map(|at| format!("{{\"id\":{},\"n\":{at}}}", self.value()))
            .collect();
        let count = self.random.between(30, 40);
        let long: Vec<String> = (0..count).map(|at| self.element(at)).collect();
        let map = long.iter().zip(0..);
        let map: Vec<String> = map
            .map(|(element, at)| {
                format!(
                    "\"{}\":{element}",
                    ["a", "b", "1", "k"][at % 4].repeat(1 + at / 4)
                )
            })
            .collect();
        let refs: Vec<String> = (0..count).map(|_| self.value()).collect();
        [
            ("asked", format!("[{}]", asked.join(","))),
            ("long", format!("[{}]", long.join(","))),
            ("map", format!("{{{}}}", map.join(","))),
            ("refs", format!("[{}]", refs.join(","))),
        ]
        .map(|(name, text)| (name.to_owned(), text))
        .into()
    }

    /// Returns an element of the long collection; some lack fields, some are not objects.
    fn element(&mut self, at: usize) -> String {
        let value = self.value();
        let place = self.path.0.replace('@', &value);
        let n = self.random.less_than(9);
        match self.random.less_than(12) {
            0 => format!("{{\"n\":{n}}}"),
            1 => value,
            2 => format!("{{\"n\":\"{n}\",{place},\"off\":{}}}", at.is_multiple_of(2)),
            _ => format!("{{\"n\":{n},{place}}}"),
        }
    }

    /// Returns the lines of a body that find an element `b` for the value of `known`.
    fn lookup_lines(&mut self, known: &str) -> Vec<String> {
        let (long, path) = (self.long, self.path.1);
        let mut lines = Vec::new();
        let equal = match self.random.less_than(8) {
            0 => {
                lines.push("some i".to_owned());
                lines.push(format!("b := {long}[i]"));
                let call = *self.random.pick(&["lower", "abs", "to_number", "count"]);
                format!("b{path} == {call}({known})")
            }
            1 => {
                lines.push(format!("b := {long}[_]"));
                format!("{known} = b{path}")
            }
            2 => {
                lines.push(format!("some k, b in {long}"));
                format!("{known} == b{path}")
            }
            3 => {
                lines.push(format!("some b in {long}"));
                lines.push(format!("at := b{path}"));
                format!("at == {known}")
            }
            _ => {
                lines.push(format!("some b in {long}"));
                format!("b{path} == {known}")
            }
        };
        let tests = [
            "b.n > 2",
            "not b.off",
            "b.n != \"3\"",
            "b.n",
            "print(b.n)",
            "startswith(b.n, \"1\")",
            "b.n in {1, 2, 3, 4, 5}",
        ];
        if self.random.chance(50) {
            lines.push((*self.random.pick(&tests)).to_owned());
        }
        lines.push(equal);
        if self.random.chance(40) {
            lines.push((*self.random.pick(&tests)).to_owned());
        }
        lines
    }

    fn rule(&mut self, number: usize) -> String {
        let name = format!("p{number}");
        let mut body = vec!["some a in data.asked".to_owned()];
        let within = |lines: Vec<String>| format!("if {{\n\t{}\n}}", lines.join("\n\t"));
        match self.random.less_than(13) {
            0..=2 => {
                body.extend(self.lookup_lines("a.id"));
                format!("{name} contains [a.n, b.n] {}", within(body))
            }
            3 => {
                let found = self.lookup_lines("a.id").join("; ");
                format!("{name} := [[a.n, b] | some a in data.asked; {found}]")
            }
            4 => {
                let found = self.lookup_lines("a.id").join("; ");
                format!("{name} := {{a.n: [b.n | {found}] | some a in data.asked}}")
            }
            5 => {
                let found = within(self.lookup_lines("id"));
                format!(
                    "of{number}(id) := b.n {found}\n\n{name}[a.n] := of{number}(a.id) if some a in data.asked"
                )
            }
            6 => {
                let found = within(self.lookup_lines("id"));
                format!(
                    "has{number}(id) {found}\n\n{name} contains a.n if {{\n\tsome a in data.asked\n\tnot has{number}(a.id)\n}}"
                )
            }
            7 => {
                let found = self.lookup_lines("a.id").join("\n\t\t");
                format!("{name} if {{\n\tevery a in data.asked {{\n\t\t{found}\n\t}}\n}}")
            }
            8 => {
                body.extend(self.lookup_lines("a.id"));
                body.push("a.n < b.n".to_owned());
                format!("{name} {}", within(body))
            }
            9 => {
                let list = *self
                    .random
                    .pick(&["data.refs", "data.map", "data.long", "made"]);
                let asked = *self.random.pick(&["a.id", "a.id", "a.n"]);
                let not = if self.random.chance(40) { "not " } else { "" };
                body.push(format!("{not}{asked} in {list}"));
                format!("{name} contains a.n {}", within(body))
            }
            10 => {
                let form = *self.random.pick(&[
                    "some k, b in data.map\n\tk == a.id",
                    "some i, b in data.refs\n\ti == a.n",
                    "some i, b in data.refs\n\tb == a.id",
                    "some b in data.refs\n\ta.id == b",
                    "data.refs[i] == a.id\n\tb := data.long[i]",
                    "data.refs[i] == data.refs[i + 1]\n\tb := i",
                    "data.refs[i] != data.refs[i + a.n]\n\tb := i",
                    "some i, b in data.long\n\ti == count(a.id) + 1",
                    "some b in data.long\n\tb.n > 3\n\tb.n == a.n - 1",
                ]);
                body.push(form.to_owned());
                format!("{name} contains [a.n, b] {}", within(body))
            }
            11 => {
                body.extend(self.lookup_lines("a.id"));
                body.extend(["some c in data.refs".to_owned(), "c == b.n".to_owned()]);
                format!("{name} contains [a.n, b.n, c] {}", within(body))
            }
            _ => {
                body.extend(self.lookup_lines("input.id"));
                format!("{name} contains [a.n, b.n] {}", within(body))
            }
        }
    }

    fn query(&mut self) -> String {
        match self.random.less_than(6) {
            0 => {
                "x := data.main.p0 with data.long as array.concat(data.long, data.refs)".to_owned()
            }
            1 => "some a in data.asked; x := data.main.p0 with input.id as a.id".to_owned(),
            2 => "some a in data.asked; some i; data.refs[i] == a.id".to_owned(),
            3 => "x := data.main.p0".to_owned(),
            _ => "x := object.remove(data.main, [\"members\", \"made\"])".to_owned(),
        }
    }
}
