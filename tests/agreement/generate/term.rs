//! Expressions of a requested kind.

use super::shape::Shape;
use super::templates;
use super::writer::{Function, Source, Writer};

/// Parenthesises an expression with operators, so that it can be an operand or precede a comma.
pub fn grouped(text: String) -> String {
    let mut depth = 0_usize;
    let mut quoted = false;
    let mut escaped = false;
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => return format!("({text})"),
            _ => {}
        }
    }
    text
}

impl Writer {
    /// Returns an expression of this kind, built from at most `depth` levels of templates.
    pub fn term(&mut self, shape: &Shape, depth: usize) -> String {
        let text = self.ungrouped(shape, depth);
        // arithmetic sometimes stays without parentheses, because precedence is tested, too
        if *shape == Shape::Number && self.random.chance(30) {
            text
        } else {
            grouped(text)
        }
    }

    /// Returns an expression that may have an operator at the top.
    pub fn ungrouped(&mut self, shape: &Shape, depth: usize) -> String {
        if *shape == Shape::Any && depth > 0 {
            let shape = self.useful_kind();
            return self.ungrouped(&shape, depth - 1);
        }
        let kind = self.random.weighted(&[
            (40, 0),
            (20, 1),
            (depth * 18, 2),
            (depth * 5, 3),
            (depth * 6, 4),
        ]);
        let text = match kind {
            0 => self.reading(shape),
            2 => self.template(shape, depth),
            3 => self.call(shape, depth - 1),
            4 => self.comprehension(shape, depth - 1),
            _ => None,
        };
        text.unwrap_or_else(|| self.constant(shape))
    }

    /// Returns a variable in scope, a document or a rule with a value of this kind.
    pub fn reading(&mut self, shape: &Shape) -> Option<String> {
        if self.random.chance(65)
            && let Some(local) = pick_fitting(self, shape, true)
        {
            return Some(local.path);
        }
        let source =
            pick_fitting(self, shape, false).or_else(|| pick_fitting(self, shape, true))?;
        let text = self.spell(&source.path);
        if *shape == Shape::Number && self.random.chance(4) {
            return Some(format!("-{text}"));
        }
        Some(text)
    }

    /// Returns an expression that reads a value if one of this kind is available.
    pub fn dependent(&mut self, shape: &Shape, depth: usize) -> String {
        match self.reading(shape) {
            Some(text) => text,
            None if depth > 0 => {
                let template = self.template(shape, depth);
                template.map_or_else(|| self.constant(shape), grouped)
            }
            None => self.constant(shape),
        }
    }

    /// Returns a template for this kind with all placeholders filled.
    pub fn template(&mut self, shape: &Shape, depth: usize) -> Option<String> {
        let (groups, element) = templates::of_kind(shape);
        let usable: Vec<&str> = groups
            .iter()
            .flat_map(|group| group.iter())
            .copied()
            .filter(|template| !(self.dialect.is_v0() && template.starts_with('$')))
            .collect();
        if usable.is_empty() {
            return None;
        }
        let template = *self.random.pick(&usable);
        let element = element.clone();
        Some(self.fill(template, &element, depth.saturating_sub(1)))
    }

    /// Fills the placeholders of a template; `element` is the kind for `T`.
    pub fn fill(&mut self, template: &str, element: &Shape, depth: usize) -> String {
        let mut text = String::new();
        let mut rest = template;
        while let Some(at) = rest.find('<') {
            let (before, place) = rest.split_at(at);
            text.push_str(before);
            let inside =
                place[1..].starts_with(|c: char| "~[{T".contains(c) || c.is_ascii_lowercase());
            if let Some(end) = place.find('>').filter(|_| inside) {
                text.push_str(&self.element_pattern(&place[1..end], element, depth));
                rest = &place[end + 1..];
            } else {
                text.push('<');
                rest = &place[1..];
            }
        }
        text + rest
    }

    fn element_pattern(&mut self, name: &str, element: &Shape, depth: usize) -> String {
        match name.strip_prefix('~') {
            Some(name) => self.dependent(&Shape::parse(name, element), depth),
            None => self.term(&Shape::parse(name, element), depth),
        }
    }

    /// Returns a call of one of the program's own functions.
    pub fn call(&mut self, shape: &Shape, depth: usize) -> Option<String> {
        let fitting: Vec<Function> = self
            .functions
            .iter()
            .filter(|one| one.result.fits(shape))
            .cloned()
            .collect();
        if fitting.is_empty() {
            return None;
        }
        let function = self.random.pick(&fitting).clone();
        Some(self.call_of(&function, depth))
    }

    pub fn call_of(&mut self, function: &Function, depth: usize) -> String {
        let arguments: Vec<String> = function
            .arguments
            .iter()
            .map(|shape| grouped(self.dependent(shape, depth)))
            .collect();
        format!("{}({})", self.spell(&function.path), arguments.join(", "))
    }

    /// Returns an array, set or object comprehension; its body may use outer variables.
    pub fn comprehension(&mut self, shape: &Shape, depth: usize) -> Option<String> {
        let element = match shape {
            Shape::Array(element) | Shape::Set(element) | Shape::Map(element) => {
                (**element).clone()
            }
            _ => return None,
        };
        let outer = self.locals.clone();
        let mut body = Vec::new();
        let key = if matches!(shape, Shape::Map(_)) {
            // keys of one iterated object are unique, so this rarely conflicts
            let (literal, key, _) = self.keyed_iteration()?;
            body.push(literal);
            Some(key)
        } else {
            body.push(self.iteration()?);
            None
        };
        for _ in 0..self.random.weighted(&[(5, 0), (4, 1), (1, 2)]) {
            body.push(self.literal(depth));
        }
        let head = grouped(self.dependent(&element, depth.max(1)));
        self.locals = outer;
        let body = body.join("; ");
        Some(match (shape, key) {
            (Shape::Array(_), _) => format!("[{head} | {body}]"),
            (_, Some(key)) => format!("{{{key}: {head} | {body}}}"),
            _ => format!("{{{head} | {body}}}"),
        })
    }
}

/// Returns a matching source, from the variables in scope or from documents and rules.
fn pick_fitting(writer: &mut Writer, shape: &Shape, local: bool) -> Option<Source> {
    let sources = if local {
        &writer.locals
    } else {
        &writer.sources
    };
    let fitting: Vec<&Source> = sources
        .iter()
        .filter(|source| source.shape.fits(shape))
        .collect();
    if fitting.is_empty() {
        None
    } else {
        Some((*writer.random.pick(&fitting)).clone())
    }
}
