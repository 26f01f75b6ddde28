//! Checked access to elements at positions that are known to exist.
//!
//! A position outside the collection is a violated invariant. [`Indexed::item`] panics then, whereas `get` would let
//! the caller continue without the element.

use crate::bug::bug;

/// A position in a collection. Where positions of several collections could be confused, ids have types of their own.
pub trait IndexType: Copy {
    /// Returns the position as an index, counted from 0.
    fn position(self) -> usize;
}

macro_rules! positions {
    ($($kind:ty),*) => {
        $(impl IndexType for $kind {
            #[inline]
            fn position(self) -> usize {
                self as usize
            }
        })*
    };
}

// none of them is wider than `usize` on the supported platforms
positions!(u8, u16, u32, usize);

const OUT_OF_RANGE: &str = "a position that its collection did not give out";

/// Checked access by a position that exists by an invariant.
pub trait Indexed<T> {
    /// Returns the element at a position.
    ///
    /// # Panics
    /// Panics with [`bug!`] if there is none.
    fn item<P: IndexType>(&self, position: P) -> &T;

    /// Returns the element at a position for modification.
    ///
    /// # Panics
    /// Panics with [`bug!`] if there is none.
    fn item_mut<P: IndexType>(&mut self, position: P) -> &mut T;
}

impl<T> Indexed<T> for [T] {
    #[inline]
    fn item<P: IndexType>(&self, position: P) -> &T {
        match self.get(position.position()) {
            Some(item) => item,
            None => bug!(OUT_OF_RANGE),
        }
    }

    #[inline]
    fn item_mut<P: IndexType>(&mut self, position: P) -> &mut T {
        match self.get_mut(position.position()) {
            Some(item) => item,
            None => bug!(OUT_OF_RANGE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Indexed as _;
    use crate::bug;

    #[test]
    fn existing_positions_return_elements() {
        let mut items = [1, 2, 3];
        *items.item_mut(1_u32) += 5;
        assert_eq!((items.item(0_u8), items.item(1_usize)), (&1, &7));
    }

    #[test]
    fn other_positions_panic() {
        let read_result = bug::catch(|| *[1].item(1_u16));
        let write_result = bug::catch(|| *[1].item_mut(u32::MAX) = 2);
        for result in [read_result.map(drop), write_result] {
            assert!(result.is_err_and(|message| message.message().contains(super::OUT_OF_RANGE)));
        }
    }
}
