//! `solon control`: commands of the control plane.

mod building;
mod level;
mod once;
mod serve;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Subcommand, ValueEnum};
use solon_control::config::ConfigFiles;
use solon_control::model::{Compat, Role, read_retention};
use solon_control::secrets::KeySource;
use solon_control::{ApiError, Options, commands};

use self::level::LevelFlag;
use self::once::OnceArgs;
use self::serve::{ServeArgs, serve};
use super::FAILED;
use super::amounts::duration;
use super::terminal::{complain, print};
use crate::system::disable_huge_pages;
use crate::telemetry::{Format, start_log};

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
    disable_huge_pages();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(perform(args.command)),
        Err(error) => Err(error.to_string()),
    };
    match result {
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
    let text = |rejection: ApiError| rejection.to_string();
    match command {
        Command::Run(args) => serve(*args).await,
        Command::Build(args) => once::build(*args).await,
        Command::Db(Db::Migrate {
            common,
            dry_run,
            log_level,
        }) => {
            let max = crate::config::Bounds::default().log;
            let _log = start_log(log_level.into(), Format::default(), None, max);
            let result = commands::migrate(&common.options(), dry_run).await;
            let result = result.map_err(text)?;
            if dry_run && !result.is_empty() {
                print(result + "\n");
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
            let result = commands::rotate_secrets(&common.options()).await;
            print(format!(
                "{} secrets were encrypted anew\n",
                result.map_err(text)?
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
