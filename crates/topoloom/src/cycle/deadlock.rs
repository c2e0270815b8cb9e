//! The watchdog: finds packets that can never move again, exactly, and names the routers.
//!
//! An input VC is *live* if it can move, or if something that it waits for is live. What is left when no more can be
//! found live waits for itself: a deadlock, even while the rest of the network continues.

use serde::Serialize;

use super::channels::TERMINAL;
use super::engine::Engine;
use super::router::{RouterModel, Wait};

/// Packets that wait for each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Deadlock {
    /// The cycle in which it was found.
    pub cycle: u32,
    /// Routers that hold packets which can never move.
    pub routers: Vec<u32>,
    /// Routers of one circle of waiting.
    pub circle: Vec<u32>,
    /// Flits that can never move.
    pub flits: u64,
}

/// Looks for a deadlock in the present state.
pub fn find<M: RouterModel>(engine: &Engine<'_, M>, stride: u32, cut_through: bool) -> Option<Deadlock> {
    let graph = Graph::new(engine, stride, cut_through);
    let dead = graph.dead();
    if dead.is_empty() {
        return None;
    }
    let mut routers: Vec<u32> = dead.iter().map(|&vc| graph.router(vc)).collect();
    routers.sort_unstable();
    routers.dedup();
    let flits = dead.iter().map(|&vc| u64::from(graph.flits(vc))).sum();
    Some(Deadlock { cycle: engine.now, routers, circle: graph.circle(&dead), flits })
}

/// The waits-for graph: VCs of the whole network, `port id * stride + vc`.
struct Graph<'e, 'a, M> {
    engine: &'e Engine<'a, M>,
    stride: u32,
    /// Packets take all their slots at once.
    cut_through: bool,
    /// [`RouterModel::in_stages`] of each domain.
    in_stages: Vec<Vec<u32>>,
}

impl<'e, 'a, M: RouterModel> Graph<'e, 'a, M> {
    fn new(engine: &'e Engine<'a, M>, stride: u32, cut_through: bool) -> Self {
        let in_stages = engine.domains.iter().map(|domain| domain.model.in_stages()).collect();
        Self { engine, stride, cut_through, in_stages }
    }

    /// The domain of a VC, and its number there.
    fn local(&self, vc: u32) -> (usize, u32) {
        let domains = &self.engine.domains;
        let domain = domains.partition_point(|d| d.first_port * self.stride <= vc) - 1;
        (domain, vc - domains[domain].first_port * self.stride)
    }

    fn flits(&self, vc: u32) -> u32 {
        let (domain, local) = self.local(vc);
        self.engine.domains[domain].model.flits(local) + self.in_stages(domain, local)
    }

    /// Flits in the stages of VC `local` of a domain.
    fn in_stages(&self, domain: usize, local: u32) -> u32 {
        self.in_stages[domain].get(local as usize).copied().unwrap_or(0)
    }

    fn router(&self, vc: u32) -> u32 {
        self.engine.network.ports()[(vc / self.stride) as usize].router.0
    }

    /// The VC at the other end of the link; `None` for a terminal.
    fn peer(&self, vc: u32) -> Option<u32> {
        let (domain, local) = self.local(vc);
        let (channels, port) = (&self.engine.domains[domain].channels, (local / self.stride) as usize);
        let (to, other) = (channels.ends[port].to, channels.wires.links[port].domain);
        let base = self.engine.domains[usize::from(other)].first_port * self.stride;
        (to & TERMINAL == 0).then(|| base + to + local % self.stride)
    }

    /// The input VCs that a VC waits for; `None` if it can move, or something that is under way will let it move.
    fn waits(&self, vc: u32) -> Option<Vec<u32>> {
        let (domain, local) = self.local(vc);
        if self.in_stages(domain, local) > 0 {
            return None;
        }
        let first = self.engine.domains[domain].first_port * self.stride;
        let model = &self.engine.domains[domain].model;
        match model.waits_for(local) {
            Wait::Nothing => None,
            Wait::Credit(output) => self.room(first, model, output),
            Wait::Vcs(outputs) => {
                let mut waits = Vec::new();
                for output in outputs {
                    match model.owner(output) {
                        Some(owner) => waits.push(first + owner),
                        None => waits.extend(self.room(first, model, output)?),
                    }
                }
                Some(waits)
            }
            // Under virtual cut-through whatever has passed a router in flight has room for all that follows it.
            Wait::Flit if self.cut_through => None,
            Wait::Flit => {
                let upstream = self.peer(vc)?;
                let (domain, local) = self.local(upstream);
                let first = self.engine.domains[domain].first_port * self.stride;
                let feeder = first + self.engine.domains[domain].model.owner(local)?;
                // An empty feeder may have sent its flits already: they are on the wire.
                Some(vec![feeder])
            }
        }
    }

    /// The input VCs that make room in output VC `output` of the domain that begins at VC `first`, if they move;
    /// `None` if flits or credits still on the wire will change things.
    fn room(&self, first: u32, model: &M, output: u32) -> Option<Vec<u32>> {
        let mut waits = Vec::new();
        for taker in model.takers(output) {
            let downstream = self.peer(first + taker)?;
            match model.owner(taker) {
                // It has taken slots for flits that it has still to send.
                Some(owner) if self.cut_through => waits.push(first + owner),
                _ if model.taken(taker) > self.flits(downstream) => return None,
                _ => {}
            }
            waits.push(downstream);
        }
        Some(waits)
    }

    /// Input VCs that can never move again.
    fn dead(&self) -> Vec<u32> {
        let vcs = self.engine.network.ports().len() as u32 * self.stride;
        let waits: Vec<Option<Vec<u32>>> = (0..vcs).map(|vc| self.waits(vc)).collect();
        let mut waiters = vec![Vec::new(); vcs as usize];
        for (vc, targets) in waits.iter().enumerate() {
            targets.iter().flatten().for_each(|&t| waiters[t as usize].push(vc as u32));
        }
        let mut live: Vec<bool> = waits.iter().map(Option::is_none).collect();
        let mut queue: Vec<u32> = (0..vcs).filter(|&vc| live[vc as usize]).collect();
        while let Some(vc) = queue.pop() {
            for &waiter in &waiters[vc as usize] {
                if !std::mem::replace(&mut live[waiter as usize], true) {
                    queue.push(waiter);
                }
            }
        }
        (0..vcs).filter(|&vc| !live[vc as usize]).collect()
    }

    /// Follows the waiting from one dead VC until it closes.
    fn circle(&self, dead: &[u32]) -> Vec<u32> {
        let mut path: Vec<u32> = vec![dead[0]];
        loop {
            let targets = self.waits(path[path.len() - 1]).unwrap_or_default();
            let Some(&next) = targets.iter().find(|t| dead.binary_search(t).is_ok()) else { return Vec::new() };
            if let Some(start) = path.iter().position(|&vc| vc == next) {
                let mut routers: Vec<u32> = path[start..].iter().map(|&vc| self.router(vc)).collect();
                routers.dedup();
                // The cycle closes: its first router need not be listed at its end as well.
                if routers.len() > 1 && routers.first() == routers.last() {
                    routers.pop();
                }
                return routers;
            }
            path.push(next);
        }
    }
}
