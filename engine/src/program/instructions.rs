//! The instructions of plans: one table with the fields of each by role and its effects.
//!
//! The table generates the enum, its visitors, its names and its effects. An instruction binds slots, tests, or loops;
//! the following instructions of its block run once for each way that it succeeds. The last instruction of a block is
//! a terminator. Bindings are decided at compile time, so there is no unification at run time.

use std::sync::Arc;

use solon_syntax::source::Span;

use super::RuleId;
use super::effects::Effects;
use super::inlined::{FusedSet, Inlined, InlinedRule};
use super::parts::{Part, PartMut, PartSlice, inner_blocks, part, parts};
use super::plan::{
    Aggregate, BasePath, Block, BuiltinCall, Collector, Comparison, ConstId, Every, FunctionCall,
    HostCall, Join, Operand, Precheck, Slot, TextTest, With,
};
use crate::value::{Kind, Shape};

/// Generates the instructions from rows of a name, fields with their roles (see [`super::parts`]), and effects.
macro_rules! instructions {
    ($(
        $(#[$doc:meta])*
        $name:ident
        $({ $($role:ident $field:ident: $type:ty),* })?
        $(( $($tuple_role:ident $tuple_field:ident: $tuple_type:ty),* ))?
        [$($effect:ident)*]
    )*) => {
        /// One instruction. The discriminant is an explicit `repr`: otherwise the compiler would store it in niches of
        /// the fields, and each dispatch would start with arithmetic. Fields are stored in the order of the table.
        #[derive(Clone)]
        #[repr(u8)]
        pub enum Step {
            $(
                $(#[$doc])*
                $name
                $({ $(#[doc = concat!("Role: `", stringify!($role), "`.")] $field: $type),* })?
                $(( $($tuple_type),* ))?,
            )*
        }

        impl Step {
            /// Names of all instructions, in the order of the table.
            pub const KINDS: &[&str] = &[$(stringify!($name)),*];

            /// Declared effects of all instructions, in the order of the table.
            pub const EFFECTS: &[Effects] = &[$(Effects::NONE$(.or(Effects::$effect))*),*];

            /// Name of the instruction in the table.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$name { .. } => stringify!($name),)*
                }
            }

            /// Declared effects of the instruction, without those of inner blocks.
            #[inline]
            pub fn effects(&self) -> Effects {
                match self {
                    $(Self::$name { .. } => const { Effects::NONE$(.or(Effects::$effect))* },)*
                }
            }
        }

        parts! { variants Step { $(
            $name $({ $($role $field),* })? $(( $($tuple_role $tuple_field),* ))?
        ),* } }
    };
}

instructions! {
    /// Looks up a value of the input under known keys.
    Input { use keys: Box<[Operand]>, def out: Slot } [READS SHAREABLE FAST_PATH]
    /// Looks up a value under known keys.
    Dot { use from: Operand, use keys: Box<[Operand]>, def out: Slot } [SHAREABLE FAST_PATH]
    /// Enumerates an array, object or set: indexes, keys or members, and elements, values or members. `base` is the path
    /// of `from` below `data` if it is a base document. If documents are replaced, the path of an element decides.
    Scan { use from: Operand, spare key: Option<Slot>, def out: Slot, use base: Option<Box<BasePath>> }
        [LOOPS LINEAR READS FAST_PATH]
    /// Enumerates the elements of a collection that may have a known value at a known path; a following instruction
    /// tests the value.
    Join(node join: Box<Join>) [LOOPS LINEAR READS FAST_PATH]
    /// A base document without rules below it.
    Base { konst path: Box<[ConstId]>, def out: Slot } [READS SHAREABLE FAST_PATH]
    /// Looks up a value below a base document under known keys; a number selects the key that is its text. `path` is
    /// the path of `from` below `data`. If documents are replaced, the whole path decides.
    BaseChild { use from: Operand, def out: Slot, use keys: Box<[Operand]>, use path: Box<BasePath> }
        [READS SHAREABLE FAST_PATH]
    /// The document of a rule: its value, or its full extent.
    Rule { rule rule: RuleId, def out: Slot } [CALLS ERRS READS ALLOCATES SHAREABLE FAST_PATH]
    /// The value below a partial rule under at most as many keys as the rule's head has; for a member of a set, the
    /// requested key.
    Keyed { rule rule: RuleId, use keys: Box<[Operand]>, def out: Slot } [CALLS ERRS READS ALLOCATES]
    /// The document at a path of `data` that is known only at run time, or that mixes rules and base documents.
    Document { use path: Box<[Operand]>, def out: Slot } [CALLS ERRS READS ALLOCATES]
    /// Enumerates the keys of the document at a path of `data`, and the values under them if they are needed.
    Keys { use path: Box<[Operand]>, def key: Slot, def value: Option<Slot> }
        [LOOPS LINEAR CALLS ERRS READS ALLOCATES]
    /// Calls a built-in.
    Call { node call: Box<BuiltinCall>, def out: Slot } [REPLACEABLE ERRS ALLOCATES SHAREABLE FAST_PATH]
    /// Calls a function of the host.
    HostCall { node call: Box<HostCall>, def out: Slot } [REPLACEABLE CALLS ERRS ALLOCATES]
    /// Calls a function of the policy.
    Function { node call: Box<FunctionCall>, def out: Slot } [CALLS ERRS READS ALLOCATES FAST_PATH]
    /// Enumerates each path and value of the tree below a value.
    Descend { use from: Operand, spare path: Option<Slot>, def value: Slot } [LOOPS LINEAR ALLOCATES]
    /// Continues unless the value is `false`.
    IsTruthy(use value: Operand) [FAST_PATH]
    /// Continues if both are equal.
    Equal(use left: Operand, use right: Operand) [FAST_PATH]
    /// Continues if the comparison holds.
    Compare(data comparison: Comparison, use left: Operand, use right: Operand) [REPLACEABLE FAST_PATH]
    /// Continues if a collection (the second operand) contains a value.
    Member(use value: Operand, use collection: Operand) [LINEAR FAST_PATH]
    /// Same as `Member`, for a collection that is tested repeatedly.
    Among(use value: Operand, use collection: Operand) [LINEAR FAST_PATH]
    /// Continues if the test of two texts holds, or the built-in that it replaces returns `true`.
    Test(data test: TextTest, node call: Box<BuiltinCall>) [REPLACEABLE FAST_PATH]
    /// Continues if the conditions for entering the rule hold.
    Precheck(arguments precheck: Box<Precheck>) [CALLS ERRS READS FAST_PATH]
    /// Never continues.
    Fail [FAILS]
    /// Continues if the value may equal a comprehension of a kind: it has that kind, or is a set, which OPA compares
    /// with any comprehension.
    MayEqual(use value: Operand, data kind: Kind) []
    /// Continues if the value is an array of that length.
    IsArray(use value: Operand, data length: u32) [FAST_PATH]
    /// Continues if the value is an object of that size.
    IsObject(use value: Operand, data length: u32) [FAST_PATH]
    /// Makes an array.
    MakeArray { use items: Box<[Operand]>, def out: Slot } [ALLOCATES SHAREABLE]
    /// Makes a set.
    MakeSet { use items: Box<[Operand]>, def out: Slot } [ALLOCATES]
    /// Makes an object of pairs, which are in the order of the keys if these are known, and so is the shape.
    MakeObject { use pairs: Box<[[Operand; 2]]>, data shape: Option<Arc<Shape>>, def out: Slot } [ALLOCATES]
    /// Collects the elements that a block produces.
    Collect { data into: Collector, block block: Block, def out: Slot } [NESTS ALLOCATES]
    /// An aggregate of the elements that a block produces.
    Aggregate(node aggregate: Box<Aggregate>) [NESTS REPLACEABLE ERRS ALLOCATES]
    /// Continues if the block has no solution.
    Not(block block: Block) [NESTS FAST_PATH]
    /// Continues if each element satisfies a block.
    Every(node every: Box<Every>) [NESTS LINEAR]
    /// Continues if both blocks have a solution.
    And(block blocks: Box<[Block; 2]>) [NESTS]
    /// Continues if one of the blocks has a solution.
    Or(block blocks: Box<[Block; 2]>) [NESTS]
    /// Continues if a rule that is `true` or undefined is true.
    Any(node any: Box<InlinedRule>) [NESTS CALLS READS FAST_PATH]
    /// Continues with the result of an inlined function.
    Inlined(node inlined: Box<Inlined>) [NESTS CALLS FAST_PATH]
    /// Terminator: continues inside the bodies of a fused producer.
    Fused(node fused: Box<FusedSet>) [ENDS LOOPS LINEAR NESTS READS]
    /// Replaces documents and functions until the matching [`Step::EndWith`].
    With(node with: Box<With>) [SCOPE]
    /// Ends the innermost [`Step::With`].
    EndWith [SCOPE]
    /// Terminator: there is a solution.
    Exists [ENDS FAST_PATH]
    /// Terminator: the requested member is in the set.
    MemberFound [ENDS]
    /// Terminator: the value of a complete rule or function.
    Value(use value: Operand) [ENDS ERRS FAST_PATH]
    /// Terminator: an element of an array.
    ArrayAppend(use value: Operand) [ENDS]
    /// Terminator: a member of a set.
    SetAdd(use value: Operand) [ENDS]
    /// Terminator: a member of a set that all solutions have in common, so that one is enough.
    SetAddOnce(use value: Operand) [ENDS]
    /// Terminator: a pair of an object; equal keys must have equal values. The span is that of the key, for the error.
    ObjectInsert { use key: Operand, use value: Operand, data span: Span } [ENDS ERRS]
    /// Terminator: a value below a partial rule at a path without the known keys, or a `member` of a set.
    Produce { use path: Box<[Operand]>, use value: Operand, data member: bool } [ENDS ERRS]
    /// Terminator: a solution of a query, with its values in these operands.
    ResultSetAdd(use values: Box<[Operand]>) [ENDS]
}

// larger instructions take up more of the cache
const _: () = assert!(size_of::<Step>() <= 40);

impl Step {
    /// Returns `true` if the following instructions run once for each of several values.
    pub fn is_generator(&self) -> bool {
        self.effects().has(Effects::LOOPS)
    }

    /// Returns `true` if the instruction only looks up or tests values, so that it may run earlier than written.
    pub fn is_movable(&self) -> bool {
        self.effects().is_within(Effects::PURE)
    }

    /// Returns `true` if an instruction only does lookups and tests, so that the number of its runs is not observable.
    pub fn is_pure(&self) -> bool {
        match self {
            Self::Not(_) => self.all_within(Self::is_pure),
            step => step.effects().is_within(Effects::PURE.or(Effects::LOOPS)),
        }
    }

    /// Returns `true` if all instructions of the inner blocks have a property, apart from `Exists`, which only ends a
    /// block.
    pub fn all_within(&self, is_so: fn(&Self) -> bool) -> bool {
        let mut steps = self.blocks().iter().flatten();
        steps.all(|step| is_so(step) || matches!(step, Self::Exists))
    }

    /// Returns `true` if the fast path can evaluate the instruction.
    pub(super) fn is_plain(&self) -> bool {
        let is_plain = match self {
            Self::Call { call, .. } => call.intrinsic.is_some(),
            Self::Precheck(precheck) => !precheck.always,
            step => step.effects().has(Effects::FAST_PATH),
        };
        is_plain && self.blocks().iter().flatten().all(Self::is_plain)
    }
}

#[cfg(test)]
mod tests {
    use super::{Effects, Step};

    fn within(allowed: Effects) -> Vec<&'static str> {
        let table = Step::KINDS.iter().zip(Step::EFFECTS);
        let allowed = table.filter(|(_, effects)| effects.is_within(allowed));
        allowed.map(|(name, _)| *name).collect()
    }

    #[test]
    fn only_lookups_and_tests_may_run_earlier_than_written() {
        let movable = [
            "Input",
            "Dot",
            "Base",
            "BaseChild",
            "IsTruthy",
            "Equal",
            "Member",
            "Among",
            "MayEqual",
            "IsArray",
            "IsObject",
        ];
        assert_eq!(within(Effects::PURE), movable);
    }

    #[test]
    fn instructions_that_neither_call_nor_fail_are_declared() {
        let allowed = Effects::PURE.or(Effects::LOOPS).or(Effects::ALLOCATES);
        let quiet = [
            "Input",
            "Dot",
            "Scan",
            "Join",
            "Base",
            "BaseChild",
            "Descend",
            "IsTruthy",
            "Equal",
            "Member",
            "Among",
            "MayEqual",
            "IsArray",
            "IsObject",
            "MakeArray",
            "MakeSet",
            "MakeObject",
        ];
        assert_eq!(within(allowed), quiet);
    }
}
