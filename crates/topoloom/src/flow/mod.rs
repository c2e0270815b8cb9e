//! The flow engine: messages as flows that share channels, from one completion to the next.
//!
//! Between two *instants* all rates stand still. At an instant messages are complete, what waited for them begins, and
//! the rates are found again, as far as the change reaches ([`rates`]). Paths are what the routing decides in an idle
//! network (`paths`), or, where it adapts, by what is still to cross the channels (`adaptive`); nothing is kept but
//! those of the messages under way.

mod adaptive;
mod config;
mod cover;
mod crossings;
mod engine;
mod lines;
mod paths;
mod radix_heap;
mod rates;
mod record;
mod replay;
mod schedule;
mod symbolic;
mod uncongested;

pub use config::{ENTRY, FlowConfig, KEYS as FLOW_KEYS, Symmetry};
pub use engine::{AtOnce, Script, check_workload, run, run_flows};
pub use paths::Paths;
pub use rates::{Rates, Sharing};
pub use record::{BusyChannel, ChannelUse, CriticalPath, FlowResult, MessageTimes, Step, Symbolic, Timeline};
pub use replay::{PastJob, Phase, Replay, ReplayedChannel, ReplayedJob, replay};

use adaptive::{AdaptivePaths, Part};

use crate::error::{Error, Result};
use crate::network::{Network, TerminalId};
use crate::routing::AnyRouting;

/// The rates of flows that are all under way at the same time, each from a terminal to another, in bytes per second.
///
/// # Errors
/// [`Error::Config`] if a flow has an end that is no terminal; infinite is the rate of a flow to its own terminal.
pub fn rates(network: &Network, routing: &AnyRouting, flows: &[[u32; 2]], config: &FlowConfig) -> Result<Vec<f64>> {
    check_ends(network, flows.iter().copied())?;
    let paths = Paths::new(network, routing, config);
    let mut rates: Rates =
        Rates::new(Paths::num_channels(network, config), Paths::capacities(network, config), config.model);
    let mut adaptive = paths.adapt().then(|| AdaptivePaths::new(Paths::capacities(network, config), config.paths));
    let mut classes: Vec<Option<u32>> = Vec::with_capacity(flows.len() * config.paths as usize);
    for (flow, ends) in (0..).zip(flows) {
        let ends = ends.map(TerminalId);
        let mut rng = paths.stream(ends[0], ends[1]);
        for part in 0..config.paths {
            let mut path = Vec::new();
            let between = match ends[0] == ends[1] {
                true => 0,
                false => paths.walk(ends[0], ends[1], &mut rng, &mut path)?,
            };
            let adapts = adaptive.as_mut().filter(|_| between > 0);
            classes.push((adapts.is_none() && !path.is_empty()).then(|| rates.add(&path, 1)));
            if let Some(adaptive) = adapts {
                // A part names its position among the classes, as its rate is asked for there.
                let (message, rng) = (classes.len() as u32 - 1, paths.stream_of_part(flow, part));
                adaptive.offer(Part { message, bytes: 1.0, ends, path, between, rng }, 0.0);
            }
        }
    }
    for part in adaptive.map_or(Ok(Vec::new()), |mut adaptive| adaptive.place(&paths, 0.0, None))? {
        classes[part.message as usize] = Some(rates.add(&part.path, 1));
    }
    rates.settle();
    let rate = |class: &Option<u32>| class.map_or(f64::INFINITY, |class| rates.rate(class));
    Ok(classes.chunks(config.paths as usize).map(|parts| parts.iter().map(rate).sum()).collect())
}

/// Rejects flows whose ends are no terminals.
fn check_ends(network: &Network, ends: impl Iterator<Item = [u32; 2]>) -> Result<()> {
    let terminals = network.num_terminals() as u32;
    let wrong = |end: &u32| *end >= terminals || !network.is_up(network.router_of(TerminalId(*end)));
    for (flow, ends) in ends.enumerate() {
        if let Some(end) = ends.iter().find(|end| wrong(end)) {
            let spec = network.spec();
            return Err(Error::Config(format!(
                "flow {flow} names the terminal {end}; {spec} has the terminals 0 to {}, without those of routers that \
                 have failed",
                terminals - 1
            )));
        }
    }
    Ok(())
}
