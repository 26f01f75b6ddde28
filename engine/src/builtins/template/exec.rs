//! Executes templates as Go does: control flow, variables, pipelines.

mod calls;

use super::data::Data;
use super::tree::{
    BranchNode, Command, Constant, MAIN, NamedTemplates, OperandKind, Pipeline, TemplateNode,
    TemplateOperand, TemplatePosition,
};
use super::{NO_VALUE, print, quote_text};
use crate::builtins::buffer::{Buffer, push};
use crate::builtins::{BuiltinContext, BuiltinError};
use crate::limits;
use crate::value::{RefRepr, ValueRef};

/// Renders the main template.
///
/// # Errors
/// An action fails: Go's message, with line and column.
pub fn render<'e>(
    call: &mut BuiltinContext<'e>,
    text: &str,
    templates: &NamedTemplates,
    data: ValueRef<'e>,
) -> Result<Buffer<'e>, BuiltinError> {
    let out = call.buffer();
    let mut machine = Executor {
        call,
        text,
        templates,
        out,
        name: MAIN,
        variables: vec![("$", Data::Document(data))],
        depth: 0,
    };
    if let Some(nodes) = templates.get(MAIN) {
        machine.nodes(nodes, Data::Document(data))?;
    }
    Ok(machine.out)
}

struct Executor<'m, 't, 'e> {
    call: &'m mut BuiltinContext<'e>,
    text: &'t str,
    templates: &'t NamedTemplates,
    out: Buffer<'e>,
    name: &'t str,
    variables: Vec<(&'t str, Data<'e>)>,
    depth: usize,
}

/// How the execution of a node list ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ListEnd {
    On,
    Break,
    Continue,
}

type ExecResult<'e> = Result<Data<'e>, BuiltinError>;

