//! Pipelines: commands, their operands, and variables that are assigned the result.

use super::{TemplateParser, TemplateResult};
use crate::builtins::template::lexer::TemplateTokenKind;
use crate::builtins::template::tree::{
    Command, OperandKind, Pipeline, TemplateOperand, TemplatePosition,
};
use crate::builtins::template::{constant, functions, quote_text};
use crate::limits;

impl TemplateParser {
    pub(super) fn pipeline(
        &mut self,
        context: &str,
        end: TemplateTokenKind,
    ) -> TemplateResult<Pipeline> {
        if self.depth > limits::NESTING {
            return self.fail("max expression depth exceeded");
        }
        self.depth += 1;
        let offset = self.peek_solid().at;
        let mut pipeline = Pipeline {
            position: TemplatePosition { at: offset },
            ..Pipeline::default()
        };
        self.declarations(&mut pipeline, context)?;
        loop {
            let token = self.next_non_space();
            if token.kind == end {
                break;
            }
            let is_nil = token.kind == TemplateTokenKind::Keyword && token.text == "nil";
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

    fn declarations(&mut self, pipeline: &mut Pipeline, context: &str) -> TemplateResult<()> {
        loop {
            let variable = self.peek_solid();
            if variable.kind != TemplateTokenKind::Variable {
                return Ok(());
            }
            self.next();
            let space = self.skip_space();
            let next = self.next();
            match next.kind {
                TemplateTokenKind::Assign | TemplateTokenKind::Declare => {
                    pipeline.assigns = next.kind == TemplateTokenKind::Assign;
                    pipeline.variables.push(variable.text.clone());
                    self.variables.push(variable.text);
                    return Ok(());
                }
                TemplateTokenKind::Char if next.text == "," => {
                    pipeline.variables.push(variable.text.clone());
                    self.variables.push(variable.text);
                    if context != "range" || pipeline.variables.len() >= 2 {
                        return self.fail(&format!("too many declarations in {context}"));
                    }
                    let follows = self.peek_solid().kind;
                    if !matches!(
                        follows,
                        TemplateTokenKind::Variable
                            | TemplateTokenKind::RightDelimiter
                            | TemplateTokenKind::RightParen
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

    fn command(&mut self) -> TemplateResult<Command> {
        let offset = self.peek_solid().at;
        let mut operands = Vec::new();
        loop {
            self.skip_space();
            if let Some(operand) = self.operand()? {
                operands.push(operand);
            }
            let token = self.next();
            match token.kind {
                TemplateTokenKind::Space => {}
                TemplateTokenKind::RightDelimiter | TemplateTokenKind::RightParen => {
                    self.back(token);
                    break;
                }
                TemplateTokenKind::Pipe => break,
                _ => return self.unexpected(&token, "operand"),
            }
        }
        if operands.is_empty() {
            return self.fail("empty command");
        }
        Ok(Command {
            operands,
            position: TemplatePosition { at: offset },
        })
    }

    fn operand(&mut self) -> TemplateResult<Option<TemplateOperand>> {
        let Some(mut operand) = self.term()? else {
            return Ok(None);
        };
        let next = self.peek();
        if next.kind != TemplateTokenKind::Field {
            return Ok(Some(operand));
        }
        let position = TemplatePosition { at: next.at };
        let mut fields = Vec::new();
        loop {
            let token = self.next();
            if token.kind != TemplateTokenKind::Field {
                self.back(token);
                break;
            }
            fields.push(field_name(&token.text));
        }
        match &mut operand.kind {
            OperandKind::Field(known_fields) | OperandKind::Variable(_, known_fields) => {
                known_fields.append(&mut fields);
                operand.position = position;
            }
            OperandKind::Function(_) | OperandKind::Pipeline(_) | OperandKind::Chain(..) => {
                operand = TemplateOperand {
                    kind: OperandKind::Chain(Box::new(operand), fields),
                    position,
                };
            }
            _ => {
                let text = quote_text(&operand.to_string());
                return self.fail(&format!("unexpected . after term {text}"));
            }
        }
        Ok(Some(operand))
    }

    fn term(&mut self) -> TemplateResult<Option<TemplateOperand>> {
        let token = self.next_non_space();
        let position = TemplatePosition { at: token.at };
        let kind = match token.kind {
            TemplateTokenKind::Identifier => {
                if !functions::is_defined(&token.text) {
                    let name = quote_text(&token.text);
                    return self.fail(&format!("function {name} not defined"));
                }
                OperandKind::Function(token.text)
            }
            TemplateTokenKind::Dot => OperandKind::Dot,
            TemplateTokenKind::Keyword if token.text == "nil" => OperandKind::Nil,
            TemplateTokenKind::Variable => {
                if !self.variables.contains(&token.text) {
                    let name = quote_text(&token.text);
                    return self.fail(&format!("undefined variable {name}"));
                }
                OperandKind::Variable(token.text, Vec::new())
            }
            TemplateTokenKind::Field => OperandKind::Field(vec![field_name(&token.text)]),
            TemplateTokenKind::Bool => OperandKind::Bool(token.text == "true"),
            TemplateTokenKind::CharConstant
            | TemplateTokenKind::Complex
            | TemplateTokenKind::Number => match constant::number(token.kind, &token.text) {
                Ok(constant) => OperandKind::Number(constant, token.text),
                Err(message) => return self.fail(&message),
            },
            TemplateTokenKind::LeftParen => OperandKind::Pipeline(
                self.pipeline("parenthesized pipeline", TemplateTokenKind::RightParen)?,
            ),
            TemplateTokenKind::String | TemplateTokenKind::RawString => {
                match constant::unquote(&token.text) {
                    Some(value) => OperandKind::String(value, token.text),
                    None => return self.fail("invalid syntax"),
                }
            }
            _ => {
                self.back(token);
                return Ok(None);
            }
        };
        Ok(Some(TemplateOperand { kind, position }))
    }
}

fn field_name(text: &str) -> String {
    text.strip_prefix('.').unwrap_or(text).to_owned()
}

fn starts_operand(kind: TemplateTokenKind) -> bool {
    matches!(
        kind,
        TemplateTokenKind::Bool
            | TemplateTokenKind::CharConstant
            | TemplateTokenKind::Complex
            | TemplateTokenKind::Dot
            | TemplateTokenKind::Field
            | TemplateTokenKind::Identifier
            | TemplateTokenKind::Number
            | TemplateTokenKind::RawString
            | TemplateTokenKind::String
            | TemplateTokenKind::Variable
            | TemplateTokenKind::LeftParen
    )
}
