//! Injection control at the endpoint: how much may be in flight from a terminal to each other one.
//!
//! A packet is in flight from when it is in its terminal's queue until its acknowledgement is back there. What finds
//! its window full waits beside the queue, and holds up nothing that goes elsewhere. An acknowledgement takes as long as
//! one flit in an idle network, by the path of its routing; it occupies no link.
//!
//! Acknowledgements are taken in between arrivals and sending, in the order of messages, so that it does not matter which
//! domain has sent them.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use super::Setup;
use crate::error::Result;
use crate::network::{Network, TerminalId};
use crate::rng::{Rng, mix};
use crate::routing::{AnyRouting, idle_path};
use crate::workload::{Mapping, Message};

/// The tasks that send and receive: each has a terminal of its own.
type Ends = [u32; 2];

/// What a terminal is sending.
#[derive(Debug)]
pub struct Transmission {
    /// A message, with what its packets are.
    pub marked: u32,
    /// Flits that have not been sent.
    pub left: u32,
}

/// The limit, and how long acknowledgements take.
#[derive(Debug)]
pub struct WindowPlan {
    /// Flits in flight from one terminal to another; one packet may be, however large.
    most: u64,
    /// The cycles of an acknowledgement, by the ends of what it is for.
    back: HashMap<Ends, u32>,
}

impl WindowPlan {
    /// For these messages.
    ///
    /// # Errors
    /// As [`idle_path`].
    pub fn new(
        most: u64,
        messages: &[Message],
        mapping: &Mapping,
        network: &Network,
        (routing, setup): (&AnyRouting, &Setup),
    ) -> Result<Self> {
        let mut back = HashMap::new();
        for Message { source, target, .. } in messages {
            if back.contains_key(&[*source, *target]) {
                continue;
            }
            let [to, from] = [source, target].map(|task| mapping.terminal(*task));
            let stream = mix(u64::from(from.0) << 32 | u64::from(to.0));
            let path = idle_path(network, routing, [from, to], &mut Rng::stream(setup.config.seed, stream))?;
            back.insert([*source, *target], setup.idle_cycles(network, &path, to));
        }
        Ok(Self { most, back })
    }

    /// The cycles of an acknowledgement.
    pub fn back(&self, ends: Ends) -> u32 {
        self.back[&ends]
    }
}

/// That of a packet; in the order in which they are taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Acknowledgement {
    /// The cycle in which it is back.
    pub time: u64,
    /// The message of the packet.
    pub message: u32,
    /// The packet's flits.
    pub flits: u32,
    /// The terminal that has sent the packet.
    pub to: TerminalId,
}

/// What is between two terminals.
#[derive(Debug, Default)]
struct Window {
    /// Flits.
    in_flight: u64,
    /// What finds the window full, in the order of its turns.
    waiting: VecDeque<Transmission>,
}

impl Window {
    /// Takes the next packet of a transmission into the window, if it has room for it: for one packet it always has.
    fn takes(&mut self, next: &Transmission, packet: u32, most: u64) -> bool {
        let flits = u64::from(next.left.min(packet));
        let room = self.in_flight == 0 || self.in_flight + flits <= most;
        self.in_flight += if room { flits } else { 0 };
        room
    }
}

/// The windows of the terminals of a domain.
#[derive(Debug)]
pub struct SendWindows {
    most: u64,
    /// Flits of a packet.
    packet: u32,
    /// Those with something in flight.
    open: HashMap<Ends, Window>,
    /// Acknowledgements that will be back in this domain …
    coming: BinaryHeap<Reverse<Acknowledgement>>,
    /// … and those for another one.
    pub abroad: Vec<Acknowledgement>,
}

impl SendWindows {
    /// Nothing is in flight yet, in packets of this many flits.
    pub fn new(plan: &WindowPlan, packet: u32) -> Self {
        let (open, coming, abroad) = (HashMap::new(), BinaryHeap::new(), Vec::new());
        Self { most: plan.most, packet, open, coming, abroad }
    }

    /// Gives back what can send its next packet now, and keeps what has to wait.
    pub fn admit(&mut self, ends: Ends, transmission: Transmission) -> Option<Transmission> {
        let window = self.open.entry(ends).or_default();
        if window.waiting.is_empty() && window.takes(&transmission, self.packet, self.most) {
            return Some(transmission);
        }
        window.waiting.push_back(transmission);
        None
    }

    /// An acknowledgement will be back in this domain.
    pub fn expect(&mut self, acknowledgement: Acknowledgement) {
        self.coming.push(Reverse(acknowledgement));
    }

    /// The next acknowledgement that is back by `now`.
    #[inline]
    pub fn due(&mut self, now: u32) -> Option<Acknowledgement> {
        let Reverse(next) = *self.coming.peek()?;
        if next.time > now.into() {
            return None;
        }
        self.coming.pop();
        Some(next)
    }

    /// This many flits are acknowledged: appends to the terminal's queue what can be sent for it.
    pub fn acknowledged(&mut self, ends: Ends, flits: u32, queue: &mut VecDeque<Transmission>) {
        let (packet, most) = (self.packet, self.most);
        let window = self.open.get_mut(&ends).expect("what is acknowledged was in flight");
        window.in_flight -= u64::from(flits);
        while let Some(next) = window.waiting.pop_front() {
            if !window.takes(&next, packet, most) {
                window.waiting.push_front(next);
                break;
            }
            queue.push_back(next);
        }
        if window.in_flight == 0 {
            self.open.remove(&ends);
        }
    }
}
