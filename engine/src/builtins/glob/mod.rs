//! `glob.match` and its cache of compiled patterns.

mod certain;
mod matcher;
mod syntax;

use std::sync::Arc;

use smallvec::SmallVec;

use super::patterns::Family;
use super::regex::Effort;
use super::tested::tested;
use super::{Builtin, BuiltinContext, BuiltinError, IndexTest, Operands, Prepared};
use crate::value::{Kind, RefRepr, ValueRef};
pub use certain::Certain;
use matcher::Glob;

/// Returns `true` if a glob without delimiters matches all of a text.
///
/// # Errors
/// The message about a pattern that is not a glob.
pub fn is_match(pattern: &str, text: &str) -> Result<bool, String> {
    syntax::parse(pattern.as_bytes()).map_err(|error| error.to_string())?;
    match Glob::new(pattern.as_bytes(), &[], Effort::Little) {
        Ok(glob) => Ok(glob.is_match(text)),
        Err(_) => Err("glob: too large".to_owned()),
    }
}

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "glob.match",
        "pattern: string, delimiters: any<null, array[string]>, match: string => result: boolean",
        "Returns `true` if a glob matches a whole string; `*` and `?` stop at delimiters.",
        glob_match,
    )
    .testing(IndexTest::Glob)
    .specialise(prepare),
    Builtin::new(
        "glob.quote_meta",
        "pattern: string => output: string",
        "A glob that matches exactly the given string.",
        quote_meta,
    ),
];

/// Prepares constant delimiters, and a constant pattern, too.
fn prepare(operands: &[Option<ValueRef<'_>>]) -> Option<Arc<dyn Prepared>> {
    let delimiters = delimiters(operands.get(1).copied()??).ok()?;
    let Some(pattern) = operands.first().copied()? else {
        return Some(Arc::new(Delimited::new(delimiters)));
    };
    let pattern = pattern.as_text()?;
    let glob = Glob::new(pattern.as_bytes(), &delimiters, Effort::Whole).ok()?;
    Some(tested(2, move |text| glob.is_match(&text.to_str())))
}

fn glob_match<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    // errors of the pattern precede those of the text
    operands.text(0)?;
    Delimited::new(delimiters(operands.operand(1))?).call(call, operands)
}

/// Globs with constant delimiters.
struct Delimited {
    delimiters: SmallVec<[char; 4]>,
    /// Cache key prefix that identifies the delimiters.
    key: SmallVec<[u8; 16]>,
}

impl Delimited {
    fn new(delimiters: SmallVec<[char; 4]>) -> Self {
        let mut key = SmallVec::new();
        for delimiter in &delimiters {
            key.extend_from_slice(delimiter.encode_utf8(&mut [0; 4]).as_bytes());
        }
        key.push(0xff);
        Self { delimiters, key }
    }
}

impl Prepared for Delimited {
    fn call<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        let pattern = operands.text(0)?;
        let text = operands.text(2)?;
        call.budget.spend_len(text.as_bytes().len() / 16)?;
        let mut key = SmallVec::<[u8; 128]>::from_slice(&self.key);
        key.extend_from_slice(pattern.as_bytes());
        let compile = || Glob::new(pattern.as_bytes(), &self.delimiters, Effort::Little);
        let run = |glob: &Glob| glob.is_match(&text.to_str());
        let is_match = call.patterns.with(Family::Glob, &key, compile, run)?;
        Ok(ValueRef(RefRepr::Bool(is_match)))
    }
}

/// Returns the delimiters: none for `null`, the dot for an empty array.
pub fn delimiters(operand: ValueRef<'_>) -> Result<SmallVec<[char; 4]>, BuiltinError> {
    if operand.kind() == Kind::Null {
        return Ok(SmallVec::new());
    }
    let array = operand
        .as_array()
        .ok_or_else(|| BuiltinError::operand(2, &["array", "null"], operand))?;
    if array.is_empty() {
        return Ok(SmallVec::from_slice(&['.']));
    }
    let delimiter_of = |element: ValueRef<'_>| {
        let text = element
            .as_text()
            .ok_or_else(|| BuiltinError::element(2, Kind::Array, &["string"], element))?;
        let text = text.to_str();
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(delimiter), None) => Ok(delimiter),
            _ => Err(BuiltinError::element(2, Kind::Array, &["rune"], element)),
        }
    };
    array.iter().map(delimiter_of).collect()
}

fn quote_meta<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    let special = |byte: &u8| br"*?\[]{}".contains(byte);
    if !text.as_bytes().iter().any(special) {
        return Ok(operands.operand(0));
    }
    call.budget
        .reserve(text.as_bytes().len().saturating_mul(2))?;
    let mut buffer = call.buffer();
    for byte in text.as_bytes() {
        if special(byte) {
            buffer.push(b'\\');
        }
        buffer.push(*byte);
    }
    Ok(call.text(buffer))
}
