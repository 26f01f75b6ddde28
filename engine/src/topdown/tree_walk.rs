//! The built-in `walk`: each path and value below a value. Known steps of the path are followed directly instead of
//! enumerated.

use solon_syntax::ast::Term;
use solon_syntax::source::Span;

use super::calls::TOO_FEW_OPERANDS;
use super::machine::{Continuation, Goal, SearchFlow, SearchResult, Topdown};
use super::term::{ResolvedTerm, TermList, TermRef};
use crate::bug::bug;
use crate::limits;
use crate::runtime::Halt;
use crate::value::{RefRepr, ValueRef};

/// Term that each visited path and value is unified with, and the continuation.
struct TreeWalk<'n, 's, 'e> {
    goal: Goal<'e>,
    output: Option<&'e Term>,
    next: Continuation<'n, 'e>,
    /// Steps so far; `None` if the path is not needed.
    path: Option<&'s mut Vec<ValueRef<'e>>>,
}

impl<'e> Topdown<'e> {
    pub(super) fn walk_tree(
        &mut self,
        goal: Goal<'e>,
        operands: &'e [Term],
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let [from, rest @ ..] = operands else {
            bug!(TOO_FEW_OPERANDS)
        };
        let Some(from) = self.plug(TermRef::Term(from, goal.frame)) else {
            return Ok(SearchFlow::More);
        };
        let output = rest.first();
        let path = output.and_then(|output| self.walked_path(TermRef::Term(output, goal.frame)));
        let is_unnamed = matches!(path, Some(TermRef::Term(path, _)) if path.is_wildcard());
        let sought = path.map_or_else(Vec::new, |path| self.sought(path));
        let mut steps = Vec::new();
        let mut tree = TreeWalk {
            goal,
            output,
            next,
            path: (!is_unnamed).then_some(&mut steps),
        };
        self.walk_below(&mut tree, from, &sought)
    }

    fn walked_path(&mut self, pair: TermRef<'e>) -> Option<TermRef<'e>> {
        let pair = self.elements(pair)?;
        if pair.len() == 2 { pair.get(0) } else { None }
    }

    /// Returns the leading steps of a path, as far as its length is known; `None` for steps that may be any key.
    fn sought(&mut self, path: TermRef<'e>) -> Vec<Option<ValueRef<'e>>> {
        let Some(steps) = self.elements(path) else {
            return Vec::new();
        };
        let steps = (0..steps.len()).filter_map(|at| steps.get(at));
        steps.map(|step| self.plug(step)).collect()
    }

    fn elements(&mut self, term: TermRef<'e>) -> Option<TermList<'e>> {
        match self.apply(term).resolved() {
            ResolvedTerm::Array(items) => Some(items),
            ResolvedTerm::Value(value) => value.as_array().map(TermList::Values),
            _ => None,
        }
    }

    fn walk_below(
        &mut self,
        tree: &mut TreeWalk<'_, '_, 'e>,
        value: ValueRef<'e>,
        sought: &[Option<ValueRef<'e>>],
    ) -> SearchResult {
        self.count_iteration()?;
        if value.exceeds_traversal_limit() {
            let ended = self.call.budget.check();
            ended.map_err(|fault| Halt::exhausted(self.program, &fault, Span::default()))?;
        }
        let (step, sought) = match sought {
            [step, sought @ ..] => (Some(*step), sought),
            [] => (None, sought),
        };
        if let Some(Some(key)) = step {
            return match value.lookup(key) {
                Some(inner) => self.walk_step(tree, key, inner, sought),
                None => Ok(SearchFlow::More),
            };
        }
        let arena = self.call.arena;
        let items = value.as_array().into_iter().flat_map(|items| items.iter());
        let items = (0_i64..).map(|it| ValueRef(RefRepr::Int(it))).zip(items);
        let pairs = value
            .as_object()
            .into_iter()
            .flat_map(|object| object.iter());
        let members = value.as_set().into_iter().flat_map(|set| set.iter());
        let members = members.map(|member| (member, member));
        let children = items.chain(pairs).chain(members).map(Some);
        // a longer path does not lead to this value
        let own = step.is_none().then_some(None);
        for child in own.into_iter().chain(children) {
            let flow = match child {
                Some((key, inner)) => self.walk_step(tree, key, inner, sought)?,
                None => {
                    let path = tree.path.as_ref();
                    let path = arena.array(path.map_or(&[], |path| path.as_slice()));
                    let pair = arena.array(&[path, value]);
                    self.returned(tree.goal, pair, tree.output, tree.next)?
                }
            };
            // OPA's `walk` also ends here if an inner search has ended but the enclosing one has not
            if flow != SearchFlow::More {
                return Ok(flow);
            }
        }
        Ok(SearchFlow::More)
    }

    /// Visits a value one step below.
    fn walk_step(
        &mut self,
        tree: &mut TreeWalk<'_, '_, 'e>,
        key: ValueRef<'e>,
        value: ValueRef<'e>,
        sought: &[Option<ValueRef<'e>>],
    ) -> SearchResult {
        if let Some(path) = &mut tree.path {
            path.push(key);
        }
        let flow = stacker::maybe_grow(limits::VALUE_STACK, 2 * limits::VALUE_STACK, || {
            self.walk_below(tree, value, sought)
        });
        if let Some(path) = &mut tree.path {
            path.pop();
        }
        flow
    }
}
