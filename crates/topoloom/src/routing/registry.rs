//! The routings by name, and which networks offer them.

use super::dor::DimensionOrder;
use super::dragonfly::DragonflyMinimal;
use super::fattree::NearestAncestor;
use super::flex::FlexMinimal;
use super::hyperx::HyperXMinimal;
use super::table::TableMinimal;
use super::twophase::{Min, Options, Ugal, Valiant};
use crate::error::{Error, Result, unknown};
use crate::network::Network;

/// What users read about a routing.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct RoutingInfo {
    /// The name that users type.
    pub name: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// The networks that offer it.
    pub networks: &'static str,
    /// The VC classes it needs.
    pub classes: &'static str,
    /// The keys it takes, written `name:key=value`, with their meaning.
    pub keys: &'static [(&'static str, &'static str)],
}

const BIAS: &[(&str, &str)] =
    &[("bias", "flits by which the detour must be better (default: HyperX 2, dragonfly 30, else 0)")];

const VIA: &[(&str, &str)] =
    &[("via", "other: neither source nor destination (default); any: any router, as in BookSim")];

/// Every routing, in the order in which users see them.
pub static ROUTINGS: &[RoutingInfo] = &[
    RoutingInfo {
        name: "dor",
        summary: "dimensions in order; on a torus the shorter way round, ties by coin",
        networks: "mesh, torus, hyperx",
        classes: "1; torus 2 (dateline)",
        keys: &[],
    },
    RoutingInfo {
        name: "min",
        summary: "minimal: a random minimal next hop; local-global-local on a dragonfly, a random order of dimensions \
                  on a HyperX, Algorithm 1 of the paper on a 3-layer FleX",
        networks: "any",
        classes: "diameter (by hop); dragonfly, HyperX, FleX 2",
        keys: &[],
    },
    RoutingInfo {
        name: "min-spread",
        summary: "uniformly over all minimal paths",
        networks: "flex",
        classes: "diameter (by hop)",
        keys: &[],
    },
    RoutingInfo {
        name: "val",
        summary: "Valiant: minimally to a random intermediate router, then minimally",
        networks: "any",
        classes: "twice those of one phase; HyperX 2",
        keys: VIA,
    },
    RoutingInfo {
        name: "ugal-l",
        summary: "minimal if H_min q_min <= H_non q_non + bias at the source router, else the Valiant path",
        networks: "any",
        classes: "as val",
        keys: BIAS,
    },
    RoutingInfo {
        name: "nca",
        summary: "up to a nearest common ancestor by random outputs, then down",
        networks: "fattree",
        classes: "1",
        keys: &[],
    },
    RoutingInfo {
        name: "anca",
        summary: "as nca, by the less occupied of two random outputs",
        networks: "fattree",
        classes: "1",
        keys: &[],
    },
];

