//! Whether a type has what the interfaces ask for that it implements.

use super::ast::{Definition, DefinitionKind, FieldDefinition, Type};
use super::parser::Parsed;
use super::problem::Problem;
use super::schema::Schema;

/// Checks all interfaces of a type.
pub fn check(schema: &Schema<'_>, definition: &Definition<'_>) -> Parsed<()> {
    let refuse = |message| Err(Problem::new(message, definition.position));
    for name in &definition.interfaces {
        let Some(interface) = schema.types.get(name) else {
            return refuse(format!("Undefined type \"{name}\"."));
        };
        if interface.kind != DefinitionKind::Interface {
            let kind = interface.kind.as_str();
            return refuse(format!("\"{name}\" is a non interface type {kind}."));
        }
        for field in &interface.fields {
            implements(schema, definition, interface, field)?;
        }
        for above in &interface.interfaces {
            if definition.interfaces.contains(above) {
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

fn implements(
    schema: &Schema<'_>,
    definition: &Definition<'_>,
    interface: &Definition<'_>,
    required: &FieldDefinition<'_>,
) -> Parsed<()> {
    let refuse = |what: String, position| {
        let (by, name) = (&definition.name, &interface.name);
        Err(Problem::new(
            format!("For {by} to implement {name} {what}"),
            position,
        ))
    };
    let name = &required.name;
    let Some(field) = definition.fields.iter().find(|field| field.name == *name) else {
        let what = format!("it must have a field called {name}.");
        return refuse(what, definition.position);
    };
    if !is_covariant(schema, &required.of, &field.of) {
        let what = format!("the field {name} must have type {}.", required.of);
        return refuse(what, field.position);
    }
    for wanted in &required.arguments {
        let mut arguments = field.arguments.iter();
        let Some(found) = arguments.find(|argument| argument.name == wanted.name) else {
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
    for found in &field.arguments {
        let mut wanted = required.arguments.iter();
        let additional = wanted.all(|argument| argument.name != found.name);
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

/// Whether all values of a type are values of the required one.
fn is_covariant(schema: &Schema<'_>, required: &Type<'_>, found: &Type<'_>) -> bool {
    if required.non_null && !found.non_null {
        return false;
    }
    match (&required.element, &found.element) {
        (Some(required), Some(found)) => is_covariant(schema, required, found),
        (None, None) => {
            let member = || match (
                schema.types.get(&required.name),
                schema.types.get(&found.name),
            ) {
                (Some(required), Some(found)) => {
                    required.types.contains(&found.name)
                        || found.interfaces.contains(&required.name)
                }
                _ => false,
            };
            required.name == found.name || member()
        }
        _ => false,
    }
}
