//! Compilation of module texts to a program.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use solon_syntax::ast::{Module, Version};
use solon_syntax::source::{Diagnostics, Source};
use solon_syntax::{module_text, parse_module};

use super::Engine;
use crate::compile::lower::LoweringRecord;
use crate::compile::{self, Compilation, Pass, RuleTree, lower};
use crate::error::Error;
use crate::program::{Canonical, Program};
use crate::snapshot::Policy;
use crate::store::{Path, Transaction};
use crate::trace::Timer;

/// Options for the compilation of a change's modules.
#[derive(Clone, Copy)]
pub(super) struct CompileMode {
    pub strict: bool,
    /// `false` if the modules are only checked. The policy then has no plans and must be dropped.
    pub plans: bool,
}

impl CompileMode {
    pub fn with_plans(strict: bool) -> Self {
        Self {
            strict,
            plans: true,
        }
    }
}

/// Returns `true` if there is base data at a path.
type Exists<'e> = dyn Fn(&[String]) -> bool + 'e;

impl Engine {
    /// Returns the text of a module that was read as bytes.
    ///
    /// # Errors
    /// [`Error::Compile`] if the bytes are not valid UTF-8, together with all other errors of the module.
    pub fn module_text<'a>(&self, name: &str, bytes: &'a [u8]) -> Result<&'a str, Error> {
        let options = self.inner.parse_options(self.inner.version)?;
        Ok(module_text((self.inner.file_name)(name), bytes, &options)?)
    }

    /// Parses a module as [`Self::set_module`] does, without changing anything.
    ///
    /// # Errors
    /// [`Error::Compile`] with the errors of syntax.
    pub fn parse_module(&self, name: &str, text: &str) -> Result<Module, Error> {
        Error::caught(|| Ok(self.parse(name, text, self.inner.version)?))
    }

    /// Parses a module. Its source gets a new id.
    ///
    /// # Errors
    /// The text is not a module, or the version is not enabled.
    pub(super) fn parse(
        &self,
        name: &str,
        text: &str,
        version: Version,
    ) -> Result<Module, Diagnostics> {
        let id = self.next_source_id();
        let options = self.inner.parse_options(version)?;
        let source = Source::new(id, (self.inner.file_name)(name), text);
        parse_module(&source, &options)
    }

    /// Compiles all modules incrementally, based on the previous compilation.
    pub(super) fn compile(
        &self,
        earlier: &Policy,
        modules: BTreeMap<String, Arc<Module>>,
        transaction: &Transaction,
        options: CompileMode,
        timer: Timer<'_>,
    ) -> Result<Policy, Error> {
        Error::caught(|| self.policy_from(earlier, modules, transaction, options, timer))
    }

    fn policy_from(
        &self,
        earlier: &Policy,
        modules: BTreeMap<String, Arc<Module>>,
        transaction: &Transaction,
        options: CompileMode,
        timer: Timer<'_>,
    ) -> Result<Policy, Error> {
        let exists =
            |path: &[String]| Path::new(path.iter().cloned()).is_occupied(transaction.root());
        let base_documents: Option<&Exists<'_>> = if self.inner.allow_base_conflicts {
            None
        } else {
            Some(&exists)
        };
        let stages = RefCell::new(Vec::new());
        let on_stage = |name: &str, took: Duration| {
            stages.borrow_mut().push((name.to_owned(), took));
            timer.report(name, took);
        };
        let chain = compile::longest_chain(modules.values());
        let (compiled, program, record) = compile::on_large_stack(chain, || {
            let list = || modules.values().cloned();
            let CompileMode { strict, plans } = options;
            let mut options = Cow::Borrowed(&self.inner.options);
            let is_same = options.strict == strict;
            if !is_same {
                options.to_mut().strict = strict;
            }
            let options = &*options;
            let mut laps = Timer::new(&on_stage).start();
            let mut observe = |pass: &Pass, _: &Compilation<'_>| laps.end(|| pass.timer());
            let functions = &self.inner.functions;
            let lower = |earlier, modules: &[Arc<Module>], tree: &RuleTree| {
                lower::program_on_from(earlier, modules, tree, functions.clone(), options)
            };
            let stands_on = lower::EarlierProgram {
                program: &earlier.program,
                record: &earlier.record,
                tree: &earlier.compiled.rule_tree,
            };
            let lower_changed =
                |modules: &[Arc<Module>], tree: &RuleTree| lower(Some(stands_on), modules, tree);
            let lower_all = |modules: &[Arc<Module>], tree: &RuleTree| lower(None, modules, tree);
            // modules of an earlier compilation were checked by its options
            let recompiled = is_same
                .then(|| {
                    compile::recompile(
                        &earlier.compiled,
                        list(),
                        options,
                        base_documents,
                        &mut observe,
                        plans.then_some(lower_changed),
                    )
                })
                .flatten();
            let (mut compiled, plans) = match recompiled {
                Some(recompiled) => recompiled,
                None => compile::compile_and_lower(
                    list(),
                    options,
                    base_documents,
                    &mut observe,
                    plans.then_some(lower_all),
                )?,
            };
            let Some((mut program, record)) = plans else {
                return Ok((compiled, Program::default(), LoweringRecord::default()));
            };
            compiled.work.lowered = record.lowered;
            program.canonical =
                Canonical::new(compiled.modules.clone(), compiled.originals.clone())
                    .searching_once(compiled.keyed.clone());
            #[cfg(test)]
            if let Some(damage) = *self.inner.damage.lock() {
                damage(&mut program);
            }
            laps.end(|| "compile_stage_rebuild_indices".to_owned());
            Ok::<_, Error>((compiled, program, record))
        })?;
        let policy = Policy::new(modules, compiled, program, record);
        Ok(policy.compiled_in(stages.into_inner()))
    }
}
