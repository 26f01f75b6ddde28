//! `solon build`: builds a bundle from files or bundles.

mod signing;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use solon::bundle::{Bundle, BundleReader, FileKind, Files as _, Links};
use solon::{BundleBuilder, Capabilities};
use solon_host::SystemFiles;

use self::signing::SigningArgs;
use super::amounts::integer;
use super::report::Report;
use super::target::TargetArgs;
use super::terminal::{complain, print};
use super::{FAILED, capabilities, forms};

/// Build a bundle: an archive of policies and documents.
///
/// Policies are compiled and formatted, and all documents are merged into one file. Equal inputs give equal bytes.
#[derive(clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub struct Args {
    /// Files and folders, or bundles with `--bundle`.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,
    /// The paths are bundles: folders or archives with a manifest. Several are merged.
    #[arg(short, long)]
    bundle: bool,
    /// Document that clients query, such as `authz/allow`. Documents whose METADATA has `entrypoint: true` are entry points, too.
    #[arg(short, long, value_name = "PATH")]
    entrypoint: Vec<String>,
    /// Level of optimisation: 1 evaluates what does not depend on the input, 2 inlines rules as well. Needs an entry point.
    #[arg(short = 'O', long, default_value_t = 0, value_parser = integer, value_name = "LEVEL")]
    optimize: i64,
    /// The archive to write.
    #[arg(short, long, default_value = "bundle.tar.gz", value_name = "FILE")]
    output: String,
    /// Revision of the bundle.
    #[arg(short, long, value_name = "REVISION")]
    revision: Option<String>,
    /// Package below `data` for rules that `--optimize` adds.
    #[arg(long, default_value = "partial", value_name = "NAME")]
    partial_namespace: String,
    #[command(flatten)]
    target: TargetArgs,
    /// Names of files and folders to ignore.
    #[arg(long, value_name = "PATTERN")]
    ignore: Vec<String>,
    /// Follow symbolic links of folders with `--bundle` wherever they lead. Links within a bundle are followed anyway.
    #[arg(long)]
    follow_symlinks: bool,
    /// Capabilities of policies: a file in the format of `solon capabilities --current`, or a version of OPA.
    #[arg(long, value_name = "FILE|VERSION", value_parser = capabilities::read)]
    capabilities: Option<Arc<Capabilities>>,
    #[command(flatten)]
    signing: SigningArgs,
    /// Read policies as Rego v0.
    #[arg(long)]
    v0_compatible: bool,
    /// Accepted and without effect: v1 is the default.
    #[arg(long, hide = true)]
    v1_compatible: bool,
    /// Accepted and without effect: only plans and WebAssembly list rules that depend on entry points.
    #[arg(long)]
    prune_unused: bool,
    /// Print the steps of the optimisation.
    #[arg(long)]
    debug: bool,
    /// Rejected: only plans have extra data.
    #[arg(long, hide = true, value_name = "ADDON")]
    plan_addons: Vec<String>,
    /// Accepted and without effect: only plans have a format.
    #[arg(long, hide = true, value_name = "FORMAT")]
    format: Option<String>,
    /// Accepted and without effect: only WebAssembly needs it.
    #[arg(long, hide = true)]
    wasm_include_print: bool,
}

/// Writes the archive. Errors are printed to standard output, as OPA prints them.
pub fn run(args: &Args) -> ExitCode {
    match build(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            print(format!("error: {}\n", message.trim_end_matches('\n')));
            ExitCode::from(FAILED)
        }
    }
}

fn build(args: &Args) -> Result<(), String> {
    if !args.plan_addons.is_empty() {
        return Err("plan addons are only valid with target \"plan\"".to_owned());
    }
    args.signing.check(args.bundle)?;
    let signing_key = args.signing.key()?;
    let bundle = load(args).map_err(|message| format!("load error: {message}"))?;
    let bundle = match bundle {
        BuildInputs::Bundles(bundles) => {
            Bundle::merge(bundles, super::version_of(args.v0_compatible))
                .map_err(|message| format!("bundle merge failed: {message}"))?
        }
        BuildInputs::Files(bundle) => bundle,
    };
    let builder = BundleBuilder::new(super::version_of(args.v0_compatible))
        .capabilities(args.capabilities.clone())
        .entry_points(args.entrypoint.clone())
        .optimize(args.optimize)
        .namespace(&*args.partial_namespace)
        .revision(args.revision.clone());
    let mut report = |step: &str| {
        if args.debug {
            complain(format!("{step}\n"));
        }
    };
    let built = builder.build_reporting(bundle, &mut report);
    let mut bundle = built.map_err(|error| error.to_string())?;
    if let Some(key) = signing_key {
        bundle
            .sign_contents(&key)
            .map_err(|error| error.to_string())?;
    }
    let archive = Bundle::write_archive(&bundle.to_files()).map_err(|error| error.to_string())?;
    let output = forms::path(&args.output).map_err(|error| error.to_string())?;
    std::fs::write(&*output, archive).map_err(|error| super::fmt::message("open", &output, &error))
}

#[expect(clippy::large_enum_variant, reason = "there is one value in a process")]
enum BuildInputs {
    /// Bundles and their names, as `build` reads them.
    Bundles(Vec<(String, Bundle)>),
    Files(Bundle),
}

fn load(args: &Args) -> Result<BuildInputs, String> {
    let version = super::version_of(args.v0_compatible);
    let text = |report: Report| report.text(true).trim_end_matches('\n').to_owned();
    let loader = super::loader(&args.ignore, args.capabilities.as_deref(), version);
    let loader = loader.map_err(text)?;
    let options = capabilities::parse_options(args.capabilities.as_deref(), version);
    let options = options.map_err(text)?;
    if args.bundle {
        let verification = args.signing.verification()?;
        let mut names = args.paths.clone();
        names.sort();
        names.dedup();
        let bundles = names.into_iter().map(|name| {
            let path = forms::path(&name).map_err(|error| error.to_string())?;
            let reader = BundleReader::new(&*path)
                .ignore(&args.ignore)
                .follow_links(args.follow_symlinks)
                .verification(verification.clone())
                .parse_options(options);
            let bundle = reader.read_path(&SystemFiles, &path);
            let bundle = bundle.map_err(|errors| errors.to_string())?;
            Ok((name, bundle))
        });
        return Ok(BuildInputs::Bundles(
            bundles.collect::<Result<_, String>>()?,
        ));
    }
    warn_of_manifests(&args.paths);
    let loaded = loader
        .load(&args.paths)
        .map_err(|errors| text(Report::of_files(errors)))?;
    let bundle = Bundle::from_files(&loaded, &options);
    let bundle = bundle.map_err(|errors| text(Report::of_files(errors)))?;
    Ok(BuildInputs::Files(bundle))
}

/// Warns that a manifest has no effect without `--bundle`.
fn warn_of_manifests(paths: &[String]) {
    for name in paths {
        let Ok(path) = forms::path(name) else {
            continue;
        };
        let manifest = Path::new(&*path).join(".manifest");
        if SystemFiles.look(&manifest, Links::Followed) == Ok(FileKind::File) {
            complain(format!(
                "Warning: .manifest file found in {name:?} but -b flag not specified. Manifest will be ignored.\n"
            ));
        }
    }
}
