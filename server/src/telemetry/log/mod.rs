//! Log lines on standard error, in the field names that OPA's users know: `level`, `msg`, `time` and the rest.

use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::ValueEnum;
use serde_json::{Map, Value};
use solon::{Engine, PreparedQuery, Request};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;

use super::timestamp::timestamp;

/// Lines that were dropped.
static DROPPED: AtomicU64 = AtomicU64::new(0);

/// How many lines were dropped so far, since the log was not read fast enough.
pub fn dropped_lines() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}

/// How much is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Level {
    /// Everything, bodies too.
    Debug,
    /// Each request.
    #[default]
    Info,
    /// What may be wrong, and faults. OPA has no such level.
    #[value(skip)]
    Warn,
    /// Faults only.
    Error,
}

impl Level {
    /// The level of lines that are written from this one on.
    pub fn of_lines(self) -> tracing::Level {
        match self {
            Self::Debug => tracing::Level::DEBUG,
            Self::Info => tracing::Level::INFO,
            Self::Warn => tracing::Level::WARN,
            Self::Error => tracing::Level::ERROR,
        }
    }

    fn filter(self) -> LevelFilter {
        match self {
            Self::Debug => LevelFilter::DEBUG,
            Self::Info => LevelFilter::INFO,
            Self::Warn => LevelFilter::WARN,
            Self::Error => LevelFilter::ERROR,
        }
    }
}

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

/// Logs what `tracing` is told, from a thread of its own. Only the first call of a process counts. Times are written by a layout of
/// Go's, if there is one. At most so many bytes of lines wait for a slow reader of standard error; lines beyond are dropped and
/// counted.
pub fn start_log(level: Level, format: Format, layout: Option<&str>, most: usize) {
    let (queue, lines) = Queue::new(most);
    let _ = UNWRITTEN.set(queue.waiting.clone());
    // without a thread there is no log, and no reason to refuse to serve
    let _ = std::thread::Builder::new()
        .name("log".into())
        .spawn(move || lines.write(std::io::stderr()));
    let clock = Clock::new(layout);
    let lines = Lines {
        format,
        clock,
        queue,
    };
    let layer = lines.with_filter(level.filter());
    let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer));
}

