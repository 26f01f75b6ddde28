//! Directives of a format: `%`, flags, width, precision, argument index, verb.

use crate::bug::Within;
use crate::builtins::runes;
use crate::value::array::ArrayView;
use crate::value::{RefRepr, ValueRef};

/// Flags, width and precision.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Spec {
    pub plus: bool,
    pub minus: bool,
    pub sharp: bool,
    pub space: bool,
    pub zero: bool,
    pub width: Option<usize>,
    pub precision: Option<usize>,
}

impl Spec {
    /// Returns `true` if there is nothing except the verb.
    #[inline]
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

pub trait ArgumentSource: Copy {
    type Value: Copy;
    fn len(self) -> usize;
    fn get(self, index: usize) -> Option<Self::Value>;
    /// Returns an argument as a width or a precision.
    fn as_size(value: Self::Value) -> Option<i64>;
}

impl<'e> ArgumentSource for ArrayView<'e> {
    type Value = ValueRef<'e>;

    fn len(self) -> usize {
        self.len()
    }

    fn get(self, index: usize) -> Option<ValueRef<'e>> {
        self.get(index)
    }

    fn as_size(value: ValueRef<'e>) -> Option<i64> {
        match value {
            ValueRef(RefRepr::Int(size)) => Some(size),
            // with a sign, `-0` is an integer
            ValueRef(RefRepr::Number(_) | RefRepr::ArenaNumber(_))
                if value.rego_text().to_string() == "-0" =>
            {
                Some(0)
            }
            _ => None,
        }
    }
}

pub struct FormatDirective<T> {
    pub spec: Spec,
    /// `None` at the end of the format.
    pub verb: Option<char>,
    /// `None` if there are too few arguments.
    pub value: Option<T>,
    pub bad_width: bool,
    pub bad_precision: bool,
    pub bad_index: bool,
}

impl<T> Default for FormatDirective<T> {
    fn default() -> Self {
        Self {
            spec: Spec::default(),
            verb: None,
            value: None,
            bad_width: false,
            bad_precision: false,
            bad_index: false,
        }
    }
}

pub enum FormatItem<'f, T> {
    Text(&'f [u8]),
    Directive(FormatDirective<T>),
}

pub struct FormatParser<'f, A> {
    rest: &'f [u8],
    values: A,
    /// Index of the next argument.
    at: usize,
    /// `true` after an explicit index. Unused arguments are then not reported.
    reordered: bool,
}

/// Maximum width and precision. Larger ones are errors.
const LARGEST: usize = 1_000_000;

/// Parses a short number. Returns `None` if it has many digits.
#[inline]
fn short_number(rest: &mut &[u8]) -> Option<usize> {
    let mut number = 0;
    for _ in 0..4 {
        let [digit @ b'0'..=b'9', after @ ..] = *rest else {
            return Some(number);
        };
        number = number * 10 + usize::from(digit - b'0');
        *rest = after;
    }
    (!rest.first().is_some_and(u8::is_ascii_digit)).then_some(number)
}

impl<'f, A: ArgumentSource> FormatParser<'f, A> {
    pub fn new(format: &'f [u8], values: A) -> Self {
        Self {
            rest: format,
            values,
            at: 0,
            reordered: false,
        }
    }

    /// Returns the unused arguments, unless an explicit index occurred.
    pub fn unused(&self) -> Option<impl Iterator<Item = A::Value> + use<'f, A>> {
        let (values, next) = (self.values, self.at);
        let unused = !self.reordered && next < values.len();
        unused.then(|| (next..values.len()).filter_map(move |index| values.get(index)))
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn eat(&mut self, byte: u8) -> bool {
        let matches = self.rest.first() == Some(&byte);
        self.skip(usize::from(matches));
        matches
    }

    /// Fast path for directives with at most a leading zero, a short width and a short precision.
    #[inline]
    fn plain(&mut self) -> Option<FormatDirective<A::Value>> {
        let mut rest = self.rest;
        let mut spec = Spec::default();
        if let [b'0', after @ ..] = rest {
            spec.zero = true;
            rest = after;
        }
        if let Some(b'1'..=b'9') = rest.first() {
            spec.width = Some(short_number(&mut rest)?);
        }
        if let [b'.', after @ ..] = rest {
            rest = after;
            spec.precision = Some(short_number(&mut rest)?);
        }
        let [verb @ (b'a'..=b'z' | b'A'..=b'Z'), after @ ..] = rest else {
            return None;
        };
        self.rest = after;
        let value = self.values.get(self.at);
        self.at += usize::from(value.is_some());
        Some(FormatDirective {
            spec,
            verb: Some(char::from(*verb)),
            value,
            ..FormatDirective::default()
        })
    }

