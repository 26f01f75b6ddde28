//! `solon sign`: writes the signatures of a bundle's files.

use std::path::Path;
use std::process::ExitCode;

use solon::bundle::{Bundle, BundleReader};
use solon_host::SystemFiles;

use super::forms::{given, path};
use super::signing::KeyFlags;
use super::terminal::print;
use super::verifying::DEFAULT_ALGORITHM;
use super::{FAILED, wrong_usage};

/// File that signatures are written to.
const SIGNATURES: &str = ".signatures.json";

/// Sign bundles: write `.signatures.json` with a token that lists each file with its digest.
#[derive(clap::Args)]
pub struct Args {
    /// Folders and archives.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,
    /// The paths are bundles. It must be given.
    #[arg(short, long)]
    bundle: bool,
    /// Sign by this secret (HMAC), or by the private key in this PEM file (RSA and ECDSA).
    #[arg(long, value_name = "KEY|FILE")]
    signing_key: Option<String>,
    /// Algorithm of the signature.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_ALGORITHM)]
    signing_alg: String,
    /// JSON file of further claims, such as `scope`.
    #[arg(long, value_name = "FILE")]
    claims_file: Option<String>,
    /// Folder that `.signatures.json` is written to.
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    output_file_path: String,
    /// Rejected: plugins are not supported.
    #[arg(long, hide = true, value_name = "NAME")]
    signing_plugin: Option<String>,
}

/// Prints errors to standard output, as OPA does.
pub fn run(args: &Args) -> ExitCode {
    if !args.bundle {
        wrong_usage(
            "sign",
            "enable bundle mode (ie. --bundle) to sign bundle files or directories",
        );
    }
    let Some(key) = given(args.signing_key.as_deref()) else {
        wrong_usage(
            "sign",
            "specify the secret (HMAC) or path of the PEM file containing the private key (RSA and ECDSA)",
        );
    };
    match sign(args, key) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print(format!("error: {error}\n"));
            ExitCode::from(FAILED)
        }
    }
}

fn sign(args: &Args, key: &str) -> Result<(), String> {
    let mut files = Vec::new();
    for argument in &args.paths {
        let path = path(argument).map_err(|error| error.to_string())?;
        let reader = BundleReader::new(&*path);
        let result = reader.signed_files(&SystemFiles, &path);
        files.extend(result.map_err(|error| error.to_string())?);
    }
    let flags = KeyFlags {
        key,
        algorithm: &args.signing_alg,
        claims_file: args.claims_file.as_deref(),
        plugin: args.signing_plugin.as_deref(),
    };
    let signing = flags.signing_key()?;
    let text = Bundle::sign(&files, &signing).map_err(|error| error.to_string())?;
    write(args, text)
}

fn write(args: &Args, text: Vec<u8>) -> Result<(), String> {
    let target = Path::new(&args.output_file_path).join(SIGNATURES);
    std::fs::write(&target, text).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!("open {}: no such file or directory", target.display())
        }
        _ => format!("open {}: {error}", target.display()),
    })
}
