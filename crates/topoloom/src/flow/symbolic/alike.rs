//! Rings whose tasks are alike: one task stands for many.
//!
//! Every member of a ring sends to the same other one in each step. Tasks i and i + p are *alike* if their flows share
//! channels of the same capacities with flows of tasks that are alike in turn, and so do all tasks that come before and
//! behind them. Max-min fair rates are unique, so flows that are alike have one rate as long as they begin together; by
//! this they end together, and what waits for them begins together. The least p that holds is found by refinement:
//! channels differ by the flows that cross them, flows by the channels that they cross, and p is the period of the flows round the ring.
//!
//! Where the data goes in several parts, tasks have a flow on each channel, which goes round a circle of its own; members
//! are then alike if their flows are on all channels. Pieces that follow one another on a connection take one path.

use std::collections::HashMap;

use super::Case;
use super::flows::Flows;
use crate::error::Result;
use crate::flow::engine::{Engine, Facts};
use crate::flow::record::{FlowResult, Step, Symbolic};
use crate::rng::mix;
use crate::watch::Control;
use crate::workload::{Progress, Stage, Workload, ideal};

/// Tasks that stand for others, and what their flows share.
#[derive(Debug)]
pub struct Alike {
    /// Of the channels that distinguish flows, one of each kind.
    pub capacities: Vec<f64>,
    /// Tasks that each one stands for, itself included.
    pub copies: u32,
    /// Messages of a part in an iteration; parts go over this many channels in turn, by as many tasks.
    part: u32,
    channels: u32,
    period: u32,
    /// The channels of each kind of flow, each as many times as flows of that kind cross it.
    paths: Vec<Vec<u32>>,
    /// Channels between routers of all flows of a kind together.
    between: Vec<f64>,
    delays: Vec<f64>,
    /// What all channels carry of all messages, whose bytes these are.
    channel_bytes: Vec<f64>,
    bytes: f64,
}

impl Alike {
    /// The kind of the flow of a message, which a task sends: channel by channel, by its task.
    pub fn kind(&self, message: u32, source: u32) -> u32 {
        message / self.part % self.channels * self.period + source
    }

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
pub(super) fn run(case: &Case, stage: Stage, flows: &Flows, control: &dyn Control) -> Result<Option<FlowResult>> {
    let period = flows.period();
    if period == flows.members {
        return Ok(None);
    }
    let (kinds, alike) = (case.regular.of_kinds(case.spec, period as u32)?, flows.alike(case, period));
    let flow = |message: u32| {
        let kind = alike.kind(message, kinds.messages()[message as usize].source) as usize;
        kind / period * flows.members + kind % period
    };
    let ends = |message: u32| flows.ends[flow(message)];
    let alone_s = |message: u32| flows.alone_s[flow(message)];
    let ideal_s = case.alone().bound_by(&alone_s, |network| ideal(&kinds, network));
    let reduces = |message: u32| kinds.reduces(message);
    let message = |id: u32| kinds.messages()[id as usize];
    let (messages, tasks) = (kinds.messages().len(), period);
    let facts = Facts {
        messages,
        tasks,
        message: &message,
        ends: &ends,
        reduces: &reduces,
        alone_s: &alone_s,
        in_order: true,
        noted: None,
    };
    let engine = Engine::new(case.network, case.routing, facts, case.config, ideal_s, false);
    let (result, _) = engine.of_alike(&alike).run(&mut Progress::new(&kinds), control)?;
    Ok(Some(reported(case, stage, &kinds, result)))
}

/// The result of tasks that stand for others, as that of all.
fn reported(case: &Case, stage: Stage, kinds: &Workload, result: FlowResult) -> FlowResult {
    let (period, n) = (kinds.tasks() as usize, case.regular.members().len());
    let times = match case.regular.messages() <= super::TOLD {
        true => result.times.chunks(period).flat_map(|step| (0..n).map(|task| step[task % period])).collect(),
        false => Vec::new(),
    };
    let mut critical_path = result.critical_path;
    let part = (case.regular.messages_of_part() / n as u128) as usize * period;
    let (count, channels) = (case.regular.parts().count() as usize, case.regular.parts().channels);
    let orders: Vec<Vec<u32>> = (0..channels).map(|channel| case.regular.on_channel(channel)).collect();
    let channel = |part: usize| part % count % channels as usize;
    let on_connection = |part: usize| (part / count, channel(part));
    // Tasks of one kind only do not wait for their connections, as all are as fast.
    let waits = |message: usize, after: usize| period > 1 && message % period == after % period;
    // Any of the tasks that the last one stands for will do.
    let mut after: Option<(usize, usize, u32)> = None;
    for step in critical_path.steps.iter_mut().rev() {
        let Some(message) = step.message.map(|message| message as usize) else { continue };
        let own = message / part;
        let order = &orders[channel(own)];
        let at = match after {
            None => message % period,
            // What leaves the connection lets a message begin …
            Some((before, at, _)) if before == own && waits(message, at) => at,
            // … or what its source received in the step before …
            Some((before, at, _)) if before == own => (at + n - stage.first as usize % n) % n,
            // … or, of the same iteration, what leaves its connection …
            Some((before, at, _)) if on_connection(before) == on_connection(own) => at,
            // … or the end of the iteration before.
            Some((.., source)) => {
                let place = order.iter().position(|member| *member == source).unwrap_or(0);
                (place + n - stage.first as usize % n) % n
            }
        };
        let (source, target) = (order[at], order[stage.circle.on(at, stage.first as usize, n)]);
        let message = u32::try_from(message / period * n + at).ok();
        *step = Step { message, source: Some(source), target: Some(target), ..*step };
        after = Some((own, at, source));
    }
    let symbolic = Some(Symbolic { way: "alike", tasks: period as u32 });
    FlowResult { times, critical_path, symbolic, ..result }
}

impl Flows {
    /// The flows of a member, and what each of them states, in one number.
    fn of_member(&self, member: usize, of_flow: impl Fn(usize) -> u64) -> u64 {
        let flows = (0..self.channels).map(|channel| of_flow(channel * self.members + member));
        flows.fold(0, |all, own| mix(all ^ own))
    }

