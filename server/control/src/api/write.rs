//! Writes: the body is parsed before the transaction begins because other writes wait for that transaction.

use http::Method;

use super::answer::Answer;
use super::request::ApiRequest;
use super::routes::Route;
use super::service::Context;
use super::{builds, data, grants, items, revisions, secrets, tokens};
use crate::error::ApiError;
use crate::model::{Bundle, Compat, Kind, Source, Stack};

/// A parsed body.
pub enum Change {
    Item(items::ItemBody),
    Secret(secrets::SecretBody),
    Document(solon::Value),
    Patch(Vec<solon::store::PatchStep>),
    Token(crate::model::Token),
    Grants(Vec<String>),
    Rollback(revisions::Chosen),
    Nothing,
}

impl Change {
    pub fn read(
        route: &Route,
        method: &Method,
        request: &ApiRequest,
        compat: Compat,
    ) -> Result<Self, ApiError> {
        let is_delete = *method == Method::DELETE;
        Ok(match route {
            _ if is_delete => Self::Nothing,
            Route::Item(Kind::Bundle, name) => Self::Item(items::ItemBody::from_request::<Bundle>(
                request, compat, name,
            )?),
            Route::Item(Kind::Source, name) => Self::Item(items::ItemBody::from_request::<Source>(
                request, compat, name,
            )?),
            Route::Item(Kind::Stack, name) => Self::Item(items::ItemBody::from_request::<Stack>(
                request, compat, name,
            )?),
            Route::Item(Kind::Secret, name) => {
                Self::Secret(secrets::SecretBody::from_request(request, compat, name)?)
            }
            Route::Data(..) if *method == Method::PATCH => Self::Patch(data::read_patch(request)?),
            Route::Data(..) => Self::Document(data::read_document(request)?),
            Route::List(Kind::Token) => Self::Token(tokens::read(request, compat)?),
            Route::Rollback(_) => Self::Rollback(revisions::read(request, compat)?),
            Route::Grant(kind, ..) => Self::Grants(grants::read(request, compat, *kind)?),
            _ => Self::Nothing,
        })
    }
}

pub async fn make(
    context: &mut Context<'_>,
    route: &Route,
    method: &Method,
    change: Result<Change, ApiError>,
) -> Result<Answer, ApiError> {
    let is_delete = *method == Method::DELETE;
    match route {
        Route::Item(Kind::Token, name) => tokens::revoke(context, name).await,
        Route::Item(kind, name) if is_delete => items::remove(context, *kind, name).await,
        Route::Item(kind, name) => items::put(context, *kind, name, change).await,
        Route::Data(source, path) => data::write(context, source, path, is_delete, change).await,
        Route::List(Kind::Token) => tokens::create(context, change).await,
        Route::Rollback(bundle) => revisions::roll_back(context, bundle, change).await,
        Route::Build(bundle) => builds::request(context, bundle).await,
        Route::Rotate(name) => tokens::rotate(context, name).await,
        Route::Grant(kind, name, token) => {
            grants::write(context, (*kind, name, token), is_delete, change).await
        }
        _ => Err(ApiError::not_found()),
    }
}
