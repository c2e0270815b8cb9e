//! What is left of a network when links or routers fail at random.
//!
//! A trial draws one random order in which everything fails; a failed fraction is a prefix of it. A disjoint-set
//! forest, filled from the end of the order, knows the components after every number of failures, and so the exact
//! number at which a trial falls apart. Distances cost a search from every router, and are measured where asked.

use rayon::prelude::*;
use serde::Serialize;

use crate::distances::histogram_from;
use crate::error::{Error, Result};
use crate::faults::{Kind, failures};
use crate::graph::{Graph, terminals_by_router};
use crate::network::{Network, Peer};
use crate::statistics;
use crate::watch::{self, Stage};

/// The steps of the largest survivable fraction are parts of this: 5 % (Jeon et al., FleX, Table 5).
const STEPS: u32 = 20;

/// The most trials, and the most trials times fractions.
const MOST_TRIALS: u32 = 1_000_000;
const MOST_SNAPSHOTS: u64 = 10_000_000;

/// What to try.
#[derive(Debug, Clone)]
pub struct Sweep {
    /// What fails.
    pub kind: Kind,
    /// The failed fractions to look at, each from 0 to 1.
    pub fractions: Vec<f64>,
    /// Random orders of failure.
    pub trials: u32,
    /// Their seed.
    pub seed: u64,
    /// Whether to measure distances.
    pub distances: bool,
}

/// What failures leave of a network.
#[derive(Debug, Clone, Serialize)]
pub struct Resilience {
    /// The spec of the network.
    pub spec: String,
    /// What fails.
    pub kind: Kind,
    /// Links between routers, without failures.
    pub links: usize,
    /// Routers, without failures.
    pub routers: usize,
    /// Terminals, without failures.
    pub terminals: usize,
    /// Random orders of failure.
    pub trials: u32,
    /// Their seed.
    pub seed: u64,
    /// The largest survivable fraction, by steps of 5 %.
    pub survivable: Survivable,
    /// The exact fractions at which the trials fall apart; `None` if some are in parts without any failure.
    pub critical: Option<Critical>,
    /// The failed fractions that were asked for.
    pub points: Vec<SweepPoint>,
}

/// The rule of FleX's Table 5: the largest step of 5 % at which more than half of the trials are connected. These
/// trials are also connected at all smaller fractions.
#[derive(Debug, Clone, Serialize)]
pub struct Survivable {
    /// That step; `None` if not even a network without failures is connected.
    pub fraction: Option<f64>,
    /// The share of trials that survive it.
    pub survive: Option<f64>,
    /// The 95 % interval of that share.
    pub survive_ci95: Option<[f64; 2]>,
    /// The next step; `None` behind 100 %.
    pub next_fraction: Option<f64>,
    /// The share of trials that survive the next step.
    pub next_survive: Option<f64>,
    /// The 95 % interval of that share.
    pub next_survive_ci95: Option<[f64; 2]>,
}

/// Critical fractions: of a trial, the largest failed fraction up to which it stays connected.
#[derive(Debug, Clone, Serialize)]
pub struct Critical {
    /// The median over the trials (of an even number, the mean of the middle two).
    pub median: f64,
    /// The 95 % interval of the median, by order statistics.
    pub median_ci95: [f64; 2],
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// One a trial, in the order of the trials.
    pub fractions: Vec<f64>,
}

/// The state of the trials at one failed fraction. Components are those of the surviving routers.
#[derive(Debug, Clone, Serialize)]
pub struct SweepPoint {
    /// The fraction that was asked for.
    pub fraction: f64,
    /// The number of failures that it means.
    pub failed: usize,
    /// The share of trials in which paths join all surviving routers.
    pub connected: f64,
    /// Its 95 % interval (Wilson).
    pub connected_ci95: [f64; 2],
    /// Routers of the largest component over all routers, failed ones included.
    pub largest_component: Estimate,
    /// Pairs of routers that a path still joins over all pairs, failed routers included; `None` below two routers.
    pub router_pairs: Option<Estimate>,
    /// The same for terminals; those of failed routers are lost. `None` below two terminals.
    pub terminal_pairs: Option<Estimate>,
    /// The diameter of the trials that are connected; `None` if none is, or if distances were not asked for.
    pub diameter: Option<Estimate>,
    /// Their mean distance over pairs of distinct surviving routers; trials with one router left have none.
    pub average_distance: Option<Estimate>,
    /// The diameter of the largest component, of all trials.
    pub largest_diameter: Option<Estimate>,
    /// The mean distance within the largest component, of all trials where it has two routers or more.
    pub largest_average_distance: Option<Estimate>,
}

