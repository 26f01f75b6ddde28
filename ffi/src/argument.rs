//! Validates the arguments of the C functions and writes their outputs.

use std::ffi::{CStr, c_char};
use std::mem::{MaybeUninit, size_of};
use std::ptr::NonNull;
use std::slice;

use ::engine::store::Path;
use ::engine::{InputError, Limits, Request, Value, Version, json, yaml};

use crate::error::{Error, SOLON_ERROR_ARGUMENT, SOLON_ERROR_INPUT};
use crate::guard::guard_or;
use crate::options::{Rego, SOLON_REGO_DEFAULT, SOLON_REGO_V0, SOLON_REGO_V1};

/// Validates the arguments of a C function: `arguments!(handle(engine), path(path, path_length), output(out))` calls the
/// functions of this module with the names of the arguments, and returns the first error.
///
/// Only for functions that C calls, because their callers uphold the contract of the header.
macro_rules! arguments {
    ($kind:ident($name:ident $(, $length:ident)*)) => {
        // SAFETY: the caller upholds the contract of the header
        unsafe { $crate::argument::$kind($name $(, $length)*, stringify!($name)) }?
    };
    ($($kind:ident($name:ident $(, $length:ident)*)),+ $(,)?) => {
        ($(arguments!($kind($name $(, $length)*))),+)
    };
}
pub(crate) use arguments;

/// Returns a shared reference to the object of a handle, or an error for NULL.
///
/// # Safety
/// `pointer` is NULL or a live handle.
pub(crate) unsafe fn handle<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, Error> {
    // SAFETY: by this function's contract
    unsafe { pointer.as_ref() }.ok_or_else(|| null(name))
}

/// Returns an exclusive reference to the object of a handle, or an error for NULL.
///
/// # Safety
/// `pointer` is NULL or a live handle that nothing else uses during the call.
pub(crate) unsafe fn handle_mut<'a, T>(pointer: *mut T, name: &str) -> Result<&'a mut T, Error> {
    // SAFETY: by this function's contract
    unsafe { pointer.as_mut() }.ok_or_else(|| null(name))
}

/// Returns `length` contiguous elements, or an empty slice for NULL with length 0.
///
/// # Safety
/// `pointer` is NULL or the start of `length` elements that are not written to during the call.
pub(crate) unsafe fn list<'a, T>(
    pointer: *const T,
    length: usize,
    name: &str,
) -> Result<&'a [T], Error> {
    let bytes = length.checked_mul(size_of::<T>());
    if bytes.is_none_or(|bytes| isize::try_from(bytes).is_err()) {
        let message = format!("`{name}` is longer than the address space");
        return Err(argument_error(message));
    }
    if pointer.is_null() {
        return if length == 0 {
            Ok(&[])
        } else {
            Err(null(name))
        };
    }
    if !pointer.is_aligned() {
        return Err(argument_error(format!("`{name}` is not aligned")));
    }
    // SAFETY: not NULL, aligned, of a possible length, and the rest by this function's contract
    Ok(unsafe { slice::from_raw_parts(pointer, length) })
}

/// Returns references to the objects of a list of handles.
///
/// # Safety
/// See [`list`] for the list, and [`handle`] for each element.
pub(crate) unsafe fn handles<'a, T>(
    pointer: *const *const T,
    length: usize,
    name: &str,
) -> Result<Vec<&'a T>, Error> {
    // SAFETY: by this function's contract
    let pointers = unsafe { list(pointer, length, name) }?;
    let handles = pointers.iter().enumerate().map(|(index, pointer)| {
        // SAFETY: by this function's contract
        unsafe { pointer.as_ref() }.ok_or_else(|| null(&format!("{name}[{index}]")))
    });
    handles.collect()
}

/// Length of text that ends in NUL.
pub(crate) const TERMINATED: usize = usize::MAX;

/// Returns bytes that are not text, or `None` for NULL. The length [`TERMINATED`] is rejected: such bytes may contain NUL.
///
/// # Safety
/// `pointer` is NULL or the start of `length` bytes that are not written to during the call.
pub(crate) unsafe fn binary<'a>(
    pointer: *const c_char,
    length: usize,
    name: &str,
) -> Result<Option<&'a [u8]>, Error> {
    // SAFETY: by this function's contract
    let bytes = unsafe { list(pointer.cast::<u8>(), length, name) }?;
    Ok((!pointer.is_null()).then_some(bytes))
}

