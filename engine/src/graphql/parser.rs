//! Parser of the elements that queries and schemas share: tokens, values, types, directives.

use solon_syntax::stack;

use super::ast::{
    ArgumentNode, Comments, Description, DirectiveNode, SourcePosition, SourceText, TypeReference,
    ValueKind, ValueNode,
};
use super::lexer::{GraphqlLexer, GraphqlToken, GraphqlTokenKind, sign_text};
use super::problem::GraphqlError;
use crate::limits::NESTING;

/// A parser with one token of lookahead.
pub struct GraphqlParser<'a> {
    lexer: GraphqlLexer<'a>,
    token: GraphqlToken<'a>,
    depth: usize,
    /// Comments before the sign that closed the last list.
    before_close: Comments<'a>,
}

pub type ParseResult<T> = Result<T, GraphqlError>;

impl<'a> GraphqlParser<'a> {
    /// Returns a parser at the start of a source, with the first token read.
    pub fn new(source: &'a str) -> Self {
        let mut lexer = GraphqlLexer::new(source);
        let token = lexer.next();
        Self {
            lexer,
            token,
            depth: 0,
            before_close: Comments::default(),
        }
    }

    pub fn position(&self) -> SourcePosition {
        self.token.position
    }

    /// Returns `true` at the end of the document, after trailing comments.
    pub fn at_end(&self) -> bool {
        self.token.kind == GraphqlTokenKind::End
    }

    /// Returns `true` if the next token is the sign that starts with a byte.
    #[inline]
    pub fn is_at_sign(&self, sign: u8) -> bool {
        self.token.kind == GraphqlTokenKind::Punctuation(sign)
    }

    /// Returns `true` if the next token is a name.
    pub fn at_name(&self) -> bool {
        self.token.kind == GraphqlTokenKind::Name
    }

    /// Returns the next token's text. Empty for signs.
    pub fn text(&self) -> &str {
        &self.token.text
    }

