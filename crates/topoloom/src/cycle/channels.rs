//! Channels: time wheels that carry flits and credits over links of any latency.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use super::flit::{Flit, Pool};
use super::pace::Pace;
use super::send_window::Acknowledgement;
use super::table::{Table, TableMaker};
use crate::network::PortId;

/// The first of [`Wires::flits`].
pub const FIRST: u32 = 0;
/// The one for flits that arrive at their second router, where these are taken in apart.
pub const SECOND: u32 = 2;
/// The one for flits that arrive at terminals: all bits, so that one that goes there is in no other.
const EJECTED: u32 = 3;

/// Marks the address of a terminal.
pub const TERMINAL: u32 = 1 << 31;

/// All bits if an address is of a terminal, else none. A branch would often be mispredicted.
#[inline(always)]
fn all_bits_of_terminals(to: u32) -> u32 {
    const { assert!(TERMINAL == 1 << 31) };
    (to as i32 >> 31) as u32
}

/// A flit in flight.
#[derive(Debug, Clone, Copy)]
pub struct FlitEvent {
    /// The input VC it arrives at, or [`TERMINAL`] with the output VC that it was ejected by.
    pub to: u32,
    /// Its position in the domain's pool.
    pub place: u32,
}

/// The events that are due in one cycle: a vector, by the addresses of its parts. An event is written to `next`, which needs
/// neither a length nor a product.
#[derive(Debug)]
#[repr(align(32))]
struct Slot<T> {
    first: NonNull<T>,
    /// Behind the last event.
    next: NonNull<T>,
    /// Behind the memory.
    end: NonNull<T>,
}

// SAFETY: it owns its events, and nothing else points to them.
unsafe impl<T: Send> Send for Slot<T> {}

impl<T> Slot<T> {
    fn of(events: Vec<T>) -> Self {
        let mut events = ManuallyDrop::new(events);
        let (length, capacity) = (events.len(), events.capacity());
        let first = NonNull::new(events.as_mut_ptr()).expect("a vector has an address");
        // SAFETY: both are within the memory of the vector, or just behind it.
        unsafe { Self { first, next: first.add(length), end: first.add(capacity) } }
    }

    /// Takes the events; none are left, and no memory.
    #[inline(always)]
    fn take(&mut self) -> Vec<T> {
        let taken = ManuallyDrop::new(std::mem::replace(self, Self::of(Vec::new())));
        let (length, capacity) = (taken.before(taken.next), taken.before(taken.end));
        // SAFETY: these are the parts of the vector that it was made of, and `push` has initialized what is before `next`.
        unsafe { Vec::from_raw_parts(taken.first.as_ptr(), length, capacity) }
    }

    /// How many events there are, or would be, before one of its addresses.
    #[inline(always)]
    fn before(&self, address: NonNull<T>) -> usize {
        // SAFETY: all three are of the same memory, a whole number of events apart, and the first is the lowest.
        unsafe { address.offset_from(self.first) as usize }
    }

    fn events(&self) -> &[T] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.before(self.next)) }
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.next == self.end
    }

    fn has_memory(&self) -> bool {
        self.first != self.end
    }

    /// Adds an event, where it is not full.
    #[inline(always)]
    fn push(&mut self, event: T) {
        debug_assert!(!self.is_full());
        // SAFETY: there is room behind the last event, and it is initialized before it counts.
        unsafe {
            self.next.write(event);
            self.next = self.next.add(1);
        }
    }
}

impl<T> Drop for Slot<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// Events by the cycle in which they are due, at most `horizon` cycles ahead. Of a power of two of bytes: one of several is
/// found by a shift.
#[derive(Debug)]
#[repr(align(64))]
pub struct Wheel<T> {
    slots: Table<Slot<T>>,
    memory: SlotMemory<T>,
    mask: u32,
}

/// The events of a wheel that are due at one time, to add to.
pub struct Due<'a, T> {
    slot: &'a mut Slot<T>,
    memory: &'a mut SlotMemory<T>,
    time: u32,
}

impl<T> Due<'_, T> {
    /// Adds one.
    #[inline(always)]
    pub fn push(&mut self, event: T) {
        self.with_room().push(event);
    }

    /// Their slot, with room for one more.
    #[inline(always)]
    fn with_room(&mut self) -> &mut Slot<T> {
        if self.slot.is_full() {
            Wheel::make_room(self.slot, self.memory, self.time);
        }
        self.slot
    }
}

