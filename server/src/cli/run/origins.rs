//! Load errors with the origins of the policies and documents that they name.

use solon::bundle::Loaded;
use solon::store::{ClaimKind, Claims, Origin, Store, StoredModule};
use solon::{Engine, Error};

use crate::api::{file_name, policy_id};
use crate::cli::report::Report;

/// Policies and documents that are not from the files of a load.
#[derive(Default)]
pub struct ClientContents {
    modules: Vec<StoredModule>,
    claims: Claims,
}

impl ClientContents {
    /// Reads the contents of a store. Returns none if it cannot be read, because they are used only for messages.
    pub fn by(store: &dyn Store) -> Self {
        let Ok(contents) = store.load() else {
            return Self::default();
        };
        Self {
            modules: contents.modules,
            claims: contents.origins.claims,
        }
    }

    /// Returns the active policies.
    pub fn in_force(engine: &Engine) -> Self {
        let now = engine.snapshot();
        let modules = now.modules().map(|(name, module)| {
            let stored_module = StoredModule::new(name, module.source.text.clone(), module.version);
            stored_module.with_origin(now.module_origin(name))
        });
        Self {
            modules: modules.collect(),
            claims: Claims::default(),
        }
    }

    /// Returns the policies that the files of a load do not replace.
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

    /// Returns a line about a document that, according to an error, conflicts with a rule. Returns `None` if the document is from a
    /// file.
    fn document_note(&self, message: &str) -> Option<String> {
        let path = message.strip_prefix("conflicting rule for data path ")?;
        let path = path.strip_suffix(" found")?;
        let keys: Vec<String> = path.split('/').map(str::to_owned).collect();
        let mut prefix_lengths = (0..=keys.len()).rev();
        let claim = prefix_lengths.find_map(|length| self.claims.get(keys.get(..length)?))?;
        match claim.kind {
            ClaimKind::Whole => Some(format!("document `/{path}`: a client wrote it")),
            ClaimKind::Unknown => Some(format!("document `/{path}`: unknown origin")),
            _ => None,
        }
    }
}

/// Creates a report of a load error, with the origins of the policies and documents that it names and that are not in the load's
/// files.
pub fn report(error: &Error, loaded: &Loaded, client_contents: &ClientContents) -> Report {
    let texts = |file: &str| {
        let mut modules = client_contents.modules(loaded);
        let module = modules.find(|module| file_name(&module.name) == file);
        let module = module.map(|module| module.text.to_string());
        module.or_else(|| loaded.text(file).map(str::to_owned))
    };
    let report = Report::of_error(error, &texts);
    let mut notes = Vec::new();
    for module in client_contents.modules(loaded) {
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
            .filter_map(|message| client_contents.document_note(message)),
    );
    report.noting(notes)
}
