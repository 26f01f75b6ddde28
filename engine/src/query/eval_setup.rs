//! Setup of an evaluation: memory, documents, input and the context of built-ins.

use super::memory::{EvalMemory, with_memory};
use super::{EngineShared, Input, Request};
use crate::builtins::{Budget, BuiltinContext, Capabilities};
use crate::error::{Error, InputError};
use crate::eval::{EvalContext, InputSource};
use crate::program::Program;
use crate::runtime::EvalError;
use crate::snapshot::SnapshotState;
use crate::value::{Arena, Excess, Value, json};

/// The environment of an evaluation: an engine and one of its snapshots.
#[derive(Clone, Copy)]
pub(crate) struct EvalEnv<'b> {
    pub shared: &'b EngineShared,
    pub state: &'b SnapshotState,
    /// The constants of a query, which follow those of the program.
    pub constants: &'b [Value],
    /// `true` if an evaluation may wait for the host.
    pub may_block: bool,
}

impl<'b> EvalEnv<'b> {
    pub fn program(self) -> &'b Program {
        &self.state.policy.program
    }
}

/// Calls `run` with memory to evaluate in, within the limits of the request.
///
/// # Errors
/// Errors of `run`. Fails without calling it if the request is cancelled or has no time left.
pub(crate) fn start<R>(
    shared: &EngineShared,
    request: &Request<'_>,
    run: impl FnOnce(&EvalMemory) -> Result<R, Error>,
) -> Result<R, Error> {
    request.check_start(shared)?;
    with_memory(request.bounds(shared), run)
}

/// Returns the contexts of an evaluation and of its built-ins.
///
/// # Errors
/// The input is not valid JSON.
pub(crate) fn eval_setup<'e>(
    arena: &'e Arena,
    env: EvalEnv<'e>,
    request: &'e Request<'_>,
) -> Result<(EvalContext<'e>, BuiltinContext<'e>), Error> {
    let input = input_source(arena, request)?;
    let mut call = builtin_context(arena, env, request);
    if let Some(left) = request.replay_state {
        call.resume(left);
    }
    Ok((eval_context(env, input, request), call))
}

/// Returns the input of a request, parsed if it is text.
#[inline]
pub(super) fn input_source<'e>(
    arena: &'e Arena,
    request: &'e Request<'_>,
) -> Result<Option<InputSource<'e>>, Error> {
    let mut laps = request.timer.start();
    let read = match request.input {
        Input::Undefined => return Ok(None),
        Input::Value(value) => return Ok(Some(InputSource::Value(value))),
        Input::Json(text) => match json::read_into(arena, text) {
            Ok(read) => Ok(Some(InputSource::Read(read))),
            Err(error) => Err(Error::Input(InputError::of_input(error, text))),
        },
        Input::Member { text, name } => match json::read_member(arena, text, name) {
            Ok(member) => Ok(member.map(InputSource::Read)),
            Err(words) => Err(Error::Input(InputError::new(words))),
        },
    };
    laps.end(|| "rego_input_parse".to_owned());
    read
}

#[inline]
pub(super) fn eval_context<'e>(
    env: EvalEnv<'e>,
    input: Option<InputSource<'e>>,
    request: &Request<'_>,
) -> EvalContext<'e> {
    EvalContext {
        program: env.program(),
        query_constants: env.constants,
        data: env.state.documents.root(),
        input,
        strict: request.strict_builtin_errors,
    }
}

#[inline]
pub(super) fn builtin_context<'e>(
    arena: &'e Arena,
    env: EvalEnv<'e>,
    request: &'e Request<'_>,
) -> BuiltinContext<'e> {
    let shared = env.shared;
    let limits = request.bounds(shared);
    let budget = Budget::new(limits, arena, request.cancel).with_hooks(&request.hooks);
    let mut call = BuiltinContext::new(arena, &*shared.host, &shared.patterns, budget);
    call.hooks = &request.hooks;
    let capabilities = shared.capabilities.as_deref();
    call.allow_net = capabilities.and_then(Capabilities::allow_net);
    call.graphs = Some(&shared.graphs);
    call.responses = Some(&shared.responses);
    call.signatures = Some(&shared.signatures);
    call.files = Some(&env.program().files);
    call
}

/// Fails if a value exceeded the limits of nesting or size, or if a long step was interrupted.
#[inline]
pub(crate) fn within_bounds(arena: &Arena) -> Result<(), Error> {
    if let Some(why) = arena.ended() {
        return Err(Error::Eval(Box::new(EvalError::ended(why))));
    }
    match arena.excess() {
        None => Ok(()),
        Some(Excess::Depth) => Err(Error::Eval(Box::new(EvalError::too_deep()))),
        Some(Excess::Nodes) => Err(Error::Eval(Box::new(EvalError::too_large()))),
    }
}
