//! The routings by name, and which networks offer them. A routing states all that is to be known of it in its own file:
//! here it has one line.

use super::{
    AnyRouting, amin, dal, dimwar, dor, duato, fattree, galaxyfly, hosts, layers, lbr, min, minupdown, omniwar, par,
    polarized, tables, twin, twophase, ugal_g, updown,
};
use crate::catalogue::grammar::split_head;
use crate::catalogue::{Alone, Arguments, Entry, FILE, Key, Lead};
use crate::error::{Error, Result, unknown};
use crate::network::Network;
use crate::topology::{FAMILIES, Family, Roles};

/// Every routing, in the order in which users see them.
pub static ROUTINGS: &[&RoutingInfo] = &[
    &dor::DOR,
    &min::MIN,
    &min::MIN_SPREAD,
    &minupdown::MIN_UPDOWN,
    &amin::AMIN,
    &twophase::VAL,
    &twophase::UGAL_L,
    &ugal_g::UGAL_G,
    &par::PAR,
    &dimwar::DIMWAR,
    &omniwar::OMNIWAR,
    &dal::DAL,
    &polarized::POLARIZED,
    &galaxyfly::NAR,
    &galaxyfly::NAL,
    &galaxyfly::NAG,
    &lbr::LBR,
    &fattree::NCA,
    &fattree::ANCA,
    &updown::UPDOWN,
    &hosts::HOSTS,
    &duato::DUATO,
    &twin::TS_DOR,
    &twin::DORT,
    &layers::LASH,
    &layers::DFSSSP,
    &tables::TABLE,
];

/// A routing, for users and for the machine.
pub struct RoutingInfo {
    /// The name that users type.
    pub name: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// The networks that offer it.
    pub offered: Availability,
    /// The VC classes it needs.
    pub classes: &'static str,
    /// Whether it decides by congestion; `None` where that depends on the file that it is read from, or on its keys.
    pub adapts: Option<bool>,
    /// The keys it takes, written `name:key=value`, with their meaning.
    pub keys: &'static [Key],
    /// Builds it; `None` where the network does not have what it needs.
    pub build: fn(&Network, &Arguments) -> Result<Option<AnyRouting>>,
}

/// Which networks offer a routing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Availability {
    /// Every network.
    Anywhere,
    /// Those of the families that name it among their `routings`.
    ByFamily,
    /// The same, and what failures leave of them.
    ByFamilyAndFailed,
    /// Those of these families: for a routing that comes after them.
    On(&'static [&'static str]),
}

impl RoutingInfo {
    /// The networks that offer it, for users.
    pub fn networks(&self) -> String {
        let families = || FAMILIES.iter().copied().filter(|family| self.offered_on(family)).map(|family| family.name);
        if self.offered == Availability::Anywhere {
            "any".to_owned()
        } else {
            families().collect::<Vec<_>>().join(", ")
        }
    }

    fn offered_on(&self, family: &Family) -> bool {
        match self.offered {
            Availability::Anywhere => true,
            Availability::ByFamily | Availability::ByFamilyAndFailed => family.routings.contains(&self.name),
            Availability::On(families) => families.contains(&family.name),
        }
    }

    /// How its names are read.
    pub fn entry(&self) -> Entry {
        let lead = if self.is_own() { Lead::All(FILE) } else { Lead::Nothing };
        Entry {
            noun: "the routing",
            name: self.name,
            lead,
            keys: self.keys,
            shared: &[],
            alone: Alone::Flag,
            wrong: Error::Routing,
        }
    }

    /// True if it is the user's own, read from a file.
    fn is_own(&self) -> bool {
        self.keys.first().is_some_and(|key| key.name == FILE)
    }

    fn offered_by(&self, network: &Network) -> bool {
        let name =
            if self.offered == Availability::ByFamilyAndFailed { network.intact().family() } else { network.family() };
        let family = FAMILIES.iter().find(|family| family.name == name);
        family.map_or(self.offered == Availability::Anywhere, |family| self.offered_on(family))
    }
}

