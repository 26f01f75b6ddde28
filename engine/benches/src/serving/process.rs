//! Servers as child processes.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::usage;

/// A measured server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// Server that does nothing.
    Nothing,
    /// Solon.
    Solon,
    /// OPA, if `SOLON_ORACLE` names it.
    Oracle,
    /// Server of Envoy's external authorization that allows everything.
    AllowAll,
}

impl Who {
    /// Returns the available servers.
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::Nothing, Self::Solon];
        if std::env::var_os("SOLON_ORACLE").is_some() {
            all.push(Self::Oracle);
        }
        all
    }
}

/// A running server.
pub struct Process {
    who: Who,
    child: Child,
    address: String,
    folder: PathBuf,
}

impl Process {
    /// Starts a server with the given number of threads, a policy and documents.
    ///
    /// # Errors
    /// Fails if the server does not start.
    pub fn start(who: Who, threads: usize, policy: &str, data: &str) -> Result<Self, String> {
        Self::start_with(
            who,
            threads,
            &[("authz.rego", policy), ("data.json", data)],
            "{}",
        )
    }

    /// Starts a server with files that it loads, and a configuration.
    ///
    /// # Errors
    /// Fails if the server does not start.
    pub fn start_with(
        who: Who,
        threads: usize,
        files: &[(&str, &str)],
        config: &str,
    ) -> Result<Self, String> {
        Self::start_by(who, threads, files, config, &[])
    }

    /// Starts a server with flags. Files whose names contain `.pem` are written and not loaded.
    ///
    /// # Errors
    /// Fails if the server does not start.
    pub fn start_by(
        who: Who,
        threads: usize,
        files: &[(&str, &str)],
        config: &str,
        flags: &[&str],
    ) -> Result<Self, String> {
        let text = |error: std::io::Error| error.to_string();
        let port = TcpListener::bind("127.0.0.1:0").and_then(|probe| probe.local_addr());
        let address = port.map_err(text)?.to_string();
        let port = address.rsplit(':').next().unwrap_or_default();
        let name = format!("solon-bench-{}-{port}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).map_err(text)?;
        for (name, contents) in files {
            std::fs::write(folder.join(name), contents).map_err(text)?;
        }
        std::fs::write(folder.join("c.yaml"), config).map_err(text)?;
        let own = std::env::current_exe().map_err(text)?;
        let mut command = match who {
            Who::Nothing | Who::AllowAll => {
                let mut command = Command::new(own);
                let flag = match who {
                    Who::AllowAll => "--allow-all",
                    _ => "--nothing",
                };
                command.args([flag, &address]);
                command
            }
            Who::Solon => Command::new(own_program()?),
            Who::Oracle => Command::new(std::env::var_os("SOLON_ORACLE").unwrap_or_default()),
        };
        if matches!(who, Who::Solon | Who::Oracle) {
            command.args([
                "run",
                "--server",
                "--log-level",
                "error",
                "--addr",
                &address,
            ]);
            command.args(["-c", "c.yaml"]).args(flags);
            let names = files.iter().map(|(name, _)| *name);
            command.args(names.filter(|name| !name.contains(".pem")));
        }
        let child = command
            .env("TOKIO_WORKER_THREADS", threads.to_string())
            .env("GOMAXPROCS", threads.to_string())
            .current_dir(&folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(text)?;
        let server = Self {
            who,
            child,
            address,
            folder,
        };
        let start = Instant::now();
        while TcpStream::connect(&server.address).is_err() {
            if start.elapsed() > Duration::from_mins(1) {
                return Err(format!("{} does not start", server.name()));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// Returns the address of the server.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the folder of the server.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the name in tables.
    pub fn name(&self) -> &'static str {
        match self.who {
            Who::Nothing | Who::AllowAll => "nothing",
            Who::Solon => "solon",
            Who::Oracle => "reference",
        }
    }

    /// Returns the processor time used so far.
    pub fn processor_time(&self) -> Duration {
        usage::processor_time(self.child.id())
    }

    /// Returns the resident memory, in megabytes.
    pub fn resident(&self) -> f64 {
        usage::resident(self.child.id())
    }

    /// Returns the peak resident memory, in megabytes.
    pub fn peak(&self) -> f64 {
        usage::peak(self.child.id())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Returns the absolute path of the program `solon`, because it runs in a folder of its own.
///
/// # Errors
/// The program does not exist.
pub fn own_program() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let beside = own.with_file_name("solon");
    let named = std::env::var_os("SOLON_SERVER").map_or(beside, PathBuf::from);
    if !named.exists() {
        return Err(format!(
            "there is no {}: `cargo build --profile bench-lines -p solon-server` makes it, or SOLON_SERVER names another",
            named.display()
        ));
    }
    Ok(std::path::absolute(&named).unwrap_or(named))
}
