//! What a collective puts on the channels of a network: of all that two ranks send each other, the paths.

use std::collections::BTreeMap;

use super::fluid::Load;
use crate::error::Result;
use crate::flow::{FlowConfig, Paths};
use crate::network::{Network, TerminalId};
use crate::routing::AnyRouting;
use crate::workload::{Circle, Message, Regular, Workload};

/// Flows at most that stand for all between the terminals of two routers, and paths at most that are drawn for each.
const MOST_DRAWS: usize = 4;

/// Finds loads, one after the other.
pub(super) struct Loads<'a> {
    network: &'a Network,
    paths: Paths<'a>,
    parts: usize,
    pub capacities: Vec<f64>,
    /// Bytes on each channel, and the channels that have some.
    bytes: Vec<f64>,
    touched: Vec<u32>,
    /// Bytes that each terminal sends and receives; zeros between loads.
    ends: Vec<[f64; 2]>,
    limits: [bool; 2],
}

/// What goes from one router to another: bytes, and the terminals of some of its flows.
type Between = BTreeMap<(u32, u32), (f64, Vec<[TerminalId; 2]>)>;

impl<'a> Loads<'a> {
    pub fn new(network: &'a Network, routing: &'a AnyRouting, config: &FlowConfig) -> Self {
        let capacities: Vec<f64> = Paths::capacities(network, config).collect();
        Self {
            network,
            paths: Paths::new(network, routing, config),
            parts: config.paths as usize,
            bytes: vec![0.0; capacities.len()],
            capacities,
            touched: Vec::new(),
            ends: vec![[0.0; 2]; network.num_terminals()],
            limits: config.limits(network).map(|limit| limit.is_some()),
        }
    }

    /// The load of a collective whose tasks run on these terminals.
    pub fn of(&mut self, workload: &Workload, terminals: &[u32]) -> Result<Load> {
        let mut between = Between::new();
        let (bytes, flows) = match workload.regular() {
            Some(regular) => self.of_rule(regular, terminals, &mut between),
            None => self.of_list(workload.messages(), terminals, &mut between),
        };
        self.walk(&between)?;
        self.leave(terminals);
        Ok(self.finish(bytes, flows))
    }

    /// Adds what two terminals send.
    fn add(&mut self, [source, target]: [u32; 2], bytes: f64, between: &mut Between) {
        self.ends[source as usize][0] += bytes;
        self.ends[target as usize][1] += bytes;
        let ends = [source, target].map(TerminalId);
        let routers = ends.map(|end| self.network.router_of(end).0);
        let (sum, some) = between.entry((routers[0], routers[1])).or_default();
        *sum += bytes;
        if some.len() < MOST_DRAWS {
            some.push(ends);
        }
    }

    fn of_list(&mut self, messages: &[Message], terminals: &[u32], between: &mut Between) -> (f64, u64) {
        let mut pairs: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        for message in messages {
            *pairs.entry((message.source, message.target)).or_default() += message.bytes as f64;
        }
        for ((source, target), bytes) in &pairs {
            self.add([*source, *target].map(|task| terminals[task as usize]), *bytes, between);
        }
        (pairs.values().sum(), pairs.len() as u64)
    }

