//! Imports: groups, their order, and the imports that a version adds or drops.

use std::cmp::Ordering;

use crate::ast::{Import, Module, Term, Version};
use crate::source::Span;

use super::lines::{LineWriter, Written};
use super::style::{calls, keywords_of, path_of};
use crate::dialect::Keywords;

impl<'m> LineWriter<'m> {
    pub(super) fn imports(&mut self, imports: Vec<&'m Import>) -> Written {
        let rows: Vec<u32> = imports.iter().map(|import| import.span.row).collect();
        let comments = self.take_comments_on(&rows);
        let mut groups: Vec<Vec<(&Import, _)>> = Vec::new();
        let mut last: Option<&Import> = None;
        for entry in imports.into_iter().zip(comments) {
            let starts = last.is_none_or(|last| entry.0.span.row > last.span.row + 1);
            last = Some(entry.0);
            match groups.last_mut() {
                Some(group) if !starts => group.push(entry),
                _ => groups.push(vec![entry]),
            }
        }
        for mut group in groups {
            if let Some((first, _)) = group.first() {
                self.comments_to(first.span.row)?;
            }
            group.sort_by(|(a, _), (b, _)| order(a, b));
            for (import, comment) in group {
                self.start_line();
                self.import(import)?;
                if let Some(comment) = comment {
                    self.trailing(comment);
                }
                self.end_line();
            }
            self.blank_line();
        }
        Ok(())
    }

    fn import(&mut self, import: &'m Import) -> Written {
        self.write("import ");
        match import.path.as_ref() {
            Some(parts) => {
                if let Some((first, rest)) = parts.split_first() {
                    if let Some(name) = first.as_var() {
                        self.write(name);
                    }
                    if path_of(import).0 == Some("future") {
                        for name in rest.iter().filter_map(Term::as_string) {
                            self.write(".");
                            self.write(name);
                        }
                    } else {
                        self.operands(rest)?;
                    }
                }
            }
            None => {
                if let Some(name) = import.path.as_var() {
                    self.write(name);
                }
            }
        }
        if let Some(alias) = &import.alias {
            self.write(" as ");
            self.write(alias);
        }
        Ok(())
    }
}

/// Orders by path. Imports without an alias precede those with one.
fn order(a: &Import, b: &Import) -> Ordering {
    a.path
        .kind
        .cmp(&b.path.kind)
        .then_with(|| a.alias.cmp(&b.alias))
}

fn is_rego(import: &Import, versions: &[&str]) -> bool {
    let (root, names) = path_of(import);
    root == Some("rego") && matches!(names.as_slice(), [name] if versions.contains(name))
}

/// Returns the imports to write for a version: without those that it makes superfluous, or with `rego.v1`.
pub(super) fn imports_for(module: &Module, target: Version, drop_v0: bool) -> Vec<Import> {
    let mut imports = module.imports.clone();
    if target == Version::V1 && drop_v0 {
        imports.retain(|import| !is_rego(import, &["v1"]));
    } else if target == Version::V0CompatV1
        && !imports.iter().any(|import| is_rego(import, &["v1", "v2"]))
    {
        let position = imports
            .iter()
            .rposition(|import| matches!(path_of(import).0, Some("future" | "rego")));
        let row = position
            .and_then(|position| imports.get(position))
            .map_or(1, |import| import.span.row + 1);
        // a rule on that row leaves no space for an import line
        let row = if module.rules.iter().any(|rule| rule.span.row == row) {
            0
        } else {
            row
        };
        let position = imports.partition_point(|import| import.span.row < row);
        imports.insert(position, rego_v1(row));
    }
    let has_v2 = imports.iter().any(|import| is_rego(import, &["v2"]));
    if has_v2 {
        imports.retain(|import| !is_rego(import, &["v1"]) && path_of(import).0 != Some("future"));
        return imports;
    }
    let has_v1 = imports.iter().any(|import| is_rego(import, &["v1"]));
    if has_v1 || (drop_v0 && target.is_v1()) {
        imports.retain(|import| !is_superfluous(import));
    } else if target == Version::V0 {
        let has = imports
            .iter()
            .any(|import| keywords_of(import).contains(Keywords::IN));
        if !has
            && calls(
                &module.rules[..],
                &["internal.member_2", "internal.member_3"],
            )
        {
            imports.insert(0, future_keyword("in"));
        }
    }
    imports
}

/// Returns `true` for imports of keywords that v1 has without an import.
fn is_superfluous(import: &Import) -> bool {
    path_of(import).0 == Some("future")
        && (path_of(import).1.len() == 1 || !keywords_of(import).intersects(Keywords::LOGICAL))
}

fn rego_v1(row: u32) -> Import {
    generated("rego", &["v1"], row)
}

fn future_keyword(name: &str) -> Import {
    generated("future", &["keywords", name], 0)
}

fn generated(root: &str, names: &[&str], row: u32) -> Import {
    let span = Span {
        row,
        ..Span::default()
    };
    let mut parts = vec![Term::var(root, span)];
    parts.extend(names.iter().map(|name| Term::string(*name, span)));
    Import {
        path: Term::new(crate::ast::TermKind::Ref(parts), span),
        alias: None,
        alias_span: Span::default(),
        span,
    }
}
