//! `solon.Bundle`: reading, verifying and activating bundles.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ::engine::bundle::{
    Bundle as EngineBundle, BundleReader, LoadErrors, Verification, VerificationKey,
};
use ::engine::{ActiveBundle, Error, ErrorKind};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use solon_host::SystemFiles;

use crate::convert::json_to_python;
use crate::error::{Family, from_engine, of_family};
use crate::guard::caught;
use crate::input::Text;
use crate::settings::Settings;

/// A bundle that was read and verified: pass it to ``Engine.activate_bundles``.
///
/// Created by ``Engine.read_bundle``.
#[pyclass(frozen, module = "solon")]
pub struct Bundle {
    pub bundle: EngineBundle,
    settings: Settings,
}

#[pymethods]
impl Bundle {
    /// The revision of the manifest; empty if there is none.
    #[getter]
    fn revision(&self) -> &str {
        &self.bundle.manifest.revision
    }

    /// The slash-separated paths below ``data`` that the bundle owns.
    #[getter]
    fn roots(&self) -> Vec<String> {
        self.bundle.manifest.roots()
    }

    /// The manifest as a dict. Absent fields are left out, except ``revision`` and ``roots``.
    #[getter]
    fn manifest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = self.bundle.manifest.text();
        json_to_python(py, &String::from_utf8_lossy(&text), self.settings)
    }

    fn __repr__(&self) -> String {
        format!("<solon.Bundle, revision {:?}>", self.revision())
    }
}

pub enum Origin {
    Archive(Text),
    Path(String),
}

impl Origin {
    /// Reads an argument: bytes are an archive, anything else is a path.
    pub fn from_python(source: &Bound<'_, PyAny>) -> PyResult<Self> {
        if source.is_instance_of::<PyBytes>() {
            return Ok(Self::Archive(Text::of_str(source)?));
        }
        let path: PathBuf = source.extract()?;
        Ok(Self::Path(path.to_string_lossy().into_owned()))
    }

    fn read(&self, reader: &BundleReader) -> Result<EngineBundle, LoadErrors> {
        match self {
            Self::Archive(archive) => reader.read_archive(archive.as_bytes()),
            Self::Path(path) => reader.read_path(&SystemFiles, path),
        }
    }
}

/// Options of ``Engine.read_bundle``.
pub struct Options {
    pub keys: Option<BTreeMap<String, BundleKey>>,
    pub key_id: Option<String>,
    pub scope: Option<String>,
    pub exclude: Vec<String>,
    pub accept_unsigned: bool,
    pub accept_unsigned_deltas: bool,
    pub skip_verification: bool,
}

/// A key that verifies bundles, a `solon.VerificationKey`.
#[derive(FromPyObject)]
pub struct BundleKey {
    algorithm: String,
    key: Py<PyAny>,
    scope: String,
}

impl Options {
    fn verification(self, py: Python<'_>) -> PyResult<Verification> {
        let keys = self.keys.unwrap_or_default();
        if self.skip_verification {
            if !keys.is_empty() {
                let message = "`skip_verification` is set, but there are keys";
                return Err(PyValueError::new_err(message));
            }
            return Ok(Verification::skip());
        }
        if keys.is_empty() {
            return Ok(Verification::default());
        }
        let mut known_keys = Vec::with_capacity(keys.len());
        for (id, key) in keys {
            let secret = Text::of_str(key.key.bind(py))?;
            if secret.as_bytes().is_empty() {
                return Err(PyValueError::new_err(format!("the key {id:?} is empty")));
            }
            let engine_key = VerificationKey::new(key.algorithm, secret.as_bytes());
            known_keys.push((id, engine_key.scope(key.scope)));
        }
        let mut verification = Verification::by_keys(known_keys)
            .key_id(self.key_id.unwrap_or_default())
            .scope(self.scope.unwrap_or_default())
            .exclude(self.exclude);
        if self.accept_unsigned {
            verification = verification.optional();
        }
        if self.accept_unsigned_deltas {
            verification = verification.allow_unsigned_deltas();
        }
        Ok(verification)
    }
}

/// Reads and verifies a bundle, without the lock of the interpreter.
///
/// # Errors
/// The bundle cannot be read or is not valid, or its signature is missing or wrong.
pub fn read(
    py: Python<'_>,
    reader: &BundleReader,
    origin: &Origin,
    options: Options,
    settings: Settings,
) -> PyResult<Bundle> {
    let verified = reader.clone().verification(options.verification(py)?);
    let unverified = reader.clone().verification(Verification::skip());
    let bundle = py.detach(|| {
        caught(|| {
            origin.read(&verified).map_err(|errors| {
                // a bundle that can be read without its signature has a wrong signature, or none where one is required
                let is_readable = origin.read(&unverified).is_ok();
                (errors, is_readable)
            })
        })
    });
    let bundle = bundle.map_err(|error| from_engine(py, &error))?;
    let bundle = bundle.map_err(|(errors, is_readable)| {
        let family = if is_readable {
            Family::BundleSignature
        } else {
            Family::Bundle
        };
        of_family(py, family, &Error::from(errors))
    })?;
    Ok(Bundle { bundle, settings })
}

/// Changes the active bundles of an engine.
pub fn change(py: Python<'_>, change: impl FnOnce() -> Result<(), Error> + Send) -> PyResult<()> {
    let result = py.detach(|| caught(change)).and_then(|result| result);
    result.map_err(|error| match error.kind() {
        ErrorKind::Load => of_family(py, Family::Bundle, &error),
        _ => from_engine(py, &error),
    })
}

/// Returns bundles as a list of `solon.ActiveBundle`.
pub fn list_of_bundles(py: Python<'_>, bundles: Vec<ActiveBundle>) -> PyResult<Bound<'_, PyList>> {
    let class = py.import("solon._bundles")?.getattr("ActiveBundle")?;
    let list = PyList::empty(py);
    for bundle in bundles {
        list.append(class.call1((bundle.name, bundle.revision, bundle.roots))?)?;
    }
    Ok(list)
}
