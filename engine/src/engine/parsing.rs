//! Parsing of the modules of a change.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use solon_syntax::ast::{Module, Version};
use solon_syntax::source::{Diagnostics, Source, SourceId};
use solon_syntax::{parallel, parse_module};

use super::Engine;
use super::change::ModuleSource;

/// A changed module: its name, and the module or its errors, or `None` if it is removed.
pub(super) type ParsedChange = (String, Option<Result<Arc<Module>, Diagnostics>>);

struct ModuleText<'t> {
    id: SourceId,
    name: &'t str,
    text: &'t str,
    version: Version,
}

impl Engine {
    /// Parses the modules of a change. The results are in the order of the change.
    pub(super) fn parse_change(
        &self,
        change: Vec<(String, Option<ModuleSource>)>,
    ) -> Vec<ParsedChange> {
        let texts = change.iter().filter_map(|(name, source)| match source {
            Some(ModuleSource::Source(text, version)) => Some(ModuleText {
                id: self.next_source_id(),
                name,
                text,
                version: version.unwrap_or(self.inner.version),
            }),
            _ => None,
        });
        let texts: Vec<ModuleText<'_>> = texts.collect();
        let parsed = parallel::map(&texts, |text| text.text.len(), |text| self.parse_text(text));
        let mut parsed = parsed.into_iter();
        let modules = change.into_iter().map(|(name, source)| {
            let module = match source {
                Some(ModuleSource::Source(..)) => parsed.next(),
                Some(ModuleSource::Parsed(module)) => Some(Ok(module)),
                None => None,
            };
            (name, module)
        });
        modules.collect()
    }

    /// Returns a new id of a source. Ids are not reused.
    pub(super) fn next_source_id(&self) -> SourceId {
        SourceId(self.inner.next_source.fetch_add(1, Ordering::Relaxed))
    }

    /// Returns a query or a reference as a source without a file name.
    pub(super) fn query_text(&self, text: &str) -> Source {
        Source::new(self.next_source_id(), "", text)
    }

    fn parse_text(&self, text: &ModuleText<'_>) -> Result<Arc<Module>, Diagnostics> {
        let options = self.inner.parse_options(text.version)?;
        let source = Source::new(text.id, (self.inner.file_name)(text.name), text.text);
        parse_module(&source, &options).map(Arc::new)
    }
}
