//! Filters keep exactly the rows for which the policy is true.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use solon::{Engine, FilterOptions, PreparedDocument, PreparedFilters, Request, json as values};

use crate::databases::{Database, RowPairs, condition, on_each_database, table};
use crate::draw::Draw;
use crate::number;
use crate::policies::{Policy, policy};
use crate::random_policies::shape;
use crate::tables::{BASKETS, FRUITS, Kind, TABLES, rows};

/// Number of policies of each sort for each table; unoptimised builds take a sample.
const POLICIES: u64 = if cfg!(debug_assertions) { 30 } else { 300 };
/// Number of policies in complete runs.
const ALL_POLICIES: u64 = 1_000;
/// Number of table contents for each policy.
const CONTENTS: u64 = 3;
/// Maximum number of reported errors.
const MAX_REPORTED: usize = 5;

struct Contents {
    fruits: Vec<Vec<Value>>,
    baskets: Vec<Vec<Value>>,
    nulls: bool,
}

impl Contents {
    fn draw(seed: u64, database: &dyn Database) -> Self {
        let mut draw = Draw::new(seed ^ 0xF1A7);
        let nulls = seed % 3 == 1;
        let mut rows = |columns: &[(&str, Kind)], count: usize| {
            let mut rows = rows(&mut draw, columns, count, nulls);
            for value in rows
                .iter_mut()
                .flatten()
                .filter(|value| !database.fits(value))
            {
                *value = if value.is_number() {
                    json!(7)
                } else {
                    json!("a")
                };
            }
            rows
        };
        Self {
            fruits: rows(&FRUITS, 12),
            baskets: rows(&BASKETS, 3),
            nulls,
        }
    }

    fn load(&self, database: &mut dyn Database, folding: bool) {
        let mut statements = table(database, "fruits", &FRUITS, &self.fruits, folding);
        statements.extend(table(database, "baskets", &BASKETS, &self.baskets, folding));
        database.run(&statements);
    }
}

/// Returns the column declarations for exact filters.
fn declared() -> solon::Value {
    let tables = TABLES.iter().map(|(table, columns)| {
        let columns = columns.iter().map(|(column, kind)| {
            let kind = match kind {
                Kind::Text => "text",
                Kind::Integer => "integer",
                Kind::Decimal => "decimal",
                Kind::Truth => "boolean",
            };
            let declared = json!({"kind": kind, "nullable": true, "collation": "whatever"});
            ((*column).to_owned(), declared)
        });
        ((*table).to_owned(), Value::Object(columns.collect()))
    });
    let tables = Value::Object(tables.collect());
    values::read(tables.to_string().as_bytes()).unwrap()
}

fn object(columns: &[(&str, Kind)], row: &[Value]) -> Value {
    let fields = columns.iter().zip(row);
    let fields: Map<String, Value> = fields
        .map(|((name, _), value)| ((*name).to_owned(), value.clone()))
        .collect();
    Value::Object(fields)
}

/// Returns the pairs of rows for which the policy is true.
fn truth(rule: &PreparedDocument, input: &Value, contents: &Contents) -> RowPairs {
    let mut kept = Vec::new();
    let mut input = input.clone();
    for (one, fruit) in contents.fruits.iter().enumerate() {
        for (other, basket) in contents.baskets.iter().enumerate() {
            input["fruits"] = object(&FRUITS, fruit);
            input["baskets"] = object(&BASKETS, basket);
            let input = values::read(input.to_string().as_bytes()).unwrap();
            let answer = rule.evaluate(&Request::new().input(&input));
            // a policy that ends in an error is not true
            if answer.is_ok_and(|value| value.is_some_and(|value| value != false)) {
                kept.push((one, other));
            }
        }
    }
    kept
}

struct PolicyFilter {
    text: String,
    input: Value,
    rule: PreparedDocument,
    filter: PreparedFilters,
}

/// Returns a policy and its filter; `None` if the policy cannot be a filter, which only happens with random shapes.
fn policy_filter(drawn: Policy, options: &FilterOptions) -> Option<PolicyFilter> {
    let engine = Engine::new();
    engine.set_module("filters.rego", &drawn.text).ok()?;
    Some(PolicyFilter {
        rule: engine.prepare_document("data.filters.include").unwrap(),
        filter: engine
            .prepare_filters("data.filters.include", options)
            .unwrap(),
        text: drawn.text,
        input: drawn.input,
    })
}

