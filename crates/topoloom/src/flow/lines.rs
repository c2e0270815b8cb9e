//! Channels in the order of lines.
//!
//! Rates are found along paths. On a mesh or a torus a path runs along lines, but the ports that it leaves routers by are
//! far apart in memory. The engine therefore keeps channels at *places*: those of a line, one behind the other.

use crate::network::{Grid, Lattice, Network, Peer, PortId};
use crate::routing::Piece;

/// The order in which the engine keeps channels.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The position of each channel, and the channel at each place. Those beyond are at the positions of their ids.
    places: Vec<u32>,
    channels: Vec<u32>,
    /// True at the positions of channels that follow the one at the place before in a line.
    goes_on: Vec<bool>,
    /// The sides of a torus whose routers all have both neighbours in each dimension.
    full: Option<Vec<u32>>,
}

impl Lines {
    /// The lines of a mesh or a torus; any other network keeps its channels as they are.
    pub fn new(network: &Network) -> Self {
        let structure = network.any_structure();
        let lined = matches!(structure.lattice(), Some(Lattice::Mesh | Lattice::Torus));
        let Some(grid) = structure.grid().filter(|grid| lined && grid.len() == network.num_routers()) else {
            return Self::default();
        };
        let ports = 0..network.ports().len() as u32;
        let mut order: Vec<u64> = ports.map(|port| line(network, grid, PortId(port)) << 32 | u64::from(port)).collect();
        order.sort_unstable();
        let used = 2 * grid.sides.len() * network.num_routers();
        let is_full = order.iter().take(used).enumerate().all(|(place, key)| key >> 32 == place as u64);
        let full = is_full.then(|| grid.sides.clone());
        let goes_on = order.windows(2).map(|two| is_next(two, grid, network.num_routers() as u64));
        let goes_on = std::iter::once(false).chain(goes_on).collect();
        let channels: Vec<u32> = order.into_iter().map(|key| key as u32).collect();
        let mut places = vec![0; channels.len()];
        for (place, &channel) in (0..).zip(&channels) {
            places[channel as usize] = place;
        }
        Self { places, channels, goes_on, full }
    }

    /// False where channels are kept as they are.
    pub fn are_known(&self) -> bool {
        !self.places.is_empty()
    }

    /// The position of a channel.
    pub fn place(&self, channel: u32) -> u32 {
        self.places.get(channel as usize).copied().unwrap_or(channel)
    }

    /// The channel at a place.
    pub fn channel(&self, place: u32) -> u32 {
        self.channels.get(place as usize).copied().unwrap_or(place)
    }

    /// The most channels of a line.
    pub fn longest(&self) -> usize {
        self.goes_on.split(|goes_on| !goes_on).map(|line| line.len() + 1).max().unwrap_or(0)
    }

    /// The first place of what terminals have, where lines are known.
    pub fn terminals(&self, network: &Network) -> u32 {
        network.ports().iter().filter(|port| matches!(port.peer, Peer::Port(_))).count() as u32
    }

    /// True if the places of a line can be counted: see [`Lines::along`].
    pub fn are_full(&self) -> bool {
        self.full.is_some()
    }

    /// Appends the places of a straight piece of a path. To be called where all lines [are full](Lines::are_full).
    pub fn along(&self, piece: Piece, path: &mut Vec<u32>) {
        let sides = self.full.as_ref().expect("its places are asked for where they are known");
        let Piece { dim, down, from, stride, .. } = piece;
        let (side, routers) = (sides[dim], sides.iter().product::<u32>());
        let line = from % stride + from / stride / side * stride;
        let first = (2 * dim as u32 + u32::from(down)) * routers + line * side;
        path.extend(piece.coordinates(side).map(|own| first + own));
    }

    /// True if the channel at a place follows the one at the place before in a line.
    pub fn goes_on(&self, place: u32) -> bool {
        self.goes_on.get(place as usize).is_some_and(|goes_on| *goes_on)
    }

    /// What is given by place, by channel.
    pub fn by_channel(&self, values: Vec<f64>) -> Vec<f64> {
        match self.places.is_empty() {
            true => values,
            false => (0..values.len() as u32).map(|channel| values[self.place(channel) as usize]).collect(),
        }
    }
}

/// A number that grows along the line of a port's channel, and from line to line; those of terminals come last.
fn line(network: &Network, grid: &Grid, port: PortId) -> u64 {
    let at = network.ports()[port.index()];
    let (from, routers) = (at.router.0, network.num_routers() as u64);
    let Peer::Port(peer) = at.peer else { return 2 * grid.sides.len() as u64 * routers + u64::from(from) };
    let to = network.ports()[peer.index()].router.0;
    let (mut stride, mut dim) = (1, 0);
    // The dimension in which the two differ.
    while dim + 1 < grid.sides.len() && from / stride % grid.sides[dim] == to / stride % grid.sides[dim] {
        stride *= grid.sides[dim];
        dim += 1;
    }
    let side = grid.sides[dim];
    let [own, next] = [from, to].map(|router| router / stride % side);
    let down = u64::from((own + 1) % side != next);
    let line = from % stride + from / stride / side * stride;
    (2 * dim as u64 + down) * routers + u64::from(line * side + own)
}

