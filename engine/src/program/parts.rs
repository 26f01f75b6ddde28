//! Parts of instructions by role, and the macro that generates their visitors.
//!
//! A declaration lists each field with its role:
//!
//! | role | the field is, or contains |
//! |---|---|
//! | `use` | operands that are read |
//! | `def` | slots that are filled |
//! | `spare` | a slot that is only filled if an instruction reads it |
//! | `konst` | constants |
//! | `rule` | a rule set |
//! | `function` | a function of the host |
//! | `block` | blocks |
//! | `builtin` | a built-in |
//! | `arguments` | conditions, which may read arguments |
//! | `node`, `nodes` | a struct with parts; several |
//! | `data` | none of these |
//!
//! Patterns are exhaustive, so a field without a role does not compile.

use super::RuleId;
use super::inlined::{FusedSet, Inlined, InlinedRule};
use super::instructions::Step;
use super::plan::{
    Aggregate, BasePath, Block, BuiltinCall, Callee, ConstId, Every, FunctionCall, HostCall, Join,
    ModifierTarget, Operand, Slot, With,
};
use crate::builtins::BuiltinEntry;

/// A part of an instruction, with its role.
#[derive(Clone, Copy)]
pub enum Part<'s> {
    /// An operand that is read.
    Use(&'s Operand),
    /// An argument of the function that is read.
    Argument(Slot),
    /// A slot that is filled.
    Def(&'s Slot),
    /// A slot that is only filled if an instruction reads it.
    Spare(&'s Option<Slot>),
    /// A constant of the program.
    Const(ConstId),
    /// A rule set that is evaluated.
    Rule(RuleId),
    /// A function of the host that is called.
    Function(u32),
    /// A built-in that is called.
    Builtin(&'static BuiltinEntry),
    /// A block that is run.
    Block(&'s Block),
}

/// An operand or a result of an instruction.
pub enum PartMut<'s> {
    /// An operand that is read.
    Use(&'s mut Operand),
    /// A slot that is filled.
    Def(&'s mut Slot),
    /// A slot that is only filled if an instruction reads it.
    Spare(&'s mut Option<Slot>),
}

/// A field with any number of parts of one type.
pub trait PartSlice<T> {
    fn slice(&self) -> &[T];
    fn slice_mut(&mut self) -> &mut [T];
}

macro_rules! part_slice {
    ($part:ty, $field:ty: $self:ident => $shared:expr, $mutable:expr $(; $T:ident)?) => {
        impl $(<$T>)? PartSlice<$part> for $field {
            #[inline]
            fn slice(&$self) -> &[$part] {
                $shared
            }
            #[inline]
            fn slice_mut(&mut $self) -> &mut [$part] {
                $mutable
            }
        }
    };
}

part_slice! { T, T: self => std::slice::from_ref(self), std::slice::from_mut(self); T }
part_slice! { T, Option<T>: self => self.as_slice(), self.as_mut_slice(); T }
part_slice! { T, Box<[T]>: self => self, self; T }
part_slice! { T, Box<[T; 2]>: self => &**self, &mut **self; T }
part_slice! { Operand, Box<[[Operand; 2]]>: self => self.as_flattened(), self.as_flattened_mut() }
part_slice! { Operand, Box<BasePath>: self => &self.0, &mut self.0 }
part_slice! { Operand, Option<Box<BasePath>>: self =>
    self.as_ref().map_or(&[], |path| &path.0), self.as_mut().map_or(&mut [], |path| &mut path.0)
}

/// Visits the parts of one field. The first three operands are those of shared or of mutable visitors.
macro_rules! part {
    ($part:ident $slice:ident $visit:ident use $field:ident $see:ident) => {
        for operand in PartSlice::<Operand>::$slice($field) {
            $see($part::Use(operand));
        }
    };
    ($part:ident $slice:ident $visit:ident def $field:ident $see:ident) => {
        for slot in PartSlice::<Slot>::$slice($field) {
            $see($part::Def(slot));
        }
    };
    ($part:ident $slice:ident $visit:ident spare $field:ident $see:ident) => {
        $see($part::Spare($field))
    };
    ($part:ident $slice:ident $visit:ident node $field:ident $see:ident) => {
        $field.$visit($see)
    };
    ($part:ident $slice:ident $visit:ident nodes $field:ident $see:ident) => {
        for node in $field {
            node.$visit($see);
        }
    };
    (Part slice parts konst $field:ident $see:ident) => {
        for id in PartSlice::<ConstId>::slice($field) {
            $see(Part::Const(*id));
        }
    };
    (Part slice parts rule $field:ident $see:ident) => {
        $see(Part::Rule(*$field))
    };
    (Part slice parts function $field:ident $see:ident) => {
        $see(Part::Function(*$field))
    };
    (Part slice parts builtin $field:ident $see:ident) => {
        $see(Part::Builtin(*$field))
    };
    (Part slice parts block $field:ident $see:ident) => {
        for block in PartSlice::<Block>::slice($field) {
            $see(Part::Block(block));
        }
    };
    (Part slice parts arguments $field:ident $see:ident) => {
        for slot in $field.conditions.arguments() {
            $see(Part::Argument(slot));
        }
    };
    ($part:ident $slice:ident $visit:ident $role:ident $field:ident $see:ident) => {
        let _ = ($field, &$see);
    };
}
pub(super) use part;

/// Returns the blocks of one field, or those of earlier fields.
macro_rules! inner_blocks {
    ($slice:ident $blocks:ident block $field:ident $found:ident) => {{
        let _ = $found;
        PartSlice::<Block>::$slice($field)
    }};
    ($slice:ident $blocks:ident node $field:ident $found:ident) => {
        if $found.is_empty() {
            $field.$blocks()
        } else {
            $found
        }
    };
    ($slice:ident $blocks:ident $role:ident $field:ident $found:ident) => {{
        let _ = $field;
        $found
    }};
}
pub(super) use inner_blocks;

/// Generates the visitors of an enum or struct from the roles of its fields.
macro_rules! parts {
    (fields $type:ident { $($role:ident $field:ident),* $(,)? }) => {
        parts! { @impl $type: [Self { $($field),* }] $($role $field)*; }
    };
    (variants $type:ident { $(
        $name:ident
        $({ $($role:ident $field:ident),* $(,)? })?
        $(( $($tuple_role:ident $tuple_field:ident),* $(,)? ))?
    ),* $(,)? }) => {
        parts! { @impl $type: $(
            [Self::$name $({ $($field),* })? $(( $($tuple_field),* ))?]
            $($($role $field)*)? $($($tuple_role $tuple_field)*)?;
        )* }
    };
    (@impl $type:ident: $([$pattern:pat] $($role:ident $field:ident)*;)*) => {
        impl $type {
            /// Visits the parts, without those of inner blocks.
            pub fn parts<'s>(&'s self, see: &mut impl FnMut(Part<'s>)) {
                match self {
                    $($pattern => { $(part!(Part slice parts $role $field see);)* })*
                }
            }

            /// Visits the operands and results, without those of inner blocks.
            pub fn parts_mut<'s>(&'s mut self, see: &mut impl FnMut(PartMut<'s>)) {
                match self {
                    $($pattern => { $(part!(PartMut slice_mut parts_mut $role $field see);)* })*
                }
            }

            /// Returns the inner blocks, without those inside them.
            pub fn blocks(&self) -> &[Block] {
                let found: &[Block] = &[];
                match self {
                    $($pattern => { $(let found = inner_blocks!(slice blocks $role $field found);)* found })*
                }
            }

            /// Returns the inner blocks, without those inside them.
            pub fn blocks_mut(&mut self) -> &mut [Block] {
                let found: &mut [Block] = &mut [];
                match self {
                    $($pattern => { $(let found = inner_blocks!(slice_mut blocks_mut $role $field found);)* found })*
                }
            }
        }
    };
}
pub(super) use parts;

parts! { fields BuiltinCall {
    builtin entry, use args, data prepared, data elements, data intrinsic, data span,
} }
parts! { fields HostCall { function function, use args, data span } }
parts! { fields FunctionCall { rule rule, use args, data span } }
parts! { fields Join {
    use from, use base, nodes lookup, use known, data by_key, use path, data is_base, data calls, spare key, def out,
} }
parts! { fields Aggregate { data aggregation, data into, block block, def slot, node call, def out } }
parts! { fields Every { use domain, spare key, def value, block block } }
parts! { fields InlinedRule { rule rule, block blocks } }
parts! { fields Inlined { node call, block blocks, use values, def out } }
parts! { fields FusedSet { block blocks } }
parts! { fields With { nodes modifiers, data span } }
parts! { variants ModifierTarget {
    Input(konst path, use value),
    Data(konst path, use value),
    ByRule(node callee, rule rule),
    ByBuiltin(node callee, builtin entry),
    ByValue(node callee, use value),
    Nowhere,
} }
parts! { variants Callee { Rule(rule rule), Builtin(data name), HostFunction(function function) } }

impl Step {
    /// Visits the operands, without those of inner blocks.
    pub fn operands(&self, see: &mut impl FnMut(Operand)) {
        self.parts(&mut |part| match part {
            Part::Use(operand) => see(*operand),
            Part::Argument(slot) => see(Operand::Slot(slot)),
            _ => {}
        });
    }

    /// Visits the operands, without those of inner blocks and those of a precheck, which are the arguments.
    pub fn operands_mut(&mut self, see: &mut impl FnMut(&mut Operand)) {
        self.parts_mut(&mut |part| {
            if let PartMut::Use(operand) = part {
                see(operand);
            }
        });
    }

    /// Visits the slots that the instruction itself fills.
    pub fn results(&self, see: &mut impl FnMut(Slot)) {
        self.parts(&mut |part| match part {
            Part::Def(slot) | Part::Spare(Some(slot)) => see(*slot),
            _ => {}
        });
    }
}
