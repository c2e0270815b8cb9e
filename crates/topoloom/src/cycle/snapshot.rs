//! What routings may know about the whole network: the occupancy of every output, published in intervals.
//!
//! What is published before cycle t (t a multiple of the period) is the state at the end of cycle t - 1, the same that
//! a router sees of its own outputs in t. It stands until the next time. Runs whose routing asks for none pay a
//! comparison a cycle.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::network::{Network, PortId, RouterId};

/// The packets that a router has sent. One thread alone visits a router, so no order of memory is needed.
#[derive(Debug, Default)]
struct PacketCounter {
    interval: AtomicU32,
    /// In this interval so far.
    now: AtomicU32,
    /// In the interval before.
    before: AtomicU32,
}

impl PacketCounter {
    /// Counts a packet if it is a new one; returns those of the interval before.
    fn count(&self, interval: u32, new: bool) -> u32 {
        let last = self.interval.load(Ordering::Relaxed);
        if last != interval {
            let before = if last + 1 == interval { self.now.load(Ordering::Relaxed) } else { 0 };
            self.before.store(before, Ordering::Relaxed);
            self.now.store(0, Ordering::Relaxed);
            self.interval.store(interval, Ordering::Relaxed);
        }
        self.now.store(self.now.load(Ordering::Relaxed) + u32::from(new), Ordering::Relaxed);
        self.before.load(Ordering::Relaxed)
    }
}

/// How many packets want what a routing has given numbers, which routers count for each other.
#[derive(Debug)]
struct Wants {
    /// A single thread counts.
    alone: bool,
    /// By number: in this interval so far.
    now: Vec<AtomicU32>,
    /// In all intervals before, each counting half of the one after it.
    lately: Vec<AtomicU32>,
    /// Sums over sets, by their first numbers, as [`Snapshot::of_sets`].
    sums: Vec<AtomicU64>,
}

impl Wants {
    /// A packet of the interval before.
    const ONE: u32 = 1 << 8;

    fn new(count: usize, alone: bool) -> Self {
        let zeros = || (0..count).map(|_| AtomicU32::new(0)).collect();
        let sums = (0..count).map(|_| AtomicU64::new(u64::MAX)).collect();
        Self { alone, now: zeros(), lately: zeros(), sums }
    }

