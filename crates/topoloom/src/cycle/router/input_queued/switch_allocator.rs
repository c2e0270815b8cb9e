//! Switch allocation: which flits cross to their outputs in a step.

use std::ops::Range;

use super::matching::{Pairing, turn, wavefront};
use super::options::Allocator;
use super::timing::after;
use super::{InputQueuedRouters, NONE};
use crate::cycle::channels::Channels;
use crate::network::PortId;

/// When a step of a router is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tick {
    /// The cycle.
    pub(super) now: u32,
    /// The first cycle in which what is granted can leave.
    pub(super) departure: u32,
    /// The internal step.
    pub(super) step: u32,
}

/// An input VC that holds an output VC and asks for the switch.
#[derive(Debug, Clone, Copy)]
pub(super) struct SwitchRequest {
    pub(super) input: u16,
    pub(super) output: u16,
}

impl<const LOG: u32, const KIND: u8> InputQueuedRouters<LOG, KIND> {
    /// Input VC `input`, which holds `output`, asks for the switch, both in the numbering of the batch whose first router is
    /// `lead`.
    #[inline(always)]
    pub(super) fn ask_switch(&mut self, lead: usize, input: u16, output: u16) {
        let state = &mut self.routers[lead];
        let place = (state.first_port << LOG) as usize + state.asking_switch as usize;
        state.asking_switch += 1;
        self.switch_requests[place] = SwitchRequest { input, output };
    }

    /// Switch allocation over the first `asking` requests of a router.
    #[inline(always)]
    pub(super) fn allocate_switch(&mut self, router: usize, mut asking: usize, tick: Tick, channels: &mut Channels) {
        let base = (self.routers[router].first_port << LOG) as usize;
        if self.iterations() > 1 {
            self.granted.clear();
        }
        if asking == 1 && self.allocator() != Allocator::Wavefront {
            if self.eligible(base, base, tick.step).is_some() {
                let request = self.switch_requests[base];
                if !self.grant_switch(router, base, request, true, tick, channels) {
                    return;
                }
            } else if self.switch_requests[base].input != NONE {
                return;
            }
            let left = self.routers[router].asking_switch - 1;
            self.routers[router].asking_switch = left;
            self.switch_requests[base] = self.switch_requests[base + left as usize];
            return;
        }
        for iteration in 0..self.iterations {
            let requests = base..base + asking;
            match self.allocator {
                Allocator::SeparableInputFirst => self.switch_input_first(base, requests, tick.step),
                Allocator::Islip => self.switch_islip(base, requests, tick.step),
                Allocator::Wavefront => self.switch_wavefront(router, requests, tick.step),
            }
            let move_pointers = iteration == 0 || self.allocator == Allocator::SeparableInputFirst;
            asking = self.serve(router, base, asking, move_pointers, tick, channels);
        }
    }

    /// Grants the switch to the winners among the first `asking` requests of a router, and takes those off the list that
    /// are done or parked. The order of the list decides nothing, but those behind the first ask in the next step: they stay
    /// behind. Returns how many of the first are left.
    #[inline(always)]
    fn serve(
        &mut self,
        router: usize,
        base: usize,
        asking: usize,
        move_pointers: bool,
        tick: Tick,
        channels: &mut Channels,
    ) -> usize {
        let (mut left, mut all) = (asking, self.routers[router].asking_switch as usize);
        let mut place = base + asking;
        while place > base {
            place -= 1;
            let request = self.switch_requests[place];
            let done = if self.by_output.wins(Self::port(request.output), place) {
                self.grant_switch(router, base, request, move_pointers, tick, channels)
            } else {
                request.input == NONE
            };
            if done {
                (left, all) = (left - 1, all - 1);
                self.switch_requests[place] = self.switch_requests[base + left];
                self.switch_requests[base + left] = self.switch_requests[base + all];
            }
        }
        self.routers[router].asking_switch = all as u16;
        left
    }

