//! Tables: many rules, clauses or `else` branches that differ in their tests of a few values, in all forms.

use super::random::Random;
use super::request::Request;

const METHODS: [&str; 4] = ["\"GET\"", "\"PUT\"", "1", "null"];
const TEXTS: [&str; 6] = ["a", "b", "ab", "abc", "", "é"];
const PATHS: [&str; 8] = ["/a/b", "/a", "/a/b/c", "/ab/c", "a.b", "/b/a", "", "/a/é/c"];
const ADDRESSES: [&str; 6] = [
    "10.0.0.1",
    "10.1.2.3",
    "10.1.0.0/16",
    "::ffff:10.0.0.1",
    "fe80::1",
    "no address",
];
const NETWORKS: [&str; 6] = [
    "10.0.0.0/8",
    "10.1.0.0/16",
    "10.1.2.3/32",
    "0.0.0.0/0",
    "fe80::/10",
    "10.1.9.9/16",
];
const PATTERNS: [&str; 7] = [
    "^/a",
    "^/a/b$",
    "^(/a|/b)/",
    "b$",
    "^\\\\w+",
    "(?i)^/A",
    "^/a/[^/]+/c$",
];
const GLOBS: [&str; 9] = [
    "/a/*", "/*/b", "/a/**", "*.b", "/a/b", "/{a,b}/*", "/a?/c", "/*/*/c", "/[ab]/*",
];

struct Tables {
    random: Random,
    /// Reference of rules to the tested values.
    root: &'static str,
}

/// Returns the program of a seed.
pub fn program(seed: u64) -> Request {
    let mut tables = Tables {
        random: Random::new(seed),
        root: "input",
    };
    let form = tables.random.less_than(5);
    let count = tables.random.between(3, 14);
    let (rules, query) = match form {
        0 => (tables.rules(count), "data.main.r"),
        1 => (tables.members(count), "data.main.r"),
        2 => (tables.clauses(count), "data.main.q"),
        3 => (tables.chain(count), "data.main.r"),
        _ => (tables.pairs(count), "data.main.r"),
    };
    let input = tables.input();
    Request {
        modules: vec![("m0.rego".to_owned(), format!("package main\n\n{rules}"))],
        data: vec![("list".to_owned(), "[1,2]".to_owned())],
        input,
        query: query.to_owned(),
        v0: false,
        strict: false,
        strict_builtin_errors: tables.random.chance(25),
    }
}

impl Tables {
    fn rules(&mut self, count: usize) -> String {
        let mut text = String::new();
        if self.random.chance(50) {
            text += "default r := \"none\"\n\n";
        }
        let kinds = self.random.between(1, 3);
        for _ in 0..count {
            let value = self.random.less_than(kinds);
            text += &format!("r := {value} if {}\n\n", self.body());
        }
        text
    }

    fn members(&mut self, count: usize) -> String {
        let rules = (0..count).map(|at| format!("r contains {at} if {}\n\n", self.body()));
        rules.collect()
    }

    fn pairs(&mut self, count: usize) -> String {
        let rules = (0..count).map(|at| {
            let key = ["\"k\"", "x", "\"other\""]
                .get(at % 3)
                .copied()
                .unwrap_or_default();
            let bound = if key == "x" {
                "x := input.method\n\t"
            } else {
                ""
            };
            let body = self.body();
            let body = body.trim_start_matches("{\n\t");
            format!("r[{key}][{at}] := {at} if {{\n\t{bound}{body}\n\n")
        });
        rules.collect()
    }

    fn clauses(&mut self, count: usize) -> String {
        let mut text = String::new();
        for at in 0..count {
            self.root = "req";
            let (head, extra) = match self.random.less_than(4) {
                0 => {
                    let method = self.method();
                    (format!("f({method}, req)"), String::new())
                }
                1 => {
                    let word = self.word();
                    (format!("f(m, [{word}, req])"), String::new())
                }
                _ => {
                    let method = self.method();
                    ("f(m, req)".to_owned(), format!("m == {method}"))
                }
            };
            let body = self.body();
            let body = match (extra.is_empty(), self.random.less_than(3)) {
                (false, 0) => format!("{{ {extra} }}"),
                (false, _) => body.replacen("{\n", &format!("{{\n\t{extra}\n"), 1),
                (true, _) => body,
            };
            text += &format!("{head} := {} if {body}\n\n", at % 3);
        }
        self.root = "input";
        text + "q contains x if x := f(input.method, input)\n\nq contains x if x := f(input.method, [input.words[0], input])\n"
    }

    fn chain(&mut self, count: usize) -> String {
        let mut text = format!("r := \"first\" if {}", self.body());
        for at in 0..count {
            text += &format!(" else := {} if {}", at % 4, self.body());
        }
        if self.random.chance(40) {
            text += " else := \"last\"";
        }
        if self.random.chance(40) {
            text += &format!("\n\nr := \"rival\" if {}", self.body());
            text += &format!("\n\nr := 1 if {} else := 2 if {}", self.body(), self.body());
        }
        text + "\n"
    }

