//! Decision ids: UUIDs of version 4.

use std::cell::RefCell;

use crate::uuid;

/// Number of random bytes that a thread requests from the system at once. A system call per id would cost more than the rest of an
/// event.
const BATCH: usize = 4096;

/// Random bytes that are not used yet, so that one system call serves several ids.
struct RandomBytes {
    bytes: [u8; BATCH],
    used: usize,
}

thread_local! {
    static RANDOM: RefCell<RandomBytes> = const {
        RefCell::new(RandomBytes {
            bytes: [0; BATCH],
            used: BATCH,
        })
    };
}

/// Returns a new id, or `None` if the system has no random bytes.
pub fn new_id() -> Option<String> {
    let number = RANDOM.with_borrow_mut(RandomBytes::next)?;
    Some(uuid::of_random(number))
}

impl RandomBytes {
    fn next(&mut self) -> Option<u128> {
        if self.used >= BATCH {
            getrandom::fill(&mut self.bytes).ok()?;
            self.used = 0;
        }
        let end = self.used + 16;
        let bytes = self.bytes.get_mut(self.used..end)?;
        let number = u128::from_be_bytes(bytes.try_into().ok()?);
        // an id must not be readable in memory before it is used
        bytes.fill(0);
        self.used = end;
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::new_id;

    #[test]
    fn ids_are_random_uuids_of_version_4() {
        let ids: HashSet<String> = (0..10_000).map(|_| new_id().unwrap()).collect();
        assert_eq!(ids.len(), 10_000);
        for id in ids {
            let parts: Vec<&str> = id.split('-').collect();
            let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
            assert!(parts[2].starts_with('4'), "{id}");
            assert!(parts[3].starts_with(['8', '9', 'a', 'b']), "{id}");
            assert!(id.bytes().all(|byte| byte == b'-'
                || byte.is_ascii_digit()
                || (b'a'..=b'f').contains(&byte)));
        }
    }
}
