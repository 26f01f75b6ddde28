//! Bytes as policy text.

use super::{Code, Diagnostic, Span};

/// The text of a policy.
///
/// # Errors
/// Where it is no UTF-8.
pub fn source_text<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a str, Diagnostic> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or(bytes);
        let start = before
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |at| at + 1);
        let in_line = String::from_utf8_lossy(before.get(start..).unwrap_or(&[]));
        let line = bytes
            .get(start..)
            .and_then(|rest| rest.split(|&byte| byte == b'\n').next());
        let line = String::from_utf8_lossy(line.unwrap_or(&[]));
        let rows = before.split(|&byte| byte == b'\n').count();
        let span = Span {
            row: u32::try_from(rows).unwrap_or(u32::MAX),
            col: u32::try_from(in_line.chars().count() + 1).unwrap_or(u32::MAX),
            ..Span::default()
        };
        let details = serde_json::json!({ "line": line, "idx": in_line.len() });
        Diagnostic {
            details: vec![
                line.to_string(),
                format!("{}^", " ".repeat(in_line.chars().count())),
            ],
            details_json: Some(details),
            ..Diagnostic::new(Code::Parse, name.into(), span, "illegal utf-8 character")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::source_text;

    #[test]
    fn the_place_is_found() {
        assert_eq!(source_text("a", b"package a").unwrap(), "package a");
        let error = source_text("a", b"package a\np := \"\xff\"\n").unwrap_err();
        let want = "a:2: rego_parse_error: illegal utf-8 character\n\tp := \"\u{fffd}\"\n\t      ^";
        assert_eq!(error.to_string(), want);
        assert_eq!((error.span.row, error.span.col), (2, 7));
    }
}
