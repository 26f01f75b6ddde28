//! Rules of every kind that need no other rules in a package.

use super::rule::{Outcome, Rule};
use super::shape::Shape;
use super::term::grouped;
use super::writer::Writer;

/// Writes one or more rules of one name.
pub type Scheme = fn(&mut Writer);

impl Writer {
    /// Adds the rules and makes their value available to later rules.
    pub fn publish(&mut self, name: &str, shape: Shape, mut rules: Vec<Rule>) {
        for rule in &mut rules {
            rule.short = self.random.chance(50);
        }
        self.rules.extend(rules);
        self.forget();
        let path = self.absolute(name);
        self.offer(path, shape, 0);
    }

    /// Returns a body without iteration, so that a value cannot conflict with itself.
    pub fn body_without_iteration(&mut self) -> Vec<String> {
        (0..self.random.weighted(&[(3, 0), (5, 1), (2, 2)]))
            .map(|_| match self.random.less_than(8) {
                0 | 1 => self.assignment(2),
                2 => self.membership(),
                3 => self.every(1).unwrap_or_else(|| self.condition(2)),
                _ => self.condition(2),
            })
            .collect()
    }

    /// Returns the result of a partial rule for each solution of its body: a variable, or an expression over variables.
    pub fn yielded(&mut self) -> (String, Shape) {
        if !self.locals.is_empty() && self.random.chance(55) {
            let local = self.random.pick(&self.locals).clone();
            return (local.path, local.shape);
        }
        let shape = self.useful_kind();
        (grouped(self.dependent(&shape, 2)), shape)
    }

    fn key(&mut self) -> String {
        let strings: Vec<String> = self
            .locals
            .iter()
            .filter(|local| local.shape.is_scalar())
            .map(|local| local.path.clone())
            .collect();
        if strings.is_empty() {
            grouped(self.dependent(&Shape::Text, 1))
        } else {
            self.random.pick(&strings).clone()
        }
    }
}

pub fn complete_value(writer: &mut Writer) {
    let name = writer.rule_name();
    let shape = writer.useful_kind();
    let body = writer.body_without_iteration();
    let value = writer.ungrouped(&shape, 3);
    let mut rules = vec![Rule::value(&name, value, body)];
    if writer.random.chance(30) {
        rules.insert(0, Rule::default(&name, writer.constant(&shape)));
    }
    writer.publish(&name, shape, rules);
}

/// Writes a value that consists of nested templates only.
pub fn computed_value(writer: &mut Writer) {
    let name = writer.rule_name();
    let shape = writer.useful_kind();
    let value = match writer.template(&shape, 3) {
        Some(value) => value,
        None => writer.ungrouped(&shape, 2),
    };
    writer.publish(&name, shape, vec![Rule::value(&name, value, Vec::new())]);
}

/// Writes `name if { … }`, in one to three versions.
pub fn flag(writer: &mut Writer) {
    writer.forget();
    let name = writer.rule_name();
    let mut rules = Vec::new();
    if writer.random.chance(40) {
        rules.push(Rule::default(&name, "false"));
    }
    for _ in 0..writer.random.weighted(&[(6, 1), (3, 2), (1, 3)]) {
        let iterations = writer.random.weighted(&[(3, 0), (5, 1), (2, 2)]);
        rules.push(Rule::new(&name, Outcome::True, writer.body(iterations)));
        writer.forget();
    }
    writer.publish(&name, Shape::Boolean, rules);
}

