//! What a permutation does to bandwidth: shorter paths on average prove nothing about the busiest channel or of the bisection.

use serde::Serialize;

use super::load::{Demands, busiest};
use super::router_cables;
use crate::graph::terminals_by_router;
use crate::network::Network;
use crate::partition::bisection::{self, Bisection, BisectionIs};
use crate::traffic::{self, Traffic, router_demands};

/// How much a network carries. The names are keys of the JSON.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bandwidth {
    /// Links between two halves of the terminals: of the best bisection that was found.
    pub bisection_links: u64,
    /// Whether that is the least.
    pub bisection_is: BisectionIs,
    /// Cut links over half the terminals.
    pub beta: Option<f64>,
    /// The largest load that minimal routing (`min`) carries under uniform traffic, in flits per terminal per cycle.
    pub uniform_bound: f64,
    /// The same under worst-case traffic; `None` where that is not known.
    pub worst_case_bound: Option<f64>,
}

/// Before and after, by the same means: both start from the same partitions, and the worst-case traffic of either is
/// tried on both, so that a difference is one of the networks and not of what was found by chance.
///
/// # Panics
/// If the two have not as many routers and terminals, or a partition has not one entry for each router.
pub fn side_by_side(networks: [&Network; 2], partitions: [Vec<Vec<u8>>; 2]) -> [Bandwidth; 2] {
    let mut partitions = partitions.into_iter();
    let found = networks.map(|network| bisection::best(network, partitions.next().unwrap_or_default()));
    let of_both: Vec<Vec<u8>> = found.iter().map(|found| found.partition.clone()).collect();
    let found = networks.map(|network| bisection::best(network, of_both.clone()));
    // A network may be too large to match its routers, or have too few that send.
    let worst: Vec<Traffic> =
        networks.into_iter().filter_map(|network| traffic::build(network, "worst-case").ok()).collect();
    let [before, after] = networks.map(|network| bounds(network, &worst));
    let [of_before, of_after] = found;
    [told(of_before, before), told(of_after, after)]
}

fn told(found: Bisection, (uniform_bound, worst_case_bound): (f64, Option<f64>)) -> Bandwidth {
    let Bisection { bisection_links, bisection_is, beta, .. } = found;
    Bandwidth { bisection_links, bisection_is, beta, uniform_bound, worst_case_bound }
}

/// The loads that minimal routing carries: under uniform traffic, and under the worst of others.
fn bounds(network: &Network, worst: &[Traffic]) -> (f64, Option<f64>) {
    let cabling = router_cables(network);
    let bound = |demands: &Demands, of_terminals: f64| 1.0 / busiest(&cabling, demands).max(of_terminals);
    let uniform = bound(&Demands::Uniform(terminals_by_router(network)), 1.0);
    let under = |traffic: &Traffic| {
        let (flits, most) = router_demands(network, traffic).ok()?;
        Some(bound(&Demands::of_matrix(network.num_routers(), &flits), most))
    };
    (uniform, worst.iter().filter_map(under).min_by(f64::total_cmp))
}

impl Bandwidth {
    /// What is less `after`, a clause each: "the uniform bound of minimal routing falls from 1.000 to 0.210".
    pub fn losses(&self, after: &Self) -> Vec<String> {
        let about = |is: BisectionIs| if is == BisectionIs::Exact { "" } else { "at most " };
        let links = (after.bisection_links < self.bisection_links).then(|| {
            format!(
                "the bisection falls from {}{} links to {}{}",
                about(self.bisection_is),
                self.bisection_links,
                about(after.bisection_is),
                after.bisection_links
            )
        });
        let bound = |traffic: &str, before: f64, after: f64| {
            (after < before * (1.0 - 1e-9)).then(|| {
                format!("the {traffic} channel-load bound of minimal routing falls from {before:.3} to {after:.3}")
            })
        };
        let uniform = bound("uniform", self.uniform_bound, after.uniform_bound);
        let worst = self.worst_case_bound.zip(after.worst_case_bound);
        let worst = worst.and_then(|(before, after)| bound("worst-case", before, after));
        links.into_iter().chain(uniform).chain(worst).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::load::saturation_bound;
    use crate::routing;
    use crate::topology::build;

    /// The bound of `min` by the walk through its decisions, which shares no code with [`busiest`].
    fn walked(network: &Network, pattern: &str) -> f64 {
        let algorithm = routing::build(network, "min").expect("min runs everywhere");
        let traffic = traffic::build(network, pattern).expect(pattern);
        saturation_bound(network, &algorithm, &traffic).expect("oblivious").saturation_bound
    }

    #[test]
    fn bounds_are_those_of_minimal_routing() {
        for spec in [
            "permuted:two-cab(torus:6x6),cabinet=6",
            "permuted:one-step(torus:4x4x4),cabinet=4",
            "permuted:two-cab(clos:radix=8,levels=3),cabinet=8",
            "random-regular:40,degree=5",
        ] {
            let network = build(spec).expect(spec);
            let [told, again] = side_by_side([&network, &network], [Vec::new(), Vec::new()]);
            assert_eq!(told, again);
            assert!((told.uniform_bound - walked(&network, "uniform")).abs() < 1e-9, "{spec}");
            let worst = told.worst_case_bound.expect("small");
            assert!((worst - walked(&network, "worst-case")).abs() < 1e-9, "{spec}");
            assert!(told.losses(&again).is_empty());
        }
    }

    #[test]
    fn a_permuted_fat_tree_loses_bandwidth() {
        let [base, permuted] = ["clos:radix=8,levels=3", "permuted:two-cab(clos:radix=8,levels=3),cabinet=8"]
            .map(|spec| build(spec).expect(spec));
        let [before, after] = side_by_side([&base, &permuted], [Vec::new(), Vec::new()]);
        assert_eq!((before.uniform_bound, before.beta), (1.0, Some(1.0)));
        let losses = before.losses(&after);
        assert_eq!(losses.len(), 3, "{losses:?}");
        assert!(losses[1].starts_with("the uniform channel-load bound of minimal routing falls from 1.000 to 0."));
        assert!(after.losses(&before).is_empty());
    }
}
