//! Optimised bundles answer as the policies that they were made of.

use std::collections::BTreeSet;

use solon::bundle::{Bundle, BundleModule};
use solon::{Change, Engine, Path, Request};

use crate::cases::Program;
use crate::inputs;

fn engine(bundle: &Bundle) -> Result<Engine, String> {
    let engine = Engine::builder().allow_base_conflicts(true).build();
    let mut change = Change::default();
    for module in &bundle.modules {
        change.set_parsed_module(&module.path, module.module.clone());
    }
    change.put(Path::default(), bundle.documents.clone());
    engine.apply(change).map_err(|error| error.to_string())?;
    Ok(engine)
}

/// The documents of rules, by their paths.
fn documents(bundle: &Bundle) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    for BundleModule { module, .. } in &bundle.modules {
        for rule in module.rules.iter().filter(|rule| rule.head.args.is_empty()) {
            let package = module.package.path.iter().skip(1);
            let package = package.filter_map(|step| Some(step.as_string()?.to_string()));
            let head = rule.head.reference.iter().enumerate();
            let head = head.map_while(|(at, step)| match at {
                0 => step.as_var().map(|name| name.to_string()),
                _ => step.as_string().map(|name| name.to_string()),
            });
            paths.insert(package.chain(head).collect::<Vec<_>>().join("/"));
        }
    }
    paths
}

/// Compares the answers of entry points, and of all other rules, for 20 inputs. Returns the number of defined answers.
pub fn compare(program: &Program, optimized: &Bundle, seed: u64) -> Result<usize, String> {
    let plain = Program {
        entry_points: Vec::new(),
        ..program.clone()
    };
    let plain = plain.bundle(0)?;
    let before = engine(&plain)?;
    let after = engine(optimized)?;
    let mut defined = 0;
    let mut paths = documents(&plain);
    paths.extend(program.entry_points.iter().cloned());
    for entry_point in &paths {
        let before = before.document(&Path::from_slashes(entry_point));
        let after = after.document(&Path::from_slashes(entry_point));
        for input in inputs::inputs_of(program, seed) {
            let text = input.to_string();
            let request = Request::new().input_json(text.as_bytes());
            // an error of the policy as it was may be a value, or no value, once it is optimised: it is not evaluated then
            let Ok(before) = before.evaluate(&request) else {
                continue;
            };
            let after = after.evaluate(&request);
            let is_same = after.as_ref().is_ok_and(|after| *after == before);
            if !is_same {
                return Err(format!(
                    "{entry_point} with {text}: {before:?} became {after:?}"
                ));
            }
            defined += usize::from(before.is_some());
        }
    }
    Ok(defined)
}
