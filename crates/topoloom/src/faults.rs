//! Failures of links and routers: which ones fail, and the network that is left.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::catalogue::grammar::FAIL;
use crate::catalogue::{self, Alone, Arguments, Entry, Key, Kind as Type, Lead};
use crate::error::{Error, Result, unknown};
use crate::network::{LinkId, Network, RouterId, Structure};
use crate::rng::Rng;

/// What fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Links between routers; links to terminals never fail.
    Links,
    /// Routers, with their links and terminals.
    Routers,
}

impl Kind {
    /// Both kinds.
    pub const ALL: [Kind; 2] = [Kind::Links, Kind::Routers];

    /// The name that users type.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Links => "links",
            Kind::Routers => "routers",
        }
    }

    /// The kind called `name`.
    ///
    /// # Errors
    /// [`Error::Config`] names the kinds that there are.
    pub fn named(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| Error::Config(unknown("kind of failure", name, Self::ALL.map(Self::name))))
    }

    /// How many of them `network` has.
    pub fn count(self, network: &Network) -> usize {
        match self {
            Kind::Links => network.links().len(),
            Kind::Routers => network.num_routers(),
        }
    }

    /// The order in which all of them fail in one trial: a uniformly random permutation of their ids. A failed fraction
    /// is a prefix of it, so that more failures include fewer.
    pub fn order(self, network: &Network, seed: u64, trial: u64) -> Vec<u32> {
        let mut ids: Vec<u32> = (0..self.count(network) as u32).collect();
        Rng::stream(seed, 2 * trial + self as u64).shuffle(&mut ids);
        ids
    }
}

/// The number that a fraction of `count` means: the nearest, halves up.
pub fn failures(fraction: f64, count: usize) -> usize {
    // A little more, so that a half is up although 0.35, for example, is a little less in binary.
    ((fraction * count as f64 + 0.5 + 1e-9).floor() as usize).min(count)
}

/// How many fail.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Amount {
    Number(usize),
    Percent(f64),
}

impl Amount {
    /// The value of the key of this kind, if it is given.
    fn of_key(kind: Kind, given: &Arguments) -> Result<Option<Self>> {
        let name = kind.name();
        let Some(text) = given.text(name) else { return Ok(None) };
        let number = || text.parse().ok().map(Self::Number);
        let percent = |percent: f64| (0.0..=100.0).contains(&percent).then_some(Self::Percent(percent));
        let read = match text.strip_suffix('%') {
            Some(percentage) => percentage.parse().ok().and_then(percent),
            None => number(),
        };
        let wanted = || match text.ends_with('%') {
            true => "a percentage must be from 0% to 100%".to_owned(),
            false => format!("it must be a whole number from 0 to that of all {name}, or a percentage such as 5%"),
        };
        read.map(Some).ok_or_else(|| given.mistake(format_args!("{name} is '{text}'; {}", wanted())))
    }