/// What slots leave, and which one it is given to.
#[derive(Debug)]
struct SlotMemory<T> {
    /// Emptied slots' memory, used again last in, first out.
    spare: Vec<Vec<T>>,
    /// The cycle whose events were taken last.
    now: u32,
    /// Of the slots at most [`NEAR`] cycles ahead of `now`, how far ahead the last one was that got an event and had no
    /// memory; 0 if there was none.
    lead: u32,
}

/// An emptied slot's memory is given in advance only to a slot at most this many cycles ahead. If it were given to any, as
/// where idle terminals wait for hundreds of cycles, ever more slots would have memory and no event.
const NEAR: u32 = 16;

impl<T> Wheel<T> {
    /// A wheel for events up to `horizon` cycles ahead.
    pub fn new(horizon: u32) -> Self {
        let slots = (horizon + 1).next_power_of_two();
        // SAFETY: indices are masked by one less than the length, which is a power of two.
        let tables = unsafe { TableMaker::promise() };
        let empty = tables.of((0..slots).map(|_| Slot::of(Vec::new())));
        Self { slots: empty, memory: SlotMemory { spare: Vec::new(), now: 0, lead: 0 }, mask: slots - 1 }
    }

    /// The events due at `time`.
    #[inline(always)]
    pub fn due(&mut self, time: u32) -> Due<'_, T> {
        Due { slot: &mut self.slots[(time & self.mask) as usize], memory: &mut self.memory, time }
    }

    /// Adds an event due at `time`.
    #[inline(always)]
    pub fn push(&mut self, time: u32, event: T) {
        self.due(time).push(event);
    }

    /// Adds events due at `time`.
    #[inline(always)]
    pub fn push_all(&mut self, time: u32, events: impl ExactSizeIterator<Item = T>) {
        if events.len() == 0 {
            return;
        }
        let mut due = self.due(time);
        let slot = due.with_room();
        let mut all = slot.take();
        all.extend(events);
        *slot = Slot::of(all);
    }

    /// An empty slot takes memory that another has left, a full one grows.
    #[cold]
    fn make_room(slot: &mut Slot<T>, memory: &mut SlotMemory<T>, time: u32) {
        let mut events = slot.take();
        if events.capacity() == 0 {
            let ahead = time.wrapping_sub(memory.now);
            if ahead <= NEAR {
                memory.lead = ahead;
            }
            events = memory.spare.pop().unwrap_or_default();
        }
        if events.len() == events.capacity() {
            events.reserve(events.len().max(16));
        }
        *slot = Slot::of(events);
    }

    /// Takes the events due at `time`; give the vector back with [`Wheel::recycle`].
    #[inline(always)]
    pub fn take(&mut self, time: u32) -> Vec<T> {
        self.memory.now = time;
        self.slots[(time & self.mask) as usize].take()
    }

    /// Gives the memory of a taken slot back: to the near one that most likely gets its first event next, which needs no room
    /// then, or else to any.
    #[inline(always)]
    pub fn recycle(&mut self, mut events: Vec<T>) {
        if events.capacity() > 0 {
            events.clear();
            let next = &mut self.slots[(self.memory.now.wrapping_add(self.memory.lead) & self.mask) as usize];
            if self.memory.lead == 0 || next.has_memory() {
                self.memory.spare.push(events);
            } else {
                *next = Slot::of(events);
            }
        }
    }

    /// The number of events under way.
    pub fn len(&self) -> usize {
        self.slots.iter().map(|slot| slot.events().len()).sum()
    }

    /// All events under way.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().flat_map(Slot::events)
    }
}

/// Both directions of a link as seen from one port: flits out, credits back for flits that came in. Of these, what each
/// flit and credit looks at or changes, in few bytes.
#[derive(Debug, Clone, Copy)]
pub struct ChannelEnd {
    /// Where flits and credits go: VC 0 of the port at the other end, in its domain's numbering; or [`TERMINAL`] with VC 0 of
    /// this port.
    pub to: u32,
    /// The first cycle in which no flit has been sent yet.
    pub free: u32,
    /// The first cycle in which no credit has been sent yet.
    pub credit_free: u32,
    /// Flits sent since the count was last cleared.
    pub sent: u32,
    /// How long both take.
    span: Span,
}

const _: () = assert!(size_of::<ChannelEnd>() == 20);

