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
    /// Result of each module, by position. `None` if it must be compiled.
    pub results: Vec<Option<Arc<CompiledModule>>>,
    /// Paths below `data` of the rules of all modules that are not reused.
    pub gone: Vec<Vec<Value>>,
    /// `true` for each module of the earlier compilation that is reused.
    pub stays: Vec<bool>,
}

impl Reuse {
    /// Returns the reusable part for these modules, in order; `None` if it is empty.
    pub fn new(earlier: &Compiled, parsed: &[Arc<Module>]) -> Option<Self> {
        let parts = earlier.results.iter().zip(0..);
        let mut positions: HashMap<*const Module, usize> = parts
            .map(|(part, position)| (Arc::as_ptr(&part.parsed), position))
            .collect();
        // earlier index of each module
        let mut positions: Vec<Option<usize>> = parsed
            .iter()
            .map(|module| positions.remove(&Arc::as_ptr(module)))
            .collect();
        if positions.iter().all(Option::is_none) {
            return None;
        }
        open_renamed(earlier, parsed, &mut positions);
        open_reshaped(earlier, parsed, &mut positions);
        let stays = reuse(earlier, &positions);
        let removed_rules = earlier
            .results
            .iter()
            .zip(&stays)
            .filter(|(_, stays)| !**stays);
        let removed_rules = removed_rules.flat_map(|(part, _)| {
            let rules = part.parsed.rules.iter();
            rules.map(|rule| rule_tree::rule_path(&part.parsed, rule))
        });
        let parts = positions.iter();
        let parts = parts.map(|position| earlier.results.get((*position)?).cloned());
        Some(Self {
            gone: removed_rules.collect(),
            results: parts.collect(),
            stays,
        })
    }
}

/// Returns `true` for each module of the earlier compilation that is reused.
fn reuse(earlier: &Compiled, positions: &[Option<usize>]) -> Vec<bool> {
    let mut stay = vec![false; earlier.results.len()];
    for position in positions.iter().flatten() {
        *stay.item_mut(*position) = true;
    }
    stay
}

/// Returns the added and the removed modules.
fn difference<'m>(
    earlier: &'m Compiled,
    parsed: &'m [Arc<Module>],
    positions: &[Option<usize>],
) -> (Vec<&'m Module>, Vec<&'m Module>) {
    let added = parsed.iter().zip(positions);
    let added = added.filter(|(_, position)| position.is_none());
    let go = earlier.results.iter().zip(reuse(earlier, positions));
    let go = go.filter(|(_, stays)| !stays);
    (
        added.map(|(module, _)| &**module).collect(),
        go.map(|(part, _)| &*part.parsed).collect(),
    )
}

/// Opens modules that use a name which was added to or removed from their package.
fn open_renamed(earlier: &Compiled, parsed: &[Arc<Module>], positions: &mut [Option<usize>]) {
    let (added, go) = difference(earlier, parsed, positions);
    let mut added_names: HashMap<&Ref, HashSet<Name>> = HashMap::new();
    for module in added {
        let names = added_names.entry(&module.package.path).or_default();
        names.extend(exported(module));
    }
    for module in go {
        added_names.entry(&module.package.path).or_default();
    }
    // present index of each reused module
    let mut indices = vec![None; earlier.results.len()];
    for (index, position) in positions.iter().enumerate() {
        if let Some(position) = position {
            *indices.item_mut(*position) = Some(index);
        }
    }
    for (package, mut now) in added_names {
        let mut before = HashSet::new();
        let mut reused = Vec::new();
        for position in earlier.rule_tree.modules_of_package(package) {
            let names = exported(&earlier.results.item(*position).parsed);
            match indices.item(*position) {
                Some(index) => {
                    reused.push(*index);
                    for name in names {
                        now.insert(name.clone());
                        before.insert(name);
                    }
                }
                None => before.extend(names),
            }
        }
        if before == now {
            continue;
        }
        for index in reused {
            let differs = |name: &Name| before.contains(name) != now.contains(name);
            if mentions(parsed.item(index), differs) {
                *positions.item_mut(index) = None;
            }
        }
    }
}

fn mentions(module: &Module, matches_name: impl Fn(&Name) -> bool) -> bool {
    let mut occurs = false;
    module.rules.walk(&mut Terms(|term: &Term| {
        occurs = occurs || term.as_var().is_some_and(&matches_name);
        if occurs { Descent::Over } else { Descent::Into }
    }));
    occurs
}

/// Opens modules that refer to documents with changed interfaces.
fn open_reshaped(earlier: &Compiled, parsed: &[Arc<Module>], positions: &mut [Option<usize>]) {
    let (added, go) = difference(earlier, parsed, positions);
    let stay = reuse(earlier, positions);
    let mut shapes = InterfaceDiff::default();
    for module in added {
        shapes.add_module(module);
    }
    for module in go {
        shapes.go(module);
    }
    shapes.compare(earlier, &|position| {
        stay.get(position as usize) == Some(&true)
    });
    for position in positions {
        let Some(part) =
            position.and_then(|earlier_position| earlier.results.get(earlier_position))
        else {
            continue;
        };
        let mut reads = part.findings.reads.iter().flatten();
        let touched = reads.clone().any(|read| shapes.touch(&read.path));
        if touched
            && (reads.any(|read| shapes.change_for(&read.path)) || has_templates(&*part.parsed))
        {
            *position = None;
        }
    }
}