/// Bytes of lines that are still to be written.
static UNWRITTEN: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// Waits until all lines are written, for a second at most: the process is about to end, and its threads with it.
pub fn finish_log() {
    let start = Instant::now();
    let is_busy = || {
        UNWRITTEN
            .get()
            .is_some_and(|bytes| bytes.load(Ordering::Relaxed) > 0)
    };
    while is_busy() && start.elapsed() < Duration::from_secs(1) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Lines on their way to the thread that writes them. Room for them is made as they come: mostly there are none.
struct Queue {
    lines: Sender<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
    most: usize,
}

/// Where they come out.
struct Waiting {
    lines: Receiver<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
}

impl Queue {
    /// Holds at most so many bytes.
    fn new(most: usize) -> (Self, Waiting) {
        let (sender, receiver) = channel();
        let waiting = Arc::<AtomicUsize>::default();
        let out = Waiting {
            lines: receiver,
            waiting: waiting.clone(),
        };
        let queue = Self {
            lines: sender,
            waiting,
            most,
        };
        (queue, out)
    }

    /// Adds a line, unless there is no room for it, or nobody to write it.
    fn add(&self, line: Vec<u8>) -> bool {
        let length = line.len();
        let before = self.waiting.fetch_add(length, Ordering::Relaxed);
        let is_added = before.saturating_add(length) <= self.most && self.lines.send(line).is_ok();
        if !is_added {
            self.waiting.fetch_sub(length, Ordering::Relaxed);
        }
        is_added
    }
}

impl Waiting {
    /// Writes lines as they come, until nobody adds any more.
    fn write(self, mut out: impl std::io::Write) {
        while let Ok(line) = self.lines.recv() {
            // nobody is left to hear of it
            let _ = out.write_all(&line);
            self.waiting.fetch_sub(line.len(), Ordering::Relaxed);
        }
    }
}

/// Turns events into lines.
struct Lines {
    format: Format,
    clock: Clock,
    queue: Queue,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let level = event.metadata().level().as_str().to_ascii_lowercase();
        let line = self.format.line(fields, &level, &self.clock.now());
        // a reader that is that slow gets what fits
        if !self.queue.add(line) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Format {
    fn line(self, mut fields: Fields, level: &str, time: &str) -> Vec<u8> {
        let mut line = match self {
            Self::Text => fields.text(level, time).into_bytes(),
            Self::Json | Self::JsonPretty => {
                fields.0.insert("level".into(), level.into());
                fields.0.insert("time".into(), time.into());
                let written = match self {
                    Self::JsonPretty => serde_json::to_vec_pretty(&fields.0),
                    _ => serde_json::to_vec(&fields.0),
                };
                written.unwrap_or_default()
            }
        };
        line.push(b'\n');
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

/// Tells the time in the form that was asked for.
struct Clock(Option<(PreparedQuery, Value)>);

impl Clock {
    /// By a layout of Go's, or in the form of RFC 3339.
    fn new(layout: Option<&str>) -> Self {
        // what policies call as well, so that both know the same layouts
        let query = r#"x := time.format([input.ns, "UTC", input.layout])"#;
        let layout = layout.filter(|layout| !layout.is_empty());
        Self(layout.and_then(|layout| {
            let query = Engine::new().prepare_query(query).ok()?;
            Some((query, layout.into()))
        }))
    }

    fn now(&self) -> String {
        let passed = SystemTime::now().duration_since(UNIX_EPOCH);
        let passed = passed.unwrap_or_default();
        let by_layout = |(query, layout): &(PreparedQuery, Value)| {
            let ns = u64::try_from(passed.as_nanos()).ok()?;
            let input = serde_json::json!({"ns": ns, "layout": layout}).to_string();
            let asked = Request::new().input_json(input.as_bytes());
            let solution = query.solutions(&asked).ok()?.into_iter().next()?;
            let (_, text) = solution.bindings.into_iter().next()?;
            text.as_str().map(str::to_owned)
        };
        let text = self.0.as_ref().and_then(by_layout);
        text.unwrap_or_else(|| timestamp(passed.as_secs()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, Fields, Format, Queue};

    #[test]
    fn lines_beyond_the_bound_are_dropped() {
        let (queue, lines) = Queue::new(10);
        assert!(queue.add(b"1234567\n".to_vec()));
        assert!(!queue.add(b"12\n".to_vec()));
        assert!(queue.add(b"1\n".to_vec()));
        assert!(!queue.add(b"\n".to_vec()));
        drop(queue);
        let mut written = Vec::new();
        lines.write(&mut written);
        assert_eq!(written, b"1234567\n1\n");
        let (queue, lines) = Queue::new(10);
        drop(lines);
        assert!(!queue.add(b"1\n".to_vec()));
    }

    #[test]
    fn times_have_the_form_that_is_asked_for() {
        let year: u32 = Clock::new(Some("2006")).now().parse().unwrap();
        assert!(year > 2024, "{year}");
        let day = Clock::new(Some("Mon, 02 Jan")).now();
        assert_eq!(day.len(), "Mon, 02 Jan".len(), "{day}");
        for usual in [Clock::new(None), Clock::new(Some(""))] {
            let time = usual.now();
            assert!(time.len() == 20 && time.ends_with('Z'), "{time}");
        }
    }

    #[test]
    fn lines() {
        let fields = || {
            let mut fields = Fields::default();
            fields.0.insert("msg".into(), "Sent response.".into());
            fields.0.insert("resp_status".into(), 200.into());
            fields
        };
        let line = |format: Format| String::from_utf8(format.line(fields(), "info", "T")).unwrap();
        assert_eq!(
            line(Format::Json),
            "{\"level\":\"info\",\"msg\":\"Sent response.\",\"resp_status\":200,\"time\":\"T\"}\n"
        );
        assert_eq!(
            line(Format::Text),
            "T info  Sent response. resp_status=200\n"
        );
    }
}
