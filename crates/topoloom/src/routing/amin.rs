//! `amin`: minimal adaptive routing on any network. At each router a packet takes, of the outputs on minimal paths, the
//! one with the shortest queue, and weighs again while it is denied a VC.
//!
//! VC classes grow along every path, so that no circle of channels waits for itself: the class of a hop is its number
//! on the path, as `min` has it (Günther, IEEE Transactions on Communications, 1981). Where all links join routers of
//! two colours, as on a mesh or a torus of even sides, half of the classes are enough: only hops from the second colour
//! to the first raise the class (negative hops; Gopal, IEEE Transactions on Communications, 1985). On trees, whose minimal
//! paths rise and then fall, one class is enough.

use super::dor::{DimensionOrder, MOST_OUTPUTS};
use super::minimal::{self, AnyMinimal};
use super::table::TableMinimal;
use super::{Again, AnyRouting, Availability, Move, OutputRow, PacketState, Routing, RoutingInfo, View};
use crate::network::{Lattice, Network, RouterId};
use crate::rng::Rng;

pub(super) const AMIN: RoutingInfo = RoutingInfo {
    name: "amin",
    summary: "minimal adaptive: of the outputs on minimal paths the one with the shortest queue, decided hop by hop",
    offered: Availability::Anywhere,
    classes: "the diameter D (by hop); D/2 + 1 where links join routers of two colours; trees 1",
    adapts: Some(true),
    keys: &[],
    build: |network, _| {
        // Coordinates give the minimal paths of meshes and tori, however large; tables give all others.
        let grid = matches!(network.any_structure().lattice(), Some(Lattice::Mesh | Lattice::Torus));
        let paths = if grid { minimal::phase(network)? } else { minimal::terminal_table(network)? };
        Ok(Some(match paths {
            AnyMinimal::Mesh(paths) => AnyRouting::new(AdaptiveMinimal::new(network, paths)),
            AnyMinimal::Torus(paths) => AnyRouting::new(AdaptiveMinimal::new(network, paths)),
            AnyMinimal::Table(paths) => AnyRouting::new(AdaptiveMinimal::new(network, paths)),
            _ => unreachable!("grids and tables only"),
        }))
    },
};

/// All minimal paths of a network.
pub trait MinimalPaths: Send + Sync {
    /// Outputs are those of a table: in the order of their numbers, and most often one alone.
    const TABLED: bool;

    /// The most links between two routers.
    fn diameter(&self) -> u32;

    /// True if one class is enough for all hops.
    fn has_one_class(&self) -> bool {
        false
    }

    /// Lets `look` at the outputs of `at` on minimal paths to another router `dst`, always in the same order.
    fn with_outputs<T>(&self, at: RouterId, dst: RouterId, look: impl FnOnce(&[u16]) -> T) -> T;

    /// Asks for the memory that this reads first.
    #[inline(always)]
    fn expect(&self, _at: RouterId, _dst: RouterId) {}
}

impl MinimalPaths for TableMinimal {
    const TABLED: bool = true;

    fn diameter(&self) -> u32 {
        self.diameter()
    }

    fn has_one_class(&self) -> bool {
        self.has_one_class()
    }

    #[inline(always)]
    fn with_outputs<T>(&self, at: RouterId, dst: RouterId, look: impl FnOnce(&[u16]) -> T) -> T {
        match self.quick(at, dst) {
            Some(port) => look(&[port]),
            None => look(self.outputs(at, dst)),
        }
    }

    #[inline(always)]
    fn expect(&self, at: RouterId, dst: RouterId) {
        self.expect_outputs(at, dst);
    }
}

impl<const WRAP: bool> MinimalPaths for DimensionOrder<WRAP> {
    const TABLED: bool = false;

    fn diameter(&self) -> u32 {
        self.diameter()
    }

    #[inline(always)]
    fn with_outputs<T>(&self, at: RouterId, dst: RouterId, look: impl FnOnce(&[u16]) -> T) -> T {
        let mut outputs = [0; MOST_OUTPUTS];
        let count = self.outputs(at, dst, &mut outputs);
        look(&outputs[..count])
    }
}

/// Up to as many outputs are looked at without a loop: how many there are is often mispredicted.
const FEW: usize = 4;

/// The output of the least `measure`; of equal ones the first from place `first` on.
///
/// # Panics
/// If there are no outputs.
#[inline(always)]
fn least(outputs: &[u16], first: u32, measure: impl Fn(u32) -> u32) -> u16 {
    let key = |place: usize| {
        // Positions before the first one come after all others.
        let turn = (place as u32).wrapping_sub(first);
        u64::from(measure(outputs[place].into())) << 32 | u64::from(turn)
    };
    let last = outputs.len().checked_sub(1).expect("there is a path to every destination");
    let best = if last < FEW {
        // Some twice.
        Some(key(0).min(key(last.min(1))).min(key(last.min(2)).min(key(last))))
    } else {
        (0..=last).map(key).min()
    };
    outputs[(best.expect("some") as u32).wrapping_add(first) as usize]
}

/// The outputs as a row, if they are many and have consecutive numbers. They must ascend.
#[inline(always)]
fn as_row(outputs: &[u16], from: u32) -> Option<OutputRow> {
    let (&[first, .., last], count) = (outputs, outputs.len()) else { return None };
    let is_row = count > FEW && count <= OutputRow::MOST as usize && usize::from(last - first) + 1 == count;
    is_row.then_some(OutputRow { first: first.into(), count: count as u32, from, except: u32::MAX })
}

