//! Calls: equalities, built-ins, functions, and their replacements by `with`.

use solon_syntax::ast::{Expr, Term, TermKind};
use solon_syntax::source::Span;

use super::documents::DataPath;
use super::machine::{Continuation, Goal, SearchFlow, SearchResult, Topdown};
use super::scope::FunctionMock;
use super::term::{TermList, TermRef};
use crate::bug::bug;
use crate::builtins::{self, BuiltinEntry, BuiltinError};
use crate::program::canonical::{DocNodeId, Group};
use crate::runtime::{Halt, outcome};
use crate::trace::MeasuredOperation;
use crate::types::Type;
use crate::value::ValueRef;

const NO_FUNCTION: &str = "a call of a function that is not there";

/// A call has fewer operands than its function has parameters, although the compiler checks their number.
pub(super) const TOO_FEW_OPERANDS: &str = "a call with too few operands";

#[derive(Clone, Copy)]
pub(super) enum ResolvedOperator {
    Unify,
    /// The built-in `walk`.
    Descend,
    Builtin(&'static BuiltinEntry),
    /// Function added by the host, by index.
    HostFunction(u32),
    Function(DocNodeId),
    /// No function has this name.
    Unknown,
}

impl<'e> Topdown<'e> {
    /// Searches an expression that is a call: it succeeds if the result is not `false`.
    pub(super) fn call_expr(
        &mut self,
        goal: Goal<'e>,
        terms: &'e [Term],
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
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
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
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
            ResolvedOperator::Unify => match operands {
                [left, right] => {
                    let (left, right) = (
                        TermRef::Term(left, goal.frame),
                        TermRef::Term(right, goal.frame),
                    );
                    self.unify(goal, left, right, next)
                }
                // an assignment returns no value
                _ => {
                    let fault = BuiltinError::unsupported("assign");
                    Err(Halt::exhausted(self.program, &fault, span))
                }
            },
            ResolvedOperator::Descend => self.walk_tree(goal, operands, next),
            ResolvedOperator::Builtin(entry) => {
                let arity = arity(&entry.declaration);
                let (args, output) = operands
                    .split_at_checked(arity)
                    .unwrap_or_else(|| bug!(TOO_FEW_OPERANDS));
                let Some(values) = self.plug_all(TermList::Terms(args, goal.frame)) else {
                    return Ok(SearchFlow::More);
                };
                self.note(goal, entry, &values);
                if let Some(halt) = self.unanswered(entry, &values, span) {
                    return if self.strict {
                        Err(halt)
                    } else {
                        Ok(SearchFlow::More)
                    };
                }
                let start = self.begin();
                let result = entry.call(&mut self.call, &values, None, span);
                self.end(MeasuredOperation::BuiltinCall, start);
                match self.outcome(result, entry.builtin.name, span)? {
                    Some(value) => self.returned(goal, value, output.first(), next),
                    None => Ok(SearchFlow::More),
                }
            }
            ResolvedOperator::HostFunction(function) => {
                self.host_function(goal, function, operands, span, next)
            }
            ResolvedOperator::Function(site) => {
                let path = self.function_path(operator);
                match self.function_group(site) {
                    Some(group) => self.function(goal, group, &path, operands, next),
                    None => Ok(SearchFlow::More),
                }
            }
            ResolvedOperator::Unknown => {
                bug!(NO_FUNCTION)
            }
        }
    }

