//! Links that are slower than the fastest one: how far apart they carry flits.
//!
//! A cycle is a flit at the fastest rate of the network, of a link or of an accelerator by all its links. A link of
//! p / q of that rate carries a flit every q / p cycles: at times that are q / p apart, each rounded up to a cycle, so
//! that in the long run it carries p flits in q cycles exactly. A flit is at hand once its last bit is, so that a slow
//! link also takes ceil(q / p) - 1 cycles more than a fast one.

use crate::network::{Network, PortId};

/// How far apart a link carries flits, and where its clock stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pace {
    /// Cycles from flit to flit: this many, …
    whole: u32,
    /// … and this part of `p` more.
    rest: u64,
    p: u64,
    /// The distance of the clocks of flits and of credits to the cycle that they are rounded up to, in parts of `p`.
    clocks: [u64; 2],
}

impl Pace {
    /// That of one flit per cycle.
    pub const FULL: Self = Self { whole: 1, rest: 0, p: 1, clocks: [0; 2] };

    /// That of a link of `gbps` where a cycle is a flit at `fastest`; equal to one kilobit per second.
    pub fn of(gbps: f64, fastest: f64) -> Self {
        let [own, most] = [gbps, fastest].map(|gbps| (gbps * 1e6).round().max(1.0) as u64);
        if own >= most {
            return Self::FULL;
        }
        let divisor = common_divisor(most, own);
        let (p, q) = (own / divisor, most / divisor);
        Self { whole: (q / p) as u32, rest: q % p, p, clocks: [0; 2] }
    }

    /// That of the link at `port`, where a cycle is a flit at `fastest`.
    pub fn of_port(network: &Network, port: PortId, fastest: Option<f64>) -> Self {
        match (network.gbps(port), fastest) {
            (Some(gbps), Some(fastest)) => Self::of(gbps, fastest),
            _ => Self::FULL,
        }
    }

    /// True for a flit in every cycle.
    pub fn is_full(&self) -> bool {
        self.whole == 1 && self.rest == 0
    }

    /// Cycles that a flit takes to be sent, rounded up.
    pub fn cycles(&self) -> u32 {
        self.whole + u32::from(self.rest > 0)
    }

    /// Flits in this many cycles, rounded up.
    pub fn flits(&self, cycles: u32) -> u32 {
        let q = u64::from(self.whole) * self.p + self.rest;
        (u64::from(cycles) * self.p).div_ceil(q) as u32
    }

    /// What is sent of a flit per cycle.
    pub fn share(&self) -> f64 {
        self.p as f64 / (u64::from(self.whole) * self.p + self.rest) as f64
    }

    /// The next cycle in which a flit (`clock` 0) or a credit (1) may be sent after one in `departure`; `waited` if
    /// that one was sent as soon as the link was free.
    pub fn next(&mut self, clock: usize, departure: u32, waited: bool) -> u32 {
        // The clock stands `ahead` / p before the cycle of the departure.
        let ahead = if waited { self.clocks[clock] } else { 0 };
        let (whole, rest) = if self.rest >= ahead {
            (self.whole, self.rest - ahead)
        } else {
            (self.whole - 1, self.rest + self.p - ahead)
        };
        self.clocks[clock] = if rest == 0 { 0 } else { self.p - rest };
        departure + whole + u32::from(rest > 0)
    }
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::Pace;

    #[test]
    fn p_flits_leave_in_q_cycles() {
        for (gbps, fastest, p, q) in [
            (50.0, 900.0, 1, 18),
            (400.0, 800.0, 1, 2),
            (106.25, 400.0, 17, 64),
            (300.0, 400.0, 3, 4),
            (399.0, 400.0, 399, 400),
        ] {
            let mut pace = Pace::of(gbps, fastest);
            assert!((pace.share() - gbps / fastest).abs() < 1e-12);
            let (mut at, mut sent) = (5, Vec::new());
            for first in 0..=2 * p {
                sent.push(at);
                at = pace.next(0, at, first > 0);
            }
            assert_eq!(sent[2 * p] - 5, 2 * q, "{gbps} of {fastest}");
            // Each leaves in the first cycle that its time is not after.
            let wanted: Vec<u32> = (0..=2 * p as u32).map(|flit| 5 + (flit * q).div_ceil(p as u32)).collect();
            assert_eq!(sent, wanted);
        }
        assert!(Pace::of(400.0, 400.0).is_full());
    }

    #[test]
    fn a_link_that_was_idle_begins_anew() {
        let mut pace = Pace::of(2.0, 3.0);
        assert_eq!([pace.next(0, 0, false), pace.next(0, 2, true)], [2, 3]);
        assert_eq!(pace.next(0, 10, false), 12);
        assert_eq!(pace.next(1, 0, false), 2, "credits have a clock of their own");
        assert_eq!((pace.cycles(), pace.flits(9)), (2, 6));
    }
}
