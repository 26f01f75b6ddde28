//! `with`: replaced input, data, rules, functions and built-ins.

use super::rule::{Outcome, Rule};
use super::rules::flag;
use super::shape::Shape;
use super::term::grouped;
use super::writer::{Source, Writer};

/// Calls of nondeterministic built-ins, and mocks that make them predictable.
const NONDETERMINISTIC: [(&str, &str); 3] = [
    ("time.now_ns()", "time.now_ns as <integer>"),
    ("rand.intn(\"x\", 10)", "rand.intn as <integer>"),
    (
        "opa.runtime().env",
        "opa.runtime as {\"env\": <map string>}",
    ),
];

/// Calls, and built-in or constant replacements of the called function.
const REPLACED: [(&str, &str); 8] = [
    ("count(<~[any]>)", "count as <integer>"),
    ("count(<~[number]>)", "count as sum"),
    ("upper(<~string>)", "upper as lower"),
    ("lower(<~string>)", "lower as type_name"),
    ("startswith(<~string>, <string>)", "startswith as endswith"),
    ("endswith(<~string>, <string>)", "endswith as <boolean>"),
    ("concat(\",\", <~[string]>)", "concat as <string>"),
    ("max(<~[number]>)", "max as min"),
];

impl Writer {
    /// Returns a modifier of a document: the whole input, or a value at some path of the input or the base documents.
    pub fn document_modifier(&mut self) -> String {
        let own = |source: &&Source| {
            (source.path.starts_with("input") || source.path.starts_with("data"))
                && !source.path.contains('[')
        };
        let base: Vec<Source> = self.sources.iter().filter(own).cloned().collect();
        if base.is_empty() || self.random.chance(20) {
            let fields = self.random.between(1, 2);
            let names = self.vocabulary.fields(&mut self.random, fields);
            let pairs: Vec<String> = names
                .iter()
                .map(|name| format!("\"{name}\": {}", self.constant(&Shape::Any)))
                .collect();
            return format!("with input as {{{}}}", pairs.join(", "));
        }
        let Source { path, shape } = self.random.pick(&base).clone();
        let shape = if self.random.chance(85) {
            shape
        } else {
            Shape::Any
        };
        let value = if self.random.chance(75) {
            self.constant(&shape)
        } else {
            grouped(self.dependent(&shape, 1))
        };
        format!("with {path} as {value}")
    }

    fn modifiers(&mut self) -> String {
        let count = self.random.weighted(&[(7, 1), (3, 2)]);
        let all: Vec<String> = (0..count).map(|_| self.document_modifier()).collect();
        all.join(" ")
    }

    /// Returns a rule of this program, if there is one.
    fn some_rule(&mut self) -> Option<Source> {
        let names: Vec<String> = self
            .rules
            .iter()
            .filter(|rule| !rule.head.contains('('))
            .map(|rule| {
                let end = rule.head.find(['.', '[']).unwrap_or(rule.head.len());
                self.absolute(&rule.head[..end])
            })
            .collect();
        let rules: Vec<Source> = self
            .sources
            .iter()
            .filter(|source| names.contains(&source.path))
            .cloned()
            .collect();
        if rules.is_empty() {
            None
        } else {
            Some(self.random.pick(&rules).clone())
        }
    }
}

/// Writes a rule that reads an earlier rule with replaced documents.
pub fn replaced_document(writer: &mut Writer) {
    let Some(rule) = writer.some_rule() else {
        return flag(writer);
    };
    let name = writer.rule_name();
    let path = writer.spell(&rule.path);
    let modifiers = writer.modifiers();
    let result = writer.fresh();
    let (shape, made) = match writer.random.less_than(6) {
        0 => (
            Shape::Boolean,
            Rule::new(&name, Outcome::True, vec![format!("{path} {modifiers}")]),
        ),
        1 => (
            Shape::Boolean,
            Rule::new(
                &name,
                Outcome::True,
                vec![format!("not {path} {modifiers}")],
            ),
        ),
        2 if rule.shape.key_and_value().is_some() => {
            let body = vec![format!("some {result} in {path} {modifiers}")];
            (Shape::set(Shape::Any), Rule::member(&name, result, body))
        }
        3 => {
            let plain = writer.fresh();
            let body = vec![
                format!("{result} := {path} {modifiers}"),
                format!("{plain} := {path}"),
            ];
            (
                Shape::Any,
                Rule::value(&name, format!("[{result}, {plain}]"), body),
            )
        }
        4 => {
            let Some(iteration) = writer.iteration() else {
                return flag(writer);
            };
            let (value, _) = writer.yielded();
            let field = writer.vocabulary.fields(&mut writer.random, 1).concat();
            let field = super::vocabulary::step(&field);
            let body = vec![
                iteration,
                format!("{result} := {path} with input{field} as {value}"),
            ];
            (Shape::set(Shape::Any), Rule::member(&name, result, body))
        }
        _ => {
            let body = vec![format!("{result} := {path} {modifiers}")];
            (rule.shape, Rule::value(&name, result, body))
        }
    };
    writer.publish(&name, shape, vec![made]);
}

