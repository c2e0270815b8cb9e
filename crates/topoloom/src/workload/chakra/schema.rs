//! What is read of Chakra's protobuf schema (version 1, package `ChakraProtoMsg`), by field numbers; the rest is passed over.

use prost::Message;

/// What stands first in a file.
#[derive(Clone, PartialEq, Message)]
pub struct Metadata {
    #[prost(string, tag = "1")]
    pub version: String,
    #[prost(message, repeated, tag = "2")]
    pub attributes: Vec<Attribute>,
}

/// A node: an operation of a rank.
#[derive(Clone, PartialEq, Message)]
pub struct Node {
    #[prost(uint64, tag = "1")]
    pub id: u64,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(int32, tag = "3")]
    pub kind: i32,
    #[prost(uint64, repeated, tag = "4")]
    pub control_deps: Vec<u64>,
    #[prost(uint64, repeated, tag = "5")]
    pub data_deps: Vec<u64>,
    #[prost(uint64, tag = "7")]
    pub duration_micros: u64,
    #[prost(message, repeated, tag = "10")]
    pub attributes: Vec<Attribute>,
}

/// A named value of a node.
#[derive(Clone, PartialEq, Message)]
pub struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(oneof = "Value", tags = "3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29")]
    pub value: Option<Value>,
}

/// A value; lists and bytes are not read.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Value {
    #[prost(double, tag = "3")]
    Double(f64),
    #[prost(float, tag = "5")]
    Float(f32),
    #[prost(int32, tag = "7")]
    Int32(i32),
    #[prost(int64, tag = "9")]
    Int64(i64),
    #[prost(uint32, tag = "11")]
    Uint32(u32),
    #[prost(uint64, tag = "13")]
    Uint64(u64),
    #[prost(sint32, tag = "15")]
    Sint32(i32),
    #[prost(sint64, tag = "17")]
    Sint64(i64),
    #[prost(fixed32, tag = "19")]
    Fixed32(u32),
    #[prost(fixed64, tag = "21")]
    Fixed64(u64),
    #[prost(sfixed32, tag = "23")]
    Sfixed32(i32),
    #[prost(sfixed64, tag = "25")]
    Sfixed64(i64),
    #[prost(bool, tag = "27")]
    Bool(bool),
    #[prost(string, tag = "29")]
    Text(String),
}

impl Value {
    /// The value as a finite number from 0 up, if it is one.
    pub fn real(&self) -> Option<f64> {
        match self {
            Self::Double(value) => Some(*value),
            Self::Float(value) => Some((*value).into()),
            other => other.whole().map(|value| value as f64),
        }
        .filter(|value| value.is_finite() && *value >= 0.0)
    }

    /// The value as a whole number from 0 up, if it is one.
    pub fn whole(&self) -> Option<u64> {
        match self {
            Self::Double(value) => (*value >= 0.0 && *value < 1e18).then_some(*value as u64),
            Self::Float(value) => (*value >= 0.0 && *value < 1e18).then_some(*value as u64),
            Self::Int32(value) | Self::Sint32(value) | Self::Sfixed32(value) => u64::try_from(*value).ok(),
            Self::Int64(value) | Self::Sint64(value) | Self::Sfixed64(value) => u64::try_from(*value).ok(),
            Self::Uint32(value) | Self::Fixed32(value) => Some((*value).into()),
            Self::Uint64(value) | Self::Fixed64(value) => Some(*value),
            Self::Bool(value) => Some((*value).into()),
            Self::Text(text) => text.trim().parse().ok(),
        }
    }
}

/// The value of an attribute.
pub fn attribute<'a>(attributes: &'a [Attribute], name: &str) -> Option<&'a Value> {
    attributes.iter().find(|own| own.name == name)?.value.as_ref()
}
