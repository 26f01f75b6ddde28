//! The builder of an engine: options that cannot change later.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use solon_syntax::ast::{Module, Version};

use super::{Engine, FileLoad, Inner, LoadReport};
use crate::builtins::http::ResponseCache;
use crate::builtins::{
    BuiltinError, Capabilities, Graphs, HostFunction, Patterns, VerifiedSignatures,
};
use crate::compile::lower::{self, LoweringRecord};
use crate::compile::{self, Options};
use crate::error::{Error, OptionError};
use crate::host::{Host, OfflineHost};
use crate::limits::{Limits, PATTERN_CACHE, RESPONSE_CACHE_BYTES};
use crate::query::EngineShared;
use crate::snapshot::{CurrentSnapshot, Policy, SnapshotState, next_version_id};
use crate::store::{Contents, DataSnapshot, OriginRecord, Store, StoreError, StoredModule};
use crate::value::{Object, Repr, Value};

/// Options of a new engine.
///
/// ```
/// use solon::{Engine, Limits};
///
/// let limits = Limits::default().memory(Some(64 << 20));
/// let engine = Engine::builder().strict(true).limits(limits).build();
/// // strict mode rejects an unused import
/// assert!(engine.set_module("p.rego", "package p\nimport data.x\nallow := true").is_err());
/// ```
pub struct EngineBuilder {
    version: Version,
    options: Options,
    strict: Option<bool>,
    capabilities: Option<Arc<Capabilities>>,
    limits: Limits,
    host: Arc<dyn Host>,
    functions: Vec<HostFunction>,
    allow_base_conflicts: bool,
    response_cache: usize,
    pattern_cache: usize,
    signature_cache: usize,
    file_name: fn(&str) -> &str,
}

impl Default for EngineBuilder {
    fn default() -> Self {
        Self {
            version: Version::V1,
            options: Options::default(),
            strict: None,
            capabilities: None,
            limits: Limits::default(),
            host: Arc::new(OfflineHost),
            functions: Vec::new(),
            allow_base_conflicts: false,
            response_cache: RESPONSE_CACHE_BYTES,
            pattern_cache: PATTERN_CACHE,
            signature_cache: 0,
            file_name: |module| module,
        }
    }
}

