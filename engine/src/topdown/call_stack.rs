//! Stack of the running queries, recorded to explain where an error comes from.

use solon_syntax::ast::visit::{Descent, Visitor, Walk as _};
use solon_syntax::ast::{Expr, ExprKind, Term, TermKind, VarScan};
use solon_syntax::source::Span;

use super::machine::{Continuation, Exprs, Goal, SearchResult, Topdown};
use super::term::{FrameId, TermRef};
use crate::builtins::{BuiltinEntry, EvalErrorCode, may_block};
use crate::runtime::{EvalError, Halt, StackFrame};
use crate::value::ValueRef;

/// Current position of a search.
#[derive(Default)]
pub(super) struct CallStack<'e> {
    /// Goals being searched, innermost last.
    goals: Vec<Goal<'e>>,
    /// Queries that were running when the first error occurred.
    stack: Option<Vec<StackFrame>>,
    /// `true` if the search repeats an evaluation that failed.
    repeats: bool,
}

impl<'e> Topdown<'e> {
    /// Records the call stack, so that [`Self::stack`] can return it. Costs a push for each expression.
    #[must_use]
    pub fn with_call_stack(mut self) -> Self {
        self.call_stack = Some(Box::default());
        self
    }

    /// Records the call stack of an evaluation that already failed once. Built-ins that wait for external I/O are not
    /// called again: their recorded results are looked up, and if there is no record the search ends as if they had
    /// failed.
    #[must_use]
    pub fn repeating(mut self) -> Self {
        self.call_stack = Some(Box::new(CallStack {
            repeats: true,
            ..CallStack::default()
        }));
        self
    }

    /// Returns the queries that were running when the search ended early, innermost first.
    pub fn stack(&mut self) -> Vec<StackFrame> {
        let call_stack = self.call_stack.as_mut();
        call_stack
            .and_then(|call_stack| call_stack.stack.take())
            .unwrap_or_default()
    }

    /// Searches an expression, with its goal on the call stack until it is left.
    pub(super) fn on_call_stack(
        &mut self,
        goal: Goal<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let is_expr = goal.expr().is_some() || goal.at == 0;
        if let Some(call_stack) = self.call_stack.as_mut().filter(|_| is_expr) {
            call_stack.goals.push(goal);
        }
        let outcome = self.expr(goal, next);
        if !is_expr {
            return outcome;
        }
        if outcome.is_err() {
            self.note_stack();
        } else if let Some(call_stack) = &mut self.call_stack {
            call_stack.goals.pop();
        }
        outcome
    }

    /// Returns the reason that a built-in waiting for external I/O is not called a second time.
    pub(super) fn unanswered(
        &mut self,
        entry: &BuiltinEntry,
        operands: &[ValueRef<'e>],
        span: Span,
    ) -> Option<Halt> {
        let name = entry.builtin.name;
        let repeats = self
            .call_stack
            .as_ref()
            .is_some_and(|call_stack| call_stack.repeats);
        let asked = !repeats || !may_block(name) || self.call.has_cached_result(name, operands);
        (!asked).then(|| Halt::error(self.program, EvalErrorCode::Internal, span, String::new()))
    }

    /// Keeps the first error of a built-in until the search has ended; until then the expression that needs its result
    /// is undefined. During partial evaluation the error is returned at once, because what stays unknown cannot wait
    /// for it.
    pub(super) fn postpone(&mut self, halt: Halt) -> Result<(), Halt> {
        if self.open.is_some() {
            return Err(halt);
        }
        if self.postponed.is_none() {
            self.note_stack();
            self.postponed = Some(halt);
        }
        Ok(())
    }

    /// Returns the outcome of the whole search, given the outcome of its last step.
    pub(super) fn ended<R>(&mut self, outcome: Result<R, Halt>) -> Result<R, Box<EvalError>> {
        let outcome = outcome.map_err(Halt::into_error);
        match self.postponed.take() {
            Some(halt)
                if outcome
                    .as_ref()
                    .err()
                    .is_none_or(|error| error.code.is_evaluation_failure()) =>
            {
                Err(halt.into_error())
            }
            _ => outcome,
        }
    }

    /// Records the running queries, unless an earlier error already did.
    fn note_stack(&mut self) {
        let Some(mut call_stack) = self.call_stack.take() else {
            return;
        };
        if call_stack.stack.is_none() {
            call_stack.stack = Some(self.frames_of(&call_stack.goals));
        }
        self.call_stack = Some(call_stack);
    }

    /// Returns the running queries, innermost first.
    pub(super) fn running(&mut self) -> Vec<StackFrame> {
        let Some(call_stack) = self.call_stack.take() else {
            return Vec::new();
        };
        let stack = self.frames_of(&call_stack.goals);
        self.call_stack = Some(call_stack);
        stack
    }

    fn frames_of(&mut self, goals: &[Goal<'e>]) -> Vec<StackFrame> {
        let mut stack = Vec::new();
        let mut wanted = goals.last().map(|goal| goal.id);
        for (at, goal) in goals.iter().enumerate().rev() {
            if Some(goal.id) == wanted {
                stack.push(self.stack_frame(*goal, goals.get(..=at).unwrap_or_default()));
                wanted = (goal.id != goal.parent).then_some(goal.parent);
            }
        }
        stack
    }

    /// Returns the frame of a goal. `goals` are the goals up to it, outermost first.
    fn stack_frame(&mut self, goal: Goal<'e>, goals: &[Goal<'e>]) -> StackFrame {
        let mut variables = Variables::default();
        let span = match goal.exprs {
            Exprs::Body(_) | Exprs::Positive(_) => {
                goal.expr().map_or_else(Span::default, |expr: &Expr| {
                    expr.walk(&mut variables);
                    expr.span
                })
            }
            Exprs::Domain(every, _) => {
                every.domain.walk(&mut variables);
                every.domain.span
            }
            Exprs::Head(rule) => rule.span,
        };
        variables.replace_literals(goal.frame, goals);
        let values = variables.0.into_iter().filter_map(|term| {
            let value = self.plug(TermRef::Term(term, goal.frame))?;
            Some((term.span, value.rego_text().to_string()))
        });
        let values: Vec<(Span, String)> = values.collect();
        StackFrame::new(goal.id, self.program, span, values.into_iter())
    }
}

/// Variables of an expression, except those of comprehensions.
#[derive(Default)]
struct Variables<'a>(Vec<&'a Term>);

