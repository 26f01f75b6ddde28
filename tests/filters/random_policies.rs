//! Random policies of every shape that partial evaluation inlines: values from functions, rules, objects and arrays,
//! conditions after `not`, `every`, `with`, `default` and `else`, unification in both directions.

use serde_json::{Value, json};

use crate::draw::Draw;
use crate::policies::Policy;
use crate::tables::{Kind, TABLES, constant};

/// Maximum nesting of values and conditions.
const DEPTH: usize = 3;

/// Returns a policy of any shape; with `mixed`, columns and values of different kinds are compared, too.
pub fn shape(seed: u64, mixed: bool) -> Policy {
    let mut draw = Draw::new(seed ^ 0x5AFE);
    let mut known = |kind| -> Value {
        let text = constant(&mut draw, kind);
        serde_json::from_str(&text).unwrap()
    };
    let input = json!({
        "limit": known(Kind::Integer),
        "name": known(Kind::Text),
        "names": [known(Kind::Text), known(Kind::Text)],
        "limits": {"apple": known(Kind::Integer), "b": known(Kind::Integer), "app": known(Kind::Integer)},
        "column": "price",
        "admin": draw.one_in(2),
    });
    let mut maker = Maker {
        draw,
        helpers: Vec::new(),
        names: 0,
        mixed,
    };
    let mut text =
        String::from("package filters\n\nlimits := {\"apple\": 1, \"b\": 11, \"\": 2}\n");
    for _ in 0..=maker.draw.less_than(2) {
        let body = maker.body(DEPTH, 3);
        text.push_str(&format!("\ninclude if {body}\n"));
    }
    text.extend(maker.helpers);
    Policy { text, input }
}

struct Maker {
    draw: Draw,
    helpers: Vec<String>,
    names: usize,
    mixed: bool,
}

/// An expression, and the lines that must precede it.
struct Said {
    before: Vec<String>,
    text: String,
}

impl Said {
    fn plain(text: impl Into<String>) -> Self {
        Self {
            before: Vec::new(),
            text: text.into(),
        }
    }

    /// Returns the expression and its lines.
    fn lines(self) -> String {
        let mut lines = self.before;
        lines.push(self.text);
        lines.join("\n\t")
    }
}

const KINDS: [Kind; 4] = [Kind::Text, Kind::Integer, Kind::Decimal, Kind::Truth];

impl Maker {
    fn name(&mut self, letter: char) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    fn kind(&mut self) -> Kind {
        KINDS[self.draw.less_than(KINDS.len())]
    }

    fn constant(&mut self, kind: Kind) -> String {
        let kind = if self.mixed && self.draw.one_in(6) {
            self.kind()
        } else {
            kind
        };
        if self.draw.one_in(25) {
            return "null".to_owned();
        }
        constant(&mut self.draw, kind)
    }

    fn column(&mut self, kind: Kind) -> String {
        loop {
            let (table, columns) = TABLES[usize::from(self.draw.one_in(5))];
            let (name, own) = columns[self.draw.less_than(columns.len())];
            if own == kind {
                return format!("input.{table}.{name}");
            }
        }
    }

    fn body(&mut self, depth: usize, longest: usize) -> String {
        let lines: Vec<String> = (0..=self.draw.less_than(longest))
            .map(|_| self.condition(depth).lines())
            .collect();
        format!("{{\n\t{}\n}}", lines.join("\n\t"))
    }

