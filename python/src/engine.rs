//! `solon.Engine`.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use ::engine::store::Operation;
use ::engine::{
    Change as EngineChange, EngineBuilder, FilterOptions, FilterTarget, OptionError,
    PartialOptions, Value, json, yaml,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::asynchronous::on_pool;
use crate::bundle::{self, Bundle, BundleKey, Origin};
use crate::change::Change;
use crate::convert::{from_python, json_to_python, to_python};
use crate::document::Document;
use crate::error::{from_engine, option_error};
use crate::filters::Filter;
use crate::function;
use crate::guard::detached;
use crate::input::{Text, given};
use crate::measures::Metrics;
use crate::options::builder;
use crate::partial::Partial;
use crate::path;
use crate::query::Query;
use crate::settings::Settings;
use crate::shared::{Context, Shared};
use crate::snapshot::Snapshot;

/// One target of filters, or several.
#[derive(FromPyObject)]
enum Targets {
    One(String),
    Several(Vec<String>),
}

/// A policy engine: modules and data, evaluated from any number of threads.
///
/// Options:
///
/// - ``decimal=True`` returns numbers with a fraction or an exponent as exact ``decimal.Decimal``, instead of ``float``.
/// - ``datetimes`` converts dates and times in inputs to ``"rfc3339"`` text or to ``"ns"`` since 1970; otherwise they are
///   rejected.
/// - ``rego`` is the default language of modules, ``"v1"`` or ``"v0"``. ``strict`` enables the checks of strict mode.
/// - ``time_limit`` in seconds and ``step_limit`` bound a decision (unlimited by default), ``memory_limit`` bounds its bytes (1
///   GiB by default), and ``explanation_limit`` those of its explanation (256 MiB).
/// - ``response_cache`` is the size of the cache of ``http.send`` responses in bytes (64 MiB).
/// - ``offline=True`` disables the network: a network request raises ``EvalError``. ``now``, in nanoseconds since 1970, fixes the
///   clock and implies ``offline``.
/// - ``capabilities`` is JSON text in OPA's format with the features that policies may use; ``allow_net`` lists the hosts that
///   they may connect to.
/// - ``allow_base_conflicts=True`` allows data at the paths of rules.
#[pyclass(frozen, module = "solon")]
pub struct Engine {
    /// Initialized on first use, because functions are added before that.
    shared: OnceLock<Shared>,
    plan: Mutex<Option<EngineBuilder>>,
    settings: Settings,
}

impl Engine {
    fn planned(builder: EngineBuilder, settings: Settings) -> Self {
        Self {
            shared: OnceLock::new(),
            plan: Mutex::new(Some(builder)),
            settings,
        }
    }

    /// Wraps an engine that was created elsewhere.
    #[cfg(feature = "testing")]
    pub fn from_engine(engine: ::engine::Engine, settings: Settings) -> Self {
        let shared = Shared { engine, settings };
        Self {
            shared: shared.into(),
            plan: Mutex::default(),
            settings,
        }
    }

    fn shared(&self) -> &Shared {
        self.shared.get_or_init(|| {
            let mut plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
            let plan = plan.take();
            Shared {
                engine: plan.map_or_else(::engine::Engine::new, EngineBuilder::build),
                settings: self.settings,
            }
        })
    }

    fn engine(&self) -> &::engine::Engine {
        &self.shared().engine
    }
}

#[pymethods]
#[expect(
    clippy::too_many_arguments,
    clippy::fn_params_excessive_bools,
    reason = "Python's keyword arguments"
)]
#[expect(
    clippy::needless_pass_by_value,
    reason = "text cannot be borrowed from an object of the stable ABI"
)]
impl Engine {
    #[new]
    #[pyo3(signature = (*, decimal=false, datetimes=None, **options))]
    fn new(
        decimal: bool,
        datetimes: Option<String>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let settings = Settings::read(decimal, datetimes.as_deref())?;
        Ok(Self::planned(builder(options)?, settings))
    }

