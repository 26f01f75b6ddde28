//! Policies with the rows that they allow: each database keeps these rows, and the policy itself is true for them.
//!
//! `tests/cases/filters/kept` has a file for each subject. A group is a table with rows, and a test is a policy with
//! the numbers of the rows for which it is true.

use std::collections::BTreeMap;
use std::fs;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use solon::{
    Change, Engine, Error, FilterOptions, FilterTarget, Filters, Path, Request, json as values,
};

use crate::databases::{Database, condition, on_each_database, table};
use crate::tables::Kind;

#[derive(Deserialize)]
struct Group {
    note: String,
    mode: Mode,
    /// `true` if JavaScript compares other values than the policy does.
    #[serde(default)]
    sql_only: bool,
    /// Columns of `input.fruits` in order: names and kinds.
    columns: Vec<(String, String)>,
    rows: Vec<Vec<Value>>,
    /// Base documents.
    #[serde(default)]
    data: Map<String, Value>,
    tests: Vec<Test>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// Filters that OPA accepts.
    Plain,
    Extensions,
    /// With extensions and without declarations of columns.
    Undeclared,
    Exact,
}

#[derive(Deserialize)]
struct Test {
    policy: String,
    /// Rows for which the policy is true.
    #[serde(default)]
    keeps: Vec<usize>,
    /// Rows among them with NULL that only `exact` keeps.
    #[serde(default)]
    lost: Vec<usize>,
    /// Expected error by target or language, or for `all`.
    #[serde(default, rename = "refused")]
    expected_errors: BTreeMap<String, String>,
    /// Expected text by target, if no database here can read it, or if it shows how a test is decided.
    #[serde(default)]
    said: BTreeMap<String, Value>,
}

impl Test {
    fn expected_error(&self, target: FilterTarget) -> Option<&str> {
        let names = [
            target.to_string(),
            target.language().to_owned(),
            "all".to_owned(),
        ];
        let found = names.iter().find_map(|name| self.expected_errors.get(name));
        found.map(String::as_str)
    }
}

impl Group {
    fn options(&self, target: FilterTarget) -> FilterOptions {
        let options = FilterOptions::new([target]).unknowns(["input.fruits"]);
        match self.mode {
            Mode::Plain => options,
            Mode::Undeclared => options.extensions(true),
            Mode::Extensions | Mode::Exact => {
                let columns = self.columns.iter().map(|(name, kind)| {
                    let declared = json!({"kind": kind, "nullable": true, "collation": "any"});
                    (name.clone(), declared)
                });
                let columns = Value::Object(columns.collect());
                let mappings = json!({"fruits": columns}).to_string();
                let mappings = values::read(mappings.as_bytes()).unwrap();
                let options = options.extensions(true).mappings(mappings);
                options.exact(self.mode == Mode::Exact)
            }
        }
    }

    fn columns(&self) -> Vec<(&str, Kind)> {
        let kind = |name: &str| match name {
            "text" => Kind::Text,
            "integer" => Kind::Integer,
            "decimal" => Kind::Decimal,
            "boolean" => Kind::Truth,
            other => panic!("{other}"),
        };
        let columns = self.columns.iter();
        columns
            .map(|(name, of)| (name.as_str(), kind(of)))
            .collect()
    }

    /// Returns the rows for which a policy is true.
    fn truth(&self, engine: &Engine) -> Vec<usize> {
        let rule = engine.prepare_document("data.filters.include").unwrap();
        let is_true = |row: &Vec<Value>| {
            let names = self.columns.iter().map(|(name, _)| name.clone());
            let row: Map<String, Value> = names.zip(row.iter().cloned()).collect();
            let input = json!({"fruits": row}).to_string();
            let input = values::read(input.as_bytes()).unwrap();
            let value = rule.evaluate(&Request::new().input(&input));
            value.is_ok_and(|value| value.is_some_and(|it| it != false))
        };
        let rows = self.rows.iter().enumerate();
        rows.filter(|(_, row)| is_true(row))
            .map(|(at, _)| at)
            .collect()
    }
}

fn groups() -> Vec<Group> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cases/filters/kept");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let read =
        |path| -> Vec<Group> { serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap() };
    files.into_iter().flat_map(read).collect()
}

