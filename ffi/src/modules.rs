//! The modules of an engine.

use std::ffi::c_char;

use ::engine::{
    Change as EngineChange, Error as EngineError, Module as Parsed, Value as EngineValue,
};
use solon_syntax::json;

use crate::argument::{self, arguments};
use crate::bytes::{Bytes, Text};
use crate::engine::Engine;
use crate::error::Error;
use crate::guard::guard;
use crate::options::Rego;
use crate::value::Value;

/// A module to add.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Module {
    /// Its name; an existing module of that name is replaced.
    pub name: Text,
    /// Its source text.
    pub text: Text,
    /// Its Rego version: one of `SOLON_REGO_…`.
    pub rego: Rego,
}

/// Adds or replaces a module in a change.
pub(crate) fn set(
    change: &mut EngineChange,
    name: &str,
    text: &str,
    rego: Rego,
) -> Result<(), Error> {
    match argument::rego(rego)? {
        None => change.set_module(name, text),
        Some(version) => change.set_module_as(name, text, version),
    };
    Ok(())
}

/// Adds the module, or replaces the module of that name, and compiles it together with the others.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_set_module(
    engine: *mut Engine,
    name: *const c_char,
    name_length: usize,
    text: *const c_char,
    text_length: usize,
) -> *mut Error {
    guard(|| {
        let (engine, name, text) = arguments!(
            handle(engine),
            text(name, name_length),
            text(text, text_length),
        );
        Ok(engine.0.set_module(name, text)?)
    })
}

/// Adds or replaces several modules in one change, all of them or none. They may refer to one another.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_set_modules(
    engine: *mut Engine,
    modules: *const Module,
    module_count: usize,
) -> *mut Error {
    guard(|| {
        let (engine, modules) = arguments!(handle(engine), list(modules, module_count));
        let mut change = EngineChange::default();
        for (index, module) in modules.iter().enumerate() {
            let part = |name: &str| format!("modules[{index}].{name}");
            // SAFETY: the caller upholds the contract of the header
            let (name, text) = unsafe {
                (
                    argument::text(module.name.data, module.name.length, &part("name"))?,
                    argument::text(module.text.data, module.text.length, &part("text"))?,
                )
            };
            set(&mut change, name, text, module.rego)?;
        }
        Ok(engine.0.apply(change)?)
    })
}

/// Removes a module.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_remove_module(
    engine: *mut Engine,
    name: *const c_char,
    name_length: usize,
) -> *mut Error {
    guard(|| {
        let (engine, name) = arguments!(handle(engine), text(name, name_length));
        Ok(engine.0.remove_module(name)?)
    })
}

/// Returns the names of all modules, a sorted array of strings.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_module_names(
    engine: *const Engine,
    out: *mut *mut Value,
) -> *mut Error {
    guard(|| {
        let (engine, out) = arguments!(handle(engine), output(out));
        let names = engine.0.module_names().into_iter();
        out.give(Value(EngineValue::array(
            names.map(EngineValue::from).collect(),
        )));
        Ok(())
    })
}

/// Returns the source text of a module.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_module_text(
    engine: *const Engine,
    name: *const c_char,
    name_length: usize,
    out: *mut Bytes,
) -> *mut Error {
    // SAFETY: the caller upholds the contract of the header
    unsafe {
        write_module(engine, name, name_length, out, |module| {
            module.source.text.to_string()
        })
    }
}

/// Returns the syntax tree of a module as JSON, in OPA's format.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_engine_module_json(
    engine: *const Engine,
    name: *const c_char,
    name_length: usize,
    out: *mut Bytes,
) -> *mut Error {
    let json = |module: &Parsed| {
        let options = json::Options {
            comments: false,
            ..json::Options::default()
        };
        json::text(module, options)
    };
    // SAFETY: the caller upholds the contract of the header
    unsafe { write_module(engine, name, name_length, out, json) }
}

/// # Safety
/// Same contract as the exported C functions.
unsafe fn write_module(
    engine: *const Engine,
    name: *const c_char,
    name_length: usize,
    out: *mut Bytes,
    show: impl FnOnce(&Parsed) -> String,
) -> *mut Error {
    guard(|| {
        // SAFETY: by this function's contract
        let (engine, name, out) = unsafe {
            (
                argument::handle(engine, "engine")?,
                argument::text(name, name_length, "name")?,
                argument::output(out, "out")?,
            )
        };
        let module = engine.0.module(name);
        let module = module.ok_or_else(|| EngineError::UnknownModule {
            name: name.to_owned(),
        })?;
        out.write(Bytes::new(Some(show(&module).into_bytes())));
        Ok(())
    })
}
