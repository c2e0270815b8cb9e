//! Dimension-order routing on meshes and tori: dimensions in order, the shorter path round, ties by coin.
//!
//! On a torus each packet chooses direction and VC class when it enters a dimension and keeps both: class 1 if it will
//! cross the wrap-around link, else 0. Dally and Seitz's dateline with the crossing known in advance.
//!
//! With bubbles (Carrión, Beivide, Gregorio and Vallejo, 1997; Puente et al., 2001) one class is enough: a packet
//! enters a ring only if it leaves room for another behind it, so that something in the ring can always move.

use super::coordinates::Coordinates;
use super::min::{self, Min};
use super::minimal::{self, AnyMinimal};
use super::nest::{NestRouting, Ways};
use super::{AnyRouting, Availability, Minimal, Move, PacketState, Routing, RoutingInfo, Step, View};
use crate::catalogue::{Arguments, Key, Kind};
use crate::error::Result;
use crate::network::{Network, RouterId};
use crate::rng::Rng;

pub(super) const DOR: RoutingInfo = RoutingInfo {
    name: "dor",
    summary: "dimensions in order; on a torus the shorter direction, ties by coin; in subtori to the uplink, over the \
              upper network, and on in the other subtorus",
    offered: Availability::ByFamily,
    classes: "1; torus 2 (dateline), or 1 with bubbles; subtori 4, or 2 up to a side of 3",
    adapts: Some(false),
    keys: &[
        Key::new(
            "dateline",
            Kind::Choice(&["on", "off"]),
            "on (default); off: a torus without its dateline, which can deadlock",
        ),
        Key::new(
            "bubble",
            Kind::Choice(&["off", "on"]),
            "off (default); on: a torus in one class, rings entered with room for two packets; flow=vct",
        ),
        Key::new(
            "ties",
            Kind::Choice(&["coin", "plus", "minus", "sign"]),
            "on a torus, where both directions round are as long: coin (default), plus, minus, or sign: plus if the coordinate grows",
        ),
        Key::new(
            "vc",
            Kind::Choice(&["dateline", "upper-lower"]),
            "on a torus: dateline (default); upper-lower: in each hop class 0 if the destination's coordinate is the \
             greater one, else 1",
        ),
    ],
    build: |network, options| {
        let dateline = options.choice("dateline");
        let bubble = options.choice("bubble");
        let ruled = ruled(options)?;
        if let Some(nested) = NestRouting::new(network, Ways::Fixed) {
            let torus = [("bubble", bubble, "off"), ("dateline", dateline, "on")];
            if ruled.is_some() {
                return Err(options.mistake("ties and vc are for a torus alone"));
            }
            return match torus.iter().find(|(_, given, default)| given != default) {
                Some((key, given, _)) => Err(options.mistake(format!("{key}={given} is for a torus alone"))),
                None => Ok(Some(AnyRouting::new(nested))),
            };
        }
        let minimal = match (ruled, minimal::phase(network)?) {
            (None, minimal) => minimal,
            (Some(_), AnyMinimal::Torus(_)) if bubble == "on" || dateline == "off" => {
                return Err(options.mistake("ties and vc go with a dateline, not with bubble=on or dateline=off"));
            }
            (Some((ties, compares)), AnyMinimal::Torus(order)) => {
                return Ok(Some(AnyRouting::new(Min(CustomOrder { order, ties, compares }))));
            }
            (Some(_), _) => {
                return Err(options.mistake("only a torus has two directions round: ties and vc are for it"));
            }
        };
        match (bubble, dateline, minimal) {
            ("on", _, AnyMinimal::Torus(_)) if options.text("dateline") == Some("on") => {
                Err(options.mistake("bubbles replace the dateline; leave out one of the two"))
            }
            ("on", _, AnyMinimal::Torus(order)) => Ok(Some(AnyRouting::new(Bubble(Min(order.without_dateline()))))),
            ("on", ..) => Err(options.mistake("only a torus has rings to keep bubbles in")),
            (_, "off", AnyMinimal::Torus(order)) => Ok(Some(AnyRouting::new(Min(order.without_dateline())))),
            (_, "off", _) => Err(options.mistake("only a torus has a dateline to leave out")),
            (.., minimal) => Ok(Some(min::alone(minimal))),
        }
    },
};

