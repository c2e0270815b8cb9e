//! The keys of a routing: `name:key=value,…`.

use std::fmt::Display;
use std::ops::RangeInclusive;

use super::RoutingInfo;
use crate::error::{Error, Result, unknown};

/// The one key of a routing that is read from a file: it stands for all that is written behind the name.
pub(super) use crate::keys::FILE;

/// What a user has written behind a routing's name, its keys known to be the routing's.
#[derive(Debug, Clone)]
pub struct Options {
    name: &'static str,
    given: Vec<(String, String)>,
}

impl Options {
    /// Reads `key=value,…` for the routing `info`.
    pub(super) fn read(info: &RoutingInfo, text: &str) -> Result<Self> {
        // A file's name may hold commas.
        if info.keys.first().is_some_and(|(key, _)| *key == FILE) {
            return Ok(Self { name: info.name, given: vec![(FILE.to_owned(), text.to_owned())] });
        }
        let mut given: Vec<(String, String)> = Vec::new();
        for item in text.split(',').filter(|item| !item.is_empty()) {
            let (key, value) = item.split_once('=').unwrap_or((item, ""));
            if info.keys.is_empty() {
                return Err(Error::Routing(format!("the routing '{}' takes no keys, but '{key}' is given", info.name)));
            }
            let known = || info.keys.iter().map(|(known, _)| *known);
            if !known().any(|k| k == key) {
                return Err(Error::Routing(unknown(format_args!("key of {}", info.name), key, known())));
            }
            if given.iter().any(|(known, _)| known == key) {
                return Err(Error::Routing(format!("{}: the key '{key}' is given twice", info.name)));
            }
            given.push((key.to_owned(), value.to_owned()));
        }
        Ok(Self { name: info.name, given })
    }

    /// The value of a key as the user wrote it.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.given.iter().find(|(given, _)| given == key).map(|(_, value)| value.as_str())
    }

    /// A whole number.
    ///
    /// # Errors
    /// If it is none, or out of `range`.
    pub fn number(&self, key: &str, range: RangeInclusive<u32>) -> Result<Option<u32>> {
        let Some(value) = self.text(key) else { return Ok(None) };
        let read = value.parse().ok().filter(|number| range.contains(number));
        let (least, most) = range.into_inner();
        let mistake =
            || self.mistake(format_args!("{key} is '{value}'; it must be a whole number from {least} to {most}"));
        read.map(Some).ok_or_else(mistake)
    }

    /// A number.
    ///
    /// # Errors
    /// If it is none, or out of `range`.
    pub fn decimal(&self, key: &str, range: RangeInclusive<f64>) -> Result<Option<f64>> {
        let Some(value) = self.text(key) else { return Ok(None) };
        let read = value.parse().ok().filter(|number| range.contains(number));
        let (least, most) = range.into_inner();
        let mistake = || self.mistake(format_args!("{key} is '{value}'; it must be a number from {least} to {most}"));
        read.map(Some).ok_or_else(mistake)
    }

    /// One of several words; the first unless given.
    ///
    /// # Errors
    /// If it is another word.
    pub fn choice(&self, key: &str, words: &[&'static str]) -> Result<&'static str> {
        let Some(value) = self.text(key) else { return Ok(words[0]) };
        let found = words.iter().find(|word| **word == value).copied();
        let known = words.iter().copied();
        found.ok_or_else(|| self.mistake(unknown(format_args!("value of {key}"), value, known)))
    }

    /// A sentence about what is wrong with a key.
    pub fn mistake(&self, what: impl Display) -> Error {
        Error::Routing(format!("{}: {what}", self.name))
    }
}
