//! Graphs of which every router sees the same, and how far and how evenly their packets go.

/// The peers of every router, in the order of outputs: output i of every router is the image of output i of router 0.
#[derive(Debug, Clone)]
pub struct Table {
    ways: usize,
    peers: Vec<u32>,
    /// What each way was filled for; nothing yet where it is `u32::MAX`.
    filled: Vec<u32>,
}

impl Table {
    /// A table to fill, of this many outputs of each router.
    pub fn new(routers: u32, ways: usize) -> Self {
        Self { ways, peers: vec![0; routers as usize * ways], filled: vec![u32::MAX; ways] }
    }

    /// True if a way is to be filled for another generator than it was.
    pub fn changes(&mut self, way: usize, generator: u32) -> bool {
        std::mem::replace(&mut self.filled[way], generator) != generator
    }

    /// Fills in where a way leads, router by router.
    pub fn set(&mut self, way: usize, peers: impl IntoIterator<Item = u32>) {
        self.peers.iter_mut().skip(way).step_by(self.ways).zip(peers).for_each(|(place, peer)| *place = peer);
    }

    /// Fills in a way and the way back.
    pub fn set_both(&mut self, way: usize, peers: &[u32]) {
        for (router, &peer) in (0..).zip(peers) {
            self.peers[router as usize * self.ways + way] = peer;
            self.peers[peer as usize * self.ways + way + 1] = router;
        }
    }

    fn routers(&self) -> usize {
        self.peers.len() / self.ways
    }

    fn of(&self, router: u32) -> &[u32] {
        &self.peers[router as usize * self.ways..][..self.ways]
    }
}

/// What counts of a graph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// The links from router 0 to all others together.
    pub hops: u64,
    /// The most links between two routers.
    pub diameter: u32,
    /// The largest load of a channel: flits per cycle if every router sends one per cycle to a random router, itself among
    /// them as with the pattern `uniform`, and takes any minimal next hop, all equally likely.
    pub load: f64,
}

/// Not reached yet.
const FAR: u8 = u8::MAX;

/// Scores tables of one size; keeps its working memory.
#[derive(Debug, Default)]
pub struct Scorer {
    distance: Vec<u8>,
    met: Vec<u32>,
    flits: Vec<f64>,
}

impl Scorer {
    /// `None` if the graph falls apart, or if the hops are more than `most`.
    pub fn score(&mut self, table: &Table, most: u64) -> Option<Score> {
        let (hops, diameter) = self.search(table, most)?;
        let load = self.loads(table).into_iter().fold(0.0, f64::max);
        Some(Score { hops, diameter, load })
    }

    /// Breadth-first search from router 0. It gives up as soon as no growth could keep the hops within `most`.
    fn search(&mut self, table: &Table, most: u64) -> Option<(u64, u32)> {
        let routers = table.routers();
        self.distance.clear();
        self.distance.resize(routers, FAR);
        self.met.clear();
        self.met.push(0);
        self.distance[0] = 0;
        let (mut begin, mut hops, mut level) = (0, 0, 0u8);
        while begin < self.met.len() && self.met.len() < routers {
            let end = self.met.len();
            if level == FAR - 1 {
                return None;
            }
            level += 1;
            for place in begin..end {
                for &peer in table.of(self.met[place]) {
                    let distance = &mut self.distance[peer as usize];
                    if *distance == FAR {
                        *distance = level;
                        self.met.push(peer);
                    }
                }
            }
            let found = self.met.len() - end;
            hops += found as u64 * u64::from(level);
            let left = routers - self.met.len();
            if hops + least_hops(left as u64, found as u64, level.into(), table.ways as u64) > most {
                return None;
            }
            begin = end;
        }
        (self.met.len() == routers).then_some((hops, level.into()))
    }

    /// The load of the channels of each way, after [`Scorer::search`]. All packets to router 0 walk at once, from afar.
    fn loads(&mut self, table: &Table) -> Vec<f64> {
        let mut loads = vec![0.0; table.ways];
        self.flits.clear();
        self.flits.resize(self.met.len(), 1.0);
        for &at in self.met[1..].iter().rev() {
            let closer = self.distance[at as usize] - 1;
            let on = |peer: &u32| self.distance[*peer as usize] == closer;
            let ways = table.of(at).iter().filter(|peer| on(peer)).count();
            let share = self.flits[at as usize] / ways as f64;
            for (load, peer) in loads.iter_mut().zip(table.of(at)).filter(|(_, peer)| on(peer)) {
                *load += share;
                self.flits[*peer as usize] += share;
            }
        }
        loads.iter_mut().for_each(|load| *load /= self.met.len() as f64);
        loads
    }
}

