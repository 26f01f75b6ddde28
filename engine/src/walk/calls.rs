//! Calls: equalities, built-ins, functions, and what `with` puts in their place.

use solon_syntax::ast::{Expr, Term, TermKind};
use solon_syntax::source::Span;

use super::documents::Path;
use super::machine::{Flow, Goal, Next, Outcome, Walk};
use super::scope::Mock;
use super::term::{List, T};
use crate::bug::bug;
use crate::builtins::{self, Entry, Fault};
use crate::program::canonical::{Group, SiteId};
use crate::runtime::{Halt, outcome};
use crate::trace::Operation;
use crate::types::Type;
use crate::value::ValueRef;

const NO_FUNCTION: &str = "a call of a function that is not there";

/// A call has fewer operands than its function, although the compiler has checked their number.
pub(super) const TOO_FEW_OPERANDS: &str = "a call with too few operands";

/// What an operator names.
#[derive(Clone, Copy)]
pub(super) enum Callee {
    /// `=`
    Unify,
    /// `walk`
    Descend,
    /// A built-in.
    Builtin(&'static Entry),
    /// A function that the host added, by its position.
    Custom(u32),
    /// A function of the policy.
    Function(SiteId),
    /// Nothing.
    Unknown,
}

impl<'e> Walk<'e> {
    /// Searches an expression that is a call.
    pub(super) fn call_expr(
        &mut self,
        goal: Goal<'e>,
        terms: &'e [Term],
        next: Next<'_, 'e>,
    ) -> Outcome {
        let Some((operator, operands)) = terms.split_first() else {
            bug!("a call without an operator");
        };
        self.call(goal, operator, operands, next)
    }

    fn call(
        &mut self,
        goal: Goal<'e>,
        operator: &'e Term,
        operands: &'e [Term],
        next: Next<'_, 'e>,
    ) -> Outcome {
        let span = goal.expr().map_or(operator.span, |expr: &Expr| expr.span);
        if self.scope().mocks.is_some()
            && let Some(mock) = operator_name(operator).and_then(|name| self.mock(&name))
        {
            return self.mocked(goal, operator, operands, mock, next);
        }
        if self.open.is_some()
            && let Some(outcome) = self.open_call(goal, operator, operands, next)
        {
            return outcome;
        }
        match self.callee(operator) {
            Callee::Unify => match operands {
                [left, right] => {
                    let (left, right) = (T::Term(left, goal.frame), T::Term(right, goal.frame));
                    self.unify(goal, left, right, next)
                }
                // an assignment has no value
                _ => {
                    let fault = Fault::unsupported("assign");
                    Err(Halt::exhausted(self.program, &fault, span))
                }
            },
            Callee::Descend => self.walk_tree(goal, operands, next),
            Callee::Builtin(entry) => {
                let arity = arity(&entry.declaration);
                let (args, output) = operands
                    .split_at_checked(arity)
                    .unwrap_or_else(|| bug!(TOO_FEW_OPERANDS));
                let Some(values) = self.plug_all(List::Terms(args, goal.frame)) else {
                    return Ok(Flow::More);
                };
                self.note(goal, entry, &values);
                if let Some(halt) = self.unanswered(entry, &values, span) {
                    return if self.strict {
                        Err(halt)
                    } else {
                        Ok(Flow::More)
                    };
                }
                let start = self.begin();
                let result = entry.call(&mut self.call, &values, None, span);
                self.end(Operation::BuiltinCall, start);
                match self.outcome(result, entry.builtin.name, span)? {
                    Some(value) => self.returned(goal, value, output.first(), next),
                    None => Ok(Flow::More),
                }
            }
            Callee::Custom(function) => self.custom(goal, function, operands, span, next),
            Callee::Function(site) => {
                let path = self.function_path(operator);
                match self.function_group(site) {
                    Some(group) => self.function(goal, group, &path, operands, next),
                    None => Ok(Flow::More),
                }
            }
            Callee::Unknown => {
                bug!(NO_FUNCTION)
            }
        }
    }

    /// The rules of a function that an operator names.
    pub(super) fn function_group(&self, site: SiteId) -> Option<&'e Group> {
        let group = self.site(Some(site)).and_then(|site| site.group.as_ref());
        if group.is_none() {
            bug!(NO_FUNCTION);
        }
        group
    }

    fn custom(
        &mut self,
        goal: Goal<'e>,
        at: u32,
        operands: &'e [Term],
        span: Span,
        next: Next<'_, 'e>,
    ) -> Outcome {
        let Some(function) = self.program.functions.get(at as usize) else {
            bug!(NO_FUNCTION);
        };
        let (args, output) = operands
            .split_at_checked(function.arity())
            .unwrap_or_else(|| bug!(TOO_FEW_OPERANDS));
        let Some(values) = self.plug_all(List::Terms(args, goal.frame)) else {
            return Ok(Flow::More);
        };
        let name = self.call.arena.text(&function.name);
        let key: Path<'e> = std::iter::once(name)
            .chain(values.iter().copied())
            .collect();
        let kept = self.scope().memo.get(key.as_slice()).copied();
        let found = match kept.filter(|_| function.memoise) {
            Some(kept) => kept,
            None => {
                let result = function.call(&mut self.call, &values);
                let found = self.outcome(result, &function.name, span)?;
                if function.memoise {
                    self.scope_mut().memo.insert(key.as_slice().into(), found);
                }
                found
            }
        };
        match found {
            Some(value) => self.returned(goal, value, output.first(), next),
            None => Ok(Flow::More),
        }
    }