/// The rules for ties and VCs, if one is given that is not the usual one.
fn ruled(options: &Arguments) -> Result<Option<(Ties, bool)>> {
    let ties = match options.choice("ties") {
        "plus" => Ties::Plus,
        "minus" => Ties::Minus,
        "sign" => Ties::Sign,
        _ => Ties::Coin,
    };
    let compares = options.choice("vc") == "upper-lower";
    Ok((ties != Ties::Coin || compares).then_some((ties, compares)))
}

/// Which way to take where both are as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ties {
    Coin,
    Plus,
    Minus,
    Sign,
}

/// Dimension order on a torus by other rules than the usual ones.
pub struct CustomOrder {
    order: DimensionOrder<true>,
    ties: Ties,
    /// The class of a hop is 0 if the destination's coordinate is greater than the router's, else 1.
    compares: bool,
}

impl CustomOrder {
    /// The hop that has these bits once its dimension has been entered.
    #[inline(always)]
    fn go(&self, at: RouterId, dim: usize, bits: u32, target: RouterId) -> Step {
        let step = self.order.go(at, dim, bits);
        let lower = self.order.coordinates.at(target, dim) < self.order.coordinates.at(at, dim);
        Step { class: if self.compares { lower.into() } else { step.class }, ..step }
    }

    /// The bits with which a packet could continue: two on a tie that a coin decides.
    // Which way is the shorter one, and whether a dimension has been entered, are often mispredicted: hence no branches.
    #[inline(always)]
    fn open(&self, at: RouterId, dim: usize, bits: u32, target: RouterId) -> (u32, Option<u32>) {
        // Not `map` over both, which a compiler does not always inline.
        let (from, to) = (self.order.coordinates.at(at, dim), self.order.coordinates.at(target, dim));
        let (up, down) = self.order.ways(dim, from, to);
        let (tie, entered) = (up & down, bits >> 2 == dim as u32);
        let tie_goes_down = (self.ties == Ties::Minus) | ((self.ties == Ties::Sign) & (to < from));
        let first = DimensionOrder::<true>::entered(dim, !up | (tie & tie_goes_down), from, to);
        let draws = self.ties == Ties::Coin && tie & !entered;
        let other = draws.then(|| DimensionOrder::<true>::entered(dim, true, from, to));
        (if entered { bits } else { first }, other)
    }
}

impl Minimal for CustomOrder {
    fn classes(&self) -> u32 {
        2
    }

    fn begins(&self) -> Vec<u32> {
        self.order.begins()
    }

    #[inline(always)]
    fn begin(&self, rng: &mut Rng) -> u32 {
        self.order.begin(rng)
    }

    fn steps(&self, at: RouterId, bits: u32, target: RouterId, out: &mut Vec<Step>) {
        let dim = self.order.dimension(at, target);
        let (one, other) = self.open(at, dim, bits, target);
        out.extend(std::iter::once(one).chain(other).map(|bits| self.go(at, dim, bits, target)));
    }

    #[inline(always)]
    fn step(&self, at: RouterId, bits: u32, target: RouterId, rng: &mut Rng) -> Step {
        let dim = self.order.dimension(at, target);
        let bits = match self.open(at, dim, bits, target) {
            (_, Some(down)) if rng.coin() => down,
            (one, _) => one,
        };
        self.go(at, dim, bits, target)
    }

    // Only on a tie, at most.
    #[inline(always)]
    fn draws(&self, _first: bool) -> bool {
        false
    }

    fn hops(&self, from: RouterId, to: RouterId) -> u32 {
        self.order.hops(from, to)
    }
}

/// Dimension order on a torus in one class, its rings kept moving by bubbles.
struct Bubble(Min<DimensionOrder<true>>);

impl Routing for Bubble {
    fn classes(&self) -> u32 {
        self.0.classes()
    }

    fn starts(&self, src: RouterId, dst: RouterId, out: &mut Vec<PacketState>) {
        self.0.starts(src, dst, out);
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        self.0.moves(at, state, dst, out);
    }

