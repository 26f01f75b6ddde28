//! Which modules stay as they were compiled.
//!
//! A module stays when it is the same, when the names that it leaves to its package mean the same, and when the
//! documents that its references lead to have the shapes that they had. What a template string does also depends on
//! whether a rule is a constant: a module with template strings stays when no such rule came or went at all.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use solon_syntax::ast::visit::{Flow, Terms, Walk};
use solon_syntax::ast::{Module, Name, Ref, Term};

use super::interface_diff::InterfaceDiff;
use crate::compile::compilation::Compiled;
use crate::compile::compiled_module::Part;
use crate::compile::resolve::exported;
use crate::compile::rewrite::templates::has_templates;
use crate::compile::rule_tree;
use crate::index::Indexed as _;
use crate::value::Value;

/// What stays of a compilation.
pub struct Reuse {
    /// For each module what was made of it, if it stays.
    pub parts: Vec<Option<Arc<Part>>>,
    /// The paths below `data` of the rules of all that does not stay.
    pub gone: Vec<Vec<Value>>,
}

impl Reuse {
    /// What stays where these are the modules, in order; `None` when that is nothing.
    pub fn new(earlier: &Compiled, parsed: &[Arc<Module>]) -> Option<Self> {
        let mut positions: HashMap<*const Module, usize> = HashMap::new();
        for (part, position) in earlier.parts.iter().zip(0..) {
            positions.insert(Arc::as_ptr(&part.parsed), position);
        }
        // the place of each module then
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
            .parts
            .iter()
            .zip(&stay)
            .filter(|(_, stays)| !**stays);
        let gone = gone.flat_map(|(part, _)| {
            let rules = part.parsed.rules.iter();
            rules.map(|rule| rule_tree::rule_path(&part.parsed, rule))
        });
        let parts = places.iter();
        let parts = parts.map(|place| earlier.parts.get((*place)?).cloned());
        Some(Self {
            gone: gone.collect(),
            parts: parts.collect(),
        })
    }
}

/// For each module of the earlier compilation whether it stays.
fn reuse(earlier: &Compiled, places: &[Option<usize>]) -> Vec<bool> {
    let mut stay = vec![false; earlier.parts.len()];
    for place in places.iter().flatten() {
        *stay.item_mut(*place) = true;
    }
    stay
}

/// Modules that come, and those that go, in two lists.
fn difference<'m>(
    earlier: &'m Compiled,
    parsed: &'m [Arc<Module>],
    places: &[Option<usize>],
) -> (Vec<&'m Module>, Vec<&'m Module>) {
    let come = parsed.iter().zip(places);
    let come = come.filter(|(_, place)| place.is_none());
    let go = earlier.parts.iter().zip(reuse(earlier, places));
    let go = go.filter(|(_, stays)| !stays);
    (
        come.map(|(module, _)| &**module).collect(),
        go.map(|(part, _)| &*part.parsed).collect(),
    )
}

/// Opens modules that mention a name which their package now has or has no longer.
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
    let before = names(&mut earlier.parts.iter().map(|part| &part.parsed));
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
        if found { Flow::Over } else { Flow::Into }
    }));
    found
}

/// Opens modules that read documents which now have another shape.
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
        let Some(part) = place.and_then(|place| earlier.parts.get(place)) else {
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
