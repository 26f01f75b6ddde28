//! How an engine is made.

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

/// The Rego of the engine; of the engine itself, version 1.
pub const SOLON_REGO_DEFAULT: Rego = 0;
/// Rego as it was before version 1.
pub const SOLON_REGO_V0: Rego = 1;
/// Rego version 1.
pub const SOLON_REGO_V1: Rego = 2;

/// What policies may access: one of `SOLON_HOST_…`.
pub type HostAccess = i32;

/// Policies see the system: its clock, its random source, its environment, and its network.
pub const SOLON_HOST_SYSTEM: HostAccess = 0;
/// Policies see the system's clock and its random source. Asking for the network ends an evaluation with an error.
pub const SOLON_HOST_OFFLINE: HostAccess = 1;
/// For tests: the clock stands still at `now_ns`, what is random can be foreseen, and there is nothing else.
pub const SOLON_HOST_FIXED: HostAccess = 2;

/// How an engine is made. What is zero is as usual: `solon_options options = {.size = sizeof options};`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Options {
    /// `sizeof(solon_options)`
    pub size: usize,
    /// The Rego of modules that do not say: one of `SOLON_REGO_…`.
    pub rego: Rego,
    /// Whether the compiler makes the checks of strict mode.
    pub strict: c_int,
    /// Whether base documents may stand in the place of rules.
    pub allow_base_conflicts: c_int,
    /// What policies may ask of the world: one of `SOLON_HOST_…`.
    pub host: HostAccess,
    /// What the clock of `SOLON_HOST_FIXED` shows, in nanoseconds since 1970.
    pub now_ns: i64,
    /// What policies may use, in the JSON form of OPA's capabilities; NULL is everything there is.
    pub capabilities_json: *const c_char,
    /// How many bytes.
    pub capabilities_json_length: usize,
    /// The hosts that policies may reach, a JSON array of names; NULL leaves that to the capabilities.
    pub allow_net_json: *const c_char,
    /// How many bytes.
    pub allow_net_json_length: usize,
    /// Nanoseconds that an evaluation may take; 0 is no bound.
    pub time_limit_ns: u64,
    /// Loop turns and calls that an evaluation may take; 0 is no bound.
    pub step_limit: u64,
    /// Bytes of memory that an evaluation may take; 0 is 1 GiB, `UINT64_MAX` is no bound.
    pub memory_limit: u64,
    /// Bytes of memory that an explanation may take; 0 is 256 MiB, `UINT64_MAX` is no bound.
    pub explanation_limit: u64,
    /// Bytes of answers of `http.send` that are kept for later evaluations; 0 is 64 MiB.
    pub response_cache: u64,
    /// Functions that policies may call like built-ins. They stay the caller's.
    pub functions: *const *const Function,
    /// How many functions.
    pub function_count: usize,
    /// A file of SQLite, made where there is none, that modules and data are read from and kept in beyond the process; NULL
    /// keeps them in memory. It needs the feature `sqlite` of the library.
    pub store_path: *const c_char,
    /// How many bytes.
    pub store_path_length: usize,
}

// SAFETY: it begins with its size; numbers and pointers may be zero
unsafe impl Extensible for Options {}

impl Options {
    /// The engine that is made so.
    ///
    /// # Safety
    /// The pointers are NULL or lead to what the fields say.
    pub(crate) unsafe fn build(&self) -> Result<Engine, Error> {
        // SAFETY: by this function's contract
        let (builder, file) = unsafe {
            let file =
                argument::optional_text(self.store_path, self.store_path_length, "store_path")?;
            (self.builder()?, file)
        };
        match file {
            None => Ok(builder.build()),
            Some(file) => opened(builder, file),
        }
    }

    /// # Safety
    /// As for [`Self::build`].
    unsafe fn builder(&self) -> Result<EngineBuilder, Error> {
        let version = argument::rego(self.rego)?;
        let host: Arc<dyn Host> = match self.host {
            SOLON_HOST_SYSTEM => Arc::new(SystemHost),
            SOLON_HOST_OFFLINE => Arc::new(OfflineHost),
            SOLON_HOST_FIXED => Arc::new(FixedHost::at_time(self.now_ns)),
            other => {
                let message = format!("`host` is {other}: it must be one of SOLON_HOST_…");
                return Err(argument::refused(message));
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
            .limits(bounds.of(&Limits::default()));
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
            let mut chosen = match capabilities {
                Some(text) => Capabilities::from_json(text).map_err(|error| {
                    Error::new(SOLON_ERROR_OPTIONS, format!("capabilities: {error}"))
                })?,
                None => Capabilities::current(version.unwrap_or(Version::V1)),
            };
            if let Some(hosts) = allow_net {
                chosen = chosen.with_allow_net(Some(hosts));
            }
            builder = builder.capabilities(chosen);
        }
        let functions = functions.into_iter();
        Ok(functions.fold(builder, |builder, function| {
            builder.function(function.0.clone())
        }))
    }
}

/// An engine that keeps modules and data in a file.
#[cfg(feature = "sqlite")]
fn opened(builder: EngineBuilder, file: &str) -> Result<Engine, Error> {
    let store = ::engine::store::SqliteStore::open(file).map_err(::engine::Error::from)?;
    Ok(builder.open(Arc::new(store))?)
}

#[cfg(not(feature = "sqlite"))]
fn opened(_builder: EngineBuilder, _file: &str) -> Result<Engine, Error> {
    let message = "`store_path` is set, but this library was built without the feature `sqlite`";
    Err(Error::new(SOLON_ERROR_OPTIONS, message.to_owned()))
}
