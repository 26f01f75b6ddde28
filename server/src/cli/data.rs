//! `solon data`: exports, imports and checks the data of a store.

mod origins;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use solon::store::{
    Contents as StoreContents, Path as DocumentPath, SqliteStore, Store as _, StoredModule,
};
use solon::{Change, Engine, Version, json};

use super::FAILED;
use super::report::Report;
use super::terminal::{complain, print};

/// Export, import and check the file that a server keeps policies and documents in.
#[derive(clap::Args)]
#[command(after_help = "\
The file is used by one process at a time, so the server that it belongs to must not be running.")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print all policies and documents as one JSON object.
    Export(Export),
    /// Replace all policies and documents with those of an export.
    Import(Import),
    /// Verify the file and report corruption.
    Check(Check),
    /// Print the origin of each policy and document: files, or a client.
    Origins(origins::Args),
    /// Let files replace documents of clients at the next start.
    Release(origins::ReleaseArgs),
}

/// File name of a store in its folder.
pub const FILE: &str = "solon.db";

#[derive(clap::Args)]
struct Export {
    /// The file, or the folder that `--data-dir` names.
    #[arg(value_name = "STORE")]
    store: PathBuf,
    /// Write to a file, which must not exist.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(clap::Args)]
struct Import {
    /// The file, or the folder that `--data-dir` names; created if it does not exist.
    #[arg(value_name = "STORE")]
    store: PathBuf,
    /// The export, `-` for standard input.
    #[arg(value_name = "EXPORT")]
    export: String,
    /// Replace the contents of the store; without this flag it must be empty.
    #[arg(long)]
    replace: bool,
}

#[derive(clap::Args)]
struct Check {
    /// The file, or the folder that `--data-dir` names.
    #[arg(value_name = "STORE")]
    store: PathBuf,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ExportContents {
    modules: Vec<Module>,
    documents: Box<RawValue>,
    /// Origins of documents. If absent, all origins are unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origins: Option<origins::Exported>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Module {
    name: String,
    /// `v0`, `v1`, or `v0v1` for a v0 module that is also valid v1.
    rego: String,
    text: String,
    /// `files` or `client`; `None` if the origin is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
}

const VERSIONS: [(Version, &str); 3] = [
    (Version::V0, "v0"),
    (Version::V1, "v1"),
    (Version::V0CompatV1, "v0v1"),
];

/// Runs the command and prints what it did, or the errors.
pub fn run(args: &Args) -> ExitCode {
    let result = match &args.command {
        Command::Export(args) => export(args),
        Command::Import(args) => import(args),
        Command::Check(args) => check(args),
        Command::Origins(args) => origins::list(args),
        Command::Release(args) => origins::release(args),
    };
    result.unwrap_or_else(|report| {
        complain(report.text(false));
        ExitCode::from(FAILED)
    })
}

/// Returns the database file of a store: the path itself, or `FILE` in it if it is a folder.
pub fn file(store: &Path) -> PathBuf {
    if store.is_dir() {
        store.join(FILE)
    } else {
        store.to_owned()
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the form that errors are mapped by"
)]
fn message(error: impl ToString) -> Report {
    Report::message(error.to_string())
}

/// Opens an existing file. Commands that only read must not create one.
fn existing(store: &Path) -> Result<SqliteStore, Report> {
    let file = file(store);
    if !file.is_file() {
        return Err(Report::message(format!("{}: no such file", file.display())));
    }
    SqliteStore::open(file).map_err(message)
}

fn export(args: &Export) -> Result<ExitCode, Report> {
    let contents = existing(&args.store)?.load().map_err(message)?;
    let mut documents = Vec::new();
    json::write(contents.documents.borrow(), &mut documents);
    let documents = String::from_utf8(documents).map_err(message)?;
    let exported = origins::Exported::of_contents(&contents);
    let module = |module: StoredModule| {
        let version_name = VERSIONS
            .iter()
            .find(|(version, _)| *version == module.version);
        let (_, rego) =
            version_name.ok_or_else(|| Report::message("a module of an unknown Rego"))?;
        Ok(Module {
            name: module.name,
            rego: (*rego).to_owned(),
            text: module.text.to_string(),
            origin: origins::origin_name(module.origin).map(str::to_owned),
        })
    };
    let modules = contents.modules.into_iter().map(module);
    let contents = ExportContents {
        modules: modules.collect::<Result<_, Report>>()?,
        documents: RawValue::from_string(documents).map_err(message)?,
        origins: exported,
    };
    let mut text = serde_json::to_vec_pretty(&contents).map_err(message)?;
    text.push(b'\n');
    match &args.output {
        Some(path) => {
            let file = std::fs::File::create_new(path);
            let result = file.and_then(|mut file| {
                std::io::Write::write_all(&mut file, &text)?;
                file.sync_all()
            });
            result.map_err(|error| message(format!("{}: {error}", path.display())))?;
        }
        None => print(text),
    }
    Ok(ExitCode::SUCCESS)
}

fn import(args: &Import) -> Result<ExitCode, Report> {
    let text = if args.export == "-" {
        let mut text = Vec::new();
        let result = std::io::Read::read_to_end(&mut std::io::stdin(), &mut text);
        result.map_err(message)?;
        text
    } else {
        super::read(&args.export).map_err(message)?
    };
    let error_in_file =
        |error: &dyn std::fmt::Display| message(format!("{}: {error}", args.export));
    let contents: ExportContents =
        serde_json::from_slice(&text).map_err(|error| error_in_file(&error))?;
    let documents = json::read(contents.documents.get().as_bytes());
    let documents = documents.map_err(|error| error_in_file(&error))?;
    let store = SqliteStore::open(file(&args.store)).map_err(message)?;
    let contents_of_store = store.load().map_err(message)?;
    let is_empty = contents_of_store.modules.is_empty()
        && contents_of_store
            .documents
            .as_object()
            .is_some_and(solon::Object::is_empty);
    if !is_empty && !args.replace {
        let text = format!(
            "{}: there are policies or documents already; --replace puts the import in their place",
            args.store.display()
        );
        return Err(Report::message(text));
    }
    let mut change = Change::default();
    let mut modules = Vec::new();
    for module in &contents.modules {
        let version = VERSIONS.iter().find(|(_, name)| *name == module.rego);
        let unknown = || {
            error_in_file(&format_args!(
                "module {:?}: rego is v0, v1 or v0v1",
                module.name
            ))
        };
        let (version, _) = version.ok_or_else(unknown)?;
        let origin = origins::origin_of(module.origin.as_deref());
        let unknown = || {
            error_in_file(&format_args!(
                "module {:?}: origin is files or client",
                module.name
            ))
        };
        let origin = origin.ok_or_else(unknown)?;
        change.set_module_as(&module.name, &module.text, *version);
        let stored_module = StoredModule::new(&*module.name, &*module.text, *version);
        modules.push(stored_module.with_origin(origin));
    }
    change.put(DocumentPath::default(), documents.clone());
    // the engine checks everything before a byte is written
    let applied = Engine::new().apply(change);
    let text_of = |file: &str| {
        let module = contents.modules.iter().find(|module| module.name == file);
        module.map(|module| module.text.clone())
    };
    applied.map_err(|error| Report::of_error(&error, &text_of))?;
    let count = modules.len();
    let mut all = StoreContents::new(documents, modules);
    if let Some(exported) = contents.origins {
        let origins = exported.read();
        let invalid_digest = || error_in_file(&"origins: sha256 is not a digest in hexadecimal");
        all = all.with_origins(origins.ok_or_else(invalid_digest)?);
    }
    store.replace(&all).map_err(message)?;
    print(format!("{count} modules and the documents are in place\n"));
    Ok(ExitCode::SUCCESS)
}

fn check(args: &Check) -> Result<ExitCode, Report> {
    let store = existing(&args.store)?;
    let problems = store.check().map_err(message)?;
    if problems.is_empty() {
        let contents = store.load().map_err(message)?;
        print(format!(
            "{} modules and the documents are sound\n",
            contents.modules.len()
        ));
        return Ok(ExitCode::SUCCESS);
    }
    for line in problems {
        complain(format!("{line}\n"));
    }
    Ok(ExitCode::from(FAILED))
}
