//! Entry points: the documents that clients query.

use solon_syntax::ast::{Annotation, Scope, Term};

use crate::bundle::Bundle;
use crate::store::Path;

/// Returns the entry points that paths name, then those of METADATA blocks in order of their paths, each once.
pub fn resolve(paths: &[String], bundle: &Bundle) -> Vec<Path> {
    let named_paths = paths.iter().map(|path| {
        let path = path.strip_prefix('/').unwrap_or(path);
        let steps = path.split('/').filter(|_| !path.is_empty());
        Path::new(steps)
    });
    let modules = bundle.modules.iter();
    let blocks = modules.flat_map(|module| &module.module.annotations);
    let entry_blocks = blocks.filter(|block| block.entrypoint);
    let mut annotated: Vec<Path> = entry_blocks.filter_map(|block| path_of(block)).collect();
    annotated.sort();
    let mut resolved: Vec<Path> = Vec::new();
    for path in named_paths.chain(annotated) {
        if !resolved.contains(&path) {
            resolved.push(path);
        }
    }
    resolved
}

fn path_of(block: &Annotation) -> Option<Path> {
    if !matches!(block.scope, Scope::Package | Scope::Document) {
        return None;
    }
    let steps = block.path.iter().skip(1);
    let steps: Option<Vec<String>> = steps.map(text_of).collect();
    steps.map(Path::new)
}

fn text_of(step: &Term) -> Option<String> {
    step.as_string().map(|text| text.to_string())
}
