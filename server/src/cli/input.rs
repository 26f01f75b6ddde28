//! Input documents: JSON, or YAML.

use std::path::Path;

use solon::{Value, json, yaml};

/// Byte order mark, which may precede a document.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Parses an input document. An empty text is `null`.
///
/// A text that is JSON or begins like JSON is parsed only as JSON, unless its file name ends in `.yaml` or `.yml`. Every other text
/// is parsed as YAML. A number that is out of range is an error in both formats: as a string it would compare greater than any
/// number.
///
/// # Errors
/// Returns what is wrong with the text, with its format and the position.
pub fn read(text: &[u8], file: Option<&str>) -> Result<Value, String> {
    let text = text.strip_prefix(MARK).unwrap_or(text);
    if text.trim_ascii().is_empty() {
        return Ok(Value::NULL);
    }
    let error = match json::read(text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    if json::is_valid(text) || !is_yaml(file) && begins_like_json(text) {
        let (line, column) = (error.line(), error.column());
        return Err(format!("json: line {line}, column {column}: {error}"));
    }
    yaml::read_with_checked_numbers(text).map_err(|error| error.to_string())
}

/// Returns `true` if a file name has a YAML extension.
fn is_yaml(file: Option<&str>) -> bool {
    let extension = file.and_then(|file| Path::new(file).extension());
    extension.is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// Returns `true` if a text begins like a JSON object or array. `{a: 1}`, `{'a': 1}` and `[a]` are YAML.
fn begins_like_json(text: &[u8]) -> bool {
    let mut rest = text.trim_ascii_start();
    let mut is_array = false;
    while let Some(items) = rest.strip_prefix(b"[") {
        rest = items.trim_ascii_start();
        is_array = true;
    }
    if let Some(members) = rest.strip_prefix(b"{") {
        return matches!(members.trim_ascii_start().first(), None | Some(b'"' | b'}'));
    }
    is_array
        && match rest.first() {
            None | Some(b'"' | b']') => true,
            Some(_) => {
                let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b']');
                let end = rest.iter().position(ends).unwrap_or(rest.len());
                json::is_valid(rest.get(..end).unwrap_or(rest))
            }
        }
}

#[cfg(test)]
mod tests {
    use super::read;

    fn read_text(text: &str, file: Option<&str>) -> String {
        match read(text.as_bytes(), file) {
            Ok(value) => value.rego_text().to_string(),
            Err(error) => format!("error: {error}"),
        }
    }

    #[test]
    fn json_is_json_and_everything_else_is_yaml() {
        for (text, expected) in [
            // as in OPA
            ("", "null"),
            (" \n\t", "null"),
            ("\u{feff}", "null"),
            ("\u{feff}{\"a\": 1}", r#"{"a": 1}"#),
            (r#"{"a": 1, "a": 2}"#, r#"{"a": 2}"#),
            (r#"{"a": 1e400}"#, r#"{"a": 1e400}"#),
            ("{'a': 1}", r#"{"a": 1}"#),
            ("{a: 1}", r#"{"a": 1}"#),
            ("[a, b]", r#"["a", "b"]"#),
            ("[[a], {b: 1}]", r#"[["a"], {"b": 1}]"#),
            ("[2024-01-01]", r#"["2024-01-01"]"#),
            ("a: 1\n", r#"{"a": 1}"#),
            ("\"a\": 1\n", r#"{"a": 1}"#),
            ("- {\"a\": 01}\n", r#"[{"a": 1}]"#),
            ("nul", r#""nul""#),
            ("NaN", r#""NaN""#),
            ("12 monkeys", r#""12 monkeys""#),
            // malformed numbers are errors
            (
                r#"{"x": 1e99999}"#,
                "error: json: line 1, column 7: invalid number: number too big",
            ),
            (
                "{\n  \"x\": [1, -1e99999]\n}",
                "error: json: line 2, column 12: invalid number: number too big",
            ),
            (
                "1e99999",
                "error: json: line 1, column 1: invalid number: number too big",
            ),
            (
                "\u{feff}[1e99999]",
                "error: json: line 1, column 2: invalid number: number too big",
            ),
            (
                "{x: 1e99999}",
                "error: yaml: line 1: number `1e99999` is out of range",
            ),
            (
                "# c\nx: 1e99999\n",
                "error: yaml: line 2: number `1e99999` is out of range",
            ),
            // malformed JSON is not parsed as YAML
            (
                r#"{"x": NaN}"#,
                "error: json: line 1, column 7: invalid character 'N' looking for beginning of value",
            ),
            (
                r#"{"x": 01}"#,
                "error: json: line 1, column 8: invalid character '1' after object key:value pair",
            ),
            (
                r#"{"x": 1} y"#,
                "error: json: line 1, column 10: invalid character 'y' after top-level value",
            ),
            (
                r#"{"x": 1}{"y": 1}"#,
                "error: json: line 1, column 9: invalid character '{' after top-level value",
            ),
            (
                r#"{"x": [1, 2"#,
                "error: json: line 1, column 12: unexpected end of JSON input",
            ),
            (
                "[1,]",
                "error: json: line 1, column 4: invalid character ']' looking for beginning of value",
            ),
            (
                "{",
                "error: json: line 1, column 2: unexpected end of JSON input",
            ),
            (
                "[",
                "error: json: line 1, column 2: unexpected end of JSON input",
            ),
            (
                "[[ [\"a\", b]]]",
                "error: json: line 1, column 10: invalid character 'b' looking for beginning of value",
            ),
            // YAML by its file name, and by its first character
            (
                "a: [",
                "error: yaml: line 1: did not find expected node content",
            ),
            (".inf", "error: json: unsupported value: +Inf"),
        ] {
            assert_eq!(read_text(text, None), expected, "{text}");
            assert_eq!(read_text(text, Some("in.json")), expected, "{text}");
        }
    }

    #[test]
    fn files_may_be_yaml_by_name() {
        for file in ["in.yaml", "a.b/in.yml"] {
            for (text, expected) in [
                (r#"{"x": 01}"#, r#"{"x": 1}"#),
                ("[1,]", "[1]"),
                ("{\"x\": 1} # c\n", r#"{"x": 1}"#),
                (
                    r#"{"x": 1e99999}"#,
                    "error: json: line 1, column 7: invalid number: number too big",
                ),
                (
                    r#"{"x": 1e99999,}"#,
                    "error: yaml: line 1: number `1e99999` is out of range",
                ),
            ] {
                assert_eq!(read_text(text, Some(file)), expected, "{text}");
            }
        }
    }
}
