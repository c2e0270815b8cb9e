//! Cables between vertices that are in cabinets, and the exchange of two ends.

use std::collections::{BTreeMap, HashSet};

use crate::distances;
use crate::error::{Error, Result};
use crate::provenance::DistanceSummary;

/// One end of a cable before it has a port of this module: a vertex, and any number that distinguishes its plugs.
pub type End = (u32, u32);

/// No plug, and no vertex.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Cables and where they are plugged in. A *vertex* is a router, or a terminal if terminals' cables may move as well.
///
/// *Plugs* are counted through all vertices; each holds one end of one cable, always. Cables keep their numbers.
#[derive(Debug, Clone)]
pub struct Cabling {
    /// The first plug of each vertex, and behind them the number of plugs.
    base: Vec<u32>,
    /// The vertex of each plug.
    vertex: Vec<u32>,
    /// The vertex at the other end of the cable in each plug.
    peer: Vec<u32>,
    /// The cable in each plug, and which of its ends: 2 * cable + side.
    cable: Vec<u32>,
    /// The two plugs of each cable.
    ends: Vec<[u32; 2]>,
    /// The cabinet of each vertex.
    cabinets: Vec<u32>,
}

impl Cabling {
    /// Cables between vertices in `cabinets`. The plugs of a vertex ascend by the second number of [`End`].
    pub fn new(cabinets: Vec<u32>, cables: &[[End; 2]]) -> Self {
        let mut order: Vec<(End, u32)> = (0..).zip(cables.iter().flatten()).map(|(place, &end)| (end, place)).collect();
        order.sort_unstable();
        let mut base = vec![0u32; cabinets.len() + 1];
        let mut ends = vec![[0; 2]; cables.len()];
        let mut vertex = Vec::with_capacity(order.len());
        for (plug, &((at, _), place)) in (0..).zip(&order) {
            base[at as usize + 1] = plug + 1;
            vertex.push(at);
            ends[place as usize / 2][place as usize % 2] = plug;
        }
        for at in 1..base.len() {
            base[at] = base[at].max(base[at - 1]);
        }
        let (mut peer, mut cable) = (vec![0; order.len()], vec![0; order.len()]);
        for (number, &[a, b]) in (0..).zip(&ends) {
            (peer[a as usize], peer[b as usize]) = (vertex[b as usize], vertex[a as usize]);
            (cable[a as usize], cable[b as usize]) = (2 * number, 2 * number + 1);
        }
        Self { base, vertex, peer, cable, ends, cabinets }
    }

    /// The number of vertices.
    pub fn len(&self) -> usize {
        self.cabinets.len()
    }

    /// True if there is no vertex.
    pub fn is_empty(&self) -> bool {
        self.cabinets.is_empty()
    }

    /// The number of cables.
    pub fn cables(&self) -> usize {
        self.ends.len()
    }

    /// The plugs of a cable.
    pub fn ends(&self, cable: u32) -> [u32; 2] {
        self.ends[cable as usize]
    }

    /// The vertex of a plug.
    pub fn vertex(&self, plug: u32) -> u32 {
        self.vertex[plug as usize]
    }

    /// The vertex at the other end of the cable in a plug.
    pub fn peer(&self, plug: u32) -> u32 {
        self.peer[plug as usize]
    }

    /// The cabinet of the vertex of a plug.
    pub fn cabinet(&self, plug: u32) -> u32 {
        self.cabinets[self.vertex(plug) as usize]
    }

    /// The cabinet of each vertex.
    pub fn cabinets(&self) -> &[u32] {
        &self.cabinets
    }

    /// The vertices at the other ends of a vertex's cables; parallel cables stand as many times as they are.
    pub fn peers(&self, vertex: u32) -> &[u32] {
        &self.peer[self.base[vertex as usize] as usize..self.base[vertex as usize + 1] as usize]
    }

    /// The plugs of a vertex.
    pub(super) fn plugs_of(&self, vertex: u32) -> std::ops::Range<u32> {
        self.base[vertex as usize]..self.base[vertex as usize + 1]
    }

