//! Functions of the policy with unknown arguments or rules.

use solon_syntax::ast::{Rule, Term};

use super::choices::{TracedValue, may_differ};
use super::support::{SupportKind, SupportLocation, SupportRequest};
use crate::bug::bug;
use crate::program::canonical::{DocNodeId, Group};
use crate::program::constant;
use crate::runtime::Halt;
use crate::topdown::calls::{ResolvedOperator, TOO_FEW_OPERANDS};
use crate::topdown::index::RuleCandidates;
use crate::topdown::machine::{Continuation, Exprs, Goal, SearchFlow, SearchResult, Topdown};
use crate::topdown::term::{FrameId, TermList, TermRef};
use crate::trace::Op;
use crate::value::{RefRepr, Repr, Value, ValueRef};

/// A call that may depend on an unknown.
#[derive(Clone, Copy)]
pub(super) struct OpenCall<'c, 'e> {
    pub group: &'e Group,
    pub path: &'c [ValueRef<'e>],
    pub operator: &'e Term,
    /// Arguments, followed by the term that the result is unified with, if there is one.
    pub operands: &'e [Term],
    /// Environment of the operands.
    pub frame: FrameId,
}

impl<'e> OpenCall<'_, 'e> {
    /// Splits the operands into the arguments and the output.
    pub fn split(&self) -> (&'e [Term], &'e [Term]) {
        let operands = self.operands;
        operands
            .split_at_checked(self.group.arity)
            .unwrap_or_else(|| bug!(TOO_FEW_OPERANDS))
    }
}

impl<'e> Topdown<'e> {
    /// Calls a function that may depend on an unknown; returns `None` if an ordinary call suffices.
    pub(in crate::topdown) fn open_call(
        &mut self,
        goal: Goal<'e>,
        operator: &'e Term,
        operands: &'e [Term],
        next: Continuation<'_, 'e>,
    ) -> Option<SearchResult> {
        match self.callee(operator) {
            ResolvedOperator::Unify | ResolvedOperator::Unknown => None,
            ResolvedOperator::Function(site) => {
                let path = self.function_path(operator);
                let group = self.function_group(site)?;
                if !self.call_depends(operator, operands, site, goal) {
                    return Some(self.defer_conflict(
                        |walk, next| walk.function(goal, group, &path, operands, next),
                        |walk, next| {
                            walk.save_call(goal, operator.clone(), operands, group.arity, next)
                        },
                        next,
                    ));
                }
                let call = OpenCall {
                    group,
                    path: &path,
                    operator,
                    operands,
                    frame: goal.frame,
                };
                Some(self.open_function(goal, call, next))
            }
            ResolvedOperator::Builtin(_)
            | ResolvedOperator::Descend
            | ResolvedOperator::HostFunction(_) => {
                if !self.goal_depends(goal) {
                    return None;
                }
                let arity = self.arity_of(operator);
                Some(self.save_call(goal, operator.clone(), operands, arity, next))
            }
        }
    }

    /// Returns `true` if a function or its arguments depend on an unknown.
    fn call_depends(
        &mut self,
        operator: &'e Term,
        operands: &'e [Term],
        site: DocNodeId,
        goal: Goal<'e>,
    ) -> bool {
        let arity = self.function_group(site).map_or(0, |group| group.arity);
        let mut args = operands.iter().take(arity);
        self.depends(TermRef::Term(operator, goal.frame))
            || args.any(|arg| self.depends(TermRef::Term(arg, goal.frame)))
    }

    /// Calls a function that depends on an unknown.
    fn open_function(
        &mut self,
        goal: Goal<'e>,
        call: OpenCall<'_, 'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let group = call.group;
        let matches = self.candidates(goal, group, call.path, None);
        if matches.rules.is_empty() && group.default.is_none() {
            return Ok(SearchFlow::More);
        }
        let ordered = matches.rules.iter().any(|rule| rule.chain.len() > 1);
        if ordered && self.goal_depends(goal) {
            if self.may_inline_calls(call)
                && let Some(flow) = self.open_function_chain(goal, call, &matches, next)?
            {
                return Ok(flow);
            }
            let operator = call.operator.clone();
            return self.save_call(goal, operator, call.operands, group.arity, next);
        }
        let default = group.default.and_then(|at| self.program.canonical.rule(at));
        let full = self.below_data(call.path);
        let (args, output) = call.split();
        let captured = !output.is_empty();
        let needed = default.is_some_and(|default| captured || !is_false(default));
        if needed || self.is_shallow() || self.is_hidden(&full, false) {
            let function = TermList::Terms(std::slice::from_ref(call.operator), goal.frame);
            let unknown = self.operator_depends(function)
                || args
                    .iter()
                    .any(|arg| self.depends(TermRef::Term(arg, goal.frame)));
            if unknown {
                let wanted = SupportRequest {
                    goal,
                    group,
                    matches: &matches,
                    path: call.path,
                    kind: SupportKind::Function,
                };
                let operator = match self.support(&wanted)? {
                    SupportLocation::Nothing => return Ok(SearchFlow::More),
                    SupportLocation::Here => self.support_operator(call.path),
                    SupportLocation::Elsewhere => call.operator.clone(),
                };
                return self.save_call(goal, operator, call.operands, group.arity, next);
            }
        }
        self.watch_function(goal, call, &matches)?;
        self.inline_function(goal, call, &matches, default, next)
    }

    /// Returns `true` if a function is neither hidden nor has a default that may be its value.
    fn may_inline_calls(&mut self, call: OpenCall<'_, 'e>) -> bool {
        let default = call.group.default;
        let default = default.and_then(|at| self.program.canonical.rule(at));
        let is_captured = !call.split().1.is_empty();
        let needed = default.is_some_and(|default| is_captured || !is_false(default));
        let full = self.below_data(call.path);
        !(needed || self.is_shallow() || self.is_hidden(&full, false))
    }

