//! VC allocation: which heads are given which output VCs.

use super::matching::{Pairing, turn, wavefront};
use super::options::Allocator;
use super::timing::{Delay, after, cycle_of, first_step};
use super::waiting_heads::{Commitment, Unready};
use super::{FAR, GENERAL, InputQueuedRouters, NO_SUCH_PORT, NONE, RouterState, is_bare_adaptive};
use crate::cycle::flit::UNDECIDED;

/// How many heads ahead the memory of lists is asked for, where it is far.
const AHEAD: usize = 12;

/// An input VC that asks for an output VC of a class.
#[derive(Debug, Clone, Copy)]
pub(super) struct VcRequest {
    pub(super) input: u16,
    pub(super) port: u16,
    /// The output VC that the input VC was given last; within a step of the plain router, the one that it picks.
    pub(super) last_output: u16,
    pub(super) class: u8,
    pub(super) commitment: Commitment,
}

impl VcRequest {
    /// An empty place, or a request that has been served.
    pub(super) const NONE: Self =
        Self { input: NONE, port: 0, last_output: 0, class: 0, commitment: Commitment::Final };
}

impl<const LOG: u32, const KIND: u8> InputQueuedRouters<LOG, KIND> {
    /// A head that has decided for `out` and `class` has come to the front of input VC `index` (domain numbering): it asks
    /// for an output VC. Returns true if it is on the list of requests.
    #[inline(always)]
    pub(super) fn ask_vc(&mut self, router: u32, index: usize, decided: (u16, u8, Commitment), step: u32) -> bool {
        let delay = if self.delayed() { self.delay_of(step) } else { Delay::NONE };
        self.ask_vc_after(router, index, decided, delay)
    }

    /// The same, once a delay is over.
    #[inline(always)]
    pub(super) fn ask_vc_after(
        &mut self,
        router: u32,
        index: usize,
        (out, class, commitment): (u16, u8, Commitment),
        delay: Delay,
    ) -> bool {
        let undecided = self.decides_again() && out == UNDECIDED;
        // At the buffered kinds only one that decides before it is ready looks at this.
        if self.delayed() && (KIND == GENERAL || undecided) {
            self.ready[index] = delay.ready;
        }
        if undecided {
            self.ask_decision(router as usize, index as u32);
            return false;
        }
        // At the buffered kinds what is listed may be allocated.
        if if Self::BUFFERED { self.delayed } else { delay.later } {
            self.wait_until_ready(router, index, (out, class, commitment), delay);
            return false;
        }
        self.list_vc_request(router, index, out, class, commitment);
        true
    }

    /// A head will be on the list of requests when it is ready.
    #[inline(always)]
    fn wait_until_ready(
        &mut self,
        router: u32,
        index: usize,
        (out, class, commitment): (u16, u8, Commitment),
        delay: Delay,
    ) {
        let lead = self.lead_of(router);
        let (base, out) = (self.routers[lead].first_port, self.output_in_batch(router, out));
        let input = (index as u32 - (base << LOG)) as u16;
        let last_output = self.inputs[index].last_output;
        let head = Unready { lead: lead as u32, input, out, last_output, class, commitment };
        self.unready[usize::from(delay.late)].push(delay.cycle, head);
    }

    /// A head that decides again, at the front of input VC `index` (domain numbering), asks for an output VC. At the buffered
    /// kinds it is not on the list of requests before its delay is over.
    #[inline(always)]
    pub(super) fn ask_after_deciding(
        &mut self,
        router: u32,
        index: usize,
        (out, class, commitment): (u16, u8, Commitment),
        delay: Delay,
    ) {
        if Self::BUFFERED && self.delayed && delay.ready > delay.step {
            if commitment == Commitment::Noted {
                self.settle(router as usize, index);
            }
            return self.wait_until_ready(router, index, (out, class, Commitment::Open), delay);
        }
        self.list_vc_request(router, index, out, class, commitment);
        self.activate(router);
    }

    /// How long the head at the front of input VC `index` (domain numbering), which has decided in cycle `now`, must wait
    /// still.
    #[inline(always)]
    pub(super) fn delay_left(&mut self, index: usize, now: u32) -> Delay {
        if !Self::BUFFERED || !self.delayed {
            return Delay::NONE;
        }
        let (step, ready) = (first_step(self.speedup, now), self.ready[index]);
        // Most have come to the front in this cycle.
        let known = self.delay_of(step);
        if known.ready == ready { known } else { Delay { step, ..Delay::until(self.speedup, ready) } }
    }

