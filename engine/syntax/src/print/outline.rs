//! Prints the syntax tree as an outline: one line per node, indented by one blank per level.

use crate::ast::order::{sorted, sorted_pairs};
use crate::ast::{
    Comprehension, Every, Expr, ExprKind, Import, Logical, Module, Rule, SomeDecl, Term, TermKind,
    With,
};
use crate::stack;

use super::quote;

/// Returns the outline of a module, one node a line, optionally with its comments.
pub fn outline(module: &Module, comments: bool) -> String {
    let mut outline = Outline::default();
    outline.line("module");
    outline.indent(|outline| {
        outline.line("package");
        outline.indent(|outline| outline.reference(&module.package.path));
        for import in &module.imports {
            outline.import(import);
        }
        for rule in &module.rules {
            outline.rule(rule);
        }
        for _ in &module.annotations {
            outline.line("annotations");
        }
        for _ in module.comments.iter().filter(|_| comments) {
            outline.line("comment");
        }
    });
    outline.text
}

#[derive(Default)]
struct Outline {
    text: String,
    depth: usize,
}

impl Outline {
    fn line(&mut self, node: &str) {
        self.text.extend(std::iter::repeat_n(' ', self.depth));
        self.text.push_str(node);
        self.text.push('\n');
    }

    fn indent(&mut self, write: impl FnOnce(&mut Self)) {
        self.depth += 1;
        stack::level(|| write(self));
        self.depth -= 1;
    }

    /// Writes a node and its children.
    fn node<'a>(&mut self, name: &str, parts: impl IntoIterator<Item = &'a Term>) {
        self.line(name);
        self.indent(|outline| parts.into_iter().for_each(|part| outline.term(part)));
    }

    fn reference(&mut self, terms: &[Term]) {
        self.node("ref", terms);
    }

    fn import(&mut self, import: &Import) {
        self.line("import");
        self.indent(|outline| {
            match &import.path.kind {
                TermKind::Ref(terms) => outline.reference(terms),
                _ => outline.reference(std::slice::from_ref(&import.path)),
            }
            outline.line(import.alias.as_deref().unwrap_or(""));
        });
    }

    fn rule(&mut self, rule: &Rule) {
        self.line("rule");
        self.indent(|outline| {
            outline.line("head");
            outline.indent(|outline| {
                outline.reference(&rule.head.reference);
                if !rule.head.args.is_empty() {
                    outline.node("args", &rule.head.args);
                }
                if let Some(value) = &rule.head.value {
                    outline.term(value);
                }
            });
            outline.body(&rule.body);
            if let Some(next) = &rule.else_rule {
                stack::level(|| outline.rule(next));
            }
        });
    }

    fn body(&mut self, body: &[Expr]) {
        self.line("body");
        self.indent(|outline| body.iter().for_each(|expr| outline.expr(expr)));
    }

    fn expr(&mut self, expr: &Expr) {
        let negated = if expr.negated { " negated" } else { "" };
        self.line(&format!("expr{negated} index={}", expr.index));
        self.indent(|outline| {
            match &expr.kind {
                ExprKind::Term(term) => outline.term(term),
                ExprKind::Call(terms) => outline.call(terms),
                ExprKind::Some(some) => outline.some(some),
                ExprKind::Every(every) => outline.every(every),
                ExprKind::Not(not) => {
                    outline.line("not");
                    outline.indent(|outline| outline.body(&not.body));
                }
                ExprKind::And(pair) => outline.logical("logicaland", pair),
                ExprKind::Or(pair) => outline.logical("logicalor", pair),
            }
            for With { target, value, .. } in &expr.with {
                outline.node("with", [target, value]);
            }
        });
    }

    /// Writes an operator and its operands. The operator is a reference even if it is a single name.
    fn call(&mut self, terms: &[Term]) {
        let Some((operator, operands)) = terms.split_first() else {
            return;
        };
        match &operator.kind {
            TermKind::Ref(terms) => self.reference(terms),
            _ => self.reference(std::slice::from_ref(operator)),
        }
        for operand in operands {
            self.term(operand);
        }
    }

    fn some(&mut self, some: &SomeDecl) {
        self.node("somedecl", &some.symbols);
    }

    fn every(&mut self, every: &Every) {
        self.line("every");
        self.indent(|outline| {
            let terms = every.key.iter().chain([&every.value, &every.domain]);
            terms.for_each(|term| outline.term(term));
            outline.body(&every.body);
        });
    }

    fn logical(&mut self, name: &str, pair: &Logical) {
        self.line(name);
        self.indent(|outline| {
            stack::level(|| outline.body(&pair.lhs));
            outline.body(&pair.rhs);
        });
    }

    fn comprehension(&mut self, name: &str, comprehension: &Comprehension) {
        self.line(name);
        self.indent(|outline| {
            let terms = comprehension.key.iter().chain([&comprehension.head]);
            terms.for_each(|term| outline.term(term));
            outline.body(&comprehension.body);
        });
    }

    fn term(&mut self, term: &Term) {
        match &term.kind {
            TermKind::Null => self.line("null"),
            TermKind::Boolean(truth) => self.line(if *truth { "true" } else { "false" }),
            TermKind::Number(text) => self.line(text),
            TermKind::String(text) => self.line(&quote(text)),
            TermKind::Var(_) if term.is_wildcard() => self.line("_"),
            TermKind::Var(name) => self.line(name),
            TermKind::Ref(terms) => self.reference(terms),
            TermKind::Array(terms) => self.node("array", terms),
            TermKind::Set(terms) => self.node("set", sorted(terms)),
            TermKind::Object(pairs) => {
                let pairs = sorted_pairs(pairs).into_iter();
                self.node("object", pairs.flat_map(|(key, value)| [key, value]));
            }
            TermKind::Call(terms) => {
                self.line("call");
                self.indent(|outline| outline.call(terms));
            }
            TermKind::ArrayComprehension(comprehension) => {
                self.comprehension("arraycomprehension", comprehension);
            }
            TermKind::SetComprehension(comprehension) => {
                self.comprehension("setcomprehension", comprehension);
            }
            TermKind::ObjectComprehension(comprehension) => {
                self.comprehension("objectcomprehension", comprehension);
            }
            TermKind::Template(_) => self.line("templatestring"),
        }
    }
}
