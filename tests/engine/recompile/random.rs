//! A deterministic generator of pseudo-random numbers.

/// A generator.
pub struct Random(u64);

impl Random {
    /// Creates a generator whose sequence depends on the name.
    pub fn new(name: &str) -> Self {
        let seed = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(seed | 1)
    }

    /// Returns a number less than `end`.
    pub fn less_than(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % end as u64).unwrap()
    }
}
