//! Residuals as text.

use solon_syntax::ast::Rule;
use solon_syntax::json;
use solon_syntax::print::display_body;

use super::source::{body_source, module_source};
use crate::walk::open::Residuals;

impl Residuals {
    /// The texts of the queries; empty where nothing is left to ask.
    pub fn query_texts(&self) -> Vec<String> {
        let queries = self.queries.iter();
        queries.map(|body| display_body(body).to_string()).collect()
    }

    /// The queries as source, an expression a line.
    pub fn query_sources(&self) -> Vec<String> {
        self.queries.iter().map(body_source).collect()
    }

    /// The support modules as source.
    pub fn support_sources(&self) -> Vec<String> {
        self.support.iter().map(module_source).collect()
    }

    /// The queries as AST JSON.
    pub fn query_json(&self, options: json::Options<'_>) -> Vec<String> {
        let queries = self.queries.iter();
        queries.map(|body| json::text(body, options)).collect()
    }

    /// The support modules as AST JSON.
    pub fn support_json(&self, options: json::Options<'_>) -> Vec<String> {
        let modules = self.support.iter();
        modules.map(|module| json::text(module, options)).collect()
    }

    /// The texts of the support modules.
    pub fn support_texts(&self) -> Vec<String> {
        let texts = self.support.iter().map(|module| {
            let rules: Vec<String> = module.rules.iter().map(Rule::to_string).collect();
            format!("{}\n\n{}", module.package, rules.join("\n"))
        });
        texts.collect()
    }
}
