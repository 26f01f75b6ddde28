//! Parser of schema documents.

use super::ast::{
    DefinitionKind, Description, DirectiveDefinition, EnumValue, FieldDefinition, Reference,
    RootOperation, RootOperations, SchemaDocument, SourceText, TypeDefinition,
};
use super::parser::{GraphqlParser, ParseResult};

/// Locations of directives that the language defines.
const LOCATIONS: [&str; 20] = [
    "QUERY",
    "MUTATION",
    "SUBSCRIPTION",
    "FIELD",
    "FRAGMENT_DEFINITION",
    "FRAGMENT_SPREAD",
    "INLINE_FRAGMENT",
    "VARIABLE_DEFINITION",
    "SCHEMA",
    "SCALAR",
    "OBJECT",
    "FIELD_DEFINITION",
    "ARGUMENT_DEFINITION",
    "INTERFACE",
    "UNION",
    "ENUM",
    "ENUM_VALUE",
    "INPUT_OBJECT",
    "INPUT_FIELD_DEFINITION",
    "DIRECTIVE_DEFINITION",
];

/// Parses a schema document.
///
/// # Errors
/// The first syntax error, with its position.
pub fn parse_schema(source: &str) -> ParseResult<SchemaDocument<'_>> {
    let mut parser = GraphqlParser::new(source);
    let mut document = SchemaDocument::default();
    while !parser.at_end() {
        let error = parser.at_description().then(|| parser.unexpected());
        let description = parser.description();
        if !parser.at_name() {
            return Err(parser.unexpected());
        }
        if parser.text() == "extend" {
            if let Some(error) = error
                && !description.text.is_empty()
            {
                return Err(parser.unexpected_description(&description, error));
            }
            extension(&mut parser, &mut document, description)?;
            continue;
        }
        match parser.text() {
            "schema" => document.schema.push(roots(&mut parser, description)?),
            "directive" => {
                let definition = directive(&mut parser, description)?;
                document.directives.push(definition);
            }
            _ => {
                let definition = definition(&mut parser, description)?;
                document.definitions.push(definition);
            }
        }
    }
    document.comments = parser.comments();
    Ok(document)
}

fn extension<'a>(
    parser: &mut GraphqlParser<'a>,
    document: &mut SchemaDocument<'a>,
    description: Description<'a>,
) -> ParseResult<()> {
    parser.keyword("extend")?;
    let is_empty = if parser.text() == "schema" {
        let roots = roots(parser, description)?;
        let has_no_content = roots.directives.is_empty() && roots.operations.is_empty();
        document.schema_extensions.push(roots);
        has_no_content
    } else if parser.text() == "directive" {
        let extension = directive_extension(parser, description)?;
        let has_no_content = extension.directives.is_empty();
        document.directive_extensions.push(extension);
        has_no_content
    } else {
        let extension = definition(parser, description)?;
        let has_no_content = extension.directives.is_empty()
            && extension.interfaces.is_empty()
            && extension.fields.is_empty()
            && extension.types.is_empty()
            && extension.values.is_empty();
        document.extensions.push(extension);
        has_no_content
    };
    if is_empty {
        return Err(parser.unexpected());
    }
    Ok(())
}

fn roots<'a>(
    parser: &mut GraphqlParser<'a>,
    description: Description<'a>,
) -> ParseResult<RootOperations<'a>> {
    parser.keyword("schema")?;
    let position = parser.position();
    let directives = parser.directives(true)?;
    let operations = parser.some([b'{', b'}'], |parser| {
        let (comments, position) = (parser.comments(), parser.position());
        let operation = parser.operation_type()?;
        parser.expect(b':')?;
        Ok(RootOperation {
            comments,
            operation,
            of: parser.name()?,
            position,
        })
    })?;
    Ok(RootOperations {
        description,
        directives,
        operations,
        end: parser.before_close(),
        position,
    })
}

