//! Network families: parameters in, [`Network`] out. One file a family.
//!
//! A spec is `family:sizes,key=value,…` in one word. To add a family, write a file with a [`Family`] constant and
//! name it in [`FAMILIES`].

mod clos;
mod dragonfly;
mod dragonflyplus;
mod fattree;
mod field;
mod file;
mod flex;
mod galaxyfly;
mod groups;
mod hypercube;
mod hyperx;
mod mesh;
mod myriclos;
mod nest;
mod params;
mod permuted;
mod randomregular;
mod ring;
mod slimfly;
#[cfg(test)]
mod tests;
mod torus;
mod tree;
mod twintorus;
mod xgft;

pub use dragonfly::Dragonfly;
pub use dragonflyplus::DragonflyPlus;
pub use flex::Flex;
pub use galaxyfly::{Galaxy, Galaxyfly, Wiring};
pub use groups::Arrangement;
pub use hypercube::Hypercube;
pub use hyperx::HyperX;
pub use mesh::Mesh;
pub use myriclos::Myriclos;
pub use nest::{Nest, Upper};
pub(crate) use params::at_most;
pub use params::{Key, Params, guard_size};
pub(crate) use permuted::cabling_of;
pub use permuted::{Permutation, Permuted};
pub use randomregular::RandomRegular;
pub use ring::Ring;
pub use slimfly::SlimFly;
pub use torus::Torus;
pub use tree::{Copies, Tree};
pub use twintorus::TwinTorus;

use crate::error::{Error, Result, unknown};
use crate::faults::{FLAG, Failures};
use crate::network::Network;

/// A family of networks.
#[derive(Debug)]
pub struct Family {
    /// The name in specs.
    pub name: &'static str,
    /// One line for `topoloom list topologies`.
    pub summary: &'static str,
    /// How the sizes are written, or `None` where the family has none ("8x8", say).
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
    /// Reads the parameters, checks them, and builds.
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

/// Every family, in the order in which users see them.
pub static FAMILIES: &[&Family] = &[
    &mesh::FAMILY,
    &torus::FAMILY,
    &twintorus::FAMILY,
    &hypercube::FAMILY,
    &hypercube::FOLDED,
    &hyperx::FAMILY,
    &fattree::FAMILY,
    &clos::FAMILY,
    &xgft::FAMILY,
    &dragonfly::FAMILY,
    &dragonflyplus::FAMILY,
    &slimfly::FAMILY,
    &flex::FAMILY,
    &galaxyfly::FAMILY,
    &nest::TREE,
    &nest::GHC,
    &ring::FAMILY,
    &randomregular::FAMILY,
    &myriclos::FAMILY,
    &permuted::FAMILY,
    &file::FAMILY,
];

/// The family called `name`.
pub fn family(name: &str) -> Result<&'static Family> {
    if crate::formats::GIVEN.contains(&name) {
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

/// The paths of the files that the network `spec` reads, those of networks within it first.
pub fn files(spec: &str) -> Vec<String> {
    let (mut spec, mut found) = (spec.to_owned(), Vec::new());
    // The network within another is looked at behind it, not within, so that no depth is too much.
    while !spec.is_empty() {
        let intact = spec.split_once(FLAG).map_or(&*spec, |(intact, _)| intact).trim();
        let (name, rest) = intact.split_once(':').unwrap_or((intact, ""));
        let Ok(params) = family(name).and_then(|family| Params::parse(intact, family, rest)) else { break };
        found.extend(params.files().into_iter().rev());
        spec = permuted::base_of(&params).or_else(|| file::stated(&params)).unwrap_or_default().to_owned();
    }
    found.reverse();
    found
}

/// Builds the network that `spec` describes; `SPEC --fail links=5%,seed=1` is one with failures.
///
/// # Errors
/// [`Error::Spec`] if the spec does not parse or a parameter is not allowed; [`Error::TooLarge`], before anything is
/// allocated, if the network would not fit in memory; [`Error::Config`] for failures that are not possible.
pub fn build(spec: &str) -> Result<Network> {
    let spec = spec.trim();
    if let Some((intact, failures)) = spec.split_once(FLAG) {
        return Failures::parse(failures.trim())?.apply(&build(intact)?);
    }
    let (name, rest) = spec.split_once(':').unwrap_or((spec, ""));
    let family = family(name)?;
    let params = Params::parse(spec, family, rest)?;
    (family.build)(&params)
}
