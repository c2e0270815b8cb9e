//! iSLIP over whole packets, and the heads that wait for room behind an output.

use super::queues::{Pair, lane_behind};
use super::traffic_classes::ADAPTIVE;
use super::{Card, PORTS, Voq};
use crate::bits::bits;
use crate::cycle::channels::Channels;
use crate::network::PortId;

/// What an output grants to an input, both counted within the card: the head of a queue, at a position of the pool, and its
/// VC among those of the input.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Grant {
    pub(super) place: u32,
    pub(super) lane: u32,
    pub(super) input: u32,
    pub(super) output: u32,
}

/// The first bit of `bits` behind the one `last`, round the end.
#[inline(always)]
fn first_behind(bits: u64, last: u8) -> u32 {
    let preferred = bits & u64::MAX << last << 1;
    (if preferred != 0 { preferred } else { bits }).trailing_zeros()
}

/// How many bits are between the one `last` and `bit`, which is behind it, round the end: what comes first has the fewest.
#[inline(always)]
fn between(last: u8, bit: u32) -> u16 {
    (bit.wrapping_sub(u32::from(last) + 1) % PORTS as u32) as u16
}

/// What a round robin has had last before it has had any: the last of all.
pub(super) const LAST: u8 = PORTS as u8 - 1;

/// A card while it is arbitrated: what is read of it, and what packets of one cell take for this cycle alone.
struct Arbitration {
    card: usize,
    first_port: u32,
    free_inputs: u64,
    free_outputs: u64,
}

/// The room that a head needs behind its output: which slots, of which VC there, and how many.
pub(super) struct Room {
    slots: usize,
    lane: u8,
    size: u32,
}

impl Voq {
    /// What the head at `place` needs behind output `port`.
    #[inline(always)]
    pub(super) fn room(&self, port: u32, place: u32) -> Room {
        let head = self.pool.get(place);
        self.room_of(port, lane_behind(head), head.size())
    }

    /// What `size` cells need in VC `lane` behind output `port`.
    #[inline(always)]
    pub(super) fn room_of(&self, port: u32, lane: u8, size: u32) -> Room {
        Room { slots: ((port << self.log) + u32::from(lane)) as usize, lane, size }
    }

    /// True if there is that.
    #[inline(always)]
    pub(super) fn has_room(&self, port: u32, room: &Room) -> bool {
        let taken = self.slots[room.slots].taken;
        match self.policy.pool {
            // The largest packet fits into an empty buffer.
            0 => u32::from(taken) + room.size <= self.policy.reserve.into(),
            _ => self.policy.fits(taken, self.ports[port as usize].shared, room.size),
        }
    }

    /// Takes that.
    #[inline(always)]
    fn take(&mut self, port: u32, room: &Room) {
        let taken = &mut self.slots[room.slots].taken;
        let before = u32::from(*taken);
        *taken += room.size as u16;
        if self.policy.pool > 0 {
            self.ports[port as usize].shared += self.policy.shared(before + room.size) - self.policy.shared(before);
        }
    }

    /// The packet that is granted to an input goes through: its slots behind the output are taken. A single cell is sent.
    #[inline(always)]
    pub(super) fn go_through(&mut self, card: usize, grant: Grant, room: &Room, now: u32, channels: &mut Channels) {
        let Grant { place, lane, input, output, .. } = grant;
        let first_port = self.cards[card].first_port;
        let (from, to) = (first_port + input, first_port + output);
        let pair = to << self.width | input;
        self.pairs[pair as usize].turn = lane as u8;
        self.take(to, room);
        if room.size == 1 {
            channels.send_flit(PortId(to), room.lane.into(), now + self.crossbar_delay, place);
            channels.send_credit(PortId(from), lane, now);
            return;
        }
        self.occupy(card, grant);
    }

