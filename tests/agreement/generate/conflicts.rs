//! Definitions that conflict, or almost do.

use super::rule::{Outcome, Rule};
use super::rules::flag;
use super::shape::Shape;
use super::term::grouped;
use super::writer::Writer;

/// Writes a complete rule with two or three values under conditions.
pub fn complete(writer: &mut Writer) {
    let name = writer.rule_name();
    let shape = writer.scalar_kind();
    let mut rules = Vec::new();
    for _ in 0..writer.random.between(2, 3) {
        let iterations = writer.random.less_than(2);
        let body = writer.body(iterations);
        let value = if writer.random.chance(60) {
            writer.constant(&shape)
        } else {
            grouped(writer.dependent(&shape, 1))
        };
        rules.push(Rule::value(&name, value, body));
        writer.forget();
    }
    writer.publish(&name, shape, rules);
    asker(writer, &name);
}

/// Writes clauses of a function that match the same arguments.
pub fn clauses(writer: &mut Writer) {
    let name = writer.rule_name();
    let shape = writer.scalar_kind();
    let argument = writer.scalar_kind();
    let mut rules = Vec::new();
    for _ in 0..2 {
        let parameter = if writer.random.chance(20) {
            writer.constant(&argument)
        } else {
            let name = writer.fresh();
            writer.bind(&name, argument.clone());
            name
        };
        let body = vec![writer.condition(1)];
        let value = if writer.random.chance(60) {
            writer.constant(&shape)
        } else {
            grouped(writer.dependent(&shape, 1))
        };
        rules.push(Rule::value(format!("{name}({parameter})"), value, body));
        writer.forget();
    }
    writer.rules.extend(rules);
    let user = writer.rule_name();
    let mut body: Vec<String> = writer.iteration().into_iter().collect();
    let given = grouped(writer.dependent(&argument, 0));
    let result = writer.fresh();
    body.push(format!("{result} := {name}({given})"));
    writer.publish(&user, Shape::Any, vec![Rule::member(&user, result, body)]);
}

/// Writes keys that occur twice, possibly with different values.
pub fn keys(writer: &mut Writer) {
    let name = writer.rule_name();
    let key = writer.iteration();
    let keys: Vec<String> = writer
        .locals
        .iter()
        .map(|local| local.path.clone())
        .collect();
    let value = writer.iteration();
    let values: Vec<String> = writer
        .locals
        .iter()
        .map(|local| local.path.clone())
        .collect();
    let (Some(first), Some(second)) = (key, value) else {
        return flag(writer);
    };
    if keys.is_empty() {
        return flag(writer);
    }
    let mut body = vec![first, second];
    if writer.random.chance(60) {
        body.push(writer.condition(1));
    }
    let (key, value) = (
        writer.random.pick(&keys).clone(),
        writer.random.pick(&values).clone(),
    );
    let rule = if writer.random.chance(40) {
        Rule::value(
            &name,
            format!("{{{key}: {value} | {}}}", body.join("; ")),
            Vec::new(),
        )
    } else {
        Rule::value(format!("{name}[{key}]"), value, body)
    };
    writer.publish(&name, Shape::map(Shape::Any), vec![rule]);
    asker(writer, &name);
}

/// Writes longer heads that reach a value where they need an object.
pub fn paths(writer: &mut Writer) {
    let name = writer.rule_name();
    let Some((literal, key, value)) = writer.keyed_iteration() else {
        return flag(writer);
    };
    let constant = writer.vocabulary.string(&mut writer.random);
    let first = Rule::value(format!("{name}[{key}]"), value, vec![literal.clone()]);
    let second = match writer.random.less_than(3) {
        0 => Rule::value(
            format!("{name}[{constant}]"),
            writer.constant(&Shape::Any),
            Vec::new(),
        ),
        1 => Rule::value(format!("{name}[{key}].deep"), key.clone(), vec![literal]),
        _ => Rule::value(format!("{name}[{key}][{key}]"), key.clone(), vec![literal]),
    };
    writer.publish(&name, Shape::map(Shape::Any), vec![first, second]);
    asker(writer, &name);
}

/// Writes `else` branches of two definitions.
pub fn chains(writer: &mut Writer) {
    let name = writer.rule_name();
    let mut rules = Vec::new();
    for _ in 0..2 {
        let body = vec![writer.condition(1)];
        let mut rule = Rule::value(&name, writer.constant(&Shape::Integer), body);
        rule.otherwise
            .push((writer.constant(&Shape::Integer), vec![writer.condition(1)]));
        rules.push(rule);
        writer.forget();
    }
    writer.publish(&name, Shape::Integer, rules);
}

/// Writes a rule that reads one part of another rule, where a conflict elsewhere may stay unnoticed.
fn asker(writer: &mut Writer, name: &str) {
    if writer.random.chance(60) {
        return;
    }
    let user = writer.rule_name();
    let key = writer.vocabulary.string(&mut writer.random);
    let rule = match writer.random.less_than(3) {
        0 => Rule::value(&user, format!("{name}[{key}]"), Vec::new()),
        1 => Rule::new(&user, Outcome::True, vec![format!("not {name}")]),
        _ => Rule::member(&user, "k", vec![format!("{name}[k]")]),
    };
    writer.publish(&user, Shape::Any, vec![rule]);
}
