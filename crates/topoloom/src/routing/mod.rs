//! Routing: one algorithm, three readers.
//!
//! A routing is written once over a small packet state. The cycle engine calls the *hot* pair `start`, `choose`; the
//! deadlock verifier walks the *cold* pair `starts`, `moves`, which enumerates everything that the hot pair could ever
//! do. A move depends on the destination only through the packet's *target*: the intermediate router while there is
//! one, the destination after. A proof therefore costs routers squared, not cubed, and holds for any intermediate.

mod alike;
mod amin;
mod any;
mod booksim;
mod cardfile;
mod cards;
mod channels;
mod coordinates;
mod dal;
mod dimwar;
mod dor;
mod dragonfly;
mod duato;
mod fattree;
mod flex;
mod forwarding;
mod galaxyfly;
mod global_links;
mod hosts;
mod hyperx;
mod layers;
mod lbr;
mod lft;
mod min;
mod minimal;
mod minupdown;
mod named;
mod nest;
mod omniwar;
mod par;
mod paths;
mod polarized;
mod registry;
mod survivors;
mod table;
mod tables;
mod twin;
mod twophase;
mod ugal_g;
mod updown;
pub mod verify;
mod walk;

pub(crate) use alike::Alike;
pub(crate) use amin::AdaptiveMinimal;
pub use any::{AnyRouting, DynRouting};
pub use cardfile::CardSizes;
pub use cards::CardTables;
pub(crate) use dal::Dal;
pub(crate) use dimwar::DimWar;
pub(crate) use dor::{CustomOrder, DimensionOrder, Piece};
pub(crate) use dragonfly::DragonflyMinimal;
pub(crate) use duato::Duato;
pub(crate) use fattree::NearestAncestor;
pub(crate) use flex::FlexMinimal;
pub use forwarding::{forwarding, write_csv};
pub(crate) use galaxyfly::{Adaptive as GalaxyflyAdaptive, Minimal as GalaxyflyMinimal};
pub(crate) use hyperx::HyperXMinimal;
pub use layers::{dfsssp, lash};
pub(crate) use lbr::LoadBalancing;
pub use lft::write as write_lft;
pub(crate) use min::Min;
pub use named::{NamedRouting, Routings};
pub(crate) use omniwar::OmniWar;
pub(crate) use par::{Late, Progressive};
pub(crate) use polarized::PolarizedRouting;
pub use registry::{Availability, EvenPaths, ROUTINGS, RoutingInfo, build, even_paths, find, in_role, offered};
pub(crate) use table::TableMinimal;
pub use tables::{Columns, NO_PORT, Tables, in_memory};
pub(crate) use twin::{Adaptive as TwinAdaptive, Dort, OneWay, TsDor};
pub(crate) use twophase::TwoPhase;
pub(crate) use ugal_g::GlobalUgal;
pub use walk::{Links, PathView, idle_path, walk};

use std::ops::Range;
use std::sync::atomic::AtomicU32;

use crate::network::{PortId, RouterId};
use crate::rng::Rng;
use channels::ChannelEnds;

/// No intermediate router: the packet heads for its destination.
pub const NO_VIA: u32 = u32::MAX;
/// In `starts` only: any router but source and destination may be the intermediate one.
pub const ANY_VIA: u32 = u32::MAX - 1;

/// What a packet carries for its routing: 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PacketState {
    /// The intermediate router that the packet heads for, or [`NO_VIA`].
    pub via: u32,
    /// The algorithm's own: hops taken, dimension order, direction.
    pub bits: u32,
}

impl Default for PacketState {
    fn default() -> Self {
        Self::direct(0)
    }
}

impl PacketState {
    /// A packet on its path to the destination.
    pub const fn direct(bits: u32) -> Self {
        Self { via: NO_VIA, bits }
    }

    /// The router the packet heads for now.
    #[inline(always)]
    pub fn target(self, dst: RouterId) -> RouterId {
        if self.via == NO_VIA { dst } else { RouterId(self.via) }
    }
}

