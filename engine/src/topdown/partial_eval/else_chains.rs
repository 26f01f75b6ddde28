//! Rules with `else` whose conditions depend on unknowns. A branch applies if no earlier branch does, so each branch is
//! searched together with the negations of the earlier bodies.
//!
//! The residual bodies of a branch that others follow are computed once, for its negation, and saved where the branch
//! applies. A second search would double the work with each rule that a condition leads to.
//!
//! OPA does not inline such rules. They are inlined only if [`super::state::Inlining::complements`] is set, every value
//! is a constant, and each earlier body can be negated expression by expression.

use solon_syntax::ast::{Body, Rule};

use super::functions::OpenCall;
use super::negation::{NegatedCalls, can_complement};
use super::save::SavedKind;
use crate::program::constant;
use crate::runtime::Halt;
use crate::topdown::index::RuleCandidates;
use crate::topdown::machine::{Continuation, Exprs, Goal, SearchFlow, SearchResult, Topdown};
use crate::topdown::reference::PendingRef;
use crate::topdown::term::TermRef;
use crate::trace::Op;
use crate::value::{RefRepr, ValueRef};

struct ElseBranch<'e> {
    rule: &'e Rule,
    /// Residual bodies of the branch's own condition. `None` for the last branch, which is searched where it applies.
    bodies: Option<Vec<Body>>,
}

impl<'e> Topdown<'e> {
    /// Searches a document whose rule is an `else` chain. Returns `None` if the chain cannot be inlined.
    pub(super) fn open_chain(
        &mut self,
        goal: Goal<'e>,
        matches: &RuleCandidates<'e>,
        target: PendingRef<'e>,
        next: Continuation<'_, 'e>,
    ) -> Result<Option<SearchFlow>, Halt> {
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
        self.each_branch(goal, &found, &mut |walk, branch| {
            let rule = branch.rule;
            let child = walk.child(goal, rule, false);
            walk.rule_event(Op::Enter, child, rule);
            let value = rule.head.value.as_ref();
            let value = value.map_or(TermRef::Value(ValueRef(RefRepr::Bool(true))), |it| {
                TermRef::Term(it, child.frame)
            });
            let outcome = walk.branch_body(goal, child, branch, &mut |walk| {
                walk.rule_event(Op::Exit, child, rule);
                let flow = walk.descend_open(goal, value, target, next)?;
                if flow == SearchFlow::More {
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
        matches: &RuleCandidates<'e>,
        next: Continuation<'_, 'e>,
    ) -> Result<Option<SearchFlow>, Halt> {
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
        self.each_branch(goal, &found, &mut |walk, branch| {
            let body = &mut |walk: &mut Self, child: Goal<'e>, next: Continuation<'_, 'e>| {
                walk.branch_body(goal, child, branch, next)
            };
            let flow = walk.apply_rule(goal, call, (branch.rule, is_enough), body, next)?;
            Ok(flow.unwrap_or(SearchFlow::More))
        })
    }

    /// Returns the branches of the only rule of a document, or `None` if there are several rules or a value is not constant.
    fn inlined_chain<'m>(&self, matches: &'m RuleCandidates<'e>) -> Option<&'m [&'e Rule]> {
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

    /// Returns the branches up to the first one that always holds, or `None` if the earlier ones cannot be negated.
    fn branches(
        &mut self,
        chain: &[&'e Rule],
        mut bodies: impl FnMut(&mut Self, &'e Rule) -> Result<Vec<Body>, Halt>,
    ) -> Result<Option<Vec<ElseBranch<'e>>>, Halt> {
        let mut branches: Vec<ElseBranch<'e>> = Vec::with_capacity(chain.len());
        let mut earlier: Vec<Body> = Vec::new();
        for (at, rule) in chain.iter().enumerate() {
            if at + 1 == chain.len() {
                let bodies = None;
                branches.push(ElseBranch { rule, bodies });
                break;
            }
            let bodies = bodies(self, rule)?;
            if bodies.iter().any(Vec::is_empty) {
                let bodies = Some(vec![Body::new()]);
                branches.push(ElseBranch { rule, bodies });
                break;
            }
            earlier.extend(bodies.iter().cloned());
            let bodies = Some(bodies);
            branches.push(ElseBranch { rule, bodies });
        }
        let unknown = self.unknown_names();
        let is_possible = can_complement(&unknown, &earlier, NegatedCalls::All);
        Ok(is_possible.then_some(branches))
    }

    /// Returns the residual bodies of a search, without the expressions saved around it.
    fn residual_bodies(
        &mut self,
        search: &mut dyn FnMut(&mut Self, Continuation<'_, 'e>) -> SearchResult,
    ) -> Result<Vec<Body>, Halt> {
        let unknown = self.unknown_names();
        let mut live = unknown.clone();
        live.extend(self.unknown_documents());
        self.local_residuals(&live, &unknown, search)
    }

    /// Searches each branch together with the negations of the earlier ones.
    fn each_branch(
        &mut self,
        goal: Goal<'e>,
        branches: &[ElseBranch<'e>],
        search: &mut dyn FnMut(&mut Self, &ElseBranch<'e>) -> SearchResult,
    ) -> Result<Option<SearchFlow>, Halt> {
        let mut earlier: Vec<Body> = Vec::new();
        let flow = self.alternatives(branches, |walk, branch| {
            let flow = if earlier.is_empty() {
                search(walk, branch)
            } else {
                walk.complements(goal, &earlier, &mut Vec::new(), &mut |walk| {
                    search(walk, branch)
                })
            }?;
            earlier.extend(branch.bodies.iter().flatten().cloned());
            Ok(flow)
        })?;
        Ok(Some(flow))
    }

    /// Calls `next` for each residual body of a branch, with its expressions saved.
    fn branch_body(
        &mut self,
        goal: Goal<'e>,
        child: Goal<'e>,
        branch: &ElseBranch<'e>,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let Some(bodies) = &branch.bodies else {
            return self.run(child, next);
        };
        self.alternatives(bodies, |walk, body| {
            let kinds = body.iter().cloned().map(SavedKind::Done).collect();
            walk.save(goal, kinds, &[], next)
        })
    }
}