    /// The plug at the other end of the cable in a plug.
    pub(super) fn far(&self, plug: u32) -> u32 {
        let end = self.cable[plug as usize];
        self.ends[end as usize / 2][1 - end as usize % 2]
    }

    /// The plugs of one vertex whose cables lead to another one, in the order of these cables.
    pub(super) fn parallel(&self, from: u32, to: u32) -> Vec<u32> {
        let mut plugs: Vec<u32> = self.plugs_of(from).filter(|&plug| self.peer(plug) == to).collect();
        plugs.sort_unstable_by_key(|&plug| self.cable[plug as usize] / 2);
        plugs
    }

    /// The position of a plug among those of its vertex.
    pub fn place(&self, plug: u32) -> u32 {
        plug - self.base[self.vertex(plug) as usize]
    }

    fn joined(&self, a: u32, b: u32) -> bool {
        let [from, to] = if self.peers(a).len() <= self.peers(b).len() { [a, b] } else { [b, a] };
        self.peers(from).contains(&to)
    }

    /// True if the cables in plugs `x` and `y` lead between four vertices, and would not be parallel to another cable
    /// once they have exchanged these two ends.
    pub fn may_exchange(&self, x: u32, y: u32) -> bool {
        let ([a, b], [c, d]) = ([self.vertex(x), self.peer(x)], [self.vertex(y), self.peer(y)]);
        a != c && a != d && b != c && b != d && !self.joined(a, d) && !self.joined(c, b)
    }

    /// The cables in plugs `x` and `y` exchange these ends. Twice is as if nothing had happened.
    pub fn exchange(&mut self, x: u32, y: u32) {
        self.cable.swap(x as usize, y as usize);
        for plug in [x, y] {
            let (cable, side) = (self.cable[plug as usize] / 2, self.cable[plug as usize] as usize % 2);
            self.ends[cable as usize][side] = plug;
            let far = self.ends[cable as usize][1 - side];
            self.peer[plug as usize] = self.vertex(far);
            self.peer[far as usize] = self.vertex(plug);
        }
    }

    /// The vertices that a cable leads between, unless an end of it is pulled.
    pub(super) fn vertices(&self, cable: u32) -> Option<[u32; 2]> {
        let ends = self.ends(cable);
        (!ends.contains(&NOWHERE)).then(|| ends.map(|plug| self.vertex(plug)))
    }

    /// Pulls one end of a cable; it is [`NOWHERE`] until it is plugged in.
    pub(super) fn unplug(&mut self, cable: u32, side: usize) {
        for plug in self.ends(cable).into_iter().filter(|&plug| plug != NOWHERE) {
            self.peer[plug as usize] = NOWHERE;
        }
        let plug = std::mem::replace(&mut self.ends[cable as usize][side], NOWHERE);
        self.cable[plug as usize] = NOWHERE;
    }

    /// Plugs an end that was pulled in where nothing is.
    pub(super) fn plug(&mut self, cable: u32, side: usize, plug: u32) {
        self.ends[cable as usize][side] = plug;
        self.cable[plug as usize] = 2 * cable + side as u32;
        let [a, b] = self.ends(cable);
        if a != NOWHERE && b != NOWHERE {
            (self.peer[a as usize], self.peer[b as usize]) = (self.vertex(b), self.vertex(a));
        }
    }

    /// The cables that lead within each cabinet (`(i, i)`) and between each pair (`(i, j)` with i < j).
    pub fn by_cabinets(&self) -> BTreeMap<(u32, u32), Vec<u32>> {
        let mut sets = BTreeMap::<_, Vec<u32>>::new();
        for (cable, &[a, b]) in (0..).zip(&self.ends) {
            let (i, j) = (self.cabinet(a), self.cabinet(b));
            sets.entry((i.min(j), i.max(j))).or_default().push(cable);
        }
        sets
    }

