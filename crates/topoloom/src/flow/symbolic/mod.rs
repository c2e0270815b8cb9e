//! Regular collectives without a list of their messages.
//!
//! Four methods, each with the result of the list to within rounding; where none holds, each message is simulated by itself,
//! and made when it can be [sent](rounds):
//!
//! - Round a ring, tasks whose flows are [alike](alike) share one entry for the whole run.
//! - Where they are not, those that share no channel only [pass on](delay_lines) what reaches them, after a fixed time:
//!   all others are simulated.
//! - Messages of one size that all begin together keep the rates that they begin with ([`at_once`]).
//! - Where all messages of each step have one rate, the steps follow one another in [lock-step](lock_step): those of
//!   collectives in two levels, too, first within hosts and then across them.

mod alike;
mod at_once;
mod delay_lines;
mod flows;
mod ideal;
mod links;
mod lock_step;
mod rounds;
#[cfg(test)]
mod tests;

pub use alike::Alike;

use super::record::Record;
use super::uncongested::Alone;
use super::{FlowConfig, FlowResult, Paths, Sharing};
use crate::error::Result;
use crate::network::{Network, TerminalId};
use crate::routing::AnyRouting;
use crate::watch::Control;
use crate::workload::{Endpoint, Mapping, Message, Regular, Workload};

/// The times of this many messages are reported one by one.
const TOLD: u128 = 1 << 22;

/// A regular collective on a network.
struct Case<'a> {
    network: &'a Network,
    routing: &'a AnyRouting,
    spec: &'a str,
    regular: &'a Regular,
    mapping: &'a Mapping,
    config: &'a FlowConfig,
    paths: Paths<'a>,
}

/// Runs a workload by its rule; none if it has none, or if only a list gives its result.
///
/// # Errors
/// As [`run`](super::run).
pub fn run(
    network: &Network,
    routing: &AnyRouting,
    workload: &Workload,
    mapping: &Mapping,
    config: &FlowConfig,
    control: &dyn Control,
) -> Result<Option<FlowResult>> {
    let Some(regular) = workload.regular() else { return Ok(None) };
    let (paths, spec) = (Paths::new(network, routing, config), workload.spec());
    let exact = config.model == Sharing::MaxMin && config.paths == 1 && config.coalesce == 0.0 && !paths.adapt();
    if !exact || !config.symmetry.is_wanted(regular.messages()) {
        return Ok(None);
    }
    let case = Case { network, routing, spec, regular, mapping, config, paths };
    Ok(match by_rule(&case, control)? {
        Some(result) => Some(result),
        None => rounds::run(&case, control)?,
    })
}

/// Runs a collective by what its rule states about all messages; none if these have to be simulated one by one.
fn by_rule(case: &Case, control: &dyn Control) -> Result<Option<FlowResult>> {
    let each = |costs: &Endpoint| costs.rendezvous.is_some() || costs.window.is_some();
    let alone = case.config.endpoint.as_ref().is_some_and(each);
    // Pieces on rings of their own drift apart where links take time: what rounding does to lists grows from step to step.
    let parts = case.regular.parts();
    if parts.pieces > 1 && parts.on_host > 1 && case.paths.have_delays() {
        return Ok(None);
    }
    if let Some(stage) = case.regular.only().filter(|_| !alone) {
        let Some(flows) = flows::Flows::of(case, stage)? else { return Ok(None) };
        return Ok(match alike::run(case, stage, &flows, control)? {
            Some(result) => Some(result),
            None => delay_lines::run(case, stage, &flows, control),
        });
    }
    if case.config.endpoint.is_some() {
        return Ok(None);
    }
    let mut steps = case.regular.steps();
    match (steps.next(), steps.next()) {
        (Some(stage), None) => at_once::run(case, *stage, control),
        _ => lock_step::run(case, control),
    }
}

impl Case<'_> {
    /// The terminals of a message.
    fn ends(&self, message: &Message) -> [TerminalId; 2] {
        [message.source, message.target].map(|task| self.mapping.terminal(task))
    }

    /// Messages alone on their paths.
    fn alone(&self) -> Alone<'_> {
        Alone::new(self.network, self.routing, &[], &|_| unreachable!("their paths are known"), self.config)
    }

    /// What is written down of a run, of no message by itself.
    fn record(&self, ideal_s: f64) -> Record {
        let channels = Paths::capacities(self.network, self.config).count();
        Record::new(channels, 0, self.config, self.config.unit_rate(self.network), ideal_s)
    }
}