/// The link of a port.
#[derive(Debug, Clone, Copy)]
pub struct Link {
    /// Cycles from sending a flit to its being at hand: the latency of the link + 1.
    pub latency: u32,
    /// The domain of the other end.
    pub domain: u16,
    /// True if it is slower than one flit per cycle: [`Wires::paces`] states how much.
    pub slow: bool,
}

/// Cycles from sending a flit to its being at hand, and from sending a credit to its use, by a direct link: one that is
/// neither slow nor leads to another domain. What is sent goes straight into the wheel. Both are 0 if the link is not
/// direct, or takes more cycles than can be stated here.
#[derive(Debug, Clone, Copy)]
struct Span {
    flits: u16,
    credits: u16,
}

impl Span {
    /// That of a link that is not direct.
    const NONE: Self = Self { flits: 0, credits: 0 };

    /// That of a link of domain `own`, whose credits take `credit_delay` cycles more than its flits.
    fn of(Link { latency, domain, slow }: Link, own: u16, credit_delay: u32) -> Self {
        match (u16::try_from(latency), u16::try_from(latency + credit_delay)) {
            (Ok(flits), Ok(credits)) if !slow && domain == own => Self { flits, credits },
            _ => Self::NONE,
        }
    }
}

/// What crosses into another domain, with its time.
#[derive(Debug, Default)]
pub struct Outbox {
    /// Flits, with the input VC each arrives at.
    pub flits: Vec<(u32, u32, Flit)>,
    /// Credits: the output VC each is for.
    pub credits: Vec<(u32, u32)>,
    /// Acknowledgements of packets.
    pub acknowledgements: Vec<Acknowledgement>,
}

/// All channels that leave the routers of one domain.
#[derive(Debug)]
pub struct Channels {
    /// One for each local port.
    pub ends: Table<ChannelEnd>,
    /// What is on them.
    pub wires: Wires,
    /// Flits in flight through each output, and those whose credits are, while it sends one in each cycle and nothing
    /// holds them up.
    pub in_flight: Table<u32>,
    /// Flits that departed before the counts of the ends were last cleared.
    pub departed: u64,
    /// Cycles from a flit's switch to its departure, if it does not queue for its channel.
    output_delay: u32,
}

/// What is on the channels that leave the routers of one domain.
#[derive(Debug)]
pub struct Wires {
    /// By local port.
    pub links: Table<Link>,
    /// How far apart each sends, by local port; empty where all send one flit per cycle.
    pub paces: Table<Pace>,
    /// Flits that arrive in this domain: those from routers at routers, those from terminals there, those at terminals, and those
    /// from their first router at the second one. Apart, as a branch between them would often be mispredicted.
    pub flits: [Wheel<FlitEvent>; 4],
    /// The one of these for those from terminals: the first, where they do at routers what others do.
    pub entry: u32,
    /// The one for those that arrive at their second router: the first, likewise.
    pub second: u32,
    /// Credits that arrive at routers and terminals of this domain.
    pub credits: Wheel<u32>,
    /// The flits that leave for each other domain, with the times at which they arrive. They stay in the pool until they are
    /// packed: each would be waited for in the middle of a step, and memory is asked for ahead where all are copied at once.
    pub leaving: Vec<Vec<(u32, FlitEvent)>>,
    /// What leaves for each other domain.
    pub outboxes: Vec<Outbox>,
    /// This domain.
    pub domain: u16,
    /// Cycles between the arrival of a credit at a router and its use.
    pub credit_delay: u32,
}

impl Channels {
    /// Idle channels of ports that send `to` these VCs ([`ChannelEnd::to`]).
    pub fn new(tables: &TableMaker, to: &[u32], wires: Wires, in_flight: Table<u32>, output_delay: u32) -> Self {
        let end = |(&to, &link): (&u32, &Link)| {
            let span = Span::of(link, wires.domain, wires.credit_delay_of(to));
            ChannelEnd { to, free: 0, credit_free: 0, sent: 0, span }
        };
        let ends = tables.of(to.iter().zip(wires.links.iter()).map(end));
        Self { ends, wires, in_flight, departed: 0, output_delay }
    }

    /// Ports that are connected to themselves, by links of a cycle.
    #[cfg(test)]
    pub fn of_loops(ports: u32) -> Self {
        // SAFETY: indexed by the ports that there are.
        let tables = unsafe { TableMaker::promise() };
        let links = vec![Link { latency: 2, domain: 0, slow: false }; ports as usize];
        let in_flight = tables.filled(4, links.len());
        let to: Vec<u32> = (0..ports).collect();
        Self::new(&tables, &to, Wires::of(&tables, links, 8, 0), in_flight, 0)
    }

