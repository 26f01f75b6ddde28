//! One call with operands made from bytes, as constants and as values unknown to the compiler.

#![no_main]

use libfuzzer_sys::fuzz_target;
use solon_fuzz::one_call;

fuzz_target!(|bytes: &[u8]| one_call::check(bytes));
