//! Kinds of tokens, and the words that are keywords.

use crate::dialect::Keywords;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Illegal,
    Eof,
    /// Blank space. Never in the token array; messages name it where a blank ends a name.
    Whitespace,
    Ident,
    Package,
    Import,
    As,
    Default,
    Else,
    Not,
    Some,
    With,
    Null,
    True,
    False,
    In,
    Every,
    Contains,
    If,
    LogicalAnd,
    LogicalOr,
    Number,
    String,
    RawString,
    TemplatePart,
    TemplateEnd,
    RawTemplatePart,
    RawTemplateEnd,
    LBracket,
    RBracket,
    LBrace,
    RBrace,
    LParen,
    RParen,
    Comma,
    Colon,
    Plus,
    Minus,
    Times,
    Divide,
    Remainder,
    Ampersand,
    Pipe,
    Unify,
    Equal,
    Assign,
    NotEqual,
    Greater,
    Less,
    GreaterEqual,
    LessEqual,
    Dot,
    Semicolon,
}

impl Kind {
    /// Returns `true` for binary operators that compute a result.
    pub(crate) fn is_infix(self) -> bool {
        matches!(
            self,
            Self::Plus
                | Self::Minus
                | Self::Times
                | Self::Divide
                | Self::Remainder
                | Self::Ampersand
                | Self::Pipe
                | Self::Equal
                | Self::NotEqual
                | Self::Greater
                | Self::GreaterEqual
                | Self::Less
                | Self::LessEqual
        )
    }

    /// Returns the kind of a word as if every keyword were in force.
    pub(crate) fn of_word(word: &str) -> Self {
        match word {
            "package" => Self::Package,
            "import" => Self::Import,
            "as" => Self::As,
            "default" => Self::Default,
            "else" => Self::Else,
            "not" => Self::Not,
            "some" => Self::Some,
            "with" => Self::With,
            "null" => Self::Null,
            "true" => Self::True,
            "false" => Self::False,
            "in" => Self::In,
            "every" => Self::Every,
            "contains" => Self::Contains,
            "if" => Self::If,
            "and" => Self::LogicalAnd,
            "or" => Self::LogicalOr,
            _ => Self::Ident,
        }
    }

    /// Returns the keyword that must be imported, or the empty set for words that are always reserved.
    #[inline]
    pub(crate) fn needs(self) -> Keywords {
        match self {
            Self::In => Keywords::IN,
            Self::Every => Keywords::EVERY,
            Self::Contains => Keywords::CONTAINS,
            Self::If => Keywords::IF,
            Self::LogicalAnd => Keywords::AND,
            Self::LogicalOr => Keywords::OR,
            _ => Keywords::NONE,
        }
    }

    /// Returns `true` for keywords, including those of v1 and of imports.
    pub(crate) fn is_keyword(self) -> bool {
        matches!(
            self,
            Self::Package
                | Self::Import
                | Self::As
                | Self::Default
                | Self::Else
                | Self::Not
                | Self::Some
                | Self::With
                | Self::Null
                | Self::True
                | Self::False
                | Self::In
                | Self::Every
                | Self::Contains
                | Self::If
                | Self::LogicalAnd
                | Self::LogicalOr
        )
    }

    /// Returns the name used in messages. For operators that is the built-in's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Illegal => "illegal",
            Self::Eof => "eof",
            Self::Whitespace => "whitespace",
            Self::Ident => "identifier",
            Self::Package => "package",
            Self::Import => "import",
            Self::As => "as",
            Self::Default => "default",
            Self::Else => "else",
            Self::Not => "not",
            Self::Some => "some",
            Self::With => "with",
            Self::Null => "null",
            Self::True => "true",
            Self::False => "false",
            Self::In => "in",
            Self::Every => "every",
            Self::Contains => "contains",
            Self::If => "if",
            Self::LogicalAnd | Self::Ampersand => "and",
            Self::LogicalOr | Self::Pipe => "or",
            Self::Number => "number",
            Self::String | Self::RawString => "string",
            Self::TemplatePart => "template-string-part",
            Self::TemplateEnd => "template-string-end",
            Self::RawTemplatePart => "raw-template-string-part",
            Self::RawTemplateEnd => "raw-template-string-end",
            Self::LBracket => "[",
            Self::RBracket => "]",
            Self::LBrace => "{",
            Self::RBrace => "}",
            Self::LParen => "(",
            Self::RParen => ")",
            Self::Comma => ",",
            Self::Colon => ":",
            Self::Plus => "plus",
            Self::Minus => "minus",
            Self::Times => "mul",
            Self::Divide => "div",
            Self::Remainder => "rem",
            Self::Unify => "eq",
            Self::Equal => "equal",
            Self::Assign => "assign",
            Self::NotEqual => "neq",
            Self::Greater => "gt",
            Self::Less => "lt",
            Self::GreaterEqual => "gte",
            Self::LessEqual => "lte",
            Self::Dot => ".",
            Self::Semicolon => ";",
        }
    }

    /// Returns `true` if the token opens an operand of a reference or the arguments of a call.
    pub(crate) fn continues_reference(self) -> bool {
        matches!(self, Self::LParen | Self::Dot | Self::LBracket)
    }

    /// Returns the closing bracket for an opening bracket.
    pub(crate) fn closing(self) -> Option<Self> {
        match self {
            Self::LBracket => Some(Self::RBracket),
            Self::LBrace => Some(Self::RBrace),
            Self::LParen => Some(Self::RParen),
            _ => None,
        }
    }
}

/// A token. 24 bytes, so that the tokens of a file stay in cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub kind: Kind,
    /// `true` if a blank or a comment precedes it.
    pub spaced: bool,
    /// `true` if a line ends between the previous token and this one.
    pub newline: bool,
    /// Separators directly inside an opening bracket.
    pub inside: Inside,
    pub start: u32,
    pub end: u32,
    pub row: u32,
    pub col: u32,
    /// For a word, its index in the name table. For an opening bracket, the index of the closing one, or 0. For a part
    /// of a template, 0 for the first one. For a number, 0 if it is valid.
    pub link: u32,
}

/// Set of the separators directly inside a pair of brackets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inside(u8);

impl Inside {
    pub(crate) const COMMA: Self = Self(1);
    pub(crate) const COLON: Self = Self(2);
    pub(crate) const PIPE: Self = Self(4);

    pub(crate) fn insert(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}
