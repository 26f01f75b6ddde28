//! Building bundles: compiling, optimising, formatting and signing what was loaded.

mod entry_points;
mod layout;
mod optimizer;
mod output;

use std::fmt;
use std::sync::Arc;

use solon_syntax::ast::Version;

use crate::builtins::Capabilities;
use crate::bundle::{Bundle, BundleKind, syntax_errors};
use crate::compile::Options;
use crate::engine::{Change, Engine};
use crate::error::Error;
use crate::store::Path;
use crate::value::{Repr, Value};

/// Builds bundles as `opa build` does.
///
/// ```
/// use solon::bundle::{BundleFile, BundleReader};
/// use solon::{BundleBuilder, Version};
///
/// let text = "package authz\nallow if input.role == data.authz.role";
/// let file = |path: &str, text: &str| BundleFile { path: path.to_owned(), bytes: text.into() };
/// let files = vec![file("/p.rego", text), file("/authz/data.json", r#"{"role": "admin"}"#)];
/// let bundle = BundleReader::new("authz").read_files(files)?;
/// let builder = BundleBuilder::new(Version::V1).optimize(2).entry_points(vec!["authz/allow".to_owned()]);
/// let built = builder.build(bundle)?;
/// let text = &built.modules[0].module.source.text;
/// assert!(text.contains(r#"input.role = "admin""#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct BundleBuilder {
    version: Version,
    capabilities: Option<Arc<Capabilities>>,
    entry_points: Vec<String>,
    level: i64,
    namespace: String,
    revision: Option<String>,
}

/// The reason why a bundle was not built. The text is OPA's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError(String);

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BuildError {}

impl BuildError {
    fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    fn from_error(error: &Error) -> Self {
        match error {
            Error::Compile(diagnostics) => Self(syntax_errors(diagnostics, b"")),
            other => Self(other.to_string()),
        }
    }
}

impl BundleBuilder {
    /// Returns a builder of bundles that are not optimised. `version` is the version of policies that the optimiser makes.
    pub fn new(version: Version) -> Self {
        Self {
            version,
            capabilities: None,
            entry_points: Vec::new(),
            level: 0,
            namespace: "partial".to_owned(),
            revision: None,
        }
    }

    /// Sets the functions and features that policies may use.
    #[must_use]
    pub fn capabilities(self, capabilities: Option<Arc<Capabilities>>) -> Self {
        Self {
            capabilities,
            ..self
        }
    }

    /// Sets the documents that clients query, by paths such as `authz/allow`. Documents whose METADATA has `entrypoint: true` are
    /// entry points as well.
    #[must_use]
    pub fn entry_points(self, entry_points: Vec<String>) -> Self {
        Self {
            entry_points,
            ..self
        }
    }

    /// Sets the level of optimisation: 0 for none, 1 to evaluate what does not depend on the input, 2 to inline rules as well.
    #[must_use]
    pub fn optimize(self, level: i64) -> Self {
        Self { level, ..self }
    }

    /// Sets the package below `data` for rules that the optimiser makes of negated expressions; `partial` unless set.
    #[must_use]
    pub fn namespace(self, namespace: impl Into<String>) -> Self {
        let namespace = namespace.into();
        Self { namespace, ..self }
    }

    /// Sets the revision in the manifest; `None` sets none.
    #[must_use]
    pub fn revision(self, revision: Option<String>) -> Self {
        Self { revision, ..self }
    }

    /// Builds a bundle. The result has formatted policies and is ready for [`Bundle::to_files`].
    ///
    /// # Errors
    /// Policies that do not compile, optimisation without entry points, or an entry point that is always undefined.
    pub fn build(&self, bundle: Bundle) -> Result<Bundle, BuildError> {
        self.build_reporting(bundle, &mut |_| {})
    }

    /// Builds a bundle and reports the steps of the optimisation, a line each.
    ///
    /// # Errors
    /// Fails as [`Self::build`] does.
    pub fn build_reporting(
        &self,
        mut bundle: Bundle,
        report: &mut dyn FnMut(&str),
    ) -> Result<Bundle, BuildError> {
        let entry_points = entry_points::resolve(&self.entry_points, &bundle);
        if self.level > 0 && entry_points.is_empty() {
            let message = "bundle optimizations require at least one entrypoint";
            return Err(BuildError::new(message));
        }
        for module in &bundle.modules {
            let mut steps = module.path.split('/');
            if steps.any(|step| step == "..") {
                let path = module.path.trim_start_matches('/');
                return Err(BuildError::new(format!(
                    "invalid path `{path}`: `..` is not allowed in bundles, run the command in a folder that contains all files"
                )));
            }
        }
        let mut modules = output::modules_of(&bundle)?;
        if self.level > 0 && bundle.kind() == BundleKind::Snapshot {
            modules = self.optimized(&bundle, modules, &entry_points, report)?;
            let has_namespace = bundle.manifest.roots().iter().any(|root| {
                Path::from_slashes(&self.namespace)
                    .segments()
                    .starts_with(Path::from_slashes(root).segments())
            });
            if !has_namespace {
                let mut roots = bundle.manifest.roots();
                roots.push(self.namespace.clone());
                bundle.manifest.roots = Some(roots);
            }
            bundle.manifest.revision = String::new();
        } else {
            let (engine, change) = self.prepare(&modules, &bundle.documents);
            let result = engine.validate(change);
            result.map_err(|error| BuildError::from_error(&error))?;
        }
        if let Some(revision) = &self.revision {
            bundle.manifest.revision.clone_from(revision);
        }
        output::write(&mut bundle, modules, self.version)?;
        Ok(bundle)
    }

    /// Compiles policies. Documents may conflict with them, which is checked when a bundle is activated.
    fn compiled(
        &self,
        modules: &[output::OutputModule],
        documents: &Value,
    ) -> Result<Engine, Error> {
        let (engine, change) = self.prepare(modules, documents);
        engine.apply(change)?;
        Ok(engine)
    }

    /// Returns an engine, and the change that adds the policies and documents to it.
    fn prepare(&self, modules: &[output::OutputModule], documents: &Value) -> (Engine, Change) {
        // OPA's builds erase calls of `print`
        let options = Options::default()
            .capabilities(self.capabilities.clone())
            .print(false);
        let engine = Engine::builder()
            .version(self.version)
            .compiler(options)
            .allow_base_conflicts(true)
            .build();
        let mut change = Change::default();
        for module in modules {
            change.set_parsed_module(&module.path, module.module.clone());
        }
        if matches!(documents, Value(Repr::Object(_))) {
            change.put(Path::default(), documents.clone());
        }
        (engine, change)
    }
}
