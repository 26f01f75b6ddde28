//! The two spellings of published names: the specification's and OPA's.

use std::borrow::Cow;

/// Whose names are written. The specification says `lang` where OPA says `rego`; nothing else renames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spelling {
    /// The specification's.
    #[default]
    Standard,
    /// OPA's, for clients that compare names.
    Opa,
}

impl Spelling {
    /// The code of an error: `lang_parse_error`, `eval_conflict_error`.
    pub fn code(self, code: &str) -> Cow<'_, str> {
        match (self, code.strip_prefix("rego_")) {
            (Self::Standard, Some(rest)) => Cow::Owned(format!("lang_{rest}")),
            _ => Cow::Borrowed(code),
        }
    }

    /// The name of a metric: `timer_lang_query_eval_ns`.
    pub fn metric(self, name: &str) -> Cow<'_, str> {
        match (self, name.split_once("_rego_")) {
            (Self::Standard, Some((kind, rest))) => Cow::Owned(format!("{kind}_lang_{rest}")),
            _ => Cow::Borrowed(name),
        }
    }

    /// The name of the gauge that tells the version.
    pub fn info(self) -> &'static str {
        match self {
            Self::Standard => "engine_info",
            Self::Opa => "opa_info",
        }
    }

    /// Whether details that the specification does not know are shown.
    pub fn is_opa(self) -> bool {
        self == Self::Opa
    }
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
}
