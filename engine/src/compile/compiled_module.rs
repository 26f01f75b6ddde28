//! What a compilation made of one module, to be kept for as long as neither the module nor what it sees changes.

use std::sync::Arc;

use smallvec::SmallVec;
use solon_syntax::ast::Module;

use super::graph::DocumentRead;
use crate::program::canonical::Keyed;
use crate::types::Type;

/// A compiled module.
pub struct Part {
    /// The module as it was parsed.
    pub parsed: Arc<Module>,
    /// The rewritten module.
    pub canonical: Arc<Module>,
    /// What stands where in it.
    pub findings: Findings,
    /// Its comprehensions that are searched once.
    pub keyed: Arc<Keyed>,
    /// Positions of the rules that name a function which waits for the outside.
    pub waiting: Arc<[u32]>,
}

impl Part {
    /// The same part, with what was found out since.
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

/// What the passes found out about a module, rule by rule.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Whether each rule is a constant and nothing else, as RewriteTemplateStrings sees it.
    pub constant: Arc<[bool]>,
    /// Where the references of each rule lead.
    pub reads: Arc<[Vec<DocumentRead>]>,
    /// What each rule yields.
    pub yields: Arc<[Yield]>,
}

/// The types that a rule and its `else`s yield; `None` when they also depend on who else needs what.
pub type Yield = Option<SmallVec<[Type; 1]>>;