/// A mean over trials.
#[derive(Debug, Clone, Serialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half the width of its 95 % interval (Student's t); `None` of a single trial.
    pub ci95: Option<f64>,
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// The trials it is taken over.
    pub trials: usize,
}

impl Estimate {
    fn of(samples: impl IntoIterator<Item = f64>) -> Option<Self> {
        let samples: Vec<f64> = samples.into_iter().collect();
        let (mean, ci95) = statistics::mean(&samples)?;
        let least = samples.iter().copied().fold(f64::INFINITY, f64::min);
        let most = samples.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Some(Self { mean, ci95, least, most, trials: samples.len() })
    }
}

/// Tries failures, the trials on all cores. The result does not depend on how many there are.
///
/// # Errors
/// [`Error::Config`] if a fraction or the number of trials is out of range, or if the network has failures already.
pub fn resilience(network: &Network, sweep: &Sweep) -> Result<Resilience> {
    check(network, sweep)?;
    let ground = Ground::new(network, sweep.kind);
    let failed: Vec<usize> = sweep.fractions.iter().map(|&fraction| failures(fraction, ground.count)).collect();
    let stage = watch::stage("trials", sweep.trials.into());
    let run = |trial: u32| {
        let order = sweep.kind.order(network, sweep.seed, trial.into());
        let trial = ground.trial(&order, &failed, sweep.distances, &stage);
        stage.step();
        trial
    };
    // Without the fuse each part that is still to run would run into a trial before it finds that it is cancelled, and parts
    // that are stolen are split again.
    let trials: Vec<Trial> = (0..sweep.trials).into_par_iter().panic_fuse().map(run).collect();
    let survives: Vec<Option<usize>> = trials.iter().map(|trial| trial.survives).collect();
    let points = sweep.fractions.iter().zip(&failed).enumerate();
    Ok(Resilience {
        spec: network.spec().to_owned(),
        kind: sweep.kind,
        links: network.links().len(),
        routers: network.num_routers(),
        terminals: network.num_terminals(),
        trials: sweep.trials,
        seed: sweep.seed,
        survivable: survivable(&survives, ground.count),
        critical: critical(&survives, ground.count),
        points: points.map(|(place, (&fraction, &failed))| ground.point(fraction, failed, place, &trials)).collect(),
    })
}

fn check(network: &Network, sweep: &Sweep) -> Result<()> {
    if network.failures().is_some() {
        return Err(Error::Config(format!(
            "{} has failures already; name the network without them, as in {}",
            network.spec(),
            network.intact().spec()
        )));
    }
    if let Some(fraction) = sweep.fractions.iter().find(|fraction| !(0.0..=1.0).contains(*fraction)) {
        return Err(Error::Config(format!("the failed fraction is {fraction}; it must be from 0 to 1")));
    }
    let (trials, points) = (sweep.trials, sweep.fractions.len());
    if !(1..=MOST_TRIALS).contains(&trials) {
        return Err(Error::Config(format!("trials is {trials}; it must be from 1 to {MOST_TRIALS}")));
    }
    if u64::from(trials) * points as u64 > MOST_SNAPSHOTS {
        return Err(Error::Config(format!(
            "{trials} trials of {points} fractions are too many; their product may be at most {MOST_SNAPSHOTS}"
        )));
    }
    Ok(())
}

/// What all trials on one network share.
struct Ground {
    kind: Kind,
    /// Links or routers that can fail.
    count: usize,
    /// The routers at the ends of each link.
    ends: Vec<[u32; 2]>,
    /// Where the links of each router begin in `incident`, and behind them their number.
    first: Vec<u32>,
    /// (neighbour, link), router by router.
    incident: Vec<(u32, u32)>,
    /// Terminals of each router.
    terminals: Vec<u32>,
}