    /// Flits that have been sent so far: those that have crossed a switch.
    pub fn sent(&self) -> u64 {
        self.departed + self.ends.iter().map(|end| u64::from(end.sent)).sum::<u64>()
    }

    /// Counts the flits that depart from now on: those that wait for it among them. See [`Channels::waiting`].
    pub fn clear(&mut self, now: u32) {
        for port in (0..self.ends.len() as u32).map(PortId) {
            let waiting = self.waiting(port, now);
            let sent = std::mem::replace(&mut self.ends[port.index()].sent, waiting);
            self.departed += u64::from(sent - waiting);
        }
    }

    /// Flits that queue for output `port` before cycle `now` is simulated: those that depart in cycle `now` plus the output delay,
    /// or later. They depart in consecutive cycles. Between those that depart earlier there may be free cycles.
    pub fn waiting(&self, port: PortId, now: u32) -> u32 {
        let channel = &self.ends[port.index()];
        let cycles = channel.free.saturating_sub(now + self.output_delay);
        let slow = self.wires.links[port.index()].slow;
        if slow { self.wires.paces[port.index()].flits(cycles).min(channel.sent) } else { cycles }
    }

    /// Sends the flit at `place` through VC `vc` of output `port`, in the first free cycle from `earliest` on.
    #[inline(always)]
    pub fn send_flit(&mut self, port: PortId, vc: u32, earliest: u32, place: u32) {
        self.wires.send_flit(&mut self.ends[port.index()], port, vc, earliest, FIRST, place);
    }

    /// The same of a flit that has come by input `from`.
    #[inline(always)]
    pub fn forward_flit(&mut self, [from, port]: [PortId; 2], vc: u32, earliest: u32, place: u32) {
        let wheel = self.wires.wheel_from(&self.ends[from.index()]);
        self.wires.send_flit(&mut self.ends[port.index()], port, vc, earliest, wheel, place);
    }

    /// Returns a credit for VC `vc` of input `port` to its sender.
    #[inline(always)]
    pub fn send_credit(&mut self, port: PortId, vc: u32, now: u32) {
        self.wires.send_credit(&mut self.ends[port.index()], port, vc, now);
    }
}

impl Wires {
    /// Those of domain 0 of two, idle, whose ports have these links of full rate.
    #[cfg(test)]
    fn of(tables: &TableMaker, links: Vec<Link>, horizon: u32, credit_delay: u32) -> Self {
        Self {
            links: tables.of(links),
            paces: tables.of([]),
            flits: [horizon; 4].map(Wheel::new),
            entry: 0,
            second: FIRST,
            credits: Wheel::new(horizon),
            leaving: vec![Vec::new(); 2],
            outboxes: (0..2).map(|_| Outbox::default()).collect(),
            domain: 0,
            credit_delay,
        }
    }

    /// [`Channels::send_flit`] through the `channel` of a port.
    #[inline(always)]
    pub fn send_flit(
        &mut self,
        channel: &mut ChannelEnd,
        port: PortId,
        vc: u32,
        earliest: u32,
        wheel: u32,
        place: u32,
    ) {
        if channel.span.flits == 0 {
            return self.send_flit_afar(channel, port, vc, earliest, wheel, place);
        }
        let departure = earliest.max(channel.free);
        channel.free = departure + 1;
        channel.sent += 1;
        let (time, to) = (departure + u32::from(channel.span.flits), channel.to + vc);
        self.arrive(time, wheel, FlitEvent { to, place });
    }

    /// Cycles between the arrival of a credit and its use where a channel leads `to` ([`ChannelEnd::to`]): none at terminals.
    #[inline(always)]
    fn credit_delay_of(&self, to: u32) -> u32 {
        if to & TERMINAL == 0 { self.credit_delay } else { 0 }
    }

    /// The wheel for flits that have come by the port of `channel`, from a terminal or a router, and go to routers.
    #[inline(always)]
    pub fn wheel_from(&self, channel: &ChannelEnd) -> u32 {
        self.second & all_bits_of_terminals(channel.to)
    }