    fn of(self, kind: Kind, network: &Network) -> Result<usize> {
        let (name, count) = (kind.name(), kind.count(network));
        match self {
            Self::Percent(percent) => Ok(failures(percent / 100.0, count)),
            Self::Number(number) if number <= count => Ok(number),
            Self::Number(number) => {
                Err(Error::Config(format!("--fail: {name} is {number}, but {} has {count} {name}", network.spec())))
            }
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

/// What a number of failures may be.
const AMOUNT: Type = Type::Text("a whole number from 0 to that of all, or a percentage such as 5%");

/// The network that fails, which is in brackets behind the other keys.
pub const BASE: Key = Key::new(catalogue::BASE, Type::Network, "the network, in brackets; ends the spec");

/// The keys of failures, and the network that they are of.
pub const KEYS: &[Key] = &[
    Key::new("links", AMOUNT, "links between routers that fail: how many, or what part, as in 5% (default none)"),
    Key::new(
        "routers",
        AMOUNT,
        "routers that fail with their links and terminals: how many, or what part (default none)",
    ),
    Key::new("seed", Type::SEED, "which ones (default 1)"),
    BASE,
];

/// How command lines write failures: the network stands elsewhere.
pub const ENTRY: Entry = Entry {
    noun: "the option",
    name: "--fail",
    lead: Lead::Nothing,
    keys: KEYS.split_at(KEYS.len() - 1).0,
    shared: &[],
    alone: Alone::Mistake(", as in links=5%,seed=1"),
    wrong: Error::Config,
};

/// Random failures as users ask for them: `links=5%,routers=2,seed=1`.
///
/// The links are the first ones of [`Kind::order`]'s trial 0, and so are the routers; a link fails, too, if a router at
/// one of its ends does.
#[derive(Debug, Clone, PartialEq)]
pub struct Failures {
    links: Option<Amount>,
    routers: Option<Amount>,
    seed: u64,
}

impl Failures {
    /// Reads `key=value,…`, as command lines write it behind `--fail`; the seed is 1 unless given.
    ///
    /// # Errors
    /// [`Error::Config`] for a key or value that is not allowed.
    pub fn parse(text: &str) -> Result<Self> {
        if text.trim().is_empty() {
            return Err(Error::Config("--fail: '' is not key=value, as in links=5%,seed=1".to_owned()));
        }
        Self::of(&Arguments::read(ENTRY, ENTRY.name, text)?)
    }

    /// What is given by [`KEYS`].
    ///
    /// # Errors
    /// That of the name, for a value that is not allowed, and if nothing fails.
    pub fn of(given: &Arguments) -> Result<Self> {
        let (links, routers) = (Amount::of_key(Kind::Links, given)?, Amount::of_key(Kind::Routers, given)?);
        if links.is_none() && routers.is_none() {
            return Err(given.mistake("nothing fails; give links=, routers= or both"));
        }
        Ok(Self { links, routers, seed: given.int("seed").unwrap_or(1) })
    }

    /// The network that is left of `network`.
    ///
    /// # Errors
    /// [`Error::Config`] if more should fail than there is, or everything.
    pub fn apply(&self, network: &Network) -> Result<Network> {
        self.leave(network, format!("{}{FAIL}{self}", network.spec()))
    }

    /// The same, under a spec of its own.
    pub(crate) fn leave(&self, network: &Network, spec: String) -> Result<Network> {
        let first = |kind: Kind, amount: Option<Amount>| -> Result<Vec<u32>> {
            let mut order = kind.order(network, self.seed, 0);
            order.truncate(amount.map_or(Ok(0), |amount| amount.of(kind, network))?);
            Ok(order)
        };
        let links: Vec<LinkId> = first(Kind::Links, self.links)?.into_iter().map(LinkId).collect();
        let routers: Vec<RouterId> = first(Kind::Routers, self.routers)?.into_iter().map(RouterId).collect();
        network.without_as(&links, &routers, &self.to_string(), spec)
    }
}

impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kind, amount) in [(Kind::Links, self.links), (Kind::Routers, self.routers)] {
            if let Some(amount) = amount {
                write!(f, "{}={amount},", kind.name())?;
            }
        }
        write!(f, "seed={}", self.seed)
    }
}

/// The family of a network once something has failed: no closed form of its own family holds any more.
pub const FAMILY: &str = "faulty";

/// What a network knows of its failures.
#[derive(Debug)]
struct FailureStructure {
    intact: Network,
    how: String,
    down: Vec<bool>,
}

impl Structure for FailureStructure {}

impl Network {
    /// The network that is left when links and routers fail; its spec shows `how` after `--fail`.
    ///
    /// All ids of routers and terminals stay. A failed router loses its links; its terminals are still there, but take
    /// no part in traffic, distances or anything else that is counted. Ports and links are counted again.
    ///
    /// # Errors
    /// [`Error::Config`] if something has failed before, or if no router is left.
    pub fn without(&self, links: &[LinkId], routers: &[RouterId], how: &str) -> Result<Self> {
        self.without_as(links, routers, how, format!("{}{FAIL}{how}", self.spec()))
    }