    /// Records the values that a call may have at the same time.
    fn watch_function(
        &mut self,
        goal: Goal<'e>,
        call: OpenCall<'_, 'e>,
        matches: &RuleCandidates<'e>,
    ) -> Result<(), Halt> {
        let rules = || matches.rules.iter().flat_map(|one| one.chain.iter());
        if !self.is_watching() || !may_differ(rules().copied()) {
            return Ok(());
        }
        let (operands, _) = call.split();
        let call = OpenCall { operands, ..call };
        self.watch(|walk, reached| {
            walk.alternatives(rules(), |walk, rule| {
                let child = walk.child(goal, rule, false);
                let before = Goal {
                    exprs: Exprs::Body(&[]),
                    ..child
                };
                let outcome = walk.unify_operands(before, rule, call, 0, &mut |walk| {
                    walk.run(child, &mut |walk| {
                        reached(walk, TracedValue::by_rule(rule, &[], child.frame))
                    })
                });
                walk.pop_frame();
                outcome
            })
        })
    }

    fn operator_depends(&mut self, operator: TermList<'e>) -> bool {
        operator
            .get(0)
            .is_some_and(|operator| self.depends(operator))
    }

    fn inline_function(
        &mut self,
        goal: Goal<'e>,
        call: OpenCall<'_, 'e>,
        matches: &RuleCandidates<'e>,
        default: Option<&'e Rule>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let mut any = false;
        let ending = self.alternatives(&matches.rules, |walk, one| {
            for rule in &one.chain {
                if let Some(flow) =
                    walk.inline_application(goal, call, (rule, matches.early_exit), next)?
                {
                    any = true;
                    return Ok(flow);
                }
            }
            Ok(SearchFlow::More)
        })?;
        match default {
            Some(default) if !any => {
                let flow =
                    self.inline_application(goal, call, (default, matches.early_exit), next)?;
                Ok(flow.unwrap_or(SearchFlow::More))
            }
            _ => Ok(ending),
        }
    }

    /// Searches the body of a function; `None` if it has no solution. Reports, but does not act on, that one solution
    /// would suffice: the conditions of that solution are unknown.
    pub(super) fn inline_application(
        &mut self,
        goal: Goal<'e>,
        call: OpenCall<'_, 'e>,
        rule: (&'e Rule, bool),
        next: Continuation<'_, 'e>,
    ) -> Result<Option<SearchFlow>, Halt> {
        self.apply_rule(goal, call, rule, &mut Self::run, next)
    }

    /// Same as [`Self::inline_application`] with an explicit search: `body` searches the rule's body once its arguments
    /// have values.
    pub(super) fn apply_rule(
        &mut self,
        goal: Goal<'e>,
        call: OpenCall<'_, 'e>,
        (rule, is_enough): (&'e Rule, bool),
        body: &mut dyn FnMut(&mut Self, Goal<'e>, Continuation<'_, 'e>) -> SearchResult,
        next: Continuation<'_, 'e>,
    ) -> Result<Option<SearchFlow>, Halt> {
        let child = self.child(goal, rule, false);
        let before = Goal {
            exprs: Exprs::Head(rule),
            ..child
        };
        let mut hit = false;
        self.rule_event(Op::Enter, child, rule);
        let outcome = self.unify_operands(before, rule, call, 0, &mut |walk| {
            body(walk, child, &mut |walk| {
                hit = true;
                let exit = Goal {
                    find_one: is_enough,
                    ..child
                };
                walk.rule_event(Op::Exit, exit, rule);
                let Some(flow) = walk.apply_open(goal, call, rule, child, next)? else {
                    return Ok(SearchFlow::More);
                };
                if flow == SearchFlow::More {
                    walk.rule_event(Op::Redo, child, rule);
                }
                Ok(flow)
            })
        });
        self.pop_frame();
        let flow = outcome?;
        Ok(hit.then_some(flow))
    }

    /// Continues with the result of a function; `None` if it is `false` and the caller only tests it.
    fn apply_open(
        &mut self,
        goal: Goal<'e>,
        call: OpenCall<'_, 'e>,
        rule: &'e Rule,
        child: Goal<'e>,
        next: Continuation<'_, 'e>,
    ) -> Result<Option<SearchFlow>, Halt> {
        let is_captured = call.operands.len() > call.group.arity;
        let Some(value) = rule.head.value.as_ref().filter(|_| !is_captured) else {
            return next(self).map(Some);
        };
        let value = TermRef::Term(value, child.frame);
        let applied = self.apply(value);
        if self.is_unknown(applied) {
            return self.save_term(goal, applied, next).map(Some);
        }
        match self.plug(value) {
            Some(ValueRef(RefRepr::Bool(false))) => Ok(None),
            _ => next(self).map(Some),
        }
    }

    pub(super) fn unify_operands(
        &mut self,
        before: Goal<'e>,
        rule: &'e Rule,
        call: OpenCall<'_, 'e>,
        at: usize,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let Some(operand) = call.operands.get(at) else {
            return next(self);
        };
        let parameter = if at == call.group.arity {
            rule.head.value.as_ref()
        } else {
            rule.head.args.get(at)
        };
        let Some(parameter) = parameter else {
            bug!("a call with more operands than its function has");
        };
        let operand = TermRef::Term(operand, call.frame);
        let parameter = TermRef::Term(parameter, before.frame);
        self.unify(before, operand, parameter, &mut |walk| {
            walk.unify_operands(before, rule, call, at + 1, next)
        })
    }
}

fn is_false(rule: &Rule) -> bool {
    rule.head.value.as_ref().and_then(constant) == Some(Value(Repr::Bool(false)))
}