    fn of_rule(&mut self, regular: &Regular, terminals: &[u32], between: &mut Between) -> (f64, u64) {
        let parts = regular.parts();
        if parts.on_host > 1 {
            // Each channel has a circle of its own.
            let each: Vec<(f64, u64)> = (0..parts.channels)
                .map(|channel| {
                    self.of_circle(regular, &regular.on_channel(channel), parts.pieces.into(), terminals, between)
                })
                .collect();
            return each.into_iter().fold((0.0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
        }
        self.of_circle(regular, regular.members(), parts.count() as f64, terminals, between)
    }

    /// This many parts of the data, round one circle of members.
    fn of_circle(
        &mut self,
        regular: &Regular,
        members: &[u32],
        parts: f64,
        terminals: &[u32],
        between: &mut Between,
    ) -> (f64, u64) {
        let members: Vec<u32> = members.iter().map(|task| terminals[*task as usize]).collect();
        let n = members.len();
        if regular.stages().any(|stage| stage.circle != Circle::All) {
            return self.of_circles(regular, &members, between);
        }
        let mut shifts = vec![0.0; n];
        for stage in regular.stages() {
            let bytes = stage.bytes as f64 * f64::from(stage.steps) * parts;
            (stage.first..=stage.last).for_each(|shift| shifts[shift as usize % n] += bytes);
        }
        let used: Vec<usize> = (1..n).filter(|shift| shifts[*shift] > 0.0).collect();
        let bytes = used.iter().map(|shift| shifts[*shift]).sum::<f64>() * n as f64;
        if used.len() == n - 1 && used.iter().all(|shift| shifts[*shift] == shifts[1]) {
            self.everybody(&members, shifts[1], between);
        } else {
            for shift in &used {
                (0..n).for_each(|at| self.add([members[at], members[(at + shift) % n]], shifts[*shift], between));
            }
        }
        (bytes, used.len() as u64 * n as u64)
    }

    /// Messages within rows and columns of the members.
    fn of_circles(&mut self, regular: &Regular, members: &[u32], between: &mut Between) -> (f64, u64) {
        let (n, mut flows) = (members.len(), 0);
        for stage in regular.stages() {
            let bytes = stage.bytes as f64 * f64::from(stage.steps);
            for shift in stage.first..=stage.last {
                let to = |at: usize| members[stage.circle.on(at, shift as usize, n)];
                (0..n).for_each(|at| self.add([members[at], to(at)], bytes, between));
                flows += n as u64;
            }
        }
        (regular.bytes() as f64, flows)
    }

    /// All send to all others: by the numbers of terminals on routers.
    fn everybody(&mut self, members: &[u32], bytes: f64, between: &mut Between) {
        let mut on: BTreeMap<u32, Vec<TerminalId>> = BTreeMap::new();
        for member in members {
            let all = bytes * (members.len() - 1) as f64;
            let end = &mut self.ends[*member as usize];
            *end = [end[0] + all, end[1] + all];
            let terminal = TerminalId(*member);
            on.entry(self.network.router_of(terminal).0).or_default().push(terminal);
        }
        for (from, sources) in &on {
            for (to, targets) in on.iter().filter(|(to, _)| *to != from) {
                let flows = sources.len() * targets.len();
                // Other terminals for other routers: some routings choose the path by its ends.
                let of = |draw: usize| {
                    let [source, target] = [*to, *from].map(|other| other as usize + draw);
                    [sources[source % sources.len()], targets[target % targets.len()]]
                };
                between.insert((*from, *to), (bytes * flows as f64, (0..flows.min(MOST_DRAWS)).map(of).collect()));
            }
        }
    }

    /// Puts everything on the paths between routers.
    fn walk(&mut self, between: &Between) -> Result<()> {
        let (mut path, before) = (Vec::new(), self.paths.before());
        for ((from, to), (bytes, flows)) in between {
            if from == to {
                continue;
            }
            let draws = self.parts.min(MOST_DRAWS);
            for ends in flows {
                let mut rng = self.paths.stream(ends[0], ends[1]);
                for _ in 0..draws {
                    path.clear();
                    let hops = self.paths.walk(ends[0], ends[1], &mut rng, &mut path)? as usize;
                    for channel in &path[before..before + hops] {
                        put(&mut self.bytes, &mut self.touched, *channel, bytes / (draws * flows.len()) as f64);
                    }
                }
            }
        }
        Ok(())
    }

    /// Puts what terminals send and receive on their channels.
    fn leave(&mut self, terminals: &[u32]) {
        let ports = self.network.ports().len() as u32;
        for terminal in terminals {
            let [sent, received] = std::mem::take(&mut self.ends[*terminal as usize]);
            let port = self.network.terminal_port(TerminalId(*terminal)).0;
            for (channel, bytes, limited) in
                [(ports + terminal, sent, self.limits[0]), (port, received, self.limits[1])]
            {
                if limited && bytes > 0.0 {
                    put(&mut self.bytes, &mut self.touched, channel, bytes);
                }
            }
        }
    }

    /// The load of what has been put on channels.
    fn finish(&mut self, bytes: f64, flows: u64) -> Load {
        let mut channels: Vec<(u32, f64)> = Vec::with_capacity(self.touched.len());
        for channel in self.touched.drain(..) {
            let own = std::mem::take(&mut self.bytes[channel as usize]);
            channels.push((channel, own / self.capacities[channel as usize]));
        }
        channels.sort_unstable_by_key(|(channel, _)| *channel);
        let alone_s = channels.iter().map(|(_, seconds)| *seconds).fold(0.0, f64::max);
        if alone_s <= 0.0 {
            return Load::default();
        }
        channels.iter_mut().for_each(|(_, part)| *part /= alone_s);
        Load { channels, alone_s, flow_rate: bytes / flows as f64 / alone_s }
    }
}

fn put(all: &mut [f64], touched: &mut Vec<u32>, channel: u32, bytes: f64) {
    let own = &mut all[channel as usize];
    if *own == 0.0 {
        touched.push(channel);
    }
    *own += bytes;
}
