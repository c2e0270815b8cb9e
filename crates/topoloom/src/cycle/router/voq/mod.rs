//! The `extoll` router model: cards with buffers at their inputs only, virtual output queues, iSLIP, virtual cut-through
//! for packets of several cells, and credits in cells for whole packets. See docs/extoll-model.md.
//!
//! One [`Voq`] holds all cards of a domain. A queue, one for each (input VC, output), holds packets, not cells: the
//! cells of a packet come, and leave, in consecutive cycles, so that counting them is enough. A packet joins its queue once
//! its stages are behind it: what is in a queue may be sent, one after the other. A queue whose head asks for its output
//! stands as a bit of it; one whose head waits for room stands off, until credits make it.

mod allocator;
mod hot;
mod options;
mod queues;
mod ready;
mod traffic_classes;

use std::collections::VecDeque;

use crate::bits::bits;
use crate::cycle::channels::{Channels, Wheel};
use crate::cycle::flit::{Decision, Flit, NIL, Pool, TAIL};
use crate::cycle::router::buffer_policy::BufferPolicy;
use crate::cycle::router::{Case, FreshHead, Router, RouterModel, Simulation, Wait};
use crate::cycle::table::{Table, TableMaker};
use crate::cycle::{Point, Setup};
use crate::error::Result;
use crate::limits::CARD_PORTS;
use crate::memory::Region;
use crate::network::PortId;
use crate::routing::PacketState;
use allocator::{Grant, LAST};
pub use options::INFO;
use options::Options;
use queues::{OWN_QUEUES, Pair, Stay, lane_behind};
use ready::{Contention, ReadyPacket};
use traffic_classes::{ADAPTIVE, NO_VC, TrafficClasses};

/// [`CARD_PORTS`], as a length.
const PORTS: usize = CARD_PORTS as usize;

/// A card: its ports, and which of them are busy and wanted, a bit each. A cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Card {
    first_port: u32,
    ports: u32,
    /// Inputs, and outputs, that a packet of several cells goes through.
    busy_inputs: u64,
    busy_outputs: u64,
    /// Outputs for which a packet may be sent, and inputs of all such packets, with others that had one.
    wanted: u64,
    asking: u64,
}

/// A port, as input and as output: a cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct PortState {
    /// Output: inputs with a queue whose head may be sent, and with one whose head waits for room, a bit each.
    asking: u64,
    waiting: u64,
    /// Output: slots taken of those that the VCs behind it share.
    shared: u32,
    /// Input: the head of the packet of several cells that goes through, its input VC, its output, and the cells that have
    /// gone on.
    packet: u32,
    vc: u32,
    output: u16,
    sent: u16,
    /// Output: the input granted to last; input: the output accepted last. Those behind are preferred.
    granted: u8,
    accepted: u8,
}

/// What is behind an output VC.
#[derive(Debug, Clone, Copy)]
struct Slots {
    /// Those that are taken.
    taken: u16,
    /// The least size of the packets that wait for room (0: none does).
    least: u16,
}

/// What a routing that decides for a class beyond those of the packet's traffic class is rejected with.
const NO_SUCH_VC: &str = "a routing decides for a class that the packet's traffic class does not have";

/// All cards of a domain.
#[derive(Debug)]
pub struct Voq {
    cards: Table<Card>,
    /// By card.
    contention: Table<Contention>,
    card_of: Table<u32>,
    ports: Table<PortState>,
    /// By output, the inputs of its card: `output << width | input`.
    pairs: Table<Pair>,
    /// The last packets of the queues that pairs do not hold themselves, or [`NIL`], pair by pair; and how many a pair has.
    queues: Table<u32>,
    other_queues: usize,
    /// The last cycle in which a packet joins the queue, of those that have arrived. By input VC, the outputs of its card:
    /// `vc << width | output`. Only where packets fall back: else empty.
    joins: Table<u32>,
    /// By input VC: the head of the packet of several cells that comes last.
    coming: Table<u32>,
    /// By output VC.
    slots: Table<Slots>,
    /// Cells on the wires, and the heads of packets until their last cell has gone on.
    pool: Pool<Flit>,
    /// What else there is of a packet in a buffer, by the position of its head.
    stays: Vec<Stay>,
    /// Packets by the cycle in which they become ready.
    stages: Wheel<ReadyPacket>,
    /// Cards where something may move, a bit each.
    active: Table<u64>,
    /// Queues whose adaptive head has just begun to wait, and those of them that are falling back.
    blocked: Vec<u32>,
    falling: VecDeque<u32>,
    /// What the outputs of a card grant in an iteration, and which of that its inputs accept: its number, below its turn.
    candidates: [Grant; PORTS],
    accepted: [u16; PORTS],
    classes: TrafficClasses,
    policy: BufferPolicy,
    log: u32,
    /// Bits of a port's number within its card.
    width: u32,
    iterations: u32,
    /// Cycles from the arrival of a head to the first in which it may be sent, and from there to its departure.
    stages_delay: u32,
    crossbar_delay: u32,
}

