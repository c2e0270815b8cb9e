//! Messages of one size that all begin together: rates are found once.
//!
//! A flow's bottleneck is full, and no flow on it has a higher rate. Of flows of one size those with the highest rates
//! are complete first. What is left then has its bottlenecks as before: the flows on a bottleneck have its rate or a
//! lower one, so they are all still under way, and it stays full. No rate ever changes; a message takes its bytes over
//! the rate that it begins with.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Case;
use super::links::{Crossings, Links};
use crate::error::{Error, Result};
use crate::flow::Paths;
use crate::flow::record::{CriticalPath, FlowResult, MessageTimes, Record, Step, Symbolic};
use crate::memory::available_memory;
use crate::watch::Control;
use crate::workload::Stage;

/// Bytes of memory that a flow takes, and each channel of its path.
const FLOW_BYTES: f64 = 40.0;
const HOP_BYTES: f64 = 8.0;
/// Flows between two looks for a cancellation.
const LOOK: usize = 1 << 16;
/// Completions that differ by less than this part of the time are at the same instant.
const SAME: f64 = 1e-12;

/// Flows that freeze at one channel.
struct Level {
    rate: f64,
    flows: f64,
    /// Channels between routers of all of them.
    between: f64,
}

/// Runs a collective of one step; none if messages do not go through the network.
pub(super) fn run(case: &Case, stage: Stage, control: &dyn Control) -> Result<Option<FlowResult>> {
    let Some(flows) = Flows::of(case, stage, control)? else { return Ok(None) };
    let capacities: Vec<f64> = Paths::capacities(case.network, case.config).collect();
    let each = f64::from(stage.shifts()) * stage.bytes as f64;
    let [send_s, receive_s] = case.alone().terminal().map(|rate| each / rate);
    let ideal_s = send_s.max(receive_s).max(flows.alone_s);
    let mut record = case.record(ideal_s);
    if control.cancelled() {
        return Ok(Some(record.finish(case.network, &|_| unreachable!("none"), &|_| 0.0, 0.0, false, case.config)));
    }
    let (rates, mut levels) = filled(&flows.links, &capacities);
    let bytes = stage.bytes as f64;
    (record.flows, record.bytes) = (rates.len() as u64, rates.len() as u64 * stage.bytes);
    (record.rate_changes, record.most_classes) = (rates.len() as u64, rates.len());
    flows.links.hops().iter().for_each(|channel| record.channel_bytes[*channel as usize] += bytes);
    levels.sort_by(|a, b| b.rate.total_cmp(&a.rate));
    record.now = levels.iter().fold([0.0; 3], |[bytes, channels, flows], level| {
        let rate = level.rate * level.flows;
        [bytes + rate, channels + level.rate * level.between, flows + level.flows]
    });
    let mut now = 0.0;
    for level in &levels {
        let time = bytes / level.rate;
        record.pass(now, time);
        record.events += u64::from(time > now * (1.0 + SAME));
        now = time;
        let [bytes, channels, flows] = &mut record.now;
        *bytes -= level.rate * level.flows;
        *channels -= level.rate * level.between;
        *flows -= level.flows;
    }
    // What rounding leaves is not to be carried on.
    record.now = [0.0; 3];
    Ok(Some(flows.reported(case, stage, &rates, (record, now))))
}

/// The flows of the step, by the positions that they go and then by their source.
struct Flows {
    links: Links,
    /// Seconds of the links of each path; empty if no link takes any.
    delays: Vec<f64>,
    /// The longest that one takes alone.
    alone_s: f64,
}

impl Flows {
    fn of(case: &Case, stage: Stage, control: &dyn Control) -> Result<Option<Self>> {
        let members = case.regular.members().len();
        let count = members * stage.shifts() as usize;
        let alone = case.alone();
        let (mut links, mut delays, mut alone_s) = (Links::with_room(0), Vec::new(), 0.0f64);
        for flow in 0..count {
            if flow % LOOK == members.min(LOOK - 1) {
                guard_memory(case, count, &links)?;
                control.progress(flow as u64);
                if control.cancelled() {
                    break;
                }
            }
            let shift = stage.first + (flow / members) as u32;
            let ends = case.ends(&case.regular.message(flow % members, shift, &stage));
            let path = links.add(case, ends)?;
            if path.is_empty() {
                return Ok(None);
            }
            alone_s = alone_s.max(alone.seconds_on(stage.bytes as f64, ends, path));
            if case.paths.have_delays() {
                delays.push(case.paths.delay_s(ends, path.iter().copied()));
            }
        }
        Ok(Some(Self { links, delays, alone_s }))
    }

