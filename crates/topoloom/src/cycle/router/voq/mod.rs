//! The `extoll` router model: cards with buffers at their inputs only, virtual output queues, iSLIP, virtual cut-through
//! for packets of several cells, and credits in cells for whole packets. See docs/extoll-model.md.
//!
//! One [`Voq`] holds all cards of a domain. A queue, one for each (input VC, output), holds packets, not cells: the
//! cells of a packet come, and leave, in consecutive cycles, so that counting them is enough. A queue whose head may be
//! sent stands as a bit of its output; one whose head waits for room stands off, until credits make it.

mod allocator;
mod options;
mod queues;
mod traffic_classes;

use std::collections::VecDeque;

use crate::bits::bits;
use crate::cycle::channels::Channels;
use crate::cycle::flit::{Decision, Flit, NIL, Pool};
use crate::cycle::router::buffer_policy::BufferPolicy;
use crate::cycle::router::{Case, FreshHead, Router, RouterModel, Simulation, Wait};
use crate::cycle::table::{Table, TableMaker};
use crate::cycle::{Point, Setup};
use crate::error::Result;
use crate::limits::CARD_PORTS;
use crate::network::PortId;
use crate::routing::PacketState;
pub use options::INFO;
use options::Options;
use queues::{PacketEntry, Pair, Queue};
use traffic_classes::{NO_VC, TrafficClasses};

/// A card: its ports, and which of them are free and wanted, a bit each.
#[derive(Debug, Clone, Copy)]
struct Card {
    first_port: u32,
    ports: u32,
    /// Inputs, and outputs, that no packet goes through.
    free_inputs: u64,
    free_outputs: u64,
    /// Outputs for which a packet may be sent.
    wanted: u64,
    active: bool,
}

/// A port, as input and as output.
#[derive(Debug, Clone, Copy)]
struct PortState {
    /// Input: the packet that goes through, and its output.
    packet: u32,
    output: u16,
    /// Output: the input that is preferred next; input: the output.
    grant: u16,
    accept: u16,
    /// Output: inputs with a queue whose head may be sent, and with one whose head waits for room, a bit each.
    asking: u64,
    waiting: u64,
    /// Output: slots taken of those that the VCs behind it share.
    shared: u32,
}

/// The buffer of an input VC.
#[derive(Debug, Clone, Copy)]
struct Buffer {
    /// The cells in it.
    cells: u32,
    /// The packet that comes last.
    coming: u32,
}

/// What a routing that decides for a class beyond those of the packet's traffic class is rejected with.
const NO_SUCH_VC: &str = "a routing decides for a class that the packet's traffic class does not have";

/// All cards of a domain.
#[derive(Debug)]
pub struct Voq {
    cards: Table<Card>,
    card_of: Table<u32>,
    ports: Table<PortState>,
    /// By output, the inputs of its card: `output << width | input`.
    pairs: Table<Pair>,
    /// By input VC, the outputs of its card: `vc << width | output`.
    queues: Table<Queue>,
    /// The buffer of each input VC.
    buffers: Table<Buffer>,
    /// Slots taken behind each output VC, and the least size of the packets that wait for room there (0: none does).
    taken: Table<u16>,
    least: Table<u16>,
    packets: Pool<PacketEntry>,
    /// Cells on the wires.
    pool: Pool<Flit>,
    /// Packets that become ready, in order: (cycle, queue).
    stages: VecDeque<(u32, u32)>,
    active: Vec<u32>,
    /// Queues whose adaptive head has just begun to wait, and those of them that are falling back.
    blocked: Vec<u32>,
    falling: VecDeque<u32>,
    /// What the outputs of a card grant in an iteration: the input VC, by output; and the outputs, by input.
    grants: Vec<u8>,
    offers: Vec<u64>,
    classes: TrafficClasses,
    policy: BufferPolicy,
    log: u32,
    /// Bits of a port's number within its card.
    width: u32,
    iterations: u32,
    /// Cycles from the arrival of a head to the first in which it may be sent, and from there to its departure.
    stages_delay: u32,
    crossbar_delay: u32,
    /// The cycle of the last step.
    now: u32,
}

impl Voq {
    /// The position of an output VC, or input VC, among those of its port.
    #[inline(always)]
    fn lane(&self, vc: u32) -> u32 {
        vc & ((1 << self.log) - 1)
    }

    /// The input VC, card, input and output of a queue, the last two counted within the card.
    #[inline(always)]
    fn place(&self, queue: u32) -> (u32, usize, u32, u32) {
        let (vc, output) = (queue >> self.width, queue & ((1 << self.width) - 1));
        let card = self.card_of[(vc >> self.log) as usize] as usize;
        (vc, card, (vc >> self.log) - self.cards[card].first_port, output)
    }

