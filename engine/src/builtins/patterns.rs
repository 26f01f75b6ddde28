//! Cache of compiled dynamic patterns.
//!
//! Readers use an immutable snapshot of the table, so threads neither wait for each other nor contend on a reference
//! count. New patterns are collected under a lock, and a new snapshot is published when that is worth a copy of the
//! table.

use std::any::Any;
use std::cell::Cell;
use std::hash::BuildHasher;
use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};
use hashbrown::HashTable;
use parking_lot::Mutex;
use smallvec::SmallVec;

use crate::bug::bug;
use crate::limits::{PATTERN_BYTES, PATTERN_CACHE, PATTERN_CACHE_BYTES};

/// Bounded cache of compiled patterns that are not constant, by family and text.
pub struct Patterns {
    snapshot: ArcSwap<PatternTable>,
    recent: Mutex<Recent>,
    state: foldhash::fast::RandomState,
    /// Maximum number of patterns.
    most: usize,
}

impl Default for Patterns {
    fn default() -> Self {
        Self::new(PATTERN_CACHE)
    }
}

/// Kind of a pattern, which determines the type of the compiled form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Regular expressions, in Go's syntax.
    Regex,
    /// Text with regular expressions between delimiters.
    Delimited,
    /// Globs, prefixed with their delimiters.
    Glob,
    /// JSON schemas, by their text.
    JsonSchema,
    /// GraphQL schemas, by their text.
    GraphQl,
    /// Keys that verify tokens.
    JwtKeys,
    /// Digests of signatures, which have a cache of their own.
    Signature,
    /// Templates of `strings.render_template`.
    Template,
    /// Layouts of times, in Go's notation.
    TimeLayout,
    /// Time zones, by name.
    TimeZone,
    /// Patterns of the tests of this module.
    #[cfg(test)]
    Test,
}

/// A compiled pattern.
pub trait CompiledPattern: Any + Send + Sync {
    /// Returns the approximate memory size in bytes.
    fn bytes(&self) -> usize;
}

struct CachedPattern {
    hash: u64,
    family: Family,
    /// Inline if short, because cache misses dominate the cost of a lookup.
    text: SmallVec<[u8; 32]>,
    pattern: Arc<dyn Any + Send + Sync>,
    bytes: usize,
}

/// Immutable table for readers.
#[derive(Default)]
struct PatternTable(HashTable<Arc<CachedPattern>>);

/// Patterns, and their indexes by hash.
#[derive(Default)]
struct PatternList {
    entries: Vec<Arc<CachedPattern>>,
    indexes: HashTable<u32>,
    bytes: usize,
}

/// Current patterns, and how outdated the snapshot is.
#[derive(Default)]
struct Recent {
    patterns: PatternList,
    /// Number of lookups that the snapshot missed since it was published.
    behind: usize,
    /// Advanced with each eviction.
    eviction_cursor: u64,
}

#[derive(Clone, Copy)]
struct PatternKey<'t> {
    hash: u64,
    family: Family,
    text: &'t [u8],
}

impl PatternKey<'_> {
    #[inline]
    fn matches(&self, entry: &CachedPattern) -> bool {
        entry.hash == self.hash && entry.family == self.family && *entry.text == *self.text
    }
}

impl PatternTable {
    fn new(entries: &[Arc<CachedPattern>]) -> Self {
        let mut table = HashTable::with_capacity(entries.len());
        for entry in entries {
            table.insert_unique(entry.hash, entry.clone(), |entry| entry.hash);
        }
        Self(table)
    }

    #[inline]
    fn find(&self, pattern_key: PatternKey<'_>) -> Option<&Arc<CachedPattern>> {
        self.0
            .find(pattern_key.hash, |entry| pattern_key.matches(entry))
    }
}

impl PatternList {
    fn find(&self, pattern_key: PatternKey<'_>) -> Option<&Arc<CachedPattern>> {
        let index = self.indexes.find(pattern_key.hash, |index| {
            let entry = self.entries.get(*index as usize);
            entry.is_some_and(|entry| pattern_key.matches(entry))
        })?;
        self.entries.get(*index as usize)
    }

    fn insert(&mut self, entry: Arc<CachedPattern>) {
        let Self {
            entries,
            indexes,
            bytes,
        } = self;
        *bytes += entry.bytes;
        #[expect(clippy::cast_possible_truncation, reason = "the cache is bounded")]
        let index = entries.len() as u32;
        let hash = entry.hash;
        entries.push(entry);
        indexes.insert_unique(hash, index, |index| {
            entries.get(*index as usize).map_or_else(
                || bug!("a place of the cache without an entry"),
                |entry| entry.hash,
            )
        });
    }

