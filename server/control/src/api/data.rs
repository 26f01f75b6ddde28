//! Documents of sources: each is stored in its own file, and all of them form one tree.

use solon::json::{Style, TooLong};
use solon::store::{DataSnapshot, Operation, PatchStep, Patching, Path, StoreError, Transaction};
use solon::{Value, json};

use super::answer::Answer;
use super::preconditions;
use super::request::ApiRequest;
use super::service::Context;
use super::write::Change;
use crate::access::AccessRequest;
use crate::changes::tree_around;
use crate::db::ItemHead;
use crate::error::{ApiError, ApiErrorKind};
use crate::limits;
use crate::model::tree::{self, Conflict};
use crate::model::{DataPath, FileDocument, Kind};

/// Parses a body that is a document. Fails if it is too large, empty or not JSON.
pub fn read_document(request: &ApiRequest) -> Result<Value, ApiError> {
    if request.body.len() > limits::DATA_BODY {
        let message = format!("the body is larger than {} bytes", limits::DATA_BODY);
        return Err(ApiError::new(ApiErrorKind::TooLarge, message));
    }
    if request.body.trim_ascii().is_empty() {
        return Err(ApiError::invalid("the body is empty; it must be JSON"));
    }
    if std::str::from_utf8(&request.body).is_err() {
        return Err(ApiError::invalid(
            "the body is not valid JSON: it is not UTF-8",
        ));
    }
    json::read(&request.body)
        .map_err(|error| ApiError::invalid(format!("the body is not valid JSON: {error}")))
}

/// Parses a body that is a patch. Fails if it is not JSON or an operation is malformed.
pub fn read_patch(request: &ApiRequest) -> Result<Vec<PatchStep>, ApiError> {
    let steps = PatchStep::parse(&read_document(request)?);
    steps.map_err(|error| {
        ApiError::invalid(format!("the patch is malformed: {}", message_of(&error)))
    })
}

/// The key of the document while a patch is applied. A document may be any value, but the root of the store is an object.
const DOCUMENT: &str = "document";

/// Returns the message of an error without the code that policies see.
fn message_of(error: &StoreError) -> String {
    let message = error.to_string();
    let code = format!("{}: ", error.code());
    message.strip_prefix(&code).unwrap_or(&message).to_owned()
}

/// Returns the error of a failed patch step, with paths as the patch spells them.
fn not_applied(error: &StoreError) -> ApiError {
    let message = message_of(error);
    let path = message.strip_prefix('/').unwrap_or(&message);
    let path = path.strip_prefix(DOCUMENT);
    let message = match path {
        Some(rest) if rest.starts_with('/') => rest,
        Some(rest) => rest.strip_prefix(": ").unwrap_or(&message),
        None => &message,
    };
    ApiError::invalid(format!("the patch does not apply: {message}"))
}

/// Returns the text of a document. It is limited to the size of a request body because `copy` steps can double a document.
fn document_text(value: &Value) -> Result<String, ApiError> {
    let mut text = Vec::new();
    let result = json::write_within(
        value.borrow(),
        Style::default(),
        limits::DATA_BODY,
        &mut text,
    );
    result.map_err(|TooLong| {
        let message = format!("the document is larger than {} bytes", limits::DATA_BODY);
        ApiError::new(ApiErrorKind::TooLarge, message)
    })?;
    String::from_utf8(text)
        .map_err(|error| ApiError::internal(format!("a document is not text: {error}")))
}

fn text(value: &Value) -> String {
    let mut text = Vec::new();
    json::write(value.borrow(), &mut text);
    String::from_utf8(text).unwrap_or_default()
}

/// A source whose documents are read or written.
struct Documents {
    head: ItemHead,
    /// Files of the source above, at or below the path.
    files: Vec<FileDocument>,
}

impl Documents {
    /// Reads the documents of a source around a path, after checking that the caller has the permission.
    async fn of_document(
        context: &mut Context<'_>,
        name: &str,
        path: &DataPath,
        access_request: AccessRequest,
    ) -> Result<Self, ApiError> {
        let item = context.transaction.item(Kind::Source, name).await?;
        let item = item.ok_or_else(ApiError::not_found)?;
        context.check(access_request, Some(&item.head))?;
        Ok(Self {
            files: FileDocument::of_source_around(&item.body, path)?,
            head: item.head,
        })
    }

    /// Returns the tree of the documents around a path, optionally without the pushed document at the path.
    async fn tree(
        &self,
        context: &mut Context<'_>,
        path: &DataPath,
        without_own: bool,
    ) -> Result<Option<Value>, ApiError> {
        let own_file = without_own.then(|| path.file());
        let (source, files) = (self.head.id, &self.files);
        tree_around(
            context.transaction,
            source,
            files,
            path,
            own_file.as_deref(),
        )
        .await
    }
}

/// Returns the tag of a document. The tag does not reveal whether another document has the same content.
fn tag(context: &Context<'_>, source: i64, path: &DataPath, text: &str) -> String {
    let state = format!("data\n{source}\n{}\n{text}", path.file());
    context.state.keys.tag(&state)
}