impl Voq {
    /// The position of an output VC, or input VC, among those of its port.
    #[inline(always)]
    fn lane(&self, vc: u32) -> u32 {
        vc & ((1 << self.log) - 1)
    }

    /// The input VC of a queue.
    fn vc_of(&self, queue: u32) -> u32 {
        let (pair, lane) = self.place_of(queue);
        let first_port = self.cards[self.card_of[(pair >> self.width) as usize] as usize].first_port;
        (first_port + (pair & ((1 << self.width) - 1))) << self.log | lane
    }

    /// The pair of an input VC of a card, and an output of it.
    #[inline(always)]
    fn pair(&self, card: usize, vc: u32, output: u32) -> u32 {
        let first_port = self.cards[card].first_port;
        (first_port + output) << self.width | ((vc >> self.log) - first_port)
    }

    /// The head at `place`, in input VC `vc`, has decided for a VC class: its VC behind the output takes the place of that.
    /// Requires both that a routing decides for, which are indices of tables.
    #[inline(always)]
    fn decide(&mut self, vc: u32, card: u32, place: u32, class: u8) {
        let next = self.classes.next(self.lane(vc), class);
        assert!(next != NO_VC, "{NO_SUCH_VC}");
        let head = self.pool.at(place);
        head.class = next;
        let there = u32::from(head.out) < self.cards[card as usize].ports;
        assert!(there, "a routing decides for a port that its card does not have");
    }

    /// The packet at `place` in input VC `vc`, as it becomes ready for output `out`.
    #[inline(always)]
    fn ready_packet(&self, card: usize, vc: u32, out: u16, place: u32) -> ReadyPacket {
        let (input, lane) = ((vc >> self.log) - self.cards[card].first_port, self.lane(vc));
        let head = self.pool.get(place);
        let (size, behind) = (head.size() as u16, lane_behind(head));
        ReadyPacket { place, card: card as u32, size, input: input as u8, output: out as u8, lane: lane as u8, behind }
    }

    /// The head of a queue leaves it, and what it waits for, to fall back; returns where it is. What follows asks.
    fn fall_out(&mut self, card: usize, queue: u32) -> u32 {
        let (pair, lane) = self.place_of(queue);
        let (port, input) = (pair >> self.width, pair & ((1 << self.width) - 1));
        let of_pair = &mut self.pairs[pair as usize];
        of_pair.waiting &= !(1 << lane);
        if of_pair.waiting == 0 {
            self.ports[port as usize].waiting &= !(1 << input);
        }
        let head = self.first(queue);
        if !self.detach(queue, head) {
            self.ask(card, pair, lane);
        }
        head
    }

    /// True if the head of a queue waits for room.
    fn waits(&self, queue: u32) -> bool {
        let (pair, lane) = self.place_of(queue);
        self.pairs[pair as usize].waiting >> lane & 1 == 1
    }

    /// Notes the stay of the packet with its head at `place`.
    #[inline(always)]
    fn note(&mut self, place: u32, stay: Stay) {
        if place as usize >= self.stays.len() {
            self.extend_stays(place);
        }
        self.stays[place as usize] = stay;
    }

    /// Heads are at more positions than so far. That of the new one is not passed on to here: it would be built in memory, and
    /// copied, at each call of `note`.
    #[cold]
    fn extend_stays(&mut self, place: u32) {
        self.stays.resize(place as usize + 1, Stay::NONE);
    }

    /// Cells that have come of the packet with its head at `place`.
    fn arrived(&self, place: u32) -> u32 {
        if self.pool.get(place).is_single() { 1 } else { self.stays[place as usize].arrived.into() }
    }

    /// Something may move in a card.
    #[inline(always)]
    fn activate(&mut self, card: usize) {
        self.active[card / u64::BITS as usize] |= 1 << (card % u64::BITS as usize);
    }

    /// One cycle of all cards.
    #[inline(always)]
    fn step_cards(&mut self, now: u32, channels: &mut Channels) {
        self.become_ready(now, channels);
        for word in 0..self.active.len() {
            for bit in bits(self.active[word]) {
                let card = word * u64::BITS as usize + bit as usize;
                self.arbitrate(card, now, channels);
                self.transfer(card, now, channels);
                let state = &mut self.cards[card];
                state.asking = if state.wanted == 0 { 0 } else { state.asking };
                let idle = state.wanted | state.busy_inputs == 0;
                self.active[word] &= !(u64::from(idle) << bit);
            }
        }
    }

