//! `min-updown`: all minimal paths of any network, cut into stretches that each go up and then down (the cuts of LASH-TOR:
//! Skeie, Lysne, Flich, López, Robles and Duato, ICPADS 2004; its stretches are up*/down* of Autonet, 1991).
//!
//! Routers have an order; a hop goes up if it leads to a router further on in it. Within a VC class a packet goes up, then
//! down; a packet that has gone down takes the next class to go up again. No cycle of channels closes: within a class the
//! routers of channels ascend, then descend, and classes never decrease. A path of h hops has at most h/2 such valleys,
//! so that D/2 + 1 classes are enough for the diameter D, and 4 for every network of diameter 7; the classes are
//! counted on the paths that there are. All minimal next hops are equally likely, as with `min`.

use std::collections::VecDeque;

use rayon::prelude::*;

use super::table::TableMinimal;
use super::{AnyRouting, Availability, Move, PacketState, Routing, RoutingInfo, View};
use crate::error::{Error, Result};
use crate::network::{Network, RouterId};
use crate::rng::Rng;
use crate::watch;

pub(super) const MIN_UPDOWN: RoutingInfo = RoutingInfo {
    name: "min-updown",
    summary: "minimal: a random minimal next hop, as min; the VC class grows only where a path goes down an order of the \
              routers and up again",
    offered: Availability::Anywhere,
    classes: "1 + the most times that a minimal path goes down and up again: at most D/2 + 1 for diameter D",
    adapts: Some(false),
    keys: &[],
    build: |network, _| Ok(Some(AnyRouting::new(MinUpDown::new(network)?))),
};

/// The lowest bit of a packet: it has gone down in its class. The others count classes.
const DOWN: u32 = 1;

/// All minimal paths, with a class for each stretch up and down.
pub struct MinUpDown {
    paths: TableMinimal,
    /// Where the ports of each router begin in `rises`.
    port_base: Vec<u32>,
    /// Whether each port leads up.
    rises: Vec<bool>,
    classes: u32,
}

impl MinUpDown {
    /// In the order in which a breadth-first search from router 0 meets the routers.
    ///
    /// # Errors
    /// Those of [`TableMinimal::new`]; a network whose paths need more classes than there can be VCs.
    pub fn new(network: &Network) -> Result<Self> {
        let paths = TableMinimal::new(network)?;
        let place = places(network);
        let mut peers = vec![0; network.ports().len()];
        let mut rises = vec![false; network.ports().len()];
        for at in network.routers() {
            for (port, peer) in network.neighbors(at) {
                let port = (network.port_base(at) + port) as usize;
                (peers[port], rises[port]) = (peer.0, place[peer.index()] > place[at.index()]);
            }
        }
        let port_base = network.routers().map(|at| network.port_base(at)).collect();
        let mut this = Self { paths, port_base, rises, classes: 1 };
        let ends: Vec<RouterId> = network.up_routers().filter(|&r| network.has_terminals(r)).collect();
        this.classes = 1 + this.most_valleys(&peers, &ends);
        if this.classes > crate::limits::MAX_VCS {
            let (spec, classes, most) = (network.spec(), this.classes, crate::limits::MAX_VCS);
            return Err(Error::Routing(format!(
                "min-updown on {spec} needs {classes} VC classes; at most {most} are possible"
            )));
        }
        Ok(this)
    }

    #[inline(always)]
    fn port(&self, at: RouterId, port: u16) -> usize {
        (self.port_base[at.index()] + u32::from(port)) as usize
    }

    #[inline(always)]
    fn hop(&self, at: RouterId, port: u16, bits: u32) -> Move {
        // A packet that has gone down enters the next class as it rises; one that goes down marks that it has.
        let bits = if self.rises[self.port(at, port)] { (bits + DOWN) & !DOWN } else { bits | DOWN };
        Move { port, class: (bits >> 1) as u8, next: PacketState::direct(bits) }
    }

    /// The most valleys of a minimal path between two of `ends`; each port leads to one of `peers`.
    fn most_valleys(&self, peers: &[u32], ends: &[RouterId]) -> u32 {
        let stage = watch::stage("valleys of minimal paths", ends.len() as u64);
        let valleys = |&to: &RouterId| {
            stage.step();
            let most = self.valleys_towards(to, peers);
            ends.iter().map(|end| u32::from(most[end.index()])).max().unwrap_or(0)
        };
        ends.par_iter().map(valleys).max().unwrap_or(0)
    }

    /// The most valleys of the minimal paths from each router to one.
    fn valleys_towards(&self, to: RouterId, peers: &[u32]) -> Vec<u8> {
        let distance = self.paths.distances(to);
        let mut order: Vec<u32> = (0..distance.len() as u32).collect();
        order.sort_unstable_by_key(|&at| distance[at as usize]);
        // Of packets that may still rise in their class, and of those that have gone down.
        let (mut fresh, mut fallen) = (vec![0u8; distance.len()], vec![0u8; distance.len()]);
        for at in order.into_iter().map(RouterId) {
            for &output in self.paths.outputs(at, to) {
                let port = self.port(at, output);
                let peer = peers[port] as usize;
                let rises = self.rises[port];
                let after = if rises { fresh[peer] } else { fallen[peer] };
                fresh[at.index()] = fresh[at.index()].max(after);
                fallen[at.index()] = fallen[at.index()].max(after + u8::from(rises));
            }
        }
        fresh
    }
}

/// When a breadth-first search meets each router.
fn places(network: &Network) -> Vec<u32> {
    let mut place = vec![u32::MAX; network.num_routers()];
    let mut met = 0;
    let mut queue = VecDeque::new();
    for root in network.routers() {
        queue.push_back(root);
        while let Some(at) = queue.pop_front() {
            if place[at.index()] == u32::MAX {
                place[at.index()] = met;
                met += 1;
                queue.extend(network.neighbors(at).map(|(_, peer)| peer));
            }
        }
    }
    place
}

impl Routing for MinUpDown {
    fn classes(&self) -> u32 {
        self.classes
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        out.extend(self.paths.outputs(at, dst).iter().map(|&port| self.hop(at, port, state.bits)));
    }

    #[inline(always)]
    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, _view: &V, rng: &mut Rng) -> Move {
        let outputs = self.paths.outputs(at, dst);
        let drawn = if outputs.len() > 1 { rng.below(outputs.len() as u32) as usize } else { 0 };
        self.hop(at, outputs[drawn], state.bits)
    }

    fn oblivious(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::{build, verify};
    use crate::topology;

    #[test]
    fn a_class_for_each_valley_is_enough_and_one_less_is_not() {
        let classes = [
            ("mesh:4x4", 4),
            ("hypercube:5", 3),
            ("cayley:13x4,turn=5,generators=1,13", 3),
            ("random-regular:64,degree=4,seed=3", 3),
        ];
        for (spec, wanted) in classes {
            let network = topology::build(spec).expect(spec);
            let routing = build(&network, "min-updown").expect("any network offers it");
            let proof = verify::verify(&network, "min-updown", &routing, None).expect("fits");
            assert!(proof.deadlock_free, "{spec}");
            assert_eq!((proof.method, proof.vcs_needed, proof.unserved_pairs), ("acyclic", wanted, 0), "{spec}");
            let fewer = verify::verify(&network, "min-updown", &routing, Some(wanted - 1)).expect("fits");
            assert!(!fewer.deadlock_free, "{spec}");
        }
    }
}
