//! OPA's JSON form of the tree: writing and reading.
//!
//! ```
//! use solon_syntax::ast::Term;
//! use solon_syntax::json::{self, Options};
//!
//! let term = json::read_term(r#"{"type": "number", "value": 1.50}"#)?;
//! assert_eq!(term.to_string(), "1.50");
//! assert_eq!(json::text(&term, Options::default()), r#"{"type":"number","value":1.50}"#);
//! # Ok::<(), json::Error>(())
//! ```

mod annotation;
mod document;
mod layout;
mod members;
mod read;
mod scan;
mod sink;
mod texts;
mod write;

pub use annotation::{annotation_object, plain_path};
pub use document::Error;
pub use layout::lay_out;
pub use read::{read_body, read_module, read_module_value, read_term, read_term_value};
pub use write::{AstJson, Options, text, value};

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        read_body(text).unwrap_err().to_string()
    }

    #[test]
    fn numbers_and_strings_survive() {
        for text in [
            r#"{"type":"number","value":1e400}"#,
            r#"{"type":"number","value":123456789012345678901234567890.10}"#,
            r#"{"type":"string","value":"\u003ca\u003e\n\"\\\b\f\u0001é😀"}"#,
            r#"{"type":"null","value":{}}"#,
            r#"{"type":"set","value":[{"type":"number","value":1},{"type":"string","value":"a"}]}"#,
        ] {
            let term = read_term(text).unwrap();
            assert_eq!(super::text(&term, Options::default()), text);
        }
        let term = read_term(r#"{"type":"string","value":"\ud83d\ude00\ud800\/"}"#).unwrap();
        assert_eq!(term.as_string().unwrap().as_ref(), "😀\u{fffd}/");
        assert_eq!(
            value(
                &read_term(r#"{"type":"number","value":1.5}"#).unwrap(),
                Options::default()
            ),
            serde_json::json!({"type": "number", "value": 1.5}),
        );
    }

    #[test]
    fn errors_contain_a_position() {
        for (text, expected) in [
            ("", "line 1, column 1: expected a value, found the end"),
            (
                "[\n 1 2]",
                "line 2, column 4: expected `,` or `]`, found `2`",
            ),
            ("[01]", "line 1, column 3: expected `,` or `]`, found `1`"),
            ("[1.]", "line 1, column 4: expected a digit, found `]`"),
            (r#"{"a" 1}"#, "line 1, column 6: expected `:`, found `1`"),
            (
                r#"{"a": 1,}"#,
                "line 1, column 9: expected a key, found `}`",
            ),
            (
                "\"a",
                "line 1, column 3: expected the end of the string, found the end",
            ),
            ("\"\\x\"", "line 1, column 3: expected an escape, found `x`"),
            ("[] []", "line 1, column 4: expected the end, found `[`"),
            ("1", "expected an array, found a number"),
        ] {
            assert_eq!(error(text), format!("invalid AST JSON: {expected}"));
        }
        assert_eq!(error("[{}]"), "invalid AST JSON at `[0]`: missing `terms`");
        assert_eq!(
            error(r#"[{"terms":{"type":"array","value":[{"type":"foo","value":1}]}}]"#),
            "invalid AST JSON at `[0].terms.value[0].value`: unknown term type `foo`"
        );
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = 100_000;
        let text = "[".repeat(deep);
        let limit = 8 * super::read::NESTING + 3 * crate::ParseOptions::CHAIN;
        let expected = format!("invalid AST JSON: nested deeper than {limit} levels");
        assert_eq!(error(&text), expected);
        let nested = |levels: usize| {
            format!(
                r#"{}{{"type":"null"}}{}"#,
                r#"{"type":"array","value":["#.repeat(levels),
                "]}".repeat(levels)
            )
        };
        // stack frames of unoptimized code are many times larger
        let stack = if cfg!(debug_assertions) {
            4 << 20
        } else {
            256 << 10
        };
        let small = std::thread::Builder::new().stack_size(stack);
        let levels = super::read::NESTING as usize;
        let thread = small.spawn(move || {
            let term = read_term(&nested(levels)).unwrap();
            assert_eq!(term.to_string().len(), levels * 2 + 4);
            let text = super::text(
                &term,
                Options {
                    indented: true,
                    ..Options::default()
                },
            );
            assert_eq!(read_term(&text).unwrap(), term);
            value(&term, Options::default());
            let error = read_term(&nested(levels + 1)).err();
            let error = error.map(|error| error.message().to_owned());
            assert_eq!(error, Some(format!("nested deeper than {levels} levels")));
        });
        thread.unwrap().join().unwrap();
    }
}
