//! Checks that types conform to the interfaces they implement.

use std::collections::{HashMap, HashSet};

use super::ast::{DefinitionKind, FieldDefinition, SourceText, TypeDefinition, TypeReference};
use super::parser::ParseResult;
use super::problem::GraphqlError;
use super::validity::Checker;

/// Checks all interfaces of a type. The error is that of the first one that is not implemented.
pub fn check(checker: &Checker<'_>, definition: &TypeDefinition<'_>) -> ParseResult<()> {
    if definition.interfaces.is_empty() {
        return Ok(());
    }
    let interfaces: HashSet<&SourceText<'_>> = definition.interfaces.iter().collect();
    let mut implemented: HashSet<&SourceText<'_>> = HashSet::new();
    let fields = by_name(&definition.fields);
    let reject = |message| Err(GraphqlError::new(message, definition.position));
    for name in &definition.interfaces {
        if !implemented.insert(name) {
            let type_name = &definition.name;
            return reject(format!("Type {type_name} can only implement {name} once."));
        }
        let Some(interface) = checker.schema.types.get(&**name) else {
            return reject(format!("Undefined type \"{name}\"."));
        };
        if interface.kind != DefinitionKind::Interface {
            let kind = interface.kind.as_str();
            return reject(format!("\"{name}\" is a non interface type {kind}."));
        }
        if *name == definition.name {
            return reject(format!(
                "Type {name} cannot implement itself because it would create a circular reference."
            ));
        }
        for field in &interface.fields {
            implements(checker, definition, &fields, interface, field)?;
        }
        for ancestor in &interface.interfaces {
            if interfaces.contains(ancestor) {
                continue;
            }
            return reject(if *ancestor == definition.name {
                format!(
                    "Type {} cannot implement {name} because it would create a circular reference.",
                    definition.name
                )
            } else {
                format!(
                    "Type {} must implement {ancestor} because it is implemented by {name}.",
                    definition.name
                )
            });
        }
    }
    Ok(())
}

/// Indexes fields or arguments by name. If names are equal, the first one counts.
fn by_name<'s>(items: &'s [FieldDefinition<'s>]) -> HashMap<&'s str, &'s FieldDefinition<'s>> {
    let items = items.iter().rev();
    items.map(|item| (item.name.as_ref(), item)).collect()
}

fn implements(
    checker: &Checker<'_>,
    definition: &TypeDefinition<'_>,
    fields: &HashMap<&str, &FieldDefinition<'_>>,
    interface: &TypeDefinition<'_>,
    required: &FieldDefinition<'_>,
) -> ParseResult<()> {
    let reject = |problem: String, position| {
        let (type_name, name) = (&definition.name, &interface.name);
        Err(GraphqlError::new(
            format!("For {type_name} to implement {name} {problem}"),
            position,
        ))
    };
    let name = &required.name;
    let Some(field) = fields.get(name.as_ref()) else {
        let problem = format!("it must have a field called {name}.");
        return reject(problem, definition.position);
    };
    if !is_covariant(checker, &required.of, &field.of) {
        let problem = format!("the field {name} must have type {}.", required.of);
        return reject(problem, field.position);
    }
    if required.arguments.is_empty() && field.arguments.is_empty() {
        return Ok(());
    }
    let arguments = by_name(&field.arguments);
    for expected in &required.arguments {
        let Some(argument) = arguments.get(expected.name.as_ref()) else {
            let problem = format!(
                "the field {name} must have the same arguments but it is missing {}.",
                expected.name
            );
            return reject(problem, field.position);
        };
        if argument.of.to_string() != expected.of.to_string() {
            let problem = format!(
                "the field {name} must have the same arguments but {} has the wrong type.",
                expected.name
            );
            return reject(problem, argument.position);
        }
    }
    let required_arguments = by_name(&required.arguments);
    for argument in &field.arguments {
        let additional = !required_arguments.contains_key(argument.name.as_ref());
        if additional && argument.of.non_null && argument.default.is_none() {
            let problem = format!(
                "any additional arguments on {name} must be optional or have a default value but {} is required.",
                argument.name
            );
            return reject(problem, argument.position);
        }
    }
    Ok(())
}

/// Returns `true` if all values of a type are values of the required one, also for lists and their elements.
fn is_covariant(
    checker: &Checker<'_>,
    required: &TypeReference<'_>,
    actual: &TypeReference<'_>,
) -> bool {
    if required.non_null && !actual.non_null {
        return false;
    }
    match (&required.element, &actual.element) {
        (Some(required), Some(actual)) => is_covariant(checker, required, actual),
        (None, None) => {
            required.name == actual.name || checker.is_subtype(&required.name, &actual.name)
        }
        _ => false,
    }
}
