//! What users type behind a pattern's name: `key=value,…`, or an argument such as the name of a file.

use super::registry::PatternInfo;
use crate::error::{Error, Result, unknown};
use crate::network::Network;

/// A pattern that is asked for, with the network that it is for. There is one terminal at least.
pub(super) struct Request<'a> {
    pub network: &'a Network,
    pub terminals: u32,
    pub name: &'static str,
    given: Vec<(&'a str, &'a str)>,
    argument: &'a str,
}

impl<'a> Request<'a> {
    /// Reads what stands behind the name of `info`.
    pub fn read(network: &'a Network, info: &PatternInfo, rest: &'a str) -> Result<Self> {
        let terminals = network.num_terminals() as u32;
        let mut this = Self { network, terminals, name: info.name, given: Vec::new(), argument: "" };
        if let Some(argument) = info.argument {
            if rest.is_empty() {
                return Err(this.mistake(format_args!("needs a {argument}, as in {}:{argument}", info.name)));
            }
            this.argument = rest;
            return Ok(this);
        }
        for item in items(rest) {
            let (key, value) = item.split_once('=').unwrap_or((item, ""));
            if info.keys.is_empty() {
                return Err(Error::Traffic(format!("the traffic '{}' takes no keys, but '{key}' is given", info.name)));
            }
            if !info.keys.iter().any(|(known, _)| *known == key) {
                let known = info.keys.iter().map(|(known, _)| *known);
                return Err(Error::Traffic(unknown(format_args!("key of {}", info.name), key, known)));
            }
            if this.value(key).is_some() {
                return Err(this.mistake(format_args!("{key} is given twice")));
            }
            this.given.push((key, value));
        }
        Ok(this)
    }

    /// For a file that is no pattern.
    pub fn file(network: &'a Network, name: &'static str, path: &'a str) -> Self {
        Self { network, terminals: network.num_terminals() as u32, name, given: Vec::new(), argument: path }
    }

    /// A mistake in this pattern, as the rest of a sentence.
    pub fn mistake(&self, what: impl std::fmt::Display) -> Error {
        Error::Traffic(format!("{}: {what}", self.name))
    }

    /// What stands behind the colon of a pattern that takes an argument.
    pub fn argument(&self) -> &'a str {
        self.argument
    }

    /// The value of a key, if it is given.
    pub fn value(&self, key: &str) -> Option<&'a str> {
        self.given.iter().find(|(k, _)| *k == key).map(|(_, value)| *value)
    }

    /// True if a flag is given.
    pub fn flag(&self, key: &str) -> Result<bool> {
        match self.value(key) {
            None => Ok(false),
            Some("" | "true") => Ok(true),
            Some("false") => Ok(false),
            Some(other) => Err(self.mistake(format_args!("{key} is '{other}'; it must be true or false"))),
        }
    }

    /// A whole number.
    pub fn number(&self, key: &str) -> Result<Option<u64>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let read = value.parse::<u64>();
        read.map(Some)
            .map_err(|_| self.mistake(format_args!("{key} is '{value}'; it must be a whole number from 0 up")))
    }

    /// A part of 1.
    pub fn part(&self, key: &str) -> Result<Option<f64>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match fraction(value) {
            Some(part) if (0.0..=1.0).contains(&part) => Ok(Some(part)),
            _ => Err(self.mistake(format_args!("{key} is '{value}'; it must be from 0 to 1, or from 0% to 100%"))),
        }
    }

    /// A number of terminals, or a part of all of them (with a point or a percent sign), one at least.
    pub fn count(&self, key: &str) -> Result<Option<u32>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let count = if value.contains(['.', '%']) {
            let part = fraction(value).filter(|part| *part > 0.0 && *part <= 1.0);
            part.map(|part| ((part * f64::from(self.terminals)).round() as u32).max(1))
        } else {
            value.parse().ok().filter(|count| (1..=self.terminals).contains(count))
        };
        count.map(Some).ok_or_else(|| {
            self.mistake(format_args!(
                "{key} is '{value}'; it must be a number of terminals from 1 to {}, or a part of them such as 0.1 or 10%",
                self.terminals
            ))
        })
    }

    /// The id of a terminal.
    pub fn terminal(&self, text: &str) -> Result<u32> {
        let id = text.parse::<u32>().ok().filter(|id| *id < self.terminals);
        id.ok_or_else(|| {
            self.mistake(format_args!(
                "'{text}' is no terminal of {}; ids go from 0 to {}",
                self.network.spec(),
                self.terminals - 1
            ))
        })
    }
}

/// A finite number, or one in percent.
fn fraction(text: &str) -> Option<f64> {
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.parse::<f64>().ok()? / 100.0,
        None => text.parse().ok()?,
    };
    number.is_finite().then_some(number)
}

/// The items between commas; one that begins with a digit belongs to the list of the one before.
fn items(rest: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let mut start = 0;
    for (comma, _) in rest.match_indices(',').chain([(rest.len(), "")]) {
        if !rest[comma..].trim_start_matches(',').starts_with(|c: char| c.is_ascii_digit()) {
            items.push(&rest[start..comma]);
            start = comma + 1;
        }
    }
    items.retain(|item| !item.is_empty());
    items
}
