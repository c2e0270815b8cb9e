//! Routing on the twin torus: `ts-dor`, `dort`, and the paths of `duato` there.
//!
//! All go dimension by dimension, in the shorter direction. Where the port that a packet wants is on the node's other
//! card it takes the internal link first. In every outer hop the VC follows from coordinates: *upper* if the
//! destination's is the greater one, else *lower*.
//!
//! - TS-DOR (Andújar et al., 2017): packets from card 0 ascend through the dimensions, those from card 1 descend, in
//!   traffic classes of their own. The internal link takes the VC of the split dimension if that is wanted; else upper
//!   from card 0 to card 1 and lower back.
//! - DORT (Andújar et al., 2015): all ascend. The internal link has four VCs: one to eject, one to enter a dimension of
//!   the other card, two (upper, lower) while the split dimension is routed. Its first internal hop takes one of the last
//!   two as well: in the second there would be a circle as soon as the split dimension has more than two nodes.

use super::{Again, AnyRouting, Availability, Move, PacketState, Routing, RoutingInfo, View};
use crate::catalogue::{Arguments, Key, Kind};
use crate::error::Result;
use crate::network::{Network, RouterId};
use crate::rng::Rng;
use crate::topology::TwinTorus;

const TIES: Key = Key::new(
    "ties",
    Kind::Choice(&TIE_RULES),
    "where both directions round are as long: source (default): - from card 0, + from card 1 (in the split dimension - if all \
     ascend, as in dort); middle: so in the split dimension, + in others; plus: always +; wrong: the opposite of source; \
     coin; none: rejected",
);
/// The words of [`TIES`].
const TIE_RULES: [&str; 6] = ["source", "middle", "plus", "wrong", "coin", "none"];

pub(super) const TS_DOR: RoutingInfo = RoutingInfo {
    name: "ts-dor",
    summary: "packets of card 0 ascend through the dimensions, those of card 1 descend, in traffic classes of their own",
    offered: Availability::ByFamily,
    classes: "4 (2 for each card)",
    adapts: Some(false),
    keys: &[
        TIES,
        Key::new(
            "tc",
            Kind::Choice(&["own", "shared"]),
            "own (default); shared: both orders in the same VCs, which can deadlock",
        ),
    ],
    build: |network, options| {
        let Some(cards) = Cards::new(network, options, true)? else { return Ok(None) };
        let shared = options.choice("tc") == "shared";
        Ok(Some(AnyRouting::new(OneWay { cards, rule: TsDor { shared } })))
    },
};

pub(super) const DORT: RoutingInfo = RoutingInfo {
    name: "dort",
    summary: "dimensions in ascending order; four VCs on the internal link",
    offered: Availability::ByFamily,
    classes: "4 (2 of them on outer links)",
    adapts: Some(false),
    keys: &[
        TIES,
        Key::new(
            "internal-vcs",
            Kind::Choice(&["4", "3", "2", "1"]),
            "VCs of the internal link: 4 (default); 3, 2 or 1, which can deadlock",
        ),
        Key::new(
            "first",
            Kind::Choice(&["split", "enter"]),
            "VC of the first internal hop of a packet that wants the split dimension: split (default), as the others; \
             enter: as into other dimensions, which can deadlock",
        ),
    ],
    build: |network, options| {
        let Some(cards) = Cards::new(network, options, false)? else { return Ok(None) };
        let internal = match options.choice("internal-vcs") {
            "4" => Internal::Four,
            "3" => Internal::Three,
            "2" => Internal::Two,
            _ => Internal::One,
        };
        let enters_first = options.choice("first") == "enter";
        Ok(Some(AnyRouting::new(OneWay { cards, rule: Dort { internal, enters_first } })))
    },
};

/// Adaptive routing on a twin torus, TS-DOR its escape; `None` on other networks.
pub(super) fn adaptive(network: &Network) -> Option<AnyRouting> {
    Cards::with_ties(network, Ties::Source, true).map(|cards| AnyRouting::new(Adaptive(cards)))
}

