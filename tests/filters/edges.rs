//! Edge values, listed in `edges.json`: a test of each operator with each constant keeps exactly the rows for which the
//! policy is true.

use std::fmt::Write as _;
use std::fs;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use solon::{Engine, FilterOptions, Request, json as values};

use crate::databases::{Database, RowPairs, condition, on_each_database, table};
use crate::tables::Kind;

/// Minimum number of rows for each operator and constant.
const FEWEST: usize = 40;
/// Every how many constants are tested; unoptimised builds take a sample.
const EVERY: usize = if cfg!(debug_assertions) { 6 } else { 1 };
/// Number of rules of a policy.
const CHUNK: usize = 40;

#[derive(Deserialize)]
struct Edges {
    text: KindEdges,
    integer: KindEdges,
    decimal: KindEdges,
}

/// Edge values of a kind.
#[derive(Deserialize)]
struct KindEdges {
    /// Values of rows and constants: numbers as texts, since their notation matters.
    values: Vec<String>,
    /// Additional constants.
    more: Vec<String>,
}

/// Compared operands: two columns of a kind, and constants.
struct Group {
    kind: Kind,
    /// As Rego literals.
    constants: Vec<String>,
    rows: Vec<[Value; 2]>,
}

impl Group {
    fn of_kind(kind: Kind, edges: &KindEdges, database: &dyn Database) -> Self {
        let literal = |text: &String| match kind {
            // modules cannot contain a byte-order mark
            Kind::Text => json!(text).to_string().replace('\u{feff}', "\\ufeff"),
            _ => text.clone(),
        };
        let constants = edges.values.iter().chain(&edges.more).map(literal);
        let held: Vec<Value> = edges
            .values
            .iter()
            .map(|text| serde_json::from_str(&literal(text)).unwrap())
            .filter(|value| database.fits(value))
            .collect();
        let mut rows: Vec<[Value; 2]> = Vec::new();
        for (at, value) in held.iter().enumerate() {
            let other = &held[(at * 7 + 1) % held.len()];
            rows.push([value.clone(), other.clone()]);
        }
        rows.push([held[1].clone(), held[1].clone()]);
        assert!(rows.len() >= FEWEST, "{kind:?}");
        Self {
            kind,
            constants: constants.collect(),
            rows,
        }
    }

    fn truths() -> Self {
        let constants = ["true", "false"].map(str::to_owned).to_vec();
        let all = [false, true];
        let rows = all
            .iter()
            .flat_map(|one| all.map(|other| [json!(one), json!(other)]));
        Self {
            kind: Kind::Truth,
            constants,
            rows: rows.collect(),
        }
    }

    /// Returns tests of functions of columns, and of texts that are columns.
    fn functions(&self, row: &str) -> Vec<String> {
        let mut tests = Vec::new();
        for constant in self.constants.iter().step_by(EVERY) {
            let c = constant;
            let asked = match self.kind {
                Kind::Text => vec![
                    format!("lower({row}.one) == lower({c})"),
                    format!("lower({row}.one) == {c}"),
                    format!("lower({row}.one) != lower({c})"),
                    format!("upper({row}.one) == upper({c})"),
                    format!("lower({row}.one) in [lower({c}), \"a\", \"B\"]"),
                    format!("startswith(lower({row}.one), lower({c}))"),
                    format!("contains(upper({row}.one), upper({c}))"),
                    format!("endswith(lower(trim_space({row}.one)), lower({c}))"),
                    format!("trim_space({row}.one) == {c}"),
                    format!("trim({row}.one, {c}) == \"a\""),
                    format!("trim({row}.one, \" \") == {c}"),
                    format!("trim_left({row}.one, \"\\\"\") <= {c}"),
                    format!("trim_right({row}.one, \"é\") > {c}"),
                    format!("count({row}.one) == count({c})"),
                    format!("count(trim({row}.one, \"b\")) > count({c})"),
                    format!("count({row}.one) in [count({c}), 4]"),
                    format!("startswith({c}, {row}.one)"),
                    format!("endswith({c}, {row}.one)"),
                    format!("contains({c}, {row}.one)"),
                ],
                Kind::Integer => vec![
                    format!("{row}.one + 3 < {c}"),
                    format!("3 - {row}.one >= {c}"),
                    format!("{row}.one * 2 == {c}"),
                    format!("2 * {row}.one - 1 in [{c}, 7]"),
                    format!("{row}.one * -3 + 15 != {c}"),
                ],
                _ => Vec::new(),
            };
            for test in asked {
                tests.push(format!("not {test}"));
                tests.push(test);
            }
        }
        if self.kind == Kind::Text {
            for affix in ["startswith", "endswith", "contains"] {
                tests.push(format!("{affix}({row}.one, {row}.other)"));
                tests.push(format!("not {affix}({row}.other, {row}.one)"));
            }
        }
        tests
    }

