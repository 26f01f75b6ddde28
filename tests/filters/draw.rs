//! Random choices that a seed determines.

/// A generator of random numbers (xorshift).
pub struct Draw(u64);

impl Draw {
    /// Another one for each seed.
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

    /// A number below `end`.
    pub fn less_than(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 11).unwrap() % end
    }

    /// Whether one of `of` chances came.
    pub fn one_in(&mut self, of: usize) -> bool {
        self.less_than(of) == 0
    }

    /// One of some.
    pub fn choose<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.less_than(all.len())]
    }
}
