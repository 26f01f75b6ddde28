//! Templates of `regex.template_match`: text with regular expressions between delimiters.

use super::program::Regex;
use crate::bug::Within;
use crate::builtins::BuiltinError;
use crate::value::{TextView, ValueRef};

/// Compiles a template to a regular expression that matches whole strings.
pub fn compile(
    template: &TextView<'_>,
    start: &TextView<'_>,
    end: &TextView<'_>,
    displayed: ValueRef<'_>,
) -> Result<Regex, BuiltinError> {
    let (&[start], &[end]) = (start.as_bytes(), end.as_bytes()) else {
        // as in OPA, the length of the start delimiter is used for both delimiters
        let length = start.as_bytes().len();
        let delimiter_name = if length == 1 { "end" } else { "start" };
        return Err(BuiltinError::error(format!(
            "{delimiter_name} delimiter has to be exactly one character long but is {length} long"
        )));
    };
    let template = template.to_str();
    let unbalanced = || {
        BuiltinError::error(format!(
            "unbalanced braces in {displayed}",
            displayed = displayed.rego_text()
        ))
    };
    let mut pattern = String::from("^");
    let mut depth = 0_usize;
    let mut text_from = 0;
    let mut inner_from = 0;
    for (index, byte) in template.bytes().enumerate() {
        if byte == start {
            if depth == 0 {
                quote(template.within(text_from..index), &mut pattern);
                inner_from = index + 1;
            }
            depth += 1;
        } else if byte == end {
            depth = depth.checked_sub(1).ok_or_else(unbalanced)?;
            if depth == 0 {
                let inner = template.within(inner_from..index);
                // the inner text must be a valid pattern by itself, otherwise a bracket in it could close one outside
                Regex::new(&format!("^{inner}$"))?;
                pattern.push('(');
                pattern.push_str(inner);
                pattern.push(')');
                text_from = index + 1;
            }
        }
    }
    if depth > 0 {
        return Err(unbalanced());
    }
    quote(template.within(text_from..), &mut pattern);
    pattern.push('$');
    Ok(Regex::new(&pattern)?)
}

/// Appends text as a pattern that matches it literally.
fn quote(text: &str, pattern: &mut String) {
    for c in text.chars() {
        if r"\.+*?()|[]{}^$".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
}
