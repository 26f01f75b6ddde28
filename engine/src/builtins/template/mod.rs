//! `strings.render_template`: Go's text templates.

mod constant;
mod data;
mod escape;
mod exec;
mod functions;
mod lexer;
mod parser;
mod print;
mod tree;

use std::sync::{Arc, LazyLock};

use memchr::memmem::Finder;

use super::patterns::{CompiledPattern, Family};
use super::{Builtin, BuiltinContext, BuiltinError, Operands, Prepared};
use crate::bug::Within;
use crate::limits;
use crate::value::{Kind, TextView, ValueRef, display, json, text};
use tree::NamedTemplates;

pub const TABLE: &[Builtin] = &[Builtin::new(
    "strings.render_template",
    "value: string, vars: object[string: any] => result: string",
    "The text of a template, rendered with variables.",
    render_template,
)
.listed(&["strings"])
.specialise(prepare)];

static NO_VALUES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(NO_VALUE));

/// Go's text for a missing value, which is replaced by [`UNDEFINED`].
const NO_VALUE: &str = "<no value>";

/// Text for a missing value in the result.
const UNDEFINED: &[u8] = b"<undefined>";

/// Quotes a text for messages.
fn quote_text(text: &str) -> String {
    let mut quoted_text = String::with_capacity(text.len() + 2);
    // writing to a string does not fail
    let _ = display::quote(text.as_bytes(), &mut quoted_text);
    quoted_text
}

struct ParsedTemplate {
    text: String,
    templates: NamedTemplates,
}

impl CompiledPattern for ParsedTemplate {
    fn bytes(&self) -> usize {
        // nodes are a few times as large as their text
        self.text.len() * 16
    }
}

impl ParsedTemplate {
    fn parse(text: &TextView<'_>) -> Result<Self, String> {
        let text = text.to_str().into_owned();
        let parse = || parser::parse(&text);
        let templates = stacker::maybe_grow(limits::COMPILE_STACK, limits::COMPILE_STACK, parse)?;
        Ok(Self { text, templates })
    }

    fn render<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        variables: ValueRef<'e>,
    ) -> Result<ValueRef<'e>, BuiltinError> {
        let rendered = stacker::maybe_grow(limits::COMPILE_STACK, limits::COMPILE_STACK, || {
            exec::render(call, &self.text, &self.templates, variables)
        })?;
        if NO_VALUES.find(&rendered).is_none() {
            return Ok(call.text(rendered));
        }
        call.budget.reserve(2 * rendered.len())?;
        let mut text = call.buffer();
        let mut rest = rendered.as_slice();
        while let Some(offset) = NO_VALUES.find(rest) {
            text.extend_from_slice(rest.within(..offset));
            text.extend_from_slice(UNDEFINED);
            rest = rest.within(offset + NO_VALUE.len()..);
        }
        text.extend_from_slice(rest);
        Ok(call.text(text))
    }
}

struct ConstantTemplate(ParsedTemplate);

impl Prepared for ConstantTemplate {
    fn call<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        operands.object(1)?;
        let variables = decode(call, operands.operand(1))?;
        self.0.render(call, variables)
    }
}

fn prepare(operands: &[Option<ValueRef<'_>>]) -> Option<Arc<dyn Prepared>> {
    let text = operands.first().copied()??.as_text()?;
    let template = ParsedTemplate::parse(&text).ok()?;
    Some(Arc::new(ConstantTemplate(template)))
}

fn render_template<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    operands.object(1)?;
    let variables = decode(call, operands.operand(1))?;
    let template = call
        .patterns
        .get(Family::Template, text.as_bytes(), || {
            ParsedTemplate::parse(&text)
        })
        .map_err(BuiltinError::error)?;
    template.render(call, variables)
}

/// Returns the variables as OPA passes them to the template: their Rego text, parsed as JSON. So sets, keys that are
/// not strings and strings with some control characters are errors.
fn decode<'e>(
    call: &mut BuiltinContext<'e>,
    variables: ValueRef<'e>,
) -> Result<ValueRef<'e>, BuiltinError> {
    if is_plain(variables) {
        return Ok(variables);
    }
    let text = variables.rego_text().to_string();
    call.budget.reserve(text.len())?;
    let text = call.arena.bump().alloc_str(&text);
    json::unmarshal(call.arena, text.as_bytes()).map_err(BuiltinError::error)
}

/// Returns `true` if the Rego text of a value is JSON for the same value.
fn is_plain(value: ValueRef<'_>) -> bool {
    match value.kind() {
        Kind::Null | Kind::Boolean | Kind::Number => true,
        Kind::String => {
            let simple = |text: &[u8]| text::all_chunks(text, text::is_printable);
            if value.string_bytes().is_some_and(simple) {
                return true;
            }
            let text = value.text_or_empty();
            let is_plain_char = |c: char| match c {
                ' '..='~' | '\n' | '\t' | '\r' | '\x08' | '\x0c' => true,
                c if c.is_ascii() => false,
                c => c <= '\u{ffff}' || display::is_print(c),
            };
            text.as_utf8()
                .is_some_and(|text| text.chars().all(is_plain_char))
        }
        Kind::Array => {
            let items = value.as_array();
            items.is_none_or(|items| items.iter().all(is_plain))
        }
        Kind::Object => value.as_object().is_none_or(|members| {
            members
                .iter()
                .all(|(key, value)| key.is_string() && is_plain(key) && is_plain(value))
        }),
        Kind::Set => false,
    }
}