    /// A packet of several cells goes through from this cycle on.
    #[inline(always)]
    fn occupy(&mut self, card: usize, Grant { place, lane, input, output, .. }: Grant) {
        let state = &mut self.cards[card];
        state.busy_inputs |= 1 << input;
        state.busy_outputs |= 1 << output;
        let from = state.first_port + input;
        let own = &mut self.ports[from as usize];
        (own.packet, own.vc, own.output, own.sent) = (place, (from << self.log) + lane, output as u16, 0);
        self.activate(card);
    }

    /// True if the packet fits behind its output.
    #[inline]
    pub(super) fn fits(&self, port: usize, lane: u8, size: u32) -> bool {
        // The port may be what a routing asks for.
        let taken = self.slots.checked((port << self.log) + usize::from(lane)).taken;
        self.policy.fits(taken, self.ports.checked(port).shared, size)
    }

    /// The head that is next for `output`, of a free input: there may be no room for it.
    #[inline(always)]
    fn candidate(&self, at: &Arbitration, output: u32) -> Option<Grant> {
        let port = &self.ports[(at.first_port + output) as usize];
        let inputs = port.asking & at.free_inputs;
        if inputs == 0 {
            return None;
        }
        let input = first_behind(inputs, port.granted);
        let pair = (at.first_port + output) << self.width | input;
        let Pair { asking, turn, .. } = self.pairs[pair as usize];
        let lane = first_behind(asking, turn);
        Some(Grant { place: self.first(self.queue_of(pair, lane)), lane, input, output })
    }

    /// The same with room, from a `grant` on that is a candidate. Heads without room are taken off.
    #[inline(always)]
    fn eligible(&mut self, at: &Arbitration, mut grant: Grant) -> Option<Grant> {
        let port = at.first_port + grant.output;
        while !self.has_room(port, &self.room(port, grant.place)) {
            self.wait(at.card, self.queue_of(port << self.width | grant.input, grant.lane), grant.place);
            grant = self.candidate(at, grant.output)?;
        }
        Some(grant)
    }

    /// The head of a queue, at `place`, has no room behind its output.
    #[inline(never)]
    pub(super) fn wait(&mut self, card: usize, queue: u32, place: u32) {
        let (pair, lane) = self.place_of(queue);
        let (port, input) = (pair >> self.width, pair & ((1 << self.width) - 1));
        let head = self.pool.get(place);
        let size = head.size() as u16;
        let least = &mut self.slots[((port << self.log) + u32::from(lane_behind(head))) as usize].least;
        *least = if *least == 0 { size } else { (*least).min(size) };
        if head.class & ADAPTIVE != 0 {
            self.blocked.push(queue);
        }
        self.withdraw(card, pair, lane);
        self.pairs[pair as usize].waiting |= 1 << lane;
        self.ports[port as usize].waiting |= 1 << input;
    }

    /// A slot of VC `vc` behind an output has been given back: heads that wait there ask again if it is enough for one.
    #[inline(never)]
    pub(super) fn relieve_if_enough(&mut self, vc: u32, port: usize) {
        if self.ports[port].waiting == 0 {
            return;
        }
        let enough = |vc: u32| {
            let least = self.slots[vc as usize].least;
            least > 0 && self.fits(port, self.lane(vc) as u8, least.into())
        };
        // A place that VCs share serves any of them.
        let first = vc >> self.log << self.log;
        if enough(vc) || (self.policy.pool > 0 && (first..first + (1 << self.log)).any(enough)) {
            self.relieve(port);
        }
    }

    /// Room has been made behind an output: the heads that wait for it ask again.
    #[inline]
    fn relieve(&mut self, port: usize) {
        let card = self.card_of[port] as usize;
        let log = self.log;
        (port << log..(port + 1) << log).for_each(|vc| self.slots[vc].least = 0);
        for input in bits(std::mem::take(&mut self.ports[port].waiting)) {
            let pair = (port as u32) << self.width | input;
            for lane in bits(std::mem::take(&mut self.pairs[pair as usize].waiting)) {
                self.ask(card, pair, lane);
            }
        }
    }

