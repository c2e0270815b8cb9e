//! iSLIP over whole packets, and the heads that wait for room behind an output.

use super::queues::{PacketEntry, Pair};
use super::{Card, Voq};
use crate::bits::bits;

/// The first bit of `bits` from `from` on, round the end.
#[inline(always)]
pub(super) fn first_from(bits: u64, from: u16) -> u32 {
    let later = bits & u64::MAX.checked_shl(from.into()).unwrap_or(0);
    if later != 0 { later.trailing_zeros() } else { bits.trailing_zeros() }
}

impl Voq {
    /// True if the packet fits behind its output.
    #[inline]
    pub(super) fn fits(&self, port: usize, lane: u8, size: u32) -> bool {
        // The port may be what a routing asks for.
        let taken = *self.taken.checked((port << self.log) + usize::from(lane));
        self.policy.fits(taken, self.ports.checked(port).shared, size)
    }

    /// The VC of input `input` whose queue for `output` may send its head now. Heads without room are taken off.
    #[inline]
    pub(super) fn eligible(&mut self, card: usize, input: u32, output: u32) -> Option<u8> {
        let first_port = self.cards[card].first_port;
        let port = (first_port + output) as usize;
        let Pair { asking, turn, .. } = *self.pair(card, input, output);
        let mut left = asking;
        while left != 0 {
            let lane = first_from(left, turn.into());
            left &= !(1 << lane);
            let queue = self.queue_of(((first_port + input) << self.log) + lane, output);
            let first = self.queues[queue as usize].first;
            let PacketEntry { head, vc, adaptive, .. } = *self.packets.at(first);
            if self.fits(port, vc, head.size()) {
                return Some(lane as u8);
            }
            let least = &mut self.least[(port << self.log) + usize::from(vc)];
            *least = if *least == 0 { head.size() as u16 } else { (*least).min(head.size() as u16) };
            self.withdraw(queue);
            self.pair(card, input, output).waiting |= 1 << lane;
            self.ports[port].waiting |= 1 << input;
            if adaptive {
                self.blocked.push(queue);
            }
        }
        None
    }

    /// Room has been made behind an output: the heads that wait for it ask again.
    #[inline]
    pub(super) fn relieve(&mut self, port: usize) {
        let card = self.card_of[port] as usize;
        let (first_port, log) = (self.cards[card].first_port, self.log);
        let output = port as u32 - first_port;
        (port << log..(port + 1) << log).for_each(|vc| self.least[vc] = 0);
        for input in bits(std::mem::take(&mut self.ports[port].waiting)) {
            let waiting = std::mem::take(&mut self.pair(card, input, output).waiting);
            for lane in bits(waiting) {
                self.ask(self.queue_of(((first_port + input) << log) + lane, output));
            }
        }
    }

    /// iSLIP (McKeown, 1999): free outputs grant, free inputs accept, both round robin from their pointers on, which move
    /// past what was accepted in the first iteration only.
    pub(super) fn arbitrate(&mut self, card: usize, now: u32) {
        for iteration in 0..self.iterations {
            let Card { first_port, free_inputs, free_outputs, wanted, .. } = self.cards[card];
            let mut granted = 0u64;
            for output in bits(wanted & free_outputs) {
                let port = self.ports[(first_port + output) as usize];
                let mut inputs = port.asking & free_inputs;
                while inputs != 0 {
                    let input = first_from(inputs, port.grant);
                    inputs &= !(1 << input);
                    if let Some(lane) = self.eligible(card, input, output) {
                        self.grants[output as usize] = lane;
                        self.offers[input as usize] |= 1 << output;
                        granted |= 1 << input;
                        break;
                    }
                }
            }
            if granted == 0 {
                return;
            }
            for input in bits(granted) {
                let offers = std::mem::take(&mut self.offers[input as usize]);
                let output = first_from(offers, self.ports[(first_port + input) as usize].accept);
                if iteration == 0 {
                    self.ports[(first_port + input) as usize].accept = output as u16 + 1;
                    self.ports[(first_port + output) as usize].grant = input as u16 + 1;
                }
                self.connect(card, input, output, now);
            }
        }
    }

    /// The packet that `output` granted to `input` goes through: its slots behind the output are taken.
    #[inline]
    pub(super) fn connect(&mut self, card: usize, input: u32, output: u32, now: u32) {
        let lane = self.grants[output as usize];
        let first_port = self.cards[card].first_port;
        let queue = self.queue_of(((first_port + input) << self.log) + u32::from(lane), output);
        let packet = self.detach(queue);
        if !self.is_ready(queue, now) {
            self.withdraw(queue);
        }
        self.pair(card, input, output).turn = lane + 1;
        let PacketEntry { head, vc, .. } = *self.packets.at(packet);
        let port = (first_port + output) as usize;
        let taken = &mut self.taken[(port << self.log) + usize::from(vc)];
        let before = u32::from(*taken);
        *taken += head.size() as u16;
        self.ports[port].shared += self.policy.shared(before + head.size()) - self.policy.shared(before);
        let own = &mut self.ports[(first_port + input) as usize];
        (own.packet, own.output) = (packet, output as u16);
        self.cards[card].free_inputs &= !(1 << input);
        self.cards[card].free_outputs &= !(1 << output);
    }
}
