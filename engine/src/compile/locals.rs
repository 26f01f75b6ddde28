//! Names of generated locals.

use hashbrown::{HashMap, HashSet};
use std::mem;
use std::sync::Arc;

use solon_syntax::ast::visit::{Descent, Terms, Walk, WalkMut};
use solon_syntax::ast::{Body, Name, Ref, Term, TermKind, VarScan};

use super::Compilation;
use super::facts::Facts;

/// Generator of local names: `__local0__`, … in modules, `__localq0__`, … in queries. Names that the source uses are
/// skipped.
#[derive(Clone, Debug, Default)]
pub struct Locals {
    prefix: &'static str,
    next: u32,
    /// The last name.
    text: String,
    taken: HashSet<Name>,
    /// User's name of each generated local that replaces a declared variable.
    pub originals: HashMap<Name, Name>,
    /// Further originals, of modules that are reused from an earlier compilation.
    pub earlier_originals: Arc<HashMap<Name, Name>>,
    /// Call that each generated local replaced, if a pass removed the call. Used in messages.
    pub calls: HashMap<Name, [Term; 1]>,
}

impl Locals {
    /// Prefix of generated locals in modules.
    pub const MODULES: &'static str = "__local";

    /// Prefix of generated locals in queries.
    pub const QUERY: &'static str = "__localq";

    /// Creates a generator of names that start with `prefix` and are not among `used_names`.
    pub fn new(prefix: &'static str, used_names: impl IntoIterator<Item = Name>) -> Self {
        let mut locals = Self {
            prefix,
            ..Self::default()
        };
        locals.avoid(used_names);
        locals
    }

    /// Skips additional names.
    pub fn avoid(&mut self, used_names: impl IntoIterator<Item = Name>) {
        let prefix = self.prefix;
        let used_names = used_names
            .into_iter()
            .filter(|name| name.starts_with(prefix));
        self.taken.extend(used_names);
    }

    /// Number of names that were generated or skipped.
    pub fn count(&self) -> u32 {
        self.next
    }

    /// Returns the next unused name.
    pub fn fresh(&mut self) -> Name {
        loop {
            self.text.clear();
            self.text.push_str(self.prefix);
            self.text.push_str(itoa::Buffer::new().format(self.next));
            self.text.push_str("__");
            self.next += 1;
            if !self.taken.contains(&*self.text) {
                return Name::from(&*self.text);
            }
        }
    }

    /// Returns the next unused name for the user's variable `original`.
    pub fn rename(&mut self, original: &Name) -> Name {
        let name = self.fresh();
        self.originals.insert(name.clone(), original.clone());
        name
    }

    /// Starts again for the next pass over a query, which may reuse names that no longer occur.
    pub fn restart(&mut self, body: &Body) -> &mut Self {
        let originals = mem::take(&mut self.originals);
        let calls = mem::take(&mut self.calls);
        *self = Self::new(Self::QUERY, names_in(body));
        self.originals = originals;
        self.calls = calls;
        self
    }

    /// Returns the name of a variable in messages.
    pub fn user_name<'a>(&'a self, name: &'a Name) -> &'a str {
        let name = self.original(name);
        if name.starts_with('$') { "_" } else { name }
    }

    /// Returns the user's name of a variable.
    pub fn original<'a>(&'a self, name: &'a Name) -> &'a Name {
        self.find_original(name).unwrap_or(name)
    }

    fn find_original(&self, name: &Name) -> Option<&Name> {
        let own = self.originals.get(name);
        own.or_else(|| self.earlier_originals.get(name))
    }

    /// Returns a reference with the user's names, for messages.
    pub fn restore(&self, reference: &[Term]) -> Ref {
        let mut reference = reference.to_vec();
        reference.walk_mut(&mut Terms(|term: &mut Term| {
            if let TermKind::Var(name) = &mut term.kind
                && let Some(original) = self.find_original(name)
            {
                *name = original.clone();
            }
            Descent::Into
        }));
        reference
    }

    /// Returns `true` if a name was generated for something unnamed.
    pub fn is_anonymous(&self, name: &Name) -> bool {
        self.original(name).starts_with(Self::MODULES)
    }

    /// Returns `true` if a name has the form of a generated one: of a module's local, or of a wildcard.
    pub fn is_generated(name: &str) -> bool {
        name.starts_with(Self::MODULES) || name.starts_with('$')
    }
}

/// Returns the generated names of all variables of a node, with duplicates.
pub fn names_in<N: Walk + ?Sized>(node: &N) -> Vec<Name> {
    let mut names = Vec::new();
    VarScan::default().each(node, |_, name| {
        if name.starts_with(Locals::MODULES) {
            names.push(name.clone());
        }
    });
    names
}

/// InitLocalVarGen: reserves the names that modules use.
pub fn start(compilation: &mut Compilation<'_>) {
    let rules = compilation.modules.rules_with(Facts::LOCAL_NAME);
    let used_names = rules.flat_map(names_in);
    compilation.locals.avoid(used_names);
}
