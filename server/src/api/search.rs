//! Answers that are searched for, step by step, since more is asked than what they are: how they were found
//! (`explain`), which rules succeeded (`ids`, `rule_labels`), and what it took (`instrument`).

use std::sync::Arc;

use serde_json::{Map, Value as Json};
use solon::trace::{Detail, Instruments, Spelling, Succeeded};
use solon::{
    Error, ExplainOptions, Explanation, PreparedDocument, PreparedPartial, PreparedQuery,
    Residuals, SearchOptions, Snapshot, Solution, Value,
};

use super::call::Call;
use super::decision_log::LoggedDecision;
use super::evaluation::evaluate;
use super::metrics::is_instrumented;
use super::state::State;
use crate::http::RequestExt as _;
use crate::json::{Fields, answer_text, escape_html, indent};
use crate::telemetry::Metrics;

/// What is asked for beside an answer.
#[derive(Clone, Copy)]
pub struct Wanted {
    /// How much is to be told of the search.
    pub detail: Option<Detail>,
    instruments: bool,
    ids: bool,
    labels: bool,
    /// `true` if the response contains the labels; otherwise they are for the decision log.
    shows_labels: bool,
}

impl Wanted {
    /// What a request asks for. Of several levels of explanation the first that is one counts.
    pub fn of(request: &Call<'_>) -> Self {
        let params = &request.params();
        Self {
            detail: params.all("explain").find_map(Detail::named),
            instruments: is_instrumented(request),
            ids: params.flag("ids"),
            labels: params.flag("rule_labels"),
            shows_labels: params.flag("rule_labels"),
        }
    }

    /// What a request asks for, and what the log of its decision needs.
    pub fn with_log(request: &Call<'_>, logged: Option<&LoggedDecision>) -> Self {
        let wanted = Self::of(request);
        Self {
            labels: wanted.labels || logged.is_some_and(LoggedDecision::has_labels),
            ..wanted
        }
    }

    /// What the log of a decision needs, where a request cannot ask for more.
    pub fn of_log(logged: Option<&LoggedDecision>) -> Self {
        Self {
            detail: None,
            instruments: false,
            ids: false,
            labels: logged.is_some_and(LoggedDecision::has_labels),
            shows_labels: false,
        }
    }

    /// What a request for partial evaluation asks for: no rule succeeds while something is unknown.
    pub fn of_partial(request: &Call<'_>) -> Self {
        Self {
            ids: false,
            labels: false,
            ..Self::of(request)
        }
    }

    /// Whether only a search can tell it.
    pub fn is_something(self) -> bool {
        self.detail.is_some() || self.instruments || self.ids || self.labels
    }
}

/// What is told beside an answer.
#[derive(Default)]
pub struct Told {
    /// How it was found, as JSON text.
    explanation: Option<Vec<u8>>,
    ids: Vec<Arc<str>>,
    /// The labels of the rules that succeeded.
    pub labels: Vec<Map<String, Json>>,
    shows_labels: bool,
}

impl Told {
    /// Adds how the answer was found.
    pub fn add_explanation(&self, answer: &mut Fields) {
        if let Some(explanation) = &self.explanation {
            answer.text("explanation", explanation);
        }
    }

    /// The same with nothing of how it was found.
    pub fn unexplained(&mut self) {
        self.explanation = None;
    }

    /// Adds which rules succeeded.
    pub fn add_rules(&self, answer: &mut Fields) {
        if !self.ids.is_empty() {
            answer.typed("ids", &self.ids);
        }
        if self.shows_labels && !self.labels.is_empty() {
            answer.typed("rule_labels", &self.labels);
        }
    }
}

/// What can be searched for.
pub trait Searched {
    /// What is found.
    type Answer;

    /// Searches.
    fn find(
        &self,
        asked: &solon::Request<'_>,
        search: SearchOptions<'_>,
    ) -> Result<Self::Answer, Error>;

    /// Searches and tells how.
    fn tell(
        &self,
        asked: &solon::Request<'_>,
        detail: Detail,
        search: SearchOptions<'_>,
    ) -> Explanation<Self::Answer>;
}

