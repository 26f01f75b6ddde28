//! Result of compiling one module, reused while neither the module nor the interfaces that it uses change.

use std::sync::Arc;

use smallvec::SmallVec;
use solon_syntax::ast::Module;

use super::graph::DocumentRead;
use crate::program::canonical::Keyed;
use crate::types::Type;

/// A compiled module. It is shared by the compilations that reuse it.
pub struct CompiledModule {
    /// The module as parsed, with comments and annotations.
    pub parsed: Arc<Module>,
    /// The module after all rewrites, which plans are lowered from.
    pub canonical: Arc<Module>,
    /// Findings of the passes, from which dependents are checked.
    pub findings: Findings,
    /// Comprehensions that are searched once.
    pub keyed: Arc<Keyed>,
    /// Indices of the rules that name a blocking function.
    pub waiting: Arc<[u32]>,
}

impl CompiledModule {
    /// Returns a copy with new findings, or the same module if they share their types.
    pub fn with(self: &Arc<Self>, findings: Findings) -> Arc<Self> {
        if Arc::ptr_eq(&self.findings.yields, &findings.yields) {
            return self.clone();
        }
        Arc::new(Self {
            parsed: self.parsed.clone(),
            canonical: self.canonical.clone(),
            findings,
            keyed: self.keyed.clone(),
            waiting: self.waiting.clone(),
        })
    }
}

/// Findings of the passes about a module, by rule.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// For each rule, `true` if it is just a constant, as seen by RewriteTemplateStrings.
    pub constant: Arc<[bool]>,
    /// References of each rule, by its position in the module.
    pub reads: Arc<[Vec<DocumentRead>]>,
    /// Types of each rule, by its position in the module.
    pub yields: Arc<[Yield]>,
}

/// Types that a rule and its `else` branches yield; `None` if they also depend on the users of other rules.
pub type Yield = Option<SmallVec<[Type; 1]>>;
