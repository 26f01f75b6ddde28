//! Errors of loads, with the origins of what they name.

use solon::bundle::Loaded;
use solon::store::{ClaimKind, Claims, Origin, Store, StoredModule};
use solon::{Engine, Error};

use crate::api::{file_name, policy_id};
use crate::cli::report::Report;

/// Policies and documents that do not come from the files of a load.
#[derive(Default)]
pub struct Kept {
    modules: Vec<StoredModule>,
    claims: Claims,
}

impl Kept {
    /// Reads those of a store. If it cannot be read there are none: this is for messages.
    pub fn by(store: &dyn Store) -> Self {
        let Ok(contents) = store.load() else {
            return Self::default();
        };
        Self {
            modules: contents.modules,
            claims: contents.origins.claims,
        }
    }

    /// Policies that are in force.
    pub fn in_force(engine: &Engine) -> Self {
        let now = engine.snapshot();
        let modules = now.modules().map(|(name, module)| {
            let stored = StoredModule::new(name, module.source.text.clone(), module.version);
            stored.with_origin(now.module_origin(name))
        });
        Self {
            modules: modules.collect(),
            claims: Claims::default(),
        }
    }

    /// The policies that the files of a load do not replace.
    fn modules<'k>(&'k self, loaded: &'k Loaded) -> impl Iterator<Item = &'k StoredModule> {
        let is_given = |id: &str| loaded.modules.keys().any(|name| policy_id(name) == id);
        self.modules
            .iter()
            .filter(move |module| match module.origin {
                Origin::Files => false,
                Origin::Client => true,
                _ => !is_given(policy_id(&module.name)),
            })
    }

    /// A line about a document that an error says to conflict with a rule; `None` if the document is a file's.
    fn document_note(&self, message: &str) -> Option<String> {
        let path = message.strip_prefix("conflicting rule for data path ")?;
        let path = path.strip_suffix(" found")?;
        let keys: Vec<String> = path.split('/').map(str::to_owned).collect();
        let mut around = (0..=keys.len()).rev();
        let claim = around.find_map(|length| self.claims.get(keys.get(..length)?))?;
        match claim.kind {
            ClaimKind::Whole => Some(format!("document `/{path}`: a client wrote it")),
            ClaimKind::Unknown => Some(format!("document `/{path}`: unknown origin")),
            _ => None,
        }
    }
}

/// An error of a load. Below it are the origins of policies and documents that it names and that the load's files do not give.
pub fn report(error: &Error, loaded: &Loaded, kept: &Kept) -> Report {
    let texts = |file: &str| {
        let mut modules = kept.modules(loaded);
        let module = modules.find(|module| file_name(&module.name) == file);
        let module = module.map(|module| module.text.to_string());
        module.or_else(|| loaded.text(file).map(str::to_owned))
    };
    let report = Report::of(error, &texts);
    let mut notes = Vec::new();
    for module in kept.modules(loaded) {
        if report.names(file_name(&module.name)) {
            let name = &module.name;
            notes.push(match module.origin {
                Origin::Client => format!("policy `{name}`: a client wrote it"),
                _ => format!("policy `{name}`: unknown origin"),
            });
        }
    }
    notes.extend(
        report
            .messages()
            .filter_map(|message| kept.document_note(message)),
    );
    report.noting(notes)
}
