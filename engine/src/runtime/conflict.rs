//! Messages of conflicts between rules.

use std::fmt::Write;

use solon_syntax::print::write_key;
use solon_syntax::source::Span;

use super::brief::{collapsed, cut};
use super::error::Halt;
use crate::builtins::EvalErrorCode;
use crate::program::Program;
use crate::value::ValueRef;

/// Maximum number of values in a message.
const LISTED: usize = 10;

/// Returns the first line of the message of a conflict of complete rules or functions.
pub(crate) fn rule_header(name: &str, function: bool) -> String {
    if function {
        format!("function {name} produced conflicting values for the same inputs:")
    } else {
        format!("rule {name} produced conflicting values:")
    }
}

/// Returns the name of the document that rules with constant keys share.
pub(crate) fn fixed_key_name(name: &str, keys: &[ValueRef<'_>]) -> String {
    keys.iter().fold(name.to_owned(), |mut name, key| {
        let _ = match key.as_text() {
            Some(text) => write_key(&mut name, &text.to_str()),
            None => write!(name, "[{key}]", key = key.rego_text()),
        };
        name
    })
}

/// Returns the error of rules that produced conflicting values. `clashed` is the location where the conflict was
/// detected.
pub(crate) fn conflict_error(
    program: &Program,
    header: String,
    produced: &[(ValueRef<'_>, Span)],
    clashed: Span,
) -> Halt {
    let message = listed(program, header, produced);
    Halt::error(program, EvalErrorCode::Conflict, clashed, message)
}

/// Lists the first value and those that differ from it, in source order.
fn listed(program: &Program, header: String, produced: &[(ValueRef<'_>, Span)]) -> String {
    let first = produced.first().map(|(value, _)| *value);
    let mut text = header;
    let differing = produced
        .iter()
        .enumerate()
        .filter(|(at, (value, _))| *at == 0 || Some(*value) != first);
    for (count, (_, (value, span))) in differing.enumerate() {
        if count == LISTED {
            text.push_str("\n  ...");
            break;
        }
        let (file, row, _) = program.location(*span);
        let _ = write!(
            text,
            "\n  {} at {file}:{row}",
            cut(collapsed(&value.rego_text().to_string()))
        );
    }
    text
}
