//! Rings in which most tasks only pass on what reaches them, after a fixed time.
//!
//! A task sends one message at a time. If its flow shares no channel, a message takes it T seconds, and its links take L
//! more. Where T is the least of all tasks, messages reach it at least T apart, so that none ever waits: the task is a
//! delay line. A row of such tasks is one, too: what comes in leaves it as much later as the row is long. Before the first
//! message has come through, it sends what its tasks have had since the start, one after the other. So all of its times
//! are a sum, and only tasks are simulated whose flows share channels, or that are slower than others.

use std::collections::{HashMap, VecDeque};

use super::Case;
use super::flows::Flows;
use crate::flow::record::{CriticalPath, FlowResult, MessageTimes, PATH_STEPS, Record, Step, Symbolic};
use crate::flow::{Rates, Sharing};
use crate::watch::Control;
use crate::workload::{Parts, Stage};

/// Times and rates that differ by less than this part are the same.
const SAME: f64 = 1e-12;
/// Comparisons of simulated tasks in a run, at most: each event looks at all of them.
const MOST: u128 = 1 << 31;
/// Events between two looks whether the run is to stop.
const EVENTS: u64 = 1 << 12;
/// No task before this one in its circle is simulated.
const NONE: usize = usize::MAX;

/// Runs a ring by the tasks that do more than pass on; none if these are too many, or if costs of endpoints or several
/// parts make messages wait.
pub(super) fn run(case: &Case, stage: Stage, flows: &Flows, control: &dyn Control) -> Option<FlowResult> {
    let regular = case.regular;
    if !regular.in_order() || regular.parts() != Parts::ONE || case.config.endpoint.is_some() {
        return None;
    }
    let steps = u32::try_from(regular.messages() / flows.members as u128).ok()?;
    let lines = Lines::of(flows, stage)?;
    let simulated = lines.heads.iter().enumerate().filter(|(place, head)| place == *head).count() as u128;
    if 2 * simulated > flows.members as u128 || simulated * simulated * u128::from(steps) > MOST {
        return None;
    }
    let mut run = Run::new(case, &lines, steps);
    let completed = run.all(control);
    Some(run.result(completed))
}

/// The members of a ring, in the order in which data goes round, circle by circle: *places*. A circle begins with a task that
/// is simulated, if it has one.
struct Lines<'a> {
    flows: &'a Flows,
    members: Vec<u32>,
    /// The position of each member.
    places: Vec<u32>,
    /// Where the circle of each place begins and ends.
    circles: Vec<[u32; 2]>,
    /// The last place up to each one that is simulated, in its circle.
    heads: Vec<usize>,
    /// Seconds of the links of all positions before each one, and of all.
    before_s: Vec<f64>,
    /// Bytes per second of the flow of each member alone.
    alone: Vec<f64>,
    /// Seconds of a message at a task that passes on, without its links.
    own_s: f64,
}

impl<'a> Lines<'a> {
    /// Those of a stage; none if messages take no time.
    fn of(flows: &'a Flows, stage: Stage) -> Option<Self> {
        let n = flows.members;
        let capacities = |flow: usize| flows.links.path(flow).iter().map(|channel| flows.capacities[*channel as usize]);
        let alone: Vec<f64> = (0..n).map(|flow| capacities(flow).fold(f64::INFINITY, f64::min)).collect();
        let most = alone.iter().copied().fold(0.0, f64::max);
        let own_s = flows.bytes / most;
        if !own_s.is_normal() {
            return None;
        }
        let shares = |flow: usize| flows.kept_of(flow).any(|channel| flows.crossings.count(channel) > 1);
        let simulated: Vec<bool> = (0..n).map(|flow| alone[flow] < most * (1.0 - SAME) || shares(flow)).collect();
        let next = |member: usize| stage.circle.on(member, stage.first as usize, n);
        let (mut members, mut circles, mut seen) = (Vec::with_capacity(n), vec![[0; 2]; n], vec![false; n]);
        for from in (0..n).filter(|member| simulated[*member]).chain(0..n) {
            let (begin, mut member) = (members.len(), from);
            while !seen[member] {
                seen[member] = true;
                members.push(member as u32);
                member = next(member);
            }
            circles[begin..members.len()].fill([begin as u32, members.len() as u32]);
        }
        let (mut places, mut heads, mut before_s) = (vec![0; n], Vec::with_capacity(n), vec![0.0]);
        for (place, member) in members.iter().map(|member| *member as usize).enumerate() {
            places[member] = place as u32;
            let before = if circles[place][0] as usize == place { NONE } else { heads[place - 1] };
            heads.push(if simulated[member] { place } else { before });
            before_s.push(before_s[place] + flows.delays[member]);
        }
        Some(Self { flows, members, places, circles, heads, before_s, alone, own_s })
    }