/// `amin` over the minimal paths that `P` knows.
pub struct AdaptiveMinimal<P> {
    paths: P,
    /// The routers of the second colour, if all links join routers of two colours.
    second: Option<Vec<bool>>,
    /// What a hop adds to a packet's bits: 1, or 0 where one class is enough.
    hop: u32,
}

/// Gives routers two colours so that every link joins both, if that is possible; the first router's is `false`.
fn two_colours(network: &Network) -> Option<Vec<bool>> {
    let mut second = vec![None; network.num_routers()];
    let mut reached = Vec::new();
    for root in network.routers() {
        if second[root.index()].is_none() {
            second[root.index()] = Some(false);
            reached.push(root);
        }
        while let Some(at) = reached.pop() {
            for (_, peer) in network.neighbors(at) {
                let other = second[at.index()].map(|own: bool| !own);
                match second[peer.index()] {
                    None => reached.push(peer),
                    known if known != other => return None,
                    _ => continue,
                }
                second[peer.index()] = other;
            }
        }
    }
    second.into_iter().collect()
}

impl<P: MinimalPaths> AdaptiveMinimal<P> {
    fn new(network: &Network, paths: P) -> Self {
        // Where one class is enough there is nothing to count.
        let (second, hop) = if paths.has_one_class() { (None, 0) } else { (two_colours(network), 1) };
        Self { paths, second, hop }
    }

    /// The bits of a packet at its source: along the path they count hops, from 1 on if the source has the second
    /// colour.
    #[inline(always)]
    fn begin(&self, src: RouterId) -> PacketState {
        PacketState::direct(self.second.as_ref().is_some_and(|second| second[src.index()]).into())
    }

    /// The output with the shortest queue; of equal ones the first from a random one on.
    #[inline(always)]
    fn shortest_queue<V: View>(outputs: &[u16], view: &V, rng: &mut Rng) -> u16 {
        if P::TABLED && outputs.len() == 1 {
            return outputs[0];
        }
        let first = rng.below(outputs.len() as u32);
        let row = if P::TABLED { as_row(outputs, first) } else { None };
        match row {
            Some(row) => view.shortest_queue(&row).expect("none is left out") as u16,
            None => least(outputs, first, |port| view.queue(port)),
        }
    }

    #[inline(always)]
    fn hop(&self, port: u16, bits: u32) -> Move {
        Move {
            port,
            class: (bits >> u32::from(self.second.is_some())) as u8,
            next: PacketState::direct(bits + self.hop),
        }
    }
}

impl<P: MinimalPaths> Routing for AdaptiveMinimal<P> {
    fn classes(&self) -> u32 {
        let diameter = self.paths.diameter();
        match self.second {
            _ if self.paths.has_one_class() => 1,
            Some(_) => diameter / 2 + 1,
            None => diameter.max(1),
        }
    }

    fn vcs(&self) -> u32 {
        2 * self.classes()
    }

    fn starts(&self, src: RouterId, _dst: RouterId, out: &mut Vec<PacketState>) {
        out.push(self.begin(src));
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        self.paths.with_outputs(at, dst, |ports| out.extend(ports.iter().map(|&port| self.hop(port, state.bits))));
    }

    #[inline(always)]
    fn start<V: View>(&self, src: RouterId, _dst: RouterId, _view: &V, _rng: &mut Rng) -> PacketState {
        self.begin(src)
    }

    #[inline(always)]
    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move {
        let port = self.paths.with_outputs(at, dst, |outputs| Self::shortest_queue(outputs, view, rng));
        self.hop(port, state.bits)
    }

    #[inline(always)]
    fn expect(&self, at: RouterId, _state: PacketState, dst: RouterId) {
        self.paths.expect(at, dst);
    }

    #[inline(always)]
    fn decides_again(&self) -> Again {
        Again::Revocable(u16::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_queue_of_a_row_is_that_of_the_same_outputs_one_by_one() {
        let mut ties = 0;
        for seed in 0..2000 {
            let mut rng = Rng::stream(seed, 5);
            let (lowest, count) = (rng.below(9) as u16, 5 + rng.below(12) as u16);
            let outputs: Vec<u16> = (lowest..lowest + count).collect();
            let queues: Vec<u32> = outputs.iter().map(|_| 3 + rng.below(4)).collect();
            let first = rng.below(count.into());
            let row = as_row(&outputs, first).expect("they are many, and in a row");
            let queue = |port: u32| queues[(port - u32::from(lowest)) as usize];
            let found = row.shortest((0..row.count).map(|place| queue(row.first + place)));
            let shortest = *queues.iter().min().expect("some");
            let turns = (0..count).map(|turn| lowest + (first as u16 + turn) % count);
            let expected = turns.into_iter().find(|&port| queue(port.into()) == shortest);
            assert_eq!(found.map(|port| port as u16), expected, "{seed}");
            assert_eq!(Some(least(&outputs, first, queue)), expected, "{seed}");
            ties += usize::from(queues.iter().filter(|queue| **queue == shortest).count() > 1);
        }
        assert!(ties > 1000);
    }

    #[test]
    fn few_outputs_and_those_with_gaps_are_no_row() {
        assert!(as_row(&[4, 5, 6, 7], 0).is_none(), "a loop takes longer");
        assert!(as_row(&[4, 5, 6, 7, 8], 0).is_some());
        assert!(as_row(&[4, 5, 6, 7, 9], 0).is_none());
        assert!(as_row(&[4], 0).is_none());
        let all: Vec<u16> = (0..=OutputRow::MOST as u16).collect();
        assert!(as_row(&all, 0).is_none() && as_row(&all[1..], 0).is_some());
    }
}
