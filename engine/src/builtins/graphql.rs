//! GraphQL documents: `graphql.parse`, `graphql.is_valid`, and their parts.

use std::sync::{Arc, OnceLock};

use super::patterns::{CompiledPattern, Family};
use super::{Builtin, BuiltinContext, BuiltinError, Operands, Prepared};
use crate::graphql::{
    self, Decode, Encode, GraphqlError, GraphqlSchema, QueryDocument, SchemaDocument, TypeSystem,
};
use crate::value::{RefRepr, TextView, TextViewRepr, Value, ValueRef};

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "graphql.is_valid",
        "query: any<string, object[any: any]>, schema: any<string, object[any: any]> => output: boolean",
        "Returns `true` if a GraphQL query is valid for a schema, each as text or as a syntax tree.",
        |call, operands| is_valid(call, operands, None),
    )
    .specialise(|operands| prepare(operands, is_valid)),
    Builtin::new(
        "graphql.parse",
        "query: any<string, object[any: any]>, schema: any<string, object[any: any]> => output: array<object[any: any], object[any: any]>",
        "The syntax trees of a valid GraphQL query and of its schema.",
        |call, operands| parse(call, operands, None),
    )
    .specialise(|operands| prepare(operands, parse)),
    Builtin::new(
        "graphql.parse_and_verify",
        "query: any<string, object[any: any]>, schema: any<string, object[any: any]> => output: array<boolean, object[any: any], object[any: any]>",
        "The validity of a GraphQL query for a schema, and if it is valid the syntax trees of both.",
        |call, operands| parse_and_verify(call, operands, None),
    )
    .specialise(|operands| prepare(operands, parse_and_verify)),
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
        "Returns `true` if a GraphQL schema, as text or as a syntax tree, is valid.",
        schema_is_valid,
    ),
];

/// Memory of a schema, in lengths of its text.
const WEIGHT: usize = 16;

struct CompiledSchema {
    types: TypeSystem,
    length: usize,
    /// Syntax tree, created at its first use.
    tree: OnceLock<Value>,
}

impl CompiledPattern for CompiledSchema {
    fn bytes(&self) -> usize {
        self.length.saturating_mul(WEIGHT)
    }
}

impl CompiledSchema {
    fn new(text: &str) -> Result<Self, BuiltinError> {
        Ok(Self {
            types: types(graphql::parse_schema(text).map_err(worded)?)?,
            length: text.len(),
            tree: OnceLock::new(),
        })
    }
}

/// Function of a query and a schema, which may be constant.
type QueryCheck = for<'e> fn(
    &mut BuiltinContext<'e>,
    &[ValueRef<'e>],
    Option<&Arc<CompiledSchema>>,
) -> Result<ValueRef<'e>, BuiltinError>;

struct ConstantSchema {
    schema: Arc<CompiledSchema>,
    run: QueryCheck,
}

impl Prepared for ConstantSchema {
    fn call<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        (self.run)(call, operands, Some(&self.schema))
    }
}

fn prepare(operands: &[Option<ValueRef<'_>>], run: QueryCheck) -> Option<Arc<dyn Prepared>> {
    let text = operands.get(1).copied()??.as_text()?;
    let schema = Arc::new(CompiledSchema::new(&text.to_str()).ok()?);
    Some(Arc::new(ConstantSchema { schema, run }))
}

#[expect(clippy::needless_pass_by_value, reason = "it maps errors")]
fn worded(problem: impl ToString) -> BuiltinError {
    BuiltinError::error(problem.to_string())
}

fn types(document: SchemaDocument<'_>) -> Result<TypeSystem, BuiltinError> {
    match GraphqlSchema::build(document) {
        Ok(schema) => Ok(TypeSystem::new(&schema)),
        Err(GraphqlError { message, position }) => {
            let location = if position.has_source() {
                position.to_string()
            } else {
                "-1:-1".to_owned()
            };
            Err(BuiltinError::error(format!(
                "Error in gqlparser SchemaDocument to Schema conversion: input:{location}: {message}"
            )))
        }
    }
}

enum DocumentOperand<'e> {
    Text(&'e str),
    Tree(ValueRef<'e>),
}

impl<'e> DocumentOperand<'e> {
    fn new(
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
        position: u8,
    ) -> Result<Self, BuiltinError> {
        let operand = operands.operand(position);
        if operand.as_object().is_some() {
            return Ok(Self::Tree(operand));
        }
        let Some(text) = operand.as_text() else {
            // OPA counts operands from 0 here
            return Err(BuiltinError::operand(
                position,
                &["string", "object"],
                operand,
            ));
        };
        text_of(call, text).map(Self::Text)
    }
}

fn text_of<'e>(call: &mut BuiltinContext<'e>, text: TextView<'e>) -> Result<&'e str, BuiltinError> {
    call.budget.spend_len(text.as_bytes().len())?;
    Ok(match text {
        TextView(TextViewRepr::Utf8(text)) => text,
        other => call.arena.bump().alloc_str(&other.to_str()),
    })
}

fn query<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<QueryDocument<'e>, BuiltinError> {
    match DocumentOperand::new(call, operands, 0)? {
        DocumentOperand::Text(text) => graphql::parse_query(text),
        DocumentOperand::Tree(tree) => QueryDocument::decode(tree, 0),
    }
    .map_err(worded)
}

/// Schema operand of a call.
struct Schemed<'e> {
    compiled: Arc<CompiledSchema>,
    source: DocumentOperand<'e>,
}

