//! Pipelines: commands, their operands, and variables that are assigned the result.

use super::{Parsed, Parser};
use crate::builtins::template::lexer::Kind;
use crate::builtins::template::tree::{Command, Operand, OperandKind, Pipeline, Position};
use crate::builtins::template::{constant, functions, quoted};
use crate::limits;

impl Parser {
    pub(super) fn pipeline(&mut self, context: &str, end: Kind) -> Parsed<Pipeline> {
        if self.depth > limits::NESTING {
            return self.fail("max expression depth exceeded");
        }
        self.depth += 1;
        let at = self.peek_solid().at;
        let mut pipeline = Pipeline {
            position: Position { at },
            ..Pipeline::default()
        };
        self.declarations(&mut pipeline, context)?;
        loop {
            let token = self.next_non_space();
            if token.kind == end {
                break;
            }
            let is_nil = token.kind == Kind::Keyword && token.text == "nil";
            if !is_nil && !starts_operand(token.kind) {
                return self.unexpected(&token, context);
            }
            self.back(token);
            let command = self.command()?;
            pipeline.commands.push(command);
        }
        self.depth -= 1;
        if pipeline.commands.is_empty() {
            return self.fail(&format!("missing value for {context}"));
        }
        for (stage, command) in pipeline.commands.iter().enumerate().skip(1) {
            let first = command.operands.first().map(|operand| &operand.kind);
            if let Some(
                OperandKind::Bool(_)
                | OperandKind::Dot
                | OperandKind::Nil
                | OperandKind::Number(..)
                | OperandKind::String(..),
            ) = first
            {
                return self.fail(&format!(
                    "non executable command in pipeline stage {}",
                    stage + 1
                ));
            }
        }
        Ok(pipeline)
    }

    fn declarations(&mut self, pipeline: &mut Pipeline, context: &str) -> Parsed<()> {
        loop {
            let variable = self.peek_solid();
            if variable.kind != Kind::Variable {
                return Ok(());
            }
            self.next();
            let space = self.skip_space();
            let next = self.next();
            match next.kind {
                Kind::Assign | Kind::Declare => {
                    pipeline.assigns = next.kind == Kind::Assign;
                    pipeline.variables.push(variable.text.clone());
                    self.variables.push(variable.text);
                    return Ok(());
                }
                Kind::Char if next.text == "," => {
                    pipeline.variables.push(variable.text.clone());
                    self.variables.push(variable.text);
                    if context != "range" || pipeline.variables.len() >= 2 {
                        return self.fail(&format!("too many declarations in {context}"));
                    }
                    let follows = self.peek_solid().kind;
                    if !matches!(
                        follows,
                        Kind::Variable | Kind::RightDelimiter | Kind::RightParen
                    ) {
                        return self.fail("range can only initialize variables");
                    }
                }
                _ => {
                    self.back(next);
                    if let Some(space) = space {
                        self.back(space);
                    }
                    self.back(variable);
                    return Ok(());
                }
            }
        }
    }

    fn command(&mut self) -> Parsed<Command> {
        let at = self.peek_solid().at;
        let mut operands = Vec::new();
        loop {
            self.skip_space();
            if let Some(operand) = self.operand()? {
                operands.push(operand);
            }
            let token = self.next();
            match token.kind {
                Kind::Space => {}
                Kind::RightDelimiter | Kind::RightParen => {
                    self.back(token);
                    break;
                }
                Kind::Pipe => break,
                _ => return self.unexpected(&token, "operand"),
            }
        }
        if operands.is_empty() {
            return self.fail("empty command");
        }
        Ok(Command {
            operands,
            position: Position { at },
        })
    }

    fn operand(&mut self) -> Parsed<Option<Operand>> {
        let Some(mut operand) = self.term()? else {
            return Ok(None);
        };
        let next = self.peek();
        if next.kind != Kind::Field {
            return Ok(Some(operand));
        }
        let position = Position { at: next.at };
        let mut fields = Vec::new();
        loop {
            let token = self.next();
            if token.kind != Kind::Field {
                self.back(token);
                break;
            }
            fields.push(field_name(&token.text));
        }
        match &mut operand.kind {
            OperandKind::Field(known) | OperandKind::Variable(_, known) => {
                known.append(&mut fields);
                operand.position = position;
            }
            OperandKind::Function(_) | OperandKind::Pipeline(_) | OperandKind::Chain(..) => {
                operand = Operand {
                    kind: OperandKind::Chain(Box::new(operand), fields),
                    position,
                };
            }
            _ => {
                let text = quoted(&operand.to_string());
                return self.fail(&format!("unexpected . after term {text}"));
            }
        }
        Ok(Some(operand))
    }

    fn term(&mut self) -> Parsed<Option<Operand>> {
        let token = self.next_non_space();
        let position = Position { at: token.at };
        let kind = match token.kind {
            Kind::Identifier => {
                if !functions::is_defined(&token.text) {
                    let name = quoted(&token.text);
                    return self.fail(&format!("function {name} not defined"));
                }
                OperandKind::Function(token.text)
            }
            Kind::Dot => OperandKind::Dot,
            Kind::Keyword if token.text == "nil" => OperandKind::Nil,
            Kind::Variable => {
                if !self.variables.contains(&token.text) {
                    let name = quoted(&token.text);
                    return self.fail(&format!("undefined variable {name}"));
                }
                OperandKind::Variable(token.text, Vec::new())
            }
            Kind::Field => OperandKind::Field(vec![field_name(&token.text)]),
            Kind::Bool => OperandKind::Bool(token.text == "true"),
            Kind::CharConstant | Kind::Complex | Kind::Number => {
                match constant::number(token.kind, &token.text) {
                    Ok(constant) => OperandKind::Number(constant, token.text),
                    Err(message) => return self.fail(&message),
                }
            }
            Kind::LeftParen => {
                OperandKind::Pipeline(self.pipeline("parenthesized pipeline", Kind::RightParen)?)
            }
            Kind::String | Kind::RawString => match constant::unquote(&token.text) {
                Some(value) => OperandKind::String(value, token.text),
                None => return self.fail("invalid syntax"),
            },
            _ => {
                self.back(token);
                return Ok(None);
            }
        };
        Ok(Some(Operand { kind, position }))
    }
}

fn field_name(text: &str) -> String {
    text.strip_prefix('.').unwrap_or(text).to_owned()
}

fn starts_operand(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Bool
            | Kind::CharConstant
            | Kind::Complex
            | Kind::Dot
            | Kind::Field
            | Kind::Identifier
            | Kind::Number
            | Kind::RawString
            | Kind::String
            | Kind::Variable
            | Kind::LeftParen
    )
}
