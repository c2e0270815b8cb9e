//! Minimal routing on a dragonfly: local, global, local (Kim et al., 2008). VC class = global hops taken.

use super::{Minimal, Step, UgalRule};
use crate::network::{LinkClass, Network, Peer, RouterId};
use crate::rng::Rng;

/// One global link as seen from a group: the router and output that it leaves by, the router it arrives at.
#[derive(Debug, Clone, Copy)]
struct Exit {
    router: u32,
    port: u16,
    peer: u32,
}

/// The first hop of a minimal path.
#[derive(Debug, Clone, Copy)]
pub struct FirstHop {
    /// Its output.
    pub port: u16,
    /// The router and the output of the global link behind it, if it leads to another router that has it.
    pub exit: Option<(RouterId, u16)>,
}

/// Local-global-local on any graph whose groups are complete and joined pairwise.
pub struct DragonflyMinimal {
    group: Vec<u32>,
    group_size: u32,
    groups: u32,
    /// Output to the i-th router of the own group, router by router.
    local: Vec<u16>,
    /// `exits[start[g * groups + t]..start[g * groups + t + 1]]` lead from group g to group t.
    start: Vec<u32>,
    exits: Vec<Exit>,
}

impl DragonflyMinimal {
    /// For a network with groups; `None` if it has none, or if a pair of groups has no link.
    pub fn new(network: &Network) -> Option<Self> {
        let group_size = network.any_structure().group_size()?;
        let routers = network.num_routers() as u32;
        let groups = routers / group_size;
        let group: Vec<u32> = (0..routers).map(|r| r / group_size).collect();
        let mut local = vec![u16::MAX; (routers * group_size) as usize];
        let mut exits: Vec<(u32, Exit)> = Vec::new();
        for router in network.routers() {
            for (port, at) in network.ports_of(router).iter().enumerate() {
                let Peer::Port(peer) = at.peer else { continue };
                let peer = network.ports()[peer.index()].router;
                if at.class == LinkClass::Global {
                    let pair = group[router.index()] * groups + group[peer.index()];
                    exits.push((pair, Exit { router: router.0, port: port as u16, peer: peer.0 }));
                } else {
                    local[(router.0 * group_size + peer.0 % group_size) as usize] = port as u16;
                }
            }
        }
        exits.sort_by_key(|(pair, exit)| (*pair, exit.router, exit.port));
        let mut start = vec![0u32; (groups * groups) as usize + 1];
        exits.iter().for_each(|(pair, _)| start[*pair as usize + 1] += 1);
        (0..start.len() - 1).for_each(|i| start[i + 1] += start[i]);
        let joined = |pair: u32| pair / groups == pair % groups || start[pair as usize] < start[pair as usize + 1];
        if !(0..groups * groups).all(joined) {
            return None;
        }
        let exits = exits.into_iter().map(|(_, exit)| exit).collect();
        Some(Self { group, group_size, groups, local, start, exits })
    }

    /// True if two routers are in one group.
    pub fn same_group(&self, a: RouterId, b: RouterId) -> bool {
        self.group[a.index()] == self.group[b.index()]
    }

    #[inline(always)]
    fn exits(&self, from: RouterId, to: RouterId) -> &[Exit] {
        let pair = (self.group[from.index()] * self.groups + self.group[to.index()]) as usize;
        &self.exits[self.start[pair] as usize..self.start[pair + 1] as usize]
    }

    /// Hops from `at` to `to` by way of `exit`.
    #[inline(always)]
    fn cost(exit: &Exit, at: RouterId, to: RouterId) -> u32 {
        u32::from(exit.router != at.0) + 1 + u32::from(exit.peer != to.0)
    }

    /// The exits that are on a shortest path.
    fn best(&self, at: RouterId, to: RouterId) -> impl Iterator<Item = &Exit> + Clone {
        let exits = self.exits(at, to);
        let least = exits.iter().map(|exit| Self::cost(exit, at, to)).min().unwrap_or(0);
        exits.iter().filter(move |exit| Self::cost(exit, at, to) == least)
    }

