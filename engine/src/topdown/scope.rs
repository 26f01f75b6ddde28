//! `with`: input, documents and functions as one expression sees them.

use std::cell::OnceCell;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use solon_syntax::ast::{Expr, Term, TermKind};
use solon_syntax::source::Span;

use super::calls::{ResolvedOperator, operator_name};
use super::documents::DataPath;
use super::keyed::SolutionTables;
use super::machine::{Continuation, Goal, SearchResult, Topdown};
use super::term::{NO_VALUE, TermRef};
use crate::bug::bug;
use crate::builtins::BuiltinFn;
use crate::limits;
use crate::program::document_path;
use crate::runtime::{EvalError, Halt, Overlay, Patches, no_document, overlay};
use crate::value::{ValueRef, order};

/// Results of rules and functions by path and arguments; `None` means undefined.
type ResultCache<'e> =
    hashbrown::HashMap<Box<[ValueRef<'e>]>, Option<ValueRef<'e>>, foldhash::fast::RandomState>;

/// Key of a partial request: the known path, then the steps up to the last known one, with `None` for variables.
pub(super) type Narrow<'e> = (DataPath<'e>, Vec<Option<ValueRef<'e>>>);

/// Documents by partial request.
type Narrowed<'e> = hashbrown::HashMap<Narrow<'e>, ValueRef<'e>, foldhash::fast::RandomState>;

/// Input, documents and functions as one expression sees them.
#[derive(Default)]
pub(super) struct TopdownScope<'e> {
    /// Input document, if there is one.
    pub input: Option<ValueRef<'e>>,
    pub overlay: Option<Rc<Overlay<'e>>>,
    /// Replaced functions; later entries win.
    pub mocks: Option<Rc<Vec<Mocked<'e>>>>,
    pub memo: ResultCache<'e>,
    /// Cached parts of documents that rules build piece by piece.
    pub narrowed: Narrowed<'e>,
    /// Cached solutions of comprehensions.
    pub tables: SolutionTables<'e>,
    identity: OnceCell<Rc<ScopeIdentity<'e>>>,
}

/// Identity of a scope: everything that `with` replaces in it.
pub(super) struct ScopeIdentity<'e> {
    input: Option<ValueRef<'e>>,
    overlay: Option<Rc<Overlay<'e>>>,
    mocks: Option<Rc<Vec<Mocked<'e>>>>,
    /// Hash of the input, the replaced documents and the names of the replaced functions.
    hash: u64,
}

impl PartialEq for ScopeIdentity<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
            && self.input == other.input
            && self.overlay == other.overlay
            && self.mocks == other.mocks
    }
}

impl Eq for ScopeIdentity<'_> {}

impl Hash for ScopeIdentity<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

#[derive(Clone, PartialEq)]
pub(super) struct Mocked<'e> {
    /// Dotted name of the function.
    pub name: String,
    /// The function as written in the modifier.
    pub target: &'e Term,
    pub mock: FunctionMock<'e>,
}

