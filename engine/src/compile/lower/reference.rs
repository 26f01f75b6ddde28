//! References: lookup of each prefix, and generators for unbound operands.

use solon_syntax::ast::{Term, TermKind};

use super::body::Lowering;
use super::constants::constant;
use crate::program::{BasePath, ConstId, NodeId, Operand, RuleId, RuleKind, Step};

impl Lowering<'_> {
    /// Evaluates a reference; unbound variables in it become generators.
    pub(super) fn reference(&mut self, terms: &[Term]) -> Operand {
        let Some((head, operands)) = terms.split_first() else {
            return self.nowhere();
        };
        let root = head
            .as_var()
            .filter(|name| self.binding(name).is_none())
            .cloned();
        match root.as_deref() {
            Some("input") => {
                let (known, rest) = self.evaluated_prefix(operands);
                let out = self.slot();
                self.push(Step::Input {
                    keys: known.into(),
                    out,
                });
                self.lookup_below(Operand::Slot(out), rest)
            }
            Some("data") => self.data_reference(operands),
            _ => {
                let from = self.term(head);
                self.lookup_below(from, operands)
            }
        }
    }

    fn nowhere(&mut self) -> Operand {
        self.push(Step::Fail);
        Operand::Slot(self.slot())
    }

    /// Evaluates the leading known operands; returns them and the remaining ones.
    fn evaluated_prefix<'t>(&mut self, operands: &'t [Term]) -> (Vec<Operand>, &'t [Term]) {
        let count = operands
            .iter()
            .position(|term| self.is_open(term))
            .unwrap_or(operands.len());
        let (known, rest) = operands.split_at_checked(count).unwrap_or((operands, &[]));
        (known.iter().map(|term| self.term(term)).collect(), rest)
    }

    /// Evaluates the operands below a value. Each open operand becomes a loop.
    fn lookup_below(&mut self, mut from: Operand, mut operands: &[Term]) -> Operand {
        while let Some((first, others)) = operands.split_first() {
            if self.is_open(first) {
                let key = (!first.is_wildcard()).then(|| self.slot());
                let out = self.slot();
                self.push(Step::Scan {
                    from,
                    key,
                    out,
                    base: None,
                });
                if let Some(key) = key {
                    self.matches(Operand::Slot(key), first);
                }
                from = Operand::Slot(out);
                operands = others;
            } else {
                let (keys, rest) = self.evaluated_prefix(operands);
                let out = self.slot();
                self.push(Step::Dot {
                    from,
                    keys: keys.into(),
                    out,
                });
                from = Operand::Slot(out);
                operands = rest;
            }
        }
        from
    }

    fn data_reference(&mut self, operands: &[Term]) -> Operand {
        let mut node: NodeId = 0;
        for (depth, term) in operands.iter().enumerate() {
            let Some(key) = constant(term) else {
                return self.mixed(operands);
            };
            let Some(child) = self.program.tree.child(node, key.borrow()) else {
                return self.base(operands);
            };
            node = child;
            if let Some(rule) = self.program.tree.node(node).and_then(|node| node.rule) {
                let rest = operands.get(depth + 1..).unwrap_or(&[]);
                return self.rule(rule, rest);
            }
        }
        self.document(operands)
    }

    /// Evaluates a path that leaves the tree of rules at a constant key: base documents from there on.
    fn base(&mut self, operands: &[Term]) -> Operand {
        let count = operands
            .iter()
            .position(|term| constant(term).is_none())
            .unwrap_or(operands.len());
        let (fixed, rest) = operands.split_at_checked(count).unwrap_or((operands, &[]));
        let path: Box<[ConstId]> = fixed
            .iter()
            .filter_map(|key| self.constants.of_term(key))
            .collect();
        let known = path.iter().copied().map(Operand::Const).collect();
        let out = self.slot();
        self.push(Step::Base { path, out });
        self.below_base(Operand::Slot(out), known, rest)
    }

    /// Evaluates the operands below a base document whose path below `data` is `path`. Each step has its whole path,
    /// which determines replacements by `with`.
    fn below_base(
        &mut self,
        mut from: Operand,
        mut path: Vec<Operand>,
        mut operands: &[Term],
    ) -> Operand {
        while let Some((first, others)) = operands.split_first() {
            if self.is_open(first) {
                let is_named = !first.is_wildcard();
                let key = (is_named || !others.is_empty()).then(|| self.slot());
                let out = self.slot();
                self.push(Step::Scan {
                    from,
                    key,
                    out,
                    base: Some(Box::new(BasePath(path.clone().into()))),
                });
                if let Some(key) = key {
                    path.push(Operand::Slot(key));
                    if is_named {
                        self.matches(Operand::Slot(key), first);
                    }
                }
                from = Operand::Slot(out);
                operands = others;
            } else {
                let (keys, rest) = self.evaluated_prefix(operands);
                let below = path.iter().chain(&keys).copied().collect();
                let out = self.slot();
                self.push(Step::BaseChild {
                    from,
                    out,
                    keys: keys.into(),
                    path: Box::new(BasePath(path.into())),
                });
                from = Operand::Slot(out);
                path = below;
                operands = rest;
            }
        }
        from
    }

    fn rule(&mut self, rule: RuleId, rest: &[Term]) -> Operand {
        let set = self.program.rules.get(rule as usize);
        let partial = set.filter(|set| matches!(set.kind, RuleKind::Set | RuleKind::Object));
        let depth = partial.map_or(0, |set| set.depth);
        let count = rest
            .iter()
            .take(depth)
            .position(|term| self.is_open(term))
            .unwrap_or(depth.min(rest.len()));
        let (known, rest) = rest.split_at_checked(count).unwrap_or((&[], rest));
        let keys: Vec<Operand> = known.iter().map(|term| self.term(term)).collect();
        let out = self.slot();
        if keys.is_empty() {
            self.push(Step::Rule { rule, out });
        } else {
            self.push(Step::Keyed {
                rule,
                keys: keys.into(),
                out,
            });
        }
        self.lookup_below(Operand::Slot(out), rest)
    }

    /// Evaluates the merged document at a path that ends between rules.
    fn document(&mut self, operands: &[Term]) -> Operand {
        let path = operands.iter().map(|term| self.term(term)).collect();
        let out = self.slot();
        self.push(Step::Document { path, out });
        Operand::Slot(out)
    }

    /// Evaluates a path whose first unknown key selects among packages or rules.
    fn mixed(&mut self, operands: &[Term]) -> Operand {
        let mut path: Vec<Operand> = Vec::with_capacity(operands.len());
        for (at, term) in operands.iter().enumerate() {
            if self.is_open(term) {
                let key = self.slot();
                let is_last = at + 1 == operands.len() && matches!(term.kind, TermKind::Var(_));
                let value = is_last.then(|| self.slot());
                self.push(Step::Keys {
                    path: path.clone().into(),
                    key,
                    value,
                });
                self.matches(Operand::Slot(key), term);
                if let Some(value) = value {
                    return Operand::Slot(value);
                }
                path.push(Operand::Slot(key));
            } else {
                path.push(self.term(term));
            }
        }
        let out = self.slot();
        self.push(Step::Document {
            path: path.into(),
            out,
        });
        Operand::Slot(out)
    }
}
