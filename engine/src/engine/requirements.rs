//! The least capabilities that modules need.

use std::collections::BTreeSet;
use std::sync::Arc;

use solon_syntax::ast::visit::{Descent, Visitor, Walk};
use solon_syntax::ast::{Expr, ExprKind, Module, Rule, Term, TermKind, Version};
use solon_syntax::source::{Code, Diagnostics};

use super::Engine;
use crate::builtins::required_json;
use crate::compile::functions::dotted;
use crate::compile::{self, Compilation, Pass};
use crate::error::Error;

impl Engine {
    /// Returns the least capabilities that modules need, as a JSON object in the format of capabilities files: built-ins with name
    /// and declaration, future keywords and features. Unsafe variables and undefined functions are not errors.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use solon::Engine;
    ///
    /// let engine = Engine::new();
    /// let module = engine.parse_module("p.rego", "package p\nallow if startswith(input.user, \"a\")")?;
    /// let needed = String::from_utf8(engine.required_capabilities(&[Arc::new(module)])?).unwrap();
    /// assert!(needed.contains("\"startswith\"") && needed.contains("\"rego_v1\""));
    /// # Ok::<(), solon::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Compile`] with all other errors of the compiler.
    pub fn required_capabilities(&self, modules: &[Arc<Module>]) -> Result<Vec<u8>, Error> {
        let mut options = self.inner.options.clone().print(false).error_limit(0);
        let pass = "CheckUndefinedFuncs".to_owned();
        options.skipped_passes.push(pass);
        let mut names = BTreeSet::new();
        let observe =
            |pass: &Pass, compilation: &Compilation<'_>| collect(pass, compilation, &mut names);
        let compiled = Error::caught(|| {
            let compiled = compile::compile(modules.iter().cloned(), &options, None, observe);
            Ok(compiled.map(|_| ()))
        })?;
        if let Err(Diagnostics(mut errors)) = compiled {
            errors.retain(|error| error.code != Code::UnsafeVar);
            if !errors.is_empty() {
                return Err(Error::Compile(Diagnostics(errors)));
            }
        }
        let (keywords, features) = language(modules);
        Ok(required_json(&names, keywords, features))
    }
}

/// Collects names of built-ins after the passes at which OPA collects them: `:=` and `print` as they are written, `==` before it
/// becomes `=`, and others when types are checked.
fn collect(pass: &Pass, compilation: &Compilation<'_>, names: &mut BTreeSet<String>) {
    let modules = || compilation.modules.iter();
    match pass.name {
        "ResolveRefs" => {
            let rules = modules().flat_map(|module| &module.rules);
            for rule in rules.flat_map(|rule| rule.members()) {
                rule.body.walk(&mut Calls {
                    names,
                    is_wanted: |name| matches!(name, "assign" | "print"),
                    enters_closures: true,
                });
            }
        }
        "CheckSafetyRuleBodies" => modules().for_each(|module| {
            module.walk(&mut Calls {
                names,
                is_wanted: |name| name == "equal",
                enters_closures: true,
            });
        }),
        "CheckTypes" => modules().for_each(|module| {
            module.walk(&mut Calls {
                names,
                is_wanted: |_| true,
                enters_closures: false,
            });
        }),
        _ => {}
    }
}

/// Collects the names of called built-ins.
struct Calls<'n> {
    names: &'n mut BTreeSet<String>,
    is_wanted: fn(&str) -> bool,
    /// `true` if bodies of `every`, `not`, `and` and `or` are visited. OPA's type checker does not record what they call.
    enters_closures: bool,
}

impl Visitor<'_> for Calls<'_> {
    fn expr(&mut self, expr: &Expr) -> Descent {
        match &expr.kind {
            ExprKind::Call(terms) => {
                let operator = terms.first().and_then(Term::as_ref);
                if let Some(name) = operator.and_then(|operator| dotted(operator))
                    && (self.is_wanted)(&name)
                {
                    self.names.insert(name.into_owned());
                }
                Descent::Into
            }
            ExprKind::Term(_) | ExprKind::Some(_) => Descent::Into,
            ExprKind::Every(_) | ExprKind::Not(_) | ExprKind::And(_) | ExprKind::Or(_) => {
                if self.enters_closures {
                    Descent::Into
                } else {
                    Descent::Over
                }
            }
        }
    }
}

/// Returns `true` if a module has a template string. Visits all terms.
fn has_template(module: &Module) -> bool {
    struct TemplateFinder(bool);

    impl Visitor<'_> for TemplateFinder {
        fn term(&mut self, term: &Term) -> Descent {
            self.0 |= matches!(term.kind, TermKind::Template(_));
            Descent::Into
        }
    }

    let mut templates = TemplateFinder(false);
    module.walk(&mut templates);
    templates.0
}

/// Returns the future keywords and the features that modules need.
fn language(modules: &[Arc<Module>]) -> (BTreeSet<&'static str>, BTreeSet<&'static str>) {
    let (mut keywords, mut features) = (BTreeSet::new(), BTreeSet::new());
    for module in modules {
        let is_v1 = module.version == Version::V1;
        if is_v1 {
            features.insert("rego_v1");
        } else {
            features.extend(module.rules.iter().filter_map(head_feature));
        }
        if has_template(module) {
            features.insert("template_strings");
        }
        for import in &module.imports {
            let path = import.path.as_ref().map_or(&[][..], |path| path);
            match dotted(path).as_deref() {
                Some("rego.v1") if !is_v1 => drop(features.insert("rego_v1_import")),
                Some("rego.v2") => drop(features.insert("rego_v2_import")),
                Some("future.keywords") => keywords.extend(future_keywords(is_v1)),
                Some(name) => {
                    let name = name.strip_prefix("future.keywords.");
                    let mut future = future_keywords(is_v1);
                    keywords.extend(future.find(|keyword| Some(*keyword) == name));
                }
                None => {}
            }
        }
    }
    (keywords, features)
}

/// The keywords that a module has to import.
fn future_keywords(is_v1: bool) -> impl Iterator<Item = &'static str> {
    let of_v0 = if is_v1 {
        &[][..]
    } else {
        &["contains", "every", "if", "in"]
    };
    of_v0.iter().chain(&["and", "not", "or"]).copied()
}

/// The feature that the head of a rule of v0 needs, or `None` for heads of up to two terms.
fn head_feature(rule: &Rule) -> Option<&'static str> {
    let reference = &rule.head.reference;
    if reference.len() < 3 {
        return None;
    }
    let is_variable = |term: &Term| term.as_string().is_none() && !term.is_scalar();
    let has_variable = reference.iter().skip(1).any(is_variable);
    Some(if has_variable {
        "rule_head_refs"
    } else {
        "rule_head_ref_string_prefixes"
    })
}