/// Returns the bytes of a text, or `None` for NULL. The length [`TERMINATED`] is that of the text up to its first NUL, which costs
/// a pass over the text.
///
/// # Safety
/// `pointer` is NULL, or the start of `length` bytes that are not written to during the call. If the length is [`TERMINATED`],
/// one of the bytes from `pointer` on is NUL.
pub(crate) unsafe fn bytes<'a>(
    pointer: *const c_char,
    length: usize,
    name: &str,
) -> Result<Option<&'a [u8]>, Error> {
    if length != TERMINATED {
        // SAFETY: by this function's contract
        return unsafe { binary(pointer, length, name) };
    }
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: not NULL, and it ends in NUL by this function's contract
    Ok(Some(unsafe { CStr::from_ptr(pointer) }.to_bytes()))
}

/// Returns text; NULL with length 0 or [`TERMINATED`] is the empty text.
///
/// # Safety
/// See [`bytes`].
pub(crate) unsafe fn text<'a>(
    pointer: *const c_char,
    length: usize,
    name: &str,
) -> Result<&'a str, Error> {
    // SAFETY: by this function's contract
    let bytes = unsafe { bytes(pointer, length, name) }?.unwrap_or_default();
    std::str::from_utf8(bytes).map_err(|error| {
        argument_error(format!(
            "`{name}` is not UTF-8 from byte {} on",
            error.valid_up_to()
        ))
    })
}

/// Returns text, or `None` for NULL.
///
/// # Safety
/// See [`bytes`].
pub(crate) unsafe fn optional_text<'a>(
    pointer: *const c_char,
    length: usize,
    name: &str,
) -> Result<Option<&'a str>, Error> {
    // SAFETY: by this function's contract
    let text = unsafe { text(pointer, length, name) }?;
    Ok((!pointer.is_null()).then_some(text))
}

/// Returns the path of a document, which is named `data.authz.allow` or `authz/allow`.
///
/// # Safety
/// See [`bytes`].
pub(crate) unsafe fn path(
    pointer: *const c_char,
    length: usize,
    name: &str,
) -> Result<Path, Error> {
    // SAFETY: by this function's contract
    let document = unsafe { text(pointer, length, name) }?;
    Ok(document.parse::<Path>().map_err(::engine::Error::from)?)
}

/// Parses a value from JSON text. NULL is treated as an empty text.
///
/// # Safety
/// See [`bytes`].
pub(crate) unsafe fn value(
    pointer: *const c_char,
    length: usize,
    name: &str,
) -> Result<Value, Error> {
    // SAFETY: by this function's contract
    let text = unsafe { bytes(pointer, length, name) }?.unwrap_or_default();
    if text.is_empty() {
        let message = format!("`{name}` is empty: expected JSON text");
        return Err(::engine::Error::Input(InputError::new(message)).into());
    }
    Ok(json::read(text).map_err(::engine::Error::from)?)
}

/// Parses a value from YAML text; NULL is the empty text.
///
/// # Safety
/// See [`bytes`].
pub(crate) unsafe fn yaml_value(
    pointer: *const c_char,
    length: usize,
    name: &str,
) -> Result<Value, Error> {
    // SAFETY: by this function's contract
    let text = unsafe { bytes(pointer, length, name) }?.unwrap_or_default();
    yaml::read(text).map_err(|error| Error::new(SOLON_ERROR_INPUT, error.to_string()))
}

/// Parses a JSON array of strings; `None` for NULL.
///
/// # Safety
/// See [`bytes`].
pub(crate) unsafe fn strings(
    pointer: *const c_char,
    length: usize,
    name: &str,
) -> Result<Option<Vec<String>>, Error> {
    // SAFETY: by this function's contract
    let Some(text) = unsafe { bytes(pointer, length, name) }? else {
        return Ok(None);
    };
    let strings = serde_json::from_slice(text);
    strings.map(Some).map_err(|error| {
        let message = format!("`{name}` is no array of strings: {error}");
        Error::new(SOLON_ERROR_INPUT, message)
    })
}

/// Returns a request whose input is JSON text; NULL leaves `input` undefined.
///
/// # Safety
/// See [`bytes`].
pub(crate) unsafe fn request<'a>(
    pointer: *const c_char,
    length: usize,
    name: &str,
) -> Result<Request<'a>, Error> {
    // SAFETY: by this function's contract
    let input = unsafe { bytes(pointer, length, name) }?;
    Ok(match input {
        Some(text) => Request::new().input_json(text),
        None => Request::new(),
    })
}

/// Structures whose first field is their size. Later versions only append fields; fields that an older program does not know are
/// zero.
///
/// # Safety
/// The first field is a `usize`, and all bytes zero is a value of the type.
pub(crate) unsafe trait Extensible: Copy {
    /// Returns the structure with all defaults.
    fn zero() -> Self {
        // SAFETY: all bytes zero is a value, by the contract of the trait
        unsafe { MaybeUninit::zeroed().assume_init() }
    }
}

/// Largest accepted size of a structure; a larger one is an uninitialized field.
const LARGEST: usize = 1 << 12;

