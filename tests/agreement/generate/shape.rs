//! Static kinds of values: enough information to build expressions that mostly make sense.

#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Null,
    Boolean,
    /// A small integer, suitable as an index.
    Integer,
    Number,
    Text,
    Array(Box<Shape>),
    Set(Box<Shape>),
    /// An object whose string keys are data.
    Map(Box<Shape>),
    /// An object with fixed fields.
    Record(Vec<(String, Shape)>),
    Any,
}

use Shape::{Any, Array, Boolean, Integer, Map, Null, Number, Record, Set, Text};

impl Shape {
    pub fn array(of: Shape) -> Self {
        Array(Box::new(of))
    }

    pub fn set(of: Shape) -> Self {
        Set(Box::new(of))
    }

    pub fn map(of: Shape) -> Self {
        Map(Box::new(of))
    }

    /// Parses a name in the notation of the templates: `number`, `[string]`, `{any}` (a set), `map number`; `T` is
    /// `element`.
    pub fn parse(name: &str, element: &Shape) -> Self {
        let inside = |open, close| {
            name.strip_prefix(open)
                .and_then(|rest: &str| rest.strip_suffix(close))
        };
        if let Some(inner) = inside('[', ']') {
            return Self::array(Self::parse(inner, element));
        }
        if let Some(inner) = inside('{', '}') {
            return Self::set(Self::parse(inner, element));
        }
        if let Some(inner) = name.strip_prefix("map ") {
            return Self::map(Self::parse(inner, element));
        }
        match name {
            "T" => element.clone(),
            "null" => Null,
            "boolean" => Boolean,
            "integer" => Integer,
            "number" => Number,
            "string" => Text,
            "any" => Any,
            _ => panic!("no shape is called `{name}`"),
        }
    }

    /// Returns `true` if a value of this kind is acceptable for `wanted`.
    pub fn fits(&self, wanted: &Shape) -> bool {
        match (self, wanted) {
            (_, Any) | (Integer, Number) => true,
            (Array(own), Array(other)) | (Set(own), Set(other)) | (Map(own), Map(other)) => {
                own.fits(other)
            }
            (Record(_), Map(other)) => **other == Any,
            _ => self == wanted,
        }
    }

    /// Returns the kinds of key and value when a value of this kind is iterated.
    pub fn key_and_value(&self) -> Option<(Shape, Shape)> {
        match self {
            Array(element) => Some((Integer, (**element).clone())),
            Set(element) => Some(((**element).clone(), (**element).clone())),
            Map(element) => Some((Text, (**element).clone())),
            Record(_) => Some((Text, Any)),
            _ => None,
        }
    }

    pub fn is_scalar(&self) -> bool {
        matches!(self, Null | Boolean | Integer | Number | Text)
    }
}