impl<'e> Schemed<'e> {
    fn new(
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
        constant: Option<&Arc<CompiledSchema>>,
    ) -> Result<Self, BuiltinError> {
        let source = DocumentOperand::new(call, operands, 1)?;
        let compiled = match (&source, constant) {
            (_, Some(compiled)) => Arc::clone(compiled),
            (DocumentOperand::Text(text), None) => {
                call.patterns.get(Family::GraphQl, text.as_bytes(), || {
                    CompiledSchema::new(text)
                })?
            }
            (DocumentOperand::Tree(tree), None) => Arc::new(CompiledSchema {
                types: types(SchemaDocument::decode(*tree, 0).map_err(worded)?)?,
                length: 0,
                tree: OnceLock::new(),
            }),
        };
        Ok(Self { compiled, source })
    }

    /// Returns the syntax tree of the schema. The tree of a text is built once for each compiled schema and copied.
    ///
    /// # Errors
    /// The text or the tree is not a schema.
    fn tree(&self, call: &BuiltinContext<'e>) -> Result<ValueRef<'e>, BuiltinError> {
        let text = match self.source {
            DocumentOperand::Text(text) => text,
            DocumentOperand::Tree(tree) => {
                let document = SchemaDocument::decode(tree, 0).map_err(worded)?;
                return Ok(document.encode(call.arena));
            }
        };
        if let Some(tree) = self.compiled.tree.get() {
            return Ok(call.arena.copy_of(tree));
        }
        let tree = graphql::parse_schema(text).map_err(worded)?;
        let tree = tree.encode(call.arena);
        self.compiled.tree.get_or_init(|| tree.to_value());
        Ok(tree)
    }
}

/// Returns the syntax trees of a query and a schema, if the query is valid.
fn check_and_encode<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
    constant: Option<&Arc<CompiledSchema>>,
    check: impl FnOnce(&TypeSystem, &QueryDocument<'e>) -> Result<(), BuiltinError>,
) -> Result<[ValueRef<'e>; 2], BuiltinError> {
    let query = query(call, operands)?;
    let schema = Schemed::new(call, operands, constant)?;
    check(&schema.compiled.types, &query)?;
    Ok([query.encode(call.arena), schema.tree(call)?])
}

fn parse<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
    constant: Option<&Arc<CompiledSchema>>,
) -> Result<ValueRef<'e>, BuiltinError> {
    let trees = check_and_encode(call, operands, constant, |types, query| {
        graphql::validate(types, query).map_err(worded)
    })?;
    Ok(call.arena.array(&trees))
}

fn parse_and_verify<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
    constant: Option<&Arc<CompiledSchema>>,
) -> Result<ValueRef<'e>, BuiltinError> {
    let trees = check_and_encode(call, operands, constant, |types, query| {
        let valid = graphql::is_valid(types, query);
        valid.then_some(()).ok_or(BuiltinError::Undefined)
    });
    let (valid, [query, schema]) = match trees {
        Ok(trees) => (true, trees),
        Err(BuiltinError::Halt(halt)) => return Err(BuiltinError::Halt(halt)),
        Err(_) => (false, [call.arena.object_from([]); 2]),
    };
    Ok(call
        .arena
        .array(&[ValueRef(RefRepr::Bool(valid)), query, schema]))
}

fn is_valid<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
    constant: Option<&Arc<CompiledSchema>>,
) -> Result<ValueRef<'e>, BuiltinError> {
    let mut valid = || {
        let query = query(call, operands)?;
        let schema = Schemed::new(call, operands, constant)?;
        Ok(graphql::is_valid(&schema.compiled.types, &query))
    };
    match valid() {
        Err(BuiltinError::Halt(halt)) => Err(BuiltinError::Halt(halt)),
        valid => Ok(ValueRef(RefRepr::Bool(valid.unwrap_or(false)))),
    }
}

fn parse_query<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = text_of(call, operands.text(0)?)?;
    let document = graphql::parse_query(text).map_err(worded)?;
    Ok(document.encode(call.arena))
}

fn parse_schema<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = text_of(call, operands.text(0)?)?;
    let document = graphql::parse_schema(text).map_err(worded)?;
    Ok(document.encode(call.arena))
}

fn schema_is_valid<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let document = match DocumentOperand::new(call, operands, 0) {
        Ok(DocumentOperand::Text(text)) => graphql::parse_schema(text),
        Ok(DocumentOperand::Tree(tree)) => SchemaDocument::decode(tree, 0),
        Err(BuiltinError::Halt(halt)) => return Err(BuiltinError::Halt(halt)),
        Err(_) => return Ok(ValueRef(RefRepr::Bool(false))),
    };
    Ok(ValueRef(RefRepr::Bool(
        document.and_then(GraphqlSchema::build).is_ok(),
    )))
}
