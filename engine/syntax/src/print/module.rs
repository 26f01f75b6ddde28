//! Heads, rules, imports and modules.

use std::fmt;

use super::term::{write_list, write_operands};
use super::{display_body, display_ref};
use crate::ast::{Head, Import, Module, Package, Rule, TermKind};

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display_ref(&self.reference).fmt(f)?;
        if !self.args.is_empty() {
            f.write_str("(")?;
            write_list(f, &self.args)?;
            f.write_str(")")?;
        }
        match (&self.key, &self.value) {
            (Some(key), None) => write!(f, " contains {key}"),
            (_, Some(value)) => write!(f, " {} {value}", if self.assign { ":=" } else { "=" }),
            (None, None) => Ok(()),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.default {
            return write!(f, "default {}", self.head);
        }
        write!(f, "{} if {{ {} }}", self.head, display_body(&self.body))?;
        let mut next = self.else_rule.as_deref();
        while let Some(rule) = next {
            f.write_str(" else")?;
            if let Some(value) = &rule.head.value {
                write!(f, " = {value}")?;
            }
            write!(f, " if {{ {} }}", display_body(&rule.body))?;
            next = rule.else_rule.as_deref();
        }
        Ok(())
    }
}

impl fmt::Display for Import {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "import {}", self.path)?;
        match &self.alias {
            Some(alias) => write!(f, " as {alias}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Package {
    /// Writes the path without `data`. Its first segment has no brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("package ")?;
        let Some((_, path)) = self.path.split_first() else {
            return Ok(());
        };
        let Some((first, rest)) = path.split_first() else {
            return Ok(());
        };
        match &first.kind {
            TermKind::String(name) => f.write_str(name)?,
            other => other.fmt(f)?,
        }
        write_operands(f, rest)
    }
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.package)?;
        if !self.imports.is_empty() {
            f.write_str("\n")?;
        }
        self.imports
            .iter()
            .try_for_each(|import| write!(f, "\n{import}"))?;
        self.rules
            .iter()
            .try_for_each(|rule| write!(f, "\n\n{rule}"))
    }
}