    /// The same by instructions for bits that not all processors have: a tenth fewer, since most of it is shifts and masks.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi1,bmi2")]
    fn step_by_bits(&mut self, now: u32, channels: &mut Channels) {
        self.step_cards(now, channels);
    }

    /// Every packet of several cells that goes through a card moves by one.
    #[inline]
    fn transfer(&mut self, card: usize, now: u32, channels: &mut Channels) {
        let Card { first_port, busy_inputs, .. } = self.cards[card];
        for input in bits(busy_inputs) {
            let state = &mut self.ports[(first_port + input) as usize];
            let PortState { packet, vc, output, sent, .. } = *state;
            state.sent += 1;
            debug_assert!(sent < self.stays[packet as usize].arrived, "cells come in consecutive cycles");
            let head = *self.pool.get(packet);
            let last = u32::from(sent) + 1 == head.size();
            let cell = match sent {
                0 => head,
                _ => Flit { kind: if last { TAIL } else { 0 }, injected: self.stays[packet as usize].injected, ..head },
            };
            let place = self.pool.insert(cell);
            let (from, to) = (PortId(first_port + input), PortId(first_port + u32::from(output)));
            channels.send_flit(to, lane_behind(&head).into(), now + self.crossbar_delay, place);
            channels.send_credit(from, self.lane(vc), now);
            if last {
                self.pool.release(packet);
                self.cards[card].busy_inputs &= !(1 << input);
                self.cards[card].busy_outputs &= !(1 << output);
            }
        }
    }
}

/// What cards are built from: their options, and the traffic classes that these make for a routing.
#[derive(Debug)]
pub struct Plan {
    options: Options,
    classes: TrafficClasses,
}

/// Divides the VCs into traffic classes.
fn prepare(case: &Case<'_>) -> Result<Box<dyn Router>> {
    let options = Options::read(&case.setup.config.router);
    let classes = TrafficClasses::new(&options, case)?;
    Ok(Box::new(Plan { options, classes }))
}

impl Router for Plan {
    fn injection(&self) -> Vec<u64> {
        self.classes.injection.clone()
    }

    fn run(&self, simulation: &Simulation<'_>) -> Result<Point> {
        simulation.run(hot::arrivals(simulation.routing), self)
    }
}

impl RouterModel for Voq {
    type Plan = Plan;