    /// Registers a Python function that policies call like a built-in function: ``@engine.function`` under its own name, or
    /// ``@engine.function("acme.lookup")``.
    ///
    /// The types of its arguments and of its result are those of its annotations, so that policies that misuse it do not compile.
    /// ``args`` and ``result`` override them, as types or as JSON of capabilities. An exception makes the call undefined, or
    /// fails a strict evaluation; ``UNDEFINED`` makes the call undefined. With ``pure=False`` it is called again for equal
    /// arguments; with ``waits=True`` it may wait for external I/O. Functions must be added before the engine is used in any
    /// other way.
    ///
    /// >>> import solon
    /// >>> engine = solon.Engine()
    /// >>> @engine.function
    /// ... def initials(name: str) -> str:
    /// ...     return "".join(word[0] for word in name.split())
    /// >>> engine.query("x := initials(input)")("Ada Lovelace")
    /// [{'x': 'AL'}]
    #[pyo3(signature = (name=None, *, args=None, result=None, pure=true, waits=false))]
    fn function<'py>(
        slf: &Bound<'py, Self>,
        name: Option<&Bound<'py, PyAny>>,
        args: Option<&Bound<'py, PyAny>>,
        result: Option<&Bound<'py, PyAny>>,
        pure: bool,
        waits: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let functions = slf.py().import("solon._functions")?;
        functions.call_method1("function", (slf, name, args, result, pure, waits))
    }

    /// Registers a function by its declaration, the JSON of capabilities.
    fn _add_function(
        &self,
        py: Python<'_>,
        name: String,
        declaration: String,
        function: Py<PyAny>,
        pure: bool,
        waits: bool,
    ) -> PyResult<()> {
        let host_function = function::declare(
            py,
            &name,
            &declaration,
            function,
            pure,
            waits,
            self.settings,
        )?;
        let mut plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        match plan.take() {
            Some(before) if before.has_function(&name) => {
                *plan = Some(before);
                let message = format!("there is a function `{name}` already");
                Err(option_error(py, &message))
            }
            Some(before) => {
                let after = before.function(host_function);
                *plan = Some(after.map_err(|error| from_engine(py, &error))?);
                Ok(())
            }
            None => Err(PyValueError::new_err(
                "functions are added before the engine is used: policies are compiled against them",
            )),
        }
    }

    /// Adds the module, or replaces the module of that name, and compiles it together with the others; ``rego`` is ``"v0"`` or
    /// ``"v1"`` if it differs from the engine's.
    #[pyo3(signature = (name, text, *, rego=None))]
    fn set_module(
        &self,
        py: Python<'_>,
        name: String,
        text: String,
        rego: Option<String>,
    ) -> PyResult<()> {
        self.set_modules(py, BTreeMap::from([(name, text)]), rego)
    }

    /// Adds or replaces several modules in one change, a dict of texts by name. They may refer to one another.
    #[pyo3(signature = (modules, *, rego=None))]
    fn set_modules(
        &self,
        py: Python<'_>,
        modules: BTreeMap<String, String>,
        rego: Option<String>,
    ) -> PyResult<()> {
        let change = self.change();
        for (name, text) in modules {
            change.set_module(name, text, rego.clone())?;
        }
        change.apply(py, None)
    }

    /// Removes a module.
    fn remove_module(&self, py: Python<'_>, name: String) -> PyResult<()> {
        detached(py, || self.engine().remove_module(&name))
    }

    /// The texts of all modules, by name.
    #[getter]
    fn modules(&self) -> BTreeMap<String, String> {
        let modules = self.engine().modules().into_iter();
        let texts = modules.map(|(name, module)| (name, module.source.text.to_string()));
        texts.collect()
    }

    /// Returns the syntax tree of a module in OPA's format; ``NotFoundError`` if it does not exist.
    fn module_tree<'py>(&self, py: Python<'py>, name: String) -> PyResult<Bound<'py, PyAny>> {
        let Some(module) = self.engine().module(&name) else {
            return Err(from_engine(py, &::engine::Error::UnknownModule { name }));
        };
        let text = solon_syntax::json::text(&*module, solon_syntax::json::Options::default());
        json_to_python(py, &text, self.settings)
    }

    /// Loads files and folders by OPA's rules: modules are added or replaced, documents are merged into the data. From a folder
    /// it loads ``.rego``, ``.json``, ``.yaml`` and ``.yml`` files at any depth, and puts documents at the path of their folder;
    /// ``a.b:path`` puts them below ``data.a.b``. ``ignore`` lists patterns of file names to skip. With ``bundles=True`` each
    /// path is a folder with a manifest. If anything cannot be loaded, ``LoadError`` lists all of it, and nothing has changed.
    #[pyo3(signature = (*paths, ignore=Vec::new(), bundles=false))]
    fn load(
        &self,
        py: Python<'_>,
        paths: Vec<std::path::PathBuf>,
        ignore: Vec<String>,
        bundles: bool,
    ) -> PyResult<()> {
        let loaded = self.shared().loaded(py, &paths, &ignore, bundles)?;
        let mut change = EngineChange::default();
        change.load(&loaded);
        detached(py, || self.engine().apply(change))
    }

    /// Reads and verifies a bundle: ``source`` is an archive (bytes), or the path of an archive or a folder. Policies are parsed with
    /// the settings of the engine, which does not change. ``name`` appears in messages.
    ///
    /// Unsigned bundles are accepted and signed ones rejected, unless there are ``keys``: a dict of ``VerificationKey`` by id.
    #[pyo3(signature = (
        name, source, *, keys=None, key_id=None, scope=None, exclude=Vec::new(), accept_unsigned=false,
        accept_unsigned_deltas=false, skip_verification=false
    ))]
    fn read_bundle(
        &self,
        py: Python<'_>,
        name: String,
        source: Bound<'_, PyAny>,
        keys: Option<BTreeMap<String, BundleKey>>,
        key_id: Option<String>,
        scope: Option<String>,
        exclude: Vec<String>,
        accept_unsigned: bool,
        accept_unsigned_deltas: bool,
        skip_verification: bool,
    ) -> PyResult<Bundle> {
        let options = bundle::Options {
            keys,
            key_id,
            scope,
            exclude,
            accept_unsigned,
            accept_unsigned_deltas,
            skip_verification,
        };
        let reader = self.engine().bundle_reader(&name);
        let reader = reader.map_err(|error| from_engine(py, &error))?;
        bundle::read(
            py,
            &reader,
            &Origin::from_python(&source)?,
            options,
            self.settings,
        )
    }

    /// Activates a bundle under a name, like ``activate_bundles``.
    fn activate_bundle(&self, py: Python<'_>, name: String, bundle: Py<Bundle>) -> PyResult<()> {
        self.activate_bundles(py, BTreeMap::from([(name, bundle)]))
    }

    /// Activates bundles under names in one change. Their policies and documents replace everything below their roots, and below
    /// the roots of the bundles that had the names. A delta bundle changes documents of the active bundle of its name.
    fn activate_bundles(
        &self,
        py: Python<'_>,
        bundles: BTreeMap<String, Py<Bundle>>,
    ) -> PyResult<()> {
        let bundles = bundles.iter();
        let bundles = bundles.map(|(name, bundle)| (name.as_str(), &bundle.get().bundle));
        let bundles = bundles.collect::<Vec<_>>();
        bundle::change(py, || self.engine().activate_bundles(&bundles))
    }

    /// Removes the policies and documents of an active bundle. Does nothing if no bundle has the name.
    fn deactivate_bundle(&self, py: Python<'_>, name: String) -> PyResult<()> {
        bundle::change(py, || self.engine().deactivate_bundle(&name))
    }

    /// The active bundles, sorted by name: a list of ``ActiveBundle``.
    #[getter]
    fn bundles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        bundle::list_of_bundles(py, self.engine().snapshot().bundles())
    }

    /// Replaces all data with a dict.
    fn set_data(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let data = from_python(data, self.settings)?;
        detached(py, || self.engine().put("data", data))
    }

    /// Replaces all data with JSON text.
    fn set_data_json(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<()> {
        let text = Text::of_str(text)?;
        detached(py, || {
            self.engine().put("data", json::read(text.as_bytes())?)
        })
    }

    /// Replaces all data with YAML text, parsed as OPA parses YAML.
    fn set_data_yaml(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<()> {
        let text = Text::of_str(text)?;
        detached(py, || {
            let data = yaml::read(text.as_bytes()).map_err(|error| {
                ::engine::Error::Input(::engine::InputError::new(error.to_string()))
            })?;
            self.engine().put("data", data)
        })
    }

    /// Returns the data at a path; ``StoreError`` if there is none.
    fn get<'py>(&self, py: Python<'py>, path: String) -> PyResult<Bound<'py, PyAny>> {
        let path = path::path(py, &path)?;
        let documents = self.engine().data_snapshot();
        match documents.read(&path) {
            Ok(value) => to_python(py, value, self.settings),
            Err(error) => Err(from_engine(py, &error.into())),
        }
    }

    /// Writes data at a path, and creates missing parent objects.
    fn put(&self, py: Python<'_>, path: String, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let path = path::path(py, &path)?;
        let value = from_python(value, self.settings)?;
        let mut change = EngineChange::default();
        change.put(path, value);
        detached(py, || self.engine().apply(change))
    }

    /// Applies a JSON patch (RFC 6902), a list of dicts: all operations, or none.
    fn patch(&self, py: Python<'_>, operations: &Bound<'_, PyAny>) -> PyResult<()> {
        let change = self.change();
        change.patch(py, operations)?;
        change.apply(py, None)
    }

    /// Removes the data at a path; ``StoreError`` if there is none.
    fn delete(&self, py: Python<'_>, path: String) -> PyResult<()> {
        let path = path::path(py, &path)?;
        let mut change = EngineChange::default();
        change.write(Operation::Remove, path, Value::NULL);
        detached(py, || self.engine().apply(change))
    }

    /// Changes modules and data atomically: ``with engine.change() as change:``.
    ///
    /// >>> import solon
    /// >>> engine = solon.Engine()
    /// >>> with engine.change() as change:
    /// ...     change.set_module("p.rego", "package p\n\nanswer := data.n + 1")
    /// ...     change.put("n", 41)
    /// >>> engine.evaluate("p/answer")
    /// 42
    fn change(&self) -> Change {
        Change::new(self.shared().clone())
    }

    /// Returns a snapshot of the current policy and data, for several decisions on the same state.
    fn snapshot(&self) -> Snapshot {
        Snapshot {
            snapshot: self.engine().snapshot(),
            settings: self.settings,
        }
    }

    /// The number of changes so far.
    #[getter]
    fn generation(&self) -> u64 {
        self.engine().generation()
    }

    /// Prepares a document, by its path (``"authz/allow"``) or its reference (``"data.authz.allow"``).
    ///
    /// With ``must_exist=True``, a path with neither a rule nor data raises ``NotFoundError``, because it is probably misspelled.
    ///
    /// >>> import solon
    /// >>> engine = solon.Engine()
    /// >>> engine.set_module("p.rego", "package p\n\ndouble := 2 * input")
    /// >>> double = engine.prepare("p/double")
    /// >>> double(21)
    /// 42
    /// >>> double.evaluate_many([1, 2, "x"])
    /// [2, 4, solon.UNDEFINED]
    ///
    /// ``result_type`` converts results: a dataclass, a ``TypedDict``, a pydantic model, or another type made of these and of the
    /// types of JSON. A result that does not match raises ``OutputError``.
    #[pyo3(signature = (document, *, must_exist=false, result_type=None))]
    fn prepare(
        &self,
        py: Python<'_>,
        document: String,
        must_exist: bool,
        result_type: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Document> {
        let convert = match result_type {
            Some(result_class) => {
                let results = py.import("solon._results")?;
                Some(results.call_method1("converter", (result_class,))?.unbind())
            }
            None => None,
        };
        let path = path::path(py, &document)?;
        let text = path.segments().join("/");
        let shared = self.shared();
        let prepared = detached(py, || {
            let document = shared.engine.document(&path);
            if must_exist {
                document.must_exist()
            } else {
                Ok(document)
            }
        })?;
        Ok(Document::new(prepared, text, shared.clone(), convert))
    }

    /// Prepares a query, like ``"x := data.roles[_]; x != input.role"``. It may refer to the rules of ``package`` and to its
    /// ``imports``; it must not call functions of ``unsafe_builtins``. The compilation time is added to ``metrics``.
    ///
    /// >>> import solon
    /// >>> engine = solon.Engine()
    /// >>> engine.put("roles", {"alice": "admin", "bob": "user"})
    /// >>> engine.query("data.roles[name] == input")("admin")
    /// [{'name': 'alice'}]
    #[pyo3(signature = (
        text, *, package=None, imports=Vec::new(), unsafe_builtins=Vec::new(), metrics=None
    ))]
    fn query(
        &self,
        py: Python<'_>,
        text: String,
        package: Option<String>,
        imports: Vec<String>,
        unsafe_builtins: Vec<String>,
        metrics: Option<Py<Metrics>>,
    ) -> PyResult<Query> {
        let shared = self.shared();
        let context = Context {
            package,
            imports,
            unsafe_builtins,
            metrics,
        };
        let prepared = context.prepare(py, &text, |source| shared.engine.prepare_query(source))?;
        Ok(Query::new(prepared, text, shared.clone()))
    }

    /// Prepares a query for partial evaluation. All of ``input`` is unknown, unless ``unknowns`` lists other references.
    /// Documents of ``disable_inlining`` are not inlined; with ``shallow_inlining`` no rule that depends on unknowns is inlined.
    /// Support rules are in the package ``namespace`` below ``data``, or with ``skip_namespace`` in the packages of the policy.
    /// ``skip_false_defaults`` leaves out defaults that no result needs. The other options are those of ``query``.
    #[pyo3(signature = (
        text, *, unknowns=None, disable_inlining=Vec::new(), shallow_inlining=false, nondeterministic_builtins=false,
        skip_false_defaults=false, namespace=None, skip_namespace=false, package=None, imports=Vec::new(),
        unsafe_builtins=Vec::new(), metrics=None
    ))]
    fn partial(
        &self,
        py: Python<'_>,
        text: String,
        unknowns: Option<Vec<String>>,
        disable_inlining: Vec<String>,
        shallow_inlining: bool,
        nondeterministic_builtins: bool,
        skip_false_defaults: bool,
        namespace: Option<String>,
        skip_namespace: bool,
        package: Option<String>,
        imports: Vec<String>,
        unsafe_builtins: Vec<String>,
        metrics: Option<Py<Metrics>>,
    ) -> PyResult<Partial> {
        let mut options = PartialOptions::default()
            .disable_inlining(disable_inlining)
            .shallow_inlining(shallow_inlining)
            .nondeterministic_builtins(nondeterministic_builtins)
            .skip_false_defaults(skip_false_defaults)
            .skip_namespace(skip_namespace);
        if let Some(namespace) = namespace {
            options = options.namespace(namespace);
        }
        if let Some(unknowns) = unknowns {
            options = options.unknowns(unknowns);
        }
        let shared = self.shared();
        let context = Context {
            package,
            imports,
            unsafe_builtins,
            metrics,
        };
        let prepared = context.prepare(py, &text, |source| {
            shared.engine.prepare_partial(source, &options)
        })?;
        Ok(Partial::new(prepared, text, shared.clone()))
    }

    /// Prepares a rule, like ``"filters/include"`` or ``"data.filters.include"``, to become a row filter for a target like ``"sql+postgresql"`` or
    /// ``"ucast+prisma"``, or for several.
    ///
    /// - ``unknowns`` lists the references to rows (``["input.fruits"]``), unless the rule's METADATA does.
    /// - ``mask_rule`` is the rule that computes masks of columns.
    /// - ``mappings`` maps tables and columns to their names in the database.
    /// - ``parameters`` generates SQL with placeholders, ``bare`` SQL without ``WHERE``.
    /// - ``exact`` generates SQL that selects exactly the rows for which the rule is true, if the tables are as ``mappings``
    ///   declare them.
    /// - ``extensions`` generates conditions that OPA's targets reject, if they can be expressed exactly.
    /// - ``disable_inlining`` lists documents that are not inlined.
    #[pyo3(signature = (
        path, targets, *, unknowns=Vec::new(), mask_rule=None, mappings=None, disable_inlining=Vec::new(), parameters=false,
        bare=false, exact=false, extensions=false
    ))]
    fn filters(
        &self,
        py: Python<'_>,
        path: String,
        targets: Targets,
        unknowns: Vec<String>,
        mask_rule: Option<String>,
        mappings: Option<Bound<'_, PyAny>>,
        disable_inlining: Vec<String>,
        parameters: bool,
        bare: bool,
        exact: bool,
        extensions: bool,
    ) -> PyResult<Filter> {
        let targets = match targets {
            Targets::One(target) => vec![target],
            Targets::Several(several) => several,
        };
        let targets: Result<Vec<FilterTarget>, ::engine::Error> =
            targets.iter().map(|name| target(name)).collect();
        let mut options = FilterOptions::new(targets.map_err(|error| from_engine(py, &error))?)
            .unknowns(unknowns)
            .disable_inlining(disable_inlining)
            .parameters(parameters)
            .bare(bare)
            .exact(exact)
            .extensions(extensions);
        options.mask_rule = mask_rule;
        let shared = self.shared();
        if let Some(mappings) = mappings {
            options = options.mappings(from_python(&mappings, shared.settings)?);
        }
        let text = path::path(py, &path)?.segments().join("/");
        let prepared = detached(py, || shared.engine.prepare_filters(&path, &options))?;
        let never_true = options.never_true();
        Ok(Filter::new(prepared, text, never_true, shared.clone()))
    }

    /// Returns a document, like ``"authz/allow"`` or ``"data.authz.allow"``; ``UNDEFINED`` if it has no value.
    ///
    /// Without ``input``, or with ``UNDEFINED``, ``input`` is undefined in the policy; ``None`` is its ``null``. Options are
    /// those of ``Document``. For repeated evaluations, prepare the document instead.
    #[pyo3(signature = (path, input=None, **options))]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        path: String,
        #[pyo3(from_py_with = given)] input: Option<Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = self.shared().request(input.as_ref(), options)?;
        self.prepare(py, path, false, None)?
            .evaluate_request(py, &request)
    }

    /// ``evaluate`` on another thread, as an awaitable. If the task is cancelled, the evaluation is cancelled as well.
    #[pyo3(signature = (path, input=None, **options))]
    fn evaluate_async<'py>(
        slf: &Bound<'py, Self>,
        path: String,
        #[pyo3(from_py_with = given)] input: Option<Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let functools = slf.py().import("functools")?;
        let evaluate = functools.call_method1("partial", (slf.getattr("evaluate")?, path))?;
        on_pool(&evaluate, input, options)
    }

    fn __repr__(&self) -> String {
        let snapshot = self.engine().snapshot();
        let (generation, modules) = (snapshot.generation(), snapshot.modules().count());
        format!("<solon.Engine, {modules} modules, generation {generation}>")
    }
}

/// Parses the name of a target. The error lists all names.
fn target(name: &str) -> Result<FilterTarget, ::engine::Error> {
    name.parse().map_err(|error: ::engine::Error| {
        let names: Vec<String> = FilterTarget::ALL.iter().map(ToString::to_string).collect();
        OptionError::new(format!("{error}: expected one of {}", names.join(", "))).into()
    })
}
