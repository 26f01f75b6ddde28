//! Copy propagation: equations that only give a term another name are dropped, and the name is replaced by the term.

use std::collections::{BTreeMap, BTreeSet};

use solon_syntax::ast::visit::{Descent, Terms, VisitorMut, Walk, WalkMut};
use solon_syntax::ast::{Body, Expr, ExprKind, Name, Ref, Term, TermKind, With};
use solon_syntax::source::Span;

use super::Simplification;
use super::sets::{Sets, is_constant, plain_equation, variable};
use super::shadow::is_shadowed;
use super::terms::{
    is_document, is_ground, is_nested, is_required, may_conflict, mentions, names, nests_deeper,
};
use super::unassigned::UnassignedNames;
use crate::bug::WithinMut as _;
use crate::compile::functions::CallableFunctions;
use crate::compile::safety;
use crate::limits;

/// Prefix of names that are generated for terms which must be defined, but whose value is not used.
const GENERATED: &str = "__localcp";

/// Returns an equivalent body with fewer variables. Live variables are kept; `given` are those that have a value before the body.
/// Returns the body unchanged if it is too long, or if it would be unsafe without a variable.
pub fn simplify(
    context: &Simplification<'_>,
    body: Body,
    live: &BTreeSet<Name>,
    given: &BTreeSet<Name>,
) -> Body {
    if body.len() > limits::SIMPLIFIED || is_answer(&body, live) {
        return body;
    }
    let Some(sets) = Sets::compute(&body, live) else {
        return body;
    };
    let functions = CallableFunctions::new(context.options, &context.compiled.rule_tree);
    let mut pass = Propagation {
        context,
        functions,
        live,
        sets,
        heads: BTreeSet::new(),
        dropped: BTreeMap::new(),
        negated: false,
        targets: Vec::new(),
        at: 0,
        in_set: false,
        names: 0,
        remaining: limits::SIMPLIFIED_TERMS,
    };
    match pass.run(&body) {
        // a call that was inserted into a nested term may be evaluated before its operands are bound
        Some(made) if !is_nested(&made) || safety::is_ordered(functions, &made, given) => made,
        _ => body,
    }
}

struct Propagation<'c> {
    context: &'c Simplification<'c>,
    functions: CallableFunctions<'c>,
    live: &'c BTreeSet<Name>,
    sets: Sets,
    /// Variables at the head of references.
    heads: BTreeSet<Name>,
    /// Values of variables whose equations were dropped, with the positions of the equations in the body.
    dropped: BTreeMap<Name, (usize, Term)>,
    /// `true` if the current expression is negated.
    negated: bool,
    /// Targets of the `with` modifiers of the current expression.
    targets: Vec<Term>,
    /// Position of the current expression in the body.
    at: usize,
    /// `true` inside a set. A call must not be inserted there: if it is undefined, the set only loses a member.
    in_set: bool,
    names: usize,
    /// Number of terms that may still be inserted.
    remaining: usize,
}

