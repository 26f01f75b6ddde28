//! Pages: where one ends and the next begins.

use super::request::Params;
use super::service::Context;
use crate::error::Refusal;

impl Context<'_> {
    /// The number behind which the page of a request begins; nothing for the first page. A cursor is of one list and of
    /// one principal, so that it tells nothing to others.
    pub fn after(&self, list: &str, params: &Params) -> Result<Option<i64>, Refusal> {
        let Some(cursor) = params.last("cursor").filter(|cursor| !cursor.is_empty()) else {
            return Ok(None);
        };
        match self.state.keys.number(&self.list(list), cursor) {
            Some(number) => Ok(Some(number)),
            None => Err(Refusal::invalid("`cursor` is none of this list")),
        }
    }

    /// The cursor of a page that ends with a number.
    pub fn cursor(&self, list: &str, number: i64) -> Option<String> {
        self.state.keys.cursor(&self.list(list), number)
    }

    fn list(&self, list: &str) -> String {
        format!("{list}\n{}", self.principal.holder.id)
    }
}
