//! Parsed templates, with the text of nodes for messages.

use std::fmt;

use hashbrown::HashMap;

use super::quote_text;

/// Templates of a text, by name; the text itself is [`MAIN`]. A name is defined once, unless one of the definitions is empty.
pub type NamedTemplates = HashMap<String, Vec<TemplateNode>>;

/// Name of the text itself.
pub const MAIN: &str = "template";

/// Position of a node: a byte offset in the text.
#[derive(Clone, Copy, Debug, Default)]
pub struct TemplatePosition {
    /// Byte offset.
    pub at: usize,
}

#[derive(Debug)]
pub enum TemplateNode {
    Text(String),
    Action(Pipeline),
    If(BranchNode),
    With(BranchNode),
    Range(BranchNode),
    Template {
        name: String,
        argument: Option<Pipeline>,
        position: TemplatePosition,
    },
    Break,
    Continue,
}

/// `if`, `with`, `range`
#[derive(Debug)]
pub struct BranchNode {
    pub pipeline: Pipeline,
    pub then: Vec<TemplateNode>,
    pub otherwise: Vec<TemplateNode>,
}

/// Commands, each with the result of the previous one as last argument.
#[derive(Debug, Default)]
pub struct Pipeline {
    pub variables: Vec<String>,
    /// `true` if the variables are assigned, `false` if they are declared.
    pub assigns: bool,
    pub commands: Vec<Command>,
    pub position: TemplatePosition,
}

#[derive(Debug)]
pub struct Command {
    pub operands: Vec<TemplateOperand>,
    pub position: TemplatePosition,
}

#[derive(Debug)]
pub struct TemplateOperand {
    pub kind: OperandKind,
    pub position: TemplatePosition,
}

#[derive(Debug)]
pub enum OperandKind {
    Dot,
    Nil,
    Bool(bool),
    Number(Constant, String),
    String(Vec<u8>, String),
    Function(String),
    /// `.a.b`
    Field(Vec<String>),
    /// `$x.a.b`
    Variable(String, Vec<String>),
    Pipeline(Pipeline),
    /// `(…).a.b`
    Chain(Box<TemplateOperand>, Vec<String>),
}

#[derive(Clone, Copy, Debug)]
pub enum Constant {
    Int(i64),
    /// Integer beyond 63 bits.
    TooLarge,
    Float(f64),
    Complex(f64, f64),
}

fn write_fields(fields: &[String], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    fields.iter().try_for_each(|field| write!(f, ".{field}"))
}

impl fmt::Display for TemplateOperand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            OperandKind::Dot => f.write_str("."),
            OperandKind::Nil => f.write_str("nil"),
            OperandKind::Bool(value) => value.fmt(f),
            OperandKind::Number(_, text) | OperandKind::String(_, text) => f.write_str(text),
            OperandKind::Function(name) => f.write_str(name),
            OperandKind::Field(fields) => write_fields(fields, f),
            OperandKind::Variable(name, fields) => {
                f.write_str(name)?;
                write_fields(fields, f)
            }
            OperandKind::Pipeline(pipeline) => write!(f, "({pipeline})"),
            OperandKind::Chain(operand, fields) => {
                operand.fmt(f)?;
                write_fields(fields, f)
            }
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, operand) in self.operands.iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            operand.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.variables.is_empty() {
            let sign = if self.assigns { "=" } else { ":=" };
            write!(f, "{} {sign} ", self.variables.join(", "))?;
        }
        for (index, command) in self.commands.iter().enumerate() {
            if index > 0 {
                f.write_str(" | ")?;
            }
            command.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for TemplateNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Action(pipeline) => write!(f, "{{{{{pipeline}}}}}"),
            Self::If(branch) => write!(f, "{{{{if {}}}}}", branch.pipeline),
            Self::With(branch) => write!(f, "{{{{with {}}}}}", branch.pipeline),
            Self::Range(branch) => write!(f, "{{{{range {}}}}}", branch.pipeline),
            Self::Template { name, argument, .. } => {
                write!(f, "{{{{template {}", quote_text(name))?;
                if let Some(argument) = argument {
                    write!(f, " {argument}")?;
                }
                f.write_str("}}")
            }
            Self::Break => f.write_str("{{break}}"),
            Self::Continue => f.write_str("{{continue}}"),
        }
    }
}
