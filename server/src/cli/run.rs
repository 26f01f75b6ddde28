//! `solon run`

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use solon::CompilerOptions as Options;
use solon::bundle::Loader;
use solon::store::Path;
use solon::{Capabilities, Change, Engine, Limits, Value};
use solon_host::{SystemFiles, SystemHost};

use super::amounts::{duration, size};
use super::report::Report;
use super::terminal::complain;
use super::{FAILED, capabilities};
use crate::api::VERSION;
use crate::app;
use crate::config::{BODY_LIMIT, ServerOptions, Spelling};
use crate::telemetry::{Format, Level, start_log};

/// Serve policies and documents over HTTP.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  solon run --server policies users.json
  solon run --server --addr :8181 --log-level error authz:policies")]
pub struct Args {
    /// Policies and documents to load: files, folders, or either below a path of `data` as `a.b:PATH`
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// Serve (there is no interactive shell, so this is always on)
    #[arg(short, long)]
    server: bool,
    /// Address to listen on: `host:port`, `:port` for every interface, or `unix://PATH`; may be given several times
    #[arg(short, long, value_name = "ADDRESS", default_value = "localhost:8181")]
    addr: Vec<String>,
    /// Permissions of sockets in the file system, in octal
    #[arg(long, value_name = "MODE", default_value = "755", value_parser = octal)]
    unix_socket_perm: u32,
    /// Speak HTTP/2 without encryption as well
    #[arg(long)]
    h2c: bool,
    /// How much is logged
    #[arg(short, long, value_enum, default_value_t, value_name = "LEVEL")]
    log_level: Level,
    /// How log lines look
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    log_format: Format,
    /// Most errors reported for policies; 0 reports all
    #[arg(short, long, default_value_t = 10, value_name = "N")]
    max_errors: usize,
    /// Names of files and folders to pass over
    #[arg(long, value_name = "PATTERN")]
    ignore: Vec<String>,
    /// What policies may use: a file in the form that `solon capabilities` prints, or a version of OPA
    #[arg(long, value_name = "FILE|VERSION", value_parser = capabilities::read)]
    capabilities: Option<Arc<Capabilities>>,
    /// Read policies as Rego v0
    #[arg(long)]
    v0_compatible: bool,
    /// Accepted and without effect: v1 is the default
    #[arg(long, hide = true)]
    v1_compatible: bool,
    /// Write the names of another engine where they differ from the specification's
    #[arg(long, value_enum, value_name = "ENGINE")]
    compat: Option<Compat>,
    /// Path of the document that `POST /` answers with
    #[arg(long, value_name = "PATH", default_value = "/system/main")]
    default_decision: String,
    /// Largest request body, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = BODY_LIMIT)]
    max_body: usize,
    /// Longest time of a decision, like `500ms` or `1m30s`; 0 sets no bound
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    timeout: Duration,
    /// Most memory of the values of a decision, like `512MiB` or `2GB`
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size)]
    memory: usize,
    /// Seconds to go on serving after the signal to stop
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    shutdown_wait_period: u64,
    /// Seconds that open requests may take to finish then
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    shutdown_grace_period: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Compat {
    /// Error codes and metrics say `rego`, health messages are OPA's, answers may carry warnings
    Opa,
}

fn octal(text: &str) -> Result<u32, String> {
    u32::from_str_radix(text, 8).map_err(|_| format!("`{text}` is no octal number"))
}

/// Serves until the process is told to stop.
pub fn run(args: Args) -> ExitCode {
    let engine = match load(&args) {
        Ok(engine) => engine,
        Err(report) => {
            complain(format!(
                "error: load error: {}",
                report.text(report.is_of_loading())
            ));
            return ExitCode::from(FAILED);
        }
    };
    start_log(args.log_level, args.log_format);
    match app::run(engine, args.options()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(format!("error: {error}\n"));
            ExitCode::from(FAILED)
        }
    }
}

impl Args {
    fn options(self) -> ServerOptions {
        ServerOptions {
            addresses: self.addr,
            socket_mode: self.unix_socket_perm,
            h2c: self.h2c,
            spelling: if self.compat == Some(Compat::Opa) {
                Spelling::Opa
            } else {
                Spelling::Standard
            },
            body_limit: self.max_body,
            default_decision: self.default_decision,
            shutdown_wait: Duration::from_secs(self.shutdown_wait_period),
            shutdown_grace: Duration::from_secs(self.shutdown_grace_period),
            ..ServerOptions::default()
        }
    }
}

fn load(args: &Args) -> Result<Engine, Report> {
    let version = super::version_of(args.v0_compatible);
    let loader = Loader::new(&SystemFiles)
        .ignore(&args.ignore)
        .parse_options(capabilities::parse_options(
            args.capabilities.as_deref(),
            version,
        )?);
    let loaded = loader.load(&args.paths).map_err(Report::of_files)?;
    let options = Options::default()
        .error_limit(args.max_errors)
        .capabilities(args.capabilities.clone());
    let engine = Engine::builder()
        .version(version)
        .compiler(options)
        .host(Arc::new(SystemHost))
        .limits(
            Limits::default()
                .time(Some(args.timeout).filter(|time| !time.is_zero()))
                .memory(Some(args.memory)),
        )
        .build();
    let texts = loaded.modules.clone();
    let mut change = Change::from(loaded);
    change.put(Path::new(["system", "version"]), version_document());
    engine
        .apply(change)
        .map_err(|error| Report::of(&error, &|file| texts.get(file).cloned()))?;
    Ok(engine)
}

/// What policies find at `data.system.version`.
fn version_document() -> Value {
    let fields = [
        "version",
        "build_commit",
        "build_timestamp",
        "build_hostname",
    ];
    let text = |name| if name == "version" { VERSION } else { "" };
    Value::object(fields.map(|name| (name.into(), text(name).into())).into())
}
