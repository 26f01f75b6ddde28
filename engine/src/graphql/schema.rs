//! A schema: the types and directives that a document defines, with those that every schema has.

use std::collections::{BTreeMap, BTreeSet};

use super::ast::{Definition, Directive, DirectiveDefinition, Root, SchemaDocument, Text};
use super::document::parse_schema;
use super::parser::Parsed;
use super::problem::Problem;
use super::validity;

/// What every schema has.
const PRELUDE: &str = include_str!("prelude.graphql");

/// The types and directives of a document.
#[derive(Debug, Default)]
pub struct Schema<'a> {
    /// Types by their names.
    pub types: BTreeMap<Text<'a>, Definition<'a>>,
    /// Directives by their names.
    pub directives: BTreeMap<Text<'a>, DirectiveDefinition<'a>>,
    /// Names of the types that every schema has.
    pub given: BTreeSet<Text<'a>>,
    /// Root types by their operations.
    pub roots: BTreeMap<Text<'a>, Text<'a>>,
    /// Directives of the schema itself.
    pub applied: Vec<Directive<'a>>,
}

impl<'a> Schema<'a> {
    /// The schema of a document, or what is wrong with it.
    pub fn build(document: SchemaDocument<'a>) -> Parsed<Self> {
        let prelude = parse_schema(PRELUDE)?;
        let mut schema = Self::default();
        let types = prelude.definitions.into_iter();
        schema.types = types.map(|it| (it.name.clone(), it)).collect();
        schema.given = schema.types.keys().cloned().collect();
        let directives = prelude.directives.into_iter();
        schema.directives = directives.map(|it| (it.name.clone(), it)).collect();
        for definition in document.definitions {
            schema.define(definition)?;
        }
        for extension in document.extensions {
            schema.extend(extension)?;
        }
        schema.define_directives(document.directives)?;
        let explicit = !document.schema.is_empty();
        let mut blocks = document.schema.into_iter();
        let first = blocks.next();
        if let Some(second) = blocks.next() {
            let message =
                "Cannot have multiple schema entry points, consider schema extensions instead.";
            return Err(Problem::new(message.into(), second.position));
        }
        for block in first.into_iter().chain(document.schema_extensions) {
            for root in block.operations {
                schema.enter(root)?;
            }
            schema.applied.extend(block.directives);
        }
        validity::check(&schema)?;
        if !explicit {
            schema.enter_by_name();
        }
        Ok(schema)
    }

    fn define(&mut self, definition: Definition<'a>) -> Parsed<()> {
        let Definition { name, position, .. } = &definition;
        if self.types.contains_key(name) {
            let message = format!("Cannot redeclare type {name}.");
            return Err(Problem::new(message, *position));
        }
        self.types.insert(name.clone(), definition);
        Ok(())
    }

    /// Adds to a type; one that does not exist yet begins here.
    fn extend(&mut self, more: Definition<'a>) -> Parsed<()> {
        let Some(base) = self.types.get_mut(&more.name) else {
            return self.define(more);
        };
        if base.kind != more.kind {
            let message = format!(
                "Cannot extend type {} because the base type is a {}, not {}.",
                more.name,
                base.kind.as_str(),
                more.kind.as_str()
            );
            return Err(Problem::new(message, more.position));
        }
        base.directives.extend(more.directives);
        base.interfaces.extend(more.interfaces);
        base.fields.extend(more.fields);
        base.types.extend(more.types);
        base.values.extend(more.values);
        Ok(())
    }

    /// Adds directives; those of every schema may be repeated, without effect.
    fn define_directives(&mut self, definitions: Vec<DirectiveDefinition<'a>>) -> Parsed<()> {
        for definition in definitions {
            let DirectiveDefinition { name, position, .. } = &definition;
            match (name.as_ref(), self.directives.contains_key(name)) {
                ("include" | "skip" | "deprecated" | "specifiedBy", true) => {}
                (_, true) => {
                    let message = format!("Cannot redeclare directive {name}.");
                    return Err(Problem::new(message, *position));
                }
                (_, false) => {
                    self.directives.insert(name.clone(), definition);
                }
            }
        }
        Ok(())
    }

    fn enter(&mut self, root: Root<'a>) -> Parsed<()> {
        if !self.types.contains_key(&root.of) {
            let message = format!(
                "Schema root {} refers to a type {} that does not exist.",
                root.operation, root.of
            );
            return Err(Problem::new(message, root.position));
        }
        self.roots.insert(root.operation, root.of);
        Ok(())
    }

    fn enter_by_name(&mut self) {
        for (operation, name) in [
            ("query", "Query"),
            ("mutation", "Mutation"),
            ("subscription", "Subscription"),
        ] {
            if self.types.contains_key(name) {
                self.roots.entry(operation.into()).or_insert(name.into());
            }
        }
    }
}
