//! Documents at fixed paths of `data`.

mod entry;
mod pinned;

use std::sync::Arc;

use parking_lot::Mutex;

use super::eval_setup::{builtin_context, eval_context, input_source};
use super::fast_path::FastPathStats;
use super::replay::Replay;
use super::search::with_replay;
use super::{EngineShared, EvalEnv, PreparedQuery, Request, start, within_bounds};
use crate::bug::{self, Within as _};
use crate::compile::input_reads;
use crate::error::Error;
use crate::eval::{FastResult, InputSource, Machine};
use crate::limits;
use crate::runtime::{EvalError, base_child};
use crate::snapshot::{Policy, Snapshot, SnapshotState};
use crate::store::{DataSnapshot, Path};
use crate::trace::Timer;
use crate::value::json::{self, TooLong};
use crate::value::{RefRepr, Repr, Value, ValueRef};
use entry::EntryCache;
pub(super) use entry::ResolvedEntry;
pub use pinned::PinnedDocument;

/// The document at a fixed path of `data`. After a change of the engine's modules its rules are resolved again on its
/// next use.
///
/// ```
/// use solon::{Engine, Request};
///
/// let engine = Engine::new();
/// engine.set_module("p.rego", "package p\ndouble := input.n * 2")?;
/// let double = engine.prepare_document("data.p.double")?;
/// let answer = double.evaluate_json(&Request::new().input_json(br#"{"n": 21}"#))?;
/// assert_eq!(answer.as_deref(), Some(&b"42"[..]));
/// assert_eq!(double.evaluate(&Request::new())?, None, "without an input it is undefined");
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone)]
pub struct PreparedDocument {
    pub(crate) handle: Arc<DocumentHandle>,
}

pub(crate) struct DocumentHandle {
    pub shared: Arc<EngineShared>,
    /// Compiles queries for operations other than plain evaluation.
    pub queries: Arc<dyn QueryCompiler>,
    /// The path, as keys of `data`.
    pub names: Vec<Value>,
    /// The steps of the path that may be array indices.
    indices: Vec<Option<i64>>,
    /// Cached position of its rules.
    entry_cache: EntryCache,
    pub fast_path_stats: FastPathStats,
    /// Result of [`PinnedDocument::may_read_input`] for the key that was requested last.
    input_read: Mutex<Option<InputRead>>,
    /// Compiled queries that name the document.
    searches: Mutex<Vec<(String, PreparedQuery)>>,
}

/// Result of [`PinnedDocument::may_read_input`] for one policy and key.
struct InputRead {
    /// Version id of the policy.
    policy: u64,
    key: Box<str>,
    may_read: bool,
}

pub(crate) trait QueryCompiler: Send + Sync {
    fn query(&self, text: &str, timer: Timer<'_>) -> Result<PreparedQuery, Error>;
}

/// Returns the document that a step of a path leads to: an index in an array, a name in an object.
fn child_at<'e>(
    document: ValueRef<'e>,
    name: ValueRef<'e>,
    index: Option<i64>,
) -> Option<ValueRef<'e>> {
    let index = index.map(|it| ValueRef(RefRepr::Int(it)));
    match document {
        ValueRef(RefRepr::Array(_) | RefRepr::ArenaArray(_)) => document.lookup(index?),
        _ => document.lookup(name).or_else(|| document.lookup(index?)),
    }
}

impl PreparedDocument {
    pub(crate) fn new(
        shared: Arc<EngineShared>,
        queries: Arc<dyn QueryCompiler>,
        path: &Path,
    ) -> Self {
        let segments = || path.segments().iter();
        Self {
            handle: Arc::new(DocumentHandle {
                shared,
                queries,
                names: segments().map(|segment| Value::string(segment)).collect(),
                indices: segments().map(|segment| segment.parse().ok()).collect(),
                entry_cache: EntryCache::default(),
                fast_path_stats: FastPathStats::default(),
                input_read: Mutex::default(),
                searches: Mutex::default(),
            }),
        }
    }

    /// Returns the document pinned to the current snapshot.
    pub fn pin(&self) -> PinnedDocument {
        self.pin_to(&Snapshot::new(self.handle.shared.now.pin()))
    }

