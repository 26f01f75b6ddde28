//! What the package's own tests need of the inside; no part of what is shipped.

use std::sync::Arc;

use ::engine::internal::builtins::Custom;
use ::engine::internal::program::{Operand, Program, Step};
use ::engine::internal::testing::apply_tampered;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::engine::Engine;
use crate::error::from_engine;
use crate::settings::Settings;

const POLICY: &str = "package t
impossible := 7
panics := boom(input.x)
sound := input.x";

/// An engine with a document that cannot be, one that panics, and a sound one.
#[pyfunction]
pub fn _faulty_engine(py: Python<'_>) -> PyResult<Engine> {
    #[expect(clippy::panic, reason = "what a panic becomes is what is tested")]
    let boom = Custom::new("boom", "x: any => y: any", |_, _| panic!("injected"));
    let boom = boom.map_err(PyValueError::new_err)?;
    let engine = ::engine::Engine::builder().function(boom).build();
    let mut change = ::engine::Change::default();
    change.set_module("t.rego", POLICY);
    apply_tampered(&engine, change, &tamper).map_err(|error| from_engine(py, &error))?;
    Ok(Engine::of(engine, Settings::read(false, None)?))
}

/// Makes the plan of a rule name a constant that the program does not have.
fn tamper(program: &mut Program) {
    let mut rules = program.rules.iter_mut().filter_map(Arc::get_mut);
    let impossible = rules.find(|set| &*set.name == "data.t.impossible");
    if let Some(rule) = impossible.and_then(|set| set.rules.first_mut()) {
        rule.plan.steps = [Step::Value(Operand::Const(1 << 20))].into();
    }
}
