//! Function types: arguments, result, and whether arguments may be repeated.

use std::sync::Arc;

use super::Type;

/// Type of a function. Functions are not values, so it is never a component of another type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FunctionType {
    /// The arguments, in order.
    pub args: Vec<Parameter>,
    /// Type of all further arguments of a variadic function.
    pub variadic: Option<Type>,
    /// Result. `None` for void functions.
    pub result: Option<Parameter>,
}

/// An argument or a result, optionally named.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Parameter {
    /// Its name. `None` if the declaration has none.
    pub name: Option<Arc<str>>,
    /// Its type, which operands must fit.
    pub of: Type,
}

impl From<Type> for Parameter {
    fn from(ty: Type) -> Self {
        Self { name: None, of: ty }
    }
}

impl From<FunctionType> for Type {
    fn from(function: FunctionType) -> Self {
        Self::Function(Arc::new(function))
    }
}

impl FunctionType {
    /// Returns the type of a function with unnamed parameters, as rules define it. An unknown result is omitted.
    pub fn new(args: impl IntoIterator<Item = Type>, result: Type) -> Self {
        Self {
            args: args.into_iter().map(Parameter::from).collect(),
            variadic: None,
            result: result.is_known().then(|| result.into()),
        }
    }

    /// Returns the number of arguments, without variadic ones.
    pub fn arity(&self) -> usize {
        self.args.len()
    }

    /// Returns the type of the operand at a position of a call: an argument, the result after the arguments, or one of the
    /// further arguments. Returns `None` if the function has no such operand.
    pub fn operand(&self, position: usize) -> Option<&Type> {
        match self.args.get(position) {
            Some(parameter) => Some(&parameter.of),
            None if position == self.args.len() && self.result.is_some() => {
                self.result.as_ref().map(|result| &result.of)
            }
            None => self.variadic.as_ref(),
        }
    }

    /// Returns the types of the arguments, of further arguments and of the result.
    pub(super) fn component_types(&self) -> impl Iterator<Item = &Type> {
        let args = self.args.iter().map(|parameter| &parameter.of);
        args.chain(&self.variadic)
            .chain(self.result.iter().map(|result| &result.of))
    }

    /// Returns `true` if the type of an argument or of the result is unknown.
    pub(super) fn has_unknown(&self) -> bool {
        self.component_types().any(Type::has_unknown)
    }
}
