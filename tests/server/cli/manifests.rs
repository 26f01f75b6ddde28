//! The manifests of `deploy`: command lines are taken, and configurations start a server.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use serde::Deserialize as _;
use serde_yaml::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy")
}

/// Returns the documents of a YAML file, with merge keys applied.
fn documents(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    serde_yaml::Deserializer::from_str(&text)
        .map(|document| {
            let mut value = Value::deserialize(document)
                .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            value.apply_merge().unwrap();
            value
        })
        .collect()
}

/// Returns all files below a folder that end with one of the suffixes.
fn files(folder: &Path, suffixes: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, suffixes));
        } else if suffixes
            .iter()
            .any(|suffix| path.to_string_lossy().ends_with(suffix))
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Adds the arguments of each container of Solon in a document.
fn add_commands(value: &Value, commands: &mut Vec<Vec<String>>) {
    match value {
        Value::Mapping(members) => {
            let is_solon = members
                .get("image")
                .and_then(Value::as_str)
                .is_some_and(|image| image.starts_with("solon:"));
            if is_solon {
                let arguments = members.get("args").or_else(|| members.get("command"));
                let arguments = arguments.and_then(Value::as_sequence).unwrap();
                let text = |item: &Value| item.as_str().unwrap().to_owned();
                commands.push(arguments.iter().map(text).collect());
            }
            members
                .values()
                .for_each(|item| add_commands(item, commands));
        }
        Value::Sequence(items) => items.iter().for_each(|item| add_commands(item, commands)),
        _ => {}
    }
}

/// Returns the command lines of each manifest, by its path.
fn commands() -> BTreeMap<PathBuf, Vec<Vec<String>>> {
    let mut commands: BTreeMap<PathBuf, Vec<Vec<String>>> = BTreeMap::new();
    for file in files(&folder(), &[".yaml"]) {
        let mut found = Vec::new();
        for document in documents(&file) {
            add_commands(&document, &mut found);
        }
        if !found.is_empty() {
            commands.insert(file, found);
        }
    }
    for file in files(&folder(), &[".service"]) {
        let text = fs::read_to_string(&file).unwrap();
        let start = text
            .lines()
            .find_map(|line| line.strip_prefix("ExecStart="))
            .unwrap();
        let words = start.split(' ').skip(1).map(str::to_owned).collect();
        commands.insert(file, vec![words]);
    }
    commands
}

#[test]
fn command_lines_of_manifests_are_taken() {
    let commands = commands();
    assert!(commands.len() >= 6, "{commands:?}");
    for (file, commands) in commands {
        for command in commands {
            let output = Command::new(env!("CARGO_BIN_EXE_solon"))
                .args(&command)
                .arg("--help")
                .env_clear()
                .output()
                .unwrap();
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.success(),
                "{}: {command:?}: {error}",
                file.display()
            );
        }
    }
}

/// A folder in place of the folders of containers.
struct Root(PathBuf);

impl Drop for Root {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

impl Root {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("solon-manifest-{name}-{}", std::process::id()));
        drop(fs::remove_dir_all(&path));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Replaces paths of a container by paths below this folder, and addresses by free ones.
    fn adapt(&self, text: &str) -> String {
        let root = self.0.display();
        let mut text = text.to_owned();
        for path in ["/etc/solon/", "/etc/app/", "/run/solon/", "/run/secrets/"] {
            text = text.replace(path, &format!("{root}/"));
        }
        text.replace("/var/lib/solon", &format!("{root}/state"))
            .replace("localhost:9191", "localhost:0")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), self.adapt(text)).unwrap();
    }
}

impl Root {
    /// Writes a certificate and its key.
    fn write_certificate(&self) {
        let key = rcgen::KeyPair::generate().unwrap();
        let names = vec!["localhost".to_owned()];
        let certificate = rcgen::CertificateParams::new(names).unwrap();
        let certificate = certificate.self_signed(&key).unwrap();
        self.write("tls.crt", &certificate.pem());
        self.write("tls.key", &key.serialize_pem());
    }
}

/// Starts a policy server with a command line of a manifest, and waits until it serves.
fn start(root: &Root, command: &[String]) -> Result<(), String> {
    let arguments = command
        .iter()
        .map(|argument| match argument.split_once('=') {
            Some((flag @ ("--addr" | "--diagnostic-addr"), _)) => format!("{flag}=localhost:0"),
            _ => root.adapt(argument),
        });
    let mut server = Command::new(env!("CARGO_BIN_EXE_solon"))
        .args(arguments)
        .env_clear()
        .current_dir(&root.0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = String::new();
    let lines = BufReader::new(server.stderr.take().unwrap()).lines();
    let mut is_serving = false;
    for line in lines.map_while(Result::ok) {
        is_serving = line.contains("Server initialized");
        log += &line;
        log.push('\n');
        if is_serving {
            break;
        }
    }
    drop(server.kill());
    server.wait().unwrap();
    is_serving.then_some(()).ok_or(log)
}

#[test]
fn configurations_of_manifests_start_a_server() {
    let mut started = 0;
    for path in ["admission", "kubernetes", "sidecar/envoy", "sidecar/istio"] {
        let root = Root::new(&path.replace('/', "-"));
        root.write("token", "secret");
        root.write_certificate();
        let mut servers = Vec::new();
        for file in files(&folder().join(path), &[".yaml"]) {
            for document in documents(&file) {
                add_commands(&document, &mut servers);
                let data = document.get("data").and_then(Value::as_mapping);
                for (name, text) in data.into_iter().flatten() {
                    root.write(name.as_str().unwrap(), text.as_str().unwrap());
                }
            }
        }
        for command in servers {
            start(&root, &command).unwrap_or_else(|log| panic!("{path}: {command:?}:\n{log}"));
            started += 1;
        }
    }
    assert_eq!(started, 4);
}

#[test]
fn the_composition_has_valid_configurations() {
    let root = Root::new("compose");
    root.write("token", "secret");
    let compose = folder().join("compose");
    for name in ["server.yaml", "control.yaml"] {
        root.write(name, &fs::read_to_string(compose.join(name)).unwrap());
    }
    root.write(
        "secrets_key",
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n",
    );
    let mut commands = Vec::new();
    for document in documents(&compose.join("compose.yaml")) {
        add_commands(&document, &mut commands);
    }
    let (control, servers): (Vec<_>, Vec<_>) = commands
        .into_iter()
        .partition(|command| command[0] == "control");
    assert_eq!((control.len(), servers.len()), (1, 2));
    for command in servers {
        start(&root, &command).unwrap_or_else(|log| panic!("{command:?}:\n{log}"));
    }
    for command in control {
        let output = Command::new(env!("CARGO_BIN_EXE_solon"))
            .args(command.iter().map(|argument| root.adapt(argument)))
            .arg("--validate")
            .env_clear()
            .env("DATABASE_PASSWORD", "secret")
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {error}");
    }
}

#[test]
fn units_are_hardened() {
    let units = files(&folder(), &[".service"]);
    assert_eq!(units.len(), 2);
    if Command::new("systemd-analyze")
        .arg("--version")
        .output()
        .is_err()
    {
        eprintln!("skipped: systemd-analyze is not installed");
        return;
    }
    for unit in units {
        let output = Command::new("systemd-analyze")
            .args(["security", "--offline=true", "--threshold=30"])
            .arg(fs::canonicalize(&unit).unwrap())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}: {text}", unit.display());
    }
}
