//! Programs of every syntactic form, without much sense: patterns, nested closures, nested modifiers, templates, heads
//! of all kinds, unusual numbers. What other themes keep meaningful is random here, so many programs fail to compile,
//! each in its own way.

use super::lexicon::{
    CALLS, COLLECTIONS, DATA, FUNCTIONS, IMPORTS, INPUT, LITERALS, PLACES, REPLACED,
};
use super::random::Random;
use super::request::Request;

/// Returns the program of a seed.
pub fn program(seed: u64) -> Request {
    let mut forms = FormsGenerator {
        random: Random::new(seed),
        variables: Vec::new(),
        functions: Vec::new(),
        rules: Vec::new(),
        names: 0,
        logic: false,
    };
    let module = forms.module();
    let documents = |fields: &[(&str, &str)]| {
        let pairs = fields
            .iter()
            .map(|(name, text)| (name.to_string(), text.to_string()));
        pairs.collect::<Vec<_>>()
    };
    let query = match forms.random.less_than(5) {
        0 => "x = data.main".to_string(),
        1 => "data.main[x]".to_string(),
        2 if !forms.rules.is_empty() => format!("data.main.{}", forms.random.pick(&forms.rules)),
        _ => "data.main".to_string(),
    };
    Request {
        modules: vec![("m0.rego".to_string(), module)],
        data: documents(DATA),
        input: documents(INPUT),
        query,
        v0: false,
        strict: forms.random.chance(3),
        strict_builtin_errors: forms.random.chance(15),
    }
}

struct FormsGenerator {
    random: Random,
    /// Variables in scope.
    variables: Vec<String>,
    /// Functions of the program, with their number of operands.
    functions: Vec<(String, usize)>,
    /// References to rules of the program.
    rules: Vec<String>,
    names: usize,
    /// `true` if `and`, `or` and composite `not` are available.
    logic: bool,
}

impl FormsGenerator {
    fn one(&mut self, list: &[&str]) -> String {
        (*self.random.pick(list)).to_string()
    }

    fn fresh(&mut self) -> String {
        self.names += 1;
        let letter = self.one(&["x", "y", "z", "k", "v", "w"]);
        if self.random.chance(70) {
            format!("{letter}{}", self.names)
        } else {
            letter
        }
    }

    fn variable(&mut self) -> String {
        if self.variables.is_empty() || self.random.chance(8) {
            return self.one(&["input.n", "data.xs", "1"]);
        }
        self.random.pick(&self.variables).clone()
    }

    fn rule(&mut self) -> String {
        if self.rules.is_empty() {
            return self.one(PLACES);
        }
        self.random.pick(&self.rules).clone()
    }

    fn simple(&mut self) -> String {
        match self.random.less_than(4) {
            0 => self.one(LITERALS),
            1 => self.one(PLACES),
            _ => self.variable(),
        }
    }

    fn terms(&mut self, low: usize, high: usize, depth: usize) -> String {
        let count = self.random.between(low, high);
        let terms: Vec<String> = (0..count).map(|_| self.term(depth)).collect();
        terms.join(", ")
    }

    fn term(&mut self, depth: usize) -> String {
        let draw = self.random.less_than(100);
        let Some(below) = depth.checked_sub(1) else {
            return self.simple();
        };
        match draw {
            0..25 => self.simple(),
            25..35 => format!("[{}]", self.terms(0, 3, below)),
            35..42 => {
                let key = self.one(&["\"a\"", "\"b\"", "1"]);
                format!("{{{key}: {}}}", self.term(below))
            }
            42..46 => format!("{{{}}}", self.terms(1, 3, below)),
            46..56 => self.rule(),
            56..64 => {
                let operator =
                    self.one(&["+", "-", "*", "/", "%", "==", "<", ">=", "!=", "|", "&"]);
                format!("({} {operator} {})", self.term(below), self.term(below))
            }
            64..82 => self.call(below),
            82..86 => self.comprehension(below),
            86..92 => self.template(below),
            92..95 => format!("({} in {})", self.term(below), self.one(COLLECTIONS)),
            _ => format!("{}[{}]", self.one(PLACES), self.variable()),
        }
    }

    fn call(&mut self, depth: usize) -> String {
        if !self.functions.is_empty() && self.random.chance(30) {
            let (name, arity) = self.random.pick(&self.functions).clone();
            let arity = if self.random.chance(96) {
                arity
            } else {
                arity + 1
            };
            return format!("{name}({})", self.terms(arity, arity, depth));
        }
        if self.random.chance(60) {
            return self.one(CALLS);
        }
        let (name, arity) = *self.random.pick(FUNCTIONS);
        format!("{name}({})", self.terms(arity, arity, depth))
    }

    fn template(&mut self, depth: usize) -> String {
        let mut text = String::new();
        for _ in 0..self.random.between(1, 3) {
            let inner = self.term(depth);
            match self.random.less_than(3) {
                0 => text += "t ",
                1 => text += "\\{",
                // a template string cannot contain other strings
                _ if inner.contains(['"', '`']) => text += "{input.user}",
                _ => text += &format!("{{{inner}}}"),
            }
        }
        format!("$\"{text}\"")
    }