    fn start<V: View>(&self, src: RouterId, dst: RouterId, view: &V, rng: &mut Rng) -> PacketState {
        self.0.start(src, dst, view, rng)
    }

    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move {
        self.0.choose(at, state, dst, view, rng)
    }

    fn keeps_bubbles(&self) -> bool {
        true
    }

    fn enters(&self, before: PacketState, hop: &Move) -> bool {
        before.bits >> 2 != hop.next.bits >> 2
    }

    fn oblivious(&self) -> bool {
        true
    }
}

/// Marks a missing port: the edge of a mesh.
const NO_PORT: u16 = u16::MAX;
/// The bits of a packet that has not entered a dimension yet.
const FRESH: u32 = u32::MAX;
/// Room for the outputs on minimal paths, two for each dimension in which routers differ, and one more: ids of routers
/// have 32 bits.
pub const MOST_OUTPUTS: usize = 65;

/// A straight piece of a path: hops along one dimension.
#[derive(Debug, Clone, Copy)]
pub struct Piece {
    pub dim: usize,
    /// Towards lower coordinates, or over the end of the line to the highest.
    pub down: bool,
    /// The id of the router where it begins.
    pub from: u32,
    /// The difference of the ids of two neighbours in this dimension.
    pub stride: u32,
    pub hops: u32,
}

impl Piece {
    /// The coordinates in its dimension, of that side, of the routers that its hops leave.
    #[inline]
    pub fn coordinates(self, side: u32) -> impl Iterator<Item = u32> {
        let mut next = self.from / self.stride % side;
        (0..self.hops).map(move |_| {
            let own = next;
            next = match self.down {
                false if own + 1 == side => 0,
                false => own + 1,
                true if own == 0 => side - 1,
                true => own - 1,
            };
            own
        })
    }
}

/// Dimension order on a grid with neighbour links; `WRAP` on a torus.
#[derive(Clone)]
pub struct DimensionOrder<const WRAP: bool> {
    sides: Vec<u32>,
    coordinates: Coordinates,
    /// The output towards +1 and -1, router by router, dimension by dimension.
    ports: Vec<[u16; 2]>,
    /// The dimensions in which one output leads in both directions, as bits of the downward directions of [`Coordinates::directions`];
    /// `None` if that depends on the router.
    both_ways: Option<u32>,
    /// The bit of a packet's bits that is its VC class: whether it crosses the wrap-around link. 0 without a dateline.
    crossing: u32,
}

impl<const WRAP: bool> DimensionOrder<WRAP> {
    /// For a network with grid coordinates and links between neighbours; `None` if it has no grid.
    pub fn new(network: &Network) -> Option<Self> {
        let grid = network.any_structure().grid()?;
        let dims = grid.sides.len();
        let coordinates = Coordinates::new(network, grid);
        let mut ports = vec![[NO_PORT; 2]; network.num_routers() * dims];
        for router in network.routers() {
            let own = coordinates.of(router);
            for (port, peer) in network.neighbors(router) {
                let other = coordinates.of(peer);
                let dim = (0..dims).find(|&d| own[d] != other[d])?;
                let up = (u32::from(own[dim]) + 1) % grid.sides[dim] == u32::from(other[dim]);
                let pair = &mut ports[router.index() * dims + dim];
                // A dimension of size 2: its only link serves both directions, of two the second serves -.
                let way = if up && pair[0] == NO_PORT { 0 } else { 1 };
                pair[way] = port as u16;
                if grid.sides[dim] == 2 && pair[1] == NO_PORT {
                    pair[1] = port as u16;
                }
            }
        }
        let both_ways = |ports: &[[u16; 2]]| {
            let dims = (0u32..).zip(ports).filter(|(_, [plus, minus])| plus == minus);
            dims.map(|(dim, _)| 2u32.checked_shl(2 * dim).unwrap_or(0)).sum::<u32>()
        };
        let first = both_ways(ports.get(..dims)?);
        let both_ways = ports.chunks(dims).all(|ports| both_ways(ports) == first).then_some(first);
        Some(Self { sides: grid.sides.clone(), coordinates, ports, both_ways, crossing: u32::from(WRAP) })
    }

