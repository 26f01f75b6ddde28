//! Names and values from the input or a mapping, whatever they contain, affect only the intended column and value: of
//! two rows, a condition keeps the one with the value. Text that ended early would fail, or keep another row.

use std::time::Instant;

use serde_json::{Value, json};
use solon::{Engine, FilterOptions, FilterTarget, Request, json as values};

use crate::databases::{Database, Sqlite, condition, on_mariadb, on_postgresql};
use crate::draw::Draw;
use crate::number;
use crate::tables::Kind;

/// Number of names and values to try; more if `SOLON_SECONDS` sets a duration.
const TRIED: u64 = if cfg!(debug_assertions) { 60 } else { 100 };
/// Pieces of names and values.
const PIECES: [&str; 30] = [
    "'",
    "\"",
    "`",
    "\\",
    "\\'",
    "''",
    "--",
    "/*",
    "*/",
    ";",
    " OR 1=1",
    ") OR (1=1",
    "%",
    "_",
    "[",
    "]",
    "$$",
    "E'",
    "N'",
    "?",
    "$1",
    "@p1",
    "\n",
    "\r\n",
    "\t",
    "é",
    "name",
    "NULL",
    "#",
    "\u{2019}",
];
/// Rules that test any column for any value.
pub const POLICY: &str = "package filters\n\ninclude if input.fruits[input.column] == input.value\n\n\
    within if contains(input.fruits[input.column], input.value)\n\n\
    listed if input.fruits[input.column] in [input.value, \"other\"]\n\n\
    lowered if lower(input.fruits[input.column]) == lower(input.value)\n\n\
    around if startswith(input.value, input.fruits[input.column])\n\n\
    trimmed if trim_right(input.fruits[input.column], \"~\") == input.value\n";
/// Each of the rules.
const RULES: [&str; 6] = [
    "include", "within", "listed", "lowered", "around", "trimmed",
];

pub fn text(draw: &mut Draw) -> String {
    (0..=draw.less_than(5))
        .map(|_| draw.choose(&PIECES))
        .collect()
}

/// Returns a quoted name, written without Solon.
fn quoted(target: FilterTarget, name: &str) -> String {
    let quote = if target == FilterTarget::Mysql {
        '`'
    } else {
        '"'
    };
    let doubled = name.replace(quote, &format!("{quote}{quote}"));
    format!("{quote}{doubled}{quote}")
}

/// Returns the ways in which a name gets into a condition: from the input, or from a mapping.
fn ways(target: FilterTarget, column: &str) -> [(&'static str, FilterOptions); 3] {
    let options = FilterOptions::new([target])
        .unknowns(["input.fruits"])
        .extensions(true);
    let mapped = |column: Value| {
        let mappings = json!({"fruits": {"c": column}}).to_string();
        let mappings = values::read(mappings.as_bytes()).unwrap();
        options.clone().mappings(mappings)
    };
    let declared =
        json!({"$self": column, "kind": "text", "nullable": true, "collation": "whatever"});
    [
        ("named", options.clone()),
        ("mapped", mapped(json!(column))),
        ("declared", mapped(declared).exact(true)),
    ]
}

fn attack(database: &mut dyn Database) {
    let target = database.target();
    let engine = Engine::new();
    engine.set_module("filters.rego", POLICY).unwrap();
    let (first, seconds) = (number("SOLON_SEED", 0), number("SOLON_SECONDS", 0));
    let start = Instant::now();
    let mut seeds = first..;
    let mut tried = 0;
    while tried < TRIED || start.elapsed().as_secs() < seconds {
        tried += 1;
        let seed = seeds.next().unwrap();
        let mut draw = Draw::new(seed ^ 0x1A7);
        let (column, value) = (format!("c{}", text(&mut draw)), text(&mut draw));
        let other = format!("x{}", text(&mut draw).replace(&value, ""));
        let (column, value) = (column.trim_end().to_owned(), value);
        let kind = database.column_type(Kind::Text);
        let row = |nr: usize, value: &str| {
            let literal = database.literal(&json!(value));
            format!("INSERT INTO fruits VALUES ({nr}, {literal})")
        };
        let (hit, miss) = (row(0, &value), row(1, &other));
        // a name of plain letters is written without quotes, and PostgreSQL converts it to lower case
        let is_plain = column
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_');
        let made = if is_plain && target == FilterTarget::Postgresql {
            quoted(target, &column.to_lowercase())
        } else {
            quoted(target, &column)
        };
        let made = format!("CREATE TABLE fruits (nr INTEGER, {made} {kind})");
        let statements = [
            "DROP TABLE IF EXISTS fruits",
            "DROP TABLE IF EXISTS baskets",
            &made,
        ];
        let more = [
            "CREATE TABLE baskets (nr INTEGER)",
            "INSERT INTO baskets VALUES (0)",
            &hit,
            &miss,
        ];
        let all: Vec<String> = statements
            .iter()
            .chain(&more)
            .map(|statement| (*statement).to_owned())
            .collect();
        database.run(&all);
        let mut asked = Vec::new();
        for (way, options) in ways(target, &column) {
            let named = if way == "named" { &column } else { "c" };
            let input: Value = json!({"column": named, "value": value});
            let input = values::read(input.to_string().as_bytes()).unwrap();
            let request = Request::new().input(&input);
            for rule in RULES {
                let made = engine
                    .filters(&format!("data.filters.{rule}"), &options, &request)
                    .unwrap();
                asked.push((rule, condition(made)));
            }
        }
        let conditions: Vec<String> = asked.iter().map(|(_, text)| text.clone()).collect();
        let kept = database.matching_rows(&conditions);
        for ((rule, condition), kept) in asked.iter().zip(kept) {
            let is_other = match *rule {
                "within" => other.contains(&value),
                "lowered" => other.to_lowercase() == value.to_lowercase(),
                "around" => value.starts_with(&other),
                _ => false,
            };
            let wanted: Vec<(usize, usize)> = if is_other {
                vec![(0, 0), (1, 0)]
            } else {
                vec![(0, 0)]
            };
            assert_eq!(
                kept,
                Ok(wanted),
                "{column:?} {value:?} {other:?}\n{condition}"
            );
        }
    }
    println!("{target}: {tried} names and values tried");
}

#[test]
fn no_name_and_no_value_changes_a_condition() {
    attack(&mut Sqlite::open());
    on_postgresql(attack);
    on_mariadb(attack);
}