    /// The delay of a head that comes to the front of its VC as it arrives, in cycle `now`.
    #[inline(always)]
    pub(super) fn delay_on_arrival(&mut self, now: u32) -> Delay {
        if self.delayed() && self.arrival.0 != now {
            self.arrival = (now, self.delay_of(first_step(self.speedup, now)));
        }
        self.arrival.1
    }

    /// [`InputQueuedRouters::delay_of`] the steps after those of the cycle whose first one is `first`, if there are delays.
    #[inline(always)]
    pub(super) fn delays_after(&mut self, first: u32) -> [Delay; 2] {
        if Self::BUFFERED && self.delayed {
            [first + 1, first + 2].map(|step| self.delay_of(step))
        } else {
            [Delay::NONE; 2]
        }
    }

    /// When a head that comes to the front of its VC in internal step `step` may be allocated. Most of them come in the same
    /// few steps: what the last ones have found is kept.
    #[inline(always)]
    pub(super) fn delay_of(&mut self, step: u32) -> Delay {
        let known = self.delays_of[step as usize % self.delays_of.len()];
        if known.step == step {
            return known;
        }
        self.find_delay(step)
    }

    #[inline(never)]
    fn find_delay(&mut self, step: u32) -> Delay {
        let routed = self.delays.routing.map_or(step, |cycles| after(self.speedup, step + 1, cycles));
        let ready = after(self.speedup, routed, self.delays.vc_alloc);
        let until = Delay::until(self.speedup, ready);
        let delay = Delay { step, later: until.cycle > cycle_of(self.speedup, step), ..until };
        let kept = self.delays_of.len();
        self.delays_of[step as usize % kept] = delay;
        delay
    }

    /// Puts the heads that may be allocated from cycle `now` on, after a delay, on the lists of requests.
    pub(super) fn list_ready(&mut self, now: u32) {
        let ahead = if self.bytes > FAR { AHEAD } else { usize::MAX / 2 };
        for late in 0..self.unready.len() {
            let ready = self.unready[late].take(now);
            for (place, &Unready { lead, input, out, last_output, class, commitment }) in ready.iter().enumerate() {
                if let Some(next) = ready.get(place + ahead) {
                    self.vc_requests.prefetch(self.lists(next.lead as usize).0);
                }
                let index = self.lists(lead as usize).0 + usize::from(input);
                self.list_in_batch(lead as usize, index, last_output, (out, class, commitment));
                if Self::BUFFERED {
                    self.routers[lead as usize].late += late as u16;
                }
                self.activate(lead);
            }
            self.unready[late].recycle(ready);
        }
    }

    /// Puts the head at the front of input VC `index` (domain numbering) on the list of requests.
    #[inline(always)]
    pub(super) fn list_vc_request(&mut self, router: u32, index: usize, out: u16, class: u8, commitment: Commitment) {
        let (last_output, port) = (self.inputs[index].last_output, self.output_in_batch(router, out));
        self.list_in_batch(self.lead_of(router), index, last_output, (port, class, commitment));
    }

    /// Output `out` of a router in the numbering of its batch.
    #[inline(always)]
    pub(super) fn output_in_batch(&self, router: u32, out: u16) -> u16 {
        if is_bare_adaptive(KIND) {
            // The packet belongs to the queue of this output: there is one.
            debug_assert!(out < self.routers[router as usize].radix, "{NO_SUCH_PORT}");
            return out;
        }
        let port = self.output(router, out);
        (port - self.routers[self.lead_of(router)].first_port) as u16
    }

    /// The same at the first router of a batch, of an output in its numbering and an input VC that was given `last_output` last.
    #[inline(always)]
    fn list_in_batch(
        &mut self,
        lead: usize,
        index: usize,
        last_output: u16,
        (out, class, commitment): (u16, u8, Commitment),
    ) {
        let state = &mut self.routers[lead];
        let vc_base = state.first_port << LOG;
        let place = vc_base as usize + state.asking_vc as usize;
        state.asking_vc += 1;
        let input = (index as u32 - vc_base) as u16;
        debug_assert_eq!(last_output, self.inputs[index].last_output);
        let request = &mut self.vc_requests[place];
        (request.input, request.port, request.last_output, request.class) = (input, out, last_output, class);
        // At the kinds whose heads decide once, all requests are final.
        if Self::ADAPTIVE || KIND == GENERAL {
            request.commitment = commitment;
        }
    }

