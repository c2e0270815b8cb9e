//! What minimal paths and detours carry together, if the same share of every flow takes the one and the rest the others.
//!
//! The loads of channels are those of both routings in these shares; the share that carries most is taken. An adaptive
//! routing chooses between the same paths, yet flow by flow, so that it may carry a little more than this.

use serde::Serialize;

use super::load::{ChannelLoad, distance_bound, load_of};
use crate::error::Result;
use crate::network::Network;
use crate::routing::{AnyRouting, Routing};
use crate::traffic::{Demands, Traffic};

/// Steps of the search for the best share: each leaves two thirds of the interval.
const STEPS: u32 = 60;

/// Offered loads, in flits per active terminal per cycle. The names are the keys of the JSON.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SplitBound {
    /// What is carried with the best share.
    pub split_bound: f64,
    /// That share: the part of every flow that takes minimal paths.
    pub minimal_share: f64,
    /// What no routing carries more than, as no path is shorter than a shortest one.
    pub distance_bound: f64,
}

/// What is carried if a share of every flow takes `minimal` paths, and the rest those of `detours`, if there are any.
///
/// # Errors
/// As [`channel_load`](super::load::channel_load), but for a minimal routing that looks at congestion: its bound is that of
/// the distances.
pub fn split_bound(
    network: &Network,
    minimal: &AnyRouting,
    detours: Option<&AnyRouting>,
    traffic: &Traffic,
) -> Result<SplitBound> {
    let demands = Demands::new(network, traffic)?;
    let distance_bound = distance_bound(network, &demands);
    let most = distance_bound.min(1.0);
    let told = |split_bound: f64, minimal_share| SplitBound { split_bound, minimal_share, distance_bound: most };
    if !minimal.oblivious() {
        return Ok(told(distance_bound, 1.0));
    }
    let direct = load_of(network, minimal, &demands)?;
    let alone = direct.saturation_bound();
    let Some(detours) = detours.filter(|_| alone < 1.0) else { return Ok(told(alone, 1.0)) };
    let (share, load) = best_share(&direct, &load_of(network, detours, &demands)?);
    let carried = 1.0 / load.max(demands.max_terminal_load).max(1.0);
    Ok(told(carried, share))
}

/// The share of the one by which the busiest channel carries least, and what it carries: its load is convex in the share.
fn best_share(one: &ChannelLoad, other: &ChannelLoad) -> (f64, f64) {
    let busiest = |share: f64| {
        let mixed = one.by_port.iter().zip(&other.by_port).map(|(one, other)| share * one + (1.0 - share) * other);
        mixed.fold(0.0, f64::max)
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..STEPS {
        let third = (high - low) / 3.0;
        let (left, right) = (low + third, high - third);
        if busiest(left) <= busiest(right) {
            high = right;
        } else {
            low = left;
        }
    }
    let shares = [0.0, (low + high) / 2.0, 1.0].map(|share| (share, busiest(share)));
    shares.into_iter().min_by(|(_, a), (_, b)| a.total_cmp(b)).expect("there are three")
}
