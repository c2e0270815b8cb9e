//! Rings whose tasks are alike: one task stands for many.
//!
//! Every member of a ring sends to the same other one in each step. Tasks i and i + p are *alike* if their flows share
//! channels of the same capacities with flows of tasks that are alike in turn, and so do all tasks that come before and
//! behind them. Max-min fair rates are unique, so flows that are alike have one rate as long as they begin together; by
//! this they end together, and what waits for them begins together. The least p that holds is found by refinement:
//! channels differ by the flows that cross them, flows by the channels that they cross, and p is the period of the flows round the ring.
//!
//! Channels that can never fill up before another one on the paths of all their flows change no rate. They are left out
//! first, one by one, each by the channels that are left.

use std::collections::HashMap;

use super::Case;
use super::links::{Crossings, Links};
use crate::error::Result;
use crate::flow::engine::{Engine, Facts};
use crate::flow::record::{FlowResult, Step, Symbolic};
use crate::flow::{FlowConfig, Paths};
use crate::network::TerminalId;
use crate::rng::mix;
use crate::watch::Control;
use crate::workload::{Message, Progress, Stage, Workload, ideal};

/// The times of so many messages are reported one by one.
const TOLD: u128 = 1 << 22;

/// Tasks that stand for others, and what their flows share.
#[derive(Debug)]
pub struct Alike {
    /// Of the channels that distinguish flows, one of each kind.
    pub capacities: Vec<f64>,
    /// Tasks that each one stands for, itself included.
    pub copies: u32,
    /// The channels of each task's flow, each as many times as flows of that kind cross it.
    paths: Vec<Vec<u32>>,
    /// Channels between routers of all flows of a kind together.
    between: Vec<f64>,
    delays: Vec<f64>,
    /// What all channels carry of all messages, whose bytes these are.
    channel_bytes: Vec<f64>,
    bytes: f64,
}

impl Alike {
    /// The channels of a kind of flows.
    pub fn path(&self, kind: u32) -> &[u32] {
        &self.paths[kind as usize]
    }

    /// Seconds of their links.
    pub fn delay_s(&self, kind: u32) -> f64 {
        self.delays[kind as usize]
    }

    /// How many flows of a kind there are, and how many channels between routers they have together.
    pub fn weights(&self, kind: u32) -> (f64, f64) {
        (self.copies.into(), self.between[kind as usize])
    }

    /// What each channel of the network has carried once messages of that many bytes have arrived.
    pub fn channel_bytes(&self, bytes: u64) -> Vec<f64> {
        let done = bytes as f64 / self.bytes;
        self.channel_bytes.iter().map(|all| all * done).collect()
    }
}

/// Runs a ring by tasks that stand for others; none if no two are alike.
pub(super) fn run(case: &Case, stage: Stage, control: &dyn Control) -> Result<Option<FlowResult>> {
    let Some(flows) = Flows::of(case, stage)? else { return Ok(None) };
    let period = flows.period();
    if period == flows.links.len() {
        return Ok(None);
    }
    let (kinds, alike) = (case.regular.of_kinds(case.spec, period as u32)?, flows.alike(case, period));
    let ends = |message: u32| flows.ends[kinds.messages()[message as usize].source as usize];
    let alone_s = |message: u32| flows.alone_s[kinds.messages()[message as usize].source as usize];
    let ideal_s = case.alone().bound_by(&alone_s, |network| ideal(&kinds, network));
    let reduces = |message: u32| kinds.reduces(message);
    let message = |id: u32| kinds.messages()[id as usize];
    let (messages, tasks) = (kinds.messages().len(), period);
    let facts = Facts { messages, tasks, message: &message, ends: &ends, reduces: &reduces, noted: None };
    let engine = Engine::new(case.network, case.routing, facts, case.config, ideal_s, false);
    let (result, _) = engine.of_alike(&alike).run(&mut Progress::new(&kinds), control)?;
    Ok(Some(reported(case, stage, &kinds, result)))
}

/// The result of tasks that stand for others, as that of all.
fn reported(case: &Case, stage: Stage, kinds: &Workload, result: FlowResult) -> FlowResult {
    let (period, n) = (kinds.tasks() as usize, case.regular.members().len());
    let times = match case.regular.messages() <= TOLD {
        true => result.times.chunks(period).flat_map(|step| (0..n).map(|task| step[task % period])).collect(),
        false => Vec::new(),
    };
    let mut critical_path = result.critical_path;
    // Any of the tasks that the last one stands for will do; each message was let begin by what its source received.
    let mut member = None;
    for step in critical_path.steps.iter_mut().rev() {
        let Some(message) = step.message.map(|message| message as usize) else { continue };
        let at = member.unwrap_or(message % period);
        let Message { source, target, .. } = case.regular.message(at, stage.first, &stage);
        let message = u32::try_from(message / period * n + at).ok();
        *step = Step { message, source: Some(source), target: Some(target), ..*step };
        member = Some((at + n - stage.first as usize % n) % n);
    }
    let symbolic = Some(Symbolic { way: "alike", tasks: period as u32 });
    FlowResult { times, critical_path, symbolic, ..result }
}

