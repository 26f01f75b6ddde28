//! GraphQL documents: `graphql.parse_query`, `graphql.parse_schema`.

use super::{Builtin, Call, Fault, Operands};
use crate::graphql::{self, Encode};
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