    /// The request at `place`, if it can be served in this step; one without a credit is marked to be taken off the list
    /// until a credit comes.
    #[inline(always)]
    fn eligible(&mut self, vc_base: usize, place: usize, step: u32) -> Option<SwitchRequest> {
        let request = self.switch_requests[place];
        // Without a delay of this stage, all that ask are ready.
        if self.delayed() && self.delays.sw_alloc > 0 && self.ready[vc_base + request.input as usize] > step {
            return None;
        }
        let limit = self.limit();
        let output = vc_base + request.output as usize;
        if u32::from(self.outputs[output].occupancy) >= limit
            && self.shared[(vc_base >> LOG) + Self::port(request.output) as usize] >= self.policy.pool
        {
            self.starved[output] = true;
            self.switch_requests[place].input = NONE;
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

    /// Inputs choose, then outputs. Leaves the winners in `by_output`, and marks the requests to be taken off the list.
    #[inline(always)]
    fn switch_input_first(&mut self, vc_base: usize, asking: Range<usize>, step: u32) {
        // As long as no input has asked twice, inputs have nothing to choose: requests go straight to their outputs.
        let mut asked = 0u64;
        for place in asking.clone() {
            let Some(request) = self.eligible(vc_base, place, step) else { continue };
            let input = Self::port(request.input);
            let bit = 1u64.checked_shl(input.into()).unwrap_or(0);
            if bit == 0 || asked & bit != 0 {
                for earlier in asking.start..place {
                    self.by_output.clear(Self::port(self.switch_requests[earlier].output));
                }
                return self.inputs_choose(vc_base, asking, step);
            }
            asked |= bit;
            self.offer_to_output(vc_base, request, place);
        }
    }

    /// Offers a request to its output, which takes the first input behind the last one that it took.
    #[inline(always)]
    fn offer_to_output(&mut self, vc_base: usize, request: SwitchRequest, place: usize) {
        let (input, output) = (Self::port(request.input), Self::port(request.output));
        let last = self.ports[(vc_base >> LOG) + output as usize].last_input;
        let rank = self.rank(vc_base, request.input);
        self.by_output.offer(output, rank, u32::from(turn(input, last)), place);
        if self.deep {
            self.inputs[vc_base + request.input as usize].expect_second::<KIND>(&self.pool);
        }
    }

    /// The general case of [`InputQueuedRouters::switch_input_first`].
    #[inline(never)]
    fn inputs_choose(&mut self, vc_base: usize, asking: Range<usize>, step: u32) {
        for place in asking.clone() {
            if self.switch_requests[place].input == NONE {
                continue;
            }
            let Some(request) = self.eligible(vc_base, place, step) else { continue };
            let port = Self::port(request.input);
            let arbiters = &self.ports[(vc_base >> LOG) + port as usize];
            let output = u32::from(turn(Self::port(request.output), arbiters.last_output));
            let vc = u32::from(turn(Self::vc(request.input) as u16, arbiters.last_vc)) & 0xFF;
            let rank = self.rank(vc_base, request.input);
            self.by_input.offer(port, rank, output << 8 | vc, place);
        }
        for place in asking {
            let request = self.switch_requests[place];
            if request.input != NONE && self.by_input.wins(Self::port(request.input), place) {
                self.offer_to_output(vc_base, request, place);
            }
        }
    }

    /// Outputs grant, then inputs accept. As [`InputQueuedRouters::switch_input_first`].
    fn switch_islip(&mut self, vc_base: usize, asking: Range<usize>, step: u32) {
        let port_base = vc_base >> LOG;
        for place in asking {
            let Some(request) = self.eligible(vc_base, place, step) else { continue };
            let (input, output) = (Self::port(request.input), Self::port(request.output));
            let key = u32::from(turn(input, self.ports[port_base + output as usize].last_input));
            let last = self.ports[port_base + input as usize].last_vc;
            let vc = u32::from(turn(Self::vc(request.input) as u16, last)) & 0xFF;
            let rank = self.rank(vc_base, request.input);
            self.by_output.offer_noted(output, rank, key << 8 | vc, place);
        }
        for i in 0..std::mem::take(&mut self.by_output.len) {
            let (output, place) = self.by_output.take(i);
            let request = self.switch_requests[place];
            let input = Self::port(request.input);
            let last = self.ports[port_base + input as usize].last_output;
            let rank = self.rank(vc_base, request.input);
            self.by_input.offer_noted(input, rank, u32::from(turn(output, last)), place);
        }
        for i in 0..std::mem::take(&mut self.by_input.len) {
            let (_, place) = self.by_input.take(i);
            self.by_output.offer(Self::port(self.switch_requests[place].output), None, 0, place);
        }
    }

    /// Wavefront over inputs and outputs. As [`InputQueuedRouters::switch_input_first`].
    fn switch_wavefront(&mut self, router: usize, asking: Range<usize>, step: u32) {
        let port_base = self.routers[router].first_port as usize;
        let (square, first) = (self.radix(router), self.diagonals[router].switch);
        let mut requests = std::mem::take(&mut self.requests);
        for place in asking {
            let Some(request) = self.eligible(port_base << LOG, place, step) else { continue };
            let (input, output) = (Self::port(request.input), Self::port(request.output));
            let last = self.ports[port_base + input as usize].last_vc;
            let turn = u32::from(turn(Self::vc(request.input) as u16, last)) & 0xFF;
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
    }

    /// A request has won the switch: its flit leaves. Returns true if the request is done.
    #[inline(always)]
    fn grant_switch(
        &mut self,
        router: usize,
        vc_base: usize,
        request: SwitchRequest,
        move_pointers: bool,
        tick: Tick,
        channels: &mut Channels,
    ) -> bool {
        let (input, output) = (Self::port(request.input), Self::port(request.output));
        let (in_port, out_port) = ((vc_base >> LOG) + input as usize, (vc_base >> LOG) + output as usize);
        let arbiters = &mut self.ports[in_port];
        arbiters.last_vc = Self::vc(request.input) as u16;
        if move_pointers {
            arbiters.last_output = output;
            self.ports[out_port].last_input = input;
        }
        if self.iterations() > 1 {
            self.granted.extend([input << 1, output << 1 | 1]);
        }
        let index = vc_base + request.input as usize;
        let out_index = vc_base + request.output as usize;
        if !self.cut_through() {
            let output = &mut self.outputs[out_index];
            output.occupancy += 1;
            if output.occupancy > self.policy.reserve {
                self.shared[out_port] += 1;
            }
        }
        let Tick { now, departure, step } = tick;
        let (place, tail) = self.inputs[index].pop::<KIND>(&self.pool);
        let more = self.inputs[index].flits > 0;
        let ports = [in_port, out_port].map(|port| PortId(port as u32));
        channels.forward_flit(ports, Self::vc(request.output), departure, place);
        channels.send_credit(PortId(in_port as u32), Self::vc(request.input), now);
        if tail {
            self.inputs[index].kept = NONE;
            self.owners[out_index] = NONE;
            self.ports[out_port].free |= 1 << Self::vc(request.output);
            self.freed(router, out_port);
            if more {
                let head = self.front(index);
                let wanted = (head.out, head.class, self.commitment(self.inputs[index].front));
                self.ask_vc(router as u32, index, wanted, step + 1);
            }
            return true;
        }
        if more && self.delayed() {
            self.ready[index] = after(self.speedup, step + 1, self.delays.sw_alloc);
        }
        !more
    }
}