/// Reads a structure that begins with its size, up to the fields that this version knows; NULL is the structure with all
/// defaults.
///
/// # Safety
/// `pointer` is NULL or points to as many bytes as its first field says.
pub(crate) unsafe fn extensible<T: Extensible>(pointer: *const T, name: &str) -> Result<T, Error> {
    if pointer.is_null() {
        return Ok(T::zero());
    }
    // SAFETY: by this function's contract, and the first field is a size by that of the trait
    let size = unsafe { pointer.cast::<usize>().read_unaligned() };
    if !(size_of::<usize>()..=LARGEST).contains(&size) {
        let message = format!("`{name}->size` is {size}: it must be the size of the structure");
        return Err(argument_error(message));
    }
    // SAFETY: by this function's contract
    let bytes = unsafe { slice::from_raw_parts(pointer.cast::<u8>(), size) };
    let (known_bytes, unknown_bytes) = bytes.split_at(size.min(size_of::<T>()));
    if unknown_bytes.iter().any(|byte| *byte != 0) {
        let message = format!("`{name}` sets what this version of the library does not know");
        return Err(argument_error(message));
    }
    let mut full = MaybeUninit::<T>::zeroed();
    // SAFETY: `known_bytes` is not longer than the type, and the bytes after it may be zero
    Ok(unsafe {
        let start = full.as_mut_ptr().cast::<u8>();
        start.copy_from_nonoverlapping(known_bytes.as_ptr(), known_bytes.len());
        full.assume_init()
    })
}

/// Returns the Rego version of a constant; `None` is the default.
pub(crate) fn rego(constant: Rego) -> Result<Option<Version>, Error> {
    match constant {
        SOLON_REGO_DEFAULT => Ok(None),
        SOLON_REGO_V0 => Ok(Some(Version::V0)),
        SOLON_REGO_V1 => Ok(Some(Version::V1)),
        other => Err(argument_error(format!(
            "`rego` is {other}: it must be one of SOLON_REGO_…"
        ))),
    }
}

/// Limits as structures pass them: 0 keeps a limit, `UINT64_MAX` removes it.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub time_ns: u64,
    pub steps: u64,
    pub memory: u64,
    pub explanation: u64,
}

impl Bounds {
    pub fn apply_to(self, usual: &Limits) -> Limits {
        let choose = |requested: u64, usual: Option<u64>| match requested {
            0 => usual,
            u64::MAX => None,
            explicit => Some(explicit),
        };
        let bytes = |requested: u64, usual: Option<usize>| {
            let limit = choose(requested, usual.map(|bytes| bytes as u64));
            limit.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
        };
        let time = usual.time.map(|time| {
            // more than five centuries of nanoseconds do not fit, and are unlimited in practice
            u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
        });
        let time = choose(self.time_ns, time);
        Limits::default()
            .time(time.map(std::time::Duration::from_nanos))
            .steps(choose(self.steps, usual.steps))
            .memory(bytes(self.memory, usual.memory))
            .explanation(bytes(self.explanation, usual.explanation))
    }

    pub fn is_usual(self) -> bool {
        (self.time_ns, self.steps, self.memory, self.explanation) == (0, 0, 0, 0)
    }
}

/// Frees the object of a handle; does nothing for NULL.
///
/// # Safety
/// `pointer` is NULL, or a handle that was created from a `Box` and that is not used any more.
pub(crate) unsafe fn free<T>(pointer: *mut T) {
    guard_or((), || {
        if !pointer.is_null() {
            // SAFETY: by this function's contract
            drop(unsafe { Box::from_raw(pointer) });
        }
    });
}

/// Checked output pointer.
pub(crate) struct Output<T>(NonNull<T>);

/// Checks an output pointer. Called before the work that produces the output, so that NULL fails first.
///
/// # Safety
/// `pointer` is NULL, or writable by this call until it returns.
pub(crate) unsafe fn output<T>(pointer: *mut T, name: &str) -> Result<Output<T>, Error> {
    NonNull::new(pointer).map(Output).ok_or_else(|| null(name))
}

impl<T> Output<T> {
    pub fn write(self, value: T) {
        // SAFETY: not NULL, and writable by the contract of `output`
        unsafe { self.0.write(value) };
    }
}

impl<T> Output<*mut T> {
    /// Writes a handle that the caller owns.
    pub fn give(self, value: T) {
        self.write(Box::into_raw(Box::new(value)));
    }
}

pub(crate) fn null(name: &str) -> Error {
    argument_error(format!("`{name}` is NULL"))
}

pub(crate) fn argument_error(message: impl Into<String>) -> Error {
    Error::new(SOLON_ERROR_ARGUMENT, message.into())
}
