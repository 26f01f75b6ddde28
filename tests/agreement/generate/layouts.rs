//! Programs laid out like policy repositories: packages referenced through a variable, heads with constants after
//! variables that read their siblings, partly known members, packages of several modules, and long chains.

use super::random::Random;
use super::request::Request;

/// Maximum number of operands of a chain, and of `else` branches.
const LONGEST_CHAIN: usize = 1000;

const MEMBERS: [&str; 8] = [
    "\"no\"",
    "{\"msg\": m, \"at\": i}",
    "{\"msg\": i, \"at\": m}",
    "[m, i]",
    "[i, {\"msg\": m}]",
    "i",
    "m",
    "{\"msg\": m, \"in\": {\"at\": i}}",
];

/// Uses of the results by rules of another package.
const USES: [&str; 8] = [
    "d", "d.msg", "d.at", "d[0]", "d[1]", "d.in.at", "d[_]", "[p, d]",
];

struct Layout {
    random: Random,
    modules: Vec<String>,
}

/// Returns the program of a seed.
pub fn program(seed: u64) -> Request {
    let mut layout = Layout {
        random: Random::new(seed),
        modules: Vec::new(),
    };
    let query = match layout.random.less_than(6) {
        0 | 1 => layout.plugins(),
        2 | 3 => layout.siblings(),
        4 => layout.members(),
        _ => layout.chains(),
    };
    let texts = layout.modules.into_iter().zip(0..);
    let named = texts.map(|(text, number)| (format!("m{number}.rego"), text));
    Request {
        modules: named.collect(),
        data: vec![(
            "base".to_owned(),
            "{\"a\":{\"x\":1},\"b\":[1,\"two\"]}".to_owned(),
        )],
        input: vec![
            (
                "items".to_owned(),
                "{\"a\":[1,2],\"b\":[\"two\",3],\"c\":[]}".to_owned(),
            ),
            ("n".to_owned(), layout.random.less_than(4).to_string()),
            ("s".to_owned(), "\"two\"".to_owned()),
        ],
        query,
        v0: false,
        strict: false,
        strict_builtin_errors: false,
    }
}