    /// Makes sure that every cable leads between the same two cabinets as in `before`.
    ///
    /// # Errors
    /// [`Error::Spec`], which would be a mistake of this program.
    pub fn check_conserved(&self, before: &Self) -> Result<()> {
        if self.by_cabinets() == before.by_cabinets() {
            return Ok(());
        }
        Err(Error::Spec("a permutation has changed how many cables join two cabinets; this is a bug".to_owned()))
    }

    /// Ends of cables that are plugged in elsewhere than in `before`.
    pub fn moved_ends(&self, before: &Self) -> usize {
        self.ends.iter().zip(&before.ends).map(|(a, b)| usize::from(a[0] != b[0]) + usize::from(a[1] != b[1])).sum()
    }

    /// The vertices that no path leads to from the first one.
    pub fn unreached(&self) -> Vec<u32> {
        let mut met = vec![false; self.len()];
        let mut next: Vec<u32> = (0..self.len().min(1) as u32).collect();
        while let Some(vertex) = next.pop() {
            if !std::mem::replace(&mut met[vertex as usize], true) {
                next.extend(self.peers(vertex));
            }
        }
        (0..self.len() as u32).filter(|&vertex| !met[vertex as usize]).collect()
    }

    /// True if no two vertices share a cabinet, so that no two cables have ends there to exchange.
    pub fn is_apart(&self) -> bool {
        let mut held = HashSet::new();
        self.cabinets.iter().all(|cabinet| held.insert(cabinet))
    }

    /// Its distances in short.
    pub fn told(&self) -> DistanceSummary {
        let histogram = self.histogram();
        let sum: u64 = (0..).zip(&histogram).map(|(distance, &pairs)| distance * pairs).sum();
        let pairs: u64 = histogram[1..].iter().sum();
        DistanceSummary {
            diameter: histogram.len() as u32 - 1,
            average_distance: sum as f64 / pairs.max(1) as f64,
            sum,
        }
    }

    /// Ordered pairs of vertices by distance, from 0 on.
    pub fn histogram(&self) -> Vec<u64> {
        distances::histogram(self.len(), |vertex, peers| peers.extend_from_slice(self.peers(vertex)))
    }
}

/// A search for a path between two vertices, from both at once, that remembers nothing but its memory.
#[derive(Debug)]
pub(super) struct Ways {
    /// The search in which a vertex was met last, and from which side: 2 * search + side.
    met: Vec<u32>,
    searches: u32,
    frontiers: [Vec<u32>; 2],
    next: Vec<u32>,
}

impl Ways {
    pub fn new(vertices: usize) -> Self {
        Self { met: vec![0; vertices], searches: 0, frontiers: Default::default(), next: Vec::new() }
    }

    /// True if cables lead from `a` to `b`. After an exchange that removed the cable between them from a connected
    /// network, true means that it is still connected: their cables' new far ends are attached to them.
    pub fn joins(&mut self, cabling: &Cabling, a: u32, b: u32) -> bool {
        if self.searches >= u32::MAX / 2 - 1 {
            self.met.fill(0);
            self.searches = 0;
        }
        self.searches += 1;
        for (side, start) in [a, b].into_iter().enumerate() {
            self.frontiers[side].clear();
            self.frontiers[side].push(start);
            self.met[start as usize] = 2 * self.searches + side as u32;
        }
        while self.frontiers.iter().all(|frontier| !frontier.is_empty()) {
            let side = usize::from(self.frontiers[1].len() < self.frontiers[0].len());
            let (mine, other) = (2 * self.searches + side as u32, 2 * self.searches + 1 - side as u32);
            self.next.clear();
            for &vertex in &self.frontiers[side] {
                for &peer in cabling.peers(vertex).iter().filter(|&&peer| peer != NOWHERE) {
                    let met = &mut self.met[peer as usize];
                    if *met == other {
                        return true;
                    }
                    if *met != mine {
                        *met = mine;
                        self.next.push(peer);
                    }
                }
            }
            std::mem::swap(&mut self.frontiers[side], &mut self.next);
        }
        false
    }
}
