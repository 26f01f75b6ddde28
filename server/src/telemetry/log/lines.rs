//! Formatting of events as lines.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use clap::ValueEnum;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::clock::Clock;

/// Target of events that a plugin writes to the console. Their field `event` is a JSON object whose members are added to the line.
pub const CONSOLE: &str = "solon::console";

/// Format of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One object per line.
    #[default]
    Json,
    /// One object over several lines.
    JsonPretty,
    /// Text for humans.
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
        let mut fields = EventFields::default();
        event.record(&mut fields);
        let level = event.metadata().level().as_str().to_ascii_lowercase();
        let time = self.clock.now();
        if event.metadata().target() == CONSOLE
            && let Some(line) = self.format.console_line(&fields, &level, &time)
        {
            return writer.write_str(&line);
        }
        writer.write_str(&self.format.line(fields, &level, &time))
    }
}

impl Lines {
    /// Returns the line that reports how many lines were dropped.
    pub fn dropped(&self, count: u64) -> String {
        let mut fields = EventFields::default();
        let message = "Lines of the log were dropped: standard error was not read fast enough.";
        fields.0.insert("msg".to_owned(), message.into());
        fields.0.insert("count".to_owned(), count.into());
        self.format.line(fields, "error", &self.clock.now())
    }
}

impl Format {
    fn line(self, mut fields: EventFields, level: &str, time: &str) -> String {
        let mut line = match self {
            Self::Text => fields.text(level, time),
            Self::Json | Self::JsonPretty => {
                fields.0.insert("level".into(), level.into());
                fields.0.insert("time".into(), time.into());
                let result = match self {
                    Self::JsonPretty => serde_json::to_string_pretty(&fields.0),
                    _ => serde_json::to_string(&fields.0),
                };
                result.unwrap_or_default()
            }
        };
        line.push('\n');
        line
    }
}

impl Format {
    /// Returns the line of an event whose members become members of the line. Numbers keep their text.
    fn console_line(self, fields: &EventFields, level: &str, time: &str) -> Option<String> {
        let event = fields.0.get("event")?.as_str()?;
        let mut members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(event).ok()?;
        let other_fields = fields.0.iter().filter(|(name, _)| *name != "event");
        let message = fields.0.get("msg").and_then(Value::as_str).unwrap_or("");
        let mut line = match self {
            Self::Text => {
                let mut line = format!("{time} {level:<5} {message}");
                for (name, value) in &members {
                    // writing to a string does not fail
                    let _ = write!(line, " {name}={value}");
                }
                for (name, value) in other_fields.filter(|(name, _)| *name != "msg") {
                    let _ = write!(line, " {name}={value}");
                }
                line
            }
            Self::Json | Self::JsonPretty => {
                let mut put = |name: &str, value: &Value| {
                    let raw = serde_json::value::to_raw_value(value).ok()?;
                    members.insert(name.to_owned(), raw);
                    Some(())
                };
                for (name, value) in other_fields {
                    put(name, value)?;
                }
                put("level", &level.into())?;
                put("time", &time.into())?;
                let text = serde_json::to_string(&members).ok()?;
                if self == Self::JsonPretty {
                    // the text is valid JSON
                    let value = solon::json::read(text.as_bytes()).ok()?;
                    let mut out = Vec::new();
                    let layout = Some(solon::json::JsonLayout::new("", "  "));
                    let style = solon::json::Style::default().layout(layout);
                    solon::json::write_styled(value.borrow(), style, &mut out);
                    String::from_utf8_lossy(&out).into_owned()
                } else {
                    text
                }
            }
        };
        line.push('\n');
        Some(line)
    }
}

#[derive(Default)]
struct EventFields(Map<String, Value>);

impl EventFields {
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

impl Visit for EventFields {
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
    use super::{EventFields, Format};

    #[test]
    fn lines() {
        let line = |format: Format| {
            let mut fields = EventFields::default();
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

    #[test]
    fn members_of_console_events_are_members_of_the_line() {
        let line = |format: Format| {
            let mut fields = EventFields::default();
            fields.0.insert("msg".into(), "Decision Log".into());
            fields.0.insert("type".into(), "t".into());
            let event = r#"{"result":[1.10,12345678901234567890123],"path":"a/b"}"#;
            fields.0.insert("event".into(), event.into());
            format.console_line(&fields, "info", "T").unwrap()
        };
        assert_eq!(
            line(Format::Json),
            "{\"level\":\"info\",\"msg\":\"Decision Log\",\"path\":\"a/b\",\"result\":[1.10,12345678901234567890123],\
             \"time\":\"T\",\"type\":\"t\"}\n"
        );
        assert!(line(Format::JsonPretty).starts_with("{\n  \"level\": \"info\",\n"));
        assert_eq!(
            line(Format::Text),
            "T info  Decision Log path=\"a/b\" result=[1.10,12345678901234567890123] type=\"t\"\n"
        );
    }
}
