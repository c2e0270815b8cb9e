//! Switch allocation: which flits cross to their outputs in a step.

use std::ops::Range;

use super::matching::{Pairing, wavefront};
use super::options::Allocator;
use super::timing::after;
use super::{GENERAL, InputQueuedRouters, NONE};
use crate::cycle::channels::Channels;
use crate::network::PortId;

/// An input VC that holds an output VC and asks for the switch.
#[derive(Debug, Clone, Copy)]
pub(super) struct SwitchRequest {
    pub(super) input: u16,
    pub(super) output: u16,
}

impl<const LOG: u32, const KIND: u8> InputQueuedRouters<LOG, KIND> {
    /// Input VC `input` (router numbering), which holds `output`, asks for the switch.
    #[inline(always)]
    pub(super) fn ask_switch(&mut self, router: usize, input: u16, output: u16) {
        let state = &mut self.routers[router];
        let place = (state.first_port << LOG) as usize + state.asking_switch as usize;
        state.asking_switch += 1;
        self.switch_requests[place] = SwitchRequest { input, output };
    }

    /// Takes the requests for the switch that are marked off the list.
    #[inline(always)]
    pub(super) fn drop_switch_requests(&mut self, router: usize) {
        let state = &mut self.routers[router];
        let base = (state.first_port << LOG) as usize;
        let mut kept = base;
        for place in base..base + state.asking_switch as usize {
            let request = self.switch_requests[place];
            self.switch_requests[kept] = request;
            kept += usize::from(request.input != NONE);
        }
        state.asking_switch = (kept - base) as u16;
    }

    /// Switch allocation over the first `asking` requests of a router; winners leave at `departure` or later.
    #[inline(always)]
    pub(super) fn allocate_switch(
        &mut self,
        router: usize,
        asking: usize,
        now: u32,
        departure: u32,
        step: u32,
        channels: &mut Channels,
    ) {
        if asking == 0 {
            return;
        }
        let base = (self.routers[router].first_port << LOG) as usize;
        let mut dropped = false;
        if asking == 1 && self.allocator() != Allocator::Wavefront {
            if self.eligible(router, base, step, &mut dropped).is_some() {
                dropped |= self.grant_switch(router, base, true, now, departure, step, channels);
            }
        } else {
            for iteration in 0..self.iterations() {
                dropped |= match self.allocator() {
                    Allocator::SeparableInputFirst => self.switch_input_first(router, base..base + asking, step),
                    Allocator::Islip => self.switch_islip(router, base..base + asking, step),
                    Allocator::Wavefront => self.switch_wavefront(router, base..base + asking, step),
                };
                let move_pointers = iteration == 0 || self.allocator() == Allocator::SeparableInputFirst;
                for i in 0..std::mem::take(&mut self.by_output.len) {
                    let (_, place) = self.by_output.take(i);
                    dropped |= self.grant_switch(router, place, move_pointers, now, departure, step, channels);
                }
            }
        }
        self.granted.clear();
        if dropped {
            self.drop_switch_requests(router);
        }
    }

    /// True if a request can be served in this step; one without a credit is taken off the list until a credit comes.
    #[inline(always)]
    pub(super) fn eligible(
        &mut self,
        router: usize,
        place: usize,
        step: u32,
        parked: &mut bool,
    ) -> Option<SwitchRequest> {
        let request = self.switch_requests[place];
        if self.iterations() > 1 && request.input == NONE {
            return None;
        }
        let vc_base = (self.routers[router].first_port << LOG) as usize;
        if self.delayed() && self.inputs[vc_base + request.input as usize].ready > step {
            return None;
        }
        let limit = self.limit();
        let output = &mut self.outputs[vc_base + request.output as usize];
        let out_port = self.routers[router].first_port as usize + Self::port(request.output) as usize;
        if u32::from(output.occupancy) >= limit && (KIND != GENERAL || self.ports[out_port].shared >= self.policy.pool)
        {
            output.starved = true;
            self.switch_requests[place].input = NONE;
            *parked = true;
            return None;
        }
        if self.iterations() > 1 {
            let taken = |port: u16| self.granted.contains(&port);
            if taken(Self::port(request.input) << 1) || taken(Self::port(request.output) << 1 | 1) {
                return None;
            }
        }
        Some(request)
    }

    /// Inputs choose, then outputs. Leaves the winners in `by_output`; returns whether any request was marked to be
    /// taken off the list.
    #[inline(always)]
    pub(super) fn switch_input_first(&mut self, router: usize, asking: Range<usize>, step: u32) -> bool {
        let port_base = self.routers[router].first_port as usize;
        let mut parked = false;
        // As long as no input has asked twice, inputs have nothing to choose: requests go straight to their outputs.
        let mut asked = 0u64;
        for place in asking.clone() {
            let Some(request) = self.eligible(router, place, step, &mut parked) else { continue };
            let input = Self::port(request.input);
            let bit = 1u64.checked_shl(input.into()).unwrap_or(0);
            if bit == 0 || asked & bit != 0 {
                for i in 0..std::mem::take(&mut self.by_output.len) {
                    self.by_output.take(i);
                }
                self.inputs_choose(router, asking, step, &mut parked);
                return parked;
            }
            asked |= bit;
            let output = Self::port(request.output);
            let pointer = self.ports[port_base + output as usize].output;
            let rank = self.rank(port_base << LOG, request.input);
            self.by_output.offer(output, rank, u32::from(input.wrapping_sub(pointer)), place);
        }
        parked
    }

