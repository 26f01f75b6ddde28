//! Programs as text, for users and golden tests: every rule set with its index, every rule with its plans, one step a
//! line, inner blocks indented.
//!
//! Slots are written as `s0`, constants as literals, callees by name, sets by path. Equal programs have equal dumps.

mod index;
mod indexed;
mod joins;
mod precheck;

pub use indexed::indexed;

use std::fmt::{self, Display, Write};

use super::instructions::Step;
use super::plan::{
    BasePath, Block, BuiltinCall, Callee, Collector, Comparison, ModifierTarget, Operand, Plan,
    Slot,
};
use super::rules::{NodeId, Rule, RuleId, RuleKind, RuleSet};
use super::{ConstId, Program};
use crate::value::Value;

/// Text of a whole program, in the order of the documents.
pub fn program(program: &Program) -> String {
    let mut dump = Dump::new(program, &[]);
    let mut open: Vec<NodeId> = vec![0];
    while let Some(node) = open.pop().and_then(|node| program.tree.node(node)) {
        open.extend(node.children.values().rev());
        if let Some(set) = node.rule.and_then(|id| program.rules.get(id as usize)) {
            // writing to a string does not fail
            let _ = dump.rule_set(set);
        }
    }
    dump.text
}

/// Returns the text of a query's plan, whose own constants are numbered after the program's.
pub fn query(program: &Program, plan: &Plan, constants: &[Value]) -> String {
    let mut dump = Dump::new(program, constants);
    let _ = dump.plan("query", plan);
    dump.text
}

struct Dump<'p> {
    program: &'p Program,
    query_constants: &'p [Value],
    text: String,
    depth: usize,
}

impl<'p> Dump<'p> {
    fn new(program: &'p Program, query_constants: &'p [Value]) -> Self {
        Self {
            program,
            query_constants,
            text: String::new(),
            depth: 0,
        }
    }

    fn line(&mut self, line: impl Display) -> fmt::Result {
        let indent = 2 * self.depth;
        writeln!(self.text, "{:indent$}{line}", "")
    }

