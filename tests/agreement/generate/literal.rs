//! The literals of a body: conditions, assignments and other statements.

use super::rule::Dialect;
use super::shape::Shape;
use super::templates;
use super::term::grouped;
use super::writer::Writer;

impl Writer {
    /// Returns a body that iterates `iterations` times (if there is anything to iterate over) and tests a little.
    pub fn body(&mut self, iterations: usize) -> Vec<String> {
        if iterations > 0 && self.random.chance(10) {
            return self.unordered_body(iterations);
        }
        let mut body: Vec<String> = (0..iterations).filter_map(|_| self.iteration()).collect();
        let more = if body.is_empty() {
            self.random.between(1, 2)
        } else {
            self.random.weighted(&[(4, 0), (6, 1), (2, 2)])
        };
        body.extend((0..more).map(|_| self.literal(2)));
        if self.random.chance(4) {
            let at = self.random.less_than(body.len() + 1);
            body.insert(at, "true".into());
        }
        body
    }

    /// Returns a body whose literals bind variables by `=` and references, in an order that the compiler has to
    /// determine.
    fn unordered_body(&mut self, iterations: usize) -> Vec<String> {
        let mut body: Vec<String> = (0..iterations)
            .filter_map(|_| self.free_iteration())
            .collect();
        body.push(self.condition(1));
        let count = body.len();
        self.random.sample(&body, count)
    }

    /// Returns an informative literal; it may bind a variable.
    pub fn literal(&mut self, depth: usize) -> String {
        if self.dialect == Dialect::V2 && self.random.chance(60) {
            return self.logic(depth);
        }
        let choice = self.random.weighted(&[
            (40, 0),
            (12, 1),
            (8, 2),
            (9, 3),
            (5, 4),
            (7, 5),
            (5, 6),
            (3, 7),
            (4, 8),
        ]);
        let literal = match choice {
            1 => Some(self.assignment(depth)),
            2 => self.lookup(),
            3 => Some(self.negation(depth)),
            4 => self.every(depth),
            5 => Some(self.membership()),
            6 => self.destructuring(),
            7 => Some(self.print()),
            8 => self.iteration(),
            _ => None,
        };
        literal.unwrap_or_else(|| self.condition(depth))
    }

    /// Returns operands joined by `and` and `or`, grouped in all allowed forms.
    fn logic(&mut self, depth: usize) -> String {
        let (first, second) = (self.operand(depth), self.operand(depth));
        match self.random.less_than(8) {
            0 => format!("{first} and {second}"),
            1 => format!("{first} and {second} or {}", self.operand(0)),
            2 => format!("({first} or {second}) and {}", self.operand(0)),
            3 => format!("{first} or {second} and {}", self.operand(0)),
            4 => format!("not ({first} or {second})"),
            5 => format!("{first} or {second} {}", self.document_modifier()),
            6 => format!("not {{ {} }}", self.closed_body()),
            _ => format!("{first} or {second}"),
        }
    }

    fn operand(&mut self, depth: usize) -> String {
        match self.random.less_than(8) {
            0 => format!("{{ {} }}", self.closed_body()),
            1 => format!("not {}", self.condition(0)),
            2 => format!("({} {})", self.condition(0), self.document_modifier()),
            _ => self.condition(depth),
        }
    }

    /// Returns a body with variables of its own.
    fn closed_body(&mut self) -> String {
        let outer = self.locals.clone();
        let mut body: Vec<String> = self.iteration().into_iter().collect();
        body.push(self.condition(1));
        self.locals = outer;
        body.join("; ")
    }

    pub fn condition(&mut self, depth: usize) -> String {
        let template = if self.random.chance(15) {
            "<~any>"
        } else {
            *self.random.pick(templates::BOOLEAN)
        };
        self.fill(template, &Shape::Any, depth.saturating_sub(1))
    }

    pub fn assignment(&mut self, depth: usize) -> String {
        let shape = self.useful_kind();
        let value = self.ungrouped(&shape, depth);
        let name = self.fresh();
        self.bind(&name, shape);
        format!("{name} := {value}")
    }

    pub fn membership(&mut self) -> String {
        if !self.dialect.has_keywords() {
            return self.condition(1);
        }
        let template = *self.random.pick(templates::MEMBERSHIP);
        self.fill(template, &Shape::Any, 0)
    }

    fn negation(&mut self, depth: usize) -> String {
        let condition = match self.random.less_than(5) {
            0 => self.membership(),
            1 => self.dependent(&Shape::Any, 0),
            2 => self
                .call(&Shape::Boolean, 0)
                .unwrap_or_else(|| self.condition(1)),
            _ => self.condition(depth),
        };
        format!("not {condition}")
    }

    pub fn every(&mut self, depth: usize) -> Option<String> {
        if !self.dialect.has_keywords() {
            return None;
        }
        let source = self.iterable()?;
        let domain = self.spell(&source.path);
        let (key, value) = source.shape.key_and_value()?;
        let outer = self.locals.clone();
        let name = self.fresh();
        let head = if self.random.chance(30) {
            let key_name = self.fresh();
            self.bind(&key_name, key);
            format!("{key_name}, {name}")
        } else {
            name.clone()
        };
        self.bind(&name, value.clone());
        let mut body = Vec::new();
        if self.random.chance(20) {
            body.push(self.assignment(1));
        }
        body.push(self.condition_on(&name, &value, depth));
        self.locals = outer;
        Some(format!(
            "every {head} in {domain} {{ {} }}",
            body.join("; ")
        ))
    }

    /// Returns a condition that reads the variable `name`.
    fn condition_on(&mut self, name: &str, shape: &Shape, depth: usize) -> String {
        let operator = *self.random.pick(&["==", "!=", "<", "<=", ">", ">="]);
        match shape {
            Shape::Integer | Shape::Number | Shape::Text | Shape::Boolean => {
                format!(
                    "{name} {operator} {}",
                    self.term(shape, depth.saturating_sub(1))
                )
            }
            Shape::Record(fields) => {
                let (field, of) = self.random.pick(fields).clone();
                let place = format!("{name}{}", super::vocabulary::step(&field));
                if of.is_scalar() {
                    format!("{place} {operator} {}", self.term(&of, 0))
                } else {
                    place
                }
            }
            Shape::Array(_) | Shape::Set(_) | Shape::Map(_) => {
                format!("count({name}) {operator} {}", self.term(&Shape::Integer, 0))
            }
            Shape::Null | Shape::Any => format!("{name} {operator} {}", self.constant(&Shape::Any)),
        }
    }

    fn print(&mut self) -> String {
        let first = self.dependent(&Shape::Any, 0);
        let second = grouped(self.term(&Shape::Any, 1));
        match self.random.less_than(3) {
            0 => format!("print({first})"),
            1 => format!("print(\"at\", {first})"),
            _ => format!("print({second}, {first})"),
        }
    }
}