    /// The queue of an input VC for an output of its card.
    #[inline(always)]
    fn queue_of(&self, vc: u32, output: u32) -> u32 {
        vc << self.width | output
    }

    /// Requires the output that a routing decides for: outputs are indices of tables.
    #[inline(always)]
    fn require_port(&self, vc: u32, output: u16) {
        let card = self.card_of[(vc >> self.log) as usize] as usize;
        assert!(u32::from(output) < self.cards[card].ports, "a routing decides for a port that its card does not have");
    }

    #[inline(always)]
    fn activate(&mut self, card: usize) {
        let state = &mut self.cards[card];
        if !state.active {
            state.active = true;
            self.active.push(card as u32);
        }
    }

    /// Every packet that goes through a card moves by a cell.
    fn transfer(&mut self, card: usize, now: u32, channels: &mut Channels) {
        let Card { first_port, ports, free_inputs, .. } = self.cards[card];
        let all = u64::MAX >> (CARD_PORTS as u32 - ports);
        for input in bits(all & !free_inputs) {
            let in_port = first_port + input;
            let PortState { packet, output, .. } = self.ports[in_port as usize];
            let state = self.packets.at(packet);
            debug_assert!(state.sent < state.arrived, "cells come in consecutive cycles");
            let cell = state.cell();
            state.sent += 1;
            let (lane, vc, done) = (state.vc, state.from, cell.is_tail());
            let out_port = first_port + u32::from(output);
            let place = self.pool.insert(cell);
            channels.send_flit(PortId(out_port), lane.into(), now + self.crossbar_delay, place);
            channels.send_credit(PortId(in_port), self.lane(vc), now);
            self.buffers[vc as usize].cells -= 1;
            if done {
                self.packets.release(packet);
                self.cards[card].free_inputs |= 1 << input;
                self.cards[card].free_outputs |= 1 << output;
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
        simulation.run::<Voq>(simulation.routing, self)
    }
}

impl RouterModel for Voq {
    type Plan = Plan;

    fn new(setup: &Setup, plan: &Plan, first_ports: &[u32], ports: usize) -> Self {
        let options = &plan.options;
        let log = setup.stride.trailing_zeros();
        let radix = first_ports.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0) as usize;
        let width = radix.next_power_of_two().trailing_zeros();
        let card = |w: &[u32]| {
            let all = u64::MAX.checked_shr(CARD_PORTS as u32 - (w[1] - w[0])).unwrap_or(0);
            let ports = w[1] - w[0];
            Card { first_port: w[0], ports, free_inputs: all, free_outputs: all, wanted: 0, active: false }
        };
        let port = PortState { packet: NIL, output: 0, grant: 0, accept: 0, asking: 0, waiting: 0, shared: 0 };
        let card_of = first_ports.windows(2).enumerate();
        // SAFETY: cards, ports and VCs of the domain are numbered from 0 without gaps. Numbers of VCs come in by the
        // channels, which have them from the network; outputs are `flit.out`, which `require_port` checks; VCs behind an
        // output are those of `TrafficClasses`, which `accept` and `redirect` check. Queues and pairs are numbered by
        // these, 2^`width` to each. Flits on wires and in queues are at the places where the pool put them, and so are packets.
        let tables = unsafe { TableMaker::promise() };
        Self {
            cards: tables.of(first_ports.windows(2).map(card)),
            card_of: tables.of(card_of.flat_map(|(c, w)| std::iter::repeat_n(c as u32, (w[1] - w[0]) as usize))),
            ports: tables.filled(port, ports),
            pairs: tables.filled(Pair { asking: 0, waiting: 0, turn: 0 }, ports << width),
            queues: tables.filled(Queue { first: NIL, last: NIL }, (ports << log) << width),
            buffers: tables.filled(Buffer { cells: 0, coming: NIL }, ports << log),
            taken: tables.filled(0, ports << log),
            least: tables.filled(0, ports << log),
            packets: Pool::new(&tables, setup.slots(ports)),
            pool: Pool::new(&tables, setup.slots(ports)),
            stages: VecDeque::new(),
            active: Vec::new(),
            blocked: Vec::new(),
            falling: VecDeque::new(),
            grants: vec![0; radix],
            offers: vec![0; radix],
            classes: plan.classes.clone(),
            policy: BufferPolicy::new(setup),
            log,
            width,
            iterations: options.iterations,
            stages_delay: options.stages_delay,
            crossbar_delay: options.crossbar_delay,
            now: 0,
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
    fn accept(&mut self, vc: u32, _router: u32, place: u32, decided: Option<(Decision, PacketState)>, now: u32) {
        let mut flit = *self.pool.release(place);
        flit.arrive(decided.map(|(decision, _)| decision));
        let buffer = &mut self.buffers[vc as usize];
        buffer.cells += 1;
        if !flit.is_head() {
            let packet = self.packets.at(buffer.coming);
            packet.arrived += 1;
            packet.injected = flit.injected;
            return;
        }
        let ready = now + self.stages_delay;
        let lane = self.classes.next(self.lane(vc), flit.class);
        assert!(lane != NO_VC, "{NO_SUCH_VC}");
        let adaptive = self.classes.is_adaptive(flit.class);
        let packet = self.packets.insert(PacketEntry {
            head: flit,
            before: decided.map_or(flit.state, |(_, before)| before),
            injected: flit.injected,
            ready,
            from: vc,
            arrived: 1,
            sent: 0,
            vc: lane,
            adaptive,
        });
        self.buffers[vc as usize].coming = packet;
        self.require_port(vc, flit.out);
        let queue = self.queue_of(vc, flit.out.into());
        self.append(queue, packet);
        self.stages.push_back((ready, queue));
    }

    #[inline(always)]
    fn expect_flit(&self, vc: u32, _place: u32) {
        self.buffers.prefetch(vc as usize);
        self.queues.prefetch((vc << self.width) as usize);
        self.card_of.prefetch((vc >> self.log) as usize);
    }

    #[inline(always)]
    fn expect_credit(&self, vc: u32) {
        self.taken.prefetch(vc as usize);
        self.ports.prefetch((vc >> self.log) as usize);
    }

    #[inline(always)]
    fn credit(&mut self, vc: u32) {
        let port = (vc >> self.log) as usize;
        let taken = &mut self.taken[vc as usize];
        debug_assert!(*taken > 0, "a credit that was not spent");
        let before = u32::from(*taken);
        *taken -= 1;
        self.ports[port].shared -= self.policy.shared(before) - self.policy.shared(before - 1);
        if self.ports[port].waiting == 0 {
            return;
        }
        let enough = |vc: u32| {
            let least = self.least[vc as usize];
            least > 0 && self.fits(port, self.lane(vc) as u8, least.into())
        };
        // A place that VCs share serves any of them.
        let first = vc >> self.log << self.log;
        if enough(vc) || (self.policy.pool > 0 && (first..first + (1 << self.log)).any(enough)) {
            self.relieve(port);
        }
    }

    // Not inlined: compiled once.
    #[inline(never)]
    fn step(&mut self, now: u32, channels: &mut Channels) {
        self.now = now;
        while let Some(&(_, queue)) = self.stages.front().filter(|(ready, _)| *ready <= now) {
            self.stages.pop_front();
            let (vc, card, input, output) = self.place(queue);
            let lane = self.lane(vc);
            if self.pair(card, input, output).waiting >> lane & 1 == 0 {
                self.renew(queue, now);
            }
        }
        let mut place = 0;
        while place < self.active.len() {
            let card = self.active[place] as usize;
            self.arbitrate(card, now);
            self.transfer(card, now, channels);
            let Card { free_inputs, ports, wanted, .. } = self.cards[card];
            if wanted == 0 && free_inputs.count_ones() == ports {
                self.cards[card].active = false;
                self.active.swap_remove(place);
            } else {
                place += 1;
            }
        }
    }

    #[inline(always)]
    fn occupancy(&self, port: u32) -> u32 {
        // The port is what a routing asks for.
        self.taken.slice((port << self.log) as usize, 1 << self.log).iter().map(|&taken| u32::from(taken)).sum()
    }

    /// None while heads fall back: what is adaptive is out of their reach then.
    #[inline(always)]
    fn free_vcs(&self, port: u32, class: u8, size: u32, from: u32) -> u32 {
        let lane = self.classes.next(self.lane(from), class);
        u32::from(lane != NO_VC && self.falling.is_empty() && self.fits(port as usize, lane, size))
    }

    fn buffer(&self, class: u8) -> u32 {
        self.classes.vcs_of(class) * u32::from(self.policy.reserve) + self.policy.pool
    }

    fn undecided(&mut self, _fresh: &mut Vec<FreshHead>, waiting: &mut Vec<(u32, u32)>) {
        for queue in std::mem::take(&mut self.blocked) {
            let (vc, card, input, output) = self.place(queue);
            let lane = self.lane(vc);
            if self.pair(card, input, output).waiting >> lane & 1 == 1 {
                waiting.push((vc, queue));
                self.falling.push_back(queue);
            }
        }
    }

    fn waiting_head(&self, queue: u32) -> Flit {
        let PacketEntry { head, before, .. } = *self.packets.get(self.queues[queue as usize].first);
        Flit { state: before, ..head }
    }

    fn redirect(&mut self, vc: u32, queue: u32, decision: Decision, _now: u32) {
        let next = self.falling.pop_front();
        debug_assert_eq!(next, Some(queue), "heads decide in order");
        let (_, card, input, output) = self.place(queue);
        let lane = self.lane(vc);
        let pair = self.pair(card, input, output);
        pair.waiting &= !(1 << lane);
        if pair.waiting == 0 {
            self.ports[(self.cards[card].first_port + output) as usize].waiting &= !(1 << input);
        }
        let packet = self.detach(queue);
        let escape = self.classes.next(lane, decision.class);
        assert!(escape != NO_VC, "{NO_SUCH_VC}");
        let state = self.packets.at(packet);
        state.head.decide(decision);
        (state.vc, state.adaptive) = (escape, false);
        // What follows may have become ready up to the last step.
        self.renew(queue, self.now);
        self.require_port(vc, decision.out);
        let other = self.queue_of(vc, decision.out.into());
        let alone = self.queues[other as usize].first == NIL;
        self.append(other, packet);
        if alone {
            self.renew(other, self.now);
        }
    }

    fn buffered(&self) -> u64 {
        self.buffers.iter().map(|buffer| u64::from(buffer.cells)).sum()
    }

    fn flits(&self, vc: u32) -> u32 {
        self.buffers[vc as usize].cells
    }

    /// What all its queues wait for. One that can move is enough: then the VC is no part of a deadlock yet.
    fn waits_for(&self, vc: u32) -> Wait {
        let card = self.card_of[(vc >> self.log) as usize] as usize;
        let (first_port, lane) = (self.cards[card].first_port, self.lane(vc));
        let input = (vc >> self.log) - first_port;
        if self.buffers[vc as usize].cells == 0 || self.cards[card].free_inputs >> input & 1 == 0 {
            return Wait::Nothing;
        }
        let mut outputs = Vec::new();
        for output in 0..self.cards[card].ports {
            let first = self.queues[self.queue_of(vc, output) as usize].first;
            if first == NIL {
                continue;
            }
            let port = first_port + output;
            if self.pairs[(port << self.width | input) as usize].waiting >> lane & 1 == 0 {
                return Wait::Nothing;
            }
            let PacketEntry { vc, adaptive, .. } = *self.packets.get(first);
            if adaptive {
                // It is about to fall back.
                return Wait::Nothing;
            }
            outputs.push((port << self.log) + u32::from(vc));
        }
        Wait::Vcs(outputs)
    }

    fn owner(&self, _vc: u32) -> Option<u32> {
        None
    }

    fn taken(&self, vc: u32) -> u32 {
        self.taken[vc as usize].into()
    }

    fn takers(&self, vc: u32) -> Vec<u32> {
        let shares = |other: &u32| self.policy.pool > 0 && self.taken[*other as usize] > self.policy.reserve;
        let first = vc >> self.log << self.log;
        let own = (self.taken[vc as usize] > 0).then_some(vc);
        own.into_iter().chain((first..first + (1 << self.log)).filter(|&other| other != vc).filter(shares)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cycle::Config;
    use crate::cycle::flit::{HEAD, TAIL};
    use crate::routing::{PacketState, Routing};

    /// Two cards of two ports, and a packet that is to leave the first by `out`.
    fn accept(out: u16) -> Voq {
        let network = crate::topology::build("hypercube:1").unwrap();
        let routing = crate::routing::build(&network, "dor").unwrap();
        let config: Config = serde_json::from_str(r#"{"model": "extoll"}"#).unwrap();
        let setup = Setup::new(&network, "dor", routing.classes(), 4, &config).unwrap();
        let options = Options::read(&setup.config.router);
        let case = Case { setup: &setup, network: &network, routing: &routing, name: "dor" };
        let classes = TrafficClasses::new(&options, &case).unwrap();
        let mut cards = Voq::new(&setup, &Plan { options, classes }, &[0, 2, 4], 4);
        let (kind, state) = (HEAD | TAIL, PacketState::direct(0));
        let place = cards.pool.insert(Flit { kind, ..Flit::NONE });
        cards.accept(0, 0, place, Some((Decision { out, class: 0, kind, state }, state)), 0);
        cards
    }

    #[test]
    fn a_head_stands_in_the_queue_of_its_output() {
        assert_eq!(accept(1).buffered(), 1);
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
