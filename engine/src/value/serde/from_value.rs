//! Deserialization of Rust types from values, and of values from any serde format.

use std::fmt;

use serde::de::value::{MapDeserializer, SeqDeserializer, StringDeserializer};
use serde::de::{
    self, Deserialize, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use solon_syntax::stack;

use super::ConvertError;
use super::serialize::json_text;
use crate::value::{
    ArrayView, Kind, Number, NumberBuf, ObjectView, RefRepr, Repr, SetView, Value, ValueRef,
};

pub(super) struct FromValue<'e>(pub ValueRef<'e>);

impl IntoDeserializer<'_, ConvertError> for FromValue<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

fn pairs(value: ValueRef<'_>) -> impl Iterator<Item = (FromKey, FromValue<'_>)> {
    let pairs = value.as_object().into_iter().flat_map(ObjectView::iter);
    pairs.map(|(key, value)| (FromKey(key_text(key)), FromValue(value)))
}

fn key_text(key: ValueRef<'_>) -> String {
    match key.as_text() {
        Some(text) => text.to_str().into_owned(),
        None => json_text(key),
    }
}

impl<'de> Deserializer<'de> for FromValue<'_> {
    type Error = ConvertError;

    fn deserialize_any<T: Visitor<'de>>(self, visitor: T) -> Result<T::Value, ConvertError> {
        let value = self.0;
        match value.kind() {
            Kind::Null => visitor.visit_unit(),
            Kind::Boolean => visitor.visit_bool(value.is_truthy()),
            Kind::Number => match value.as_number() {
                Some(number) => visit_number(number, visitor),
                None => visitor.visit_unit(),
            },
            Kind::String => visitor.visit_str(&value.text_or_empty().to_str()),
            Kind::Array => {
                let items = value.as_array().into_iter().flat_map(ArrayView::iter);
                visit_items(items, visitor)
            }
            Kind::Set => {
                let items = value.as_set().into_iter().flat_map(SetView::iter);
                visit_items(items, visitor)
            }
            Kind::Object => {
                let mut map = MapDeserializer::new(pairs(value));
                let result = visitor.visit_map(&mut map)?;
                map.end()?;
                Ok(result)
            }
        }
    }

    fn deserialize_f32<T: Visitor<'de>>(self, visitor: T) -> Result<T::Value, ConvertError> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<T: Visitor<'de>>(self, visitor: T) -> Result<T::Value, ConvertError> {
        match self.0.as_number() {
            Some(number) => visitor.visit_f64(number.to_f64()),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_i128<T: Visitor<'de>>(self, visitor: T) -> Result<T::Value, ConvertError> {
        let wide = self
            .0
            .as_number()
            .and_then(|number| i128::try_from(number.to_bigint()?).ok());
        match wide {
            Some(i) => visitor.visit_i128(i),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_u128<T: Visitor<'de>>(self, visitor: T) -> Result<T::Value, ConvertError> {
        let wide = self
            .0
            .as_number()
            .and_then(|number| u128::try_from(number.to_bigint()?).ok());
        match wide {
            Some(u) => visitor.visit_u128(u),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<T: Visitor<'de>>(self, visitor: T) -> Result<T::Value, ConvertError> {
        match self.0 {
            ValueRef(RefRepr::Null) => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<T: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: T,
    ) -> Result<T::Value, ConvertError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<T: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: T,
    ) -> Result<T::Value, ConvertError> {
        if let Some(text) = self.0.as_text() {
            return visitor.visit_enum(text.to_str().into_owned().into_deserializer());
        }
        let mut pairs = pairs(self.0);
        match (pairs.next(), pairs.next()) {
            (Some((FromKey(name), content)), None) => {
                visitor.visit_enum(EnumVariant { name, content })
            }
            _ => Err(de::Error::invalid_type(
                unexpected(self.0),
                &"a string or an object with one key",
            )),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map struct identifier ignored_any
    }
}

/// Deserializer of a key, which is parsed as the map's key type.
struct FromKey(String);

impl IntoDeserializer<'_, ConvertError> for FromKey {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Types that are parsed from the JSON text of a key.
macro_rules! read_key {
    ($($method:ident)*) => {$(
        fn $method<T: Visitor<'de>>(self, visitor: T) -> Result<T::Value, ConvertError> {
            match crate::value::json::read(self.0.as_bytes()) {
                Ok(value) => FromValue(value.borrow()).$method(visitor),
                Err(_) => visitor.visit_string(self.0),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for FromKey {
    type Error = ConvertError;

    fn deserialize_any<T: Visitor<'de>>(self, visitor: T) -> Result<T::Value, ConvertError> {
        visitor.visit_string(self.0)
    }

    fn deserialize_option<T: Visitor<'de>>(self, visitor: T) -> Result<T::Value, ConvertError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<T: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: T,
    ) -> Result<T::Value, ConvertError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<T: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: T,
    ) -> Result<T::Value, ConvertError> {
        visitor.visit_enum(self.0.into_deserializer())
    }

    read_key! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32
        deserialize_f64
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

fn visit_items<'de, 'e, T: Visitor<'de>>(
    items: impl Iterator<Item = ValueRef<'e>>,
    visitor: T,
) -> Result<T::Value, ConvertError> {
    let mut list = SeqDeserializer::new(items.map(FromValue));
    let result = visitor.visit_seq(&mut list)?;
    list.end()?;
    Ok(result)
}

/// Visits integral numbers in any notation as integers.
fn visit_number<'de, T: Visitor<'de>>(
    number: Number<'_>,
    visitor: T,
) -> Result<T::Value, ConvertError> {
    if let Some(i) = number.to_i64() {
        return visitor.visit_i64(i);
    }
    if let Number::Text(text) = number
        && let Ok(u) = text.parse()
    {
        return visitor.visit_u64(u);
    }
    visitor.visit_f64(number.to_f64())
}

fn unexpected(value: ValueRef<'_>) -> de::Unexpected<'static> {
    match value.kind() {
        Kind::Null => de::Unexpected::Unit,
        Kind::Boolean => de::Unexpected::Bool(value.is_truthy()),
        Kind::Number => de::Unexpected::Other("number"),
        Kind::String => de::Unexpected::Other("string"),
        Kind::Array | Kind::Set => de::Unexpected::Seq,
        Kind::Object => de::Unexpected::Map,
    }
}

/// An enum variant: `{"name": content}`.
struct EnumVariant<'e> {
    name: String,
    content: FromValue<'e>,
}

impl<'de, 'e> EnumAccess<'de> for EnumVariant<'e> {
    type Error = ConvertError;
    type Variant = FromValue<'e>;

    fn variant_seed<T: de::DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<(T::Value, FromValue<'e>), ConvertError> {
        let name: StringDeserializer<ConvertError> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, self.content))
    }
}

impl<'de> VariantAccess<'de> for FromValue<'_> {
    type Error = ConvertError;

    fn unit_variant(self) -> Result<(), ConvertError> {
        <()>::deserialize(self)
    }

    fn newtype_variant_seed<T: de::DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, ConvertError> {
        seed.deserialize(self)
    }

    fn tuple_variant<T: Visitor<'de>>(
        self,
        _: usize,
        visitor: T,
    ) -> Result<T::Value, ConvertError> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<T: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: T,
    ) -> Result<T::Value, ConvertError> {
        self.deserialize_any(visitor)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Visit { depth: 0 })
    }
}

