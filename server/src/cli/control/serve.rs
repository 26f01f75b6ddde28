//! `solon control run`

use std::path::PathBuf;
use std::time::Duration;

use solon_control::model::read_retention;
use solon_control::{ControlPlane, commands};
use tokio::sync::watch;

use super::building::BuildingArgs;
use super::level::LevelFlag;
use super::{Common, Retention};
use crate::cli::amounts::duration;
use crate::config::{TlsOptions, TlsVersion, tracing_options};
use crate::control::{ControlOptions, serve_control};
use crate::net::Address;
use crate::system::signals::{Signal, SignalKind, signal};
use crate::telemetry::{Format, flush_spans, start_log, start_tracing};

/// Interval of polling configuration files.
const WATCH: Duration = Duration::from_secs(1);

/// Interval of polling certificate files.
const REFRESH: Duration = Duration::from_secs(5);

/// Maximum time to wait for a database server that is starting, for example together with this service.
const DATABASE_WAIT: Duration = Duration::from_secs(30);

/// Maximum time to send the last spans when the service stops.
const LAST_SPANS: Duration = Duration::from_secs(5);

/// Serve the API.
#[derive(clap::Args)]
pub struct ServeArgs {
    #[command(flatten)]
    common: Common,
    /// Address to listen on: `host:port`, `:port` for every interface, or a Unix socket: `unix://PATH`, `/PATH` or `./PATH`; can be
    /// repeated.
    #[arg(
        short,
        long,
        value_name = "ADDRESS",
        default_value = "localhost:8282",
        value_delimiter = ',',
        value_parser = address
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

/// Runs the service until a signal stops it.
///
/// # Errors
/// The configuration is invalid, the database cannot be used, or an address cannot be opened.
pub async fn serve(args: ServeArgs) -> Result<(), String> {
    let mut options = args.common.options();
    args.api_prefix.clone_into(&mut options.api_prefix);
    options.apply_migrations = args.apply_migrations;
    options.database_wait = DATABASE_WAIT;
    options.audit_retention = args.audit_retention;
    if args.validate {
        let section = commands::validate(&options).await;
        let section = section.map_err(|rejection| rejection.to_string())?;
        let tracing = section.as_ref().map(tracing_options).transpose();
        return tracing.map(drop);
    }
    let max = crate::config::Bounds::default().log;
    let _log = start_log(args.log_level.into(), args.log_format, None, max);
    if args.reset_persistence {
        commands::reset(&options).map_err(|error| error.to_string())?;
    }
    let plane = ControlPlane::open(&options).await;
    let plane = plane.map_err(|rejection| rejection.to_string())?;
    let tracing = plane.tracing().map(tracing_options).transpose()?.flatten();
    if let Some(tracing) = &tracing {
        start_tracing(tracing, "solon-control")?;
    }
    // Before a handler is installed, the signal would end the process.
    let hangup = listen(SignalKind::hangup())?;
    let pruning = {
        let plane = plane.clone();
        tokio::spawn(async move { plane.prune_audit().await })
    };
    let reloading = tokio::spawn(reload(plane.clone(), args.watch, hangup));
    let listening = ControlOptions {
        addresses: args.addr,
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
    let (stopping, stop_signal) = watch::channel(false);
    let building = args
        .building
        .start(&plane, stop_signal)
        .map_err(|rejection| rejection.to_string())?;
    let ending = plane.clone();
    let wait = args.shutdown_wait_period;
    let stop = async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        tracing::info!("Shutting down.");
        // Load balancers must notice it before the listeners close.
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
    flush_spans(args.shutdown_grace_period.min(LAST_SPANS)).await;
    served.map_err(|error| error.to_string())
}

/// Parses an address to listen on. A path that begins with `/`, `./` or `../` is a Unix socket, as in OPA Control Plane.
fn address(text: &str) -> Result<String, String> {
    let is_path = ["/", "./", "../"]
        .iter()
        .any(|start| text.starts_with(start));
    if is_path {
        Ok(format!("unix://{text}"))
    } else {
        Address::check(text).map(|()| text.to_owned())
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