/// One order of failure.
struct Trial {
    /// The most failures up to which it stays connected; `None` if it is in parts without any.
    survives: Option<usize>,
    /// What is left after the numbers of failures that were asked for.
    left: Vec<Remainder>,
}

/// What is left after some failures.
struct Remainder {
    connected: bool,
    largest: u32,
    router_pairs: u64,
    terminal_pairs: u64,
    /// Diameter and mean distance of the largest component.
    distances: Option<(u32, Option<f64>)>,
}

impl Ground {
    fn new(network: &Network, kind: Kind) -> Self {
        let router = |port: crate::network::PortId| network.ports()[port.index()].router.0;
        let ends: Vec<[u32; 2]> = network.links().iter().map(|link| link.ends.map(router)).collect();
        let mut link_of = vec![0; network.ports().len()];
        for (id, link) in (0..).zip(network.links()) {
            link.ends.iter().for_each(|port| link_of[port.index()] = id);
        }
        let (mut first, mut incident) = (vec![0], Vec::with_capacity(2 * ends.len()));
        for at in network.routers() {
            let ports = (network.port_base(at)..).zip(network.ports_of(at));
            incident.extend(ports.filter_map(|(id, port)| match port.peer {
                Peer::Port(peer) => Some((router(peer), link_of[id as usize])),
                Peer::Terminal(_) => None,
            }));
            first.push(incident.len() as u32);
        }
        Self { kind, count: kind.count(network), ends, first, incident, terminals: terminals_by_router(network) }
    }

    fn routers(&self) -> usize {
        self.terminals.len()
    }

    fn links_of(&self, router: u32) -> &[(u32, u32)] {
        &self.incident[self.first[router as usize] as usize..self.first[router as usize + 1] as usize]
    }

    fn trial(&self, order: &[u32], failed: &[usize], distances: bool, stage: &Stage) -> Trial {
        // The failures at which each one of them has failed: one more than its position in the order.
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &id)| place[id as usize] = at);
        let mut forest = Forest::new(&self.terminals, self.kind == Kind::Links);
        let mut first_cut = order.len() + 1;
        let mut left: Vec<Option<Remainder>> = failed.iter().map(|_| None).collect();
        for failures in (0..=order.len()).rev() {
            if !forest.connected() {
                first_cut = failures;
            }
            for (slot, _) in left.iter_mut().zip(failed).filter(|(_, asked)| **asked == failures) {
                let graph = distances.then(|| self.graph(&place, failures));
                *slot = Some(forest.left(graph.as_ref(), stage));
                stage.steps(0);
            }
            if failures > 0 {
                self.restore(&mut forest, order[failures - 1], &place);
            }
        }
        Trial { survives: first_cut.checked_sub(1), left: left.into_iter().flatten().collect() }
    }

    /// Brings back what failed last.
    fn restore(&self, forest: &mut Forest, id: u32, place: &[usize]) {
        match self.kind {
            Kind::Links => {
                let [a, b] = self.ends[id as usize];
                forest.join(a, b);
            }
            Kind::Routers => {
                forest.add(id);
                for &(peer, _) in self.links_of(id).iter().filter(|link| place[link.0 as usize] > place[id as usize]) {
                    forest.join(id, peer);
                }
            }
        }
    }

    /// The graph after some failures; failed routers are in it without links.
    fn graph(&self, place: &[usize], failures: usize) -> Graph {
        Graph::gather(self.routers(), |router, peers| {
            let works = |id: u32| place[id as usize] >= failures;
            let both = |peer: u32, link: u32| match self.kind {
                Kind::Links => works(link),
                Kind::Routers => works(router) && works(peer),
            };
            peers.extend(self.links_of(router).iter().filter(|link| both(link.0, link.1)).map(|link| link.0));
        })
    }

    fn point(&self, fraction: f64, failed: usize, place: usize, trials: &[Trial]) -> SweepPoint {
        let left = || trials.iter().map(|trial| &trial.left[place]);
        let whole = || left().filter(|left| left.connected);
        let connected = whole().count();
        let share = |part: fn(&Remainder) -> u64, of: u64| {
            (of > 0).then(|| Estimate::of(left().map(|left| part(left) as f64 / of as f64))).flatten()
        };
        let routers = self.routers() as u64;
        let terminals = self.terminals.iter().copied().map(u64::from).sum();
        SweepPoint {
            fraction,
            failed,
            connected: connected as f64 / trials.len() as f64,
            connected_ci95: statistics::share(connected, trials.len()),
            largest_component: share(|left| left.largest.into(), routers).expect("a network has a router"),
            router_pairs: share(|left| left.router_pairs, pairs(routers)),
            terminal_pairs: share(|left| left.terminal_pairs, pairs(terminals)),
            diameter: Estimate::of(whole().filter_map(Remainder::diameter)),
            average_distance: Estimate::of(whole().filter_map(Remainder::average_distance)),
            largest_diameter: Estimate::of(left().filter_map(Remainder::diameter)),
            largest_average_distance: Estimate::of(left().filter_map(Remainder::average_distance)),
        }
    }
}