/// One hop that a packet may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move {
    /// The output, counted within the router.
    pub port: u16,
    /// The VC class on the link.
    pub class: u8,
    /// The packet's state after the hop.
    pub next: PacketState,
}

/// Where the heads of packets decide again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// Nowhere: a decision is made once, when the head arrives.
    Never,
    /// At every router, whenever a VC is freed there while they have none: what Duato's protocol rests on.
    Blocked,
    /// In the first this many routers of a path: a head decides when it comes to the front of its VC, and again whenever
    /// a VC is freed at the router while it has none. At its source it then starts again ([`Routing::start`]).
    Revocable(u16),
}

/// At which routers behind its first one a packet's routing looks at queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looks {
    /// At none.
    Nowhere,
    /// At the second one alone.
    AtSecond,
    /// At any.
    Everywhere,
}

impl Again {
    /// In how many of the first routers of a path heads decide again.
    #[inline(always)]
    pub fn routers(self) -> u16 {
        match self {
            Self::Never => 0,
            Self::Blocked => u16::MAX,
            Self::Revocable(routers) => routers,
        }
    }
}

/// Local outputs of consecutive numbers, among which a routing looks for the shortest queue.
#[derive(Debug, Clone, Copy)]
pub struct OutputRow {
    /// The first of them.
    pub first: u32,
    /// How many there are, at most [`OutputRow::MOST`].
    pub count: u32,
    /// The position among them from which on, and round, the first of equally long queues is taken.
    pub from: u32,
    /// The position of one that is left out.
    pub except: u32,
}

impl OutputRow {
    /// Bits of a place.
    const PLACE: u32 = 10;
    /// The most outputs.
    pub const MOST: u32 = 1 << Self::PLACE;
    /// The longest queue that counts as shorter than longer ones.
    const LONGEST: u32 = (1 << (31 - Self::PLACE)) - 2;

    /// Which of the `queues` of these outputs, in their order, is the shortest; `None` if there are none but the one that is
    /// left out. Queues of millions of flits count as equally long.
    #[inline(always)]
    pub fn shortest(&self, queues: impl Iterator<Item = u32>) -> Option<u32> {
        debug_assert!(self.count <= Self::MOST);
        // Whole numbers that an old processor compares four at a time.
        let mut best = i32::MAX;
        for (place, queue) in (0u32..).zip(queues) {
            // Positions before `from` come after all others.
            let turn = place.wrapping_sub(self.from) & (Self::MOST - 1);
            let key = (queue.min(Self::LONGEST) << Self::PLACE | turn) as i32;
            best = best.min(if place == self.except { i32::MAX } else { key });
        }
        let place = (best as u32).wrapping_add(self.from) & (Self::MOST - 1);
        (best != i32::MAX).then_some(self.first + place)
    }
}

/// What a router at hand knows when it decides.
pub trait View {
    /// A copy. One that is handed to a function that is not inlined leaves the view itself in registers.
    fn copy(&self) -> Self
    where
        Self: Sized;

    /// Flits sent through local output `port` whose credits have not come back: downstream buffers and wires.
    fn occupancy(&self, port: u32) -> u32;

    /// The flits that are to go, or have gone, through local output `port` and whose credits have not come back: those
    /// of [`View::occupancy`], and those of the packets in this router that have decided for it. Where heads decide
    /// again ([`Routing::decides_again`]); elsewhere the occupancy.
    fn queue(&self, port: u32) -> u32 {
        self.occupancy(port)
    }

    /// The output with the shortest [`View::queue`] of these: see [`OutputRow::shortest`].
    fn shortest_queue(&self, outputs: &OutputRow) -> Option<u32> {
        outputs.shortest((0..outputs.count).map(|place| self.queue(outputs.first + place)))
    }

    /// Those of [`View::queue`] beyond the flits in flight through local output `port` while it sends one in each cycle
    /// and nothing waits: a channel at full load is not congested yet.
    fn backlog(&self, port: u32) -> u32 {
        self.queue(port)
    }