    fn without_as(&self, links: &[LinkId], routers: &[RouterId], how: &str, spec: String) -> Result<Self> {
        if let Some(fail) = self.failures() {
            return Err(Error::Config(format!(
                "{} has failures already ({fail}); name all of them in one --fail",
                self.intact().spec()
            )));
        }
        let mut down = vec![false; self.num_routers()];
        routers.iter().for_each(|router| down[router.index()] = true);
        if down.iter().all(|&down| down) {
            return Err(Error::Config(format!("--fail: {how} leaves no router of {}", self.spec())));
        }
        let mut failed = vec![false; self.links().len()];
        links.iter().for_each(|link| failed[link.index()] = true);
        for (failed, link) in failed.iter_mut().zip(self.links()) {
            *failed |= link.ends.iter().any(|port| down[self.ports()[port.index()].router.index()]);
        }
        let structure = FailureStructure { intact: self.clone(), how: how.to_owned(), down };
        Ok(self.with_links_of(|link| !failed[link.index()], spec, FAMILY, Arc::new(structure)))
    }

    /// What failed, as it is behind `--fail`; `None` if nothing did.
    pub fn failures(&self) -> Option<&str> {
        self.structure::<FailureStructure>().map(|faulty| faulty.how.as_str())
    }

    /// The network before anything failed.
    pub fn intact(&self) -> &Network {
        self.structure::<FailureStructure>().map_or(self, |faulty| &faulty.intact)
    }

    /// True if `router` has not failed.
    pub fn is_up(&self, router: RouterId) -> bool {
        self.structure::<FailureStructure>().is_none_or(|faulty| !faulty.down[router.index()])
    }

    /// The routers that have not failed.
    pub fn up_routers(&self) -> impl Iterator<Item = RouterId> + Clone + '_ {
        let faulty = self.structure::<FailureStructure>();
        self.routers().filter(move |router| faulty.is_none_or(|faulty| !faulty.down[router.index()]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Peer;
    use crate::topology::build;

    #[test]
    fn what_is_left_is_the_same_network_with_fewer_links() {
        for spec in ["mesh:4x3,p=2", "fattree:k=2,levels=3", "hyperx:3x3,trunk=2,p=3", "dragonfly:a=4,h=2,p=2"] {
            let whole = build(spec).expect(spec);
            let left = Failures::parse("links=20%,routers=2,seed=3").and_then(|f| f.apply(&whole)).expect(spec);
            assert_eq!((left.num_routers(), left.num_terminals()), (whole.num_routers(), whole.num_terminals()));
            assert_eq!(left.up_routers().count(), whole.num_routers() - 2);
            let broken = &Kind::Links.order(&whole, 3, 0)[..failures(0.2, whole.links().len())];
            let down = &Kind::Routers.order(&whole, 3, 0)[..2];
            let ends = |network: &Network, link: &crate::network::Link| {
                link.ends.map(|port| network.ports()[port.index()].router.0)
            };
            let expected: Vec<[u32; 2]> = (0u32..)
                .zip(whole.links())
                .filter(|(id, _)| !broken.contains(id))
                .map(|(_, link)| ends(&whole, link))
                .filter(|ends| ends.iter().all(|router| !down.contains(router)))
                .collect();
            let found: Vec<[u32; 2]> = left.links().iter().map(|link| ends(&left, link)).collect();
            assert_eq!(found, expected, "{spec}");
            for router in left.routers() {
                assert_eq!(left.is_up(router), !down.contains(&router.0));
                let [before, after] = [&whole, &left].map(|n| n.terminals_of(router).collect::<Vec<_>>());
                assert_eq!(before, after, "terminals stay, {spec}");
                assert!(after.iter().all(|&terminal| left.router_of(terminal) == router));
            }
            for (id, port) in (0u32..).zip(left.ports()) {
                let Peer::Port(peer) = port.peer else { continue };
                let other = &left.ports()[peer.index()];
                assert_eq!(other.peer, Peer::Port(crate::network::PortId(id)), "links have two ends, {spec}");
            }
            assert_eq!(left.spec(), format!("{spec} --fail links=20%,routers=2,seed=3"));
            assert_eq!(build(left.spec()).expect("a spec of its own").links(), left.links());
        }
    }

    #[test]
    fn failures_read_back_what_they_print() {
        for text in ["links=5%,seed=1", "links=12,seed=9", "routers=2,seed=1", "links=0.5%,routers=10%,seed=0"] {
            assert_eq!(Failures::parse(text).expect(text).to_string(), text);
        }
        assert_eq!(Failures::parse("routers=1").expect("a seed is not needed").to_string(), "routers=1,seed=1");
    }
}
