//! Masks: as the policy defines for each row, or rejected if they depend on the row.

use serde_json::json;
use solon::{Engine, FilterOptions, FilterTarget, Request, json as values};

use crate::draw::Draw;
use crate::tables::{Kind, constant};

/// Number of random rules.
const DRAWN: u64 = 500;

fn rule(draw: &mut Draw) -> String {
    let columns = ["name", "price", "owner"];
    let mut text =
        String::from("package filters\n\nimport rego.v1\n\ninclude if input.fruits.price > 0\n");
    let mut taken = Vec::new();
    for _ in 0..=draw.less_than(3) {
        let column = *draw.choose(&[&columns[0], &columns[1], &columns[2]]);
        if taken.contains(&column) {
            continue;
        }
        taken.push(column);
        let shown = constant(draw, Kind::Text);
        let condition = match draw.less_than(6) {
            0 => String::new(),
            1 => " if input.admin".to_owned(),
            2 => " if not input.admin".to_owned(),
            3 => " if \"b\" in input.roles".to_owned(),
            4 => " if input.fruits.price > 10".to_owned(),
            _ => " if {\n\tsome role in input.roles\n\trole == \"a\"\n}".to_owned(),
        };
        if condition.is_empty() || draw.one_in(2) {
            text.push_str(&format!(
                "\nmasks.fruits.{column}.replace.value := {shown}{condition}\n"
            ));
        } else {
            text.push_str(&format!(
                "\ndefault {column}_mask := {{}}\n\n{column}_mask := {{\"replace\": {{\"value\": {shown}}}}}{condition}\n\nmasks.fruits.{column} := {column}_mask\n"
            ));
        }
    }
    text
}

#[test]
fn masks_are_those_of_each_row() {
    let options = FilterOptions::new([FilterTarget::Postgresql])
        .unknowns(["input.fruits"])
        .mask_rule("masks");
    let (mut told, mut refused) = (0, 0);
    for seed in 0..DRAWN {
        let mut draw = Draw::new(seed ^ 0x3A5C);
        let text = rule(&mut draw);
        let engine = Engine::new();
        engine
            .set_module("filters.rego", &text)
            .unwrap_or_else(|error| panic!("{text}\n{error}"));
        let roles: Vec<&str> = (0..draw.less_than(3))
            .map(|_| draw.choose(&["a", "b", "c"]))
            .collect();
        let known = json!({"admin": draw.one_in(2), "roles": roles});
        let read = |input: &serde_json::Value| values::read(input.to_string().as_bytes()).unwrap();
        let input = read(&known);
        let masks = match engine.filters(
            "data.filters.include",
            &options,
            &Request::new().input(&input),
        ) {
            Ok(made) => made.masks,
            Err(solon::Error::Filter(entries)) => {
                assert!(
                    text.contains("if input.fruits.price > 10"),
                    "{text}\n{entries:?}"
                );
                assert!(entries[0].location.is_some(), "{text}\n{entries:?}");
                refused += 1;
                continue;
            }
            Err(error) => panic!("{text}\n{error}"),
        };
        told += 1;
        let rule = engine.prepare_document("data.filters.masks").unwrap();
        for price in [0, 10, 11, 100] {
            let mut row = known.clone();
            row["fruits"] = json!({"name": "x", "price": price, "owner": "y"});
            let row = read(&row);
            let own = rule.evaluate(&Request::new().input(&row)).unwrap();
            let own = own.filter(|masks| masks.as_object().is_none_or(|masks| !masks.is_empty()));
            assert_eq!(masks, own, "{text}\n{row}", row = row.rego_text());
        }
    }
    println!("{told} masks told, {refused} refused");
    assert!(told > DRAWN / 2, "{told}");
}
