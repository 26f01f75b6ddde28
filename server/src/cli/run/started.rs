//! The engine of a server with the policies and documents of its start.

use std::sync::Arc;

use solon::{Capabilities, CompilerOptions, Engine, Limits, LoadReport};

use super::host::ServerHost;
use super::{Args, files};
use crate::api;
use crate::cli::report::Report;
use crate::cli::version_of;
use crate::config::Config;

/// An engine with the policies and documents of the start.
pub struct StartedEngine {
    pub engine: Engine,
    pub report: LoadReport,
    /// Bundles that an earlier process has stored, and that neither files nor the configuration name.
    pub former: Vec<String>,
}

impl StartedEngine {
    /// Opens the store, if there is one, and loads the files of the flags.
    pub fn load(
        args: &Args,
        config: &Config,
        capabilities: Option<Arc<Capabilities>>,
        host: Arc<ServerHost>,
    ) -> Result<Self, Report> {
        let loaded = args.load_files(capabilities.as_deref())?;
        let options = CompilerOptions::default()
            .error_limit(usize::try_from(args.max_errors).unwrap_or(0))
            .capabilities(capabilities);
        let limits = Limits::default()
            .time(args.bounds.time())
            .memory(Some(args.bounds.memory));
        let mut builder = Engine::builder()
            .version(version_of(args.v0_compatible))
            .compiler(options)
            .host(host)
            .file_name(api::file_name)
            .limits(limits);
        let caching = config.settings.caching;
        if let Some(bytes) = caching.responses {
            builder = builder.response_cache(bytes);
        }
        if let Some(entries) = caching.patterns {
            builder = builder.pattern_cache(entries);
        }
        if let Some(entries) = caching.signatures {
            builder = builder.signature_cache(entries);
        }
        let (engine, report) = files::start(builder, args.store(config)?, &loaded, args.watch)?;
        let former_bundles =
            files::former_bundles(&engine, &loaded, &config.settings.plugins.bundles);
        Ok(Self {
            engine,
            report,
            former: former_bundles,
        })
    }
}
