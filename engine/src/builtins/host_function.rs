//! Functions that a host adds to the built-ins.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use solon_syntax::ast::{TermKind, Version};
use solon_syntax::source::{Source, SourceId};
use solon_syntax::{ParseOptions, parse_term};

use super::registry::lookup;
use super::{BuiltinContext, BuiltinError};
use crate::bug::bug;
use crate::types::{Type, parse_host_signature};
use crate::value::ValueRef;

pub(crate) type HostFunctionBody = dyn for<'e> Fn(&mut BuiltinContext<'e>, &[ValueRef<'e>]) -> Result<ValueRef<'e>, BuiltinError>
    + Send
    + Sync;

/// A function that a host adds to the built-ins.
///
/// ```
/// use solon::{BuiltinError, Engine, HostFunction, Request, ValueRef};
///
/// let half = HostFunction::new("half", "whole: number => half: number", |_, operands| {
///     let number = operands.first().and_then(|number| number.as_i64());
///     Ok(ValueRef::from(number.ok_or(BuiltinError::Undefined)? / 2))
/// })?;
/// let engine = Engine::builder().function(half)?.build();
/// engine.set_module("p.rego", "package p\nanswer := half(input.n)")?;
/// let document = engine.prepare_document("data.p.answer")?;
/// assert_eq!(document.evaluate(&Request::new().input_json(br#"{"n": 84}"#))?, Some(42.into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct HostFunction {
    /// Name, as policies call it. May contain dots.
    pub(crate) name: Arc<str>,
    /// Type, a [`Type::Function`] of fixed arity with a result.
    pub(crate) declaration: Type,
    /// `true` if equal calls within an evaluation are made only once.
    pub(crate) memoise: bool,
    /// `true` if it may wait for external I/O. Decisions that call it must not run on a thread that others wait for.
    pub(crate) waits: bool,
    pub(crate) body: Arc<HostFunctionBody>,
}

impl HostFunction {
    /// Returns a function, given its declaration in the notation of the table of built-ins,
    /// `name: string => greeting: string`.
    ///
    /// Calls with arguments of other types do not compile. The type of a value in `input` is not known to the compiler, so
    /// the body must check it. The type of the result is not checked.
    ///
    /// # Errors
    /// Fails if policies cannot call a function by this name: it consists of identifiers that are not keywords, separated by
    /// dots, and is neither that of a built-in nor begins with `data` or `input`. Fails for a signature that cannot be parsed,
    /// that takes any number of arguments (`...`), or that has no result (`void`).
    ///
    /// ```
    /// let error = solon::HostFunction::new("half", "whole: nmber => half: number", |_, _| Err(solon::BuiltinError::Undefined));
    /// let message = "invalid signature `whole: nmber => half: number`: expected a type at byte 7";
    /// assert_eq!(error.unwrap_err().to_string(), message);
    /// ```
    pub fn new(
        name: &str,
        signature: &str,
        body: impl for<'e> Fn(
            &mut BuiltinContext<'e>,
            &[ValueRef<'e>],
        ) -> Result<ValueRef<'e>, BuiltinError>
        + Send
        + Sync
        + 'static,
    ) -> Result<Self, DeclarationError> {
        check_name(name)?;
        let declaration = Type::from(
            parse_host_signature(signature)
                .map_err(|error| DeclarationError(error.to_string().into()))?,
        );
        Ok(Self {
            name: name.into(),
            declaration,
            memoise: true,
            waits: false,
            body: Arc::new(body),
        })
    }

    /// Returns a function, given its declaration in the JSON format of capabilities: `{"type": "function", "args":
    /// [{"type": "string"}], "result": {"type": "boolean"}}`.
    ///
    /// # Errors
    /// Fails for names that [`Self::new`] rejects, and if the declaration is not a function with a fixed number of arguments
    /// and a result.
    ///
    /// ```
    /// use solon::{BuiltinError, HostFunction};
    ///
    /// let declaration = br#"{"type": "function", "args": [], "variadic": {"type": "any"}, "result": {"type": "any"}}"#;
    /// let error = HostFunction::from_declaration("f", declaration, |_, _| Err(BuiltinError::Undefined));
    /// assert_eq!(error.unwrap_err().to_string(), "the number of its arguments must be fixed");
    /// ```
    pub fn from_declaration(
        name: &str,
        declaration: &[u8],
        body: impl for<'e> Fn(
            &mut BuiltinContext<'e>,
            &[ValueRef<'e>],
        ) -> Result<ValueRef<'e>, BuiltinError>
        + Send
        + Sync
        + 'static,
    ) -> Result<Self, DeclarationError> {
        check_name(name)?;
        let json = serde_json::from_slice(declaration)
            .map_err(|error| DeclarationError(error.to_string().into()))?;
        let declaration =
            Type::from_json(&json).map_err(|message| DeclarationError(message.into()))?;
        match &declaration {
            Type::Function(function) if function.variadic.is_some() => Err(DeclarationError(
                "the number of its arguments must be fixed".into(),
            )),
            Type::Function(function) if function.result.is_none() => {
                Err(DeclarationError("it must have a result".into()))
            }
            Type::Function(_) => Ok(Self {
                name: name.into(),
                declaration,
                memoise: true,
                waits: false,
                body: Arc::new(body),
            }),
            _ => Err(DeclarationError("its declaration is not a function".into())),
        }
    }

