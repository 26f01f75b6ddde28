//! Events of a search.

use std::sync::Arc;

use solon_syntax::ast::{Body, Expr, Name, Rule, Term};
use solon_syntax::source::Span;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Op {
    /// A body or a rule is searched.
    Enter,
    /// A solution was found.
    Exit,
    /// An expression is searched.
    Eval,
    /// The next solution is looked for.
    Redo,
    /// There is no solution.
    Fail,
    /// Partial evaluation keeps an expression.
    Save,
    /// A rule made what was there.
    Duplicate,
    /// `trace` was called.
    Note,
    /// Rules were looked up.
    Index,
    /// Two terms are unified.
    Unify,
    /// A case of a test begins.
    TestCase,
}

impl Op {
    /// The published name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enter => "Enter",
            Self::Exit => "Exit",
            Self::Eval => "Eval",
            Self::Redo => "Redo",
            Self::Fail => "Fail",
            Self::Save => "Save",
            Self::Duplicate => "Duplicate",
            Self::Note => "Note",
            Self::Index => "Index",
            Self::Unify => "Unify",
            Self::TestCase => "TestCase",
        }
    }
}

/// What it happened to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Node {
    /// A body.
    Body(Arc<Body>),
    /// A rule, and the path of its document.
    Rule(Arc<Rule>, Arc<str>),
    /// An expression.
    Expr(Arc<Expr>),
}

/// A variable and what it is bound to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Local {
    /// The variable's name in canonical bodies.
    pub name: Name,
    /// The user's name of it.
    pub shown: Name,
    /// What it is bound to.
    pub value: Arc<Term>,
    /// Where the variable stands that was bound; nowhere for generated ones.
    pub span: Span,
}

/// An event.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Event {
    /// What happened.
    pub op: Op,
    /// Number of the body being searched.
    pub query_id: u64,
    /// Number of the body around it.
    pub parent_id: u64,
    /// What it happened to.
    pub node: Node,
    /// Where.
    pub span: Span,
    /// The bound variables, in the order of their names.
    pub locals: Vec<Local>,
    /// The documents that the node refers to and that rules have made by now.
    pub documents: Vec<(Arc<Term>, Arc<Term>)>,
    /// Words about it.
    pub message: String,
    /// The document whose rules were looked up.
    pub reference: Option<Term>,
}

/// Who is told each step of a search.
///
/// ```
/// use solon::trace::{Event, Observer, Op};
/// use solon::{Engine, Request, SearchOptions};
///
/// #[derive(Default)]
/// struct Failures(usize);
///
/// impl Observer for Failures {
///     fn event(&mut self, event: Event) {
///         self.0 += usize::from(event.op == Op::Fail);
///     }
/// }
///
/// let query = Engine::new().prepare_query("some x in [1, 2, 3]; x > 1")?;
/// let mut failures = Failures::default();
/// query.search_as(&Request::new(), SearchOptions::default().observer(&mut failures))?;
/// assert_eq!(failures.0, 1);
/// # Ok::<(), solon::Error>(())
/// ```
pub trait Observer {
    /// Is told.
    fn event(&mut self, event: Event);

    /// Whether it is told events of a kind.
    fn wants(&self, _op: Op) -> bool {
        true
    }

    /// Whether it is told what variables are bound to.
    fn needs_locals(&self) -> bool {
        true
    }

    /// Whether it is told which documents rules have made.
    fn needs_documents(&self) -> bool {
        false
    }

    /// Whether it has been told more than it keeps, so that the search ends with an error.
    fn is_full(&self) -> bool {
        false
    }
}

/// Several observers, each told what it wants.
#[derive(Default)]
pub struct Observers<'o>(pub Vec<&'o mut dyn Observer>);

impl Observer for Observers<'_> {
    fn event(&mut self, event: Event) {
        for observer in &mut self.0 {
            if observer.wants(event.op) {
                observer.event(event.clone());
            }
        }
    }

    fn wants(&self, op: Op) -> bool {
        self.0.iter().any(|observer| observer.wants(op))
    }

    fn needs_locals(&self) -> bool {
        self.0.iter().any(|observer| observer.needs_locals())
    }

    fn needs_documents(&self) -> bool {
        self.0.iter().any(|observer| observer.needs_documents())
    }

    fn is_full(&self) -> bool {
        self.0.iter().any(|observer| observer.is_full())
    }
}

/// Keeps what it is told.
impl Observer for Vec<Event> {
    fn event(&mut self, event: Event) {
        self.push(event);
    }
}
