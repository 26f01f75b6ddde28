//! Evaluation by the tracing evaluator, to explain a result or to find the origin of an error.

use hashbrown::HashMap;
use std::cell::RefCell;

use solon_syntax::ast::{Expr, ExprKind, Name, Term, TermKind};
use solon_syntax::source::Span;

use super::document::EvalTarget;
use super::replay::Replay;
use super::{EvalEnv, QueryInner, Request, eval_setup, start, within_bounds};
use crate::builtins::{EvalErrorCode, Hooks, NdBuiltinCache, RecordedCalls};
use crate::error::Error;
use crate::eval::InputSource;
use crate::limits::{self, Limits};
use crate::runtime::EvalError;
use crate::topdown::{self, SearchOptions, Topdown, TopdownQuery};
use crate::trace::Observer;

/// Creates a tracing evaluator for `subject` and calls `run` with it.
pub(crate) fn search<T, R>(
    env: EvalEnv<'_>,
    request: &Request<'_>,
    how: SearchOptions<'_>,
    subject: &T,
    run: impl for<'e> FnOnce(Topdown<'e>, &'e T) -> Result<R, Error>,
) -> Result<R, Error> {
    start(env.shared, request, |memory| {
        let arena = &memory.arena;
        let (context, call) = eval_setup(arena, env, request)?;
        let context = topdown::TopdownContext {
            program: context.program,
            data: context.data.borrow(),
            input: context.input.map(|input| match input {
                InputSource::Value(value) => value.borrow(),
                InputSource::Read(value) => value,
            }),
            strict: context.strict,
            observer: how.observer.map(|observer| observer as &mut dyn Observer),
        };
        let limits = request.bounds(env.shared);
        let walk = Topdown::new(context, call)
            .limiting_events(limits.explanation.unwrap_or(usize::MAX))
            .tuned(how.shortcuts, how.instruments)
            .collecting(how.builtin_errors);
        let result = run(walk, subject)?;
        within_bounds(arena)?;
        Ok(result)
    })
}

/// A query or a document that is evaluated.
pub(super) trait Subject: Copy {
    fn eval_env(&self) -> EvalEnv<'_>;

    /// Returns the error of a search, or `None` if the search succeeds.
    fn search_error(&self, request: &Request<'_>) -> Option<Box<EvalError>>;
}

/// Calls `evaluate`. If it fails, the tracing evaluator runs as well, because only it finds which of several errors
/// comes first, which lines were printed before it, and which queries were running.
#[inline]
pub(super) fn with_replay<S: Subject, R>(
    subject: S,
    request: &Request<'_>,
    evaluate: impl FnOnce(&Request<'_>, &Replay) -> Result<R, Error>,
) -> Result<R, Error> {
    let env = subject.eval_env();
    let notes = env.may_block && request.hooks.nd_cache.is_none();
    if !notes && !env.shared.records {
        return replaying(subject, request, evaluate);
    }
    // the search reuses the host's responses, so that each call is made once
    let (answers, recorded) = (NdBuiltinCache::default(), RecordedCalls::default());
    let hooks = Hooks {
        nd_cache: request.hooks.nd_cache.or(notes.then_some(&answers)),
        recorded: env.shared.records.then_some(&recorded),
        ..request.hooks
    };
    replaying(subject, &Request { hooks, ..*request }, evaluate)
}

#[inline]
fn replaying<S: Subject, R>(
    subject: S,
    request: &Request<'_>,
    evaluate: impl FnOnce(&Request<'_>, &Replay) -> Result<R, Error>,
) -> Result<R, Error> {
    match request.hooks.print {
        Some(print) if subject.eval_env().program().canonical.prints() => {
            with_buffered_prints(subject, request, print, evaluate)
        }
        _ => {
            let replay = Replay::default();
            evaluate(request, &replay)
                .map_err(|error| locate_error(subject, &request.silent(), &replay, error).0)
        }
    }
}

/// Evaluates a request with a handler for `print`. Lines are buffered until the evaluation has ended.
#[inline(never)]
fn with_buffered_prints<S: Subject, R>(
    subject: S,
    request: &Request<'_>,
    print: &dyn Fn(&str),
    evaluate: impl FnOnce(&Request<'_>, &Replay) -> Result<R, Error>,
) -> Result<R, Error> {
    let first = BufferedPrints::new(print);
    let replay = Replay::default();
    let result = evaluate(&request.print(&|line: &str| first.add(line)), &replay);
    let Err(error) = result else {
        first.release();
        return result;
    };
    if first.is_released() {
        return Err(locate_error(subject, &request.silent(), &replay, error).0);
    }
    let second = BufferedPrints::new(print);
    let (error, again) = locate_error(
        subject,
        &request.print(&|line: &str| second.add(line)),
        &replay,
        error,
    );
    if again {
        second.release();
    } else {
        first.release();
    }
    Err(error)
}

/// Returns the error of a failed evaluation as the tracing evaluator reports it, and whether it was found.
#[cold]
fn locate_error<S: Subject>(
    subject: S,
    request: &Request<'_>,
    replay: &Replay,
    error: Error,
) -> (Error, bool) {
    let Error::Eval(mut failed) = error else {
        return (error, false);
    };
    if !failed.code.is_evaluation_failure() {
        return (Error::Eval(failed), false);
    }
    if let Some(recorded) = request.hooks.recorded {
        recorded.replay();
    }
    let left = replay.take();
    let request = Request {
        replay_state: Some(&left),
        ..*request
    };
    match subject.search_error(&request) {
        Some(again) if again.code.is_evaluation_failure() => (Error::Eval(again), true),
        // the search ended at a function that was not called a second time
        Some(again)
            if again.code == EvalErrorCode::Internal
                && (&again.file, again.row, again.col)
                    == (&failed.file, failed.row, failed.col) =>
        {
            failed.stack = again.stack;
            (Error::Eval(failed), true)
        }
        _ => (Error::Eval(failed), false),
    }
}

impl Subject for (&QueryInner, EvalEnv<'_>) {
    fn eval_env(&self) -> EvalEnv<'_> {
        self.1
    }

    fn search_error(&self, request: &Request<'_>) -> Option<Box<EvalError>> {
        search_error(self.1, request, self.0, QueryInner::question)
    }
}

impl Subject for EvalTarget<'_> {
    fn eval_env(&self) -> EvalEnv<'_> {
        self.env
    }

    fn search_error(&self, request: &Request<'_>) -> Option<Box<EvalError>> {
        let subject = DocumentQuery {
            body: vec![self.expression()],
            originals: HashMap::new(),
        };
        search_error(self.env, request, &subject, |subject| TopdownQuery {
            body: &subject.body,
            originals: &subject.originals,
            variables: &[],
        })
    }
}

impl QueryInner {
    /// Returns the query in the form that the tracing evaluator takes.
    pub(crate) fn question(&self) -> TopdownQuery<'_> {
        TopdownQuery {
            body: &self.body,
            originals: &self.originals,
            variables: &self.outputs,
        }
    }
}