    /// VC allocation of one router in internal step `step`.
    pub(super) fn allocate_vcs(&mut self, router: usize, step: u32) {
        if self.routers[router].asking_vc == 0 {
            return;
        }
        for iteration in 0..self.iterations {
            let asking = self.routers[router].asking_vc;
            match self.allocator {
                Allocator::SeparableInputFirst => self.vcs_input_first(router, step),
                Allocator::Islip => {
                    let dropped = self.vcs_islip(router, step, iteration == 0);
                    self.drop_vc_requests(router, dropped);
                }
                Allocator::Wavefront => {
                    let dropped = self.vcs_wavefront(router, step);
                    self.drop_vc_requests(router, dropped);
                }
            }
            let left = self.routers[router].asking_vc;
            if left == 0 || left == asking {
                break;
            }
        }
        if self.delays.vc_alloc > 0 {
            self.delay_losers(router, step);
        }
    }

    /// Takes the `dropped` requests that are marked off the list.
    pub(super) fn drop_vc_requests(&mut self, router: usize, dropped: usize) {
        let state = &mut self.routers[router];
        let base = (state.first_port << LOG) as usize;
        let asking = state.asking_vc as usize;
        state.asking_vc = (asking - dropped) as u16;
        if dropped == asking {
            return;
        }
        let mut kept = base;
        for place in base..base + asking {
            let request = self.vc_requests[place];
            self.vc_requests[kept] = request;
            kept += usize::from(request.input != NONE);
        }
    }

    /// Where VC allocation takes more than a cycle, a request that lost goes through all of it again.
    pub(super) fn delay_losers(&mut self, router: usize, step: u32) {
        let state = self.routers[router];
        let vc_base = (state.first_port << LOG) as usize;
        for place in vc_base..vc_base + state.asking_vc as usize {
            let ready = &mut self.ready[vc_base + self.vc_requests[place].input as usize];
            if *ready <= step {
                *ready = after(self.speedup, step + 1, self.delays.vc_alloc);
            }
        }
    }

    /// The VC that an input VC picks among `free` ones of `port`: the first behind the one that it was given last, the
    /// lowest if that was elsewhere.
    #[inline(always)]
    pub(super) fn pick(free: u64, port: u16, last: u16) -> u32 {
        // At another port it is beyond the VCs of this one, or before them, which is beyond them as well.
        let vc = u32::from(last).wrapping_sub(u32::from(port) << LOG);
        let from = if vc < 1 << LOG { vc + 1 } else { 0 };
        // Rotated, the first comes first: a branch would often be mispredicted.
        (free.rotate_right(from).trailing_zeros() + from) % u64::BITS
    }

    /// The slots that must be free for the packet at the front of the input VC that asks.
    #[inline(always)]
    pub(super) fn size_of(&self, vc_base: usize, request: VcRequest) -> u32 {
        let vc = vc_base + request.input as usize;
        if request.commitment == Commitment::Noted {
            let record = vc_base + self.record(vc_base, request.input.into());
            return self.policy.wanted(&self.waiting_heads[record].flit());
        }
        self.policy.wanted(self.front(vc))
    }

    /// True if packets that are given VCs of one output in one step may take the shared slots from each other.
    #[inline(always)]
    pub(super) fn crowded(&self) -> bool {
        self.cut_through() && self.policy.pool > 0
    }

    /// Where that is so, VCs are given in the order of their numbers: true if the request at `place` comes too late.
    #[inline(always)]
    pub(super) fn comes_too_late(&self, router: usize, place: usize, output: u16) -> bool {
        if !self.crowded() {
            return false;
        }
        let state = self.routers[router];
        let vc_base = (state.first_port << LOG) as usize;
        let port = state.first_port as usize + Self::port(output) as usize;
        let size = self.size_of(vc_base, self.vc_requests[place]);
        !self.policy.fits(self.outputs[vc_base + output as usize].occupancy, self.shared[port], size)
    }