    fn is_simulated(&self, place: usize) -> bool {
        self.heads[place] == place
    }

    /// The place before another one, and that place as the end of a row: both in its circle.
    fn before(&self, place: usize) -> (usize, usize) {
        let [begin, end] = self.circles[place].map(|bound| bound as usize);
        let end = if place == begin { end } else { place };
        (end - 1, end)
    }

    /// Seconds from when the first of these places begins with a message until the last has passed it on.
    fn through_s(&self, first: usize, end: usize) -> f64 {
        (end - first) as f64 * self.own_s + self.links_s(first, end)
    }

    /// Seconds of the links of these positions.
    fn links_s(&self, first: usize, end: usize) -> f64 {
        self.before_s[end] - self.before_s[first]
    }

    /// Seconds that a message takes through this many positions before one of a circle, none of which is simulated.
    fn round_s(&self, place: usize, steps: usize) -> f64 {
        let [first, last] = self.circles[place].map(|bound| bound as usize);
        let length = last - first;
        let from = first + (place - first + length - steps % length) % length;
        steps as f64 * self.own_s + self.sum_from(&self.before_s, from, steps)
    }

    /// The sum over this many positions of a circle from one on.
    fn sum_from(&self, sums: &[f64], place: usize, steps: usize) -> f64 {
        let [first, last] = self.circles[place].map(|bound| bound as usize);
        let (rounds, rest) = (steps / (last - first), steps % (last - first));
        let (end, sum) = (place + rest, |from: usize, to: usize| sums[to] - sums[from]);
        let rest = match end <= last {
            true => sum(place, end),
            false => sum(place, last) + sum(first, first + end - last),
        };
        rounds as f64 * sum(first, last) + rest
    }
}

/// A task that is simulated.
struct Task {
    place: usize,
    /// Tasks before it that pass on, and which one is simulated behind it.
    before: usize,
    next: usize,
    /// Seconds from when a message has left until it is at the next one.
    to_next_s: f64,
    /// When messages reach it that have come through tasks that are simulated.
    arrivals: VecDeque<f64>,
    /// A channel of its own, which limits it alone, and those that it shares.
    path: Vec<u32>,
    between: f64,
    /// The message that it sends or is to send.
    message: u32,
    /// Its class of flows while it sends.
    class: Option<u32>,
    served: f64,
    since: f64,
    rate: f64,
    /// When each message began, and when it had left.
    times: Vec<[f64; 2]>,
}

impl Task {
    /// When its message of this many bytes will have left, if it sends one.
    fn ends(&self, bytes: f64) -> Option<f64> {
        self.class.map(|_| self.since + (bytes - self.served) / self.rate)
    }

    /// When it begins with its next message, which may not be known yet.
    fn begins(&self, lines: &Lines, now: f64) -> f64 {
        let waited = self.message as usize;
        let (_, end) = lines.before(self.place);
        let arrival = match waited <= self.before {
            true => lines.through_s(end - waited, end),
            false => self.arrivals.front().copied().unwrap_or(f64::INFINITY),
        };
        arrival.max(now)
    }
}

/// A run of the tasks that are simulated.
struct Run<'a> {
    case: &'a Case<'a>,
    lines: &'a Lines<'a>,
    /// Messages of each task.
    steps: u32,
    simulated: Vec<Task>,
    rates: Rates,
    record: Record,
    now: f64,
}

