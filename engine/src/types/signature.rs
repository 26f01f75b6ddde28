//! Notation of function signatures in the table of built-ins: `haystack: string, needle: string => output: boolean`,
//! `...: any => void`.

use std::fmt;

use super::{FunctionType, Parameter, Type};
use crate::limits;
use crate::value::Value;

/// Syntax error of a function signature.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignatureError {
    /// Signature, as it was written.
    pub signature: Box<str>,
    /// Byte offset at which parsing stopped.
    pub offset: usize,
    /// Syntax expected there.
    pub expected: &'static str,
}

impl fmt::Display for SignatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (signature, offset) = (&self.signature, self.offset);
        write!(
            f,
            "invalid signature `{signature}`: expected {} at byte {offset}",
            self.expected
        )
    }
}

impl std::error::Error for SignatureError {}

/// Parses the signature of a host function.
///
/// # Errors
///
/// Fails if the text is not a signature, or if the function has further arguments or no result.
pub fn parse_host_signature(text: &str) -> Result<FunctionType, SignatureError> {
    let function = try_parse_signature(text)?;
    let error_at = |offset: Option<usize>, expected| SignatureError {
        signature: text.into(),
        offset: offset.unwrap_or_default(),
        expected,
    };
    if function.variadic.is_some() {
        return Err(error_at(text.find("..."), "a fixed number of arguments"));
    }
    if function.result.is_none() {
        return Err(error_at(text.rfind("void"), "a result"));
    }
    Ok(function)
}

/// Parses a signature. The error contains the offset of the first invalid token, and what is expected there.
pub fn try_parse_signature(text: &str) -> Result<FunctionType, SignatureError> {
    let mut parser = SignatureParser { text, at: 0 };
    let mut args = Vec::new();
    let mut variadic = None;
    while !parser.eat("=>") {
        if !args.is_empty() {
            parser.expect(",", "`,` or `=>`")?;
        }
        if parser.eat("...") {
            parser.expect(":", "`:`")?;
            variadic = Some(parser.parse_type(0)?);
            parser.expect("=>", "`=>`")?;
            break;
        }
        args.push(parser.parameter()?);
    }
    let result = if parser.eat("void") {
        None
    } else {
        Some(parser.parameter()?)
    };
    if parser.rest().is_empty() {
        Ok(FunctionType {
            args,
            variadic,
            result,
        })
    } else {
        Err(parser.fail("the end"))
    }
}