    /// Inputs choose, then output VCs. What is served or parked is taken off the list.
    #[inline(always)]
    pub(super) fn vcs_input_first(&mut self, router: usize, step: u32) {
        let RouterState { first_port, asking_vc, .. } = self.routers[router];
        let (port_base, vc_base) = (first_port as usize, (first_port << LOG) as usize);
        let mut tight = false;
        for place in vc_base..vc_base + asking_vc as usize {
            let request = self.vc_requests[place];
            if self.delayed() && self.ready[vc_base + request.input as usize] > step {
                continue;
            }
            let port = port_base + request.port as usize;
            let mut free = self.ports[port].free & self.class_masks[request.class as usize];
            if self.whole() & free != 0 {
                free = self.usable(port, request.class, |this| this.size_of(vc_base, request));
            }
            if free == 0 {
                self.park(router, place);
                continue;
            }
            let output = request.port << LOG | Self::pick(free, request.port, request.last_output) as u16;
            if asking_vc == 1 {
                self.grant_vc(router, vc_base, request, output, true, step);
                self.routers[router].asking_vc = 0;
                return;
            }
            self.picks[place - vc_base] = output;
            if self.deep && request.commitment == Commitment::Noted {
                // What it has decided is written to its flit if it wins.
                self.pool.prefetch(self.inputs[vc_base + request.input as usize].front);
            }
            let last = self.outputs[vc_base + output as usize].last_input;
            let (rank, key) = (self.rank(vc_base, request.input), u32::from(turn(request.input, last)));
            if self.crowded() {
                tight |= self.shared[port] >= self.tight;
                self.by_vc.offer_noted(output, rank, key, place);
            } else {
                self.by_vc.offer(output, rank, key, place);
            }
        }
        if tight {
            self.grant_vcs_in_order(router, step);
        } else {
            self.by_vc.forget();
        }
        let mut left = asking_vc as usize;
        let mut place = vc_base + left;
        while place > vc_base {
            place -= 1;
            let request = self.vc_requests[place];
            let picked = self.picks[place - vc_base];
            if self.by_vc.wins(picked, place) {
                self.grant_vc(router, vc_base, request, picked, true, step);
            } else if request.input != NONE {
                continue;
            }
            left -= 1;
            self.vc_requests[place] = self.vc_requests[vc_base + left];
        }
        self.routers[router].asking_vc = left as u16;
    }

    /// Serves those who have won the output VCs noted, in the order of these, and marks them.
    fn grant_vcs_in_order(&mut self, router: usize, step: u32) {
        let vc_base = (self.routers[router].first_port << LOG) as usize;
        let winners = std::mem::take(&mut self.by_vc.len);
        self.by_vc.sort(winners);
        for i in 0..winners {
            let (output, place) = self.by_vc.take(i);
            if !self.comes_too_late(router, place, output) {
                let request = std::mem::replace(&mut self.vc_requests[place], VcRequest::NONE);
                self.grant_vc(router, vc_base, request, output, true, step);
            }
        }
    }

    /// iSLIP over VCs: every free output VC of the class grants, each input VC accepts one.
    pub(super) fn vcs_islip(&mut self, router: usize, step: u32, first: bool) -> usize {
        let state = self.routers[router];
        let (port_base, vc_base) = (state.first_port as usize, (state.first_port << LOG) as usize);
        let mut dropped = 0;
        for place in vc_base..vc_base + state.asking_vc as usize {
            let request = self.vc_requests[place];
            if self.delayed() && self.ready[vc_base + request.input as usize] > step {
                continue;
            }
            let size = self.size_of(vc_base, request);
            let mut free = self.usable(port_base + request.port as usize, request.class, |_| size);
            if free == 0 {
                self.park(router, place);
                dropped += 1;
                continue;
            }
            let rank = self.rank(vc_base, request.input);
            while free != 0 {
                let output = request.port << LOG | free.trailing_zeros() as u16;
                free &= free - 1;
                let last = self.outputs[vc_base + output as usize].last_input;
                self.by_vc.offer_noted(output, rank, u32::from(turn(request.input, last)), place);
            }
        }
        // The grants of an input VC compete by its own turns.
        let mut accepted: Vec<(usize, u16, u16)> = Vec::new();
        for i in 0..std::mem::take(&mut self.by_vc.len) {
            let (output, place) = self.by_vc.take(i);
            let request = self.vc_requests[place];
            let key = turn(output, self.inputs[vc_base + request.input as usize].last_output);
            match accepted.iter_mut().find(|(p, _, _)| *p == place) {
                Some(best) if key < best.1 => *best = (place, key, output),
                Some(_) => {}
                None => accepted.push((place, key, output)),
            }
        }
        if self.crowded() {
            accepted.sort_unstable_by_key(|&(_, _, output)| output);
        }
        for &(place, _, output) in &accepted {
            if self.comes_too_late(router, place, output) {
                continue;
            }
            let request = std::mem::replace(&mut self.vc_requests[place], VcRequest::NONE);
            self.grant_vc(router, vc_base, request, output, first, step);
            dropped += 1;
        }
        dropped
    }

