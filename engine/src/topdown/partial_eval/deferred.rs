//! Clashes that are found too early.

use super::state::PartialState;
use crate::builtins::EvalErrorCode;
use crate::runtime::Halt;
use crate::topdown::machine::{Continuation, SearchResult, Topdown};

impl<'e> Topdown<'e> {
    /// Searches what is known in all its parts. Behind something unknown it may never be asked for, so a clash of its
    /// rules is no error of the search there: it is saved, to be found when it is asked for.
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
                // the first of the values that clash is kept there
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
    /// Whether what is searched next is only asked for if something unknown is as it should be.
    fn is_conditional(&self) -> bool {
        self.saved.len() > 1 || self.saved.iter().any(|body| !body.is_empty())
    }
}
