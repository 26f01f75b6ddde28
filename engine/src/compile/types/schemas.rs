//! Schemas that METADATA blocks and the host bind to documents.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value as Json;
use solon_syntax::ast::{Module, Rule, SchemaRef, SchemaTarget, Term, TermKind};
use solon_syntax::print::display_ref;
use solon_syntax::source::Span;

use super::calls::document_path;
use super::environment::TypeEnvironment;
use super::explain::TypeProblem;
use super::tree::TypeTree;
use crate::compile::annotations::AnnotationSet;
use crate::compile::compilation::{Compilation, Options};
use crate::compile::rule_tree::TreeRuleId;
use crate::types::{Type, ValidSchema};
use crate::value::Value;
use crate::value::serde::to_value;

/// Schemas of a compilation, converted once each.
pub struct ConvertedSchemas<'c> {
    options: &'c Options,
    annotations: &'c AnnotationSet,
    modules: &'c [Arc<Module>],
    /// `true` if some block binds a schema.
    any: bool,
    converted: HashMap<Vec<String>, Result<Type, String>>,
}

impl<'c> ConvertedSchemas<'c> {
    /// Collects the schemas that METADATA blocks bind.
    pub fn new(compilation: &'c Compilation<'_>) -> Self {
        let mut blocks = compilation
            .modules
            .iter()
            .flat_map(|module| &module.annotations);
        Self {
            options: compilation.options,
            annotations: &compilation.annotations,
            modules: &compilation.modules,
            any: blocks.any(|block| !block.schemas.is_empty()),
            converted: HashMap::new(),
        }
    }

    /// Inserts the host's schema as the type of `input`. Fails if the schema has no type.
    pub fn put_input(&mut self, tree: &mut TypeTree) -> Result<(), TypeProblem> {
        let schemas = self.options.schemas.as_ref();
        let Some(schema) = schemas.and_then(|schemas| schemas.get(&Vec::new())) else {
            return Ok(());
        };
        let ty = convert(schema).map_err(|reason| TypeProblem::new(Span::default(), reason))?;
        tree.put(&[Value::string("input")], ty);
        Ok(())
    }

    /// Returns the document types of the schemas that apply to a rule, or `None` if there are none. Records
    /// the errors found in these schemas.
    pub fn of_rule(
        &mut self,
        id: TreeRuleId,
        rule: &Rule,
        env: &TypeEnvironment<'_>,
        problems: &mut Vec<TypeProblem>,
    ) -> Option<TypeTree> {
        if !self.any {
            return None;
        }
        let module = self.modules.get(id.module as usize)?;
        let chain = self.annotations.chain(&module.package.path, rule);
        let mut types = SchemaTypes {
            tree: TypeTree::default(),
            env,
        };
        // nearer blocks override farther ones
        for block in chain
            .iter()
            .rev()
            .filter_map(|link| link.annotation.as_ref())
        {
            for binding in &block.schemas {
                match self.type_of(binding) {
                    Ok(Some(ty)) => match binding.path.iter().skip(1).find_map(no_key) {
                        Some(reason) => problems.push(TypeProblem::new(rule.span, reason)),
                        None => types.bind(&binding.path, ty),
                    },
                    Ok(None) => {}
                    Err(reason) => problems.push(TypeProblem::new(rule.span, reason)),
                }
            }
        }
        (!types.tree.is_empty()).then_some(types.tree)
    }

    /// Returns the type of a binding; `None` if it names a schema and the host provides no schemas.
    fn type_of(&mut self, binding: &SchemaRef) -> Result<Option<Type>, String> {
        let name = match &binding.schema {
            SchemaTarget::Inline(schema) => return convert(schema).map(Some),
            SchemaTarget::Reference(name) => name,
        };
        let Some(schemas) = &self.options.schemas else {
            return Ok(None);
        };
        let steps = name.iter().skip(1).filter_map(Term::as_string);
        let key: Vec<_> = steps.map(ToString::to_string).collect();
        let undefined = || format!("undefined schema: {}", display_ref(name));
        let convert_named = || convert(schemas.get(&key).ok_or_else(undefined)?);
        let converted = self
            .converted
            .entry(key.clone())
            .or_insert_with(convert_named);
        converted.clone().map(Some)
    }
}

fn convert(schema: &Json) -> Result<Type, String> {
    let schema = to_value(schema).map_err(|error| error.to_string())?;
    let schema = ValidSchema::new(&schema).map_err(|error| error.to_string())?;
    schema.to_type().map_err(|error| error.to_string())
}

/// Returns the error for a step of a path that has no value at compile time.
fn no_key(step: &Term) -> Option<String> {
    let is_reference = match &step.kind {
        TermKind::Ref(_) => true,
        TermKind::Var(name) => matches!(&**name, "input" | "data"),
        _ => false,
    };
    let reason = match &step.kind {
        TermKind::Array(items) | TermKind::Set(items) => return items.iter().find_map(no_key),
        TermKind::Object(pairs) => {
            let mut parts = pairs.iter().flat_map(|(key, value)| [key, value]);
            return parts.find_map(no_key);
        }
        _ if step.is_scalar() => return None,
        _ if is_reference => format!("illegal value: {step}"),
        kind => format!("{} requires evaluation", kind.name()),
    };
    Some(format!("error getting key from value: {reason}"))
}

/// Document types of the schemas so far; they have precedence over the environment.
struct SchemaTypes<'e> {
    tree: TypeTree,
    env: &'e TypeEnvironment<'e>,
}

impl SchemaTypes<'_> {
    /// Sets the type of the document at a path. Known types around it are kept.
    fn bind(&mut self, path: &[Term], ty: Type) {
        let Some(keys) = document_path(path) else {
            return;
        };
        let Some((root, steps)) = keys.split_first() else {
            return;
        };
        if steps.is_empty() {
            self.tree.put(&keys, ty);
            return;
        }
        let head = path.get(..1).unwrap_or_default();
        let before = self.document_type(root, head);
        self.tree
            .put(std::slice::from_ref(root), overridden(&before, steps, ty));
    }

    fn document_type(&self, root: &Value, head: &[Term]) -> Type {
        match self.tree.child(TypeTree::ROOT, root.borrow()) {
            Some(id) => self.tree.type_of_node(id).clone(),
            None => self.env.of_reference(head),
        }
    }
}

/// Returns a type in which the value at a path has another type.
fn overridden(ty: &Type, steps: &[Value], replacement: Type) -> Type {
    let Some((step, rest)) = steps.split_first() else {
        return replacement;
    };
    let Type::Object(object) = ty else {
        return wrap(steps, replacement, Some(&(Type::Any, Type::Any)));
    };
    let mut fixed = object.fixed().to_vec();
    match fixed.iter_mut().find(|(key, _)| key == step) {
        Some((_, member)) => *member = overridden(member, rest, replacement),
        None => fixed.push((step.clone(), wrap(rest, replacement, object.rest()))),
    }
    Type::object(fixed, object.rest().cloned())
}

/// Wraps a type in objects, one for each step, each with the given additional pairs.
fn wrap(steps: &[Value], ty: Type, rest: Option<&(Type, Type)>) -> Type {
    steps.iter().rfold(ty, |ty, step| {
        Type::object(vec![(step.clone(), ty)], rest.cloned())
    })
}
