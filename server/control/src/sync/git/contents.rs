//! Files of a commit, read out of the object database.

use super::command::{GitError, Runner};
use crate::sync::Budget;
use crate::sync::filter::Filter;
use crate::sync::names;
use crate::sync::objects::Objects;
use crate::tree::Tree;

/// First bytes of a file whose content is in Git LFS.
const LFS: &[u8] = b"version https://git-lfs.github.com/spec/";

/// Maximum size of the contents that one call reads, in bytes. A larger file is read alone.
const BATCH_BYTES: u64 = 16 << 20;

/// A file of a commit.
struct Entry {
    path: String,
    id: String,
    size: u64,
}

/// Returns the selected files of a commit below a folder, or `None` if the folder does not exist.
///
/// # Errors
/// The commit contains what is not supported, or exceeds a limit.
pub async fn read(
    runner: &Runner<'_>,
    commit: &str,
    folder: &str,
    filter: &Filter,
    mut objects: Objects,
    mut budget: Budget,
) -> Result<Option<Tree>, GitError> {
    let root = format!("{commit}:{folder}");
    let Ok(id) = runner
        .local(&["rev-parse", "--verify", "--quiet", &root])
        .await
    else {
        return Ok(None);
    };
    let id = String::from_utf8_lossy(&id).trim().to_owned();
    if runner.local(&["cat-file", "-t", &id]).await?.trim_ascii() != b"tree" {
        return Ok(None);
    }
    let listed = runner
        .local(&["ls-tree", "-r", "-z", "-l", "--full-tree", &id])
        .await?;
    let entries = entries(&listed, filter, &mut budget)?;
    let mut tree = Tree::default();
    let mut batch = Vec::new();
    let mut bytes = 0;
    for entry in entries {
        budget
            .add_bytes(entry.size)
            .map_err(|error| named(&entry.path, &error))?;
        if let Some(content) = objects.find(&entry.id) {
            tree.insert(entry.path, content);
            continue;
        }
        bytes += entry.size;
        batch.push(entry);
        if bytes > BATCH_BYTES {
            add(runner, &mut tree, &mut objects, std::mem::take(&mut batch)).await?;
            bytes = 0;
        }
    }
    add(runner, &mut tree, &mut objects, batch).await?;
    objects
        .prune()
        .map_err(|error| GitError::internal(&error))?;
    Ok(Some(tree))
}

fn named(path: &str, problem: &str) -> GitError {
    GitError::failed(format!("{path:?}: {problem}"))
}

/// Returns the selected entries in the output of `git ls-tree`.
fn entries(listed: &[u8], filter: &Filter, budget: &mut Budget) -> Result<Vec<Entry>, GitError> {
    let mut found = Vec::new();
    for line in listed
        .split(|byte| *byte == 0)
        .filter(|line| !line.is_empty())
    {
        budget.add_entry().map_err(GitError::failed)?;
        let text = String::from_utf8_lossy(line);
        let Some((head, path)) = text.split_once('\t') else {
            return Err(GitError::failed("unexpected output of git ls-tree"));
        };
        let mut words = head.split_ascii_whitespace();
        let (Some(mode), Some(_), Some(id), Some(size)) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(GitError::failed("unexpected output of git ls-tree"));
        };
        // the path may be that of a link or a submodule instead of a folder
        if matches!(mode, "120000" | "160000") {
            let kind = if mode == "120000" {
                "symbolic link"
            } else {
                "submodule"
            };
            if filter.selects(path) || filter.may_select_below(path) {
                let problem =
                    format!("is a {kind}, which is not followed; list it in `excluded_files`");
                return Err(named(path, &problem));
            }
            continue;
        }
        if !filter.selects(path) {
            continue;
        }
        if std::str::from_utf8(line).is_err() {
            return Err(named(path, "name is not UTF-8"));
        }
        if let Some(problem) = names::problem(path) {
            return Err(named(path, problem));
        }
        let size = size.parse();
        let size = size.map_err(|_| GitError::failed("unexpected output of git ls-tree"))?;
        found.push(Entry {
            path: path.to_owned(),
            id: id.to_owned(),
            size,
        });
    }
    Ok(found)
}

/// Stores the contents of entries and adds them to a tree. One process of `git` reads the whole batch.
async fn add(
    runner: &Runner<'_>,
    tree: &mut Tree,
    objects: &mut Objects,
    batch: Vec<Entry>,
) -> Result<(), GitError> {
    if batch.is_empty() {
        return Ok(());
    }
    let mut input = String::new();
    for entry in &batch {
        input.push_str(&entry.id);
        input.push('\n');
    }
    let out = runner
        .local_with_input(&["cat-file", "--batch"], input.as_bytes())
        .await?;
    let mut rest = out.as_slice();
    let unexpected = || GitError::failed("unexpected output of git cat-file");
    for entry in batch {
        let end = rest
            .iter()
            .position(|byte| *byte == b'\n')
            .ok_or_else(unexpected)?;
        let (head, after) = rest.split_at_checked(end + 1).ok_or_else(unexpected)?;
        let wanted = format!("{} blob {}\n", entry.id, entry.size);
        if head != wanted.as_bytes() {
            return Err(named(&entry.path, "object not found"));
        }
        let size = usize::try_from(entry.size).map_err(|_| unexpected())?;
        let (content, after) = after.split_at_checked(size).ok_or_else(unexpected)?;
        rest = after.split_first().ok_or_else(unexpected)?.1;
        if content.starts_with(LFS) {
            let problem =
                "content is in Git LFS, which is not fetched; list it in `excluded_files`";
            return Err(named(&entry.path, problem));
        }
        let content = objects.store_named(&entry.id, content);
        tree.insert(
            entry.path,
            content.map_err(|error| GitError::internal(&error))?,
        );
    }
    Ok(())
}
