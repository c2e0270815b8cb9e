//! The hot routings of these routers: what the arrival of flits is compiled for, once for each stride of VCs.

use super::{ADAPTIVE, AT_SOURCE, BUFFERED, BUFFERED_ADAPTIVE, InputQueuedRouters, PLAIN};
use crate::cycle::Arrivals;
use crate::cycle::router::hot::hot;
use crate::routing::{
    AdaptiveMinimal, AnyRouting, Dal, DimWar, DimensionOrder, DragonflyMinimal, Duato, FlexMinimal, GalaxyflyAdaptive,
    GalaxyflyMinimal, GlobalUgal, HyperXMinimal, Late, LoadBalancing, Min, NearestAncestor, OmniWar, PolarizedRouting,
    Progressive, TableMinimal, TwoPhase,
};

hot! {
    /// What takes in the flits of a plain router: compiled for a routing that decides once, or called through a reference.
    once<const LOG: u32>, InputQueuedRouters<LOG, PLAIN>:
    Min<DimensionOrder<false>>,
    Min<DimensionOrder<true>>,
    Min<HyperXMinimal<1>>,
    Min<HyperXMinimal<2>>,
    Min<DragonflyMinimal<false>>,
    Min<DragonflyMinimal<true>>,
    Min<FlexMinimal>,
    Min<TableMinimal>,
    GalaxyflyMinimal,
    NearestAncestor<false>,
    NearestAncestor<true>,
    TwoPhase<DimensionOrder<false>, false>,
    TwoPhase<DimensionOrder<true>, false>,
    TwoPhase<HyperXMinimal<1>, false>,
    TwoPhase<DragonflyMinimal<false>, false>,
    TwoPhase<DragonflyMinimal<true>, false>,
    TwoPhase<FlexMinimal, false>,
    TwoPhase<TableMinimal, false>,
}

hot! {
    /// The same where heads decide again at their source routers.
    at_source<const LOG: u32>, InputQueuedRouters<LOG, AT_SOURCE>:
    TwoPhase<DimensionOrder<false>, true>,
    TwoPhase<DimensionOrder<true>, true>,
    TwoPhase<HyperXMinimal<1>, true>,
    TwoPhase<DragonflyMinimal<false>, true>,
    TwoPhase<DragonflyMinimal<true>, true>,
    TwoPhase<FlexMinimal, true>,
    TwoPhase<TableMinimal, true>,
    Progressive<false>,
    Progressive<true>,
    LoadBalancing<FlexMinimal>,
    LoadBalancing<HyperXMinimal<1>>,
    GlobalUgal<HyperXMinimal<1>>,
    GlobalUgal<DragonflyMinimal<false>>,
    GlobalUgal<DragonflyMinimal<true>>,
}

hot! {
    /// The same where they do anywhere, of a router that has what this needs.
    again<const LOG: u32>, InputQueuedRouters<LOG, ADAPTIVE>:
    DimWar,
    OmniWar,
    Dal,
    PolarizedRouting,
    Duato<TableMinimal>,
    Duato<DimensionOrder<false>>,
    Duato<DimensionOrder<true>>,
    AdaptiveMinimal<TableMinimal>,
    AdaptiveMinimal<DimensionOrder<false>>,
    AdaptiveMinimal<DimensionOrder<true>>,
    Late<HyperXMinimal<1>>,
    Late<TableMinimal>,
}

hot! {
    /// The same of a router with buffers of any kind, for what runs on such a one first of all: routings that decide once.
    buffered<const LOG: u32>, InputQueuedRouters<LOG, BUFFERED>:
    GalaxyflyMinimal,
}

hot! {
    /// And those of which heads decide again.
    buffered_again<const LOG: u32>, InputQueuedRouters<LOG, BUFFERED_ADAPTIVE>:
    GalaxyflyAdaptive,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{routing, topology};

    /// True if the engine is compiled for a routing: what takes in its flits is then the routing within, elsewhere.
    fn is_hot(spec: &str, name: &str) -> bool {
        let network = topology::build(spec).expect(spec);
        let routing = routing::build(&network, name).expect(name);
        let own = (&raw const routing).cast::<()>();
        let once = (&raw const *once::<1>(&routing)).cast::<()>();
        let at_source = (&raw const *at_source::<1>(&routing)).cast::<()>();
        let again = (&raw const *again::<1>(&routing)).cast::<()>();
        let buffered = (&raw const *buffered::<1>(&routing)).cast::<()>();
        let buffered_again = (&raw const *buffered_again::<1>(&routing)).cast::<()>();
        [once, at_source, again, buffered, buffered_again].into_iter().any(|arrivals| arrivals != own)
    }

    #[test]
    fn what_users_run_most_is_hot() {
        for (spec, routings) in [
            ("mesh:4x4", ["dor", "min", "val", "ugal-l", "duato", "amin"].as_slice()),
            ("torus:4x4", &["dor", "min", "val", "ugal-l", "duato", "amin"]),
            (
                "hyperx:4x4",
                &["dor", "min", "val", "ugal-l", "ugal-g", "dimwar", "omniwar", "dal", "duato", "amin", "par"],
            ),
            ("dragonfly:a=4,h=2,p=2", &["min", "val", "ugal-l", "ugal-g", "amin", "par"]),
            ("flex:3x3x3", &["min", "val", "ugal-l", "lbr"]),
            ("galaxyfly:n=3,q=5,a=2,p=2", &["min", "nar", "nal", "nag"]),
            ("fattree:k=4,levels=2", &["nca", "anca"]),
            ("slimfly:q=5", &["min", "val", "ugal-l", "polarized", "duato", "amin", "par"]),
        ] {
            for name in routings {
                assert!(is_hot(spec, name), "{name} on {spec}");
            }
        }
        assert!(!is_hot("mesh:4x4", "updown"));
    }
}
