//! Functions that a host adds to the built-ins.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::{BuiltinContext, BuiltinError};
use crate::bug::bug;
use crate::types::{SignatureError, Type, parse_host_signature};
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
/// let engine = Engine::builder().function(half).build();
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
    /// Implementation.
    pub(crate) body: Arc<HostFunctionBody>,
}

impl HostFunction {
    /// A function from its declaration in the notation of the table of built-ins,
    /// `name: string => greeting: string`.
    ///
    /// # Errors
    /// The signature and the position at which it cannot be parsed. A signature that takes any number of arguments (`...`) or
    /// has no result (`void`) is an error, too.
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
    ) -> Result<Self, SignatureError> {
        let declaration = Type::from(parse_host_signature(signature)?);
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
    /// Fails if the declaration is not a function with a fixed number of arguments and a result.
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

    /// Returns the number of arguments.
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

/// The reason why a declaration in JSON is not the type of a host function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclarationError(Cow<'static, str>);

impl fmt::Display for DeclarationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DeclarationError {}