    /// Removes a pattern. The last one moves to its index.
    fn remove(&mut self, index: usize) {
        if index >= self.entries.len() {
            return;
        }
        let entry = self.entries.swap_remove(index);
        self.bytes -= entry.bytes;
        if let Ok(slot) = self
            .indexes
            .find_entry(entry.hash, |patterns| *patterns as usize == index)
        {
            slot.remove();
        }
        let from = self.entries.len();
        if let Some(moved_entry) = self.entries.get(index)
            && let Some(slot) = self
                .indexes
                .find_mut(moved_entry.hash, |patterns| *patterns as usize == from)
        {
            #[expect(clippy::cast_possible_truncation, reason = "the cache is bounded")]
            let index = index as u32;
            *slot = index;
        }
    }
}

impl Recent {
    /// Evicts patterns until there is space. Victims are pseudo-random: with LRU, a cycle through more patterns than
    /// the limit would never hit the cache.
    fn make_room(&mut self, bytes: usize, max_entries: usize) {
        while !self.patterns.entries.is_empty()
            && (self.patterns.entries.len() >= max_entries
                || self.patterns.bytes + bytes > PATTERN_CACHE_BYTES)
        {
            self.eviction_cursor = self
                .eviction_cursor
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
            let index = usize::try_from(self.eviction_cursor >> 33).unwrap_or_default();
            self.patterns.remove(index % self.patterns.entries.len());
        }
    }
}

impl Patterns {
    /// Returns a cache of at most `max_entries` patterns. Its memory is limited, too.
    pub fn new(max_entries: usize) -> Self {
        Self {
            snapshot: ArcSwap::default(),
            recent: Mutex::default(),
            state: foldhash::fast::RandomState::default(),
            // indexes have 32 bits
            most: max_entries.min(u32::MAX as usize),
        }
    }

    #[inline]
    fn pattern_key<'t>(&self, family: Family, text: &'t [u8]) -> PatternKey<'t> {
        let hash = self.state.hash_one((family, text));
        PatternKey { hash, family, text }
    }

    /// Returns a pattern that the snapshot does not contain, compiled if necessary.
    #[cold]
    fn recent<T: CompiledPattern, E>(
        &self,
        pattern_key: PatternKey<'_>,
        compile: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let lookup = |recent: &Recent| {
            let entry = recent.patterns.find(pattern_key)?;
            entry.pattern.clone().downcast::<T>().ok()
        };
        let mut recent = self.recent.lock();
        if let Some(pattern) = lookup(&recent) {
            self.fall_behind(&mut recent);
            return Ok(pattern);
        }
        drop(recent);
        let compiled = Arc::new(compile()?);
        let bytes = compiled.bytes() + pattern_key.text.len();
        if bytes > PATTERN_BYTES || self.most == 0 {
            return Ok(compiled);
        }
        let mut recent = self.recent.lock();
        // another thread may have compiled it in the meantime
        if let Some(pattern) = lookup(&recent) {
            return Ok(pattern);
        }
        recent.make_room(bytes, self.most);
        recent.patterns.insert(Arc::new(CachedPattern {
            hash: pattern_key.hash,
            family: pattern_key.family,
            text: pattern_key.text.into(),
            pattern: compiled.clone(),
            bytes,
        }));
        self.fall_behind(&mut recent);
        Ok(compiled)
    }

    /// Records a miss of the snapshot, and publishes a new snapshot if there were too many for its size.
    fn fall_behind(&self, recent: &mut Recent) {
        /// Number of misses that triggers a new snapshot, as a fraction of the number of patterns.
        const PART: usize = 4;
        recent.behind += 1;
        if recent.behind * PART >= recent.patterns.entries.len() {
            recent.behind = 0;
            let snapshot = PatternTable::new(&recent.patterns.entries);
            self.snapshot.store(Arc::new(snapshot));
        }
    }
}

/// The cache as one evaluation sees it: all lookups of the evaluation share one snapshot while they hit it.
pub struct PatternsView<'e> {
    patterns: &'e Patterns,
    snapshot: Cell<Option<Guard<Arc<PatternTable>>>>,
}

impl<'e> PatternsView<'e> {
    /// Returns a view without a snapshot.
    #[inline]
    pub fn new(patterns: &'e Patterns) -> Self {
        let snapshot = Cell::new(None);
        Self { patterns, snapshot }
    }

    /// Calls `run` with the compiled form of `text`, compiled if necessary.
    #[inline]
    pub fn with<T: CompiledPattern, E, R>(
        &self,
        family: Family,
        text: &[u8],
        compile: impl FnOnce() -> Result<T, E>,
        run: impl FnOnce(&T) -> R,
    ) -> Result<R, E> {
        let pattern_key = self.patterns.pattern_key(family, text);
        let snapshot = self.snapshot();
        if let Some(entry) = snapshot.find(pattern_key)
            && let Some(pattern) = entry.pattern.downcast_ref::<T>()
        {
            let result = run(pattern);
            self.snapshot.set(Some(snapshot));
            return Ok(result);
        }
        // the next lookup loads a new snapshot, which may contain it
        drop(snapshot);
        let pattern = self.patterns.recent(pattern_key, compile)?;
        Ok(run(&pattern))
    }

