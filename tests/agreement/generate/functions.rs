//! Functions: several clauses, patterns as arguments, defaults, `else`, and rules that call them.

use super::rule::{Outcome, Rule};
use super::rules::flag;
use super::shape::Shape;
use super::writer::{Function, Writer};

impl Writer {
    /// Adds a function and makes it callable.
    fn define(
        &mut self,
        name: &str,
        arguments: Vec<Shape>,
        result: Shape,
        mut rules: Vec<Rule>,
    ) -> Function {
        for rule in &mut rules {
            rule.short = self.random.chance(50);
        }
        self.rules.extend(rules);
        self.forget();
        let function = Function {
            path: self.absolute(name),
            arguments,
            result,
        };
        self.functions.push(function.clone());
        function
    }

    /// Returns new variables for arguments of these kinds.
    fn parameters(&mut self, shapes: &[Shape]) -> Vec<String> {
        shapes
            .iter()
            .map(|shape| {
                let name = self.fresh();
                self.bind(&name, shape.clone());
                name
            })
            .collect()
    }

    fn argument_kind(&mut self) -> Shape {
        let readable: Vec<Shape> = self
            .sources
            .iter()
            .map(|source| source.shape.clone())
            .collect();
        if readable.is_empty() {
            self.scalar_kind()
        } else {
            self.random.pick(&readable).clone()
        }
    }
}

/// Writes one clause that computes a value.
pub fn computing(writer: &mut Writer) {
    let name = writer.rule_name();
    let shapes: Vec<Shape> = (0..writer.random.between(1, 2))
        .map(|_| writer.argument_kind())
        .collect();
    let result = writer.useful_kind();
    let parameters = writer.parameters(&shapes);
    let body = writer.body_without_iteration();
    let value = writer.ungrouped(&result, 2);
    let mut rules = vec![Rule::value(
        format!("{name}({})", parameters.join(", ")),
        value,
        body,
    )];
    if writer.random.chance(25) {
        let blanks = vec!["_"; shapes.len()].join(", ");
        rules.push(Rule::default(
            format!("{name}({blanks})"),
            writer.constant(&result),
        ));
    }
    let function = writer.define(&name, shapes, result, rules);
    caller(writer, &function);
}

/// Writes a clause for each of some constants, and possibly one for the rest.
pub fn by_cases(writer: &mut Writer) {
    let name = writer.rule_name();
    let argument = writer.scalar_kind();
    let result = writer.useful_kind();
    let mut rules: Vec<Rule> = Vec::new();
    for _ in 0..writer.random.between(2, 3) {
        let head = format!("{name}({})", writer.constant(&argument));
        if rules.iter().all(|rule| rule.head != head) {
            rules.push(Rule::value(head, writer.constant(&result), Vec::new()));
        }
    }
    if writer.random.chance(60) {
        let parameter = writer.parameters(std::slice::from_ref(&argument)).concat();
        let tests: Vec<String> = rules
            .iter()
            .filter_map(|rule| rule.head.strip_prefix(&format!("{name}(")))
            .map(|head| format!("{parameter} != {}", head.trim_end_matches(')')))
            .collect();
        let value = writer.ungrouped(&result, 1);
        rules.push(Rule::value(format!("{name}({parameter})"), value, tests));
    }
    let function = writer.define(&name, vec![argument], result, rules);
    caller(writer, &function);
}

/// Writes clauses with patterns as arguments that destructure the value.
pub fn by_pattern(writer: &mut Writer) {
    let name = writer.rule_name();
    let composite: Vec<Shape> = writer
        .sources
        .iter()
        .map(|source| source.shape.clone())
        .filter(|shape| matches!(shape, Shape::Record(_) | Shape::Array(_)))
        .collect();
    let argument = if composite.is_empty() {
        Shape::array(Shape::Text)
    } else {
        writer.random.pick(&composite).clone()
    };
    let result = writer.useful_kind();
    let mut rules = Vec::new();
    for _ in 0..writer.random.between(1, 2) {
        let pattern = writer.pattern(&argument);
        let value = writer.ungrouped(&result, 1);
        let body = if writer.random.chance(40) {
            vec![writer.condition(1)]
        } else {
            Vec::new()
        };
        rules.push(Rule::value(format!("{name}({pattern})"), value, body));
        writer.forget();
    }
    let function = writer.define(&name, vec![argument], result, rules);
    caller(writer, &function);
}

