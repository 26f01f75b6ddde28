//! Parses tokens into templates, with Go's syntax errors.

mod pipeline;

use std::mem;

use super::constant;
use super::lexer::{self, TemplateToken, TemplateTokenKind};
use super::quote_text;
use super::tree::{BranchNode, MAIN, NamedTemplates, TemplateNode, TemplatePosition};
use crate::limits;

/// Parses a text. The error is Go's message.
pub fn parse(text: &str) -> Result<NamedTemplates, String> {
    let mut tokens = lexer::tokens(text);
    tokens.reverse();
    let mut parser = TemplateParser {
        tokens,
        line: 1,
        action_line: 0,
        templates: NamedTemplates::new(),
        variables: vec!["$".to_owned()],
        ranges: 0,
        depth: 0,
    };
    parser.main()?;
    Ok(parser.templates)
}

struct TemplateParser {
    /// Remaining tokens, the next one last.
    tokens: Vec<TemplateToken>,
    /// Line of the last token that was read.
    line: usize,
    /// Line of the current action, or 0 outside of actions.
    action_line: usize,
    templates: NamedTemplates,
    variables: Vec<String>,
    ranges: usize,
    depth: usize,
}

/// End of a node list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Closer {
    End,
    Else,
}

impl Closer {
    fn text(self) -> &'static str {
        match self {
            Self::End => "{{end}}",
            Self::Else => "{{else}}",
        }
    }
}

enum ParsedNode {
    Node(TemplateNode),
    Closer(Closer),
}

type TemplateResult<T> = Result<T, String>;

fn is_empty(nodes: &[TemplateNode]) -> bool {
    nodes.iter().all(|node| match node {
        TemplateNode::Text(text) => text.trim().is_empty(),
        _ => false,
    })
}

impl TemplateParser {
    fn fail<T>(&self, message: &str) -> TemplateResult<T> {
        Err(format!("template: {MAIN}:{}: {message}", self.line))
    }

    fn unexpected<T>(&self, token: &TemplateToken, context: &str) -> TemplateResult<T> {
        if token.kind != TemplateTokenKind::Error {
            return self.fail(&format!(
                "unexpected {} in {context}",
                describe_token(token)
            ));
        }
        let mut extra = String::new();
        if self.action_line != 0 && self.action_line != token.line {
            let suffix = if token.text.ends_with(" action") {
                ""
            } else {
                " in action"
            };
            extra = format!("{suffix} started at {MAIN}:{}", self.action_line);
        }
        self.fail(&format!("{}{extra}", token.text))
    }

    /// Returns the next token. The last one, an end or an error, is never consumed.
    fn next(&mut self) -> TemplateToken {
        let token = if self.tokens.len() > 1 {
            self.tokens.pop()
        } else {
            self.tokens.last().cloned()
        };
        let token = token.unwrap_or(TemplateToken {
            kind: TemplateTokenKind::End,
            text: String::new(),
            at: 0,
            line: self.line,
        });
        self.line = token.line;
        token
    }

    fn back(&mut self, token: TemplateToken) {
        if !matches!(
            token.kind,
            TemplateTokenKind::End | TemplateTokenKind::Error
        ) {
            self.tokens.push(token);
        }
    }

    fn peek(&mut self) -> TemplateToken {
        let token = self.next();
        self.back(token.clone());
        token
    }

    fn skip_space(&mut self) -> Option<TemplateToken> {
        let token = self.next();
        if token.kind == TemplateTokenKind::Space {
            return Some(token);
        }
        self.back(token);
        None
    }

    fn next_non_space(&mut self) -> TemplateToken {
        self.skip_space();
        self.next()
    }

    fn peek_solid(&mut self) -> TemplateToken {
        self.skip_space();
        self.peek()
    }

    fn expect_right_delimiter(&mut self, context: &str) -> TemplateResult<()> {
        let token = self.next_non_space();
        if token.kind == TemplateTokenKind::RightDelimiter {
            return Ok(());
        }
        self.unexpected(&token, context)
    }

