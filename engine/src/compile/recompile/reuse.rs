//! Selection of reused modules.
//!
//! A module is reused if its source is unchanged, if the names that it uses of its package have the same meaning, and
//! if the interfaces of the documents that it refers to are unchanged. Template strings also depend on which rules are
//! constants: a module with template strings is reused only if no such rule was added or removed anywhere.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use solon_syntax::ast::visit::{Descent, Terms, Walk};
use solon_syntax::ast::{Module, Name, Ref, Term};

use super::interface_diff::InterfaceDiff;
use crate::compile::compilation::Compiled;
use crate::compile::compiled_module::CompiledModule;
use crate::compile::resolve::exported;
use crate::compile::rewrite::templates::has_templates;
use crate::compile::rule_tree;
use crate::index::Indexed as _;
use crate::value::Value;

/// Reusable part of a compilation.
pub struct Reuse {
    /// Result of each module; `None` if it must be compiled.
    pub results: Vec<Option<Arc<CompiledModule>>>,
    /// Paths below `data` of the rules of all modules that are not reused.
    pub gone: Vec<Vec<Value>>,
}

impl Reuse {
    /// Returns the reusable part for these modules, in order; `None` if it is empty.
    pub fn new(earlier: &Compiled, parsed: &[Arc<Module>]) -> Option<Self> {
        let mut positions: HashMap<*const Module, usize> = HashMap::new();
        for (part, position) in earlier.results.iter().zip(0..) {
            positions.insert(Arc::as_ptr(&part.parsed), position);
        }
        // earlier index of each module
        let mut places: Vec<Option<usize>> = parsed
            .iter()
            .map(|module| positions.remove(&Arc::as_ptr(module)))
            .collect();
        if places.iter().all(Option::is_none) {
            return None;
        }
        open_renamed(earlier, parsed, &mut places);
        open_reshaped(earlier, parsed, &mut places);
        let stay = reuse(earlier, &places);
        let gone = earlier
            .results
            .iter()
            .zip(&stay)
            .filter(|(_, stays)| !**stays);
        let gone = gone.flat_map(|(part, _)| {
            let rules = part.parsed.rules.iter();
            rules.map(|rule| rule_tree::rule_path(&part.parsed, rule))
        });
        let parts = places.iter();
        let parts = parts.map(|place| earlier.results.get((*place)?).cloned());
        Some(Self {
            gone: gone.collect(),
            results: parts.collect(),
        })
    }
}

/// Returns `true` for each module of the earlier compilation that is reused.
fn reuse(earlier: &Compiled, places: &[Option<usize>]) -> Vec<bool> {
    let mut stay = vec![false; earlier.results.len()];
    for place in places.iter().flatten() {
        *stay.item_mut(*place) = true;
    }
    stay
}

/// Returns the added and the removed modules.
fn difference<'m>(
    earlier: &'m Compiled,
    parsed: &'m [Arc<Module>],
    positions: &[Option<usize>],
) -> (Vec<&'m Module>, Vec<&'m Module>) {
    let come = parsed.iter().zip(positions);
    let come = come.filter(|(_, place)| place.is_none());
    let go = earlier.results.iter().zip(reuse(earlier, positions));
    let go = go.filter(|(_, stays)| !stays);
    (
        come.map(|(module, _)| &**module).collect(),
        go.map(|(part, _)| &*part.parsed).collect(),
    )
}

/// Opens modules that use a name which was added to or removed from their package.
fn open_renamed(earlier: &Compiled, parsed: &[Arc<Module>], places: &mut [Option<usize>]) {
    let (come, go) = difference(earlier, parsed, places);
    let packages: HashSet<&Ref> = come
        .iter()
        .chain(&go)
        .map(|module| &module.package.path)
        .collect();
    let names = |modules: &mut dyn Iterator<Item = &Arc<Module>>| {
        let mut names: HashMap<Ref, HashSet<Name>> = HashMap::new();
        for module in modules.filter(|module| packages.contains(&module.package.path)) {
            let of_package = names.entry(module.package.path.clone()).or_default();
            of_package.extend(exported(module));
        }
        names
    };
    let before = names(&mut earlier.results.iter().map(|part| &part.parsed));
    let now = names(&mut parsed.iter());
    let nothing = HashSet::new();
    for (module, place) in parsed.iter().zip(places) {
        let package = &module.package.path;
        if place.is_none() || !packages.contains(package) {
            continue;
        }
        let before = before.get(package).unwrap_or(&nothing);
        let now = now.get(package).unwrap_or(&nothing);
        if before != now && mentions(module, |name| before.contains(name) != now.contains(name)) {
            *place = None;
        }
    }
}

fn mentions(module: &Module, wanted: impl Fn(&Name) -> bool) -> bool {
    let mut found = false;
    module.rules.walk(&mut Terms(|term: &Term| {
        found = found || term.as_var().is_some_and(&wanted);
        if found { Descent::Over } else { Descent::Into }
    }));
    found
}

/// Opens modules that refer to documents with changed interfaces.
fn open_reshaped(earlier: &Compiled, parsed: &[Arc<Module>], places: &mut [Option<usize>]) {
    let (come, go) = difference(earlier, parsed, places);
    let stay = reuse(earlier, places);
    let mut shapes = InterfaceDiff::default();
    for module in come {
        shapes.come(module);
    }
    for module in go {
        shapes.go(module);
    }
    shapes.compare(earlier, &|position| {
        stay.get(position as usize) == Some(&true)
    });
    for place in places {
        let Some(part) = place.and_then(|place| earlier.results.get(place)) else {
            continue;
        };
        let mut reads = part.findings.reads.iter().flatten();
        let touched = reads.clone().any(|read| shapes.touch(&read.path));
        if touched
            && (reads.any(|read| shapes.change_for(&read.path)) || has_templates(&*part.parsed))
        {
            *place = None;
        }
    }
}
