//! Functions of the host, which policies call like built-ins.

use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ::engine::{
    BuiltinContext, BuiltinError, EvalErrorCode, HostFunction, Value as EngineValue, ValueRef,
};

use crate::argument::{self, arguments};
use crate::error::{Error, SOLON_ERROR_OPTIONS};
use crate::guard::{guard, guard_or};
use crate::value::Value;

/// What the result of a function depends on: one of `SOLON_FUNCTION_…`.
pub type Purity = i32;

/// It answers the same for the same arguments: one evaluation asks it only once for them.
pub const SOLON_FUNCTION_PURE: Purity = 0;
/// It may answer otherwise each time.
pub const SOLON_FUNCTION_IMPURE: Purity = 1;
/// It waits for the outside, and may answer otherwise each time.
pub const SOLON_FUNCTION_WAITING: Purity = 2;

/// A function that policies may call. Engines keep what they need of it, so it may be freed when they are made.
pub struct Function(pub(crate) HostFunction);

/// A call of a function. It lives as long as the call, on the thread of the call.
pub struct Call {
    metadata: *const Value,
    told: Vec<(String, EngineValue)>,
    failure: Option<Failure>,
}

struct Failure {
    message: String,
    ends: bool,
}

/// What a function does. It is called on the evaluating threads, several at once, and may call the library itself: ask
/// the same engine, and change it.
///
/// The arguments live as long as the call. The answer is a value of its own, which passes to the library
/// (`solon_value_clone` makes one of an argument), or NULL for undefined. It must return: no `longjmp` and no exception
/// may leave it.
pub type FunctionBody = Option<
    unsafe extern "C" fn(
        userdata: *mut c_void,
        call: *mut Call,
        arguments: *const *const Value,
        argument_count: usize,
    ) -> *mut Value,
>;

/// Frees the userdata of a function.
pub type FunctionRelease = Option<unsafe extern "C" fn(userdata: *mut c_void)>;

/// A function of C with its userdata, which is released when nobody can call it any more.
struct Body {
    name: String,
    call: unsafe extern "C" fn(*mut c_void, *mut Call, *const *const Value, usize) -> *mut Value,
    userdata: *mut c_void,
    release: FunctionRelease,
    /// Whether the userdata is the library's to release: not before the function was made.
    is_owned: AtomicBool,
}

// SAFETY: the rules of the header say that functions are called on several threads
unsafe impl Send for Body {}
// SAFETY: likewise
unsafe impl Sync for Body {}

impl Drop for Body {
    fn drop(&mut self) {
        if let Some(release) = self.release
            && *self.is_owned.get_mut()
        {
            // SAFETY: the function takes the userdata that it was given with
            unsafe { release(self.userdata) };
        }
    }
}

impl Body {
    fn answer<'e>(
        &self,
        context: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        let arguments: Vec<EngineValue> =
            operands.iter().map(|operand| operand.to_value()).collect();
        let pointers: Vec<*const Value> = arguments.iter().map(Value::within).collect();
        let mut call = Call {
            metadata: context.metadata().map_or(ptr::null(), Value::within),
            told: Vec::new(),
            failure: None,
        };
        // SAFETY: the function takes what its type says; pointers live until the call has ended
        let answer = unsafe {
            (self.call)(
                self.userdata,
                &raw mut call,
                pointers.as_ptr(),
                pointers.len(),
            )
        };
        // SAFETY: NULL, or a value of its own that passes to the library, by the rules
        let answer = (!answer.is_null()).then(|| unsafe { Box::from_raw(answer) });
        for (name, value) in call.told {
            context.set_response_metadata(&name, value);
        }
        match (call.failure, answer) {
            (
                Some(Failure {
                    message,
                    ends: true,
                }),
                _,
            ) => Err(BuiltinError::halt(
                EvalErrorCode::Builtin,
                format!("{}: {message}", self.name),
            )),
            (Some(failure), _) => Err(BuiltinError::error(failure.message)),
            (None, Some(value)) => Ok(context.arena.copy_of(&value.0)),
            (None, None) => Err(BuiltinError::Undefined),
        }
    }
}

