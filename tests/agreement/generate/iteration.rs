//! Literals that bind variables to parts of documents, rules and other variables.

use super::shape::Shape;
use super::writer::{Source, Writer};

impl Writer {
    /// Returns something iterable, sometimes a variable.
    pub fn iterable(&mut self) -> Option<Source> {
        let inner = self.random.chance(35);
        let from = |sources: &[Source]| -> Vec<Source> {
            sources
                .iter()
                .filter(|source| source.shape.key_and_value().is_some())
                .cloned()
                .collect()
        };
        let locals = from(&self.locals);
        let candidates = if inner && !locals.is_empty() {
            locals
        } else {
            from(&self.sources)
        };
        if candidates.is_empty() {
            None
        } else {
            Some(self.random.pick(&candidates).clone())
        }
    }

    /// Returns a literal that binds variables to the elements of a collection.
    pub fn iteration(&mut self) -> Option<String> {
        let choice = if self.dialect.has_keywords() {
            self.random
                .weighted(&[(40, 0), (18, 1), (14, 2), (8, 3), (6, 4), (3, 5), (3, 6)])
        } else {
            self.random.weighted(&[(14, 2), (10, 4), (2, 5)])
        };
        match choice {
            0 => {
                let source = self.iterable()?;
                let (_, value) = source.shape.key_and_value()?;
                let domain = self.spell(&source.path);
                let name = self.fresh();
                self.bind(&name, value);
                Some(format!("some {name} in {domain}"))
            }
            1 => self.keyed_iteration().map(|(literal, _, _)| literal),
            2 => {
                let source = self.iterable()?;
                let (_, value) = source.shape.key_and_value()?;
                let domain = self.spell(&source.path);
                let name = self.fresh();
                self.bind(&name, value);
                Some(format!("{name} := {domain}[_]"))
            }
            3 => self.pattern_iteration(),
            4 => self.free_iteration(),
            5 => {
                let source = self.dependent(&Shape::Any, 0);
                let (path, value) = (self.fresh(), self.fresh());
                self.bind(&path, Shape::array(Shape::Any));
                self.bind(&value, Shape::Any);
                Some(format!("walk({source}, [{path}, {value}])"))
            }
            _ => {
                let shape = self.scalar_kind();
                let domain = self.term(&Shape::array(shape.clone()), 1);
                let name = self.fresh();
                self.bind(&name, shape);
                Some(format!("some {name} in {domain}"))
            }
        }
    }

    /// Returns a literal that binds key and value, with the names of both.
    pub fn keyed_iteration(&mut self) -> Option<(String, String, String)> {
        let source = self.iterable()?;
        let (key, value) = source.shape.key_and_value()?;
        let domain = self.spell(&source.path);
        let (key_name, value_name) = (self.fresh(), self.fresh());
        self.bind(&key_name, key);
        self.bind(&value_name, value);
        let literal = if self.dialect.has_keywords() && self.random.chance(80) {
            format!("some {key_name}, {value_name} in {domain}")
        } else {
            format!("{value_name} := {domain}[{key_name}]")
        };
        Some((literal, key_name, value_name))
    }

    /// Binds by reference and `=` only, sometimes two levels deep.
    pub fn free_iteration(&mut self) -> Option<String> {
        let source = self.iterable()?;
        let (key, value) = source.shape.key_and_value()?;
        let domain = self.spell(&source.path);
        let key_name = if self.random.chance(30) {
            "_".to_string()
        } else {
            self.fresh()
        };
        let name = self.fresh();
        if key_name != "_" {
            self.bind(&key_name, key);
        }
        let inner = value.key_and_value().filter(|_| self.random.chance(40));
        let (brackets, bound) = match inner {
            Some((inner_key, inner_value)) => {
                let inner_name = self.fresh();
                self.bind(&inner_name, inner_key);
                (format!("[{key_name}][{inner_name}]"), inner_value)
            }
            None => (format!("[{key_name}]"), value),
        };
        self.bind(&name, bound);
        Some(if self.random.chance(50) {
            format!("{name} = {domain}{brackets}")
        } else {
            format!("{domain}{brackets} = {name}")
        })
    }