    /// True if a packet that has not decided here before would leave at once by local output `port`, as nothing waits for it:
    /// by queues, which count what is in flight, a detour may look better. (One whose VC request failed has waited.)
    #[inline(always)]
    fn leaves_at_once(&self, port: u32) -> bool {
        self.waiting(port) == 0
    }

    /// 0 where [`View::leaves_at_once`], else some number below 2^31.
    #[inline(always)]
    fn waiting(&self, port: u32) -> u32 {
        self.backlog(port) | u32::from(self.decides_again())
    }

    /// Those of [`View::queue`] that are of a VC class. Only for routings that compare classes
    /// ([`Routing::compares_classes`]).
    fn queue_of(&self, port: u32, _class: u8) -> u32 {
        self.queue(port)
    }

    /// [`View::queue`] of any output in the network, as last published. Only for routings with a
    /// [`Routing::snapshot_period`].
    fn published(&self, port: PortId) -> u32;

    /// [`View::backlog`] of any output in the network, as last published.
    fn published_backlog(&self, port: PortId) -> u32 {
        self.published(port)
    }

    /// The mean of [`View::published_backlog`] over `outputs`, which are those of one set always: `set` stands for it, one of
    /// them that stands for no other set. Counted once in an interval.
    fn published_mean(&self, _set: PortId, outputs: &mut dyn Iterator<Item = PortId>) -> u32 {
        let add = |(sum, count), port| (sum + self.published_backlog(port), count + 1);
        let (sum, count): (u32, u32) = outputs.fold((0, 0), add);
        sum.checked_div(count).unwrap_or(0)
    }

    /// The sum of [`View::published_backlog`] over `outputs`, which are those of one set always: `set` stands for it, one of
    /// them that stands for no other set. Counted once in an interval.
    fn published_sum(&self, _set: PortId, outputs: &mut dyn Iterator<Item = PortId>) -> u32 {
        outputs.map(|output| self.published_backlog(output)).sum()
    }

    /// Counts the packet at hand as one that wants what has this number of the routing's [`Routing::wants`].
    fn want(&self, _what: u32) {}

    /// How many packets lately wanted it, as last published, in parts of [`View::want`]. Only for routings with a
    /// [`Routing::snapshot_period`].
    fn wanted(&self, _what: u32) -> u32 {
        0
    }

    /// The sum of [`View::wanted`] over numbers that follow each other, which are those of one set always: no other set begins
    /// with the same. Counted once in an interval.
    fn wanted_by_all(&self, set: Range<u32>) -> u32 {
        set.map(|what| self.wanted(what)).sum()
    }

    /// The values of [`View::published`] by port of the network, and behind them 0, for routings that read many; `None` without
    /// a table.
    fn published_table(&self) -> Option<&[AtomicU32]> {
        None
    }

    /// How often the occupancies have been published: the number of the interval. Only for such routings, too.
    fn interval(&self) -> u32;

    /// Counts the packet at hand as one that `source` sends, if it is a `new` one, and returns how many that router
    /// sent in the interval before. Only for such routings, too; 0 where intervals do not follow each other.
    fn sent_before(&self, _source: RouterId, _new: bool) -> u32 {
        0
    }

    /// VCs of `class` at local output `port` that the packet at hand could be given now.
    fn free_vcs(&self, port: u32, class: u8) -> u32;

    /// True if there is such a VC: quicker than to count them.
    fn has_free_vc(&self, port: u32, class: u8) -> bool {
        self.free_vcs(port, class) > 0
    }

    /// The slots of the buffer that a packet of `class` would wait in behind an output: of all VCs of a port if they
    /// share them, else of the VCs of that class.
    fn buffer(&self, class: u8) -> u32;

    /// True if the packet at hand has decided at this router before.
    fn decides_again(&self) -> bool {
        false
    }

