//! Residuals as text: sources, AST JSON, and OPA's format.

use solon_syntax::ast::visit::{Descent, VisitorMut, WalkMut};
use solon_syntax::ast::{Body, Module, Rule, Term, TermKind};
use solon_syntax::json;
use solon_syntax::print::display_body;

use super::source::{body_source, module_source};
use super::wildcards::name_repeated;
use crate::topdown::partial_eval::Residuals;

impl Residuals {
    /// Returns the texts of the queries. An empty text is unconditionally true.
    pub fn query_texts(&self) -> Vec<String> {
        let queries = self.queries.iter();
        queries.map(|body| display_body(body).to_string()).collect()
    }

    /// Returns the queries as source, one expression per line.
    pub fn query_sources(&self) -> Vec<String> {
        let source = |body: &Body| {
            let mut body = body.clone();
            name_repeated(&mut body);
            body_source(&body)
        };
        self.queries.iter().map(source).collect()
    }

    /// Returns the support modules as source that parses.
    pub fn support_sources(&self) -> Vec<String> {
        let source = |module: &Module| {
            let mut module = module.clone();
            name_repeated(&mut module);
            module_source(&module)
        };
        self.support.iter().map(source).collect()
    }

    /// Returns the queries as AST JSON, one text for each.
    pub fn query_json(&self, options: json::Options<'_>) -> Vec<String> {
        let queries = self.queries.iter();
        queries
            .map(|body| json::text(&named(body), options))
            .collect()
    }

    /// Returns the support modules as AST JSON.
    pub fn support_json(&self, options: json::Options<'_>) -> Vec<String> {
        let modules = self.support.iter();
        modules
            .map(|module| json::text(&named(module), options))
            .collect()
    }

    /// Returns queries and support modules as one object of AST JSON, with the modules under the name `support`. If the
    /// object is indented, all lines except the first start with `prefix`.
    pub fn json(&self, support: &str, options: json::Options<'_>, prefix: &str) -> String {
        let lists = [
            ("queries", self.query_json(options)),
            (support, self.support_json(options)),
        ];
        let lists = lists.iter().filter(|(_, nodes)| !nodes.is_empty());
        if options.indented {
            let inner = format!("\n{prefix}    ");
            let fields: Vec<String> = lists
                .map(|(name, nodes)| {
                    let nodes: Vec<String> = nodes
                        .iter()
                        .map(|node| node.replace('\n', &inner))
                        .collect();
                    let nodes = nodes.join(&format!(",{inner}"));
                    format!("\n{prefix}  \"{name}\": [{inner}{nodes}\n{prefix}  ]")
                })
                .collect();
            let end = if fields.is_empty() {
                String::new()
            } else {
                format!("\n{prefix}")
            };
            format!("{{{}{end}}}", fields.join(","))
        } else {
            let fields = lists.map(|(name, nodes)| format!("\"{name}\":[{}]", nodes.join(",")));
            let fields: Vec<String> = fields.collect();
            format!("{{{}}}", fields.join(","))
        }
    }

    /// Returns the texts of the support modules: the package statement, and a rule on each line.
    pub fn support_texts(&self) -> Vec<String> {
        let texts = self.support.iter().map(|module| {
            let rules: Vec<String> = module.rules.iter().map(Rule::to_string).collect();
            format!("{}\n\n{}", module.package, rules.join("\n"))
        });
        texts.collect()
    }
}

/// Replaces `input` and `data` by references, which AST JSON distinguishes from variables.
fn named<N: Clone + WalkMut>(node: &N) -> N {
    let mut node = node.clone();
    node.walk_mut(&mut DocumentNames);
    node
}

struct DocumentNames;

impl VisitorMut for DocumentNames {
    fn term(&mut self, term: &mut Term) -> Descent {
        match &mut term.kind {
            TermKind::Var(name) if matches!(&**name, "input" | "data") => {
                let name = Term::var(name.clone(), term.span);
                term.kind = TermKind::Ref(vec![name]);
                Descent::Over
            }
            TermKind::Ref(steps) => {
                // the first term is the head of the reference
                for step in steps.iter_mut().skip(1) {
                    step.walk_mut(self);
                }
                Descent::Over
            }
            _ => Descent::Into,
        }
    }
}
