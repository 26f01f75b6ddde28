//! Rego of constraint templates: checks and compilation.
//!
//! Each template has an engine of its own, so packages of different templates and those of the server cannot conflict. In it, the
//! package of the template begins with `template`, whatever its name in the text is, and those of libraries with `lib`.

use solon::syntax::ast::visit::{Descent, Visitor, Walk};
use solon::syntax::ast::{Module, Term, TermKind};
use solon::syntax::source::{Source, SourceId};
use solon::syntax::{ParseOptions, parse_module};
use solon::{Change, Engine, Error, PreparedDocument, Value, Version};

/// Rego of a template, with its libraries.
#[derive(Debug)]
pub struct TemplateCode {
    /// Module with the rule `violation`.
    pub rego: String,
    /// Modules of packages below `lib`.
    pub libs: Vec<String>,
    pub version: Version,
}

pub struct CompiledTemplate {
    /// The rule `violation`. Its input has `review` and `parameters`.
    pub violation: PreparedDocument,
    /// `true` if the code reads the inventory, which the input must then have.
    pub reads_inventory: bool,
}

/// First name of the package of a template.
const PACKAGE: &str = "template";

/// Module next to a template. `violation` replaces the inventory. `messages` is never evaluated; the compiler rejects it if no
/// violation can have a message.
const ENTRY: &str = "package entry

