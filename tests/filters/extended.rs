//! Extensions of filters beyond OPA's, and their error messages.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use solon::{Engine, Error, FilterOptions, FilterTarget, Filters, Limits, Request, json as values};

use crate::databases::condition;

fn engine(rules: &str) -> Engine {
    let engine = Engine::new();
    let text = format!("package filters\n\n{rules}\n");
    engine.set_module("filters.rego", &text).unwrap();
    engine
}

fn value(value: &Value) -> solon::Value {
    values::read(value.to_string().as_bytes()).unwrap()
}

fn options(target: FilterTarget) -> FilterOptions {
    FilterOptions::new([target])
        .unknowns(["input.fruits"])
        .extensions(true)
}

fn compile(rules: &str, options: &FilterOptions) -> Result<Filters, Vec<String>> {
    match engine(rules).filters("data.filters.include", options, &Request::new()) {
        Ok(made) => Ok(made),
        Err(Error::Filter(entries)) => Err(entries.into_iter().map(|it| it.message).collect()),
        Err(error) => Err(vec![error.to_string()]),
    }
}

#[test]
fn functions_are_said_where_they_are_exact() {
    let said = |rule: &str, target| compile(rule, &options(target)).map(condition);
    let lower = "include if lower(input.fruits.name) == \"ab\"";
    let text = "WHERE CAST(CONVERT(replace(replace(CAST(CONVERT(fruits.name USING utf8mb4) AS BINARY), 'A', 'a'), 'B', 'b') \
        USING utf8mb4) AS BINARY) = CAST(CONVERT('ab' USING utf8mb4) AS BINARY)";
    assert_eq!(said(lower, FilterTarget::Mysql), Ok(text.to_owned()));
    for (target, words) in [
        (
            FilterTarget::Sqlserver,
            "lower: unsupported for SQL (sqlserver)",
        ),
        (FilterTarget::UcastAll, "lower: unsupported for UCAST (all)"),
    ] {
        assert_eq!(said(lower, target), Err(vec![words.to_owned()]));
    }
    let refused = |rule: &str, words: &str| {
        let rule = format!("include if {rule}");
        let said = said(&rule, FilterTarget::Postgresql);
        assert_eq!(said, Err(vec![words.to_owned()]), "{rule}");
    };
    refused(
        "lower(input.fruits.name) < \"b\"",
        "lower: texts are only tested for equality",
    );
    refused(
        "lower(input.fruits.name) != \"B\"",
        "lower: no text is ever \"B\"",
    );
    refused(
        "count(input.fruits.name) in [1, \"b\"]",
        "count: compared with a value of another kind",
    );
    refused(
        "input.fruits.price + 1 == 2",
        "arithmetic: the column must be declared an integer, with `exact`",
    );
    refused("input.fruits.price / 2 == 2", "invalid builtin `div`");
    // without extensions, the result is OPA's
    let plain = FilterOptions::new([FilterTarget::Postgresql]).unknowns(["input.fruits"]);
    let words = "invalid builtin `lower`".to_owned();
    assert_eq!(compile(lower, &plain).map(condition), Err(vec![words]));
}

#[test]
fn letters_are_replaced_within_bounds() {
    let mut origins: BTreeMap<char, usize> = BTreeMap::new();
    for capital in '\0'..=char::MAX {
        for small in capital.to_lowercase().filter(|small| *small != capital) {
            *origins.entry(small).or_default() += 1;
        }
    }
    let small = ('a'..='z').chain('а'..='я').chain('ա'..='ֆ');
    let small = small.filter(|one| origins.get(one) == Some(&1));
    let letters: Vec<char> = small.take(65).collect();
    assert_eq!(letters.len(), 65);
    for (count, fits) in [(64, true), (65, false)] {
        let text: String = letters.iter().take(count).collect();
        let rule = format!("include if lower(input.fruits.name) == \"{text}\"");
        let said = compile(&rule, &options(FilterTarget::Sqlite));
        assert_eq!(said.is_ok(), fits, "{count}: {:?}", said.err());
    }
}

#[test]
fn paths_are_columns_where_a_mapping_says_so() {
    let rule = "include if input.fruits.owner.name == \"bob\"";
    let mappings = json!({
        "postgresql": {"fruits": {"$self": "f", "/owner/name": "owner_name"}},
        "sqlite": {"fruits": {"/owner": "owner"}},
    });
    let said = |target| compile(rule, &options(target).mappings(value(&mappings))).map(condition);
    assert_eq!(
        said(FilterTarget::Postgresql),
        Ok("WHERE f.owner_name = E'bob'".to_owned())
    );
    let words = "no column of sql+sqlite is mapped to /owner/name of `fruits`".to_owned();
    assert_eq!(said(FilterTarget::Sqlite), Err(vec![words]));
    let words = "eq: invalid ref operand: input.fruits.owner.name".to_owned();
    let plain = options(FilterTarget::Postgresql);
    assert_eq!(
        compile(rule, &plain).map(condition),
        Err(vec![words.clone()])
    );
    let published = plain.extensions(false).mappings(value(&mappings));
    assert_eq!(compile(rule, &published).map(condition), Err(vec![words]));
}

