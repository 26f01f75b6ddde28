//! Traces as commands print them.

use solon::{Error, TraceLines};

/// Form of a trace: lines, events, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFormat {
    Lines,
    Events,
    Nothing,
}

#[derive(Debug, Default)]
pub struct Explanation {
    lines: String,
    events: Option<String>,
}

impl Explanation {
    /// Converts a trace. If `values` is set, the values of variables follow each line.
    ///
    /// # Errors
    /// Fails if the trace is too large.
    pub fn from_explanation<T>(
        explanation_of_engine: &solon::Explanation<T>,
        format: TraceFormat,
        values: bool,
    ) -> Result<Self, Error> {
        let mut explanation = Self::default();
        match format {
            TraceFormat::Lines => {
                for line in explanation_of_engine
                    .lines(TraceLines::default().locations(true).variables(values))?
                {
                    explanation.lines.push_str(&line);
                    explanation.lines.push('\n');
                }
            }
            TraceFormat::Events if explanation_of_engine.events.is_empty() => {}
            TraceFormat::Events => {
                explanation.events = Some(explanation_of_engine.detailed_json()?);
            }
            TraceFormat::Nothing => {}
        }
        Ok(explanation)
    }

    /// Returns the lines of the trace, each with its line break.
    pub fn lines(&self) -> &str {
        &self.lines
    }

    /// Returns the events as compact JSON, if there are any.
    pub fn events(&self) -> Option<&str> {
        self.events.as_deref()
    }
}
