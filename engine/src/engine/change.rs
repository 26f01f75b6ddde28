//! Changes to modules and base documents.

use std::sync::Arc;

use solon_syntax::ast::Module;

use crate::store::{Operation, Path};
use crate::value::Value;

/// Changes that are applied as one.
#[derive(Default)]
pub struct Change {
    pub(super) modules: Vec<(String, Option<Text>)>,
    pub(super) writes: Vec<(Write, Path, Value)>,
}

pub(super) enum Text {
    Source(String),
    Parsed(Arc<Module>),
}

pub(super) enum Write {
    Put,
    Exactly(Operation),
}

impl Change {
    /// Adds or replaces a module.
    pub fn set_module(&mut self, name: &str, text: &str) -> &mut Self {
        self.modules
            .push((name.to_owned(), Some(Text::Source(text.to_owned()))));
        self
    }

    /// Adds or replaces a module that was parsed before.
    pub fn set_parsed_module(&mut self, name: &str, module: Arc<Module>) -> &mut Self {
        self.modules
            .push((name.to_owned(), Some(Text::Parsed(module))));
        self
    }

    /// Removes a module.
    pub fn remove_module(&mut self, name: &str) -> &mut Self {
        self.modules.push((name.to_owned(), None));
        self
    }

    /// Writes a document, making the objects around it.
    pub fn put(&mut self, path: Path, value: Value) -> &mut Self {
        self.writes.push((Write::Put, path, value));
        self
    }

    /// Adds, replaces or removes one document whose parent must exist.
    pub fn write(&mut self, operation: Operation, path: Path, value: Value) -> &mut Self {
        self.writes.push((Write::Exactly(operation), path, value));
        self
    }
}
