//! Serialization of Rust types to values.

use serde::Serialize;
use serde::ser::{self, Serializer};
use solon_syntax::stack;

use super::ConvertError;
use super::serialize::json_text;
use crate::limits;
use crate::value::{NumberBuf, Repr, Value};

type ConvertResult = Result<Value, ConvertError>;

#[derive(Clone, Copy, Default)]
pub(super) struct ToValue {
    depth: usize,
}

impl ToValue {
    /// Returns the serializer for the members of a collection, one level deeper.
    fn deeper(self) -> Result<Self, ConvertError> {
        if self.depth >= limits::VALUE_NESTING {
            return Err(ConvertError::too_deep());
        }
        Ok(Self {
            depth: self.depth + 1,
        })
    }
}

impl Serializer for ToValue {
    type Ok = Value;
    type Error = ConvertError;
    type SerializeSeq = SerializeList;
    type SerializeTuple = SerializeList;
    type SerializeTupleStruct = SerializeList;
    type SerializeTupleVariant = SerializeList;
    type SerializeMap = SerializeEntries;
    type SerializeStruct = SerializeEntries;
    type SerializeStructVariant = SerializeEntries;

    fn serialize_bool(self, b: bool) -> ConvertResult {
        Ok(Value(Repr::Bool(b)))
    }

    fn serialize_i8(self, i: i8) -> ConvertResult {
        Ok(Value(Repr::Int(i.into())))
    }

    fn serialize_i16(self, i: i16) -> ConvertResult {
        Ok(Value(Repr::Int(i.into())))
    }

    fn serialize_i32(self, i: i32) -> ConvertResult {
        Ok(Value(Repr::Int(i.into())))
    }

    fn serialize_i64(self, i: i64) -> ConvertResult {
        Ok(Value(Repr::Int(i)))
    }

    fn serialize_i128(self, i: i128) -> ConvertResult {
        let number =
            i64::try_from(i).map_or_else(|_| NumberBuf::Text(i.to_string()), NumberBuf::Int);
        Ok(Value::number(number))
    }

    fn serialize_u8(self, u: u8) -> ConvertResult {
        Ok(Value(Repr::Int(u.into())))
    }

    fn serialize_u16(self, u: u16) -> ConvertResult {
        Ok(Value(Repr::Int(u.into())))
    }

    fn serialize_u32(self, u: u32) -> ConvertResult {
        Ok(Value(Repr::Int(u.into())))
    }

    fn serialize_u64(self, u: u64) -> ConvertResult {
        Ok(Value::number(u.into()))
    }

    fn serialize_u128(self, u: u128) -> ConvertResult {
        let number =
            i64::try_from(u).map_or_else(|_| NumberBuf::Text(u.to_string()), NumberBuf::Int);
        Ok(Value::number(number))
    }

    fn serialize_f32(self, f: f32) -> ConvertResult {
        float(f64::from(f), &format!("{f:?}"))
    }

    fn serialize_f64(self, f: f64) -> ConvertResult {
        float(f, &format!("{f:?}"))
    }

    fn serialize_char(self, c: char) -> ConvertResult {
        Ok(Value::string(c.encode_utf8(&mut [0; 4])))
    }

    fn serialize_str(self, text: &str) -> ConvertResult {
        Ok(Value::string(text))
    }

    fn serialize_bytes(self, bytes: &[u8]) -> ConvertResult {
        Ok(Value::array(
            bytes
                .iter()
                .map(|byte| Value(Repr::Int((*byte).into())))
                .collect(),
        ))
    }

