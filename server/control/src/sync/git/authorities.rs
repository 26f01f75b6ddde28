//! Authorities of Git servers over HTTPS.
//!
//! `git` does not read the variables `SSL_CERT_FILE` and `SSL_CERT_DIR`, which replace the authorities of the system for all other
//! connections. The service therefore writes the authorities that they name into a file for `git`.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use solon_common::private_files;

/// Variables that replace the authorities of the system.
const VARIABLES: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];

/// Length of a line of PEM.
const LINE: usize = 64;

/// A file with the authorities of Git servers, alone in its folder.
#[derive(Debug)]
pub struct Authorities {
    folder: PathBuf,
}

impl Authorities {
    /// Writes the file into a folder of the data folder if the variables of the process are set. It is empty if they name no
    /// certificate: then no server is trusted.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(data: &Path) -> io::Result<Option<Self>> {
        if VARIABLES
            .iter()
            .all(|name| std::env::var_os(name).is_none())
        {
            return Ok(None);
        }
        let loaded = rustls_native_certs::load_native_certs();
        for error in &loaded.errors {
            tracing::warn!(%error, "a certificate of `SSL_CERT_FILE` or `SSL_CERT_DIR` is not used");
        }
        let pem: String = loaded.certs.iter().map(|own| pem(own)).collect();
        let folder = data.join("authorities");
        private_files::create_folder(&folder)?;
        let authorities = Self { folder };
        let mut options = fs::File::options();
        let options = private_files::options(options.write(true).create_new(true));
        let path = authorities.path();
        let new = path.with_extension("new");
        if new.exists() {
            fs::remove_file(&new)?;
        }
        options.open(&new)?.write_all(pem.as_bytes())?;
        // a running `git` of another process reads either file as a whole
        fs::rename(new, path)?;
        Ok(Some(authorities))
    }

    fn path(&self) -> PathBuf {
        self.folder.join("all.pem")
    }

    /// Returns the configuration of `git`, so that it trusts these authorities only.
    pub fn configuration(&self) -> [(String, String); 3] {
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let file = path(&self.path());
        [
            ("http.sslCAInfo".to_owned(), file.clone()),
            // otherwise the folder of the system is trusted as well
            ("http.sslCAPath".to_owned(), path(&self.folder)),
            ("http.proxySSLCAInfo".to_owned(), file),
        ]
    }
}

fn pem(certificate: &[u8]) -> String {
    let text = STANDARD.encode(certificate);
    let mut pem = "-----BEGIN CERTIFICATE-----\n".to_owned();
    for (at, letter) in text.chars().enumerate() {
        if at > 0 && at.is_multiple_of(LINE) {
            pem.push('\n');
        }
        pem.push(letter);
    }
    pem.push_str("\n-----END CERTIFICATE-----\n");
    pem
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject as _;

    use super::{LINE, pem};

    #[test]
    fn certificates_are_written() {
        for length in [1, 47, 48, 49, 96, 1000] {
            let certificate = vec![7; length];
            let text = pem(&certificate);
            assert!(text.lines().all(|line| line.len() <= LINE), "{text}");
            let read = CertificateDer::from_pem_slice(text.as_bytes()).unwrap();
            assert_eq!(read.as_ref(), certificate);
        }
    }
}