impl<'a> Run<'a> {
    fn new(case: &'a Case, lines: &'a Lines, steps: u32) -> Self {
        let (flows, mut numbers) = (lines.flows, HashMap::new());
        let mut rates = Rates::new(0, [], Sharing::MaxMin);
        let places: Vec<usize> = (0..flows.members).filter(|place| lines.is_simulated(*place)).collect();
        let is_shared = |channel: &u32| flows.crossings.count(*channel) > 1;
        let simulated = places.iter().map(|&place| {
            let flow = lines.members[place] as usize;
            let (last, end) = lines.before(place);
            let mut path = vec![rates.add_channel(lines.alone[flow])];
            path.extend(flows.kept_of(flow).filter(is_shared).map(|channel| {
                *numbers.entry(channel).or_insert_with(|| rates.add_channel(flows.capacities[channel as usize]))
            }));
            Task {
                place,
                before: end - 1 - lines.heads[last],
                next: 0,
                to_next_s: 0.0,
                arrivals: VecDeque::new(),
                path,
                between: flows.links.between(flow),
                message: 0,
                class: None,
                served: 0.0,
                since: 0.0,
                rate: 0.0,
                times: vec![[f64::NAN; 2]; steps as usize],
            }
        });
        let mut simulated: Vec<Task> = simulated.collect();
        for at in 0..simulated.len() {
            let (last, end) = lines.before(simulated[at].place);
            let head = lines.heads[last];
            let before = places.partition_point(|place| *place < head);
            simulated[before].next = at;
            simulated[before].to_next_s = lines.links_s(head, head + 1) + lines.through_s(head + 1, end);
        }
        Self { case, lines, steps, simulated, rates, record: case.record(0.0), now: 0.0 }
    }

    /// Simulates all of them; false if the run was stopped.
    fn all(&mut self, control: &dyn Control) -> bool {
        self.begin(0.0);
        while let Some(time) = self.next_event() {
            self.record.pass(self.now, time);
            self.now = time;
            self.record.events += 1;
            let until = time * (1.0 + SAME);
            let bytes = self.lines.flows.bytes;
            for at in 0..self.simulated.len() {
                if self.simulated[at].ends(bytes).is_some_and(|end| end <= until) {
                    self.complete(at);
                }
            }
            self.begin(until);
            if self.record.events.is_multiple_of(EVENTS) {
                if control.cancelled() {
                    return false;
                }
                let least = self.simulated.iter().map(|own| own.message).min().unwrap_or(0);
                control.progress(u64::from(least) * self.lines.flows.members as u64);
            }
        }
        true
    }

    /// When a message leaves next, or one begins.
    fn next_event(&self) -> Option<f64> {
        let bytes = self.lines.flows.bytes;
        let of = |own: &Task| match own.ends(bytes) {
            Some(end) => end,
            None if own.message < self.steps => own.begins(self.lines, self.now),
            None => f64::INFINITY,
        };
        let time = self.simulated.iter().map(of).fold(f64::INFINITY, f64::min);
        time.is_finite().then_some(time.max(self.now))
    }

    /// A message has left its task.
    fn complete(&mut self, at: usize) {
        let own = &mut self.simulated[at];
        own.times[own.message as usize][1] = self.now;
        own.message += 1;
        if let Some(class) = own.class.take() {
            self.rates.leave(class, 1);
        }
        let (next, arrives) = (own.next, self.now + own.to_next_s);
        self.simulated[next].arrivals.push_back(arrives);
    }

    /// All tasks begin that can until a time, and the rates are those of all that are under way.
    fn begin(&mut self, until: f64) {
        for own in &mut self.simulated {
            if own.class.is_some() || own.message >= self.steps || own.begins(self.lines, self.now) > until {
                continue;
            }
            if own.message as usize > own.before {
                own.arrivals.pop_front();
            }
            own.times[own.message as usize][0] = self.now;
            own.class = Some(self.rates.add(&own.path, 1));
            (own.served, own.since, own.rate) = (0.0, self.now, 0.0);
        }
        self.share();
    }