    /// True if nothing may be looked at: the routing has said that the packet at hand looks at no queue here
    /// ([`Routing::looks_in_transit`]). Known when it is compiled.
    fn is_blind(&self) -> bool {
        false
    }

    /// The local port by which the packet came to this router; at its source that of its terminal.
    fn arrived_by(&self) -> u32 {
        0
    }

    /// The local port of the packet's destination terminal, at the destination router.
    fn leaves_by(&self) -> u32 {
        0
    }
}

impl<V: View + ?Sized> View for &V {
    #[inline(always)]
    fn copy(&self) -> Self {
        self
    }

    #[inline(always)]
    fn occupancy(&self, port: u32) -> u32 {
        (**self).occupancy(port)
    }

    #[inline(always)]
    fn queue(&self, port: u32) -> u32 {
        (**self).queue(port)
    }

    #[inline(always)]
    fn shortest_queue(&self, outputs: &OutputRow) -> Option<u32> {
        (**self).shortest_queue(outputs)
    }

    #[inline(always)]
    fn backlog(&self, port: u32) -> u32 {
        (**self).backlog(port)
    }

    #[inline(always)]
    fn queue_of(&self, port: u32, class: u8) -> u32 {
        (**self).queue_of(port, class)
    }

    #[inline(always)]
    fn published(&self, port: PortId) -> u32 {
        (**self).published(port)
    }

    #[inline(always)]
    fn published_backlog(&self, port: PortId) -> u32 {
        (**self).published_backlog(port)
    }

    #[inline(always)]
    fn published_mean(&self, set: PortId, outputs: &mut dyn Iterator<Item = PortId>) -> u32 {
        (**self).published_mean(set, outputs)
    }

    #[inline(always)]
    fn published_sum(&self, set: PortId, outputs: &mut dyn Iterator<Item = PortId>) -> u32 {
        (**self).published_sum(set, outputs)
    }

    #[inline(always)]
    fn want(&self, what: u32) {
        (**self).want(what);
    }

    #[inline(always)]
    fn wanted(&self, what: u32) -> u32 {
        (**self).wanted(what)
    }

    #[inline(always)]
    fn wanted_by_all(&self, set: Range<u32>) -> u32 {
        (**self).wanted_by_all(set)
    }

    #[inline(always)]
    fn published_table(&self) -> Option<&[AtomicU32]> {
        (**self).published_table()
    }

    #[inline(always)]
    fn interval(&self) -> u32 {
        (**self).interval()
    }

    #[inline(always)]
    fn sent_before(&self, source: RouterId, new: bool) -> u32 {
        (**self).sent_before(source, new)
    }

    #[inline(always)]
    fn is_blind(&self) -> bool {
        (**self).is_blind()
    }

    #[inline(always)]
    fn free_vcs(&self, port: u32, class: u8) -> u32 {
        (**self).free_vcs(port, class)
    }

    #[inline(always)]
    fn has_free_vc(&self, port: u32, class: u8) -> bool {
        (**self).has_free_vc(port, class)
    }

    #[inline(always)]
    fn buffer(&self, class: u8) -> u32 {
        (**self).buffer(class)
    }

    #[inline(always)]
    fn decides_again(&self) -> bool {
        (**self).decides_again()
    }

    #[inline(always)]
    fn arrived_by(&self) -> u32 {
        (**self).arrived_by()
    }

    #[inline(always)]
    fn leaves_by(&self) -> u32 {
        (**self).leaves_by()
    }
}

/// A view of an idle network.
#[derive(Debug, Clone, Copy)]
pub struct Idle;

impl View for Idle {
    fn copy(&self) -> Self {
        Self
    }

    fn occupancy(&self, _port: u32) -> u32 {
        0
    }

    fn published(&self, _port: PortId) -> u32 {
        0
    }

    fn interval(&self) -> u32 {
        0
    }

    fn free_vcs(&self, _port: u32, _class: u8) -> u32 {
        1
    }

    fn buffer(&self, _class: u8) -> u32 {
        1
    }
}