fn definition<'a>(
    parser: &mut GraphqlParser<'a>,
    description: Description<'a>,
) -> ParseResult<TypeDefinition<'a>> {
    let kind = match parser.text() {
        "scalar" => DefinitionKind::Scalar,
        "type" => DefinitionKind::Object,
        "interface" => DefinitionKind::Interface,
        "union" => DefinitionKind::Union,
        "enum" => DefinitionKind::Enum,
        "input" => DefinitionKind::Input,
        _ => return Err(parser.unexpected()),
    };
    if !parser.at_name() {
        return Err(parser.unexpected());
    }
    parser.take();
    let position = parser.position();
    let name = parser.name()?;
    let interfaces = match kind {
        DefinitionKind::Object | DefinitionKind::Interface => interfaces(parser)?,
        _ => Vec::new(),
    };
    let directives = parser.directives(true)?;
    let mut definition = TypeDefinition {
        kind,
        description,
        name,
        directives,
        interfaces,
        position,
        ..TypeDefinition::default()
    };
    match kind {
        DefinitionKind::Scalar => {}
        DefinitionKind::Object | DefinitionKind::Interface => {
            definition.fields = parser.some([b'{', b'}'], field)?;
            definition.end = parser.before_close();
        }
        DefinitionKind::Input => {
            definition.fields = parser.some([b'{', b'}'], input)?;
            definition.end = parser.before_close();
        }
        DefinitionKind::Union if parser.skip(b'=') => definition.types = names(parser, b'|')?,
        DefinitionKind::Union => {}
        DefinitionKind::Enum => {
            definition.values = parser.some([b'{', b'}'], value)?;
            definition.end = parser.before_close();
        }
    }
    Ok(definition)
}

/// Parses names separated by a sign. The sign may also precede the first name.
fn names<'a>(parser: &mut GraphqlParser<'a>, sign: u8) -> ParseResult<Vec<Reference<'a>>> {
    parser.skip(sign);
    let mut names = Vec::new();
    loop {
        let position = parser.position();
        names.push(Reference {
            name: parser.name()?,
            position,
        });
        if !parser.skip(sign) {
            return Ok(names);
        }
    }
}

fn interfaces<'a>(parser: &mut GraphqlParser<'a>) -> ParseResult<Vec<SourceText<'a>>> {
    if parser.text() != "implements" {
        return Ok(Vec::new());
    }
    parser.take();
    let names = names(parser, b'&')?;
    Ok(names.into_iter().map(|reference| reference.name).collect())
}

fn field<'a>(parser: &mut GraphqlParser<'a>) -> ParseResult<FieldDefinition<'a>> {
    let description = parser.description();
    let position = parser.position();
    let name = parser.name()?;
    let arguments = parser.some([b'(', b')'], input)?;
    parser.expect(b':')?;
    Ok(FieldDefinition {
        description,
        name,
        arguments,
        default: None,
        of: parser.of_type()?,
        directives: parser.directives(true)?,
        position,
    })
}

/// Parses a field of an input type, or an argument.
fn input<'a>(parser: &mut GraphqlParser<'a>) -> ParseResult<FieldDefinition<'a>> {
    let description = parser.description();
    let position = parser.position();
    let name = parser.name()?;
    parser.expect(b':')?;
    Ok(FieldDefinition {
        description,
        name,
        arguments: Vec::new(),
        of: parser.of_type()?,
        default: if parser.skip(b'=') {
            Some(parser.value(true)?)
        } else {
            None
        },
        directives: parser.directives(true)?,
        position,
    })
}

fn value<'a>(parser: &mut GraphqlParser<'a>) -> ParseResult<EnumValue<'a>> {
    let description = parser.description();
    let position = parser.position();
    Ok(EnumValue {
        description,
        name: parser.name()?,
        directives: parser.directives(true)?,
        position,
    })
}

fn directive<'a>(
    parser: &mut GraphqlParser<'a>,
    description: Description<'a>,
) -> ParseResult<DirectiveDefinition<'a>> {
    parser.keyword("directive")?;
    parser.expect(b'@')?;
    let position = parser.position();
    let name = parser.name()?;
    let arguments = parser.some([b'(', b')'], input)?;
    let directives = parser.directives(true)?;
    let repeatable = parser.text() == "repeatable";
    if repeatable {
        parser.take();
    }
    parser.keyword("on")?;
    parser.skip(b'|');
    let mut locations = Vec::new();
    loop {
        if parser.at_name() && !LOCATIONS.contains(&parser.text()) {
            return Err(parser.unexpected());
        }
        locations.push(parser.name()?);
        if !parser.skip(b'|') {
            break;
        }
    }
    Ok(DirectiveDefinition {
        description,
        name,
        arguments,
        directives,
        locations,
        repeatable,
        position,
    })
}

fn directive_extension<'a>(
    parser: &mut GraphqlParser<'a>,
    description: Description<'a>,
) -> ParseResult<DirectiveDefinition<'a>> {
    parser.keyword("directive")?;
    parser.expect(b'@')?;
    let position = parser.position();
    Ok(DirectiveDefinition {
        description,
        name: parser.name()?,
        directives: parser.directives(true)?,
        position,
        ..DirectiveDefinition::default()
    })
}