/// The least hops to `left` routers more, `found` of the others being `level` away from the source: levels grow by all
/// outputs but the one back.
fn least_hops(mut left: u64, found: u64, mut level: u64, ways: u64) -> u64 {
    let (mut size, mut hops) = (found, 0);
    while left > 0 && size > 0 {
        size = (size * (ways - 1).max(1)).min(left);
        level += 1;
        hops += size * level;
        left -= size;
    }
    hops
}

/// The least mean number of links between two of `routers` routers of a degree, whatever the graph (Moore).
pub fn moore_distance(routers: u32, degree: u32) -> f64 {
    let (degree, routers) = (u64::from(degree), u64::from(routers));
    let first = degree.min(routers - 1);
    (first + least_hops(routers - 1 - first, first, 1, degree)) as f64 / (routers - 1) as f64
}

/// The same of tori, whatever their sides and twists: of all Cayley graphs of Abelian groups. Hops commute, so that from
/// a router no more are this many hops away than points of a lattice of as many dimensions are.
pub fn torus_distance(routers: u32, degree: u32) -> f64 {
    let mut left = u64::from(routers) - 1;
    let (mut hops, mut level) = (0, 1);
    while left > 0 {
        let size = sphere(degree, level).min(left);
        hops += size * level as u64;
        left -= size;
        level += 1;
    }
    hops as f64 / f64::from(routers - 1)
}

/// The points this many steps from the origin of a lattice with two directions per dimension, and of two points more if the degree
/// is odd.
fn sphere(degree: u32, level: usize) -> u64 {
    let mut sizes = vec![0u64; level + 1];
    sizes[0] = 1;
    for _ in 0..degree / 2 {
        // A dimension adds a step of 0, or of any length both directions.
        let mut before = 0;
        for size in &mut sizes {
            let own = *size;
            *size = own.saturating_add(2u64.saturating_mul(before));
            before = own.saturating_add(before);
        }
    }
    if degree.is_multiple_of(2) { sizes[level] } else { sizes[level].saturating_add(sizes[level - 1]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring with chords, by its steps.
    fn circulant(routers: u32, steps: &[u32]) -> Table {
        let mut table = Table::new(routers, 2 * steps.len());
        for (place, step) in steps.iter().enumerate() {
            let peers: Vec<u32> = (0..routers).map(|router| (router + step) % routers).collect();
            table.set_both(2 * place, &peers);
        }
        table
    }

    #[test]
    fn a_ring_is_scored_by_its_closed_form() {
        let score = Scorer::default().score(&circulant(9, &[1]), u64::MAX).expect("connected");
        assert_eq!(score, Score { hops: 20, diameter: 4, load: 10.0 / 9.0 });
    }

    #[test]
    fn searches_give_up_only_beyond_what_is_asked() {
        let table = circulant(64, &[1, 10, 26]);
        let mut scorer = Scorer::default();
        let score = scorer.score(&table, u64::MAX).expect("connected");
        assert_eq!(scorer.score(&table, score.hops), Some(score));
        assert_eq!(scorer.score(&table, score.hops - 1), None);
        assert_eq!(scorer.score(&circulant(64, &[2, 10, 26]), u64::MAX), None);
    }

    #[test]
    fn bounds_on_distances_follow_from_sizes_of_spheres() {
        // Petersen's graph is a Moore graph: 3 routers next to each, 6 further on.
        assert!((moore_distance(10, 3) - 15.0 / 9.0).abs() < 1e-12);
        // 25 routers in a ball of radius 3 in the plane: 4, 8 and 12.
        assert!((torus_distance(25, 4) - (4.0 + 16.0 + 36.0) / 24.0).abs() < 1e-12);
        assert_eq!([1, 2, 3].map(|level| sphere(6, level)), [6, 18, 38]);
        assert_eq!([1, 2].map(|level| sphere(5, level)), [5, 12]);
        assert!((torus_distance(12, 11) - 1.0).abs() < 1e-12);
    }
}