    fn body(&mut self) -> String {
        let lines: Vec<String> = (0..self.random.between(1, 3))
            .map(|_| self.condition())
            .collect();
        format!("{{\n\t{}\n}}", lines.join("\n\t"))
    }

    fn method(&mut self) -> String {
        (*self.random.pick(&METHODS)).to_owned()
    }

    fn word(&mut self) -> String {
        format!("\"{}\"", self.random.pick(&TEXTS))
    }

    fn path(&mut self) -> String {
        format!("\"{}\"", self.random.pick(&PATHS))
    }

    /// Returns a condition that a decision tree can test, or that it cannot use.
    fn condition(&mut self) -> String {
        let root = self.root;
        match self.random.less_than(26) {
            0 | 1 => format!("{root}.method == {}", self.method()),
            2 => format!("{} = {root}.method", self.method()),
            3 => format!(
                "m{n} := {root}.method\n\tm{n} == {}",
                self.method(),
                n = self.fresh()
            ),
            4 => format!("{root}.words = [{}, _]", self.word()),
            5 => format!("{root}.words = [{}, {}]", self.word(), self.word()),
            6 => format!("[{}, w{}] = {root}.words", self.word(), self.fresh()),
            7 => format!(
                "{root}.words[{}] == {}",
                self.random.less_than(3),
                self.word()
            ),
            8 => format!("startswith({root}.path, {})", self.path()),
            // OPA ignores one of a prefix and a suffix of the same value.
            9 => format!(
                "endswith({root}.address, \"{}\")",
                self.random.pick(&["1", ".3", "s", ""])
            ),
            10 => format!(
                "strings.any_prefix_match({root}.{}, [{}, {}])",
                self.random.pick(&["path", "words"]),
                self.path(),
                self.path()
            ),
            11 | 12 => format!(
                "glob.match(\"{}\", {}, {root}.path)",
                self.random.pick(&GLOBS),
                self.random
                    .pick(&["[\"/\"]", "[]", "null", "[\"/\", \".\"]"])
            ),
            13 => format!(
                "regex.match(\"{}\", {root}.path)",
                self.random.pick(&PATTERNS)
            ),
            14 => format!(
                "net.cidr_contains(\"{}\", {root}.address)",
                self.random.pick(&NETWORKS)
            ),
            15 => format!("{root}.method in {{{}, {}}}", self.method(), self.method()),
            16 => format!("{} in {root}.words", self.word()),
            17 => format!(
                "some w{n} in {root}.words; w{n} == {}",
                self.word(),
                n = self.fresh()
            ),
            18 => format!("{root}.words[_] == {}", self.word()),
            19 => format!("{root}.flags.{}", self.random.pick(&["a", "b", "c"])),
            20 => format!(
                "{root}.flags.{} == {}",
                self.random.pick(&["a", "b", "c"]),
                self.random.pick(&["true", "false", "1"])
            ),
            21 => format!(
                "[{}, p{}] = split({root}.path, \"/\")",
                self.word(),
                self.fresh()
            ),
            22 => format!(
                "s{n} := split({root}.path, \"/\")\n\ts{n}[{}] == {}",
                self.random.less_than(3),
                self.word(),
                n = self.fresh()
            ),
            23 => format!("not {root}.method == {}", self.method()),
            24 => self
                .random
                .pick(&[
                    "count(input.words) > 1",
                    "to_number(input.path) > 1",
                    "1 / input.zero == 1",
                    "data.list[_] > 1",
                ])
                .to_string(),
            _ => format!(
                "{{\"method\": {}, \"path\": x{}}} = {{\"method\": {root}.method, \"path\": {root}.path}}",
                self.method(),
                self.fresh()
            ),
        }
    }

    fn fresh(&mut self) -> usize {
        self.random.less_than(1_000_000)
    }

    fn input(&mut self) -> Vec<(String, String)> {
        let words: Vec<String> = (0..self.random.between(1, 3))
            .map(|_| self.word())
            .collect();
        let words = match self.random.less_than(8) {
            0 => self.word(),
            1 => format!("{{\"0\":{},\"x\":{}}}", self.word(), self.word()),
            _ => format!("[{}]", words.join(",")),
        };
        let path = match self.random.less_than(10) {
            0 => "7".to_owned(),
            1 => format!("[{}]", self.path()),
            _ => self.path(),
        };
        let mut fields = vec![
            ("method", self.method()),
            ("words", words),
            ("path", path),
            ("address", format!("\"{}\"", self.random.pick(&ADDRESSES))),
            (
                "flags",
                self.random
                    .pick(&["{\"a\":true}", "{\"a\":false,\"b\":1}", "{}", "[true]"])
                    .to_string(),
            ),
            ("zero", "0".to_owned()),
        ];
        if self.random.chance(15) {
            let at = self.random.less_than(fields.len());
            fields.remove(at);
        }
        let fields = fields.into_iter();
        fields
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }
}
