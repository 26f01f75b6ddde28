//! Decision ids: UUIDs of version 4.

use std::cell::RefCell;

/// Number of random bytes that a thread requests from the system at once. A system call per id would cost more than the rest of an
/// event.
const BATCH: usize = 4096;

/// Random bytes that are not used yet.
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
    let number = number & !(0xf000 << 64) & !(0xc000 << 48) | 0x4000 << 64 | 0x8000 << 48;
    let mut text = [0_u8; 36];
    let mut shift = 128_u32;
    for (at, byte) in text.iter_mut().enumerate() {
        if matches!(at, 8 | 13 | 18 | 23) {
            *byte = b'-';
            continue;
        }
        shift = shift.saturating_sub(4);
        let digit = u8::try_from(number >> shift & 0xf).unwrap_or(0);
        *byte = if digit < 10 {
            b'0' + digit
        } else {
            b'a' + digit - 10
        };
    }
    String::from_utf8(text.to_vec()).ok()
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