    /// The result, with what is known of messages, of which the last has been sent at a time.
    fn reported(&self, case: &Case, stage: Stage, rates: &[f64], (mut record, sent): (Record, f64)) -> FlowResult {
        let delay = |flow: usize| self.delays.get(flow).copied().unwrap_or(0.0);
        let took: Vec<f64> =
            rates.iter().enumerate().map(|(flow, rate)| stage.bytes as f64 / rate + delay(flow)).collect();
        let makespan = took.iter().copied().fold(0.0, f64::max);
        record.pass(sent, makespan);
        // Of those that are complete at the same instant, the last one by its number.
        let last = took.iter().rposition(|end| *end >= makespan * (1.0 - SAME)).unwrap_or(0);
        let members = case.regular.members().len();
        let message = case.regular.message(last % members, stage.first + (last / members) as u32, &stage);
        let own_s = stage.bytes as f64 / case.config.unit_rate(case.network);
        let stretches = [took.iter().sum::<f64>() / own_s, makespan / own_s];
        let [source, target] = [message.source, message.target].map(Some);
        let step = Step { message: u32::try_from(last).ok(), source, target, start_s: 0.0, end_s: makespan };
        let critical_path = CriticalPath {
            messages: 1,
            message_s: makespan,
            alone_s: case.alone().on_idle_paths(&message, case.ends(&message)),
            steps: vec![step],
            ..CriticalPath::default()
        };
        let result = record.finish(case.network, &|_| message, &|_| 0.0, makespan, true, case.config);
        let times = took.iter().map(|end| [0.0, *end]).collect();
        let messages = MessageTimes::of(took, 1, stretches);
        let symbolic = Some(Symbolic { way: "at-once", tasks: members as u32 });
        FlowResult { times, messages, critical_path, symbolic, ..result }
    }
}

/// Rejects this many flows if they would not fit, by the paths of the first ones.
fn guard_memory(case: &Case, count: usize, links: &Links) -> Result<()> {
    let hops = links.hops().len() as f64 / links.len().max(1) as f64;
    let (need, available) = ((count - links.len()) as f64 * (FLOW_BYTES + HOP_BYTES * hops), available_memory());
    if need <= available as f64 && count as f64 * hops < f64::from(u32::MAX) {
        return Ok(());
    }
    Err(Error::TooLarge(format!(
        "{}: {count} messages are to be under way at the same time, which needs about {} GB; {} GB are available",
        case.spec,
        (need / 1e9).ceil(),
        available / 1_000_000_000
    )))
}

/// Max-min fair rates by progressive filling, and the flows that froze together.
fn filled(links: &Links, capacities: &[f64]) -> (Vec<f64>, Vec<Level>) {
    let crossings = Crossings::of(links, capacities.len());
    let mut left = capacities.to_vec();
    let mut open: Vec<u32> = (0..capacities.len() as u32).map(|channel| crossings.count(channel)).collect();
    let mut rates = vec![0.0; links.len()];
    let mut levels = Vec::new();
    // Numbers from 0 up are in the order of their bits.
    let share = |left: f64, open: u32| (left.max(0.0) / f64::from(open)).to_bits();
    let used = (0..capacities.len() as u32).filter(|channel| open[*channel as usize] > 0);
    let mut heap: BinaryHeap<Reverse<(u64, u32)>> =
        used.map(|channel| Reverse((share(left[channel as usize], open[channel as usize]), channel))).collect();
    while let Some(Reverse((queued, channel))) = heap.pop() {
        let at = channel as usize;
        if open[at] == 0 {
            continue;
        }
        let now = share(left[at], open[at]);
        if now > queued {
            // Others have frozen at a lower level since, and have left it more.
            heap.push(Reverse((now, channel)));
            continue;
        }
        let mut level = Level { rate: f64::from_bits(now), flows: 0.0, between: 0.0 };
        for &flow in crossings.of_channel(channel) {
            let rate = &mut rates[flow as usize];
            if *rate > 0.0 {
                continue;
            }
            *rate = level.rate;
            level.flows += 1.0;
            level.between += links.between(flow as usize);
            for &hop in links.path(flow as usize) {
                left[hop as usize] -= level.rate;
                open[hop as usize] -= 1;
            }
        }
        levels.push(level);
    }
    (rates, levels)
}
