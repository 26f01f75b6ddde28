//! An SSH server of tests: a real `sshd` whose only user is that of the test.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::waiting::wait_for;

/// The passphrase of the key in the file `locked`.
pub const PASSPHRASE: &str = "canary-2b7f31";

/// A running `sshd` whose only user is that of the test.
pub struct SshServer {
    child: Child,
    pub port: u16,
    /// The user, whose keys are in the files `key` and, with a passphrase, `locked` of the folder.
    pub user: String,
    /// The fingerprint of the key of the host.
    pub fingerprint: String,
}

impl Drop for SshServer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns the server's program. Without it, a test is skipped, unless `SOLON_REQUIRE_SERVICES` is set.
pub fn sshd() -> Option<PathBuf> {
    let found = PathBuf::from("/usr/sbin/sshd");
    if found.exists() {
        return Some(found);
    }
    assert!(
        std::env::var_os("SOLON_REQUIRE_SERVICES").is_none(),
        "openssh-server is not installed"
    );
    eprintln!("skipped: openssh-server is not installed");
    None
}

fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Creates a key pair and returns its fingerprint.
pub fn keygen(path: &Path, passphrase: &str) -> String {
    let file = path.to_str().unwrap();
    run(
        "ssh-keygen",
        &["-q", "-t", "ed25519", "-N", passphrase, "-f", file],
    );
    let shown = run("ssh-keygen", &["-l", "-f", file]);
    shown.split(' ').nth(1).unwrap().to_owned()
}

impl SshServer {
    /// Starts a server with new keys in a folder.
    pub fn start(program: &Path, folder: &Path) -> Self {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
        let fingerprint = keygen(&folder.join("host"), "");
        keygen(&folder.join("key"), "");
        keygen(&folder.join("locked"), PASSPHRASE);
        let public = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        let keys = public("key.pub") + &public("locked.pub");
        fs::write(folder.join("authorized"), keys).unwrap();
        let user = run("id", &["-un"]);
        if user == "root" {
            // separation of privileges needs it
            fs::create_dir_all("/run/sshd").unwrap();
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let shown = folder.display();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {shown}/host\nPidFile none\nUsePAM no\nStrictModes no\n\
             AuthorizedKeysFile {shown}/authorized\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n\
             MaxStartups 100\n"
        );
        fs::write(folder.join("config"), config).unwrap();
        let mut command = Command::new(program);
        command.args(["-D", "-e", "-f"]).arg(folder.join("config"));
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let server = Self {
            child: child.unwrap(),
            port,
            user,
            fingerprint,
        };
        wait_for("sshd listens", || {
            TcpStream::connect(("127.0.0.1", port)).ok()
        });
        server
    }
}
