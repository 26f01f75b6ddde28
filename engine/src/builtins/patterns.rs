//! Compiled dynamic patterns.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;

use crate::limits::PATTERN_CACHE;

/// A bounded cache of what patterns that are no constants compile to, by family and text.
#[derive(Default)]
pub struct Patterns {
    entries: RwLock<HashMap<(&'static str, Box<[u8]>), Arc<dyn Any + Send + Sync>>>,
}

impl Patterns {
    /// The compiled form of `text` in a family (`regex`, `glob`), compiled now if it is not there.
    pub fn get<T: Any + Send + Sync, E>(
        &self,
        family: &'static str,
        text: &[u8],
        compile: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let key = (family, Box::from(text));
        if let Some(found) = self.entries.read().get(&key)
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
        entries.insert(key, compiled.clone());
        Ok(compiled)
    }
}