    #[inline(always)]
    fn count(&self, what: u32) {
        let now = &self.now[what as usize];
        if self.alone {
            now.store(now.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        } else {
            // Routers of several domains count at the same time; a sum does not depend on their order.
            now.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn publish(&self, numbers: Range<usize>) {
        for (now, lately) in self.now[numbers.clone()].iter().zip(&self.lately[numbers]) {
            let counted = Self::ONE * now.load(Ordering::Relaxed);
            now.store(0, Ordering::Relaxed);
            lately.store(lately.load(Ordering::Relaxed) / 2 + counted, Ordering::Relaxed);
        }
    }
}

/// The occupancies last published.
#[derive(Debug)]
pub struct Snapshot {
    /// Cycles between two publications, or 0.
    period: u32,
    /// By port of the network, and behind these 0. Domains write between two barriers, and read at other times: no order is
    /// needed.
    occupancy: Vec<AtomicU32>,
    /// By port of the network: flits in flight where nothing waits, which are no backlog.
    in_flight: Vec<u32>,
    /// The number of the interval since the last publication.
    interval: AtomicU32,
    /// Means and sums over sets of outputs, by one that stands for its set: the interval in which each was counted in the
    /// upper half.
    of_sets: Vec<AtomicU64>,
    /// What packets want.
    wants: Wants,
    /// By router. They belong to a run: a routing is shared by runs at the same time.
    sent: Vec<PacketCounter>,
}

impl Snapshot {
    /// An idle network, published every `period` cycles; never if `period` is 0. What packets want has `wants` numbers. This many
    /// flits are `in_flight` through each of its outputs where nothing waits. So many `domains` read and write it at the same
    /// time.
    pub fn new(
        period: u32,
        wants: u32,
        in_flight: impl Iterator<Item = u32>,
        network: &Network,
        domains: usize,
    ) -> Self {
        let ports = if period > 0 { network.ports().len() } else { 0 };
        let routers = if period > 0 { network.num_routers() } else { 0 };
        let occupancy = (0..=ports).map(|_| AtomicU32::new(0)).collect();
        let of_sets = (0..ports).map(|_| AtomicU64::new(u64::MAX)).collect();
        let sent = (0..routers).map(|_| PacketCounter::default()).collect();
        let in_flight: Vec<u32> = in_flight.take(ports).collect();
        assert_eq!(in_flight.len(), ports, "every output is known");
        Self {
            period,
            occupancy,
            in_flight,
            interval: AtomicU32::new(0),
            of_sets,
            wants: Wants::new(wants as usize, domains == 1),
            sent,
        }
    }

    /// True if the state at the beginning of cycle `now` is to be published.
    #[inline(always)]
    pub fn is_due(&self, now: u32) -> bool {
        self.period > 0 && now.is_multiple_of(self.period)
    }

    /// The first cycle after `now` at whose beginning the state is to be published.
    pub fn next_due(&self, now: u32) -> u32 {
        match self.period {
            0 => u32::MAX,
            period => (now / period + 1).saturating_mul(period),
        }
    }

    /// Begins interval number `now` over the period; every domain calls it before it publishes.
    pub fn begin(&self, now: u32) {
        self.interval.store(now / self.period, Ordering::Relaxed);
    }

    /// The number of the interval.
    #[inline(always)]
    pub fn interval(&self) -> u32 {
        self.interval.load(Ordering::Relaxed)
    }

    /// Counts a packet of a source router if it is a new one; returns those of the interval before.
    #[inline(always)]
    pub fn sent_before(&self, source: RouterId, new: bool) -> u32 {
        self.sent[source.index()].count(self.interval(), new)
    }

    /// Sets the occupancies of consecutive outputs, from the one `first` on, and publishes how many packets wanted what: of the
    /// numbers a part like theirs of all outputs, so that domains share the work.
    #[inline(always)]
    pub fn publish(&self, first: PortId, occupancies: impl ExactSizeIterator<Item = u32>) {
        let part = |outputs: usize| outputs * self.wants.now.len() / self.in_flight.len();
        self.wants.publish(part(first.index())..part(first.index() + occupancies.len()));
        let outputs = &self.occupancy[first.index()..];
        outputs.iter().zip(occupancies).for_each(|(output, occupancy)| output.store(occupancy, Ordering::Relaxed));
    }

    /// The occupancy of an output.
    #[inline(always)]
    pub fn occupancy(&self, port: PortId) -> u32 {
        self.occupancy[port.index()].load(Ordering::Relaxed)
    }

    /// Those of the occupancy of an output that are not in flight: see [`View::backlog`](crate::routing::View::backlog).
    #[inline(always)]
    pub fn backlog(&self, port: PortId) -> u32 {
        self.occupancy(port).saturating_sub(self.in_flight[port.index()])
    }

    /// Counts a packet that wants what has this number.
    #[inline(always)]
    pub fn want(&self, what: u32) {
        self.wants.count(what);
    }

    /// How many packets wanted it lately.
    #[inline(always)]
    pub fn wanted(&self, what: u32) -> u32 {
        self.wants.lately[what as usize].load(Ordering::Relaxed)
    }

    /// The sum over a set of numbers, which begins with no number that another set begins with: counted like [`Snapshot::mean`].
    pub fn wanted_by_all(&self, set: Range<u32>) -> u32 {
        self.once(&self.wants.sums[set.start as usize], || set.map(|what| self.wanted(what)).sum())
    }

    /// What is kept in `known` for this interval; the first call in an interval counts it, several at once the same.
    #[inline(always)]
    fn once(&self, known: &AtomicU64, count: impl FnOnce() -> u32) -> u32 {
        let (last, interval) = (known.load(Ordering::Relaxed), u64::from(self.interval()));
        if last >> 32 == interval {
            return last as u32;
        }
        let value = count();
        known.store(interval << 32 | u64::from(value), Ordering::Relaxed);
        value
    }

    /// The mean of what was published of a set of outputs, which `set` stands for: counted once in an interval.
    pub fn mean(&self, set: PortId, published: impl Iterator<Item = u32>) -> u32 {
        self.once(&self.of_sets[set.index()], || {
            let (sum, count) = published.fold((0u64, 0u64), |(sum, count), own| (sum + u64::from(own), count + 1));
            sum.checked_div(count).unwrap_or(0) as u32
        })
    }

    /// The sum of what was published of a set of outputs, which `set` stands for: counted once in an interval.
    #[inline(always)]
    pub fn sum(&self, set: PortId, published: impl Iterator<Item = u32>) -> u32 {
        self.once(&self.of_sets[set.index()], || published.sum())
    }

    /// Those of all outputs, by port, and 0 behind them.
    #[inline(always)]
    pub fn table(&self) -> &[AtomicU32] {
        &self.occupancy
    }
}

#[cfg(test)]
mod tests {
    use super::super::engine::Engine;
    use super::super::measurement;
    use super::super::router::RouterModel;
    use super::super::router::input_queued::{InputQueuedRouters, Options, PLAIN};
    use super::super::terminals::Offer;
    use super::super::{Config, Setup, Sizes};
    use super::*;
    use crate::rng::{Rng, mix};
    use crate::routing::{Move, PacketState, Routing, View};
    use crate::traffic::Traffic;
    use crate::watch::NoControl;
    use crate::{topology, traffic};

    #[test]
    fn packets_of_the_interval_before_are_counted() {
        let sent = PacketCounter::default();
        let counts: Vec<u32> = [0, 0, 1, 1, 1, 2, 4].map(|interval| sent.count(interval, true)).to_vec();
        assert_eq!(counts, [0, 0, 2, 2, 2, 3, 0]);
    }

    #[test]
    fn packets_that_want_a_thing_count_half_in_each_later_interval() {
        let network = topology::build("torus:4").expect("a spec that works");
        for domains in [1, 2] {
            // Fewer numbers than outputs, and more: each is published once.
            for wants in [7, 50] {
                counts_half_in_each_later_interval(&Snapshot::new(10, wants, std::iter::repeat(0), &network, domains));
            }
        }
    }

    fn counts_half_in_each_later_interval(snapshot: &Snapshot) {
        let publish = |now| {
            snapshot.begin(now);
            for (first, outputs) in [(0, 5), (5, 2), (7, 5)] {
                snapshot.publish(PortId(first), vec![0; outputs].into_iter());
            }
        };
        let all = || snapshot.wanted_by_all(1..7) / Wants::ONE;
        let mut found = Vec::new();
        for interval in 1..5 {
            if interval == 1 {
                [1, 1, 1, 1, 5, 6].iter().for_each(|&what| snapshot.want(what));
            }
            publish(10 * interval);
            found.push((snapshot.wanted(1) / Wants::ONE, snapshot.wanted(2), all()));
        }
        assert_eq!(found, [(4, 0, 6), (2, 0, 3), (1, 0, 1), (0, 0, 0)]);
    }

    #[test]
    fn means_and_sums_are_counted_once_in_an_interval() {
        let network = topology::build("torus:4").expect("a spec that works");
        let snapshot = Snapshot::new(10, 0, std::iter::repeat(0), &network, 1);
        let mean = |set: u32, published: &[u32]| snapshot.mean(PortId(set), published.iter().copied());
        assert_eq!([mean(0, &[1, 2, 6]), mean(1, &[8]), mean(0, &[100])], [3, 8, 3]);
        snapshot.begin(10);
        assert_eq!([mean(0, &[100]), mean(1, &[]), mean(0, &[1])], [100, 0, 100]);
        let sum = |set: u32, published: &[u32]| snapshot.sum(PortId(set), published.iter().copied());
        assert_eq!([sum(2, &[1, 2, 6]), sum(3, &[]), sum(2, &[100])], [9, 0, 9]);
    }

    /// On a mesh, x first or y first, each in a class of its own, by a hash of all that is published: whatever is off
    /// by one anywhere changes the way of a packet.
    struct Gossip {
        network: Network,
        period: u32,
    }

    impl Gossip {
        fn new(period: u32) -> Self {
            Self { network: topology::build("mesh:4x4").expect("a mesh"), period }
        }

        fn engine<'a>(&'a self, traffic: &'a Traffic, threads: u32) -> Engine<'a, InputQueuedRouters<2, PLAIN>> {
            let setup = Setup::new(&self.network, "gossip", 2, 4, &config(threads)).expect("options that are allowed");
            Engine::new(&self.network, self, Offer::of(traffic, 0.4), &setup, &Options::read(&setup.config.router))
        }
    }

    fn config(threads: u32) -> Config {
        Config { packet: Sizes::One(3), threads, warmup: Some(50), measure: Some(250), ..Config::default() }
    }

    impl Routing for Gossip {
        fn classes(&self) -> u32 {
            2
        }

        fn starts(&self, _src: RouterId, _dst: RouterId, out: &mut Vec<PacketState>) {
            out.extend([0, 1].map(PacketState::direct));
        }

        fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
            let grid = self.network.any_structure().grid().expect("a mesh has coordinates");
            let (here, there) = (grid.coordinates(at.0), grid.coordinates(dst.0));
            let first = state.bits as usize;
            let way = if here[first] == there[first] { 1 - first } else { first };
            let towards = |peer: &RouterId| {
                let next = grid.coordinates(peer.0);
                next[1 - way] == here[1 - way] && next[way].abs_diff(there[way]) < here[way].abs_diff(there[way])
            };
            let (port, _) = self.network.neighbors(at).find(|(_, peer)| towards(peer)).expect("a neighbour");
            out.push(Move { port: port as u16, class: state.bits as u8, next: state });
        }

        fn start<V: View>(&self, _src: RouterId, _dst: RouterId, view: &V, _rng: &mut Rng) -> PacketState {
            let ports = (0..self.network.ports().len() as u32).map(PortId);
            let hash = ports.fold(0, |hash, port| mix(hash ^ u64::from(view.published(port))));
            PacketState::direct(hash as u32 & 1)
        }

        fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, view: &V, _rng: &mut Rng) -> Move {
            if self.period == 1 {
                let base = self.network.port_base(at);
                for port in 0..self.network.radix_of(at) as u32 {
                    assert_eq!(view.published(PortId(base + port)), view.occupancy(port), "{at}, output {port}");
                }
            }
            let mut moves = Vec::new();
            self.moves(at, state, dst, &mut moves);
            moves[0]
        }

        fn snapshot_period(&self) -> u32 {
            self.period
        }
    }

    /// The occupancy of every output now.
    fn now(engine: &Engine<'_, InputQueuedRouters<2, PLAIN>>) -> Vec<u32> {
        let of = |domain: &super::super::domain::Domain<InputQueuedRouters<2, PLAIN>>, ports: u32| {
            (0..ports).map(|port| domain.model.occupancy(port)).collect::<Vec<_>>()
        };
        let ends = engine.domains.iter().skip(1).map(|d| d.first_port).chain([engine.network.ports().len() as u32]);
        engine.domains.iter().zip(ends).flat_map(|(domain, end)| of(domain, end - domain.first_port)).collect()
    }

    #[test]
    fn what_is_published_is_the_state_at_the_last_multiple_of_the_period() {
        for (period, threads) in [(1, 1), (7, 1), (1, 2), (7, 3)] {
            let gossip = Gossip::new(period);
            let traffic = traffic::build(&gossip.network, "uniform").expect("a pattern");
            let mut engine = gossip.engine(&traffic, threads);
            let mut expected = now(&engine);
            for cycle in 0..60 {
                if cycle % period == 0 {
                    expected = now(&engine);
                }
                let ports = (0..expected.len() as u32).map(PortId);
                let found: Vec<u32> = ports.map(|port| engine.shared.snapshot.occupancy(port)).collect();
                assert_eq!(found, expected, "period {period}, cycle {cycle}");
                let table: Vec<u32> =
                    engine.shared.snapshot.table().iter().map(|flits| flits.load(Ordering::Relaxed)).collect();
                assert_eq!(table, [&found[..], &[0]].concat(), "nothing is behind the last port");
                engine.advance(cycle + 1);
            }
            assert!(expected.iter().any(|&flits| flits > 0));
        }
    }

    #[test]
    fn decisions_by_what_is_published_do_not_depend_on_threads() {
        let mut latencies = Vec::new();
        for period in [1, 4, 1000] {
            let gossip = Gossip::new(period);
            let traffic = traffic::build(&gossip.network, "uniform").expect("a pattern");
            let point = |threads| {
                let setup = Setup::new(&gossip.network, "gossip", 2, 4, &config(threads)).expect("allowed options");
                let plan = Options::read(&setup.config.router);
                let run = measurement::run::<InputQueuedRouters<2, PLAIN>>(
                    &gossip.network,
                    &gossip,
                    Offer::of(&traffic, 0.4),
                    &setup,
                    &plan,
                    &NoControl,
                );
                let point = run.expect("a checked run");
                (point.latency_cycles, point.network_latency_cycles, point.flit_hops, point.packets)
            };
            let one = point(1);
            assert!([2, 3].iter().all(|&threads| point(threads) == one), "period {period}");
            latencies.push(one);
        }
        latencies.dedup();
        assert_eq!(latencies.len(), 3, "the period changes the ways of packets");
    }
}
