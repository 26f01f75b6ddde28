//! Requests: inputs and settings of one evaluation.

use std::cell::RefMut;
use std::ffi::{c_char, c_int, c_void};
use std::time::Instant;

use ::engine::trace::{
    Coverage as EngineCoverage, Instruments, Observer, Observers, Profile as EngineProfile,
};
use ::engine::{
    Cancel as EngineCancel, Error as EngineError, Input, Limits, NdBuiltinCache,
    Request as EngineRequest, ResponseMetadata, SearchOptions, SendMetrics,
    Snapshot as EngineSnapshot, Value as EngineValue,
};

use crate::argument::{self, Bounds, Extensible, argument_error};
use crate::cancel::Cancel;
use crate::coverage::Coverage;
use crate::error::Error;
use crate::metadata::Metadata;
use crate::metrics::Metrics;
use crate::nd_cache::NdCache;
use crate::profile::Profile;
use crate::snapshot::Snapshot;
use crate::value::Value;

/// Receives a line that a policy prints. It is called on the evaluating thread, usually at the end of the evaluation, and may
/// call the library.
pub type Print =
    Option<unsafe extern "C" fn(userdata: *mut c_void, line: *const c_char, length: usize)>;

/// Inputs and settings of one evaluation. Zero fields have their defaults: `solon_request request = {.size = sizeof request};`
///
/// The caller keeps all objects, and must not free them before the evaluation ends.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Request {
    /// `sizeof(solon_request)`
    pub size: usize,
    /// The input as JSON text. With neither this nor a value, `input` is undefined.
    pub input_json: *const c_char,
    /// Length in bytes.
    pub input_json_length: usize,
    /// The input as a value.
    pub input: *const Value,
    /// Snapshot to evaluate; NULL is the current one.
    pub snapshot: *const Snapshot,
    /// Cancels the evaluation from another thread.
    pub cancel: *const Cancel,
    /// Time limit in nanoseconds; 0 is the limit of the engine, `UINT64_MAX` is unlimited.
    pub time_limit_ns: u64,
    /// Step limit, in loop iterations and calls; 0 and `UINT64_MAX` as above.
    pub step_limit: u64,
    /// Memory limit in bytes; 0 and `UINT64_MAX` as above.
    pub memory_limit: u64,
    /// Memory limit of an explanation in bytes; 0 and `UINT64_MAX` as above.
    pub explanation_limit: u64,
    /// Fail the evaluation at the first error of a built-in function.
    pub strict_builtin_errors: c_int,
    /// Receives the lines that policies print.
    pub print: Print,
    /// Its first argument.
    pub print_userdata: *mut c_void,
    /// Cache for results of non-deterministic functions: they are looked up in it, and added to it.
    pub nd_cache: *mut NdCache,
    /// Metadata of the request that host functions may read: an object.
    pub metadata: *const Value,
    /// Receives the fields that host functions add to the response.
    pub response_metadata: *mut Metadata,
    /// Metrics that times and counts are added to.
    pub metrics: *mut Metrics,
    /// Coverage that the evaluated lines are added to. Makes the evaluation slower.
    pub coverage: *mut Coverage,
    /// Profile that the times of rows are added to. Makes the evaluation slower.
    pub profile: *mut Profile,
}

// SAFETY: the first field is the size; zero is valid for numbers, pointers and optional functions
unsafe impl Extensible for Request {}

/// Print callback with its userdata.
#[derive(Clone, Copy)]
struct Printer {
    print: unsafe extern "C" fn(*mut c_void, *const c_char, usize),
    userdata: *mut c_void,
}

impl Printer {
    fn print_line(self, line: &str) {
        // SAFETY: the function has the declared type, and the caller guarantees that the userdata is valid
        unsafe { (self.print)(self.userdata, line.as_ptr().cast(), line.len()) };
    }
}

/// A validated request.
pub(crate) struct ValidRequest<'a> {
    pub input: Input<'a>,
    pub snapshot: Option<&'a EngineSnapshot>,
    cancel: Option<&'a EngineCancel>,
    limits: Option<Limits>,
    strict: bool,
    printer: Option<Printer>,
    cache: Option<&'a NdBuiltinCache>,
    metadata: Option<&'a EngineValue>,
    response: Option<&'a ResponseMetadata>,
    metrics: Option<&'a Metrics>,
    coverage: Option<RefMut<'a, EngineCoverage>>,
    profile: Option<RefMut<'a, EngineProfile>>,
}

