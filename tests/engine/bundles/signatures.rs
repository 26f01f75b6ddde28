//! Signed bundles: they are accepted and rejected as by OPA, with the same messages.
//!
//! `tests/cases/bundles/signatures.json` lists bundles with the key for their verification, and OPA's error if there is
//! one. `tests/cases/bundles/signed` contains archives that OPA signed with each algorithm, and one without a
//! signature.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};
use solon::bundle::{
    Bundle, BundleErrorKind, BundleFile, BundleReader, LoadErrorKind, MemoryFiles, SigningKey,
    Verification, VerificationKey,
};

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Case {
    note: String,
    files: Vec<File>,
    /// A secret, or the path of a key relative to the folder of cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    algorithm: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    exclude: Vec<String>,
    /// OPA's error, without the name of the bundle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Solon's error, if it differs on purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    solon: Option<String>,
}

#[derive(Clone, Deserialize, Serialize)]
struct File {
    path: String,
    text: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/bundles")
}

fn key(name: &str) -> Vec<u8> {
    let file = folder().join(name);
    std::fs::read(file).unwrap_or_else(|_| name.as_bytes().to_vec())
}

impl Case {
    fn archive(&self) -> Vec<u8> {
        let file = |file: &File| BundleFile {
            path: file.path.clone(),
            bytes: file.text.clone().into_bytes(),
        };
        let files: Vec<BundleFile> = self.files.iter().map(file).collect();
        Bundle::write_archive(&files).unwrap()
    }

    fn verification(&self) -> Verification {
        let Some(name) = &self.key else {
            return Verification::default();
        };
        let algorithm = self.algorithm.clone().unwrap();
        let key = VerificationKey::new(algorithm, key(name));
        let id = self.key_id.as_deref().unwrap_or("default");
        Verification::by_key(id, key)
            .scope(self.scope.clone().unwrap_or_default())
            .exclude(self.exclude.clone())
    }

    fn record(&mut self, oracle: &str) {
        let name = format!("solon-signed-{}.tar.gz", std::process::id());
        let archive = std::env::temp_dir().join(name);
        std::fs::write(&archive, self.archive()).unwrap();
        let mut command = Command::new(oracle);
        command.current_dir(folder());
        command
            .args(["build", "-o", "/dev/null", "-b"])
            .arg(&archive);
        if let (Some(key), Some(algorithm)) = (&self.key, &self.algorithm) {
            command.args(["--verification-key", key, "--signing-alg", algorithm]);
        }
        if let Some(id) = &self.key_id {
            command.args(["--verification-key-id", id]);
        }
        if let Some(scope) = &self.scope {
            command.args(["--scope", scope]);
        }
        for pattern in &self.exclude {
            command.args(["--exclude-files-verify", pattern]);
        }
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let start = format!("error: load error: bundle {}: ", archive.display());
        let error = text
            .strip_prefix(&start)
            .map(|text| text.trim_end().to_owned());
        assert_eq!(
            error.is_some(),
            !output.status.success(),
            "{}: {text}",
            self.note
        );
        self.error = error;
        std::fs::remove_file(archive).unwrap();
    }
}

