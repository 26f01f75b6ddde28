//! URI references of schemas: parsing and resolution.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UriReference {
    pub scheme: String,
    /// Text after the scheme if it does not start with a slash (`urn:x:y`).
    pub opaque: String,
    pub authority: Option<String>,
    pub path: String,
    pub query: Option<String>,
    pub fragment: String,
}

impl UriReference {
    /// Parses a reference. Every text is accepted.
    pub fn parse(text: &str) -> Self {
        let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
        let (text, query) = match text.split_once('?') {
            Some((text, query)) => (text, Some(query.to_owned())),
            None => (text, None),
        };
        let (scheme, rest) = match text.split_once(':') {
            Some((scheme, rest)) if is_scheme(scheme) => (scheme.to_ascii_lowercase(), rest),
            _ => (String::new(), text),
        };
        let mut uri = Self {
            scheme,
            query,
            fragment: fragment.to_owned(),
            ..Self::default()
        };
        if !uri.scheme.is_empty() && !rest.starts_with('/') {
            rest.clone_into(&mut uri.opaque);
        } else if let Some(rest) = rest.strip_prefix("//") {
            let end = rest.find('/').unwrap_or(rest.len());
            let (authority, path) = rest.split_at(end);
            uri.authority = Some(authority.to_owned());
            path.clone_into(&mut uri.path);
        } else {
            rest.clone_into(&mut uri.path);
        }
        uri
    }

    /// Resolves a reference relative to this URI.
    pub fn join(&self, reference: &Self) -> Self {
        let mut resolved = reference.clone();
        if !reference.scheme.is_empty() {
            resolved.path = resolve_path(&reference.path, "");
            return resolved;
        }
        resolved.scheme.clone_from(&self.scheme);
        if reference.authority.is_some() {
            resolved.path = resolve_path(&reference.path, "");
            return resolved;
        }
        if reference.path.is_empty() {
            if reference.query.is_none() {
                resolved.query.clone_from(&self.query);
                if reference.fragment.is_empty() {
                    resolved.fragment.clone_from(&self.fragment);
                }
            }
            if !self.opaque.is_empty() {
                resolved.opaque.clone_from(&self.opaque);
                return resolved;
            }
        }
        resolved.authority.clone_from(&self.authority);
        resolved.path = resolve_path(&self.path, &reference.path);
        resolved
    }

    /// Returns `true` if it identifies a document by itself.
    pub fn is_canonical(&self) -> bool {
        let has_host = self.authority.as_ref().is_some_and(|host| !host.is_empty());
        match self.scheme.as_str() {
            "" => false,
            "file" => self.path.starts_with('/'),
            _ => has_host,
        }
    }

    /// Returns the text without the fragment.
    pub fn document(&self) -> String {
        let mut text = String::new();
        if !self.scheme.is_empty() {
            text.push_str(&self.scheme);
            text.push(':');
        }
        text.push_str(&self.opaque);
        if let Some(authority) = &self.authority {
            text.push_str("//");
            text.push_str(authority);
        }
        text.push_str(&self.path);
        if let Some(query) = &self.query {
            text.push('?');
            text.push_str(query);
        }
        text
    }

    /// Returns the text with the fragment, if it is not empty.
    pub fn text(&self) -> String {
        let mut text = self.document();
        if !self.fragment.is_empty() {
            text.push('#');
            text.push_str(&self.fragment);
        }
        text
    }
}

fn is_scheme(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && characters.all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// Resolves a path relative to a base and removes dot segments. The result starts with a slash unless it is empty.
fn resolve_path(base: &str, reference: &str) -> String {
    let full = if reference.is_empty() {
        base.to_owned()
    } else if reference.starts_with('/') {
        reference.to_owned()
    } else {
        let folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
        format!("{folder}/{reference}")
    };
    if full.is_empty() {
        return full;
    }
    let mut segments = Vec::new();
    let mut steps = full
        .strip_prefix('/')
        .unwrap_or(&full)
        .split('/')
        .peekable();
    while let Some(step) = steps.next() {
        match step {
            "." | ".." => {
                if step == ".." {
                    segments.pop();
                }
                if steps.peek().is_none() {
                    segments.push("");
                }
            }
            _ => segments.push(step),
        }
    }
    format!("/{}", segments.join("/"))
}

#[cfg(test)]
mod tests {
    use super::UriReference;

    #[test]
    fn references_resolve_against_their_base() {
        for (base, reference, expected) in [
            ("", "#/a", "#/a"),
            ("", "foo.json", "/foo.json"),
            ("", "", ""),
            ("http://x/root.json", "item.json", "http://x/item.json"),
            ("http://x/a/b", "../c#d", "http://x/c#d"),
            ("http://x/a/b", "./.", "http://x/a/"),
            ("http://x/a?q", "#f", "http://x/a?q#f"),
            ("http://x/a", "//y/z", "http://y/z"),
            ("http://x/a", "/z?q", "http://x/z?q"),
            ("http://x/a#f", "", "http://x/a#f"),
            ("urn:x:y", "#f", "urn:x:y#f"),
            ("http://x/a", "urn:p:q", "urn:p:q"),
        ] {
            let actual = UriReference::parse(base).join(&UriReference::parse(reference));
            assert_eq!(actual.text(), expected, "{base} + {reference}");
        }
    }
}
