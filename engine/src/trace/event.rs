//! Events of a search, and the observers that receive them.

use std::sync::Arc;

use solon_syntax::ast::{Body, Expr, Name, Rule, Term};
use solon_syntax::source::Span;

/// Kind of an event, with OPA's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Op {
    /// Search of a body or rule begins.
    Enter,
    /// A solution was found.
    Exit,
    /// An expression is evaluated.
    Eval,
    /// The next solution is searched.
    Redo,
    /// No solution is left.
    Fail,
    /// Partial evaluation saves an expression.
    Save,
    /// A rule produced an element that already exists.
    Duplicate,
    /// `trace` was called; the event has its message.
    Note,
    /// The rule index was queried.
    Index,
    /// Two terms are unified.
    Unify,
    /// A case of a test begins; the event has its name.
    TestCase,
}

impl Op {
    /// Returns OPA's name of the kind.
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

/// Syntax node that an event is about.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EventNode {
    /// A body: of a rule, a query, a comprehension, `every` or a negation.
    Body(Arc<Body>),
    /// A rule, and the path of its document.
    Rule(Arc<Rule>, Arc<str>),
    /// An expression of a body.
    Expr(Arc<Expr>),
}

/// A variable and its binding.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Local {
    /// Name of the variable in canonical bodies.
    pub name: Name,
    /// Name that the user wrote, not the generated one.
    pub user_name: Name,
    /// Bound term.
    pub value: Arc<Term>,
    /// Source location of the bound variable; empty for generated variables.
    pub span: Span,
}

/// Event of a search, in the order of evaluation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Event {
    /// Kind of the event.
    pub op: Op,
    /// Number of the body being searched.
    pub query_id: u64,
    /// Number of the enclosing body.
    pub parent_id: u64,
    /// Syntax node that the event is about.
    pub node: EventNode,
    /// Source location.
    pub span: Span,
    /// Bound variables, ordered by name.
    pub locals: Vec<Local>,
    /// Documents that the node refers to, if rules have produced them already.
    pub documents: Vec<(Arc<Term>, Arc<Term>)>,
    /// Additional message.
    pub message: String,
    /// Document whose rules were selected.
    pub reference: Option<Term>,
}

/// Receiver of the events of a search.
///
/// ```
/// use solon::trace::{Event, Observer, Op};
/// use solon::{Engine, Request};
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
/// query.search(&Request::new(), &mut failures)?;
/// assert_eq!(failures.0, 1);
/// # Ok::<(), solon::Error>(())
/// ```
pub trait Observer {
    /// Receives an event. The evaluation waits for it.
    fn event(&mut self, event: Event);

    /// Returns `true` if the observer needs events of this kind.
    fn wants(&self, _op: Op) -> bool {
        true
    }

    /// Returns `true` if the observer needs the bindings of variables.
    fn needs_locals(&self) -> bool {
        true
    }

    /// Returns `true` if the observer needs the documents that rules have produced.
    fn needs_documents(&self) -> bool {
        false
    }

    /// Returns `true` if the observer received more than it can keep. The search then ends with an error.
    fn is_full(&self) -> bool {
        false
    }
}

/// Several observers; each receives the events that it needs.
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

impl Observer for Vec<Event> {
    fn event(&mut self, event: Event) {
        self.push(event);
    }
}