fn engine(group: &Group, test: &Test) -> Engine {
    let engine = Engine::new();
    let mut change = Change::default();
    let data = Value::Object(group.data.clone()).to_string();
    change.put(Path::default(), values::read(data.as_bytes()).unwrap());
    engine.apply(change).unwrap();
    let text = format!("package filters\n\n{}\n", test.policy);
    engine.set_module("filters.rego", &text).unwrap();
    engine
}

fn compile(engine: &Engine, options: &FilterOptions) -> Result<Filters, String> {
    match engine.filters("data.filters.include", options, &Request::new()) {
        Ok(made) => Ok(made),
        Err(Error::Filter(entries)) => {
            let messages = entries.into_iter().map(|it| it.message);
            Err(messages.collect::<Vec<_>>().join("; "))
        }
        Err(error) => Err(error.to_string()),
    }
}

fn compare(database: &mut dyn Database) {
    let target = database.target();
    let mut failures = Vec::new();
    for group in groups() {
        if (group.mode == Mode::Exact || group.sql_only) && !target.is_sql() {
            continue;
        }
        let mut statements = table(database, "fruits", &group.columns(), &group.rows, false);
        let basket = [vec![json!(1)]];
        let columns = [("size", Kind::Integer)];
        statements.extend(table(database, "baskets", &columns, &basket, false));
        database.run(&statements);
        let (mut asked, mut conditions) = (Vec::new(), Vec::new());
        for test in &group.tests {
            let engine = engine(&group, test);
            let shown = format!("{}: {}", group.note, test.policy);
            let made = match (
                compile(&engine, &group.options(target)),
                test.expected_error(target),
            ) {
                (Ok(made), None) => condition(made),
                (Err(message), Some(wanted)) if message == wanted => continue,
                (made, wanted) => {
                    failures.push(format!("{shown}\n  {made:?}, wanted {wanted:?}"));
                    continue;
                }
            };
            if database.interprets(&made) {
                asked.push((test, shown));
                conditions.push(made);
            }
        }
        if conditions.is_empty() {
            continue;
        }
        let answers = database.matching_rows(&conditions);
        for (((test, shown), made), kept) in asked.into_iter().zip(&conditions).zip(answers) {
            let kept = kept.map(|kept| {
                let mut kept: Vec<usize> = kept.into_iter().map(|(row, _)| row).collect();
                kept.sort_unstable();
                kept
            });
            // JavaScript compares null, databases do not
            let is_lost = |row: &usize| target.is_sql() && test.lost.contains(row);
            let wanted = test.keeps.iter().filter(|row| !is_lost(row));
            let wanted: Vec<usize> = wanted.copied().collect();
            if kept.as_ref() != Ok(&wanted) {
                failures.push(format!(
                    "{shown}\n  {made}\n  kept {kept:?}, not {wanted:?}"
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{target}\n{}", failures.join("\n"));
}

on_each_database!(keeps_what_policies_allow, super::compare);

#[test]
fn policies_allow_exactly_the_matching_rows() {
    for group in groups() {
        for test in &group.tests {
            let truth = group.truth(&engine(&group, test));
            // a test that every target rejects needs no rows
            if !test.expected_errors.contains_key("all") {
                assert_eq!(truth, test.keeps, "{}: {}", group.note, test.policy);
            }
        }
    }
}

#[test]
fn conditions_are_written_as_listed() {
    let targets = FilterTarget::ALL.map(|target| (target.to_string(), target));
    let mut failures = Vec::new();
    for group in groups() {
        for test in &group.tests {
            for (name, said) in &test.said {
                let (_, target) = targets.iter().find(|(it, _)| it == name).unwrap();
                let made = compile(&engine(&group, test), &group.options(*target)).map(condition);
                let wanted = said
                    .as_str()
                    .map_or_else(|| said.to_string(), str::to_owned);
                if made.as_ref() != Ok(&wanted) {
                    failures.push(format!(
                        "{}\n  {name}: {made:?}\n  wanted {wanted}",
                        test.policy
                    ));
                }
            }
            for name in test.expected_errors.keys() {
                let target = targets.iter().find(|(it, _)| it == name);
                let Some((_, target)) = target else { continue };
                let made = compile(&engine(&group, test), &group.options(*target)).map(condition);
                assert_eq!(
                    made.as_ref().err(),
                    test.expected_errors.get(name),
                    "{}",
                    test.policy
                );
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
