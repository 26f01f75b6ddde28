//! Options of an engine.

use std::sync::Arc;
use std::time::Duration;

use ::engine::{Capabilities, EngineBuilder, FixedHost, Host, Limits, OfflineHost, Version};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use solon_host::SystemHost;

#[derive(Default)]
struct Options {
    strict: bool,
    version: Option<Version>,
    limits: Limits,
    response_cache: Option<usize>,
    offline: bool,
    now: Option<i64>,
    capabilities: Option<Capabilities>,
    allow_net: Option<Vec<String>>,
    allow_base_conflicts: bool,
}

/// Returns the Rego version of a text, or raises `ValueError` unless it is `v0` or `v1`.
pub fn version(text: &str) -> PyResult<Version> {
    match text {
        "v0" => Ok(Version::V0),
        "v1" => Ok(Version::V1),
        other => Err(PyValueError::new_err(format!(
            "rego must be \"v0\" or \"v1\", not {other:?}"
        ))),
    }
}

/// Converts a time in seconds.
pub fn seconds(name: &str, seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|error| PyValueError::new_err(format!("{name}: {error}")))
}

/// Returns a builder with all options except those of conversions.
pub fn builder(options: Option<&Bound<'_, PyDict>>) -> PyResult<EngineBuilder> {
    let mut parsed = Options::default();
    for (name, value) in options.into_iter().flatten() {
        if !value.is_none() {
            parsed.set(&name.extract::<String>()?, &value)?;
        }
    }
    Ok(parsed.builder())
}

impl Options {
    fn set(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        match name {
            "time_limit" => {
                let time = seconds("time_limit", value.extract()?)?;
                self.limits = self.limits.clone().time(Some(time));
            }
            "step_limit" => self.limits = self.limits.clone().steps(Some(value.extract()?)),
            "memory_limit" => self.limits = self.limits.clone().memory(Some(value.extract()?)),
            "explanation_limit" => {
                self.limits = self.limits.clone().explanation(Some(value.extract()?));
            }
            "response_cache" => self.response_cache = Some(value.extract()?),
            "strict" => self.strict = value.extract()?,
            "rego" => self.version = Some(version(&value.extract::<String>()?)?),
            "offline" => self.offline = value.extract()?,
            "now" => self.now = Some(value.extract()?),
            "capabilities" => {
                let text: String = value.extract()?;
                let parsed = Capabilities::from_json(text.as_bytes());
                let value_error = |error| PyValueError::new_err(format!("capabilities: {error}"));
                self.capabilities = Some(parsed.map_err(value_error)?);
            }
            "allow_net" => self.allow_net = Some(value.extract()?),
            "allow_base_conflicts" => self.allow_base_conflicts = value.extract()?,
            other => {
                let message = format!("Engine() got an unexpected keyword argument '{other}'");
                return Err(PyTypeError::new_err(message));
            }
        }
        Ok(())
    }

    fn builder(self) -> EngineBuilder {
        let host: Arc<dyn Host> = match self.now {
            Some(now) => Arc::new(FixedHost::at_time(now)),
            None if self.offline => Arc::new(OfflineHost),
            None => Arc::new(SystemHost),
        };
        let mut builder = ::engine::Engine::builder()
            .strict(self.strict)
            .limits(self.limits)
            .allow_base_conflicts(self.allow_base_conflicts)
            .host(host);
        if let Some(bytes) = self.response_cache {
            builder = builder.response_cache(bytes);
        }
        if let Some(version) = self.version {
            builder = builder.version(version);
        }
        let capabilities = match self.allow_net {
            Some(hosts) => {
                let base = self
                    .capabilities
                    .unwrap_or_else(|| Capabilities::current(self.version.unwrap_or(Version::V1)));
                Some(base.with_allow_net(Some(hosts)))
            }
            None => self.capabilities,
        };
        if let Some(capabilities) = capabilities {
            builder = builder.capabilities(capabilities);
        }
        builder
    }
}