    /// Returns a value of a kind, or of another one if kinds are mixed.
    fn value(&mut self, kind: Kind, depth: usize) -> Said {
        if depth == 0 || self.draw.one_in(3) {
            return Said::plain(if self.draw.one_in(4) {
                self.constant(kind)
            } else {
                self.column(kind)
            });
        }
        let (mut one, mut other) = (self.value(kind, depth - 1), self.value(kind, depth - 1));
        let mut both = std::mem::take(&mut one.before);
        both.append(&mut other.before);
        let (one, other) = (one.text, other.text);
        let within = |text: String| Said { before: both, text };
        match self.draw.less_than(16) {
            0 => within(format!("[{one}, {other}][{}]", self.draw.less_than(2))),
            1 => within(format!("{{\"a\": {one}, \"b\": {other}}}.b")),
            2 => {
                let key = self.column(Kind::Text);
                within(format!("{{\"apple\": {one}, \"b\": {other}}}[{key}]"))
            }
            3 => {
                let (key, second) = (self.column(Kind::Text), self.column(Kind::Text));
                let second = if self.draw.one_in(2) {
                    second
                } else {
                    "\"b\"".to_owned()
                };
                let step = self.constant(Kind::Text);
                within(format!("{{{key}: {one}, {second}: {other}}}[{step}]"))
            }
            4 => {
                let name = self.name('v');
                let mut said = within(name.clone());
                said.before.push(format!("{name} := {one}"));
                said
            }
            5 => {
                let name = self.name('v');
                let mut said = within(name.clone());
                said.before.push(format!("some {name} in [{one}, {other}]"));
                said
            }
            6 => {
                let (name, rest) = (self.name('f'), self.constant(kind));
                let constant = self.constant(kind);
                self.helpers.push(format!(
                    "\n{name}(x) := {rest} if x == {constant}\n\n{name}(x) := x if x != {constant}\n"
                ));
                within(format!("{name}({one})"))
            }
            7 => {
                let (name, helper) = (self.name('f'), self.condition(depth - 1).lines());
                self.helpers.push(format!(
                    "\n{name}(x) := y if {{\n\t{helper}\n\ty := x\n}}\n"
                ));
                within(format!("{name}({one})"))
            }
            8 => {
                let name = self.name('r');
                for _ in 0..2 {
                    let (value, condition) = (self.constant(kind), self.body(depth - 1, 1));
                    self.helpers
                        .push(format!("\n{name} := {value} if {condition}\n"));
                }
                within(name)
            }
            9 => {
                let (name, column) = (self.name('r'), self.column(kind));
                self.helpers.push(format!("\n{name} := {column}\n"));
                within(name)
            }
            10 if kind == Kind::Integer => {
                let key = self.column(Kind::Text);
                within(format!(
                    "{}[{key}]",
                    self.draw.choose(&["limits", "input.limits"])
                ))
            }
            11 if kind == Kind::Integer => within("input.fruits[input.column]".to_owned()),
            12 => {
                let (name, condition) = (self.name('r'), self.body(depth - 1, 1));
                let known = self.draw.choose(&["input.admin", "not input.admin"]);
                let (first, second) = (self.column(kind), self.constant(kind));
                self.helpers.push(format!(
                    "\n{name} := {first} if {known}\nelse := {second} if {condition}\n"
                ));
                within(name)
            }
            13 => {
                let name = self.name('r');
                let (first, second) = (self.body(depth - 1, 2), self.body(depth - 1, 1));
                let [one, two, three] = [(); 3].map(|()| self.constant(kind));
                let last = if self.draw.one_in(2) {
                    format!("else := {three}\n")
                } else {
                    String::new()
                };
                self.helpers.push(format!(
                    "\n{name} := {one} if {first}\nelse := {two} if {second}\n{last}"
                ));
                within(name)
            }
            14 => {
                let (name, sign) = (self.name('f'), self.sign(kind));
                let [one, two, three] = [(); 3].map(|()| self.constant(kind));
                let sign = if sign == "=" { "==" } else { sign };
                self.helpers.push(format!(
                    "\n{name}(x) := {one} if x {sign} {two}\nelse := {three}\n"
                ));
                within(format!("{name}({})", self.column(kind)))
            }
            15 => {
                let (column, default) = (self.column(kind), self.constant(kind));
                let (table, name) = column.rsplit_once('.').unwrap_or_default();
                within(format!("object.get({table}, \"{name}\", {default})"))
            }
            _ => within(one),
        }
    }