    /// Wavefront over VCs: every head asks for all free VCs of its class; a head on an earlier diagonal of the
    /// square of input VCs and output VCs comes first.
    pub(super) fn vcs_wavefront(&mut self, router: usize, step: u32) -> usize {
        let state = self.routers[router];
        let (port_base, vc_base) = (state.first_port as usize, (state.first_port << LOG) as usize);
        let (square, first) = (self.radix(router) * self.vcs, self.diagonals[router].vcs);
        let vcs = self.vcs;
        let number = |index: u16| u32::from(Self::port(index)) * vcs + Self::vc(index);
        let mut requests = std::mem::take(&mut self.requests);
        let mut dropped = 0;
        for place in vc_base..vc_base + state.asking_vc as usize {
            let request = self.vc_requests[place];
            if self.delayed() && self.ready[vc_base + request.input as usize] > step {
                continue;
            }
            let port = port_base + request.port as usize;
            let mut free = self.usable(port, request.class, |this| this.size_of(vc_base, request));
            if free == 0 {
                self.park(router, place);
                dropped += 1;
            }
            let rank = self.rank(vc_base, request.input).unwrap_or(0);
            while free != 0 {
                let output = request.port << LOG | free.trailing_zeros() as u16;
                free &= free - 1;
                let diagonal = (number(request.input) + number(output) + square - first) % square;
                requests.push(Pairing { rank, diagonal, output, input: request.input, turn: 0, place });
            }
        }
        if !requests.is_empty() {
            self.diagonals[router].vcs = (first + 1) % square;
        }
        wavefront(&mut requests);
        if self.crowded() {
            requests.sort_unstable_by_key(|request| request.output);
        }
        for request in requests.drain(..) {
            if !self.comes_too_late(router, request.place, request.output) {
                let asked = std::mem::replace(&mut self.vc_requests[request.place], VcRequest::NONE);
                self.grant_vc(router, vc_base, asked, request.output, true, step);
                dropped += 1;
            }
        }
        self.requests = requests;
        dropped
    }

    /// Gives output VC `output` (router numbering) to the packet that asks for it.
    #[inline(always)]
    fn grant_vc(
        &mut self,
        router: usize,
        vc_base: usize,
        VcRequest { input, commitment, .. }: VcRequest,
        output: u16,
        move_pointers: bool,
        step: u32,
    ) {
        if commitment == Commitment::Noted {
            self.settle(router, vc_base + input as usize);
        }
        let vc = &mut self.inputs[vc_base + input as usize];
        vc.kept = output;
        if self.deep {
            self.pool.prefetch(vc.front);
        }
        if KIND == GENERAL && self.delayed {
            self.ready[vc_base + input as usize] = after(self.speedup, step + 1, self.delays.sw_alloc);
        }
        if move_pointers {
            vc.last_output = output;
            self.outputs[vc_base + output as usize].last_input = input;
        }
        self.owners[vc_base + output as usize] = input;
        self.starved[vc_base + output as usize] = false;
        self.ports[(vc_base >> LOG) + Self::port(output) as usize].free &= !(1 << Self::vc(output));
        if KIND == GENERAL && self.policy.cut_through {
            self.take_places(vc_base, input, output);
        }
        self.ask_switch(router, input, output);
    }

    /// Under virtual cut-through, a packet takes all its slots when it is given a VC.
    fn take_places(&mut self, vc_base: usize, input: u16, output: u16) {
        let head = self.front(vc_base + input as usize);
        let (size, places) = (head.size(), self.policy.places(head));
        let owned = &mut self.outputs[vc_base + output as usize];
        let before = u32::from(owned.occupancy);
        owned.occupancy += places as u16;
        self.shared[(vc_base >> LOG) + Self::port(output) as usize] +=
            self.policy.shared(before + places) - self.policy.shared(before);
        if let Some(padded) = self.padded.get_mut(vc_base + output as usize) {
            padded.push_back((size as u16, (places - size) as u16));
        }
    }
}
