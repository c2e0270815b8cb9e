//! `permuted:two-cab(torus:64x64),cabinet=16`: swap-and-randomize on any base network.
//!
//! Routers, terminals and ports are those of the base, and so are the cables; two cables with an end in one cabinet
//! exchange the ports of these ends (see [`crate::permute`]). Classes and latencies go with the cables. If terminals
//! are in cabinets of their own (`nodes=128`) their cables are swapped as well. Terminals are then attached to other
//! routers than in the base, and ports are numbered again: terminals, then links in the order of the cables.

use super::params::{BASE, CABINET, Params};
use super::{Family, Roles};
use crate::catalogue::grammar::{bracketed, keys, wrapped};
use crate::catalogue::{Key, Kind};
use crate::distances::{require_connected, rows};
use crate::error::{Error, Result, several, unknown};
use crate::graph::terminals_by_router;
use crate::layout::{Layout, Packing, Rules, note_on_nodes};
use crate::network::{GraphAlone, LinkClass, Network, NetworkBuilder, PortId, RouterId, Structure};
use crate::permute::bandwidth::side_by_side;
use crate::permute::load::Limit;
use crate::permute::search::{Alike, Bandwidth, Keeps, Search, length, search};
use crate::permute::{Cabling, Method, OPTIMISED, Shifts, Trials, best, cables, method_names};
use crate::provenance::{DistanceSummary, Optimisation, Permutation, Trial};

pub(super) const FAMILY: Family = Family {
    name: "permuted",
    summary: "another network whose cables exchange ends at random within cabinets: shorter paths, no more cable",
    sizes: None,
    keys: &[
        Key::new(BASE.name, Kind::Network, "how, and the other network; stands first: two-cab(torus:64x64)"),
        CABINET,
        Key::new(
            "nodes",
            Kind::count(1),
            "terminals per node-only cabinet; their cables are swapped too (default: they stay)",
        ),
        Key::new("trials", Kind::count(1), "permutations of which the best is taken (default 20)"),
        Key::new(
            "swappable",
            Kind::Real(0.0, 1.0),
            "probability that a pair of cables may exchange ends (default 1.0)",
        ),
        Key::new("seed", Kind::count(0), "of the permutations (default 1)"),
        Key::new(
            "steps",
            Kind::count(1),
            "optimised: exchanges that each of four searches looks at (default: one a cable, and more in small networks)",
        ),
        Key::new(
            "conserve",
            Kind::Choice(&["cabinets", "length"]),
            "optimised: cabinets: what joins which cabinets (default); length: metres in all",
        ),
        Key::new(
            "keep",
            Kind::Choice(&["none", "bandwidth"]),
            "optimised: bandwidth: neither the bisection nor a channel-load bound of minimal routing falls (default: none)",
        ),
        Key::new(
            "floor",
            Kind::Layout,
            "optimised, conserve=length: a layout in brackets (default: (permutation,place=anneal))",
        ),
    ],
    example: "permuted:two-cab(torus:16x16),cabinet=16",
    source: "Fujiwara, Koibuchi, Matsutani and Casanova, Swap-and-randomize: a method for building low-latency HPC \
             interconnects",
    routings: &[],
    roles: Roles::ANY,
    build,
};

impl Permutation {
    /// What was done, in a sentence.
    fn told(&self) -> String {
        let Trial { told, counts } = &self.trials[self.best_trial as usize];
        let chance = changed(self.base_average_distance, told.average_distance);
        let cabinets =
            if self.cabinets == 1 { "in 1 cabinet".to_owned() } else { format!("between {} cabinets", self.cabinets) };
        if let Some(Optimisation { told: found, searched, .. }) = &self.optimised {
            return format!(
                "of {} exchanges {cabinets} {} were kept and moved {} ends of cables; the average distance {chance} in the \
                 best of {}, and {} by the search",
                searched.tried,
                searched.kept,
                self.moved_ends,
                several(self.trials.len(), "trial"),
                changed(told.average_distance, found.average_distance)
            );
        }
        format!(
            "trial {} of {} is the best: {} exchanges {cabinets} moved {} ends of cables, {} were rejected, {} discarded \
             because they would have disconnected the network; the average distance {chance}{}",
            self.best_trial + 1,
            self.trials.len(),
            counts.exchanged,
            self.moved_ends,
            counts.refused,
            counts.disconnecting,
            self.loss(told),
        )
    }

