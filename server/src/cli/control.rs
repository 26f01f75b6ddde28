//! `solon control`

mod building;
mod level;
mod once;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Subcommand, ValueEnum};
use solon_control::config::ConfigFiles;
use solon_control::model::{Compat, Role, read_retention};
use solon_control::secrets::KeySource;
use solon_control::{ApiError, ControlPlane, Options, commands};

use tokio::sync::watch;

use self::building::BuildingArgs;
use self::level::LevelFlag;
use self::once::OnceArgs;
use super::FAILED;
use super::amounts::duration;
use super::terminal::{complain, print};
use crate::config::{TlsOptions, TlsVersion};
use crate::control::{ControlOptions, serve_control};
use crate::system::signals::{Signal, SignalKind, signal};
use crate::telemetry::{Format, start_log};

/// Interval of polling configuration files.
const WATCH: Duration = Duration::from_secs(1);

/// Interval of polling certificate files.
const REFRESH: Duration = Duration::from_secs(5);

/// Manage bundles, sources, stacks and secrets over HTTP.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  solon control token create --role administrator alice     # prints the key, once
  solon control run --config config.d --data-dir data
  solon control build --config config.d --bundle shop       # once, without a database
  solon control db migrate --config config.d --dry-run
  solon control check --config config.d                     # before and after an update")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(Box<ServeArgs>),
    Build(Box<OnceArgs>),
    /// Report credentials in plain text, pending migrations and other findings in the database; the exit code is 1 if there are any.
    Check(Common),
    /// Print what the configuration would change in the database, one change a line; the exit code is 1 if there are any.
    Diff(Common),
    /// Print bundles, sources, stacks and secrets as a configuration file in YAML, without the values of secrets.
    Export(Common),
    /// Manage the database.
    #[command(subcommand)]
    Db(Db),
    /// Create, list and revoke client tokens.
    #[command(subcommand)]
    Token(Token),
    /// Export and prune the audit log.
    #[command(subcommand)]
    Audit(Audit),
    /// Manage secrets.
    #[command(subcommand)]
    Secrets(Secrets),
}

#[derive(clap::Args)]
struct Common {
    /// Configuration: files, or folders of YAML and JSON files; can be repeated or separated by commas.
    #[arg(short, long, value_name = "PATH", value_delimiter = ',')]
    config: Vec<PathBuf>,
    /// Folder of the database and the key of secrets, unless other options name them.
    #[arg(short, long, value_name = "DIR", default_value = "data")]
    data_dir: PathBuf,
    /// Reject configuration files with conflicting values.
    #[arg(long)]
    merge_conflict_fail: bool,
    /// File with the keys of secrets, base64 or hexadecimal, one per line; the first one encrypts. SOLON_SECRETS_KEY can
    /// contain the text instead. Without either, a key is generated in the data folder.
    #[arg(long, value_name = "FILE")]
    secrets_key_file: Option<PathBuf>,
    /// Ignore unknown fields, as OPA Control Plane does.
    #[arg(long, value_enum, value_name = "ENGINE")]
    compat: Option<CompatFlag>,
}

/// Retention time; unlimited if it is absent. The alias prevents clap from treating the flag as optional.
type Retention = Option<Duration>;

#[derive(Clone, Copy, ValueEnum)]
enum CompatFlag {
    Ocp,
}

/// Serve the API.
#[derive(clap::Args)]
struct ServeArgs {
    #[command(flatten)]
    common: Common,
    /// Address to listen on: `host:port`, `:port` for every interface, or a Unix socket: `unix://PATH`, `/PATH` or `./PATH`; can be
    /// repeated.
    #[arg(
        short,
        long,
        value_name = "ADDRESS",
        default_value = "localhost:8282",
        value_delimiter = ','
    )]
    addr: Vec<String>,
    /// Prefix of every path, such as `/control`.
    #[arg(long, value_name = "PATH", default_value = "")]
    api_prefix: String,
    /// Migrate the tables of a database server to the latest version at startup.
    #[arg(long)]
    apply_migrations: bool,
    /// Maximum age of audit entries, in days (`90d`) or as a duration (`36h`); `off` keeps them. The default is `audit.retention` of
    /// the configuration, or `off`.
    #[arg(long, value_name = "AGE", value_parser = read_retention)]
    audit_retention: Option<Retention>,
    /// Remove the database in the data folder at startup.
    #[arg(long)]
    reset_persistence: bool,
    #[command(flatten)]
    building: BuildingArgs,
    /// Check the configuration, and exit.
    #[arg(long)]
    validate: bool,
    /// Reload the configuration when its files change; SIGHUP reloads immediately.
    #[arg(long)]
    watch: bool,
    /// The server's certificate, as PEM.
    #[arg(long, value_name = "FILE", requires = "tls_private_key_file")]
    tls_cert_file: Option<PathBuf>,
    /// Its private key, as PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert_file")]
    tls_private_key_file: Option<PathBuf>,
    /// Accept HTTP/2 without TLS, too.
    #[arg(long)]
    h2c: bool,
    /// Time to continue serving after a termination signal, while `/health` reports that the service is not ready. A second
    /// signal ends it.
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = duration)]
    shutdown_wait_period: Duration,
    /// Maximum time to wait for open requests after that.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration)]
    shutdown_grace_period: Duration,
    /// Log level.
    #[arg(short, long, value_enum, default_value_t, value_name = "LEVEL")]
    log_level: LevelFlag,
    /// Log format.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    log_format: Format,
}

