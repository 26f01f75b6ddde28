//! The policies of a bundle while it is built, and their texts.

use std::collections::BTreeSet;
use std::sync::Arc;

use solon_syntax::ast::{Module, Version};
use solon_syntax::source::{Source, SourceId};
use solon_syntax::{FormatOptions, ParseOptions, format, format_tree, parallel, parse_module};

use super::{BuildError, layout};
use crate::bundle::{Bundle, BundleModule, number, syntax_errors};

#[derive(Clone)]
pub struct OutputModule {
    pub path: String,
    pub module: Arc<Module>,
    /// `true` if the source of the module is its whole text.
    pub is_as_read: bool,
    /// `true` if the optimiser made the module.
    pub is_generated: bool,
}

/// Returns the policies of a bundle.
///
/// # Errors
/// A path that occurs twice.
pub fn modules_of(bundle: &Bundle) -> Result<Vec<OutputModule>, BuildError> {
    let mut paths = BTreeSet::new();
    let modules = bundle.modules.iter().map(|module| {
        if !paths.insert(&module.path) {
            let path = module.path.trim_start_matches('/');
            return Err(BuildError::new(format!("duplicate module URL: {path}")));
        }
        Ok(OutputModule {
            path: module.path.clone(),
            module: module.module.clone(),
            is_as_read: true,
            is_generated: false,
        })
    });
    modules.collect()
}

/// Returns the sources of a bundle's policies, in its order.
pub fn sources_of(bundle: &Bundle) -> Vec<Source> {
    let modules = bundle.modules.iter();
    modules.map(|module| module.module.source.clone()).collect()
}

/// Returns the text of a policy. Policies that the optimiser made have parts of `sources`.
///
/// # Errors
/// OPA's message about a policy that cannot be written.
pub fn text(output: &OutputModule, sources: &[Source]) -> Result<String, BuildError> {
    let module = &output.module;
    let options = FormatOptions {
        parse: ParseOptions::from_version(module.version),
        target: module.version,
        drop_v0_imports: false,
    };
    let formatted = if output.is_as_read {
        format(&module.source, &options)
    } else if output.is_generated {
        let mut module = (**module).clone();
        layout::prepare(&mut module);
        let text = format_tree(&module, sources, &options);
        if let Ok(text) = &text {
            let source = Source::new(SourceId::NONE, module.source.name.clone(), text.as_str());
            let reparsed = parse_module(&source, &options.parse);
            if !reparsed.is_ok_and(|reparsed_module| layout::is_same(&module, &reparsed_module)) {
                let name = &module.source.name;
                return Err(BuildError::new(format!(
                    "{name}: the module cannot be written as text"
                )));
            }
        }
        text
    } else {
        format_tree(module, &[], &options)
    };
    formatted.map_err(|diagnostics| BuildError::new(syntax_errors(&diagnostics, b"")))
}

/// Puts formatted policies into a bundle. Policies that the optimiser made get their version of Rego in the manifest, if it is not
/// the bundle's.
///
/// # Errors
/// A policy that cannot be written.
pub fn write(
    bundle: &mut Bundle,
    modules: Vec<OutputModule>,
    version: Version,
) -> Result<(), BuildError> {
    let sources = sources_of(bundle);
    let global = bundle.manifest.rego_version;
    let versions = &mut bundle.manifest.file_rego_versions;
    versions.retain(|(path, _)| modules.iter().any(|module| module.path == *path));
    bundle.modules.clear();
    let results = parallel::map(
        &modules,
        |output| output.module.source.text.len(),
        |output| format_module(output, &sources),
    );
    for (output, module) in modules.into_iter().zip(results) {
        if output.is_generated && global.is_some_and(|global| global.min(1) != number(version)) {
            versions.push((output.path.clone(), number(version)));
        }
        bundle.modules.push(BundleModule {
            path: output.path,
            module: module?,
        });
    }
    versions.sort();
    Ok(())
}

/// Returns the formatted policy.
fn format_module(output: &OutputModule, sources: &[Source]) -> Result<Arc<Module>, BuildError> {
    let before = &output.module;
    let text = text(output, sources)?;
    if output.is_as_read && *before.source.text == *text {
        return Ok(before.clone());
    }
    let parse = ParseOptions::from_version(before.version);
    let source = Source::new(before.source.id, before.source.name.clone(), text);
    let module = parse_module(&source, &parse);
    let module = module.map_err(|diagnostics| {
        BuildError::new(syntax_errors(&diagnostics, source.text.as_bytes()))
    })?;
    Ok(module.into())
}
