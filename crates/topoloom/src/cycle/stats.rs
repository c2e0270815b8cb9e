//! What a domain counts. All sums are of whole numbers, so merging domains gives the same in any order.

/// Cycles in a slot: the grain of warm-up detection and of batch means.
pub const SLOT: u32 = 32;

/// Packets and flits counted in one slot of time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Slot {
    /// Packets created in the slot, by now injected.
    pub created: u64,
    /// Of those, packets that have arrived.
    pub arrived: u64,
    /// Their summed latency.
    pub latency: u64,
    /// Flits that arrived at terminals in the slot, whenever created.
    pub flits: u64,
    /// Packets that arrived in the slot, whenever created.
    pub packets: u64,
    /// Their summed latency.
    pub latency_of_packets: u64,
}

impl Slot {
    fn add(&mut self, other: &Slot) {
        self.created += other.created;
        self.arrived += other.arrived;
        self.latency += other.latency;
        self.flits += other.flits;
        self.packets += other.packets;
        self.latency_of_packets += other.latency_of_packets;
    }
}

/// The count at `index`, of all that there are from now on.
#[inline(always)]
fn entry<T: Clone + Default>(counts: &mut Vec<T>, index: usize) -> &mut T {
    if index >= counts.len() {
        return more(counts, index);
    }
    &mut counts[index]
}

/// The same where there are fewer.
#[cold]
fn more<T: Clone + Default>(counts: &mut Vec<T>, index: usize) -> &mut T {
    counts.resize(index + 1, T::default());
    &mut counts[index]
}

/// Latencies counted exactly up to [`Histogram::EXACT`], then in 32 steps an octave.
#[derive(Debug, Clone, Default)]
pub struct Histogram {
    counts: Vec<u64>,
}

impl Histogram {
    /// Latencies below this have a bin of their own.
    const EXACT: u32 = 4096;

    fn bin(latency: u32) -> usize {
        if latency < Self::EXACT {
            return latency as usize;
        }
        let octave = latency.ilog2();
        let step = latency >> (octave - 5) & 31;
        (Self::EXACT + (octave - 12) * 32 + step) as usize
    }

    /// The least latency of a bin.
    fn floor(bin: usize) -> u32 {
        let bin = bin as u32;
        if bin < Self::EXACT {
            return bin;
        }
        let (octave, step) = ((bin - Self::EXACT) / 32 + 12, (bin - Self::EXACT) % 32);
        (32 + step) << (octave - 5)
    }

    /// Counts one latency.
    #[inline(always)]
    pub fn insert(&mut self, latency: u32) {
        *entry(&mut self.counts, Self::bin(latency)) += 1;
    }

    fn add(&mut self, other: &Histogram) {
        self.counts.resize(self.counts.len().max(other.counts.len()), 0);
        self.counts.iter_mut().zip(&other.counts).for_each(|(a, b)| *a += b);
    }

    /// The least latency that at least the share `q` of all packets do not exceed; `None` if there are none.
    pub fn quantile(&self, q: f64) -> Option<u32> {
        let total: u64 = self.counts.iter().sum();
        let wanted = ((q * total as f64).ceil() as u64).max(1);
        let mut sum = 0;
        self.counts
            .iter()
            .position(|count| {
                sum += count;
                sum >= wanted && total > 0
            })
            .map(Self::floor)
    }
}

/// Routers visited that are counted apart.
const HOP_COUNTS: usize = 32;

