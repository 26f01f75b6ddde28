//! Facts about the syntax of rules, computed once: most passes have nothing to do in most rules.
//!
//! Facts are conservative. A fact may be set although it does not hold, and stays set when a pass removes the syntax in
//! question. A pass that adds syntax which a later pass must handle sets the fact.

use std::ops::BitOr;

use solon_syntax::ast::visit::{Descent, Visitor, Walk};
use solon_syntax::ast::{Expr, ExprKind, Head, Name, Rule, SomeDecl, Term, TermKind};

use super::locals::Locals;
use super::rewrite::keywords::{is_root, is_root_document};
use crate::builtins;

/// A set of facts about a rule and its `else` branches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts(u32);

impl Facts {
    pub const COLLECTION: Self = Self(1);
    pub const COMPREHENSION: Self = Self(1 << 1);
    pub const TEMPLATE: Self = Self(1 << 2);
    pub const PRINT: Self = Self(1 << 3);
    pub const WITH: Self = Self(1 << 4);
    /// A call of a function below `rego`.
    pub const METADATA: Self = Self(1 << 5);
    pub const EVERY: Self = Self(1 << 6);
    /// A call within a term.
    pub const INNER_CALL: Self = Self(1 << 7);
    /// A reference whose head is not a variable.
    pub const ODD_HEAD: Self = Self(1 << 8);
    pub const EQUAL: Self = Self(1 << 9);
    /// A name that looks like a generated local.
    pub const LOCAL_NAME: Self = Self(1 << 10);
    /// A variable that is assigned to and named like a root document.
    pub const SHADOW: Self = Self(1 << 11);
    /// A reference to a possibly blocking built-in.
    pub const WAITS: Self = Self(1 << 12);

    /// A call of a possibly deprecated built-in.
    pub const DEPRECATED: Self = Self(1 << 13);
    /// A reference to `data`, or one that resolves to it.
    pub const DOCUMENT: Self = Self(1 << 14);
    /// The name of an import or of a rule.
    pub const RESOLVED: Self = Self(1 << 15);

    /// A term in a head that is not a scalar.
    pub const OPEN_HEAD: Self = Self(1 << 16);

    /// Returns `true` if the sets have a fact in common.
    pub fn has(self, some: Self) -> bool {
        self.0 & some.0 != 0
    }

    /// Adds facts that a pass introduced.
    pub fn add(&mut self, facts: Self) {
        self.0 |= facts.0;
    }

    /// Computes the facts about a rule.
    pub fn of_rule(rule: &Rule) -> Self {
        let mut facts = Self::default();
        rule.walk(&mut facts);
        let mut next = Some(rule);
        while let Some(rule) = next {
            let Head {
                reference,
                args,
                key,
                value,
                ..
            } = &rule.head;
            let mut terms = reference.iter().skip(1).chain(args).chain(key).chain(value);
            if !terms.all(Term::is_scalar) {
                facts.add(Self::OPEN_HEAD);
            }
            next = rule.else_rule.as_deref();
        }
        facts
    }
}

impl BitOr for Facts {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Facts {
    fn operator(&mut self, operator: &Term, operands: &[Term]) {
        let Some(name) = operator.as_ref().and_then(|path| path.first()?.as_var()) else {
            return;
        };
        if builtins::may_be_deprecated_below(name) {
            self.add(Self::DEPRECATED);
        }
        match &**name {
            "print" => self.add(Self::PRINT | Self::COMPREHENSION),
            "rego" => self.add(Self::METADATA | Self::COLLECTION),
            "equal" => self.add(Self::EQUAL),
            "assign" => {
                let target = operands.first();
                if target.is_some_and(|target| is_root(target) || is_root_document(target)) {
                    self.add(Self::SHADOW);
                }
            }
            _ => {}
        }
    }

    fn name(&mut self, name: &Name) {
        if name.starts_with(Locals::MODULES) {
            self.add(Self::LOCAL_NAME);
        } else if &**name == "data" {
            self.add(Self::DOCUMENT);
        }
    }

    /// Adds the facts of a declaration: `some … in …` becomes a reference into the collection.
    fn declaration(&mut self, declaration: &SomeDecl) {
        for symbol in &declaration.symbols {
            if let TermKind::Call(terms) = &symbol.kind
                && let Some(collection) = terms.last()
                && !matches!(collection.kind, TermKind::Var(_) | TermKind::Ref(_))
            {
                self.add(Self::ODD_HEAD);
            }
        }
    }
}

impl<'a> Visitor<'a> for Facts {
    fn expr(&mut self, expr: &'a Expr) -> Descent {
        if !expr.with.is_empty() {
            self.add(Self::WITH);
        }
        match &expr.kind {
            ExprKind::Call(terms) => {
                if let Some((operator, operands)) = terms.split_first() {
                    self.operator(operator, operands);
                }
            }
            ExprKind::Every(_) => self.add(Self::EVERY),
            ExprKind::Some(declaration) => self.declaration(declaration),
            _ => {}
        }
        Descent::Into
    }

    fn term(&mut self, term: &'a Term) -> Descent {
        match &term.kind {
            TermKind::Null
            | TermKind::Boolean(_)
            | TermKind::Number(_)
            | TermKind::String(_)
            | TermKind::Array(_) => {}
            TermKind::Var(name) => self.name(name),
            TermKind::Ref(terms) => match terms.first().map(|head| &head.kind) {
                Some(TermKind::Var(name)) if builtins::may_block_below(name) => {
                    self.add(Self::WAITS);
                }
                Some(TermKind::Var(_)) => {}
                _ => self.add(Self::ODD_HEAD),
            },
            TermKind::Object(_) | TermKind::Set(_) => self.add(Self::COLLECTION),
            TermKind::ArrayComprehension(_)
            | TermKind::SetComprehension(_)
            | TermKind::ObjectComprehension(_) => self.add(Self::COMPREHENSION),
            TermKind::Call(terms) => {
                self.add(Self::INNER_CALL);
                if let Some((operator, operands)) = terms.split_first() {
                    self.operator(operator, operands);
                }
            }
            TermKind::Template(_) => {
                let rewritten = Self::INNER_CALL | Self::COMPREHENSION | Self::COLLECTION;
                self.add(Self::TEMPLATE | rewritten);
            }
        }
        Descent::Into
    }
}