    /// Returns the rules of the function that an operator names.
    pub(super) fn function_group(&self, site: DocNodeId) -> Option<&'e Group> {
        let group = self
            .doc_node(Some(site))
            .and_then(|site| site.group.as_ref());
        if group.is_none() {
            bug!(NO_FUNCTION);
        }
        group
    }

    fn host_function(
        &mut self,
        goal: Goal<'e>,
        at: u32,
        operands: &'e [Term],
        span: Span,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let Some(function) = self.program.functions.get(at as usize) else {
            bug!(NO_FUNCTION);
        };
        let (args, output) = operands
            .split_at_checked(function.arity())
            .unwrap_or_else(|| bug!(TOO_FEW_OPERANDS));
        let Some(values) = self.plug_all(TermList::Terms(args, goal.frame)) else {
            return Ok(SearchFlow::More);
        };
        let name = self.call.arena.text(&function.name);
        let key: DataPath<'e> = std::iter::once(name)
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
            None => Ok(SearchFlow::More),
        }
    }

    fn mocked(
        &mut self,
        goal: Goal<'e>,
        operator: &'e Term,
        operands: &'e [Term],
        mock: FunctionMock<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        match mock {
            FunctionMock::Value(value) => {
                let arity = self.arity_of(operator);
                let (args, output) = operands
                    .split_at_checked(arity)
                    .unwrap_or_else(|| bug!(TOO_FEW_OPERANDS));
                // a call is undefined if an operand is undefined
                let args = TermList::Terms(args, goal.frame);
                if self.plug_all(args).is_none() && self.open.is_none() {
                    return Ok(SearchFlow::More);
                }
                self.returned(goal, value, output.first(), next)
            }
            FunctionMock::Callee(other)
                if matches!(self.callee(other), ResolvedOperator::Function(_))
                    && self.arity_of(other) == 0 =>
            {
                let arity = self.arity_of(operator);
                let (args, output) = operands
                    .split_at_checked(arity)
                    .unwrap_or_else(|| bug!(TOO_FEW_OPERANDS));
                let args = TermList::Terms(args, goal.frame);
                if self.plug_all(args).is_none() && self.open.is_none() {
                    return Ok(SearchFlow::More);
                }
                let other = TermRef::Term(other, goal.frame);
                if let Some(output) = output.first() {
                    let output = TermRef::Term(output, goal.frame);
                    return self
                        .without_mocks(|walk, next| walk.unify(goal, output, other, next), next);
                }
                let name =
                    bumpalo::format!(in self.call.arena.bump(), "$_mock_{}_{}", goal.id, goal.at);
                let value = TermRef::Built(self.variable(name.into_bump_str(), goal.frame));
                self.without_mocks(
                    |walk, next| walk.unify(goal, other, value, next),
                    &mut |walk| match walk.plug(value) {
                        Some(value) => walk.returned(goal, value, None, next),
                        None => Ok(SearchFlow::More),
                    },
                )
            }
            FunctionMock::Callee(other) => {
                self.without_mocks(|walk, next| walk.call(goal, other, operands, next), next)
            }
        }
    }

    /// Handles the result of a built-in: its value, undefined, or an error.
    fn outcome(
        &mut self,
        result: Result<ValueRef<'e>, BuiltinError>,
        name: &str,
        span: Span,
    ) -> Result<Option<ValueRef<'e>>, Halt> {
        let postponable = matches!(result, Err(BuiltinError::Error(_)));
        if postponable && self.builtin_errors.is_some() {
            if let Err(halt) = outcome(self.program, true, result, name, span) {
                self.collect_builtin_error(halt);
            }
            return Ok(None);
        }
        match outcome(self.program, self.strict, result, name, span) {
            Err(halt) if postponable => self.postpone(halt).map(|()| None),
            outcome => outcome,
        }
    }

    /// Returns the function that an operator refers to. Cached by the operator's address.
    pub(super) fn callee(&mut self, operator: &'e Term) -> ResolvedOperator {
        let key = std::ptr::from_ref(operator);
        if let Some(callee) = self.callees.get(&key) {
            return *callee;
        }
        let callee = self.find_callee(operator);
        self.callees.insert(key, callee);
        callee
    }

    fn find_callee(&self, operator: &Term) -> ResolvedOperator {
        if let Some([head, steps @ ..]) = operator.as_ref().map(Vec::as_slice)
            && head.as_var().is_some_and(|name| &**name == "data")
        {
            return match self.doc_tree().find(steps) {
                Some(site) => ResolvedOperator::Function(site),
                None => ResolvedOperator::Unknown,
            };
        }
        let Some(name) = operator_name(operator) else {
            return ResolvedOperator::Unknown;
        };
        match &*name {
            "eq" | "assign" => return ResolvedOperator::Unify,
            "walk" => return ResolvedOperator::Descend,
            _ => {}
        }
        if let Some(function) = self.program.function(&name) {
            return ResolvedOperator::HostFunction(function);
        }
        builtins::lookup(&name).map_or(ResolvedOperator::Unknown, ResolvedOperator::Builtin)
    }

    pub(super) fn arity_of(&mut self, operator: &'e Term) -> usize {
        match self.callee(operator) {
            ResolvedOperator::Unify => 2,
            ResolvedOperator::Descend => 1,
            ResolvedOperator::Builtin(entry) => arity(&entry.declaration),
            ResolvedOperator::HostFunction(at) => {
                let function = self.program.functions.get(at as usize);
                function.map_or_else(|| bug!(NO_FUNCTION), crate::builtins::HostFunction::arity)
            }
            ResolvedOperator::Function(site) => {
                self.function_group(site).map_or(0, |group| group.arity)
            }
            ResolvedOperator::Unknown => bug!(NO_FUNCTION),
        }
    }

    pub(super) fn function_path(&self, operator: &'e Term) -> DataPath<'e> {
        let arena = self.call.arena;
        let steps = operator.as_ref().into_iter().flatten().skip(1);
        steps
            .filter_map(crate::program::constant)
            .map(|key| arena.copy_of(&key))
            .collect()
    }
}

/// Number of arguments; every operand of a variadic function is an argument.
fn arity(declaration: &Type) -> usize {
    match declaration {
        Type::Function(function) if function.variadic.is_none() => function.args.len(),
        _ => usize::MAX,
    }
}

/// Returns the dotted name of an operator, or `None` if a step is neither a name nor a string.
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
