//! What is known of a few names.

use hashbrown::HashMap;

use solon_syntax::ast::Name;

/// Names among which a scan beats a hash.
const SCANNED: usize = 16;

/// A map from names, in the order they came. Bodies have few variables: as long as that is so, they are compared one
/// by one.
#[derive(Clone, Debug)]
pub struct NameMap<T> {
    entries: Vec<(Name, T)>,
    /// Their places, once there are more than a scan should look at.
    places: HashMap<Name, usize>,
}

impl<T> Default for NameMap<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            places: HashMap::new(),
        }
    }
}

impl<T> NameMap<T> {
    fn find(&self, name: &Name) -> Option<usize> {
        if self.entries.len() > SCANNED {
            return self.places.get(name).copied();
        }
        // what came last is asked for most often
        self.entries.iter().rposition(|(known, _)| known == name)
    }

    /// What is known of a name.
    pub fn get(&self, name: &Name) -> Option<&T> {
        let (_, value) = self.entries.get(self.find(name)?)?;
        Some(value)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, name: &Name) -> Option<&mut T> {
        let at = self.find(name)?;
        let (_, value) = self.entries.get_mut(at)?;
        Some(value)
    }

    /// Notes what is known of a name; answers what was known before.
    pub fn insert(&mut self, name: &Name, value: T) -> Option<T> {
        if let Some(known) = self.get_mut(name) {
            return Some(std::mem::replace(known, value));
        }
        let at = self.entries.len();
        self.entries.push((name.clone(), value));
        if at == SCANNED {
            let names = self.entries.iter().map(|(name, _)| name.clone());
            self.places = names.zip(0..).collect();
        } else if at > SCANNED {
            self.places.insert(name.clone(), at);
        }
        None
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Forgets all names but the first so many.
    pub fn truncate(&mut self, len: usize) {
        if self.entries.len() > SCANNED {
            for (name, _) in self.entries.iter().skip(len) {
                self.places.remove(name);
            }
        }
        self.entries.truncate(len);
    }

    /// The names in the order they came, with what is known of them.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &T)> {
        self.entries.iter().map(|(name, value)| (name, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_names_are_found() {
        let name = |at: usize| Name::from(format!("x{at}"));
        let mut map = NameMap::default();
        for at in 0..40 {
            assert_eq!(map.insert(&name(at), at), None);
            assert!((0..=at).all(|known| map.get(&name(known)) == Some(&known)));
            assert_eq!(map.get(&name(at + 1)), None);
        }
        assert_eq!(map.insert(&name(20), 0), Some(20));
        for len in (0..40).rev() {
            map.truncate(len);
            assert_eq!(map.len(), len);
            assert!((0..40).all(|at| map.get(&name(at)).is_some() == (at < len)));
        }
    }
}
