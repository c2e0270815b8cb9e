//! Network families: parameters in, [`Network`] out. One file per family.
//!
//! A spec is `family:sizes,key=value,…` in one word. To add a family, write a file with a [`Family`] constant and
//! give it a line in [`FAMILIES`].

mod claim;
mod field;
mod figures;
mod formula;
mod given;
mod groups;
mod hosts;
mod machines;
mod params;
mod rates;
mod semidirect;
#[cfg(test)]
mod tests;
mod tree;

pub(crate) use cayley::{TURN, group, numbers};
pub use claim::of_file;
pub(crate) use cluster::cluster_of;
pub use cluster::{Cluster, HostPort};
pub use dragonfly::Dragonfly;
pub use dragonflyplus::DragonflyPlus;
pub use figures::{BuiltFigure, MachineFacts, machine_facts};
pub use flex::Flex;
pub use galaxyfly::{Galaxy, Galaxyfly, Over, Wiring};
pub use given::{GIVEN, GivenLink, given};
pub use groups::Arrangement;
pub use hosts::{HOSTS, Host, Nic};
pub use hypercube::Hypercube;
pub use hyperx::HyperX;
pub use machines::{Figure, MACHINES, Machine, Scale};
pub use mesh::Mesh;
pub use myriclos::Myriclos;
pub use nest::{Nest, Upper};
pub use params::Params;
pub use randomregular::RandomRegular;
pub use rates::LINK_KEYS;
pub use ring::Ring;
pub use semidirect::Semidirect;
pub use slimfly::SlimFly;
pub use torus::Torus;
pub use tree::{Copies, Tree};
pub use twintorus::TwinTorus;
pub use twistedtorus::Twist;

use crate::catalogue::grammar::{split_failures, split_head};
use crate::catalogue::{Alone, Arguments, Entry, Key, Kind, Lead, Name};
use crate::error::{Error, Result, unknown};
use crate::faults::{self, ENTRY as FAILURES, Failures};
use crate::layout;
use crate::network::Network;

/// A family of networks.
#[derive(Debug)]
pub struct Family {
    /// The name in specs.
    pub name: &'static str,
    /// One line for `topoloom list topologies`.
    pub summary: &'static str,
    /// How the sizes are written, or `None` where the family has none; for example "8x8".
    pub sizes: Option<&'static str>,
    /// The keys that a spec may give.
    pub keys: &'static [Key],
    /// A spec that works.
    pub example: &'static str,
    /// Where the family was published.
    pub source: &'static str,
    /// The routings that rely on what is special about the family, beside those that every network offers.
    pub routings: &'static [&'static str],
    /// Which routings play the roles that users ask for.
    pub roles: Roles,
    /// Reads the parameters, checks them, and builds. Rates and delays of links are no affair of its own.
    pub build: fn(&Params) -> Result<Network>,
}

/// The routings that `minimal` and `adaptive` stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Roles {
    /// The minimal routing.
    pub minimal: &'static str,
    /// The adaptive routing.
    pub adaptive: &'static str,
}

impl Roles {
    /// Those of a network of which nothing else is known.
    pub const ANY: Self = Self { minimal: "min", adaptive: "ugal-l" };

    /// The names of the roles.
    pub const NAMES: [&'static str; 2] = ["minimal", "adaptive"];

    /// Those of the family called `family`; networks of no family, such as those with failures, have [`Roles::ANY`].
    pub fn of(family: &str) -> Self {
        FAMILIES.iter().find(|known| known.name == family).map_or(Self::ANY, |known| known.roles)
    }

    /// The routing that plays `role`; `None` if there is no such role.
    pub fn routing(self, role: &str) -> Option<&'static str> {
        match role {
            "minimal" => Some(self.minimal),
            "adaptive" => Some(self.adaptive),
            _ => None,
        }
    }
}

