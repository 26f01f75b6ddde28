//! Entry points: the documents that clients query.

use solon_syntax::ast::{Annotation, Scope, Term};

use crate::bundle::Bundle;
use crate::store::Path;

/// Returns the entry points that paths name, then those of METADATA blocks in order of their paths, each once.
pub fn resolve(named: &[String], bundle: &Bundle) -> Vec<Path> {
    let named = named.iter().map(|path| {
        let path = path.strip_prefix('/').unwrap_or(path);
        let steps = path.split('/').filter(|_| !path.is_empty());
        Path::new(steps)
    });
    let modules = bundle.modules.iter();
    let blocks = modules.flat_map(|one| &one.module.annotations);
    let marked = blocks.filter(|block| block.entrypoint);
    let mut annotated: Vec<Path> = marked.filter_map(|block| path_of(block)).collect();
    annotated.sort();
    let mut found: Vec<Path> = Vec::new();
    for path in named.chain(annotated) {
        if !found.contains(&path) {
            found.push(path);
        }
    }
    found
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