impl Searched for PreparedDocument {
    type Answer = Option<Value>;

    fn find(
        &self,
        asked: &solon::Request<'_>,
        search: SearchOptions<'_>,
    ) -> Result<Self::Answer, Error> {
        self.search_as(asked, search)
    }

    fn tell(
        &self,
        asked: &solon::Request<'_>,
        detail: Detail,
        search: SearchOptions<'_>,
    ) -> Explanation<Self::Answer> {
        self.explain(asked, ExplainOptions::new(detail).search(search))
    }
}

impl Searched for PreparedQuery {
    type Answer = Vec<Solution>;

    fn find(
        &self,
        asked: &solon::Request<'_>,
        search: SearchOptions<'_>,
    ) -> Result<Self::Answer, Error> {
        self.search_checked(asked, search)
    }

    fn tell(
        &self,
        asked: &solon::Request<'_>,
        detail: Detail,
        search: SearchOptions<'_>,
    ) -> Explanation<Self::Answer> {
        self.explain(asked, ExplainOptions::new(detail).search(search))
    }
}

impl Searched for PreparedPartial {
    type Answer = Residuals;

    fn find(
        &self,
        asked: &solon::Request<'_>,
        search: SearchOptions<'_>,
    ) -> Result<Self::Answer, Error> {
        self.evaluate_as(asked, search)
    }

    fn tell(
        &self,
        asked: &solon::Request<'_>,
        detail: Detail,
        search: SearchOptions<'_>,
    ) -> Explanation<Self::Answer> {
        self.explain(asked, ExplainOptions::new(detail).search(search))
    }
}

/// Searches for a request, within one moment (the current one unless it is given), and tells what it asks for.
pub fn search<S: Searched>(
    state: &State,
    request: &Call<'_>,
    wanted: Wanted,
    metrics: &Metrics,
    subject: &S,
    asked: solon::Request<'_>,
    moment: Option<&Snapshot>,
) -> Result<(S::Answer, Told), Error> {
    let moment = moment.cloned().unwrap_or_else(|| state.engine.snapshot());
    let instruments = Instruments::default();
    let mut succeeded = Succeeded::default();
    let mut how = SearchOptions::default();
    if wanted.instruments {
        how = how.instruments(&instruments);
    }
    if wanted.ids || wanted.labels {
        how = how.observer(&mut succeeded);
    }
    let asked = asked.snapshot(&moment);
    let (answer, explanation) = evaluate(state, request, &asked, |asked| match wanted.detail {
        Some(detail) => {
            let explained = subject.tell(asked, detail, how);
            let steps = steps(state, request, &explained);
            (explained.result, Some(steps))
        }
        None => (subject.find(asked, how), None),
    });
    if wanted.instruments {
        metrics.instruments(&instruments);
        for (stage, took) in moment.compile_stages() {
            metrics.add(stage, took);
        }
    }
    let answer = answer?;
    let mut told = Told {
        explanation: explanation.transpose()?,
        shows_labels: wanted.shows_labels,
        ..Told::default()
    };
    if wanted.ids {
        told.ids = moment.rule_ids(&succeeded);
    }
    if wanted.labels {
        told.labels = moment.rule_labels(&succeeded);
    }
    Ok((answer, told))
}

/// The steps as JSON text: the lines of a trace for people, otherwise events.
fn steps<T>(
    state: &State,
    request: &Call<'_>,
    explained: &Explanation<T>,
) -> Result<Vec<u8>, Error> {
    if !request.pretty() {
        let spelling = if state.options.spelling.is_opa() {
            Spelling::Lower
        } else {
            Spelling::Title
        };
        return Ok(escape_html(explained.json(spelling)?.into_bytes()));
    }
    let mut lines = explained.lines(true, false)?;
    if lines.is_empty() {
        // an empty text has one line
        lines.push(String::new());
    }
    let text = answer_text(&lines, true);
    Ok(indent(text.trim_ascii_end(), 1))
}
