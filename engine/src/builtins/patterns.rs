//! Compiled dynamic patterns.

use std::any::Any;
use std::sync::Arc;

use hashbrown::{Equivalent, HashMap};
use parking_lot::RwLock;

use crate::limits::PATTERN_CACHE;

/// A bounded cache of what patterns that are no constants compile to, by family and text.
#[derive(Default)]
pub struct Patterns {
    entries: RwLock<HashMap<Key, Compiled, foldhash::fast::RandomState>>,
}

type Compiled = Arc<dyn Any + Send + Sync>;

#[derive(PartialEq, Eq, Hash)]
struct Key {
    family: &'static str,
    text: Box<[u8]>,
}

/// A key that is only looked up, so it owns nothing.
#[derive(Hash)]
struct Wanted<'t> {
    family: &'static str,
    text: &'t [u8],
}

impl Equivalent<Key> for Wanted<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.family == key.family && *self.text == *key.text
    }
}

impl Patterns {
    /// The compiled form of `text` in a family (`regex`, `glob`), compiled now if it is not there.
    pub fn get<T: Any + Send + Sync, E>(
        &self,
        family: &'static str,
        text: &[u8],
        compile: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let wanted = Wanted { family, text };
        if let Some(found) = self.entries.read().get(&wanted)
            && let Ok(found) = found.clone().downcast::<T>()
        {
            return Ok(found);
        }
        let compiled = Arc::new(compile()?);
        let mut entries = self.entries.write();
        if entries.len() >= PATTERN_CACHE {
            // dynamic patterns come in waves; starting over is as good as choosing a victim
            entries.clear();
        }
        let text = text.into();
        entries.insert(Key { family, text }, compiled.clone());
        Ok(compiled)
    }
}
