//! `solon run`: starts the policy server.

mod bounds;
mod bundles;
mod constraints;
mod files;
mod host;
mod origins;
mod reload;
mod started;
mod transport;
pub(super) mod watch;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use clap::ValueEnum;
use parking_lot::Mutex;
use solon::bundle::{Loaded, Loader};
use solon::store::SqliteStore;
use solon::{Capabilities, Engine, LoadReport, Value, json};
use solon_host::{RestrictedHost, SystemFiles};
use solon_outbound::Services;

use self::constraints::StartedConstraints;
use self::host::ServerHost;
use self::reload::{Reload, services};
use self::started::StartedEngine;
use self::watch::Watch;
use super::amounts::integer;
use super::forms::given;
use super::networks::NetworkArgs;
use super::report::Report;
use super::terminal::complain;
use super::{FAILED, capabilities, data};
use crate::api::VERSION;
use crate::app::{Server, survive_hangup};
use crate::config::{Authorization, Config, ServerOptions, Sources, Spelling, StatusOptions};
use crate::system::disable_huge_pages;
use crate::telemetry::{Format, Level, start_log};
use crate::uuid;

/// Serve policies and documents over HTTP.
#[derive(Clone, clap::Args)]
#[command(after_help = "\
Examples:
  solon run --server policies users.json
  solon run --server --addr :8181 --log-level error authz:policies
  solon run --server --config-file config.yaml --set labels.region=eu

Each flag can be set by the environment, like SOLON_RUN_LOG_LEVEL=error or OPA_RUN_LOG_LEVEL=error.")]
pub struct Args {
    /// Policies and documents to load: files or folders, optionally below a path of `data` as `a.b:PATH`.
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// Serve. Always on, because Solon has no interactive shell; `--server=false` is an error.
    #[arg(short, long, default_value_t = true)]
    server: bool,
    /// Configuration, as YAML or JSON.
    #[arg(short, long, value_name = "FILE")]
    config_file: Option<String>,
    /// Set a value of the configuration, such as `labels.region=eu`.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Set a value of the configuration to the contents of a file.
    #[arg(long, value_name = "KEY=FILE")]
    set_file: Vec<String>,
    /// Reload policies and documents when their files change; SIGHUP reloads immediately.
    #[arg(short, long)]
    watch: bool,
    /// Apply changes of the configuration file while the server runs; keys that need a restart are logged.
    #[arg(long)]
    watch_config: bool,
    #[command(flatten)]
    bundles: bundles::BundleArgs,
    #[command(flatten)]
    transport: transport::TransportArgs,
    #[command(flatten)]
    bounds: bounds::BoundsArgs,
    /// Log level.
    #[arg(short, long, value_enum, default_value_t, value_name = "LEVEL")]
    log_level: Level,
    /// Log level of requests and responses.
    #[arg(long, value_enum, default_value_t, value_name = "LEVEL")]
    log_level_request: Level,
    /// Log format.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    log_format: Format,
    /// Time format of log lines, as a Go layout such as `2006-01-02 15:04:05.000` (also the environment variable
    /// `OPA_LOG_TIMESTAMP_FORMAT`); RFC 3339 by default.
    #[arg(long, value_name = "LAYOUT")]
    log_timestamp_format: Option<String>,
    /// Maximum number of errors reported for policies; 0 reports all.
    #[arg(short, long, default_value_t = 10, value_name = "N", value_parser = integer)]
    max_errors: i64,
    /// Names of files and folders to ignore.
    #[arg(long, value_name = "PATTERN")]
    ignore: Vec<String>,
    /// Folder of the store (`solon.db`) that persists policies and documents (also `storage.sqlite.path`, which names the file).
    #[arg(short = 'd', long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Environment variable that policies can read, in `opa.runtime().env` and in requests of `http.send`; can be repeated. Other
    /// variables are hidden.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = variable_name)]
    expose_env: Vec<String>,
    #[command(flatten)]
    networks: NetworkArgs,
    /// Capabilities of policies: a file in the format of `solon capabilities --current`, or a version of OPA.
    #[arg(long, value_name = "FILE|VERSION", value_parser = capabilities::read)]
    capabilities: Option<Arc<Capabilities>>,
    /// Read policies as Rego v0.
    #[arg(long)]
    v0_compatible: bool,
    /// Accepted and without effect: v1 is the default.
    #[arg(long, hide = true)]
    v1_compatible: bool,
    /// Accepted and without effect: the server sends no telemetry.
    #[arg(long, hide = true)]
    disable_telemetry: bool,
    /// Accepted and without effect: the server does not check for newer versions.
    #[arg(long, hide = true)]
    skip_version_check: bool,
    /// Accepted and without effect: authorization policies are not checked against an input schema.
    #[arg(long, hide = true)]
    skip_known_schema_check: bool,
    /// Accepted and without effect: the store is always optimized for reads.
    #[arg(long, hide = true)]
    optimize_store_for_read_speed: bool,
    /// Engine whose names are used where they differ from the specification.
    #[arg(long, value_enum, value_name = "ENGINE")]
    compat: Option<Compat>,
    /// Rejected: Go profiles do not exist here.
    #[arg(long, hide = true)]
    pprof: bool,
    /// Path of the document that `POST /` returns (also `default_decision`).
    #[arg(long, value_name = "PATH")]
    default_decision: Option<String>,
    /// Accepted and without effect: OPA's interactive shell uses it.
    #[arg(short, long, hide = true, value_name = "FORMAT")]
    format: Option<String>,
    /// Accepted and without effect: OPA's interactive shell uses it.
    #[arg(short = 'H', long, hide = true, value_name = "FILE")]
    history: Option<String>,
    /// Maximum seconds to wait for plugins before the server listens; 0 does not wait.
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = integer)]
    ready_timeout: i64,
    /// Seconds to continue serving after a termination signal.
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = integer)]
    shutdown_wait_period: i64,
    /// Maximum seconds to wait for open requests after that.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = integer)]
    shutdown_grace_period: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Compat {
    /// Use OPA's error codes (`rego_…`), metric names and health messages; responses can contain warnings.
    Opa,
}

