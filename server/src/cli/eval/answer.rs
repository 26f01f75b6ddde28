//! Result of a query in each output format, as OPA prints it.

use solon::json::{self, JsonLayout, Style};
use solon::{ExpressionText, Kind, Solution, Value};

use super::args::Format;
use crate::cli::table::TextTable;

pub struct QueryOutput {
    pub expressions: Vec<ExpressionText>,
    pub solutions: Vec<Solution>,
}

impl QueryOutput {
    /// Returns `true` if there is a solution.
    pub fn is_defined(&self) -> bool {
        !self.solutions.is_empty()
    }

    /// Returns the result in an output format, as `eval` prints it.
    pub fn render(&self, format: Format) -> Vec<u8> {
        let mut out = Vec::new();
        match format {
            Format::Json | Format::Source => self.json(&mut out),
            Format::Pretty => self.pretty(&mut out),
            Format::Values => {
                for solution in &self.solutions {
                    indent(&Value::array(solution.values.clone()), &mut out);
                }
            }
            Format::Bindings => {
                for solution in &self.solutions {
                    indent(&bindings(solution), &mut out);
                }
            }
            Format::Raw => {
                for solution in &self.solutions {
                    raw(solution, &mut out);
                }
            }
            Format::Discard => {
                let discarded = self
                    .is_defined()
                    .then(|| ("result".into(), Value::from("discarded")));
                indent(&Value::object(discarded.into_iter().collect()), &mut out);
            }
        }
        out
    }

    fn json(&self, out: &mut Vec<u8>) {
        let mut top = IndentedFields::open(out, 0);
        if self.is_defined() {
            top.name("result");
            top.out.push(b'[');
            for (index, solution) in self.solutions.iter().enumerate() {
                top.out
                    .extend_from_slice(if index == 0 { b"\n    " } else { b",\n    " });
                self.solution(solution, top.out);
            }
            top.out.extend_from_slice(b"\n  ]");
        }
        top.close();
        out.push(b'\n');
    }

    fn solution(&self, solution: &Solution, out: &mut Vec<u8>) {
        let mut fields = IndentedFields::open(out, 2);
        fields.name("expressions");
        fields.out.push(b'[');
        for (index, (expression, value)) in
            self.expressions.iter().zip(&solution.values).enumerate()
        {
            fields.out.extend_from_slice(if index == 0 {
                b"\n        "
            } else {
                b",\n        "
            });
            let mut fields = IndentedFields::open(fields.out, 4);
            fields.value("value", value);
            fields.value("text", &Value::string(&expression.text));
            fields.name("location");
            let mut location = IndentedFields::open(fields.out, 5);
            location.value("row", &Value::from(i64::from(expression.row)));
            location.value("col", &Value::from(i64::from(expression.col)));
            location.close();
            fields.close();
        }
        fields.out.extend_from_slice(b"\n      ]");
        if !solution.bindings.is_empty() {
            fields.value("bindings", &bindings(solution));
        }
        fields.close();
    }

    fn pretty(&self, out: &mut Vec<u8>) {
        match self.solutions.as_slice() {
            [] => out.extend_from_slice(b"undefined\n"),
            [only]
                if only.bindings.is_empty()
                    && (only.values.len() == 1 || only.values.iter().all(is_boolean)) =>
            {
                if let Some(value) = only.values.first() {
                    indent(value, out);
                }
            }
            [first, ..] => out.extend_from_slice(self.table(first).render().as_bytes()),
        }
    }

    fn table(&self, first: &Solution) -> TextTable {
        let mut names: Vec<&str> = first.bindings.iter().map(|(name, _)| &**name).collect();
        names.sort_unstable();
        let is_shown =
            |index: usize| names.is_empty() || !first.values.get(index).is_some_and(is_boolean);
        let columns: Vec<usize> = (0..first.values.len())
            .filter(|&index| is_shown(index))
            .collect();
        let texts = columns
            .iter()
            .filter_map(|&index| self.expressions.get(index))
            .map(|expression| expression.text.clone());
        let mut table = TextTable::new(
            texts
                .chain(names.iter().map(|&name| name.to_owned()))
                .collect(),
        );
        for solution in &self.solutions {
            let values = columns
                .iter()
                .filter_map(|&index| solution.values.get(index));
            let binding_texts = names.iter().filter_map(|name| {
                solution
                    .bindings
                    .iter()
                    .find(|(other, _)| &**other == *name)
                    .map(|(_, value)| value)
            });
            table.row(values.chain(binding_texts).map(compact).collect());
        }
        table
    }
}

/// An object on several lines, written field by field.
struct IndentedFields<'o> {
    out: &'o mut Vec<u8>,
    depth: usize,
    empty: bool,
}

impl<'o> IndentedFields<'o> {
    fn open(out: &'o mut Vec<u8>, depth: usize) -> Self {
        out.push(b'{');
        Self {
            out,
            depth,
            empty: true,
        }
    }

    fn name(&mut self, name: &str) {
        self.out
            .extend_from_slice(if self.empty { b"\n" } else { b",\n" });
        self.empty = false;
        self.out
            .extend(std::iter::repeat_n(b' ', 2 * self.depth + 2));
        self.out
            .extend_from_slice(format!("\"{name}\": ").as_bytes());
    }

    fn value(&mut self, name: &str, value: &Value) {
        self.name(name);
        let prefix = "  ".repeat(self.depth + 1);
        json::write_styled(value.borrow(), indented_by(&prefix), self.out);
    }

    fn close(self) {
        if !self.empty {
            self.out.push(b'\n');
            self.out.extend(std::iter::repeat_n(b' ', 2 * self.depth));
        }
        self.out.push(b'}');
    }
}

fn bindings(solution: &Solution) -> Value {
    let pairs = solution
        .bindings
        .iter()
        .map(|(name, value)| (Value::string(name), value.clone()));
    Value::object(pairs.collect())
}

/// JSON on one line, as OPA's commands write it.
const COMPACT: Style<'static> = Style::new().html(true);

/// JSON on several lines, as OPA's commands write it. The first line is without the prefix.
fn indented_by(prefix: &str) -> Style<'_> {
    COMPACT.layout(Some(JsonLayout::new(prefix, "  ")))
}

fn indent(value: &Value, out: &mut Vec<u8>) {
    json::write_styled(value.borrow(), indented_by(""), out);
    out.push(b'\n');
}

fn compact(value: &Value) -> String {
    let mut text = Vec::new();
    json::write_styled(value.borrow(), COMPACT, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

fn raw(solution: &Solution, out: &mut Vec<u8>) {
    for (index, value) in solution.values.iter().enumerate() {
        if index > 0 {
            out.push(b' ');
        }
        match value.borrow() {
            text if text.is_string() => out.extend_from_slice(text.text_or_empty().as_bytes()),
            other => json::write_styled(other, COMPACT, out),
        }
    }
    out.push(b'\n');
}

fn is_boolean(value: &Value) -> bool {
    value.kind() == Kind::Boolean
}