/// Returns the value at a path, merged from all documents that contain it. Without a value, the answer has no result.
pub async fn get(
    context: &mut Context<'_>,
    name: &str,
    path: &DataPath,
) -> Result<Answer, ApiError> {
    let documents = Documents::of_document(context, name, path, AccessRequest::ReadData).await?;
    let tree = documents.tree(context, path, false).await?;
    let Some(value) = tree
        .as_ref()
        .and_then(|tree| tree::value_at(tree, path.steps()))
    else {
        return Ok(Answer::done());
    };
    let text = text(value);
    let tag = tag(context, documents.head.id, path, &text);
    Ok(Answer::result(&text).tagged(tag))
}

/// Writes, patches or deletes the document at a path.
pub async fn write(
    context: &mut Context<'_>,
    name: &str,
    path: &DataPath,
    is_delete: bool,
    change: Result<Change, ApiError>,
) -> Result<Answer, ApiError> {
    let documents = Documents::of_document(context, name, path, AccessRequest::WriteData).await?;
    let source = &documents.head;
    let change = change?;
    let file = path.file();
    let before = context.transaction.document(source.id, &file).await?;
    if preconditions::are_present(context.request) {
        let tree = documents.tree(context, path, false).await?;
        let current = tree
            .as_ref()
            .and_then(|tree| tree::value_at(tree, path.steps()));
        let current_tag = current.map(|value| tag(context, source.id, path, &text(value)));
        preconditions::check(context.request, current_tag.as_deref())?;
    }
    let after = match change {
        Change::Nothing if is_delete => None,
        Change::Document(value) => Some(value),
        Change::Patch(steps) if steps.is_empty() => return Ok(Answer::done()),
        Change::Patch(steps) => Some(patch(before.as_deref(), steps)?),
        _ => return Err(ApiError::internal("a body was read as something else")),
    };
    let new_text = after.as_ref().map(document_text).transpose()?;
    let mut response = Answer::done();
    match (&after, &new_text) {
        (Some(value), Some(new_text)) => {
            let other_documents = documents.tree(context, path, true).await?;
            let own_tree = tree::nest(path.steps(), value.clone());
            let all = match other_documents {
                None => own_tree,
                Some(other_documents) => {
                    tree::merge(&other_documents, &own_tree).map_err(|Conflict(steps)| {
                        let path_text = steps.join("/");
                        let message = format!(
                            "another document of the source has a value at {path_text:?} already"
                        );
                        ApiError::new(ApiErrorKind::Conflict, message)
                    })?
                }
            };
            // A read of the path returned this tag, which also covers other documents.
            if let Some(current_value) = tree::value_at(&all, path.steps()) {
                response = response.tagged(tag(context, source.id, path, &text(current_value)));
            }
            context
                .transaction
                .put_document(source.id, &file, new_text)
                .await
                .map_err(|error| {
                    let item = format!("source {name:?}");
                    ApiError::from(error).about(item, &format!("the document {file:?}"))
                })?;
        }
        _ => {
            if before.is_none() {
                let other_documents = documents.tree(context, path, true).await?;
                if other_documents.is_some_and(|other_documents| {
                    tree::value_at(&other_documents, path.steps()).is_some()
                }) {
                    let path_text = path.steps().join("/");
                    let message = format!(
                        "the document at {path_text:?} belongs to other documents of the source"
                    );
                    return Err(ApiError::new(ApiErrorKind::Conflict, message));
                }
            }
            context
                .transaction
                .remove_document(source.id, &file)
                .await?;
        }
    }
    if before != new_text {
        let action = match (&before, &new_text) {
            (_, None) => "delete data",
            (None, _) => "create data",
            _ => "update data",
        };
        // A document may be large and can be read separately, so the log records only its length and its tag.
        let summary = |text: &String| {
            let tag = tag(context, source.id, path, text);
            serde_json::json!({ "path": file, "bytes": text.len(), "tag": tag }).to_string()
        };
        let (before, after) = (before.as_ref().map(summary), new_text.as_ref().map(summary));
        let mut changing = context.changing();
        changing
            .note(
                action,
                Kind::Source,
                name,
                before.as_deref(),
                after.as_deref(),
            )
            .await?;
    }
    Ok(response)
}

/// Returns a document after a patch. A missing document starts as an empty object, and missing parents of added values are
/// created.
fn patch(before: Option<&str>, steps: Vec<PatchStep>) -> Result<Value, ApiError> {
    let before = before.unwrap_or("{}");
    let before = json::read(before.as_bytes())
        .map_err(|error| ApiError::internal(format!("a document is not valid JSON: {error}")))?;
    let root = Path::new([DOCUMENT]);
    let documents = Value::object(vec![(DOCUMENT.into(), before)]);
    let mut transaction = Transaction::new(&DataSnapshot::new(documents, 0));
    let result = transaction.patching(|patching| {
        let mut steps = steps.into_iter();
        steps.try_for_each(|step| apply(patching, step.with_prefix(&root)))
    });
    result.map_err(|error| not_applied(&error))?;
    let after = transaction.read(&root);
    // RFC 6902: a document that is removed at its root is null.
    Ok(after.map_or(Value::NULL, Clone::clone))
}

/// Applies a patch step. Missing parents of added values are created, and removing a missing value succeeds.
fn apply(patching: &mut Patching<'_>, step: PatchStep) -> Result<(), StoreError> {
    match &step {
        PatchStep::Write(Operation::Add, path, _) => patching.make_parents(path)?,
        PatchStep::Write(Operation::Remove, path, _) if patching.read(path).is_err() => {
            return Ok(());
        }
        _ => {}
    }
    patching.apply(step)
}
