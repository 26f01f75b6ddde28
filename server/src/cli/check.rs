//! `solon check`: compiles policies and reports errors.

use std::process::ExitCode;
use std::sync::Arc;

use clap::ValueEnum;
use solon::CompilerOptions as Options;
use solon::bundle::{FileSelection, LoadErrorKind, LoadErrors, Verification};
use solon::{
    Capabilities, Change, Engine, Error, ErrorEntry, FilterTarget, InputError, OptionError,
    Request, json,
};
use solon_syntax::ast::Version;
use solon_syntax::source::Diagnostics;

use super::amounts::integer;
use super::report::Report;
use super::terminal::{complain, print};
use super::verifying::VerifyArgs;
use super::{FAILED, capabilities, filter};

/// Check that policies parse and compile.
#[derive(clap::Args)]
pub struct Args {
    /// Files and folders.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,
    /// The paths are bundles: archives, or folders with a manifest. Signatures are verified if a key is given.
    #[arg(short, long)]
    bundle: bool,
    #[command(flatten)]
    verify: VerifyArgs,
    /// Run the checks of strict mode, too.
    #[arg(short = 'S', long)]
    strict: bool,
    /// Output format of errors.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    /// Maximum number of errors shown; 0 shows all.
    #[arg(
        short,
        long,
        default_value_t = 10,
        value_parser = integer,
        value_name = "N"
    )]
    max_errors: i64,
    /// JSON schema of the input, or a folder of schemas that annotations name as `schema.a.b`.
    #[arg(short, long, value_name = "PATH")]
    schema: Option<String>,
    /// Capabilities of policies: a file in the format of `solon capabilities --current`, or a version of OPA.
    #[arg(long, value_name = "FILE|VERSION", value_parser = capabilities::read)]
    capabilities: Option<Arc<Capabilities>>,
    /// Print the plans that rules are compiled to.
    #[arg(long)]
    dump: bool,
    /// Print for each rule its index conditions, or why every decision evaluates it.
    #[arg(long)]
    index: bool,
    /// Names of files and folders to ignore.
    #[arg(long, value_name = "PATTERN")]
    ignore: Vec<String>,
    /// Check that a rule, such as `data.filters.include` or `filters/include`, can be translated to a filter of rows. Errors are
    /// shown with their locations.
    #[arg(long, value_name = "RULE", requires = "dialect")]
    filters: Vec<String>,
    /// Explain the translation of each rule that `--filters` reaches.
    #[arg(long, requires = "filters")]
    explain: bool,
    /// Target of `--filters`, such as `sql+postgresql` or `postgresql`.
    #[arg(long, value_name = "TARGET", value_delimiter = ',', value_parser = filter::target)]
    dialect: Vec<FilterTarget>,
    /// Rows of `--filters`, such as `input.fruits`, unless METADATA names them.
    #[arg(short, long, value_name = "REF")]
    unknowns: Vec<String>,
    /// Input that `--filters` are compiled with.
    #[arg(short, long, value_name = "FILE")]
    input: Vec<String>,
    #[command(flatten)]
    filtering: filter::Filtering,
    /// Read policies as Rego v0.
    #[arg(long)]
    v0_compatible: bool,
    /// Require policies that are valid in Rego v0 and v1.
    #[arg(long)]
    v0_v1: bool,
    /// Accepted and without effect: v1 is the default.
    #[arg(long, hide = true)]
    v1_compatible: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    #[default]
    Pretty,
    Json,
}

/// Checks the policies. It prints nothing on success, unless plans are selected.
pub fn run(args: &Args) -> ExitCode {
    match check(args) {
        Ok(engine) => {
            if args.dump {
                print(engine.dump());
            }
            if args.index {
                print(engine.indexed());
            }
            ExitCode::SUCCESS
        }
        Err(report) => {
            match args.format {
                Format::Pretty => complain(report.bare().map_or_else(
                    || report.text(report.is_of_loading()),
                    |message| format!("{message}\n"),
                )),
                Format::Json => complain(report.json()),
            }
            ExitCode::from(FAILED)
        }
    }
}

