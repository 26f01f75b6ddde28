//! Incremental compilation of modules.
//!
//! A module is reused as long as the interfaces that it uses are unchanged ([`reuse`]). The passes work on the other
//! modules only. If the changed modules have the same rules as before, the tree of rules and their conflicts are kept. If
//! these rules read the same documents, their graph is kept, and if they have the same types, the types of documents. In reused modules, only rules that depend on a document of another type are
//! type-checked again.
//!
//! If anything is rejected, all modules are compiled, because only that finds all errors in their order.

mod interface_diff;
mod reuse;

use std::sync::Arc;

use solon_syntax::ast::Module;

use super::compilation::{BaseExists, Compilation, Compiled, EarlierCompilation, Options};
use super::locals::names_in;
use super::modules::Modules;
use super::rule_tree::RuleTree;
use super::{
    PASSES, Pass, check_modules, in_order, long_names, longest_chain, on_large_stack,
    rewrite_modules,
};
use crate::limits;
use reuse::Reuse;

/// Compiles modules incrementally from an earlier compilation with the same options; `None` if all of them must be
/// compiled. `lower` is called as by [`compile_and_lower`](super::compile_and_lower).
pub fn recompile<P: Send>(
    earlier: &Compiled,
    modules: impl IntoIterator<Item = Arc<Module>>,
    options: &Options,
    base_exists: Option<BaseExists<'_>>,
    observe: impl FnMut(&Pass, &Compilation<'_>),
    lower: Option<impl Fn(&[Arc<Module>], &RuleTree) -> P + Sync>,
) -> Option<(Compiled, Option<P>)> {
    let parsed = in_order(modules.into_iter().collect());
    on_large_stack(longest_chain(&parsed), || {
        from_parsed(earlier, &parsed, options, base_exists, observe, lower)
    })
}

fn from_parsed<P: Send>(
    earlier: &Compiled,
    parsed: &[Arc<Module>],
    options: &Options,
    base_exists: Option<BaseExists<'_>>,
    mut observe: impl FnMut(&Pass, &Compilation<'_>),
    lower: Option<impl Fn(&[Arc<Module>], &RuleTree) -> P + Sync>,
) -> Option<(Compiled, Option<P>)> {
    if !is_worthwhile(earlier)
        || options.skips_some(PASSES.iter().map(|pass| pass.name))
        || parsed
            .iter()
            .any(|module| long_names(module).next().is_some())
    {
        return None;
    }
    let reuse = Reuse::new(earlier, parsed)?;
    let modules = Modules::with_reuse(parsed, reuse.results);
    // METADATA blocks of one module may annotate rules in others, and names that look like locals are reserved in all
    // modules
    let stands_alone = |module: &Module| {
        let mut blocks = module.annotations.iter();
        blocks.all(|block| block.schemas.is_empty())
    };
    if modules.open().count() == modules.len()
        || !modules.iter().all(|module| stands_alone(module))
        || modules.open().any(|module| !names_in(module).is_empty())
    {
        return None;
    }
    let mut compilation = Compilation::new(modules, options);
    compilation.base_exists = base_exists;
    compilation.locals = earlier.locals.clone();
    compilation.locals.earlier_originals = earlier.originals.base.clone();
    let recent = &*earlier.originals.recent;
    compilation.locals.originals.clone_from(recent);
    compilation.earlier = Some(EarlierCompilation {
        compiled: earlier,
        gone: reuse.gone,
        stays: reuse.stays,
    });
    rewrite_modules(&mut compilation, &mut observe);
    if !compilation.report.is_empty() || compilation.uses_metadata {
        return None;
    }
    check_modules(parsed, compilation, observe, lower).ok()
}

/// Returns `true` if there is little enough garbage.
fn is_worthwhile(earlier: &Compiled) -> bool {
    let since = earlier.work.locals_since;
    let of_all = earlier.locals.count().saturating_sub(since);
    !earlier.uses_metadata && since <= of_all.max(limits::STALE_LOCALS)
}
