//! Names of rows: paths as JSON pointers, so that the names of all rows below a path start with its name.

/// Returns the name of a member of a row's object: that of the parent with the key.
pub fn member_name(parent: &[u8], key: &[u8]) -> Vec<u8> {
    let mut name = Vec::with_capacity(parent.len() + key.len() + 1);
    name.extend_from_slice(parent);
    push(&mut name, key);
    name
}

/// Appends a key to the name of a row, escaped like a JSON pointer.
fn push(name: &mut Vec<u8>, key: &[u8]) {
    name.push(b'/');
    for byte in key {
        match byte {
            b'~' => name.extend_from_slice(b"~0"),
            b'/' => name.extend_from_slice(b"~1"),
            byte => name.push(*byte),
        }
    }
}

/// Returns the name of the row at a path.
pub fn of_keys(keys: &[String]) -> Vec<u8> {
    let mut name = Vec::new();
    for key in keys {
        push(&mut name, key.as_bytes());
    }
    name
}

/// Returns the path of a name, or `None` if it is not a valid name.
pub fn keys(name: &[u8]) -> Option<Vec<String>> {
    let mut keys = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let (parent, key) = split(rest)?;
        keys.push(String::from_utf8(key).ok()?);
        rest = parent;
    }
    keys.reverse();
    Some(keys)
}

/// Returns the name of the parent row and the key there, or `None` for the root and for invalid names.
pub fn split(name: &[u8]) -> Option<(&[u8], Vec<u8>)> {
    let index = name.iter().rposition(|byte| *byte == b'/')?;
    let (parent, key) = (name.get(..index)?, name.get(index + 1..)?);
    let mut text = Vec::with_capacity(key.len());
    let mut bytes = key.iter();
    while let Some(byte) = bytes.next() {
        text.push(match byte {
            b'~' => match bytes.next()? {
                b'0' => b'~',
                b'1' => b'/',
                _ => return None,
            },
            byte => *byte,
        });
    }
    Some((parent, text))
}

/// Returns the half-open range of the names of all rows below one.
pub fn range(name: &[u8]) -> (Vec<u8>, Vec<u8>) {
    // `0` is the byte after `/`
    ([name, b"/"].concat(), [name, b"0"].concat())
}

#[cfg(test)]
mod tests {
    use super::{keys, member_name, of_keys, range, split};

    #[test]
    fn names_are_parsed_back() {
        for key in ["", "a", "/", "~", "~1", "a/b~c", "~01/"] {
            let name = member_name(b"/x", key.as_bytes());
            let (parent, back) = split(&name).unwrap();
            assert_eq!((parent, &*back), (&b"/x"[..], key.as_bytes()));
            assert_eq!(keys(&name), Some(vec!["x".to_owned(), key.to_owned()]));
            assert_eq!(of_keys(&["x".to_owned(), key.to_owned()]), name);
            let (first, end) = range(b"/x");
            assert!(first <= name && name < end, "{key}");
        }
        assert_eq!(split(b""), None);
        assert_eq!(split(b"/~2"), None);
        let (first, end) = range(b"/x");
        for other in ["/x", "/x!", "/x0", "/y", "/x~1"] {
            assert!(
                !(*first <= *other.as_bytes() && *other.as_bytes() < *end),
                "{other}"
            );
        }
    }
}
