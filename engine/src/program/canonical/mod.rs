//! Canonical bodies: the rewritten modules, which traces, explanations and partial evaluation refer to.

mod index;
mod keyed;
mod original_names;
mod test_case;
mod tree;

use std::sync::{Arc, OnceLock};

use solon_syntax::ast::visit::{Descent, Terms, Walk};
use solon_syntax::ast::{Module, Rule, Term};

use crate::builtins::PRINT_EACH;
use crate::value::Value;
pub use index::{
    ConditionOperand, Conditions, Constraint, Membership, Shared, Test, may_constrain,
};
pub use keyed::{ComprehensionSearch, Keyed};
pub use original_names::OriginalNames;
pub use test_case::{add_test_case, is_added_test_case};
pub use tree::{DocNode, DocNodeId, DocTree, Group, GroupKind, GroupRule, chain, is_ground};

/// The rewritten modules of a program, and data derived from them on demand.
#[derive(Default)]
pub struct Canonical {
    /// The modules, ordered by file name.
    pub modules: Arc<Vec<Arc<Module>>>,
    /// The user's name of each generated local.
    pub originals: OriginalNames,
    /// The comprehensions that are searched once.
    pub keyed: Keyed,
    doc_tree: OnceLock<DocTree>,
    prints: OnceLock<bool>,
}

/// A rule by its position. [`Canonical::rule`] returns it, or `None` if there is no such rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleAt {
    /// Position of the module in the program.
    pub module: u32,
    /// Position of the rule in its module.
    pub rule: u32,
}

impl Canonical {
    /// Creates the bodies of compiled modules. No comprehension is keyed.
    pub fn new(modules: Arc<Vec<Arc<Module>>>, originals: OriginalNames) -> Self {
        Self {
            modules,
            originals,
            keyed: Keyed::default(),
            doc_tree: OnceLock::new(),
            prints: OnceLock::new(),
        }
    }

    /// Sets the comprehensions that are searched once, not for each solution.
    #[must_use]
    pub fn searching_once(mut self, keyed: Keyed) -> Self {
        self.keyed = keyed;
        self
    }

    /// Returns the tree of virtual documents, which the first call builds.
    pub fn doc_tree(&self) -> &DocTree {
        self.doc_tree.get_or_init(|| DocTree::new(&self.modules))
    }

    /// Returns `true` if a rule prints, so that evaluation is observable.
    pub fn prints(&self) -> bool {
        *self.prints.get_or_init(|| {
            let mut found = false;
            let mut look = Terms(|term: &Term| {
                found = found || term.is_operator(PRINT_EACH);
                if found { Descent::Over } else { Descent::Into }
            });
            let modules = self.modules.iter();
            modules.for_each(|module| module.rules.walk(&mut look));
            found
        })
    }

    /// Returns the rules that are evaluated together at a path below `data`, or `None` if there are none.
    pub fn group(&self, path: &[Value]) -> Option<&Group> {
        let doc_tree = self.doc_tree();
        let mut keys = path.iter();
        let node = keys.try_fold(DocTree::DATA, |node, key| {
            doc_tree.child(node, key.borrow())
        })?;
        doc_tree.get(node).group.as_ref()
    }

    /// Returns a rule, or `None` if no module contains it.
    pub fn rule(&self, at: RuleAt) -> Option<&Rule> {
        tree::find(&self.modules, at).map(|(_, rule)| rule)
    }
}
