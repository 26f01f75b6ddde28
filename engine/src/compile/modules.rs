//! The modules of a compilation: those that the passes work on, and those that stay as an earlier one left them.

use std::ops::Deref;
use std::sync::Arc;

use solon_syntax::ast::{Module, Rule};

use super::compiled_module::Part;
use super::facts::Facts;
use super::rule_tree::RuleId;

/// Modules ordered by file name.
pub struct Modules {
    all: Vec<Arc<Module>>,
    /// What an earlier compilation made of each module that stays; the others are open.
    kept: Vec<Option<Arc<Part>>>,
    /// What stands in each rule of the modules that are open.
    facts: Vec<Vec<Facts>>,
}

impl Modules {
    /// Modules as they were parsed, all of them open.
    pub fn new(parsed: &[Arc<Module>]) -> Self {
        let nothing = parsed.iter().map(|_| None).collect();
        Self::keeping(parsed, nothing)
    }

    /// Modules as they were parsed, but those that stay as they were left.
    pub fn keeping(parsed: &[Arc<Module>], kept: Vec<Option<Arc<Part>>>) -> Self {
        let both = parsed.iter().zip(&kept);
        let both = both.map(|(parsed, kept)| match kept {
            Some(part) => (Arc::clone(&part.canonical), Vec::new()),
            None => {
                let (module, facts) = opened(parsed);
                (Arc::new(module), facts)
            }
        });
        let (all, facts) = both.unzip();
        Self { all, kept, facts }
    }

    /// The modules that passes work on, each with what stands in its rules.
    pub fn open_with_facts(&self) -> impl Iterator<Item = (&Module, &[Facts])> {
        let all = self.all.iter().zip(&self.kept).zip(&self.facts);
        all.filter_map(|((module, kept), facts)| {
            kept.is_none().then_some((&**module, facts.as_slice()))
        })
    }

    /// What stands in the rules of the module at a position; nothing is known if it stays.
    pub fn facts(&self, position: usize) -> &[Facts] {
        self.facts.get(position).map_or(&[], Vec::as_slice)
    }

    /// Whether one of some facts may hold for a rule.
    pub fn may_have(&self, rule: RuleId, some: Facts) -> bool {
        let facts = self.facts(rule.module as usize).get(rule.rule as usize);
        facts.is_none_or(|facts| facts.has(some))
    }

    /// Whether one of some facts holds for a rule that passes work on.
    pub fn have(&self, some: Facts) -> bool {
        self.facts.iter().flatten().any(|facts| facts.has(some))
    }

    /// The rules that passes work on and for which one of some facts holds.
    pub fn rules_with(&self, some: Facts) -> impl Iterator<Item = &Rule> {
        let all = self.all.iter().zip(&self.facts);
        all.flat_map(move |(module, facts)| {
            let rules = module.rules.iter().zip(facts);
            rules.filter_map(move |(rule, facts)| facts.has(some).then_some(rule))
        })
    }

    /// The same, to be changed.
    pub fn rules_with_mut(&mut self, some: Facts) -> impl Iterator<Item = &mut Rule> {
        let all = self.all.iter_mut().zip(&self.facts);
        let wanted = all.filter(move |(_, facts)| facts.iter().any(|facts| facts.has(some)));
        wanted.flat_map(move |(module, facts)| {
            let rules = Arc::make_mut(module).rules.iter_mut().zip(facts);
            rules.filter_map(move |(rule, facts)| facts.has(some).then_some(rule))
        })
    }

    /// The modules that passes work on.
    pub fn open(&self) -> impl Iterator<Item = &Module> {
        let both = self.all.iter().zip(&self.kept);
        both.filter_map(|(module, kept)| kept.is_none().then_some(&**module))
    }

    /// The same, to be changed.
    pub fn open_mut(&mut self) -> impl Iterator<Item = &mut Module> {
        let both = self.all.iter_mut().zip(&self.kept);
        both.filter_map(|(module, kept)| kept.is_none().then(|| Arc::make_mut(module)))
    }

    /// The same, each with what stands in its rules.
    pub fn open_with_facts_mut(&mut self) -> impl Iterator<Item = (&mut Module, &mut [Facts])> {
        let all = self.all.iter_mut().zip(&self.kept).zip(&mut self.facts);
        all.filter_map(|((module, kept), facts)| {
            kept.is_none()
                .then(|| (Arc::make_mut(module), facts.as_mut_slice()))
        })
    }

    /// All modules, each with what an earlier compilation made of it, if it stays.
    pub fn parts(&self) -> impl Iterator<Item = (&Arc<Module>, Option<&Arc<Part>>)> {
        self.all.iter().zip(self.kept.iter().map(Option::as_ref))
    }

    /// The module at a position, with what an earlier compilation made of it, if it stays.
    pub fn part(&self, position: usize) -> Option<(&Arc<Module>, Option<&Arc<Part>>)> {
        Some((self.all.get(position)?, self.kept.get(position)?.as_ref()))
    }

    /// What an earlier compilation made of the module at a position, if it stays.
    pub fn kept(&self, position: u32) -> Option<&Arc<Part>> {
        self.kept.get(position as usize)?.as_ref()
    }
}

/// A copy of a module to work on, and what stands in its rules.
fn opened(parsed: &Module) -> (Module, Vec<Facts>) {
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