    fn new(setup: &Setup, plan: &Plan, first_ports: &[u32], ports: usize, region: Option<&Region>) -> Self {
        let options = &plan.options;
        let log = setup.stride.trailing_zeros();
        let radix = first_ports.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0) as usize;
        let width = radix.next_power_of_two().trailing_zeros();
        let other_queues = (1usize << log).saturating_sub(OWN_QUEUES);
        let card = |w: &[u32]| Card {
            first_port: w[0],
            ports: w[1] - w[0],
            busy_inputs: 0,
            busy_outputs: 0,
            wanted: 0,
            asking: 0,
        };
        let port = PortState {
            asking: 0,
            waiting: 0,
            shared: 0,
            packet: NIL,
            vc: 0,
            output: 0,
            sent: 0,
            granted: LAST,
            accepted: LAST,
        };
        // SAFETY: cards, ports and VCs of the domain are numbered from 0 without gaps. Numbers of VCs come in by the
        // channels, which have them from the network; outputs are `flit.out`, and VCs behind an output are those of
        // `TrafficClasses`: `decide` checks both. Queues and pairs are numbered by these, 2^`width` to each. Cards that are
        // active are bits of words, of which there are enough. Flits on wires and in queues are at the places where the pool
        // put them.
        let tables = unsafe { TableMaker::promise() }.within(region);
        Self {
            cards: tables.of(first_ports.windows(2).map(card)),
            contention: tables.filled(Contention::NONE, first_ports.len() - 1),
            card_of: tables.owners(first_ports),
            ports: tables.filled(port, ports),
            pairs: tables.filled(Pair::EMPTY, ports << width),
            queues: tables.filled(NIL, (ports << width) * other_queues),
            other_queues,
            joins: tables.filled(0, if plan.classes.fall_back() { (ports << log) << width } else { 0 }),
            coming: tables.filled(NIL, ports << log),
            slots: tables.filled(Slots { taken: 0, least: 0 }, ports << log),
            pool: Pool::new(&tables, setup.slots(ports)),
            stays: Vec::new(),
            stages: Wheel::new(options.stages_delay),
            active: tables.filled(0, first_ports.len().div_ceil(u64::BITS as usize)),
            blocked: Vec::new(),
            falling: VecDeque::new(),
            candidates: [Grant::default(); PORTS],
            accepted: [0; PORTS],
            classes: plan.classes.clone(),
            policy: BufferPolicy::new(setup),
            log,
            width,
            iterations: options.iterations,
            stages_delay: options.stages_delay,
            crossbar_delay: options.crossbar_delay,
        }
    }

    #[inline(always)]
    fn port_of(&self, vc: u32) -> u32 {
        vc >> self.log
    }

    #[inline(always)]
    fn router_of(&self, vc: u32) -> u32 {
        self.card_of[(vc >> self.log) as usize]
    }

    #[inline(always)]
    fn pool(&self) -> &Pool<Flit> {
        &self.pool
    }

    #[inline(always)]
    fn pool_mut(&mut self) -> &mut Pool<Flit> {
        &mut self.pool
    }

    #[inline(always)]
    fn accept(&mut self, vc: u32, router: u32, place: u32, decided: Option<(Decision, PacketState)>, now: u32) {
        let Some((decision, before)) = decided else {
            let injected = self.pool.release(place).injected;
            let stay = &mut self.stays[self.coming[vc as usize] as usize];
            stay.arrived += 1;
            stay.injected = injected;
            return;
        };
        let head = self.pool.at(place);
        head.arrive(Some(decision));
        let (several, injected) = (!head.is_single(), head.injected);
        self.decide(vc, router, place, decision.class);
        if several {
            self.coming[vc as usize] = place;
        }
        if several || self.pool.get(place).class & ADAPTIVE != 0 {
            self.note(place, Stay { before, injected, arrived: 1, class: decision.class });
        }
        let ready = now + self.stages_delay;
        if self.joins.len() > 0 {
            self.joins[(vc << self.width | u32::from(decision.out)) as usize] = ready;
        }
        self.stages.push(ready, self.ready_packet(router as usize, vc, decision.out, place));
    }

    #[inline(always)]
    fn expect_flit(&self, vc: u32, _place: u32) {
        self.card_of.prefetch((vc >> self.log) as usize);
    }

    #[inline(always)]
    fn expect_credit(&self, vc: u32) {
        self.slots.prefetch(vc as usize);
    }

    #[inline(always)]
    fn credit(&mut self, vc: u32) {
        let port = (vc >> self.log) as usize;
        let slots = &mut self.slots[vc as usize];
        debug_assert!(slots.taken > 0, "a credit that was not spent");
        let before = u32::from(slots.taken);
        slots.taken -= 1;
        let mut wanted = slots.least;
        if self.policy.pool > 0 {
            self.ports[port].shared -= self.policy.shared(before) - self.policy.shared(before - 1);
            // A place that VCs share serves any of them.
            wanted = u16::MAX;
        }
        if wanted > 0 {
            self.relieve_if_enough(vc, port);
        }
    }

    // Not inlined: compiled once.
    #[inline(never)]
    fn step(&mut self, now: u32, channels: &mut Channels) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has these instructions.
            return unsafe { self.step_by_bits(now, channels) };
        }
        self.step_cards(now, channels);
    }

    #[inline(always)]
    fn occupancy(&self, port: u32) -> u32 {
        // The port is what a routing asks for.
        self.slots.slice((port << self.log) as usize, 1 << self.log).iter().map(|slots| u32::from(slots.taken)).sum()
    }

    /// None while heads fall back: what is adaptive is out of their reach then.
    #[inline(always)]
    fn free_vcs(&self, port: u32, class: u8, size: u32, from: u32) -> u32 {
        let next = self.classes.next(self.lane(from), class);
        u32::from(next != NO_VC && self.falling.is_empty() && self.fits(port as usize, next & !ADAPTIVE, size))
    }

    fn buffer(&self, class: u8) -> u32 {
        self.classes.vcs_of(class) * u32::from(self.policy.reserve) + self.policy.pool
    }

    fn undecided(&mut self, _fresh: &mut Vec<FreshHead>, waiting: &mut Vec<(u32, u32)>) {
        for queue in std::mem::take(&mut self.blocked) {
            if self.waits(queue) {
                waiting.push((self.vc_of(queue), queue));
                self.falling.push_back(queue);
            }
        }
    }

    fn waiting_head(&self, queue: u32) -> Flit {
        let first = self.first(queue);
        let Stay { before, class, .. } = self.stays[first as usize];
        Flit { state: before, class, ..*self.pool.get(first) }
    }

    fn redirect(&mut self, vc: u32, queue: u32, decision: Decision, now: u32) {
        let next = self.falling.pop_front();
        debug_assert_eq!(next, Some(queue), "heads decide in order");
        let card = self.router_of(vc) as usize;
        let packet = self.fall_out(card, queue);
        self.pool.at(packet).decide(decision);
        self.decide(vc, card as u32, packet, decision.class);
        self.pool.at(packet).class &= !ADAPTIVE;
        let event = self.ready_packet(card, vc, decision.out, packet);
        // It comes behind all that have arrived before: some of them may still have to join the queue.
        let joined = self.joins[(vc << self.width | u32::from(decision.out)) as usize];
        if joined >= now {
            return self.stages.push(joined, event);
        }
        let pair = self.pair(card, vc, decision.out.into());
        if self.append(self.queue_of(pair, self.lane(vc)), packet) {
            self.ask(card, pair, self.lane(vc));
        }
    }

    fn flits(&self, vc: u32) -> u32 {
        let number = self.card_of[(vc >> self.log) as usize] as usize;
        let card = self.cards[number];
        let port = &self.ports[(vc >> self.log) as usize];
        let busy = card.busy_inputs >> ((vc >> self.log) - card.first_port) & 1 == 1;
        let moving = if busy && port.vc == vc { self.arrived(port.packet) - u32::from(port.sent) } else { 0 };
        let queue = |output| self.queue_of(self.pair(number, vc, output), self.lane(vc));
        let queued = (0..card.ports).flat_map(|output| self.packets(queue(output)));
        moving + queued.map(|packet| self.arrived(packet)).sum::<u32>()
    }

    fn in_stages(&self) -> Vec<u32> {
        let mut flits = vec![0; self.slots.len()];
        for event in self.stages.iter() {
            let port = self.cards[event.card as usize].first_port + u32::from(event.input);
            flits[(port << self.log | u32::from(event.lane)) as usize] += self.arrived(event.place);
        }
        flits
    }

    /// What all its queues wait for. One that can move is enough: then the VC is no part of a deadlock yet.
    fn waits_for(&self, vc: u32) -> Wait {
        let card = self.card_of[(vc >> self.log) as usize] as usize;
        let first_port = self.cards[card].first_port;
        let input = (vc >> self.log) - first_port;
        if self.flits(vc) == 0 || self.cards[card].busy_inputs >> input & 1 == 1 {
            return Wait::Nothing;
        }
        let mut outputs = Vec::new();
        for output in 0..self.cards[card].ports {
            let queue = self.queue_of(self.pair(card, vc, output), self.lane(vc));
            let Some(first) = self.packets(queue).next() else { continue };
            if !self.waits(queue) {
                return Wait::Nothing;
            }
            let head = self.pool.get(first);
            if head.class & ADAPTIVE != 0 {
                // It is about to fall back.
                return Wait::Nothing;
            }
            outputs.push(((first_port + output) << self.log) + u32::from(lane_behind(head)));
        }
        Wait::Vcs(outputs)
    }

    fn owner(&self, _vc: u32) -> Option<u32> {
        None
    }

    fn taken(&self, vc: u32) -> u32 {
        self.slots[vc as usize].taken.into()
    }

    fn takers(&self, vc: u32) -> Vec<u32> {
        let shares = |other: &u32| self.policy.pool > 0 && self.slots[*other as usize].taken > self.policy.reserve;
        let first = vc >> self.log << self.log;
        let own = (self.slots[vc as usize].taken > 0).then_some(vc);
        own.into_iter().chain((first..first + (1 << self.log)).filter(|&other| other != vc).filter(shares)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cycle::Config;
    use crate::cycle::flit::HEAD;
    use crate::rng::Rng;
    use crate::routing::{PacketState, Routing};

    /// Cards with these first ports, of which the last is behind them all.
    fn cards(config: &str, first_ports: &[u32]) -> Voq {
        cards_for("hypercube:1", "dor", config, first_ports)
    }

    /// The same, whose traffic classes are those of a routing of a network.
    fn cards_for(network: &str, name: &str, config: &str, first_ports: &[u32]) -> Voq {
        let network = crate::topology::build(network).unwrap();
        let routing = crate::routing::build(&network, name).unwrap();
        let config: Config = serde_json::from_str(config).unwrap();
        let setup = Setup::new(&network, name, routing.classes(), 4, &config).unwrap();
        let options = Options::read(&setup.config.router);
        let case = Case { setup: &setup, network: &network, routing: &routing, name };
        let classes = TrafficClasses::new(&options, &case).unwrap();
        let ports = first_ports[first_ports.len() - 1] as usize;
        Voq::new(&setup, &Plan { options, classes }, first_ports, ports, None)
    }

    /// A cell arrives at input VC `vc`: if it is a head, one that is to leave by `out`.
    fn arrive(cards: &mut Voq, vc: u32, cell: Flit, out: u16, now: u32) {
        let state = PacketState::direct(0);
        let decided = cell.is_head().then_some((Decision { out, class: 0, kind: cell.kind, state }, state));
        let place = cards.pool.insert(cell);
        cards.accept(vc, cards.router_of(vc), place, decided, now);
    }

    /// Two cards of two ports, and a packet that is to leave the first by `out`.
    fn accept(out: u16) -> Voq {
        let mut cards = cards(r#"{"model": "extoll"}"#, &[0, 2, 4]);
        arrive(&mut cards, 0, Flit { kind: HEAD | TAIL, ..Flit::NONE }, out, 0);
        cards
    }

    /// Cells in a VC, wherever.
    fn held(cards: &Voq, vc: u32) -> u32 {
        cards.flits(vc) + cards.in_stages()[vc as usize]
    }

    #[test]
    fn a_head_joins_the_queue_of_its_output_when_its_stages_are_behind_it() {
        let mut cards = accept(1);
        let queue = cards.queue_of(cards.pair(0, 0, 1), 0);
        assert_eq!((cards.flits(0), held(&cards, 0), cards.packets(queue).count()), (0, 1, 0));
        // It goes through at once, unless there is no room.
        let room = &mut cards.slots[1 << cards.log];
        room.taken = cards.policy.reserve;
        let mut channels = Channels::of_loops(4);
        (0..=cards.stages_delay).for_each(|now| cards.step(now, &mut channels));
        assert_eq!((cards.flits(0), cards.in_stages()[0], cards.packets(queue).count()), (1, 0, 1));
        assert!(cards.waits(queue) && matches!(cards.waits_for(0), Wait::Vcs(_)));
    }

    #[test]
    fn a_queue_keeps_the_order_of_its_packets() {
        let mut cards = cards(r#"{"model": "extoll"}"#, &[0, 2, 4]);
        let queue = cards.queue_of(cards.pair(0, 0, 1), 0);
        let mut packets: Vec<u32> = (0..4).map(|_| cards.pool.insert(Flit::NONE)).collect();
        assert_eq!([0, 1, 2, 3].map(|at| cards.append(queue, packets[at])), [true, false, false, false]);
        while !packets.is_empty() {
            assert_eq!(cards.packets(queue).collect::<Vec<_>>(), packets);
            let first = cards.first(queue);
            assert_eq!(first, packets.remove(0));
            assert_eq!(cards.detach(queue, first), packets.is_empty());
        }
        assert_eq!(cards.packets(queue).count(), 0);
    }

    #[test]
    fn every_vc_of_every_pair_has_a_queue_of_its_own() {
        for tcs in [1, 4, 16] {
            let config = format!(r#"{{"model": "extoll", "tcs": {tcs}, "tc_vcs": 2, "adaptive_tcs": {tcs}}}"#);
            let mut cards = cards(&config, &[0, 3, 8]);
            let mut queues = Vec::new();
            for vc in 0..8 << cards.log {
                let card = cards.router_of(vc) as usize;
                for output in 0..cards.cards[card].ports {
                    let (pair, lane) = (cards.pair(card, vc, output), cards.lane(vc));
                    let queue = cards.queue_of(pair, lane);
                    assert_eq!((cards.place_of(queue), cards.vc_of(queue)), ((pair, lane), vc));
                    queues.push(queue);
                }
            }
            let all = queues.len();
            for (last, &queue) in (0..).zip(&queues) {
                assert_eq!(cards.last(queue), NIL);
                cards.set_last(queue, last);
            }
            assert!((0..).zip(&queues).all(|(last, &queue)| cards.last(queue) == last));
            queues.sort_unstable();
            queues.dedup();
            assert_eq!(queues.len(), all);
        }
    }

    #[test]
    fn a_head_that_falls_back_comes_behind_all_that_have_arrived() {
        let kind = HEAD | TAIL;
        for staged in [0, 1, 2] {
            let mut cards = cards_for("torus:4x4", "duato", r#"{"model": "extoll"}"#, &[0, 3]);
            let mut channels = Channels::of_loops(3);
            // It waits for output 1, and is adaptive.
            let head = cards.pool.insert(Flit { kind, class: ADAPTIVE, ..Flit::NONE });
            cards.note(head, Stay { before: PacketState::direct(0), injected: 0, arrived: 1, class: 2 });
            let queue = cards.queue_of(cards.pair(0, 0, 1), 0);
            cards.append(queue, head);
            cards.wait(0, queue, head);
            // What is behind it there has room, as it has: it asks from then on.
            let behind = cards.pool.insert(Flit { kind, created: 9, ..Flit::NONE });
            cards.append(queue, behind);
            // Others are in the stages before the queue of output 2; the last becomes ready after it has fallen back.
            for created in 1..=staged {
                arrive(&mut cards, 0, Flit { kind, created, ..Flit::NONE }, 2, 7 + created);
            }
            let (mut fresh, mut waiting) = (Vec::new(), Vec::new());
            cards.undecided(&mut fresh, &mut waiting);
            assert_eq!(waiting, [(0, queue)]);
            let decision = Decision { out: 2, class: 0, kind, state: PacketState::direct(0) };
            cards.redirect(0, queue, decision, 9);
            assert!(!cards.waits(queue));
            (9..20).for_each(|now| cards.step(now, &mut channels));
            let left = (0..24).flat_map(|now| channels.wires.flits[0].take(now));
            let left: Vec<u32> = left.map(|event| cards.pool.get(event.place).created).collect();
            let (of_first, of_other): (Vec<u32>, _) = left.into_iter().partition(|&created| created == 9);
            assert_eq!((of_first, of_other), (vec![9], (1..=staged).chain([0]).collect()));
        }
    }

    #[test]
    fn a_vc_holds_the_cells_that_have_come_and_not_gone() {
        let mut cards = cards(r#"{"model": "extoll"}"#, &[0, 2, 4]);
        let mut channels = Channels::of_loops(4);
        let cell = |kind| Flit { kind, injected: 3, ..Flit::NONE };
        let mut cells = Vec::new();
        for now in 0..8 {
            match now {
                0 => arrive(&mut cards, 0, cell(HEAD), 1, now),
                1 => arrive(&mut cards, 0, cell(0), 1, now),
                2 => arrive(&mut cards, 0, cell(TAIL), 1, now),
                _ => {}
            }
            cards.step(now, &mut channels);
            cells.push(held(&cards, 0));
        }
        assert_eq!(cells, [1, 2, 2, 1, 0, 0, 0, 0]);
        assert_eq!((cards.taken(1 << cards.log), channels.sent()), (3, 3));
    }

    #[test]
    fn a_shared_slot_that_is_given_back_serves_any_vc() {
        let mut cards = cards(r#"{"model": "extoll", "buffer": 2, "buffers": "shared:1"}"#, &[0, 2, 4]);
        let mut channels = Channels::of_loops(4);
        let mut sent = |cards: &mut Voq, cycles: std::ops::Range<u32>| {
            cycles.for_each(|now| cards.step(now, &mut channels));
            channels.sent()
        };
        // Ten VCs share a slot each, and have one of their own.
        for vc in [0; 12].into_iter().chain([1; 2]) {
            arrive(&mut cards, vc, Flit { kind: HEAD | TAIL, ..Flit::NONE }, 1, 0);
        }
        assert_eq!(sent(&mut cards, 0..40), 12);
        let [zero, one] = [0, 1].map(|lane| (1 << cards.log) + lane);
        assert_eq!((cards.taken(zero) + cards.taken(one), cards.flits(0) + cards.flits(1)), (12, 2));
        let full = if cards.taken(zero) > cards.taken(one) { zero } else { one };
        cards.credit(full);
        assert_eq!(sent(&mut cards, 40..60), 13);
        cards.credit(full);
        assert_eq!(sent(&mut cards, 60..80), 14);
    }

    /// What leaves one card of five ports in each cycle, by output VC and number, while random packets come by random VCs
    /// and credits come back late. `once` is called before each step.
    fn departures(config: &str, most: u32, often: u32, seed: u64, once: impl Fn(&mut Voq)) -> Vec<Vec<(u32, u32)>> {
        const PORTS: u32 = 5;
        let mut cards = cards(config, &[0, PORTS]);
        let mut channels = Channels::of_loops(PORTS);
        (0..PORTS).for_each(|port| channels.ends[port as usize].to = port << cards.log);
        let mut rng = Rng::stream(seed, 0);
        let mut coming: Vec<VecDeque<(u32, Flit, u16)>> = vec![VecDeque::new(); PORTS as usize];
        let mut credits: Vec<(u32, u32)> = Vec::new();
        let mut number = 0;
        let cycle = |now| {
            for (port, cells) in (0..).zip(&mut coming) {
                let (vc, size, out) =
                    ((port << cards.log) + rng.below(4), 1 + rng.below(most), rng.below(PORTS) as u16);
                if rng.below(16) < often && cells.is_empty() && held(&cards, vc) + size <= 16 {
                    number += 1;
                    for cell in 1..=size {
                        let kind = if cell == 1 { HEAD } else { 0 } | if cell == size { TAIL } else { 0 };
                        let injected = if cell == 1 && size > 1 { size } else { 1_000 * number + cell };
                        cells.push_back((vc, Flit { kind, injected, created: number, ..Flit::NONE }, out));
                    }
                }
                if let Some((vc, cell, out)) = cells.pop_front() {
                    arrive(&mut cards, vc, cell, out, now);
                }
            }
            for (_, vc) in credits.extract_if(.., |&mut (due, _)| due <= now) {
                cards.credit(vc);
            }
            once(&mut cards);
            cards.step(now, &mut channels);
            let events = channels.wires.flits[0].take(now);
            let mut left: Vec<(u32, u32)> = events
                .iter()
                .map(|event| {
                    let cell = *cards.pool.release(event.place);
                    let last = !cell.is_single() && cell.is_tail();
                    assert!(!last || cell.injected / 1_000 == cell.created, "the tail left its terminal then");
                    credits.push((now + 3 + (cell.created * 7 + event.to) % 160, event.to));
                    (event.to, cell.created * 10_000 + cell.injected % 10_000)
                })
                .collect();
            _ = channels.wires.credits.take(now);
            left.sort_unstable();
            left
        };
        (0..3_000).map(cycle).collect()
    }

    #[test]
    fn the_vcs_of_an_input_take_turns() {
        let mut cards = cards(r#"{"model": "extoll"}"#, &[0, 2, 4]);
        let mut channels = Channels::of_loops(4);
        for created in 0..9 {
            arrive(&mut cards, 2 - created % 3, Flit { kind: HEAD | TAIL, created, ..Flit::NONE }, 1, 0);
        }
        (0..12).for_each(|now| cards.step(now, &mut channels));
        let left = (0..16).flat_map(|now| channels.wires.flits[0].take(now));
        let left: Vec<u32> = left.map(|event| cards.pool.get(event.place).created).collect();
        assert_eq!(left, [2, 1, 0, 5, 4, 3, 8, 7, 6]);
    }

    #[test]
    fn what_follows_a_head_that_falls_back_is_the_head_then() {
        let network = crate::topology::build("torus:4x4,p=2").unwrap();
        for packet in ["1", "1-5"] {
            let config =
                format!(r#"{{"model": "extoll", "buffer": 8, "packet": "{packet}", "warmup": 200, "measure": 2000}}"#);
            let config = serde_json::from_str(&config).unwrap();
            let point =
                crate::cycle::simulate(&network, "duato", "uniform", 1.0, &config, &crate::watch::NoControl).unwrap();
            assert!(point.accepted > 0.3 && !point.deadlocked, "{packet}: {}", point.accepted);
        }
    }

    #[test]
    fn a_short_warm_up_counts_no_more_flits_than_there_are() {
        let network = crate::topology::build("twin-torus:2x2x2").unwrap();
        for warmup in [0, 30, 60, 90] {
            let config = format!(r#"{{"model": "extoll", "crossbar_delay": 10, "warmup": {warmup}, "measure": 300}}"#);
            let config = serde_json::from_str(&config).unwrap();
            let point = crate::cycle::simulate(&network, "ts-dor", "uniform", 0.3, &config, &crate::watch::NoControl);
            let point = point.unwrap();
            let ports = network.ports().len() as u64;
            assert!(point.flit_hops > 0 && point.flit_hops <= point.cycles * ports, "{point:?}");
        }
    }

    #[test]
    fn what_goes_through_at_once_is_what_islip_grants() {
        for (config, most) in [
            (r#"{"model": "extoll", "buffer": 16}"#, 1),
            (r#"{"model": "extoll", "buffer": 16, "packet": "1-5"}"#, 5),
            (r#"{"model": "extoll", "buffer": 16, "packet": "1-5", "buffers": "shared:6"}"#, 5),
            (r#"{"model": "extoll", "buffer": 16, "packet": "1-3", "iterations": 3, "routing_delay": 4}"#, 3),
        ] {
            for (seed, often) in [(0, 12), (1, 12), (2, 3), (3, 3)] {
                let ours = departures(config, most, often, seed, |_| ());
                assert!(ours.iter().flatten().count() > 2_000, "{config}");
                // Where all outputs are wanted, and all inputs may have others that ask, all packets ask.
                let asking = departures(config, most, often, seed, |cards| {
                    (cards.cards[0].asking, cards.cards[0].wanted) = (u64::MAX, 0b1_1111);
                });
                assert_eq!(ours, asking, "{config}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "a port that its card does not have")]
    fn an_output_beyond_the_last_is_no_index() {
        accept(2);
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn nor_is_one_whose_queue_a_routing_compares() {
        accept(1).occupancy(4);
    }
}
