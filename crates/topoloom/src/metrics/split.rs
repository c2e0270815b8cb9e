//! What minimal paths and detours carry together, if the same share of every flow takes the one and the rest the others.
//!
//! The loads of channels are those of both routings in these shares; the share that carries most is taken. An adaptive
//! routing chooses between the same paths, yet flow by flow, so that it may carry a little more than this.

use serde::Serialize;

use super::load::{ChannelLoad, Paths, distance_bound, load_of_detours};
use crate::error::Result;
use crate::network::Network;
use crate::routing::AnyRouting;
use crate::traffic::{Demands, Traffic};

/// Steps of the search for the best share: each leaves two thirds of the interval.
const STEPS: u32 = 60;

/// Routers from which on detours pass a destination that they meet, as [`load_of_detours`] has them: that is off by twice
/// the links of a path over this many, at most.
const MANY: usize = 512;

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
/// With many routers detours are counted as `load_of_detours` does: a little too busy.
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
    of_paths(network, &Paths::Of(minimal), detours.map(Paths::Of).as_ref(), traffic)
}

/// The same of the routings of these names, which are built only where that is needed: tables of many routers take longer
/// than the loads that follow from distances alone.
///
/// # Errors
/// Those of [`split_bound`], and those of [`build`](crate::routing::build).
pub fn split_bound_of(
    network: &Network,
    minimal: &str,
    detours: Option<&str>,
    traffic: &Traffic,
) -> Result<SplitBound> {
    let named = |name| Paths::Named(network, name);
    of_paths(network, &named(minimal), detours.map(named).as_ref(), traffic)
}

fn of_paths(network: &Network, minimal: &Paths, detours: Option<&Paths>, traffic: &Traffic) -> Result<SplitBound> {
    let demands = Demands::new(network, traffic)?;
    let distance_bound = distance_bound(network, &demands);
    let most = distance_bound.min(1.0);
    let told = |split_bound: f64, minimal_share| SplitBound { split_bound, minimal_share, distance_bound: most };
    let Some(direct) = minimal.load(network, &demands)? else { return Ok(told(distance_bound, 1.0)) };
    let alone = direct.saturation_bound();
    let Some(detours) = detours.filter(|_| alone < 1.0) else { return Ok(told(alone, 1.0)) };
    let around = if network.up_routers().count() < MANY {
        detours.load(network, &demands)?
    } else {
        load_of_detours(network, detours, &demands)?
    };
    let Some(around) = around else { return Ok(told(alone, 1.0)) };
    let (share, load) = best_share(&direct, &around);
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

#[cfg(test)]
mod tests {
    use super::super::load::load_of;
    use super::*;
    use crate::routing::Routing as _;
    use crate::{routing, topology, traffic};

    #[test]
    fn routings_that_are_not_built_bound_as_those_that_are() {
        for spec in [
            "slimfly:q=5,p=4",
            "hyperx:5x4x3,p=3",
            "dragonfly:a=6,h=3,p=3",
            "ring:60,degree=9,p=3",
            "torus:6x5,p=2",
            "flex:3x4x3,p=2",
            "galaxyfly:n=1,q=5,a=2,p=2",
            "fattree:k=4,levels=3",
            "hypercube:4",
            "faulty:links=5%,seed=1(slimfly:q=5,p=4)",
            "faulty:routers=5%,seed=1(hyperx:5x4x3,p=3)",
            "ring:600,degree=9,p=1",
        ] {
            let network = topology::build(spec).expect(spec);
            let [minimal, detours] = ["min", "val"].map(|name| routing::build(&network, name).expect(name));
            let even = ["min", "val"].map(|name| routing::even_paths(&network, name).is_some());
            assert_eq!(even, [minimal.spreads_evenly(), detours.spreads_evenly()], "{spec}");
            for pattern in ["uniform", "worst-case"] {
                let traffic = traffic::build(&network, pattern).expect(pattern);
                let built = split_bound(&network, &minimal, Some(&detours), &traffic).expect("oblivious");
                let named = split_bound_of(&network, "min", Some("val"), &traffic).expect("offered");
                assert_eq!(named, built, "{spec} {pattern}");
            }
        }
    }

    #[test]
    fn what_is_too_wide_for_tables_is_so_without_them() {
        // A single search shows half of the diameter at least: a ring of 400 may be too wide, and one of 600 is.
        for (spec, even, works) in [("torus:254", true, true), ("torus:400", false, true), ("torus:600", false, false)]
        {
            let network = topology::build(spec).expect(spec);
            assert_eq!(routing::even_paths(&network, "min").is_some(), even, "{spec}");
            let traffic = traffic::build(&network, "uniform").expect("a pattern");
            assert_eq!(split_bound_of(&network, "min", None, &traffic).is_ok(), works, "{spec}");
        }
    }

    #[test]
    fn detours_that_go_on_load_channels_as_those_that_leave_at_their_destination_but_for_a_path_in_all_routers() {
        for (spec, pattern, longest) in [
            ("slimfly:q=5,p=4", "worst-case", 2.0),
            ("hyperx:5x4x3,p=3", "worst-case", 3.0),
            ("dragonfly:a=6,h=3,p=3", "worst-case", 3.0),
            ("ring:60,degree=9,p=3", "worst-case", 4.0),
            ("torus:6x5,p=2", "random-permutation:seed=1", 5.0),
            ("faulty:links=5%,seed=1(slimfly:q=5,p=4)", "worst-case", 3.0),
        ] {
            let network = topology::build(spec).expect(spec);
            let traffic = traffic::build(&network, pattern).expect(pattern);
            let routing = routing::build(&network, "val").expect("offered");
            let demands = Demands::new(&network, &traffic).expect("small");
            let exact = load_of(&network, &routing, &demands).expect("oblivious");
            let near = load_of_detours(&network, &Paths::Of(&routing), &demands)
                .expect("oblivious")
                .expect("no uniform traffic");
            let off = near.max_channel_load / exact.max_channel_load - 1.0;
            assert!((-1e-9..2.0 * longest / network.num_routers() as f64).contains(&off), "{spec} {pattern}: {off}");
        }
    }

    #[test]
    fn detours_are_of_no_use_under_uniform_traffic() {
        for spec in ["slimfly:q=5,p=4", "hyperx:5x4,p=3", "dragonfly:a=4,h=2,p=2", "torus:5x4"] {
            let network = topology::build(spec).expect(spec);
            let traffic = traffic::build(&network, "uniform").expect("a pattern");
            let [minimal, detours] = ["min", "val"].map(|name| routing::build(&network, name).expect(name));
            let demands = Demands::new(&network, &traffic).expect("small");
            assert_eq!(load_of_detours(&network, &Paths::Of(&detours), &demands).expect("oblivious"), None, "{spec}");
            let split = split_bound(&network, &minimal, Some(&detours), &traffic).expect("oblivious");
            assert!((split.minimal_share - 1.0).abs() < 1e-9, "{spec}: {}", split.minimal_share);
        }
    }
}