/// The VC for packets whose destination has the greater coordinate.
const UPPER: u8 = 0;
/// The VC for the others.
const LOWER: u8 = 1;
/// Marks a port that is on the other card.
const NO_PORT: u16 = u16::MAX;

/// Which way to take where both are as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ties {
    Source,
    Middle,
    Plus,
    Wrong,
    Coin,
}

/// The cards of a twin torus: coordinates and ports. A packet's bits are the card that it comes from (bit 0), and in
/// bit 1 + d whether it goes + where both directions round dimension d are as long.
pub struct Cards {
    sides: Vec<u32>,
    /// Coordinates, node by node.
    coordinates: Vec<u16>,
    /// The output - and + of each dimension, card by card: the same on all nodes.
    ports: [Vec<[u16; 2]>; 2],
    /// The output of each card to the other.
    internal: [u16; 2],
    split: Option<usize>,
    ties: Ties,
    /// Packets from card 1 descend through the dimensions.
    descends: bool,
}

/// What a packet wants next: an outer port.
#[derive(Debug, Clone, Copy)]
struct PortRequest {
    dimension: usize,
    plus: bool,
    vc: u8,
}

impl Cards {
    fn new(network: &Network, options: &Arguments, descends: bool) -> Result<Option<Self>> {
        let ties = match options.choice("ties") {
            "source" => Ties::Source,
            "middle" => Ties::Middle,
            "plus" => Ties::Plus,
            "wrong" => Ties::Wrong,
            "coin" => Ties::Coin,
            _ => {
                let torus = network.structure::<TwinTorus>();
                let even = torus.and_then(|torus| torus.sides().iter().position(|side| side % 2 == 0));
                if let Some(dimension) = even {
                    return Err(options.mistake(format_args!(
                        "dimension {dimension} of {} has an even size, where both directions round can be as long; give ties= one \
                         of: {}",
                        network.spec(),
                        TIE_RULES[..TIE_RULES.len() - 1].join(", ")
                    )));
                }
                Ties::Source
            }
        };
        Ok(Self::with_ties(network, ties, descends))
    }

    fn with_ties(network: &Network, ties: Ties, descends: bool) -> Option<Self> {
        let torus = network.structure::<TwinTorus>()?;
        let sides = torus.sides().to_vec();
        let grid = crate::network::Grid { sides: sides.clone() };
        let coordinates = (0..grid.len() as u32).flat_map(|node| grid.coordinates(node)).map(|c| c as u16).collect();
        let mut ports = [vec![[NO_PORT; 2]; sides.len()], vec![[NO_PORT; 2]; sides.len()]];
        let mut next = [0, 1].map(|card| network.terminals_of(RouterId(card)).count() as u16);
        for (dimension, plus) in (0..sides.len()).flat_map(|dimension| [(dimension, true), (dimension, false)]) {
            let card = torus.card_of(dimension, plus) as usize;
            ports[card][dimension][usize::from(plus)] = next[card];
            next[card] += 1;
        }
        Some(Self { sides, coordinates, ports, internal: next, split: torus.split(), ties, descends })
    }

    #[inline(always)]
    fn node(&self, router: RouterId) -> &[u16] {
        let dims = self.sides.len();
        &self.coordinates[router.index() / 2 * dims..][..dims]
    }

    #[inline(always)]
    fn card(router: RouterId) -> usize {
        router.index() % 2
    }

    /// The directions round dimension `d`: (+, -) no longer than the other.
    #[inline(always)]
    fn ways(&self, at: RouterId, dst: RouterId, d: usize) -> (bool, bool) {
        let (side, from, to) = (self.sides[d], u32::from(self.node(at)[d]), u32::from(self.node(dst)[d]));
        let up = if to >= from { to - from } else { to + side - from };
        (2 * up <= side, 2 * up >= side)
    }

    #[inline(always)]
    fn vc(&self, at: RouterId, dst: RouterId, d: usize) -> u8 {
        if self.node(dst)[d] > self.node(at)[d] { UPPER } else { LOWER }
    }

