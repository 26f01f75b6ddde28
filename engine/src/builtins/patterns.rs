//! Compiled dynamic patterns.

use std::any::Any;
use std::sync::Arc;

use hashbrown::{Equivalent, HashMap};
use parking_lot::RwLock;

use crate::limits::{PATTERN_CACHE, PATTERN_CACHE_BYTES};

/// A bounded cache of what patterns that are no constants compile to, by family and text.
#[derive(Default)]
pub struct Patterns {
    held: RwLock<Held>,
}

#[derive(Default)]
struct Held {
    entries: HashMap<Key, Arc<dyn Any + Send + Sync>, foldhash::fast::RandomState>,
    bytes: usize,
}

/// What a pattern compiles to.
pub trait Pattern: Any + Send + Sync {
    /// About how much memory it takes.
    fn bytes(&self) -> usize;
}

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
    pub fn get<T: Pattern, E>(
        &self,
        family: &'static str,
        text: &[u8],
        compile: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let wanted = Wanted { family, text };
        if let Some(found) = self.held.read().entries.get(&wanted)
            && let Ok(found) = found.clone().downcast::<T>()
        {
            return Ok(found);
        }
        let compiled = Arc::new(compile()?);
        let bytes = compiled.bytes() + text.len();
        let mut held = self.held.write();
        if held.entries.len() >= PATTERN_CACHE || held.bytes + bytes > PATTERN_CACHE_BYTES {
            // dynamic patterns come in waves; starting over is as good as choosing a victim
            *held = Held::default();
        }
        held.bytes += bytes;
        let text = text.into();
        held.entries.insert(Key { family, text }, compiled.clone());
        Ok(compiled)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::{Pattern, Patterns};
    use crate::limits::{PATTERN_CACHE, PATTERN_CACHE_BYTES};

    struct Sized(usize);

    impl Pattern for Sized {
        fn bytes(&self) -> usize {
            self.0
        }
    }

    fn fill(patterns: &Patterns, text: usize, bytes: usize) -> usize {
        let text = text.to_string();
        let made = patterns.get("test", text.as_bytes(), || {
            Ok::<_, Infallible>(Sized(bytes))
        });
        made.map_or(0, |made| made.0)
    }

    #[test]
    fn the_cache_is_bounded_in_patterns_and_bytes() {
        let patterns = Patterns::default();
        for text in 0..2 * PATTERN_CACHE {
            assert_eq!(fill(&patterns, text, 1), 1);
            assert!(patterns.held.read().entries.len() <= PATTERN_CACHE);
        }
        for text in 0..10 {
            fill(&patterns, text, PATTERN_CACHE_BYTES / 3);
            assert!(patterns.held.read().bytes <= PATTERN_CACHE_BYTES);
        }
        // what is there is not compiled again
        assert_eq!(fill(&patterns, 9, 7), PATTERN_CACHE_BYTES / 3);
    }
}