    fn main(&mut self) -> TemplateResult<()> {
        let mut nodes = Vec::new();
        loop {
            let token = self.next();
            match token.kind {
                TemplateTokenKind::End => break,
                TemplateTokenKind::LeftDelimiter => {
                    let keyword_token = self.next_non_space();
                    if keyword_token.kind == TemplateTokenKind::Keyword
                        && keyword_token.text == "define"
                    {
                        self.definition()?;
                        continue;
                    }
                    self.back(keyword_token);
                    self.back(token);
                }
                _ => self.back(token),
            }
            match self.text_or_action()? {
                ParsedNode::Node(node) => nodes.push(node),
                ParsedNode::Closer(closer) => {
                    return self.fail(&format!("unexpected {}", closer.text()));
                }
            }
        }
        self.add(MAIN.to_owned(), nodes)
    }

    fn add(&mut self, name: String, nodes: Vec<TemplateNode>) -> TemplateResult<()> {
        match self.templates.get(&name) {
            Some(existing) if !is_empty(existing) => {
                if is_empty(&nodes) {
                    return Ok(());
                }
                let name = quote_text(&name);
                self.fail(&format!("template: multiple definition of template {name}"))
            }
            _ => {
                self.templates.insert(name, nodes);
                Ok(())
            }
        }
    }

    fn definition(&mut self) -> TemplateResult<()> {
        let context = "define clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, context)?;
        self.expect_right_delimiter(context)?;
        let nodes = self.body(context)?;
        self.add(name, nodes)
    }

    /// Parses the nodes of a separate template, where variables are not visible.
    fn body(&mut self, context: &str) -> TemplateResult<Vec<TemplateNode>> {
        let variables = mem::replace(&mut self.variables, vec!["$".to_owned()]);
        let ranges = mem::take(&mut self.ranges);
        let (nodes, closer) = self.list()?;
        if closer != Closer::End {
            return self.fail(&format!("unexpected {} in {context}", closer.text()));
        }
        self.variables = variables;
        self.ranges = ranges;
        Ok(nodes)
    }

    fn template_name(&self, token: &TemplateToken, context: &str) -> TemplateResult<String> {
        if !matches!(
            token.kind,
            TemplateTokenKind::String | TemplateTokenKind::RawString
        ) {
            return self.unexpected(token, context);
        }
        match constant::unquote(&token.text) {
            Some(name) => Ok(String::from_utf8_lossy(&name).into_owned()),
            None => self.fail("invalid syntax"),
        }
    }

    fn list(&mut self) -> TemplateResult<(Vec<TemplateNode>, Closer)> {
        if self.depth > limits::NESTING {
            return self.fail("max expression depth exceeded");
        }
        self.depth += 1;
        let mut nodes = Vec::new();
        while self.peek_solid().kind != TemplateTokenKind::End {
            match self.text_or_action()? {
                ParsedNode::Node(node) => nodes.push(node),
                ParsedNode::Closer(closer) => {
                    self.depth -= 1;
                    return Ok((nodes, closer));
                }
            }
        }
        self.fail("unexpected EOF")
    }

    fn text_or_action(&mut self) -> TemplateResult<ParsedNode> {
        let token = self.next_non_space();
        match token.kind {
            TemplateTokenKind::Text => Ok(ParsedNode::Node(TemplateNode::Text(token.text))),
            TemplateTokenKind::LeftDelimiter => {
                self.action_line = token.line;
                let step = self.action()?;
                self.action_line = 0;
                Ok(step)
            }
            _ => self.unexpected(&token, "input"),
        }
    }

