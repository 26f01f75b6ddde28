//! The formatter: writes a module's tree and comments as OPA's formatter does.
//!
//! The writer follows the tree and decides by the rows on which nodes start in the source, never by widths.

mod bodies;
mod brackets;
mod calls;
mod checks;
mod collections;
mod faithful;
mod heads;
mod imports;
mod lines;
mod logic;
mod module;
mod rules;
mod style;
mod terms;

use std::sync::Arc;

use crate::ast::{Module, Version};
use crate::dialect::ParseOptions;
use crate::source::{Code, Diagnostic, Diagnostics, Source, Span};

use self::faithful::{Changes, changes, unfaithful_rules};
use self::lines::{LineWriter, RuleMode, WriteStop};
use self::style::Style;

/// Options of the formatter. The default reads and writes v1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FormatOptions {
    /// Options of the parser for the text that is formatted.
    pub parse: ParseOptions,
    /// Rego version of the result.
    pub target: Version,
    /// Removes the imports that v1 made superfluous.
    pub drop_v0_imports: bool,
}

/// Formats a module.
///
/// # Errors
/// Fails if the text does not parse, or cannot be written in the target version.
pub fn format(source: &Source, options: &FormatOptions) -> Result<String, Diagnostics> {
    let module = read(source, &options.parse)?;
    if options.target.is_v1() {
        checks::check(&module)?;
    }
    format_module(&module, options)
}

/// Parses a text. Annotations are treated as comments, and features only control how text is written.
fn read(source: &Source, options: &ParseOptions) -> Result<Module, Diagnostics> {
    let options = ParseOptions {
        annotations: false,
        features: None,
        ..*options
    };
    crate::parse_module(source, &options)
}

/// Maximum number of times a result is formatted again until it no longer changes.
const ROUNDS: usize = 4;

/// Maximum number of attempts that copy more rules verbatim before all of them are copied.
const ATTEMPTS: usize = 12;

/// Formats a parsed module. The result has the same tree and the same comments, and formatting it again changes
/// nothing: a rule that violates this is copied from the source.
///
/// # Errors
/// Fails if the module cannot be written in the target version.
pub fn format_module(module: &Module, options: &FormatOptions) -> Result<String, Diagnostics> {
    // text of another version cannot be copied
    let copies = options.parse.version == options.target;
    format_copying(module, options, copies)
}

/// Formats a module whose tree was changed after it was parsed, as [`format_module`] does. Nothing is copied from the source.
///
/// # Errors
/// Fails if the module cannot be written in the target version without changing its meaning.
pub fn format_changed(module: &Module, options: &FormatOptions) -> Result<String, Diagnostics> {
    format_copying(module, options, false)
}

/// Formats a parsed module. Rules that would change are copied from the source if `copies`.
fn format_copying(
    module: &Module,
    options: &FormatOptions,
    copies: bool,
) -> Result<String, Diagnostics> {
    let target = match (options.target, module.version) {
        (Version::V0, Version::V0CompatV1) => Version::V0CompatV1,
        (target, _) => target,
    };
    let check_options = FormatOptions {
        parse: ParseOptions {
            version: target,
            annotations: false,
            ..options.parse
        },
        ..*options
    };
    let mut last = faithful(module, target, options, &check_options, copies)?;
    for _ in 0..ROUNDS {
        let Some(module) = &last.module else {
            return Ok(last.text);
        };
        let next = faithful(module, target, &check_options, &check_options, true)?;
        if next.text == last.text {
            return Ok(last.text);
        }
        last = next;
    }
    Ok(if copies {
        as_written(&module.source.text)
    } else {
        last.text
    })
}

