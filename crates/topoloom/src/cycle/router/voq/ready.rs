//! Packets whose stages are behind them.

use super::Voq;
use super::allocator::Grant;
use crate::cycle::channels::Channels;
use crate::cycle::flit::NIL;

/// How many packets ahead memory is asked for.
const AHEAD: usize = 8;

/// A packet becomes ready: its position, its cells, and its card with the input, the output and the VCs of both there. Where
/// it goes through at once its head, which is most often far, is not looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadyPacket {
    pub(super) place: u32,
    pub(super) card: u32,
    pub(super) size: u16,
    pub(super) input: u8,
    pub(super) output: u8,
    pub(super) lane: u8,
    pub(super) behind: u8,
}

/// The outputs of the packets of a card that become ready in a cycle, a bit each, and those that several of them need. Of an
/// input there is one packet at most: heads come one after the other, and all are ready equally long after.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
pub(super) struct Contention {
    outputs: u64,
    contended: u64,
    cycle: u32,
}

impl Contention {
    /// That of no packet.
    pub(super) const NONE: Self = Self { outputs: 0, contended: 0, cycle: u32::MAX };
}

impl Voq {
    /// Packets have their stages behind them. One whose input and output nothing else of its card wants goes through: iSLIP
    /// would grant it. Others join their queues, whose heads ask.
    #[inline(always)]
    pub(super) fn become_ready(&mut self, now: u32, channels: &mut Channels) {
        let events = self.stages.take(now);
        for event in &events {
            let of_card = &mut self.contention[event.card as usize];
            // All bits if those before are of this cycle, else none. A branch would often be mispredicted.
            let counts = ((i64::from(of_card.cycle ^ now) - 1) >> 63) as u64;
            let (outputs, output) = (of_card.outputs & counts, 1 << event.output);
            of_card.contended = of_card.contended & counts | outputs & output;
            (of_card.outputs, of_card.cycle) = (outputs | output, now);
        }
        for (number, &event) in events.iter().enumerate() {
            if let Some(next) = events.get(number + AHEAD) {
                self.expect(next, channels);
            }
            self.become_ready_one(event, now, channels);
        }
        self.stages.recycle(events);
    }

    /// One of them has.
    #[inline(always)]
    fn become_ready_one(&mut self, event: ReadyPacket, now: u32, channels: &mut Channels) {
        let ReadyPacket { place, card: number, size, input, output, lane, behind } = event;
        let (card, of_card) = (&self.cards[number as usize], &self.contention[number as usize]);
        let taken =
            (card.busy_inputs | card.asking) >> input | (card.busy_outputs | card.wanted | of_card.contended) >> output;
        let (input, output, lane) = (u32::from(input), u32::from(output), u32::from(lane));
        let (from, to) = (card.first_port + input, card.first_port + output);
        let (card, pair) = (number as usize, to << self.width | input);
        if self.ports[to as usize].waiting >> input & 1 == 1 && self.pairs[pair as usize].waiting >> lane & 1 == 1 {
            // The head of its queue has no room.
            self.append(self.queue_of(pair, lane), place);
            return;
        }
        if taken & 1 == 1 {
            // What is not the first of its queue has one before it that asks: to ask again changes nothing.
            self.append(self.queue_of(pair, lane), place);
            return self.ask(card, pair, lane);
        }
        debug_assert_eq!(
            self.last(self.queue_of(pair, lane)),
            NIL,
            "the head of a queue asks, and its input is taken, or it waits"
        );
        let room = self.room_of(to, behind, size.into());
        if !self.has_room(to, &room) {
            let queue = self.queue_of(pair, lane);
            self.append(queue, place);
            return self.wait(card, queue, place);
        }
        self.ports[from as usize].accepted = output as u8;
        self.ports[to as usize].granted = input as u8;
        self.go_through(card, Grant { place, lane, input, output }, &room, now, channels);
    }

    /// Asks for the memory that a packet needs when it becomes ready.
    #[inline(always)]
    fn expect(&self, event: &ReadyPacket, channels: &Channels) {
        let first_port = self.cards[event.card as usize].first_port;
        let (from, to) = (first_port + u32::from(event.input), first_port + u32::from(event.output));
        self.pool.prefetch(event.place);
        self.slots.prefetch((to << self.log) as usize);
        self.pairs.prefetch((to << self.width | u32::from(event.input)) as usize);
        self.ports.prefetch(from as usize);
        self.ports.prefetch(to as usize);
        channels.ends.prefetch(from as usize);
        channels.ends.prefetch(to as usize);
    }
}