/// Makes a function that policies may call by a name, which may have dots. Its type is declared in the JSON form of
/// capabilities, so that policies that misuse it do not compile:
/// `{"type": "function", "args": [{"type": "string"}], "result": {"type": "boolean"}}`.
///
/// `purity` is one of `SOLON_FUNCTION_…`. `userdata` is the first argument of `body`; `release`, unless NULL, is called
/// with it once, when neither the function nor an engine with it is left: a thread keeps what it asked last until it asks
/// another engine, ends, or calls `solon_release_memory`. On an error it is not called.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_function_new(
    name: *const c_char,
    name_length: usize,
    declaration_json: *const c_char,
    declaration_json_length: usize,
    purity: Purity,
    body: FunctionBody,
    userdata: *mut c_void,
    release: FunctionRelease,
    out: *mut *mut Function,
) -> *mut Error {
    guard(|| {
        let (name, declaration, out) = arguments!(
            text(name, name_length),
            text(declaration_json, declaration_json_length),
            output(out),
        );
        if name.is_empty() {
            return Err(argument::refused("`name` is empty"));
        }
        let call = body.ok_or_else(|| argument::null("body"))?;
        let body = Arc::new(Body {
            name: name.to_owned(),
            call,
            userdata,
            release,
            is_owned: AtomicBool::new(false),
        });
        let called = Arc::clone(&body);
        let function = HostFunction::from_declaration(
            name,
            declaration.as_bytes(),
            move |context, operands| called.answer(context, operands),
        );
        let function = function.map_err(|words| {
            Error::new(
                SOLON_ERROR_OPTIONS,
                format!("declaration of `{name}`: {words}"),
            )
        })?;
        let function = match purity {
            SOLON_FUNCTION_PURE => function,
            SOLON_FUNCTION_IMPURE => function.without_memo(),
            SOLON_FUNCTION_WAITING => function.without_memo().waiting(),
            other => {
                let message = format!("`purity` is {other}: it must be one of SOLON_FUNCTION_…");
                return Err(argument::refused(message));
            }
        };
        body.is_owned.store(true, Ordering::Relaxed);
        out.give(Function(function));
        Ok(())
    })
}

/// Frees a function; nothing happens for NULL. Engines that were made with it keep what they need of it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_function_free(function: *mut Function) {
    // SAFETY: `solon_function_new` made it of a box, and the caller frees it once
    unsafe { argument::free(function) };
}

/// Lets the call end with an error: undefined where errors of built-ins are, and the end of the evaluation where they are
/// strict. What the function answers does not count then.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_call_fail(
    call: *mut Call,
    message: *const c_char,
    message_length: usize,
) -> *mut Error {
    // SAFETY: the caller keeps the rules of the header
    unsafe { fail(call, message, message_length, false) }
}

/// Lets the evaluation end with an error, strict or not.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_call_halt(
    call: *mut Call,
    message: *const c_char,
    message_length: usize,
) -> *mut Error {
    // SAFETY: the caller keeps the rules of the header
    unsafe { fail(call, message, message_length, true) }
}

/// # Safety
/// That of the functions of C.
unsafe fn fail(
    call: *mut Call,
    message: *const c_char,
    message_length: usize,
    ends: bool,
) -> *mut Error {
    guard(|| {
        // SAFETY: by this function's contract
        let (call, message) = unsafe {
            (
                argument::handle_mut(call, "call")?,
                argument::text(message, message_length, "message")?,
            )
        };
        let message = message.to_owned();
        call.failure = Some(Failure { message, ends });
        Ok(())
    })
}

/// What the request tells of itself, an object; NULL when there is nothing, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_call_metadata(call: *const Call) -> *const Value {
    guard_or(ptr::null(), || {
        // SAFETY: the caller keeps the rules of the header
        unsafe { call.as_ref() }.map_or(ptr::null(), |call| call.metadata)
    })
}

/// Tells the caller of the evaluation something beside the answer: `solon_metadata` has it under a name. The value stays
/// the caller's.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_call_tell(
    call: *mut Call,
    name: *const c_char,
    name_length: usize,
    value: *const Value,
) -> *mut Error {
    guard(|| {
        let (call, name, value) =
            arguments!(handle_mut(call), text(name, name_length), handle(value),);
        call.told.push((name.to_owned(), value.0.clone()));
        Ok(())
    })
}
