//! Inputs for a program: the names that it reads below the input, with the constants that it compares them with.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};

use crate::cases::Program;

/// How many inputs each program gets.
pub const COUNT: usize = 20;

/// A generator of numbers that is the same on each machine.
pub struct Draw(pub u64);

impl Draw {
    fn less_than(&mut self, count: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % count.max(1) as u64).unwrap()
    }
}

/// Returns inputs for a program.
pub fn inputs_of(program: &Program, seed: u64) -> Vec<Json> {
    let text: String = program.modules.values().cloned().collect();
    let names = names(&text);
    let pool = pool(&text);
    let mut draw = Draw(seed ^ 0x5eed);
    let mut inputs = vec![json!({})];
    while inputs.len() < COUNT {
        let mut object = Map::new();
        for name in &names {
            if draw.less_than(6) > 0 {
                object.insert(name.clone(), value(&mut draw, &names, &pool, 3));
            }
        }
        inputs.push(Json::Object(object));
    }
    inputs
}

fn value(draw: &mut Draw, names: &[String], pool: &[Json], depth: usize) -> Json {
    let kind = if depth == 0 { 0 } else { draw.less_than(10) };
    match kind {
        0..=5 => pool[draw.less_than(pool.len())].clone(),
        6 | 7 => {
            let count = draw.less_than(4);
            (0..count)
                .map(|_| value(draw, names, pool, depth - 1))
                .collect()
        }
        _ => {
            let mut object = Map::new();
            for _ in 0..draw.less_than(4) {
                let name = if names.is_empty() || draw.less_than(4) == 0 {
                    "k".to_owned()
                } else {
                    names[draw.less_than(names.len())].clone()
                };
                object.insert(name, value(draw, names, pool, depth - 1));
            }
            Json::Object(object)
        }
    }
}

/// Returns names that follow a period or are in brackets.
fn names(text: &str) -> Vec<String> {
    let mut names = BTreeSet::new();
    for (at, _) in text.match_indices("input") {
        let rest = &text[at + "input".len()..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "._[]\"".contains(c)));
        let path = &rest[..end.unwrap_or(rest.len())];
        let steps = path.split(['.', '[', ']', '"']);
        let is_name = |step: &&str| step.chars().next().is_some_and(|c| c.is_ascii_alphabetic());
        names.extend(steps.filter(is_name).map(str::to_owned));
    }
    names.into_iter().collect()
}

/// The constants of a text, and values of each type.
fn pool(text: &str) -> Vec<Json> {
    let mut pool = vec![
        json!(null),
        json!(true),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(2),
        json!("a"),
        json!([]),
        json!({}),
    ];
    let mut parts = text.split('"');
    parts.next();
    while let (Some(string), rest) = (parts.next(), parts.next()) {
        if string.len() < 30 {
            pool.push(json!(string));
            pool.push(json!(string));
        }
        if rest.is_none() {
            break;
        }
    }
    for number in text.split(|c: char| !c.is_ascii_digit()) {
        if let Ok(number) = number.parse::<u32>() {
            pool.push(json!(number));
            pool.push(json!(number + 1));
        }
    }
    pool
}