    /// `some` with a pattern for the elements.
    fn pattern_iteration(&mut self) -> Option<String> {
        let records: Vec<Source> = self
            .sources
            .iter()
            .chain(&self.locals)
            .filter(|source| matches!(source.shape.key_and_value(), Some((_, Shape::Record(_)))))
            .cloned()
            .collect();
        if records.is_empty() {
            return None;
        }
        let source = self.random.pick(&records).clone();
        let (_, element) = source.shape.key_and_value()?;
        let domain = self.spell(&source.path);
        let pattern = self.pattern(&element);
        Some(format!("some {pattern} in {domain}"))
    }

    /// Returns a pattern of variables and constants for a value of this kind.
    pub fn pattern(&mut self, shape: &Shape) -> String {
        match shape {
            Shape::Record(fields) => {
                let parts: Vec<String> = fields
                    .clone()
                    .iter()
                    .map(|(name, of)| match self.random.less_than(6) {
                        0 if of.is_scalar() => format!("\"{name}\": {}", self.constant(of)),
                        1 => format!("\"{name}\": _"),
                        _ => format!("\"{name}\": {}", self.bound(of)),
                    })
                    .collect();
                format!("{{{}}}", parts.join(", "))
            }
            Shape::Array(of) => {
                let count = self.random.between(1, 3);
                let parts: Vec<String> = (0..count)
                    .map(|_| {
                        if self.random.chance(20) {
                            "_".to_string()
                        } else {
                            self.bound(of)
                        }
                    })
                    .collect();
                format!("[{}]", parts.join(", "))
            }
            _ => self.bound(shape),
        }
    }

    fn bound(&mut self, shape: &Shape) -> String {
        let name = self.fresh();
        self.bind(&name, shape.clone());
        name
    }

    /// Destructures a record, an array or a call result.
    pub fn destructuring(&mut self) -> Option<String> {
        if self.random.chance(30) {
            let (left, right) = (self.scalar_kind(), self.scalar_kind());
            let (left_value, right_value) = (self.dependent(&left, 0), self.dependent(&right, 0));
            let pattern = format!("[{}, {}]", self.bound(&left), self.bound(&right));
            return Some(format!("{pattern} := [{left_value}, {right_value}]"));
        }
        let fitting: Vec<Source> = self
            .sources
            .iter()
            .chain(&self.locals)
            .filter(|source| matches!(source.shape, Shape::Record(_) | Shape::Array(_)))
            .cloned()
            .collect();
        if fitting.is_empty() {
            return None;
        }
        let source = self.random.pick(&fitting).clone();
        let value = self.spell(&source.path);
        let pattern = self.pattern(&source.shape);
        let assign = if pattern.contains('"') || self.random.chance(50) {
            "="
        } else {
            ":="
        };
        Some(if self.random.chance(20) {
            format!("{value} = {pattern}")
        } else {
            format!("{pattern} {assign} {value}")
        })
    }

    /// Looks up a value under a key that is a variable or read from a document.
    pub fn lookup(&mut self) -> Option<String> {
        let maps: Vec<Source> = self
            .sources
            .iter()
            .chain(&self.locals)
            .filter(|source| {
                matches!(
                    source.shape,
                    Shape::Map(_) | Shape::Array(_) | Shape::Set(_)
                )
            })
            .cloned()
            .collect();
        if maps.is_empty() {
            return None;
        }
        let source = self.random.pick(&maps).clone();
        let (key, value) = source.shape.key_and_value()?;
        let place = format!("{}[{}]", self.spell(&source.path), self.dependent(&key, 0));
        Some(if self.random.chance(60) {
            let name = self.fresh();
            self.bind(&name, value);
            format!("{name} := {place}")
        } else {
            place
        })
    }
}
