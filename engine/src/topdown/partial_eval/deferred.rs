//! Conflicts that are found too early.

use super::state::PartialState;
use crate::builtins::EvalErrorCode;
use crate::runtime::Halt;
use crate::topdown::machine::{Continuation, SearchResult, Topdown};

impl<'e> Topdown<'e> {
    /// Searches a document or call that is known in full. After something unknown it may never be evaluated, so a
    /// conflict of its rules is not an error of this search: the expression is saved, and the conflict is found when
    /// the residual is evaluated.
    pub(in crate::topdown) fn defer_conflict(
        &mut self,
        search: impl FnOnce(&mut Self, Continuation<'_, 'e>) -> SearchResult,
        save: impl FnOnce(&mut Self, Continuation<'_, 'e>) -> SearchResult,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let Some(open) = &self.open else {
            return search(self, next);
        };
        if open.settled {
            return search(self, next);
        }
        let conditional = open.is_conditional();
        self.settle(true);
        let mut behind = false;
        let outcome = search(self, &mut |walk| {
            walk.settle(false);
            let flow = next(walk);
            walk.settle(true);
            behind |= flow.is_err();
            flow
        });
        self.settle(false);
        match outcome {
            Err(Halt::Error(error))
                if conditional && !behind && error.code == EvalErrorCode::Conflict =>
            {
                // the cache holds the first of the conflicting values
                self.scope_mut().forget();
                save(self, next)
            }
            outcome => outcome,
        }
    }

    fn settle(&mut self, settled: bool) {
        if let Some(open) = self.opened_mut() {
            open.settled = settled;
        }
    }
}

impl PartialState<'_> {
    /// Returns `true` if the next expression is only reached if something unknown is true.
    fn is_conditional(&self) -> bool {
        self.saved.len() > 1 || self.saved.iter().any(|body| !body.is_empty())
    }
}
