//! Any bytes as YAML: written text reads back equal, unless a key is written as the merge key, as in OPA.

#![no_main]

use libfuzzer_sys::fuzz_target;
use solon::internal::value::yaml;

fuzz_target!(|text: &[u8]| {
    if let Ok(value) = yaml::read(text) {
        let mut written = String::new();
        if yaml::write(value.borrow(), &mut written).is_ok() && !written.contains("<<") {
            assert_eq!(
                yaml::read(written.as_bytes()).ok(),
                Some(value),
                "{written}"
            );
        }
    }
});
