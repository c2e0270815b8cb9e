//! Rates of links in a subnet of InfiniBand: `4xEDR`, four lanes of 25 Gb/s.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use super::ibnet::listed;

/// What a lane carries in Gb/s, by the name of its speed: payload, without the line code.
const LANES: [(&str, f64); 9] = [
    ("SDR", 2.0),
    ("DDR", 4.0),
    ("QDR", 8.0),
    ("FDR10", 10.0),
    ("FDR", 13.64),
    ("EDR", 25.0),
    ("HDR", 50.0),
    ("NDR", 100.0),
    ("XDR", 200.0),
];

/// The width and the speed of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Rate {
    lanes: u8,
    /// The position of the speed among [`LANES`], which are in ascending order.
    speed: usize,
}

impl Rate {
    /// Reads `4xEDR`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (lanes, speed) = text.split_once('x')?;
        let speed = LANES.iter().position(|&(name, _)| name == speed)?;
        Some(Self { lanes: lanes.parse().ok().filter(|lanes| [1, 2, 4, 8, 12].contains(lanes))?, speed })
    }

    /// In Gb/s.
    fn gbps(self) -> f64 {
        f64::from(self.lanes) * LANES[self.speed].1
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.lanes, LANES[self.speed].0)
    }
}

/// The names of the nodes at the ends of a cable, a switch first, and the numbers of the ports there.
pub(super) type Ends = [(String, u16); 2];

/// The rates of all cables that have one, as their ends state them.
#[derive(Default)]
pub(super) struct Rates {
    /// By whether a terminal is at one end, and the ends.
    told: BTreeMap<(bool, Ends), Vec<Rate>>,
}

impl Rates {
    /// Takes what an end of a cable gives.
    pub fn told(&mut self, of_terminal: bool, mut ends: Ends, rate: Option<Rate>) {
        if !of_terminal {
            ends.sort();
        }
        if let Some(rate) = rate {
            self.told.entry((of_terminal, ends)).or_default().push(rate);
        }
    }

    /// Sentences on rates that differ: between the ends of a cable, and among the links between switches or the cables
    /// of terminals. `end` names an end.
    pub fn notes(&self, end: impl Fn(&(String, u16)) -> String) -> Vec<String> {
        let name = |ends: &Ends| format!("{} to {}", end(&ends[0]), end(&ends[1]));
        let torn = self.told.iter().filter(|(_, rates)| rates.iter().any(|rate| *rate != rates[0]));
        let torn: Vec<String> = torn.map(|((_, ends), rates)| format!("{} ({})", name(ends), joined(rates))).collect();
        let differ = (!torn.is_empty()).then(|| format!("ends of a link have different rates: {}", listed(&torn)));
        let of = |of_terminal: bool| {
            let told = self.told.iter().filter(move |((kind, _), _)| *kind == of_terminal);
            let slowest = |rates: &[Rate]| rates.iter().copied().min_by(|a, b| a.gbps().total_cmp(&b.gbps()));
            told.filter_map(|((_, ends), rates)| Some((ends, slowest(rates)?))).collect::<Vec<_>>()
        };
        let kinds = [("links between switches", of(false)), ("cables of terminals", of(true))];
        kinds.into_iter().flat_map(|(what, links)| mixed(what, &links, name)).chain(differ).collect()
    }
}

fn joined(rates: &[Rate]) -> String {
    rates.iter().map(Rate::to_string).collect::<Vec<_>>().join(", ")
}

/// Sentences on links of several rates, and on those that run slower than most.
fn mixed(what: &str, links: &[(&Ends, Rate)], name: impl Fn(&Ends) -> String) -> Vec<String> {
    let mut counts: BTreeMap<Rate, usize> = BTreeMap::new();
    links.iter().for_each(|&(_, rate)| *counts.entry(rate).or_default() += 1);
    if counts.len() < 2 {
        return Vec::new();
    }
    let mut usual: Vec<(Rate, usize)> = counts.into_iter().collect();
    usual.sort_by_key(|&(rate, count)| (Reverse(count), Reverse(rate)));
    let counted = |&(rate, count): &(Rate, usize)| format!("{count} at {rate} ({} Gb/s)", rate.gbps());
    let all: Vec<String> = usual.iter().map(counted).collect();
    let most = usual[0].0;
    let is_slow = |rate: Rate| rate.gbps() < most.gbps();
    let slow: Vec<String> = links
        .iter()
        .filter(|(_, rate)| is_slow(*rate))
        .map(|(ends, rate)| format!("{} ({rate})", name(ends)))
        .collect();
    let rates = format!("{what} run at different rates, {}; here every link carries as much", all.join(", "));
    let slower = (!slow.is_empty()).then(|| {
        format!("{} of the {what} are slower than most, as a bad cable or port is: {}", slow.len(), listed(&slow))
    });
    [rates].into_iter().chain(slower).collect()
}
