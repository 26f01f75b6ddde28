//! The user's names of generated locals.

use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;
use solon_syntax::ast::Name;

/// The user's name of each generated local. A change of few modules shares the names of all others with the compilation before it.
#[derive(Clone, Debug, Default)]
pub struct OriginalNames {
    /// Names of the last compilation of all modules.
    pub base: Arc<HashMap<Name, Name>>,
    /// Names of the changes since.
    pub recent: Arc<HashMap<Name, Name>>,
    /// All of them, for callers that need one map.
    all: OnceLock<Arc<HashMap<Name, Name>>>,
}

impl OriginalNames {
    /// Creates the names of a compilation from those of the last compilation of all modules and of the changes since.
    pub fn new(base: Arc<HashMap<Name, Name>>, recent: HashMap<Name, Name>) -> Self {
        Self {
            base,
            recent: Arc::new(recent),
            all: OnceLock::new(),
        }
    }

    /// Returns the user's name of a local, or `None` if it has none.
    pub fn get(&self, name: &str) -> Option<&Name> {
        self.recent.get(name).or_else(|| self.base.get(name))
    }

    /// Returns all names as one map. The first call after a change copies them: O(names).
    pub fn all(&self) -> &HashMap<Name, Name> {
        if self.recent.is_empty() {
            return &self.base;
        }
        self.all.get_or_init(|| {
            let mut all = HashMap::clone(&self.base);
            let recent = self.recent.iter();
            all.extend(recent.map(|(local, name)| (local.clone(), name.clone())));
            Arc::new(all)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_changes_come_first() {
        let names = |pairs: &[(&str, &str)]| -> HashMap<Name, Name> {
            let pairs = pairs.iter();
            pairs
                .map(|(local, name)| (Name::from(*local), Name::from(*name)))
                .collect()
        };
        let base = Arc::new(names(&[("__local0__", "x"), ("__local1__", "y")]));
        let unchanged = OriginalNames::new(base.clone(), HashMap::new());
        assert!(std::ptr::eq(unchanged.all(), base.as_ref()));
        let recent = names(&[("__local1__", "z"), ("__local2__", "v")]);
        let changed = OriginalNames::new(base.clone(), recent);
        assert!(Arc::ptr_eq(&changed.base, &base));
        for (local, name) in [
            ("__local0__", Some("x")),
            ("__local1__", Some("z")),
            ("__local2__", Some("v")),
            ("__local3__", None),
        ] {
            assert_eq!(changed.get(local).map(|name| &**name), name);
            assert_eq!(changed.all().get(local).map(|name| &**name), name);
        }
        assert_eq!(changed.all().len(), 3);
    }
}