/// One flow of each member.
struct Flows {
    ends: Vec<[TerminalId; 2]>,
    links: Links,
    crossings: Crossings,
    capacities: Vec<f64>,
    /// Whether a channel distinguishes flows.
    kept: Vec<bool>,
    delays: Vec<f64>,
    /// Seconds that a message takes alone.
    alone_s: Vec<f64>,
    /// Bytes of a message, with headers.
    bytes: f64,
}

impl Flows {
    /// Those of a stage; none if messages do not go through the network.
    fn of(case: &Case, stage: Stage) -> Result<Option<Self>> {
        let n = case.regular.members().len();
        let (alone, mut links) = (case.alone(), Links::with_room(n));
        let (mut delays, mut alone_s) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let ends: Vec<[TerminalId; 2]> =
            (0..n).map(|member| case.ends(&case.regular.message(member, stage.first, &stage))).collect();
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
        let mut flows = Self { ends, links, crossings, capacities, kept, delays, alone_s, bytes };
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
    fn kept_of(&self, flow: usize) -> impl Iterator<Item = u32> + '_ {
        self.links.path(flow).iter().copied().filter(|channel| self.kept[*channel as usize])
    }

    /// The least p that divides the number of members, with which members i and i + p are alike for all i.
    fn period(&self) -> usize {
        let own = |flow: usize| mix(self.delays[flow].to_bits() ^ mix(self.alone_s[flow].to_bits()));
        let mut period = period_of(&(0..self.links.len()).map(own).collect::<Vec<u64>>());
        loop {
            let channels = self.signatures(period);
            let crossed = |flow: usize| self.kept_of(flow).fold(0u64, |sum, at| sum.wrapping_add(channels[&at]));
            let distinct = |flow: usize| mix(crossed(flow) ^ mix((flow % period) as u64));
            let refined = period_of(&(0..self.links.len()).map(distinct).collect::<Vec<u64>>());
            if refined == period {
                return period;
            }
            period = refined;
        }
    }

    /// What distinguishes channels: their capacity, and how many flows of each kind cross them.
    fn signatures(&self, period: usize) -> HashMap<u32, u64> {
        let signature = |channel: u32| {
            let kind = |flow: &u32| mix(u64::from(*flow) % period as u64 + 1);
            let kinds = self.crossings.of_channel(channel).iter().map(kind).fold(0u64, u64::wrapping_add);
            mix(kinds ^ mix(self.capacities[channel as usize].to_bits()))
        };
        let kept = (0..self.kept.len() as u32).filter(|channel| self.kept[*channel as usize]);
        kept.map(|channel| (channel, signature(channel))).collect()
    }

    /// The first `period` tasks, which stand for all.
    fn alike(&self, case: &Case, period: usize) -> Alike {
        let (n, signatures) = (self.links.len(), self.signatures(period));
        let (mut places, mut capacities, mut paths) = (HashMap::new(), Vec::new(), vec![Vec::new(); period]);
        for channel in (0..period).flat_map(|flow| self.kept_of(flow)) {
            let place = capacities.len() as u32;
            if places.insert(signatures[&channel], place).is_none() {
                capacities.push(self.capacities[channel as usize]);
                self.crossings.of_channel(channel).iter().for_each(|flow| paths[*flow as usize % period].push(place));
            }
        }
        let mut between = vec![0.0; period];
        (0..n).for_each(|flow| between[flow % period] += self.links.between(flow));
        let steps = case.regular.messages() as f64 / n as f64;
        let mut channel_bytes = vec![0.0; self.capacities.len()];
        self.links.hops().iter().for_each(|channel| channel_bytes[*channel as usize] += steps * self.bytes);
        let delays = self.delays[..period].to_vec();
        let (copies, bytes) = ((n / period) as u32, case.regular.bytes() as f64);
        Alike { capacities, copies, paths, between, delays, channel_bytes, bytes }
    }
}

/// Bytes of a message with what its packets carry beside them.
fn carried(config: &FlowConfig, bytes: u64) -> f64 {
    config.endpoint.as_ref().map_or(bytes, |costs| costs.carried(bytes)) as f64
}

/// The least p that divides the length, with which what stands p places further on is the same everywhere, in a circle.
fn period_of(circle: &[u64]) -> usize {
    // For each prefix, the longest one that it ends with (Knuth, Morris and Pratt, 1977).
    let (mut borders, mut border) = (vec![0; circle.len()], 0);
    for place in 1..circle.len() {
        while border > 0 && circle[place] != circle[border] {
            border = borders[border - 1];
        }
        border += usize::from(circle[place] == circle[border]);
        borders[place] = border;
    }
    let period = circle.len() - border;
    if circle.len() % period == 0 { period } else { circle.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_go_round() {
        for (circle, period) in [("aaaa", 1), ("abab", 2), ("ababa", 5), ("abcabc", 3), ("aab", 3), ("abaaba", 3)] {
            assert_eq!(period_of(&circle.bytes().map(u64::from).collect::<Vec<u64>>()), period, "{circle}");
        }
    }
}
