//! Options of an engine.

use std::ffi::{c_char, c_int};
use std::sync::Arc;

use ::engine::{
    Capabilities, Engine, EngineBuilder, FixedHost, Host, Limits, OfflineHost, Version,
};
use solon_host::SystemHost;

use crate::argument::{self, Bounds, Extensible};
use crate::error::{Error, SOLON_ERROR_OPTIONS};
use crate::function::Function;

/// A version of Rego: one of `SOLON_REGO_…`.
pub type Rego = i32;

/// The default of the engine; for the engine itself, version 1.
pub const SOLON_REGO_DEFAULT: Rego = 0;
/// Rego before version 1.
pub const SOLON_REGO_V0: Rego = 1;
/// Rego version 1.
pub const SOLON_REGO_V1: Rego = 2;

/// Host access of policies: one of `SOLON_HOST_…`.
pub type HostAccess = i32;

/// Policies can access the system: its clock, random source, environment and network.
pub const SOLON_HOST_SYSTEM: HostAccess = 0;
/// Policies can access the clock and the random source of the system. A network request fails the evaluation.
pub const SOLON_HOST_OFFLINE: HostAccess = 1;
/// For tests: the clock is fixed at `now_ns`, random numbers are predictable, and policies can access nothing else.
pub const SOLON_HOST_FIXED: HostAccess = 2;

/// Options of an engine. Zero fields have their defaults: `solon_options options = {.size = sizeof options};`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Options {
    /// `sizeof(solon_options)`
    pub size: usize,
    /// Rego version of modules that do not declare one: one of `SOLON_REGO_…`.
    pub rego: Rego,
    /// Enable the compiler checks of strict mode.
    pub strict: c_int,
    /// Allow base documents at the paths of rules.
    pub allow_base_conflicts: c_int,
    /// Host access of policies: one of `SOLON_HOST_…`.
    pub host: HostAccess,
    /// Time of the clock of `SOLON_HOST_FIXED`, in nanoseconds since 1970.
    pub now_ns: i64,
    /// Features that policies may use, in the JSON format of OPA's capabilities; NULL is all features.
    pub capabilities_json: *const c_char,
    /// Length in bytes.
    pub capabilities_json_length: usize,
    /// Hosts that policies may connect to, a JSON array of names; NULL uses the capabilities.
    pub allow_net_json: *const c_char,
    /// Length in bytes.
    pub allow_net_json_length: usize,
    /// Time limit of an evaluation in nanoseconds; 0 is unlimited.
    pub time_limit_ns: u64,
    /// Step limit of an evaluation, in loop iterations and calls; 0 is unlimited.
    pub step_limit: u64,
    /// Memory limit of an evaluation in bytes; 0 is 1 GiB, `UINT64_MAX` is unlimited.
    pub memory_limit: u64,
    /// Memory limit of an explanation in bytes; 0 is 256 MiB, `UINT64_MAX` is unlimited.
    pub explanation_limit: u64,
    /// Size of the cache of `http.send` responses in bytes; 0 is 64 MiB.
    pub response_cache: u64,
    /// Functions that policies may call like built-in functions. The caller keeps them.
    pub functions: *const *const Function,
    /// Number of functions.
    pub function_count: usize,
    /// SQLite file that stores modules and data beyond the process, created if it does not exist; NULL keeps them in memory.
    /// Requires the feature `sqlite` of the library.
    pub store_path: *const c_char,
    /// Length in bytes.
    pub store_path_length: usize,
}

// SAFETY: the first field is the size; zero is valid for numbers and pointers
unsafe impl Extensible for Options {}

impl Options {
    /// Creates the engine.
    ///
    /// # Safety
    /// Each pointer is NULL or valid for what the fields describe.
    pub(crate) unsafe fn build(&self) -> Result<Engine, Error> {
        // SAFETY: by this function's contract
        let (builder, file) = unsafe {
            let file =
                argument::optional_text(self.store_path, self.store_path_length, "store_path")?;
            (self.builder()?, file)
        };
        match file {
            None => Ok(builder.build()),
            Some(file) => open_store(builder, file),
        }
    }

    /// # Safety
    /// See [`Self::build`].
    unsafe fn builder(&self) -> Result<EngineBuilder, Error> {
        let version = argument::rego(self.rego)?;
        let host: Arc<dyn Host> = match self.host {
            SOLON_HOST_SYSTEM => Arc::new(SystemHost),
            SOLON_HOST_OFFLINE => Arc::new(OfflineHost),
            SOLON_HOST_FIXED => Arc::new(FixedHost::at_time(self.now_ns)),
            other => {
                let message = format!("`host` is {other}: it must be one of SOLON_HOST_…");
                return Err(argument::argument_error(message));
            }
        };
        let bounds = Bounds {
            time_ns: self.time_limit_ns,
            steps: self.step_limit,
            memory: self.memory_limit,
            explanation: self.explanation_limit,
        };
        let mut builder = Engine::builder()
            .strict(self.strict != 0)
            .allow_base_conflicts(self.allow_base_conflicts != 0)
            .host(host)
            .limits(bounds.apply_to(&Limits::default()));
        if let Some(version) = version {
            builder = builder.version(version);
        }
        if self.response_cache != 0 {
            let bytes = usize::try_from(self.response_cache).unwrap_or(usize::MAX);
            builder = builder.response_cache(bytes);
        }
        // SAFETY: by this function's contract
        let (capabilities, allow_net, functions) = unsafe {
            (
                argument::bytes(
                    self.capabilities_json,
                    self.capabilities_json_length,
                    "capabilities_json",
                )?,
                argument::strings(
                    self.allow_net_json,
                    self.allow_net_json_length,
                    "allow_net_json",
                )?,
                argument::handles(self.functions, self.function_count, "functions")?,
            )
        };
        if capabilities.is_some() || allow_net.is_some() {
            let mut chosen_capabilities = match capabilities {
                Some(text) => Capabilities::from_json(text).map_err(|error| {
                    Error::new(SOLON_ERROR_OPTIONS, format!("capabilities: {error}"))
                })?,
                None => Capabilities::current(version.unwrap_or(Version::V1)),
            };
            if let Some(hosts) = allow_net {
                chosen_capabilities = chosen_capabilities.with_allow_net(Some(hosts));
            }
            builder = builder.capabilities(chosen_capabilities);
        }
        for function in functions {
            builder = builder.function(function.0.clone())?;
        }
        Ok(builder)
    }
}

/// Creates an engine that stores modules and data in a file.
#[cfg(feature = "sqlite")]
fn open_store(builder: EngineBuilder, file: &str) -> Result<Engine, Error> {
    let store = ::engine::store::SqliteStore::open(file).map_err(::engine::Error::from)?;
    Ok(builder.open(Arc::new(store))?)
}

#[cfg(not(feature = "sqlite"))]
fn open_store(_builder: EngineBuilder, _file: &str) -> Result<Engine, Error> {
    let message = "`store_path` is set, but this library was built without the feature `sqlite`";
    Err(Error::new(SOLON_ERROR_OPTIONS, message.to_owned()))
}
