//! GraphQL documents: `graphql.parse_query`, `graphql.parse_schema`, `graphql.schema_is_valid`.

use super::{Builtin, Call, Fault, Operands};
use crate::graphql::{self, Decode, Encode, Schema, SchemaDocument};
use crate::value::V;

/// This family's entries.
pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "graphql.parse_query",
        "query: string => output: object[any: any]",
        "The syntax tree of a GraphQL query.",
        parse_query,
    ),
    Builtin::new(
        "graphql.parse_schema",
        "schema: string => output: object[any: any]",
        "The syntax tree of a GraphQL schema.",
        parse_schema,
    ),
    Builtin::new(
        "graphql.schema_is_valid",
        "schema: any<string, object[any: any]> => output: boolean",
        "Whether a GraphQL schema, as text or as a syntax tree, is valid.",
        schema_is_valid,
    ),
];

fn parse_query<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let source = operands.text(0)?;
    let source = source.to_str();
    call.budget.spend_len(source.len())?;
    match graphql::parse_query(&source) {
        Ok(document) => Ok(document.encode(call.arena)),
        Err(problem) => Err(Fault::error(problem.to_string())),
    }
}

fn parse_schema<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let source = operands.text(0)?;
    let source = source.to_str();
    call.budget.spend_len(source.len())?;
    match graphql::parse_schema(&source) {
        Ok(document) => Ok(document.encode(call.arena)),
        Err(problem) => Err(Fault::error(problem.to_string())),
    }
}

fn schema_is_valid<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let operand = operands.at(0);
    let source = operand.as_text();
    let source = source.as_ref().map(|text| text.to_str());
    call.budget
        .spend_len(source.as_ref().map_or(0, |source| source.len()))?;
    let document = match &source {
        Some(source) => graphql::parse_schema(source),
        None => SchemaDocument::decode(operand, 0),
    };
    Ok(V::Bool(document.and_then(Schema::build).is_ok()))
}
