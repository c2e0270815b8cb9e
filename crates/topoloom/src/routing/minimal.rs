//! Which way to a target each family takes: the one place that knows. `min`, `val`, `ugal-l` and others are made of it.

use rayon::prelude::*;

use super::dor::DimensionOrder;
use super::dragonfly::DragonflyMinimal;
use super::fattree::levels;
use super::flex::FlexMinimal;
use super::hyperx::HyperXMinimal;
use super::table::TableMinimal;
use crate::error::Result;
use crate::network::{Lattice, Network, RouterId, Structure};
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
    Dragonfly(DragonflyMinimal<false>),
    TabledDragonfly(DragonflyMinimal<true>),
    Flex(FlexMinimal),
    Table(TableMinimal),
}

/// What `dor` runs, and what `val` and `ugal-l` run in each phase, at one end of which is a router with terminals. Any graph
/// has one: by tables.
///
/// # Errors
/// Those of [`TableMinimal::new`].
pub fn phase(network: &Network) -> Result<AnyMinimal> {
    closed_phase(network).map_or_else(|| terminal_table(network), Ok)
}

/// The same for phases between any two routers.
///
/// # Errors
/// Those of [`TableMinimal::new`].
pub(super) fn free_phase(network: &Network) -> Result<AnyMinimal> {
    closed_phase(network).map_or_else(|| table(network), Ok)
}

/// The same where it needs no tables.
pub(super) fn closed_phase(network: &Network) -> Option<AnyMinimal> {
    match network.any_structure().lattice() {
        Some(Lattice::Mesh) => DimensionOrder::new(network).map(AnyMinimal::Mesh),
        Some(Lattice::Torus) => DimensionOrder::new(network).map(AnyMinimal::Torus),
        Some(Lattice::Complete) => HyperXMinimal::new(network).map(AnyMinimal::HyperX),
        None if is::<Dragonfly>(network) => {
            DragonflyMinimal::new(network).map(|minimal| match minimal.table(network) {
                Some(table) => AnyMinimal::TabledDragonfly(minimal.tabled(table)),
                None => AnyMinimal::Dragonfly(minimal),
            })
        }
        None if is::<Flex>(network) => FlexMinimal::new(network).map(AnyMinimal::Flex),
        None => None,
    }
}

