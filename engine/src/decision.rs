//! Typed decisions: a document with a typed input and a typed result.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, InputError};
use crate::query::{PreparedDocument, Request};
use crate::value::serde::{from_value, to_value};

/// A document whose input is an `In` and whose value is an `Out`. Made by [`Engine::prepare`](crate::Engine::prepare).
///
/// ```
/// use solon::{Decision, Engine};
///
/// #[derive(serde::Serialize)]
/// struct Login<'a> {
///     user: &'a str,
/// }
///
/// let engine = Engine::new();
/// engine.set_module("p.rego", "package p\nroles contains \"admin\" if input.user == \"alice\"")?;
/// let roles: Decision<Login<'_>, Vec<String>> = engine.prepare("data.p.roles")?;
/// assert_eq!(roles.decide(&Login { user: "alice" })?, Some(vec!["admin".to_owned()]));
/// # Ok::<(), solon::Error>(())
/// ```
pub struct Decision<In: ?Sized, Out> {
    document: PreparedDocument,
    types: PhantomData<fn(&In) -> Out>,
}

impl<In: ?Sized, Out> Clone for Decision<In, Out> {
    fn clone(&self) -> Self {
        Self::new(self.document.clone())
    }
}

impl<In: ?Sized, Out> Decision<In, Out> {
    pub(crate) fn new(document: PreparedDocument) -> Self {
        Self {
            document,
            types: PhantomData,
        }
    }

    /// Returns the underlying document, for requests that set more than an input.
    pub fn document(&self) -> &PreparedDocument {
        &self.document
    }
}

impl<In: Serialize + ?Sized, Out: DeserializeOwned> Decision<In, Out> {
    /// Evaluates the document, or returns `None` if it is undefined.
    ///
    /// # Errors
    /// [`Error::Input`] if the input cannot be converted to a value, [`Error::Eval`] if the evaluation fails,
    /// [`Error::Output`] if the document cannot be converted to `Out`.
    pub fn decide(&self, input: &In) -> Result<Option<Out>, Error> {
        let input =
            to_value(input).map_err(|error| Error::Input(InputError::new(error.to_string())))?;
        let result = self.document.evaluate(&Request::new().input(&input))?;
        result
            .map(|value| from_value(value.borrow()))
            .transpose()
            .map_err(Error::Output)
    }
}
