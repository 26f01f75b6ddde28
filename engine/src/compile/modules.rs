//! Modules of a compilation: open modules, which the passes work on, and reused results of an earlier compilation.

use std::ops::Deref;
use std::sync::Arc;

use solon_syntax::ast::{Module, Rule};
use solon_syntax::parallel;

use super::compiled_module::CompiledModule;
use super::facts::Facts;
use super::on_large_stack;
use super::rule_tree::TreeRuleId;

/// Modules ordered by file name.
pub struct Modules {
    all: Vec<Arc<Module>>,
    /// Earlier result of each reused module; `None` for open modules.
    reused: Vec<Option<Arc<CompiledModule>>>,
    /// Facts about each rule of the open modules.
    facts: Vec<Vec<Facts>>,
}

impl Modules {
    /// Creates a collection of parsed modules, all of them open.
    pub fn new(parsed: &[Arc<Module>]) -> Self {
        let no_reuse = parsed.iter().map(|_| None).collect();
        Self::with_reuse(parsed, no_reuse)
    }

    /// Creates a collection of parsed modules with reused results.
    pub fn with_reuse(parsed: &[Arc<Module>], reused: Vec<Option<Arc<CompiledModule>>>) -> Self {
        let pairs: Vec<_> = parsed.iter().zip(&reused).collect();
        let size = |(parsed, reused): &(&Arc<Module>, &Option<_>)| match reused {
            Some(_) => 0,
            None => parsed.source.text.len(),
        };
        let opened = parallel::map(&pairs, size, |(parsed, reused)| match reused {
            Some(part) => (Arc::clone(&part.canonical), Vec::new()),
            None => {
                let (module, facts) = open_module(parsed);
                (Arc::new(module), facts)
            }
        });
        let (all, facts) = opened.into_iter().unzip();
        Self { all, reused, facts }
    }

    /// Iterates over the open modules with the facts about their rules.
    pub fn open_with_facts(&self) -> impl Iterator<Item = (&Module, &[Facts])> {
        let all = self.all.iter().zip(&self.reused).zip(&self.facts);
        all.filter_map(|((module, reused), facts)| {
            reused.is_none().then_some((&**module, facts.as_slice()))
        })
    }

    /// Returns the facts about the rules of a module; empty if it is reused.
    pub fn facts(&self, position: usize) -> &[Facts] {
        self.facts.get(position).map_or(&[], Vec::as_slice)
    }

    /// Returns `true` if one of some facts may hold for a rule. `false` is certain.
    pub fn may_have(&self, rule: TreeRuleId, some: Facts) -> bool {
        let facts = self.facts(rule.module as usize).get(rule.rule as usize);
        facts.is_none_or(|facts| facts.has(some))
    }

    /// Returns `true` if one of some facts holds for a rule of an open module.
    pub fn have(&self, some: Facts) -> bool {
        self.facts.iter().flatten().any(|facts| facts.has(some))
    }

    /// Iterates over the rules of open modules for which one of some facts holds.
    pub fn rules_with(&self, some: Facts) -> impl Iterator<Item = &Rule> {
        let all = self.all.iter().zip(&self.facts);
        all.flat_map(move |(module, facts)| {
            let rules = module.rules.iter().zip(facts);
            rules.filter_map(move |(rule, facts)| facts.has(some).then_some(rule))
        })
    }

    /// Mutable version of [`Self::rules_with`].
    pub fn rules_with_mut(&mut self, some: Facts) -> impl Iterator<Item = &mut Rule> {
        let all = self.all.iter_mut().zip(&self.facts);
        let matching = all.filter(move |(_, facts)| facts.iter().any(|facts| facts.has(some)));
        matching.flat_map(move |(module, facts)| {
            let rules = Arc::make_mut(module).rules.iter_mut().zip(facts);
            rules.filter_map(move |(rule, facts)| facts.has(some).then_some(rule))
        })
    }

    /// Iterates over the open modules: those that must be compiled.
    pub fn open(&self) -> impl Iterator<Item = &Module> {
        let pairs = self.all.iter().zip(&self.reused);
        pairs.filter_map(|(module, reused)| reused.is_none().then_some(&**module))
    }

    /// Mutable version of [`Self::open`].
    pub fn open_mut(&mut self) -> impl Iterator<Item = &mut Module> {
        let pairs = self.all.iter_mut().zip(&self.reused);
        pairs.filter_map(|(module, reused)| reused.is_none().then(|| Arc::make_mut(module)))
    }

    /// Mutable version of [`Self::open_with_facts`].
    pub fn open_with_facts_mut(&mut self) -> impl Iterator<Item = (&mut Module, &mut [Facts])> {
        let all = self.all.iter_mut().zip(&self.reused).zip(&mut self.facts);
        all.filter_map(|((module, reused), facts)| {
            reused
                .is_none()
                .then(|| (Arc::make_mut(module), facts.as_mut_slice()))
        })
    }

    /// Calls `work` with each open module and the facts about its rules, on all processors. The results are in the order of the
    /// modules.
    pub fn map_open_mut<R: Send>(
        &mut self,
        work: impl Fn(&mut Module, &mut [Facts]) -> R + Sync,
    ) -> Vec<R> {
        let mut open: Vec<_> = self.open_with_facts_mut().collect();
        let size = |(module, _): &(&mut Module, &mut [Facts])| module.source.text.len();
        parallel::map_mut(&mut open, size, |(module, facts)| {
            on_large_stack(module.chain, || work(module, facts))
        })
    }

    /// Iterates over all modules, each with its earlier result if it is reused.
    pub fn with_reused(
        &self,
    ) -> impl Iterator<Item = (&Arc<Module>, Option<&Arc<CompiledModule>>)> {
        self.all.iter().zip(self.reused.iter().map(Option::as_ref))
    }

    /// Returns a module, with its earlier result if it is reused.
    pub fn part(&self, position: usize) -> Option<(&Arc<Module>, Option<&Arc<CompiledModule>>)> {
        Some((self.all.get(position)?, self.reused.get(position)?.as_ref()))
    }

    /// Iterates over the rules of the open modules, with their positions among all modules.
    pub fn open_rules(&self) -> impl Iterator<Item = (TreeRuleId, &Rule)> {
        let all = self.with_reused().zip(0..);
        let open = all.filter_map(|((module, reused), position)| {
            reused.is_none().then_some((module, position))
        });
        open.flat_map(|(module, position)| {
            let rules = module.rules.iter().zip(0..);
            rules.map(move |(rule, position_in_module)| {
                let id = TreeRuleId {
                    module: position,
                    rule: position_in_module,
                };
                (id, rule)
            })
        })
    }

    /// Returns the earlier result of a module if it is reused.
    pub fn unchanged(&self, position: u32) -> Option<&Arc<CompiledModule>> {
        self.reused.get(position as usize)?.as_ref()
    }
}

/// Returns a copy of a module for the passes, with the facts about its rules.
fn open_module(parsed: &Module) -> (Module, Vec<Facts>) {
    let rules = parsed.rules.iter();
    let (rules, facts) = rules
        .map(|rule| (rule.clone(), Facts::of_rule(rule)))
        .unzip();
    let module = Module {
        source: parsed.source.clone(),
        version: parsed.version,
        package: parsed.package.clone(),
        imports: parsed.imports.clone(),
        rules,
        comments: parsed.comments.clone(),
        annotations: parsed.annotations.clone(),
        chain: parsed.chain,
    };
    (module, facts)
}

impl Deref for Modules {
    type Target = [Arc<Module>];

    fn deref(&self) -> &[Arc<Module>] {
        &self.all
    }
}
