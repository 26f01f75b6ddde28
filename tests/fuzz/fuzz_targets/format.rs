//! Any text, as a module of either version: the formatted text has the same tree and comments, and formats to itself.

#![no_main]

use libfuzzer_sys::fuzz_target;
use solon_syntax::ast::{Module, Version};
use solon_syntax::source::{Source, SourceId};
use solon_syntax::{FormatOptions, ParseOptions, format, parse_module};

fn comments(module: &Module) -> Vec<&str> {
    let mut comments: Vec<&str> = module
        .comments
        .iter()
        .map(|one| one.text.trim_end())
        .collect();
    comments.sort_unstable();
    comments
}

fuzz_target!(|text: &str| {
    let source = Source::new(SourceId(0), "fuzz.rego", text);
    for version in [Version::V0, Version::V1] {
        let parse = ParseOptions {
            annotations: false,
            ..ParseOptions::from_version(version)
        };
        let options = FormatOptions {
            parse,
            target: version,
            drop_v0_imports: false,
        };
        let Ok(before) = parse_module(&source, &parse) else {
            continue;
        };
        let Ok(result) = format(&source, &options) else {
            continue;
        };
        let formatted = Source::new(SourceId(0), "fuzz.rego", result.as_str());
        let after = parse_module(&formatted, &parse).expect("a result parses");
        assert!(before.rules == after.rules, "{result}");
        assert_eq!(comments(&before), comments(&after), "{result}");
        assert_eq!(format(&formatted, &options).as_deref(), Ok(result.as_str()));
    }
});
