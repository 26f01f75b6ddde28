//! Number literals keep their spelling.

use solon_syntax::ast::TermKind;
use solon_syntax::source::{Source, SourceId};
use solon_syntax::{ParseOptions, parse_term};

fn number(text: &str) -> String {
    let source = Source::new(SourceId(0), "", text);
    match parse_term(&source, &ParseOptions::default())
        .expect("a number")
        .kind
    {
        TermKind::Number(number) => number.to_string(),
        other => panic!("{text} is {other:?}"),
    }
}

#[test]
fn text_keeps_its_spelling() {
    for text in [
        "0",
        "1.0",
        "0.10",
        "1e3",
        "1E+3",
        "12345678901234567890.5",
        "-1",
        "-0",
        "0e999999999",
    ] {
        assert_eq!(number(text), text);
    }
}

#[test]
fn a_leading_point_is_completed() {
    assert_eq!(number(".5"), "0.5");
    assert_eq!(number("-.5"), "-0.5");
    assert_eq!(number(". 5e1"), "0.5e1");
}

#[test]
fn space_behind_the_sign_is_dropped() {
    assert_eq!(number("-  7"), "-7");
}