#[test]
fn signatures_are_verified_as_opa_verifies_them() {
    let path = folder().join("signatures.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut cases: Vec<Case> = serde_json::from_str(&text).unwrap();
    if let Ok(oracle) = std::env::var("SOLON_RECORD") {
        for case in &mut cases {
            case.record(&oracle);
        }
        let text = serde_json::to_string_pretty(&cases).unwrap() + "\n";
        std::fs::write(&path, text).unwrap();
    }
    let mut failures = Vec::new();
    for case in &cases {
        let reader = BundleReader::new("b").verification(case.verification());
        let read = reader.read_archive(&case.archive());
        let unverified = BundleReader::new("b").verification(Verification::skip());
        if let Err(errors) = &read
            && unverified.read_archive(&case.archive()).is_ok()
        {
            assert_eq!(
                errors.0[0].kind(),
                LoadErrorKind::Signature,
                "{}",
                case.note
            );
        }
        let got = read.err().map(|error| error.to_string());
        let got = got.map(|error| error.strip_prefix("bundle b: ").unwrap().to_owned());
        let want = case.solon.as_ref().or(case.error.as_ref());
        if got.as_ref() != want {
            failures.push(format!("{}\n  want {want:?}\n  got  {got:?}", case.note));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(cases.len() >= 80, "only {}", cases.len());
}

/// Algorithms with the keys for signing and verification.
const ALGORITHMS: [(&str, &str, &str); 12] = [
    ("HS256", "keys/rsa.pub", "keys/rsa.pub"),
    ("HS384", "keys/rsa.pub", "keys/rsa.pub"),
    ("HS512", "keys/rsa.pub", "keys/rsa.pub"),
    ("RS256", "keys/rsa.pem", "keys/rsa.pub"),
    ("RS384", "keys/rsa.pem", "keys/rsap.pub"),
    ("RS512", "keys/cert.key", "keys/cert.pem"),
    ("PS256", "keys/rsa.pem", "keys/rsa.pub"),
    ("PS384", "keys/rsa.pem", "keys/rsa.pem"),
    ("PS512", "keys/rsa.pem", "keys/rsa.pub"),
    ("ES256", "keys/ec.pem", "keys/ec.pub"),
    ("ES384", "keys/ec384.pem", "keys/ec384.pub"),
    ("ES512", "keys/ec521.pem", "keys/ec521.pub"),
];

fn verified(archive: &[u8], algorithm: &str, name: &str) -> Result<(), String> {
    let key = VerificationKey::new(algorithm, key(name));
    let reader = BundleReader::new("b").verification(Verification::by_key("default", key));
    let read = reader.read_archive(archive);
    read.map(drop).map_err(|error| error.to_string())
}

#[test]
fn archives_that_opa_signed_are_verified() {
    for (algorithm, signing, public) in ALGORITHMS {
        let public = if signing == "keys/cert.key" {
            "keys/rsa.pub"
        } else {
            public
        };
        let name = format!("signed/{}.tar.gz", algorithm.to_lowercase());
        let archive = std::fs::read(folder().join(name)).unwrap();
        assert_eq!(verified(&archive, algorithm, public), Ok(()), "{algorithm}");
        for (other, _, _) in ALGORITHMS.iter().filter(|(other, ..)| *other != algorithm) {
            assert!(
                verified(&archive, other, public).is_err(),
                "{algorithm} by {other}"
            );
        }
        assert!(verified(&archive, algorithm, "keys/cert.pem").is_err());
        assert!(BundleReader::new("b").read_archive(&archive).is_err());
        let skip = BundleReader::new("b").verification(Verification::skip());
        assert_eq!(skip.read_archive(&archive).unwrap().manifest.revision, "7");
    }
    let unsigned = std::fs::read(folder().join("signed/unsigned.tar.gz")).unwrap();
    assert!(BundleReader::new("b").read_archive(&unsigned).is_ok());
    let optional = Verification::by_keys([]).optional();
    let optional = BundleReader::new("b").verification(optional);
    assert!(optional.read_archive(&unsigned).is_ok());
}

fn files() -> Vec<BundleFile> {
    let file = |path: &str, text: &str| BundleFile {
        path: path.to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    vec![
        file("/a/data.yaml", "k: 0777\n"),
        file("/a/p.rego", "package a\n"),
        file("/.manifest", r#"{"roots": ["a"]}"#),
    ]
}

#[test]
fn own_signatures_are_verified() {
    for (algorithm, private, public) in ALGORITHMS {
        let mut files = files();
        let signing = SigningKey::new(algorithm, key(private)).id("default");
        let signatures = Bundle::sign(&files, &signing).unwrap();
        files.push(BundleFile {
            path: "/.signatures.json".to_owned(),
            bytes: signatures,
        });
        let archive = Bundle::write_archive(&files).unwrap();
        assert_eq!(verified(&archive, algorithm, public), Ok(()), "{algorithm}");
        files[1].bytes.push(b'\n');
        let archive = Bundle::write_archive(&files).unwrap();
        let error = verified(&archive, algorithm, public).unwrap_err();
        assert!(error.contains("a/p.rego: digest mismatch"), "{error}");
    }
}

/// Signatures by secrets and by RSA (PKCS #1) are deterministic, so they are compared with OPA's.
#[test]
fn tokens_are_those_of_opa() {
    for name in ["hs256", "hs384", "hs512", "rs256", "rs384", "rs512"] {
        let archive = std::fs::read(folder().join(format!("signed/{name}.tar.gz"))).unwrap();
        let skip = BundleReader::new("b").verification(Verification::default());
        let error = skip.read_archive(&archive).unwrap_err().to_string();
        assert_eq!(error, "bundle b: verification key not provided");
        let algorithm = name.to_uppercase();
        let (_, private, public) = ALGORITHMS
            .iter()
            .find(|(one, ..)| *one == algorithm)
            .unwrap();
        let private = if *private == "keys/cert.key" {
            "keys/rsa.pem"
        } else {
            private
        };
        let public = if *public == "keys/cert.pem" {
            "keys/rsa.pub"
        } else {
            public
        };
        let verification = VerificationKey::new(&*algorithm, key(public));
        let reader =
            BundleReader::new("b").verification(Verification::by_key("default", verification));
        let bundle = reader.read_archive(&archive).unwrap();
        let signed = bundle.signatures.unwrap().tokens[0].clone();
        // OPA lists policies first
        let mut files = Vec::new();
        for module in &bundle.modules {
            files.push(BundleFile {
                path: module.path.clone(),
                bytes: module.module.source.text.as_bytes().to_vec(),
            });
        }
        let mut data = Vec::new();
        solon::json::write(bundle.documents.borrow(), &mut data);
        files.push(BundleFile {
            path: "/data.json".to_owned(),
            bytes: data,
        });
        files.push(BundleFile {
            path: "/.manifest".to_owned(),
            bytes: bundle.manifest.text(),
        });
        let signing = SigningKey::new(&*algorithm, key(private)).id("default");
        let made = String::from_utf8(Bundle::sign(&files, &signing).unwrap()).unwrap();
        assert!(made.contains(&signed), "{name}");
    }
}

#[test]
fn keys_that_do_not_sign() {
    let sign = |algorithm: &str, name: &str| {
        let signing = SigningKey::new(algorithm, key(name));
        let error = Bundle::sign(&files(), &signing).unwrap_err();
        assert_eq!(error.kind(), BundleErrorKind::Signing);
        error.to_string()
    };
    assert_eq!(sign("FOO", "x"), "unknown signature algorithm: FOO");
    assert_eq!(
        sign("RS256", "x"),
        "failed to parse PEM block containing the key"
    );
    assert_eq!(
        sign("none", "x"),
        "failed to parse PEM block containing the key"
    );
    assert_eq!(
        sign("RS256", "keys/rsa.pub"),
        "unsupported key type: PUBLIC KEY"
    );
    assert_eq!(
        sign("ES256", "keys/rsa.pem"),
        "jwt.signFast: failed to sign payload with ES256: jwsbb.Sign: invalid key type *jwk.rsaPrivateKey. *ecdsa.PrivateKey is required: keyconv: failed to produce ecdsa.PrivateKey from *jwk.rsaPrivateKey: jwk.Export: no suitable exporter found for key type '*jwk.rsaPrivateKey'"
    );
    assert_eq!(
        sign("RS256", "keys/ec.pem"),
        "jwt.signFast: failed to sign payload with RS256: jwsbb.Sign: invalid key type *jwk.ecdsaPrivateKey. *rsa.PrivateKey is required: failed to produce rsa.PrivateKey from *jwk.ecdsaPrivateKey: jwk.Export: no suitable exporter found for key type '*jwk.ecdsaPrivateKey'"
    );
}

#[test]
fn keys_by_id_and_scopes_of_keys() {
    let signed = |signing: SigningKey| {
        let mut files = files();
        let bytes = Bundle::sign(&files, &signing).unwrap();
        let path = ".signatures.json".to_owned();
        files.push(BundleFile { path, bytes });
        let mut folder = MemoryFiles::default();
        for file in files {
            folder.insert(format!("b/{}", file.path), file.bytes);
        }
        folder
    };
    let read = |files: &MemoryFiles, verification: Verification| {
        let reader = BundleReader::new("b").verification(verification);
        let read = reader.read_path(files, "b");
        read.map(drop).map_err(|error| error.to_string())
    };
    let keys = || {
        let first = VerificationKey::new("HS256", "one");
        let second = VerificationKey::new("HS256", "two").scope("write");
        Verification::by_keys([("first".to_owned(), first), ("second".to_owned(), second)])
    };
    // paths of a folder's files start with the folder, which is not in these signatures
    let error = read(&signed(SigningKey::new("HS256", "one").id("first")), keys());
    assert_eq!(
        error,
        Err("bundle b: file b/.manifest not included in bundle signature".to_owned())
    );
    let refused = |signing: SigningKey, verification: Verification| {
        read(&signed(signing), verification).unwrap_err()
    };
    assert_eq!(
        refused(SigningKey::new("HS256", "one"), keys()),
        "bundle b: verification key ID is empty"
    );
    assert_eq!(
        refused(SigningKey::new("HS256", "one").id("third"), keys()),
        "bundle b: verification key corresponding to ID third not found"
    );
    assert_eq!(
        refused(SigningKey::new("HS256", "two").id("second"), keys()),
        "bundle b: scope mismatch"
    );
    assert_eq!(
        refused(SigningKey::new("HS256", "one").id("second"), keys()),
        "bundle b: failed to verify JWT signature: invalid HMAC signature"
    );
    let bound = keys().key_id("second");
    assert_eq!(
        refused(SigningKey::new("HS256", "one").id("first"), bound),
        "bundle b: failed to verify JWT signature: invalid HMAC signature"
    );
}
