//! METADATA blocks: YAML comments that describe a rule, a document or a package.

mod attach;
mod block;
mod decode;
mod fields;
mod scalar;
mod target;
mod time;
mod url;
mod value;
mod yaml;

use self::block::Block;
use crate::ast::{Comment, Module};
use crate::dialect::ParseOptions;
use crate::source::{Diagnostic, Diagnostics, Source, Span};

/// Parses the blocks among a module's comments and attaches them to the statements below them. Does nothing unless the
/// options enable annotations.
pub fn attach(module: &mut Module, options: &ParseOptions) -> Result<(), Diagnostics> {
    if !options.annotations {
        return Ok(());
    }
    let (blocks, errors) = read(&module.comments, &module.source, options);
    if !errors.is_empty() {
        return Err(Diagnostics(errors));
    }
    attach::attach(module, blocks)
}

/// Returns the errors of the blocks themselves, independent of the statements around them.
pub(crate) fn check(
    comments: &[Comment],
    source: &Source,
    options: &ParseOptions,
) -> Vec<Diagnostic> {
    if options.annotations {
        read(comments, source, options).1
    } else {
        Vec::new()
    }
}

/// Returns the location of the first block. Returns `None` if annotations are disabled or no block exists.
pub(crate) fn first_block(comments: &[Comment], options: &ParseOptions) -> Option<Span> {
    let mut blocks = block::find(comments).into_iter();
    let first = blocks.next().filter(|_| options.annotations)?;
    first.first().map(|comment| comment.span)
}

fn read(
    comments: &[Comment],
    source: &Source,
    options: &ParseOptions,
) -> (Vec<Block>, Vec<Diagnostic>) {
    let mut blocks = Vec::new();
    let mut errors = Vec::new();
    for comments in block::find(comments) {
        match block::read(comments, source, options) {
            Ok(block) => blocks.push(block),
            Err(error) => errors.push(error),
        }
    }
    (blocks, errors)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::json::annotation_object;
    use crate::source::{Source, SourceId};
    use crate::{ParseOptions, parse_module};

    #[test]
    fn policies_see_plain_objects() {
        let text = "package t\n# METADATA\n# title: T\n# authors: [\"J D <j@d>\", \"<only@mail>\"]\n\
                    # related_resources: [http://a]\n# schemas:\n# - input[x].a[0]: schema.x[y]\n\
                    # - data: {a: {b: 1.50, c: [1e2]}}\n# custom: {}\n# labels: {team: x}\n# compile: {}\np := 1";
        let module = parse_module(
            &Source::new(SourceId(0), "a.rego", text),
            &ParseOptions::default(),
        )
        .unwrap();
        assert_eq!(
            annotation_object(&module.annotations[0]),
            json!({
                "scope": "rule",
                "title": "T",
                "authors": [{"name": "J D", "email": "j@d"}, {"email": "only@mail"}],
                "related_resources": [{"ref": "http://a"}],
                "schemas": [
                    {"path": ["input", "x", "a", "0"], "schema": ["schema", "x", "y"]},
                    {"path": ["data"], "definition": {"a": {"b": 1.5, "c": [100]}}},
                ],
                "labels": {"team": "x"},
            })
        );
    }

    #[test]
    fn blocks_are_parsed_only_with_the_option() {
        let options = ParseOptions {
            annotations: false,
            ..ParseOptions::default()
        };
        let text = "package t\n# METADATA\n# title: [\np := 1";
        let module = parse_module(&Source::new(SourceId(0), "", text), &options).unwrap();
        assert!(module.annotations.is_empty() && module.rules[0].annotations.is_empty());
    }
}