    /// Returns the document pinned to a snapshot. Copies no document and no policy.
    pub fn pin_to(&self, snapshot: &Snapshot) -> PinnedDocument {
        PinnedDocument {
            document: self.clone(),
            snapshot: snapshot.clone(),
        }
    }

    /// Evaluates the document, or returns `None` if it is undefined.
    ///
    /// # Errors
    /// [`Error::Eval`] if the evaluation fails, [`Error::Input`] if the input is not valid.
    pub fn evaluate(&self, request: &Request<'_>) -> Result<Option<Value>, Error> {
        self.evaluate_with(request, |value| value.to_value())
    }

    /// Evaluates the document to JSON text of the request's style, without an intermediate value.
    ///
    /// # Errors
    /// Errors of [`Self::evaluate`].
    pub fn evaluate_json(&self, request: &Request<'_>) -> Result<Option<Vec<u8>>, Error> {
        let style = request.style.copied().unwrap_or_default();
        let longest = request.bounds(&self.handle.shared).memory;
        let longest = longest.unwrap_or(usize::MAX).min(limits::RESULT_BYTES);
        let text = self.evaluate_with(request, |value| {
            let mut text = Vec::with_capacity(64);
            json::write_within(value, style, longest, &mut text).map(|()| text)
        })?;
        text.transpose()
            .map_err(|TooLong| Error::Eval(Box::new(EvalError::too_large())))
    }

    /// Returns the document if it exists now ([`Self::exists`]). Finds misspelt paths.
    ///
    /// ```
    /// use solon::{Engine, Error};
    ///
    /// let engine = Engine::new();
    /// engine.set_module("p.rego", "package authz\nallow if input.admin")?;
    /// assert!(engine.prepare_document("data.authz.allow")?.must_exist().is_ok());
    /// let misspelt = engine.prepare_document("data.authz.alow")?.must_exist();
    /// assert!(matches!(misspelt, Err(Error::UnknownPath(_))));
    /// # Ok::<(), solon::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::UnknownPath`].
    pub fn must_exist(self) -> Result<Self, Error> {
        if self.exists() {
            Ok(self)
        } else {
            Err(Error::UnknownPath(self.handle.path()))
        }
    }

    /// Returns `true` if there is currently a rule or a base document at the path, above it or below it. Otherwise the
    /// document is undefined because nothing defines it.
    pub fn exists(&self) -> bool {
        self.handle.exists(&self.handle.shared.now.pin())
    }

    /// Returns `true` if the policy has a rule, or the documents have a value, at the path, above it or below it.
    pub(crate) fn is_defined_in(&self, policy: &Policy, documents: &DataSnapshot) -> bool {
        self.handle.has_rules(policy) || self.handle.has_base(documents)
    }

    /// Evaluates the document as a decision: `true` only if its value is exactly `true`. Undefined and every other
    /// value are `false`.
    ///
    /// ```
    /// use solon::{Engine, Request};
    ///
    /// let engine = Engine::new();
    /// engine.set_module("p.rego", "package p\n\nallow if input.user == \"alice\"\n\nreason := \"true\"")?;
    /// let request = Request::new().input_json(br#"{"user": "alice"}"#);
    /// assert!(engine.prepare_document("data.p.allow")?.allow(&request)?);
    /// assert!(!engine.prepare_document("data.p.reason")?.allow(&request)?);
    /// assert!(!engine.prepare_document("data.p.alow")?.allow(&request)?);
    /// # Ok::<(), solon::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`Self::evaluate`]. Treat an error as a denial.
    pub fn allow(&self, request: &Request<'_>) -> Result<bool, Error> {
        let is_true = self.evaluate_with(request, |value| {
            matches!(value, ValueRef(RefRepr::Bool(true)))
        })?;
        Ok(is_true == Some(true))
    }