    /// The same in one VC class: a negative example for proofs.
    fn without_dateline(self) -> Self {
        Self { crossing: 0, ..self }
    }

    /// The most links between two routers.
    pub fn diameter(&self) -> u32 {
        self.sides.iter().map(|side| if WRAP { side / 2 } else { side - 1 }).sum()
    }

    /// Appends the ports that a packet leaves routers by on its path to `target`, with the same draws as hop by hop: line by
    /// line, without a look at the ports in between.
    pub fn path(&self, network: &Network, from: RouterId, target: RouterId, rng: &mut Rng, path: &mut Vec<u32>) {
        self.pieces(from, target, rng, |piece| {
            let (dim, side) = (piece.dim, self.sides[piece.dim]);
            let line = piece.from - piece.from / piece.stride % side * piece.stride;
            for own in piece.coordinates(side) {
                let at = line + own * piece.stride;
                let port = self.ports[at as usize * self.sides.len() + dim][usize::from(piece.down)];
                path.push(network.port_base(RouterId(at)) + u32::from(port));
            }
        });
    }

    /// Calls with the straight pieces of a path to `target`, with the same draws as hop by hop.
    pub fn pieces(&self, from: RouterId, target: RouterId, rng: &mut Rng, mut each: impl FnMut(Piece)) {
        let (mut at, mut stride) = (from.0, 1);
        for (dim, &side) in self.sides.iter().enumerate() {
            let (own, to) = (self.coordinates.at(from, dim), self.coordinates.at(target, dim));
            if own != to {
                let down = match self.ways(dim, own, to) {
                    (true, true) => rng.coin(),
                    (_, down) => down,
                };
                let hops = if down { own + side - to } else { to + side - own } % side;
                each(Piece { dim, down, from: at, stride, hops });
                at = at - own * stride + to * stride;
            }
            stride *= side;
        }
    }

    /// Writes the outputs of `at` on all minimal paths to another router, not only those in the order of dimensions; returns
    /// how many there are.
    #[inline(always)]
    pub fn outputs(&self, at: RouterId, target: RouterId, outputs: &mut [u16; MOST_OUTPUTS]) -> usize {
        let ports = &self.ports[at.index() * self.sides.len()..][..self.sides.len()];
        let mut count = 0;
        if let (Some(mut left), Some(both)) = (self.coordinates.directions::<WRAP>(at, target), self.both_ways) {
            left &= !(left << 1 & both);
            let mut add = |left: &mut u32| {
                // Where none is left, any is written, and not counted.
                outputs[count] = ports.as_flattened()[left.trailing_zeros() as usize % 8];
                count += usize::from(*left != 0);
                *left &= left.wrapping_sub(1);
            };
            // As many times for every pair of routers: a number that depends on them is often mispredicted.
            (0..self.sides.len()).for_each(|_| add(&mut left));
            while left != 0 {
                add(&mut left);
            }
            return count;
        }
        let (from, to) = (self.place(at), self.place(target));
        // Written always, counted if they are minimal: which are is often mispredicted, hence no branch.
        let mut add = |port: u16, minimal: bool| {
            outputs[count] = port;
            count += usize::from(minimal);
        };
        for (dim, &[plus, minus]) in ports.iter().enumerate() {
            let (from, to) = (from[dim].into(), to[dim].into());
            let (up, down) = self.ways(dim, from, to);
            add(plus, up & (from != to));
            add(minus, down & (from != to) & !(up & (minus == plus)));
        }
        count
    }

    #[inline(always)]
    fn place(&self, router: RouterId) -> &[u16] {
        self.coordinates.of(router)
    }

    /// The first dimension in which two routers differ.
    #[inline(always)]
    fn dimension(&self, at: RouterId, target: RouterId) -> usize {
        self.coordinates.first_difference(at, target)
    }

    /// The directions in a dimension: (up, down) allowed; both on a tie.
    #[inline(always)]
    fn ways(&self, dim: usize, from: u32, to: u32) -> (bool, bool) {
        if !WRAP {
            return (to > from, to < from);
        }
        let side = self.sides[dim];
        let up = if to >= from { to - from } else { to + side - from };
        (2 * up <= side, 2 * up >= side)
    }