macro_rules! any_routing {
    ($($variant:ident($type:ty)),* $(,)?) => {
        /// Any routing that users can name. Its readers are generic: `with_routing!` unpacks it.
        pub enum AnyRouting {
            $(#[doc = stringify!($type)] $variant($type),)*
        }

        /// Evaluates an expression with the concrete routing inside an [`AnyRouting`].
        macro_rules! with_routing {
            ($any:expr, $routing:ident => $body:expr) => {
                match $any {
                    $($crate::routing::AnyRouting::$variant($routing) => $body,)*
                }
            };
        }
        pub(crate) use with_routing;
    };
}

any_routing! {
    MinMesh(Min<DimensionOrder<false>>),
    MinTorus(Min<DimensionOrder<true>>),
    MinHyperXDor(Min<HyperXMinimal<1>>),
    MinHyperX(Min<HyperXMinimal<2>>),
    MinDragonfly(Min<DragonflyMinimal>),
    MinFlex(Min<FlexMinimal>),
    MinTable(Min<TableMinimal>),
    ValMesh(Valiant<DimensionOrder<false>>),
    ValTorus(Valiant<DimensionOrder<true>>),
    ValHyperX(Valiant<HyperXMinimal<1>>),
    ValDragonfly(Valiant<DragonflyMinimal>),
    ValFlex(Valiant<FlexMinimal>),
    ValTable(Valiant<TableMinimal>),
    UgalMesh(Ugal<DimensionOrder<false>>),
    UgalTorus(Ugal<DimensionOrder<true>>),
    UgalHyperX(Ugal<HyperXMinimal<1>>),
    UgalDragonfly(Ugal<DragonflyMinimal>),
    UgalFlex(Ugal<FlexMinimal>),
    UgalTable(Ugal<TableMinimal>),
    Nca(NearestAncestor<false>),
    Anca(NearestAncestor<true>),
}

/// The number of VC classes that `routing` needs.
pub fn classes(routing: &AnyRouting) -> u32 {
    use super::Routing;
    with_routing!(routing, r => r.classes())
}

/// Builds the routing that `text` (`name` or `name:key=value`) names, for `network`.
///
/// # Errors
/// [`Error::Routing`] if there is no such routing or key, or the network does not offer it.
pub fn build(network: &Network, text: &str) -> Result<AnyRouting> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let info = ROUTINGS
        .iter()
        .find(|r| r.name == name)
        .ok_or_else(|| Error::Routing(unknown("routing", name, ROUTINGS.iter().map(|r| r.name))))?;
    let options = read_options(info, rest)?;
    let routers = network.num_routers() as u32;
    let refuse = || not_offered(network, name);
    Ok(match (name, network.family()) {
        ("dor", "mesh") => AnyRouting::MinMesh(Min(DimensionOrder::new(network).ok_or_else(refuse)?)),
        ("dor", "torus") => AnyRouting::MinTorus(Min(DimensionOrder::new(network).ok_or_else(refuse)?)),
        ("dor", "hyperx") => AnyRouting::MinHyperXDor(Min(HyperXMinimal::new(network).ok_or_else(refuse)?)),
        ("min", "hyperx") => AnyRouting::MinHyperX(Min(HyperXMinimal::new(network).ok_or_else(refuse)?)),
        ("min", "dragonfly") => AnyRouting::MinDragonfly(Min(DragonflyMinimal::new(network).ok_or_else(refuse)?)),
        ("min", "flex") => match FlexMinimal::new(network) {
            Some(minimal) => AnyRouting::MinFlex(Min(minimal)),
            None => AnyRouting::MinTable(Min(TableMinimal::new(network)?)),
        },
        ("min", _) | ("min-spread", "flex") => AnyRouting::MinTable(Min(TableMinimal::new(network)?)),
        ("val", "mesh") => {
            AnyRouting::ValMesh(two_phase(DimensionOrder::new(network), routers, options).ok_or_else(refuse)?)
        }
        ("val", "torus") => {
            AnyRouting::ValTorus(two_phase(DimensionOrder::new(network), routers, options).ok_or_else(refuse)?)
        }
        ("val", "hyperx") => {
            AnyRouting::ValHyperX(two_phase(HyperXMinimal::new(network), routers, options).ok_or_else(refuse)?)
        }
        ("val", "dragonfly") => {
            AnyRouting::ValDragonfly(two_phase(DragonflyMinimal::new(network), routers, options).ok_or_else(refuse)?)
        }
        ("val", "flex") => match two_phase(FlexMinimal::new(network), routers, options) {
            Some(valiant) => AnyRouting::ValFlex(valiant),
            None => AnyRouting::ValTable(Valiant::new(TableMinimal::new(network)?, routers, options)),
        },
        ("val", _) => AnyRouting::ValTable(Valiant::new(TableMinimal::new(network)?, routers, options)),
        ("ugal-l", "mesh") => {
            AnyRouting::UgalMesh(two_phase(DimensionOrder::new(network), routers, options).ok_or_else(refuse)?)
        }
        ("ugal-l", "torus") => {
            AnyRouting::UgalTorus(two_phase(DimensionOrder::new(network), routers, options).ok_or_else(refuse)?)
        }
        ("ugal-l", "hyperx") => {
            AnyRouting::UgalHyperX(two_phase(HyperXMinimal::new(network), routers, options).ok_or_else(refuse)?)
        }
        ("ugal-l", "dragonfly") => {
            AnyRouting::UgalDragonfly(two_phase(DragonflyMinimal::new(network), routers, options).ok_or_else(refuse)?)
        }
        ("ugal-l", "flex") => match two_phase(FlexMinimal::new(network), routers, options) {
            Some(ugal) => AnyRouting::UgalFlex(ugal),
            None => AnyRouting::UgalTable(Ugal::new(TableMinimal::new(network)?, routers, options)),
        },
        ("ugal-l", _) => AnyRouting::UgalTable(Ugal::new(TableMinimal::new(network)?, routers, options)),
        ("nca", "fattree") => AnyRouting::Nca(NearestAncestor::new(network).ok_or_else(refuse)?),
        ("anca", "fattree") => AnyRouting::Anca(NearestAncestor::new(network).ok_or_else(refuse)?),
        _ => return Err(refuse()),
    })
}

fn two_phase<M: super::Minimal, const ADAPTIVE: bool>(
    minimal: Option<M>,
    routers: u32,
    options: Options,
) -> Option<super::twophase::TwoPhase<M, ADAPTIVE>> {
    minimal.map(|m| super::twophase::TwoPhase::new(m, routers, options))
}

/// The names of the routings that `network` offers.
pub fn offered(network: &Network) -> Vec<&'static str> {
    let here = |info: &&RoutingInfo| info.networks == "any" || info.networks.split(", ").any(|n| n == network.family());
    ROUTINGS.iter().filter(here).map(|info| info.name).collect()
}

fn not_offered(network: &Network, name: &str) -> Error {
    Error::Routing(format!(
        "{} does not offer the routing '{name}'; it offers: {}",
        network.spec(),
        offered(network).join(", ")
    ))
}

fn read_options(info: &RoutingInfo, rest: &str) -> Result<Options> {
    let mut options = Options::default();
    for item in rest.split(',').filter(|item| !item.is_empty()) {
        let (key, value) = item.split_once('=').unwrap_or((item, ""));
        if info.keys.is_empty() {
            return Err(Error::Routing(format!("the routing '{}' takes no keys, but '{key}' is given", info.name)));
        }
        let known = || info.keys.iter().map(|(known, _)| *known);
        if !known().any(|k| k == key) {
            return Err(Error::Routing(unknown(format_args!("key of {}", info.name), key, known())));
        }
        match (key, value) {
            ("via", "any") => options.any_via = true,
            ("via", "other") => options.any_via = false,
            ("via", _) => {
                let choices = unknown("value of via", value, ["other", "any"]);
                return Err(Error::Routing(format!("{}: {choices}", info.name)));
            }
            _ => options.bias = Some(read_bias(info, value)?),
        }
    }
    Ok(options)
}

fn read_bias(info: &RoutingInfo, value: &str) -> Result<u32> {
    let read = value.parse::<u32>().ok().filter(|b| *b <= 1_000_000);
    read.ok_or_else(|| {
        Error::Routing(format!("{}: bias is '{value}'; it must be a whole number from 0 to 1000000", info.name))
    })
}
