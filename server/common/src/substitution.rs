//! Environment variables in texts of configurations.

/// Syntax of references to variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// As OPA's configuration: `${NAME}`, where the name is all text up to the brace on the same line. A reference to a variable that is
    /// not set stays as it is, unless the name is empty.
    Opa,
    /// As OPA Control Plane's files: `$NAME` or `${NAME}` with a name of letters, digits and underscores, and `$$` for a
    /// dollar. A reference to a variable that is not set is replaced by an empty text.
    ControlPlane,
}

/// Returns the value of an environment variable, or `None` if it is not set.
pub type Variables<'v> = &'v dyn Fn(&str) -> Option<String>;

/// A text with the values of variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Substituted {
    /// The text after the replacements.
    pub text: String,
    /// Names of the variables that are not set, in the order of their references.
    pub missing: Vec<String>,
}

/// Replaces references to variables by their values. Values are not searched for references.
pub fn substitute(text: &str, syntax: Syntax, variables: Variables<'_>) -> Substituted {
    let mut out = String::with_capacity(text.len());
    let mut missing = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        rest = after;
        if let (Syntax::ControlPlane, Some(after)) = (syntax, rest.strip_prefix('$')) {
            out.push('$');
            rest = after;
            continue;
        }
        let Some((name, after)) = reference(rest, syntax) else {
            out.push('$');
            continue;
        };
        match variables(name) {
            Some(value) => out.push_str(&value),
            None => {
                if syntax == Syntax::Opa && !name.is_empty() {
                    out.extend(["${", name, "}"]);
                }
                missing.push(name.to_owned());
            }
        }
        rest = after;
    }
    out.push_str(rest);
    Substituted { text: out, missing }
}

/// Returns the name that a text after a dollar refers to, and the text after the reference.
fn reference(text: &str, syntax: Syntax) -> Option<(&str, &str)> {
    let braces = text.strip_prefix('{').and_then(|text| text.split_once('}'));
    match syntax {
        Syntax::Opa => braces.filter(|(name, _)| !name.contains('\n')),
        Syntax::ControlPlane => {
            let is_in_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
            let (name, after) = braces.or_else(|| {
                let end = text.find(|c| !is_in_name(c)).unwrap_or(text.len());
                text.split_at_checked(end)
            })?;
            let is_name = !name.is_empty()
                && !name.starts_with(|c: char| c.is_ascii_digit())
                && name.chars().all(is_in_name);
            is_name.then_some((name, after))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Substituted, Syntax, substitute};

    fn variables(name: &str) -> Option<String> {
        match name {
            "A_1" => Some("value".to_owned()),
            "R" => Some("$A_1 ${A_1}".to_owned()),
            "a b" => Some("blank".to_owned()),
            _ => None,
        }
    }

    #[test]
    fn references_are_replaced() {
        for (text, opa, control) in [
            ("x", "x", "x"),
            ("$A_1", "$A_1", "value"),
            ("${A_1}b $A_1.", "valueb $A_1.", "valueb value."),
            ("$R", "$R", "$A_1 ${A_1}"),
            ("pa$$word", "pa$$word", "pa$word"),
            ("$$A_1 $$${A_1}", "$$A_1 $$value", "$A_1 $value"),
            (
                "5$ $ ${} $1 ${1} $",
                "5$ $  $1 ${1} $",
                "5$ $ ${} $1 ${1} $",
            ),
            ("${a b}", "blank", "${a b}"),
            ("${a\nb} ${A_1", "${a\nb} ${A_1", "${a\nb} ${A_1"),
            ("${a\n${A_1}", "${a\nvalue", "${a\nvalue"),
            (
                "${A_1:-x} ${${A_1}}",
                "${A_1:-x} ${${A_1}}",
                "${A_1:-x} ${value}",
            ),
        ] {
            assert_eq!(
                substitute(text, Syntax::Opa, &variables).text,
                opa,
                "{text}"
            );
            let substituted = substitute(text, Syntax::ControlPlane, &variables);
            assert_eq!(substituted.text, control, "{text}");
            assert!(substituted.missing.is_empty(), "{text}");
        }
        for (syntax, text) in [(Syntax::Opa, "a${B}c"), (Syntax::ControlPlane, "ac")] {
            assert_eq!(
                substitute("a${B}c", syntax, &variables),
                Substituted {
                    text: text.to_owned(),
                    missing: vec!["B".to_owned()]
                }
            );
        }
    }
}
