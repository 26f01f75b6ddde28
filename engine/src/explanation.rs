//! Explanations: what a search did, step by step.

use std::collections::HashMap;
use std::sync::Arc;

use solon_syntax::ast::visit::{Flow, Terms, Walk as _};
use solon_syntax::ast::{Module, Name, Term, TermKind};
use solon_syntax::source::SourceId;

use crate::builtins::{self, FaultCode};
use crate::error::Error;
use crate::eval::Given;
use crate::evaluation::EvalError;
use crate::program::Program;
use crate::query::{
    Prepared, PreparedQuery, QueryInner, Request, Solution, surroundings, with_memory,
    within_bounds,
};
use crate::trace::{self, Detail, Event, Names, Observer, Observers, Pretty};
use crate::walk::{self, Search, Shortcuts, Walk};

/// The answer to a query and how it was found.
pub struct Explanation {
    /// The solutions, or what ended the search.
    pub answer: Result<Vec<Solution>, Error>,
    /// What happened, in order.
    pub events: Vec<Event>,
    program: Arc<Program>,
    query: Arc<QueryInner>,
}

impl PreparedQuery {
    /// The same as [`Self::solutions`], found by the machine that searches, whose steps an observer may follow.
    ///
    /// # Errors
    /// As for [`Self::solutions`].
    pub fn search(
        &self,
        request: &Request<'_>,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Vec<Solution>, Error> {
        let observer = observer.map(|observer| observer as &mut dyn Observer);
        self.search_as(
            request,
            Search {
                observer,
                ..Search::default()
            },
        )
    }

    /// The same, watched and measured as asked.
    ///
    /// # Errors
    /// As for [`Self::solutions`].
    pub fn search_as(
        &self,
        request: &Request<'_>,
        search: Search<'_>,
    ) -> Result<Vec<Solution>, Error> {
        let Search {
            observer,
            instruments,
            shortcuts,
        } = search;
        let inner = &*self.inner;
        let prepared = Prepared {
            shared: &inner.shared,
            program: &inner.program,
            constants: &[],
        };
        with_memory(prepared.shared, request, |arena, snapshot| {
            let (world, call) = surroundings(arena, prepared, snapshot, request)?;
            let world = walk::World {
                program: world.program,
                data: world.data.borrow(),
                input: world.input.map(|input| match input {
                    Given::Value(value) => value.borrow(),
                    Given::Read(value) => value,
                }),
                strict: world.strict,
                observer: observer.map(|observer| observer as &mut dyn Observer),
            };
            let question = walk::Question {
                body: &inner.body,
                originals: &inner.originals,
                wanted: &inner.wanted,
            };
            let mut walk = Walk::new(world, call).tuned(shortcuts, instruments);
            let rows = walk.solutions(&question)?;
            within_bounds(arena)?;
            Ok(rows.iter().filter_map(|row| inner.solution(row)).collect())
        })
    }

    /// Answers a request and tells how.
    pub fn explain(&self, request: &Request<'_>) -> Explanation {
        self.explain_to(request, Search::default())
    }

    /// The same, watched and measured by others as well.
    pub fn explain_to(&self, request: &Request<'_>, search: Search<'_>) -> Explanation {
        let mut events = Vec::new();
        let mut observers = Observers(vec![&mut events]);
        if let Some(observer) = search.observer {
            observers.0.push(observer);
        }
        let search = Search {
            observer: Some(&mut observers),
            ..search
        };
        let answer = self.checked(request, search);
        Explanation {
            answer,
            events,
            program: self.inner.program.clone(),
            query: self.inner.clone(),
        }
    }

    /// The same as [`Self::search_as`]; in a debug build the other machine must answer alike.
    ///
    /// # Errors
    /// As for [`Self::solutions`].
    pub fn checked(
        &self,
        request: &Request<'_>,
        search: Search<'_>,
    ) -> Result<Vec<Solution>, Error> {
        let usual = search.shortcuts == Shortcuts::default();
        let answer = self.search_as(request, search);
        if cfg!(debug_assertions) && usual && !self.is_nondeterministic() {
            let planned = self.solutions(&request.silent());
            if !agree(&planned, &answer) {
                return Err(self.disagreement());
            }
        }
        answer
    }

    /// Whether a second look may rightly see something else.
    fn is_nondeterministic(&self) -> bool {
        let mut found = !self.inner.program.functions.is_empty();
        let mut look = Terms(|term: &Term| {
            if let TermKind::Ref(_) = &term.kind {
                found = found
                    || builtins::all().any(|entry| {
                        entry.builtin.nondeterministic && term.is_operator(entry.builtin.name)
                    });
            }
            Flow::Into
        });
        self.inner.body.walk(&mut look);
        let modules = self.inner.program.canonical.modules.iter();
        modules.for_each(|module: &Module| module.rules.walk(&mut look));
        found
    }

    fn disagreement(&self) -> Error {
        let query = &self.inner.source.text;
        let message = format!("both machines answer the query `{query}`, but not alike");
        Error::Eval(Box::new(EvalError::nowhere(FaultCode::Internal, message)))
    }
}

/// Whether two answers are the same, of errors the code, the message and the place.
fn agree(left: &Result<Vec<Solution>, Error>, right: &Result<Vec<Solution>, Error>) -> bool {
    match (left, right) {
        (Ok(left), Ok(right)) => left == right,
        (Err(left), Err(right)) => left.entries() == right.entries(),
        _ => false,
    }
}

impl Explanation {
    /// The events that are shown.
    pub fn shown(&self, detail: Detail) -> Vec<&Event> {
        trace::filter(&self.events, detail)
    }

    /// The lines of the trace; with places, each begins with the file and the row.
    pub fn lines(&self, detail: Detail, places: bool, variables: bool) -> Vec<String> {
        let how = Pretty {
            files: places.then(|| self.files()),
            variables,
            originals: Names {
                modules: Some(&self.program.canonical.originals),
                query: Some(self.query_names()),
            },
        };
        trace::pretty(&self.shown(detail), how)
    }

    /// The events as JSON, in the form of the REST API.
    pub fn json(&self, detail: Detail) -> String {
        trace::json(&self.shown(detail))
    }

    fn files(&self) -> &HashMap<SourceId, Arc<str>> {
        &self.program.files
    }

    fn query_names(&self) -> &hashbrown::HashMap<Name, Name> {
        &self.query.originals
    }
}
