//! The flows of a ring: one of each member on each channel, and the channels that decide how fast they are.
//!
//! Channels that can never fill up before another one on the paths of all their flows change no rate. They are left out
//! first, one by one, each by the channels that are left.

use super::Case;
use super::links::{Crossings, Links};
use crate::error::Result;
use crate::flow::{FlowConfig, Paths};
use crate::network::TerminalId;
use crate::workload::{Stage, turned};

/// One flow of each member on each channel.
pub(super) struct Flows {
    pub members: usize,
    /// Channels that have a circle of their own, or all of them.
    pub channels: usize,
    pub on_host: usize,
    pub ends: Vec<[TerminalId; 2]>,
    pub links: Links,
    pub crossings: Crossings,
    pub capacities: Vec<f64>,
    /// Whether a channel distinguishes flows.
    pub kept: Vec<bool>,
    pub delays: Vec<f64>,
    /// Seconds that a message takes alone.
    pub alone_s: Vec<f64>,
    /// Bytes of a message, with headers.
    pub bytes: f64,
}

impl Flows {
    /// Those of a stage; none if messages do not go through the network.
    pub fn of(case: &Case, stage: Stage) -> Result<Option<Self>> {
        let (n, parts) = (case.regular.members().len(), case.regular.parts());
        let (channels, on_host) = (parts.channels as usize, parts.on_host as usize);
        let (alone, mut links) = (case.alone(), Links::with_room(n * channels));
        let (mut delays, mut alone_s) = (Vec::with_capacity(n * channels), Vec::with_capacity(n * channels));
        let mut ends = Vec::with_capacity(n * channels);
        for channel in 0..parts.channels {
            // By the position of the source among all members.
            let places = turned(&(0..n as u32).collect::<Vec<u32>>(), channel, on_host);
            let first = ends.len();
            ends.resize(first + n, [TerminalId(0); 2]);
            for (at, place) in places.iter().enumerate() {
                let other = places[stage.circle.on(at, stage.first as usize, n)];
                let task = |place: u32| case.mapping.terminal(case.regular.members()[place as usize]);
                ends[first + *place as usize] = [task(*place), task(other)];
            }
        }
        for own in &ends {
            let path = links.add(case, *own)?;
            if path.is_empty() {
                return Ok(None);
            }
            delays.push(case.paths.delay_s(*own, path.iter().copied()));
            alone_s.push(alone.seconds_on(stage.bytes as f64, *own, path));
        }
        let capacities: Vec<f64> = Paths::capacities(case.network, case.config).collect();
        let crossings = Crossings::of(&links, capacities.len());
        let kept = (0..capacities.len() as u32).map(|channel| crossings.count(channel) > 0).collect();
        let bytes = carried(case.config, stage.bytes);
        let members = n;
        let mut flows =
            Self { members, channels, on_host, ends, links, crossings, capacities, kept, delays, alone_s, bytes };
        flows.leave_out();
        Ok(Some(flows))
    }

    /// Leaves out the channels that others imply, wide ones first, and those of few flows first.
    fn leave_out(&mut self) {
        let mut order: Vec<u32> = (0..self.kept.len() as u32).filter(|channel| self.kept[*channel as usize]).collect();
        let capacity = |channel: &u32| self.capacities[*channel as usize];
        let count = |channel: &u32| self.crossings.count(*channel);
        order.sort_by(|a, b| capacity(b).total_cmp(&capacity(a)).then(count(a).cmp(&count(b))).then(b.cmp(a)));
        for channel in order {
            self.kept[channel as usize] = !self.is_implied(channel);
        }
    }

    /// True if the channels that are kept let no more through to a channel than it can carry.
    fn is_implied(&self, channel: u32) -> bool {
        let flows = self.crossings.of_channel(channel);
        if flows.windows(2).any(|pair| pair[0] == pair[1]) {
            return false;
        }
        let capacity = |channel: u32| self.capacities[channel as usize];
        let others = |flow: u32| self.kept_of(flow as usize).filter(move |other| *other != channel);
        let shared = |other: u32| flows.iter().all(|flow| self.links.path(*flow as usize).contains(&other));
        let least = |flow: &u32| others(*flow).map(capacity).fold(f64::INFINITY, f64::min);
        others(flows[0]).any(|other| capacity(other) <= capacity(channel) && shared(other))
            || flows.iter().map(least).sum::<f64>() <= capacity(channel)
    }

    /// The channels of a flow that distinguish it.
    pub fn kept_of(&self, flow: usize) -> impl Iterator<Item = u32> + '_ {
        self.links.path(flow).iter().copied().filter(|channel| self.kept[*channel as usize])
    }
}

/// Bytes of a message with what its packets carry beside them.
fn carried(config: &FlowConfig, bytes: u64) -> f64 {
    config.endpoint.as_ref().map_or(bytes, |costs| costs.carried(bytes)) as f64
}
