//! Database servers of tests: each in a folder of its own, gone with the process that started it; nothing where its programs
//! are absent.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::waiting::wait_until;

/// A kind of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Postgres,
    Mariadb,
}

/// A running server.
pub struct Server {
    kind: Kind,
    pub folder: PathBuf,
    pub port: u16,
    extra: Vec<String>,
    watch: Option<Child>,
}

/// Runs the server that follows the folder argument until its input is closed; then the server ends at once, and the folder
/// goes unless a file in it says that it stays.
const WATCH: &str = r#"folder="$1"; shift
"$@" >"$folder/log" 2>&1 & pid=$!
trap '' TERM INT
cat >/dev/null
kill -9 $pid 2>/dev/null; wait $pid 2>/dev/null
[ -e "$folder/keep" ] || rm -rf "$folder"
"#;

impl Server {
    /// Starts a server in a new folder.
    pub fn start(kind: Kind) -> Option<Self> {
        Self::start_with(kind, &[])
    }

    /// Starts a server with settings.
    pub fn start_with(kind: Kind, settings: &[&str]) -> Option<Self> {
        let mut server = Self::make(kind)?;
        server.extra = settings.iter().map(|&it| it.to_owned()).collect();
        server.run();
        Some(server)
    }

    /// Starts a server that takes nothing but TLS.
    pub fn start_with_tls(kind: Kind, certificate: &str, key: &str) -> Option<Self> {
        let mut server = Self::make(kind)?;
        let folder = server.folder.clone();
        for (name, text) in [("certificate.pem", certificate), ("key.pem", key)] {
            let path = folder.join(name);
            std::fs::write(&path, text).unwrap();
            let only_owner = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(&path, only_owner).unwrap();
            if let Some((uid, gid)) = user(kind) {
                chown(&path, Some(uid), Some(gid)).unwrap();
            }
        }
        let folder = folder.display();
        match kind {
            Kind::Postgres => {
                let rules = "hostssl all all 127.0.0.1/32 trust\n";
                std::fs::write(server.folder.join("data/pg_hba.conf"), rules).unwrap();
                for setting in [
                    "ssl=on".to_owned(),
                    format!("ssl_cert_file={folder}/certificate.pem"),
                    format!("ssl_key_file={folder}/key.pem"),
                ] {
                    server.extra.extend(["-c".to_owned(), setting]);
                }
            }
            Kind::Mariadb => server.extra.extend([
                format!("--ssl-cert={folder}/certificate.pem"),
                format!("--ssl-key={folder}/key.pem"),
                "--require-secure-transport=ON".to_owned(),
            ]),
        }
        server.run();
        Some(server)
    }

    fn make(kind: Kind) -> Option<Self> {
        let user = user(kind);
        let folder = new_folder(kind);
        if let Some((uid, gid)) = user {
            chown(&folder, Some(uid), Some(gid)).unwrap();
        }
        let data = folder.join("data");
        let mut make = match kind {
            Kind::Postgres => {
                let mut make = Command::new(program("initdb")?);
                make.args([
                    "-A",
                    "trust",
                    "-U",
                    "solon",
                    "--no-sync",
                    "-E",
                    "UTF8",
                    "--locale=C",
                    "-D",
                ]);
                make.arg(&data);
                make
            }
            Kind::Mariadb => {
                program("mariadbd")?;
                let mut make = Command::new(program("mariadb-install-db")?);
                make.args([
                    "--no-defaults",
                    "--skip-test-db",
                    "--auth-root-authentication-method=normal",
                ]);
                make.arg(format!("--datadir={}", data.display()));
                make
            }
        };
        as_user(&mut make, user);
        // it may not write where this process does
        make.current_dir(&folder).env("TMPDIR", &folder);
        let made = make.output().unwrap();
        assert!(
            made.status.success(),
            "{kind:?}: {}",
            String::from_utf8_lossy(&made.stderr)
        );
        let port = free_port();
        Some(Self {
            kind,
            folder,
            port,
            extra: Vec::new(),
            watch: None,
        })
    }

