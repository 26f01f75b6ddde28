//! Parsed items, so that an item that has not changed is parsed once.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::time::Instant;

use crate::db::Item;
use crate::error::ApiError;
use crate::limits;
use crate::model::{Bundle, Compat, FieldPath, Origin, Reader, Resource, Source, Stack};

/// Parsed bundles, sources and stacks.
#[derive(Default)]
pub struct ParsedItems {
    pub(super) bundles: ParsedCache<Bundle>,
    pub(super) sources: ParsedCache<Source>,
    pub(super) stacks: ParsedCache<Stack>,
}

/// Parsed items of a kind, by name. Takes a lock for each access.
pub(super) struct ParsedCache<R>(Mutex<ParsedByName<R>>);

struct ParsedByName<R> {
    by_name: HashMap<String, ParsedItem<R>>,
    /// The sizes of all bodies.
    bytes: usize,
}

struct ParsedItem<R> {
    body: String,
    parsed: Arc<R>,
    used: Instant,
}

impl ParsedItems {
    /// Forgets items that were not used for `age`. Takes the lock of each kind.
    pub fn forget(&self, age: Duration) {
        self.bundles.forget(age);
        self.sources.forget(age);
        self.stacks.forget(age);
    }
}

impl<R> Default for ParsedCache<R> {
    fn default() -> Self {
        Self(Mutex::new(ParsedByName {
            by_name: HashMap::new(),
            bytes: 0,
        }))
    }
}

impl<R: Resource> ParsedCache<R> {
    /// Returns a stored item, parsed.
    ///
    /// # Errors
    /// The item is invalid.
    pub fn parse(&self, item: &Item) -> Result<Arc<R>, ApiError> {
        let name = &item.head.name;
        if let Some(entry) = self.0.lock().by_name.get_mut(name)
            && entry.body == item.body
        {
            entry.used = Instant::now();
            return Ok(entry.parsed.clone());
        }
        let parsed = Arc::new(parse::<R>(item)?);
        self.0.lock().insert(name, &item.body, parsed.clone());
        Ok(parsed)
    }

    fn forget(&self, age: Duration) {
        let ParsedByName { by_name, bytes } = &mut *self.0.lock();
        by_name.retain(|_, entry| {
            let is_used = entry.used.elapsed() < age;
            if !is_used {
                *bytes -= entry.body.len();
            }
            is_used
        });
    }
}

impl<R> ParsedByName<R> {
    /// Replaces the entry of a name. An item that exceeds the limit is not kept.
    fn insert(&mut self, name: &str, body: &str, parsed: Arc<R>) {
        if let Some(before) = self.by_name.remove(name) {
            self.bytes -= before.body.len();
        }
        if self.bytes + body.len() > limits::PARSED_ITEMS {
            return;
        }
        self.bytes += body.len();
        let entry = ParsedItem {
            body: body.to_owned(),
            parsed,
            used: Instant::now(),
        };
        self.by_name.insert(name.to_owned(), entry);
    }
}

/// Parses a stored item. Its paths were checked against its origin when it was written.
fn parse<R: Resource>(item: &Item) -> Result<R, ApiError> {
    let kind = R::KIND.singular();
    let name = &item.head.name;
    let wrong = |message: String| ApiError::invalid(format!("{kind} {name:?}: {message}"));
    let value: Value =
        serde_json::from_str(&item.body).map_err(|error| wrong(error.to_string()))?;
    let mut reader = Reader::new(Compat::Ocp, Origin::File);
    let mut found = R::read(&mut reader, &FieldPath::Root, &value);
    found.set_name(name);
    let found = reader.finish(found);
    found.map_err(|problems| wrong(problems.to_string()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::ParsedCache;
    use crate::db::{Item, ItemHead};
    use crate::limits;
    use crate::model::{Resource as _, Source};

    fn source(name: &str, directory: &str) -> Item {
        Item {
            head: ItemHead {
                id: 1,
                name: name.to_owned(),
                version: 1,
                owner: None,
                file: None,
            },
            body: format!("{{\"directory\": \"{directory}\"}}"),
        }
    }

    fn sizes(cache: &ParsedCache<Source>) -> (usize, usize) {
        let entries = cache.0.lock();
        let bodies = entries.by_name.values().map(|entry| entry.body.len());
        assert_eq!(entries.bytes, bodies.sum::<usize>());
        (entries.by_name.len(), entries.bytes)
    }

    #[test]
    fn an_item_is_parsed_again_if_its_text_differs() {
        let cache = ParsedCache::<Source>::default();
        let first = cache.parse(&source("a", "x")).unwrap();
        let same = cache.parse(&source("a", "x")).unwrap();
        assert!(Arc::ptr_eq(&first, &same));
        // the version and the id of a deleted item may be those of a new one
        let changed = cache.parse(&source("a", "yy")).unwrap();
        assert_eq!(
            (first.directory.as_str(), changed.directory.as_str()),
            ("x", "yy")
        );
        let other = cache.parse(&source("b", "yy")).unwrap();
        assert_eq!((changed.name(), other.name()), ("a", "b"));
        let mut invalid = source("a", "yy");
        invalid.body = "{\"directory\": 1}".to_owned();
        assert!(cache.parse(&invalid).is_err());
        assert_eq!(sizes(&cache), (2, 2 * source("a", "yy").body.len()));
    }

    #[test]
    fn memory_is_bounded() {
        let cache = ParsedCache::<Source>::default();
        let text = "x".repeat(1 << 19);
        let fitting = limits::PARSED_ITEMS / source("a", &text).body.len();
        for number in 0..fitting + 2 {
            let parsed = cache.parse(&source(&number.to_string(), &text)).unwrap();
            assert_eq!(parsed.directory, text);
        }
        assert_eq!(sizes(&cache).0, fitting);
        let (last, excess) = ((fitting - 1).to_string(), fitting.to_string());
        let parse = |name: &str, text: &str| cache.parse(&source(name, text)).unwrap();
        assert!(Arc::ptr_eq(&parse(&last, &text), &parse(&last, &text)));
        assert!(!Arc::ptr_eq(&parse(&excess, &text), &parse(&excess, &text)));
        // a smaller text of one item makes room for another
        parse(&last, "x");
        assert!(Arc::ptr_eq(&parse(&excess, &text), &parse(&excess, &text)));
    }

    #[tokio::test(start_paused = true)]
    async fn unused_items_are_forgotten() {
        let (cache, age) = (ParsedCache::<Source>::default(), Duration::from_mins(1));
        cache.parse(&source("a", "x")).unwrap();
        cache.parse(&source("b", "x")).unwrap();
        tokio::time::advance(age / 2).await;
        cache.parse(&source("b", "x")).unwrap();
        tokio::time::advance(age / 2).await;
        cache.forget(age);
        assert_eq!(sizes(&cache), (1, source("b", "x").body.len()));
        tokio::time::advance(age).await;
        cache.forget(age);
        assert_eq!(sizes(&cache), (0, 0));
    }
}