impl EngineBuilder {
    /// Sets the Rego version of modules that do not declare one. Default: v1.
    #[must_use]
    pub fn version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }

    /// Turns the checks of strict mode on or off. Default: off. Takes precedence over [`Self::compiler`], in any order of calls.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = Some(strict);
        self
    }

    /// Sets all compiler options. The other methods take precedence, in any order of calls.
    #[must_use]
    pub fn compiler(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Sets the limits of each evaluation, unless its request has its own.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the host environment: clock, random source, network, environment variables, files. Default:
    /// [`OfflineHost`], which has the system's clock and random source, but neither network nor environment. A policy
    /// that uses the network then fails with an error, strict or not.
    #[must_use]
    pub fn host(mut self, host: Arc<dyn Host>) -> Self {
        self.host = host;
        self
    }

    /// Allows base documents at paths of rules. Such a document hides the rule when a document around both is read,
    /// which is seldom intended, so it is rejected by default.
    #[must_use]
    pub fn allow_base_conflicts(mut self, allow: bool) -> Self {
        self.allow_base_conflicts = allow;
        self
    }

    /// Sets the maximum size of cached responses of `http.send`, in bytes.
    #[must_use]
    pub fn response_cache(mut self, bytes: usize) -> Self {
        self.response_cache = bytes;
        self
    }

    /// Sets the maximum number of cached compiled patterns: regular expressions, globs and schemas that are not
    /// constants of a policy. Default: 4,096. They use at most 256 MB in any case.
    #[must_use]
    pub fn pattern_cache(mut self, entries: usize) -> Self {
        self.pattern_cache = entries;
        self
    }

    /// Sets the maximum number of verified token signatures (RSA, ECDSA, Ed25519) that are cached by their digests, so
    /// that a token of many requests is verified once for each key. Default: 0, which verifies signatures each time.
    #[must_use]
    pub fn signature_cache(mut self, entries: usize) -> Self {
        self.signature_cache = entries;
        self
    }

    /// Sets the function from a module's name to the file name in locations, messages, traces and syntax trees.
    /// Default: the name itself.
    #[must_use]
    pub fn file_name(mut self, file_name: fn(&str) -> &str) -> Self {
        self.file_name = file_name;
        self
    }

    /// Restricts the functions, keywords and hosts that policies may use. Default: no restriction.
    #[must_use]
    pub fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = Some(Arc::new(capabilities));
        self
    }

    /// Adds a host function, which policies call like a built-in.
    ///
    /// # Errors
    /// [`Error::Options`] if there is a function of this name already.
    pub fn function(mut self, function: HostFunction) -> Result<Self, Error> {
        let name = function.name();
        if self.has_function(name) {
            let message = format!("there is a function `{name}` already");
            return Err(OptionError::new(message).into());
        }
        self.functions.push(function);
        Ok(self)
    }

    /// Returns `true` if a host function of this name was added.
    pub fn has_function(&self, name: &str) -> bool {
        self.functions
            .iter()
            .any(|function| function.name() == name)
    }

    /// Combines the options once all are set, so that the order of the calls does not matter.
    fn resolve_options(&mut self) {
        let options = &mut self.options;
        options.strict = self.strict.unwrap_or(options.strict);
        options.capabilities = self.capabilities.take().or(options.capabilities.take());
        for function in &self.functions {
            let declaration = function.declaration.clone();
            options
                .functions
                .insert(function.name.to_string(), declaration);
            if function.waits {
                options.waiting.insert(function.name.clone());
            }
        }
    }

    /// Opens an engine with a persistent store. It starts with the stored policies and documents, and each change is
    /// committed to the store before it is published.
    ///
    /// ```
    /// use std::sync::{Arc, OnceLock};
    ///
    /// use solon::store::MemoryStore;
    /// use solon::{Engine, Request, Value};
    ///
    /// let store = Arc::new(MemoryStore::default());
    /// let engine = Engine::builder().open(store.clone())?;
    /// engine.set_module("p.rego", "package p\nallow := data.open")?;
    /// engine.put("data.open", Value::from(true))?;
    /// drop(engine);
    ///
    /// let engine = Engine::builder().open(store)?;
    /// let allow = engine.prepare_document("data.p.allow")?;
    /// assert_eq!(allow.evaluate(&Request::new())?, Some(Value::from(true)));
    /// # Ok::<(), solon::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Store`] if the store cannot be read, [`Error::Compile`] if its modules do not compile.
    pub fn open(self, store: Arc<dyn Store>) -> Result<Engine, Error> {
        let (engine, stored_modules) = self.load_store(store)?;
        engine.start_from(&stored_modules)?;
        Ok(engine)
    }

    /// Opens a store and replaces the files of earlier loads by new ones ([`Engine::load_files`]), as one change.
    /// Unlike [`Self::open`] it compiles modules once, and modules of files that the load replaces or removes need not
    /// compile.
    ///
    /// # Errors
    /// Errors of [`Self::open`] and [`Engine::load_files`]. The store is unchanged then.
    pub fn open_with_files(
        self,
        store: Arc<dyn Store>,
        load: FileLoad<'_>,
    ) -> Result<(Engine, LoadReport), Error> {
        let (engine, stored_modules) = self.load_store(store)?;
        let report = engine.load_onto(&stored_modules, load)?;
        Ok((engine, report))
    }

    /// Returns an engine with the documents and the origins of a store, and the store's modules, which are not compiled
    /// yet.
    fn load_store(self, store: Arc<dyn Store>) -> Result<(Engine, Vec<StoredModule>), Error> {
        let Contents {
            documents,
            modules,
            origins,
        } = store.load()?;
        if documents.as_object().is_none() {
            let message = "the documents of a store must be an object".to_owned();
            return Err(StoreError::Internal { message }.into());
        }
        let engine = self.build_with(documents);
        *engine.inner.changing.lock() = OriginRecord::stored(origins);
        engine.inner.store.get_or_init(|| store);
        Ok((engine, modules))
    }

    /// Returns an engine in memory, without policies and documents.
    pub fn build(self) -> Engine {
        self.build_with(Value(Repr::Object(Object::default())))
    }

    fn build_with(mut self, documents: Value) -> Engine {
        self.resolve_options();
        self.functions.extend(self.unsupported());
        let capabilities = self.options.capabilities.clone();
        // without modules only a schema can be invalid, and the first modules report that
        let compiled = compile::compile(Vec::<Arc<Module>>::new(), &self.options, None, |_, _| {});
        let compiled = compiled.unwrap_or_default();
        let program = lower::program(&[], self.functions.clone(), &self.options);
        let policy = Policy::new(
            BTreeMap::new(),
            compiled,
            program,
            LoweringRecord::default(),
        );
        let state = SnapshotState {
            version_id: next_version_id(),
            generation: 0,
            policy: Arc::new(policy),
            documents: Arc::new(DataSnapshot::new(documents, 0)),
            module_origins: None,
        };
        Engine {
            inner: Arc::new(Inner {
                version: self.version,
                options: self.options,
                shared: Arc::new(EngineShared {
                    host: self.host,
                    patterns: Patterns::new(self.pattern_cache),
                    graphs: Graphs::default(),
                    responses: ResponseCache::new(self.response_cache),
                    signatures: VerifiedSignatures::new(self.signature_cache),
                    limits: self.limits,
                    capabilities,
                    records: self.functions.iter().any(|function| !function.is_pure()),
                    now: CurrentSnapshot::new(state),
                }),
                store: OnceLock::new(),
                functions: self.functions,
                allow_base_conflicts: self.allow_base_conflicts,
                file_name: self.file_name,
                changing: Mutex::default(),
                next_source: AtomicU32::new(0),
                #[cfg(test)]
                damage: Mutex::default(),
            }),
        }
    }

    /// Returns stubs for functions that capabilities declare and that have no implementation, so that policies which
    /// call them compile.
    fn unsupported(&self) -> Vec<HostFunction> {
        let capabilities = self.options.capabilities.iter();
        let foreign = capabilities.flat_map(|capabilities| capabilities.foreign());
        let missing = foreign.filter(|(name, _)| !self.options.functions.contains_key(*name));
        let missing = missing.map(|(name, declaration)| {
            let function_name: Box<str> = name.into();
            HostFunction {
                name: name.into(),
                declaration: declaration.clone(),
                memoise: false,
                waits: false,
                body: Arc::new(move |_, _| Err(BuiltinError::unsupported(&function_name))),
            }
        });
        missing.collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::EngineBuilder;

    fn verifications(builder: EngineBuilder) -> usize {
        let engine = builder.build();
        let mut count = 0;
        for _ in 0..3 {
            let verify = || {
                count += 1;
                true
            };
            let signatures = &engine.inner.shared.signatures;
            assert!(signatures.has_signed(1, 9, (b"message", b"signature"), verify));
        }
        count
    }

    #[test]
    fn signatures_are_remembered_only_if_configured() {
        assert_eq!(verifications(EngineBuilder::default()), 3);
        assert_eq!(
            verifications(EngineBuilder::default().signature_cache(0)),
            3
        );
        assert_eq!(
            verifications(EngineBuilder::default().signature_cache(1)),
            1
        );
    }
}