    fn action(&mut self) -> TemplateResult<ParsedNode> {
        let token = self.next_non_space();
        if token.kind != TemplateTokenKind::Keyword {
            self.back(token);
            let pipeline = self.pipeline("command", TemplateTokenKind::RightDelimiter)?;
            return Ok(ParsedNode::Node(TemplateNode::Action(pipeline)));
        }
        let node = match token.text.as_str() {
            "block" => self.block()?,
            keyword @ ("break" | "continue") => {
                let context = format!("{{{{{keyword}}}}}");
                self.expect_right_delimiter(&context)?;
                if self.ranges == 0 {
                    return self.fail(&format!("{context} outside {{{{range}}}}"));
                }
                if keyword == "break" {
                    TemplateNode::Break
                } else {
                    TemplateNode::Continue
                }
            }
            "else" => {
                let next = self.peek_solid();
                let chained = next.kind == TemplateTokenKind::Keyword
                    && matches!(next.text.as_str(), "if" | "with");
                if !chained {
                    self.expect_right_delimiter("else")?;
                }
                return Ok(ParsedNode::Closer(Closer::Else));
            }
            "end" => {
                self.expect_right_delimiter("end")?;
                return Ok(ParsedNode::Closer(Closer::End));
            }
            "if" => TemplateNode::If(self.branch("if")?),
            "range" => TemplateNode::Range(self.branch("range")?),
            "with" => TemplateNode::With(self.branch("with")?),
            "template" => self.template()?,
            _ => {
                self.back(token);
                let pipeline = self.pipeline("command", TemplateTokenKind::RightDelimiter)?;
                TemplateNode::Action(pipeline)
            }
        };
        Ok(ParsedNode::Node(node))
    }

    fn branch(&mut self, context: &str) -> TemplateResult<BranchNode> {
        if self.depth > limits::NESTING {
            return self.fail("max expression depth exceeded");
        }
        self.depth += 1;
        let variable_count = self.variables.len();
        let pipeline = self.pipeline(context, TemplateTokenKind::RightDelimiter)?;
        let is_range = usize::from(context == "range");
        self.ranges += is_range;
        let (then, closer) = self.list()?;
        self.ranges -= is_range;
        let mut otherwise = Vec::new();
        if closer == Closer::Else {
            let next = self.peek();
            if next.kind == TemplateTokenKind::Keyword && next.text == context && is_range == 0 {
                self.next();
                let inner = self.branch(context)?;
                otherwise.push(if context == "if" {
                    TemplateNode::If(inner)
                } else {
                    TemplateNode::With(inner)
                });
            } else {
                let (nodes, closer) = self.list()?;
                if closer != Closer::End {
                    return self.fail(&format!("expected end; found {}", closer.text()));
                }
                otherwise = nodes;
            }
        }
        self.variables.truncate(variable_count);
        self.depth -= 1;
        Ok(BranchNode {
            pipeline,
            then,
            otherwise,
        })
    }

    fn block(&mut self) -> TemplateResult<TemplateNode> {
        let context = "block clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, context)?;
        let argument = self.pipeline(context, TemplateTokenKind::RightDelimiter)?;
        let nodes = self.body(context)?;
        self.add(name.clone(), nodes)?;
        Ok(TemplateNode::Template {
            name,
            argument: Some(argument),
            position: TemplatePosition { at: token.at },
        })
    }

    fn template(&mut self) -> TemplateResult<TemplateNode> {
        let context = "template clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, context)?;
        let next = self.next_non_space();
        let argument = if next.kind == TemplateTokenKind::RightDelimiter {
            None
        } else {
            self.back(next);
            Some(self.pipeline(context, TemplateTokenKind::RightDelimiter)?)
        };
        Ok(TemplateNode::Template {
            name,
            argument,
            position: TemplatePosition { at: token.at },
        })
    }
}

/// Formats a token for messages.
fn describe_token(token: &TemplateToken) -> String {
    match token.kind {
        TemplateTokenKind::End => "EOF".to_owned(),
        TemplateTokenKind::Error => token.text.clone(),
        TemplateTokenKind::Keyword | TemplateTokenKind::Dot => format!("<{}>", token.text),
        _ if token.text.len() > 10 => {
            let start: String = token.text.chars().take(10).collect();
            format!("{}...", quote_text(&start))
        }
        _ => quote_text(&token.text),
    }
}