    /// A flit will arrive at a terminal of this domain, or at a router: then it is put into this `wheel`.
    #[inline(always)]
    pub fn arrive(&mut self, time: u32, wheel: u32, event: FlitEvent) {
        let wheel = (wheel | all_bits_of_terminals(event.to)) & EJECTED;
        self.flits[wheel as usize].push(time, event);
    }

    /// Flits from terminals that arrive at routers.
    #[inline(always)]
    pub fn entries(&mut self) -> &mut Wheel<FlitEvent> {
        &mut self.flits[self.entry as usize & 1]
    }

    /// The same over a slow link, or into another domain.
    #[inline(never)]
    fn send_flit_afar(
        &mut self,
        channel: &mut ChannelEnd,
        port: PortId,
        vc: u32,
        earliest: u32,
        wheel: u32,
        place: u32,
    ) {
        let (departure, link) = (earliest.max(channel.free), self.links[port.index()]);
        channel.free = match link.slow {
            true => self.paces[port.index()].next(0, departure, earliest <= channel.free),
            false => departure + 1,
        };
        channel.sent += 1;
        let (time, event) = (departure + link.latency, FlitEvent { to: channel.to + vc, place });
        if link.domain == self.domain {
            self.arrive(time, wheel, event);
        } else {
            self.leaving[usize::from(link.domain)].push((time, event));
        }
    }

    /// Moves the flits that leave for other domains from the pool to what goes there.
    pub fn pack(&mut self, pool: &mut Pool<Flit>) {
        const AHEAD: usize = 16;
        for (leaving, outbox) in self.leaving.iter_mut().zip(&mut self.outboxes) {
            outbox.flits.reserve(leaving.len());
            for (at, &(time, FlitEvent { to, place })) in leaving.iter().enumerate() {
                if let Some((_, later)) = leaving.get(at + AHEAD) {
                    pool.prefetch(later.place);
                }
                outbox.flits.push((time, to, *pool.release(place)));
            }
            leaving.clear();
        }
    }

    /// [`Channels::send_credit`] through the `channel` of a port.
    #[inline(always)]
    pub fn send_credit(&mut self, channel: &mut ChannelEnd, port: PortId, vc: u32, now: u32) {
        if channel.span.credits == 0 {
            return self.send_credit_afar(channel, port, vc, now);
        }
        let departure = now.max(channel.credit_free);
        channel.credit_free = departure + 1;
        self.credits.push(departure + u32::from(channel.span.credits), channel.to + vc);
    }