    fn directive(&mut self) -> FormatDirective<A::Value> {
        let mut parsed = FormatDirective::default();
        let spec = &mut parsed.spec;
        loop {
            match self.rest.first() {
                Some(b'#') => spec.sharp = true,
                Some(b'0') => spec.zero = true,
                Some(b'+') => spec.plus = true,
                Some(b'-') => spec.minus = true,
                Some(b' ') => spec.space = true,
                _ => break,
            }
            self.skip(1);
        }
        let mut indexed = self.index(&mut parsed.bad_index);
        let spec = &mut parsed.spec;
        if self.eat(b'*') {
            match self.next_int() {
                Some(width) => {
                    spec.minus |= width < 0;
                    spec.zero &= width >= 0;
                    spec.width = usize::try_from(width.unsigned_abs()).ok();
                }
                None => parsed.bad_width = true,
            }
            indexed = false;
        } else {
            spec.width = self.digits();
            parsed.bad_index |= indexed && spec.width.is_some();
        }
        // a point at the very end is a verb
        if self.rest.len() > 1 && self.eat(b'.') {
            parsed.bad_index |= indexed;
            indexed = self.index(&mut parsed.bad_index);
            if self.eat(b'*') {
                let precision = self.next_int().and_then(|n| usize::try_from(n).ok());
                parsed.bad_precision = precision.is_none();
                parsed.spec.precision = precision;
                indexed = false;
            } else {
                parsed.spec.precision = Some(self.digits().unwrap_or(0));
            }
        }
        if !indexed {
            self.index(&mut parsed.bad_index);
        }
        let Some((verb, width)) = runes::first(self.rest) else {
            return parsed;
        };
        self.skip(width);
        parsed.verb = Some(verb);
        if verb != '%' && !parsed.bad_index {
            parsed.value = self.values.get(self.at);
            self.at += usize::from(parsed.value.is_some());
        }
        parsed
    }

    /// Returns the argument for a `*`. It is consumed even if it is not a valid number.
    fn next_int(&mut self) -> Option<i64> {
        let value = self.values.get(self.at)?;
        self.at += 1;
        let small = |size: &i64| usize::try_from(size.unsigned_abs()).is_ok_and(|n| n <= LARGEST);
        A::as_size(value).filter(small)
    }

    fn digits(&mut self) -> Option<usize> {
        let mut number = None;
        while let Some(digit @ b'0'..=b'9') = self.rest.first() {
            let before = number.unwrap_or(0);
            if before > LARGEST {
                self.rest = &[];
                return None;
            }
            number = Some(before * 10 + usize::from(digit - b'0'));
            self.skip(1);
        }
        number
    }

    /// Parses `[n]`, the index of the next argument. Returns `true` if there was a valid one.
    fn index(&mut self, bad: &mut bool) -> bool {
        if self.rest.first() != Some(&b'[') {
            return false;
        }
        self.reordered = true;
        let end = self.rest.iter().position(|byte| *byte == b']');
        let Some(end) = end.filter(|_| self.rest.len() >= 3) else {
            *bad = true;
            self.skip(1);
            return false;
        };
        let inner = self.rest.within(1..end);
        self.skip(end + 1);
        let mut number = FormatParser {
            rest: inner,
            ..*self
        };
        let index = number.digits().filter(|_| number.rest.is_empty());
        // a missing number is an error, in contrast to a number without an argument
        let sound = index.is_some() && !inner.is_empty();
        match index.and_then(|index| index.checked_sub(1)) {
            Some(index) if index < self.values.len() => self.at = index,
            _ => *bad = true,
        }
        sound
    }
}

impl<'f, A: ArgumentSource> FormatParser<'f, A> {
    pub fn next(&mut self) -> Option<FormatItem<'f, A::Value>> {
        if self.rest.is_empty() {
            return None;
        }
        let length = memchr::memchr(b'%', self.rest).unwrap_or(self.rest.len());
        if length > 0 {
            let (text, rest) = self.rest.split_at(length);
            self.rest = rest;
            return Some(FormatItem::Text(text));
        }
        self.skip(1);
        Some(FormatItem::Directive(
            self.plain().unwrap_or_else(|| self.directive()),
        ))
    }
}
