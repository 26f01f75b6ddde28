//! Whether the definitions of a schema fit together.

use std::collections::HashSet;

use super::ast::{
    Definition, DefinitionKind, Directive, FieldDefinition, Position, Text, Type, ValueKind,
};
use super::conformance;
use super::parser::Parsed;
use super::problem::Problem;
use super::schema::Schema;

/// Checks a schema; the first problem is told.
pub fn check(schema: &Schema<'_>) -> Parsed<()> {
    check_directives(schema, &schema.applied, "SCHEMA", None)?;
    for (name, definition) in &schema.types {
        // what every schema has is right, and may use reserved names
        if !schema.given.contains(name) {
            check_definition(schema, definition)?;
        }
    }
    for (name, directive) in &schema.directives {
        check_name(name, directive.position)?;
        check_arguments(schema, &directive.arguments, Some(name))?;
    }
    Ok(())
}

fn refuse<T>(message: String, position: Position) -> Parsed<T> {
    Err(Problem::new(message, position))
}

fn is_reserved(name: &str) -> bool {
    name.starts_with("__")
}

fn check_name(name: &str, position: Position) -> Parsed<()> {
    if is_reserved(name) {
        let message = format!(
            "Name \"{name}\" must not begin with \"__\", which is reserved by GraphQL introspection."
        );
        return refuse(message, position);
    }
    Ok(())
}

fn resolve<'s, 'a>(schema: &'s Schema<'a>, of: &Type<'a>) -> Parsed<&'s Definition<'a>> {
    let mut of = of;
    while let Some(element) = &of.element {
        of = element;
    }
    match schema.types.get(&of.name) {
        Some(definition) => Ok(definition),
        None => refuse(format!("Undefined type {}.", of.name), of.position),
    }
}

fn check_definition(schema: &Schema<'_>, definition: &Definition<'_>) -> Parsed<()> {
    let (name, position) = (&definition.name, definition.position);
    for field in &definition.fields {
        check_name(&field.name, field.position)?;
        resolve(schema, &field.of)?;
        check_arguments(schema, &field.arguments, None)?;
        let location = match definition.kind {
            DefinitionKind::Input => "INPUT_FIELD_DEFINITION",
            _ => "FIELD_DEFINITION",
        };
        check_directives(schema, &field.directives, location, None)?;
    }
    for member in &definition.types {
        let Some(found) = schema.types.get(member) else {
            return refuse(format!("Undefined type \"{member}\"."), position);
        };
        if found.kind != DefinitionKind::Object {
            let message = format!("UNION type \"{member}\" must be OBJECT.");
            return refuse(message, position);
        }
    }
    conformance::check(schema, definition)?;
    match definition.kind {
        DefinitionKind::Object | DefinitionKind::Interface => check_outputs(schema, definition)?,
        DefinitionKind::Enum => check_values(definition)?,
        DefinitionKind::Input => check_inputs(schema, definition)?,
        DefinitionKind::Scalar | DefinitionKind::Union => {}
    }
    for value in &definition.values {
        check_directives(schema, &value.directives, "ENUM_VALUE", None)?;
    }
    let mut seen = HashSet::new();
    for field in &definition.fields {
        if !seen.insert(&field.name) {
            let message = format!("Field {name}.{} can only be defined once.", field.name);
            return refuse(message, field.position);
        }
    }
    check_name(name, position)?;
    check_directives(
        schema,
        &definition.directives,
        definition.kind.as_str(),
        None,
    )
}

fn check_outputs(schema: &Schema<'_>, definition: &Definition<'_>) -> Parsed<()> {
    let (kind, name) = (definition.kind.as_str(), &definition.name);
    if definition.fields.is_empty() {
        let message = format!("{kind} {name}: must define one or more fields.");
        return refuse(message, definition.position);
    }
    for field in &definition.fields {
        if resolve(schema, &field.of)?.kind == DefinitionKind::Input {
            let message = format!(
                "{kind} {name}: field must be one of SCALAR, OBJECT, INTERFACE, UNION, ENUM."
            );
            return refuse(message, field.position);
        }
    }
    Ok(())
}

fn check_values(definition: &Definition<'_>) -> Parsed<()> {
    let name = &definition.name;
    if definition.values.is_empty() {
        let message = format!("ENUM {name}: must define one or more unique enum values.");
        return refuse(message, definition.position);
    }
    let mut seen = HashSet::new();
    for value in &definition.values {
        if matches!(value.name.as_ref(), "true" | "false" | "null") {
            let message = format!("ENUM {name}: non-enum value {}.", value.name);
            return refuse(message, definition.position);
        }
        if !seen.insert(&value.name) {
            let message = format!("Enum value {name}.{} can only be defined once.", value.name);
            return refuse(message, value.position);
        }
    }
    Ok(())
}

