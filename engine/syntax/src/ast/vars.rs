//! Finds the variables of a node.

use super::visit::{Descent, Visitor, Walk};
use super::{Body, Expr, ExprKind, Logical, Name, Term, TermKind, With};
use crate::stack;

/// Selects which occurrences of variables to skip. By default none are skipped.
#[derive(Clone, Copy, Debug, Default)]
pub struct VarScan {
    /// Skips heads of references: `x` of `x.y[z]`, but not `z`.
    pub skip_ref_heads: bool,
    /// Skips heads of operators (`f` of `f(x)`, `data` of `data.p.f(x)`), and of references in `with`, which may name
    /// functions.
    pub skip_call_heads: bool,
    /// Skips keys of objects, but not their values.
    pub skip_object_keys: bool,
    /// Skips members of sets.
    pub skip_sets: bool,
    /// Skips comprehensions, bodies of `every` with its key and value, and braced bodies of `not`, `and` and `or`.
    pub skip_closures: bool,
    /// Skips bodies of `not`, `and` and `or` that were written without braces.
    pub skip_implicit_bodies: bool,
    /// Skips targets of `with`, but not replacements.
    pub skip_with_targets: bool,
    /// Skips expressions in template strings.
    pub skip_templates: bool,
}

impl VarScan {
    /// Calls `show` with every variable term of a node that is not skipped, in source order.
    pub fn each<'a, N, F>(self, node: &'a N, show: F)
    where
        N: Walk + ?Sized,
        F: FnMut(&'a Term, &'a Name),
    {
        node.walk(&mut Scanner { scan: self, show });
    }

    /// Adds the names of the variables that are not skipped to a collection.
    pub fn collect<N: Walk + ?Sized>(self, node: &N, names: &mut impl Extend<Name>) {
        self.each(node, |_, name| names.extend([name.clone()]));
    }

    /// Returns `true` if some variable that is not skipped satisfies a condition.
    pub fn any<N: Walk + ?Sized>(self, node: &N, mut condition: impl FnMut(&Name) -> bool) -> bool {
        let mut matches = false;
        self.each(node, |_, name| matches = matches || condition(name));
        matches
    }
}

struct Scanner<F> {
    scan: VarScan,
    show: F,
}

impl<F> Scanner<F> {
    fn call<'a>(&mut self, terms: &'a [Term])
    where
        F: FnMut(&'a Term, &'a Name),
    {
        let Some((operator, operands)) = terms.split_first() else {
            return;
        };
        self.callable(operator);
        operands.walk(self);
    }

    /// Visits a term that may name a function: an operator, or a target or value of `with`.
    fn callable<'a>(&mut self, term: &'a Term)
    where
        F: FnMut(&'a Term, &'a Name),
    {
        match &term.kind {
            TermKind::Ref(path) if self.scan.skip_call_heads => {
                path.get(1..).unwrap_or_default().walk(self);
            }
            _ => term.walk(self),
        }
    }

    fn operand<'a>(&mut self, body: &'a Body, explicit: bool)
    where
        F: FnMut(&'a Term, &'a Name),
    {
        let skips = if explicit {
            self.scan.skip_closures
        } else {
            self.scan.skip_implicit_bodies
        };
        if !skips {
            body.walk(self);
        }
    }

    fn logical<'a>(&mut self, logical: &'a Logical)
    where
        F: FnMut(&'a Term, &'a Name),
    {
        stack::operands(|| {
            self.operand(&logical.lhs, logical.explicit_lhs);
            self.operand(&logical.rhs, logical.explicit_rhs);
        });
    }
}

impl<'a, F: FnMut(&'a Term, &'a Name)> Visitor<'a> for Scanner<F> {
    fn expr(&mut self, expr: &'a Expr) -> Descent {
        match &expr.kind {
            ExprKind::Term(term) => term.walk(self),
            ExprKind::Call(terms) => self.call(terms),
            ExprKind::Some(some) => some.walk(self),
            ExprKind::Every(every) if self.scan.skip_closures => every.domain.walk(self),
            ExprKind::Every(every) => every.walk(self),
            ExprKind::Not(not) => self.operand(&not.body, not.explicit_body),
            ExprKind::And(logical) | ExprKind::Or(logical) => self.logical(logical),
        }
        expr.with.walk(self);
        Descent::Over
    }

    fn with(&mut self, with: &'a With) -> Descent {
        // a function's bare name has the syntax of a variable
        let names_function = self.scan.skip_call_heads && with.target.as_var().is_some();
        if !self.scan.skip_with_targets && !names_function {
            self.callable(&with.target);
        }
        self.callable(&with.value);
        Descent::Over
    }

    fn term(&mut self, term: &'a Term) -> Descent {
        match &term.kind {
            TermKind::Var(name) => (self.show)(term, name),
            TermKind::Ref(terms) => {
                if let Some((head, operands)) = terms.split_first() {
                    // only variables are skipped as heads: a call or a literal has operands of its own
                    if !self.scan.skip_ref_heads || head.as_var().is_none() {
                        head.walk(self);
                    }
                    operands.walk(self);
                }
            }
            TermKind::Call(terms) => self.call(terms),
            TermKind::Object(pairs) if self.scan.skip_object_keys => {
                for (_, value) in pairs {
                    value.walk(self);
                }
            }
            TermKind::Set(_) if self.scan.skip_sets => {}
            TermKind::Template(_) if self.scan.skip_templates => {}
            TermKind::ArrayComprehension(_)
            | TermKind::SetComprehension(_)
            | TermKind::ObjectComprehension(_)
                if self.scan.skip_closures => {}
            _ => return Descent::Into,
        }
        Descent::Over
    }
}