impl Remainder {
    fn diameter(&self) -> Option<f64> {
        self.distances.map(|(diameter, _)| diameter.into())
    }

    fn average_distance(&self) -> Option<f64> {
        self.distances?.1
    }
}

/// Unordered pairs of `count` things.
fn pairs(count: u64) -> u64 {
    count * count.saturating_sub(1) / 2
}

/// Disjoint sets of routers, with what is counted of them.
struct Forest {
    /// The parent of each router; itself at a root.
    parent: Vec<u32>,
    /// Routers of each set, at its root; 0 for a router that is not there.
    routers: Vec<u32>,
    /// Terminals of each set, at its root.
    terminals: Vec<u64>,
    sets: u32,
    largest: u32,
    router_pairs: u64,
    terminal_pairs: u64,
}

impl Forest {
    /// Sets of one router each, or no routers at all.
    fn new(terminals: &[u32], all: bool) -> Self {
        let mut forest = Self {
            parent: (0..terminals.len() as u32).collect(),
            routers: vec![0; terminals.len()],
            terminals: terminals.iter().copied().map(u64::from).collect(),
            sets: 0,
            largest: 0,
            router_pairs: 0,
            terminal_pairs: 0,
        };
        if all {
            (0..terminals.len() as u32).for_each(|router| forest.add(router));
        }
        forest
    }

    /// Adds a router as a set of its own.
    fn add(&mut self, router: u32) {
        self.routers[router as usize] = 1;
        self.sets += 1;
        self.largest = self.largest.max(1);
        self.terminal_pairs += pairs(self.terminals[router as usize]);
    }

    fn root(&mut self, router: u32) -> u32 {
        let mut at = router;
        while self.parent[at as usize] != at {
            let above = self.parent[self.parent[at as usize] as usize];
            self.parent[at as usize] = above;
            at = above;
        }
        at
    }

    /// Joins the sets of two routers that are there.
    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return;
        }
        let (small, large) = if self.routers[a as usize] < self.routers[b as usize] { (a, b) } else { (b, a) };
        let (small, large) = (small as usize, large as usize);
        self.router_pairs += u64::from(self.routers[small]) * u64::from(self.routers[large]);
        self.terminal_pairs += self.terminals[small] * self.terminals[large];
        self.parent[small] = large as u32;
        self.routers[large] += self.routers[small];
        self.terminals[large] += self.terminals[small];
        self.largest = self.largest.max(self.routers[large]);
        self.sets -= 1;
    }

    fn connected(&self) -> bool {
        self.sets == 1
    }

    fn left(&mut self, graph: Option<&Graph>, stage: &Stage) -> Remainder {
        let distances = graph.filter(|_| self.sets > 0).map(|graph| distances(graph, self.largest_set(), stage));
        Remainder {
            connected: self.connected(),
            largest: self.largest,
            router_pairs: self.router_pairs,
            terminal_pairs: self.terminal_pairs,
            distances,
        }
    }

    /// The routers of a largest set: of several, the one with the smallest router id.
    fn largest_set(&mut self) -> Vec<u32> {
        let all = 0..self.parent.len() as u32;
        let roots: Vec<u32> = all.clone().map(|router| self.root(router)).collect();
        let largest = roots.iter().find(|&&root| self.routers[root as usize] == self.largest);
        all.filter(|&router| Some(&roots[router as usize]) == largest).collect()
    }
}

