//! Which way to a target each family takes: the one place that knows. `min`, `val`, `ugal-l` and others are made of it.

use super::dor::DimensionOrder;
use super::dragonfly::DragonflyMinimal;
use super::flex::FlexMinimal;
use super::hyperx::HyperXMinimal;
use super::table::TableMinimal;
use crate::error::Result;
use crate::network::{Lattice, Network, Structure};
use crate::topology::{Dragonfly, Flex};

macro_rules! any_minimal {
    ($($variant:ident($type:ty)),* $(,)?) => {
        /// The minimal paths to a target in one family. Its users are compiled for each family: [`with_minimal!`]
        /// unpacks it.
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
    closed_phase(network).map_or_else(|| table(network), Ok)
}

/// The same where it needs no tables.
pub(super) fn closed_phase(network: &Network) -> Option<AnyMinimal> {
    match network.any_structure().lattice() {
        Some(Lattice::Mesh) => DimensionOrder::new(network).map(AnyMinimal::Mesh),
        Some(Lattice::Torus) => DimensionOrder::new(network).map(AnyMinimal::Torus),
        Some(Lattice::Complete) => HyperXMinimal::new(network).map(AnyMinimal::HyperX),
        None if is::<Dragonfly>(network) => DragonflyMinimal::new(network).map(AnyMinimal::Dragonfly),
        None if is::<Flex>(network) => FlexMinimal::new(network).map(AnyMinimal::Flex),
        None => None,
    }
}

/// What `min` runs: all minimal paths where dimension order is only one of them.
///
/// # Errors
/// Those of [`TableMinimal::new`].
pub fn direct(network: &Network) -> Result<AnyMinimal> {
    closed_direct(network).map_or_else(|| table(network), Ok)
}

/// The same where it needs no tables.
pub(super) fn closed_direct(network: &Network) -> Option<AnyMinimal> {
    match network.any_structure().lattice() {
        Some(Lattice::Complete) => HyperXMinimal::new(network).map(AnyMinimal::HyperXTwoOrders),
        None if is::<Dragonfly>(network) || is::<Flex>(network) => closed_phase(network),
        _ => None,
    }
}

/// True if the network has this structure.
fn is<T: Structure>(network: &Network) -> bool {
    network.structure::<T>().is_some()
}

/// The way that works on any graph.
///
/// # Errors
/// Those of [`TableMinimal::new`].
pub fn table(network: &Network) -> Result<AnyMinimal> {
    TableMinimal::new(network).map(AnyMinimal::Table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::Minimal;
    use crate::topology;

    #[test]
    fn an_only_step_is_the_only_one_that_there_is() {
        for (spec, share) in [
            ("mesh:3x3", 0.0),
            ("torus:4x3", 0.0),
            ("hyperx:3x4", 1.0),
            ("dragonfly:a=4,h=2,p=2", 1.0),
            ("dragonfly:a=4,h=2,p=2,g=3", 0.25),
            ("flex:3x4x3", 0.4),
            ("slimfly:q=5", 0.8),
        ] {
            let network = topology::build(spec).expect(spec);
            let (mut only, mut all) = (0.0, 0.0);
            with_minimal!(phase(&network).expect(spec), paths => {
                for (at, to) in network.routers().flat_map(|at| network.routers().map(move |to| (at, to))) {
                    if at == to {
                        continue;
                    }
                    all += 1.0;
                    let Some(step) = paths.only_step(at, 0, to) else { continue };
                    only += 1.0;
                    let [bits] = paths.begins()[..] else { panic!("{spec}: bits are drawn") };
                    let mut steps = Vec::new();
                    paths.steps(at, bits, to, &mut steps);
                    assert_eq!(([step], 0), (steps[..].try_into().expect("one step"), bits), "{spec} {at:?} {to:?}");
                }
            });
            assert!(only / all >= share, "{spec}: {only} of {all}");
        }
    }
}
