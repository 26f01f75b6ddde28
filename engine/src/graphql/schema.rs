//! Schemas: types and directives of a document, with the built-in ones.

use std::collections::{BTreeMap, BTreeSet};

use super::ast::{
    DefinitionKind, DirectiveDefinition, RootOperations, SchemaDocument, SourceText, TypeDefinition,
};
use super::document::parse_schema;
use super::parser::ParseResult;
use super::problem::GraphqlError;
use super::validity;

/// Built-in types and directives.
const PRELUDE: &str = include_str!("prelude.graphql");

/// The types and directives of a document.
#[derive(Debug, Default)]
pub struct GraphqlSchema<'a> {
    /// Types by name, with their extensions.
    pub types: BTreeMap<SourceText<'a>, TypeDefinition<'a>>,
    /// Directives by name, with their extensions.
    pub directives: BTreeMap<SourceText<'a>, DirectiveDefinition<'a>>,
    /// Names of the built-in types.
    pub given: BTreeSet<SourceText<'a>>,
    /// Root types by operation.
    pub roots: BTreeMap<SourceText<'a>, SourceText<'a>>,
    /// `schema { … }` and its extensions.
    pub blocks: Vec<RootOperations<'a>>,
}

impl<'a> GraphqlSchema<'a> {
    /// Builds the schema of a document. Fails with the first error.
    pub fn build(document: SchemaDocument<'a>) -> ParseResult<Self> {
        let prelude = parse_schema(PRELUDE)?;
        let mut schema = Self::default();
        let types = prelude.definitions.into_iter();
        schema.types = types
            .map(|definition| (definition.name.clone(), definition))
            .collect();
        schema.given = schema.types.keys().cloned().collect();
        let directives = prelude.directives.into_iter();
        schema.directives = directives
            .map(|directive| (directive.name.clone(), directive))
            .collect();
        for definition in document.definitions {
            schema.define(definition)?;
        }
        for extension in document.extensions {
            schema.extend(extension)?;
        }
        schema.define_directives(document.directives)?;
        schema.extend_directives(document.directive_extensions)?;
        let explicit = !document.schema.is_empty();
        let mut blocks = document.schema.into_iter();
        let first = blocks.next();
        if let Some(second) = blocks.next() {
            let message =
                "Cannot have multiple schema entry points, consider schema extensions instead.";
            return Err(GraphqlError::new(message.into(), second.position));
        }
        schema.blocks = first
            .into_iter()
            .chain(document.schema_extensions)
            .collect();
        validity::check(&schema)?;
        for root in schema.blocks.iter().flat_map(|block| &block.operations) {
            schema.roots.insert(root.operation.clone(), root.of.clone());
        }
        if !explicit {
            schema.enter_by_name();
        }
        schema.check_roots()?;
        Ok(schema)
    }

    fn define(&mut self, definition: TypeDefinition<'a>) -> ParseResult<()> {
        let TypeDefinition { name, position, .. } = &definition;
        if self.types.contains_key(name) {
            let message = format!("Cannot redeclare type {name}.");
            return Err(GraphqlError::new(message, *position));
        }
        self.types.insert(name.clone(), definition);
        Ok(())
    }

    /// Extends a type. Creates it if it does not exist.
    fn extend(&mut self, extension: TypeDefinition<'a>) -> ParseResult<()> {
        let Some(base) = self.types.get_mut(&extension.name) else {
            return self.define(extension);
        };
        if base.kind != extension.kind {
            let message = format!(
                "Cannot extend type {} because the base type is a {}, not {}.",
                extension.name,
                base.kind.as_str(),
                extension.kind.as_str()
            );
            return Err(GraphqlError::new(message, extension.position));
        }
        base.directives.extend(extension.directives);
        base.interfaces.extend(extension.interfaces);
        base.fields.extend(extension.fields);
        base.types.extend(extension.types);
        base.values.extend(extension.values);
        Ok(())
    }

    /// Adds directives. Built-in ones may be redefined; the last definition counts.
    fn define_directives(&mut self, definitions: Vec<DirectiveDefinition<'a>>) -> ParseResult<()> {
        let existing: BTreeSet<_> = self.directives.keys().cloned().collect();
        for definition in definitions {
            let DirectiveDefinition { name, position, .. } = &definition;
            if !existing.contains(name) && self.directives.contains_key(name) {
                let message = format!("Cannot redeclare directive {name}.");
                return Err(GraphqlError::new(message, *position));
            }
            self.directives.insert(name.clone(), definition);
        }
        Ok(())
    }

    /// Adds directives to directive definitions. Fails if one is not defined.
    fn extend_directives(&mut self, extensions: Vec<DirectiveDefinition<'a>>) -> ParseResult<()> {
        for extension in extensions {
            let Some(base) = self.directives.get_mut(&extension.name) else {
                let name = &extension.name;
                let message = format!("Cannot extend directive @{name} because it is not defined.");
                return Err(GraphqlError::new(message, extension.position));
            };
            base.directives.extend(extension.directives);
        }
        Ok(())
    }

    /// Checks that root types are objects.
    fn check_roots(&self) -> ParseResult<()> {
        for (operation, subject, condition) in [
            ("query", "Query", ""),
            ("mutation", "Mutation", " if provided"),
            ("subscription", "Subscription", " if provided"),
        ] {
            let root = self.roots.get(operation);
            let Some(definition) = root.and_then(|name| self.types.get(name)) else {
                continue;
            };
            if definition.kind == DefinitionKind::Object {
                continue;
            }
            let mut roots = self.blocks.iter().flat_map(|block| &block.operations);
            let roots = roots.find(|root| root.operation == operation);
            let message = format!(
                "{subject} root type must be Object type{condition}, it cannot be {}.",
                definition.name
            );
            let position = roots.map_or(definition.position, |root| root.position);
            return Err(GraphqlError::new(message, position));
        }
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
