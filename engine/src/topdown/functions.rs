//! Functions of the policy: unification of arguments, and results.

use solon_syntax::ast::{Rule, Term, TermKind};

use super::calls::TOO_FEW_OPERANDS;
use super::documents::DataPath;
use super::machine::{Continuation, Goal, SearchFlow, SearchResult, Topdown};
use super::term::{TermList, TermRef};
use crate::bug::bug;
use crate::program::canonical::Group;
use crate::runtime::Halt;
use crate::trace::{Count, Op};
use crate::value::ValueRef;

/// State of a function call while its rules are searched.
struct Application<'c, 'e> {
    group: &'e Group,
    path: &'c [ValueRef<'e>],
    args: &'e [Term],
    /// Term that the result is unified with.
    output: Option<&'e Term>,
    /// Term that the results of rules are unified with before their bodies are searched.
    early_output: Option<&'e Term>,
    key: &'c [ValueRef<'e>],
    /// Result so far.
    value: Option<ValueRef<'e>>,
    /// Flow that the continuation returned for the last solution.
    flow: SearchFlow,
    /// `true` if two rules returned different values.
    clashed: bool,
}

impl<'e> Topdown<'e> {
    /// Calls a function and unifies its result with the operand after its arguments.
    pub(super) fn function(
        &mut self,
        goal: Goal<'e>,
        group: &'e Group,
        path: &[ValueRef<'e>],
        operands: &'e [Term],
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let (args, output) = operands
            .split_at_checked(group.arity)
            .unwrap_or_else(|| bug!(TOO_FEW_OPERANDS));
        let output = output.first();
        let matches = self.candidates(goal, group, path, Some(TermList::Terms(args, goal.frame)));
        let Some(values) = self.plug_all(TermList::Terms(args, goal.frame)) else {
            return Ok(SearchFlow::More);
        };
        let key: DataPath<'e> = path.iter().chain(values.iter()).copied().collect();
        if let Some(kept) = self.scope().cached_call(&key) {
            self.tally(Count::VirtualCacheHit);
            return self.returned(goal, kept, output, next);
        }
        self.tally(Count::VirtualCacheMiss);
        let mut call = Application {
            group,
            path,
            args,
            output,
            early_output: output.filter(|output| self.binds_early(goal, group, output)),
            key: &key,
            value: None,
            flow: SearchFlow::More,
            clashed: false,
        };
        self.search_chains(group, &matches, |walk, rule| {
            walk.application(goal, rule, matches.early_exit, &mut call, next)
        })?;
        Ok(call.flow)
    }

    /// Returns `true` if the results of rules may be unified with an operand before the bodies are searched. A result
    /// that is already known does not select among the rules, since a function has one value.
    fn binds_early(&mut self, goal: Goal<'e>, group: &Group, output: &'e Term) -> bool {
        let is_known = self.plug(TermRef::Term(output, goal.frame)).is_some();
        let is_open = !is_known && (self.open.is_some() || matches!(output.kind, TermKind::Var(_)));
        is_open || group.is_constant()
    }

    /// Continues with the result of a call.
    pub(super) fn returned(
        &mut self,
        goal: Goal<'e>,
        value: ValueRef<'e>,
        output: Option<&'e Term>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        match output {
            Some(output) => {
                let output = TermRef::Term(output, goal.frame);
                self.unify(goal, output, TermRef::Value(value), next)
            }
            None if value.is_truthy() => next(self),
            None => Ok(SearchFlow::More),
        }
    }

    /// Continues with the result of a rule. Unifies it with the output unless that happened before the body was
    /// searched.
    fn applied(
        &mut self,
        goal: Goal<'e>,
        call: &Application<'_, 'e>,
        result: TermRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        match call.output {
            Some(output) if call.early_output.is_none() => {
                self.unify(goal, TermRef::Term(output, goal.frame), result, next)
            }
            _ => next(self),
        }
    }

    /// Searches the body of a function. Returns `true` if it has a solution.
    fn application(
        &mut self,
        goal: Goal<'e>,
        rule: &'e Rule,
        find_one: bool,
        call: &mut Application<'_, 'e>,
        next: Continuation<'_, 'e>,
    ) -> Result<bool, Halt> {
        let child = self.child(goal, rule, find_one);
        self.rule_event(Op::Enter, child, rule);
        let mut hit = false;
        let (args, bound) = (call.args, call.early_output);
        let outcome = self.unify_call(goal, child, rule, (args, bound), 0, &mut |walk| {
            walk.run(child, &mut |walk| {
                walk.rule_event(Op::Exit, child, rule);
                hit = true;
                let head = rule.head.value.as_ref();
                let head = head.map(|head| TermRef::Term(head, child.frame));
                if walk.open.is_some()
                    && let Some(head) = head
                    && call.output.is_some()
                    && walk.plug(head).is_none()
                {
                    // the result is the output term itself, whose value is unknown
                    call.flow = walk.applied(goal, call, head, next)?;
                    if call.flow == SearchFlow::More {
                        walk.rule_event(Op::Redo, child, rule);
                    }
                    return Ok(call.flow);
                }
                let value = walk.head_value(rule, child);
                if let Some(first) = call.value {
                    if first != value {
                        call.clashed = true;
                        return Err(Halt::Conflict);
                    }
                    if call.output.is_some() || value.is_truthy() {
                        walk.rule_event(Op::Redo, child, rule);
                    }
                    return Ok(SearchFlow::More);
                }
                call.value = Some(value);
                walk.scope_mut().keep_call(call.key, value);
                if call.output.is_none() && !value.is_truthy() {
                    return Ok(SearchFlow::More);
                }
                call.flow = walk.applied(goal, call, TermRef::Value(value), next)?;
                if call.flow == SearchFlow::More {
                    walk.rule_event(Op::Redo, child, rule);
                }
                Ok(call.flow)
            })
        });
        self.pop_frame();
        match outcome {
            Err(Halt::Conflict) if call.clashed => {
                let args = TermList::Terms(call.args, goal.frame);
                Err(self.conflict(goal, call.group, call.path, Some(args), rule))
            }
            outcome => outcome.map(|_| hit),
        }
    }

    /// Unifies the operands of a call with the head of a rule: the arguments, then the output.
    fn unify_call(
        &mut self,
        goal: Goal<'e>,
        child: Goal<'e>,
        rule: &'e Rule,
        operands: (&'e [Term], Option<&'e Term>),
        at: usize,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let (args, bound) = operands;
        let pair = match args.get(at) {
            Some(arg) => rule.head.args.get(at).map(|parameter| (arg, parameter)),
            None if at == args.len() => bound.zip(rule.head.value.as_ref()),
            None => None,
        };
        let Some((operand, parameter)) = pair else {
            return next(self);
        };
        let (operand, parameter) = (
            TermRef::Term(operand, goal.frame),
            TermRef::Term(parameter, child.frame),
        );
        self.unify(child.head(rule), operand, parameter, &mut |walk| {
            walk.unify_call(goal, child, rule, operands, at + 1, next)
        })
    }
}