/// The routing called `name`.
///
/// # Errors
/// [`Error::Routing`] names those that there are.
pub fn find(name: &str) -> Result<&'static RoutingInfo> {
    let found = ROUTINGS.iter().copied().find(|info| info.name == name);
    let known = || ROUTINGS.iter().map(|info| info.name).chain(Roles::NAMES);
    found.ok_or_else(|| Error::Routing(unknown("routing", name, known())))
}

/// Builds the routing that `text` (`name` or `name:key=value`) names, for `network`.
///
/// # Errors
/// [`Error::Routing`] if there is no such routing or key, or the network does not offer it.
pub fn build(network: &Network, text: &str) -> Result<AnyRouting> {
    let (name, rest) = split_head(text);
    let info = find(name)?;
    let given = Arguments::read(info.entry(), info.name, rest)?;
    let built = if info.offered_by(network) { (info.build)(network, &given)? } else { None };
    built.ok_or_else(|| not_offered(network, info))
}

/// Paths by any output on a shortest path, all equally likely, as [`Routing::spreads_evenly`](super::Routing) states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvenPaths {
    /// To the destination.
    Minimal,
    /// To any other router first.
    Detours,
}

/// The paths of the routing that `name` names if they are so, found without its tables; `None` also where that takes them,
/// and where it cannot be built.
pub fn even_paths(network: &Network, name: &str) -> Option<EvenPaths> {
    match find(name).ok().filter(|info| name == info.name && info.offered_by(network))?.name {
        own if own == min::MIN.name => min::spreads_evenly(network).then_some(EvenPaths::Minimal),
        own if own == twophase::VAL.name => twophase::spreads_evenly(network).then_some(EvenPaths::Detours),
        _ => None,
    }
}

/// The names of the routings that `network` offers; one that is read from a file is the user's own.
pub fn offered(network: &Network) -> Vec<&'static str> {
    ROUTINGS.iter().filter(|info| info.offered_by(network) && !info.is_own()).map(|info| info.name).collect()
}

/// The routing that plays `role` on `network`: that of its family, if failures leave what it needs, else that of any
/// network. `None` if there is no such role.
pub fn in_role(network: &Network, role: &str) -> Option<&'static str> {
    let roles = |family| Roles::of(family).routing(role);
    let (own, any) = (roles(network.intact().family())?, roles(network.family())?);
    let left = own != any && offered(network).contains(&split_head(own).0) && build(network, own).is_ok();
    Some(if left { own } else { any })
}

fn not_offered(network: &Network, info: &RoutingInfo) -> Error {
    let relies = network.failures().is_some() && info.offered_by(network.intact());
    let family = network.intact().family();
    let why = if relies { format!(", which relies on the structure of an intact {family}") } else { String::new() };
    Error::Routing(format!(
        "{} does not offer the routing '{}'{why}; it offers: {}",
        network.spec(),
        info.name,
        offered(network).join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::Routing;

    #[test]
    fn routings_decide_as_they_are_listed() {
        let specs = [
            "torus:4x4",
            "dragonfly:a=4,h=2,p=2",
            "fattree:k=4,levels=2",
            "galaxyfly:n=5,q=5,a=2,p=2",
            "flex:4x4x3,p=4",
            "twin-torus:4x4x2x2x2",
            "hyperx:4x4,p=2",
            "cluster:hosts=4,host=mi300x,fabric=(hyperx:2x2,p=1,rate=400G)",
        ];
        let networks = specs.map(|spec| crate::topology::build(spec).expect("small"));
        let mut seen = Vec::new();
        for network in &networks {
            for info in ROUTINGS.iter().filter(|info| info.offered_by(network) && !info.is_own()) {
                let Ok(built) = build(network, info.name) else { continue };
                let adapts = !built.oblivious();
                assert!(info.adapts.is_none_or(|told| told == adapts), "{} on {}", info.name, network.spec());
                seen.push(info.name);
            }
        }
        let unseen: Vec<&str> = ROUTINGS.iter().map(|info| info.name).filter(|name| !seen.contains(name)).collect();
        assert_eq!(unseen, ["table"]);
    }

    #[test]
    fn a_mistyped_role_gets_a_hint() {
        let sentence = find("adaptve").err().expect("it is mistyped").to_string();
        assert!(sentence.contains("(did you mean 'adaptive'?)"), "{sentence}");
    }
}