#[derive(Subcommand)]
enum Db {
    /// Migrate the tables to the latest version.
    Migrate {
        #[command(flatten)]
        common: Common,
        /// Print the statements instead of running them.
        #[arg(long)]
        dry_run: bool,
        /// Log level.
        #[arg(short, long, value_enum, default_value_t, value_name = "LEVEL")]
        log_level: LevelFlag,
    },
}

#[derive(Subcommand)]
enum Token {
    /// Create a token and print its key, which is not shown again.
    Create {
        #[command(flatten)]
        common: Common,
        /// Role of the token.
        #[arg(long, value_enum, value_name = "ROLE")]
        role: RoleFlag,
        /// Lifetime, such as `720h`; unlimited by default.
        #[arg(long, value_name = "DURATION", value_parser = duration)]
        expires_in: Option<Duration>,
        /// Name of the token.
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Print every token without its key, one JSON object per line.
    List {
        #[command(flatten)]
        common: Common,
    },
    /// Revoke a token.
    Revoke {
        #[command(flatten)]
        common: Common,
        /// Name of the token.
        #[arg(value_name = "NAME")]
        name: String,
    },
}

#[derive(Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum RoleFlag {
    /// Everything.
    Administrator,
    /// Read everything except the values of secrets.
    Viewer,
    /// Create and manage bundles, sources and secrets.
    Owner,
    /// Create and manage stacks.
    StackOwner,
}

#[derive(Subcommand)]
enum Audit {
    /// Print every entry, oldest first, one JSON object per line.
    Export {
        #[command(flatten)]
        common: Common,
    },
    /// Remove old entries, and print how many there were.
    Prune {
        #[command(flatten)]
        common: Common,
        /// Age of the entries to remove: days such as `90d`, or a duration such as `36h`.
        #[arg(long, value_name = "AGE", value_parser = age)]
        older_than: Duration,
    },
}

/// Parses an age, which has a maximum.
fn age(text: &str) -> Result<Duration, String> {
    read_retention(text)?.ok_or_else(|| "`off` is not an age".to_owned())
}

#[derive(Subcommand)]
enum Secrets {
    /// Encrypt every secret again, with the first key of the file, or with a new key if the service generated the key.
    Rotate {
        #[command(flatten)]
        common: Common,
    },
}

impl Common {
    fn options(&self) -> Options {
        let mut options = Options::in_folder(&self.data_dir);
        if let Some(file) = &self.secrets_key_file {
            options.keys = KeySource::File(file.clone());
        } else if let Ok(text) = std::env::var("SOLON_SECRETS_KEY") {
            options.keys = KeySource::Text(text.into());
        }
        if let Some(CompatFlag::Ocp) = self.compat {
            options.compat = Compat::Ocp;
        }
        options.config = ConfigFiles {
            paths: self.config.clone(),
            refuse_conflicts: self.merge_conflict_fail,
        };
        options
    }
}

/// Runs the command and prints errors.
pub fn run(args: Args) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(perform(args.command)),
        Err(error) => Err(error.to_string()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            if !message.is_empty() {
                complain(format!("error: {message}\n"));
            }
            ExitCode::from(FAILED)
        }
    }
}

async fn perform(command: Command) -> Result<(), String> {
    let text = |refusal: ApiError| refusal.to_string();
    match command {
        Command::Run(args) => serve(*args).await,
        Command::Build(args) => once::build(*args).await,
        Command::Db(Db::Migrate {
            common,
            dry_run,
            log_level,
        }) => {
            let most = crate::config::Bounds::default().log;
            let _log = start_log(log_level.into(), Format::default(), None, most);
            let done = commands::migrate(&common.options(), dry_run).await;
            let done = done.map_err(text)?;
            if dry_run && !done.is_empty() {
                print(done + "\n");
            }
            Ok(())
        }
        Command::Audit(Audit::Export { common }) => {
            let write = |entry| print(format!("{entry}\n"));
            let exported = commands::export_audit(&common.options(), write).await;
            exported.map_err(text)
        }
        Command::Audit(Audit::Prune { common, older_than }) => {
            let removed = commands::prune_audit(&common.options(), older_than).await;
            print(format!("{} entries were removed\n", removed.map_err(text)?));
            Ok(())
        }
        Command::Check(common) => {
            let findings = commands::check(&common.options()).await.map_err(text)?;
            for finding in &findings {
                print(format!("{finding}\n"));
            }
            match findings.len() {
                0 => Ok(()),
                count => Err(format!("{count} findings")),
            }
        }
        Command::Diff(common) => {
            let changes = commands::diff(&common.options()).await.map_err(text)?;
            for change in &changes {
                print(format!("{change}\n"));
            }
            match changes.len() {
                0 => Ok(()),
                count => Err(format!("{count} changes")),
            }
        }
        Command::Export(common) => {
            let exported = commands::export(&common.options()).await;
            print(exported.map_err(text)?);
            Ok(())
        }
        Command::Token(Token::Create {
            common,
            role,
            expires_in,
            name,
        }) => {
            let role = match role {
                RoleFlag::Administrator => Role::Administrator,
                RoleFlag::Viewer => Role::Viewer,
                RoleFlag::Owner => Role::Owner,
                RoleFlag::StackOwner => Role::StackOwner,
            };
            let end = expires_in.map(until);
            let key = commands::create_token(&common.options(), &name, role, end).await;
            print(format!("{}\n", key.map_err(text)?.as_str()));
            Ok(())
        }
        Command::Token(Token::List { common }) => {
            let tokens = commands::tokens(&common.options()).await;
            for token in tokens.map_err(text)? {
                print(format!("{token}\n"));
            }
            Ok(())
        }
        Command::Token(Token::Revoke { common, name }) => {
            let revoked = commands::revoke_token(&common.options(), &name).await;
            revoked.map_err(text)
        }
        Command::Secrets(Secrets::Rotate { common }) => {
            let changed = commands::rotate_secrets(&common.options()).await;
            print(format!(
                "{} secrets were encrypted anew\n",
                changed.map_err(text)?
            ));
            Ok(())
        }
    }
}

