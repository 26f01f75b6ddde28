//! Host functions, which policies call like built-in functions.

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

/// Purity of a function: one of `SOLON_FUNCTION_…`.
pub type Purity = i32;

/// The result depends only on the arguments. An evaluation calls the function once for the same arguments.
pub const SOLON_FUNCTION_PURE: Purity = 0;
/// The result may differ from call to call.
pub const SOLON_FUNCTION_IMPURE: Purity = 1;
/// The function waits for external I/O, and its result may differ from call to call.
pub const SOLON_FUNCTION_WAITING: Purity = 2;

/// A function that policies may call. It may be freed after the engines that use it are created: they keep what they need of it.
pub struct Function(pub(crate) HostFunction);

/// A call of a function. It is valid until the call returns, on the thread of the call.
pub struct Call {
    metadata: *const Value,
    response_metadata: Vec<(String, EngineValue)>,
    failure: Option<Failure>,
}

struct Failure {
    message: String,
    ends: bool,
}

/// Body of a function. It is called on evaluating threads, several at once. It may call the library, evaluate the same engine and
/// change it.
///
/// The arguments are valid until the call returns. The result is an owned value that passes to the library (`solon_value_clone`
/// copies an argument), or NULL for undefined. The body must return: no `longjmp` and no exception may leave it.
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

/// A C function with its userdata, which is released when the function cannot be called any more.
struct Body {
    name: String,
    call: unsafe extern "C" fn(*mut c_void, *mut Call, *const *const Value, usize) -> *mut Value,
    userdata: *mut c_void,
    release: FunctionRelease,
    /// `true` if the library must release the userdata. `false` until the function is created.
    is_owned: AtomicBool,
}

// SAFETY: the contract of the header says that functions are called on several threads
unsafe impl Send for Body {}
// SAFETY: see above
unsafe impl Sync for Body {}

impl Drop for Body {
    fn drop(&mut self) {
        if let Some(release) = self.release
            && *self.is_owned.get_mut()
        {
            // SAFETY: `userdata` is the argument that the function was registered with
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
        let pointers: Vec<*const Value> = arguments.iter().map(Value::handle_of).collect();
        let mut call = Call {
            metadata: context.metadata().map_or(ptr::null(), Value::handle_of),
            response_metadata: Vec::new(),
            failure: None,
        };
        // SAFETY: the arguments have the types of the function; pointers are valid until the call returns
        let result = unsafe {
            (self.call)(
                self.userdata,
                &raw mut call,
                pointers.as_ptr(),
                pointers.len(),
            )
        };
        // SAFETY: NULL, or an owned value that passes to the library, by the contract of the header
        let result = (!result.is_null()).then(|| unsafe { Box::from_raw(result) });
        for (name, value) in call.response_metadata {
            context.set_response_metadata(&name, value);
        }
        match (call.failure, result) {
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
            (None, Some(value)) => Ok(context.value(&value.0)),
            (None, None) => Err(BuiltinError::Undefined),
        }
    }
}

/// Creates a function that policies may call by a name, which may contain dots. Its type is declared in the JSON format of
/// capabilities, so that policies that misuse it do not compile: `{"type": "function", "args": [{"type": "string"}], "result":
/// {"type": "boolean"}}`.
///
/// `purity` is one of `SOLON_FUNCTION_…`. `userdata` is the first argument of `body`.
///
/// Unless `release` is NULL, it is called once with `userdata`, when neither the function nor an engine with it exists any more.
/// A thread keeps the last evaluated engine until it evaluates another engine, ends, or calls `solon_release_memory`. On an error
/// `release` is not called.
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
            return Err(argument::argument_error("`name` is empty"));
        }
        let call = body.ok_or_else(|| argument::null("body"))?;
        let body = Arc::new(Body {
            name: name.to_owned(),
            call,
            userdata,
            release,
            is_owned: AtomicBool::new(false),
        });
        let shared_body = Arc::clone(&body);
        let function = HostFunction::from_declaration(
            name,
            declaration.as_bytes(),
            move |context, operands| shared_body.answer(context, operands),
        );
        let function = function.map_err(|error| {
            Error::new(SOLON_ERROR_OPTIONS, format!("function `{name}`: {error}"))
        })?;
        let function = match purity {
            SOLON_FUNCTION_PURE => function,
            SOLON_FUNCTION_IMPURE => function.without_memo(),
            SOLON_FUNCTION_WAITING => function.without_memo().waiting(),
            other => {
                let message = format!("`purity` is {other}: it must be one of SOLON_FUNCTION_…");
                return Err(argument::argument_error(message));
            }
        };
        body.is_owned.store(true, Ordering::Relaxed);
        out.give(Function(function));
        Ok(())
    })
}

/// Frees a function; does nothing for NULL. Engines that were created with it keep what they need of it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_function_free(function: *mut Function) {
    // SAFETY: `solon_function_new` created it from a `Box`, and the caller frees it once
    unsafe { argument::free(function) };
}

/// Fails the call. The result is undefined, or the evaluation fails if errors of built-in functions are strict. The returned
/// value of the function is ignored.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_call_fail(
    call: *mut Call,
    message: *const c_char,
    message_length: usize,
) -> *mut Error {
    // SAFETY: the caller upholds the contract of the header
    unsafe { fail(call, message, message_length, false) }
}

/// Fails the evaluation, strict or not.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_call_halt(
    call: *mut Call,
    message: *const c_char,
    message_length: usize,
) -> *mut Error {
    // SAFETY: the caller upholds the contract of the header
    unsafe { fail(call, message, message_length, true) }
}

/// # Safety
/// Same contract as the exported C functions.
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

/// Returns the metadata of the request, an object; NULL if there is none, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_call_metadata(call: *const Call) -> *const Value {
    guard_or(ptr::null(), || {
        // SAFETY: the caller upholds the contract of the header
        unsafe { call.as_ref() }.map_or(ptr::null(), |call| call.metadata)
    })
}

/// Adds a field to the response metadata, which `solon_metadata` returns by name. The caller keeps the value.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_call_add_response_metadata(
    call: *mut Call,
    name: *const c_char,
    name_length: usize,
    value: *const Value,
) -> *mut Error {
    guard(|| {
        let (call, name, value) =
            arguments!(handle_mut(call), text(name, name_length), handle(value),);
        call.response_metadata
            .push((name.to_owned(), value.0.clone()));
        Ok(())
    })
}
