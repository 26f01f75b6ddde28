//! Pagination of lists.

use super::answer::Answer;
use super::service::Context;
use crate::error::ApiError;

/// A page that the client requested: its size, and the position after which it starts.
pub struct Page {
    list: String,
    size: usize,
    /// The id after which the page begins, or `None` for the first page.
    pub behind: Option<i64>,
}

impl Page {
    /// Returns the maximum number of items of the page.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the row limit of the query: one more than the page contains, which shows whether there is a next page.
    pub fn row_limit(&self) -> i64 {
        i64::try_from(self.size)
            .unwrap_or(i64::MAX)
            .saturating_add(1)
    }
}

impl Context<'_> {
    /// Returns the requested page of a list, limited to `limit` items. A cursor is bound to one list and one principal, so
    /// that it reveals nothing to other principals.
    pub fn page(&self, list: &str, limit: usize) -> Result<Page, ApiError> {
        let params = &self.request.params;
        let list = format!("{list}\n{}", self.principal.holder.id);
        let cursor = params.last("cursor").filter(|cursor| !cursor.is_empty());
        let number = |cursor: &str| {
            let number = self.state.keys.number(&list, cursor);
            number.ok_or_else(|| ApiError::invalid("`cursor` does not belong to this list"))
        };
        Ok(Page {
            size: params.limit(limit)?,
            behind: cursor.map(number).transpose()?,
            list,
        })
    }

    /// Returns a response with a page of the rows found, each with its id, and the cursor of the next page if there is one.
    pub fn paged<T>(
        &self,
        page: &Page,
        rows: &[T],
        number: impl Fn(&T) -> i64,
        text_of: impl Fn(&T) -> Result<String, ApiError>,
    ) -> Result<Answer, ApiError> {
        let page_rows = rows.get(..page.size).unwrap_or(rows);
        let next = self.next_cursor(page, rows, number)?;
        let items: Result<Vec<String>, ApiError> = page_rows.iter().map(text_of).collect();
        Ok(Answer::page(&items?, next.as_deref()))
    }

    /// Returns the cursor of the next page if more rows were found than the page contains.
    pub fn next_cursor<T>(
        &self,
        page: &Page,
        rows: &[T],
        number: impl Fn(&T) -> i64,
    ) -> Result<Option<String>, ApiError> {
        let page_rows = rows.get(..page.size).unwrap_or(rows);
        let last = page_rows.last().filter(|_| page_rows.len() < rows.len());
        let next = last.map(|last| self.state.keys.cursor(&page.list, number(last)));
        next.transpose()
            .map_err(|error| ApiError::internal(error.0))
    }
}
