//! Random Rego programs: a seed, a theme and an index always give the same request.
//!
//! `themes` lists the kinds of programs; `writer` holds the state of one while it is written; `rules`, `functions`,
//! `refheads`, `modifiers`, `merging`, `conflicts` and `mistakes` write rules; `literal`, `iteration`, `term` and
//! `templates` write their parts; `queries` writes queries. Separate generators: `forms` combines any syntax, `joins`
//! has collections long enough for hash joins, `layouts` imitates policy repositories, `tables` has rules for decision
//! trees, `keys` has numbers as keys, and `scopes` evaluates layers of rules under `with`.

mod conflicts;
mod forms;
mod functions;
mod iteration;
mod joins;
mod keys;
mod layouts;
mod lexicon;
mod literal;
mod merging;
mod mistakes;
mod modifiers;
mod queries;
mod random;
mod refheads;
mod request;
mod rule;
mod rules;
mod scopes;
mod shape;
mod tables;
mod templates;
mod term;
mod themes;
mod vocabulary;
mod writer;

pub use request::{Request, quoted};
pub use themes::Theme;

use random::Random;
use rule::{Dialect, Outcome};
use writer::{Module, Writer};

/// Returns the program number `index` of `theme`.
pub fn program(seed: u64, theme: Theme, index: u64) -> Request {
    let mut mixed = Random::new(seed ^ index.wrapping_mul(0x1_0000_0001));
    for letter in theme.name().bytes() {
        mixed = Random::new(mixed.next() ^ u64::from(letter));
    }
    if theme == Theme::Forms {
        return forms::program(mixed.next());
    }
    if theme == Theme::Joins {
        return joins::program(mixed.next());
    }
    if theme == Theme::Keys {
        return keys::program(mixed.next());
    }
    if theme == Theme::Scopes {
        return scopes::program(mixed.next());
    }
    if theme == Theme::Tables {
        return tables::program(mixed.next());
    }
    if theme == Theme::Layouts {
        return layouts::program(mixed.next());
    }
    let mut options = Random::new(mixed.next());
    let dialect = theme.dialect(options.less_than(6));
    let mut writer = Writer::new(mixed.next(), dialect);
    theme.write(&mut writer);
    let package = writer.end_module();
    let query = match theme {
        Theme::Queries => writer.long_query(&package),
        _ => writer.query(&package),
    };
    let mut modules: Vec<(String, String)> = Vec::new();
    for (number, module) in writer.modules.iter().enumerate() {
        modules.push((format!("m{number}.rego"), text(module, dialect)));
    }
    if theme == Theme::Mistakes
        && options.chance(30)
        && let Some((_, last)) = modules.last_mut()
    {
        *last = mistakes::damage(&mut options, last);
    }
    if theme == Theme::Queries && writer.modules.iter().all(|module| module.rules.is_empty()) {
        modules.clear();
    }
    Request {
        modules,
        data: writer.data,
        input: writer.input,
        query,
        v0: dialect.is_v0(),
        strict: options.chance(if theme == Theme::Dialects { 12 } else { 3 }),
        strict_builtin_errors: options.chance(if theme == Theme::Builtins { 35 } else { 4 }),
    }
}

fn text(module: &Module, dialect: Dialect) -> String {
    let mut text = format!("package {}\n", module.package);
    match dialect {
        Dialect::V0Keywords => text += "\nimport future.keywords\n",
        Dialect::V0Rego1 => text += "\nimport rego.v1\n",
        Dialect::V2 => text += "\nimport rego.v2\n",
        Dialect::V1 | Dialect::V0 => {}
    }
    for import in &module.imports {
        text += &format!("\n{import}\n");
    }
    for rule in &module.rules {
        // a statement without value or body is already complete
        let rule_text = match rule.outcome {
            Outcome::True if rule.body.is_empty() => rule.head.clone(),
            _ => rule.text(dialect),
        };
        text += &format!("\n{rule_text}\n");
    }
    text
}
