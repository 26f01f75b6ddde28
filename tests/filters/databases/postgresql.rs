//! PostgreSQL, as a server started by this test.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use solon::FilterTarget;

use super::{Database, RowPairs, answer, hex, pair, question};
use crate::servers::{self, Server, program};
use crate::tables::Kind;
use crate::waiting::wait_until;

pub struct Postgresql {
    server: Server,
    client: PathBuf,
}

impl Postgresql {
    /// Starts a server; `None` if it is not installed.
    pub fn start() -> Option<Self> {
        let client = program("psql")?;
        let server = Server::start_with(servers::Kind::Postgres, &["-F"])?;
        let mut started = Self { server, client };
        wait_until("PostgreSQL answers", || {
            started.run_script("SELECT 1;\n").trim() == "1"
        });
        // compares without case and accents
        started.run(&["CREATE COLLATION folding \
            (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
            .to_owned()]);
        Some(started)
    }

    fn run_script(&mut self, script: &str) -> String {
        let mut command = Command::new(&self.client);
        command
            .args(["-X", "-q", "-A", "-t", "-U", "solon", "-h"])
            .arg(&self.server.folder)
            .arg("-p")
            .arg(self.server.port.to_string())
            .arg("postgres");
        let (said, errors) = answer(&mut command, script);
        said + &errors
    }
}

impl Database for Postgresql {
    fn target(&self) -> FilterTarget {
        FilterTarget::Postgresql
    }

    fn column_type(&self, kind: Kind) -> &'static str {
        match kind {
            Kind::Text => "TEXT COLLATE \"C\"",
            Kind::Integer => "BIGINT",
            Kind::Decimal => "NUMERIC",
            Kind::Truth => "BOOLEAN",
        }
    }

    fn folding(&self) -> &'static str {
        "TEXT COLLATE folding"
    }

    fn literal(&self, value: &Value) -> String {
        match value {
            Value::String(text) => format!("convert_from('\\x{}', 'UTF8')", hex(text)),
            other => other.to_string(),
        }
    }

    fn fits(&self, value: &Value) -> bool {
        value.as_str().is_none_or(|text| !text.contains('\0'))
    }

    fn run(&mut self, statements: &[String]) {
        let said = self.run_script(&(statements.join(";\n") + ";\n"));
        assert!(
            !said.contains("ERROR") && !said.contains("error:"),
            "{said}"
        );
    }

    fn matching_rows(&mut self, conditions: &[String]) -> Vec<Result<RowPairs, String>> {
        // errors are returned as rows, since the error output is not synchronised with the rows
        let mut script = String::from("SET client_min_messages = warning;\n");
        for condition in conditions {
            let question = question(condition);
            writeln!(
                script,
                "\\echo ==\n{question};\n\\if :ERROR\n\\echo !! :LAST_ERROR_MESSAGE\n\\endif"
            )
            .unwrap();
        }
        let said = self.run_script(&script);
        let parts: Vec<&str> = said.split("==\n").skip(1).collect();
        assert_eq!(parts.len(), conditions.len(), "{said}");
        let read = |part: &str| {
            let lines = part
                .lines()
                .take_while(|line| !line.starts_with("psql") && !line.starts_with("ERROR"));
            let mut kept = Vec::new();
            for line in lines {
                match line.strip_prefix("!! ") {
                    Some(error) => return Err(error.to_owned()),
                    None => kept.extend(pair(line, '|')),
                }
            }
            Ok(kept)
        };
        parts.into_iter().map(read).collect()
    }
}