    /// The first hop of the path that [`Minimal::step`] draws.
    #[inline(always)]
    pub fn first_hop(&self, at: RouterId, target: RouterId, rng: &mut Rng) -> FirstHop {
        if self.same_group(at, target) {
            return FirstHop { port: self.local_step(at, target.0, 0).port, exit: None };
        }
        let exit = self.drawn_exit(at, target, rng);
        let beyond = (exit.router != at.0).then_some((RouterId(exit.router), exit.port));
        FirstHop { port: self.towards(at, exit, 0).port, exit: beyond }
    }

    /// One of the exits on a shortest path to another group.
    #[inline(always)]
    fn drawn_exit(&self, at: RouterId, target: RouterId, rng: &mut Rng) -> &Exit {
        let exits = self.exits(at, target);
        if let [exit] = exits {
            return exit;
        }
        let best = self.best(at, target);
        let drawn = rng.below(best.clone().count() as u32) as usize;
        best.into_iter().nth(drawn).expect("drawn below the count")
    }

    #[inline(always)]
    fn local_step(&self, at: RouterId, to: u32, taken: u32) -> Step {
        let port = self.local[(at.0 * self.group_size + to % self.group_size) as usize];
        Step { port, class: taken as u8, bits: taken }
    }

    #[inline(always)]
    fn towards(&self, at: RouterId, exit: &Exit, taken: u32) -> Step {
        if exit.router == at.0 {
            Step { port: exit.port, class: taken as u8, bits: taken + 1 }
        } else {
            self.local_step(at, exit.router, taken)
        }
    }
}

impl Minimal for DragonflyMinimal {
    fn classes(&self) -> u32 {
        self.groups.min(2)
    }

    fn steps(&self, at: RouterId, bits: u32, target: RouterId, out: &mut Vec<Step>) {
        if self.group[at.index()] == self.group[target.index()] {
            out.push(self.local_step(at, target.0, bits));
            return;
        }
        for exit in self.best(at, target) {
            let step = self.towards(at, exit, bits);
            if !out.contains(&step) {
                out.push(step);
            }
        }
    }

    /// Every exit is as likely as the others; several may lie behind one output.
    fn likely_steps(&self, at: RouterId, bits: u32, target: RouterId, mut visit: impl FnMut(f64, Step)) {
        if self.group[at.index()] == self.group[target.index()] {
            return visit(1.0, self.local_step(at, target.0, bits));
        }
        let best = self.best(at, target);
        let each = 1.0 / best.clone().count() as f64;
        best.into_iter().for_each(|exit| visit(each, self.towards(at, exit, bits)));
    }

    #[inline(always)]
    fn step(&self, at: RouterId, bits: u32, target: RouterId, rng: &mut Rng) -> Step {
        if self.group[at.index()] == self.group[target.index()] {
            return self.local_step(at, target.0, bits);
        }
        self.towards(at, self.drawn_exit(at, target, rng), bits)
    }

    #[inline(always)]
    fn only_output(&self, at: RouterId, target: RouterId) -> Option<u16> {
        if self.group[at.index()] == self.group[target.index()] {
            return Some(self.local_step(at, target.0, 0).port);
        }
        let [exit] = self.exits(at, target) else { return None };
        Some(self.towards(at, exit, 0).port)
    }

    #[inline(always)]
    fn hops(&self, from: RouterId, to: RouterId) -> u32 {
        if from == to {
            return 0;
        }
        if self.group[from.index()] == self.group[to.index()] {
            return 1;
        }
        self.exits(from, to).iter().map(|exit| Self::cost(exit, from, to)).min().unwrap_or(0)
    }

    #[inline(always)]
    fn eject_class(&self, bits: u32) -> Option<u8> {
        Some(bits as u8)
    }

    fn ugal(&self) -> UgalRule {
        UgalRule { weights: Some((1, 2)), bias: 3, bias_by_sent: 30 }
    }

    /// Only a third group makes a detour.
    #[inline(always)]
    fn candidate(&self, src: RouterId, dst: RouterId, routers: u32, rng: &mut Rng) -> Option<RouterId> {
        let (from, to) = (self.group[src.index()], self.group[dst.index()]);
        if from == to {
            return None;
        }
        let via = RouterId(rng.below(routers));
        let group = self.group[via.index()];
        (group != from && group != to).then_some(via)
    }
}