impl Propagation<'_> {
    /// Returns the simplified body, or `None` if it stays unchanged.
    fn run(&mut self, body: &[Expr]) -> Option<Body> {
        self.note_heads(body);
        // most bodies only compare a row: there is nothing to replace, and nothing to restore
        if self.sets.is_empty() && body.iter().all(|expr| self.keeps(expr)) {
            return None;
        }
        self.dropped.clear();
        self.names = 0;
        let mut result = Vec::new();
        for (at, expr) in body.iter().enumerate() {
            let mut expr = expr.clone();
            (self.at, self.negated) = (at, expr.negated);
            expr.walk_mut(self);
            // a dropped term is inserted elsewhere, so its nesting depth is limited
            if self.remaining == 0 || nests_deeper(&expr, limits::NESTING / 2) {
                return None;
            }
            if self.keeps(&expr) {
                result.push((at, expr));
            }
        }
        let mut result = self.restored(result)?;
        result.sort_by_key(|(at, _)| *at);
        Some(result.into_iter().map(|(_, expr)| expr).collect())
    }

    /// Records variables at the head of references, which must not become constants.
    fn note_heads(&mut self, body: &[Expr]) {
        body.walk(&mut Terms(|term: &Term| {
            if let TermKind::Ref(terms) = &term.kind
                && let Some(name) = terms.first().and_then(variable)
            {
                let root = self.sets.root(name).cloned();
                if let Some(root) = &root {
                    self.sets.forget(root);
                }
                self.heads.insert(root.unwrap_or_else(|| name.clone()));
            }
            Descent::Into
        }));
    }

    /// Returns the replacement of a variable, or `None` if it must stay.
    fn replacement(&self, name: &Name) -> Option<Term> {
        let root = self.sets.root(name);
        if let Some(constant) = root.and_then(|root| self.sets.constant(root)) {
            return Some(constant.clone());
        }
        let name = root.unwrap_or(name);
        let renamed = root.map(|root| Term::var(root.clone(), Span::default()));
        match self.dropped.get(name) {
            Some((_, value))
                if !(mentions(value, name)
                    || is_shadowed(value, &self.targets)
                    || self.negated && !is_ground(value)
                    || self.in_set && matches!(value.kind, TermKind::Call(_))) =>
            {
                Some(value.clone())
            }
            _ => renamed,
        }
    }

    /// Deducts the size of a value from the remaining terms. Returns `false` if none are left: then the whole
    /// simplification is given up.
    fn spend(&mut self, value: &Term) -> bool {
        let mut size = 0_usize;
        value.walk(&mut Terms(|_: &Term| {
            size += 1;
            Descent::Into
        }));
        self.remaining = self.remaining.saturating_sub(size);
        self.remaining > 0
    }

    /// Appends the steps of a reference to the replacement of its head.
    fn rebase(&mut self, terms: &mut Ref) {
        let Some(name) = terms.first().and_then(variable) else {
            return;
        };
        let Some(base) = self.replacement(name) else {
            return;
        };
        if !self.spend(&base) {
            return;
        }
        match base.kind {
            TermKind::Ref(mut base) => {
                base.extend(terms.drain(1..));
                *terms = base;
            }
            kind => {
                if let Some(head) = terms.first_mut() {
                    head.kind = kind;
                }
            }
        }
    }

    /// Returns `true` if an expression stays. Otherwise the value of its variable is recorded.
    fn keeps(&mut self, expr: &Expr) -> bool {
        if expr.negated || !expr.with.is_empty() {
            return true;
        }
        if let Some([left, right]) = plain_equation(expr) {
            if left == right {
                if self.looks_into_live(left) {
                    let name = format!("{GENERATED}{}__", self.names);
                    self.names += 1;
                    self.dropped.insert(name.into(), (self.at, left.clone()));
                }
                return false;
            }
            return !(self.drop_equation(left, right) || self.drop_equation(right, left));
        }
        match &expr.kind {
            ExprKind::Call(terms) => {
                if let Some((output, call)) = terms.split_last()
                    && let Some(name) = variable(output)
                    && !self.live.contains(name)
                    && !self.heads.contains(name)
                    && let Some(operator) = call.first()
                    && self.functions.arity(operator) == Some(call.len() - 1)
                {
                    let call = Term::call(call.to_vec(), expr.span);
                    return !self.drop_as(name, call);
                }
                match expr.operands_of("equal") {
                    Some([left, right]) => left != right,
                    Some([left, right, holds]) => {
                        left != right || !matches!(holds.kind, TermKind::Boolean(true))
                    }
                    _ => true,
                }
            }
            ExprKind::Term(term) => {
                !is_constant(term) || matches!(term.kind, TermKind::Boolean(false))
            }
            _ => true,
        }
    }

    fn looks_into_live(&self, term: &Term) -> bool {
        let head = match &term.kind {
            TermKind::Ref(terms) => terms.first().and_then(Term::as_var),
            TermKind::Var(name) if variable(term).is_none() => Some(name),
            _ => None,
        };
        head.is_some_and(|name| self.live.contains(name))
    }

    fn drop_equation(&mut self, name: &Term, value: &Term) -> bool {
        let Some(name) = variable(name) else {
            return false;
        };
        let looked_up = matches!(value.kind, TermKind::Ref(_) | TermKind::Call(_))
            || value.as_var().is_some() && variable(value).is_none();
        !self.live.contains(name) && looked_up && self.drop_as(name, value.clone())
    }

    /// Records the value of a variable whose equation is dropped.
    fn drop_as(&mut self, name: &Name, value: Term) -> bool {
        if self.dropped.contains_key(name) {
            return false;
        }
        self.dropped.insert(name.clone(), (self.at, value));
        true
    }

    /// Adds equations for live variables that another variable represents.
    fn bind_live(&self, result: &mut Body) {
        for name in self.live {
            let Some(root) = self.sets.root(name) else {
                continue;
            };
            let dropped = || self.dropped.get(root).map(|(_, value)| value);
            let value = self.sets.constant(root).or_else(dropped);
            let value = match value {
                Some(value) => value.clone(),
                None if root != name => Term::var(root.clone(), Span::default()),
                None => continue,
            };
            result.push(equation(name, value));
        }
    }

    /// Restores dropped equations without which a variable has no value, or a term is no longer required to be defined.
    /// Returns `None` if a variable has no value even then.
    fn restored(&self, kept: Vec<(usize, Expr)>) -> Option<Vec<(usize, Expr)>> {
        let mut places: Vec<usize> = kept.iter().map(|(at, _)| *at).collect();
        let mut result: Body = kept.into_iter().map(|(_, expr)| expr).collect();
        self.bind_live(&mut result);
        places.resize(result.len(), usize::MAX);
        let mut lacking = UnassignedNames::new(&result, self.functions, self.live);
        // equations with names of the policy come first
        let generated = |name: &Name| name.starts_with(GENERATED);
        let named = self
            .dropped
            .iter()
            .rev()
            .filter(|(name, _)| !generated(name));
        let unnamed = self
            .dropped
            .iter()
            .rev()
            .filter(|(name, _)| generated(name));
        let all = places.iter().zip(&result);
        let risky =
            all.filter(|(_, expr)| may_conflict(expr, &|terms| self.context.leads_to_rules(terms)));
        let risks: Vec<usize> = risky.map(|(place, _)| *place).collect();
        let mut left_out = Vec::new();
        for (name, (at, value)) in named.chain(unnamed) {
            let equation = equation(name, value.clone());
            let outputs = lacking.outputs(&equation);
            // where this is undefined, no later error may end the evaluation, so it goes before expressions that may
            // fail
            let risk = risks.iter().find(|place| *place >= at);
            let asked = is_document(value)
                || places.iter().zip(&result).any(|(place, expr)| {
                    risk.is_none_or(|risk| place <= risk)
                        && is_required(value, std::slice::from_ref(expr))
                });
            if lacking.give(&outputs) || !asked || names(&result, name) {
                result.push(equation);
                places.push(risk.map_or(usize::MAX, |_| *at));
                lacking.add(outputs);
            } else {
                left_out.push((name, equation, risk.map_or(usize::MAX, |_| *at)));
            }
        }
        // equations that were restored after it may name a variable that gets another value without its equation
        while let Some(next) = left_out.iter().position(|(name, ..)| names(&result, name)) {
            let (_, equation, place) = left_out.swap_remove(next);
            result.push(equation);
            places.push(place);
        }
        (lacking.is_empty()).then(|| places.into_iter().zip(result).collect())
    }
}

