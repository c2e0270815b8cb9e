//! The keys of router models: what each is for, what it may be, and what it is unless given. Whatever lists, reads or
//! checks a router's options reads it here: the engine, the command line and Python.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

pub use crate::catalogue::Kind;
use crate::error::{Error, Result};

/// The value of an option.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A whole number.
    Int(u32),
    /// A number.
    Real(f64),
    /// A word, or what the model reads by itself.
    Text(Cow<'static, str>),
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(Cow::Owned(value.to_owned()))
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(Cow::Owned(value))
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Int(value) => serializer.serialize_u32(*value),
            Self::Real(value) => serializer.serialize_f64(*value),
            Self::Text(value) => serializer.serialize_str(value),
        }
    }
}

/// What an option is unless it is given.
#[derive(Debug, Clone, PartialEq)]
pub enum Unless {
    /// This, which users see as the default.
    Is(Value),
    /// This; users see no default, because models differ in it.
    Own(Value),
    /// What these words state: the model finds it out where it meets other options and a routing.
    Depends(&'static str),
    /// This, always: the model has no such option, for the reason that the words give, but results state what it does.
    Fixed(Value, &'static str),
    /// The same where the value follows from other options.
    Follows(&'static str),
}

impl Unless {
    /// A default that is a word.
    pub const fn word(word: &'static str) -> Self {
        Self::Is(Value::Text(Cow::Borrowed(word)))
    }

    /// A default that is a whole number.
    pub const fn int(value: u32) -> Self {
        Self::Is(Value::Int(value))
    }

    /// The value, where it does not depend on anything.
    pub fn value(&self) -> Option<&Value> {
        match self {
            Self::Is(value) | Self::Own(value) | Self::Fixed(value, _) => Some(value),
            Self::Depends(_) | Self::Follows(_) => None,
        }
    }

    /// What it is unless given, in words, where users see no default.
    pub fn words(&self) -> Option<String> {
        match self {
            Self::Own(Value::Int(value)) => Some(value.to_string()),
            Self::Own(Value::Real(value)) => Some(value.to_string()),
            Self::Own(Value::Text(value)) => Some(value.to_string()),
            Self::Depends(words) => Some((*words).to_owned()),
            Self::Is(_) | Self::Fixed(..) | Self::Follows(_) => None,
        }
    }

    /// Why the model has no such option; `None` if it has.
    pub fn why_not(&self) -> Option<&'static str> {
        match self {
            Self::Fixed(_, why) | Self::Follows(why) => Some(why),
            Self::Is(_) | Self::Own(_) | Self::Depends(_) => None,
        }
    }
}

/// An option of a router model.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// Its name in JSON and Python; users type `-` for `_`.
    pub name: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// What it is unless given.
    pub unless: Unless,
    /// What it is for, with its unit, in a line.
    pub doc: &'static str,
}

impl Key {
    /// The name as users type it.
    pub fn typed(&self) -> String {
        typed(self.name)
    }

    /// Reads a value that is in JSON.
    ///
    /// # Errors
    /// [`Error::Config`] for a value of another kind.
    pub fn read(&self, value: &serde_json::Value) -> Result<Value> {
        let read = match (self.kind, value) {
            (Kind::Int(..), serde_json::Value::Number(number)) => {
                number.as_u64().and_then(|value| u32::try_from(value).ok()).map(Value::Int)
            }
            (Kind::Real(..), serde_json::Value::Number(number)) => number.as_f64().map(Value::Real),
            (Kind::Choice(_) | Kind::Text(_), serde_json::Value::String(text)) => Some(Value::from(text.as_str())),
            _ => None,
        };
        read.ok_or_else(|| Error::Config(format!("{} is {value}; it must be {}", self.typed(), self.wanted())))
    }

    /// Checks that a value is one that the key may have.
    ///
    /// # Errors
    /// [`Error::Config`] reports what is allowed.
    pub fn check(&self, value: &Value) -> Result<()> {
        let (allowed, shown) = match (self.kind, value) {
            (Kind::Int(least, most), Value::Int(value)) => {
                ((least..=most).contains(&(*value).into()), value.to_string())
            }
            (Kind::Real(least, most), Value::Real(value)) => ((least..=most).contains(value), value.to_string()),
            (Kind::Choice(words), Value::Text(text)) => (words.contains(&text.as_ref()), format!("'{text}'")),
            (Kind::Text(_), Value::Text(_)) => return Ok(()),
            (_, other) => (false, format!("{other:?}")),
        };
        if allowed {
            return Ok(());
        }
        Err(Error::Config(format!("{} is {shown}; it must be {}", self.typed(), self.wanted())))
    }

    fn wanted(&self) -> String {
        match self.kind {
            Kind::Int(least, most) => format!("from {least} to {most}"),
            Kind::Real(least, most) => format!("from {least} to {most}"),
            kind => kind.wanted(),
        }
    }
}

/// A key as users type it.
pub fn typed(name: &str) -> String {
    name.replace('_', "-")
}