/// Writes a complete rule with `else` branches.
pub fn chain(writer: &mut Writer) {
    let name = writer.rule_name();
    let shape = writer.useful_kind();
    let iterations = writer.random.less_than(2);
    let body = writer.body(iterations);
    // The value of an iterating branch is constant, since two solutions must not differ.
    let value = if iterations == 0 {
        writer.ungrouped(&shape, 2)
    } else {
        writer.constant(&shape)
    };
    let mut rule = Rule::value(&name, value, body);
    for _ in 0..writer.random.between(1, 3) {
        writer.forget();
        let body = if writer.random.chance(15) {
            Vec::new()
        } else {
            writer.body_without_iteration()
        };
        let value = writer.ungrouped(&shape, 2);
        let last = body.is_empty();
        rule.otherwise.push((value, body));
        if last {
            break;
        }
    }
    let mut rules = vec![rule];
    if writer.random.chance(30) {
        rules.insert(0, Rule::default(&name, writer.constant(&shape)));
    }
    writer.publish(&name, shape, rules);
}

pub fn partial_set(writer: &mut Writer) {
    let name = writer.rule_name();
    let mut rules = Vec::new();
    let mut shape = Shape::Any;
    for _ in 0..writer.random.weighted(&[(7, 1), (3, 2)]) {
        let iterations = writer.random.weighted(&[(1, 0), (6, 1), (3, 2)]);
        let body = writer.body(iterations);
        let (mut member, mut of) = writer.yielded();
        // Set members cannot be found by pattern matching, even if the set is known.
        if writer.random.chance(6) {
            member = format!("{{{member}}}");
            of = Shape::set(of);
        }
        shape = if rules.is_empty() || shape == of {
            of
        } else {
            Shape::Any
        };
        rules.push(Rule::member(&name, member, body));
        writer.forget();
    }
    writer.publish(&name, Shape::set(shape), rules);
}

pub fn partial_object(writer: &mut Writer) {
    let name = writer.rule_name();
    let unique = if writer.random.chance(75) {
        writer.keyed_iteration()
    } else {
        None
    };
    let (mut body, key) = match unique {
        Some((literal, key, _)) => (vec![literal], key),
        None => (writer.body(1), String::new()),
    };
    for _ in 0..writer.random.weighted(&[(4, 0), (4, 1), (2, 2)]) {
        let literal = if writer.random.chance(70) {
            writer.condition(2)
        } else {
            writer.literal(1)
        };
        body.push(literal);
    }
    let key = if key.is_empty() { writer.key() } else { key };
    let (value, shape) = writer.yielded();
    let rule = Rule::value(format!("{name}[{key}]"), value, body);
    writer.publish(&name, Shape::map(shape), vec![rule]);
}

/// Writes two collections that are joined by a field or an element.
pub fn join(writer: &mut Writer) {
    let (Some(left), Some(right)) = (writer.keyed_iteration(), writer.keyed_iteration()) else {
        return flag(writer);
    };
    let name = writer.rule_name();
    let mut body = vec![left.0, right.0];
    let condition = match writer.random.less_than(4) {
        0 => format!("{} == {}", left.1, right.1),
        1 => format!("{} == {}", left.2, right.2),
        2 => format!("{} != {}", left.1, right.1),
        _ => writer.condition(1),
    };
    body.push(condition);
    let member = match writer.random.less_than(3) {
        0 => format!("[{}, {}]", left.1, right.2),
        1 => format!("{{\"l\": {}, \"r\": {}}}", left.2, right.1),
        _ => writer.yielded().0,
    };
    writer.publish(
        &name,
        Shape::set(Shape::Any),
        vec![Rule::member(&name, member, body)],
    );
}

/// Writes a count, sum or other aggregate of a comprehension.
pub fn aggregate(writer: &mut Writer) {
    let name = writer.rule_name();
    let function = *writer
        .random
        .pick(&["count", "sum", "max", "min", "product", "sort", "count"]);
    let element = if function == "count" {
        writer.scalar_kind()
    } else {
        Shape::Number
    };
    let collection = if writer.random.chance(60) {
        Shape::array(element)
    } else {
        Shape::set(element)
    };
    let Some(comprehension) = writer.comprehension(&collection, 2) else {
        return flag(writer);
    };
    let shape = if function == "sort" {
        Shape::array(Shape::Number)
    } else {
        Shape::Number
    };
    let rule = Rule::value(&name, format!("{function}({comprehension})"), Vec::new());
    writer.publish(&name, shape, vec![rule]);
}

