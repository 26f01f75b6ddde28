//! Going down values along known keys.

use crate::program::{Operand, Slot};
use crate::value::{Object, V, Value};

use super::machine::Machine;

impl<'e> Machine<'e> {
    /// Goes down a value along keys; whether something is there.
    pub(super) fn walk(&mut self, from: V<'e>, keys: &[Operand], out: Slot) -> bool {
        let mut value = from;
        let mut keys = keys.iter();
        loop {
            let V::Object(object) = value else {
                let Some(key) = keys.next() else {
                    break;
                };
                match value.lookup(self.get(*key)) {
                    Some(inner) => value = inner,
                    None => return false,
                }
                continue;
            };
            match self.walk_stored(object, &mut keys) {
                Some(Ok(inner)) if keys.len() == 0 => {
                    self.set_stored(out, inner);
                    return true;
                }
                Some(Ok(inner)) => value = inner.borrow(),
                Some(Err(())) => break,
                None => return false,
            }
        }
        self.set(out, value);
        true
    }

    /// Goes down stored objects as long as they are objects, without making values in flight. `Err` when there
    /// is no key, `None` when nothing is there.
    #[inline]
    fn walk_stored(
        &self,
        object: &'e Object,
        keys: &mut std::slice::Iter<'_, Operand>,
    ) -> Option<Result<&'e Value, ()>> {
        let Some(mut key) = keys.next() else {
            return Some(Err(()));
        };
        let mut object = object;
        loop {
            let found = match key {
                Operand::Const(id) => object.get_stored(self.stored_constant(*id)?)?,
                Operand::Slot(slot) => object.get(*self.slot_ref(*slot)?)?,
            };
            let Value::Object(inner) = found else {
                return Some(Ok(found));
            };
            match keys.next() {
                Some(next) => key = next,
                None => return Some(Ok(found)),
            }
            object = inner;
        }
    }
}