/// Writes a function that is true or undefined.
pub fn predicate(writer: &mut Writer) {
    let name = writer.rule_name();
    let argument = writer.argument_kind();
    let mut rules = Vec::new();
    for _ in 0..writer.random.weighted(&[(6, 1), (4, 2)]) {
        let parameter = writer.parameters(std::slice::from_ref(&argument)).concat();
        let iterations = writer.random.less_than(2);
        let body = writer.body(iterations);
        rules.push(Rule::new(
            format!("{name}({parameter})"),
            Outcome::True,
            body,
        ));
        writer.forget();
    }
    if writer.random.chance(20) {
        rules.push(Rule::default(format!("{name}(_)"), "false"));
    }
    let function = writer.define(&name, vec![argument], Shape::Boolean, rules);
    caller(writer, &function);
}

/// Writes a function with `else` branches.
pub fn chained(writer: &mut Writer) {
    let name = writer.rule_name();
    let shapes = vec![writer.argument_kind(), writer.scalar_kind()];
    let result = writer.useful_kind();
    let parameters = writer.parameters(&shapes);
    let arguments: Vec<_> = writer.locals.clone();
    let body = vec![writer.condition(2)];
    let value = writer.ungrouped(&result, 1);
    let mut rule = Rule::value(format!("{name}({})", parameters.join(", ")), value, body);
    for _ in 0..writer.random.between(1, 2) {
        writer.locals.clone_from(&arguments);
        let body = if writer.random.chance(25) {
            Vec::new()
        } else {
            vec![writer.condition(2)]
        };
        let value = writer.ungrouped(&result, 1);
        rule.otherwise.push((value, body));
        if rule
            .otherwise
            .last()
            .is_some_and(|(_, body)| body.is_empty())
        {
            break;
        }
    }
    let function = writer.define(&name, shapes, result, vec![rule]);
    caller(writer, &function);
}

/// Writes a rule that calls `function` in one of the positions where calls are allowed.
fn caller(writer: &mut Writer, function: &Function) {
    let name = writer.rule_name();
    let boolean = function.result == Shape::Boolean;
    let iterations = writer.random.weighted(&[(3, 0), (6, 1)]);
    let mut body: Vec<String> = (0..iterations).filter_map(|_| writer.iteration()).collect();
    let call = writer.call_of(function, 1);
    let (shape, rule) = match writer.random.less_than(6) {
        0 => {
            body.push(format!("not {call}"));
            (Shape::Boolean, Rule::new(&name, Outcome::True, body))
        }
        1 if boolean => {
            body.push(call);
            let (member, of) = writer.yielded();
            (Shape::set(of), Rule::member(&name, member, body))
        }
        2 if body.is_empty() => (function.result.clone(), Rule::value(&name, call, body)),
        3 => {
            let value = writer.fresh();
            body.push(format!("{value} = {call}"));
            (
                Shape::set(function.result.clone()),
                Rule::member(&name, value, body),
            )
        }
        4 if !body.is_empty() => {
            let value = format!("[{call} | {}]", body.join("; "));
            (
                Shape::array(function.result.clone()),
                Rule::value(&name, value, Vec::new()),
            )
        }
        5 => {
            // the result as an additional argument, a form that Rego has always allowed
            let value = writer.fresh();
            let open = call.trim_end_matches(')');
            let closed = call.len() - open.len();
            if closed == 1 {
                body.push(format!("{open}, {value})"));
            } else {
                body.push(format!("{value} := {call}"));
            }
            (
                Shape::set(function.result.clone()),
                Rule::member(&name, value, body),
            )
        }
        _ if boolean => return flag(writer),
        _ => (
            Shape::set(function.result.clone()),
            Rule::member(&name, call, body),
        ),
    };
    writer.publish(&name, shape, vec![rule]);
}
