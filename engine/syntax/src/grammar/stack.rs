//! Enough stack for deeply nested text.
//!
//! The grammar recurses once per bracket, and only there. How deep that goes is known from the tokens, so that text
//! nested deeper than hardly any policy is read on a thread of its own, and callers may have small stacks.

use std::thread;

use crate::lexer::Lexed;
use crate::source::{Code, Diagnostic, Diagnostics, Source, Span};

/// Brackets in brackets that are read on the caller's stack, with at most 200 KiB of it.
const SHALLOW: u32 = if cfg!(debug_assertions) { 8 } else { 32 };

/// Stack for [`ParseOptions::NESTING`](crate::ParseOptions::NESTING) levels of the hungriest kind.
const STACK: usize = if cfg!(debug_assertions) {
    16 << 20
} else {
    4 << 20
};

/// Runs a parse where it has the stack that the text needs.
pub(super) fn provide<T: Send>(
    source: &Source,
    lexed: &Lexed,
    parse: impl FnOnce() -> Result<T, Diagnostics> + Send,
) -> Result<T, Diagnostics> {
    if lexed.nesting <= SHALLOW {
        return parse();
    }
    let refuse =
        |message| Err(Diagnostic::at(Code::Parse, source, Span::default(), message).into());
    thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(STACK);
        match builder
            .spawn_scoped(scope, parse)
            .map(thread::ScopedJoinHandle::join)
        {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => refuse("the parser failed"),
            Err(_) => refuse("no stack for text nested this deep"),
        }
    })
}