    /// The bits of a packet that goes through `dim` in direction `down`: both are kept until the dimension is done.
    #[inline(always)]
    fn entered(dim: usize, down: bool, from: u32, to: u32) -> u32 {
        let crosses = if down { to > from } else { to < from };
        (dim as u32) << 2 | u32::from(down) << 1 | u32::from(crosses)
    }

    #[inline(always)]
    fn go(&self, at: RouterId, dim: usize, bits: u32) -> Step {
        let port = self.ports[at.index() * self.sides.len() + dim][(bits >> 1 & 1) as usize];
        Step { port, class: (bits & self.crossing) as u8, bits }
    }
}

impl<const WRAP: bool> Minimal for DimensionOrder<WRAP> {
    fn classes(&self) -> u32 {
        self.crossing + 1
    }

    fn begins(&self) -> Vec<u32> {
        vec![FRESH]
    }

    #[inline(always)]
    fn begin(&self, _rng: &mut Rng) -> u32 {
        FRESH
    }

    fn steps(&self, at: RouterId, bits: u32, target: RouterId, out: &mut Vec<Step>) {
        let dim = self.dimension(at, target);
        if bits >> 2 == dim as u32 {
            out.push(self.go(at, dim, bits));
            return;
        }
        let (from, to) = (u32::from(self.place(at)[dim]), u32::from(self.place(target)[dim]));
        let (up, down) = self.ways(dim, from, to);
        let ways = [(false, up), (true, down)].into_iter().filter(|way| way.1);
        out.extend(ways.map(|(way, _)| self.go(at, dim, Self::entered(dim, way, from, to))));
    }

    #[inline(always)]
    fn step(&self, at: RouterId, bits: u32, target: RouterId, rng: &mut Rng) -> Step {
        let dim = self.dimension(at, target);
        // On a mesh the bits follow from the coordinates: to look at them would be a branch more, and often mispredicted.
        if WRAP && bits >> 2 == dim as u32 {
            return self.go(at, dim, bits);
        }
        let (from, to) = (self.coordinates.at(at, dim), self.coordinates.at(target, dim));
        let down = match self.ways(dim, from, to) {
            (true, true) => rng.coin(),
            (_, down) => down,
        };
        self.go(at, dim, Self::entered(dim, down, from, to))
    }

    fn unproved(&self) -> bool {
        WRAP && self.crossing == 0
    }

    /// Those that differ from the destination in two dimensions at most.
    ///
    /// A packet holds one channel while it waits for the next, and both are of two dimensions at most. It would do the same
    /// if it had begun where it entered the first of these, and ended where it leaves the second: what it does in a
    /// dimension depends on the coordinates there alone.
    fn enough_sources(&self, dst: RouterId, out: &mut Vec<RouterId>) -> bool {
        let strides = self.sides.iter().scan(1, |stride, side| Some(std::mem::replace(stride, *stride * side)));
        let lines: Vec<(u32, u32)> = strides.zip(self.sides.iter().copied()).collect();
        let in_line = |of: RouterId, dim: usize| {
            let ((stride, side), own) = (lines[dim], self.coordinates.at(of, dim));
            (0..side).filter(move |&at| at != own).map(move |at| RouterId(of.0 - own * stride + at * stride))
        };
        for dim in 0..lines.len() {
            for first in in_line(dst, dim) {
                out.push(first);
                (dim + 1..lines.len()).for_each(|other| out.extend(in_line(first, other)));
            }
        }
        true
    }