    fn comprehension(&mut self, depth: usize) -> String {
        let outer = self.variables.clone();
        let count = self.random.between(1, 2);
        let body = self.body(count, depth, "; ");
        let head = self.term(depth);
        let text = match self.random.less_than(3) {
            0 => format!("[{head} | {body}]"),
            1 => format!("{{{head} | {body}}}"),
            _ => format!("{{{}: {head} | {body}}}", self.simple()),
        };
        self.variables = outer;
        text
    }

    /// Returns a pattern, and adds the variables that it binds to `bound`.
    fn pattern(&mut self, depth: usize, bound: &mut Vec<String>) -> String {
        let draw = if depth == 0 {
            0
        } else {
            self.random.less_than(100)
        };
        match draw {
            0..40 => {
                let name = self.fresh();
                bound.push(name.clone());
                name
            }
            40..50 => "_".to_string(),
            50..60 => self.one(LITERALS),
            60..65 => self.variable(),
            65..85 => {
                let count = self.random.between(1, 3);
                let items: Vec<String> =
                    (0..count).map(|_| self.pattern(depth - 1, bound)).collect();
                format!("[{}]", items.join(", "))
            }
            _ => {
                let count = self.random.between(1, 2);
                let keys = self.random.sample(&["id", "n", "t", "a", "b"], count);
                let pairs: Vec<String> = keys
                    .into_iter()
                    .map(|key| format!("\"{key}\": {}", self.pattern(depth - 1, bound)))
                    .collect();
                format!("{{{}}}", pairs.join(", "))
            }
        }
    }

    fn body(&mut self, count: usize, depth: usize, separator: &str) -> String {
        let mut literals: Vec<String> = (0..count).map(|_| self.literal(depth)).collect();
        if self.random.chance(20) {
            let count = literals.len();
            literals = self.random.sample(&literals, count);
        }
        literals.join(separator)
    }

    fn literal(&mut self, depth: usize) -> String {
        let below = depth.saturating_sub(1);
        let mut bound = Vec::new();
        let text = match self.random.less_than(100) {
            0..16 => {
                let value = self.term(below);
                let name = self.fresh();
                bound.push(name.clone());
                format!("{name} := {value}")
            }
            16..28 => {
                let among = if self.random.chance(85) {
                    self.one(COLLECTIONS)
                } else {
                    self.term(below)
                };
                let pattern = self.pattern(2, &mut bound);
                match self.random.less_than(5) {
                    0 => format!("some _, {pattern} in {among}"),
                    1 => {
                        let key = self.fresh();
                        bound.push(key.clone());
                        format!("some {key}, {pattern} in {among}")
                    }
                    _ => format!("some {pattern} in {among}"),
                }
            }
            28..36 => {
                let name = self.fresh();
                bound.push(name.clone());
                let place = self.one(COLLECTIONS);
                if self.random.chance(50) {
                    format!("{name} = {place}[_]")
                } else {
                    format!("{place}[{name}] = {}", self.pattern(1, &mut bound))
                }
            }
            36..43 => {
                let value = self.one(&[
                    "data.os[0]",
                    "input.obj",
                    "[1, [2, 3]]",
                    "{\"a\": 1, \"b\": [2]}",
                ]);
                let operator = self.one(&["=", ":=", "="]);
                format!("{} {operator} {value}", self.pattern(2, &mut bound))
            }
            43..50 => return self.every(below),
            50..57 => format!("not {}", self.term(below)),
            57..66 => return self.modified(below),
            66..78 => {
                let operator = self.one(&["==", "<", ">", "!=", "<=", ">="]);
                format!("{} {operator} {}", self.term(below), self.term(below))
            }
            78..84 => format!("{} in {}", self.term(below), self.one(COLLECTIONS)),
            84..88 => format!("print({})", self.terms(0, 2, below)),
            88..92 if self.logic => {
                let (left, right) = (self.term(1), self.simple());
                match self.random.less_than(3) {
                    0 => format!("not {{ {left}; {right} }}"),
                    1 => format!("({left} == 1 or {right} == 2)"),
                    _ => format!("{left} == 1 and {right} == 5"),
                }
            }
            92..95 => {
                let path = self.fresh();
                bound.push(path.clone());
                let place = self.one(&["data.m", "input.obj", "input.arr"]);
                format!("walk({place}, [{path}, {}])", self.pattern(1, &mut bound))
            }
            _ => self.term(depth),
        };
        self.variables.extend(bound);
        text
    }

    fn every(&mut self, depth: usize) -> String {
        let outer = self.variables.clone();
        let among = if self.random.chance(80) {
            self.one(COLLECTIONS)
        } else {
            self.term(depth)
        };
        let (key, value) = (self.fresh(), self.fresh());
        self.variables.push(value.clone());
        let names = if self.random.chance(40) && key != value {
            self.variables.push(key.clone());
            format!("{key}, {value}")
        } else {
            value
        };
        let count = self.random.between(1, 2);
        let body = self.body(count, depth, "; ");
        self.variables = outer;
        format!("every {names} in {among} {{ {body} }}")
    }