#[derive(Clone, Copy)]
struct Visit {
    depth: usize,
}

impl Visit {
    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        if self.depth >= crate::limits::VALUE_NESTING {
            return Err(E::custom(ConvertError::too_deep()));
        }
        Ok(Self {
            depth: self.depth + 1,
        })
    }
}

impl<'de> de::DeserializeSeed<'de> for Visit {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Visit {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value(Repr::Null))
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value(Repr::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, b: bool) -> Result<Value, E> {
        Ok(Value(Repr::Bool(b)))
    }

    fn visit_i64<E>(self, i: i64) -> Result<Value, E> {
        Ok(Value(Repr::Int(i)))
    }

    fn visit_u64<E>(self, u: u64) -> Result<Value, E> {
        Ok(Value::number(u.into()))
    }

    fn visit_i128<E>(self, i: i128) -> Result<Value, E> {
        let number =
            i64::try_from(i).map_or_else(|_| NumberBuf::Text(i.to_string()), NumberBuf::Int);
        Ok(Value::number(number))
    }

    fn visit_f64<E: de::Error>(self, f: f64) -> Result<Value, E> {
        super::to_value(&f).map_err(E::custom)
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::string(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = stack::level(|| list.next_element_seed(inner))? {
            items.push(item);
        }
        Ok(Value::array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut pairs = Vec::new();
        while let Some(key) = map.next_key_seed(inner)? {
            let text = key.borrow().is_string();
            let key = if text {
                key
            } else {
                Value::string(&json_text(key.borrow()))
            };
            pairs.push((key, stack::level(|| map.next_value_seed(inner))?));
        }
        Ok(Value::object(pairs))
    }
}
