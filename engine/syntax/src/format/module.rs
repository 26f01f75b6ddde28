//! Modules: the package, then alternating imports and rules.

use crate::ast::{Import, Module, Package, Rule, Term};

use super::lines::{LineWriter, Written};

/// A run of consecutive statements of one kind.
enum Section<'m> {
    Imports(Vec<&'m Import>),
    Rules(Vec<&'m Rule>),
}

/// Splits a module's statements into runs. Imports without a location come first, before rules without one.
fn sections<'m>(imports: &'m [Import], rules: &'m [Rule]) -> Vec<Section<'m>> {
    let mut sections = Vec::new();
    let mut imports = imports.iter().peekable();
    let mut rules = rules.iter().peekable();
    while imports.peek().is_some() || rules.peek().is_some() {
        let limit = rules.peek().map(|rule| rule.span.start);
        let mut run = Vec::new();
        while let Some(import) =
            imports.next_if(|import| limit.is_none_or(|limit| import_row(import) <= limit))
        {
            run.push(import);
        }
        sections.push(Section::Imports(run));
        let limit = imports.peek().map(|import| import_row(import));
        let mut run = Vec::new();
        while let Some(rule) =
            rules.next_if(|rule| limit.is_none_or(|limit| rule.span.start < limit))
        {
            run.push(rule);
        }
        sections.push(Section::Rules(run));
    }
    sections
}

fn import_row(import: &Import) -> u32 {
    if import.span.is_somewhere() {
        import.span.start
    } else {
        0
    }
}

impl<'m> LineWriter<'m> {
    pub(super) fn module(&mut self, module: &'m Module, imports: &'m [Import]) -> Written {
        self.package(&module.package)?;
        for section in sections(imports, &module.rules) {
            match section {
                Section::Imports(imports) => self.imports(imports)?,
                Section::Rules(rules) => self.rules(&rules)?,
            }
        }
        self.rest_of_comments();
        Ok(())
    }

    fn package(&mut self, package: &'m Package) -> Written {
        self.comments_to(package.span.row)?;
        self.start_line();
        self.write("package ");
        if let Some((first, rest)) = package.path.get(1..).and_then(<[Term]>::split_first) {
            if let Some(name) = first.as_string() {
                self.write(name);
            }
            self.operands(rest)?;
        }
        self.blank_line();
        Ok(())
    }
}
