//! Random choices determined by a seed.

/// A random number generator (xorshift).
pub struct Draw(u64);

impl Draw {
    /// Creates a generator with a seed.
    pub fn new(seed: u64) -> Self {
        let mut draw = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..8 {
            draw.next();
        }
        draw
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number less than `end`.
    pub fn less_than(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 11).unwrap() % end
    }

    /// Returns `true` with a probability of one in `of`.
    pub fn one_in(&mut self, of: usize) -> bool {
        self.less_than(of) == 0
    }

    /// Returns a random element.
    pub fn choose<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.less_than(all.len())]
    }
}