/// The counts of one domain, or of all.
#[derive(Debug, Clone)]
pub struct Stats {
    /// Packets created from this cycle on are measured.
    pub from: u32,
    /// Packets created from this cycle on are not.
    pub until: u32,
    /// Measures packets by when they arrive instead: past saturation those created in the window may be far behind.
    pub by_arrival: bool,
    /// Counts by slot of time.
    pub slots: Vec<Slot>,
    /// Measured packets that were injected.
    pub created: u64,
    /// Measured packets that arrived.
    pub arrived: u64,
    /// Their summed latency, from creation to the tail's arrival.
    pub latency: u64,
    /// Their summed latency from injection on.
    pub network_latency: u64,
    /// Their summed routers visited.
    pub hops: u64,
    /// How many visited this many routers; the last counts those that visited more, too.
    pub hop_counts: [u64; HOP_COUNTS],
    /// Flits of measured packets that arrived.
    pub flits: u64,
    /// Their summed latency, from the packet's creation to their own arrival.
    pub flit_latency: u64,
    /// Flits that arrived at terminals within the window.
    pub accepted: u64,
    /// Flits that left terminals, ever.
    pub injected_flits: u64,
    /// Flits that arrived at terminals, ever.
    pub ejected_flits: u64,
    /// The cycle in which a packet last arrived.
    pub last_arrival: u32,
    /// Latencies of measured packets.
    pub histogram: Histogram,
    /// What has arrived in the cycle at hand, until [`Stats::settle`] counts it.
    arriving: Arriving,
}

/// What arrives at terminals in a cycle.
#[derive(Debug, Clone, Copy, Default)]
struct Arriving {
    flits: u64,
    packets: u64,
    latency: u64,
}

impl Default for Stats {
    fn default() -> Self {
        Self {
            from: u32::MAX,
            until: u32::MAX,
            by_arrival: false,
            slots: Vec::new(),
            created: 0,
            arrived: 0,
            latency: 0,
            network_latency: 0,
            hops: 0,
            hop_counts: [0; HOP_COUNTS],
            flits: 0,
            flit_latency: 0,
            accepted: 0,
            injected_flits: 0,
            ejected_flits: 0,
            last_arrival: 0,
            histogram: Histogram::default(),
            arriving: Arriving::default(),
        }
    }
}

impl Stats {
    #[inline(always)]
    fn slot(&mut self, time: u32) -> &mut Slot {
        entry(&mut self.slots, (time / SLOT) as usize)
    }

    #[inline(always)]
    fn measured(&self, created: u32, now: u32) -> bool {
        let time = if self.by_arrival { now } else { created };
        time >= self.from && time < self.until
    }

    /// This many packets created at `created` have left their terminals.
    #[inline(always)]
    pub fn injected(&mut self, created: u32, packets: u64) {
        self.slot(created).created += packets;
        if self.measured(created, created) {
            self.created += packets;
        }
    }

    /// A flit has arrived at its terminal, of a packet created at `created` if that is known.
    #[inline(always)]
    pub fn ejected(&mut self, created: Option<u32>, now: u32) {
        self.arriving.flits += 1;
        if let Some(created) = created.filter(|created| self.measured(*created, now)) {
            self.flits += 1;
            self.flit_latency += u64::from(now - created);
        }
    }

    /// A packet's tail has arrived at its terminal.
    #[inline(always)]
    pub fn delivered(&mut self, created: u32, injected: u32, hops: u16, now: u32) {
        self.deliver(created, injected, hops, now);
    }

    /// Counts a packet that has arrived; returns true if it is measured.
    #[inline(always)]
    fn deliver(&mut self, created: u32, injected: u32, hops: u16, now: u32) -> bool {
        let latency = now - created;
        self.arriving.packets += 1;
        self.arriving.latency += u64::from(latency);
        let slot = self.slot(created);
        slot.arrived += 1;
        slot.latency += u64::from(latency);
        let measured = self.measured(created, now);
        if measured {
            self.arrived += 1;
            self.latency += u64::from(latency);
            self.network_latency += u64::from(now - injected);
            self.hops += u64::from(hops);
            self.hop_counts[usize::from(hops).min(HOP_COUNTS - 1)] += 1;
            self.histogram.insert(latency);
        }
        measured
    }

    /// A packet of one flit has arrived at its terminal: [`Stats::ejected`] and [`Stats::delivered`] at once.
    #[inline(always)]
    pub fn arrived_whole(&mut self, created: u32, injected: u32, hops: u16, now: u32) {
        self.arriving.flits += 1;
        if self.deliver(created, injected, hops, now) {
            self.flits += 1;
            self.flit_latency += u64::from(now - created);
        }
    }