    /// The same over a slow link, or into another domain.
    #[inline(never)]
    fn send_credit_afar(&mut self, channel: &mut ChannelEnd, port: PortId, vc: u32, now: u32) {
        let (departure, link) = (now.max(channel.credit_free), self.links[port.index()]);
        channel.credit_free = match link.slow {
            true => self.paces[port.index()].next(1, departure, now <= channel.credit_free),
            false => departure + 1,
        };
        let delay = self.credit_delay_of(channel.to);
        let (time, to) = (departure + link.latency + delay, channel.to + vc);
        if link.domain == self.domain {
            self.credits.push(time, to);
        } else {
            self.outboxes[usize::from(link.domain)].credits.push((time, to));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::rc::Rc;

    use super::*;
    use crate::rng::Rng;

    /// Channels of one port, which sends `to` there by a `link`; domain 0 of two.
    fn channels_of(to: u32, link: Link, credit_delay: u32) -> Channels {
        // SAFETY: indexed by the only port that there is.
        let tables = unsafe { TableMaker::promise() };
        let wires = Wires::of(&tables, vec![link], link.latency + credit_delay + 2, credit_delay);
        Channels::new(&tables, &[to], wires, tables.of([0]), 0)
    }

    #[test]
    fn what_is_sent_arrives_after_the_latency_of_its_link_however_long_that_is() {
        let (now, delay, most) = (3, 2, u32::from(u16::MAX));
        for latency in [1, 2, most - delay, most - 1, most, most + 1, 2 * most] {
            for to in [8, TERMINAL | 8] {
                let mut channels = channels_of(to, Link { latency, domain: 0, slow: false }, delay);
                let (direct, delay) = (latency + delay <= most, if to & TERMINAL == 0 { delay } else { 0 });
                assert_eq!(channels.ends[0].span.flits > 0, direct || delay == 0 && latency <= most, "{latency}");
                // The second of a cycle leaves a cycle later.
                for place in 0..2 {
                    channels.send_flit(PortId(0), 1, now, place);
                    channels.send_credit(PortId(0), 2, now);
                }
                for place in 0..2 {
                    let (flits, credits) = (now + latency + place, now + latency + delay + place);
                    let wheel = (if to & TERMINAL == 0 { FIRST } else { EJECTED }) as usize;
                    let arrived = channels.wires.flits[wheel].take(flits);
                    assert_eq!(
                        arrived.iter().map(|event| (event.to, event.place)).collect::<Vec<_>>(),
                        [(to + 1, place)]
                    );
                    assert_eq!(channels.wires.credits.take(credits), [to + 2], "{latency}");
                }
                assert_eq!(channels.sent(), 2);
            }
        }
    }

    #[test]
    fn what_is_for_another_domain_leaves_with_the_same_times() {
        let mut channels = channels_of(8, Link { latency: 5, domain: 1, slow: false }, 2);
        channels.send_flit(PortId(0), 1, 3, 7);
        channels.send_credit(PortId(0), 2, 3);
        let leaving = channels.wires.leaving[1].iter().map(|(time, event)| (*time, event.to, event.place));
        assert_eq!(leaving.collect::<Vec<_>>(), [(8, 9, 7)]);
        assert_eq!(channels.wires.outboxes[1].credits, [(10, 10)]);
        assert_eq!(channels.wires.credits.len() + channels.wires.flits[0].len(), 0);
    }

    #[test]
    fn a_wheel_gives_each_event_once_at_its_time() {
        // Each event holds a count: none is lost, or dropped twice.
        let (horizon, held, mut rng) = (11, Rc::new(()), Rng::stream(5, 0));
        let mut wheel = Wheel::new(horizon);
        let mut due: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for now in 0..if cfg!(miri) { 15 } else { 200 } {
            // Some cycles get more than a slot has room for, others nothing.
            for event in 0..rng.below(60).saturating_sub(20) {
                let time = now + rng.below(horizon) + 1;
                wheel.push(time, (event, Rc::clone(&held)));
                due.entry(time).or_default().push(event);
            }
            // At once: none, a few, or more than a slot has room for.
            let (time, many) = (now + 1 + rng.below(horizon), 1000..1000 + rng.below(30).saturating_sub(10));
            wheel.push_all(time, many.clone().map(|event| (event, Rc::clone(&held))));
            due.entry(time).or_default().extend(many);
            let under_way = due.values().map(Vec::len).sum::<usize>();
            assert_eq!((wheel.len(), Rc::strong_count(&held)), (under_way, 1 + under_way));
            let mut all: Vec<u32> = wheel.iter().map(|event| event.0).collect();
            let mut expected = due.values().flatten().copied().collect::<Vec<_>>();
            all.sort_unstable();
            expected.sort_unstable();
            assert_eq!(all, expected);
            let events = wheel.take(now);
            let found: Vec<u32> = events.iter().map(|event| event.0).collect();
            assert_eq!(found, due.remove(&now).unwrap_or_default());
            wheel.recycle(events);
        }
        drop(wheel);
        assert_eq!(Rc::strong_count(&held), 1);
    }

    #[test]
    fn the_slot_that_is_filled_next_has_the_memory_that_was_left_last() {
        let (mut wheel, mut unready) = (Wheel::new(11), Vec::new());
        // One event in each cycle, 3 cycles ahead, then 5, then 2, where what is further ahead has memory already.
        for now in 0..90 {
            let events = wheel.take(now);
            wheel.recycle(events);
            let time = now + [3, 5, 2][now as usize / 30];
            if !wheel.slots[(time & wheel.mask) as usize].has_memory() {
                unready.push(now);
            }
            wheel.push(time, now);
        }
        // Only until as many slots have memory as events are ahead.
        assert_eq!(unready, [0, 1, 2, 30, 34]);
        assert_eq!(wheel.slots.iter().filter(|slot| slot.has_memory()).count(), 5);
    }

    #[test]
    #[cfg_attr(miri, ignore = "many cycles, and the tests above have the same unsafe code")]
    fn a_wheel_has_few_more_vectors_than_slots_with_events() {
        // Events far ahead, then near ones among them.
        let (mut wheel, mut rng, mut most) = (Wheel::new(1023), Rng::stream(7, 0), 0);
        for now in 0..4000 {
            let events = wheel.take(now);
            wheel.recycle(events);
            if now % 8 == 0 {
                wheel.push(now + NEAR + 1 + rng.below(1000), now);
            }
            if now > 2000 && now % 8 == 3 {
                wheel.push(now + 1 + rng.below(30), now);
            }
            most = most.max(wheel.slots.iter().filter(|slot| !slot.events().is_empty()).count());
            let held = wheel.slots.iter().filter(|slot| slot.has_memory()).count() + wheel.memory.spare.len();
            // Near slots may have memory and no event yet.
            let allowed = most + if now > 2000 { NEAR as usize } else { 0 };
            assert!(held <= allowed, "{held}, not {allowed}, in cycle {now}");
        }
    }

    #[test]
    fn flits_are_counted_once_whenever_counts_are_cleared() {
        // SAFETY: the test asks for places that `insert` has returned.
        let mut pool = Pool::new(&unsafe { TableMaker::promise() }, 6);
        let mut channels = Channels::of_loops(1);
        let mut send = |channels: &mut Channels| {
            let place = pool.insert(Flit::NONE);
            channels.send_flit(PortId(0), 0, 1, place);
        };
        // They depart in cycles 1 to 5.
        (0..5).for_each(|_| send(&mut channels));
        channels.clear(3);
        assert_eq!((channels.departed, channels.ends[0].sent, channels.sent()), (2, 3, 5));
        send(&mut channels);
        channels.clear(20);
        assert_eq!((channels.departed, channels.ends[0].sent, channels.sent()), (6, 0, 6));
    }

    #[test]
    fn flits_that_depart_with_free_cycles_between_are_counted_in_the_window_in_which_they_do() {
        const DELAY: u32 = 10;
        // SAFETY: the test asks for places that `insert` has returned.
        let mut pool = Pool::new(&unsafe { TableMaker::promise() }, 6);
        let (mut channels, mut rng) = (Channels::of_loops(1), Rng::stream(1, 0));
        channels.output_delay = DELAY;
        // Some hundreds queue.
        channels.wires.flits = [1_023; 4].map(Wheel::new);
        let (mut departures, mut free, mut cleared) = (Vec::new(), 0, 0);
        for now in 0..4_000 {
            // Few for a while, then more than the channel takes, then few.
            let most = if now / 200 % 3 == 1 { 4 } else { 2 };
            let sent = channels.ends[0].sent - channels.waiting(PortId(0), now);
            let departed = |from: u32, until: u32| departures.iter().filter(|&&at| from <= at && at < until).count();
            // Up to the first clearing nothing can have departed before.
            let from = if cleared == 0 { 0 } else { cleared + DELAY };
            assert_eq!(
                (sent as usize, channels.sent() as usize),
                (departed(from, now + DELAY), departures.len()),
                "{now}"
            );
            if rng.below(50) == 0 {
                channels.clear(now);
                cleared = now;
            }
            for _ in 0..rng.below(most) {
                let place = pool.insert(Flit::NONE);
                channels.send_flit(PortId(0), 0, now + DELAY, place);
                free = (now + DELAY).max(free) + 1;
                departures.push(free - 1);
            }
            channels.wires.flits.iter_mut().for_each(|wheel| {
                let events = wheel.take(now);
                wheel.recycle(events);
            });
        }
        assert!(departures.len() > 2_000 && cleared > 3_000);
    }

    #[test]
    fn what_leaves_for_other_domains_is_packed_once_and_its_places_are_free() {
        // SAFETY: the test asks for places that `insert` has returned.
        let mut pool = Pool::new(&unsafe { TableMaker::promise() }, 40);
        let mut channels = channels_of(1, Link { latency: 2, domain: 1, slow: false }, 0);
        for dst in 0..40 {
            let place = pool.insert(Flit { dst, ..Flit::NONE });
            channels.send_flit(PortId(0), 0, 1, place);
        }
        assert!(channels.wires.outboxes[1].flits.is_empty());
        channels.wires.pack(&mut pool);
        channels.wires.pack(&mut pool);
        let packed: Vec<(u32, u32, u32)> =
            channels.wires.outboxes[1].flits.iter().map(|&(time, to, flit)| (time, to, flit.dst)).collect();
        assert_eq!(packed, (0..40).map(|sent| (sent + 3, 1, sent)).collect::<Vec<_>>());
        assert!(channels.wires.outboxes[0].flits.is_empty());
        let mut free: Vec<u32> = (0..40).map(|_| pool.insert(Flit::NONE)).collect();
        free.sort_unstable();
        assert_eq!(free, (0..40).collect::<Vec<_>>());
    }
}
