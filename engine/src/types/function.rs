//! Types of functions.

use std::sync::Arc;

use super::Type;

/// The type of a function. Functions are no values, so this never is part of another type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FunctionType {
    /// The arguments.
    pub args: Vec<Parameter>,
    /// Type of all further arguments of a variadic function.
    pub variadic: Option<Type>,
    /// The result; `None` for void functions.
    pub result: Option<Parameter>,
}

/// An argument or a result, which declarations may name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Parameter {
    /// Its name.
    pub name: Option<Arc<str>>,
    /// Its type.
    pub of: Type,
}

impl From<Type> for Parameter {
    fn from(of: Type) -> Self {
        Self { name: None, of }
    }
}

impl From<FunctionType> for Type {
    fn from(function: FunctionType) -> Self {
        Self::Function(Arc::new(function))
    }
}

impl FunctionType {
    /// A function of unnamed parameters, as rules define it. What it results in has no place if it is not known.
    pub fn new(args: impl IntoIterator<Item = Type>, result: Type) -> Self {
        Self {
            args: args.into_iter().map(Parameter::from).collect(),
            variadic: None,
            result: result.is_known().then(|| result.into()),
        }
    }

    /// Number of arguments, variadic ones not counted.
    pub fn arity(&self) -> usize {
        self.args.len()
    }

    /// Type of the operand at a position of a call: an argument, the result behind the arguments, or one of
    /// the further arguments.
    pub fn operand(&self, position: usize) -> Option<&Type> {
        match self.args.get(position) {
            Some(parameter) => Some(&parameter.of),
            None if position == self.args.len() && self.result.is_some() => {
                self.result.as_ref().map(|result| &result.of)
            }
            None => self.variadic.as_ref(),
        }
    }

    pub(super) fn component_types(&self) -> impl Iterator<Item = &Type> {
        let args = self.args.iter().map(|parameter| &parameter.of);
        args.chain(&self.variadic)
            .chain(self.result.iter().map(|result| &result.of))
    }

    pub(super) fn has_unknown(&self) -> bool {
        self.component_types().any(Type::has_unknown)
    }
}
