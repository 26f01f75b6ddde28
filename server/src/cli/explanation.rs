//! How an answer was found, as commands show it.

use solon::Error;

/// The form of an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Lines for people.
    Lines,
    /// Events as JSON.
    Events,
    /// None at all.
    Nothing,
}

/// How an answer was found, in one form.
#[derive(Debug, Default)]
pub struct Explanation {
    lines: String,
    events: Option<String>,
}

impl Explanation {
    /// In one form; lines may have the values of variables behind them.
    ///
    /// # Errors
    /// Those of the engine, when there is too much to show.
    pub fn of<T>(how: &solon::Explanation<T>, shown: Shown, values: bool) -> Result<Self, Error> {
        let mut explanation = Self::default();
        match shown {
            Shown::Lines => {
                for line in how.lines(true, values)? {
                    explanation.lines.push_str(&line);
                    explanation.lines.push('\n');
                }
            }
            Shown::Events if how.events.is_empty() => {}
            Shown::Events => explanation.events = Some(how.detailed_json()?),
            Shown::Nothing => {}
        }
        Ok(explanation)
    }

    /// The lines, each with its end.
    pub fn lines(&self) -> &str {
        &self.lines
    }

    /// The events as compact JSON, if there are any.
    pub fn events(&self) -> Option<&str> {
        self.events.as_deref()
    }
}
