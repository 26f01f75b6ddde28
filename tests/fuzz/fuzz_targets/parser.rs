//! Any text, as a module and as a query of either version: a tree that prints and survives AST JSON, or errors.

#![no_main]

use libfuzzer_sys::fuzz_target;
use solon_syntax::ast::Version;
use solon_syntax::json::{self, Options};
use solon_syntax::print::display_body;
use solon_syntax::source::{Source, SourceId};
use solon_syntax::{ParseOptions, parse_body, parse_module};

fuzz_target!(|text: &str| {
    let source = Source::new(SourceId(0), "fuzz.rego", text);
    for version in [Version::V0, Version::V1] {
        let options = ParseOptions::from_version(version);
        match parse_module(&source, &options) {
            Ok(module) => assert!(!json::text(&module, Options::default()).is_empty()),
            Err(errors) => assert!(!errors.0.is_empty()),
        }
        if let Ok(body) = parse_body(&source, &options) {
            assert_eq!(body.is_empty(), display_body(&body).to_string().is_empty());
            let text = json::text(&body, Options::default());
            assert_eq!(json::read_body(&text).ok().as_ref(), Some(&body), "{text}");
        }
    }
});