fn compare(
    database: &mut dyn Database,
    (exact, extensions): (bool, bool),
    drawn: fn(u64, bool) -> Policy,
) {
    let first = number("SOLON_SEED", 0);
    let all = std::env::var_os("SOLON_FULL").is_some();
    let count = number("SOLON_COUNT", if all { ALL_POLICIES } else { POLICIES });
    let mut options =
        FilterOptions::new([database.target()]).unknowns(["input.fruits", "input.baskets"]);
    options = options.extensions(extensions);
    if exact {
        options = options.exact(true).mappings(declared());
    }
    let (mut failures, mut said, mut refused, mut found) = (String::new(), 0, 0, 0);
    let (mut nonsense, mut wrong) = (0, 0);
    for content in 0..CONTENTS {
        let contents = Contents::draw(first.wrapping_mul(31) + content, database);
        contents.load(database, exact);
        let mut all = Vec::new();
        let mut conditions = Vec::new();
        // as many as can be expressed
        let mut seeds = first..;
        while all.len() < usize::try_from(count).unwrap() {
            let seed = seeds.next().unwrap();
            let Some(asked) = policy_filter(drawn(seed, exact), &options) else {
                nonsense += 1;
                continue;
            };
            let input = values::read(asked.input.to_string().as_bytes()).unwrap();
            let made = match asked.filter.compile(&Request::new().input(&input)) {
                Ok(made) => made,
                // known rules may conflict independent of the row
                Err(solon::Error::Filter(_) | solon::Error::Eval(_)) => {
                    refused += 1;
                    continue;
                }
                Err(error) => panic!("{}\n{error}", asked.text),
            };
            let condition = condition(made);
            if !database.interprets(&condition) {
                continue;
            }
            conditions.push(condition);
            all.push(asked);
        }
        let answers = database.matching_rows(&conditions);
        for ((asked, condition), kept) in all.iter().zip(&conditions).zip(answers) {
            let truth = truth(&asked.rule, &asked.input, &contents);
            let right = match &kept {
                Err(_) => false,
                Ok(kept) if contents.nulls && !exact => {
                    kept.iter().all(|pair| truth.contains(pair))
                }
                Ok(kept) => {
                    let mut kept = kept.clone();
                    kept.sort_unstable();
                    kept == truth
                }
            };
            said += 1;
            found += truth.len();
            if !right {
                wrong += 1;
                if wrong > MAX_REPORTED {
                    continue;
                }
                let more_and_less = kept.as_ref().map(|kept| {
                    let more = kept
                        .iter()
                        .filter(|pair| !truth.contains(pair))
                        .copied()
                        .collect::<RowPairs>();
                    let less = truth
                        .iter()
                        .filter(|pair| !kept.contains(pair))
                        .copied()
                        .collect::<RowPairs>();
                    (more, less)
                });
                let shown = more_and_less.as_ref().ok().map(|(more, less)| {
                    let pairs = more.iter().chain(less).take(2);
                    let rows = pairs.map(|(one, other)| {
                        json!([
                            object(&FRUITS, &contents.fruits[*one]),
                            object(&BASKETS, &contents.baskets[*other])
                        ])
                    });
                    rows.map(|rows| rows.to_string()).collect::<Vec<_>>()
                });
                writeln!(
                    failures,
                    "{}\n{}\n{condition}\nmore, less: {more_and_less:?}\n{shown:?}",
                    asked.text, asked.input
                )
                .unwrap();
            }
        }
    }
    let target = database.target();
    let mode = if exact { "exact" } else { "default" };
    println!(
        "{target}, {mode}: {said} filters asked, {refused} refused, {nonsense} of no sense, {found} rows true"
    );
    assert!(wrong == 0, "{wrong} wrong\n{failures}");
    assert!(
        refused + nonsense < said * 6,
        "{refused} refused, {nonsense} of no sense, {said} asked"
    );
}

/// Compares policies of both sorts.
fn compare_all(database: &mut dyn Database) {
    let modes: &[bool] = if database.target().is_sql() {
        &[false, true]
    } else {
        &[false]
    };
    for exact in modes {
        compare(database, (*exact, false), policy);
        compare(database, (*exact, true), shape);
    }
}

on_each_database!(keeps_the_rows_that_are_true, super::compare_all);