    /// Returns all tests of the row `row`; those that UCAST cannot express only if `said` is set.
    fn tests(&self, row: &str, said: bool) -> Vec<String> {
        let signs: &[&str] = match self.kind {
            Kind::Truth => &["==", "!="],
            _ => &["==", "!=", "<", "<=", ">", ">="],
        };
        let mut tests = Vec::new();
        for constant in self.constants.iter().step_by(EVERY) {
            for sign in signs {
                tests.push(format!("{row}.one {sign} {constant}"));
                tests.push(format!("not {row}.one {sign} {constant}"));
            }
            // a line that starts with a minus continues the previous line
            if !constant.starts_with('-') {
                tests.push(format!("{constant} {} {row}.one", signs[signs.len() - 1]));
            }
            let first = &self.constants[0];
            for list in [
                format!("[{constant}]"),
                format!("[{constant}, {first}]"),
                format!("[null, {constant}, {first}]"),
            ] {
                tests.push(format!("{row}.one in {list}"));
                tests.push(format!("not {row}.one in {list}"));
            }
            if self.kind == Kind::Text {
                for affix in ["startswith", "endswith", "contains"] {
                    tests.push(format!("{affix}({row}.one, {constant})"));
                    tests.push(format!("not {affix}({row}.one, {constant})"));
                }
            }
        }
        if said {
            tests.extend(self.functions(row));
        }
        for sign in signs {
            tests.push(format!("{row}.one {sign} {row}.other"));
            tests.push(format!("not {row}.one {sign} {row}.other"));
        }
        for rest in ["== null", "!= null", "in []", "in [null]"] {
            tests.push(format!("{row}.one {rest}"));
            tests.push(format!("not {row}.one {rest}"));
        }
        tests
    }
}

fn object(row: &[Value; 2]) -> Value {
    json!({"one": row[0], "other": row[1]})
}

/// Returns a policy with a numbered rule for each test. There are few policies, since preparing one compiles all of its
/// rules.
fn engine(tests: &[String], rule: impl Fn(&str) -> String) -> Engine {
    let mut text = String::from("package filters\n");
    for (at, test) in tests.iter().enumerate() {
        write!(text, "\nt{at} {}\n", rule(test)).unwrap();
    }
    let engine = Engine::new();
    engine.set_module("filters.rego", &text).unwrap();
    engine
}

/// Returns the row numbers for which each test is true.
fn truths(tests: &[String], rows: &[[Value; 2]]) -> Vec<RowPairs> {
    let rows: Vec<Value> = rows.iter().map(object).collect();
    let input = json!({"rows": rows});
    let input = values::read(input.to_string().as_bytes()).unwrap();
    let engine = engine(tests, |test| {
        format!(":= [nr |\n\tsome nr, row in input.rows\n\t{test}\n]")
    });
    let all = engine.prepare_document("data.filters").unwrap();
    let all = all
        .evaluate(&Request::new().input(&input))
        .unwrap()
        .unwrap();
    let all: Map<String, Value> = serde_json::from_str(&all.rego_text().to_string()).unwrap();
    let of = |at| -> RowPairs {
        let numbers = all[&format!("t{at}")].as_array().unwrap();
        let number = |it: &Value| usize::try_from(it.as_u64().unwrap()).unwrap();
        numbers.iter().map(|it| (number(it), 0)).collect()
    };
    (0..tests.len()).map(of).collect()
}