    #[inline(always)]
    fn differs(&self, at: RouterId, dst: RouterId, d: usize) -> bool {
        self.node(at)[d] != self.node(dst)[d]
    }

    /// The dimensions in which two cards' nodes differ, a bit each.
    #[inline(always)]
    fn open(&self, at: RouterId, dst: RouterId) -> u32 {
        let pairs = self.node(at).iter().zip(self.node(dst));
        (0..).zip(pairs).fold(0, |open, (d, (from, to))| open | u32::from(from != to) << d)
    }

    /// The first dimension to go through, if any is left.
    // Without a loop to the first one: where that ends is often mispredicted.
    #[inline(always)]
    fn wanted(&self, at: RouterId, dst: RouterId, bits: u32, descending: bool) -> Option<PortRequest> {
        let open = self.open(at, dst);
        let last = open.checked_ilog2()?;
        let dimension = if descending { last } else { open.trailing_zeros() } as usize;
        let plus = match self.ways(at, dst, dimension) {
            (true, true) => bits >> (1 + dimension) & 1 == 1,
            (plus, _) => plus,
        };
        Some(PortRequest { dimension, plus, vc: self.vc(at, dst, dimension) })
    }

    /// The outer port wanted, if it is on this card.
    #[inline(always)]
    fn port(&self, at: RouterId, wanted: PortRequest) -> Option<u16> {
        let port = self.ports[Self::card(at)][wanted.dimension][usize::from(wanted.plus)];
        (port != NO_PORT).then_some(port)
    }

    /// The bits of a packet from `src`, but for drawn ones: those go + .
    #[inline(always)]
    fn bits(&self, src: RouterId) -> u32 {
        let (card, all) = (Self::card(src) as u32, (1 << self.sides.len()) - 1);
        let middle = self.split.map_or(0, |d| 1 << d);
        let of_card = if card == 1 { all } else { 0 };
        // The split dimension's port on the card from which packets come into it.
        let source = if self.descends { of_card } else { of_card & !middle };
        let plus = match self.ties {
            Ties::Source => source,
            Ties::Wrong => all & !source,
            Ties::Middle => (all & !middle) | (source & middle),
            Ties::Plus | Ties::Coin => all,
        };
        card | plus << 1
    }

    /// The dimensions in which a packet has to draw its way, a bit each, as they are in its bits.
    #[inline(always)]
    fn drawn(&self, src: RouterId, dst: RouterId) -> u32 {
        if self.ties != Ties::Coin {
            return 0;
        }
        let tie = |&d: &usize| self.differs(src, dst, d) && self.ways(src, dst, d) == (true, true);
        (0..self.sides.len()).filter(tie).fold(0, |bits, d| bits | 2 << d)
    }

    fn starts(&self, src: RouterId, dst: RouterId, out: &mut Vec<PacketState>) {
        let (bits, drawn) = (self.bits(src), self.drawn(src, dst));
        // All subsets of the drawn bits.
        let mut subset = drawn;
        loop {
            out.push(PacketState::direct((bits & !drawn) | subset));
            if subset == 0 {
                return;
            }
            subset = (subset - 1) & drawn;
        }
    }

    #[inline(always)]
    fn start(&self, src: RouterId, dst: RouterId, rng: &mut Rng) -> PacketState {
        let (bits, drawn) = (self.bits(src), self.drawn(src, dst));
        let draw =
            (0..self.sides.len()).filter(|d| drawn >> (1 + d) & 1 == 1 && rng.coin()).fold(0, |all, d| all | 2 << d);
        PacketState::direct((bits & !drawn) | draw)
    }

