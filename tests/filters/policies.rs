//! Random policies about rows.

use serde_json::{Value, json};

use crate::draw::Draw;
use crate::tables::{Kind, TABLES, constant};

/// A policy and an input for it.
pub struct Policy {
    pub text: String,
    pub input: Value,
}

/// Returns a policy that compares columns with values of their kind; with `mixed`, also with values of other kinds.
pub fn policy(seed: u64, mixed: bool) -> Policy {
    let mut draw = Draw::new(seed);
    let input = json!({
        "limit": serde_json::from_str::<Value>(&constant(&mut draw, Kind::Integer)).unwrap(),
        "name": serde_json::from_str::<Value>(&constant(&mut draw, Kind::Text)).unwrap(),
        "names": (0..draw.less_than(4)).map(|_| serde_json::from_str::<Value>(&constant(&mut draw, Kind::Text)).unwrap()).collect::<Vec<_>>(),
        "admin": draw.one_in(3),
    });
    let mut maker = Maker {
        draw,
        helpers: Vec::new(),
        names: 0,
        mixed,
    };
    let mut text = String::from("package filters\n\nimport rego.v1\n");
    if maker.draw.one_in(6) {
        text.push_str("\nrows := [1, 2, 10]\n");
    } else {
        text.push_str("\nrows := [0, 11]\n");
    }
    for _ in 0..=maker.draw.less_than(3) {
        let body = maker.body(3);
        text.push_str(&format!("\ninclude if {body}\n"));
    }
    for helper in maker.helpers {
        text.push_str(&helper);
    }
    Policy { text, input }
}

struct Maker {
    draw: Draw,
    helpers: Vec<String>,
    /// Number of named variables.
    names: usize,
    mixed: bool,
}

impl Maker {
    fn body(&mut self, longest: usize) -> String {
        let exprs: Vec<String> = (0..=self.draw.less_than(longest))
            .map(|_| self.expr())
            .collect();
        format!("{{\n\t{}\n}}", exprs.join("\n\t"))
    }

    fn constant(&mut self, kind: Kind) -> String {
        let kinds = [Kind::Text, Kind::Integer, Kind::Decimal, Kind::Truth];
        let kind = if self.mixed && self.draw.one_in(5) {
            kinds[self.draw.less_than(kinds.len())]
        } else {
            kind
        };
        constant(&mut self.draw, kind)
    }

    fn column(&mut self, kind: Option<Kind>) -> (String, Kind) {
        loop {
            let (table, columns) = TABLES[usize::from(self.draw.one_in(4))];
            let (name, own) = columns[self.draw.less_than(columns.len())];
            if kind.is_none_or(|kind| kind == own) {
                return (format!("input.{table}.{name}"), own);
            }
        }
    }

    fn expr(&mut self) -> String {
        match self.draw.less_than(14) {
            0 => format!("not {}", self.test()),
            1 => self.helper(),
            2 => format!("not {}", self.helper()),
            3 => self.function(),
            4 => self.choice(),
            5 => {
                let (column, kind) = self.column(None);
                let values: Vec<String> = (0..2).map(|_| self.constant(kind)).collect();
                self.names += 1;
                let name = format!("v{}", self.names);
                format!(
                    "some {name} in [{}]\n\t{column} == {name}",
                    values.join(", ")
                )
            }
            6 => [
                "input.admin",
                "not input.admin",
                "input.limit > 10",
                "not input.missing",
            ][self.draw.less_than(4)]
            .to_owned(),
            7 => {
                let (column, _) = self.column(Some(Kind::Integer));
                format!("every n in rows {{ {column} != n }}")
            }
            _ => self.test(),
        }
    }

    fn test(&mut self) -> String {
        match self.draw.less_than(10) {
            0 => {
                let (column, kind) = self.column(None);
                let mut values: Vec<String> = (0..self.draw.less_than(4))
                    .map(|_| self.constant(kind))
                    .collect();
                if self.draw.one_in(5) {
                    values.push("null".to_owned());
                }
                format!("{column} in [{}]", values.join(", "))
            }
            1 => {
                let (column, _) = self.column(Some(Kind::Text));
                let name = self.draw.choose(&["startswith", "endswith", "contains"]);
                let part = constant(&mut self.draw, Kind::Text);
                format!("{name}({column}, {part})")
            }
            2 => {
                let (column, _) = self.column(None);
                format!("{column} {} null", self.draw.choose(&["==", "!="]))
            }
            3 => {
                let (column, kind) = self.column(None);
                let (other, _) = self.column(Some(kind));
                let sign = self.sign(kind);
                if column == other {
                    return format!("{column} != null");
                }
                format!("{column} {sign} {other}")
            }
            4 => {
                let (column, _) = self.column(Some(Kind::Text));
                if self.draw.one_in(2) {
                    format!("{column} == input.name")
                } else {
                    format!("{column} in input.names")
                }
            }
            5 => {
                let (column, _) = self.column(Some(Kind::Integer));
                format!("{column} {} input.limit", self.sign(Kind::Integer))
            }
            6 => {
                let (column, kind) = self.column(None);
                let sign = self.sign(kind);
                let value = self.constant(kind);
                // A line that starts with a minus continues the previous line.
                if value.starts_with('-') {
                    return format!("{column} {sign} {value}");
                }
                format!("{value} {sign} {column}")
            }
            _ => {
                let (column, kind) = self.column(None);
                let sign = self.sign(kind);
                format!("{column} {sign} {}", self.constant(kind))
            }
        }
    }

    fn sign(&mut self, kind: Kind) -> &'static str {
        match kind {
            Kind::Truth => self.draw.choose(&["==", "!="]),
            _ => self.draw.choose(&["==", "!=", "<", "<=", ">", ">="]),
        }
    }

    /// Writes a separate rule with one or two bodies.
    fn helper(&mut self) -> String {
        let name = format!("h{}", self.helpers.len());
        let mut text = String::new();
        for _ in 0..=self.draw.less_than(2) {
            let tests: Vec<String> = (0..=self.draw.less_than(2)).map(|_| self.test()).collect();
            text.push_str(&format!("\n{name} if {{\n\t{}\n}}\n", tests.join("\n\t")));
        }
        self.helpers.push(text);
        name
    }

    /// Writes a function of a column.
    fn function(&mut self) -> String {
        let name = format!("h{}", self.helpers.len());
        let (column, kind) = self.column(None);
        let (one, other) = (self.constant(kind), self.constant(kind));
        let sign = self.sign(kind);
        self.helpers.push(format!(
            "\n{name}(x) if x == {one}\n\n{name}(x) if x {sign} {other}\n"
        ));
        format!("{name}({column})")
    }

    /// Writes a rule with several values, which may conflict.
    fn choice(&mut self) -> String {
        let name = format!("h{}", self.helpers.len());
        let (column, kind) = self.column(None);
        let (one, other) = (self.constant(kind), self.constant(kind));
        let second = if self.draw.one_in(3) {
            self.test()
        } else {
            format!("{column} == {other}")
        };
        self.helpers.push(format!(
            "\n{name} := \"a\" if {column} == {one}\n\n{name} := \"b\" if {second}\n"
        ));
        format!("{name} == {}", self.draw.choose(&["\"a\"", "\"b\""]))
    }
}
