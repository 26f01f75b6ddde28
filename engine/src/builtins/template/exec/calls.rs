//! Function calls of templates, and conversions of their arguments.

use super::{ExecResult, Executor};
use crate::bug::bug;
use crate::builtins::BuiltinError;
use crate::builtins::template::data::Data;
use crate::builtins::template::functions::{self, CallFailure};
use crate::builtins::template::tree::{Command, OperandKind, TemplateOperand};
use crate::value::{RefRepr, ValueRef};

impl<'t, 'e> Executor<'_, 't, 'e> {
    /// Calls a function. Messages show `command`, or the operand itself if it is `None`.
    pub(super) fn function(
        &mut self,
        name: &str,
        command: Option<&Command>,
        operand: &'t TemplateOperand,
        arguments: &'t [TemplateOperand],
        dot: Data<'e>,
        last: Option<Data<'e>>,
    ) -> ExecResult<'e> {
        let (min_arguments, is_variadic) = functions::arity(name)
            .unwrap_or_else(|| bug!("a function that is not known is called"));
        let argument_count = arguments.len() + usize::from(last.is_some());
        if argument_count < min_arguments || !is_variadic && argument_count != min_arguments {
            let at_least = if is_variadic { "at least " } else { "" };
            let message = format!(
                "wrong number of args for {name}: want {at_least}{min_arguments} got {}",
                arguments.len()
            );
            return self.fail(operand.position, operand, &message);
        }
        if matches!(name, "and" | "or") {
            return self.short_circuit(name == "or", arguments, dot, last);
        }
        let mut values = Vec::with_capacity(argument_count);
        for (index, argument) in arguments.iter().enumerate() {
            let is_format = name == "printf" && index == 0;
            values.push(if is_format {
                self.format_argument(argument, dot)?
            } else {
                self.argument(argument, dot)?
            });
        }
        if let Some(last) = last {
            if name == "printf" && values.is_empty() {
                self.check_format(last, operand)?;
            }
            values.push(last);
        }
        let callee = match arguments.first() {
            Some(argument) => argument.to_string(),
            None => values
                .last()
                .and_then(|value| value.text())
                .map(|text| String::from_utf8_lossy(&text).into_owned())
                .unwrap_or_default(),
        };
        match functions::call(self.call, name, &callee, &values) {
            Ok(value) => Ok(value),
            Err(CallFailure::Evaluation(error)) => Err(error),
            Err(CallFailure::Message(message)) => {
                let message = format!("error calling {name}: {message}");
                match command {
                    Some(command) => self.fail(command.position, command, &message),
                    None => self.fail(operand.position, operand, &message),
                }
            }
        }
    }

    fn argument(&mut self, argument: &'t TemplateOperand, dot: Data<'e>) -> ExecResult<'e> {
        self.call.budget.step()?;
        self.operand(argument, dot, false)
    }

    /// Evaluates the format of `printf`, which must be a string.
    fn format_argument(&mut self, argument: &'t TemplateOperand, dot: Data<'e>) -> ExecResult<'e> {
        match &argument.kind {
            OperandKind::Nil => {
                self.fail(argument.position, argument, "cannot assign nil to string")
            }
            OperandKind::Bool(_) | OperandKind::Number(..) => {
                let message = format!("expected string; found {argument}");
                self.fail(argument.position, argument, &message)
            }
            _ => {
                let value = self.argument(argument, dot)?;
                self.check_format(value, argument)?;
                Ok(value)
            }
        }
    }

    fn check_format(&self, value: Data<'e>, operand: &TemplateOperand) -> Result<(), BuiltinError> {
        let value = match value {
            Data::Element(ValueRef(RefRepr::Null)) => value,
            value => value.concrete(),
        };
        if value.document().is_some_and(|value| value.is_string()) {
            return Ok(());
        }
        let message = if value.is_missing() {
            "invalid value; expected string".to_owned()
        } else {
            let type_name = value.type_name();
            format!("wrong type for value; expected string; got {type_name}")
        };
        self.fail(operand.position, operand, &message)
    }

    /// Evaluates `and` and `or`: the first value that decides, or else the last one.
    fn short_circuit(
        &mut self,
        stop_value: bool,
        arguments: &'t [TemplateOperand],
        dot: Data<'e>,
        last: Option<Data<'e>>,
    ) -> ExecResult<'e> {
        let mut value = Data::Missing;
        for argument in arguments {
            value = self.argument(argument, dot)?;
            if value.is_truthy() == stop_value {
                return Ok(value);
            }
        }
        Ok(last.unwrap_or(value))
    }
}
