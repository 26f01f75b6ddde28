//! Validation rules for operations and their variables.

use hashbrown::HashSet;

use super::super::ast::{OperationDefinition, Selection, VariableDefinition};
use super::super::parser::ParseResult;
use super::super::type_system::TypeDef;
use super::DocumentValidator;
use crate::value::display::quote;

impl<'d> DocumentValidator<'d> {
    /// Checks a variable, before the rest of its operation.
    pub(super) fn variable_rules(
        &mut self,
        variable: &'d VariableDefinition<'d>,
    ) -> ParseResult<()> {
        let name = variable.of.named();
        if self.types.get(name).is_none() {
            let message = format!("Unknown type \"{name}\".");
            return self.report(message, variable.position);
        }
        Ok(())
    }

    /// Checks an operation. `is_used` contains a flag for each variable.
    pub(super) fn operation_rules(
        &mut self,
        operation: &'d OperationDefinition<'d>,
        root: Option<&'d TypeDef>,
        is_used: &[bool],
    ) -> ParseResult<()> {
        if root.is_none() {
            let message = format!(
                "Schema does not support operation type \"{}\"",
                operation.operation
            );
            self.report(message, operation.position)?;
        }
        if operation.name.is_empty() && self.document.operations.len() > 1 {
            let message = "This anonymous operation must be the only defined operation.";
            self.report(message.into(), operation.position)?;
        }
        self.unused_variables(operation, is_used)?;
        self.overlaps(root, &operation.selections)?;
        self.single_subscription(operation)?;
        if !self.memory.operations.insert(&operation.name) {
            let message = format!(
                "There can be only one operation named \"{}\".",
                operation.name
            );
            self.report(message, operation.position)?;
        }
        self.unique_variables(operation)?;
        for variable in &operation.variables {
            let ty = self.types.get(variable.of.named());
            if ty.is_some_and(|ty| !ty.kind.is_input()) {
                let message = format!(
                    "Variable \"${}\" cannot be non-input type \"{}\".",
                    variable.name, variable.of
                );
                self.report(message, variable.position)?;
            }
        }
        Ok(())
    }

    fn unused_variables(
        &mut self,
        operation: &'d OperationDefinition<'d>,
        is_used: &[bool],
    ) -> ParseResult<()> {
        for (variable, _) in operation
            .variables
            .iter()
            .zip(is_used)
            .filter(|pair| !pair.1)
        {
            let suffix = match operation.name.as_ref() {
                "" => String::new(),
                name => format!(" in operation \"{name}\""),
            };
            let message = format!("Variable \"${}\" is never used{suffix}.", variable.name);
            self.report(message, variable.position)?;
        }
        Ok(())
    }

    fn unique_variables(&mut self, operation: &'d OperationDefinition<'d>) -> ParseResult<()> {
        let (mut names, mut reported) = (HashSet::new(), HashSet::new());
        for variable in &operation.variables {
            let name = variable.name.as_ref();
            if !names.insert(name) && reported.insert(name) {
                let message = format!("There can be only one variable named \"${name}\".");
                self.report(message, variable.position)?;
            }
        }
        Ok(())
    }

    /// Checks that a subscription selects one field.
    fn single_subscription(&mut self, operation: &'d OperationDefinition<'d>) -> ParseResult<()> {
        if operation.operation != "subscription" || self.types.root("subscription").is_none() {
            return Ok(());
        }
        let mut name = String::from("Anonymous Subscription");
        if !operation.name.is_empty() {
            name = String::from("Subscription ");
            // writing to a string does not fail
            let _ = quote(operation.name.as_bytes(), &mut name);
        }
        let mut fields = Vec::new();
        let mut names = HashSet::new();
        let mut spread = HashSet::new();
        let mut levels = vec![operation.selections.iter()];
        while let Some(level) = levels.last_mut() {
            match level.next() {
                None => _ = levels.pop(),
                Some(Selection::Field(field)) => {
                    if names.insert(field.name.as_ref()) {
                        fields.push(field);
                    }
                }
                Some(Selection::Inline(inline)) => levels.push(inline.selections.iter()),
                Some(Selection::Spread(spread_node)) => {
                    match self.fragments.get(spread_node.name.as_ref()) {
                        Some(fragment) if spread.insert(spread_node.name.as_ref()) => {
                            levels.push(fragment.selections.iter());
                        }
                        Some(_) => {}
                        // as in OPA, the rest of its level is not searched
                        None => _ = levels.pop(),
                    }
                }
            }
        }
        if let Some(second) = fields.get(1) {
            let message = format!("{name} must select only one top level field.");
            self.report(message, second.position)?;
        }
        for field in fields.iter().filter(|field| field.name.starts_with("__")) {
            let message = format!("{name} must not select an introspection top level field.");
            self.report(message, field.position)?;
        }
        Ok(())
    }
}