violation := violations if {
	violations := data.template.violation with data.inventory as input.inventory
		with input as {\"review\": input.review, \"parameters\": input.parameters}
}

messages := [r.msg | some r in data.template.violation]
";

/// Built-in functions that a template must not call: an admission decision depends on nothing but its documents.
const FORBIDDEN: [&str; 2] = ["http.send", "net.lookup_ip_addr"];

impl TemplateCode {
    /// Checks and compiles the modules.
    ///
    /// # Errors
    /// A module does not parse or compile, reads other documents than the inventory and libraries, or has a forbidden import or
    /// call, or the rule `violation` is missing.
    pub fn compile(&self) -> Result<CompiledTemplate, String> {
        let mut change = Change::default();
        let mut reads_inventory = false;
        let module = self.parse("rego", &self.rego)?;
        reads_inventory |= check(&module, "template")?;
        if !defines_violation(&module) {
            let problem = "invalid rego: invalid module: missing required rules: [violation]";
            return Err(problem.to_owned());
        }
        let template = RenamedTemplate::new(&module, &self.rego);
        let template = template.ok_or("invalid rego: the package cannot be replaced")?;
        change.set_module_as("rego", &template.text, self.version);
        for (at, lib) in self.libs.iter().enumerate() {
            let name = format!("libs[{at}]");
            let module = self.parse(&name, lib)?;
            if !is_library(&module) {
                return Err(format!(
                    "invalid rego: {name}: expected a package below `lib`"
                ));
            }
            reads_inventory |= check(&module, &name)?;
            change.set_module_as(&name, lib, self.version);
        }
        let entry = ENTRY.replace("data.template", &template.package);
        change.set_module_as("entry", &entry, Version::V1);
        let engine = Engine::new();
        engine.apply(change).map_err(|error| problem(&error))?;
        let reference = if reads_inventory {
            "data.entry.violation".to_owned()
        } else {
            format!("{}.violation", template.package)
        };
        let violation = engine.prepare_document(&reference);
        Ok(CompiledTemplate {
            violation: violation.map_err(|error| problem(&error))?,
            reads_inventory,
        })
    }

    fn parse(&self, name: &str, text: &str) -> Result<Module, String> {
        let source = Source::new(SourceId(0), name, text);
        let options = ParseOptions::from_version(self.version);
        let module = parse_module(&source, &options);
        module.map_err(|diagnostics| problem(&Error::Compile(diagnostics)))
    }
}

/// Returns the first error of modules, with the module and the row.
fn problem(error: &Error) -> String {
    let entries = error.entries();
    let Some(first) = entries.first() else {
        return format!("invalid rego: {error}");
    };
    let location = match &first.location {
        Some((file, row, _)) => format!("{file}:{row}: "),
        None => String::new(),
    };
    format!("invalid rego: {location}{}: {}", first.code, first.message)
}

/// A template whose package no library can have.
struct RenamedTemplate {
    text: String,
    /// Reference of the package after renaming.
    package: String,
}

impl RenamedTemplate {
    /// Replaces the first name of the package by [`PACKAGE`]. Rows stay the same. Returns `None` if the text is that of another
    /// module.
    fn new(module: &Module, text: &str) -> Option<Self> {
        let (first, rest) = module.package.path.get(1..)?.split_first()?;
        let (start, end) = (first.span.start, first.span.end);
        let before = text.get(..usize::try_from(start).ok()?)?;
        let after = text.get(usize::try_from(end).ok()?..)?;
        let mut package = format!("data.{PACKAGE}");
        for name in rest {
            package += &format!("[{}]", Value::string(name.as_string()?).rego_text());
        }
        Some(Self {
            text: format!("{before}{PACKAGE}{after}"),
            package,
        })
    }
}

/// Returns `true` if the package is below `lib`.
fn is_library(module: &Module) -> bool {
    let mut path = module.package.path.iter().skip(1);
    let first = path.next().and_then(Term::as_string);
    first.is_some_and(|name| &**name == "lib") && path.next().is_some()
}

/// Returns `true` if a rule `violation` exists that is not a function.
fn defines_violation(module: &Module) -> bool {
    module.rules.iter().any(|rule| {
        let first = rule.head.reference.first().and_then(Term::as_var);
        first.is_some_and(|name| &**name == "violation") && rule.head.args.is_empty()
    })
}

/// Checks the references of a module. Returns `true` if it reads the inventory.
fn check(module: &Module, name: &str) -> Result<bool, String> {
    let mut references = References::default();
    for import in &module.imports {
        let path = names(&import.path);
        match path.split_first() {
            Some((&"data", _)) => references.check_data(&import.path),
            Some((&("future" | "input"), _)) => {}
            _ => {
                let path = path.join(".");
                return Err(format!(
                    "invalid rego: {name}: invalid import: bad import: \"{path}\""
                ));
            }
        }
    }
    module.walk(&mut references);
    if let Some(reference) = references.disallowed.first() {
        let module = format!("check refs failed on module {{{name}}}");
        let problem = format!("disallowed ref {reference}");
        return Err(format!("invalid data references: {module}: {problem}"));
    }
    if let Some(function) = references.forbidden {
        return Err(format!(
            "invalid rego: {name}: templates must not call `{function}`"
        ));
    }
    Ok(references.reads_inventory)
}

/// Returns the leading names of a variable or reference: `data.a[x].b` has `data` and `a`.
fn names(term: &Term) -> Vec<&str> {
    let terms = match &term.kind {
        TermKind::Ref(terms) => terms.as_slice(),
        _ => std::slice::from_ref(term),
    };
    terms
        .iter()
        .enumerate()
        .map_while(|(at, term)| match at {
            0 => term.as_var(),
            _ => term.as_string(),
        })
        .map(|name| &**name)
        .collect()
}

/// References of a module to documents and to forbidden functions.
#[derive(Default)]
struct References {
    reads_inventory: bool,
    disallowed: Vec<String>,
    forbidden: Option<&'static str>,
}

impl References {
    /// Records a reference whose first name is `data`.
    fn check_data(&mut self, term: &Term) {
        let path = names(term);
        match path.get(1) {
            Some(&"inventory") => self.reads_inventory = true,
            Some(&"lib") => {}
            _ => self.disallowed.push(path.join(".")),
        }
    }
}

impl<'a> Visitor<'a> for References {
    fn term(&mut self, term: &'a Term) -> Descent {
        let path = names(term);
        if path.first() == Some(&"data") {
            self.check_data(term);
        }
        let name = path.join(".");
        let forbidden = FORBIDDEN.iter().find(|function| **function == name);
        self.forbidden = self.forbidden.or(forbidden.copied());
        let TermKind::Ref(terms) = &term.kind else {
            return Descent::Into;
        };
        // the head was checked as part of the reference
        let operands = terms.iter().skip(usize::from(!path.is_empty()));
        for operand in operands {
            operand.walk(self);
        }
        Descent::Over
    }
}