/// Serves until a signal stops the process.
pub fn run(args: &Args) -> ExitCode {
    disable_huge_pages();
    match start(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            complain(format!("error: {text}"));
            ExitCode::from(FAILED)
        }
    }
}

fn start(args: &Args) -> Result<(), String> {
    let line = |text: String| text + "\n";
    if !args.server {
        return Err(line(
            "--server=false: there is no interactive shell".to_owned(),
        ));
    }
    args.bundles.check().map_err(line)?;
    if args.pprof {
        let text = "--pprof: there are no profiles of Go's here; `perf` reads those of this process, \
                    and /metrics tells what it uses";
        return Err(line(text.to_owned()));
    }
    survive_hangup().map_err(|error| line(error.to_string()))?;
    // watching starts before anything is read, so that no change is missed
    let (watched_files, watched_config) = args.watchers();
    let config = args
        .config()
        .map_err(|text| line(format!("config error: {text}")))?;
    let services = services(&Services::default(), &config)
        .map_err(|text| line(format!("config error: {text}")))?;
    let runtime_config = to_value(&config.redacted()).map_err(line)?;
    let is_authorized = args.transport.authorization() == Authorization::Basic;
    let host = Arc::new(ServerHost::new(
        args.system(),
        runtime_config,
        is_authorized,
    ));
    let id = random_id(&*host);
    let active = to_value(&config.active(&id, VERSION)).map_err(line)?;
    let options = args.options(&config).map_err(line)?;
    options.check().map_err(|text| line(text.to_owned()))?;
    let loaded = args.capabilities(&config).and_then(|capabilities| {
        let loaded = StartedEngine::load(args, &config, capabilities.clone(), host.clone())?;
        Ok((loaded, capabilities))
    });
    let (
        StartedEngine {
            engine,
            report,
            former: former_bundles,
        },
        capabilities,
    ) = loaded.map_err(|report| {
        let text = report.bare().map(|message| line(message.to_owned()));
        let text = text.unwrap_or_else(|| report.text(report.is_of_loading()));
        format!("load error: {text}")
    })?;
    let constraints = StartedConstraints::load(&config.settings.constraints, args.watch)
        .map_err(|text| line(format!("load error: {text}")))?;
    let layout = given(args.log_timestamp_format.as_deref()).map(str::to_owned);
    let layout = layout.or_else(|| std::env::var("OPA_LOG_TIMESTAMP_FORMAT").ok());
    let layout = layout.as_deref();
    let max = options.bounds.log;
    let _log = start_log(args.log_level, args.log_format, layout, max);
    for warning in &config.warnings {
        tracing::warn!("{warning}");
    }
    files::log(&report);
    // a discovered configuration may still contain them
    let has_discovery = config.settings.plugins.discovery.is_some();
    let former_bundles = if has_discovery {
        former_bundles
    } else {
        files::deactivate(&engine, &former_bundles).map_err(|error| line(error.to_string()))?;
        Vec::new()
    };
    let (reload_files, file_requests) = channel();
    let (reload_config, config_requests) = channel();
    let mut builder = Server::builder()
        .engine(engine.clone())
        .options(options)
        .services(services.clone())
        .plugin_settings(config.settings.plugins.with(&services))
        .config(active);
    if watched_files.is_some() || watched_config.is_some() {
        builder = builder.on_hangup(move || {
            // without a watcher the receiver does not exist
            let _ = (reload_files.send(()), reload_config.send(()));
        });
    }
    if let Some(files) = watched_files {
        args.watch_files(files, file_requests, &engine, capabilities, report);
    }
    let mut server = constraints.attach(builder).build();
    let discovery = config.settings.plugins.discovery.clone();
    let reload = Arc::new(Mutex::new(Reload {
        args: args.clone(),
        start: config.clone(),
        discovered: None,
        running: config,
        services,
        id,
        host: host.clone(),
        live: server.live(),
        decision_logs: server.decision_logs(),
        manager: server.manager(),
        engine: engine.clone(),
        former: former_bundles,
    }));
    if let Some(discovery) = discovery {
        let engine = reload::new_engine(args, host);
        server.discover(discovery, engine, reload::on_discovery(&reload));
    }
    if let Some(watch) = watched_config {
        let mut last = String::new();
        watch.start(config_requests, move |is_retry| {
            let error = match reload.lock().reload() {
                Ok(()) => String::new(),
                Err(error) => error,
            };
            let is_reported = is_retry && error == last;
            if !error.is_empty() && !is_reported {
                tracing::error!(
                    err = error,
                    "The configuration changed, and cannot be used; the server goes on with the one before."
                );
            }
            last = error;
            last.is_empty()
        });
    }
    let served = server.run();
    served.map_err(|error| line(error.to_string()))
}