    /// The rates of all messages under way, after some have begun or left.
    fn share(&mut self) {
        self.rates.settle();
        let (mut changes, mut now) = (0, [0.0; 3]);
        for own in &mut self.simulated {
            let Some(class) = own.class else { continue };
            let rate = self.rates.rate(class);
            if rate != own.rate {
                own.served += own.rate * (self.now - own.since);
                (own.since, own.rate) = (self.now, rate);
                changes += 1;
            }
            now = [now[0] + rate, now[1] + rate * own.between, now[2] + 1.0];
        }
        self.record.rate_changes += changes;
        self.record.now = now;
        self.record.most_classes = self.record.most_classes.max(now[2] as usize + 1);
    }

    /// When a task begins with a message, by its place.
    fn begins(&self, place: usize, message: usize) -> f64 {
        let lines = self.lines;
        let head = lines.heads[place];
        if head == NONE {
            return lines.round_s(place, message);
        }
        if head == place {
            return self.of(place).times[message][0];
        }
        let behind = place - head;
        match message < behind {
            true => lines.through_s(place - message, place),
            false => {
                let left = self.of(head).times[message - behind][1];
                left + lines.links_s(head, head + 1) + lines.through_s(head + 1, place)
            }
        }
    }

    /// When a message has left its task.
    fn leaves(&self, place: usize, message: usize) -> f64 {
        match self.lines.is_simulated(place) {
            true => self.of(place).times[message][1],
            false => self.begins(place, message) + self.lines.own_s,
        }
    }

    /// When a message is delivered.
    fn arrives(&self, place: usize, message: usize) -> f64 {
        self.leaves(place, message) + self.lines.links_s(place, place + 1)
    }

    /// The simulated task at a place.
    fn of(&self, place: usize) -> &Task {
        &self.simulated[self.simulated.partition_point(|own| own.place < place)]
    }

    /// What is known once all has been simulated, or the run was stopped.
    fn result(mut self, completed: bool) -> FlowResult {
        let (case, flows) = (self.case, self.lines.flows);
        let mut record = std::mem::replace(&mut self.record, case.record(0.0));
        let none = (&|_| unreachable!("no message has an id"), &|_| 0.0);
        if !completed {
            return record.finish(case.network, none.0, none.1, self.now, false, case.config);
        }
        let (n, steps) = (flows.members, self.steps as usize);
        self.spread(&mut record);
        let all = f64::from(self.steps) * flows.bytes;
        flows.links.hops().iter().for_each(|channel| record.channel_bytes[*channel as usize] += all);
        record.flows = n as u64 * steps as u64;
        record.bytes = case.regular.bytes() as u64;
        let last = (0..n).max_by(|a, b| self.arrives(*a, steps - 1).total_cmp(&self.arrives(*b, steps - 1)));
        let last = last.expect("a ring has members");
        let makespan = self.arrives(last, steps - 1);
        let result = record.finish(case.network, none.0, none.1, makespan, true, case.config);
        let of_id = |id: usize| (self.lines.places[id % n] as usize, id / n);
        let times = |id: usize| {
            let (place, message) = of_id(id);
            [self.begins(place, message), self.arrives(place, message)]
        };
        let times =
            if case.regular.messages() > super::TOLD { Vec::new() } else { (0..n * steps).map(times).collect() };
        let symbolic = Some(Symbolic { way: "delay-lines", tasks: self.simulated.len() as u32 });
        let (messages, critical_path) = (Some(self.message_times()), self.critical_path(last));
        FlowResult { ideal_s: self.ideal_s(), messages, critical_path, symbolic, times, ..result }
    }

