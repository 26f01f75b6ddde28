//! Tables for the filters: kinds of columns, and rows.

use serde_json::{Value, json};

use crate::draw::Draw;

/// Kind of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Integer,
    Decimal,
    Truth,
}

/// Columns of a table.
pub const FRUITS: [(&str, Kind); 6] = [
    ("name", Kind::Text),
    ("colour", Kind::Text),
    ("price", Kind::Integer),
    ("stock", Kind::Integer),
    ("weight", Kind::Decimal),
    ("organic", Kind::Truth),
];
/// Columns of another table.
pub const BASKETS: [(&str, Kind); 4] = [
    ("owner", Kind::Text),
    ("size", Kind::Integer),
    ("load", Kind::Decimal),
    ("open", Kind::Truth),
];
/// Tables with their columns.
pub const TABLES: [(&str, &[(&str, Kind)]); 2] = [("fruits", &FRUITS), ("baskets", &BASKETS)];

/// Texts for constants and rows: similar to each other, and with many special characters.
pub const TEXTS: [&str; 30] = [
    "apple",
    "Apple",
    "apple ",
    " apple",
    "app",
    "pineapple",
    "APPLE",
    "",
    " ",
    "a",
    "b",
    "O'Brien",
    "50%",
    "5_0",
    "a\\b",
    "a_b",
    "a%b",
    "[ab]",
    "a[b]c",
    "é",
    "e\u{301}",
    "É",
    "ß",
    "ss",
    "\u{1F600}",
    "\u{FFFD}",
    "x\ny",
    "\"q\"",
    "1",
    "true",
];
/// Integers.
pub const INTEGERS: [&str; 16] = [
    "0",
    "1",
    "-1",
    "2",
    "10",
    "11",
    "12",
    "100",
    "32767",
    "32768",
    "50000",
    "2147483648",
    "-2147483649",
    "9007199254740992",
    "9007199254740993",
    "9223372036854775807",
];
/// Decimals that all of the databases store exactly.
pub const DECIMALS: [&str; 12] = [
    "0", "1", "1.5", "-1.5", "2.25", "10", "11", "0.5", "0.125", "100.75", "32768.5", "-0.25",
];

/// Returns a Rego literal for a value of a kind.
pub fn constant(draw: &mut Draw, kind: Kind) -> String {
    value(draw, kind).to_string()
}

fn value(draw: &mut Draw, kind: Kind) -> Value {
    let number = |text: &str| serde_json::from_str(text).unwrap();
    match kind {
        Kind::Text => json!(draw.choose(&TEXTS)),
        Kind::Integer => number(draw.choose(&INTEGERS)),
        Kind::Decimal => number(draw.choose(&DECIMALS)),
        Kind::Truth => json!(draw.one_in(2)),
    }
}

/// Returns the rows of a table; with `nulls`, any value may be missing.
pub fn rows(
    draw: &mut Draw,
    columns: &[(&str, Kind)],
    count: usize,
    nulls: bool,
) -> Vec<Vec<Value>> {
    let mut row = || {
        let values = columns.iter().map(|(_, kind)| {
            if nulls && draw.one_in(4) {
                Value::Null
            } else {
                value(draw, *kind)
            }
        });
        values.collect()
    };
    (0..count).map(|_| row()).collect()
}
