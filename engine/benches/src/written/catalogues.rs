//! Lists that are indexed by a key, with the maps of the standard library.

use std::collections::HashMap;

use solon::Value;

use super::{Prepare, elements, number, text};

pub const DECISIONS: &[(&str, Prepare)] = &[
    ("catalogue", || Some(Box::new(answer))),
    ("catalogue_dear", || Some(Box::new(dear))),
];

fn price(item: &Value) -> Option<i64> {
    item.get("price")?.as_i64()
}

fn answer(data: &Value, _: &Value) -> Option<Value> {
    let (mut by_id, mut names) = (HashMap::new(), HashMap::new());
    let mut by_kind: HashMap<&str, Vec<&str>> = HashMap::new();
    for item in elements(data.get("items")?) {
        let id = text(item, "id")?;
        by_id.insert(id, item);
        by_kind.entry(text(item, "kind")?).or_default().push(id);
        names.insert(text(item, "name")?, id);
    }
    let is_cheap = |line: &&Value| {
        let item = text(line, "item").and_then(|id| by_id.get(id));
        item.and_then(|item| price(item))
            .is_some_and(|price| price < 500)
    };
    let found = elements(data.get("orders")?).filter(is_cheap).count();
    let kinds = by_kind
        .iter()
        .map(|(kind, ids)| Some((Value::string(kind), number(ids.len())?)));
    let kinds = kinds.collect::<Option<_>>()?;
    let answer = [
        ("found", number(found)?),
        ("kinds", Value::object(kinds)),
        ("names", number(names.len())?),
    ];
    let pairs = answer.map(|(key, value)| (Value::string(key), value));
    Some(Value::object(pairs.into()))
}

fn dear(data: &Value, _: &Value) -> Option<Value> {
    let mut prices = HashMap::new();
    for item in elements(data.get("items")?) {
        let price = price(item)?;
        if price > 10 {
            prices.insert(text(item, "id")?, (price, text(item, "kind")?));
        }
    }
    number(prices.values().filter(|(price, _)| *price > 900).count())
}
