//! Validation rules for values and uses of variables.

use hashbrown::HashSet;

use super::super::ast::{DefinitionKind, TypeReference, ValueKind, ValueNode, VariableDefinition};
use super::super::parser::ParseResult;
use super::super::type_system::TypeDef;
use super::suggestions::HINT;
use super::{DocumentValidator, Expected};
use crate::index::Indexed as _;

const ENUM_HINT: &str = "Did you mean the enum value";

impl<'d> DocumentValidator<'d> {
    /// Checks a value, after its children. Returns `true` if it can be read. `inner` is the result for the children.
    pub(super) fn value_rules(
        &mut self,
        value: &'d ValueNode<'d>,
        expected: Option<Expected<'d>>,
        inner: bool,
    ) -> ParseResult<bool> {
        let mut readable = inner && is_readable(value);
        let mut variable = None;
        match value.kind {
            ValueKind::VariableDefinition => {
                variable = self.use_of_variable(value)?;
                readable = !self.memory.unreadable.contains(&std::ptr::from_ref(value));
            }
            ValueKind::Object => self.unique_fields(value)?,
            _ => {}
        }
        if let Some(expected) = expected {
            if let Some(target) = expected.target {
                self.correct(value, expected.of, target, readable)?;
            }
            if let Some(variable) = variable {
                self.allowed(value, variable, expected)?;
            }
            if let Some(target) = expected.target.filter(|target| target.one_of) {
                self.never_null(value, target)?;
            }
        }
        Ok(readable)
    }

    /// Returns the variable that a value uses, if the current operation declares it.
    fn use_of_variable(
        &mut self,
        value: &'d ValueNode<'d>,
    ) -> ParseResult<Option<&'d VariableDefinition<'d>>> {
        let Some(scope) = &mut self.scope else {
            return Ok(None);
        };
        let operation = scope.operation;
        let index_of_variable = scope.variables.get(value.raw.as_ref()).copied();
        let variable = index_of_variable.and_then(|index| operation.variables.get(index));
        match variable {
            Some(variable) => _ = self.memory.declared.insert(value, variable),
            None => _ = self.memory.declared.remove(&std::ptr::from_ref(value)),
        }
        let unreadable = index_of_variable.is_some_and(|index| scope.unreadable.contains(&index));
        if unreadable {
            self.memory.unreadable.insert(value);
        } else {
            self.memory.unreadable.remove(&std::ptr::from_ref(value));
        }
        if let Some(index) = index_of_variable {
            *scope.used.item_mut(index) = true;
            return Ok(variable);
        }
        let suffix = match operation.name.as_ref() {
            "" => String::new(),
            name => format!(" by operation \"{name}\""),
        };
        let message = format!("Variable \"{value}\" is not defined{suffix}.");
        self.report(message, value.position)?;
        Ok(None)
    }

    /// Checks that a variable is allowed at its position.
    fn allowed(
        &mut self,
        value: &'d ValueNode<'d>,
        variable: &'d VariableDefinition<'d>,
        expected: Expected<'d>,
    ) -> ParseResult<()> {
        let default = variable.default.as_ref();
        let never_null =
            expected.has_default || default.is_some_and(|value| value.kind != ValueKind::Null);
        let non_null = expected.of.non_null && !never_null;
        if !fits(&variable.of, expected.of, non_null) {
            let message = format!(
                "Variable \"{value}\" of type \"{}\" used in position expecting type \"{}\".",
                variable.of, expected.of
            );
            return self.report(message, value.position);
        }
        Ok(())
    }

    /// Checks the variables in an object with exactly one field.
    fn never_null(&mut self, value: &'d ValueNode<'d>, target: &'d TypeDef) -> ParseResult<()> {
        for field in &value.children {
            let variable_of_value = self.memory.declared.get(&std::ptr::from_ref(&field.value));
            let Some(variable) = variable_of_value.filter(|variable| !variable.of.non_null) else {
                continue;
            };
            let message = format!(
                "Variable \"{}\" is of type \"{}\" but must be non-nullable to be used for OneOf Input Object \"{}\".",
                field.value, variable.of, target.name
            );
            self.report(message, variable.position)?;
        }
        Ok(())
    }

    fn unique_fields(&mut self, value: &'d ValueNode<'d>) -> ParseResult<()> {
        let mut names = HashSet::new();
        for field in &value.children {
            if !names.insert(field.name.as_ref()) {
                let message = format!(
                    "There can be only one input field named \"{}\".",
                    field.name
                );
                self.report(message, field.position)?;
            }
        }
        Ok(())
    }