/// Writes, for each key, a comprehension that uses the key.
pub fn grouping(writer: &mut Writer) {
    let Some((literal, key, _)) = writer.keyed_iteration() else {
        return flag(writer);
    };
    let name = writer.rule_name();
    let element = writer.scalar_kind();
    let collection = match writer.random.less_than(3) {
        0 => Shape::array(element),
        1 => Shape::map(element),
        _ => Shape::set(element),
    };
    let gathered = writer.fresh();
    let Some(comprehension) = writer.comprehension(&collection, 2) else {
        return flag(writer);
    };
    let mut body = vec![literal, format!("{gathered} := {comprehension}")];
    if writer.random.chance(40) {
        body.push(format!(
            "count({gathered}) > {}",
            writer.random.less_than(2)
        ));
    }
    let rule = Rule::value(format!("{name}[{key}]"), gathered, body);
    writer.publish(&name, Shape::map(collection), vec![rule]);
}

/// Writes a comprehension of any kind as value.
pub fn collected(writer: &mut Writer) {
    let name = writer.rule_name();
    let element = if writer.random.chance(60) {
        writer.scalar_kind()
    } else {
        writer.useful_kind()
    };
    let shape = match writer.random.less_than(3) {
        0 => Shape::array(element),
        1 => Shape::set(element),
        _ => Shape::map(element),
    };
    let body = if writer.random.chance(40) {
        writer.body_without_iteration()
    } else {
        Vec::new()
    };
    let Some(value) = writer.comprehension(&shape, 3) else {
        return flag(writer);
    };
    writer.publish(&name, shape, vec![Rule::value(&name, value, body)]);
}

/// Writes an `every` over a collection, alone or under conditions.
pub fn all_of(writer: &mut Writer) {
    let name = writer.rule_name();
    let mut body = Vec::new();
    if writer.random.chance(40) {
        body.extend(writer.iteration());
    }
    match writer.every(2) {
        Some(literal) => body.push(literal),
        None => body.push(writer.condition(2)),
    }
    let outcome = if body.len() == 1 || writer.random.chance(50) {
        Outcome::True
    } else {
        Outcome::Member(writer.yielded().0)
    };
    let shape = if matches!(outcome, Outcome::True) {
        Shape::Boolean
    } else {
        Shape::set(Shape::Any)
    };
    writer.publish(&name, shape, vec![Rule::new(&name, outcome, body)]);
}

/// Writes a built-in call whose arguments may have the wrong kind.
pub fn risky_call(writer: &mut Writer) {
    let name = writer.rule_name();
    let template = *writer.random.pick(super::templates::RISKY);
    if template.starts_with("walk") {
        let rule = Rule::member(
            &name,
            "found_at",
            vec![format!(
                "walk({}, [found_at, _])",
                writer.dependent(&Shape::Any, 0)
            )],
        );
        return writer.publish(&name, Shape::set(Shape::Any), vec![rule]);
    }
    let iterations = writer.random.weighted(&[(6, 0), (4, 1)]);
    let mut body: Vec<String> = (0..iterations).filter_map(|_| writer.iteration()).collect();
    let call = writer.fill(template, &Shape::Any, 1);
    let rule = match writer.random.less_than(3) {
        0 => {
            body.push(format!("not {call}"));
            Rule::new(&name, Outcome::True, body)
        }
        1 => Rule::member(&name, grouped(call), body),
        _ if iterations == 0 => Rule::value(&name, call, body),
        _ => {
            let value = writer.fresh();
            body.push(format!("{value} := {call}"));
            Rule::member(&name, value, body)
        }
    };
    let shape = if matches!(rule.outcome, Outcome::Member(_)) {
        Shape::set(Shape::Any)
    } else {
        Shape::Any
    };
    writer.publish(&name, shape, vec![rule]);
}
