//! Which way to a target each family takes: the one place that knows. `min`, `val`, `ugal-l` and others are made of it.

use super::dor::DimensionOrder;
use super::dragonfly::DragonflyMinimal;
use super::flex::FlexMinimal;
use super::hyperx::HyperXMinimal;
use super::table::TableMinimal;
use crate::error::Result;
use crate::network::Network;

macro_rules! any_minimal {
    ($($variant:ident($type:ty)),* $(,)?) => {
        /// The way to a target of one family. Who uses it is compiled for each: [`with_minimal!`] unpacks it.
        pub enum AnyMinimal {
            $(#[doc = stringify!($type)] $variant($type),)*
        }

        /// Evaluates an expression with the concrete [`Minimal`](super::Minimal) inside an [`AnyMinimal`].
        macro_rules! with_minimal {
            ($any:expr, $minimal:ident => $body:expr) => {
                match $any {
                    $($crate::routing::minimal::AnyMinimal::$variant($minimal) => $body,)*
                }
            };
        }
        pub(super) use with_minimal;
    };
}

any_minimal! {
    Mesh(DimensionOrder<false>),
    Torus(DimensionOrder<true>),
    HyperX(HyperXMinimal<1>),
    HyperXTwoOrders(HyperXMinimal<2>),
    Dragonfly(DragonflyMinimal),
    Flex(FlexMinimal),
    Table(TableMinimal),
}

/// What `dor` runs, and what `val` and `ugal-l` run in each phase. Any graph has one: by tables.
///
/// # Errors
/// Those of [`TableMinimal::new`].
pub fn phase(network: &Network) -> Result<AnyMinimal> {
    let closed = match network.family() {
        "mesh" | "hypercube" => DimensionOrder::new(network).map(AnyMinimal::Mesh),
        "torus" => DimensionOrder::new(network).map(AnyMinimal::Torus),
        "hyperx" => HyperXMinimal::new(network).map(AnyMinimal::HyperX),
        "dragonfly" => DragonflyMinimal::new(network).map(AnyMinimal::Dragonfly),
        "flex" => FlexMinimal::new(network).map(AnyMinimal::Flex),
        _ => None,
    };
    closed.map_or_else(|| table(network), Ok)
}

/// What `min` runs: all minimal ways where dimension order is only one of them.
///
/// # Errors
/// Those of [`TableMinimal::new`].
pub fn direct(network: &Network) -> Result<AnyMinimal> {
    match network.family() {
        "hyperx" => HyperXMinimal::new(network).map_or_else(|| table(network), |m| Ok(AnyMinimal::HyperXTwoOrders(m))),
        "dragonfly" | "flex" => phase(network),
        _ => table(network),
    }
}

/// The way that works on any graph.
///
/// # Errors
/// Those of [`TableMinimal::new`].
pub fn table(network: &Network) -> Result<AnyMinimal> {
    TableMinimal::new(network).map(AnyMinimal::Table)
}