    fn modified(&mut self, depth: usize) -> String {
        let mut text = match self.random.less_than(4) {
            0 => self.term(depth),
            1 => self.call(depth),
            2 => format!("not {}", self.rule()),
            _ => self.rule(),
        };
        for _ in 0..self.random.between(1, 2) {
            let (target, value) = match self.functions.first().cloned() {
                Some((name, _)) if self.random.chance(30) => {
                    let value = self.one(&["7", "count", "upper"]);
                    (name, value)
                }
                _ => (self.one(REPLACED), self.term(1)),
            };
            let value = match target.as_str() {
                "count" | "upper" => self.one(&["7", "\"m\"", "lower", "sum"]),
                _ => value,
            };
            text += &format!(" with {target} as {value}");
        }
        text
    }

    fn module(&mut self) -> String {
        let mut text = "package main\n".to_string();
        self.logic = self.random.chance(30);
        if self.logic {
            text += "\nimport rego.v2\n";
        }
        if self.random.chance(20) {
            text += &format!("\nimport {}\n", self.one(IMPORTS));
        }
        for _ in 0..self.random.between(2, 5) {
            self.variables.clear();
            text += &format!("\n{}\n", self.statement());
        }
        text
    }

    fn statement(&mut self) -> String {
        let name = format!(
            "{}{}",
            self.one(&["p", "q", "r", "h"]),
            self.random.between(1, 3)
        );
        match self.random.less_than(100) {
            0..20 => self.function(),
            20..35 => {
                let body = self.block(1, 3);
                let member = self.term(1);
                self.rules.push(name.clone());
                format!("{name} contains {member}{body}")
            }
            35..50 => {
                let body = self.block(1, 3);
                let key = if self.random.chance(75) {
                    self.variable()
                } else {
                    self.one(LITERALS)
                };
                let tail = match self.random.less_than(4) {
                    0 => ".foo".to_string(),
                    1 => format!("[{}]", self.variable()),
                    2 => "[\"x y\"]".to_string(),
                    _ => String::new(),
                };
                let step = self.one(&["", "[\"a\"]", "[_]", "[1]"]);
                self.rules.push(format!("{name}{step}"));
                if self.random.chance(25) {
                    format!("{name}[{key}]{tail} contains {}{body}", self.simple())
                } else {
                    format!("{name}[{key}]{tail} := {}{body}", self.term(1))
                }
            }
            50..60 => {
                let mut text = format!("{name}{}", self.block(1, 2));
                if self.random.chance(20) {
                    self.variables.clear();
                    text += &format!(" {{\n\t{}\n}}", self.body(1, 2, "\n\t"));
                }
                self.rules.push(name);
                text
            }
            60..66 => {
                self.rules.push(name.clone());
                format!("default {name} := {}", self.one(LITERALS))
            }
            66..72 => {
                let path = self.one(&["a.x", "a.y", "c.x"]);
                self.rules.push(name.clone());
                format!("{name}.{path} := {}", self.term(1))
            }
            _ => {
                let body = self.block(0, 3);
                let text = format!("{name} := {}{body}", self.term(2));
                let chain = self.chain(&[]);
                self.rules.push(name);
                format!("{text}{chain}")
            }
        }
    }

    fn function(&mut self) -> String {
        let name = format!("f{}", self.random.between(1, 3));
        let arity = self.random.between(1, 3);
        let mut bound = Vec::new();
        let args: Vec<String> = (0..arity)
            .map(|_| {
                if self.random.chance(75) {
                    self.pattern(1, &mut bound)
                } else {
                    self.one(LITERALS)
                }
            })
            // documents are not parameters: OPA's error messages for them vary
            .map(|arg| {
                if arg.contains("data.") || arg.contains("input.") {
                    "_".into()
                } else {
                    arg
                }
            })
            .collect();
        let default = if self.random.chance(15) {
            let args: Vec<String> = (0..arity).map(|at| format!("a{at}")).collect();
            format!(
                "default {name}({}) := {}\n\n",
                args.join(", "),
                self.one(LITERALS)
            )
        } else {
            String::new()
        };
        self.variables.clone_from(&bound);
        let body = self.block(0, 2);
        let value = self.term(2);
        let chain = self.chain(&bound);
        self.functions.push((name.clone(), arity));
        format!(
            "{default}{name}({}) := {value}{body}{chain}",
            args.join(", ")
        )
    }

    /// Returns ` if { … }`, or nothing.
    fn block(&mut self, low: usize, high: usize) -> String {
        match self.random.between(low, high) {
            0 => String::new(),
            count => format!(" if {{\n\t{}\n}}", self.body(count, 2, "\n\t")),
        }
    }

    /// Returns some `else` branches, each with the parameters in scope.
    fn chain(&mut self, parameters: &[String]) -> String {
        let mut text = String::new();
        while self.random.chance(25) {
            self.variables = parameters.to_vec();
            let body = self.block(0, 2);
            text += &format!(" else := {}{body}", self.term(1));
        }
        text
    }
}
