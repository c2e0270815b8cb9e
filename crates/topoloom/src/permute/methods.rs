//! The three ways of exchanging ends at random: two-cab, three-cab, one-step.

use std::collections::BTreeMap;

use super::cabling::{Cabling, Ways};
use crate::provenance::Counts;
use crate::rng::Rng;

/// Which cables may exchange ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Those within each cabinet, then those between each pair of cabinets.
    TwoCab,
    /// Those within each cabinet, then those among each three cabinets.
    ThreeCab,
    /// Those within and between each pair of cabinets, in one go.
    OneStep,
}

impl Method {
    /// All of them, with the names that users type.
    pub const NAMES: [(&str, Method); 3] =
        [("two-cab", Method::TwoCab), ("three-cab", Method::ThreeCab), ("one-step", Method::OneStep)];

    /// The name that users type.
    pub fn name(self) -> &'static str {
        Self::NAMES.into_iter().find(|&(_, method)| method == self).map_or("", |(name, _)| name)
    }
}

/// The lists of cables by cabinets: [`Cabling::by_cabinets`], which no exchange changes.
pub(super) type Sets = BTreeMap<(u32, u32), Vec<u32>>;

/// Exchanges by a method. `swappable` is the probability that a pair may.
pub(super) fn permute(cabling: &mut Cabling, sets: &Sets, method: Method, swappable: f64, rng: &mut Rng) -> Counts {
    let ways = Ways::new(cabling.len());
    let mut permuter = Permuter { cabling, ways, swappable, rng, counts: Counts::default() };
    match method {
        Method::TwoCab => {
            permuter.within_cabinets(sets);
            for (_, cables) in sets.iter().filter(|((i, j), _)| i != j) {
                permuter.exchange_all(cables.clone());
            }
        }
        Method::ThreeCab => {
            permuter.within_cabinets(sets);
            let mut triads = triads(sets);
            permuter.rng.shuffle(&mut triads);
            for [a, b, c] in triads {
                permuter.exchange_all(union(sets, [(a, b), (b, c), (a, c)]));
            }
        }
        Method::OneStep => {
            let cabinets = permuter.cabling.cabinets().iter().max().map_or(0, |&last| last + 1);
            let mut pairs: Vec<(u32, u32)> =
                (0..cabinets).flat_map(|i| (i + 1..cabinets).map(move |j| (i, j))).collect();
            permuter.rng.shuffle(&mut pairs);
            for (i, j) in pairs {
                permuter.exchange_all(union(sets, [(i, j), (i, i), (j, j)]));
            }
        }
    }
    permuter.counts
}

/// All cables of some sets.
fn union<const N: usize>(sets: &Sets, keys: [(u32, u32); N]) -> Vec<u32> {
    keys.iter().filter_map(|key| sets.get(key)).flatten().copied().collect()
}

/// Every three cabinets of which two pairs at least are joined: of others two-cab has exchanged all that there is.
fn triads(sets: &Sets) -> Vec<[u32; 3]> {
    let mut joined = BTreeMap::<u32, Vec<u32>>::new();
    for &(i, j) in sets.keys().filter(|(i, j)| i != j) {
        joined.entry(i).or_default().push(j);
        joined.entry(j).or_default().push(i);
    }
    let mut found = Vec::new();
    for (&middle, others) in &joined {
        for (place, &a) in others.iter().enumerate() {
            for &b in &others[place + 1..] {
                let (low, high) = (a.min(b), a.max(b));
                // Three that are all joined are met three times; the first cabinet of them counts.
                if middle < low || !sets.contains_key(&(low, high)) {
                    let mut triad = [low, high, middle];
                    triad.sort_unstable();
                    found.push(triad);
                }
            }
        }
    }
    found
}

struct Permuter<'a> {
    cabling: &'a mut Cabling,
    ways: Ways,
    swappable: f64,
    rng: &'a mut Rng,
    counts: Counts,
}

impl Permuter<'_> {
    fn within_cabinets(&mut self, sets: &Sets) {
        for (_, cables) in sets.iter().filter(|((i, j), _)| i == j) {
            self.exchange_all(cables.clone());
        }
    }

    /// Draws pairs of cables until fewer than two are left; each pair exchanges ends if it may.
    fn exchange_all(&mut self, mut cables: Vec<u32>) {
        self.rng.shuffle(&mut cables);
        for pair in cables.chunks_exact(2) {
            if self.swappable < 1.0 && self.rng.unit() > self.swappable {
                self.counts.fixed += 1;
            } else {
                self.exchange(pair[0], pair[1]);
            }
        }
    }

    fn exchange(&mut self, e: u32, f: u32) {
        let Some([x, y]) = self.ends_in_common(e, f) else {
            self.counts.refused += 1;
            return;
        };
        if !self.cabling.may_exchange(x, y) {
            self.counts.refused += 1;
            return;
        }
        let [a, b] = [self.cabling.vertex(x), self.cabling.peer(x)];
        self.cabling.exchange(x, y);
        if self.ways.joins(self.cabling, a, b) {
            self.counts.exchanged += 1;
        } else {
            self.cabling.exchange(x, y);
            self.counts.disconnecting += 1;
        }
    }

    /// An end of each cable in a cabinet that both have an end in; any of them if there are several.
    fn ends_in_common(&mut self, e: u32, f: u32) -> Option<[u32; 2]> {
        let (e, f) = (self.cabling.ends(e), self.cabling.ends(f));
        let [first, second] = [self.rng.coin(), self.rng.coin()].map(usize::from);
        let sides = [(first, second), (first, 1 - second), (1 - first, second), (1 - first, 1 - second)];
        let in_common = |&(a, b): &(usize, usize)| self.cabling.cabinet(e[a]) == self.cabling.cabinet(f[b]);
        sides.into_iter().find(|sides| in_common(sides)).map(|(a, b)| [e[a], f[b]])
    }
}