/// A routing algorithm on one network. The engine ejects a packet as soon as it meets its destination router.
pub trait Routing: Send + Sync {
    /// The number of VC classes it needs to be safe.
    fn classes(&self) -> u32;

    /// The VCs it is given unless the user states how many: two per class where paths of several kinds wait side by side,
    /// so that a packet that waits does not hold up all others of its class.
    fn vcs(&self) -> u32 {
        self.classes()
    }

    /// Every state that a packet from `src` to another router `dst` could start with; `via` may be [`ANY_VIA`]. Unless
    /// a routing states otherwise, that is one, without an intermediate router and with no bits set.
    fn starts(&self, _src: RouterId, _dst: RouterId, out: &mut Vec<PacketState>) {
        out.push(PacketState::direct(0));
    }

    /// Every hop that a packet in `state` at router `at` could take. `at` is not the destination; it may be the
    /// intermediate router, where the packet turns to its destination.
    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>);

    /// Decides how a packet starts: one of [`Routing::starts`].
    #[inline(always)]
    fn start<V: View>(&self, _src: RouterId, _dst: RouterId, _view: &V, _rng: &mut Rng) -> PacketState
    where
        Self: Sized,
    {
        PacketState::direct(0)
    }

    /// As [`Routing::start`]; with it the first hop, where the routing knows already what [`Routing::choose`] would decide.
    #[inline(always)]
    fn start_with_hop<V: View>(
        &self,
        src: RouterId,
        dst: RouterId,
        view: &V,
        rng: &mut Rng,
    ) -> (PacketState, Option<Move>)
    where
        Self: Sized,
    {
        (self.start(src, dst, view, rng), None)
    }

    /// True if its tables do not fit into the near caches: only then [`Routing::expect`] is called.
    #[inline(always)]
    fn is_far(&self) -> bool
    where
        Self: Sized,
    {
        true
    }

    /// True if most decisions draw, those of packets that start if `fresh`, or those in flight. Their random stream is begun
    /// before, while tables are read: a draw that waits for it takes longer. Others begin it by the first draw.
    #[inline(always)]
    fn draws(&self, _fresh: bool) -> bool
    where
        Self: Sized,
    {
        true
    }

    /// The head of a packet in `state` will decide at router `at` soon: the memory of tables may be asked for.
    #[inline(always)]
    fn expect(&self, _at: RouterId, _state: PacketState, _dst: RouterId)
    where
        Self: Sized,
    {
    }

    /// Decides the next hop, when the head arrives at router `at`.
    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move
    where
        Self: Sized;

    /// True if [`Routing::choose`], and for a `fresh` packet [`Routing::start_with_hop`], may be called at the destination as
    /// well. There they are quick, do not panic, and neither read nor change the view; what they return is not used. The engine
    /// then selects without a branch, which would often be mispredicted.
    #[inline(always)]
    fn answers_at_destination(&self, _fresh: bool) -> bool {
        false
    }

    /// The VC class of the ejection channel, or `None` if all VCs may be used.
    #[inline(always)]
    fn eject_class(&self, _state: PacketState) -> Option<u8> {
        None
    }

    /// Cycles between two snapshots of all occupancies in the network, for [`View::published`]; 0 if it reads none.
    fn snapshot_period(&self) -> u32 {
        0
    }

    /// How many things have a number for [`View::want`]; 0 if it counts none. Only for routings with a snapshot period.
    fn wants(&self) -> u32 {
        0
    }

    /// Where a head that finds no free VC where it has decided to go decides again: by [`Routing::choose`], from the
    /// state in which it came.
    #[inline(always)]
    fn decides_again(&self) -> Again {
        Again::Never
    }

    /// The state in which a hop was decided, where the one behind it determines that: of all hops, or of none. Of heads that
    /// decide again a router then need not remember it.
    #[inline(always)]
    fn undo(&self, _after: PacketState) -> Option<PacketState> {
        None
    }

    /// Where `choose` looks at the view, but for heads that decide again at their first router. What arrives elsewhere is taken
    /// in when nothing looks at queues any more. Heads that decide again at more than their second router look everywhere.
    #[inline(always)]
    fn looks_in_transit(&self) -> Looks {
        Looks::Everywhere
    }

    /// True if it looks at [`View::queue_of`], which is kept for such routings alone.
    fn compares_classes(&self) -> bool {
        false
    }

    /// True for a VC class that takes a packet only into a VC that is empty, or that has room for all of it: what
    /// adaptive classes need whose channels may wait for each other in a circle, so that every head there comes to
    /// the front of its VC and can escape.
    fn takes_whole_packets(&self, _class: u8) -> bool {
        false
    }

    /// Other states that a packet in `state`, which no intermediate router is meant for, may turn to at `at` before its
    /// hop: detours over [`ANY_VIA`]. `choose` then returns a hop that `moves` enumerates for such a state, over an
    /// intermediate router other than `at` and `dst`.
    fn diverts(&self, _at: RouterId, _state: PacketState, _dst: RouterId, _out: &mut Vec<PacketState>) {}

    /// The VC classes, from 0 on, that are escape channels of an adaptive routing (Duato, 1993); 0 if it has none. Its
    /// heads decide again, and take an escape channel where no adaptive one is free.
    fn escape_classes(&self) -> u32 {
        0
    }

    /// True if packets to each terminal of a router have a way of their own: `starts` has one state for each, in the
    /// order of their ports.
    fn by_terminal(&self) -> bool {
        false
    }

    /// True if rings of channels keep bubbles: a packet that enters one ([`Routing::enters`]) needs room for two whole
    /// packets there, one that continues in its ring for one. Virtual cut-through only.
    #[inline(always)]
    fn keeps_bubbles(&self) -> bool {
        false
    }

    /// True if a packet in state `before` enters a ring by `hop`, false if it continues in its ring.
    #[inline(always)]
    fn enters(&self, _before: PacketState, _hop: &Move) -> bool {
        false
    }

    /// Groups of packets that never share a VC class: each takes traffic classes of its own where routers have such.
    /// Group g has the g-th of equal shares of the escape classes (of all, without escape channels), and of the others.
    fn traffic_groups(&self) -> u32 {
        1
    }

    /// The group of the packets that come from router `src`.
    fn traffic_group(&self, _src: RouterId) -> u32 {
        0
    }

    /// True if it may or may not be free of deadlock: a run then has it proved first.
    fn unproved(&self) -> bool {
        false
    }

    /// Hash of its inputs besides its name and the network: user-supplied tables.
    fn contents(&self) -> u64 {
        0
    }

    /// A sentence for users about how it runs on this network, if it is not as they may expect.
    fn note(&self) -> Option<String> {
        None
    }

    /// The links of a packet's path, where there is only one and its length is known without walking it; it is then the
    /// same under the symmetries of the network.
    fn hops(&self, _src: RouterId, _dst: RouterId) -> Option<u32> {
        None
    }

    /// True if no decision looks at the view, so that every packet's way has a probability that can be computed:
    /// `likely_starts` and `likely_moves` then state what `start` and `choose` draw from.
    fn oblivious(&self) -> bool {
        false
    }

    /// Whether `likely_starts` has packets over [`ANY_VIA`].
    fn takes_detours(&self) -> bool {
        false
    }

    /// Whether a packet takes any output on a shortest path to its target, all equally likely, whatever its bits.
    fn spreads_evenly(&self) -> bool {
        false
    }

    /// Appends sources whose packets to `dst`, with those that it names for other destinations, show all dependencies that
    /// packets between any two routers show; false if there are no fewer than all. Asked for where any router may be a
    /// source.
    fn enough_sources(&self, _dst: RouterId, _out: &mut Vec<RouterId>) -> bool {
        false
    }

    /// True if what packets may do depends on the links of the network by the numbers of their ports alone. A permutation of
    /// routers that keeps these then maps what `starts`, `moves` and `diverts` state about some routers onto what they state about
    /// their images: the ports and classes are the same, and the bits as well. Bits that name routers may name their images
    /// instead if packets take no detours: then no proof joins the bits of packets for two targets.
    fn follows_ports(&self) -> bool {
        false
    }

    /// The states of `starts` with their probabilities, which add up to 1. `via` may be [`ANY_VIA`]: any router but
    /// source and destination, all equally likely; no other router may be named.
    fn likely_starts(&self, src: RouterId, dst: RouterId, out: &mut Vec<(f64, PacketState)>) {
        let mut starts = Vec::new();
        self.starts(src, dst, &mut starts);
        out.extend(evenly(starts));
    }

    /// The hops of `moves` with their probabilities, which add up to 1. What a packet does at its intermediate router
    /// must not depend on how it came there.
    fn likely_moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<(f64, Move)>) {
        let mut moves = Vec::new();
        self.moves(at, state, dst, &mut moves);
        out.extend(evenly(moves));
    }
}