    /// Runs the server of the folder, again where it was stopped.
    pub fn run(&mut self) {
        let data = self.folder.join("data");
        let (program, args) = match self.kind {
            Kind::Postgres => {
                let args = vec![
                    "-D".to_owned(),
                    data.display().to_string(),
                    "-p".to_owned(),
                    self.port.to_string(),
                    "-k".to_owned(),
                    self.folder.display().to_string(),
                    "-c".to_owned(),
                    "listen_addresses=127.0.0.1".to_owned(),
                    "-c".to_owned(),
                    "shared_buffers=32MB".to_owned(),
                ];
                (program("postgres"), args)
            }
            Kind::Mariadb => {
                let folder = self.folder.display();
                let args = vec![
                    "--no-defaults".to_owned(),
                    format!("--datadir={}", data.display()),
                    format!("--port={}", self.port),
                    format!("--socket={folder}/socket"),
                    format!("--pid-file={folder}/pid"),
                    "--bind-address=127.0.0.1".to_owned(),
                    "--skip-log-bin".to_owned(),
                    "--innodb-buffer-pool-size=32M".to_owned(),
                ];
                (program("mariadbd"), args)
            }
        };
        let mut command = Command::new("sh");
        command.args(["-c", WATCH, "watch"]);
        command.arg(&self.folder).arg(program.unwrap()).args(args);
        command.args(&self.extra);
        as_user(&mut command, user(self.kind));
        command
            .current_dir(&self.folder)
            .env("TMPDIR", &self.folder);
        command.stdin(Stdio::piped());
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        self.watch = Some(command.spawn().unwrap());
        self.wait();
    }

    /// Ends the server at once; its folder stays.
    pub fn stop(&mut self) {
        let keep = self.folder.join("keep");
        std::fs::write(&keep, "").unwrap();
        self.end();
        std::fs::remove_file(keep).unwrap();
    }

    fn end(&mut self) {
        if let Some(mut watch) = self.watch.take() {
            drop(watch.stdin.take());
            let _ = watch.wait();
        }
    }

    fn wait(&self) {
        let what = format!(
            "{:?} starts; its log is {}",
            self.kind,
            self.folder.join("log").display()
        );
        wait_until(&what, || {
            TcpStream::connect(("127.0.0.1", self.port)).is_ok_and(|stream| match self.kind {
                Kind::Postgres => accepts_sessions(stream).unwrap_or(false),
                // it listens once it accepts sessions
                Kind::Mariadb => true,
            })
        });
    }

    /// The DSN of a database.
    pub fn dsn(&self, name: &str) -> String {
        let port = self.port;
        match self.kind {
            Kind::Postgres => format!("postgres://solon@127.0.0.1:{port}/{name}?sslmode=disable"),
            Kind::Mariadb => format!("root@tcp(127.0.0.1:{port})/{name}"),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
        // one that was stopped has left its folder
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Returns the path of a program, or `None` if it is not installed.
pub fn program(name: &str) -> Option<PathBuf> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|version| version.path().join("bin"))
        .collect();
    folders.sort();
    folders.reverse();
    let path = std::env::var_os("PATH").unwrap_or_default();
    folders.extend(std::env::split_paths(&path));
    folders.push("/usr/sbin".into());
    let mut found = folders.iter().map(|folder| folder.join(name));
    found.find(|program| program.is_file())
}

/// Returns `true` if a PostgreSQL server answers a start of a session with anything but "cannot connect now" (57P03), with which it
/// answers while it starts.
fn accepts_sessions(mut stream: TcpStream) -> std::io::Result<bool> {
    // the length, the version 3.0 of the protocol, and the parameters
    let parameters = b"user\0solon\0database\0postgres\0\0";
    let length = u32::try_from(8 + parameters.len()).unwrap();
    stream.write_all(&length.to_be_bytes())?;
    stream.write_all(&0x0003_0000_u32.to_be_bytes())?;
    stream.write_all(parameters)?;
    let mut answer = [0; 512];
    let length = stream.read(&mut answer)?;
    let is_starting = answer[..length].windows(5).any(|code| code == b"57P03");
    Ok(length > 0 && !is_starting)
}

/// The user that servers run as where everything else runs as root, which they refuse to.
fn user(kind: Kind) -> Option<(u32, u32)> {
    let is_root = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").ok()?) == 0;
    let name = match kind {
        Kind::Postgres => "postgres:",
        Kind::Mariadb => "mysql:",
    };
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let line = users.lines().find(|line| line.starts_with(name))?;
    let mut fields = line.split(':').skip(2);
    let ids = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    is_root.then_some(ids)
}

fn as_user(command: &mut Command, user: Option<(u32, u32)>) {
    if let Some((uid, gid)) = user {
        command.uid(uid).gid(gid);
    }
}

/// A port that is free, and stays so until the server listens: it lies below those that systems give to connections.
fn free_port() -> u16 {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // processes that run at the same time try different ports
    let start = std::process::id().wrapping_mul(61);
    let mut ports = (0..20_000).map(|_| {
        let number = start.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        u16::try_from(10_000 + number % 20_000).unwrap()
    });
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    ports.find(is_free).expect("a free port")
}

fn new_folder(kind: Kind) -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("solon-{kind:?}-{}-{count}", std::process::id());
    let folder = Path::new("/tmp").join(name.to_lowercase());
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