/// Diameter and mean distance of a component; they are part of a step of `stage`.
fn distances(graph: &Graph, routers: Vec<u32>, stage: &Stage) -> (u32, Option<f64>) {
    let histogram = histogram_from(graph, routers, &stage.within());
    let pairs: u64 = histogram[1..].iter().sum();
    let sum: u64 = (0..).zip(&histogram).map(|(distance, pairs): (u64, _)| distance * pairs).sum();
    (histogram.len() as u32 - 1, (pairs > 0).then(|| sum as f64 / pairs as f64))
}

fn survivable(survives: &[Option<usize>], count: usize) -> Survivable {
    let surviving = |step: u32| {
        let failed = failures(f64::from(step) / f64::from(STEPS), count);
        survives.iter().filter(|most| most.is_some_and(|most| most >= failed)).count()
    };
    let share = |step: u32| surviving(step) as f64 / survives.len() as f64;
    let ci95 = |step: u32| statistics::share(surviving(step), survives.len());
    let fraction = |step: u32| f64::from(step) / f64::from(STEPS);
    let best = (0..=STEPS).rev().find(|&step| 2 * surviving(step) > survives.len());
    let next = best.map_or(Some(0), |step| Some(step + 1)).filter(|&step| step <= STEPS);
    Survivable {
        fraction: best.map(fraction),
        survive: best.map(share),
        survive_ci95: best.map(ci95),
        next_fraction: next.map(fraction),
        next_survive: next.map(share),
        next_survive_ci95: next.map(ci95),
    }
}

