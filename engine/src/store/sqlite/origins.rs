//! Origins of policies and documents in the file.
//!
//! The tables were added without a new schema version, so that older versions still open the file. Such a version does
//! not record origins. Triggers note its writes, and the next start of a version that records origins treats everything
//! in the file as of unknown origin.

use rusqlite::{Connection, Transaction as Sql};

use super::file::OpenFileError;
use super::row;
use crate::store::{
    Claim, ClaimChange, ClaimChanges, ClaimKind, Claims, HiddenModule, OriginChanges, StoredOrigins,
};

const TABLES: &str = "
    ALTER TABLE modules ADD COLUMN origin INTEGER;
    CREATE TABLE claims (path BLOB PRIMARY KEY, kind INTEGER NOT NULL, made INTEGER NOT NULL) STRICT;
    CREATE TABLE hidden_modules (name TEXT PRIMARY KEY, location TEXT, digest BLOB NOT NULL) STRICT;
    CREATE TABLE origin_state (is_current INTEGER NOT NULL) STRICT;
    INSERT INTO origin_state (is_current) VALUES (1);
    CREATE TRIGGER documents_inserted AFTER INSERT ON documents BEGIN UPDATE origin_state SET is_current = 0; END;
    CREATE TRIGGER documents_updated AFTER UPDATE ON documents BEGIN UPDATE origin_state SET is_current = 0; END;
    CREATE TRIGGER documents_deleted AFTER DELETE ON documents BEGIN UPDATE origin_state SET is_current = 0; END;
    CREATE TRIGGER modules_inserted AFTER INSERT ON modules BEGIN UPDATE origin_state SET is_current = 0; END;
    CREATE TRIGGER modules_updated AFTER UPDATE ON modules BEGIN UPDATE origin_state SET is_current = 0; END;
    CREATE TRIGGER modules_deleted AFTER DELETE ON modules BEGIN UPDATE origin_state SET is_current = 0; END;
";

/// Adds the tables to a file of an older version, and forgets origins that such a version has invalidated.
pub fn migrate(sql: &Sql<'_>, is_new: bool) -> Result<(), OpenFileError> {
    let has_tables: bool = sql.query_row(
        "SELECT count(*) > 0 FROM sqlite_schema WHERE type = 'table' AND name = 'origin_state'",
        [],
        |row| row.get(0),
    )?;
    let is_current = if has_tables {
        sql.query_row("SELECT min(is_current) FROM origin_state", [], |row| {
            row.get::<_, Option<bool>>(0)
        })?
        .unwrap_or(false)
    } else {
        sql.execute_batch(TABLES)?;
        is_new
    };
    if !is_current {
        sql.execute("UPDATE modules SET origin = NULL", [])?;
        replace(sql, &StoredOrigins::unknown())?;
        sql.execute("UPDATE origin_state SET is_current = 1", [])?;
    }
    Ok(())
}

/// Reads all origins of documents, and all hidden modules.
pub fn read(connection: &Connection) -> Result<StoredOrigins, OpenFileError> {
    let mut claims = Claims::default();
    let mut statement = connection.prepare("SELECT path, kind, made FROM claims")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let name: Vec<u8> = row.get(0)?;
        let name_text = || String::from_utf8_lossy(&name).into_owned();
        let kind = match row.get(1)? {
            0 => ClaimKind::Whole,
            1 => ClaimKind::Object,
            2 => ClaimKind::Unknown,
            other => {
                let message = format!(
                    "the claim on {:?} is of an unknown kind: {other}",
                    name_text()
                );
                return Err(OpenFileError::Damaged(message));
            }
        };
        let path = row::keys(&name);
        let path =
            path.ok_or_else(|| OpenFileError::Damaged(format!("no path at {:?}", name_text())))?;
        let created_depth = row.get::<_, u32>(2)?;
        let created_depth = usize::try_from(created_depth).unwrap_or(path.len());
        claims.insert(path, Claim::new(kind, created_depth));
    }
    let mut statement =
        connection.prepare("SELECT name, location, digest FROM hidden_modules ORDER BY name")?;
    let hidden_modules = statement.query_map([], |row| {
        Ok(HiddenModule::new(
            row.get::<_, String>(0)?,
            row.get(1)?,
            row.get(2)?,
        ))
    })?;
    Ok(StoredOrigins::new(
        claims,
        hidden_modules.collect::<Result<_, _>>()?,
    ))
}

/// Writes changes: single claims or all, and the hidden modules if they change.
pub fn write(sql: &Sql<'_>, changes: &OriginChanges) -> Result<(), OpenFileError> {
    match &changes.claims {
        ClaimChanges::Some(changes) => {
            for change in changes {
                write_claim(sql, change)?;
            }
        }
        ClaimChanges::All(claims) => replace_claims(sql, claims)?,
    }
    match &changes.hidden {
        Some(hidden_modules) => replace_hidden(sql, hidden_modules),
        None => Ok(()),
    }
}

/// Replaces all origins: claims and hidden modules.
pub fn replace(sql: &Sql<'_>, origins: &StoredOrigins) -> Result<(), OpenFileError> {
    replace_claims(sql, &origins.claims)?;
    replace_hidden(sql, &origins.hidden)
}

fn write_claim(sql: &Sql<'_>, change: &ClaimChange) -> Result<(), OpenFileError> {
    let name = row::of_keys(change.path.segments());
    match change.claim {
        Some(claim) if claim.kind == ClaimKind::Object => insert(sql, &name, claim),
        claim => {
            let (first, end) = row::range(&name);
            sql.prepare_cached("DELETE FROM claims WHERE path = ?1 OR path >= ?2 AND path < ?3")?
                .execute((&name, first, end))?;
            claim.map_or(Ok(()), |claim| insert(sql, &name, claim))
        }
    }
}

fn insert(sql: &Sql<'_>, name: &[u8], claim: Claim) -> Result<(), OpenFileError> {
    let kind = match claim.kind {
        ClaimKind::Whole => 0,
        ClaimKind::Object => 1,
        ClaimKind::Unknown => 2,
    };
    let created_depth = u32::try_from(claim.created_depth).unwrap_or(u32::MAX);
    sql.prepare_cached("INSERT OR IGNORE INTO claims (path, kind, made) VALUES (?1, ?2, ?3)")?
        .execute((name, kind, created_depth))?;
    Ok(())
}

fn replace_claims(sql: &Sql<'_>, claims: &Claims) -> Result<(), OpenFileError> {
    sql.execute("DELETE FROM claims", [])?;
    for (path, claim) in claims.iter() {
        insert(sql, &row::of_keys(path), claim)?;
    }
    Ok(())
}

fn replace_hidden(sql: &Sql<'_>, hidden_modules: &[HiddenModule]) -> Result<(), OpenFileError> {
    sql.execute("DELETE FROM hidden_modules", [])?;
    let mut statement = sql.prepare_cached(
        "INSERT OR REPLACE INTO hidden_modules (name, location, digest) VALUES (?1, ?2, ?3)",
    )?;
    for module in hidden_modules {
        statement.execute((&module.name, &module.location, module.digest))?;
    }
    Ok(())
}
