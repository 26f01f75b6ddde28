//! One call with operands made from bytes, known to the compiler and hidden from it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use solon_fuzz::one_call;

fuzz_target!(|bytes: &[u8]| one_call::check(bytes));
