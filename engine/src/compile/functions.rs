//! CheckUndefinedFuncs: calls name existing functions and have the right number of operands.

use std::borrow::Cow;

use solon_syntax::ast::visit::{Descent, Visitor, Walk};
use solon_syntax::ast::{Expr, ExprKind, Ref, Term, TermKind};
use solon_syntax::print::display_ref;
use solon_syntax::source::{Code, Diagnostic};

use super::compilation::{Compilation, Options};
use super::locals::Locals;
use super::query::QueryCompilation;
use super::report::Report;
use super::rule_tree::{RuleTree, RuleTreeNodeId};
use super::types::{TypeTree, arity_details};
use crate::types::FunctionType;

/// Functions that calls can name.
#[derive(Clone, Copy)]
pub struct CallableFunctions<'c> {
    options: &'c Options,
    tree: &'c RuleTree,
}

/// Function that a call names: with a declared type, or with the number of its arguments.
#[derive(Clone, Copy, Debug)]
pub enum CallTarget<'c> {
    /// A built-in or a function of the host, with its declared type.
    Builtin(&'c FunctionType),
    /// The rules of a node, with their number of arguments.
    Rules(RuleTreeNodeId, usize),
}

impl CallTarget<'_> {
    /// Number of arguments that a call must pass.
    pub fn arity(self) -> usize {
        match self {
            Self::Builtin(declaration) => declaration.arity(),
            Self::Rules(_, arity) => arity,
        }
    }
}

impl<'c> CallableFunctions<'c> {
    /// Creates a table of the built-ins, the functions of the host, and the rules of a tree.
    pub fn new(options: &'c Options, tree: &'c RuleTree) -> Self {
        Self { options, tree }
    }

    /// Returns the function that an operator names: rules have precedence over built-ins. Rules that are not functions have
    /// arity 0. `None` if nothing has the name.
    pub fn find(self, operator: &Term) -> Option<CallTarget<'c>> {
        let reference = operator.as_ref()?;
        if let Some(id) = self.tree.find(reference) {
            let node = self.tree.node(id);
            return (!node.rules.is_empty()).then_some(CallTarget::Rules(id, node.arity));
        }
        let declaration = self.options.declaration(&dotted(reference)?);
        declaration?.as_function().map(CallTarget::Builtin)
    }

    /// Returns the number of arguments of the function that an operator names, or `None` if nothing has the name.
    pub fn arity(self, operator: &Term) -> Option<usize> {
        self.find(operator).map(CallTarget::arity)
    }
}

/// Returns `a.b.c` for a reference whose steps are constant strings, otherwise `None`. A single name is not copied.
pub fn dotted(reference: &[Term]) -> Option<Cow<'_, str>> {
    let (head, steps) = reference.split_first()?;
    let head = head.as_var()?;
    if steps.is_empty() {
        return Some(Cow::Borrowed(head));
    }
    let mut name = String::with_capacity(32);
    name.push_str(head);
    for step in steps {
        name.push('.');
        name.push_str(step.as_string()?);
    }
    Some(Cow::Owned(name))
}

/// Checks the calls of all modules.
pub fn check_undefined_functions(compilation: &mut Compilation<'_>) {
    let mut check = CallCheck {
        functions: CallableFunctions::new(compilation.options, &compilation.rule_tree),
        documents: &compilation.types,
        locals: &compilation.locals,
        report: &mut compilation.report,
        package: None,
    };
    for module in compilation.modules.open() {
        check.package = Some(&module.package.path);
        module.walk(&mut check);
    }
}

/// Checks the calls of a query: each function must exist and get enough arguments.
pub fn check_undefined_functions_of_query(compilation: &mut QueryCompilation<'_>) {
    let compiled = compilation.compiled;
    let mut check = CallCheck {
        functions: CallableFunctions::new(compilation.options, &compiled.rule_tree),
        documents: &compiled.types,
        locals: &compilation.locals,
        report: &mut compilation.report,
        package: None,
    };
    compilation.body.walk(&mut check);
}

struct CallCheck<'c> {
    functions: CallableFunctions<'c>,
    /// Types of rules, which are available for queries only.
    documents: &'c TypeTree,
    locals: &'c Locals,
    report: &'c mut Report,
    /// Package whose functions are known by their names even if an argument shadows `data`.
    package: Option<&'c Ref>,
}

impl Visitor<'_> for CallCheck<'_> {
    fn expr(&mut self, expr: &Expr) -> Descent {
        match &expr.kind {
            ExprKind::Call(terms) => match terms.split_first() {
                Some((operator, operands)) => self.call(expr, operator, operands),
                None => Descent::Into,
            },
            ExprKind::Every(every) => {
                every.domain.walk(self);
                // names in its body are shadowed as well
                let package = self.package.take();
                every.body.walk(self);
                self.package = package;
                expr.with.walk(self);
                Descent::Over
            }
            _ => Descent::Into,
        }
    }
}

impl CallCheck<'_> {
    fn call(&mut self, expr: &Expr, operator: &Term, operands: &[Term]) -> Descent {
        let argument_count = operands.len();
        let arity = self
            .functions
            .arity(operator)
            .or_else(|| self.hidden_arity(operator));
        // each call that the compiler moved has an output operand; a user's call may have one
        let fits = arity.is_some_and(|arity| {
            argument_count == arity + 1
                || (!expr.generated && argument_count == arity)
                || (expr.generated && operator.is_operator("eq"))
        });
        if fits {
            return Descent::Into;
        }
        let name = match operator.as_ref() {
            Some(reference) => display_ref(&self.locals.restore(reference)).to_string(),
            None => operator.to_string(),
        };
        let diagnostic = match arity {
            None => self.diagnostic(expr, format!("undefined function {name}")),
            Some(arity) => self.mismatch(expr, &name, arity, operator, operands),
        };
        self.report.push(diagnostic);
        Descent::Over
    }

    /// Returns the number of arguments of a function of the package that is called by its name where an argument
    /// shadows `data`. The safety pass rejects such arguments.
    fn hidden_arity(&self, operator: &Term) -> Option<usize> {
        let path = self.locals.restore(operator.as_ref()?);
        let (name, package) = path.split_last()?;
        // a resolved name has the location of the name
        let is_named = package.iter().skip(1).all(|term| term.span == name.span);
        if !is_named || self.package.is_none_or(|own| own != package) {
            return None;
        }
        let path = Term::new(TermKind::Ref(path), operator.span);
        self.functions.arity(&path)
    }

    /// Reports a call with the wrong number of operands. If the function's type is known, the details compare it with
    /// the operands.
    fn mismatch(
        &self,
        expr: &Expr,
        name: &str,
        arity: usize,
        operator: &Term,
        operands: &[Term],
    ) -> Diagnostic {
        let options = self.functions.options;
        if let Some(details) =
            arity_details(options, self.documents, self.locals, operator, operands)
        {
            let mut diagnostic = self.diagnostic(expr, format!("{name}: arity mismatch"));
            (diagnostic.details, diagnostic.details_json) = details;
            return diagnostic;
        }
        let argument_count = operands.len() - usize::from(expr.generated && !operands.is_empty());
        let plural = if argument_count == 1 { "" } else { "s" };
        let message =
            format!("function {name} has arity {arity}, got {argument_count} argument{plural}");
        self.diagnostic(expr, message)
    }

    fn diagnostic(&self, expr: &Expr, message: String) -> Diagnostic {
        self.report.diagnostic(Code::Type, expr.span, message)
    }
}
