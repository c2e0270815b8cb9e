//! Minimal routing on a dragonfly: local, global, local (Kim et al., 2008). VC class = global hops taken.

use super::channels::ChannelEnds;
use super::global_links::GlobalLinks;
use super::{Minimal, Step, UgalRule};
use crate::network::{Network, PortId, RouterId};
use crate::rng::Rng;

/// One global link as seen from a group: the router and output that it leaves by, the router it arrives at.
#[derive(Debug, Clone, Copy)]
struct Exit {
    output: PortId,
    router: u32,
    port: u16,
    peer: u32,
}

/// The first hop of a minimal path.
#[derive(Debug, Clone, Copy)]
pub struct FirstHop {
    /// Its output.
    pub port: u16,
    /// The output to the global link behind it, if it leads to another router that has it.
    pub exit: Option<PortId>,
}

/// Local-global-local on any graph whose groups are complete and joined pairwise.
pub struct DragonflyMinimal {
    links: GlobalLinks,
    group_size: u32,
    /// Output to the i-th router of the own group, router by router.
    local: Vec<u16>,
    /// The global links in the order of `links`.
    exits: Vec<Exit>,
}

impl DragonflyMinimal {
    /// For a network with groups; `None` if it has none, or if a pair of groups has no link.
    pub fn new(network: &Network) -> Option<Self> {
        let (links, group_size) = (GlobalLinks::new(network)?, network.any_structure().group_size()?);
        let mut local = vec![u16::MAX; network.num_routers() * group_size as usize];
        for router in network.routers() {
            for (port, peer) in network.neighbors(router).filter(|(_, peer)| links.group(router) == links.group(*peer))
            {
                local[(router.0 * group_size + peer.0 % group_size) as usize] = port as u16;
            }
        }
        let channels = ChannelEnds::new(network);
        let exit = |&output: &PortId| {
            let (router, port) = network.local_port(output);
            Exit { output, router: router.0, port: port as u16, peer: channels.behind(output).0 }
        };
        let exits = links.outputs().iter().map(exit).collect();
        Some(Self { links, group_size, local, exits })
    }

    /// The global links of all groups.
    pub(super) fn links(&self) -> &GlobalLinks {
        &self.links
    }

    /// True if two routers are in one group.
    pub fn same_group(&self, a: RouterId, b: RouterId) -> bool {
        self.links.group(a) == self.links.group(b)
    }

    #[inline(always)]
    fn exits(&self, from: RouterId, to: RouterId) -> &[Exit] {
        &self.exits[self.links.between(from, to)]
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
        let beyond = (exit.router != at.0).then_some(exit.output);
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
        self.links.groups().min(2)
    }

    fn steps(&self, at: RouterId, bits: u32, target: RouterId, out: &mut Vec<Step>) {
        if self.same_group(at, target) {
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
        if self.same_group(at, target) {
            return visit(1.0, self.local_step(at, target.0, bits));
        }
        let best = self.best(at, target);
        let each = 1.0 / best.clone().count() as f64;
        best.into_iter().for_each(|exit| visit(each, self.towards(at, exit, bits)));
    }

    #[inline(always)]
    fn step(&self, at: RouterId, bits: u32, target: RouterId, rng: &mut Rng) -> Step {
        if self.same_group(at, target) {
            return self.local_step(at, target.0, bits);
        }
        self.towards(at, self.drawn_exit(at, target, rng), bits)
    }

    #[inline(always)]
    fn only_output(&self, at: RouterId, target: RouterId) -> Option<u16> {
        if self.same_group(at, target) {
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
        if self.same_group(from, to) {
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
        let [from, to] = [src, dst].map(|router| self.links.group(router));
        if from == to {
            return None;
        }
        let via = RouterId(rng.below(routers));
        let group = self.links.group(via);
        (group != from && group != to).then_some(via)
    }
}