/// Replacement of a function: another function or a value.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum FunctionMock<'e> {
    /// Another function or built-in, by its operator.
    Callee(&'e Term),
    Value(ValueRef<'e>),
}

/// Kind of target that `with` replaces, which decides where the replacement is stored.
pub(super) enum ReplacedTarget {
    Input,
    Data,
    Function,
}

impl<'e> TopdownScope<'e> {
    pub fn forget(&mut self) {
        self.memo.clear();
        self.narrowed.clear();
        self.tables.clear();
    }

    /// Returns the cached result of a call, or `None`. Oversized arguments are never cached.
    pub fn cached_call(&self, key: &[ValueRef<'e>]) -> Option<ValueRef<'e>> {
        if key.iter().any(ValueRef::is_oversized) {
            return None;
        }
        self.memo.get(key).copied().flatten()
    }

    /// Caches the result of a call, unless its arguments have too many nodes to be looked up again.
    pub fn keep_call(&mut self, key: &[ValueRef<'e>], result: ValueRef<'e>) {
        if !key.iter().any(ValueRef::is_oversized) {
            self.memo.insert(key.into(), Some(result));
        }
    }

    pub fn root(input: Option<ValueRef<'e>>) -> Self {
        Self {
            input,
            ..Self::default()
        }
    }

    /// Returns the identity of the scope, computed once.
    pub fn identity(&self) -> Rc<ScopeIdentity<'e>> {
        let new = || {
            let mocks = self.mocks.iter().flat_map(|mocks| mocks.iter());
            let names: Vec<&str> = mocks.map(|mocked| &*mocked.name).collect();
            Rc::new(ScopeIdentity {
                input: self.input,
                overlay: self.overlay.clone(),
                mocks: self.mocks.clone(),
                hash: order::hash_of(&(self.input, &self.overlay, names)),
            })
        };
        self.identity.get_or_init(new).clone()
    }
}

/// Index of the scope without replacements.
pub(super) const ROOT: usize = 0;

impl<'e> Topdown<'e> {
    /// Returns `true` if a `with` replaces something in this scope.
    pub(super) fn is_modified(&self) -> bool {
        self.scope != ROOT
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "the root is never popped, and only numbers of open scopes are given out"
    )]
    pub(super) fn scope(&self) -> &TopdownScope<'e> {
        &self.scopes[self.scope]
    }

    /// Returns `true` if a scope sees what the query sees: no `with` replaces anything.
    pub(super) fn is_in_root_scope(&self, identity: &ScopeIdentity<'e>) -> bool {
        let root = self.scopes.first();
        root.is_some_and(|root| *root.identity() == *identity)
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "the root is never popped, and only numbers of open scopes are given out"
    )]
    pub(super) fn scope_mut(&mut self) -> &mut TopdownScope<'e> {
        &mut self.scopes[self.scope]
    }

    /// Returns the replacement of a function, or `None`. The innermost `with` counts.
    pub(super) fn mock(&self, name: &str) -> Option<FunctionMock<'e>> {
        let mocks = self.scope().mocks.as_ref()?;
        let mut mocks = mocks.iter().rev();
        mocks
            .find(|mocked| mocked.name == name)
            .map(|mocked| mocked.mock)
    }

    /// Searches an expression in the scope of its `with`, and continues in the enclosing scope.
    pub(super) fn with(
        &mut self,
        goal: Goal<'e>,
        expr: &'e Expr,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        if self.open.is_some() {
            return self.open_with(goal, expr, next);
        }
        let scope = self.modified(goal, expr)?;
        let search = |walk: &mut Self, next: Continuation<'_, 'e>| {
            walk.step(goal, expr, &mut |walk| {
                let flow = next(walk);
                // cached results are computed again, which prints show
                walk.scope_mut().forget();
                flow
            })
        };
        self.scoped(scope, search, next)
    }

    /// Runs a search in a new scope. Its continuation runs in the enclosing scope, which is current again afterwards.
    pub(super) fn scoped(
        &mut self,
        scope: TopdownScope<'e>,
        run: impl FnOnce(&mut Self, Continuation<'_, 'e>) -> SearchResult,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let outer = self.scope;
        self.scopes.push(scope);
        let inner = self.scopes.len() - 1;
        self.scope = inner;
        let outcome = run(self, &mut |walk| {
            walk.scope = outer;
            // the caches are not used for the next solution
            walk.scopes.get_mut(inner).map(TopdownScope::forget);
            let flow = next(walk);
            walk.scope = inner;
            flow
        });
        self.scopes.pop();
        self.scope = outer;
        outcome
    }

    /// Runs a search without replaced functions. Replaced documents stay replaced.
    pub(super) fn without_mocks(
        &mut self,
        run: impl FnOnce(&mut Self, Continuation<'_, 'e>) -> SearchResult,
        next: Continuation<'_, 'e>,
    ) -> SearchResult {
        let scope = TopdownScope {
            input: self.scope().input,
            overlay: self.scope().overlay.clone(),
            ..TopdownScope::default()
        };
        self.scoped(scope, run, next)
    }

    pub(super) fn modified(
        &mut self,
        goal: Goal<'e>,
        expr: &'e Expr,
    ) -> Result<TopdownScope<'e>, Halt> {
        let arena = self.call.arena;
        let mut patches = Patches::default();
        let (input, mut documents, mut mocks) = {
            let scope = self.scope();
            (scope.input, scope.overlay.clone(), scope.mocks.clone())
        };
        for modifier in &expr.with {
            let value = |walk: &mut Self| {
                let value = walk.plug(TermRef::Term(&modifier.value, goal.frame));
                value.unwrap_or_else(|| bug!(NO_VALUE))
            };
            match self.replaced(&modifier.target) {
                ReplacedTarget::Input => {
                    let path = path(self, &modifier.target, expr.span)?;
                    let value = value(self);
                    patches.put(arena, &path, value);
                }
                ReplacedTarget::Data => {
                    let path = path(self, &modifier.target, expr.span)?;
                    let value = value(self);
                    overlay(arena, &mut documents, &path, value);
                }
                ReplacedTarget::Function => {
                    let mock = if self.is_callable(&modifier.value, goal) {
                        FunctionMock::Callee(&modifier.value)
                    } else {
                        FunctionMock::Value(value(self))
                    };
                    let name = operator_name(&modifier.target)
                        .unwrap_or_else(|| bug!("a function without a name"));
                    let mocked = Mocked {
                        name,
                        target: &modifier.target,
                        mock,
                    };
                    Rc::make_mut(mocks.get_or_insert_default()).push(mocked);
                }
            }
        }
        Ok(TopdownScope {
            input: patches.put_in(arena, input).or(input),
            overlay: documents,
            mocks,
            ..TopdownScope::default()
        })
    }

    pub(super) fn replaced(&mut self, target: &'e Term) -> ReplacedTarget {
        let root = match &target.kind {
            TermKind::Ref(terms) => terms.first().and_then(Term::as_var),
            _ => target.as_var(),
        };
        match root.map(|name| &**name) {
            Some("input") => ReplacedTarget::Input,
            Some("data") => match self.callee(target) {
                ResolvedOperator::Function(site)
                    if self
                        .doc_node(Some(site))
                        .and_then(|site| site.group.as_ref())
                        .is_some_and(|group| group.arity > 0) =>
                {
                    ReplacedTarget::Function
                }
                _ => ReplacedTarget::Data,
            },
            _ => ReplacedTarget::Function,
        }
    }

    /// Returns `true` if the value of a `with` names a function and is not a value itself. A bound variable is a value.
    pub(super) fn is_callable(&mut self, value: &'e Term, goal: Goal<'e>) -> bool {
        let head = value
            .as_ref()
            .and_then(|terms| terms.first())
            .unwrap_or(value);
        let bound = head
            .as_var()
            .is_some_and(|name| self.binding(name, goal.frame).is_some());
        if bound || !matches!(value.kind, TermKind::Ref(_) | TermKind::Var(_)) {
            return false;
        }
        match self.callee(value) {
            ResolvedOperator::Builtin(entry) => matches!(entry.builtin.run, BuiltinFn::Function(_)),
            ResolvedOperator::Function(site) => self
                .doc_node(Some(site))
                .is_some_and(|site| site.group.is_some()),
            ResolvedOperator::HostFunction(_) | ResolvedOperator::Descend => true,
            ResolvedOperator::Unify | ResolvedOperator::Unknown => false,
        }
    }
}

/// Returns the keys of a target below its document.
fn path<'e>(walk: &Topdown<'e>, target: &'e Term, at: Span) -> Result<DataPath<'e>, Halt> {
    let path = document_path(target).ok_or_else(|| no_document(walk.program, at))?;
    if path.len() > limits::NESTING {
        return Err(Halt::new(EvalError::too_deep()));
    }
    let arena = walk.call.arena;
    Ok(path.iter().map(|key| arena.copy_of(key)).collect())
}
