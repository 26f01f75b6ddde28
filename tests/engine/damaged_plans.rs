//! Plans of the golden files in which one operand, slot, constant or terminator is damaged: the verifier rejects each.
//!
//! The golden files contain most instructions, so most rows of the table of instructions are tested.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use solon::internal::compile::{compile, lower};
use solon::internal::program::{Block, Operand, PartMut, Plan, Program, Rule, Step, verify};
use solon_syntax::parse_module;
use solon_syntax::source::{Source, SourceId};

use crate::passes::Settings;

/// A way to damage an instruction. Returns what the verifier must report, or `None` if the instruction has no such part.
type Damage = fn(&mut Step, &Limits) -> Option<String>;

/// Numbers larger than any slot or constant.
struct Limits {
    slots: u32,
    constants: u32,
}

/// Name of the damage that replaces an operand by a slot that nothing fills.
const UNFILLED: &str = "operand";

const DAMAGES: [(&str, Damage); 5] = [
    (UNFILLED, |step, limits| {
        let slot = limits.slots - 1;
        set_operand(step, Operand::Slot(slot))
            .then(|| format!("reads slot {slot}, which is not filled"))
    }),
    ("operand beyond the frame", |step, limits| {
        let slot = limits.slots;
        set_operand(step, Operand::Slot(slot)).then(|| format!("reads slot {slot} of {slot}"))
    }),
    ("constant", |step, limits| {
        let constant = limits.constants;
        set_operand(step, Operand::Const(constant))
            .then(|| format!("has constant {constant} of {constant}"))
    }),
    ("result", |step, limits| {
        let slot = limits.slots;
        let mut is_set = false;
        step.parts_mut(&mut |part| match part {
            PartMut::Def(out) if !is_set => {
                *out = slot;
                is_set = true;
            }
            PartMut::Spare(out @ Some(_)) if !is_set => {
                *out = Some(slot);
                is_set = true;
            }
            _ => {}
        });
        is_set.then(|| format!("fills slot {slot} of {slot}"))
    }),
    ("inner terminator", |step, _| {
        let block = step.blocks_mut().last_mut()?;
        *block = Block::default();
        Some("a block without a terminator".to_owned())
    }),
];

/// Replaces the last operand, which earlier ones do not hide. Returns `false` if there is none.
fn set_operand(step: &mut Step, new: Operand) -> bool {
    let mut count = 0;
    step.operands_mut(&mut |_| count += 1);
    let mut at = 0;
    step.operands_mut(&mut |operand| {
        at += 1;
        if at == count {
            *operand = new;
        }
    });
    count > 0
}

/// Damages the instruction with this number, counted in depth-first order. Returns its name and what must be reported.
fn damage_at(
    block: &mut Block,
    left: &mut usize,
    damage: Damage,
    limits: &Limits,
) -> Option<(&'static str, Option<String>)> {
    for step in block {
        if *left == 0 {
            return Some((step.kind(), damage(step, limits)));
        }
        *left -= 1;
        for inner in step.blocks_mut() {
            if let Some(found) = damage_at(inner, left, damage, limits) {
                return Some(found);
            }
        }
    }
    None
}

/// Returns the plan of a rule set with this number.
fn plan_mut(program: &mut Program, set: usize, at: usize) -> Option<&mut Plan> {
    let set = Arc::get_mut(program.rules.get_mut(set)?).unwrap();
    let members = set.rules.iter_mut().flat_map(Rule::plans_mut);
    let plans = members.flat_map(|(plan, keyed)| std::iter::once(plan).chain(keyed));
    plans.chain(&mut set.default).nth(at)
}

fn lowered_policies() -> Vec<Program> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/plans");
    let files = fs::read_dir(folder).unwrap();
    let paths = files.map(|entry| entry.unwrap().path());
    let policies = paths.filter(|path| path.extension().is_some_and(|name| name == "rego"));
    let programs = policies.filter_map(|path| {
        let text = fs::read_to_string(path).unwrap();
        let settings = Settings::read(&text);
        let source = Source::new(SourceId(0), "a.rego", text.as_str());
        let module = parse_module(&source, &settings.parsing).ok()?;
        let compiled = compile(vec![module], &settings.options, None, |_, _| {}).ok()?;
        let modules = &compiled.modules;
        Some(lower::program(modules, Vec::new(), &settings.options))
    });
    programs.collect()
}

/// Instructions that are not damaged.
const NOT_DAMAGED: [&str; 11] = [
    // without operands, results and blocks
    "Fail",
    "Precheck",
    "EndWith",
    "Exists",
    "MemberFound",
    // in no rule of the golden files
    "HostCall",
    "Keyed",
    "Document",
    "Keys",
    "MayEqual",
    "ResultSetAdd",
];

/// Damages each instruction of a plan in turn. Adds what was damaged to `seen`. Returns `false` if the plan does not exist.
fn damage_plan(program: &mut Program, set: usize, at: usize, seen: &mut BTreeSet<String>) -> bool {
    let constants = u32::try_from(program.constants.len()).unwrap();
    for (name, damage) in DAMAGES {
        for number in 0.. {
            let Some(plan) = plan_mut(program, set, at) else {
                return false;
            };
            let (intact, slots) = (plan.steps.clone(), plan.slots);
            let mut fails = false;
            plan.visit(&mut |step| fails |= matches!(step, Step::Fail));
            if fails && name == UNFILLED {
                // instructions that are never reached may read any slot
                break;
            }
            // nothing fills the last slot
            plan.slots += 1;
            let limits = Limits {
                slots: plan.slots,
                constants,
            };
            let damaged = damage_at(&mut plan.steps, &mut { number }, damage, &limits);
            let verified = verify::rule_set(program, program.rules.get(set).unwrap());
            if let Some(plan) = plan_mut(program, set, at) {
                (plan.steps, plan.slots) = (intact, slots);
            }
            match damaged {
                None => break,
                Some((_, None)) => assert_eq!(verified, Ok(())),
                Some((kind, Some(violation))) => {
                    let error = verified.expect_err(kind);
                    let is_named = error.contains(&format!("`{kind}`"));
                    assert!(
                        is_named && error.ends_with(&violation),
                        "{name} of {kind}: {error}"
                    );
                    seen.insert(format!("{name} of {kind}"));
                }
            }
        }
    }
    true
}

#[test]
fn each_damaged_instruction_is_rejected() {
    let mut seen = BTreeSet::new();
    for mut program in lowered_policies() {
        assert_eq!(verify::program(&program), Ok(()));
        for set in 0..program.rules.len() {
            let mut plans = 0..;
            while damage_plan(&mut program, set, plans.next().unwrap(), &mut seen) {}
        }
        assert_eq!(verify::program(&program), Ok(()));
    }
    let kinds = Step::KINDS.iter().copied();
    let missing: Vec<&str> = kinds
        .filter(|kind| !NOT_DAMAGED.contains(kind))
        .filter(|kind| {
            !seen
                .iter()
                .any(|damage| damage.ends_with(&format!(" {kind}")))
        })
        .collect();
    assert!(missing.is_empty(), "not damaged: {missing:?}");
    for (name, _) in DAMAGES {
        assert!(
            seen.iter().any(|damage| damage.starts_with(name)),
            "no {name}"
        );
    }
}
