//! The traffic patterns by name.

use super::keys::Request;
use super::{
    Pattern, Traffic, asymmetric, bits, blended, hotspot, next_group, pairs, permutation, shift, trace, uniform,
    worst_case,
};
use crate::catalogue::grammar::split_head;
use crate::catalogue::{Alone, Entry, Key, Lead};
use crate::error::{Error, Result, unknown};
use crate::network::{Network, TerminalId};

/// What users read about a pattern, and how it is built.
#[derive(Debug, Clone, Copy)]
pub struct PatternInfo {
    /// The name that users type.
    pub name: &'static str,
    /// The destinations of each source.
    pub summary: &'static str,
    /// The keys it takes, written `name:key=value` (or `name:key` for a flag), with their meaning.
    pub keys: &'static [Key],
    /// The positional argument behind the name, such as FILE.
    pub argument: Option<&'static str>,
    pub(super) build: fn(&Request) -> Result<Pattern>,
}

impl PatternInfo {
    /// How its names are read.
    pub fn entry(&self) -> Entry {
        let lead = self.argument.map_or(Lead::Nothing, Lead::All);
        Entry {
            noun: "the traffic",
            name: self.name,
            lead,
            keys: self.keys,
            shared: &[],
            alone: Alone::Flag,
            wrong: Error::Traffic,
        }
    }
}

/// Every pattern, in the order in which users see them.
pub static PATTERNS: &[PatternInfo] = &[
    uniform::INFO,
    bits::COMPLEMENT,
    bits::REVERSAL,
    bits::SHUFFLE,
    bits::TRANSPOSE,
    hotspot::INFO,
    permutation::INFO,
    asymmetric::INFO,
    shift::NEIGHBOR,
    shift::TORNADO,
    next_group::INFO,
    worst_case::INFO,
    blended::INFO,
    pairs::INFO,
    trace::INFO,
];

/// The pattern called `name`.
///
/// # Errors
/// [`Error::Traffic`] names those that there are.
pub fn find(name: &str) -> Result<&'static PatternInfo> {
    let found = PATTERNS.iter().find(|info| info.name == name);
    found.ok_or_else(|| Error::Traffic(unknown("traffic", name, PATTERNS.iter().map(|info| info.name))))
}

/// Builds the pattern that `text` (`name`, `name:key=value`) names, for `network`.
///
/// # Errors
/// [`Error::Traffic`] if there is no such pattern or key, or it has no meaning on the network.
pub fn build(network: &Network, text: &str) -> Result<Traffic> {
    let (name, rest) = split_head(text);
    let info = find(name)?;
    // Failures change which terminals take part, not the pattern.
    let request = Request::read(network.intact(), info, rest)?;
    if request.terminals == 0 {
        return Err(Error::Traffic(format!("{} has no terminals, so there is no traffic", network.spec())));
    }
    let mut traffic = Traffic::new((info.build)(&request)?, request.terminals);
    let down: Vec<bool> = (0..request.terminals).map(|t| !network.is_up(network.router_of(TerminalId(t)))).collect();
    if down.contains(&true) && traffic.trace().is_some() {
        return Err(Error::Traffic(format!(
            "{text} on {}: a trace names its terminals, and those of failed routers are gone; let links fail instead",
            network.spec()
        )));
    }
    if down.contains(&true) {
        traffic = traffic.without(down);
    }
    if traffic.active() == 0 {
        return Err(Error::Traffic(format!("{text} on {}: no terminal has another one to send to", network.spec())));
    }
    Ok(traffic)
}