/// Returns the time `time` from now, in microseconds since 1970.
fn until(time: Duration) -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let end = now.unwrap_or_default().saturating_add(time);
    i64::try_from(end.as_micros()).unwrap_or(i64::MAX)
}

async fn serve(args: ServeArgs) -> Result<(), String> {
    let mut options = args.common.options();
    args.api_prefix.clone_into(&mut options.api_prefix);
    options.apply_migrations = args.apply_migrations;
    options.audit_retention = args.audit_retention;
    if args.validate {
        let valid = commands::validate(&options).await;
        return valid.map_err(|refusal| refusal.to_string());
    }
    let most = crate::config::Bounds::default().log;
    let _log = start_log(args.log_level.into(), args.log_format, None, most);
    if args.reset_persistence {
        commands::reset(&options).map_err(|error| error.to_string())?;
    }
    let plane = ControlPlane::open(&options).await;
    let plane = plane.map_err(|refusal| refusal.to_string())?;
    // before a handler is installed, the signal would end the process
    let hangup = listen(SignalKind::hangup())?;
    let pruning = {
        let plane = plane.clone();
        tokio::spawn(async move { plane.prune_audit().await })
    };
    let reloading = tokio::spawn(reload(plane.clone(), args.watch, hangup));
    let listening = ControlOptions {
        addresses: args.addr.into_iter().map(address).collect(),
        socket_mode: 0o700,
        h2c: args.h2c,
        tls: args.tls_cert_file.zip(args.tls_private_key_file).map(
            |(cert_file, private_key_file)| TlsOptions {
                cert_file,
                private_key_file,
                ca_cert_file: None,
                min_version: TlsVersion::V12,
                cipher_suites: Vec::new(),
                client_certificates: false,
                refresh: REFRESH,
            },
        ),
        grace: args.shutdown_grace_period,
    };
    let (mut interrupt, mut terminate) = (
        listen(SignalKind::interrupt())?,
        listen(SignalKind::terminate())?,
    );
    let (stopping, stopped) = watch::channel(false);
    let building = args
        .building
        .start(&plane, stopped)
        .map_err(|refusal| refusal.to_string())?;
    let ending = plane.clone();
    let wait = args.shutdown_wait_period;
    let stop = async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        tracing::info!("Shutting down.");
        // load balancers must notice it before the listeners close
        ending.set_ready(false);
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    };
    let stop = async move {
        stop.await;
        stopping.send_replace(true);
    };
    let served = serve_control(&plane, &listening, stop).await;
    if served.is_err() {
        building.abort();
    }
    // builds that run have some time to end, and their leases are released
    let _ = building.await;
    reloading.abort();
    pruning.abort();
    served.map_err(|error| error.to_string())
}

/// Returns an address as listeners expect it. A path that begins with `/`, `./` or `../` is a Unix socket, as in OPA Control Plane.
fn address(text: String) -> String {
    if ["/", "./", "../"]
        .iter()
        .any(|start| text.starts_with(start))
    {
        format!("unix://{text}")
    } else {
        text
    }
}

fn listen(kind: SignalKind) -> Result<Signal, String> {
    signal(kind).map_err(|error| error.to_string())
}

/// Reloads configuration files on a signal, and when they change if that is enabled.
async fn reload(plane: ControlPlane, watches: bool, mut hangup: Signal) {
    let watched = async {
        if watches {
            plane.watch(WATCH).await;
        }
        std::future::pending::<()>().await;
    };
    let hung_up = async {
        while hangup.recv().await.is_some() {
            plane.reload_and_log().await;
        }
    };
    tokio::join!(watched, hung_up);
}
