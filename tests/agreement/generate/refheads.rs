//! Rules whose head is a longer reference, alone and several under one name.

use super::rule::{Outcome, Rule};
use super::rules::flag;
use super::shape::Shape;
use super::term::grouped;
use super::writer::Writer;

/// Writes `p.a.b := …`, with siblings.
pub fn fixed_paths(writer: &mut Writer) {
    let name = writer.rule_name();
    let paths = ["a", "b.c", "b.d", "e[\"f g\"]", "h.i.j"];
    let count = writer.random.between(1, 3);
    let mut rules = Vec::new();
    for path in writer.random.sample(&paths, count) {
        let shape = writer.useful_kind();
        let body = writer.body_without_iteration();
        let value = writer.ungrouped(&shape, 2);
        rules.push(Rule::value(format!("{name}.{path}"), value, body));
        writer.forget();
    }
    if writer.random.chance(25) {
        let head = rules
            .last()
            .map(|rule| rule.head.clone())
            .unwrap_or_default();
        rules.push(Rule::default(head, writer.constant(&Shape::Any)));
    }
    writer.publish(&name, Shape::map(Shape::Any), rules);
}

/// Writes `p[x].r := …` and `p.q[x][y] := …`: variables anywhere in the head.
pub fn variable_paths(writer: &mut Writer) {
    let name = writer.rule_name();
    let Some((first, key, value)) = writer.keyed_iteration() else {
        return flag(writer);
    };
    let mut body = vec![first];
    let head = match writer.random.less_than(5) {
        0 => format!("{name}[{key}].r"),
        1 => format!("{name}.q[{key}]"),
        2 => format!("{name}.q[{key}].r"),
        3 => {
            let Some((second, inner, _)) = writer.keyed_iteration() else {
                return flag(writer);
            };
            body.push(second);
            format!("{name}[{key}][{inner}]")
        }
        _ => {
            let Some((second, inner, _)) = writer.keyed_iteration() else {
                return flag(writer);
            };
            body.push(second);
            format!("{name}.q[{key}].r[{inner}]")
        }
    };
    if writer.random.chance(50) {
        body.push(writer.condition(1));
    }
    let outcome = match writer.random.less_than(4) {
        0 => Outcome::True,
        1 => Outcome::Value(key),
        2 => Outcome::Value(value),
        _ => Outcome::Value(writer.yielded().0),
    };
    writer.publish(
        &name,
        Shape::map(Shape::Any),
        vec![Rule::new(head, outcome, body)],
    );
}

/// Writes `p[x] contains y`: sets under keys.
pub fn grouped_sets(writer: &mut Writer) {
    let name = writer.rule_name();
    let Some((first, key, _)) = writer.keyed_iteration() else {
        return flag(writer);
    };
    let mut body = vec![first];
    if writer.random.chance(60) {
        body.extend(writer.iteration());
    }
    if writer.random.chance(40) {
        body.push(writer.condition(1));
    }
    let head = match writer.random.less_than(3) {
        0 if writer.dialect.has_keywords() => format!("{name}.all"),
        1 if writer.dialect.has_keywords() => format!("{name}.by[{key}]"),
        _ if writer.dialect.has_keywords() => format!("{name}[{key}]"),
        _ => name.clone(),
    };
    let (member, _) = writer.yielded();
    writer.publish(
        &name,
        Shape::map(Shape::Any),
        vec![Rule::member(head, member, body)],
    );
}

/// Writes constant and variable keys under one name, which form one object.
pub fn mixed_keys(writer: &mut Writer) {
    let name = writer.rule_name();
    let shape = writer.useful_kind();
    let mut rules = Vec::new();
    for key in writer.random.sample(&["fixed", "a", "other"], 2) {
        let body = writer.body_without_iteration();
        let value = writer.ungrouped(&shape, 1);
        let head = if writer.random.chance(50) {
            format!("{name}.{key}")
        } else {
            format!("{name}[\"{key}\"]")
        };
        rules.push(Rule::value(head, value, body));
        writer.forget();
    }
    if let Some((literal, key, _)) = writer.keyed_iteration() {
        let value = grouped(writer.dependent(&shape, 1));
        rules.push(Rule::value(format!("{name}[{key}]"), value, vec![literal]));
    }
    let count = rules.len();
    let rules = writer.random.sample(&rules, count);
    writer.publish(&name, Shape::map(shape), rules);
}

/// Writes a function under a longer reference, and a rule that calls it.
pub fn nested_function(writer: &mut Writer) {
    let name = writer.rule_name();
    let user = loop {
        let user = writer.rule_name();
        if user != name {
            break user;
        }
    };
    let result = writer.useful_kind();
    let argument = writer.scalar_kind();
    let parameter = writer.fresh();
    writer.bind(&parameter, argument.clone());
    let value = writer.ungrouped(&result, 2);
    let function = Rule::value(format!("{name}.calc({parameter})"), value, Vec::new());
    writer.publish(&name, Shape::map(Shape::Any), vec![function]);
    let call = format!("{name}.calc({})", grouped(writer.dependent(&argument, 0)));
    let caller = if writer.random.chance(50) {
        Rule::value(&user, call, Vec::new())
    } else {
        Rule::new(
            &user,
            Outcome::True,
            vec![format!("{call} != {}", writer.constant(&result))],
        )
    };
    writer.publish(&user, Shape::Any, vec![caller]);
}
