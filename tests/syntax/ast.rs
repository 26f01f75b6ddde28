//! Converts modules to AST JSON and back.

use serde_json::value::RawValue;
use solon_syntax::ast::{Module, Version};
use solon_syntax::json::{self, Options};
use solon_syntax::source::{Source, SourceId};
use solon_syntax::{ParseOptions, parse_module};

use crate::cases::{Case, canonical, check_all, difference};

pub fn parse(case: &Case) -> Result<Module, solon_syntax::source::Diagnostics> {
    let version = if case.v0 { Version::V0 } else { Version::V1 };
    parse_module(
        &Source::new(SourceId(0), "a.rego", case.module.as_str()),
        &ParseOptions::from_version(version),
    )
}

fn canonical_text(text: &str) -> String {
    canonical(&serde_json::from_str::<Box<RawValue>>(text).unwrap())
}

pub fn check(case: &Case) -> Result<(), String> {
    let module = parse(case).map_err(|errors| errors.to_string())?;
    let sources = [module.source.clone()];
    let options = Options {
        locations: case.located.then_some(&sources[..]),
        ..Options::default()
    };
    let want = canonical(case.answer.as_deref().ok_or("not recorded")?);
    let text = json::text(&module, options);
    let have = canonical_text(&text);
    if have != want {
        return Err(difference(&want, &have));
    }
    let indented = json::text(
        &module,
        Options {
            indented: true,
            ..options
        },
    );
    if canonical_text(&indented) != have {
        return Err("the indented form says something else".to_owned());
    }
    let back = json::read_module(&text, module.source.clone(), module.version)
        .map_err(|error| error.to_string())?;
    if back.rules != module.rules {
        return Err("the rules do not survive AST JSON".to_owned());
    }
    let bare = Options {
        comments: false,
        ..Options::default()
    };
    let (want, have) = (json::text(&module, bare), json::text(&back, bare));
    if have != want {
        return Err(difference(&want, &have));
    }
    Ok(())
}

#[test]
fn modules_match_the_record() {
    check_all("ast.json", check);
}