    fn mocked(
        &mut self,
        goal: Goal<'e>,
        operator: &'e Term,
        operands: &'e [Term],
        mock: Mock<'e>,
        next: Next<'_, 'e>,
    ) -> Outcome {
        match mock {
            Mock::Value(value) => {
                let arity = self.arity_of(operator);
                let (args, output) = operands
                    .split_at_checked(arity)
                    .unwrap_or_else(|| bug!(TOO_FEW_OPERANDS));
                // a call is undefined when one of its operands is
                let args = List::Terms(args, goal.frame);
                if self.plug_all(args).is_none() && self.open.is_none() {
                    return Ok(Flow::More);
                }
                self.returned(goal, value, output.first(), next)
            }
            Mock::Callee(other)
                if matches!(self.callee(other), Callee::Function(_))
                    && self.arity_of(other) == 0 =>
            {
                let arity = self.arity_of(operator);
                let (args, output) = operands
                    .split_at_checked(arity)
                    .unwrap_or_else(|| bug!(TOO_FEW_OPERANDS));
                let args = List::Terms(args, goal.frame);
                if self.plug_all(args).is_none() && self.open.is_none() {
                    return Ok(Flow::More);
                }
                let other = T::Term(other, goal.frame);
                if let Some(output) = output.first() {
                    let output = T::Term(output, goal.frame);
                    return self
                        .without_mocks(|walk, next| walk.unify(goal, output, other, next), next);
                }
                let name =
                    bumpalo::format!(in self.call.arena.bump(), "$_mock_{}_{}", goal.id, goal.at);
                let value = T::Made(self.variable(name.into_bump_str(), goal.frame));
                self.without_mocks(
                    |walk, next| walk.unify(goal, other, value, next),
                    &mut |walk| match walk.plug(value) {
                        Some(value) => walk.returned(goal, value, None, next),
                        None => Ok(Flow::More),
                    },
                )
            }
            Mock::Callee(other) => {
                self.without_mocks(|walk, next| walk.call(goal, other, operands, next), next)
            }
        }
    }

    /// The value of a call, or why there is none.
    fn outcome(
        &mut self,
        result: Result<ValueRef<'e>, Fault>,
        name: &str,
        span: Span,
    ) -> Result<Option<ValueRef<'e>>, Halt> {
        let postponable = matches!(result, Err(Fault::Error(_)));
        if postponable && self.faults.is_some() {
            if let Err(halt) = outcome(self.program, true, result, name, span) {
                self.keep_fault(halt);
            }
            return Ok(None);
        }
        match outcome(self.program, self.strict, result, name, span) {
            Err(halt) if postponable => self.postpone(halt).map(|()| None),
            outcome => outcome,
        }
    }

    /// What an operator names.
    pub(super) fn callee(&mut self, operator: &'e Term) -> Callee {
        let key = std::ptr::from_ref(operator);
        if let Some(callee) = self.callees.get(&key) {
            return *callee;
        }
        let callee = self.find_callee(operator);
        self.callees.insert(key, callee);
        callee
    }

    fn find_callee(&self, operator: &Term) -> Callee {
        if let Some([head, steps @ ..]) = operator.as_ref().map(Vec::as_slice)
            && head.as_var().is_some_and(|name| &**name == "data")
        {
            return match self.sites().find(steps) {
                Some(site) => Callee::Function(site),
                None => Callee::Unknown,
            };
        }
        let Some(name) = operator_name(operator) else {
            return Callee::Unknown;
        };
        match &*name {
            "eq" | "assign" => return Callee::Unify,
            "walk" => return Callee::Descend,
            _ => {}
        }
        if let Some(function) = self.program.function(&name) {
            return Callee::Custom(function);
        }
        builtins::lookup(&name).map_or(Callee::Unknown, Callee::Builtin)
    }

    pub(super) fn arity_of(&mut self, operator: &'e Term) -> usize {
        match self.callee(operator) {
            Callee::Unify => 2,
            Callee::Descend => 1,
            Callee::Builtin(entry) => arity(&entry.declaration),
            Callee::Custom(at) => {
                let function = self.program.functions.get(at as usize);
                function.map_or_else(|| bug!(NO_FUNCTION), crate::builtins::Custom::arity)
            }
            Callee::Function(site) => self.function_group(site).map_or(0, |group| group.arity),
            Callee::Unknown => bug!(NO_FUNCTION),
        }
    }

    pub(super) fn function_path(&self, operator: &'e Term) -> Path<'e> {
        let arena = self.call.arena;
        let steps = operator.as_ref().into_iter().flatten().skip(1);
        steps
            .filter_map(crate::program::constant)
            .map(|key| arena.copy_of(&key))
            .collect()
    }
}

/// Number of arguments; all operands of a variadic function are arguments.
fn arity(declaration: &Type) -> usize {
    match declaration {
        Type::Function(function) if function.variadic.is_none() => function.args.len(),
        _ => usize::MAX,
    }
}

/// The dotted name of an operator.
pub(super) fn operator_name(operator: &Term) -> Option<String> {
    match &operator.kind {
        TermKind::Var(name) => Some(name.to_string()),
        TermKind::Ref(terms) => {
            let parts: Option<Vec<&str>> = terms
                .iter()
                .map(|term| {
                    let text = term.as_var().or_else(|| term.as_string());
                    text.map(|text| &**text)
                })
                .collect();
            Some(parts?.join("."))
        }
        _ => None,
    }
}
