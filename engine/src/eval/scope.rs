//! What `with` replaces: input, documents, functions.

use std::rc::Rc;

use crate::builtins::BuiltinEntry;
use crate::limits;
use crate::program::plan::Callee;
use crate::program::{ModifierTarget, RuleId, Step, With};
use crate::runtime::{EvalError, Halt, Overlay, Patches, no_document, overlay};
use crate::value::ValueRef;

use super::frame::{OperandSource, Register};
use super::machine::{Flow, Machine};
use super::memo::Memo;
use super::memo_owner::ScopeChange;

/// Input, documents and functions as one expression sees them.
pub(super) struct ExprScope<'e> {
    /// Index of the enclosing scope.
    pub parent: usize,
    pub input: Option<Register<'e>>,
    pub overlay: Option<Rc<Overlay<'e>>>,
    /// Replaced functions; later entries win.
    pub mocks: Option<Rc<Vec<(Callee, Mock<'e>)>>>,
    /// Memoised results of this scope; see `memo_owner`.
    pub memo: Memo<'e>,
    /// Memoised results of this scope without replaced functions. Created on demand.
    pub unmocked_memo: Option<Box<Memo<'e>>>,
    pub change: ScopeChange<'e>,
}

#[derive(Clone, Copy)]
pub(super) enum Mock<'e> {
    /// A function of the policy, or a rule whose value is the result.
    Rule(RuleId),
    Builtin(&'static BuiltinEntry),
    Value(ValueRef<'e>),
}

impl<'e> Machine<'e> {
    /// Runs the steps after `with` in a new scope.
    pub(super) fn with(&mut self, with: &'e With, rest: &'e [Step]) -> Result<Flow, Halt> {
        let parent = self.scope;
        let mut patches = Patches::default();
        let (mut input, mut documents, mut mocks) = {
            let scope = self.scope_ref();
            (scope.input, scope.overlay.clone(), scope.mocks.clone())
        };
        for modifier in &with.modifiers {
            if let ModifierTarget::Input(path, _) | ModifierTarget::Data(path, _) = modifier
                && path.len() > limits::NESTING
            {
                return Err(Halt::new(EvalError::too_deep()));
            }
            match modifier {
                ModifierTarget::Input(path, value) => {
                    let path: Vec<_> = path.iter().map(|id| self.constant(*id)).collect();
                    patches.put(self.call.arena, &path, self.get(*value));
                }
                ModifierTarget::Data(path, value) => {
                    let path: Vec<_> = path.iter().map(|id| self.constant(*id)).collect();
                    overlay(self.call.arena, &mut documents, &path, self.get(*value));
                }
                ModifierTarget::ByRule(callee, rule) => {
                    Rc::make_mut(mocks.get_or_insert_default()).push((*callee, Mock::Rule(*rule)));
                }
                ModifierTarget::ByBuiltin(callee, entry) => {
                    Rc::make_mut(mocks.get_or_insert_default())
                        .push((*callee, Mock::Builtin(entry)));
                }
                ModifierTarget::ByValue(callee, value) => {
                    let value = self.get(*value);
                    Rc::make_mut(mocks.get_or_insert_default()).push((*callee, Mock::Value(value)));
                }
                ModifierTarget::Nowhere => return Err(no_document(self.program, with.span)),
            }
        }
        let old = input.map(|input| input.value());
        if let Some(new) = patches.put_in(self.call.arena, old) {
            input = Some(Register::Value(new));
        }
        self.scoped(
            ExprScope {
                parent,
                input,
                overlay: documents,
                mocks,
                memo: self.empty_memo(),
                unmocked_memo: None,
                change: ScopeChange::With(with, None),
            },
            |machine| machine.run(rest),
        )
    }

    /// Continues outside the innermost scope, and returns to it for backtracking.
    pub(super) fn end_with(&mut self, rest: &'e [Step]) -> Result<Flow, Halt> {
        let inner = self.scope;
        let parent = self.scope_ref().parent;
        self.enter_scope(parent);
        let flow = self.run(rest);
        self.enter_scope(inner);
        if self.is_seen() {
            // OPA computes results again, which prints show
            self.scope_memo().clear();
        }
        flow
    }

    /// Runs a closure in a new scope, which is removed again, also after an error.
    pub(super) fn scoped<R>(
        &mut self,
        scope: ExprScope<'e>,
        run: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let caller = self.scope;
        self.scopes.push(scope);
        self.enter_scope(self.scopes.len() - 1);
        let result = run(self);
        self.scopes.pop();
        self.enter_scope(caller);
        result
    }

    fn enter_scope(&mut self, scope: usize) {
        self.scope = scope;
        let (input, overlaid, mocked) = {
            let scope = self.scope_ref();
            (scope.input, scope.overlay.is_some(), scope.mocks.is_some())
        };
        self.input = input;
        self.overlaid = overlaid;
        self.mocked = mocked;
    }

    /// Runs a closure without replaced functions.
    pub(super) fn without_mocks<R>(&mut self, run: impl FnOnce(&mut Self) -> R) -> R {
        let parent = self.scope;
        let scope = self.scope_ref();
        let (input, overlay) = (scope.input, scope.overlay.clone());
        let memo = self.empty_memo();
        self.scoped(
            ExprScope {
                parent,
                input,
                overlay,
                mocks: None,
                memo,
                unmocked_memo: None,
                change: ScopeChange::WithoutMocks,
            },
            run,
        )
    }

    /// Returns the replacement of a function, or `None`. The innermost one counts.
    pub(super) fn mock(&self, callee: Callee) -> Option<Mock<'e>> {
        let mocks = self.scope_ref().mocks.as_ref()?;
        mocks
            .iter()
            .rev()
            .find(|(target, _)| *target == callee)
            .map(|(_, mock)| *mock)
    }

    pub(super) fn scope_ref(&self) -> &ExprScope<'e> {
        self.scopes.get(self.scope).unwrap_or(&self.root)
    }

    pub(super) fn empty_memo(&self) -> Memo<'e> {
        Memo::new(self.call.arena, self.program.rules.len())
    }

    /// Returns the memo of the current scope, or of the root without a scope.
    pub(super) fn scope_memo(&mut self) -> &mut Memo<'e> {
        match self.scopes.get_mut(self.scope) {
            Some(scope) => &mut scope.memo,
            None => &mut self.root.memo,
        }
    }
}