#[test]
fn several_masks_are_put_together() {
    let rules = "include if input.fruits.price > 1\n\nm1.fruits.owner.replace.value := \"*\"\n\n\
        m2.fruits := {\"owner\": {\"replace\": {\"value\": \"*\"}}, \"name\": {}}\n\n\
        m3.fruits.owner.replace.value := \"-\"\n\nm4.baskets.size.replace.value := 0\n\n\
        none := {\"fruits\": {}} if input.never";
    let masks = |first: &str, more: &[&str]| {
        let options = options(FilterTarget::Sqlite).mask_rule(first);
        let made = compile(rules, &options.more_masks(more.iter().copied()));
        made.map(|made| made.masks)
    };
    let shown = json!({"replace": {"value": "*"}});
    let both = json!({"fruits": {"owner": shown, "name": {}}, "baskets": {"size": {"replace": {"value": 0}}}});
    assert_eq!(masks("m1", &["m2", "m4"]), Ok(Some(value(&both))));
    assert_eq!(masks("m1", &["none"]), masks("m1", &[]));
    let words = "mask rule data.filters.m3 has another mask for fruits.owner".to_owned();
    assert_eq!(masks("m1", &["m3"]), Err(vec![words]));
    let published = options(FilterTarget::Sqlite).extensions(false);
    assert!(compile(rules, &published.more_masks(["m1"])).is_err());
}

#[test]
fn columns_with_points_are_none_to_ucast() {
    let rule = "include if input.fruits[\"name.x\"] == 1";
    let said = |target| compile(rule, &options(target)).map(condition);
    let words = "name of column `name.x` holds a point".to_owned();
    assert_eq!(said(FilterTarget::UcastPrisma), Err(vec![words]));
    let text = "WHERE fruits.\"name.x\" = '1'".to_owned();
    assert_eq!(said(FilterTarget::Sqlite), Ok(text));
}

#[test]
fn each_rule_is_explained() {
    let rules = "include if input.admin\n\ninclude if {\n\tcheap\n\tnot input.fruits.name == \"x\"\n}\n\n\
        include if input.fruits.tags[_] == \"a\"\n\ncheap if input.fruits.price < 11\n\ninclude if startswith(\"ab\", \"a\")";
    let engine = engine(rules);
    let filters = engine
        .prepare_filters("data.filters.include", &options(FilterTarget::Sqlite))
        .unwrap();
    let told = filters.explain(&Request::new()).unwrap();
    let told: Value = serde_json::from_str(&told.rego_text().to_string()).unwrap();
    let at = |row: u32, col: u32| json!({"file": "filters.rego", "row": row, "col": col});
    let wanted = json!([
        {
            "rule": "data.filters.include", "location": at(3, 1), "outcome": "fails",
            "failed": {"expression": "input.admin", "location": at(3, 12)},
        },
        {"rule": "data.filters.include", "location": at(5, 1), "outcome": "depends"},
        {"rule": "data.filters.cheap", "location": at(12, 1), "outcome": "depends"},
        {
            "rule": "data.filters.include", "location": at(10, 1), "outcome": "refused",
            "errors": [{"message": "eq: invalid ref operand: input.fruits.tags[_]", "location": at(10, 12)}],
        },
        {"rule": "data.filters.include", "location": at(14, 1), "outcome": "holds"},
    ]);
    assert_eq!(told, wanted, "{told:#}");
    // tests of the accepted conditions
    let allowed = rules.replace("include if input.fruits.tags[_] == \"a\"", "");
    let allowed = allowed.replace("include if startswith(\"ab\", \"a\")", "");
    let filters = self::engine(&allowed)
        .prepare_filters("data.filters.include", &options(FilterTarget::Sqlite))
        .unwrap();
    let told = filters.explain(&Request::new()).unwrap();
    let told: Value = serde_json::from_str(&told.rego_text().to_string()).unwrap();
    let tests = [1, 2].map(|at| told[at]["tests"].clone());
    let wanted = [
        json!(["NOT fruits.name = 'x'"]),
        json!(["fruits.price < '11'"]),
    ];
    assert_eq!(tests, wanted, "{told:#}");
}

#[test]
fn branches_within_branches_are_searched_once() {
    const LEVELS: usize = 16;
    let nested = |rule: &dyn Fn(usize) -> String| {
        let rules: Vec<String> = (1..=LEVELS).map(rule).collect();
        rules.join("\n")
    };
    let rules = nested(&|level| format!("f{level} := 1 if f{} == 2 else := 2", level - 1));
    let functions =
        nested(&|level| format!("f{level}(x) := 1 if f{}(x) == 2 else := 2", level - 1));
    // a search that doubled with each level would take thirty times as many steps
    let limits = Limits::default().steps(Some(2_000));
    let request = Request::new().limits(&limits);
    let options = options(FilterTarget::Sqlite);
    let said = |rules: &str| {
        let made = engine(rules).filters("data.filters.include", &options, &request);
        condition(made.unwrap())
    };
    let flat = said("include if input.fruits.b == 1");
    for rules in [
        format!("f0 := 1 if input.fruits.b == 1 else := 2\n{rules}\ninclude if f{LEVELS} == 1"),
        format!(
            "f0(x) := 1 if x.b == 1 else := 2\n{functions}\ninclude if f{LEVELS}(input.fruits) == 1"
        ),
    ] {
        assert_eq!(said(&rules), flat);
    }
}
