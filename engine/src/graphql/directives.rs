//! Checks applied directives in schemas.

use std::collections::{HashMap, HashSet};

use solon_syntax::stack;

use super::ast::{DirectiveDefinition, DirectiveNode, FieldDefinition, ValueKind, ValueNode};
use super::parser::ParseResult;
use super::validity::{Checker, check_name, reject};

/// Arguments and locations that a directive definition allows.
pub struct Applicable<'s> {
    arguments: HashSet<&'s str>,
    required: Vec<&'s str>,
    locations: HashSet<&'s str>,
    repeatable: bool,
}

/// A node with directives: its location, and the directive whose definition contains it.
#[derive(Clone, Copy)]
pub struct DirectiveTarget<'s> {
    pub location: &'s str,
    /// The directive definition that contains the node, if any.
    pub within: Option<&'s str>,
    /// `true` if directives that are not repeatable must not occur twice. `false` for types, because a type and its
    /// extensions share a list of directives.
    pub once: bool,
}

impl<'s> DirectiveTarget<'s> {
    /// Returns a node at a location where directives that are not repeatable must not occur twice.
    pub fn new(location: &'s str) -> Self {
        Self {
            location,
            within: None,
            once: true,
        }
    }
}

impl<'s> Applicable<'s> {
    /// Converts a directive definition. Arguments that are not null and have no default are required.
    pub fn new(definition: &'s DirectiveDefinition<'s>) -> Self {
        let arguments = definition.arguments.iter();
        let required =
            |argument: &&FieldDefinition<'_>| argument.of.non_null && argument.default.is_none();
        Self {
            required: arguments
                .clone()
                .filter(required)
                .map(|argument| argument.name.as_ref())
                .collect(),
            arguments: arguments.map(|argument| argument.name.as_ref()).collect(),
            locations: definition.locations.iter().map(AsRef::as_ref).collect(),
            repeatable: definition.repeatable,
        }
    }
}

impl Checker<'_> {
    /// Checks the directives of a node. The error is that of the first one.
    pub fn check_directives(
        &self,
        directives: &[DirectiveNode<'_>],
        target: DirectiveTarget<'_>,
    ) -> ParseResult<()> {
        let mut applied: HashSet<&str> = HashSet::new();
        for directive in directives {
            let (name, position) = (&directive.name, directive.position);
            check_name(name, position)?;
            if target.within == Some(name.as_ref()) {
                return reject(
                    format!("Directive {name} cannot refer to itself."),
                    position,
                );
            }
            let Some(definition) = self.directives.get(name.as_ref()) else {
                return reject(format!("Undefined directive {name}."), position);
            };
            if !applied.insert(name) && target.once && !definition.repeatable {
                let message =
                    format!("The directive {name} can only be used once at this location.");
                return reject(message, position);
            }
            let location = target.location;
            if !definition.locations.contains(location) {
                let message = format!("Directive {name} is not applicable on {location}.");
                return reject(message, position);
            }
            let mut kinds_by_name = HashMap::new();
            for argument in &directive.arguments {
                let name_of = argument.name.as_ref();
                if !definition.arguments.contains(name_of) {
                    let message = format!("Undefined argument {name_of} for directive {name}.");
                    return reject(message, argument.position);
                }
                if kinds_by_name.insert(name_of, argument.value.kind).is_some() {
                    let message = format!("There can be only one argument named {name_of}.");
                    return reject(message, argument.position);
                }
            }
            for required in &definition.required {
                if kinds_by_name
                    .get(required)
                    .is_none_or(|kind| *kind == ValueKind::Null)
                {
                    let message =
                        format!("Argument {required} for directive {name} cannot be null.");
                    return reject(message, position);
                }
            }
            for argument in &directive.arguments {
                check_input_fields(Some(&argument.value))?;
            }
        }
        Ok(())
    }
}

/// Checks that no object in a value has duplicate fields. Recursive: the parser limits the depth of values.
pub fn check_input_fields(value: Option<&ValueNode<'_>>) -> ParseResult<()> {
    let Some(value) = value else {
        return Ok(());
    };
    let is_object = value.kind == ValueKind::Object;
    let mut names: HashSet<&str> = HashSet::new();
    for child in &value.children {
        if is_object && !names.insert(&child.name) {
            let message = format!(
                "There can be only one input field named \"{}\".",
                child.name
            );
            return reject(message, child.position);
        }
        stack::level(|| check_input_fields(Some(&child.value)))?;
    }
    Ok(())
}