fn check_inputs(schema: &Schema<'_>, definition: &Definition<'_>) -> Parsed<()> {
    if definition.fields.is_empty() {
        let message = format!(
            "INPUT_OBJECT {}: must define one or more input fields.",
            definition.name
        );
        return refuse(message, definition.position);
    }
    for field in &definition.fields {
        let kind = resolve(schema, &field.of)?.kind;
        if !kind.is_input() {
            let message = format!(
                "{} {}: field must be one of SCALAR, ENUM, INPUT_OBJECT.",
                kind.as_str(),
                field.name
            );
            return refuse(message, field.position);
        }
    }
    check_finite(schema, definition)
}

/// Whether some value of an input type can be written down: it must not contain itself.
fn check_finite(schema: &Schema<'_>, definition: &Definition<'_>) -> Parsed<()> {
    let mut visited: HashSet<&Text<'_>> = HashSet::new();
    let required = |field: &&FieldDefinition<'_>| field.of.non_null && field.of.element.is_none();
    let mut path = vec![definition.fields.iter().filter(required)];
    let mut names: Vec<&FieldDefinition<'_>> = Vec::new();
    while let Some(level) = path.last_mut() {
        let Some(field) = level.next() else {
            path.pop();
            names.pop();
            continue;
        };
        if field.of.name == definition.name {
            names.push(field);
            let through: Vec<&str> = names.iter().map(|field| field.name.as_ref()).collect();
            let position = names.first().map_or(definition.position, |it| it.position);
            let message = format!(
                "Cannot reference Input Object \"{}\" within itself through a series of non-null fields: \"{}\".",
                definition.name,
                through.join(".")
            );
            return refuse(message, position);
        }
        let inner = schema.types.get(&field.of.name);
        let inner = inner.filter(|inner| inner.kind == DefinitionKind::Input);
        if let Some(inner) = inner.filter(|_| visited.insert(&field.of.name)) {
            names.push(field);
            path.push(inner.fields.iter().filter(required));
        }
    }
    Ok(())
}

fn check_arguments(
    schema: &Schema<'_>,
    arguments: &[FieldDefinition<'_>],
    directive: Option<&str>,
) -> Parsed<()> {
    for argument in arguments {
        let name = &argument.name;
        check_name(name, argument.position)?;
        let of = resolve(schema, &argument.of)?;
        if !of.kind.is_input() {
            let message = format!(
                "cannot use {} as argument {name} because {} is not a valid input type",
                argument.of,
                of.kind.as_str()
            );
            return refuse(message, argument.position);
        }
        let directives = &argument.directives;
        check_directives(schema, directives, "ARGUMENT_DEFINITION", directive)?;
    }
    Ok(())
}

/// Checks directives where they stand; `within` is the directive whose definition that is.
fn check_directives(
    schema: &Schema<'_>,
    directives: &[Directive<'_>],
    location: &str,
    within: Option<&str>,
) -> Parsed<()> {
    for directive in directives {
        let (name, position) = (&directive.name, directive.position);
        check_name(name, position)?;
        if within == Some(name.as_ref()) {
            return refuse(
                format!("Directive {name} cannot refer to itself."),
                position,
            );
        }
        let Some(definition) = schema.directives.get(name) else {
            return refuse(format!("Undefined directive {name}."), position);
        };
        if !definition.locations.iter().any(|place| place == location) {
            let message = format!("Directive {name} is not applicable on {location}.");
            return refuse(message, position);
        }
        for argument in &directive.arguments {
            let mut known = definition.arguments.iter();
            if known.all(|known| known.name != argument.name) {
                let message = format!("Undefined argument {} for directive {name}.", argument.name);
                return refuse(message, argument.position);
            }
        }
        for wanted in &definition.arguments {
            let mut given = directive.arguments.iter();
            let given = given.find(|argument| argument.name == wanted.name);
            let null = given.is_none_or(|argument| argument.value.kind == ValueKind::Null);
            if wanted.of.non_null && wanted.default.is_none() && null {
                let message = format!(
                    "Argument {} for directive {name} cannot be null.",
                    wanted.name
                );
                return refuse(message, position);
            }
        }
    }
    Ok(())
}
