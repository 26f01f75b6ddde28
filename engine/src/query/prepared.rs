//! Compiled queries, prepared for any policy or pinned to a snapshot.

use std::sync::Arc;

use hashbrown::HashMap;
use solon_syntax::ast::{Body, Name};
use solon_syntax::source::Source;

use super::eval_setup::{builtin_context, eval_context, input_source};
use super::search::with_replay;
use super::{
    EngineShared, EvalEnv, ExpressionText, Pinned, Recompiling, Request, Solution, start,
    within_bounds,
};
use crate::error::Error;
use crate::eval::Machine;
use crate::program::Plan;
use crate::program::canonical::Keyed;
use crate::snapshot::{Snapshot, SnapshotState};
use crate::value::{Repr, Value, ValueRef};

/// Source of the value of an expression in a solution.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expression {
    /// Captured after the variables, at this position.
    Captured(usize),
    /// The expression has no value of its own, and counts as `true`.
    AlwaysTrue,
}

/// A compiled query. After a change of the engine's modules it is compiled again on its next use.
///
/// ```
/// use solon::{Engine, Request};
///
/// let engine = Engine::new();
/// engine.put("data.users", solon::value!({"alice": 1, "bob": 5}))?;
/// let query = engine.prepare_query("data.users[name] > input.least")?;
/// let found = query.solutions(&Request::new().input_json(br#"{"least": 3}"#))?;
/// assert_eq!(found.len(), 1);
/// assert_eq!(found[0].bindings, [("name".into(), "bob".into())]);
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone)]
pub struct PreparedQuery {
    pub(crate) handle: Arc<Recompiling<QueryInner>>,
}

/// A query compiled for one policy.
pub(crate) struct QueryInner {
    pub plan: Plan,
    pub constants: Vec<Value>,
    /// Names in the query's text, in the order of the plan's terminator.
    pub variables: Vec<Name>,
    pub expressions: Vec<Expression>,
    pub texts: Vec<ExpressionText>,
    /// Names of the variables in the canonical body, followed by the captured values.
    pub outputs: Vec<Name>,
    pub source: Source,
    pub body: Body,
    /// Maps generated locals to the user's names.
    pub originals: HashMap<Name, Name>,
    /// Its comprehensions that are evaluated once and then looked up by key.
    pub keyed: Keyed,
    /// `true` if an evaluation may wait for the host.
    pub may_block: bool,
}

impl PreparedQuery {
    /// Returns the query pinned to the current snapshot.
    ///
    /// # Errors
    /// [`Error::Compile`] if it no longer compiles.
    pub fn pin(&self) -> Result<PinnedQuery, Error> {
        self.handle.pin().map(PinnedQuery)
    }

    /// Returns the query pinned to a snapshot.
    ///
    /// # Errors
    /// [`Error::Compile`] if it does not compile with that policy.
    pub fn pin_to(&self, snapshot: &Snapshot) -> Result<PinnedQuery, Error> {
        self.handle.pin_to(snapshot).map(PinnedQuery)
    }

    /// Returns the query pinned to the snapshot of a request, by default the current one. Recompiles it if the policy
    /// differs.
    pub(crate) fn pin_for(&self, request: &Request<'_>) -> Result<PinnedQuery, Error> {
        self.handle.pin_for(request).map(PinnedQuery)
    }

    /// Returns `true` if an evaluation may wait for the host (`http.send`, `net.lookup_ip_addr`). Then it must not run
    /// on a thread that others wait for. Returns `false` if the query no longer compiles.
    pub fn may_block(&self) -> bool {
        self.pin().is_ok_and(|bound| bound.may_block())
    }

    /// Returns all solutions in the order they are found.
    ///
    /// # Errors
    /// [`Error::Eval`] if the evaluation fails, [`Error::Input`] if the input is not valid, [`Error::Compile`] if the
    /// policy has changed and the query no longer compiles.
    pub fn solutions(&self, request: &Request<'_>) -> Result<Vec<Solution>, Error> {
        let handle = &*self.handle;
        handle.shared.with_snapshot(request, |state| {
            handle.with_prepared(&state.policy, |inner| {
                inner.solutions(inner.eval_env(&handle.shared, state), request)
            })
        })
    }
}

/// A query pinned to a snapshot.
///
/// ```
/// use solon::{Engine, Request};
///
/// let engine = Engine::new();
/// engine.put("data.users", solon::value!(["alice", "bob"]))?;
/// let users = engine.prepare_query("user := data.users[_]")?.pin()?;
/// engine.remove("data.users")?;
/// assert_eq!(users.solutions(&Request::new())?.len(), 2);
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone)]
pub struct PinnedQuery(pub(crate) Pinned<QueryInner>);

impl PinnedQuery {
    /// Returns the snapshot that all evaluations of this query use.
    pub fn snapshot(&self) -> &Snapshot {
        &self.0.snapshot
    }

    /// Returns the query's expressions, in the order of [`Solution::values`].
    pub fn expressions(&self) -> &[ExpressionText] {
        &self.0.prepared.texts
    }

    /// Returns `true` if an evaluation may wait for the host (`http.send`, `net.lookup_ip_addr`). Then it must not run
    /// on a thread that others wait for.
    pub fn may_block(&self) -> bool {
        self.0.prepared.may_block
    }

    /// Returns all solutions in the order they are found.
    ///
    /// # Errors
    /// [`Error::Eval`] if the evaluation fails, [`Error::Input`] if the input is not valid.
    pub fn solutions(&self, request: &Request<'_>) -> Result<Vec<Solution>, Error> {
        self.0.prepared.solutions(self.eval_env(), request)
    }

    pub(crate) fn eval_env(&self) -> EvalEnv<'_> {
        let Pinned {
            shared,
            snapshot,
            prepared,
        } = &self.0;
        prepared.eval_env(shared, snapshot.state())
    }
}

impl QueryInner {
    pub(crate) fn eval_env<'b>(
        &'b self,
        shared: &'b EngineShared,
        state: &'b SnapshotState,
    ) -> EvalEnv<'b> {
        EvalEnv {
            shared,
            state,
            constants: &self.constants,
            may_block: self.may_block,
        }
    }

    fn solutions(&self, env: EvalEnv<'_>, request: &Request<'_>) -> Result<Vec<Solution>, Error> {
        with_replay((self, env), request, |request, replay| {
            start(env.shared, request, |memory| {
                let arena = &memory.arena;
                let input = input_source(arena, request)?;
                // a single expression, so that the machine is constructed in place
                let mut machine = Machine::new(
                    eval_context(env, input, request),
                    builtin_context(arena, env, request),
                    memory.caches(env),
                );
                let rows = machine.solutions(&self.plan);
                if rows.is_err() {
                    replay.keep(&mut machine.call);
                }
                let rows = rows?;
                let solutions = rows.iter().filter_map(|row| self.solution(row)).collect();
                within_bounds(arena)?;
                Ok(solutions)
            })
        })
    }

    pub(crate) fn solution(&self, row: &[ValueRef<'_>]) -> Option<Solution> {
        let mut values = Vec::with_capacity(self.expressions.len());
        for expression in &self.expressions {
            values.push(match expression {
                Expression::Captured(at) => row.get(self.variables.len() + at)?.to_value(),
                Expression::AlwaysTrue => Value(Repr::Bool(true)),
            });
        }
        let bindings = self
            .variables
            .iter()
            .cloned()
            .zip(row.iter().map(|value| value.to_value()))
            .collect();
        Some(Solution { bindings, values })
    }
}