/// Parses the name of an environment variable.
fn variable_name(text: &str) -> Result<String, String> {
    match text.trim() {
        name if name.contains(['=', '\0']) => {
            Err("expected the name of an environment variable".to_owned())
        }
        name => Ok(name.to_owned()),
    }
}

/// Returns a duration in seconds. A negative one is zero.
fn seconds(number: i64) -> Duration {
    Duration::from_secs(u64::try_from(number).unwrap_or(0))
}

/// Converts a JSON value to an engine value.
fn to_value(value: &serde_json::Value) -> Result<Value, String> {
    json::read(value.to_string().as_bytes()).map_err(|error| error.to_string())
}

/// Returns a random UUID (version 4) for a server or a decision.
pub(super) fn random_id(host: &dyn solon::Host) -> String {
    let mut bytes = [0_u8; 16];
    // without a random source the id consists of zeros
    let _ = host.fill_random(&mut bytes);
    uuid::of_random(u128::from_be_bytes(bytes))
}

/// Reads a configuration: a file, single values, and values that are contents of files.
pub(super) fn with_config(
    file: Option<&str>,
    set: Vec<String>,
    set_files: Vec<String>,
) -> Result<Config, String> {
    let read_config = |path: &str| {
        std::fs::read_to_string(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => format!("open {path}: no such file or directory"),
            _ => format!("open {path}: {error}"),
        })
    };
    let file = file.map(|path| read_config(path).map(|text| (path.to_owned(), text)));
    let sources = Sources {
        file: file.transpose()?,
        set,
        set_files,
    };
    Config::read(&sources, &|name| std::env::var(name).ok(), &read_config)
}

impl Args {
    fn config(&self) -> Result<Config, String> {
        let file = given(self.config_file.as_deref());
        with_config(file, self.set.clone(), self.set_file.clone())
    }

    /// Returns the host that policies use: the system, with the selected networks and environment variables only.
    fn system(&self) -> RestrictedHost {
        let names = self.expose_env.iter().filter(|name| !name.is_empty());
        self.networks.host().expose_variables(names)
    }