    /// iSLIP (McKeown, 1999): free outputs grant, free inputs accept, both round robin from their pointers on, which move
    /// past what was accepted in the first iteration only.
    #[inline(always)]
    pub(super) fn arbitrate(&mut self, card: usize, now: u32, channels: &mut Channels) {
        let Card { first_port, busy_inputs, busy_outputs, .. } = self.cards[card];
        let mut at = Arbitration { card, first_port, free_inputs: !busy_inputs, free_outputs: !busy_outputs };
        for iteration in 0..self.iterations {
            let accepted = self.grant(&at);
            if accepted == 0 {
                return;
            }
            for input in bits(accepted) {
                let number = usize::from(self.accepted[input as usize % PORTS]);
                let grant = self.candidates[number % PORTS];
                if iteration == 0 {
                    self.ports[(first_port + input) as usize].accepted = grant.output as u8;
                    self.ports[(first_port + grant.output) as usize].granted = input as u8;
                }
                self.connect(&mut at, grant, now, channels);
            }
        }
    }

    /// Every free output grants to a free input, and these accept the one that they prefer; returns the inputs, a bit each.
    #[inline(always)]
    fn grant(&mut self, at: &Arbitration) -> u64 {
        // First what leads to their heads, for all outputs: the memory of one is waited for while that of others comes.
        let mut count = 0;
        for output in bits(self.cards[at.card].wanted & at.free_outputs) {
            if let Some(candidate) = self.candidate(at, output) {
                self.candidates[count % PORTS] = candidate;
                count += 1;
            }
        }
        let mut inputs = 0u64;
        for number in 0..count {
            let Some(grant) = self.eligible(at, self.candidates[number % PORTS]) else { continue };
            self.candidates[number % PORTS] = grant;
            let input = grant.input;
            let turn = between(self.ports[(at.first_port + input) as usize].accepted, grant.output) * PORTS as u16;
            // Without a branch on whether another output grants to it as well, which is often mispredicted.
            let accepted = &mut self.accepted[input as usize % PORTS];
            let others = *accepted | ((inputs >> input & 1) as u16).wrapping_sub(1);
            *accepted = others.min(turn | number as u16);
            inputs |= 1 << input;
        }
        inputs
    }

    /// What an input accepts leaves its queue.
    #[inline(always)]
    fn connect(&mut self, at: &mut Arbitration, grant: Grant, now: u32, channels: &mut Channels) {
        let Grant { place, lane, input, output } = grant;
        let to = at.first_port + output;
        let pair = to << self.width | input;
        let gone = self.detach(self.queue_of(pair, lane), place);
        self.withdraw_if(gone, at.card, pair, lane);
        at.free_inputs &= !(1 << input);
        at.free_outputs &= !(1 << output);
        self.go_through(at.card, grant, &self.room(to, place), now, channels);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_one_behind_another_is_found_round_the_end() {
        for bits in [1u64, 0b1010, 1 << 63, 1 << 63 | 1, 0b111 << 30, u64::MAX] {
            for last in 0..64u8 {
                let turns = (1..=64).map(|turn| (u32::from(last) + turn) % 64);
                assert_eq!(Some(first_behind(bits, last)), turns.into_iter().find(|bit| bits >> bit & 1 == 1));
            }
        }
        assert_eq!(first_behind(0b1100, LAST), 2);
    }

    #[test]
    fn fewest_bits_are_between_another_and_the_first_one_behind_it() {
        for bits in [1u64, 0b1010, 1 << 63, 1 << 63 | 1, 0b111 << 30, u64::MAX] {
            for last in 0..64u8 {
                let nearest = crate::bits::bits(bits).min_by_key(|&bit| between(last, bit));
                assert_eq!(nearest, Some(first_behind(bits, last)));
            }
        }
        assert_eq!((between(3, 4), between(63, 0), between(5, 5)), (0, 0, 63));
    }
}