    /// All that arrives at terminals in cycle `now` has arrived.
    pub fn settle(&mut self, now: u32) {
        let Arriving { flits, packets, latency } = std::mem::take(&mut self.arriving);
        if flits == 0 {
            return;
        }
        self.ejected_flits += flits;
        if now >= self.from && now < self.until {
            self.accepted += flits;
        }
        if packets > 0 {
            self.last_arrival = now;
        }
        let slot = self.slot(now);
        slot.flits += flits;
        slot.packets += packets;
        slot.latency_of_packets += latency;
    }

    /// Makes sure that there are slots for all time before `now`, even if nothing happened.
    pub fn cover(&mut self, now: u32) {
        let slots = now.div_ceil(SLOT) as usize;
        if self.slots.len() < slots {
            self.slots.resize(slots, Slot::default());
        }
    }

    /// Measures what is created from a cycle on, and forgets what was measured before. Counts of all time stay.
    pub fn begin_window(&mut self, from: u32) {
        let before = std::mem::take(self);
        *self = Self {
            from,
            slots: before.slots,
            injected_flits: before.injected_flits,
            ejected_flits: before.ejected_flits,
            last_arrival: before.last_arrival,
            arriving: before.arriving,
            ..Self::default()
        };
    }

    /// Adds another domain's counts.
    pub fn add(&mut self, other: &Stats) {
        self.slots.resize(self.slots.len().max(other.slots.len()), Slot::default());
        self.slots.iter_mut().zip(&other.slots).for_each(|(a, b)| a.add(b));
        self.created += other.created;
        self.arrived += other.arrived;
        self.latency += other.latency;
        self.network_latency += other.network_latency;
        self.hops += other.hops;
        self.hop_counts.iter_mut().zip(other.hop_counts).for_each(|(a, b)| *a += b);
        self.flits += other.flits;
        self.flit_latency += other.flit_latency;
        self.accepted += other.accepted;
        self.last_arrival = self.last_arrival.max(other.last_arrival);
        self.injected_flits += other.injected_flits;
        self.ejected_flits += other.ejected_flits;
        self.histogram.add(&other.histogram);
    }
}

#[cfg(test)]
mod tests {
    use super::{Histogram, Stats};

    #[test]
    fn a_packet_of_one_flit_counts_as_its_flit_and_its_end() {
        for by_arrival in [false, true] {
            let [mut whole, mut apart] =
                [(); 2].map(|()| Stats { from: 100, until: 200, by_arrival, ..Stats::default() });
            for (created, injected, now) in [(90, 95, 99), (99, 100, 150), (100, 100, 107), (150, 190, 230)] {
                whole.arrived_whole(created, injected, 3, now);
                apart.ejected(Some(created), now);
                apart.delivered(created, injected, 3, now);
                [&mut whole, &mut apart].into_iter().for_each(|stats| stats.settle(now));
            }
            assert_eq!(format!("{whole:?}"), format!("{apart:?}"));
            assert_eq!((whole.flits, whole.arrived, whole.ejected_flits), (2, 2, 4));
        }
    }

    #[test]
    fn bins_cover_all_latencies_in_order_and_within_a_thirty_second() {
        let mut previous = 0;
        for latency in (0..9000).chain((0..200_000_000).step_by(99_991)) {
            let bin = Histogram::bin(latency);
            let floor = Histogram::floor(bin);
            assert!(floor <= latency && latency - floor <= latency / 32, "{latency} in bin {bin} from {floor}");
            if latency > 0 && latency < 9000 {
                assert!(bin == previous || bin == previous + 1);
            }
            previous = bin;
        }
    }

    #[test]
    fn quantiles_are_the_order_statistics() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        (1..=100).for_each(|latency| histogram.insert(latency));
        assert_eq!(histogram.quantile(0.5), Some(50));
        assert_eq!(histogram.quantile(0.99), Some(99));
        assert_eq!(histogram.quantile(1.0), Some(100));
    }
}