impl Layout {
    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        self.random.pick::<&'a str>(list)
    }

    /// Returns a condition that binds `i` and `m`.
    fn items(&mut self) -> &'static str {
        self.pick(&[
            "some i, ms in input.items; some m in ms",
            "some i; m := input.items[i][_]",
            "some m in input.items[i]",
            "m := input.items[i][0]",
            "some m in input.items.a; i := count(input.items)",
            "some m in []; i := 1",
            "i := \"a\"; m := input.items[i]",
        ])
    }

    /// Writes packages with sets and objects under one name, referenced through a variable.
    fn plugins(&mut self) -> String {
        let count = self.random.between(2, 4);
        for number in 0..count {
            // two modules may form one package
            let name = self.pick(&["a", "b", "c"]);
            let mut text = format!("package plugins.{name}\n");
            for _ in 0..self.random.between(1, 2) {
                let (member, items) = (self.pick(&MEMBERS), self.items());
                text += &match self.random.less_than(8) {
                    0 => format!("\nallow{number}[i] := {member} if {{ {items} }}\n"),
                    1 => format!("\nmeta{number}.deny[i] := {member} if {{ {items} }}\n"),
                    2 => format!("\nmeta{number} := {{\"deny\": [{member} | {items}]}}\n"),
                    3 => {
                        format!("\nlevel{number}(i) := {{r | i := 1; m := \"x\"; r := {member}}}\n")
                    }
                    _ => format!("\ndeny contains {member} if {{ {items} }}\n"),
                };
            }
            self.modules.push(text);
        }
        let used = self.pick(&USES);
        let found = self.pick(&[
            "some p, d; data.plugins[p].deny[d]",
            "some d in data.plugins[p].deny",
            "data.plugins[p].deny[d]; p != \"b\"",
            "d := data.plugins[p].deny[_]",
            "some p; data.plugins[p][q][d]; q != \"x\"",
            "some p, rules in data.plugins; some d in rules.deny",
            "p := input.s; data.plugins[p].deny[d]",
            "p := {\"a\", \"b\"}[_]; data.plugins[p].deny[d]",
            "data[\"plugins\"][p].meta0.deny[d]",
            "p := \"a\"; some q, d in data.plugins[p]; q != \"x\"",
        ]);
        let ends = self.pick(&[
            "",
            "; count(msg) > 1",
            "; msg != 1",
            "; is_string(msg)",
            "; msg",
        ]);
        self.modules.push(format!(
            "package main\n\nmsgs contains msg if {{ {found}; msg := {used}{ends} }}\n\nall := {{p: n | n := count(data.plugins[p].deny)}}\n"
        ));
        self.pick(&[
            "data.main",
            "data.main.msgs",
            "data",
            "x := data.main.msgs[_]",
        ])
        .to_owned()
    }

    /// Writes heads with text after a variable that refer to each other.
    fn siblings(&mut self) -> String {
        let doc = self.pick(&["users", "by.name", "users"]);
        let (variable, bound) = *self.random.pick(&[
            ("id", "some id, u in input.items"),
            ("id", "some id; u := input.items[id]"),
            ("id", "some id in [\"a\", \"b\"]; u := input.items[id]"),
            ("id", "some id in {1, 2}; u := [id]"),
        ]);
        let mut text = "package main\n".to_owned();
        let names = ["one", "two", "three", "four"];
        let count = self.random.between(2, 4);
        for (at, name) in names.iter().enumerate().take(count) {
            // most refer to earlier ones, so that no cycle arises
            let other = names[if self.random.chance(90) {
                at.saturating_sub(1 + self.random.less_than(2))
            } else {
                self.random.less_than(count)
            }];
            text += &self.sibling(doc, name, other, variable, bound, at);
        }
        text += &format!("\nf(x) := {doc}[x] if input.n > 5\n");
        self.modules.push(text);
        let query = self.pick(&[
            "data.main",
            "data.main.DOC",
            "data.main.DOC.a",
            "data.main.DOC[x].two",
            "data.main.DOC[x]",
            "data.main.DOC.b[x]",
        ]);
        query.replace("DOC", doc)
    }

    fn sibling(
        &mut self,
        doc: &str,
        name: &str,
        other: &str,
        variable: &str,
        bound: &str,
        at: usize,
    ) -> String {
        if at == 0 {
            let value = self.pick(&["u", "count(u)", "[u]", "id", "{\"k\": u}"]);
            return format!("\n{doc}[{variable}].{name} := {value} if {{ {bound} }}\n");
        }
        let way = match self.random.less_than(6) {
            0 => format!("{doc}[{variable}][\"{other}\"]"),
            1 => format!("data.main.{doc}[{variable}].{other}"),
            2 => format!("{doc}.a.{other}"),
            3 => format!("[v | v := {doc}[_].{other}]"),
            _ => format!("{doc}[{variable}].{other}"),
        };
        match self.random.less_than(8) {
            0 => format!("\n{doc}[{variable}].{name} if {{ {bound}; not {way} }}\n"),
            1 => format!("\n{doc}[{variable}].{name} contains x if {{ {bound}; x := {way} }}\n"),
            2 => format!(
                "\n{doc}[{variable}].{name} if {{ {bound}; every x in [{way}] {{ x != 1 }} }}\n"
            ),
            3 => format!("\n{doc}[{variable}].{name} := $\"{{{way}}}!\" if {{ {bound} }}\n"),
            4 => format!("\n{doc}[{variable}].{name}.deep := {way} if {{ {bound} }}\n"),
            5 => format!(
                "\n{doc}[{variable}].{name} := 1 if {{ {bound}; u == 3 }} else := {way} if {{ {bound} }}\n"
            ),
            _ => format!("\n{doc}[{variable}].{name} := {way} if {{ {bound} }}\n"),
        }
    }

    /// Writes partly known members and keys.
    fn members(&mut self) -> String {
        let (head, ask, miss) = *self.random.pick(&[
            (
                "{\"msg\": m, \"at\": i}",
                "{\"msg\": x, \"at\": \"b\"}",
                "{\"msg\": x, \"at\": 7}",
            ),
            ("[m, i]", "[x, \"a\"]", "[x, 9]"),
            ("[i, [m, i]]", "[y, [x, \"a\"]]", "[\"a\", [x, y]]"),
            ("{\"k\": [i, m]}", "{\"k\": [\"b\", x]}", "{\"k\": [x, x]}"),
            ("{i, 1}", "{1, \"a\"}", "{2, \"a\"}"),
        ]);
        let items = self.items();
        let mut text = format!("package main\n\ngeneral contains {head} if {{ {items} }}\n");
        if self.random.chance(50) {
            let items = self.items();
            text += &format!("\ngeneral contains o if {{ {items}; o := {head} }}\n");
        }
        text += &format!("\nunder[i].set contains {head} if {{ {} }}\n", self.items());
        text += &format!("\nby[{head}] := i if {{ {} }}\n", self.items());
        let mut asked = String::new();
        for number in 0..self.random.between(2, 4) {
            let key = if self.random.chance(75) { ask } else { miss };
            let place = self.pick(&[
                "general[KEY]",
                "general[KEY]",
                "under[_].set[KEY]",
                "under.a.set[KEY]",
                "by[KEY]",
                "general[KEY] = z",
            ]);
            let place = place.replace("KEY", key);
            asked += &match self.random.less_than(3) {
                0 => format!("\nv{} if {{ {place} }}\n", number % 2),
                1 => format!("\nv{} if {{ {place}; input.n > 1 }}\n", number % 2),
                _ => format!(
                    "\nw if {{ not {} }}\n",
                    place
                        .replace('x', "\"two\"")
                        .replace("[y", "[\"a\"")
                        .replace(", y", ", \"b\"")
                        .replace(" = z", "")
                ),
            };
        }
        self.modules.push(text + &asked);
        self.pick(&["data.main.v0", "data.main.v1", "data.main", "data.main.w"])
            .to_owned()
    }

    /// Writes chains of operands and of `else`.
    fn chains(&mut self) -> String {
        let length = self.random.between(2, LONGEST_CHAIN);
        let (operator, operand) = *self.random.pick(&[
            (" + ", "input.n"),
            (" - ", "1"),
            (" | ", "{input.s}"),
            (" & ", "{\"two\", input.n}"),
            (" * ", "1"),
        ]);
        let mut operands: Vec<String> = (0..length).map(|_| operand.to_owned()).collect();
        if operator == " | " || operator == " & " {
            for (at, operand) in operands.iter_mut().enumerate() {
                if self.random.chance(30) {
                    *operand = format!("{{\"two\", {at}}}");
                }
            }
        }
        let parts = self.random.between(1, LONGEST_CHAIN);
        let hit = self.random.less_than(parts + parts / 4 + 1);
        let chain: Vec<String> = (0..parts)
            .map(|at| format!("{at} if input.n + {hit} == {at} + input.n"))
            .collect();
        let function: Vec<String> = (0..parts)
            .map(|at| format!("\"{at}\" if x == {at}"))
            .collect();
        self.modules.push(format!(
            "package main\n\nsum := {}\n\nlong := {}\n\nf(x) := {}\n\ncalled := f({hit})\n",
            operands.join(operator),
            chain.join(" else := "),
            function.join(" else := "),
        ));
        "data.main".to_owned()
    }
}