struct SignatureParser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> SignatureParser<'a> {
    /// Skips blanks and returns the rest of the text.
    fn rest(&mut self) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    fn fail(&self, expected: &'static str) -> SignatureError {
        SignatureError {
            signature: self.text.into(),
            offset: self.at,
            expected,
        }
    }

    fn eat(&mut self, token: &str) -> bool {
        let matches = self.rest().starts_with(token);
        if matches {
            self.at += token.len();
        }
        matches
    }

    fn expect(&mut self, token: &str, expected: &'static str) -> Result<(), SignatureError> {
        if self.eat(token) {
            Ok(())
        } else {
            Err(self.fail(expected))
        }
    }

    fn name(&mut self) -> Result<&'a str, SignatureError> {
        let rest = self.rest();
        let end = rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric());
        let name = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        if name.is_empty() {
            return Err(self.fail("a name"));
        }
        self.at += name.len();
        Ok(name)
    }

    fn parameter(&mut self) -> Result<Parameter, SignatureError> {
        let start = self.at;
        self.name()?;
        let mut end = self.at;
        // the result of one built-in has a name of two words
        if self.rest().starts_with(|c: char| c.is_ascii_alphabetic()) {
            self.name()?;
            end = self.at;
        }
        let name = self.text.get(start..end).unwrap_or_default();
        let name = self.eat(":").then(|| name.trim_start().into());
        if name.is_none() {
            self.at = start;
        }
        let ty = self.parse_type(0)?;
        Ok(Parameter { name, of: ty })
    }

    fn parse_type(&mut self, depth: usize) -> Result<Type, SignatureError> {
        if depth > limits::TYPE_NESTING {
            return Err(self.fail("less nesting"));
        }
        self.rest();
        let start = self.at;
        Ok(match self.name()? {
            "null" => Type::Null,
            "boolean" => Type::Boolean,
            "number" => Type::Number,
            "string" => Type::String,
            "any" if self.eat("<") => Type::any_of(self.types(depth)?),
            "any" => Type::Any,
            "set" => {
                self.expect("[", "`[`")?;
                let ty = self.parse_type(depth + 1)?;
                self.expect("]", "`]`")?;
                Type::set(ty)
            }
            "array" => {
                let fixed = if self.eat("<") {
                    self.types(depth)?
                } else {
                    Vec::new()
                };
                let mut rest = None;
                if self.eat("[") {
                    rest = Some(self.parse_type(depth + 1)?);
                    self.expect("]", "`]`")?;
                }
                Type::array(fixed, rest)
            }
            "object" => {
                let fixed = if self.eat("<") {
                    self.properties(depth)?
                } else {
                    Vec::new()
                };
                let mut rest = None;
                if self.eat("[") {
                    let key = self.parse_type(depth + 1)?;
                    self.expect(":", "`:`")?;
                    rest = Some((key, self.parse_type(depth + 1)?));
                    self.expect("]", "`]`")?;
                }
                Type::object(fixed, rest)
            }
            _ => {
                self.at = start;
                return Err(self.fail("a type"));
            }
        })
    }

    fn types(&mut self, depth: usize) -> Result<Vec<Type>, SignatureError> {
        let mut types = vec![self.parse_type(depth + 1)?];
        while self.eat(",") {
            types.push(self.parse_type(depth + 1)?);
        }
        self.expect(">", "`,` or `>`")?;
        Ok(types)
    }

    fn properties(&mut self, depth: usize) -> Result<Vec<(Value, Type)>, SignatureError> {
        let mut properties = Vec::new();
        loop {
            let key = Value::string(self.name()?);
            self.expect(":", "`:`")?;
            properties.push((key, self.parse_type(depth + 1)?));
            if !self.eat(",") {
                break;
            }
        }
        self.expect(">", "`,` or `>`")?;
        Ok(properties)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_notation_is_that_of_messages() {
        for (text, printed) in [
            (
                "haystack: string, needle: string => output: boolean",
                "(haystack: string, needle: string) => output: boolean",
            ),
            ("any, any => boolean", "(any, any) => boolean"),
            ("=> number", "() => number"),
            ("...: any => void", "(any...) => ???"),
            (
                "x: any<set[any], array[any]> => any<string>",
                "(x: any<array[any], set[any]>) => any<string>",
            ),
            (
                "opts: object<prefix: string, indent: string>[string: any] => array<array[any], any>",
                "(opts: object<indent: string, prefix: string>[string: any]) => array<array[any], any>",
            ),
            (
                "graph: object[any: any<array[any], set[any]>] => set[array<boolean, null>[number]]",
                "(graph: object[any: any<array[any], set[any]>]) => set[array<boolean, null>[number]]",
            ),
        ] {
            let parsed = try_parse_signature(text).map(|function| function.to_string());
            assert_eq!(parsed.as_deref(), Ok(printed), "{text}");
        }
    }

    #[test]
    fn malformed_signatures_are_rejected() {
        for (text, offset) in [
            ("", 0),
            ("string", 6),
            ("string => ", 10),
            ("string => strin", 10),
            ("array<string => any", 13),
            ("set => any", 4),
            ("object<a string> => any", 9),
            ("string => any any", 14),
        ] {
            let error = try_parse_signature(text).unwrap_err();
            assert_eq!(error.offset, offset, "{text}: {error}");
        }
        let deep = "set[".repeat(10_000);
        assert_eq!(
            try_parse_signature(&deep).unwrap_err().expected,
            "less nesting"
        );
    }

    #[test]
    fn functions_of_a_host_have_fixed_arguments_and_a_result() {
        for (text, error) in [
            ("x: any => y: any", None),
            ("=> number", None),
            (
                "...: any => y: any",
                Some(
                    "invalid signature `...: any => y: any`: expected a fixed number of arguments at byte 0",
                ),
            ),
            (
                "x: any => void",
                Some("invalid signature `x: any => void`: expected a result at byte 10"),
            ),
            (
                "x: nmber => y: any",
                Some("invalid signature `x: nmber => y: any`: expected a type at byte 3"),
            ),
        ] {
            let actual = parse_host_signature(text).err();
            assert_eq!(actual.map(|error| error.to_string()).as_deref(), error);
        }
    }

    #[test]
    fn built_in_signatures_match_opa() {
        let record = include_str!("../../../tests/cases/builtins/declarations.txt");
        let published: std::collections::HashMap<_, _> = record
            .lines()
            .filter_map(|line| line.split_once('\t'))
            .collect();
        for entry in crate::builtins::all() {
            let name = entry.builtin.name;
            if let Some(declaration) = published.get(name) {
                assert_eq!(entry.builtin.signature, *declaration, "{name}");
            }
        }
    }

    #[test]
    fn every_builtin_declares_a_function() {
        for entry in crate::builtins::all() {
            let name = entry.builtin.name;
            let parsed = try_parse_signature(entry.builtin.signature);
            assert!(parsed.is_ok(), "{name}: {}", parsed.unwrap_err());
        }
    }
}