    /// The least p that divides the number of members, with which members i and i + p are alike for all i.
    fn period(&self) -> usize {
        let own = |flow: usize| mix(self.delays[flow].to_bits() ^ mix(self.alone_s[flow].to_bits()));
        // Where channels turn the members of hosts, whole hosts are alike.
        let on_host = |member: usize| mix((member % self.on_host) as u64);
        let of = |member: usize| mix(self.of_member(member, own) ^ on_host(member));
        let mut period = period_of(&(0..self.members).map(of).collect::<Vec<u64>>());
        loop {
            let channels = self.signatures(period);
            let crossed = |flow: usize| self.kept_of(flow).fold(0u64, |sum, at| sum.wrapping_add(channels[&at]));
            let distinct = |member: usize| mix(self.of_member(member, crossed) ^ mix((member % period) as u64));
            let refined = period_of(&(0..self.members).map(distinct).collect::<Vec<u64>>());
            if refined == period {
                return period;
            }
            period = refined;
        }
    }

    /// What distinguishes channels: their capacity, and how many flows of each kind cross them.
    fn signatures(&self, period: usize) -> HashMap<u32, u64> {
        let signature = |channel: u32| {
            let kind = |flow: &u32| mix(self.kind(*flow, period) as u64 + 1);
            let kinds = self.crossings.of_channel(channel).iter().map(kind).fold(0u64, u64::wrapping_add);
            mix(kinds ^ mix(self.capacities[channel as usize].to_bits()))
        };
        let kept = (0..self.kept.len() as u32).filter(|channel| self.kept[*channel as usize]);
        kept.map(|channel| (channel, signature(channel))).collect()
    }

    /// The kind of a flow, channel by channel.
    fn kind(&self, flow: u32, period: usize) -> usize {
        let flow = flow as usize;
        flow / self.members * period + flow % self.members % period
    }

    /// The first `period` tasks, which stand for all.
    fn alike(&self, case: &Case, period: usize) -> Alike {
        let (n, signatures) = (self.members, self.signatures(period));
        let firsts = || (0..self.channels).flat_map(|channel| (0..period).map(move |member| channel * n + member));
        let kinds = self.channels * period;
        let (mut places, mut capacities, mut paths) = (HashMap::new(), Vec::new(), vec![Vec::new(); kinds]);
        for channel in firsts().flat_map(|flow| self.kept_of(flow)) {
            let place = capacities.len() as u32;
            if places.insert(signatures[&channel], place).is_none() {
                capacities.push(self.capacities[channel as usize]);
                let flows = self.crossings.of_channel(channel).iter();
                flows.for_each(|flow| paths[self.kind(*flow, period)].push(place));
            }
        }
        let mut between = vec![0.0; kinds];
        (0..self.links.len() as u32)
            .for_each(|flow| between[self.kind(flow, period)] += self.links.between(flow as usize));
        let steps = case.regular.messages() as f64 / self.links.len() as f64;
        let mut channel_bytes = vec![0.0; self.capacities.len()];
        self.links.hops().iter().for_each(|channel| channel_bytes[*channel as usize] += steps * self.bytes);
        let delays = firsts().map(|flow| self.delays[flow]).collect();
        let (copies, bytes) = ((n / period) as u32, case.regular.bytes() as f64);
        let part = (case.regular.messages_of_part() / n as u128) as u32 * period as u32;
        let (channels, period) = (self.channels as u32, period as u32);
        Alike { capacities, copies, part, channels, period, paths, between, delays, channel_bytes, bytes }
    }
}

/// The least p that divides the length, with which what stands p positions further on is the same everywhere, in a circle.
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
    if circle.len().is_multiple_of(period) { period } else { circle.len() }
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
