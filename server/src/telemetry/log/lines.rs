//! Events as lines.

use std::fmt::{self, Write as _};

use clap::ValueEnum;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::clock::Clock;

/// How a line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One object a line.
    #[default]
    Json,
    /// One object over several lines.
    JsonPretty,
    /// For people.
    Text,
}

/// Formats events as lines.
#[derive(Clone)]
pub struct Lines {
    pub format: Format,
    pub clock: Clock,
}

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let level = event.metadata().level().as_str().to_ascii_lowercase();
        writer.write_str(&self.format.line(fields, &level, &self.clock.now()))
    }
}

impl Lines {
    /// Returns the line that reports how many lines were dropped.
    pub fn dropped(&self, count: u64) -> String {
        let mut fields = Fields::default();
        let message = "Lines of the log were dropped: standard error was not read fast enough.";
        fields.0.insert("msg".to_owned(), message.into());
        fields.0.insert("count".to_owned(), count.into());
        self.format.line(fields, "error", &self.clock.now())
    }
}

impl Format {
    fn line(self, mut fields: Fields, level: &str, time: &str) -> String {
        let mut line = match self {
            Self::Text => fields.text(level, time),
            Self::Json | Self::JsonPretty => {
                fields.0.insert("level".into(), level.into());
                fields.0.insert("time".into(), time.into());
                let written = match self {
                    Self::JsonPretty => serde_json::to_string_pretty(&fields.0),
                    _ => serde_json::to_string(&fields.0),
                };
                written.unwrap_or_default()
            }
        };
        line.push('\n');
        line
    }
}

/// The fields of an event.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    fn text(&self, level: &str, time: &str) -> String {
        let message = self.0.get("msg").and_then(Value::as_str).unwrap_or("");
        let mut line = format!("{time} {level:<5} {message}");
        for (name, value) in self.0.iter().filter(|(name, _)| *name != "msg") {
            // writing to a string does not fail
            let _ = write!(line, " {name}={value}");
        }
        line
    }

    fn put(&mut self, field: &Field, value: Value) {
        let name = if field.name() == "message" {
            "msg"
        } else {
            field.name()
        };
        self.0.insert(name.to_owned(), value);
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value.into());
    }
}

#[cfg(test)]
mod tests {
    use super::{Fields, Format};

    #[test]
    fn lines() {
        let line = |format: Format| {
            let mut fields = Fields::default();
            fields.0.insert("msg".into(), "Sent response.".into());
            fields.0.insert("resp_status".into(), 200.into());
            format.line(fields, "info", "T")
        };
        assert_eq!(
            line(Format::Json),
            "{\"level\":\"info\",\"msg\":\"Sent response.\",\"resp_status\":200,\"time\":\"T\"}\n"
        );
        assert_eq!(
            line(Format::JsonPretty),
            "{\n  \"level\": \"info\",\n  \"msg\": \"Sent response.\",\n  \"resp_status\": 200,\n  \"time\": \"T\"\n}\n"
        );
        assert_eq!(
            line(Format::Text),
            "T info  Sent response. resp_status=200\n"
        );
    }
}