    /// TS-DOR's hop, its VC upper or lower.
    #[inline(always)]
    fn twin_source(&self, at: RouterId, state: PacketState, dst: RouterId) -> Move {
        let (card, internal) = (Self::card(at) as u8, self.internal[Self::card(at)]);
        let Some(wanted) = self.wanted(at, dst, state.bits, state.bits & 1 == 1) else {
            return Move { port: internal, class: card, next: state };
        };
        let port = self.ports[Self::card(at)][wanted.dimension][usize::from(wanted.plus)];
        // By masks: whether the port is on this card is often mispredicted. `NO_PORT` alone has its highest bit set.
        let away = (port as i16 >> 15) as u16;
        let is_split = self.split.map_or(0, |d| 1u32 << d) >> wanted.dimension & 1;
        let by_direction = (!away | (is_split as u16).wrapping_neg()) as u8;
        let port = port & !away | internal & away;
        // Packets for the other card are of the class of their own: card 0 the upper, card 1 the lower one.
        Move { port, class: wanted.vc & by_direction | card & !by_direction, next: state }
    }
}

/// One way for each packet, by the rule `H`.
pub struct OneWay<H> {
    cards: Cards,
    rule: H,
}

/// What TS-DOR and DORT differ in.
pub trait Rule: Send + Sync {
    /// VC classes of a group of packets, and the groups.
    fn classes(&self) -> [u32; 2];

    /// The hop of a packet.
    fn hop(&self, cards: &Cards, at: RouterId, state: PacketState, dst: RouterId) -> Move;

    /// True for a rule that can deadlock: a negative example for proofs.
    fn is_broken(&self) -> bool;
}

impl<H: Rule> Routing for OneWay<H> {
    fn classes(&self) -> u32 {
        let [classes, groups] = self.rule.classes();
        classes * groups
    }

    fn traffic_groups(&self) -> u32 {
        self.rule.classes()[1]
    }

    fn traffic_group(&self, src: RouterId) -> u32 {
        if self.traffic_groups() == 1 { 0 } else { Cards::card(src) as u32 }
    }

    fn starts(&self, src: RouterId, dst: RouterId, out: &mut Vec<PacketState>) {
        self.cards.starts(src, dst, out);
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        out.push(self.rule.hop(&self.cards, at, state, dst));
    }

    #[inline(always)]
    fn start<V: View>(&self, src: RouterId, dst: RouterId, _view: &V, rng: &mut Rng) -> PacketState {
        self.cards.start(src, dst, rng)
    }

    #[inline(always)]
    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, _view: &V, _rng: &mut Rng) -> Move {
        self.rule.hop(&self.cards, at, state, dst)
    }

    // Only on a tie, at most.
    #[inline(always)]
    fn draws(&self, _fresh: bool) -> bool {
        false
    }

    fn unproved(&self) -> bool {
        self.rule.is_broken()
    }

    fn oblivious(&self) -> bool {
        true
    }
}

/// The rule of `ts-dor`.
pub struct TsDor {
    /// Both orders share their VCs, which can deadlock.
    shared: bool,
}

impl Rule for TsDor {
    fn classes(&self) -> [u32; 2] {
        [2, if self.shared { 1 } else { 2 }]
    }

    #[inline(always)]
    fn hop(&self, cards: &Cards, at: RouterId, state: PacketState, dst: RouterId) -> Move {
        let hop = cards.twin_source(at, state, dst);
        let group = if self.shared { 0 } else { (state.bits & 1) as u8 };
        Move { class: hop.class + 2 * group, ..hop }
    }

    fn is_broken(&self) -> bool {
        self.shared
    }
}

/// How DORT uses the internal link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Internal {
    /// Eject; enter a dimension of the other card; upper and lower in the split dimension.
    Four,
    /// Eject and enter share one.
    Three,
    /// The rule of TS-DOR.
    Two,
    /// All share one.
    One,
}

/// The bit of a packet's bits that states that it has made a hop in the split dimension.
const IN_SPLIT: u32 = 1 << 31;

/// The rule of `dort`.
pub struct Dort {
    internal: Internal,
    enters_first: bool,
}

impl Rule for Dort {
    fn classes(&self) -> [u32; 2] {
        let classes = match self.internal {
            Internal::Four => 4,
            Internal::Three => 3,
            Internal::Two | Internal::One => 2,
        };
        [classes, 1]
    }