/// Gives equal probabilities.
fn evenly<T>(choices: Vec<T>) -> impl Iterator<Item = (f64, T)> {
    let each = 1.0 / choices.len() as f64;
    choices.into_iter().map(move |choice| (each, choice))
}

/// A hop of a minimal algorithm towards a target: output, class, and the algorithm's bits after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Step {
    /// The output, counted within the router.
    pub port: u16,
    /// The VC class within the phase.
    pub class: u8,
    /// The bits after the hop.
    pub bits: u32,
}

/// A way to a target: what `min` takes to the destination, and Valiant's algorithm in each of its two phases.
pub trait Minimal: Send + Sync {
    /// VC classes of one phase.
    fn classes(&self) -> u32;

    /// Every initial value of the bits; all are equally likely.
    fn begins(&self) -> Vec<u32> {
        vec![0]
    }

    /// Draws the initial bits of a packet.
    #[inline(always)]
    fn begin(&self, _rng: &mut Rng) -> u32 {
        0
    }

    /// Every hop that could be taken at `at` towards another router `target`.
    fn steps(&self, at: RouterId, bits: u32, target: RouterId, out: &mut Vec<Step>);

    /// Visits the hops of `steps` with the probabilities by which `step` draws them.
    fn likely_steps(&self, at: RouterId, bits: u32, target: RouterId, mut visit: impl FnMut(f64, Step)) {
        let mut steps = Vec::new();
        self.steps(at, bits, target, &mut steps);
        evenly(steps).for_each(|(likely, step)| visit(likely, step));
    }

