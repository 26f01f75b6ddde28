//! Names of wildcards in source text.

use std::collections::BTreeMap;

use solon_syntax::ast::visit::{Descent, Terms, VisitorMut, Walk, WalkMut};
use solon_syntax::ast::{Name, Term, TermKind};

/// Names the variables of wildcards that occur more than once in a node, so that its text has the same meaning: `_` would be another
/// variable in each place.
pub fn name_repeated(node: &mut (impl Walk + WalkMut)) {
    let mut counts: BTreeMap<Name, usize> = BTreeMap::new();
    node.walk(&mut Terms(|term: &Term| {
        if let Some(name) = term.as_var().filter(|name| name.starts_with('$')) {
            *counts.entry(name.clone()).or_default() += 1;
        }
        Descent::Into
    }));
    counts.retain(|_, count| *count > 1);
    if !counts.is_empty() {
        node.walk_mut(&mut Namer { repeated: counts });
    }
}

struct Namer {
    /// Variables of wildcards that occur more than once.
    repeated: BTreeMap<Name, usize>,
}

impl VisitorMut for Namer {
    fn term(&mut self, term: &mut Term) -> Descent {
        if let TermKind::Var(name) = &mut term.kind
            && self.repeated.contains_key(name)
            && let Some(rest) = name.strip_prefix('$')
        {
            let underscore = if rest.starts_with('_') { "" } else { "_" };
            *name = format!("{underscore}{rest}").as_str().into();
        }
        Descent::Into
    }
}

#[cfg(test)]
mod tests {
    use solon_syntax::ast::{Body, Expr, ExprKind, Term, TermKind};
    use solon_syntax::print::display_body;
    use solon_syntax::source::Span;

    use super::name_repeated;

    /// Returns the text of a body after naming. Each of its expressions is a list of variables.
    fn named(lists: &[&[&str]]) -> String {
        let expr = |names: &&[&str]| {
            let names = names.iter().map(|name| Term::var(*name, Span::default()));
            let list = TermKind::Array(names.collect::<Vec<_>>().into());
            Expr::new(
                ExprKind::Term(Term::new(list, Span::default())),
                Span::default(),
            )
        };
        let mut body: Body = lists.iter().map(expr).collect();
        name_repeated(&mut body);
        display_body(&body).to_string()
    }

    #[test]
    fn wildcards_that_occur_once_stay() {
        assert_eq!(named(&[&["$0", "x"], &["$1", "x"]]), "[_, x]; [_, x]");
        assert_eq!(named(&[&["$02"], &["$1", "$02"]]), "[_02]; [_, _02]");
        assert_eq!(named(&[&["$0", "$0"]]), "[_0, _0]");
        assert_eq!(
            named(&[&["$_term_0"], &["$_term_0"]]),
            "[_term_0]; [_term_0]"
        );
    }
}