    fn within(&mut self, inside: impl FnOnce(&mut Self) -> fmt::Result) -> fmt::Result {
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    fn rule_set(&mut self, set: &RuleSet) -> fmt::Result {
        let kind = match set.kind {
            RuleKind::Complete => "complete".to_owned(),
            RuleKind::Function(arity) => format!("function of {arity}"),
            RuleKind::Set => "set".to_owned(),
            RuleKind::Object => format!("object of depth {}", set.depth),
        };
        let not_kept = if set.memoised { "" } else { ", not kept" };
        let early = if set.early_exit {
            ", first solution ends"
        } else {
            ""
        };
        self.line(format_args!("{}: {kind}{not_kept}{early}", set.name))?;
        self.within(|dump| {
            dump.index(&set.index)?;
            for (rule, at) in set.rules.iter().zip(0_u32..) {
                dump.rule(&format!("rule {at}"), rule)?;
            }
            match &set.default {
                Some(plan) => dump.plan("default", plan),
                None => Ok(()),
            }
        })
    }

    fn rule(&mut self, title: &str, rule: &Rule) -> fmt::Result {
        let (file, row, col) = self.program.location(rule.span);
        let mut notes = String::new();
        if rule.fallback {
            notes.push_str(", default");
        }
        if let Some(value) = rule.constant {
            write!(notes, ", always {}", self.constant(value))?;
        }
        self.line(format_args!("{title} at {file}:{row}:{col}{notes}"))?;
        self.within(|dump| {
            dump.plan("all", &rule.plan)?;
            for (plan, known) in rule.keyed.iter().zip(1..) {
                dump.plan(&format!("known {known}"), plan)?;
            }
            Ok(())
        })?;
        let Some(chain) = &rule.otherwise else {
            return Ok(());
        };
        self.index(&chain.index)?;
        chain
            .elses
            .iter()
            .try_for_each(|rule| self.rule("else", rule))
    }

    fn plan(&mut self, title: &str, plan: &Plan) -> fmt::Result {
        self.line(format_args!("{title}, {} slots", plan.slots))?;
        self.block(&plan.steps)
    }

    fn block(&mut self, block: &[Step]) -> fmt::Result {
        self.within(|dump| block.iter().try_for_each(|step| dump.step(step)))
    }

    /// Writes alternative blocks, separated by a line.
    fn blocks(&mut self, blocks: &[Block]) -> fmt::Result {
        for (at, block) in blocks.iter().enumerate() {
            if at > 0 {
                self.line("or")?;
            }
            self.block(block)?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> fmt::Result {
        match step {
            Step::Input { keys, out } => self.set(*out, format_args!("input{}", self.keys(keys))),
            Step::Dot { from, keys, out } => {
                let (from, keys) = (self.operand(*from), self.keys(keys));
                self.set(*out, format_args!("{from}{keys}"))
            }
            Step::Scan {
                from,
                key,
                out,
                base,
            } => {
                let (from, key) = (self.operand(*from), optional_slot(*key));
                let base = self.base(base.as_deref());
                self.line(format_args!("each {key}, s{out} in {from}{base}"))
            }
            Step::Join(join) => self.join(join),
            Step::Base { path, out } => {
                let path: String = path
                    .iter()
                    .map(|key| format!("[{}]", self.constant(*key)))
                    .collect();
                self.set(*out, format_args!("base{path}"))
            }
            Step::BaseChild {
                from,
                out,
                keys,
                path,
            } => {
                let (from, keys) = (self.operand(*from), self.keys(keys));
                let base = self.base(Some(path));
                self.set(*out, format_args!("{from}{keys}{base}"))
            }
            Step::Rule { rule, out } => self.set(*out, self.name(*rule)),
            Step::Keyed { rule, keys, out } => self.set(
                *out,
                format_args!("{}{}", self.name(*rule), self.keys(keys)),
            ),
            Step::Document { path, out } => {
                self.set(*out, format_args!("document{}", self.keys(path)))
            }
            Step::Keys { path, key, value } => {
                let path = self.keys(path);
                match value {
                    Some(value) => {
                        self.line(format_args!("each s{key}, s{value} in document{path}"))
                    }
                    None => self.line(format_args!("each s{key} in keys of document{path}")),
                }
            }
            Step::Call { call, out } => self.builtin(call, *out),
            Step::HostCall { call, out } => {
                let function = self.callee(Callee::HostFunction(call.function));
                let args = self.list(&call.args);
                self.set(*out, format_args!("call {function}({args})"))
            }
            Step::Function { call, out } => {
                let (function, args) = (self.name(call.rule), self.list(&call.args));
                self.set(*out, format_args!("{function}({args})"))
            }
            Step::Descend { from, path, value } => {
                let (from, path) = (self.operand(*from), optional_slot(*path));
                self.line(format_args!("descend {path}, s{value} in {from}"))
            }
            Step::IsTruthy(operand) => self.line(format_args!("holds {}", self.operand(*operand))),
            Step::Equal(left, right) => self.test(*left, "==", *right),
            Step::Compare(comparison, left, right) => self.test(*left, sign(*comparison), *right),
            Step::Test(_, call) => {
                let (name, args) = (call.entry.builtin.name, self.list(&call.args));
                self.line(format_args!("test {name}({args})"))
            }
            Step::Member(value, collection) => self.test(*value, "in", *collection),
            Step::Among(value, collection) => self.test(*value, "among", *collection),
            Step::Precheck(precheck) => self.precheck(precheck),
            Step::Fail => self.line("fail"),
            Step::MayEqual(operand, kind) => {
                self.line(format_args!("{kind} or set {}", self.operand(*operand)))
            }
            Step::IsArray(operand, len) => {
                self.line(format_args!("array of {len} {}", self.operand(*operand)))
            }
            Step::IsObject(operand, len) => {
                self.line(format_args!("object of {len} {}", self.operand(*operand)))
            }
            Step::MakeArray { items, out } => {
                self.set(*out, format_args!("[{}]", self.list(items)))
            }
            Step::MakeSet { items, out } => {
                self.set(*out, format_args!("set {{{}}}", self.list(items)))
            }
            Step::MakeObject { pairs, shape, out } => {
                let pairs = pairs.iter();
                let pairs: Vec<_> = pairs
                    .map(|[key, value]| format!("{}: {}", self.operand(*key), self.operand(*value)))
                    .collect();
                let shaped = if shape.is_some() { "shaped " } else { "" };
                self.set(
                    *out,
                    format_args!("{shaped}object {{{}}}", pairs.join(", ")),
                )
            }
            Step::Collect { into, block, out } => {
                self.set(*out, format_args!("collect {}", collected(*into)))?;
                self.block(block)
            }
            Step::Aggregate(aggregate) => {
                let name = aggregate.call.entry.builtin.name;
                let collected = collected(aggregate.into);
                self.set(aggregate.out, format_args!("{name} of {collected}"))?;
                self.block(&aggregate.block)
            }
            Step::Not(block) => {
                self.line("not")?;
                self.block(block)
            }
            Step::Every(every) => {
                let (domain, key) = (self.operand(every.domain), optional_slot(every.key));
                self.line(format_args!("every {key}, s{} in {domain}", every.value))?;
                self.block(&every.block)
            }
            Step::And(pair) => self.pair("both", "and", pair),
            Step::Or(pair) => self.pair("either", "or", pair),
            Step::Any(any) => {
                self.line(format_args!("any of {}", self.name(any.rule)))?;
                self.blocks(&any.blocks)
            }
            Step::Inlined(inlined) => {
                let call = &inlined.call;
                let (function, args) = (self.name(call.rule), self.list(&call.args));
                let values = self.list(&inlined.values);
                self.set(inlined.out, format_args!("{values} of {function}({args})"))?;
                self.blocks(&inlined.blocks)
            }
            Step::Fused(fused) => {
                let (plain, fused) = fused.versions();
                self.line("where documents are replaced")?;
                self.block(plain)?;
                self.line("elsewhere")?;
                self.blocks(fused)
            }
            Step::With(with) => {
                self.line("with")?;
                self.within(|dump| with.modifiers.iter().try_for_each(|m| dump.modifier(m)))
            }
            Step::EndWith => self.line("end with"),
            Step::Exists
            | Step::MemberFound
            | Step::Value(_)
            | Step::ArrayAppend(_)
            | Step::SetAdd(_)
            | Step::SetAddOnce(_)
            | Step::ObjectInsert { .. }
            | Step::Produce { .. }
            | Step::ResultSetAdd(_) => self.terminator(step),
        }
    }

    fn terminator(&mut self, leaf: &Step) -> fmt::Result {
        match leaf {
            Step::MemberFound => self.line("member"),
            Step::Value(operand) => self.line(format_args!("value {}", self.operand(*operand))),
            Step::ArrayAppend(operand) => {
                self.line(format_args!("append {}", self.operand(*operand)))
            }
            Step::SetAdd(operand) => self.line(format_args!("insert {}", self.operand(*operand))),
            Step::SetAddOnce(operand) => {
                self.line(format_args!("insert once {}", self.operand(*operand)))
            }
            Step::ObjectInsert { key, value, .. } => {
                let (key, value) = (self.operand(*key), self.operand(*value));
                self.line(format_args!("put {key}: {value}"))
            }
            Step::Produce {
                path,
                value,
                member,
            } => {
                let (path, value) = (self.keys(path), self.operand(*value));
                let verb = if *member { "contains" } else { "=" };
                self.line(format_args!("produce .{path} {verb} {value}"))
            }
            Step::ResultSetAdd(wanted) => self.line(format_args!("solution {}", self.list(wanted))),
            _ => self.line("exists"),
        }
    }

    /// Writes a step that fills a slot.
    fn set(&mut self, out: Slot, value: impl Display) -> fmt::Result {
        self.line(format_args!("s{out} = {value}"))
    }

    fn test(&mut self, left: Operand, sign: &str, right: Operand) -> fmt::Result {
        let (left, right) = (self.operand(left), self.operand(right));
        self.line(format_args!("test {left} {sign} {right}"))
    }

    fn pair(&mut self, opening: &str, middle: &str, [left, right]: &[Block; 2]) -> fmt::Result {
        self.line(opening)?;
        self.block(left)?;
        self.line(middle)?;
        self.block(right)
    }

    /// The path of a base document, or an empty text without one.
    fn base(&self, path: Option<&BasePath>) -> String {
        path.map_or_else(String::new, |path| {
            format!(" below base{}", self.keys(&path.0))
        })
    }

    fn builtin(&mut self, call: &BuiltinCall, out: Slot) -> fmt::Result {
        let prepared = if call.prepared.is_some() {
            "prepared "
        } else {
            ""
        };
        let name = call.entry.builtin.name;
        let args = match call.args.split_first() {
            Some((first, elements)) if call.elements => {
                format!("{}, elements {}", self.operand(*first), self.list(elements))
            }
            _ => self.list(&call.args),
        };
        self.set(out, format_args!("{prepared}{name}({args})"))
    }

    fn modifier(&mut self, target: &ModifierTarget) -> fmt::Result {
        let keys = |path: &[ConstId]| -> String {
            path.iter()
                .map(|key| format!("[{}]", self.constant(*key)))
                .collect()
        };
        let line = match target {
            ModifierTarget::Input(path, value) => {
                format!("input{} as {}", keys(path), self.operand(*value))
            }
            ModifierTarget::Data(path, value) => {
                format!("data{} as {}", keys(path), self.operand(*value))
            }
            ModifierTarget::ByRule(callee, rule) => {
                format!("{} as {}", self.callee(*callee), self.name(*rule))
            }
            ModifierTarget::ByBuiltin(callee, entry) => {
                format!("{} as {}", self.callee(*callee), entry.builtin.name)
            }
            ModifierTarget::ByValue(callee, value) => {
                format!("{} as value {}", self.callee(*callee), self.operand(*value))
            }
            ModifierTarget::Nowhere => "no document".to_owned(),
        };
        self.line(line)
    }

    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Slot(slot) => format!("s{slot}"),
            Operand::Const(id) => self.constant(id),
        }
    }

    fn constant(&self, id: ConstId) -> String {
        let constants = &self.program.constants;
        let own = (id as usize).checked_sub(constants.len());
        let found = match own {
            None => constants.get(id as usize),
            Some(own) => self.query_constants.get(own),
        };
        match found {
            Some(value) => value.borrow().rego_text().to_string(),
            None => format!("constant {id}"),
        }
    }

    fn keys(&self, keys: &[Operand]) -> String {
        keys.iter()
            .map(|key| format!("[{}]", self.operand(*key)))
            .collect()
    }

    fn list(&self, operands: &[Operand]) -> String {
        joined(operands.iter().map(|operand| self.operand(*operand)))
    }

    fn name(&self, rule: RuleId) -> String {
        match self.program.rules.get(rule as usize) {
            Some(set) => set.name.to_string(),
            None => format!("rule set {rule}"),
        }
    }

    fn callee(&self, callee: Callee) -> String {
        match callee {
            Callee::Rule(rule) => self.name(rule),
            Callee::Builtin(name) => name.to_owned(),
            Callee::HostFunction(at) => match self.program.functions.get(at as usize) {
                Some(function) => function.name.to_string(),
                None => format!("host function {at}"),
            },
        }
    }
}

/// Writes an optional slot. `_` is none.
fn optional_slot(slot: Option<Slot>) -> String {
    slot.map_or_else(|| "_".to_owned(), |slot| format!("s{slot}"))
}

fn joined(items: impl IntoIterator<Item = impl ToString>) -> String {
    let items: Vec<_> = items.into_iter().map(|item| item.to_string()).collect();
    items.join(", ")
}

fn bracketed(keys: &[Value]) -> String {
    keys.iter()
        .map(|key| format!("[{}]", key.borrow().rego_text()))
        .collect()
}

fn sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::NotEqual => "!=",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
    }
}

fn collected(into: Collector) -> &'static str {
    match into {
        Collector::Array => "array",
        Collector::Bag => "array in any order",
        Collector::Set => "set",
        Collector::Object => "object",
    }
}
