//! Parser of query documents.

use super::ast::{
    Comments, Description, FieldNode, FragmentDefinition, Inline, OperationDefinition,
    QueryDocument, Selection, SourceText, Spread, VariableDefinition,
};
use super::parser::{GraphqlParser, ParseResult};

/// Parses a query document.
///
/// # Errors
/// The first syntax error, with its position.
pub fn parse_query(source: &str) -> ParseResult<QueryDocument<'_>> {
    let mut parser = GraphqlParser::new(source);
    let mut document = QueryDocument::default();
    while !parser.at_end() {
        let error = parser.at_description().then(|| parser.unexpected());
        let description = parser.description();
        let at_name = parser.at_name();
        match parser.text() {
            "query" | "mutation" | "subscription" if at_name => {
                document
                    .operations
                    .push(operation(&mut parser, description)?);
            }
            "fragment" if at_name => {
                document.fragments.push(fragment(&mut parser, description)?);
            }
            _ if parser.is_at_sign(b'{') => {
                if let Some(error) = error {
                    return Err(parser.unexpected_description(&description, error));
                }
                let position = parser.position();
                document.operations.push(OperationDefinition {
                    operation: SourceText::Borrowed("query"),
                    selections: selections(&mut parser)?,
                    position,
                    ..OperationDefinition::default()
                });
            }
            _ => return Err(parser.unexpected()),
        }
    }
    Ok(document)
}

/// Returns the text of a description, and the comments on both sides of it.
fn with_comments(mut description: Description<'_>) -> (SourceText<'_>, Comments<'_>) {
    description.before.0.extend(description.after.0);
    (description.text, description.before)
}

fn operation<'a>(
    parser: &mut GraphqlParser<'a>,
    description: Description<'a>,
) -> ParseResult<OperationDefinition<'a>> {
    let position = parser.position();
    let (description, comments) = with_comments(description);
    Ok(OperationDefinition {
        comments,
        description,
        operation: parser.operation_type()?,
        name: if parser.at_name() {
            parser.name()?
        } else {
            SourceText::Borrowed("")
        },
        variables: variables(parser)?,
        directives: parser.directives(false)?,
        selections: required_selections(parser)?,
        position,
    })
}

fn fragment<'a>(
    parser: &mut GraphqlParser<'a>,
    description: Description<'a>,
) -> ParseResult<FragmentDefinition<'a>> {
    let position = parser.position();
    let (description, comments) = with_comments(description);
    parser.keyword("fragment")?;
    if parser.text() == "on" {
        return Err(parser.unexpected());
    }
    let name = parser.name()?;
    let variables = variables(parser)?;
    parser.keyword("on")?;
    Ok(FragmentDefinition {
        comments,
        description,
        name,
        variables,
        type_condition: parser.name()?,
        directives: parser.directives(false)?,
        selections: required_selections(parser)?,
        position,
    })
}

fn variables<'a>(parser: &mut GraphqlParser<'a>) -> ParseResult<Vec<VariableDefinition<'a>>> {
    parser.some([b'(', b')'], |parser| {
        let (description, comments) = with_comments(parser.description());
        let position = parser.position();
        parser.expect(b'$')?;
        let name = parser.name()?;
        parser.expect(b':')?;
        Ok(VariableDefinition {
            comments,
            description,
            name,
            of: parser.of_type()?,
            default: if parser.skip(b'=') {
                Some(parser.value(true)?)
            } else {
                None
            },
            directives: parser.directives(false)?,
            used: false,
            position,
        })
    })
}

fn selections<'a>(parser: &mut GraphqlParser<'a>) -> ParseResult<Vec<Selection<'a>>> {
    parser.nested(|parser| parser.some([b'{', b'}'], selection))
}

fn required_selections<'a>(parser: &mut GraphqlParser<'a>) -> ParseResult<Vec<Selection<'a>>> {
    if !parser.is_at_sign(b'{') {
        parser.expect(b'{')?;
    }
    selections(parser)
}

fn selection<'a>(parser: &mut GraphqlParser<'a>) -> ParseResult<Selection<'a>> {
    let comments = parser.comments();
    if !parser.skip(b'.') {
        return field(parser, comments).map(Selection::Field);
    }
    let position = parser.position();
    // the keyword of a condition may be quoted, which OPA accepts by accident
    let condition = parser.text() == "on";
    if parser.at_name() && !condition {
        return Ok(Selection::Spread(Spread {
            comments,
            name: parser.name()?,
            directives: parser.directives(false)?,
            position,
        }));
    }
    let type_condition = if condition {
        parser.take();
        parser.name()?
    } else {
        SourceText::Borrowed("")
    };
    Ok(Selection::Inline(Inline {
        comments,
        type_condition,
        directives: parser.directives(false)?,
        selections: required_selections(parser)?,
        position,
    }))
}

fn field<'a>(parser: &mut GraphqlParser<'a>, comments: Comments<'a>) -> ParseResult<FieldNode<'a>> {
    let position = parser.position();
    let alias = parser.name()?;
    let name = if parser.skip(b':') {
        parser.name()?
    } else {
        alias.clone()
    };
    Ok(FieldNode {
        comments,
        alias,
        name,
        arguments: parser.arguments(false)?,
        directives: parser.directives(false)?,
        selections: if parser.is_at_sign(b'{') {
            selections(parser)?
        } else {
            Vec::new()
        },
        position,
    })
}
