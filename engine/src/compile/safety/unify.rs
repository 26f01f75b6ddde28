//! Variables that an equation binds.

use hashbrown::HashMap;

use solon_syntax::ast::{Name, Term, TermKind};

use super::outputs::{Reading, has_value};
use super::vars::{Var, VarSet, Vars};

/// Returns the variables that have values once `a = b` holds, given the safe ones.
pub fn unify(vars: &mut Vars, safe: &VarSet, a: &Term, b: &Term, reading: Reading) -> VarSet {
    let mut unifier = Unifier {
        vars,
        safe,
        reading,
        bound: VarSet::default(),
        wholes: HashMap::new(),
        waiting: HashMap::new(),
    };
    unifier.unify(a, b);
    unifier.bound
}

struct Unifier<'u> {
    vars: &'u mut Vars,
    safe: &'u VarSet,
    reading: Reading,
    bound: VarSet,
    wholes: HashMap<Var, PatternVar>,
    /// Pattern variables that wait for a variable.
    waiting: HashMap<Var, Vec<Var>>,
}

/// A variable that equals patterns.
#[derive(Default)]
struct PatternVar {
    /// Variables needed to construct its value.
    needs: VarSet,
    /// Variables that it binds.
    gives: VarSet,
}

impl Unifier<'_> {
    fn unify(&mut self, a: &Term, b: &Term) {
        use TermKind as K;
        match (&a.kind, &b.kind) {
            (K::Var(a), K::Var(b)) => {
                let (a, b) = (self.vars.var(a), self.vars.var(b));
                if self.is_safe(b) {
                    self.bind(a);
                } else if self.is_safe(a) {
                    self.bind(b);
                } else {
                    self.wait(a, b, true);
                    self.wait(b, a, true);
                }
            }
            (K::Var(var), K::Array(_) | K::Object(_)) => self.compose(var, b),
            (K::Array(_) | K::Object(_), K::Var(var)) => self.compose(var, a),
            (K::Var(var), _) => self.bind_to(var, b),
            (_, K::Var(var)) => self.bind_to(var, a),
            (K::Array(a), K::Array(b)) if a.len() == b.len() => {
                for (a, b) in a.iter().zip(b) {
                    self.unify(a, b);
                }
            }
            (K::Object(a), K::Object(b)) if a.len() == b.len() => {
                let values_by_key: HashMap<_, _> =
                    b.iter().map(|(key, value)| (key, value)).collect();
                for (key, value) in a {
                    if let Some(other) = values_by_key.get(key) {
                        self.unify(value, other);
                    }
                }
            }
            (K::Array(_) | K::Object(_), _) => self.destructure(a, b),
            (_, K::Array(_) | K::Object(_)) => self.destructure(b, a),
            _ => {}
        }
    }

    fn is_safe(&self, var: Var) -> bool {
        self.safe.contains(var) || self.bound.contains(var)
    }

    /// Handles a variable and a term that is not a pattern.
    fn bind_to(&mut self, var: &Name, term: &Term) {
        if has_value(self.vars, term, self.safe) {
            let var = self.vars.var(var);
            self.bind(var);
        }
    }

    /// Handles a pattern and a term that is not one. Binds the pattern's variables if the term has a value.
    fn destructure(&mut self, pattern: &Term, term: &Term) {
        let fits = match term.kind {
            TermKind::Ref(_) | TermKind::Call(_) => has_value(self.vars, term, self.safe),
            // kinds that can never be equal are rejected by the type checker
            TermKind::ObjectComprehension(_) => true,
            TermKind::ArrayComprehension(_) | TermKind::SetComprehension(_) => {
                matches!(pattern.kind, TermKind::Array(_))
            }
            _ => false,
        };
        if fits {
            self.bind_all(pattern);
        }
    }

    /// Handles a variable and a pattern.
    fn compose(&mut self, var: &Name, pattern: &Term) {
        let var = self.vars.var(var);
        if self.is_safe(var) {
            return self.bind_all(pattern);
        }
        let gives = self.vars.scan(self.reading.gives(), pattern);
        let mut needs = self.vars.scan(self.reading.needs(), pattern);
        needs.subtract(self.safe);
        needs.subtract(&self.bound);
        if needs.is_empty() {
            return self.bind(var);
        }
        for part in needs.iter() {
            self.wait(var, part, gives.contains(part));
        }
    }

    fn bind_all(&mut self, pattern: &Term) {
        for var in self.vars.scan(self.reading.gives(), pattern).iter() {
            self.bind(var);
        }
    }

    fn wait(&mut self, collection: Var, part: Var, gives: bool) {
        let entry = self.wholes.entry(collection).or_default();
        if gives {
            entry.gives.insert(part);
        }
        if entry.needs.insert(part) {
            self.waiting.entry(part).or_default().push(collection);
        }
    }

    /// Binds a variable, its parts, and everything that only waited for it.
    fn bind(&mut self, var: Var) {
        let mut open = vec![var];
        while let Some(var) = open.pop() {
            self.bound.insert(var);
            if let Some(collection) = self.wholes.remove(&var) {
                open.extend(collection.gives.iter());
            }
            for collection in self.waiting.remove(&var).unwrap_or_default() {
                if let Some(parts) = self.wholes.get_mut(&collection) {
                    parts.needs.remove(var);
                    if parts.needs.is_empty() {
                        open.push(collection);
                    }
                }
            }
        }
    }
}
