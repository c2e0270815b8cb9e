//! The hot routings of cards: those of a torus and of a twin torus.

use super::Voq;
use crate::cycle::Arrivals;
use crate::cycle::router::hot::hot;
use crate::routing::{AnyRouting, CustomOrder, DimensionOrder, Dort, Duato, Min, OneWay, TsDor, TwinAdaptive};

hot! {
    /// What takes in the cells of cards: compiled for a routing, or called through a reference.
    arrivals, Voq:
    Min<DimensionOrder<true>>,
    Min<CustomOrder>,
    Duato<DimensionOrder<true>>,
    OneWay<TsDor>,
    OneWay<Dort>,
    TwinAdaptive,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{routing, topology};

    /// True if the engine is compiled for a routing: what takes in its cells is then the routing within, elsewhere.
    fn is_hot(spec: &str, name: &str) -> bool {
        let network = topology::build(spec).expect(spec);
        let routing = routing::build(&network, name).expect(name);
        (&raw const *arrivals(&routing)).cast::<()>() != (&raw const routing).cast::<()>()
    }

    #[test]
    fn what_the_paper_of_the_cards_runs_is_hot() {
        for (spec, routings) in [
            ("torus:4x4x4", ["dor", "dor:vc=upper-lower,ties=plus", "duato"].as_slice()),
            ("twin-torus:4x4x2x4x2", &["ts-dor", "dort", "duato"]),
        ] {
            for name in routings {
                assert!(is_hot(spec, name), "{name} on {spec}");
            }
        }
        assert!(!is_hot("torus:4x4x4", "updown"));
    }
}
