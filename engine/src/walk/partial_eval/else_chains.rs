//! Rules with `else` whose conditions depend on the unknown. A branch counts if no branch before it does, so each branch is
//! searched together with the negations of the earlier bodies.
//!
//! OPA does not inline such rules. They are inlined only if [`super::state::Inlining::complements`] is set, every value is a
//! constant, and each earlier body can be negated expression by expression.

use solon_syntax::ast::{Body, Rule};

use super::functions::OpenCall;
use super::negation::{NegatedCalls, can_complement};
use crate::evaluation::Halt;
use crate::program::constant;
use crate::trace::Op;
use crate::value::V;
use crate::walk::index::Matches;
use crate::walk::machine::{Exprs, Flow, Goal, Next, Outcome, Walk};
use crate::walk::reference::Target;
use crate::walk::term::T;

/// Branches of a rule in order, each with the residual bodies of its own condition.
struct Branches<'e> {
    branches: Vec<(&'e Rule, Vec<Body>)>,
}

impl<'e> Walk<'e> {
    /// Searches a document whose rule is an `else` chain. Returns `None` if the chain cannot be inlined.
    pub(super) fn open_chain(
        &mut self,
        goal: Goal<'e>,
        matches: &Matches<'e>,
        target: Target<'e>,
        next: Next<'_, 'e>,
    ) -> Result<Option<Flow>, Halt> {
        let Some(chain) = self.inlined_chain(matches) else {
            return Ok(None);
        };
        let bodies = &mut |walk: &mut Self, rule: &'e Rule| {
            walk.residual_bodies(&mut |walk, next| {
                let child = walk.child(goal, rule, false);
                let outcome = walk.run(child, next);
                walk.pop_frame();
                outcome
            })
        };
        let Some(found) = self.branches(chain, bodies)? else {
            return Ok(None);
        };
        self.each_branch(goal, &found, &mut |walk, rule| {
            let child = walk.child(goal, rule, false);
            walk.rule_event(Op::Enter, child, rule);
            let value = rule.head.value.as_ref();
            let value = value.map_or(T::Known(V::Bool(true)), |it| T::Term(it, child.frame));
            let outcome = walk.run(child, &mut |walk| {
                walk.rule_event(Op::Exit, child, rule);
                let flow = walk.descend_open(goal, value, target, next)?;
                if flow == Flow::More {
                    walk.rule_event(Op::Redo, child, rule);
                }
                Ok(flow)
            });
            walk.pop_frame();
            outcome
        })
    }

    /// Calls a function that is an `else` chain. Returns `None` if the chain cannot be inlined.
    pub(super) fn open_function_chain(
        &mut self,
        goal: Goal<'e>,
        call: OpenCall<'_, 'e>,
        matches: &Matches<'e>,
        next: Next<'_, 'e>,
    ) -> Result<Option<Flow>, Halt> {
        let Some(chain) = self.inlined_chain(matches) else {
            return Ok(None);
        };
        // a pattern among the parameters would be a condition of its own
        let is_plain = |rule: &&Rule| rule.head.args.iter().all(|arg| arg.as_var().is_some());
        if !chain.iter().all(is_plain) {
            return Ok(None);
        }
        let (operands, _) = call.split();
        let bare = OpenCall { operands, ..call };
        let bodies = &mut |walk: &mut Self, rule: &'e Rule| {
            walk.residual_bodies(&mut |walk, next| {
                let child = walk.child(goal, rule, false);
                let before = Goal {
                    exprs: Exprs::Head(rule),
                    ..child
                };
                let outcome =
                    walk.unify_operands(before, rule, bare, 0, &mut |walk| walk.run(child, next));
                walk.pop_frame();
                outcome
            })
        };
        let Some(found) = self.branches(chain, bodies)? else {
            return Ok(None);
        };
        let is_enough = matches.early_exit;
        self.each_branch(goal, &found, &mut |walk, rule| {
            let flow = walk.inline_application(goal, call, (rule, is_enough), next)?;
            Ok(flow.unwrap_or(Flow::More))
        })
    }

    /// Returns the branches of the only rule of a document, or `None` if there are several rules or a value is not constant.
    fn inlined_chain<'m>(&self, matches: &'m Matches<'e>) -> Option<&'m [&'e Rule]> {
        let is_allowed = self.opened()?.inlining.complements;
        let [only] = matches.rules.as_slice() else {
            return None;
        };
        let is_constant = |rule: &&Rule| {
            let mut value = rule.head.value.iter();
            value.all(|value| constant(value).is_some())
        };
        let chain = only.chain.as_slice();
        (is_allowed && chain.iter().all(is_constant)).then_some(chain)
    }

    /// Returns the branches up to the first one that holds in any case, or `None` if the earlier ones cannot be negated.
    fn branches(
        &mut self,
        chain: &[&'e Rule],
        mut bodies: impl FnMut(&mut Self, &'e Rule) -> Result<Vec<Body>, Halt>,
    ) -> Result<Option<Branches<'e>>, Halt> {
        let mut branches: Vec<(&'e Rule, Vec<Body>)> = Vec::with_capacity(chain.len());
        for rule in chain {
            let bodies = bodies(self, rule)?;
            let is_last = bodies.iter().any(Vec::is_empty);
            branches.push((rule, bodies));
            if is_last {
                break;
            }
        }
        let earlier = branches
            .split_last()
            .map_or(&[][..], |(_, earlier)| earlier);
        let earlier: Vec<Body> = earlier.iter().flat_map(|(_, it)| it.clone()).collect();
        let unknown = self.unknown_names();
        let is_possible = can_complement(&unknown, &earlier, NegatedCalls::All);
        Ok(is_possible.then_some(Branches { branches }))
    }

    /// Returns the residual bodies of a search, without what is saved around it.
    fn residual_bodies(
        &mut self,
        search: &mut dyn FnMut(&mut Self, Next<'_, 'e>) -> Outcome,
    ) -> Result<Vec<Body>, Halt> {
        let unknown = self.unknown_names();
        let mut live = unknown.clone();
        live.extend(self.unknown_documents());
        self.residuals_apart(&live, &unknown, search)
    }

    /// Searches each branch together with the negations of the earlier ones.
    fn each_branch(
        &mut self,
        goal: Goal<'e>,
        found: &Branches<'e>,
        search: &mut dyn FnMut(&mut Self, &'e Rule) -> Result<Flow, Halt>,
    ) -> Result<Option<Flow>, Halt> {
        let mut earlier: Vec<Body> = Vec::new();
        let flow = self.alternatives(&found.branches, |walk, (rule, bodies)| {
            let flow = if earlier.is_empty() {
                search(walk, rule)
            } else {
                walk.complements(goal, &earlier, &mut Vec::new(), &mut |walk| {
                    search(walk, rule)
                })
            }?;
            earlier.extend(bodies.iter().cloned());
            Ok(flow)
        })?;
        Ok(Some(flow))
    }
}