    /// The general case of [`InputQueuedRouters::switch_input_first`].
    #[inline(never)]
    pub(super) fn inputs_choose(&mut self, router: usize, asking: Range<usize>, step: u32, parked: &mut bool) {
        let port_base = self.routers[router].first_port as usize;
        for place in asking {
            if self.switch_requests[place].input == NONE {
                continue;
            }
            let Some(request) = self.eligible(router, place, step, parked) else { continue };
            let port = Self::port(request.input);
            let arbiters = &self.ports[port_base + port as usize];
            let output = u32::from(Self::port(request.output).wrapping_sub(arbiters.input));
            let vc = (Self::vc(request.input).wrapping_sub(u32::from(arbiters.offset))) & 0xFF;
            let rank = self.rank(port_base << LOG, request.input);
            self.by_input.offer(port, rank, output << 8 | vc, place);
        }
        for i in 0..std::mem::take(&mut self.by_input.len) {
            let (input, place) = self.by_input.take(i);
            let request = self.switch_requests[place];
            let output = Self::port(request.output);
            let pointer = self.ports[port_base + output as usize].output;
            let rank = self.rank(port_base << LOG, request.input);
            self.by_output.offer(output, rank, u32::from(input.wrapping_sub(pointer)), place);
        }
    }

    /// Outputs grant, then inputs accept. As [`InputQueuedRouters::switch_input_first`]; the winners stand by input in `by_output`.
    pub(super) fn switch_islip(&mut self, router: usize, asking: Range<usize>, step: u32) -> bool {
        let port_base = self.routers[router].first_port as usize;
        let mut parked = false;
        for place in asking {
            let Some(request) = self.eligible(router, place, step, &mut parked) else { continue };
            let (input, output) = (Self::port(request.input), Self::port(request.output));
            let key = u32::from(input.wrapping_sub(self.ports[port_base + output as usize].output));
            let offset = self.ports[port_base + input as usize].offset;
            let vc = (Self::vc(request.input).wrapping_sub(u32::from(offset))) & 0xFF;
            let rank = self.rank(port_base << LOG, request.input);
            self.by_input.offer(output, rank, key << 8 | vc, place);
        }
        for i in 0..std::mem::take(&mut self.by_input.len) {
            let (output, place) = self.by_input.take(i);
            let request = self.switch_requests[place];
            let input = Self::port(request.input);
            let pointer = self.ports[port_base + input as usize].input;
            let rank = self.rank(port_base << LOG, request.input);
            self.by_output.offer(input, rank, u32::from(output.wrapping_sub(pointer)), place);
        }
        parked
    }

    /// Wavefront over inputs and outputs. As [`InputQueuedRouters::switch_input_first`].
    pub(super) fn switch_wavefront(&mut self, router: usize, asking: Range<usize>, step: u32) -> bool {
        let port_base = self.routers[router].first_port as usize;
        let (square, first) = (self.radix(router), self.diagonals[router].switch);
        let mut requests = std::mem::take(&mut self.requests);
        let mut parked = false;
        for place in asking {
            let Some(request) = self.eligible(router, place, step, &mut parked) else { continue };
            let (input, output) = (Self::port(request.input), Self::port(request.output));
            let offset = self.ports[port_base + input as usize].offset;
            let turn = (Self::vc(request.input).wrapping_sub(u32::from(offset))) & 0xFF;
            let diagonal = (u32::from(input) + u32::from(output) + square - first) % square;
            let rank = self.rank(port_base << LOG, request.input).unwrap_or(0);
            requests.push(Pairing { rank, diagonal, output, input, turn, place });
        }
        if !requests.is_empty() {
            self.diagonals[router].switch = (first + 1) % square;
        }
        wavefront(&mut requests);
        for request in requests.drain(..) {
            self.by_output.offer(request.output, None, 0, request.place);
        }
        self.requests = requests;
        parked
    }

    /// The request at `place` has won the switch: its flit leaves. Returns true if the request is done.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    pub(super) fn grant_switch(
        &mut self,
        router: usize,
        place: usize,
        move_pointers: bool,
        now: u32,
        departure: u32,
        step: u32,
        channels: &mut Channels,
    ) -> bool {
        let first_port = self.routers[router].first_port;
        let request = self.switch_requests[place];
        let (input, output) = (Self::port(request.input), Self::port(request.output));
        let vc_base = first_port << LOG;
        let (in_port, out_port) = (first_port + u32::from(input), first_port + u32::from(output));
        let arbiters = &mut self.ports[in_port as usize];
        arbiters.offset = Self::vc(request.input) as u16 + 1;
        if move_pointers {
            arbiters.input = output + 1;
            self.ports[out_port as usize].output = input + 1;
        }
        if self.iterations() > 1 {
            self.granted.extend([input << 1, output << 1 | 1]);
        }
        self.grants += 1;
        let index = (vc_base + u32::from(request.input)) as usize;
        let flit = self.pop(index);
        let out_index = vc_base + u32::from(request.output);
        if !self.cut_through() {
            let output = &mut self.outputs[out_index as usize];
            output.occupancy += 1;
            if KIND == GENERAL && output.occupancy > self.policy.reserve {
                self.ports[out_port as usize].shared += 1;
            }
        }
        channels.send_flit(PortId(out_port), out_index, Self::vc(request.output), departure, flit);
        channels.send_credit(PortId(in_port), Self::vc(request.input), now);
        let empty = self.inputs[index].flits == 0;
        if flit.is_tail() {
            self.inputs[index].output = NONE;
            self.outputs[out_index as usize].owner = NONE;
            self.ports[out_port as usize].free |= 1 << Self::vc(request.output);
            self.freed(router, out_port as usize);
            if !empty {
                self.ask_vc(router as u32, index, step + 1);
            }
        } else if !empty {
            if self.delayed() {
                self.inputs[index].ready = after(self.speedup, step + 1, self.delays.sw_alloc);
            }
            return false;
        }
        self.switch_requests[place].input = NONE;
        true
    }
}
