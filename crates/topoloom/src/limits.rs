//! What networks and routers may have at most, and the checks of it.

use std::cell::Cell;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::memory::available_memory;

/// The most VCs a port may have: what a 64-bit mask holds.
pub const MAX_VCS: u32 = 64;
/// The VCs of a port, unless a routing needs more.
pub const USUAL_VCS: u32 = 4;
/// The longest fixed-length run, in cycles.
pub const MAX_CYCLES: u64 = 50_000_000;
/// The most ports of a router of cards (`extoll`): their masks of ports have this many bits.
pub const CARD_PORTS: u64 = 64;

/// Checks a number of VCs per port.
///
/// # Errors
/// [`Error::Config`] reports what is allowed.
pub fn check_vcs(vcs: u32) -> Result<()> {
    within("vcs", vcs.into(), 1, MAX_VCS.into())
}

/// Checks that an option is in its range.
///
/// # Errors
/// [`Error::Config`] reports what is allowed.
pub fn within(name: &str, value: u64, least: u64, most: u64) -> Result<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Error::Config(format!("{name} is {value}; it must be from {least} to {most}")))
}

/// The VCs of a class, of `classes` that share `vcs`. Where there are fewer VCs than classes (only if asked for), some
/// have the same.
pub fn class_vcs(class: u32, classes: u32, vcs: u32) -> Range<u32> {
    let (first, end) = (class * vcs / classes, (class + 1) * vcs / classes);
    first..end.max(first + 1)
}

thread_local! {
    /// Ports that a network may have that is built in [`at_most`].
    static MOST_PORTS: Cell<u128> = const { Cell::new(u128::MAX) };
}

/// Lets networks be built with this many ports at most: what only has to equal something need not be larger.
pub(crate) fn at_most<T>(ports: u128, build: impl FnOnce() -> T) -> T {
    let before = MOST_PORTS.replace(ports);
    let built = build();
    MOST_PORTS.set(before);
    built
}

/// Rejects, before anything is allocated, a network that ids cannot name or memory cannot hold.
///
/// # Errors
/// [`Error::TooLarge`] reports what it would need.
pub fn guard_size(spec: &str, routers: u128, terminals: u128, links: u128) -> Result<()> {
    /// Bytes that a port costs while the network is built.
    const PORT: u128 = 48;
    let ports = links.saturating_mul(2).saturating_add(terminals);
    let bytes = ports.saturating_mul(PORT).saturating_add(routers.saturating_mul(8));
    let available = available_memory();
    if ports > MOST_PORTS.get() {
        return Err(Error::TooLarge(format!("{spec}: {} ports are more than there are here", count(ports))));
    }
    if ports > u128::from(u32::MAX) || routers > u128::from(u32::MAX) || bytes > available {
        return Err(Error::TooLarge(format!(
            "{spec}: {} routers, {} terminals and {} links need about {} GB; {} GB are available",
            count(routers),
            count(terminals),
            count(links),
            count(bytes.div_ceil(1_000_000_000)),
            available / 1_000_000_000
        )));
    }
    Ok(())
}

/// A number for a sentence: beyond 10^18 its digits are meaningless (and products may have saturated).
fn count(number: u128) -> String {
    if number > 1_000_000_000_000_000_000 { "more than 10^18".to_owned() } else { number.to_string() }
}