/// What `min` runs: all minimal paths where dimension order is only one of them.
///
/// # Errors
/// Those of [`TableMinimal::new`].
pub fn direct(network: &Network) -> Result<AnyMinimal> {
    closed_direct(network).map_or_else(|| terminal_table(network), Ok)
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

/// The same for paths at one end of which is a router with terminals: in one class on trees.
///
/// # Errors
/// Those of [`TableMinimal::new`].
pub(super) fn terminal_table(network: &Network) -> Result<AnyMinimal> {
    let table = TableMinimal::new(network)?;
    let rises = rises_then_falls(network, &table);
    Ok(AnyMinimal::Table(if rises { table.in_one_class() } else { table }))
}

/// True if each shortest path at one end of which is a router with terminals rises level by level, and then falls: no cycle of
/// waiting packets is possible then (up*/down*).
pub(super) fn rises_then_falls(network: &Network, table: &TableMinimal) -> bool {
    let Some(level) = levels(network) else { return false };
    // A path has no valley if none is below two routers above it, one farther from the end with terminals and one nearer to it.
    let is_valley = |at: RouterId, to: RouterId| {
        let far = table.distances(to);
        let above = network.neighbors(at).filter(|&(_, peer)| level[peer.index()] > level[at.index()]);
        let (mut farther, mut nearer) = (false, false);
        for (_, peer) in above {
            farther |= far[peer.index()] > far[at.index()];
            nearer |= far[peer.index()] < far[at.index()];
        }
        farther && nearer
    };
    let leaves: Vec<RouterId> = network.routers().filter(|router| level[router.index()] == 0).collect();
    leaves.par_iter().all(|&to| !network.routers().any(|at| is_valley(at, to)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::routing::{self, Minimal, Routing, verify};
    use crate::topology;

    /// Whether all shortest paths between two routers, one of which has terminals, rise and then fall, followed one by one;
    /// `None` if neighbours are on one level.
    fn followed(network: &Network) -> Option<bool> {
        let peers = |at: RouterId| network.neighbors(at).map(|(_, peer)| peer);
        let hops = |from: Vec<RouterId>| {
            let mut hops = vec![usize::MAX; network.num_routers()];
            let mut ring = from;
            for far in 0.. {
                ring.retain(|at| hops[at.index()] == usize::MAX);
                ring.iter().for_each(|at| hops[at.index()] = far);
                if ring.is_empty() {
                    return hops;
                }
                ring = ring.iter().flat_map(|&at| peers(at)).collect();
            }
            unreachable!("a ring is empty at last")
        };
        fn rise(
            path: &mut Vec<RouterId>,
            far: &[usize],
            level: &[usize],
            peers: &dyn Fn(RouterId) -> Vec<RouterId>,
        ) -> bool {
            let at = path[path.len() - 1];
            let levels: Vec<usize> = path.iter().map(|at| level[at.index()]).collect();
            if levels.windows(3).any(|three| three[1] < three[0] && three[1] < three[2]) {
                return false;
            }
            peers(at).into_iter().filter(|peer| far[peer.index()] + 1 == far[at.index()]).all(|peer| {
                path.push(peer);
                let rises = rise(path, far, level, peers);
                path.pop();
                rises
            })
        }
        let leaves: Vec<RouterId> = network.routers().filter(|&at| network.has_terminals(at)).collect();
        let level = hops(leaves.clone());
        if network.up_routers().any(|at| peers(at).any(|peer| level[peer.index()] == level[at.index()])) {
            return None;
        }
        // A path from a leaf is one to it, backwards.
        Some(leaves.into_iter().all(|leaf| {
            let far = hops(vec![leaf]);
            let others = network.up_routers().filter(|from| far[from.index()] != usize::MAX);
            others.into_iter().all(|from| rise(&mut vec![from], &far, &level, &|at| peers(at).collect()))
        }))
    }

    #[test]
    fn what_may_be_asked_at_its_target_draws_nothing_there() {
        for (spec, answers) in [
            ("hyperx:4x3", [true; 2]),
            ("hyperx:5", [true; 2]),
            ("hyperx:4x1x3", [true; 2]),
            ("hyperx:2x3x2x2", [true; 2]),
            ("hyperx:2x2x2x2x2", [false; 2]),
            ("hyperx:4x3,trunk=2", [false; 2]),
            ("dragonfly:a=4,h=2,p=2", [true; 2]),
            ("dragonfly:a=4,h=2,p=2,g=1", [true; 2]),
            ("dragonfly:a=4,h=2,p=2,g=2", [false; 2]),
            ("dragonfly:a=12,h=6,p=1", [false; 2]),
            ("mesh:4x3", [false; 2]),
            ("torus:4x3", [false; 2]),
            ("slimfly:q=5", [false; 2]),
        ] {
            let network = topology::build(spec).expect(spec);
            let found = [phase(&network), direct(&network)].map(|minimal| {
                with_minimal!(minimal.expect(spec), minimal => {
                    let answers = minimal.answers_at_target();
                    for (at, bits) in network.routers().filter(|_| answers).flat_map(|at| [(at, 0), (at, 1)]) {
                        let mut rng = Rng::stream(1, 2);
                        minimal.step(at, bits, at, &mut rng);
                        assert_eq!(rng.bits(), Rng::stream(1, 2).bits(), "{spec} {at}");
                    }
                    answers
                })
            });
            assert_eq!(found, answers, "{spec}");
        }
    }

    #[test]
    fn paths_on_trees_rise_and_then_fall() {
        let faulty = (0..12).map(|seed| (format!("faulty:links=2,seed={seed}(fattree:k=3,levels=3)"), None));
        let known = [
            ("fattree:k=2,levels=2", Some(true)),
            ("fattree:k=3,levels=3", Some(true)),
            ("fattree:k=2,levels=4", Some(true)),
            ("fattree:k=4,levels=3,taper=2", Some(true)),
            ("xgft:down=3x2,up=2", Some(true)),
            ("xgft:down=2x2x3,up=3x2", Some(true)),
            ("clos:radix=4,levels=3", Some(true)),
            ("hypercube:3", None),
            ("mesh:3x3", None),
            ("slimfly:q=5", None),
        ];
        let mut seen = [0; 3];
        for (spec, known) in known.map(|(spec, known)| (spec.to_owned(), Some(known))).into_iter().chain(faulty) {
            let network = topology::build(&spec).expect(&spec);
            let expected = followed(&network);
            assert_eq!(known.unwrap_or(expected), expected, "{spec}");
            let table = TableMinimal::new(&network).expect(&spec);
            assert_eq!(rises_then_falls(&network, &table), expected == Some(true), "{spec}");
            seen[expected.map_or(2, usize::from)] += 1;
            let one = u32::from(expected == Some(true));
            for (name, classes) in [("min", 1), ("amin", 1), ("val", 2), ("ugal-l", 2), ("ugal-g", 2), ("lbr", 2)] {
                let routing = routing::build(&network, name).expect(name);
                assert!(one == 0 || routing.classes() == classes, "{spec} {name}: {}", routing.classes());
                let proof = verify::verify(&network, name, &routing, None).expect(name);
                assert!(proof.refuse_unsafe().is_ok(), "{spec} {name}");
            }
        }
        assert!(seen.iter().all(|&count| count > 0), "each kind is met: {seen:?}");
    }

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
