//! The hot routings of cards: those of a torus.

use super::Voq;
use crate::cycle::Arrivals;
use crate::cycle::router::hot::hot;
use crate::routing::{AnyRouting, DimensionOrder, Duato, Min};

hot! {
    /// What takes in the cells of cards: compiled for a routing, or called through a reference.
    arrivals, Voq:
    Min<DimensionOrder<true>>,
    Duato<DimensionOrder<true>>,
}