    /// Whether `step` draws from all outputs on shortest paths, each equally likely.
    fn spreads_evenly(&self) -> bool {
        false
    }

    /// Number `nth` of the hops of `steps`; `None` beyond the last, or where there is no way but to list them.
    fn nth_step(&self, _at: RouterId, _bits: u32, _target: RouterId, _nth: u32) -> Option<Step> {
        None
    }

    /// Decides the hop.
    fn step(&self, at: RouterId, bits: u32, target: RouterId, rng: &mut Rng) -> Step;

    /// The first hop to another router, and the sum of the `queue` of each output on the path, where nothing is drawn and this is
    /// quicker than to follow the path hop by hop.
    #[inline(always)]
    fn first_and_queues(
        &self,
        _ends: [RouterId; 2],
        _channels: &ChannelEnds,
        _queue: impl Fn(PortId) -> u32,
    ) -> Option<(Step, u32)> {
        None
    }

    /// True if it draws something at most hops, at the `first` one or at others: see [`Routing::draws`].
    #[inline(always)]
    fn draws(&self, _first: bool) -> bool {
        true
    }

    /// A hop from `at` to `target` will be decided soon: the memory of tables may be asked for.
    #[inline(always)]
    fn expect(&self, _at: RouterId, _target: RouterId) {}

    /// As [`Routing::is_far`].
    #[inline(always)]
    fn is_far(&self) -> bool {
        true
    }