    /// Checks that a value has a type, and reports where it has not.
    fn correct(
        &mut self,
        value: &'d ValueNode<'d>,
        ty: &'d TypeReference<'d>,
        target: &'d TypeDef,
        readable: bool,
    ) -> ParseResult<()> {
        let position = value.position;
        if value.kind == ValueKind::Null && ty.non_null {
            let message = format!("Expected value of type \"{ty}\", found {value}.");
            self.report(message, position)?;
        }
        let name = target.name.as_ref();
        let scalar = target.kind == DefinitionKind::Scalar;
        if scalar && !matches!(name, "Int" | "Float" | "String" | "Boolean" | "ID") {
            return Ok(());
        }
        if !readable {
            self.report(mismatch(value, ty, target), position)?;
        }
        let is_enum = target.kind == DefinitionKind::Enum;
        let right = match value.kind {
            ValueKind::Null | ValueKind::VariableDefinition => true,
            ValueKind::List => ty.element.is_some(),
            ValueKind::Int => matches!(name, "Int" | "Float" | "ID"),
            ValueKind::Float => name == "Float",
            ValueKind::Boolean => name == "Boolean",
            ValueKind::String | ValueKind::Block if is_enum => {
                let message = format!("Enum \"{ty}\" cannot represent non-enum value: {value}.");
                let hint =
                    self.near_names(ENUM_HINT, &value.raw, target.values.names(), position)?;
                return self.report(message + &hint, position);
            }
            ValueKind::String | ValueKind::Block => matches!(name, "String" | "ID"),
            ValueKind::Enum if is_enum && target.values.get(&value.raw).is_none() => {
                let message = format!("Value \"{value}\" does not exist in \"{ty}\" enum.");
                let hint =
                    self.near_names(ENUM_HINT, &value.raw, target.values.names(), position)?;
                return self.report(message + &hint, position);
            }
            ValueKind::Enum => is_enum,
            ValueKind::Object => return self.object(value, target),
        };
        if !right {
            self.report(mismatch(value, ty, target), position)?;
        }
        Ok(())
    }

    fn object(&mut self, value: &'d ValueNode<'d>, target: &'d TypeDef) -> ParseResult<()> {
        let names: HashSet<&str> = value
            .children
            .iter()
            .map(|child| child.name.as_ref())
            .collect();
        for (name, field) in target.fields.iter() {
            if field.of.non_null && field.default.is_none() && !names.contains(name) {
                let message = format!(
                    "Field \"{}.{name}\" of required type \"{}\" was not provided.",
                    target.name, field.of
                );
                self.report(message, value.position)?;
            }
        }
        if target.one_of {
            match value.children.as_slice() {
                [child] if child.value.kind == ValueKind::Null => {
                    // OPA's message names the first field of the type
                    let name = target.fields.names().next().unwrap_or_default();
                    let message = format!("Field \"{}.{name}\" must be non-null.", target.name);
                    self.report(message, child.value.position)?;
                }
                [_] => {}
                _ => {
                    let message = format!(
                        "OneOf Input Object \"{}\" must specify exactly one key.",
                        target.name
                    );
                    self.report(message, value.position)?;
                }
            }
        }
        for field in &value.children {
            let (name, position) = (field.name.as_ref(), field.position);
            if target.fields.get(name).is_none() {
                let names = target.fields.names();
                let hint = self.near_names(HINT, name, names, position)?;
                let message = format!(
                    "Field \"{name}\" is not defined by type \"{}\".{hint}",
                    target.name
                );
                self.report(message, position)?;
            }
        }
        Ok(())
    }
}

/// Returns `true` if a variable of one type is allowed where another type is expected.
fn fits(ty: &TypeReference<'_>, expected: &TypeReference<'_>, non_null: bool) -> bool {
    let inner = match (&ty.element, &expected.element) {
        (Some(ty), Some(expected)) => fits(ty, expected, expected.non_null),
        (None, None) => ty.name == expected.name,
        _ => false,
    };
    inner && (ty.non_null || !non_null)
}

/// Returns `true` if a number is in range. Other scalars always are.
fn is_readable(value: &ValueNode<'_>) -> bool {
    match value.kind {
        ValueKind::Int => value.raw.parse::<i64>().is_ok(),
        ValueKind::Float => value.raw.parse::<f64>().is_ok_and(f64::is_finite),
        _ => true,
    }
}

/// Returns `true` if a value and all its children can be read.
pub(super) fn is_wholly_readable(value: &ValueNode<'_>) -> bool {
    let mut children = value.children.iter();
    is_readable(value) && children.all(|child| is_wholly_readable(&child.value))
}

fn mismatch(value: &ValueNode<'_>, ty: &TypeReference<'_>, target: &TypeDef) -> String {
    let core = ty.to_string();
    match core.strip_suffix('!').unwrap_or(&core) {
        "Int" if value.kind == ValueKind::Int && value.raw.parse::<i32>().is_err() => {
            format!("Int cannot represent non 32-bit signed integer value: {value}")
        }
        "Int" => format!("Int cannot represent non-integer value: {value}"),
        "String" => format!("String cannot represent a non string value: {value}"),
        "Boolean" => format!("Boolean cannot represent a non boolean value: {value}"),
        "Float" => format!("Float cannot represent non numeric value: {value}"),
        "ID" => format!("ID cannot represent a non-string and non-integer value: {value}"),
        _ if core == "[String]" => format!("String cannot represent a non string value: {value}"),
        _ if target.kind == DefinitionKind::Enum => {
            format!("Enum \"{ty}\" cannot represent non-enum value: {value}.")
        }
        _ => format!("Expected value of type \"{ty}\", found {value}."),
    }
}