impl VisitorMut for Propagation<'_> {
    fn expr(&mut self, expr: &mut Expr) -> Descent {
        // values of modifiers belong to the enclosing scope
        expr.with.walk_mut(self);
        let outer = self.targets.len();
        let targets = expr.with.iter().map(|with| with.target.clone());
        self.targets.extend(targets);
        // operators are not replaced
        match &mut expr.kind {
            ExprKind::Call(terms) => {
                terms.within_mut(1..).walk_mut(self);
            }
            kind => kind.walk_mut(self),
        }
        self.targets.truncate(outer);
        Descent::Over
    }

    fn with(&mut self, with: &mut With) -> Descent {
        with.value.walk_mut(self);
        Descent::Over
    }

    fn term(&mut self, term: &mut Term) -> Descent {
        match &mut term.kind {
            TermKind::Var(_) => {
                let Some(name) = variable(term) else {
                    return Descent::Over;
                };
                let Some(value) = self.replacement(name) else {
                    return Descent::Over;
                };
                if !self.spend(&value) {
                    return Descent::Over;
                }
                let same = variable(&value) == Some(name);
                *term = value;
                if same || variable(term).is_some() {
                    return Descent::Over;
                }
                // the inserted term may contain variables that were dropped since
                self.subterms(term);
            }
            TermKind::Ref(_) | TermKind::Call(_) => self.subterms(term),
            TermKind::Set(members) => {
                let outer = std::mem::replace(&mut self.in_set, true);
                members.walk_mut(self);
                self.in_set = outer;
            }
            _ => return Descent::Into,
        }
        Descent::Over
    }
}

impl Propagation<'_> {
    fn subterms(&mut self, term: &mut Term) {
        match &mut term.kind {
            TermKind::Ref(terms) => {
                self.rebase(terms);
                let skip = usize::from(terms.first().is_some_and(|head| head.as_var().is_some()));
                terms.within_mut(skip..).walk_mut(self);
            }
            TermKind::Call(terms) => terms.within_mut(1..).walk_mut(self),
            _ => {}
        }
    }
}

/// Returns `true` if a body only assigns a constant to a live variable.
fn is_answer(body: &[Expr], live: &BTreeSet<Name>) -> bool {
    let [expr] = body else {
        return false;
    };
    plain_equation(expr).is_some_and(|[left, right]| {
        variable(left).is_some_and(|name| live.contains(name)) && is_constant(right)
    })
}

fn equation(name: &Name, value: Term) -> Expr {
    let operands = vec![Term::var(name.clone(), Span::default()), value];
    Expr {
        generated: false,
        ..Expr::generated_call("eq", operands, Span::default())
    }
}