    fn sign(&mut self, kind: Kind) -> &'static str {
        match kind {
            Kind::Truth => self.draw.choose(&["==", "!="]),
            _ => self
                .draw
                .choose(&["==", "!=", "<", "<=", ">", ">=", "==", "="]),
        }
    }

    fn compared(&mut self, depth: usize) -> Said {
        let kind = self.kind();
        let (one, other) = (self.value(kind, depth), self.value(kind, depth));
        let sign = self.sign(kind);
        let mut before = one.before;
        before.extend(other.before);
        let (mut one, mut other) = (one.text, other.text);
        // A line that starts with a minus continues the previous line.
        if one.starts_with('-') {
            std::mem::swap(&mut one, &mut other);
        }
        if one.starts_with('-') {
            one = self.column(kind);
        }
        let text = format!("{one} {sign} {other}");
        Said { before, text }
    }

    fn list(&mut self, kind: Kind) -> String {
        let values: Vec<String> = (0..self.draw.less_than(4))
            .map(|_| self.constant(kind))
            .collect();
        format!("[{}]", values.join(", "))
    }

    fn condition(&mut self, depth: usize) -> Said {
        if depth == 0 {
            return self.compared(0);
        }
        match self.draw.less_than(19) {
            0 => {
                let kind = self.kind();
                let value = self.value(kind, depth - 1);
                let list = self.list(kind);
                Said {
                    before: value.before,
                    text: format!("{} in {list}", value.text),
                }
            }
            1 => {
                let value = self.value(Kind::Text, depth - 1);
                let name = self.draw.choose(&["startswith", "endswith", "contains"]);
                let part = constant(&mut self.draw, Kind::Text);
                Said {
                    before: value.before,
                    text: format!("{name}({}, {part})", value.text),
                }
            }
            2 => {
                let said = self.condition(depth - 1);
                if said.before.is_empty()
                    && !said.text.starts_with("not ")
                    && !said.text.contains("some ")
                    && !said.text.starts_with("every ")
                    && !said.text.contains(" = ")
                {
                    Said::plain(format!("not {}", said.text))
                } else {
                    said
                }
            }
            3 | 4 => {
                let not = if self.draw.one_in(2) { "not " } else { "" };
                Said::plain(format!("{not}{}", self.rule(depth)))
            }
            5 => {
                let (kind, name) = (self.kind(), self.name('e'));
                let (column, sign, list) = (self.column(kind), self.sign(kind), self.list(kind));
                let rest = self.condition(depth - 1).lines();
                let rest = if self.draw.one_in(3) {
                    format!("\n\t{rest}")
                } else {
                    String::new()
                };
                Said::plain(format!(
                    "every {name} in {list} {{\n\t{column} {sign} {name}{rest}\n}}"
                ))
            }
            6 => {
                let kind = self.kind();
                let (one, other) = (self.column(kind), self.column(kind));
                let (two, three) = (self.constant(kind), self.constant(kind));
                Said::plain(format!(
                    "[{one}, {two}] {} [{three}, {other}]",
                    self.draw.choose(&["=", "=="])
                ))
            }
            7 => {
                let kind = self.kind();
                let (one, name) = (self.column(kind), self.name('u'));
                let rest = self.value(kind, depth - 1);
                let sign = self.sign(kind);
                let mut before = rest.before;
                before.push(format!(
                    "{{\"k\": {name}, \"l\": 1}} = {{\"l\": 1, \"k\": {one}}}"
                ));
                Said {
                    before,
                    text: format!("{name} {sign} {}", rest.text),
                }
            }
            8 => self.member(depth),
            9 => self.looked_up(depth),
            10 => {
                let helper = self.rule(depth);
                let limit = self.constant(Kind::Integer);
                Said::plain(format!("{helper} with input.limit as {limit}"))
            }
            11 => Said::plain(*self.draw.choose(&[
                &"input.admin",
                &"not input.admin",
                &"input.limit > 10",
                &"not input.missing",
                &"not input.missing == input.fruits.name",
            ])),
            12 => {
                let column = self.column(Kind::Integer);
                Said::plain(format!("{column} {} input.limit", self.sign(Kind::Integer)))
            }
            13 => {
                let (name, key) = (self.name('v'), self.name('k'));
                let column = self.column(Kind::Text);
                let number = self.column(Kind::Integer);
                let sign = self.sign(Kind::Integer);
                Said {
                    before: vec![
                        format!("some {key}, {name} in input.limits"),
                        format!("{key} == {column}"),
                    ],
                    text: format!("{name} {sign} {number}"),
                }
            }
            14 | 15 => {
                let not = if self.draw.one_in(2) { "not " } else { "" };
                let kind = if self.mixed { self.kind() } else { Kind::Truth };
                Said::plain(format!("{not}{}", self.column(kind)))
            }
            _ => self.compared(depth - 1),
        }
    }

    /// Writes a rule or a function that is true or false.
    fn rule(&mut self, depth: usize) -> String {
        let name = self.name('h');
        let bodies: Vec<String> = (0..=self.draw.less_than(2))
            .map(|_| self.body(depth - 1, 2))
            .collect();
        match self.draw.less_than(5) {
            0 => {
                let kind = self.kind();
                let (column, sign) = (self.column(kind), self.sign(kind));
                let (one, two) = (self.constant(kind), self.constant(kind));
                self.helpers.push(format!(
                    "\n{name}({one})\n\n{name}(x) if {{\n\tx {sign} {two}\n\tx != {one}\n}}\n"
                ));
                format!("{name}({column})")
            }
            1 => {
                let text = bodies.iter().map(|body| format!("\n{name} if {body}\n"));
                let text: String = text.collect();
                self.helpers
                    .push(format!("\ndefault {name} := false\n{text}"));
                name
            }
            2 => {
                let kind = self.kind();
                let (column, one, two) =
                    (self.column(kind), self.constant(kind), self.constant(kind));
                self.helpers.push(format!(
                    "\n{name}(x) := true if x == {one}\n\n{name}(x) := false if {{\n\tx == {two}\n\tx != {one}\n}}\n"
                ));
                format!("{name}({column})")
            }
            _ => {
                let text = bodies.iter().map(|body| format!("\n{name} if {body}\n"));
                self.helpers.push(text.collect());
                name
            }
        }
    }

    /// Returns a membership test in a set of rules.
    fn member(&mut self, depth: usize) -> Said {
        let (kind, name) = (self.kind(), self.name('s'));
        let (one, two) = (self.value(kind, 0).text, self.constant(kind));
        let condition = self.body(depth - 1, 1);
        let always = self.draw.one_in(2);
        let second = if always {
            String::new()
        } else {
            format!(" if {condition}")
        };
        self.helpers.push(format!(
            "\n{name} contains {one}\n\n{name} contains {two}{second}\n"
        ));
        let value = self.value(kind, 0).text;
        let not = if self.draw.one_in(3) { "not " } else { "" };
        Said::plain(if self.draw.one_in(2) && !value.starts_with('-') {
            format!("{not}{value} in {name}")
        } else {
            format!("{not}{name}[{value}]")
        })
    }

    /// Returns a value of an object of rules.
    fn looked_up(&mut self, depth: usize) -> Said {
        let (kind, name) = (self.kind(), self.name('o'));
        let (one, two) = (self.constant(kind), self.constant(kind));
        let second = if self.draw.one_in(3) {
            self.column(Kind::Text)
        } else {
            "\"b\"".to_owned()
        };
        let condition = self.body(depth - 1, 1);
        self.helpers.push(format!(
            "\n{name}[\"a\"] := {one}\n\n{name}[{second}] := {two} if {condition}\n"
        ));
        let key = self.value(Kind::Text, 0).text;
        let value = self.value(kind, 0).text;
        let sign = self.sign(kind);
        let not = if self.draw.one_in(3) && sign != "=" {
            "not "
        } else {
            ""
        };
        Said::plain(format!("{not}{name}[{key}] {sign} {value}"))
    }
}
