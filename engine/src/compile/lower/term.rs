//! Lowering of terms to operands.

use std::sync::Arc;

use solon_syntax::ast::{Comprehension, Name, Term, TermKind};

use super::body::Lowering;
use crate::compile::optimisations::Optimisation;
use crate::program::{Collector, Operand, Step};
use crate::value::{Arena, Shape, Value};

impl Lowering<'_> {
    /// Evaluates a term whose variables are all bound, except those in references.
    pub(super) fn term(&mut self, term: &Term) -> Operand {
        if (term.is_scalar() || self.makes(Optimisation::FoldConstants))
            && let Some(id) = self.constants.of_term(term)
        {
            return Operand::Const(id);
        }
        match &term.kind {
            TermKind::Var(name) => self.var(name),
            TermKind::Ref(terms) => self.reference(terms),
            TermKind::Array(items) => {
                let items = items.iter().map(|item| self.term(item)).collect();
                let out = self.slot();
                self.push(Step::MakeArray { items, out });
                Operand::Slot(out)
            }
            TermKind::Set(items) => {
                let items = items.iter().map(|item| self.term(item)).collect();
                let out = self.slot();
                self.push(Step::MakeSet { items, out });
                Operand::Slot(out)
            }
            TermKind::Object(pairs) => {
                let mut pairs: Vec<_> = pairs
                    .iter()
                    .map(|(key, value)| [self.term(key), self.term(value)])
                    .collect();
                let shape = self.shape(&mut pairs);
                let out = self.slot();
                let pairs = pairs.into();
                self.push(Step::MakeObject { pairs, shape, out });
                Operand::Slot(out)
            }
            TermKind::ArrayComprehension(inside) => self.comprehension(Collector::Array, inside),
            TermKind::SetComprehension(inside) => self.comprehension(Collector::Set, inside),
            TermKind::ObjectComprehension(inside) => self.comprehension(Collector::Object, inside),
            TermKind::Call(terms) => self.call_term(terms, term),
            _ => {
                self.push(Step::Fail);
                Operand::Slot(self.slot())
            }
        }
    }

    /// Returns the shape of an object with few known, distinct keys, and sorts the pairs by key.
    fn shape(&self, pairs: &mut Vec<[Operand; 2]>) -> Option<Arc<Shape>> {
        if !self.makes(Optimisation::ShapeObjects) || pairs.len() > Arena::SHAPED {
            return None;
        }
        let keys = pairs.iter().map(|[key, _]| self.constants.get(*key));
        let mut keyed: Vec<_> = keys
            .collect::<Option<Vec<_>>>()?
            .into_iter()
            .cloned()
            .zip(&*pairs)
            .collect();
        keyed.sort_by(|a, b| a.0.cmp(&b.0));
        if keyed
            .windows(2)
            .any(|two| matches!(two, [a, b] if a.0 == b.0))
        {
            return None;
        }
        let (keys, sorted): (Vec<Value>, Vec<_>) = keyed.into_iter().unzip();
        *pairs = sorted.into_iter().copied().collect();
        Some(Arc::new(Shape::new(keys.into())))
    }

    fn call_term(&mut self, terms: &[Term], term: &Term) -> Operand {
        let called = terms
            .split_first()
            .and_then(|(operator, args)| self.call(self.called(operator), args, term.span));
        called.unwrap_or_else(|| {
            self.push(Step::Fail);
            Operand::Slot(self.slot())
        })
    }

    fn var(&mut self, name: &Name) -> Operand {
        if let Some(operand) = self.binding(name) {
            return operand;
        }
        let out = self.slot();
        match &**name {
            "input" => self.push(Step::Input {
                keys: [].into(),
                out,
            }),
            "data" => self.push(Step::Document {
                path: [].into(),
                out,
            }),
            _ => {
                // a key in the head of a rule that is called for a known member: nothing unifies with it
                self.push(Step::Fail);
            }
        }
        Operand::Slot(out)
    }

    fn comprehension(&mut self, into: Collector, inside: &Comprehension) -> Operand {
        let block = self.block(|inner| {
            inner.body(&inside.body);
            let key = inside.key.as_ref().map(|key| (inner.term(key), key.span));
            let head = inner.term(&inside.head);
            inner.push(match (into, key) {
                (Collector::Array, _) => Step::ArrayAppend(head),
                (Collector::Object, Some((key, span))) => Step::ObjectInsert {
                    key,
                    value: head,
                    span,
                },
                _ => Step::SetAdd(head),
            });
        });
        let out = self.slot();
        self.push(Step::Collect { into, block, out });
        Operand::Slot(out)
    }
}