impl<'a> ValidRequest<'a> {
    /// Reads a request; NULL has all defaults. `usual` are the limits of the engine.
    ///
    /// # Safety
    /// `request` is NULL or points to a request whose pointers are NULL or valid for what the fields describe.
    pub unsafe fn read(request: *const Request, usual: &Limits) -> Result<Self, Error> {
        // SAFETY: by this function's contract
        let fields = unsafe { argument::extensible(request, "request") }?;
        let bounds = Bounds {
            time_ns: fields.time_limit_ns,
            steps: fields.step_limit,
            memory: fields.memory_limit,
            explanation: fields.explanation_limit,
        };
        // SAFETY: by this function's contract
        unsafe {
            let text = argument::bytes(fields.input_json, fields.input_json_length, "input_json")?;
            let input = match (text, fields.input.as_ref()) {
                (None, None) => Input::Undefined,
                (Some(text), None) => Input::Json(text),
                (None, Some(value)) => Input::Value(&value.0),
                (Some(_), Some(_)) => {
                    return Err(argument_error(
                        "the request has both `input_json` and `input`",
                    ));
                }
            };
            Ok(Self {
                input,
                snapshot: fields.snapshot.as_ref().map(|snapshot| &snapshot.0),
                cancel: fields.cancel.as_ref().map(|cancel| &cancel.0),
                limits: (!bounds.is_usual()).then(|| bounds.apply_to(usual)),
                strict: fields.strict_builtin_errors != 0,
                printer: fields.print.map(|print| Printer {
                    print,
                    userdata: fields.print_userdata,
                }),
                cache: fields.nd_cache.as_ref().map(|cache| &cache.0),
                metadata: fields.metadata.as_ref().map(|metadata| &metadata.0),
                response: fields
                    .response_metadata
                    .as_ref()
                    .map(|metadata| &metadata.0),
                metrics: fields.metrics.as_ref(),
                coverage: match fields.coverage.as_ref() {
                    Some(coverage) => Some(coverage.borrow_for_use()?),
                    None => None,
                },
                profile: match fields.profile.as_ref() {
                    Some(profile) => Some(profile.borrow_for_use()?),
                    None => None,
                },
            })
        }
    }

    /// Returns `true` if the request has no input.
    pub fn is_without_input(&self) -> bool {
        matches!(self.input, Input::Undefined)
    }

    /// Evaluates at a snapshot, unless the request names another.
    pub fn with_snapshot<R>(
        &mut self,
        now: &'a EngineSnapshot,
        evaluate: impl FnOnce(&mut Self) -> R,
    ) -> R {
        self.snapshot = self.snapshot.or(Some(now));
        evaluate(self)
    }

    /// Evaluates by plans, or by `topdown` for coverage, a profile or instrumentation.
    pub fn answer<R>(
        &mut self,
        evaluate: impl FnOnce(&EngineRequest<'_>) -> Result<R, EngineError>,
        search: impl FnOnce(&EngineRequest<'_>, SearchOptions<'_>) -> Result<R, EngineError>,
    ) -> Result<R, Error> {
        let is_measured = self.metrics.is_some_and(Metrics::is_instrumented);
        if self.coverage.is_some() || self.profile.is_some() || is_measured {
            return Ok(self.searched(search)?);
        }
        Ok(self.given(evaluate)?)
    }

    /// Evaluates by `topdown` with the tracers of the request.
    pub fn searched<R>(
        &mut self,
        search: impl FnOnce(&EngineRequest<'_>, SearchOptions<'_>) -> R,
    ) -> R {
        let (mut coverage, mut profile) = (self.coverage.take(), self.profile.take());
        let instruments = Instruments::default();
        let result = self.given(|request| {
            let mut observers: Vec<&mut dyn Observer> = Vec::new();
            if let Some(coverage) = &mut coverage {
                observers.push(&mut **coverage);
            }
            if let Some(profile) = &mut profile {
                observers.push(&mut **profile);
            }
            let is_watched = !observers.is_empty();
            let mut observers = Observers(observers);
            let metrics = self.metrics.filter(|metrics| metrics.is_instrumented());
            let mut search_options = SearchOptions::default();
            search_options.observer = is_watched.then_some(&mut observers as &mut dyn Observer);
            search_options.instruments = metrics.map(|_| &instruments);
            search(request, search_options)
        });
        if let Some(metrics) = self.metrics {
            metrics.noting().instruments(&instruments);
        }
        (self.coverage, self.profile) = (coverage, profile);
        result
    }

    /// Calls `run` with the request in the form that the engine expects.
    fn given<R>(&self, run: impl FnOnce(&EngineRequest<'_>) -> R) -> R {
        let print = |line: &str| {
            if let Some(printer) = self.printer {
                printer.print_line(line);
            }
        };
        let send_metrics = SendMetrics::default();
        let mut request = EngineRequest::new().strict_builtin_errors(self.strict);
        request = match self.input {
            Input::Undefined => request,
            Input::Value(value) => request.input(value),
            Input::Json(text) => request.input_json(text),
            Input::Member { text, name } => request.input_member(text, name),
        };
        if let Some(snapshot) = self.snapshot {
            request = request.snapshot(snapshot);
        }
        if let Some(cancel) = self.cancel {
            request = request.cancel(cancel);
        }
        if let Some(limits) = &self.limits {
            request = request.limits(limits);
        }
        if self.printer.is_some() {
            request = request.print(&print);
        }
        if let Some(cache) = self.cache {
            request = request.nd_builtin_cache(cache);
        }
        if let Some(metadata) = self.metadata {
            request = request.metadata(metadata);
        }
        if let Some(response) = self.response {
            request = request.response_metadata(response);
        }
        if self.metrics.is_some() {
            request = request.send_metrics(&send_metrics);
        }
        let start = Instant::now();
        let result = run(&request);
        if let Some(metrics) = self.metrics {
            metrics.noting().time("rego_query_eval", start.elapsed());
            metrics.noting().add_http_sends(&send_metrics);
        }
        result
    }
}
