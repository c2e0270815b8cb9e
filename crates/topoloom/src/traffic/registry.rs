//! The traffic patterns by name.

use super::keys::Request;
use super::{
    Pattern, Traffic, asymmetric, bits, blended, hotspot, next_group, pairs, permutation, shift, trace, uniform,
    worst_case,
};
use crate::error::{Error, Result, unknown};
use crate::keys::file;
use crate::network::{Network, TerminalId};

/// What users read about a pattern, and how it is built.
#[derive(Debug, Clone, Copy)]
pub struct PatternInfo {
    /// The name that users type.
    pub name: &'static str,
    /// Who sends to whom.
    pub summary: &'static str,
    /// The keys it takes, written `name:key=value` (or `name:key` for a flag), with their meaning.
    pub keys: &'static [(&'static str, &'static str)],
    /// What stands behind the name instead of keys, such as FILE.
    pub argument: Option<&'static str>,
    pub(super) build: fn(&Request) -> Result<Pattern>,
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

/// The paths of the files that the pattern `text` reads.
pub fn files(text: &str) -> Vec<String> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    PATTERNS.iter().find(|info| info.name == name).map_or_else(Vec::new, |info| file(info.argument, rest))
}

/// Builds the pattern that `text` (`name`, `name:key=value`) names, for `network`.
///
/// # Errors
/// [`Error::Traffic`] if there is no such pattern or key, or it has no meaning on the network.
pub fn build(network: &Network, text: &str) -> Result<Traffic> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let info = PATTERNS
        .iter()
        .find(|p| p.name == name)
        .ok_or_else(|| Error::Traffic(unknown("traffic", name, PATTERNS.iter().map(|p| p.name))))?;
    // Failures change who takes part, not the pattern.
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
        return Err(Error::Traffic(format!("{text} on {}: no terminal has anybody to send to", network.spec())));
    }
    Ok(traffic)
}