/// A query that names a document, for the tracing evaluator.
struct DocumentQuery {
    body: Vec<Expr>,
    originals: HashMap<Name, Name>,
}

impl EvalTarget<'_> {
    /// Returns the reference that names the document.
    fn expression(self) -> Expr {
        let span = Span {
            row: 1,
            col: 1,
            ..Span::default()
        };
        let steps = self.handle.names.iter().map(|name| {
            let text = name.borrow();
            let text = text.text_or_empty();
            Term::string(text.to_str().into_owned(), span)
        });
        let terms = std::iter::once(Term::var("data", span)).chain(steps);
        let reference = Term::new(TermKind::Ref(terms.collect()), span);
        Expr::new(ExprKind::Term(reference), span)
    }
}

/// Returns the error of a search, with the queries that were running.
fn search_error<T>(
    env: EvalEnv<'_>,
    request: &Request<'_>,
    subject: &T,
    question: impl for<'e> FnOnce(&'e T) -> TopdownQuery<'e>,
) -> Option<Box<EvalError>> {
    // the search gets the remaining budget of the failed evaluation, limited by the worth of a traceback
    let left = request.replay_state?;
    let limits = Limits {
        steps: Some(left.steps.min(limits::TRACEBACK_STEPS)),
        time: None,
        until: left.deadline,
        ..request.bounds(env.shared).clone()
    };
    let request = request.limits(&limits);
    let how = SearchOptions::default();
    let found = search(env, &request, how, subject, |walk, subject| {
        let mut walk = walk.repeating();
        let error = walk.solutions(&question(subject)).err();
        Ok(error.map(|mut error| {
            error.stack = walk.stack();
            error
        }))
    });
    found.ok().flatten()
}

/// Buffers printed lines until it is known whether the search prints them again.
struct BufferedPrints<'p> {
    print: &'p dyn Fn(&str),
    buffer: RefCell<PrintBuffer>,
}

#[derive(Default)]
struct PrintBuffer {
    lines: Vec<String>,
    bytes: usize,
    released: bool,
}

impl<'p> BufferedPrints<'p> {
    fn new(print: &'p dyn Fn(&str)) -> Self {
        Self {
            print,
            buffer: RefCell::default(),
        }
    }

    fn add(&self, line: &str) {
        let mut held = self.buffer.borrow_mut();
        held.bytes += line.len();
        if held.bytes > limits::BUFFERED_PRINTS {
            drop(held);
            self.release();
            (self.print)(line);
        } else {
            held.lines.push(line.to_owned());
        }
    }

    /// Prints all buffered lines, and each later line at once.
    fn release(&self) {
        let mut held = self.buffer.borrow_mut();
        held.released = true;
        let lines = std::mem::take(&mut held.lines);
        drop(held);
        for line in lines {
            (self.print)(&line);
        }
    }

    fn is_released(&self) -> bool {
        self.buffer.borrow().released
    }
}
