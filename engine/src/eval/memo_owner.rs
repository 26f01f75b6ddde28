//! Which memo holds the results of a rule.
//!
//! Each scope of `with` has a memo. A scope in which a rule has the same result as in the enclosing scope, because the
//! rule depends on nothing that `with` replaces, uses the memo of the enclosing scope, and so on outwards. So a rule is
//! evaluated again only if its result may differ.
//!
//! A function that replaces another one is evaluated without replaced functions, in a scope of its own for each call.
//! Its results are those of the outer scopes without their replaced functions. They are kept in the additional memo of
//! the innermost scope that replaces a document on which the rule depends, so that the next call finds them.

use smallvec::SmallVec;

use crate::bug::bug;
use crate::program::plan::Callee;
use crate::program::{ConstId, ModifierTarget, ReadIndex, ReadRoot, RuleId, RuleSubset, With};
use crate::value::Value;

use super::call::NO_FUNCTION;
use super::frame::OperandSource;
use super::machine::{Machine, ROOT};
use super::memo::Memo;
use super::rules::NO_RULE;

/// What a scope changes in comparison with the enclosing one.
pub(super) enum ScopeChange<'e> {
    /// It is the outermost scope, which replaces nothing.
    Nothing,
    /// The modifiers of an expression. The affected rules are computed on demand.
    With(&'e With, Option<AffectedRules<'e>>),
    /// It replaces no functions.
    WithoutMocks,
}

/// Rules that depend on what a scope replaces, for each modifier.
pub(super) struct AffectedRules<'e>(SmallVec<[(ReplacementKind, &'e RuleSubset); 2]>);

/// What a modifier replaces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReplacementKind {
    Document,
    Function,
}

/// Location of a memo: a scope, or its memo without replaced functions.
#[derive(Clone, Copy)]
pub(super) struct MemoOwner {
    scope: usize,
    /// `true` for the memo without replaced functions.
    is_unmocked: bool,
}

impl AffectedRules<'_> {
    /// Returns `true` if a rule may have another result than in the enclosing scope. Replaced functions do not matter if
    /// `is_unmocked`.
    fn contain(&self, rule: RuleId, is_unmocked: bool) -> bool {
        let mut modifiers = self.0.iter();
        modifiers.any(|(replaced, rules)| {
            !(is_unmocked && *replaced == ReplacementKind::Function) && rules.contains(rule)
        })
    }
}

impl<'e> Machine<'e> {
    /// Returns the location of a rule's results in the current scope.
    #[inline]
    pub(super) fn memo_owner(&mut self, rule: RuleId) -> MemoOwner {
        if self.scope == ROOT {
            return MemoOwner {
                scope: ROOT,
                is_unmocked: false,
            };
        }
        self.memo_owner_in_scope(rule)
    }

    /// Returns the memo at a location. A scope that does not exist any more has that of the root.
    #[inline]
    pub(super) fn memo(&mut self, owner: MemoOwner) -> &mut Memo<'e> {
        if owner.is_unmocked {
            return self.unmocked_memo(owner.scope);
        }
        match self.scopes.get_mut(owner.scope) {
            Some(scope) => &mut scope.memo,
            None => &mut self.root.memo,
        }
    }

    /// Finds the innermost scope that may affect a rule.
    #[inline(never)]
    fn memo_owner_in_scope(&mut self, rule: RuleId) -> MemoOwner {
        if self.program.reads().repeated().contains(rule) {
            return MemoOwner {
                scope: self.scope,
                is_unmocked: false,
            };
        }
        let mut at = self.scope;
        let mut is_unmocked = false;
        while let Some(scope) = self.scopes.get(at) {
            match &scope.change {
                ScopeChange::With(with, None) => {
                    let with = *with;
                    let affected = self.affected_rules(with);
                    if let Some(scope) = self.scopes.get_mut(at) {
                        scope.change = ScopeChange::With(with, Some(affected));
                    }
                    continue;
                }
                ScopeChange::With(_, Some(affected)) if affected.contain(rule, is_unmocked) => {
                    let is_unmocked = is_unmocked && scope.mocks.is_some();
                    return MemoOwner {
                        scope: at,
                        is_unmocked,
                    };
                }
                ScopeChange::With(..) | ScopeChange::Nothing => {}
                ScopeChange::WithoutMocks => is_unmocked = true,
            }
            at = scope.parent;
        }
        MemoOwner {
            scope: ROOT,
            is_unmocked: false,
        }
    }

    /// Returns the rules that depend on what modifiers replace.
    fn affected_rules(&self, with: &With) -> AffectedRules<'e> {
        let index = self.program.reads();
        let modifiers = with.modifiers.iter().filter_map(|modifier| {
            Some(match modifier {
                ModifierTarget::Input(path, _) => {
                    let rules = self.document_dependents(index, ReadRoot::Input, path);
                    (ReplacementKind::Document, rules)
                }
                ModifierTarget::Data(path, _) => {
                    let rules = self.document_dependents(index, ReadRoot::Data, path);
                    (ReplacementKind::Document, rules)
                }
                ModifierTarget::ByRule(callee, _)
                | ModifierTarget::ByBuiltin(callee, _)
                | ModifierTarget::ByValue(callee, _) => {
                    (ReplacementKind::Function, self.callers(index, *callee))
                }
                ModifierTarget::Nowhere => return None,
            })
        });
        AffectedRules(modifiers.collect())
    }

    fn document_dependents(
        &self,
        index: &'e ReadIndex,
        root: ReadRoot,
        path: &[ConstId],
    ) -> &'e RuleSubset {
        let keys: SmallVec<[_; 4]> = path.iter().map(|id| self.constant(*id)).collect();
        index.dependents(root, keys.iter().map_while(|key| key.as_str()))
    }

    fn callers(&self, index: &'e ReadIndex, callee: Callee) -> &'e RuleSubset {
        let name = match callee {
            Callee::Rule(rule) => {
                let Some(set) = self.rule_set(rule) else {
                    bug!(NO_RULE);
                };
                let path = set.path.iter().map_while(Value::as_str);
                return index.dependents(ReadRoot::Data, path);
            }
            Callee::Builtin(name) => name,
            Callee::HostFunction(function) => {
                let Some(function) = self.program.functions.get(function as usize) else {
                    bug!(NO_FUNCTION);
                };
                &*function.name
            }
        };
        let (root, path) = ReadIndex::function_path(name);
        index.dependents(root, path)
    }

    /// Returns the memo of a scope without replaced functions.
    #[cold]
    fn unmocked_memo(&mut self, scope: usize) -> &mut Memo<'e> {
        let empty = self.empty_memo();
        match self.scopes.get_mut(scope) {
            Some(scope) => scope.unmocked_memo.get_or_insert_with(|| Box::new(empty)),
            None => &mut self.root.memo,
        }
    }
}
