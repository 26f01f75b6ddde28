//! Any bytes as JSON: both readers agree, and written text reads back equal.

#![no_main]

use libfuzzer_sys::fuzz_target;
use solon::internal::value::{Arena, json};

fuzz_target!(|text: &[u8]| {
    let arena = Arena::new();
    let owned = json::read(text);
    let borrowed = json::read_into(&arena, text);
    match (owned, borrowed) {
        (Ok(owned), Ok(borrowed)) => {
            assert_eq!(owned.borrow(), borrowed);
            assert_eq!(borrowed.to_value(), owned);
            assert!(json::is_valid(text));
            let mut written = Vec::new();
            json::write(borrowed, &mut written);
            let mut again = Vec::new();
            json::write(owned.borrow(), &mut again);
            assert_eq!(written, again);
            assert_eq!(json::read(&written).ok(), Some(owned));
        }
        (Err(one), Err(other)) => assert_eq!(one.to_string(), other.to_string()),
        (owned, borrowed) => panic!("{:?} {}", owned.is_ok(), borrowed.is_ok()),
    }
});