    fn hops(&self, from: RouterId, to: RouterId) -> u32 {
        let pairs = self.place(from).iter().zip(self.place(to));
        pairs
            .zip(&self.sides)
            .map(|((&a, &b), &side)| {
                let gap = u32::from(a.abs_diff(b));
                if WRAP { gap.min(side - gap) } else { gap }
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::{self, Idle};
    use crate::topology;

    const SIDES: [u32; 3] = [4, 5, 6];

    fn place(router: RouterId) -> [u32; 3] {
        [router.0 % 4, router.0 / 4 % 5, router.0 / 20]
    }

    /// The place next to one, in dimension `dim`.
    fn beside(mut place: [u32; 3], dim: usize, down: bool) -> [u32; 3] {
        place[dim] = (place[dim] + if down { SIDES[dim] - 1 } else { 1 }) % SIDES[dim];
        place
    }

    /// Follows a packet whose dimensions are corrected in ascending order, each by the shorter path round; a `tie` goes up or down by
    /// its two coordinates, or either way. The class is that of the coordinates at each hop if it `compares` them, else whether the
    /// packet crosses the end of the line in that dimension. Returns how often a tie went up and down.
    fn follow(rule: &str, network: &Network, routing: &AnyRouting, ends: [RouterId; 2], by: (Tie, bool)) -> [usize; 2] {
        let ([src, dst], (tie, compares)) = (ends, by);
        let mut rng = Rng::stream(u64::from(src.0), dst.0.into());
        let mut state = routing.start(src, dst, &Idle, &mut rng);
        let (mut at, mut entered, mut ties) = (src, None::<(usize, bool, bool)>, [0, 0]);
        while at != dst {
            let (own, to) = (place(at), place(dst));
            let dim = (0..3).find(|&dim| own[dim] != to[dim]).expect("they differ");
            let hop = routing.choose(at, state, dst, &Idle, &mut rng);
            let peer = network.neighbors(at).find(|&(port, _)| port == u32::from(hop.port)).expect("a link").1;
            let goes_down = place(peer) == beside(own, dim, true);
            assert!(goes_down || place(peer) == beside(own, dim, false), "{rule}: {own:?} to {:?}", place(peer));
            if entered.is_none_or(|(other, ..)| other != dim) {
                let up = (to[dim] + SIDES[dim] - own[dim]) % SIDES[dim];
                let down = match (2 * up).cmp(&SIDES[dim]) {
                    std::cmp::Ordering::Less => false,
                    std::cmp::Ordering::Greater => true,
                    std::cmp::Ordering::Equal => {
                        ties[usize::from(goes_down)] += 1;
                        tie(own[dim], to[dim]).unwrap_or(goes_down)
                    }
                };
                entered = Some((dim, down, if down { to[dim] > own[dim] } else { to[dim] < own[dim] }));
            }
            let (_, down, crosses) = entered.expect("just entered");
            assert_eq!(goes_down, down, "{rule}: {own:?} to {to:?}");
            let class = if compares { to[dim] < own[dim] } else { crosses };
            assert_eq!(hop.class, u8::from(class), "{rule}: {own:?} to {to:?}");
            (at, state) = (peer, hop.next);
        }
        ties
    }

    /// Which way a tie between two coordinates goes; `None` for either.
    type Tie = fn(u32, u32) -> Option<bool>;

    #[test]
    fn ties_and_classes_are_those_of_the_rule() {
        let network = topology::build("torus:4x5x6").expect("a spec that works");
        let rules: [(&str, Tie, bool); 7] = [
            ("dor:ties=plus", |_, _| Some(false), false),
            ("dor:ties=minus", |_, _| Some(true), false),
            ("dor:ties=sign", |from, to| Some(to < from), false),
            ("dor:vc=upper-lower", |_, _| None, true),
            ("dor:vc=upper-lower,ties=plus", |_, _| Some(false), true),
            ("dor:vc=upper-lower,ties=sign", |from, to| Some(to < from), true),
            ("dor", |_, _| None, false),
        ];
        for (rule, tie, compares) in rules {
            let routing = routing::build(&network, rule).expect(rule);
            let mut ties = [0, 0];
            for (src, dst) in network.routers().flat_map(|src| network.routers().map(move |dst| (src, dst))) {
                let found = follow(rule, &network, &routing, [src, dst], (tie, compares));
                (ties[0], ties[1]) = (ties[0] + found[0], ties[1] + found[1]);
            }
            let both = tie(0, 1).is_none() || tie(0, 1) != tie(1, 0);
            assert_eq!(ties[0] > 100 && ties[1] > 100, both, "{rule}: {ties:?}");
        }
    }
}
