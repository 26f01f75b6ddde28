//! Whatever stands in names and values, a condition asks for that column and that value and nothing else: of two rows it
//! keeps the one that has the value. A text that ended early would fail, or keep another row.

use serde_json::{Value, json};
use solon::{Engine, FilterOptions, FilterQuery, FilterTarget, Request, json as values};

use crate::databases::{Database, Mariadb, Postgresql, Sqlite};
use crate::draw::Draw;
use crate::tables::Kind;

/// How many names and values are tried.
const TRIED: u64 = if cfg!(debug_assertions) { 60 } else { 400 };
/// What names and values are made of.
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
const POLICY: &str = "package filters\n\ninclude if input.fruits[input.column] == input.value\n\n\
    within if contains(input.fruits[input.column], input.value)\n\n\
    listed if input.fruits[input.column] in [input.value, \"other\"]\n";

fn text(draw: &mut Draw) -> String {
    (0..=draw.below(5)).map(|_| draw.of(&PIECES)).collect()
}

/// A name between quotes, written without Solon.
fn quoted(target: FilterTarget, name: &str) -> String {
    let quote = if target == FilterTarget::Mysql {
        '`'
    } else {
        '"'
    };
    let doubled = name.replace(quote, &format!("{quote}{quote}"));
    format!("{quote}{doubled}{quote}")
}

fn attack(database: &mut dyn Database) {
    let target = database.target();
    let options = FilterOptions::new([target]).unknowns(["input.fruits"]);
    let engine = Engine::new();
    engine.set_module("filters.rego", POLICY).unwrap();
    for seed in 0..TRIED {
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
        // a name of plain letters is written without quotes, which PostgreSQL reads in lower case
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
        let input: Value = json!({"column": column, "value": value});
        let input = values::read(input.to_string().as_bytes()).unwrap();
        let request = Request::new().input(&input);
        let mut conditions = Vec::new();
        for rule in ["include", "listed", "within"] {
            if rule == "within" && target == FilterTarget::Sqlite {
                continue;
            }
            let made = engine
                .filters(&format!("filters/{rule}"), &options, &request)
                .unwrap();
            match &made.filters[0].query {
                Some(FilterQuery::Sql(sql)) => conditions.push(sql.text.clone()),
                other => panic!("{column:?} {value:?}: {other:?}"),
            }
        }
        let kept = database.kept(&conditions);
        for (condition, kept) in conditions.iter().zip(kept) {
            let wanted: Vec<(usize, usize)> =
                if condition.contains(" LIKE ") && other.contains(&value) {
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
    println!("{target}: {TRIED} names and values tried");
}

#[test]
fn no_name_and_no_value_changes_a_condition() {
    attack(&mut Sqlite::open());
    if let Some(mut database) = Postgresql::start() {
        attack(&mut database);
    }
    if let Some(mut database) = Mariadb::start() {
        attack(&mut database);
    }
}