fn check(args: &Args) -> Result<Engine, Report> {
    let version = if args.v0_v1 {
        Version::V0CompatV1
    } else {
        super::version_of(args.v0_compatible)
    };
    let capabilities = args.capabilities.clone();
    let loader = super::loader(&args.ignore, capabilities.as_deref(), version)?;
    let loader = loader.with_selection(FileSelection::Modules);
    let loaded = if args.bundle {
        let verification = args.verify.verification(Verification::skip());
        let loader = loader.verification(verification.map_err(Report::message)?);
        loader
            .load_bundles(&args.paths)
            .map_err(|errors| unloaded(&errors, args.format))?
    } else {
        loader.load(&args.paths).map_err(Report::of_files)?
    };
    let error_limit = usize::try_from(args.max_errors).unwrap_or(0);
    let options = Options::default()
        .strict(args.strict)
        .error_limit(error_limit)
        .capabilities(capabilities)
        .schemas(super::schemas(args.schema.as_deref())?);
    let engine = Engine::builder().version(version).compiler(options).build();
    super::keep_to_exit(&engine);
    let mut change = Change::default();
    // only bundles have documents, which must not conflict with their rules
    change.load(&loaded);
    let needs_plans = args.dump || args.index || !args.filters.is_empty();
    let result = if needs_plans {
        engine.apply(change)
    } else {
        engine.validate(change)
    };
    result
        .map_err(|error| Report::of_error(&error, &|file| loaded.text(file).map(str::to_owned)))?;
    check_filters(args, &engine)
        .map_err(|error| Report::of_error(&error, &|file| loaded.text(file).map(str::to_owned)))?;
    Ok(engine)
}

/// Creates a report of a bundle that was not loaded. In JSON, errors of a policy have their locations.
fn unloaded(errors: &LoadErrors, format: Format) -> Report {
    match errors.0.as_slice() {
        [error] if error.kind() == LoadErrorKind::BundleSyntax && format == Format::Json => {
            let diagnostics = Diagnostics(error.diagnostics().to_vec());
            Report::of_error(&diagnostics.into(), &|_| None)
        }
        _ => Report::message(errors.to_string()),
    }
}

/// Compiles the filters, without an input and with each given input, and reports all errors. A filter without unknowns would
/// pass whatever it does with rows, so it is an error.
fn check_filters(args: &Args, engine: &Engine) -> Result<(), Error> {
    let options = args.filtering.options(args.dialect.clone());
    let options = options.unknowns(args.unknowns.clone());
    let mut inputs = vec![None];
    for file in &args.input {
        let text = std::fs::read(file);
        let text = text.map_err(|error| InputError::new(format!("{file}: {error}")));
        inputs.push(Some(json::read(&text.map_err(Error::Input)?)?));
    }
    let mut rejections: Vec<ErrorEntry> = Vec::new();
    for path in &args.filters {
        let prepared = engine.prepare_filters(path, &options)?;
        if prepared.unknowns()?.is_empty() {
            let message = "names no rows: expected `--unknowns`, such as `input.fruits`, or METADATA with `unknowns`";
            return Err(OptionError::new(format!("`{path}` {message}")).into());
        }
        for input in &inputs {
            let request = Request::new();
            let request = match input {
                Some(input) => request.input(input),
                None => request,
            };
            if args.explain {
                print(filter::explanation(path, &prepared.explain(&request)?));
            }
            match prepared.compile(&request) {
                Ok(_) => {}
                Err(Error::Filter(entries)) => {
                    for entry in entries {
                        if !rejections.contains(&entry) {
                            rejections.push(entry);
                        }
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }
    if rejections.is_empty() {
        Ok(())
    } else {
        Err(Error::Filter(rejections))
    }
}
