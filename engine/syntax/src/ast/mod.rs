//! The syntax tree, as the grammar builds it and the compiler rewrites it.
//!
//! Its structure follows OPA's AST: a call is a list whose first term is the operator's reference, `x == 1` is a call
//! of `equal`, `x := 1` of `assign`, `x = 1` of `eq`, `x in xs` of `internal.member_2`.

mod annotation;
mod children;
mod module;
mod number;
pub mod order;
mod term;
mod vars;
pub mod visit;

pub use annotation::{
    Annotation, Author, CompileHints, RelatedResource, SchemaRef, SchemaTarget, Scope,
};
pub use children::Children;
pub use module::{
    Body, Comment, Every, Expr, ExprKind, Head, Import, Logical, Module, Not, Package, Rule,
    SomeDecl, Version, With,
};
pub use term::{Comprehension, Name, Ref, Template, TemplatePart, Term, TermKind};
pub use vars::VarScan;
