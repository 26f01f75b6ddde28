//! The few strings, numbers and field names of one program, and documents made of them. They are few, so that
//! comparisons, lookups and joins succeed often enough to be informative.

use super::random::Random;
use super::shape::Shape;

const STRINGS: [&str; 30] = [
    "a",
    "b",
    "c",
    "ab",
    "admin",
    "alice",
    "bob",
    "carol",
    "read",
    "write",
    "delete",
    "x y",
    "",
    "é",
    "日本",
    "10",
    "2.5",
    "Ab",
    "a.b",
    "a/b",
    "/v1/items",
    "tag:x",
    "eu-west",
    "q\\\"t",
    "<b>&",
    "null",
    "1e3",
    "  pad ",
    "aXbXc",
    "https://h.example/p?q=1",
];
const INTEGERS: [&str; 8] = ["0", "1", "2", "3", "4", "5", "7", "10"];
const NUMBERS: [&str; 26] = [
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "7",
    "10",
    "100",
    "-1",
    "-4",
    "1.5",
    "2.25",
    "0.1",
    "0.10",
    "0.2",
    "1.0",
    "3.0",
    "-0.5",
    "1e2",
    "1e-3",
    "12e5",
    "9007199254740993",
    "12345678901234567890",
    "0.30000000000000004",
    "123456789012345678901234567890.5",
];
const FIELDS: [&str; 16] = [
    "id", "name", "role", "tags", "owner", "level", "kind", "size", "ports", "grants", "k1", "a b",
    "on", "meta", "items", "deny",
];

pub struct Vocabulary {
    pub strings: Vec<&'static str>,
    pub numbers: Vec<&'static str>,
    pub integers: Vec<&'static str>,
    fields: Vec<&'static str>,
}

/// Returns `.name`, or a bracketed step for names that are not identifiers.
pub fn step(field: &str) -> String {
    if field.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()) {
        format!(".{field}")
    } else {
        bracket(field)
    }
}

fn bracket(field: &str) -> String {
    format!("[\"{field}\"]")
}

impl Vocabulary {
    pub fn draw(random: &mut Random) -> Self {
        let strings = random.between(3, 6);
        let numbers = random.between(3, 6);
        Self {
            strings: random.sample(&STRINGS, strings),
            // integers twice: plain arithmetic should be the usual case
            numbers: [
                random.sample(&INTEGERS, 3),
                random.sample(&NUMBERS, numbers),
            ]
            .concat(),
            integers: random.sample(&INTEGERS, 4),
            fields: random.sample(&FIELDS, 7),
        }
    }

    pub fn string(&self, random: &mut Random) -> String {
        format!("\"{}\"", random.pick(&self.strings))
    }

    /// Returns `count` different field names.
    pub fn fields(&self, random: &mut Random, count: usize) -> Vec<&'static str> {
        random.sample(&self.fields, count)
    }

    pub fn scalar_kind(random: &mut Random) -> Shape {
        match random.weighted(&[(8, 0), (6, 1), (4, 2), (2, 3), (1, 4)]) {
            0 => Shape::Text,
            1 => Shape::Integer,
            2 => Shape::Number,
            3 => Shape::Boolean,
            _ => Shape::Null,
        }
    }

    pub fn record_kind(&self, random: &mut Random, depth: usize) -> Shape {
        let count = random.between(2, 4);
        let fields = self.fields(random, count);
        Shape::Record(
            fields
                .into_iter()
                .map(|name| (name.to_string(), self.shape(random, depth)))
                .collect(),
        )
    }

    /// Returns a kind for a part of a document, with at most `depth` levels of collections.
    pub fn shape(&self, random: &mut Random, depth: usize) -> Shape {
        if depth == 0 {
            return Self::scalar_kind(random);
        }
        match random.weighted(&[
            (30, 0),
            (18, 1),
            (14, 2),
            (10, 3),
            (6, 4),
            (10, 5),
            (12, 6),
            (3, 7),
        ]) {
            0 => Self::scalar_kind(random),
            1 => Shape::array(Self::scalar_kind(random)),
            2 => Shape::array(self.record_kind(random, depth - 1)),
            3 => Shape::map(Self::scalar_kind(random)),
            4 => Shape::map(Shape::array(Self::scalar_kind(random))),
            5 => Shape::map(self.record_kind(random, depth - 1)),
            6 => self.record_kind(random, depth - 1),
            _ => Shape::Any,
        }
    }

    /// Returns a constant of this kind, in a notation that is valid in JSON and Rego (sets are Rego only).
    pub fn constant(&self, random: &mut Random, shape: &Shape) -> String {
        let several = |random: &mut Random, of: &Shape| -> Vec<String> {
            (0..random.between(1, 3))
                .map(|_| self.constant(random, of))
                .collect()
        };
        match shape {
            Shape::Null => "null".into(),
            Shape::Boolean => (*random.pick(&["true", "true", "false"])).into(),
            Shape::Integer => (*random.pick(&self.integers)).into(),
            Shape::Number => (*random.pick(&self.numbers)).into(),
            Shape::Text => self.string(random),
            Shape::Array(of) => format!("[{}]", several(random, of).join(", ")),
            Shape::Set(of) => format!("{{{}}}", several(random, of).join(", ")),
            Shape::Map(of) => {
                let values = several(random, of);
                let keys = random.sample(&self.strings, values.len());
                let pairs: Vec<String> = keys
                    .iter()
                    .zip(&values)
                    .map(|(key, value)| format!("\"{key}\": {value}"))
                    .collect();
                format!("{{{}}}", pairs.join(", "))
            }
            Shape::Record(fields) => {
                let pairs: Vec<String> = fields
                    .iter()
                    .map(|(name, of)| format!("\"{name}\": {}", self.constant(random, of)))
                    .collect();
                format!("{{{}}}", pairs.join(", "))
            }
            Shape::Any => {
                let shape = match random.less_than(8) {
                    0 => Shape::array(Self::scalar_kind(random)),
                    1 => Shape::map(Self::scalar_kind(random)),
                    _ => Self::scalar_kind(random),
                };
                self.constant(random, &shape)
            }
        }
    }

    /// Returns a document of this kind as JSON, sometimes with a field missing or of the wrong kind, as in real
    /// documents.
    pub fn document(&self, random: &mut Random, shape: &Shape) -> String {
        match shape {
            Shape::Array(of) => {
                let length = if random.chance(6) {
                    0
                } else {
                    random.between(1, 4)
                };
                let elements: Vec<String> =
                    (0..length).map(|_| self.document(random, of)).collect();
                format!("[{}]", elements.join(","))
            }
            Shape::Map(of) => {
                let count = random.between(1, 4);
                let keys = random.sample(&self.strings, count);
                let pairs: Vec<String> = keys
                    .iter()
                    .map(|key| format!("\"{key}\":{}", self.document(random, of)))
                    .collect();
                format!("{{{}}}", pairs.join(","))
            }
            Shape::Record(fields) => {
                let mut pairs = Vec::new();
                for (name, of) in fields {
                    match random.less_than(25) {
                        0 => {}
                        1 => {
                            pairs
                                .push(format!("\"{name}\":{}", self.constant(random, &Shape::Any)));
                        }
                        _ => pairs.push(format!("\"{name}\":{}", self.document(random, of))),
                    }
                }
                format!("{{{}}}", pairs.join(","))
            }
            _ => self.constant(random, shape),
        }
    }
}