    fn serialize_none(self) -> ConvertResult {
        Ok(Value(Repr::Null))
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> ConvertResult {
        value.serialize(self)
    }

    fn serialize_unit(self) -> ConvertResult {
        Ok(Value(Repr::Null))
    }

    fn serialize_unit_struct(self, _: &'static str) -> ConvertResult {
        Ok(Value(Repr::Null))
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> ConvertResult {
        Ok(Value::string(variant))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> ConvertResult {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> ConvertResult {
        let inner = self.deeper()?;
        let inner = stack::level(|| value.serialize(inner))?;
        Ok(Value::object(vec![(Value::string(variant), inner)]))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<SerializeList, ConvertError> {
        SerializeList::new(self, len, None)
    }

    fn serialize_tuple(self, len: usize) -> Result<SerializeList, ConvertError> {
        SerializeList::new(self, Some(len), None)
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        len: usize,
    ) -> Result<SerializeList, ConvertError> {
        SerializeList::new(self, Some(len), None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<SerializeList, ConvertError> {
        SerializeList::new(self.deeper()?, Some(len), Some(variant))
    }

    fn serialize_map(self, len: Option<usize>) -> Result<SerializeEntries, ConvertError> {
        SerializeEntries::new(self, len, None)
    }

    fn serialize_struct(
        self,
        _: &'static str,
        len: usize,
    ) -> Result<SerializeEntries, ConvertError> {
        SerializeEntries::new(self, Some(len), None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<SerializeEntries, ConvertError> {
        SerializeEntries::new(self.deeper()?, Some(len), Some(variant))
    }
}

/// Converts a float. Rust's text parses as the same float.
fn float(f: f64, text: &str) -> ConvertResult {
    if f.is_finite()
        && let Some(number) = NumberBuf::parse(text)
    {
        return Ok(Value::number(number));
    }
    Err(ConvertError(format!("{f} is not a Rego number")))
}

/// Maximum capacity that is reserved for the announced length of a collection, which may be wrong.
const RESERVED: usize = 1024;

/// Builder of an array, possibly as the content of an enum variant.
pub(super) struct SerializeList {
    items: Vec<Value>,
    inner: ToValue,
    variant: Option<&'static str>,
}

impl SerializeList {
    fn new(
        outer: ToValue,
        len: Option<usize>,
        variant: Option<&'static str>,
    ) -> Result<Self, ConvertError> {
        Ok(Self {
            items: Vec::with_capacity(len.unwrap_or(0).min(RESERVED)),
            inner: outer.deeper()?,
            variant,
        })
    }

    fn push<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), ConvertError> {
        self.items
            .push(stack::level(|| item.serialize(self.inner))?);
        Ok(())
    }

    fn finish(self) -> Value {
        in_variant(self.variant, Value::array(self.items))
    }
}

fn in_variant(variant: Option<&'static str>, value: Value) -> Value {
    match variant {
        Some(name) => Value::object(vec![(Value::string(name), value)]),
        None => value,
    }
}

impl ser::SerializeSeq for SerializeList {
    type Ok = Value;
    type Error = ConvertError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), ConvertError> {
        self.push(item)
    }

    fn end(self) -> ConvertResult {
        Ok(self.finish())
    }
}

impl ser::SerializeTuple for SerializeList {
    type Ok = Value;
    type Error = ConvertError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), ConvertError> {
        self.push(item)
    }

    fn end(self) -> ConvertResult {
        Ok(self.finish())
    }
}

impl ser::SerializeTupleStruct for SerializeList {
    type Ok = Value;
    type Error = ConvertError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), ConvertError> {
        self.push(item)
    }

    fn end(self) -> ConvertResult {
        Ok(self.finish())
    }
}

impl ser::SerializeTupleVariant for SerializeList {
    type Ok = Value;
    type Error = ConvertError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), ConvertError> {
        self.push(item)
    }

    fn end(self) -> ConvertResult {
        Ok(self.finish())
    }
}

/// Builder of an object, possibly as the content of an enum variant.
pub(super) struct SerializeEntries {
    pairs: Vec<(Value, Value)>,
    key: Value,
    inner: ToValue,
    variant: Option<&'static str>,
}

impl SerializeEntries {
    fn new(
        outer: ToValue,
        len: Option<usize>,
        variant: Option<&'static str>,
    ) -> Result<Self, ConvertError> {
        Ok(Self {
            pairs: Vec::with_capacity(len.unwrap_or(0).min(RESERVED)),
            key: Value(Repr::Null),
            inner: outer.deeper()?,
            variant,
        })
    }

    fn field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), ConvertError> {
        let value = stack::level(|| value.serialize(self.inner))?;
        self.pairs.push((Value::string(name), value));
        Ok(())
    }

    fn finish(self) -> Value {
        in_variant(self.variant, Value::object(self.pairs))
    }
}

impl ser::SerializeMap for SerializeEntries {
    type Ok = Value;
    type Error = ConvertError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), ConvertError> {
        let key = stack::level(|| key.serialize(self.inner))?;
        let text = key.borrow().is_string();
        self.key = if text {
            key
        } else {
            Value::string(&json_text(key.borrow()))
        };
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ConvertError> {
        let value = stack::level(|| value.serialize(self.inner))?;
        self.pairs.push((std::mem::take(&mut self.key), value));
        Ok(())
    }

    fn end(self) -> ConvertResult {
        Ok(self.finish())
    }
}

impl ser::SerializeStruct for SerializeEntries {
    type Ok = Value;
    type Error = ConvertError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), ConvertError> {
        self.field(name, value)
    }

    fn end(self) -> ConvertResult {
        Ok(self.finish())
    }
}

impl ser::SerializeStructVariant for SerializeEntries {
    type Ok = Value;
    type Error = ConvertError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), ConvertError> {
        self.field(name, value)
    }

    fn end(self) -> ConvertResult {
        Ok(self.finish())
    }
}
