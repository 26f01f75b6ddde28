//! The solutions of queries.

use std::ffi::c_char;
use std::ptr;

use ::engine::{Solution, Value as EngineValue, json};

use crate::argument;
use crate::bytes::Text;
use crate::guard::guard_or;
use crate::value::Value;

/// The solutions of a query. Several threads may read them at once. Their values live as long as the solutions.
pub struct Solutions(pub(crate) Vec<Solution>);

impl Solutions {
    /// Serializes the solutions as a JSON array of objects.
    pub(crate) fn json(&self) -> Vec<u8> {
        let solutions = self.0.iter().map(|solution| {
            let bindings = solution.bindings.iter();
            let bindings = bindings.map(|(name, value)| ((**name).into(), value.clone()));
            EngineValue::object(vec![
                ("bindings".into(), EngineValue::object(bindings.collect())),
                ("values".into(), EngineValue::array(solution.values.clone())),
            ])
        });
        let mut text = Vec::new();
        let solutions = EngineValue::array(solutions.collect());
        json::write(solutions.borrow(), &mut text);
        text
    }
}

/// Reads from a solution; returns `otherwise` if there is none.
///
/// # Safety
/// `solutions` is NULL or live.
unsafe fn read<'a, T: Copy>(
    solutions: *const Solutions,
    index: usize,
    otherwise: T,
    read_field: impl FnOnce(&'a Solution) -> Option<T>,
) -> T {
    guard_or(otherwise, || {
        // SAFETY: by this function's contract
        let solutions: Option<&'a Solutions> = unsafe { solutions.as_ref() };
        let solution = solutions.and_then(|solutions| solutions.0.get(index));
        solution.and_then(read_field).unwrap_or(otherwise)
    })
}

/// Returns the number of solutions; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_solutions_count(solutions: *const Solutions) -> usize {
    guard_or(0, || {
        // SAFETY: the caller upholds the contract of the header
        unsafe { solutions.as_ref() }.map_or(0, |solutions| solutions.0.len())
    })
}

/// Returns the number of variables that a solution binds, which is the same for all solutions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_solutions_binding_count(solutions: *const Solutions) -> usize {
    // SAFETY: the caller upholds the contract of the header
    unsafe { read(solutions, 0, 0, |solution| Some(solution.bindings.len())) }
}

/// Returns the name of a variable by its position from 0; empty if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_solutions_name(
    solutions: *const Solutions,
    position: usize,
) -> Text {
    let name = |solution: &Solution| {
        let binding = solution.bindings.get(position);
        binding.map(|(name, _)| Text::of_str(name))
    };
    // SAFETY: the caller upholds the contract of the header
    unsafe { read(solutions, 0, Text::of_str(""), name) }
}

/// Returns the value of a variable, by its name, in a solution; NULL if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_solutions_binding(
    solutions: *const Solutions,
    index: usize,
    name: *const c_char,
    name_length: usize,
) -> *const Value {
    let binding = |solution: &Solution| {
        // SAFETY: the caller upholds the contract of the header
        let name_of_binding = unsafe { argument::text(name, name_length, "name") }.ok()?;
        let mut bindings = solution.bindings.iter();
        let binding = bindings.find(|(name, _)| **name == *name_of_binding);
        binding.map(|(_, value)| Value::handle_of(value))
    };
    // SAFETY: the caller upholds the contract of the header
    unsafe { read(solutions, index, ptr::null(), binding) }
}

/// Returns the value of an expression of the query, by its position from 0, in a solution; NULL if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_solutions_value(
    solutions: *const Solutions,
    index: usize,
    expression: usize,
) -> *const Value {
    let value = |solution: &Solution| solution.values.get(expression).map(Value::handle_of);
    // SAFETY: the caller upholds the contract of the header
    unsafe { read(solutions, index, ptr::null(), value) }
}

/// Frees solutions; does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_solutions_free(solutions: *mut Solutions) {
    // SAFETY: they were created from a `Box`, and the caller frees them once
    unsafe { argument::free(solutions) };
}