/// Formats a tree whose source does not hold all of it: rules were removed from it, or a program has made them of parts from `sources`.
/// Nothing is copied from the source, and a result that does not parse is an error.
///
/// # Errors
/// Location of a construct that the target version does not have.
pub fn format_tree(
    module: &Module,
    sources: &[Source],
    options: &FormatOptions,
) -> Result<String, Diagnostics> {
    let modes = vec![RuleMode::Formatted; module.rules.len()];
    let text = write(module, sources, options.target, options, &modes)?.text;
    let source = Source::new(module.source.id, module.source.name.clone(), text.as_str());
    read(&source, &options.parse)?;
    Ok(text)
}

struct Formatted {
    text: String,
    /// `None` if the text is that of the source. It has the same tree then, and formatting it again changes nothing.
    module: Option<Module>,
}

/// Writes a module and copies rules that would change.
fn faithful(
    module: &Module,
    target: Version,
    options: &FormatOptions,
    check_options: &FormatOptions,
    copies: bool,
) -> Result<Formatted, Diagnostics> {
    // a tree that was changed, or is written in another version, is not that of the source
    let is_same_language = copies && options.parse.version == check_options.parse.version;
    let mut modes = vec![RuleMode::Formatted; module.rules.len()];
    for attempt in 0..=ATTEMPTS {
        let Output { text, starts } = write(module, &[], target, options, &modes)?;
        if is_same_language && text == *module.source.text {
            return Ok(Formatted { text, module: None });
        }
        let source = Source::new(module.source.id, module.source.name.clone(), text.as_str());
        let changed_rules = match read(&source, &check_options.parse) {
            Ok(parsed) => match changes(module, &parsed) {
                Changes::Rules(rules) if rules.is_empty() => {
                    let module = Some(parsed);
                    return Ok(Formatted { text, module });
                }
                Changes::Rules(rules) => rules,
                Changes::OutsideRules => break,
            },
            Err(_) => unfaithful_rules(&module.rules, &text, &starts, |source| {
                read(source, &check_options.parse).ok()
            })
            .into_iter()
            .filter(|rule| modes.get(*rule) == Some(&RuleMode::Formatted))
            .collect(),
        };
        let all = (0..modes.len()).collect();
        let retried = if attempt + 1 == ATTEMPTS || changed_rules.is_empty() {
            all
        } else {
            changed_rules
        };
        for rule in retried {
            if let Some(modes) = modes.get_mut(rule) {
                *modes = match *modes {
                    RuleMode::Formatted if copies => RuleMode::Verbatim,
                    _ => RuleMode::CommentsAbove,
                };
            }
        }
    }
    if copies {
        let text = as_written(&module.source.text);
        let source = Source::new(module.source.id, module.source.name.clone(), text.as_str());
        let module = Some(read(&source, &check_options.parse)?);
        return Ok(Formatted { text, module });
    }
    let failure = Diagnostic::at_span(
        Code::Parse,
        &module.source,
        Span::default(),
        "the module cannot be rewritten without changing its meaning",
    );
    Err(failure.into())
}

/// Returns a text with exactly one line break at its end.
fn as_written(text: &str) -> String {
    text.trim_end().replace("\r\n", "\n") + "\n"
}

struct Output {
    text: String,
    /// Offset of each rule.
    starts: Vec<usize>,
}

fn write(
    module: &Module,
    sources: &[Source],
    target: Version,
    options: &FormatOptions,
    modes: &[RuleMode],
) -> Result<Output, Diagnostics> {
    let style = Style::from_module(module, target, options.parse.features().keywords_in_refs);
    let imports = imports::imports_for(module, target, options.drop_v0_imports);
    let mut writer = LineWriter::new(&module.source, style, &module.comments, modes);
    writer.others = sources;
    match writer.module(module, &imports) {
        Ok(()) | Err(WriteStop::Comment) => {}
        Err(WriteStop::Failed(message)) => {
            let file: Arc<str> = module.source.name.clone();
            return Err(Diagnostic::new(Code::Parse, file, Span::default(), message).into());
        }
    }
    let mut text = writer.out;
    text.truncate(text.trim_end_matches('\n').len());
    text.push('\n');
    Ok(Output {
        text,
        starts: writer.starts,
    })
}