    /// Evaluates the document and calls `read` with it, without a copy.
    ///
    /// # Errors
    /// Errors of [`Self::evaluate`].
    pub fn evaluate_with<R>(
        &self,
        request: &Request<'_>,
        read: impl FnOnce(ValueRef<'_>) -> R,
    ) -> Result<Option<R>, Error> {
        let handle = &*self.handle;
        handle.shared.with_snapshot(request, |state| {
            handle.evaluate_at(handle.resolve(state), state, request, read)
        })
    }

    /// Returns `true` if an evaluation may wait for the host (`http.send`, `net.lookup_ip_addr`). Then it must not run
    /// on a thread that others wait for.
    pub fn may_block(&self) -> bool {
        let handle = &*self.handle;
        handle
            .shared
            .now
            .with_snapshot(None, |state| handle.resolve(state).may_block())
    }

    /// Returns `true` if rules define the document or a part of it.
    pub fn has_rules(&self) -> bool {
        let handle = &*self.handle;
        handle
            .shared
            .now
            .with_snapshot(None, |state| handle.has_rules(&state.policy))
    }
}

/// A document with its position in a policy, and the environment to evaluate it in.
#[derive(Clone, Copy)]
pub(crate) struct EvalTarget<'a> {
    pub handle: &'a DocumentHandle,
    entry: ResolvedEntry,
    pub env: EvalEnv<'a>,
}

impl DocumentHandle {
    /// Returns the path, below `data`. Steps that are not strings are omitted.
    pub fn path(&self) -> Path {
        let texts = self.names.iter().filter_map(Value::as_str);
        Path::new(texts)
    }

    /// Returns a query that names the document, or its compile error. It is compiled once; the first caller's timer
    /// measures that.
    pub fn search_query(&self, text: String, timer: Timer<'_>) -> Result<PreparedQuery, Error> {
        let known = |searches: &[(String, PreparedQuery)]| {
            let mut searches = searches.iter();
            let found = searches.find(|(known, _)| *known == text);
            found.map(|(_, query)| query.clone())
        };
        if let Some(query) = known(&self.searches.lock()) {
            return Ok(query);
        }
        let query = self.queries.query(&text, timer)?;
        let mut searches = self.searches.lock();
        if known(&searches).is_none() {
            searches.push((text, query.clone()));
        }
        Ok(query)
    }

    /// Returns the position of the document in the policy of a snapshot.
    #[inline]
    fn resolve(&self, state: &SnapshotState) -> ResolvedEntry {
        let policy = &*state.policy;
        self.entry_cache.get(policy.version_id).unwrap_or_else(|| {
            let compiled = &policy.compiled;
            let may_block = compiled.blocking.reaches(&compiled.rule_tree, &self.names);
            let found = ResolvedEntry::new(&policy.program, &self.names, may_block);
            if self.entry_cache.insert(policy.version_id, found) {
                self.fast_path_stats.reset();
            }
            found
        })
    }

