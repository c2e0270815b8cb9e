//! Steps in each of which all messages have one rate: they begin together, end together, and so does the next step.
//!
//! Flows have one rate if every one of them crosses a channel of which the share, its capacity over the flows on it, is
//! the least of all: that is the level at which progressive filling begins, and then all are frozen.

use super::Case;
use super::ideal::Ideal;
use super::links::Links;
use crate::error::Result;
use crate::flow::Paths;
use crate::flow::record::{CriticalPath, FlowResult, MessageTimes, PATH_STEPS, Step, Symbolic};
use crate::flow::uncongested::Alone;
use crate::watch::Control;
use crate::workload::Stage;

/// Shares that differ by less than this part are equal.
const SAME: f64 = 1e-12;

/// Runs steps; none if the messages of some step differ in their rates or delays.
pub(super) fn run(case: &Case, control: &dyn Control) -> Result<Option<FlowResult>> {
    let members = case.regular.members().len();
    let mut steps = Steps {
        case,
        alone: case.alone(),
        links: Links::with_room(members),
        capacities: Paths::capacities(case.network, case.config).collect(),
        open: Vec::new(),
        alone_s: Vec::new(),
    };
    steps.open.resize(steps.capacities.len(), 0);
    let mut ideal = Ideal::new(case);
    let (mut ended, mut record) = (vec![0.0], case.record(0.0));
    for stage in case.regular.stages() {
        let Some((rate, delay_s)) = steps.take(stage)? else { return Ok(None) };
        let (bytes, flows) = (stage.bytes as f64, steps.links.len());
        let between: f64 = (0..flows).map(|flow| steps.links.between(flow)).sum();
        steps.links.hops().iter().for_each(|channel| {
            record.channel_bytes[*channel as usize] += bytes * f64::from(stage.steps);
        });
        record.most_classes = record.most_classes.max(flows);
        for _ in 0..stage.steps {
            if control.cancelled() {
                return Ok(Some(record.finish(
                    case.network,
                    &|_| unreachable!("none"),
                    &|_| 0.0,
                    0.0,
                    false,
                    case.config,
                )));
            }
            let start = ended[ended.len() - 1];
            record.now = [rate * flows as f64, rate * between, flows as f64];
            record.pass(start, start + bytes / rate);
            record.now = [0.0; 3];
            record.pass(start + bytes / rate, start + bytes / rate + delay_s);
            record.flows += flows as u64;
            record.bytes += flows as u64 * stage.bytes;
            record.events += 1 + u64::from(delay_s > 0.0);
            record.rate_changes += flows as u64;
            ended.push(start + bytes / rate + delay_s);
            ideal.step(stage, &steps.alone_s);
            control.progress(record.flows);
        }
    }
    let makespan = ended[ended.len() - 1];
    let result = record.finish(case.network, &|_| unreachable!("none"), &|_| 0.0, makespan, true, case.config);
    Ok(Some(FlowResult { ideal_s: ideal.end(), ..reported(case, &ended, result) }))
}

/// The flows of a step.
struct Steps<'a> {
    case: &'a Case<'a>,
    alone: Alone<'a>,
    links: Links,
    capacities: Vec<f64>,
    /// Flows on each channel; none between steps.
    open: Vec<u32>,
    /// Seconds that each message of the step takes alone, by the positions that it goes and then by its source.
    alone_s: Vec<f64>,
}

impl Steps<'_> {
    /// The rate of all messages of a step, and the seconds of their links; none if they differ.
    fn take(&mut self, stage: &Stage) -> Result<Option<(f64, f64)>> {
        let Self { case, alone, links, capacities, open, alone_s } = self;
        let (mut delay_s, mut differ) = (None, false);
        links.clear();
        alone_s.clear();
        for shift in stage.first..=stage.last {
            for member in 0..case.regular.members().len() {
                let ends = case.ends(&case.regular.message(member, shift, stage));
                let path = links.add(case, ends)?;
                path.iter().for_each(|channel| open[*channel as usize] += 1);
                alone_s.push(alone.seconds_on(stage.bytes as f64, ends, path));
                let own = case.paths.delay_s(ends, path.iter().copied());
                differ |= path.is_empty() || *delay_s.get_or_insert(own) != own;
            }
        }
        let share = |channel: &u32| capacities[*channel as usize] / f64::from(open[*channel as usize]);
        let least = links.hops().iter().map(share).fold(f64::INFINITY, f64::min);
        let has_least = |flow| links.path(flow).iter().any(|channel| share(channel) <= least * (1.0 + SAME));
        let together = !differ && (0..links.len()).all(has_least);
        links.hops().iter().for_each(|channel| open[*channel as usize] = 0);
        Ok(delay_s.filter(|_| together).map(|delay_s| (least, delay_s)))
    }
}

/// The result with what is known of messages; `ended` holds the times at which steps begin and end.
fn reported(case: &Case, ended: &[f64], result: FlowResult) -> FlowResult {
    let (members, unit_rate) = (case.regular.members().len(), case.config.unit_rate(case.network));
    let steps: Vec<(&[f64], &Stage)> = ended.windows(2).zip(case.regular.steps()).collect();
    let own_s = |stage: &Stage| stage.bytes as f64 / unit_rate;
    let (mut took, mut stretches, mut first) = (Vec::new(), [0.0, 0.0f64], 0);
    // The first message of each step.
    let mut firsts = Vec::with_capacity(steps.len());
    for (times, stage) in &steps {
        let (time, shifts) = (times[1] - times[0], stage.shifts());
        took.extend((0..shifts).map(|_| time));
        let [sum, most] = stretches;
        let stretch = time / own_s(stage);
        stretches = [sum + stretch * f64::from(shifts), most.max(stretch)];
        firsts.push(first);
        first += members * shifts as usize;
    }
    let (mut critical_path, mut member, alone) = (CriticalPath::default(), members - 1, case.alone());
    for (number, (times, stage)) in steps.iter().enumerate().rev() {
        let own = case.regular.message(member, stage.first, stage);
        critical_path.alone_s += alone.on_idle_paths(&own, case.ends(&own));
        if critical_path.steps.len() < PATH_STEPS {
            let (message, [start_s, end_s]) = (u32::try_from(firsts[number] + member).ok(), [times[0], times[1]]);
            let (source, target) = (Some(own.source), Some(own.target));
            critical_path.steps.push(Step { message, source, target, start_s, end_s });
        }
        // What let it begin is what its source received in the step before.
        let before = number.checked_sub(1).map(|before| steps[before].1);
        member = before.map_or(member, |before| before.circle.back(member, before.first as usize, members));
    }
    critical_path.steps.reverse();
    critical_path.messages = steps.len();
    critical_path.message_s = steps.iter().map(|(times, _)| times[1] - times[0]).sum();
    let messages = MessageTimes::of(took, members as u64, stretches);
    let symbolic = Some(Symbolic { way: "lock-step", tasks: members as u32 });
    FlowResult { messages, critical_path, symbolic, ..result }
}