    #[inline(always)]
    fn hop(&self, cards: &Cards, at: RouterId, state: PacketState, dst: RouterId) -> Move {
        let wanted = cards.wanted(at, dst, state.bits, false);
        if let Some((wanted, Some(port))) = wanted.map(|wanted| (wanted, cards.port(at, wanted))) {
            let in_split = self.enters_first && Some(wanted.dimension) == cards.split;
            let bits = if in_split { state.bits | IN_SPLIT } else { state.bits };
            return Move { port, class: wanted.vc, next: PacketState::direct(bits) };
        }
        let card = Cards::card(at);
        let splitting = wanted.filter(|wanted| Some(wanted.dimension) == cards.split);
        let splitting = splitting.filter(|_| !self.enters_first || state.bits & IN_SPLIT != 0);
        let class = match (self.internal, splitting) {
            (Internal::Four, Some(wanted)) => 2 + wanted.vc,
            (Internal::Four, None) => u8::from(wanted.is_some()),
            (Internal::Three, Some(wanted)) => 1 + wanted.vc,
            (Internal::Two, Some(wanted)) => wanted.vc,
            (Internal::Two, None) => card as u8,
            (Internal::Three, None) | (Internal::One, _) => 0,
        };
        Move { port: cards.internal[card], class, next: state }
    }

    fn is_broken(&self) -> bool {
        self.internal != Internal::Four || self.enters_first
    }
}

/// Duato's protocol on a twin torus, TS-DOR its escape: where TS-DOR goes through a dimension of this card, any output
/// of this card on a shortest path round such a dimension, in an adaptive class; elsewhere TS-DOR's own output. A
/// packet that took the split dimension sooner would come to the other card with dimensions left behind it: its escape
/// would use the internal link in both directions, and close cycles.
pub struct Adaptive(Cards);

impl Adaptive {
    /// Escape classes: as TS-DOR.
    const ESCAPE: u8 = 4;

    fn class(state: PacketState) -> u8 {
        Self::ESCAPE + (state.bits & 1) as u8
    }

    /// The adaptive outputs.
    fn outputs(&self, at: RouterId, state: PacketState, dst: RouterId) -> impl Iterator<Item = u16> + Clone + '_ {
        let cards = &self.0;
        let own = &cards.ports[Cards::card(at)];
        let wanted = cards.wanted(at, dst, state.bits, state.bits & 1 == 1);
        let outer = wanted.filter(|&w| Some(w.dimension) != cards.split && cards.port(at, w).is_some());
        let alone = outer.is_none().then(|| cards.twin_source(at, state, dst).port);
        let open = move |&d: &usize| Some(d) != cards.split && own[d][0] != NO_PORT && cards.differs(at, dst, d);
        let dims = (0..own.len()).filter(move |d| outer.is_some() && open(d));
        let both = dims.flat_map(move |d| {
            let (plus, minus) = cards.ways(at, dst, d);
            [(minus, own[d][0]), (plus, own[d][1])]
        });
        both.filter(|&(shortest, _)| shortest).map(|(_, port)| port).chain(alone)
    }

    fn escape(&self, at: RouterId, state: PacketState, dst: RouterId) -> Move {
        let hop = self.0.twin_source(at, state, dst);
        Move { class: hop.class + 2 * (state.bits & 1) as u8, ..hop }
    }
}

impl Routing for Adaptive {
    fn classes(&self) -> u32 {
        u32::from(Self::ESCAPE) + self.traffic_groups()
    }

    fn traffic_groups(&self) -> u32 {
        2
    }

    fn traffic_group(&self, src: RouterId) -> u32 {
        Cards::card(src) as u32
    }

    fn starts(&self, src: RouterId, dst: RouterId, out: &mut Vec<PacketState>) {
        self.0.starts(src, dst, out);
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        out.extend(self.outputs(at, state, dst).map(|port| Move { port, class: Self::class(state), next: state }));
        out.push(self.escape(at, state, dst));
    }