fn compare(database: &mut dyn Database, exact: bool, group: &Group) {
    let columns = [("one", group.kind), ("other", group.kind)];
    let mut rows = group.rows.clone();
    let full = rows.len();
    rows.push([Value::Null, rows[0][1].clone()]);
    rows.push([rows[0][0].clone(), Value::Null]);
    rows.push([Value::Null, Value::Null]);
    let listed: Vec<Vec<Value>> = rows.iter().map(|row| row.to_vec()).collect();
    let mut statements = table(database, "fruits", &columns, &listed, exact);
    let basket = [vec![json!(1)]];
    statements.extend(table(
        database,
        "baskets",
        &[("size", Kind::Integer)],
        &basket,
        false,
    ));
    database.run(&statements);

    let mut options = FilterOptions::new([database.target()])
        .unknowns(["input.fruits"])
        .extensions(true);
    if exact {
        let kind = match group.kind {
            Kind::Text => "text",
            Kind::Integer => "integer",
            Kind::Decimal => "decimal",
            Kind::Truth => "boolean",
        };
        let column = json!({"kind": kind, "nullable": true, "collation": "whatever"});
        let mappings = json!({"fruits": {"one": column, "other": column}}).to_string();
        options = options
            .exact(true)
            .mappings(values::read(mappings.as_bytes()).unwrap());
    }
    let said = database.target().is_sql();
    let tests = group.tests("input.fruits", said);
    let (mut conditions, mut asked) = (Vec::new(), Vec::new());
    let mut truth = Vec::new();
    let of_rows = group.tests("row", said);
    for (tests, of_rows) in tests.chunks(CHUNK).zip(of_rows.chunks(CHUNK)) {
        let engine = engine(tests, |test| format!("if {{\n\t{test}\n}}"));
        let truths = truths(of_rows, &rows);
        for ((at, test), of_row) in tests.iter().enumerate().zip(truths) {
            let made =
                match engine.filters(&format!("data.filters.t{at}"), &options, &Request::new()) {
                    Ok(made) => made,
                    Err(solon::Error::Filter(_)) => continue,
                    Err(error) => panic!("{test}\n{error}"),
                };
            let condition = condition(made);
            if database.interprets(&condition) {
                conditions.push(condition);
                asked.push(test);
                truth.push(of_row);
            }
        }
    }
    let (mut failures, mut wrong) = (String::new(), 0);
    let kept = database.matching_rows(&conditions);
    for (((test, condition), truth), kept) in asked.iter().zip(&conditions).zip(&truth).zip(kept) {
        let right = kept.as_ref().is_ok_and(|kept| {
            let mut kept = kept.clone();
            kept.sort_unstable();
            let of_full = |all: &RowPairs| {
                all.iter()
                    .filter(|it| it.0 < full)
                    .copied()
                    .collect::<RowPairs>()
            };
            let sound = kept.iter().all(|pair| truth.contains(pair));
            if exact {
                kept == *truth
            } else {
                sound && of_full(&kept) == of_full(truth)
            }
        });
        if !right {
            wrong += 1;
            if wrong < 6 {
                writeln!(
                    failures,
                    "{test}\n{condition}\nkept {kept:?}\ntrue {truth:?}",
                )
                .unwrap();
            }
        }
    }
    let (target, kind, mode) = (
        database.target(),
        group.kind,
        if exact { "exact" } else { "default" },
    );
    println!(
        "{target}, {mode}, {kind:?}: {} of {} tests asked of {} rows",
        asked.len(),
        tests.len(),
        rows.len()
    );
    assert!(wrong == 0, "{target}, {mode}: {wrong} wrong\n{failures}");
    assert!(asked.len() * 2 > tests.len(), "{target} {kind:?}");
}

fn compare_all(database: &mut dyn Database) {
    let text = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/cases/filters/edges.json"
    );
    let edges: Edges = serde_json::from_str(&fs::read_to_string(text).unwrap()).unwrap();
    let groups = [
        Group::of_kind(Kind::Text, &edges.text, database),
        Group::of_kind(Kind::Integer, &edges.integer, database),
        Group::of_kind(Kind::Decimal, &edges.decimal, database),
        Group::truths(),
    ];
    for group in &groups {
        compare(database, false, group);
        if database.target().is_sql() {
            compare(database, true, group);
        }
    }
}

on_each_database!(keeps_edges, super::compare_all);
