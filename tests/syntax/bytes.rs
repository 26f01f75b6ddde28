//! Files with invalid UTF-8: OPA's errors.

use solon_syntax::{ParseOptions, module_text};

/// Message, row and column.
type Complaint = (&'static str, u32, u32);

const UTF8: &str = "illegal utf-8 character";
const TOKEN: &str = "illegal token";

#[test]
fn invalid_utf8_is_rejected_where_the_grammar_reaches_it() {
    let cases: [(&[u8], &[Complaint]); 9] = [
        (
            b"package a\np := \"\xff\"\n",
            &[(UTF8, 2, 6), (TOKEN, 2, 6), (TOKEN, 2, 6)],
        ),
        (
            b"package a\np := \xff\n",
            &[(UTF8, 2, 5), (TOKEN, 2, 5), (TOKEN, 2, 5)],
        ),
        (b"package a\np := 1 # \xff\n", &[(UTF8, 2, 8)]),
        (
            b"package a\np := \"\xff \xfe\"\n",
            &[(UTF8, 2, 6), (UTF8, 2, 6), (TOKEN, 2, 6), (TOKEN, 2, 6)],
        ),
        (
            b"package a\np := 1\xff\n",
            &[(UTF8, 2, 6), (TOKEN, 2, 6), (TOKEN, 2, 6)],
        ),
        (b"package a\np\xffq := 1\n", &[(UTF8, 2, 1)]),
        (b"\xff\npackage a\n", &[(UTF8, 1, 1)]),
        (
            b"package a\np := 1 if { \"\xff\" == \"\xff\" }\n",
            &[(UTF8, 2, 13), (TOKEN, 2, 13)],
        ),
        (
            b"package a\n\np := \"a\xc3\nq := 1",
            &[
                (UTF8, 3, 6),
                ("non-terminated string", 3, 6),
                (TOKEN, 3, 6),
                (TOKEN, 3, 6),
            ],
        ),
    ];
    for (bytes, want) in cases {
        let refused = module_text("a", bytes, &ParseOptions::default()).unwrap_err();
        let found: Vec<_> = refused
            .0
            .iter()
            .map(|one| (one.message.as_str(), one.span.row, one.span.col))
            .collect();
        assert_eq!(found, want, "{}", bytes.escape_ascii());
    }
    let text = "package a\n# \u{fffd}\n";
    assert_eq!(
        module_text("a", text.as_bytes(), &ParseOptions::default()),
        Ok(text)
    );
}
