//! `solon.format`: the formatter.

use ::engine::Capabilities;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use solon_syntax::ast::Version;
use solon_syntax::source::{Source, SourceId};
use solon_syntax::{FormatOptions, ParseOptions, module_text};

use crate::error::from_engine;
use crate::guard::detached;

/// Formats the text of a module as ``solon fmt`` does. The options are its flags.
///
/// >>> import solon
/// >>> solon.format("package p\nallow{input.x}", v0_compatible=True)
/// 'package p\n\nallow {\n\tinput.x\n}\n'
#[pyfunction]
#[pyo3(signature = (
    source, *, name="", v0_compatible=false, v0_v1=false, v1_compatible=false, drop_v0_imports=false, capabilities=None
))]
#[expect(
    clippy::too_many_arguments,
    clippy::fn_params_excessive_bools,
    reason = "Python's keyword arguments"
)]
pub fn format(
    py: Python<'_>,
    source: &str,
    name: &str,
    v0_compatible: bool,
    v0_v1: bool,
    v1_compatible: bool,
    drop_v0_imports: bool,
    capabilities: Option<&str>,
) -> PyResult<String> {
    let reads_v0 = if v0_v1 {
        !v1_compatible || v0_compatible
    } else {
        v0_compatible
    };
    let mut parse = ParseOptions::from_version(if reads_v0 { Version::V0 } else { Version::V1 });
    if let Some(text) = capabilities {
        let parsed = Capabilities::from_json(text.as_bytes())
            .map_err(|error| PyValueError::new_err(format!("capabilities: {error}")))?;
        let restricted = parsed.parse_options(Version::V0);
        let restricted = restricted.map_err(|error| from_engine(py, &error.into()))?;
        parse.features = restricted.features;
    }
    let options = FormatOptions {
        parse,
        target: match (v0_v1, v0_compatible) {
            (true, _) => Version::V0CompatV1,
            (false, true) => Version::V0,
            (false, false) => Version::V1,
        },
        drop_v0_imports,
    };
    detached(py, || {
        let text = module_text(name, source.as_bytes(), &options.parse)?;
        let source = Source::new(SourceId(0), name, text);
        Ok(solon_syntax::format(&source, &options)?)
    })
}
