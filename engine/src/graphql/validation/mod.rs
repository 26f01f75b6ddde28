//! Validates queries against schemas.
//!
//! Traverses the document once, and each fragment again for each of its spreads, as OPA does: children are visited
//! before their node, and at each node the rules run in the order of their names. So errors are in OPA's order.

mod arguments;
mod fields;
mod fragments;
mod operations;
mod overlaps;
mod suggestions;
mod values;

use hashbrown::{HashMap, HashSet};

use super::ast::{
    ArgumentNode, DirectiveNode, FieldNode, FragmentDefinition, Inline, OperationDefinition,
    QueryDocument, Selection, SourcePosition, Spread, TypeReference, ValueKind, ValueNode,
    VariableDefinition,
};
use super::parser::ParseResult;
use super::problem::{GraphqlError, Problems};
use super::type_system::{InputOrField, TypeDef, TypeSystem};
use crate::limits;

/// Validates a query.
///
/// Fragments are visited again for each spread. The number of steps and the nesting are limited.
///
/// # Errors
/// All problems, in the order in which OPA reports them. Exceeding a limit is one of them.
pub fn validate(types: &TypeSystem, document: &QueryDocument<'_>) -> Result<(), Problems> {
    let mut validator = DocumentValidator::new(types, document, false);
    validator.document()?;
    match validator.problems {
        problems if problems.is_empty() => Ok(()),
        problems => Err(Problems(problems)),
    }
}

/// Returns `true` if a query is valid. Stops at the first error.
pub fn is_valid(types: &TypeSystem, document: &QueryDocument<'_>) -> bool {
    DocumentValidator::new(types, document, true)
        .document()
        .is_ok()
}

struct DocumentValidator<'d> {
    types: &'d TypeSystem,
    document: &'d QueryDocument<'d>,
    /// First fragment with each name.
    fragments: HashMap<&'d str, &'d FragmentDefinition<'d>>,
    /// Current operation. `None` while a fragment is validated on its own.
    scope: Option<OperationScope<'d>>,
    /// Fragments visited since the operation began.
    visited_fragments: HashSet<&'d str>,
    depth: usize,
    steps: usize,
    /// `true` to stop at the first error.
    first_only: bool,
    problems: Vec<GraphqlError>,
    memory: ValidationState<'d>,
}

struct OperationScope<'d> {
    operation: &'d OperationDefinition<'d>,
    /// First variable with each name.
    variables: HashMap<&'d str, usize>,
    used: Vec<bool>,
    /// Variables whose defaults cannot be read.
    unreadable: HashSet<usize>,
}

/// State of rules that applies to several nodes.
#[derive(Default)]
struct ValidationState<'d> {
    operations: HashSet<&'d str>,
    fragments: HashSet<&'d str>,
    spread: HashSet<&'d str>,
    /// `true` until the first fragment has been validated on its own. Until then, spreads count as uses of fragments.
    spreads_counted: bool,
    searched_for_cycles: HashSet<&'d str>,
    misplaced: HashSet<*const DirectiveNode<'d>>,
    /// Uses of variables whose defaults cannot be read, as of the last operation that visited them.
    unreadable: HashSet<*const ValueNode<'d>>,
    overlaps: overlaps::Compared<'d>,
    /// Declarations of the variables in values, from the operation that was visited last.
    declared: HashMap<*const ValueNode<'d>, &'d VariableDefinition<'d>>,
    /// `true` if introspection in a fragment nests too deep, by name and number of enclosing lists.
    too_deep: HashMap<(&'d str, usize), bool>,
}

#[derive(Clone, Copy)]
struct Expected<'d> {
    of: &'d TypeReference<'d>,
    target: Option<&'d TypeDef>,
    has_default: bool,
}

impl<'d> DocumentValidator<'d> {
    fn new(types: &'d TypeSystem, document: &'d QueryDocument<'d>, first_only: bool) -> Self {
        let mut fragments = HashMap::with_capacity(document.fragments.len());
        for fragment in &document.fragments {
            fragments.entry(fragment.name.as_ref()).or_insert(fragment);
        }
        Self {
            types,
            document,
            fragments,
            scope: None,
            visited_fragments: HashSet::default(),
            depth: 0,
            steps: limits::GRAPHQL_STEPS,
            first_only,
            problems: Vec::new(),
            memory: ValidationState::default(),
        }
    }