    /// Returns the compiled form of `text`, compiled if necessary.
    pub fn get<T: CompiledPattern, E>(
        &self,
        family: Family,
        text: &[u8],
        compile: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let pattern_key = self.patterns.pattern_key(family, text);
        let snapshot = self.snapshot();
        if let Some(entry) = snapshot.find(pattern_key)
            && let Ok(pattern) = entry.pattern.clone().downcast::<T>()
        {
            self.snapshot.set(Some(snapshot));
            return Ok(pattern);
        }
        drop(snapshot);
        self.patterns.recent(pattern_key, compile)
    }

    #[inline]
    fn snapshot(&self) -> Guard<Arc<PatternTable>> {
        let cached = self.snapshot.take();
        cached.unwrap_or_else(|| self.patterns.snapshot.load())
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::{CompiledPattern, Family, Patterns, PatternsView};
    use crate::limits::{PATTERN_BYTES, PATTERN_CACHE, PATTERN_CACHE_BYTES};

    struct Sized(usize);

    impl CompiledPattern for Sized {
        fn bytes(&self) -> usize {
            self.0
        }
    }

    fn fill(patterns: &Patterns, text: usize, bytes: usize) -> usize {
        let text = text.to_string();
        let compile = || Ok::<_, Infallible>(Sized(bytes));
        let view = PatternsView::new(patterns);
        let size = view.get(Family::Test, text.as_bytes(), compile);
        let size = size.map_or(0, |size| size.0);
        // both functions agree, with and without a hit in the snapshot
        let compile = || Ok::<_, Infallible>(Sized(bytes));
        let second_size = view.with(Family::Test, text.as_bytes(), compile, |pattern| pattern.0);
        assert_eq!(second_size, Ok(size));
        size
    }

    fn count(patterns: &Patterns) -> usize {
        let recent = patterns.recent.lock();
        let list = &recent.patterns;
        assert_eq!(list.entries.len(), list.indexes.len());
        assert!(patterns.snapshot.load().0.len() <= patterns.most);
        list.entries.len()
    }

    #[test]
    fn the_cache_is_bounded_in_patterns_and_bytes() {
        let patterns = Patterns::default();
        for text in 0..2 * PATTERN_CACHE {
            assert_eq!(fill(&patterns, text, 1), 1);
            assert!(count(&patterns) <= PATTERN_CACHE);
        }
        assert_eq!(count(&patterns), PATTERN_CACHE);
        // the largest pattern must leave space for others
        const { assert!(PATTERN_BYTES <= PATTERN_CACHE_BYTES / 4) };
        let largest = PATTERN_BYTES - 1;
        for text in 0..10 {
            fill(&patterns, text, largest);
            let patterns = &patterns.recent.lock().patterns;
            assert!(patterns.bytes <= PATTERN_CACHE_BYTES);
            assert!(patterns.entries.len() > 3);
        }
        // cached patterns are not compiled again
        assert_eq!(fill(&patterns, 9, 7), largest);
        // patterns above the size limit are not cached
        assert_eq!(fill(&patterns, 10, PATTERN_BYTES), PATTERN_BYTES);
        assert_eq!(fill(&patterns, 10, 1), 1);
    }

    #[test]
    fn the_number_of_cached_patterns_is_limited() {
        for max_entries in [0, 1, 5] {
            let patterns = Patterns::new(max_entries);
            for text in 0..20 {
                let size = fill(&patterns, text, 1);
                assert_eq!(size, 1);
                assert_eq!(count(&patterns), max_entries.min(text + 1));
            }
        }
    }

    #[test]
    fn used_patterns_are_added_to_the_snapshot() {
        let patterns = Patterns::default();
        for round in 0..8 {
            for text in 0..1000 {
                assert_eq!(fill(&patterns, text, 1 + round), 1);
            }
        }
        assert_eq!(patterns.snapshot.load().0.len(), 1000);
    }

    #[test]
    fn more_patterns_than_the_limit_in_rotation_still_hit_the_cache() {
        let patterns = Patterns::default();
        let count_of_patterns = PATTERN_CACHE + PATTERN_CACHE / 4;
        let mut compiled = 0;
        for text in (0..4 * count_of_patterns).map(|index| index % count_of_patterns) {
            let compile = || {
                compiled += 1;
                Ok::<_, Infallible>(Sized(1))
            };
            let text = text.to_string();
            let view = PatternsView::new(&patterns);
            assert!(view.get(Family::Test, text.as_bytes(), compile).is_ok());
        }
        assert!(compiled < 3 * count_of_patterns, "{compiled}");
    }
}
