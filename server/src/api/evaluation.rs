//! Common parts of evaluations for requests: cancellation, yielding to other requests, and output of `print`.

use std::cell::RefCell;

use super::call::Call;
use super::state::State;
use crate::http::RequestExt as _;

/// Printed lines, in order.
#[derive(Default)]
pub struct Prints(RefCell<Vec<String>>);

impl Prints {
    pub fn add(&self, line: &str) {
        self.0.borrow_mut().push(line.to_owned());
    }

    /// Returns them as one text, each with a line break.
    pub fn text(&self) -> String {
        let lines = self.0.borrow();
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// Writes them to the log, with the id of the request.
    pub fn log(self, request: &Call<'_>) {
        for line in self.0.into_inner() {
            tracing::info!(req_id = request.info().id, "{line}");
        }
    }
}

/// Evaluates within the remaining time of the request. The evaluation is cancelled when the client disconnects.
pub fn evaluate<R>(
    state: &State,
    request: &Call<'_>,
    eval_request: &solon::Request<'_>,
    run: impl FnOnce(&solon::Request<'_>) -> R,
) -> R {
    let prints = Prints::default();
    let result = evaluate_printing(state, request, eval_request, &prints, run);
    prints.log(request);
    result
}

/// Evaluates as [`evaluate`] does, and adds printed lines to `prints` instead of logging them.
pub fn evaluate_printing<R>(
    state: &State,
    request: &Call<'_>,
    eval_request: &solon::Request<'_>,
    prints: &Prints,
    run: impl FnOnce(&solon::Request<'_>) -> R,
) -> R {
    let print = |line: &str| prints.add(line);
    let poll = || request.context.poll();
    let host_call = |call: &mut dyn FnMut()| request.host_call(call);
    let limits = state.limits_of(request);
    let request = eval_request.print(&print).cancel(&request.info().cancel);
    let request = request.limits(&limits).on_poll(&poll);
    run(&request.around_host_calls(&host_call))
}
