//! Formatting of policies.

use std::ffi::{c_char, c_int};

use ::engine::Capabilities;
use solon_syntax::ast::Version;
use solon_syntax::source::{Source, SourceId};
use solon_syntax::{FormatOptions as EngineOptions, ParseOptions, module_text};

use crate::argument::{self, Extensible};
use crate::bytes::Bytes;
use crate::error::{Error, SOLON_ERROR_OPTIONS};
use crate::guard::guard;

/// Options of the formatter, the flags of `solon fmt`. Zero fields have their defaults: Rego v1 is read and written.
/// `solon_format_options options = {.size = sizeof options};`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FormatOptions {
    /// `sizeof(solon_format_options)`
    pub size: usize,
    /// Name of the module in errors; NULL is the empty name.
    pub name: *const c_char,
    /// Length in bytes.
    pub name_length: usize,
    /// Read and write Rego v0.
    pub v0_compatible: c_int,
    /// Read Rego v0 and write text that is valid as v0 and as v1.
    pub v0_v1: c_int,
    /// Read Rego v1 where `v0_v1` would read v0.
    pub v1_compatible: c_int,
    /// Drop the imports that Rego v1 does not need.
    pub drop_v0_imports: c_int,
    /// Features that policies may use, in the JSON format of OPA's capabilities; NULL is all features.
    pub capabilities_json: *const c_char,
    /// Length in bytes.
    pub capabilities_json_length: usize,
}

// SAFETY: the first field is the size; zero is valid for numbers and pointers
unsafe impl Extensible for FormatOptions {}

impl FormatOptions {
    /// # Safety
    /// Each pointer is NULL or valid for what the fields describe.
    unsafe fn read(&self) -> Result<EngineOptions, Error> {
        // SAFETY: by this function's contract
        let capabilities = unsafe {
            argument::bytes(
                self.capabilities_json,
                self.capabilities_json_length,
                "capabilities_json",
            )
        }?;
        let reads_v0 = if self.v0_v1 != 0 {
            self.v1_compatible == 0 || self.v0_compatible != 0
        } else {
            self.v0_compatible != 0
        };
        let mut parse =
            ParseOptions::from_version(if reads_v0 { Version::V0 } else { Version::V1 });
        if let Some(text) = capabilities {
            let parsed = Capabilities::from_json(text).map_err(|error| {
                Error::new(SOLON_ERROR_OPTIONS, format!("capabilities: {error}"))
            })?;
            let restricted = parsed.parse_options(Version::V0);
            parse.features = restricted.map_err(::engine::Error::from)?.features;
        }
        Ok(EngineOptions {
            parse,
            target: match (self.v0_v1 != 0, self.v0_compatible != 0) {
                (true, _) => Version::V0CompatV1,
                (false, true) => Version::V0,
                (false, false) => Version::V1,
            },
            drop_v0_imports: self.drop_v0_imports != 0,
        })
    }
}

/// Formats the text of a module as `solon fmt` does. `options` may be NULL for the defaults.
///
/// Fails with `SOLON_ERROR_COMPILE` if the text does not parse, or cannot be written in the wanted version. The entries of the
/// error have row and column (`solon_error_entry_at`).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_format(
    text: *const c_char,
    text_length: usize,
    options: *const FormatOptions,
    out: *mut Bytes,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller upholds the contract of the header
        let (text, name, options, out) = unsafe {
            let text = argument::text(text, text_length, "text")?;
            let options = argument::extensible(options, "options")?;
            let name = argument::text(options.name, options.name_length, "name")?;
            (text, name, options.read()?, argument::output(out, "out")?)
        };
        let formatted = module_text(name, text.as_bytes(), &options.parse).and_then(|text| {
            let source = Source::new(SourceId(0), name, text);
            solon_syntax::format(&source, &options)
        });
        let formatted = formatted.map_err(::engine::Error::from)?;
        out.write(Bytes::new(Some(formatted.into_bytes())));
        Ok(())
    })
}
