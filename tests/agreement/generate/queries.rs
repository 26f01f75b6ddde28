//! Queries.

use super::shape::Shape;
use super::term::grouped;
use super::writer::{Function, Source, Writer};

impl Writer {
    /// Returns a query about a definition of `package`.
    pub fn query(&mut self, package: &str) -> String {
        let rules = self.own_rules(package);
        let functions = self.functions.clone();
        if rules.is_empty() || self.random.chance(45) {
            return format!("data.{package}");
        }
        let rule = self.random.pick(&rules).clone();
        match self
            .random
            .weighted(&[(30, 0), (15, 1), (6, 2), (4, 3), (4, 4)])
        {
            0 => rule.path,
            1 => self.iterating_query(&rule),
            2 => self.several(&rules),
            3 if !functions.is_empty() => self.calling_query(&functions),
            4 => format!("{} {}", rule.path, self.document_modifier()),
            _ => format!("data.{package}[name]"),
        }
    }

    /// Returns a query that does most of the work itself.
    pub fn long_query(&mut self, package: &str) -> String {
        let rules = self.own_rules(package);
        if rules.is_empty() {
            return self.several(&[]);
        }
        let rule = self.random.pick(&rules).clone();
        match self.random.less_than(4) {
            0 => self.iterating_query(&rule),
            1 => self.several(&rules),
            _ => {
                let iterations = self.random.between(1, 2);
                self.body(iterations).join("; ")
            }
        }
    }

    fn own_rules(&self, package: &str) -> Vec<Source> {
        let own = format!("data.{package}.");
        self.sources
            .iter()
            .filter(|source| source.path.starts_with(&own))
            .cloned()
            .collect()
    }

    fn iterating_query(&mut self, rule: &Source) -> String {
        let path = &rule.path;
        let constant = self.constant(&Shape::Any);
        match self.random.less_than(11) {
            0 => format!("{path}[x]"),
            1 => format!("{path}[x] = y"),
            2 => format!("x = {path}"),
            3 => format!("some k, v in {path}"),
            4 => format!("{path}[_] = {constant}"),
            5 => format!("not {path}"),
            6 => format!("count({path}) > 1"),
            7 => format!("[x | {path}[x]]"),
            8 => format!("{path}[x][y]"),
            9 => format!("x := {path}[_]; x != {constant}"),
            _ => format!("{path} == {constant}"),
        }
    }

    fn several(&mut self, rules: &[Source]) -> String {
        let mut parts = Vec::new();
        for name in ["a1", "b1"] {
            let value = if rules.is_empty() || self.random.chance(40) {
                grouped(self.dependent(&Shape::Any, 2))
            } else {
                self.random.pick(rules).path.clone()
            };
            let assign = *self.random.pick(&[":=", "="]);
            parts.push(format!("{name} {assign} {value}"));
        }
        if self.random.chance(50) {
            parts.push(
                (*self.random.pick(&[
                    "a1 == b1",
                    "a1 != b1",
                    "[a1, b1]",
                    "c1 = [a1, b1]",
                    "count([a1]) == 1",
                ]))
                .to_string(),
            );
        }
        parts.join("; ")
    }

    fn calling_query(&mut self, functions: &[Function]) -> String {
        let function = self.random.pick(functions).clone();
        let call = self.call_of(&function, 1);
        match self.random.less_than(3) {
            0 => call,
            1 => format!("x := {call}"),
            _ => format!("{call} = x"),
        }
    }
}