impl Family {
    /// How its specs are read.
    pub fn entry(&self) -> Entry {
        let of_network = |key: Option<&Key>| key.is_some_and(|key| key.kind == Kind::Network);
        let lead = match self.keys.first() {
            _ if self.sizes.is_some() => Lead::Sizes,
            Some(first) if matches!(first.kind, Kind::File | Kind::Machine) => Lead::Path,
            first if of_network(first) => Lead::Network,
            _ if of_network(self.keys.last()) => Lead::Behind,
            _ => Lead::Nothing,
        };
        let alone = Alone::Example(self.example);
        // What ends with another network has the links of that one.
        let shared = if lead == Lead::Behind { &[] } else { LINK_KEYS };
        Entry { noun: "the topology", name: self.name, lead, keys: self.keys, shared, alone, wrong: Error::Spec }
    }
}

/// Declares the files of families, and lists the families.
macro_rules! families {
    ($($file:ident: $($family:ident),+;)+) => {
        $(mod $file;)+

        /// Every family, in the order in which users see them.
        pub static FAMILIES: &[&Family] = &[$($(&$file::$family),+),+];
    };
}

// One line per file: its name, and the families in it.
families! {
    mesh: FAMILY;
    torus: FAMILY;
    twistedtorus: FAMILY;
    twintorus: FAMILY;
    cayley: FAMILY;
    hypercube: FAMILY, FOLDED;
    hyperx: FAMILY;
    fattree: FAMILY;
    clos: FAMILY;
    xgft: FAMILY;
    dragonfly: FAMILY;
    cascade: FAMILY;
    dragonflyplus: FAMILY;
    slimfly: FAMILY;
    flex: FAMILY;
    galaxyfly: FAMILY;
    nest: TREE, GHC;
    ring: FAMILY;
    randomregular: FAMILY;
    myriclos: FAMILY;
    racktree: FAMILY;
    rails: FAMILY;
    cluster: FAMILY;
    machine: FAMILY;
    permuted: FAMILY;
    faulty: FAMILY;
    file: FAMILY;
}

/// The family called `name`.
pub fn family(name: &str) -> Result<&'static Family> {
    if GIVEN.contains(&name) {
        return Err(Error::Spec(format!(
            "'{name}' names a graph that a program gave, which no spec builds again; write it to a file, and name that"
        )));
    }
    FAMILIES
        .iter()
        .copied()
        .find(|f| f.name == name)
        .ok_or_else(|| Error::Spec(unknown("topology", name, FAMILIES.iter().map(|f| f.name))))
}

/// Builds the network that `spec` describes; `SPEC --fail links=5%,seed=1` is one with failures.
///
/// # Errors
/// [`Error::Spec`] if the spec does not parse or a parameter is not allowed; [`Error::TooLarge`], before anything is
/// allocated, if the network would not fit in memory; [`Error::Config`] for failures that are not possible.
pub fn build(spec: &str) -> Result<Network> {
    let (intact, failures) = split_failures(spec);
    if let Some(failures) = failures {
        return Failures::parse(failures)?.apply(&build(intact)?);
    }
    let (name, rest) = split_head(intact);
    let family = family(name)?;
    let params = Params::parse(intact, family, rest)?;
    rates::with_rates((family.build)(&params)?, &params)
}

/// Reads the name of a network, with its failures if a command line writes some behind it.
///
/// # Errors
/// [`Error::Spec`] for an unknown family, key or value; [`Error::Config`] for failures that are not possible.
pub fn name(text: &str) -> Result<Name> {
    let (intact, failures) = split_failures(text);
    let Some(failures) = failures else {
        let (head, rest) = split_head(intact);
        return Name::with_parts(&Arguments::read(family(head)?.entry(), intact, rest)?, head, part);
    };
    let within = name(intact)?;
    let failed = Name::of(&Arguments::read(FAILURES, FAILURES.name, failures)?, faults::FAMILY)?;
    let canonical = format!("{}({})", failed.canonical, within.canonical);
    Ok(Name { canonical, within: Some(within.canonical), files: within.files, ..failed })
}

/// The name of a network, a layout or a machine that stands within that of a network.
fn part(kind: Kind, text: &str) -> Result<Name> {
    match kind {
        Kind::Layout => layout::name(text),
        Kind::Machine => Ok(machines::name(text)),
        _ => name(text),
    }
}
