//! What an evaluation is set up with: memory, documents, input, and the surroundings of built-ins.

use std::cell::Cell;
use std::sync::Arc;

use super::{Input, Request, Shared};
use crate::builtins::{Budget, Call, Capabilities};
use crate::error::Error;
use crate::eval::{Given, World};
use crate::evaluation::EvalError;
use crate::limits;
use crate::program::Program;
use crate::store::Snapshot;
use crate::value::{Arena, Excess, Value, json};

thread_local! {
    /// The memory of this thread's last evaluation, ready for the next.
    static ARENA: Cell<Option<Box<Arena>>> = const { Cell::new(None) };
}

/// What is asked: an engine, by one of its programs.
pub(crate) struct Basis {
    pub shared: Arc<Shared>,
    pub program: Arc<Program>,
    /// Whether an evaluation may ask the outside.
    pub may_block: bool,
}

impl Basis {
    /// With the constants of a query, which stand behind those of the program.
    pub fn prepared<'p>(&'p self, constants: &'p [Value]) -> Prepared<'p> {
        Prepared {
            shared: &self.shared,
            program: &self.program,
            constants,
        }
    }
}

/// What a prepared query or document brings along.
#[derive(Clone, Copy)]
pub(crate) struct Prepared<'p> {
    pub shared: &'p Shared,
    pub program: &'p Program,
    pub constants: &'p [Value],
}

/// Runs something with memory and the documents that a request asks about.
pub(crate) fn with_memory<R>(
    shared: &Shared,
    request: &Request<'_>,
    run: impl FnOnce(&Arena, &Snapshot) -> Result<R, Error>,
) -> Result<R, Error> {
    let mut arena = ARENA.take().unwrap_or_default();
    let result = stacker::maybe_grow(
        limits::VALUE_STACK,
        2 * limits::VALUE_STACK,
        || match request.snapshot {
            Some(snapshot) => run(&arena, snapshot),
            None => run(&arena, &shared.current.load()),
        },
    );
    arena.reset();
    if arena.bytes() <= limits::KEPT_ARENA {
        ARENA.set(Some(arena));
    }
    result
}

/// What an evaluation reads and uses.
pub(crate) fn surroundings<'e>(
    arena: &'e Arena,
    prepared: Prepared<'e>,
    snapshot: &'e Snapshot,
    request: &'e Request<'_>,
) -> Result<(World<'e>, Call<'e>), Error> {
    let input = given(arena, request)?;
    Ok((
        world(prepared, snapshot, input, request),
        call(arena, prepared, request),
    ))
}

/// The input of a request, read if it is text.
#[inline]
pub(super) fn given<'e>(
    arena: &'e Arena,
    request: &'e Request<'_>,
) -> Result<Option<Given<'e>>, Error> {
    match request.input {
        Input::Undefined => Ok(None),
        Input::Value(value) => Ok(Some(Given::Value(value))),
        Input::Json(text) => match json::read_into(arena, text) {
            Ok(read) => Ok(Some(Given::Read(read))),
            Err(error) => Err(Error::Input(error.to_string())),
        },
    }
}

#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "it is made where it stays, without a copy on the way"
)]
pub(super) fn world<'e>(
    prepared: Prepared<'e>,
    snapshot: &'e Snapshot,
    input: Option<Given<'e>>,
    request: &Request<'_>,
) -> World<'e> {
    World {
        program: prepared.program,
        query_constants: prepared.constants,
        data: snapshot.root(),
        input,
        strict: request.strict_builtin_errors,
    }
}

#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "it is made where it stays, without a copy on the way"
)]
pub(super) fn call<'e>(
    arena: &'e Arena,
    prepared: Prepared<'e>,
    request: &'e Request<'_>,
) -> Call<'e> {
    let shared = prepared.shared;
    let limits = request.limits.unwrap_or(&shared.limits);
    let budget = Budget::new(limits, arena, request.cancel);
    let mut call = Call::new(arena, &*shared.host, &shared.patterns, budget);
    call.print = request.print;
    call.nd_cache = request.nd_cache;
    call.send_metrics = request.send_metrics;
    let capabilities = shared.capabilities.as_deref();
    call.allow_net = capabilities.and_then(Capabilities::allow_net);
    call.graphs = Some(&shared.graphs);
    call.responses = Some(&shared.responses);
    call.files = Some(&prepared.program.files);
    call
}

/// Refuses what a value became that was nested too deeply, or had too many parts, and what was left unfinished.
#[inline]
pub(crate) fn within_bounds(arena: &Arena) -> Result<(), Error> {
    if let Some(why) = arena.ended() {
        return Err(Error::Eval(Box::new(EvalError::ended(why))));
    }
    match arena.excess() {
        None => Ok(()),
        Some(Excess::Depth) => Err(Error::Eval(Box::new(EvalError::too_deep()))),
        Some(Excess::Parts) => Err(Error::Eval(Box::new(EvalError::too_large()))),
    }
}
