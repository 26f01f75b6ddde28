//! MariaDB, as a server started by this test.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use solon::FilterTarget;

use super::{Database, RowPairs, answer, hex, pair, question};
use crate::servers::{self, Server, program};
use crate::tables::Kind;
use crate::waiting::wait_until;

pub struct Mariadb {
    server: Server,
    client: PathBuf,
}

impl Mariadb {
    /// Starts a server; `None` if it is not installed.
    pub fn start() -> Option<Self> {
        let client = program("mariadb")?;
        let settings = [
            "--character-set-server=utf8mb4",
            "--innodb-flush-log-at-trx-commit=0",
        ];
        let server = Server::start_with(servers::Kind::Mariadb, &settings)?;
        let mut started = Self { server, client };
        let first = "CREATE DATABASE IF NOT EXISTS solon;\nSELECT 1;\n";
        wait_until("MariaDB answers", || {
            started.run_script(first).0.contains('1')
        });
        Some(started)
    }

    /// Returns the output and the error output.
    fn run_script(&mut self, script: &str) -> (String, String) {
        let mut command = Command::new(&self.client);
        command
            .args([
                "--no-defaults",
                "-N",
                "-B",
                "--force",
                "--default-character-set=utf8mb4",
                "-u",
                "root",
                "-S",
            ])
            .arg(self.server.folder.join("socket"));
        answer(&mut command, script)
    }
}

impl Database for Mariadb {
    fn target(&self) -> FilterTarget {
        FilterTarget::Mysql
    }

    fn column_type(&self, kind: Kind) -> &'static str {
        match kind {
            Kind::Text => "VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin",
            Kind::Integer => "BIGINT",
            Kind::Decimal => "DECIMAL(40, 20)",
            Kind::Truth => "BOOLEAN",
        }
    }

    fn folding(&self) -> &'static str {
        "VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci"
    }

    fn literal(&self, value: &Value) -> String {
        match value {
            Value::String(text) => format!("CONVERT(X'{}' USING utf8mb4)", hex(text)),
            other => other.to_string(),
        }
    }

    fn run(&mut self, statements: &[String]) {
        let script = format!("USE solon;\n{};\n", statements.join(";\n"));
        let (_, errors) = self.run_script(&script);
        assert!(errors.is_empty(), "{errors}");
    }

    fn matching_rows(&mut self, conditions: &[String]) -> Vec<Result<RowPairs, String>> {
        let mut script = String::from("USE solon;\n");
        for condition in conditions {
            writeln!(script, "SELECT '==';\n{};", question(condition)).unwrap();
        }
        let (said, errors) = self.run_script(&script);
        assert!(errors.is_empty(), "{errors}");
        let parts: Vec<&str> = said.split("==\n").skip(1).collect();
        assert_eq!(parts.len(), conditions.len(), "{said}");
        let read = |part: &str| Ok(part.lines().filter_map(|line| pair(line, '\t')).collect());
        parts.into_iter().map(read).collect()
    }
}