    fn options(&self, config: &Config) -> Result<ServerOptions, String> {
        self.transport.check_addresses()?;
        let settings = &config.settings;
        let defaults = ServerOptions::default();
        Ok(ServerOptions {
            addresses: self.transport.addr.clone(),
            diagnostic_addresses: self.transport.diagnostic_addr.clone(),
            socket_mode: self.transport.unix_socket_perm,
            h2c: self.transport.h2c,
            tls: self.transport.tls()?,
            allowed_hosts: self.transport.allowed_host.clone(),
            authentication: self.transport.authentication(),
            authorization: self.transport.authorization(),
            read_only: self.transport.read_only,
            ui: self.transport.ui || settings.ui,
            admission_failures_are_denied: settings.admission_failures_are_denied,
            request_log: self.log_level_request.of_lines(),
            status: settings
                .plugins
                .status
                .as_ref()
                .map(|status| StatusOptions {
                    is_counted: status.is_counted,
                    is_logged: status.is_logged,
                }),
            decision_logs: settings.decision_logs.clone(),
            tracing: settings.tracing.clone(),
            metrics_export: settings.metrics_export.clone(),
            envoy: settings.envoy.clone(),
            ready_within: Some(seconds(self.ready_timeout)).filter(|timeout| !timeout.is_zero()),
            spelling: if self.compat == Some(Compat::Opa) {
                Spelling::Opa
            } else {
                Spelling::Standard
            },
            bounds: self.bounds.bounds(settings.body, settings.max_decompressed),
            packing: settings.packing,
            default_decision: self
                .default_decision
                .clone()
                .unwrap_or_else(|| settings.default_decision.clone()),
            default_authorization_decision: settings.default_authorization_decision.clone(),
            duration_buckets: settings
                .duration_buckets
                .clone()
                .unwrap_or(defaults.duration_buckets),
            shutdown_wait: seconds(self.shutdown_wait_period),
            shutdown_grace: seconds(self.shutdown_grace_period),
        })
    }

    /// Opens the store of policies and documents, if they are persistent.
    fn store(&self, config: &Config) -> Result<Option<SqliteStore>, Report> {
        let file = match (&self.data_dir, &config.settings.store) {
            (Some(folder), _) => {
                let result = std::fs::create_dir_all(folder);
                result
                    .map_err(|error| Report::message(format!("{}: {error}", folder.display())))?;
                folder.join(data::FILE)
            }
            (None, Some(file)) => PathBuf::from(file),
            (None, None) => return Ok(None),
        };
        let store = SqliteStore::open(file);
        store
            .map(Some)
            .map_err(|error| Report::message(error.to_string()))
    }

    /// Loads the files that the arguments name.
    ///
    /// # Errors
    /// A file cannot be read or parsed, or a bundle is not valid.
    fn load_files(&self, capabilities: Option<&Capabilities>) -> Result<Loaded, Report> {
        let version = super::version_of(self.v0_compatible);
        let loader = super::loader(&self.ignore, capabilities, version)?;
        self.bundles.load(&loader, &self.paths)
    }

    /// Returns the capabilities of the arguments or, if they name none, of the configuration.
    fn capabilities(&self, config: &Config) -> Result<Option<Arc<Capabilities>>, Report> {
        let configured = config.settings.capabilities.as_deref();
        match (&self.capabilities, configured) {
            (Some(explicit), _) => Ok(Some(explicit.clone())),
            (None, Some(name)) => capabilities::read(name).map(Some).map_err(Report::message),
            (None, None) => Ok(None),
        }
    }

    /// Returns watchers of the files to load and of the configuration, if they are to be watched.
    fn watchers(&self) -> (Option<Watch>, Option<Watch>) {
        let files = self.watch.then(|| {
            let args = self.clone();
            Watch::new(move || {
                let loader = Loader::new(&SystemFiles).ignore(&args.ignore);
                args.bundles.files(&loader, &args.paths)
            })
        });
        let config = given(self.config_file.as_deref()).filter(|_| self.watch_config);
        let config = config.map(PathBuf::from);
        let config = config.map(|file| Watch::new(move || vec![file.clone()]));
        (files, config)
    }

    /// Reloads files when they change, and for each request on the channel. `report` is that of the load at the start.
    fn watch_files(
        &self,
        files: Watch,
        requests: Receiver<()>,
        engine: &Engine,
        capabilities: Option<Arc<Capabilities>>,
        mut report: LoadReport,
    ) {
        let args = self.clone();
        let engine = engine.clone();
        let mut error = String::new();
        files.start(requests, move |is_retry| {
            let loaded = args.load_files(capabilities.as_deref());
            let result = loaded.and_then(|loaded| files::reload(&engine, &loaded, &mut report));
            let Err(report) = result else {
                error.clear();
                return true;
            };
            let text = report.text(report.is_of_loading());
            if !is_retry || text != error {
                tracing::error!(
                    err = text,
                    "Files changed, and cannot be loaded; policies and documents stay as they were."
                );
            }
            error = text;
            false
        });
    }
}
