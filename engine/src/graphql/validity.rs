//! Validates the definitions of a schema.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use super::ast::{
    DefinitionKind, FieldDefinition, Reference, RootOperations, SourcePosition, SourceText,
    TypeDefinition, TypeReference,
};
use super::conformance;
use super::directives::{Applicable, DirectiveTarget, check_input_fields};
use super::parser::ParseResult;
use super::problem::GraphqlError;
use super::schema::GraphqlSchema;
use crate::limits;

/// Validates a schema. Returns the first error.
pub fn check(schema: &GraphqlSchema<'_>) -> ParseResult<()> {
    Checker::new(schema).schema()
}

/// A schema with precomputed properties.
pub struct Checker<'s> {
    pub schema: &'s GraphqlSchema<'s>,
    pub directives: HashMap<&'s str, Applicable<'s>>,
    subtypes: HashSet<(&'s str, &'s str)>,
    /// `true` if an input type requires a value of itself.
    has_cycles: bool,
    /// Remaining steps of the search for recursive input types.
    steps: Cell<usize>,
}

/// Returns an error at a position, as a failed result.
pub fn reject<T>(message: String, position: SourcePosition) -> ParseResult<T> {
    Err(GraphqlError::new(message, position))
}

fn is_reserved(name: &str) -> bool {
    name.starts_with("__")
}

/// Rejects names reserved for introspection.
pub fn check_name(name: &str, position: SourcePosition) -> ParseResult<()> {
    if is_reserved(name) {
        let message = format!(
            "Name \"{name}\" must not begin with \"__\", which is reserved by GraphQL introspection."
        );
        return reject(message, position);
    }
    Ok(())
}

impl<'s> Checker<'s> {
    fn new(schema: &'s GraphqlSchema<'s>) -> Self {
        let directives = schema.directives.iter();
        let directives =
            directives.map(|(name, definition)| (name.as_ref(), Applicable::new(definition)));
        let mut subtypes = HashSet::new();
        for ty in schema.types.values() {
            let name = ty.name.as_ref();
            subtypes.extend(ty.types.iter().map(|member| (name, member.name.as_ref())));
            subtypes.extend(
                ty.interfaces
                    .iter()
                    .map(|interface| (interface.as_ref(), name)),
            );
        }
        Self {
            schema,
            directives: directives.collect(),
            subtypes,
            has_cycles: has_cycles(schema),
            steps: Cell::new(limits::GRAPHQL_STEPS),
        }
    }

    /// Returns `true` if values of the second type are values of the first, an interface or a union.
    pub fn is_subtype(&self, supertype: &str, name: &str) -> bool {
        self.subtypes.contains(&(supertype, name))
    }

    fn schema(&self) -> ParseResult<()> {
        let schema = self.schema;
        self.check_blocks(&schema.blocks)?;
        for (name, definition) in &schema.types {
            // built-in definitions are valid and may use reserved names
            if !schema.given.contains(name) {
                self.check_definition(definition)?;
            }
        }
        for (name, definition) in &schema.types {
            if !schema.given.contains(name) && definition.kind == DefinitionKind::Input {
                self.check_finite(definition)?;
            }
        }
        for (name, directive) in &schema.directives {
            check_name(name, directive.position)?;
            if let Some(duplicate) = repeated(&directive.arguments, |argument| &argument.name) {
                let argument = &duplicate.name;
                let message = format!("Argument @{name}({argument}:) can only be defined once.");
                return reject(message, duplicate.position);
            }
            let target = DirectiveTarget {
                within: Some(name),
                ..DirectiveTarget::new("DIRECTIVE_DEFINITION")
            };
            self.check_directives(&directive.directives, target)?;
            self.check_arguments(&directive.arguments, Some(name))?;
        }
        Ok(())
    }

