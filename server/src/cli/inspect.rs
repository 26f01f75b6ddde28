//! `solon inspect`: prints the contents of bundles and policies.

mod annotations;
mod show;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::ValueEnum;
use solon::Engine;
use solon::bundle::{
    Bundle, BundleReader, FileKind, Files as _, Links, LoadError, Manifest, Signatures,
    Verification,
};
use solon_host::SystemFiles;
use solon_syntax::ast::Module;
use solon_syntax::print::display_ref;
use solon_syntax::source::{Diagnostics, Source, SourceId};
use solon_syntax::{ParseOptions, module_text, parse_module};

use self::annotations::{Annotated, annotated};
use super::FAILED;
use super::forms::path;
use super::report::Report;
use super::terminal::{complain, print};

/// Print the manifest, the namespaces and the annotations of a bundle.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  solon inspect bundle.tar.gz
  solon inspect -a -f json policies
  solon inspect policy.rego")]
pub struct Args {
    /// A bundle, folder or archive, or a policy.
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// Print annotations of packages and rules.
    #[arg(short, long)]
    annotations: bool,
    /// How they are shown.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    /// Read policies as Rego v0.
    #[arg(long)]
    v0_compatible: bool,
    /// Accepted and without effect: v1 is the default.
    #[arg(long, hide = true)]
    v1_compatible: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tables.
    #[default]
    Pretty,
    /// One object.
    Json,
}

/// Contents of a bundle or a policy.
struct InspectedContents {
    /// Manifest; `None` for a single policy.
    manifest: Option<Manifest>,
    /// `true` if the manifest is a file of the bundle.
    has_manifest: bool,
    signatures: Option<Signatures>,
    wasm: Vec<WasmModule>,
    /// Files by the packages and documents that they define.
    namespaces: BTreeMap<String, Vec<String>>,
    modules: Vec<Arc<Module>>,
}

struct WasmModule {
    path: String,
    /// Path relative to the bundle.
    url: String,
    /// Entry points as references, such as `data.a.b`.
    entry_points: Vec<String>,
}

/// Prints errors to standard error.
pub fn run(args: &Args) -> ExitCode {
    let [path] = args.paths.as_slice() else {
        super::wrong_usage("inspect", "specify exactly one OPA bundle or path");
    };
    match inspect(args, path) {
        Ok(text) => {
            print(text);
            ExitCode::SUCCESS
        }
        Err(message) => {
            complain(format!("error: {}\n", message.trim_end_matches('\n')));
            ExitCode::from(FAILED)
        }
    }
}

fn inspect(args: &Args, argument: &str) -> Result<Vec<u8>, String> {
    let options = ParseOptions::from_version(super::version_of(args.v0_compatible));
    let path = path(argument).map_err(|error| error.to_string())?;
    let kind = SystemFiles.look(Path::new(&*path), Links::Followed);
    let contents = if path.ends_with(".rego") && kind != Ok(FileKind::Folder) {
        if let Err(error) = &kind {
            let error = LoadError::system("stat", &path, error);
            return Err(Report::of_files(error.into()).text(true));
        }
        InspectedContents::of_policy(&path, &options)?
    } else {
        let reader = BundleReader::new(&*path)
            .parse_options(options)
            .verification(Verification::skip());
        let bundle = reader.read_path(&SystemFiles, &path);
        let bundle = bundle.map_err(|errors| errors.to_string())?;
        InspectedContents::of_bundle(bundle, &path, kind == Ok(FileKind::Folder))
    };
    let compiled = Engine::new().required_capabilities(&contents.modules);
    let capabilities = compiled.map_err(|error| Report::of_error(&error, &|_| None).text(false))?;
    let annotations = args.annotations.then(|| annotated(&contents.modules));
    Ok(match args.format {
        Format::Pretty => {
            let annotations: &[Annotated<'_>] = annotations.as_deref().unwrap_or_default();
            show::tables(&contents, annotations).into_bytes()
        }
        Format::Json => show::json(&contents, annotations.as_deref(), &capabilities),
    })
}

impl InspectedContents {
    fn of_policy(path: &str, options: &ParseOptions) -> Result<Self, String> {
        let bytes = super::read(path).map_err(|error| error.to_string())?;
        let text_of = |_: &str| Some(String::from_utf8_lossy(&bytes).into_owned());
        let report = |errors: Diagnostics| Report::of_error(&errors.into(), &text_of).text(true);
        let text = module_text(path, &bytes, options).map_err(report)?;
        let source = Source::new(SourceId(0), path, text);
        let module = parse_module(&source, options).map_err(report)?;
        let mut contents = Self {
            manifest: None,
            has_manifest: false,
            signatures: None,
            wasm: Vec::new(),
            namespaces: BTreeMap::new(),
            modules: Vec::new(),
        };
        contents.add_module(Arc::new(module), path.to_owned());
        Ok(contents)
    }

    /// Reads the contents of a bundle. If `in_folder` is set, file names include the folder.
    fn of_bundle(bundle: Bundle, name: &str, in_folder: bool) -> Self {
        let display_path = |path: &str| {
            if in_folder {
                Bundle::module_id(name, path)
            } else {
                path.to_owned()
            }
        };
        let mut manifest = bundle.manifest;
        let mut contents = Self {
            manifest: None,
            has_manifest: bundle.has_manifest,
            signatures: bundle.signatures,
            wasm: Vec::new(),
            namespaces: BTreeMap::new(),
            modules: Vec::new(),
        };
        for module in bundle.modules {
            contents.add_module(module.module, display_path(&module.path));
        }
        for path in &bundle.document_files {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            contents.add(reference(folder), display_path(path));
        }
        for file in bundle.files.iter().map(|file| &file.path) {
            let is_used = |module: &str| display_path(module) == display_path(file);
            if manifest
                .wasm
                .iter()
                .any(|resolver| is_used(&resolver.module))
            {
                contents.wasm.push(WasmModule {
                    path: display_path(file),
                    url: Bundle::module_id(name, file),
                    entry_points: Vec::new(),
                });
            }
        }
        for resolver in &mut manifest.wasm {
            resolver.module = display_path(&resolver.module);
            let entry_point = reference(&resolver.entrypoint);
            contents.add(entry_point.clone(), resolver.module.clone());
            let mut wasm_modules = contents.wasm.iter_mut();
            if let Some(module) = wasm_modules.find(|module| module.path == resolver.module) {
                module.entry_points.push(entry_point);
            }
        }
        contents.manifest = Some(manifest);
        contents
    }

    fn add(&mut self, namespace: String, file: String) {
        let files = self.namespaces.entry(namespace).or_default();
        if !files.contains(&file) {
            files.push(file);
        }
    }

    fn add_module(&mut self, module: Arc<Module>, file: String) {
        self.add(display_ref(&module.package.path).to_string(), file);
        self.modules.push(module);
    }
}

/// Returns `data.a.b` for `a/b`. Steps are not quoted.
fn reference(path: &str) -> String {
    let steps = path.split('/').filter(|step| !step.is_empty());
    steps.fold("data".to_owned(), |reference, step| {
        format!("{reference}.{step}")
    })
}