/// Writes an expression that is not a rule reference, with replaced documents.
pub fn modified_condition(writer: &mut Writer) {
    let name = writer.rule_name();
    let mut body: Vec<String> = writer.iteration().into_iter().collect();
    let literal = if writer.random.chance(70) {
        writer.condition(2)
    } else {
        writer.assignment(2)
    };
    let modifiers = writer.modifiers();
    body.push(format!("{literal} {modifiers}"));
    let (member, shape) = writer.yielded();
    writer.publish(
        &name,
        Shape::set(shape),
        vec![Rule::member(&name, member, body)],
    );
}

/// Writes a reference to a rule while another rule that it reads is replaced by a value.
pub fn replaced_rule(writer: &mut Writer) {
    let Some(inner) = writer.some_rule() else {
        return flag(writer);
    };
    let (middle, outer) = (writer.rule_name(), writer.rule_name());
    if middle == outer {
        return flag(writer);
    }
    let reading = writer.spell(&inner.path);
    let rule = Rule::value(
        &middle,
        format!("[{reading}, {}]", writer.constant(&Shape::Any)),
        Vec::new(),
    );
    writer.publish(&middle, Shape::Any, vec![rule]);
    let value = writer.constant(&inner.shape);
    let replaced = if writer.random.chance(70) {
        inner.path
    } else {
        writer.absolute(&middle)
    };
    let result = writer.fresh();
    let body = vec![format!("{result} := {middle} with {replaced} as {value}")];
    writer.publish(&outer, Shape::Any, vec![Rule::value(&outer, result, body)]);
}

/// Writes a built-in replaced by a value or another built-in, directly or inside a rule.
pub fn replaced_builtin(writer: &mut Writer) {
    let name = writer.rule_name();
    let result = writer.fresh();
    let (call, modifier) = if writer.random.chance(25) {
        *writer.random.pick(&NONDETERMINISTIC)
    } else {
        *writer.random.pick(&REPLACED)
    };
    let call = writer.fill(call, &Shape::Any, 0);
    let modifier = writer.fill(modifier, &Shape::Any, 0);
    let body = match writer.random.less_than(3) {
        0 => {
            let helper = writer.rule_name();
            if helper == name || NONDETERMINISTIC.iter().any(|(outside, _)| *outside == call) {
                vec![format!("{result} := {call} with {modifier}")]
            } else {
                writer.publish(
                    &helper,
                    Shape::Any,
                    vec![Rule::value(&helper, call, Vec::new())],
                );
                vec![format!("{result} := {helper} with {modifier}")]
            }
        }
        1 => {
            let document = writer.document_modifier();
            vec![format!("{result} := {call} with {modifier} {document}")]
        }
        _ => vec![format!("{result} := {call} with {modifier}")],
    };
    writer.publish(&name, Shape::Any, vec![Rule::value(&name, result, body)]);
}

/// Writes a function of the program, or a built-in, replaced by a function of the program.
pub fn replaced_function(writer: &mut Writer) {
    let prefix = writer.rule_name();
    let (real, mock, user) = (
        format!("{prefix}_real"),
        format!("{prefix}_mock"),
        format!("{prefix}_user"),
    );
    let argument = writer.scalar_kind();
    let parameter = writer.fresh();
    writer.bind(&parameter, argument.clone());
    let value = writer.dependent(&Shape::Any, 2);
    let body = if writer.random.chance(40) {
        vec![writer.condition(1)]
    } else {
        Vec::new()
    };
    writer.push(Rule::value(format!("{real}({parameter})"), value, body));
    let target = match writer.random.less_than(3) {
        0 => "type_name".to_string(),
        1 => writer.absolute(&real),
        _ => real.clone(),
    };
    let called = if target == "type_name" {
        target.clone()
    } else {
        real
    };
    // inside a mock, the original function is not replaced
    let mocked = match writer.random.less_than(3) {
        0 => format!("[\"mock\", {called}({parameter})]"),
        1 => format!("{{\"mock\": {parameter}}}"),
        _ => writer.constant(&Shape::Any),
    };
    writer.push(Rule::value(
        format!("{mock}({parameter})"),
        mocked,
        Vec::new(),
    ));
    let given = grouped(writer.dependent(&argument, 0));
    writer.push(Rule::value(
        &user,
        format!("[{called}({given}), \"u\"]"),
        Vec::new(),
    ));
    let replacement = match writer.random.less_than(4) {
        0 => writer.constant(&Shape::Any),
        1 => "json.marshal".to_string(),
        _ => mock,
    };
    let literal = match writer.random.less_than(3) {
        0 => format!("{called}({given})"),
        _ => user,
    };
    let result = writer.fresh();
    let body = vec![format!(
        "{result} := {literal} with {target} as {replacement}"
    )];
    writer.publish(
        &prefix,
        Shape::Any,
        vec![Rule::value(&prefix, result, body)],
    );
}