impl<'a> Variables<'a> {
    /// Replaces each variable that was generated for an array, a set or an object of the source by the variables of this
    /// literal. Values replace those, not the literal as a whole.
    fn replace_literals(&mut self, frame: FrameId, goals: &[Goal<'a>]) {
        let mut at = 0;
        while let Some(variable) = self.0.get(at).copied() {
            match literal(variable, frame, goals) {
                Some(literal) => {
                    self.0.swap_remove(at);
                    literal.walk(self);
                }
                None => at += 1,
            }
        }
    }
}

/// Returns the literal that a generated variable was bound to, in one of the bodies being searched.
fn literal<'a>(variable: &Term, frame: FrameId, goals: &[Goal<'a>]) -> Option<&'a Term> {
    let name = variable.as_var()?;
    // a body has a goal for each expression so far
    let bodies = goals
        .iter()
        .rev()
        .filter(|goal| goal.frame == frame && goal.at == 0)
        .filter_map(|goal| match goal.exprs {
            Exprs::Body(body) => Some(body),
            Exprs::Positive(_) | Exprs::Domain(..) | Exprs::Head(_) => None,
        });
    let mut operands = bodies.flatten().filter_map(|expr| expr.operands_of("eq"));
    operands.find_map(|operands| match operands {
        // only a generated variable has the position of its value
        [left, right] if left.as_var() == Some(name) && right.span == variable.span => {
            let is_literal = matches!(
                right.kind,
                TermKind::Array(_) | TermKind::Set(_) | TermKind::Object(_)
            );
            is_literal.then_some(right)
        }
        _ => None,
    })
}

impl<'a> Visitor<'a> for Variables<'a> {
    fn expr(&mut self, expr: &'a Expr) -> Descent {
        let ExprKind::Every(every) = &expr.kind else {
            return Descent::Into;
        };
        // the variables that it declares have no value here
        every.domain.walk(self);
        every.body.walk(self);
        expr.with.walk(self);
        Descent::Over
    }

    fn term(&mut self, term: &'a Term) -> Descent {
        let steps = VarScan {
            skip_ref_heads: true,
            ..VarScan::default()
        };
        match &term.kind {
            TermKind::Var(_) => self.0.push(term),
            // as in OPA, a reference whose steps are constant is shown as it is written, even if its head is a variable
            TermKind::Ref(_) if !steps.any(term, |_| true) => return Descent::Over,
            TermKind::ArrayComprehension(_)
            | TermKind::SetComprehension(_)
            | TermKind::ObjectComprehension(_) => return Descent::Over,
            _ => {}
        }
        Descent::Into
    }
}
