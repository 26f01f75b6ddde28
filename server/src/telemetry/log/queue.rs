//! Queue between the threads that log lines and the thread that writes them.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::fmt::MakeWriter;

use super::lines::Lines;

/// Maximum number of waiting lines. Memory for them is reserved at the start.
const LINES: usize = 8_192;

/// Lines that were dropped since the process started.
static DROPPED: AtomicU64 = AtomicU64::new(0);

/// Returns the number of lines dropped so far because standard error was not read fast enough.
pub fn dropped_lines() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}

/// Writes the waiting lines on drop, for at most one second.
#[must_use = "lines are lost at the end of the process unless the guard lives until then"]
pub struct LogGuard {
    _worker: WorkerGuard,
}

/// Starts the thread that writes lines to `out`. At most `max` bytes of lines wait for it.
pub fn start(max: usize, lines: Lines, out: impl Write + Send + 'static) -> (LineWriter, LogGuard) {
    let queued = Arc::<QueuedLines>::default();
    let sink = Sink {
        out,
        lines,
        waiting: queued.clone(),
        reported: dropped_lines(),
    };
    let builder = NonBlockingBuilder::default().thread_name("log");
    // one more for the stop request
    let (queue, worker) = builder.buffered_lines_limit(LINES + 1).finish(sink);
    let writer = LineWriter {
        queue,
        waiting: queued,
        most: max,
    };
    (writer, LogGuard { _worker: worker })
}

/// Waiting lines. `tracing_appender` limits only their number, but a line may contain a whole body.
#[derive(Default)]
struct QueuedLines {
    lines: AtomicUsize,
    bytes: AtomicUsize,
}

impl QueuedLines {
    /// Adds a line unless it exceeds a limit. There are never more than [`LINES`] lines, so the queue has room for each.
    fn add(&self, bytes: usize, max: usize) -> bool {
        let lines = self.lines.fetch_add(1, Ordering::Relaxed);
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let is_added = lines < LINES && before.saturating_add(bytes) <= max;
        if !is_added {
            self.remove(bytes);
        }
        is_added
    }

    fn remove(&self, bytes: usize) {
        self.lines.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Adds each line to the queue, or drops and counts it.
#[derive(Clone)]
pub struct LineWriter {
    queue: NonBlocking,
    waiting: Arc<QueuedLines>,
    most: usize,
}

impl Write for LineWriter {
    /// Adds a line. The formatter of `tracing` writes each line with one call.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.waiting.add(line.len(), self.most) {
            self.queue.write(line)
        } else {
            DROPPED.fetch_add(1, Ordering::Relaxed);
            Ok(line.len())
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LineWriter {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Writes lines, and reports dropped ones.
struct Sink<W> {
    out: W,
    lines: Lines,
    waiting: Arc<QueuedLines>,
    /// Number of dropped lines that were reported.
    reported: u64,
}

impl<W: Write> Write for Sink<W> {
    /// Writes a line, which `tracing_appender` passes unchanged.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // an error cannot be reported anywhere
        let _ = self.out.write_all(line);
        self.waiting.remove(line.len());
        let dropped_count = dropped_lines();
        if dropped_count > self.reported {
            let report = self.lines.dropped(dropped_count - self.reported);
            let _ = self.out.write_all(report.as_bytes());
            self.reported = dropped_count;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::super::clock::Clock;
    use super::super::lines::{Format, Lines};
    use super::{dropped_lines, start};

    /// Writes a line for each permission.
    struct Slow {
        permitted: Receiver<()>,
        written: Sender<String>,
    }

    impl Write for Slow {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            // after the test has dropped its end, every line is permitted
            let _ = self.permitted.recv();
            self.written
                .send(String::from_utf8(line.to_vec()).unwrap())
                .unwrap();
            Ok(line.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn lines() -> Lines {
        Lines {
            format: Format::Text,
            clock: Clock::new(Some("now")),
        }
    }

    #[test]
    fn lines_beyond_the_limit_are_dropped_and_reported() {
        let (permit, permitted) = channel();
        let (lines_in, lines_out) = channel();
        let before = dropped_lines();
        let (mut writer, guard) = start(
            10,
            lines(),
            Slow {
                permitted,
                written: lines_in,
            },
        );
        writer.write_all(b"1234567\n").unwrap();
        writer.write_all(b"12\n").unwrap();
        writer.write_all(b"1\n").unwrap();
        writer.write_all(b"\n").unwrap();
        assert_eq!(dropped_lines() - before, 2);
        for expected in [
            "1234567\n",
            "now error Lines of the log were dropped: standard error was not read fast enough. count=2\n",
            "1\n",
        ] {
            permit.send(()).unwrap();
            assert_eq!(lines_out.recv().unwrap(), expected);
        }
        // there is room again
        writer.write_all(b"7654321\n").unwrap();
        drop(permit);
        drop(guard);
        assert_eq!(lines_out.recv().unwrap(), "7654321\n");
    }
}