impl<'t, 'e> Executor<'_, 't, 'e> {
    /// Returns the error of a node: position, text and message.
    fn fail<T>(
        &self,
        position: TemplatePosition,
        part: &dyn ToString,
        message: &str,
    ) -> Result<T, BuiltinError> {
        let before = self.text.get(..position.at).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before
            .rfind('\n')
            .map_or(position.at, |end| position.at - end);
        Err(BuiltinError::error(format!(
            "template: {MAIN}:{line}:{column}: executing {} at <{}>: {message}",
            quote_text(self.name),
            part.to_string()
        )))
    }

    fn nodes(&mut self, nodes: &'t [TemplateNode], dot: Data<'e>) -> Result<ListEnd, BuiltinError> {
        for node in nodes {
            let flow = self.node(node, dot)?;
            if flow != ListEnd::On {
                return Ok(flow);
            }
        }
        Ok(ListEnd::On)
    }

    fn node(&mut self, node: &'t TemplateNode, dot: Data<'e>) -> Result<ListEnd, BuiltinError> {
        self.call.budget.step()?;
        match node {
            TemplateNode::Text(text) => push(self.call, &mut self.out, text.as_bytes())?,
            TemplateNode::Action(pipeline) => {
                let value = self.pipeline(pipeline, dot)?;
                if pipeline.variables.is_empty() {
                    self.print(value)?;
                }
            }
            TemplateNode::If(branch) => return self.branch(branch, dot, false),
            TemplateNode::With(branch) => return self.branch(branch, dot, true),
            TemplateNode::Range(branch) => return self.range(branch, dot),
            TemplateNode::Template {
                name,
                argument,
                position,
            } => self.template(node, name, argument.as_ref(), *position, dot)?,
            TemplateNode::Break => return Ok(ListEnd::Break),
            TemplateNode::Continue => return Ok(ListEnd::Continue),
        }
        Ok(ListEnd::On)
    }

    fn print(&mut self, value: Data<'e>) -> Result<(), BuiltinError> {
        if value.is_missing() {
            return push(self.call, &mut self.out, NO_VALUE.as_bytes());
        }
        // the most frequent case
        if let Some(value) = value.document() {
            if let ValueRef(RefRepr::Int(number)) = value {
                let mut digits = itoa::Buffer::new();
                return push(self.call, &mut self.out, digits.format(number).as_bytes());
            }
            if let Some(text) = value.string_bytes() {
                return push(self.call, &mut self.out, text);
            }
        }
        let text = print::plain(self.call, &[value], false)?;
        push(self.call, &mut self.out, text.text_or_empty().as_bytes())
    }

    fn branch(
        &mut self,
        branch: &'t BranchNode,
        dot: Data<'e>,
        binds: bool,
    ) -> Result<ListEnd, BuiltinError> {
        let variable_count = self.variables.len();
        let value = self.pipeline(&branch.pipeline, dot)?;
        let flow = if value.is_truthy() {
            self.nodes(&branch.then, if binds { value } else { dot })?
        } else {
            self.nodes(&branch.otherwise, dot)?
        };
        self.variables.truncate(variable_count);
        Ok(flow)
    }

    fn range(&mut self, branch: &'t BranchNode, dot: Data<'e>) -> Result<ListEnd, BuiltinError> {
        let variable_count = self.variables.len();
        let value = self.pipeline(&branch.pipeline, dot)?;
        let has_elements = match value {
            Data::Missing => false,
            Data::Int(count) => {
                if branch.pipeline.variables.len() > 1 {
                    let message =
                        format!("can't use {count} to iterate over more than one variable");
                    return self.fail_range(branch, &message);
                }
                self.each(branch, (0..count).map(|i| (Data::Missing, Data::Int(i))))?
            }
            Data::Byte(count) => {
                self.each(branch, (0..count).map(|i| (Data::Missing, Data::Byte(i))))?
            }
            _ => match value.document() {
                Some(items) if let Some(items) = items.as_array() => {
                    let items = items.iter().zip(0_i64..);
                    self.each(
                        branch,
                        items.map(|(item, position)| (Data::Int(position), Data::Element(item))),
                    )?
                }
                Some(members) if let Some(members) = members.as_object() => self.each(
                    branch,
                    members
                        .iter()
                        .map(|(key, value)| (Data::Document(key), Data::Element(value))),
                )?,
                _ => {
                    let text = print::format_value(self.call, value, 'v')?;
                    return self.fail_range(branch, &format!("range can't iterate over {text}"));
                }
            },
        };
        let flow = if has_elements {
            ListEnd::On
        } else {
            self.nodes(&branch.otherwise, dot)?
        };
        self.variables.truncate(variable_count);
        Ok(flow)
    }

    /// Returns an error of a range. Its position is that of the operand evaluated last.
    fn fail_range<T>(&self, branch: &BranchNode, message: &str) -> Result<T, BuiltinError> {
        let last = branch.pipeline.commands.last();
        match last.and_then(|command| command.operands.first()) {
            Some(operand) => self.fail(operand.position, operand, message),
            None => self.fail(branch.pipeline.position, &branch.pipeline, message),
        }
    }

    /// Executes the body of a range for all elements. Returns `false` if there were none.
    fn each(
        &mut self,
        branch: &'t BranchNode,
        elements: impl Iterator<Item = (Data<'e>, Data<'e>)>,
    ) -> Result<bool, BuiltinError> {
        let names = &branch.pipeline.variables;
        let variable_count = self.variables.len();
        let mut has_elements = false;
        for (index, element) in elements {
            self.call.budget.step()?;
            has_elements = true;
            let values: &[Data<'e>] = match names.len() {
                0 => &[],
                1 => &[element],
                _ => &[index, element],
            };
            for (name, value) in names.iter().zip(values) {
                self.assign(name, *value);
            }
            let flow = self.nodes(&branch.then, element)?;
            self.variables.truncate(variable_count);
            if flow == ListEnd::Break {
                break;
            }
        }
        Ok(has_elements)
    }

    /// Assigns to the innermost variable with a name. Returns `false` if there is none.
    fn assign(&mut self, name: &str, value: Data<'e>) -> bool {
        let mut variables = self.variables.iter_mut().rev();
        match variables.find(|(variable, _)| *variable == name) {
            Some((_, variable_value)) => {
                *variable_value = value;
                true
            }
            None => false,
        }
    }

    fn template(
        &mut self,
        node: &'t TemplateNode,
        name: &'t str,
        argument: Option<&'t Pipeline>,
        position: TemplatePosition,
        dot: Data<'e>,
    ) -> Result<(), BuiltinError> {
        let Some(nodes) = self.templates.get(name) else {
            let message = format!("template {} not defined", quote_text(name));
            return self.fail(position, node, &message);
        };
        if self.depth >= limits::TEMPLATE_DEPTH {
            let message = format!(
                "exceeded maximum template depth ({})",
                limits::TEMPLATE_DEPTH
            );
            return self.fail(position, node, &message);
        }
        let dot = match argument {
            Some(argument) => self.pipeline(argument, dot)?,
            None => Data::Missing,
        };
        let variables = std::mem::replace(&mut self.variables, vec![("$", dot)]);
        let outer = std::mem::replace(&mut self.name, name);
        self.depth += 1;
        stacker::maybe_grow(limits::VALUE_STACK, limits::COMPILE_STACK, || {
            self.nodes(nodes, dot)
        })?;
        self.depth -= 1;
        self.name = outer;
        self.variables = variables;
        Ok(())
    }

    fn pipeline(&mut self, pipeline: &'t Pipeline, dot: Data<'e>) -> ExecResult<'e> {
        let mut value = None;
        for command in &pipeline.commands {
            value = Some(self.command(command, dot, value)?.concrete());
        }
        let value = value.unwrap_or(Data::Missing);
        for name in &pipeline.variables {
            if !pipeline.assigns {
                self.variables.push((name, value));
            } else if !self.assign(name, value) {
                return self.undefined(pipeline, name);
            }
        }
        Ok(value)
    }

    fn undefined<T>(&self, pipeline: &Pipeline, name: &str) -> Result<T, BuiltinError> {
        let message = format!("undefined variable: {name}");
        let last = pipeline.commands.last();
        match last.and_then(|command| command.operands.last()) {
            Some(operand) => self.fail(operand.position, operand, &message),
            None => self.fail(pipeline.position, pipeline, &message),
        }
    }

    /// Executes a command. `last` is the result of the previous one.
    fn command(
        &mut self,
        command: &'t Command,
        dot: Data<'e>,
        last: Option<Data<'e>>,
    ) -> ExecResult<'e> {
        self.call.budget.step()?;
        let Some((first, rest)) = command.operands.split_first() else {
            return Ok(Data::Missing);
        };
        let has_arguments = !rest.is_empty() || last.is_some();
        match &first.kind {
            OperandKind::Function(name) => {
                return self.function(name, Some(command), first, rest, dot, last);
            }
            OperandKind::Field(_) | OperandKind::Chain(..) | OperandKind::Variable(..) => {
                return self.operand(first, dot, has_arguments);
            }
            _ => {}
        }
        if has_arguments {
            let message = format!("can't give argument to non-function {first}");
            return self.fail(first.position, first, &message);
        }
        match &first.kind {
            OperandKind::Nil => self.fail(first.position, first, "nil is not a command"),
            _ => self.operand(first, dot, false),
        }
    }

    /// Evaluates an operand. `dot` is the current value of `.`.
    fn operand(
        &mut self,
        operand: &'t TemplateOperand,
        dot: Data<'e>,
        has_arguments: bool,
    ) -> ExecResult<'e> {
        match &operand.kind {
            OperandKind::Dot => Ok(dot),
            OperandKind::Nil => Ok(Data::Missing),
            OperandKind::Bool(value) => Ok(Data::Document(ValueRef(RefRepr::Bool(*value)))),
            OperandKind::String(value, _) => Ok(Data::Document(self.call.arena.bytes_text(value))),
            OperandKind::Number(constant, text) => match *constant {
                Constant::Int(value) => Ok(Data::Int(value)),
                Constant::Float(value) => Ok(Data::Float(value)),
                Constant::Complex(re, im) => Ok(Data::Complex(re, im)),
                Constant::TooLarge => {
                    self.fail(operand.position, operand, &format!("{text} overflows int"))
                }
            },
            OperandKind::Field(fields) => self.fields(dot, fields, operand, has_arguments),
            OperandKind::Variable(name, fields) => {
                let variable = self
                    .variables
                    .iter()
                    .rev()
                    .find(|(variable, _)| variable == name);
                let Some((_, value)) = variable.copied() else {
                    let message = format!("undefined variable: {name}");
                    return self.fail(operand.position, operand, &message);
                };
                if fields.is_empty() && has_arguments {
                    let message = format!("can't give argument to non-function {operand}");
                    return self.fail(operand.position, operand, &message);
                }
                self.fields(value, fields, operand, has_arguments)
            }
            OperandKind::Pipeline(pipeline) => self.pipeline(pipeline, dot),
            OperandKind::Chain(inner, fields) => {
                let value = self.operand(inner, dot, false)?;
                // errors of a field have the position of the operand evaluated last
                let last = innermost(inner);
                self.fields(value, fields, last, has_arguments)
            }
            OperandKind::Function(name) => self.function(name, None, operand, &[], dot, None),
        }
    }

    fn fields(
        &mut self,
        value: Data<'e>,
        fields: &[String],
        part: &TemplateOperand,
        has_arguments: bool,
    ) -> ExecResult<'e> {
        let mut value = value;
        for (index, field) in fields.iter().enumerate() {
            let is_last = index + 1 == fields.len();
            match value {
                Data::Missing => continue,
                Data::Element(ValueRef(RefRepr::Null)) => {
                    let message = format!("nil pointer evaluating interface {{}}.{field}");
                    return self.fail(part.position, part, &message);
                }
                _ => {}
            }
            let Some(members) = value.document().and_then(|value| value.as_object()) else {
                let type_name = value.type_name();
                let message = format!("can't evaluate field {field} in type {type_name}");
                return self.fail(part.position, part, &message);
            };
            if is_last && has_arguments {
                let message = format!("{field} is not a method but has arguments");
                return self.fail(part.position, part, &message);
            }
            value = members.get_str(field).map_or(Data::Missing, Data::Element);
        }
        Ok(value)
    }
}

/// Returns the operand that is evaluated last within another.
fn innermost(operand: &TemplateOperand) -> &TemplateOperand {
    match &operand.kind {
        OperandKind::Pipeline(pipeline) => pipeline
            .commands
            .last()
            .and_then(|command| command.operands.first())
            .map_or(operand, innermost),
        _ => operand,
    }
}
