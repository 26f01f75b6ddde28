//! Bundles as files, in the order of OPA's archives.

use solon_syntax::source::Diagnostics;
use solon_syntax::{FormatOptions, ParseOptions, format, parse_module};

use super::contents::file_name;
use super::{Bundle, BundleFile, BundleKind, Signatures};
use crate::value::{Repr, Value, json};

const PLAN: &str = "plan.json";

impl Bundle {
    /// Formats the policies, each in the version of Rego that it is written in.
    ///
    /// # Errors
    /// A policy that the formatter rejects. The policies before it are formatted then.
    pub fn format_modules(&mut self, options: &ParseOptions) -> Result<(), Diagnostics> {
        for module in &mut self.modules {
            let parse = ParseOptions {
                version: module.module.version,
                ..*options
            };
            let options = FormatOptions {
                parse,
                target: parse.version,
                drop_v0_imports: false,
            };
            let mut source = module.module.source.clone();
            let text = format(&source, &options)?;
            if *text == *source.text {
                continue;
            }
            source.text = text.into();
            module.module = parse_module(&source, &parse)?.into();
        }
        Ok(())
    }

    /// Returns the files of the bundle as OPA writes them, for [`Self::write_archive`] or a folder. The order is `/data.json`,
    /// policies, WebAssembly, `/.signatures.json`, plans, `/.manifest`; a delta bundle has `/patch.json` and `/.manifest`. All
    /// documents are in `/data.json`, and files of other kinds are left out. Policies have their paths and their texts, which
    /// [`Self::format_modules`] formats.
    ///
    /// ```
    /// use solon::bundle::{Bundle, BundleFile, BundleReader};
    ///
    /// let file = |path: &str, text: &str| BundleFile { path: path.to_owned(), bytes: text.into() };
    /// let files = vec![
    ///     file("/authz/p.rego", "package authz\nallow if input.admin"),
    ///     file("/.manifest", r#"{"roots": ["authz"]}"#),
    /// ];
    /// let bundle = BundleReader::new("authz").read_files(files)?;
    /// let files = bundle.to_files();
    /// let paths: Vec<&str> = files.iter().map(|file| &*file.path).collect();
    /// assert_eq!(paths, ["/data.json", "/authz/p.rego", "/.manifest"]);
    /// let archive = Bundle::write_archive(&files)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_files(&self) -> Vec<BundleFile> {
        let mut files = Vec::new();
        let mut add = |path: &str, bytes: Vec<u8>| {
            let path = path.to_owned();
            files.push(BundleFile { path, bytes });
        };
        let files_named = |name: &'static str| {
            let files = self.files.iter();
            files.filter(move |file| file_name(&file.path) == name)
        };
        if self.kind() == BundleKind::Delta {
            add("/patch.json", self.patch_text());
        } else {
            add("/data.json", self.documents_text());
            for module in &self.modules {
                add(&module.path, module.module.source.text.as_bytes().to_vec());
            }
            for wasm in self.wasm() {
                add(&wasm.path, wasm.bytes.clone());
            }
            if let Some(signatures) = &self.signatures {
                add("/.signatures.json", signatures.text());
            }
            for plan in files_named(PLAN) {
                add(&plan.path, plan.bytes.clone());
            }
        }
        if self.has_manifest {
            add("/.manifest", self.manifest.text());
        }
        files
    }

    fn documents_text(&self) -> Vec<u8> {
        let mut text = Vec::new();
        match &self.documents {
            Value(Repr::Null) => text.extend(b"{}"),
            documents => json::write_go(documents.borrow(), &mut text),
        }
        text.push(b'\n');
        text
    }

    fn patch_text(&self) -> Vec<u8> {
        let mut text = b"{\"data\":[".to_vec();
        for (index, operation) in self.patch.iter().enumerate() {
            let fields = [
                (",{\"op\":", Value::string(&operation.op)),
                (",\"path\":", Value::string(&operation.path)),
                (",\"value\":", operation.value.clone()),
            ];
            let comma = usize::from(index == 0);
            for (skip, (name, value)) in [comma, 0, 0].into_iter().zip(fields) {
                text.extend(name.bytes().skip(skip));
                json::write_go(value.borrow(), &mut text);
            }
            text.push(b'}');
        }
        text.extend(b"]}\n");
        text
    }
}

impl Signatures {
    /// Returns the text of `.signatures.json`, indented as OPA indents it.
    pub fn text(&self) -> Vec<u8> {
        let quote = |text: &str| {
            let mut text_in_quotes = Vec::new();
            json::write_go(Value::string(text).borrow(), &mut text_in_quotes);
            text_in_quotes
        };
        let mut text = b"{\n \"signatures\": [".to_vec();
        for (index, token) in self.tokens.iter().enumerate() {
            text.extend(if index == 0 { &b"\n  "[..] } else { b",\n  " });
            text.extend(quote(token));
        }
        text.extend(if self.tokens.is_empty() {
            &b"]"[..]
        } else {
            b"\n ]"
        });
        if !self.plugin.is_empty() {
            text.extend(b",\n \"plugin\": ");
            text.extend(quote(&self.plugin));
        }
        text.extend(b"\n}");
        text
    }
}