    fn report(&mut self, message: String, position: SourcePosition) -> ParseResult<()> {
        self.spend(message.len(), position)?;
        let problem = GraphqlError::new(message, position);
        if self.first_only {
            return Err(problem);
        }
        self.problems.push(problem);
        Ok(())
    }

    /// Charges nodes that are visited again.
    fn visit(&mut self, nodes: usize, position: SourcePosition) -> ParseResult<()> {
        if self.visited_fragments.is_empty() {
            return Ok(());
        }
        self.spend(nodes, position)
    }

    /// Charges work that may grow faster than the document.
    fn spend(&mut self, steps: usize, position: SourcePosition) -> ParseResult<()> {
        match self.steps.checked_sub(steps) {
            Some(remaining) => {
                self.steps = remaining;
                Ok(())
            }
            None => Err(GraphqlError::new(
                "takes too long to validate".into(),
                position,
            )),
        }
    }

    /// Descends one level, on a new stack if necessary.
    fn nested<T>(
        &mut self,
        position: SourcePosition,
        run: impl FnOnce(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<T> {
        if self.depth == limits::GRAPHQL_NESTING {
            return Err(GraphqlError::new("nested too deep".into(), position));
        }
        self.depth += 1;
        let result =
            stacker::maybe_grow(limits::VALUE_STACK / 4, limits::VALUE_STACK, || run(self));
        self.depth -= 1;
        result
    }

    fn document(&mut self) -> ParseResult<()> {
        self.memory.spreads_counted = true;
        for operation in &self.document.operations {
            self.visited_fragments.clear();
            self.operation(operation)?;
        }
        for fragment in &self.document.fragments {
            self.visited_fragments.clear();
            self.fragment(fragment)?;
        }
        Ok(())
    }

    fn operation(&mut self, operation: &'d OperationDefinition<'d>) -> ParseResult<()> {
        let mut variables = HashMap::with_capacity(operation.variables.len());
        let mut unreadable = HashSet::new();
        for (index, variable) in operation.variables.iter().enumerate() {
            variables.entry(variable.name.as_ref()).or_insert(index);
            let default = variable.default.as_ref();
            if default.is_some_and(|default| !values::is_wholly_readable(default)) {
                unreadable.insert(index);
            }
            self.variable_rules(variable)?;
        }
        self.scope = Some(OperationScope {
            operation,
            variables,
            used: operation
                .variables
                .iter()
                .map(|variable| variable.used)
                .collect(),
            unreadable,
        });
        for variable in &operation.variables {
            if let Some(default) = &variable.default {
                let expected = Expected {
                    of: &variable.of,
                    target: self.types.get(variable.of.named()),
                    has_default: false,
                };
                self.value(default, Some(expected))?;
            }
            self.directives(&variable.directives, "VARIABLE_DEFINITION")?;
        }
        let location = match operation.operation.as_ref() {
            "mutation" => "MUTATION",
            "subscription" => "SUBSCRIPTION",
            _ => "QUERY",
        };
        self.directives(&operation.directives, location)?;
        let root = self.types.root(operation.kind());
        self.selections(root, &operation.selections, operation.position)?;
        let is_used = self.scope.as_ref().map(|scope| scope.used.clone());
        self.operation_rules(operation, root, &is_used.unwrap_or_default())?;
        self.scope = None;
        Ok(())
    }

    fn fragment(&mut self, fragment: &'d FragmentDefinition<'d>) -> ParseResult<()> {
        let ty = self.types.get(&fragment.type_condition);
        self.directives(&fragment.directives, "FRAGMENT_DEFINITION")?;
        self.selections(ty, &fragment.selections, fragment.position)?;
        self.fragment_rules(fragment, ty)
    }

    fn directives(
        &mut self,
        directives: &'d [DirectiveNode<'d>],
        location: &'static str,
    ) -> ParseResult<()> {
        for directive in directives {
            let definition = self.types.directive(&directive.name);
            for argument in &directive.arguments {
                let member = definition.and_then(|directive_definition| {
                    directive_definition.arguments.get(&argument.name)
                });
                self.argument(argument, member)?;
            }
            self.directive_rules(directive, definition, location)?;
        }
        self.unique_directives(directives)
    }

    fn argument(
        &mut self,
        argument: &'d ArgumentNode<'d>,
        member: Option<&'d InputOrField>,
    ) -> ParseResult<()> {
        let expected = member.map(|member| self.expected(member));
        self.value(&argument.value, expected)?;
        Ok(())
    }

    fn expected(&self, member: &'d InputOrField) -> Expected<'d> {
        Expected {
            of: &member.of,
            target: self.types.target(member),
            has_default: member.default.is_some_and(|kind| kind != ValueKind::Null),
        }
    }

    /// Returns `true` if the value can be read, so that its type can be checked.
    fn value(
        &mut self,
        value: &'d ValueNode<'d>,
        expected: Option<Expected<'d>>,
    ) -> ParseResult<bool> {
        self.visit(1, value.position)?;
        let mut readable = true;
        for child in &value.children {
            let expected = match value.kind {
                ValueKind::Object => {
                    let ty = expected.and_then(|expected| expected.target);
                    ty.and_then(|ty| ty.fields.get(&child.name))
                        .map(|member| self.expected(member))
                }
                ValueKind::List => expected.and_then(|expected| {
                    let ty = expected.of.element.as_deref()?;
                    Some(Expected {
                        of: ty,
                        has_default: false,
                        ..expected
                    })
                }),
                _ => break,
            };
            readable &= self.nested(value.position, |validator| {
                validator.value(&child.value, expected)
            })?;
        }
        self.value_rules(value, expected, readable)
    }

    fn selections(
        &mut self,
        parent: Option<&'d TypeDef>,
        selections: &'d [Selection<'d>],
        position: SourcePosition,
    ) -> ParseResult<()> {
        if selections.is_empty() {
            return Ok(());
        }
        self.visit(selections.len(), position)?;
        self.nested(position, |validator| {
            selections.iter().try_for_each(|selection| match selection {
                Selection::Field(field) => validator.field(parent, field),
                Selection::Inline(inline) => validator.inline(parent, inline),
                Selection::Spread(spread) => validator.spread(parent, spread),
            })
        })
    }

    fn field(&mut self, parent: Option<&'d TypeDef>, field: &'d FieldNode<'d>) -> ParseResult<()> {
        let definition = self.types.field(parent, &field.name);
        let ty = definition.and_then(|field_definition| self.types.target(field_definition));
        for argument in &field.arguments {
            let member = definition
                .and_then(|field_definition| field_definition.arguments.get(&argument.name));
            self.argument(argument, member)?;
        }
        self.directives(&field.directives, "FIELD")?;
        self.selections(ty, &field.selections, field.position)?;
        self.field_rules(parent, definition, field)
    }

    fn inline(&mut self, parent: Option<&'d TypeDef>, inline: &'d Inline<'d>) -> ParseResult<()> {
        let ty = self.inline_type(parent, inline);
        self.directives(&inline.directives, "INLINE_FRAGMENT")?;
        self.selections(ty, &inline.selections, inline.position)?;
        self.inline_rules(parent, ty, inline)
    }

    /// Returns the type of an inline fragment's selections.
    fn inline_type(&self, parent: Option<&'d TypeDef>, inline: &Inline<'_>) -> Option<&'d TypeDef> {
        if inline.type_condition.is_empty() {
            parent
        } else {
            self.types.get(&inline.type_condition)
        }
    }

    fn spread(&mut self, parent: Option<&'d TypeDef>, spread: &'d Spread<'d>) -> ParseResult<()> {
        self.directives(&spread.directives, "FRAGMENT_SPREAD")?;
        let fragment = self.fragments.get(spread.name.as_ref()).copied();
        if let Some(fragment) = fragment
            && self.visited_fragments.insert(&fragment.name)
        {
            let ty = self.types.get(&fragment.type_condition);
            self.directives(&fragment.directives, "FRAGMENT_DEFINITION")?;
            self.selections(ty, &fragment.selections, spread.position)?;
        }
        self.spread_rules(parent, fragment, spread)
    }
}