    /// Removes and returns the comments before the next token.
    pub fn comments(&mut self) -> Comments<'a> {
        std::mem::take(&mut self.token.comments)
    }

    /// Removes and returns the comments before the end of the last list that [`Parser::some`] parsed.
    pub fn before_close(&mut self) -> Comments<'a> {
        std::mem::take(&mut self.before_close)
    }

    /// Consumes the next token.
    pub fn take(&mut self) -> GraphqlToken<'a> {
        let next = self.lexer.next();
        std::mem::replace(&mut self.token, next)
    }

    /// Consumes a sign if it is next. Returns `true` if it was.
    pub fn skip(&mut self, sign: u8) -> bool {
        let matches = self.is_at_sign(sign);
        if matches {
            self.take();
        }
        matches
    }

    /// Consumes a required sign, or fails at any other token.
    pub fn expect(&mut self, sign: u8) -> ParseResult<()> {
        if self.skip(sign) {
            Ok(())
        } else {
            Err(self.expected(sign_text(sign)))
        }
    }

    /// Consumes a required keyword, or fails at any other token.
    pub fn keyword(&mut self, keyword: &str) -> ParseResult<()> {
        if self.at_name() && self.text() == keyword {
            self.take();
            return Ok(());
        }
        let token = describe_token(&self.token);
        Err(GraphqlError::new(
            format!("Expected \"{keyword}\", found {token}"),
            self.position(),
        ))
    }

    /// Consumes a required name, or fails at any other token.
    pub fn name(&mut self) -> ParseResult<SourceText<'a>> {
        if self.at_name() {
            Ok(self.take().text)
        } else {
            Err(self.expected("Name"))
        }
    }

    fn expected(&self, expectation: &str) -> GraphqlError {
        let actual = self.token.kind.as_str();
        GraphqlError::new(
            format!("Expected {expectation}, found {actual}"),
            self.position(),
        )
    }

    /// Returns the error for an unexpected token, at its position.
    pub fn unexpected(&self) -> GraphqlError {
        let token = describe_token(&self.token);
        GraphqlError::new(format!("Unexpected {token}"), self.position())
    }

    /// Runs a recursive production. Fails if productions are nested too deeply.
    pub fn nested<T>(
        &mut self,
        production: impl FnOnce(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<T> {
        if self.depth == NESTING {
            return Err(GraphqlError::new(
                "nested too deep".to_owned(),
                self.position(),
            ));
        }
        self.depth += 1;
        let parsed = stack::level(|| production(self));
        self.depth -= 1;
        parsed
    }

    /// Parses items between two signs, if the first sign is next.
    pub fn many<T>(
        &mut self,
        [open, close]: [u8; 2],
        mut item: impl FnMut(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<Vec<T>> {
        let mut items = Vec::new();
        if self.skip(open) {
            while !self.skip(close) {
                items.push(item(self)?);
            }
        }
        Ok(items)
    }

    /// Like [`Parser::many`], but requires an item between the signs.
    pub fn some<T>(
        &mut self,
        signs: [u8; 2],
        item: impl FnMut(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<Vec<T>> {
        let [open, close] = signs;
        self.before_close = Comments::default();
        if !self.is_at_sign(open) {
            return Ok(Vec::new());
        }
        let mut item = item;
        self.take();
        if self.is_at_sign(close) {
            return Err(GraphqlError::new(
                format!(
                    "expected at least one definition, found {}",
                    sign_text(close)
                ),
                self.position(),
            ));
        }
        let mut items = vec![item(self)?];
        while !self.is_at_sign(close) {
            items.push(item(self)?);
        }
        self.before_close = self.comments();
        self.take();
        Ok(items)
    }

    pub fn of_type(&mut self) -> ParseResult<TypeReference<'a>> {
        self.nested(|parser| {
            let position = parser.position();
            let (name, element) = if parser.skip(b'[') {
                let element = parser.of_type()?;
                parser.expect(b']')?;
                (SourceText::Borrowed(""), Some(Box::new(element)))
            } else {
                (parser.name()?, None)
            };
            let non_null = parser.skip(b'!');
            Ok(TypeReference {
                name,
                element,
                non_null,
                position,
            })
        })
    }

    /// Parses directives. Constant ones cannot use variables.
    pub fn directives(&mut self, constant: bool) -> ParseResult<Vec<DirectiveNode<'a>>> {
        let mut directives = Vec::new();
        while self.skip(b'@') {
            let position = self.position();
            let name = self.name()?;
            let arguments = self.arguments(constant)?;
            directives.push(DirectiveNode {
                name,
                arguments,
                position,
            });
        }
        Ok(directives)
    }

    pub fn arguments(&mut self, constant: bool) -> ParseResult<Vec<ArgumentNode<'a>>> {
        self.some([b'(', b')'], |parser| parser.argument(constant))
    }

    fn argument(&mut self, constant: bool) -> ParseResult<ArgumentNode<'a>> {
        let comments = self.comments();
        let position = self.position();
        let name = self.name()?;
        self.expect(b':')?;
        let value = self.value(constant)?;
        Ok(ArgumentNode {
            comments,
            name,
            value,
            position,
        })
    }

    /// Parses a value. Constant ones cannot use variables.
    pub fn value(&mut self, constant: bool) -> ParseResult<ValueNode<'a>> {
        let position = self.position();
        let kind = match self.token.kind {
            GraphqlTokenKind::Punctuation(b'[') => {
                return self.nested(|parser| parser.list(constant));
            }
            GraphqlTokenKind::Punctuation(b'{') => {
                return self.nested(|parser| parser.object(constant));
            }
            GraphqlTokenKind::Punctuation(b'$') if !constant => {
                self.take();
                let raw = self.name()?;
                return Ok(ValueNode {
                    raw,
                    position,
                    ..ValueNode::default()
                });
            }
            GraphqlTokenKind::Int => ValueKind::Int,
            GraphqlTokenKind::Float => ValueKind::Float,
            GraphqlTokenKind::String => ValueKind::String,
            GraphqlTokenKind::Block => ValueKind::Block,
            GraphqlTokenKind::Name => match self.text() {
                "true" | "false" => ValueKind::Boolean,
                "null" => ValueKind::Null,
                _ => ValueKind::Enum,
            },
            _ => return Err(self.unexpected()),
        };
        Ok(ValueNode {
            kind,
            raw: self.take().text,
            position,
            ..ValueNode::default()
        })
    }

    fn list(&mut self, constant: bool) -> ParseResult<ValueNode<'a>> {
        let comments = self.comments();
        let position = self.position();
        let children = self.many([b'[', b']'], |parser| {
            let position = parser.position();
            let value = parser.value(constant)?;
            Ok(ArgumentNode {
                value,
                position,
                ..ArgumentNode::default()
            })
        })?;
        Ok(ValueNode {
            comments,
            kind: ValueKind::List,
            children,
            position,
            ..ValueNode::default()
        })
    }

    fn object(&mut self, constant: bool) -> ParseResult<ValueNode<'a>> {
        let comments = self.comments();
        let position = self.position();
        let children = self.many([b'{', b'}'], |parser| parser.argument(constant))?;
        Ok(ValueNode {
            comments,
            kind: ValueKind::Object,
            children,
            position,
            ..ValueNode::default()
        })
    }

    /// Parses `query`, `mutation` or `subscription`.
    pub fn operation_type(&mut self) -> ParseResult<SourceText<'a>> {
        match (self.token.kind, self.text()) {
            (GraphqlTokenKind::Name, "query" | "mutation" | "subscription") => Ok(self.take().text),
            (GraphqlTokenKind::Name, _) => Err(self.unexpected()),
            _ => Err(self.expected("Name")),
        }
    }

    /// Returns `true` if a description is next: a string or a block string.
    pub fn at_description(&self) -> bool {
        matches!(
            self.token.kind,
            GraphqlTokenKind::String | GraphqlTokenKind::Block
        )
    }

    /// Returns the error for a description that is not allowed. `error` is the error for its token. If a comment
    /// follows the description, the error is about the comment, as in OPA.
    pub fn unexpected_description(
        &self,
        description: &Description<'_>,
        error: GraphqlError,
    ) -> GraphqlError {
        match description.after.0.last() {
            Some(comment) => {
                let comment = super::problem::quote(comment);
                GraphqlError::new(
                    format!("Unexpected Comment {comment}"),
                    self.token.last_comment,
                )
            }
            None => error,
        }
    }

    /// Parses an optional description and the comments around it.
    pub fn description(&mut self) -> Description<'a> {
        if !self.at_description() {
            return Description {
                after: self.comments(),
                ..Description::default()
            };
        }
        Description {
            before: self.comments(),
            text: self.take().text,
            after: self.comments(),
        }
    }
}

fn describe_token(token: &GraphqlToken<'_>) -> String {
    let kind = token.kind.as_str();
    if token.text.is_empty() {
        kind.to_owned()
    } else {
        format!("{kind} {}", super::problem::quote(&token.text))
    }
}