    /// Disables memoization: equal calls are made each time.
    #[must_use]
    pub fn without_memo(mut self) -> Self {
        self.memoise = false;
        self
    }

    /// Marks it as waiting for external I/O. Documents that need it report that
    /// ([`crate::PreparedDocument::may_block`]).
    #[must_use]
    pub fn waiting(mut self) -> Self {
        self.waits = true;
        self
    }

    /// Calls it, unless an operand exceeds the traversal limit.
    pub(crate) fn call<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        if call.arena.has_oversized() && operands.iter().any(ValueRef::is_oversized) {
            return Err(BuiltinError::memory());
        }
        match call.hooks.recorded {
            Some(recorded) if !self.is_pure() => recorded.invoke(self, call, operands),
            _ => self.invoke(call, operands),
        }
    }

    /// Runs the body, which may evaluate other queries.
    pub(super) fn invoke<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        if !self.waits {
            return (self.body)(call, operands);
        }
        let hooks = call.hooks;
        hooks.host_call(|| (self.body)(call, operands))?
    }

    /// Returns `true` if calling it again with equal arguments has no effect: it is neither [waiting](Self::waiting)
    /// nor [without memo](Self::without_memo). Results of other functions are recorded, and the search for the error of
    /// a failed evaluation uses the recorded results.
    pub fn is_pure(&self) -> bool {
        self.memoise && !self.waits
    }

    /// Returns the name, as policies call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of arguments that a call must pass.
    pub fn arity(&self) -> usize {
        match &self.declaration {
            Type::Function(function) => function.args.len(),
            _ => bug!("a declaration that is not a function type"),
        }
    }
}

impl fmt::Debug for HostFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostFunction")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Returns an error if policies cannot call a host function by a name.
fn check_name(name: &str) -> Result<(), DeclarationError> {
    let root = name.split('.').next().unwrap_or_default();
    let reason = if matches!(root, "data" | "input") {
        format!("begins with the document `{root}`")
    } else if !is_callable(name) {
        "cannot be called: expected identifiers that are not keywords, separated by dots, such as `acme.lookup`".to_owned()
    } else if lookup(name).is_some() {
        "is that of a built-in function".to_owned()
    } else {
        return Ok(());
    };
    Err(DeclarationError(
        format!("the name `{name}` {reason}").into(),
    ))
}

/// Returns `true` if a name followed by parentheses is a call of a function of that name.
fn is_callable(name: &str) -> bool {
    let is_of_identifiers = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    if !name.bytes().all(is_of_identifiers) {
        return false;
    }
    let source = Source::new(SourceId(0), "", format!("{name}()"));
    let term = parse_term(&source, &ParseOptions::from_version(Version::V1));
    let Ok(TermKind::Call(terms)) = term.map(|term| term.kind) else {
        return false;
    };
    let is_wildcard = name.split('.').next() == Some("_");
    !is_wildcard
        && terms
            .first()
            .is_some_and(|function| function.to_string() == name)
}

/// The reason why a host function is not valid: its name, or its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclarationError(Cow<'static, str>);

impl fmt::Display for DeclarationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DeclarationError {}

#[cfg(test)]
mod tests {
    use super::{BuiltinError, HostFunction};

    #[test]
    fn names_that_policies_can_call_are_valid() {
        let check = |name: &str| {
            let named = HostFunction::new(name, "=> x: any", |_, _| Err(BuiltinError::Undefined));
            let json = br#"{"type": "function", "args": [], "result": {"type": "any"}}"#;
            let declared =
                HostFunction::from_declaration(name, json, |_, _| Err(BuiltinError::Undefined));
            assert_eq!(named.as_ref().err(), declared.as_ref().err(), "{name}");
            named.err().map(|error| error.to_string())
        };
        for name in [
            "f",
            "f1",
            "_f",
            "acme.lookup",
            "a.b.c_2",
            "json.own",
            "set_of",
            "inputs",
            "database.f",
        ] {
            assert_eq!(check(name), None, "{name}");
        }
        for (names, reason) in [
            (
                &["data", "input", "data.x", "input.user"][..],
                "begins with the document",
            ),
            (
                &[
                    "", ".", "a.", ".a", "a..b", "a b", " a", "a ", "1a", "x.y-z", "a/b", "é",
                    "a\0", "if", "in", "not", "true", "null", "every", "set", "_", "_.a", "a[0]",
                    "a()", "f(x).g", "a#", "a\n", "x.1",
                ],
                "cannot be called",
            ),
            (
                &["count", "http.send", "print", "eq", "json.marshal", "plus"],
                "is that of a built-in function",
            ),
        ] {
            for name in names {
                let message = check(name).unwrap_or_else(|| panic!("`{name}` is accepted"));
                assert!(
                    message.starts_with(&format!("the name `{name}` {reason}")),
                    "{message}"
                );
            }
        }
    }
}
