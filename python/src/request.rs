//! Options of a call.

use ::engine::trace::{Instruments, Observer, Observers};
use ::engine::{
    Cancel as EngineCancel, Error, Limits, NdBuiltinCache, Request as EngineRequest,
    ResponseMetadata, SearchOptions, SendMetrics, Snapshot as EngineSnapshot, Value,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

use crate::cancel::Cancel;
use crate::convert::{from_python, to_python};
use crate::error::from_engine;
use crate::input::Input;
use crate::measures::{Coverage, Metrics, Profile};
use crate::options::seconds;
use crate::running::{LatencyEstimate, raise};
use crate::settings::Settings;
use crate::shared::Shared;
use crate::snapshot::Snapshot;
use crate::stack;

pub struct Request {
    pub input: Input,
    pub settings: Settings,
    strict: bool,
    /// Options other than the input and strictness. Boxed because they are rare.
    options: Option<Box<Options>>,
}

#[derive(Default)]
struct Options {
    snapshot: Option<EngineSnapshot>,
    limits: Option<Limits>,
    cancel: Option<EngineCancel>,
    print: Option<Py<PyAny>>,
    nd_cache: Option<(Py<PyDict>, Value)>,
    metadata: Option<Value>,
    response: Option<Py<PyDict>>,
    metrics: Option<Py<Metrics>>,
    coverage: Option<Py<Coverage>>,
    profile: Option<Py<Profile>>,
}

/// Output of an evaluation in addition to the result.
struct Outcome<R> {
    answer: Result<R, Error>,
    nd_cache: Option<Value>,
    response_metadata: Option<Value>,
}

impl Request {
    /// Uses JSON text or bytes instead of an input.
    pub fn or_json(mut self, json: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.input = self.input.or_json(json)?;
        Ok(self)
    }

    /// Reads an input and the options of a call. An option that is `None` is not set. Unknown options raise an exception.
    pub fn read(
        input: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
        shared: &Shared,
    ) -> PyResult<Self> {
        let mut request = Self {
            input: Input::from_python(input, shared.settings)?,
            settings: shared.settings,
            strict: false,
            options: None,
        };
        for (name, value) in options.into_iter().flatten() {
            if !value.is_none() {
                request.set(&name.extract::<String>()?, &value, shared.engine.limits())?;
            }
        }
        Ok(request)
    }

    fn set(&mut self, name: &str, value: &Bound<'_, PyAny>, limits: &Limits) -> PyResult<()> {
        match name {
            "input_json" => {
                let input = std::mem::replace(&mut self.input, Input::Undefined);
                self.input = input.or_json(value)?;
                Ok(())
            }
            "strict_builtin_errors" => {
                self.strict = value.extract()?;
                Ok(())
            }
            _ => {
                let options = self.options.get_or_insert_default();
                options.set(name, value, limits, self.settings)
            }
        }
    }

    /// Returns the snapshot of the options. `None` is the current one.
    pub fn snapshot(&self) -> Option<&EngineSnapshot> {
        self.options.as_ref()?.snapshot.as_ref()
    }

    /// Returns `true` if an evaluation records something that the next one uses.
    pub fn notes(&self) -> bool {
        let options = self.options.as_ref();
        options.is_some_and(|options| options.nd_cache.is_some() || options.response.is_some())
    }

    /// Evaluates by plans, or by `topdown` for coverage, a profile or instrumentation.
    pub fn answer<R: Send>(
        &self,
        py: Python<'_>,
        estimate: &LatencyEstimate,
        evaluate: impl FnOnce(&EngineRequest<'_>) -> Result<R, Error> + Send,
        search: impl FnOnce(&EngineRequest<'_>, SearchOptions<'_>) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        let Some(options) = &self.options else {
            let result = estimate.run(py, self.input.is_large(), None, |cancel, hook| {
                let request = self.input.put(EngineRequest::new());
                let request = request.cancel(cancel).on_poll(hook);
                evaluate(&request.strict_builtin_errors(self.strict))
            })?;
            return result.map_err(|error| from_engine(py, &error));
        };
        if options.is_traced() {
            return self.searched(py, search);
        }
        self.given(options, py, estimate, evaluate)
    }

    /// Evaluates by `topdown` with the tracers of the request.
    pub fn searched<R: Send>(
        &self,
        py: Python<'_>,
        search: impl FnOnce(&EngineRequest<'_>, SearchOptions<'_>) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        let none = Options::default();
        let options = self.options.as_deref().unwrap_or(&none);
        let coverage = options
            .coverage
            .as_ref()
            .map(|handle| handle.get().lock_for_use());
        let mut coverage = coverage.transpose()?;
        let profile = options
            .profile
            .as_ref()
            .map(|handle| handle.get().lock_for_use());
        let mut profile = profile.transpose()?;
        let metrics = options.metrics.as_ref().map(|metrics| metrics.get());
        let metrics = metrics.filter(|metrics| metrics.is_instrumented());
        let (mut covered, mut timed) = (
            coverage.as_deref_mut().map(std::mem::take),
            profile.as_deref_mut().map(std::mem::take),
        );
        let (result, covered, timed) =
            self.given(options, py, &LatencyEstimate::slow(), |request| {
                let instruments = Instruments::default();
                let mut observers: Vec<&mut dyn Observer> = Vec::new();
                observers.extend(
                    covered
                        .as_mut()
                        .map(|observer| observer as &mut dyn Observer),
                );
                observers.extend(timed.as_mut().map(|timed| timed as &mut dyn Observer));
                let is_watched = !observers.is_empty();
                let mut observers = Observers(observers);
                let mut search_options = SearchOptions::default();
                search_options.observer = is_watched.then_some(&mut observers as &mut dyn Observer);
                search_options.instruments = metrics.map(|_| &instruments);
                let result = search(request, search_options);
                if let Some(metrics) = metrics {
                    metrics.instruments(&instruments);
                }
                Ok((result, covered.take(), timed.take()))
            })?;
        if let (Some(coverage), Some(covered_lines)) = (&mut coverage, covered) {
            **coverage = covered_lines;
        }
        if let (Some(profile), Some(timed)) = (&mut profile, timed) {
            **profile = timed;
        }
        result.map_err(|error| from_engine(py, &error))
    }

    /// Calls `run` with the request in the form that the engine expects.
    fn given<R: Send>(
        &self,
        options: &Options,
        py: Python<'_>,
        estimate: &LatencyEstimate,
        run: impl FnOnce(&EngineRequest<'_>) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        let is_large = self.input.is_large();
        let outcome = estimate.run(py, is_large, options.cancel.as_ref(), |cancel, hook| {
            let print = |line: &str| {
                if let Some(print) = &options.print {
                    print_line(print, line, cancel);
                }
            };
            let cached = options.nd_cache.as_ref();
            let cache =
                cached.map(|(_, cached_results)| NdBuiltinCache::from_value(cached_results));
            let response = options
                .response
                .as_ref()
                .map(|_| ResponseMetadata::default());
            let send_metrics = SendMetrics::default();
            let mut request = self.input.put(EngineRequest::new());
            request = request.cancel(cancel).on_poll(hook);
            request = request.strict_builtin_errors(self.strict);
            if let Some(snapshot) = &options.snapshot {
                request = request.snapshot(snapshot);
            }
            if let Some(limits) = &options.limits {
                request = request.limits(limits);
            }
            if options.print.is_some() {
                request = request.print(&print);
            }
            if let Some(cache) = &cache {
                request = request.nd_builtin_cache(cache);
            }
            if let Some(metadata) = &options.metadata {
                request = request.metadata(metadata);
            }
            if let Some(response) = &response {
                request = request.response_metadata(response);
            }
            let metrics = options.metrics.as_ref().map(|metrics| metrics.get());
            if metrics.is_some() {
                request = request.send_metrics(&send_metrics);
            }
            let result = match metrics {
                Some(metrics) => metrics.evaluation(&send_metrics, || run(&request)),
                None => run(&request),
            };
            Outcome {
                answer: result,
                nd_cache: cache.map(|cache| cache.to_value()),
                response_metadata: response.map(|response| response.to_value()),
            }
        })?;
        for (dict, value) in [
            (
                options.nd_cache.as_ref().map(|(dict, _)| dict),
                outcome.nd_cache,
            ),
            (options.response.as_ref(), outcome.response_metadata),
        ] {
            if let (Some(dict), Some(value)) = (dict, value) {
                let update = to_python(py, &value, self.settings)?;
                dict.bind(py).update(update.cast::<PyMapping>()?)?;
            }
        }
        outcome.answer.map_err(|error| from_engine(py, &error))
    }
}

impl Options {
    fn set(
        &mut self,
        name: &str,
        value: &Bound<'_, PyAny>,
        limits: &Limits,
        settings: Settings,
    ) -> PyResult<()> {
        match name {
            "snapshot" => self.snapshot = Some(value.cast::<Snapshot>()?.get().snapshot.clone()),
            "time_limit" => {
                let time = seconds("time_limit", value.extract()?)?;
                self.limits = Some(self.bounds(limits).time(Some(time)));
            }
            "step_limit" => {
                self.limits = Some(self.bounds(limits).steps(Some(value.extract()?)));
            }
            "memory_limit" => {
                self.limits = Some(self.bounds(limits).memory(Some(value.extract()?)));
            }
            "explanation_limit" => {
                let bytes = Some(value.extract()?);
                self.limits = Some(self.bounds(limits).explanation(bytes));
            }
            "cancel" => self.cancel = Some(value.cast::<Cancel>()?.get().handle.clone()),
            "print" => {
                if !value.is_callable() {
                    return Err(PyTypeError::new_err("print must be callable"));
                }
                self.print = Some(value.clone().unbind());
            }
            "nd_cache" => {
                let cache = value.cast::<PyDict>()?;
                let cached_results = from_python(value, settings)?;
                self.nd_cache = Some((cache.clone().unbind(), cached_results));
            }
            "metadata" => {
                value.cast::<PyMapping>()?;
                self.metadata = Some(from_python(value, settings)?);
            }
            "response_metadata" => {
                self.response = Some(value.cast::<PyDict>()?.clone().unbind());
            }
            "metrics" => self.metrics = Some(value.cast::<Metrics>()?.clone().unbind()),
            "coverage" => self.coverage = Some(value.cast::<Coverage>()?.clone().unbind()),
            "profile" => self.profile = Some(value.cast::<Profile>()?.clone().unbind()),
            other => {
                let message = format!("unexpected keyword argument '{other}'");
                return Err(PyTypeError::new_err(message));
            }
        }
        Ok(())
    }

    /// Returns the limits of the call, with `usual` as defaults.
    fn bounds(&mut self, usual: &Limits) -> Limits {
        self.limits.take().unwrap_or_else(|| usual.clone())
    }

    fn is_traced(&self) -> bool {
        let is_instrumented = |metrics: &Py<Metrics>| metrics.get().is_instrumented();
        self.coverage.is_some()
            || self.profile.is_some()
            || self.metrics.as_ref().is_some_and(is_instrumented)
    }
}

/// Calls a function with a line that a policy printed. An exception ends the evaluation.
fn print_line(print: &Py<PyAny>, line: &str, cancel: &EngineCancel) {
    let print_line = || Python::try_attach(|py| print.call1(py, (line,)).map(drop));
    if let Some(Err(error)) = stack::on_own(print_line).flatten() {
        raise(error);
        cancel.cancel();
    }
}