/// True if the second of two [numbers](line), each before the id of its port, is that of the channel behind the first in a
/// line.
fn is_next(two: &[u64], grid: &Grid, routers: u64) -> bool {
    let [one, next] = [two[0] >> 32, two[1] >> 32];
    let side = grid.sides.get((one / routers / 2) as usize).map(|&side| u64::from(side));
    next == one + 1 && side.is_some_and(|side| one / side == next / side)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::{FlowConfig, Paths};
    use crate::network::TerminalId;
    use crate::{routing, topology};

    #[test]
    fn a_straight_path_is_at_consecutive_places() {
        for (spec, side, ends) in [
            ("torus:8x4x6", 8, [5, 1]),
            ("torus:8x4x6", 4, [1, 17]),
            ("torus:8x4x6", 6, [40, 136]),
            ("mesh:4x5", 5, [18, 2]),
            ("torus:5x3x2", 5, [1, 4]),
        ] {
            let network = topology::build(spec).expect(spec);
            let routing = routing::build(&network, "dor").expect("dor");
            let (lines, config) = (Lines::new(&network), FlowConfig { consumption: None, ..FlowConfig::default() });
            let (paths, mut path) = (Paths::new(&network, &routing, &config), Vec::new());
            let ends = ends.map(TerminalId);
            paths.walk(ends[0], ends[1], &mut paths.stream(ends[0], ends[1]), &mut path).expect("it ends");
            let places: Vec<u32> = path.iter().map(|&channel| lines.place(channel)).collect();
            // On a torus from the last of a line to the first.
            let next = |two: &[u32]| [1, side - 1].contains(&two[0].abs_diff(two[1]));
            assert!(places.len() > 1 && places.windows(2).all(next), "{spec} {places:?}");
        }
    }

    #[test]
    fn paths_that_are_counted_are_those_that_are_walked() {
        for (spec, counted) in [
            ("torus:4x3x5,p=2", true),
            ("torus:6x6", true),
            ("torus:3x4,rate=100G", true),
            ("torus:4x2x3", false),
            ("mesh:4x5", false),
        ] {
            let network = topology::build(spec).expect(spec);
            let routing = routing::build(&network, "dor").expect("offered");
            let (lines, config) = (Lines::new(&network), FlowConfig { injection: Some(1.0), ..FlowConfig::default() });
            let paths = Paths::new(&network, &routing, &config);
            let ids = || (0..network.num_terminals() as u32).map(TerminalId);
            for ends in ids().flat_map(|source| ids().map(move |target| [source, target])) {
                let (mut walked, mut found) = (Vec::new(), Vec::new());
                let mut rngs = [0, 1].map(|_| paths.stream(ends[0], ends[1]));
                let between = paths.walk_in(&lines, ends, &mut rngs[0], &mut found);
                let wanted = paths.walk(ends[0], ends[1], &mut rngs[1], &mut walked).expect("it ends");
                assert_eq!(between, counted.then_some(wanted), "{spec}");
                let places: Vec<u32> = walked.iter().map(|&channel| lines.place(channel)).collect();
                assert!(found == if counted { places } else { Vec::new() }, "{spec} {ends:?}");
                if counted {
                    assert_eq!(rngs[0].coin(), rngs[1].coin(), "{spec}: as many draws");
                }
            }
        }
    }

    #[test]
    fn each_channel_has_a_place_of_its_own() {
        for spec in ["torus:4x3x2", "torus:2x2", "mesh:3x5", "hyperx:3x4", "dragonfly:a=4,h=2,p=2"] {
            let network = topology::build(spec).expect(spec);
            let lines = Lines::new(&network);
            let channels = network.ports().len() as u32 + network.num_terminals() as u32;
            let mut places: Vec<u32> = (0..channels).map(|channel| lines.place(channel)).collect();
            assert!((0..channels).all(|channel| lines.channel(lines.place(channel)) == channel), "{spec}");
            places.sort_unstable();
            assert!(places.into_iter().eq(0..channels), "{spec}");
            let values: Vec<f64> = (0..channels).map(|place| f64::from(lines.channel(place))).collect();
            assert!(lines.by_channel(values).into_iter().eq((0..channels).map(f64::from)), "{spec}");
        }
    }
}