    fn start<V: View>(&self, src: RouterId, dst: RouterId, _view: &V, rng: &mut Rng) -> PacketState {
        self.0.start(src, dst, rng)
    }

    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move {
        let class = Self::class(state);
        let outputs = self.outputs(at, state, dst);
        let first = rng.below(outputs.clone().count() as u32) as usize;
        // On a tie the first from a random one on.
        let turned = outputs.clone().skip(first).chain(outputs.take(first));
        let free = turned.filter(|&port| view.has_free_vc(port.into(), class));
        match free.min_by_key(|&port| view.occupancy(port.into())) {
            Some(port) => Move { port, class, next: state },
            None => self.escape(at, state, dst),
        }
    }

    fn escape_classes(&self) -> u32 {
        Self::ESCAPE.into()
    }

    fn decides_again(&self) -> Again {
        Again::Blocked
    }

    fn takes_whole_packets(&self, class: u8) -> bool {
        class >= Self::ESCAPE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology;

    #[test]
    fn a_packet_wants_its_first_dimension_by_the_shorter_way_round() {
        let sides = [4, 3, 2, 5];
        let network = topology::build("twin-torus:4x3x2x5").expect("a spec that works");
        let cards = Cards::with_ties(&network, Ties::Plus, false).expect("a twin torus");
        let place = |router: RouterId| {
            let node = router.0 / 2;
            [node % 4, node / 4 % 3, node / 12 % 2, node / 24]
        };
        for (at, dst) in network.routers().flat_map(|at| network.routers().map(move |dst| (at, dst))) {
            let (from, to) = (place(at), place(dst));
            let mut dims: Vec<usize> = (0..4).filter(|&d| from[d] != to[d]).collect();
            for descending in [false, true] {
                // By the bits of ties both directions occur.
                for bits in [0, 0b11110] {
                    let found = cards.wanted(at, dst, bits, descending);
                    let Some(&d) = dims.first() else {
                        assert!(found.is_none());
                        continue;
                    };
                    let found = found.expect("they differ");
                    let up = (to[d] + sides[d] - from[d]) % sides[d];
                    let plus = if 2 * up == sides[d] { bits != 0 } else { 2 * up < sides[d] };
                    let vc = if to[d] > from[d] { UPPER } else { LOWER };
                    assert_eq!((found.dimension, found.plus, found.vc), (d, plus, vc), "{from:?} to {to:?}");
                }
                dims.reverse();
            }
        }
    }

    #[test]
    fn twin_source_packets_leave_by_their_card_or_for_the_other_one() {
        let mut seen = std::collections::HashMap::new();
        for spec in ["twin-torus:4x3x2x5", "twin-torus:4x3x2", "twin-torus:3x3"] {
            let network = topology::build(spec).expect(spec);
            let cards = Cards::with_ties(&network, Ties::Source, true).expect(spec);
            for (at, dst) in network.routers().flat_map(|at| network.routers().map(move |dst| (at, dst))) {
                for bits in [0, 1] {
                    let hop = cards.twin_source(at, PacketState::direct(bits), dst);
                    let wanted = cards.wanted(at, dst, bits, bits == 1);
                    let here = wanted.and_then(|wanted| cards.port(at, wanted));
                    let is_split = wanted.is_some_and(|wanted| Some(wanted.dimension) == cards.split);
                    let class = match wanted {
                        Some(wanted) if here.is_some() || is_split => wanted.vc,
                        _ => [UPPER, LOWER][Cards::card(at)],
                    };
                    assert_eq!(
                        (hop.port, hop.class),
                        (here.unwrap_or(cards.internal[Cards::card(at)]), class),
                        "{spec}"
                    );
                    *seen.entry((wanted.is_some(), here.is_some(), is_split)).or_insert(0) += 1;
                }
            }
        }
        assert_eq!(seen.len(), 5, "nothing wanted; here or not, split or not: {seen:?}");
    }
}