    /// Evaluates the document, on the fast path if possible.
    #[inline]
    fn evaluate_at<R>(
        &self,
        found: ResolvedEntry,
        state: &SnapshotState,
        request: &Request<'_>,
        read: impl FnOnce(ValueRef<'_>) -> R,
    ) -> Result<Option<R>, Error> {
        let mut glimpse = FastResult::Unsure;
        bug::catch(|| glimpse = self.fast_path(found, state, request)).map_err(Error::Internal)?;
        match glimpse {
            // most decisions are Booleans, which need no dispatch on the kind of value
            FastResult::Stored(Value(Repr::Bool(bool))) => {
                Ok(Some(read(ValueRef(RefRepr::Bool(*bool)))))
            }
            FastResult::Stored(value) => Ok(Some(read(value.borrow()))),
            FastResult::Document(value) => Ok(Some(read(value))),
            FastResult::Undefined => Ok(None),
            FastResult::Unsure => self.evaluate_with_machine(found, state, request, read),
        }
    }

    #[inline(never)]
    fn evaluate_with_machine<R>(
        &self,
        found: ResolvedEntry,
        state: &SnapshotState,
        request: &Request<'_>,
        read: impl FnOnce(ValueRef<'_>) -> R,
    ) -> Result<Option<R>, Error> {
        let asked = EvalTarget {
            handle: self,
            entry: found,
            env: EvalEnv {
                shared: &self.shared,
                state,
                constants: &[],
                may_block: found.may_block(),
            },
        };
        with_replay(asked, request, |request, replay| {
            asked.evaluate(request, replay, read)
        })
    }

    /// Returns `true` if there is a rule or a base document at the path.
    fn exists(&self, state: &SnapshotState) -> bool {
        self.has_rules(&state.policy) || self.has_base(&state.documents)
    }

    fn has_base(&self, documents: &DataSnapshot) -> bool {
        let mut steps = self.names.iter().zip(&self.indices);
        let root = documents.root().borrow();
        steps
            .try_fold(root, |document, (name, index)| {
                base_child(document, name.borrow())
                    .or_else(|| child_at(document, name.borrow(), *index))
            })
            .is_some()
    }

    fn may_read_input(&self, state: &SnapshotState, key: &str) -> bool {
        let policy = &*state.policy;
        let mut known = self.input_read.lock();
        if let Some(known) = &*known
            && known.policy == policy.version_id
            && &*known.key == key
        {
            return known.may_read;
        }
        let may_read = input_reads::may_read(&policy.compiled, &self.names, key);
        *known = Some(InputRead {
            policy: policy.version_id,
            key: key.into(),
            may_read,
        });
        may_read
    }

    fn has_rules(&self, policy: &Policy) -> bool {
        let tree = &policy.program.tree;
        let mut node = 0;
        for name in &self.names {
            if tree.node(node).is_some_and(|node| node.rule.is_some()) {
                return true;
            }
            let Some(child) = tree.child(node, name.borrow()) else {
                return false;
            };
            node = child;
        }
        true
    }
}

impl<'a> EvalTarget<'a> {
    fn evaluate<R>(
        self,
        request: &Request<'_>,
        replay: &Replay,
        read: impl FnOnce(ValueRef<'_>) -> R,
    ) -> Result<Option<R>, Error> {
        start(self.env.shared, request, |memory| {
            let arena = &memory.arena;
            let input = input_source(arena, request)?;
            let glimpse = match (input, self.handle.fast_path_rule(self.entry, request)) {
                (Some(InputSource::Read(_)), Some(rule)) => {
                    self.handle
                        .run_fast_path(rule, input, self.env.state, request)
                }
                _ => FastResult::Unsure,
            };
            let found = match glimpse {
                FastResult::Stored(value) => Some(read(value.borrow())),
                FastResult::Document(value) => Some(read(value)),
                FastResult::Undefined => None,
                FastResult::Unsure => {
                    // a single expression, so that the machine is constructed in place
                    let mut machine = Machine::new(
                        eval_context(self.env, input, request),
                        builtin_context(arena, self.env, request),
                        memory.caches(self.env),
                    );
                    let found = self.document(&mut machine);
                    if found.is_err() {
                        replay.keep(&mut machine.call);
                    }
                    found?.map(read)
                }
            };
            within_bounds(arena)?;
            Ok(found)
        })
    }

    #[inline]
    fn document<'e>(&self, machine: &mut Machine<'e>) -> Result<Option<ValueRef<'e>>, Error>
    where
        'a: 'e,
    {
        let named = machine.entry(self.entry.entry_point(&self.handle.names))?;
        if named.is_some() {
            return Ok(named);
        }
        self.element_at_path(machine)
    }

    /// Returns the value at a path that does not resolve by names: it may lead through an array.
    #[inline(never)]
    fn element_at_path<'e>(&self, machine: &mut Machine<'e>) -> Result<Option<ValueRef<'e>>, Error>
    where
        'a: 'e,
    {
        let DocumentHandle { names, indices, .. } = self.handle;
        let Some(at) = indices.iter().position(Option::is_some) else {
            return Ok(None);
        };
        let names: smallvec::SmallVec<[ValueRef<'_>; 8]> =
            names.iter().map(Value::borrow).collect();
        let (above, rest) = (names.within(..at), names.within(at..));
        let above = machine.document_at(above)?;
        let mut steps = rest.iter().zip(indices.iter().skip(at));
        Ok(steps
            .try_fold(above, |document, (name, index)| {
                Some(child_at(document?, *name, *index))
            })
            .flatten())
    }
}