fn critical(survives: &[Option<usize>], count: usize) -> Option<Critical> {
    let survives: Vec<usize> = survives.iter().copied().collect::<Option<_>>()?;
    let fractions: Vec<f64> = survives.iter().map(|&most| most as f64 / count.max(1) as f64).collect();
    let mut sorted = fractions.clone();
    sorted.sort_by(f64::total_cmp);
    let [low, high] = statistics::median_places(sorted.len());
    let middle = [(sorted.len() - 1) / 2, sorted.len() / 2].map(|place| sorted[place]);
    Some(Critical {
        median: (middle[0] + middle[1]) / 2.0,
        median_ci95: [sorted[low], sorted[high]],
        least: sorted[0],
        most: sorted[sorted.len() - 1],
        fractions,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::build;

    fn sweep(kind: Kind, trials: u32, distances: bool) -> Sweep {
        let fractions = (0..=20).map(|step| f64::from(step) / 20.0).collect();
        Sweep { kind, fractions, trials, seed: 7, distances }
    }

    /// Components by marking what each router reaches, and distances from each, without a forest.
    fn slowly(network: &Network, kind: Kind, failed: &[u32]) -> (Vec<Vec<u32>>, Graph) {
        let is_down = |router: u32| kind == Kind::Routers && failed.contains(&router);
        let ends = |link: &crate::network::Link| link.ends.map(|port| network.ports()[port.index()].router.0);
        let links: Vec<[u32; 2]> = (0u32..)
            .zip(network.links())
            .filter(|(id, _)| kind == Kind::Routers || !failed.contains(id))
            .map(|(_, link)| ends(link))
            .filter(|&[a, b]| !is_down(a) && !is_down(b))
            .collect();
        let graph = Graph::gather(network.num_routers(), |router, peers| {
            peers.extend(links.iter().filter(|ends| ends[0] == router).map(|ends| ends[1]));
            peers.extend(links.iter().filter(|ends| ends[1] == router).map(|ends| ends[0]));
        });
        let mut components: Vec<Vec<u32>> = Vec::new();
        for router in (0..network.num_routers() as u32).filter(|&router| !is_down(router)) {
            if components.iter().any(|component| component.contains(&router)) {
                continue;
            }
            let mut found = vec![router];
            let mut next = 0;
            while next < found.len() {
                let new = graph.neighbors(found[next]).iter().filter(|peer| !found.contains(peer));
                let new: Vec<u32> = new.copied().collect();
                found.extend(new);
                next += 1;
            }
            components.push(found);
        }
        (components, graph)
    }

    #[test]
    fn every_trial_agrees_with_a_slow_definition() {
        for spec in ["mesh:4x3,p=2", "torus:5x4", "hyperx:3x3,trunk=2", "fattree:k=2,levels=3", "flex:2x2x4,p=3"] {
            let network = build(spec).expect(spec);
            for kind in Kind::ALL {
                let ground = Ground::new(&network, kind);
                let asked: Vec<usize> = (0..=ground.count).collect();
                let stage = watch::stage("trials", 0);
                for number in 0..5 {
                    let order = kind.order(&network, 3, number);
                    let trial = ground.trial(&order, &asked, true, &stage);
                    let mut survives = None;
                    for (&failed, left) in asked.iter().zip(&trial.left) {
                        let (components, graph) = slowly(&network, kind, &order[..failed]);
                        let here = format!("{spec}, {} {failed}", kind.name());
                        assert_eq!(left.connected, components.len() == 1, "{here}");
                        if left.connected && survives.map_or(0, |most: usize| most + 1) == failed {
                            survives = Some(failed);
                        }
                        let largest = components.iter().map(Vec::len).max().unwrap_or(0);
                        assert_eq!(left.largest as usize, largest, "{here}");
                        let joined =
                            |count: &dyn Fn(&Vec<u32>) -> u64| components.iter().map(|c| pairs(count(c))).sum::<u64>();
                        let terminals =
                            |c: &Vec<u32>| c.iter().map(|&r| u64::from(ground.terminals[r as usize])).sum::<u64>();
                        assert_eq!(left.router_pairs, joined(&|c| c.len() as u64), "{here}");
                        assert_eq!(left.terminal_pairs, joined(&terminals), "{here}");
                        let component = components.into_iter().find(|component| component.len() == largest);
                        assert_eq!(
                            left.distances,
                            component.map(|routers| distances(&graph, routers, &stage)),
                            "{here}"
                        );
                    }
                    assert_eq!(trial.survives, survives, "{spec}");
                }
            }
        }
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let network = build("dragonfly:a=4,h=2,p=2").expect("a dragonfly");
        for kind in Kind::ALL {
            let text = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
                let result = pool.install(|| resilience(&network, &sweep(kind, 30, true))).expect("in range");
                serde_json::to_string(&result).expect("plain data")
            };
            assert!(text(1) == text(3) && text(1) == text(8), "{}", kind.name());
        }
    }

    #[test]
    fn more_failures_leave_less() {
        let network = build("slimfly:q=5,p=2").expect("a Slim Fly");
        for kind in Kind::ALL {
            let result = resilience(&network, &sweep(kind, 40, false)).expect("in range");
            for pair in result.points.windows(2) {
                let [before, after] = pair else { unreachable!("windows of two") };
                let mean = |estimate: &Option<Estimate>| estimate.as_ref().expect("pairs").mean;
                assert!(after.largest_component.mean <= before.largest_component.mean);
                assert!(mean(&after.router_pairs) <= mean(&before.router_pairs));
                assert!(mean(&after.terminal_pairs) <= mean(&before.terminal_pairs));
                // The last router left is connected with itself, so that routers may only fall apart for a while.
                assert!(kind == Kind::Routers || after.connected <= before.connected);
            }
        }
    }

    #[test]
    fn a_network_in_parts_survives_nothing() {
        let parts = build("flex:2x2x4").expect("in two parts");
        let result = resilience(&parts, &sweep(Kind::Links, 3, false)).expect("in range");
        assert!(result.critical.is_none() && result.survivable.fraction.is_none());
        assert_eq!((result.survivable.next_fraction, result.survivable.next_survive), (Some(0.0), Some(0.0)));
    }

    #[test]
    fn fractions_are_rounded_to_the_nearest() {
        assert_eq!(failures(0.35, 10), 4, "halves up, although 0.35 is a little less in binary");
        assert_eq!([failures(0.0, 7), failures(0.5, 7), failures(1.0, 7), failures(0.07, 7)], [0, 4, 7, 0]);
    }
}
