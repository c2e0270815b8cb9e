//! What users type behind a pattern's name: `key=value,…`, or an argument such as the name of a file.

use std::ops::Deref;

use super::registry::PatternInfo;
use crate::catalogue::Arguments;
use crate::catalogue::values::fraction;
use crate::error::{Error, Result};
use crate::network::Network;

/// A pattern that is asked for, with the network that it is for. There is one terminal at least.
pub(super) struct Request<'a> {
    pub network: &'a Network,
    pub terminals: u32,
    keys: Arguments<'a>,
}

impl<'a> Deref for Request<'a> {
    type Target = Arguments<'a>;

    fn deref(&self) -> &Arguments<'a> {
        &self.keys
    }
}

impl<'a> Request<'a> {
    /// Reads the text after the name of `info`.
    pub fn read(network: &'a Network, info: &PatternInfo, rest: &'a str) -> Result<Self> {
        let keys = Arguments::read(info.entry(), info.name, rest)?;
        Ok(Self { network, terminals: network.num_terminals() as u32, keys })
    }

    /// For a file that is no pattern.
    pub fn file(network: &'a Network, name: &'static str, path: &'a str) -> Self {
        let keys = Arguments::alone(name, Error::Traffic, path);
        Self { network, terminals: network.num_terminals() as u32, keys }
    }

    /// A number of terminals, or a part of all of them (with a point or a percent sign), one at least.
    pub fn terminals_of(&self, key: &str) -> Result<Option<u32>> {
        let Some(value) = self.text(key) else { return Ok(None) };
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
