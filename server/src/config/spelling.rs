//! The two spellings of public names: the specification's and OPA's.

use std::borrow::Cow;

/// Spelling of names. The specification writes `lang` where OPA writes `rego`; all other names are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spelling {
    /// Spelling of the specification: `lang_parse_error`.
    #[default]
    Standard,
    /// OPA's spelling, for clients that compare names.
    Opa,
}

impl Spelling {
    /// Returns the code of an error: `lang_parse_error`, `eval_conflict_error`.
    pub fn code(self, code: &str) -> Cow<'_, str> {
        match (self, code.strip_prefix("rego_")) {
            (Self::Standard, Some(rest)) => Cow::Owned(format!("lang_{rest}")),
            _ => Cow::Borrowed(code),
        }
    }

    /// Returns the name of a metric: `timer_lang_query_eval_ns`.
    pub fn metric(self, name: &str) -> Cow<'_, str> {
        match (self, name.split_once("_rego_")) {
            (Self::Standard, Some((kind, rest))) => Cow::Owned([kind, "_lang_", rest].concat()),
            _ => Cow::Borrowed(name),
        }
    }

    /// Returns the text of an error. A text that contains an error of the parser or the compiler contains its code: `1 error
    /// occurred: f:2: lang_parse_error: unexpected eof token`. Lines that begin with a tab are source text and are not changed. In
    /// OPA's spelling, errors about mappings name Go's types instead of the kinds of JSON.
    pub fn message(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Opa => as_opa(text),
            Self::Standard if !text.contains(CODE) => Cow::Borrowed(text),
            Self::Standard => {
                let lines = text.split('\n').map(|line| match line.strip_prefix('\t') {
                    Some(_) => Cow::Borrowed(line),
                    None => in_line(line),
                });
                Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
            }
        }
    }

    /// Returns the name of the gauge with the version.
    pub fn info(self) -> &'static str {
        match self {
            Self::Standard => "engine_info",
            Self::Opa => "opa_info",
        }
    }

    /// Returns `true` if details that are not in the specification are included.
    pub fn is_opa(self) -> bool {
        self == Self::Opa
    }
}

/// Prefix of the codes of the parser and the compiler.
const CODE: &str = "rego_";

/// Returns a line with the specification's codes. A code is at the start of the line or after a colon, and is followed by a colon.
fn in_line(line: &str) -> Cow<'_, str> {
    let is_code = |part: &str| {
        let name = part
            .strip_prefix(CODE)
            .and_then(|rest| rest.strip_suffix("_error"));
        name.is_some_and(|name| {
            name.bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        })
    };
    let parts: Vec<&str> = line.split(": ").collect();
    let last = parts.len().saturating_sub(1);
    let parts = parts.into_iter().enumerate().map(|(index, part)| {
        if index < last && is_code(part) {
            Spelling::Standard.code(part)
        } else {
            Cow::Borrowed(part)
        }
    });
    Cow::Owned(parts.collect::<Vec<_>>().join(": "))
}

/// Returns an error about mappings with Go's types; other texts are unchanged.
fn as_opa(text: &str) -> Cow<'_, str> {
    let Some((rest, kind)) = text
        .rsplit_once(", got ")
        .filter(|_| text.starts_with("mappings: invalid mappings"))
    else {
        return Cow::Borrowed(text);
    };
    let kind = match kind {
        "null" => "<nil>",
        "boolean" => "bool",
        "number" => "json.Number",
        "array" => "[]interface {}",
        "object" => "map[string]interface {}",
        other => other,
    };
    Cow::Owned(format!("{rest}, got {kind}"))
}

#[cfg(test)]
mod tests {
    use super::Spelling;

    #[test]
    fn names() {
        assert_eq!(
            Spelling::Standard.code("rego_unsafe_var_error"),
            "lang_unsafe_var_error"
        );
        assert_eq!(
            Spelling::Opa.code("rego_unsafe_var_error"),
            "rego_unsafe_var_error"
        );
        assert_eq!(
            Spelling::Standard.code("eval_conflict_error"),
            "eval_conflict_error"
        );
        assert_eq!(
            Spelling::Standard.metric("timer_rego_query_eval_ns"),
            "timer_lang_query_eval_ns"
        );
        assert_eq!(
            Spelling::Standard.metric("timer_server_handler_ns"),
            "timer_server_handler_ns"
        );
    }

    #[test]
    fn messages() {
        let standard_message = |text| Spelling::Standard.message(text).into_owned();
        for (text, standard) in [
            (
                "e:0: rego_parse_error: empty module",
                "e:0: lang_parse_error: empty module",
            ),
            ("rego_type_error: x", "lang_type_error: x"),
            (
                "f: 2 errors occurred:\na:1: rego_parse_error: x\n\trego_type_error: y\n\t^\na:2: rego_unsafe_var_error: z",
                "f: 2 errors occurred:\na:1: lang_parse_error: x\n\trego_type_error: y\n\t^\na:2: lang_unsafe_var_error: z",
            ),
            ("no code: rego_parse_error", "no code: rego_parse_error"),
            ("x: rego_: rego_Error: y", "x: rego_: rego_Error: y"),
            ("data.rego_parse_error: y", "data.rego_parse_error: y"),
        ] {
            assert_eq!(standard_message(text), standard);
            assert_eq!(Spelling::Opa.message(text), text);
        }
        let mapping = "mappings: invalid mappings: t.c: expected string, got number";
        assert_eq!(standard_message(mapping), mapping);
        assert_eq!(
            Spelling::Opa.message(mapping),
            "mappings: invalid mappings: t.c: expected string, got json.Number"
        );
        assert_eq!(
            Spelling::Opa.message("expected string, got number"),
            "expected string, got number"
        );
    }
}