    /// A clause that states that distances are longer than those of the base, if they are.
    fn loss(&self, told: &DistanceSummary) -> String {
        if told.diameter > self.base_diameter {
            format!(" and the diameter rose from {} to {}: the base is better", self.base_diameter, told.diameter)
        } else if told.average_distance > self.base_average_distance {
            ": the base is better".to_owned()
        } else {
            String::new()
        }
    }
}

/// What became of an average distance, to three digits.
fn changed(before: f64, after: f64) -> String {
    let [from, to] = [before, after].map(|distance| format!("{distance:.3}"));
    match from == to {
        true => format!("stayed at {from}"),
        false if after < before => format!("fell from {from} to {to}"),
        false => format!("rose from {from} to {to}"),
    }
}

/// A permuted network.
#[derive(Debug)]
struct PermutationStructure {
    /// How it came about.
    permutation: Permutation,
    /// The cabinet of each router.
    cabinets: Vec<u32>,
    notes: Vec<String>,
}

impl Structure for PermutationStructure {
    fn permutation(&self) -> Option<&Permutation> {
        Some(&self.permutation)
    }

    fn cabinet(&self, router: RouterId) -> Option<u32> {
        Some(self.cabinets[router.index()])
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

fn build(params: &Params) -> Result<Network> {
    let named = |error| named(params, error);
    let (way, base) = base(params)?;
    let packing = params.text(CABINET.name).map_or(Ok(Packing::Own), Packing::parse).map_err(named)?;
    let how = trials(params, way)?;
    let nodes = params.count("nodes");
    let base = super::build(base).map_err(named)?;
    if let Some(fail) = base.failures() {
        let what = "the network in brackets has failures; let what is permuted fail instead, as in";
        return Err(params.mistake(format!("{what} 'faulty:{fail}({}:…)'", FAMILY.name)));
    }
    require_connected(&base).map_err(named)?;
    let cabinets = packing.cabinets(&base).map_err(named)?;
    let before = cables(&base, &cabinets, nodes);
    let mut found = best(&before, &how)?;
    let optimised = match way {
        Some(_) => None,
        None => Some(optimise(params, &base, &before, &mut found.cabling, how.seed)?),
    };
    let (base_told, after) = (before.told(), found.cabling.told());
    let permutation = Permutation {
        method: way.map_or(OPTIMISED, Method::name).to_owned(),
        base: base.spec().to_owned(),
        cabinet: packing.to_string(),
        cabinets: before.cabinets().iter().max().map_or(0, |&last| last + 1),
        best_trial: found.trial,
        moved_ends: found.cabling.moved_ends(&before),
        diameter: after.diameter,
        average_distance: after.average_distance,
        base_diameter: base_told.diameter,
        base_average_distance: base_told.average_distance,
        cabinet_distance: cabinet_distance(&before),
        trials: found.trials,
        optimised,
    };
    let of_nodes = nodes.and_then(|size| note_on_nodes(&base, size));
    let not_full = packing.note(&base, &cabinets).into_iter().chain(of_nodes);
    let notes = notes(&base, not_full, &before, &permutation);
    let permuted = PermutationStructure { permutation, cabinets, notes };
    let name = params.spec().to_owned();
    match nodes {
        None => Ok(base.rewired(&port_pairs(&base, &found.cabling), name, FAMILY.name, Box::new(permuted))),
        Some(_) => rebuilt(&base, &found.cabling, name, permuted),
    }
}

/// An error of something else than `params`, which name their spec themselves.
fn named(params: &Params, error: Error) -> Error {
    match error {
        Error::TooLarge(_) => error,
        other => params.mistake(other.to_string()),
    }
}

/// How to permute, at random or before the search.
fn trials(params: &Params, way: Option<Method>) -> Result<Trials> {
    let of_search = ["steps", "conserve", "keep", "floor"].into_iter().find(|key| params.text(key).is_some());
    if let (Some(_), Some(key)) = (way, of_search) {
        return Err(params.mistake(format!("{key} is for optimised only")));
    }
    Ok(Trials {
        method: way.unwrap_or(Method::TwoCab),
        trials: params.count("trials").unwrap_or(20),
        swappable: params.real("swappable").unwrap_or(1.0),
        seed: params.count("seed").unwrap_or(1).into(),
    })
}

/// What users should know.
fn notes(
    base: &Network,
    not_full: impl Iterator<Item = String>,
    before: &Cabling,
    permutation: &Permutation,
) -> Vec<String> {
    let by_length = permutation.optimised.as_ref().is_some_and(|optimised| optimised.cable_m.is_some());
    let apart = (before.is_apart() && !by_length).then(|| {
        "every cabinet holds one router, so no cables can exchange ends: that takes two routers in one cabinet, as by \
         cabinet=16"
            .to_owned()
    });
    let own = not_full.chain(apart).chain([permutation.told()]);
    own.chain(base.notes()).collect()
}

/// Searches from the best trial on; from the base, if bandwidth is kept and the best trial has less.
fn optimise(
    params: &Params,
    base: &Network,
    before: &Cabling,
    cabling: &mut Cabling,
    seed: u64,
) -> Result<Optimisation> {
    let keeps = match params.choice("conserve") {
        "cabinets" if params.text("floor").is_some() => {
            return Err(params.mistake("floor is for conserve=length only"));
        }
        "cabinets" => Keeps::Cabinets,
        _ => Keeps::Length(metres(params, base, before)?),
    };
    let kept = |cabling: &Cabling| has_bandwidth_of(base, cabling);
    let bandwidth = keeps_bandwidth(params)?
        .then(|| Bandwidth { limit: Limit::of(before, terminals_by_router(base)), is_kept: &kept });
    let usual = if bandwidth.is_some() { Search::usual_steps_of_bandwidth } else { Search::usual_steps };
    let steps = params.count("steps").map_or_else(|| usual(cabling), u64::from);
    let shifts = match (&keeps, base.any_structure().grid()) {
        (Keeps::Cabinets, Some(grid)) if bandwidth.is_none() => Shifts::of(before, &grid.sides),
        _ => None,
    };
    let alike = shifts.map(|shifts| Alike { base: before, shifts });
    if bandwidth.is_some() && !kept(cabling) {
        *cabling = before.clone();
    }
    let how = Search { keeps: keeps.clone(), steps, seed, bandwidth: bandwidth.as_ref() };
    let (found, searched) = search(cabling, alike.as_ref(), &how);
    *cabling = found;
    let cable_m = match &keeps {
        Keeps::Cabinets => {
            cabling.check_conserved(before).map_err(|error| named(params, error))?;
            None
        }
        Keeps::Length(metres) => Some([before, &*cabling].map(|cabling| length(cabling, metres))),
    };
    if cable_m.is_some_and(|[before, after]| after > before + 1e-6) {
        return Err(params.mistake("a search has made cable longer; this is a bug"));
    }
    Ok(Optimisation { told: cabling.told(), searched, cable_m })
}

/// True if the search is to keep bandwidth.
fn keeps_bandwidth(params: &Params) -> Result<bool> {
    let keeps = params.choice("keep") == "bandwidth";
    if keeps && params.text("nodes").is_some() {
        return Err(params.mistake("keep=bandwidth does not go with nodes"));
    }
    Ok(keeps)
}

/// True if the routers of `base` carry as much when they are joined by `cabling`.
fn has_bandwidth_of(base: &Network, cabling: &Cabling) -> bool {
    let ends = port_pairs(base, cabling);
    let after = base.rewired(&ends, base.spec().to_owned(), FAMILY.name, Box::new(GraphAlone));
    let [before, after] = side_by_side([base, &after], [Vec::new(), Vec::new()]);
    before.losses(&after).is_empty()
}

/// Metres of a cable between each pair of cabinets, on the floor that is asked for.
fn metres(params: &Params, base: &Network, cabling: &Cabling) -> Result<Vec<f64>> {
    if params.text("nodes").is_some() {
        return Err(params.mistake("conserve=length does not go with nodes"));
    }
    let text = params.text("floor").unwrap_or("(permutation,place=anneal)");
    let rules = bracketed(text).ok_or_else(|| params.mistake(format!("floor is '{text}'; write it in brackets")))?;
    // The cabinets are already given, and terminals stay in them.
    if let Some(key) = keys(rules).into_iter().find(|key| ["cabinet", "nodes", "own"].contains(key)) {
        let what = format!(
            "floor has {key}, but gives only the positions of cabinets: cabinet= beside it defines what they hold"
        );
        return Err(params.mistake(what));
    }
    let layout = || Layout::with_cabinets(base, &Rules::parse(rules)?, cabling.cabinets().to_vec());
    Ok(layout().map_err(|error| named(params, error))?.between_cabinets_m())
}

/// The method, or none if exchanges are searched for, and the spec of the base.
fn base<'a>(params: &Params<'a>) -> Result<(Option<Method>, &'a str)> {
    let text = params.text(BASE.name).unwrap_or("");
    let Some((name, base)) = wrapped(text).filter(|(_, base)| !base.trim().is_empty()) else {
        let example = FAMILY.example;
        return Err(params.mistake(format!("a method must stand first, with a network in brackets: '{example}'")));
    };
    if name == OPTIMISED {
        return Ok((None, base));
    }
    let method = Method::NAMES.iter().find(|(known, _)| *known == name).map(|&(_, method)| method);
    let method = method.ok_or_else(|| params.mistake(unknown("method of permutation", name, method_names())))?;
    Ok((Some(method), base))
}

/// The two ports of each link, where every vertex is a router and every plug one of its link ports.
fn port_pairs(base: &Network, cabling: &Cabling) -> Vec<[PortId; 2]> {
    let port = |plug: u32| {
        let router = RouterId(cabling.vertex(plug));
        let terminals = base.terminals_of(router).count() as u32;
        PortId(base.port_base(router) + terminals + cabling.place(plug))
    };
    (0..cabling.cables() as u32).map(|cable| cabling.ends(cable).map(port)).collect()
}

/// The network after terminals' cables were swapped as well.
fn rebuilt(base: &Network, cabling: &Cabling, spec: String, permuted: PermutationStructure) -> Result<Network> {
    let routers = base.num_routers() as u32;
    let mut builder = NetworkBuilder::new(routers);
    let mut homes = vec![0; base.num_terminals()];
    for cable in 0..cabling.cables() as u32 {
        let [a, b] = cabling.ends(cable).map(|plug| cabling.vertex(plug));
        match (base.links().get(cable as usize), a.max(b).checked_sub(routers)) {
            (_, Some(terminal)) => homes[terminal as usize] = a.min(b),
            (link, None) => builder.link(a, b, link.map_or(LinkClass::Up, |link| link.class)),
        }
    }
    homes.into_iter().for_each(|router| builder.terminal(router));
    builder.build(spec, FAMILY.name, Box::new(permuted))
}

/// The mean distance of the cabinets of two distinct vertices: links between cabinets on a shortest path.
fn cabinet_distance(cabling: &Cabling) -> f64 {
    let count = cabling.cabinets().iter().max().map_or(0, |&last| last as usize + 1);
    let mut held = vec![0u64; count];
    cabling.cabinets().iter().for_each(|&cabinet| held[cabinet as usize] += 1);
    let mut joined = vec![Vec::new(); count];
    for &(i, j) in cabling.by_cabinets().keys().filter(|(i, j)| i != j) {
        joined[i as usize].push(j);
        joined[j as usize].push(i);
    }
    let there = |row: Vec<u32>| -> u64 { row.iter().zip(&held).map(|(&d, &held)| u64::from(d) * held).sum() };
    let rows = rows(count, |at, peers| peers.extend_from_slice(&joined[at as usize]));
    let sum: u64 = rows.zip(&held).map(|(row, &held)| if held > 0 { there(row) * held } else { 0 }).sum();
    let vertices = cabling.len() as u64;
    sum as f64 / (vertices * (vertices - 1)).max(1) as f64
}