    /// Adds to the use over time what tasks pass on: row by row, evenly over the time that a message takes through it.
    fn spread(&self, record: &mut Record) {
        let (lines, flows, steps) = (self.lines, self.lines.flows, self.steps as usize);
        let crossed = |place: &u32| flows.links.between(*place as usize);
        let mut between = vec![0.0];
        for member in &lines.members {
            between.push(between[between.len() - 1] + crossed(member));
        }
        let mut row = |from: f64, first: usize, count: usize| {
            let seconds = count as f64 * lines.own_s + lines.sum_from(&lines.before_s, first, count);
            let channels = lines.sum_from(&between, first, count);
            let per_s = [count as f64, channels].map(|times| times * flows.bytes / seconds);
            record.spread(from, from + seconds, [per_s[0], per_s[1], count as f64 * lines.own_s / seconds]);
        };
        for own in &self.simulated {
            let next = &self.simulated[own.next];
            for (message, [_, left]) in own.times.iter().enumerate() {
                let count = next.before.min(steps - 1 - message);
                if count > 0 {
                    row(left + lines.links_s(own.place, own.place + 1), own.place + 1, count);
                }
            }
        }
        for place in (0..flows.members).filter(|place| !lines.is_simulated(*place)) {
            let until = match lines.heads[place] {
                NONE => steps,
                head => head + 1 + self.simulated[self.of(head).next].before - place,
            };
            row(0.0, place, until.min(steps));
        }
    }

    /// How long messages took: those of a task that passes on all the same.
    fn message_times(&self) -> MessageTimes {
        let (lines, flows) = (self.lines, self.lines.flows);
        let passing = (0..flows.members).filter(|place| !lines.is_simulated(*place));
        let mut took: Vec<(f64, u64)> =
            passing.map(|place| (lines.through_s(place, place + 1), self.steps.into())).collect();
        for own in &self.simulated {
            let links_s = lines.links_s(own.place, own.place + 1);
            took.extend(own.times.iter().map(|[begun, left]| (left - begun + links_s, 1)));
        }
        MessageTimes::weighted(took, flows.bytes / self.case.config.unit_rate(self.case.network))
    }

    /// What lets the last message of a place begin, and so on back to the start.
    fn critical_path(&self, last: usize) -> CriticalPath {
        let (lines, flows) = (self.lines, self.lines.flows);
        let (mut place, mut message) = (last, self.steps as usize - 1);
        let (mut end_s, mut left) = (self.arrives(place, message), false);
        let mut path = CriticalPath::default();
        loop {
            let (member, start_s) = (lines.members[place] as usize, self.begins(place, message));
            let alone_s = flows.alone_s[member];
            path.messages += 1;
            path.message_s += end_s - start_s;
            path.alone_s += if left { alone_s.min(end_s - start_s) } else { alone_s };
            let (before, _) = lines.before(place);
            if path.steps.len() < PATH_STEPS {
                let id = u32::try_from(message * flows.members + member).ok();
                let task = |place: usize| Some(self.case.regular.members()[lines.members[place] as usize]);
                let [begin, end] = lines.circles[place].map(|bound| bound as usize);
                let target = if place + 1 == end { begin } else { place + 1 };
                path.steps.push(Step { message: id, source: task(place), target: task(target), start_s, end_s });
            }
            if message == 0 {
                break;
            }
            message -= 1;
            // It begins when the one before has arrived, or has left its connection.
            left = self.arrives(before, message) < start_s * (1.0 - SAME);
            place = if left { place } else { before };
            end_s = start_s;
        }
        path.steps.reverse();
        path
    }

    /// What the makespan cannot be less than: data that goes round takes its time on an empty network, and terminals
    /// send and receive at their rates.
    fn ideal_s(&self) -> f64 {
        let (lines, flows, steps) = (self.lines, self.lines.flows, self.steps as usize);
        let [send, receive] = self.case.alone().terminal();
        let mut sums = vec![0.0];
        for member in &lines.members {
            let own_s = flows.alone_s[*member as usize].max(flows.bytes / receive);
            sums.push(sums[sums.len() - 1] + own_s);
        }
        let round = (0..flows.members).map(|place| lines.sum_from(&sums, place, steps)).fold(0.0, f64::max);
        let bytes = steps as f64 * flows.bytes;
        round.max(bytes / send).max(bytes / receive)
    }
}