    /// Checks `schema { … }` and its extensions.
    fn check_blocks(&self, blocks: &[RootOperations<'_>]) -> ParseResult<()> {
        let mut operations: HashSet<&str> = HashSet::new();
        for block in blocks {
            for root in &block.operations {
                let (operation, ty) = (&root.operation, &root.of);
                if !operations.insert(operation) {
                    let message = format!("There can be only one {operation} type in schema.");
                    return reject(message, root.position);
                }
                if !self.schema.types.contains_key(ty) {
                    let message = format!(
                        "Schema root {operation} refers to a type {ty} that does not exist."
                    );
                    return reject(message, root.position);
                }
            }
            self.check_directives(&block.directives, DirectiveTarget::new("SCHEMA"))?;
        }
        Ok(())
    }

    fn resolve(&self, ty: &TypeReference<'_>) -> ParseResult<&'s TypeDefinition<'s>> {
        let mut ty = ty;
        while let Some(element) = &ty.element {
            ty = element;
        }
        match self.schema.types.get(&*ty.name) {
            Some(definition) => Ok(definition),
            None => reject(format!("Undefined type {}.", ty.name), ty.position),
        }
    }

    fn check_definition(&self, definition: &TypeDefinition<'_>) -> ParseResult<()> {
        let (name, position) = (&definition.name, definition.position);
        for field in &definition.fields {
            check_name(&field.name, field.position)?;
            self.resolve(&field.of)?;
            check_input_fields(field.default.as_ref())?;
            if let Some(duplicate) = repeated(&field.arguments, |argument| &argument.name) {
                let message = format!(
                    "Argument {name}.{}({}:) can only be defined once.",
                    field.name, duplicate.name
                );
                return reject(message, duplicate.position);
            }
            self.check_arguments(&field.arguments, None)?;
            let location = match definition.kind {
                DefinitionKind::Input => "INPUT_FIELD_DEFINITION",
                _ => "FIELD_DEFINITION",
            };
            self.check_directives(&field.directives, DirectiveTarget::new(location))?;
        }
        for Reference { name: member, .. } in &definition.types {
            let Some(member_type) = self.schema.types.get(&**member) else {
                return reject(format!("Undefined type \"{member}\"."), position);
            };
            if member_type.kind != DefinitionKind::Object {
                let message = format!("UNION type \"{member}\" must be OBJECT.");
                return reject(message, position);
            }
        }
        conformance::check(self, definition)?;
        match definition.kind {
            DefinitionKind::Object | DefinitionKind::Interface => self.check_outputs(definition)?,
            DefinitionKind::Enum => self.check_values(definition)?,
            DefinitionKind::Input => self.check_inputs(definition)?,
            DefinitionKind::Union if definition.types.is_empty() => {
                return reject_empty(definition, "member types");
            }
            DefinitionKind::Union | DefinitionKind::Scalar => {}
        }
        check_unique(definition)?;
        check_name(name, position)?;
        let target = DirectiveTarget {
            once: false,
            ..DirectiveTarget::new(definition.kind.as_str())
        };
        self.check_directives(&definition.directives, target)
    }

    fn check_values(&self, definition: &TypeDefinition<'_>) -> ParseResult<()> {
        if definition.values.is_empty() {
            return reject_empty(definition, "unique enum values");
        }
        for value in &definition.values {
            check_name(&value.name, value.position)?;
            if matches!(value.name.as_ref(), "true" | "false" | "null") {
                let message = format!("ENUM {}: non-enum value {}.", definition.name, value.name);
                return reject(message, value.position);
            }
            self.check_directives(&value.directives, DirectiveTarget::new("ENUM_VALUE"))?;
        }
        Ok(())
    }

    fn check_outputs(&self, definition: &TypeDefinition<'_>) -> ParseResult<()> {
        let (kind, name) = (definition.kind.as_str(), &definition.name);
        if definition.fields.is_empty() {
            return reject_empty(definition, "fields");
        }
        for field in &definition.fields {
            if self.resolve(&field.of)?.kind == DefinitionKind::Input {
                let message = format!(
                    "{kind} {name}: field must be one of SCALAR, OBJECT, INTERFACE, UNION, ENUM."
                );
                return reject(message, field.position);
            }
        }
        Ok(())
    }

    fn check_inputs(&self, definition: &TypeDefinition<'_>) -> ParseResult<()> {
        if definition.fields.is_empty() {
            return reject_empty(definition, "input fields");
        }
        for field in &definition.fields {
            let kind = self.resolve(&field.of)?.kind;
            if !kind.is_input() {
                let message = format!(
                    "{} {}: field must be one of SCALAR, ENUM, INPUT_OBJECT.",
                    kind.as_str(),
                    field.name
                );
                return reject(message, field.position);
            }
        }
        Ok(())
    }

    /// Checks that an input type has finite values: it must not require itself.
    fn check_finite(&self, definition: &TypeDefinition<'_>) -> ParseResult<()> {
        if !self.has_cycles {
            return Ok(());
        }
        let mut visited: HashSet<&SourceText<'_>> = HashSet::new();
        let mut path = vec![required_fields(definition)];
        let mut names: Vec<&FieldDefinition<'_>> = Vec::new();
        while let Some(level) = path.last_mut() {
            let Some(field) = level.next() else {
                path.pop();
                names.pop();
                continue;
            };
            let Some(remaining) = self.steps.get().checked_sub(1) else {
                return reject("takes too long to validate".to_owned(), field.position);
            };
            self.steps.set(remaining);
            if field.of.name == definition.name {
                names.push(field);
                let path: Vec<&str> = names.iter().map(|field| field.name.as_ref()).collect();
                let position = names
                    .first()
                    .map_or(definition.position, |field| field.position);
                let message = format!(
                    "Cannot reference Input Object \"{}\" within itself through a series of non-null fields: \"{}\".",
                    definition.name,
                    path.join(".")
                );
                return reject(message, position);
            }
            let inner = self.schema.types.get(&*field.of.name);
            let inner = inner.filter(|inner| inner.kind == DefinitionKind::Input);
            if let Some(inner) = inner.filter(|_| visited.insert(&field.of.name)) {
                names.push(field);
                path.push(required_fields(inner));
            }
        }
        Ok(())
    }

    fn check_arguments(
        &self,
        arguments: &[FieldDefinition<'_>],
        directive: Option<&str>,
    ) -> ParseResult<()> {
        for argument in arguments {
            let name = &argument.name;
            check_name(name, argument.position)?;
            let ty = self.resolve(&argument.of)?;
            check_input_fields(argument.default.as_ref())?;
            if !ty.kind.is_input() {
                let message = format!(
                    "cannot use {} as argument {name} because {} is not a valid input type",
                    argument.of,
                    ty.kind.as_str()
                );
                return reject(message, argument.position);
            }
            let target = DirectiveTarget {
                within: directive,
                ..DirectiveTarget::new("ARGUMENT_DEFINITION")
            };
            self.check_directives(&argument.directives, target)?;
        }
        Ok(())
    }
}

fn reject_empty(definition: &TypeDefinition<'_>, missing: &str) -> ParseResult<()> {
    let (kind, name) = (definition.kind.as_str(), &definition.name);
    let message = format!("{kind} {name}: must define one or more {missing}.");
    reject(message, definition.position)
}

/// Returns the second item with the first repeated name.
fn repeated<'s, T>(items: &'s [T], name: impl Fn(&'s T) -> &'s str) -> Option<&'s T> {
    let mut positions: HashMap<&str, usize> = HashMap::with_capacity(items.len());
    let mut first: Option<(usize, &T)> = None;
    for (position, item) in items.iter().enumerate() {
        let first_position = *positions.entry(name(item)).or_insert(position);
        if first_position < position && first.is_none_or(|(earliest, _)| first_position < earliest)
        {
            first = Some((first_position, item));
        }
    }
    first.map(|(_, item)| item)
}

/// Checks that fields, values and members are unique.
fn check_unique(definition: &TypeDefinition<'_>) -> ParseResult<()> {
    let name = &definition.name;
    if let Some(field) = repeated(&definition.fields, |field| &field.name) {
        let message = format!("Field {name}.{} can only be defined once.", field.name);
        return reject(message, field.position);
    }
    if let Some(value) = repeated(&definition.values, |value| &value.name) {
        let message = format!("Enum value {name}.{} can only be defined once.", value.name);
        return reject(message, value.position);
    }
    if let Some(member) = repeated(&definition.types, |member| &member.name) {
        let message = format!(
            "Union type {name} can only include type {} once.",
            member.name
        );
        return reject(message, member.position);
    }
    Ok(())
}

/// Returns the required fields of an input type without defaults.
fn required_fields<'s>(
    ty: &'s TypeDefinition<'s>,
) -> impl Iterator<Item = &'s FieldDefinition<'s>> {
    let is_required =
        |field: &&FieldDefinition<'_>| field.of.non_null && field.of.element.is_none();
    ty.fields.iter().filter(is_required)
}

/// Returns `true` if an input type requires a value of itself.
fn has_cycles(schema: &GraphqlSchema<'_>) -> bool {
    let input = |name: &str| {
        let ty = schema.types.get(name);
        ty.filter(|ty| ty.kind == DefinitionKind::Input)
    };
    // visited types, `true` once all their fields were visited
    let mut finished: HashMap<&str, bool> = HashMap::new();
    for ty in schema
        .types
        .values()
        .filter(|ty| ty.kind == DefinitionKind::Input)
    {
        if finished.contains_key(ty.name.as_ref()) {
            continue;
        }
        finished.insert(&ty.name, false);
        let mut path = vec![(ty, required_fields(ty))];
        while let Some((ty, fields)) = path.last_mut() {
            let Some(field) = fields.next() else {
                finished.insert(&ty.name, true);
                path.pop();
                continue;
            };
            let Some(inner) = input(&field.of.name) else {
                continue;
            };
            match finished.get(inner.name.as_ref()) {
                Some(true) => {}
                Some(false) => return true,
                None => {
                    finished.insert(&inner.name, false);
                    path.push((inner, required_fields(inner)));
                }
            }
        }
    }
    false
}
