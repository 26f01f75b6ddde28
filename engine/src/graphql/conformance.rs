//! Checks that types conform to the interfaces they implement.

use std::collections::{HashMap, HashSet};

use super::ast::{DefinitionKind, FieldDefinition, SourceText, TypeDefinition, TypeReference};
use super::parser::ParseResult;
use super::problem::GraphqlError;
use super::validity::Checker;

/// Checks all interfaces of a type.
pub fn check(checker: &Checker<'_>, definition: &TypeDefinition<'_>) -> ParseResult<()> {
    if definition.interfaces.is_empty() {
        return Ok(());
    }
    let interfaces: HashSet<&SourceText<'_>> = definition.interfaces.iter().collect();
    let mut seen: HashSet<&SourceText<'_>> = HashSet::new();
    let fields = by_name(&definition.fields);
    let refuse = |message| Err(GraphqlError::new(message, definition.position));
    for name in &definition.interfaces {
        if !seen.insert(name) {
            let by = &definition.name;
            return refuse(format!("Type {by} can only implement {name} once."));
        }
        let Some(interface) = checker.schema.types.get(&**name) else {
            return refuse(format!("Undefined type \"{name}\"."));
        };
        if interface.kind != DefinitionKind::Interface {
            let kind = interface.kind.as_str();
            return refuse(format!("\"{name}\" is a non interface type {kind}."));
        }
        if *name == definition.name {
            return refuse(format!(
                "Type {name} cannot implement itself because it would create a circular reference."
            ));
        }
        for field in &interface.fields {
            implements(checker, definition, &fields, interface, field)?;
        }
        for above in &interface.interfaces {
            if interfaces.contains(above) {
                continue;
            }
            return refuse(if *above == definition.name {
                format!(
                    "Type {} cannot implement {name} because it would create a circular reference.",
                    definition.name
                )
            } else {
                format!(
                    "Type {} must implement {above} because it is implemented by {name}.",
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
    let refuse = |what: String, position| {
        let (by, name) = (&definition.name, &interface.name);
        Err(GraphqlError::new(
            format!("For {by} to implement {name} {what}"),
            position,
        ))
    };
    let name = &required.name;
    let Some(field) = fields.get(name.as_ref()) else {
        let what = format!("it must have a field called {name}.");
        return refuse(what, definition.position);
    };
    if !is_covariant(checker, &required.of, &field.of) {
        let what = format!("the field {name} must have type {}.", required.of);
        return refuse(what, field.position);
    }
    if required.arguments.is_empty() && field.arguments.is_empty() {
        return Ok(());
    }
    let arguments = by_name(&field.arguments);
    for wanted in &required.arguments {
        let Some(found) = arguments.get(wanted.name.as_ref()) else {
            let what = format!(
                "the field {name} must have the same arguments but it is missing {}.",
                wanted.name
            );
            return refuse(what, field.position);
        };
        if found.of.to_string() != wanted.of.to_string() {
            let what = format!(
                "the field {name} must have the same arguments but {} has the wrong type.",
                wanted.name
            );
            return refuse(what, found.position);
        }
    }
    let wanted = by_name(&required.arguments);
    for found in &field.arguments {
        let additional = !wanted.contains_key(found.name.as_ref());
        if additional && found.of.non_null && found.default.is_none() {
            let what = format!(
                "any additional arguments on {name} must be optional or have a default value but {} is required.",
                found.name
            );
            return refuse(what, found.position);
        }
    }
    Ok(())
}

/// Returns `true` if all values of a type are values of the required one.
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
