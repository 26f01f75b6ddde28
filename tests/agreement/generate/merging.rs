//! Base documents below the paths of packages, and references with variables that cross between them.

use super::rule::{Outcome, Rule};
use super::rules;
use super::shape::Shape;
use super::writer::Writer;

/// Bodies that cross the package `data.lib`; `%` is a key bound elsewhere.
const CROSSING: [(&str, &[&str]); 16] = [
    ("k", &["data.lib[k]"]),
    ("[k, v]", &["v := data.lib[k]"]),
    ("[k, v]", &["some k, v in data.lib"]),
    ("v", &["some v in data.lib"]),
    ("[k, type_name(v)]", &["some k, v in data.lib"]),
    ("[k, x]", &["data.lib[k][x]"]),
    ("[k, x, v]", &["v = data.lib[k][x]"]),
    ("[k, x]", &["data.lib[k][x] == %"]),
    ("v", &["some k in [%, \"deep\", \"p\"]", "v := data.lib[k]"]),
    ("v", &["v := data.lib[input.which]"]),
    ("v", &["v := data.lib[input.which][_]"]),
    ("[k, v]", &["v := data.lib.deep[k]"]),
    ("[k, j, v]", &["v := data.lib.deep[k][j]"]),
    ("k", &["some k in object.keys(data.lib)"]),
    ("[p, k]", &["data[p][k] == data.lib.deep"]),
    ("k", &["data.lib[k]", "not data.lib.deep[k]"]),
];

const WHOLE: [&str; 8] = [
    "count(data.lib)",
    "data.lib",
    "data.lib.deep",
    "object.keys(data.lib)",
    "[data.lib.deep, data.lib]",
    "{k: count(v) | some k, v in data.lib}",
    "[v | walk(data.lib.deep, [_, v])]",
    "object.get(data.lib, input.which, \"none\")",
];

/// Writes two packages over base documents, and a third one that reads across them.
pub fn packages(writer: &mut Writer) {
    let base = lay_base(writer);
    writer.begin_module("lib");
    for _ in 0..writer.random.between(1, 3) {
        let scheme = writer.random.weighted::<rules::Scheme>(&[
            (4, rules::complete_value),
            (3, rules::partial_set),
            (3, rules::partial_object),
            (2, rules::flag),
            (2, super::refheads::fixed_paths),
            (2, super::refheads::variable_paths),
            (1, super::functions::computing),
        ]);
        scheme(writer);
    }
    let names: Vec<String> = writer.rules.iter().map(|rule| rule.head.clone()).collect();
    writer.end_module();
    if writer.random.chance(50) {
        writer.begin_module("lib.deep");
        for _ in 0..writer.random.between(1, 2) {
            rules::complete_value(writer);
        }
        writer.end_module();
    }
    let which = if writer.random.chance(60) {
        writer.random.pick(&names).clone()
    } else {
        base
    };
    let which = which.split(['.', '[', '(']).next().unwrap_or_default();
    writer.input.push(("which".into(), format!("\"{which}\"")));
    writer.begin_module("view");
    for _ in 0..writer.random.between(1, 3) {
        crossing(writer);
    }
}

/// Adds base documents below the packages and returns the name of one of them.
fn lay_base(writer: &mut Writer) -> String {
    let mut fields = Vec::new();
    for name in writer.random.sample(&["cfg", "seed", "extra"], 2) {
        let shape = writer.vocabulary.shape(&mut writer.random, 1);
        let text = writer.vocabulary.document(&mut writer.random, &shape);
        writer.offer(format!("data.lib.{name}"), shape, 1);
        fields.push((name.to_string(), text));
    }
    let first = fields
        .first()
        .map(|(name, _)| name.clone())
        .unwrap_or_default();
    if writer.random.chance(60) {
        let shape = writer.vocabulary.record_kind(&mut writer.random, 1);
        let text = writer.vocabulary.document(&mut writer.random, &shape);
        fields.push(("deep".into(), text));
    }
    let pairs: Vec<String> = fields
        .iter()
        .map(|(name, text)| format!("\"{name}\":{text}"))
        .collect();
    writer
        .data
        .push(("lib".into(), format!("{{{}}}", pairs.join(","))));
    first
}

fn crossing(writer: &mut Writer) {
    let name = writer.rule_name();
    let constant = writer.constant(&Shape::Any);
    if writer.random.chance(25) {
        let value = *writer.random.pick(&WHOLE);
        return writer.publish(
            &name,
            Shape::Any,
            vec![Rule::value(&name, value, Vec::new())],
        );
    }
    let (member, body) = *writer.random.pick(&CROSSING);
    let mut body: Vec<String> = body
        .iter()
        .map(|literal| literal.replace('%', &constant))
        .collect();
    if writer.random.chance(15) {
        let last = body.pop().unwrap_or_default();
        body.push(format!(
            "{last} with data.lib.{} as {constant}",
            *writer.random.pick(&["cfg", "seed", "zz", "deep.x"])
        ));
    }
    let rule = match writer.random.less_than(5) {
        0 => Rule::new(&name, Outcome::True, body),
        1 => Rule::value(
            &name,
            format!("[{member} | {}]", body.join("; ")),
            Vec::new(),
        ),
        _ => Rule::member(&name, member, body),
    };
    writer.publish(&name, Shape::Any, vec![rule]);
}