    /// What `step` decides, if neither it nor the initial bits, which then are 0, are drawn. `None` costs time, and what is
    /// drawn after it may be another.
    #[inline(always)]
    fn only_step(&self, _at: RouterId, _bits: u32, _target: RouterId) -> Option<Step> {
        None
    }

    /// [`Minimal::only_step`], and [`Minimal::hops`] to the target where these are found at the same time.
    #[inline(always)]
    fn only_step_and_hops(&self, at: RouterId, bits: u32, target: RouterId) -> (Option<Step>, Option<u32>) {
        (self.only_step(at, bits, target), None)
    }

    /// True if `step` may draw even where there is an only one: what is drawn after it depends on that.
    #[inline(always)]
    fn draws_only_steps(&self) -> bool {
        false
    }

    /// False if there is no path from `from` to `to`: one of them has failed.
    #[inline(always)]
    fn reaches(&self, _from: RouterId, _to: RouterId) -> bool {
        true
    }

    /// Links on the path from `from` to `to`.
    fn hops(&self, from: RouterId, to: RouterId) -> u32;

    /// Links on the path over `via`.
    #[inline(always)]
    fn hops_over(&self, from: RouterId, via: RouterId, to: RouterId) -> u32 {
        self.hops(from, via) + self.hops(via, to)
    }

    /// See [`Routing::enough_sources`].
    fn enough_sources(&self, _dst: RouterId, _out: &mut Vec<RouterId>) -> bool {
        false
    }

    /// See [`Routing::follows_ports`].
    fn follows_ports(&self) -> bool {
        false
    }

    /// True if it may deadlock: see [`Routing::unproved`].
    fn unproved(&self) -> bool {
        false
    }

    /// True if [`Minimal::step`] may be asked at the target as well, where it draws nothing: see
    /// [`Routing::answers_at_destination`].
    #[inline(always)]
    fn answers_at_target(&self) -> bool {
        false
    }

    /// The VC class, within the phase, of the ejection channel; `None` if all VCs may be used.
    #[inline(always)]
    fn eject_class(&self, _bits: u32) -> Option<u8> {
        None
    }

    /// An intermediate router for Valiant's algorithm: neither source nor destination, `None` where there is none.
    #[inline(always)]
    fn intermediate(&self, src: RouterId, dst: RouterId, routers: u32, rng: &mut Rng) -> Option<RouterId> {
        if routers < 3 {
            return None;
        }
        let (low, high) = if src < dst { (src.0, dst.0) } else { (dst.0, src.0) };
        let mut draw = rng.below(routers - 2);
        draw += u32::from(draw >= low);
        draw += u32::from(draw >= high);
        Some(RouterId(draw))
    }

    /// True if the bits of a step count its hops and are its class, and its output depends on neither.
    fn counts_hops(&self) -> bool {
        false
    }

    /// The VCs that `ugal-l` gives each class, unless the user states how many.
    fn vcs_per_class(&self) -> u32 {
        2
    }

    /// How UGAL weighs this family's candidates, and which intermediates it considers.
    fn ugal(&self) -> UgalRule {
        UgalRule { weights: None, bias: 0, bias_by_sent: 0 }
    }

    /// The intermediate router of UGAL's non-minimal candidate; `None` sends the packet minimally.
    #[inline(always)]
    fn candidate(&self, src: RouterId, dst: RouterId, routers: u32, rng: &mut Rng) -> Option<RouterId> {
        self.intermediate(src, dst, routers, rng)
    }
}

/// UGAL takes the minimal path if w_min q_min <= w_non q_non + bias.
#[derive(Debug, Clone, Copy)]
pub struct UgalRule {
    /// Fixed weights (w_min, w_non); hop counts where `None`.
    pub weights: Option<(u32, u32)>,
    /// The bias towards the minimal path, in flits.
    pub bias: u32,
    /// BookSim2's, where a packet decides once, by what has been sent: minimal paths are then overrated.
    pub bias_by_sent: u32,
}
