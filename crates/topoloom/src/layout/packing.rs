//! Which cabinet each router stands in, where a user says so.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::Layout;
use crate::error::{Error, Result};
use crate::network::{Network, RouterId};

/// How routers are put into cabinets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Packing {
    /// The family's own packaging.
    Own,
    /// So many routers a cabinet, in order of their ids.
    Routers(u32),
    /// Blocks of the family's grid, with these sides; cabinets count as routers do, the first dimension fastest.
    Blocks(Vec<u32>),
    /// A table of routers and cabinets.
    File(String),
    /// So many routers a cabinet at most, with few cables between cabinets. The partition comes from outside.
    Metis(u32),
}

impl Packing {
    /// What `cabinet=` takes.
    pub const DOC: &str = "routers a cabinet, in order of their ids; or 4x4, blocks of the family's grid; or FILE.csv, \
                           a table router,cabinet; or metis:16, in a layout, so that few cables join cabinets; or own, \
                           the family's own packaging (default own)";

    /// Reads `16`, `4x4`, `racks.csv` or `own`.
    ///
    /// # Errors
    /// [`Error::Config`] for anything else.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = || {
            Error::Config(format!(
                "cabinet is {text}; it must be a whole number from 1, sides of blocks such as 4x4, a file ending in .csv, \
                 metis:16, or own"
            ))
        };
        if text == "own" {
            return Ok(Self::Own);
        }
        if text.ends_with(".csv") {
            return Ok(Self::File(text.to_owned()));
        }
        if let Some(size) = text.strip_prefix("metis:") {
            return size.parse().ok().filter(|&size| size > 0).map(Self::Metis).ok_or_else(wrong);
        }
        let sides: Option<Vec<u32>> = text.split('x').map(|side| side.parse().ok().filter(|&side| side > 0)).collect();
        match sides.ok_or_else(wrong)?.as_slice() {
            &[routers] => Ok(Self::Routers(routers)),
            sides => Ok(Self::Blocks(sides.to_vec())),
        }
    }

    /// The cabinet of each router; cabinets are numbered from 0.
    ///
    /// # Errors
    /// [`Error::Config`] for blocks of a network without a grid, and a table that does not name each router once.
    pub fn cabinets(&self, network: &Network) -> Result<Vec<u32>> {
        match self {
            Self::Own => {
                let layout = Layout::of_family(network);
                Ok(network.routers().map(|router| layout.cabinet(router)).collect())
            }
            Self::Routers(size) => Ok(network.routers().map(|router| router.0 / size).collect()),
            Self::Blocks(block) => blocks(network, block),
            Self::File(path) => of_file(network, path),
            Self::Metis(_) => Err(Error::Config(
                "cabinet=metis:N belongs to a layout; write its cabinets to a file, and name that".to_owned(),
            )),
        }
    }

    /// Routers a cabinet, if METIS is to say which.
    pub fn metis(&self) -> Option<u32> {
        if let Self::Metis(size) = self { Some(*size) } else { None }
    }

    /// The partition `packed` of the routers, made to fit: no cabinet holds more than it can.
    ///
    /// # Errors
    /// [`Error::Config`] if the partition is none of these routers, or has too few parts.
    pub fn fitted(&self, network: &Network, mut packed: Vec<u32>) -> Result<Vec<u32>> {
        let size = self.metis().unwrap_or(u32::MAX) as usize;
        let parts = packed.iter().max().map_or(0, |&last| last as usize + 1).max(network.num_routers().div_ceil(size));
        if packed.len() != network.num_routers() {
            let (given, routers) = (packed.len(), network.num_routers());
            return Err(Error::Config(format!("a partition has {given} entries for {routers} routers")));
        }
        let mut held = vec![0; parts];
        packed.iter().for_each(|&part| held[part as usize] += 1);
        while let Some(full) = held.iter().position(|&held| held > size) {
            let (router, to) = cheapest_move(network, &packed, full as u32, |part| held[part as usize] < size);
            packed[router] = to;
            held[full] -= 1;
            held[to as usize] += 1;
        }
        Ok(packed)
    }

    /// A sentence on a cabinet that is not full, where all are meant to hold as many.
    pub fn note(&self, network: &Network) -> Option<String> {
        let routers = network.num_routers() as u32;
        match self {
            Self::Routers(size) if routers % size > 0 => Some(format!(
                "{size} routers a cabinet do not divide {routers} routers: the last of {} cabinets holds {}",
                routers.div_ceil(*size),
                routers % size
            )),
            _ => None,
        }
    }
}

impl fmt::Display for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own => f.write_str("own"),
            Self::Routers(size) => size.fmt(f),
            Self::Blocks(sides) => {
                let sides: Vec<String> = sides.iter().map(u32::to_string).collect();
                f.write_str(&sides.join("x"))
            }
            Self::File(path) => f.write_str(path),
            Self::Metis(size) => write!(f, "metis:{size}"),
        }
    }
}

/// The router of a full cabinet, and one with room, between which the fewest more cables would run.
fn cheapest_move(network: &Network, packed: &[u32], full: u32, room: impl Fn(u32) -> bool) -> (usize, u32) {
    let parts = packed.iter().max().map_or(0, |&last| last + 1);
    let spare = (0..=parts).find(|&part| room(part)).expect("all routers have room together");
    let members = (0..packed.len()).filter(|&router| packed[router] == full);
    let moves = members.flat_map(|router| {
        let mut joined: Vec<u32> =
            network.neighbors(RouterId(router as u32)).map(|(_, peer)| packed[peer.index()]).collect();
        joined.sort_unstable();
        let count = |part: u32| joined.iter().filter(|&&other| other == part).count() as i64;
        let here = count(full);
        let mut options: Vec<(i64, usize, u32)> = joined
            .chunk_by(|a, b| a == b)
            .map(|run| run[0])
            .filter(|&part| room(part))
            .map(|part| (here - count(part), router, part))
            .collect();
        options.push((here - count(spare), router, spare));
        options
    });
    let (_, router, to) = moves.min().expect("a full cabinet holds routers");
    (router, to)
}

fn blocks(network: &Network, block: &[u32]) -> Result<Vec<u32>> {
    let Some(grid) = network.any_structure().grid().filter(|grid| grid.sides.len() >= block.len()) else {
        return Err(Error::Config(format!(
            "cabinet is {}; {} has no grid of so many dimensions to cut into blocks",
            Packing::Blocks(block.to_vec()),
            network.spec()
        )));
    };
    let side = |dimension: usize| block.get(dimension).copied().unwrap_or(1);
    let cabinet = |router: RouterId| {
        let coordinates = grid.coordinates(router.0);
        (0..grid.sides.len()).rev().fold(0, |id, d| id * grid.sides[d].div_ceil(side(d)) + coordinates[d] / side(d))
    };
    Ok(network.routers().map(cabinet).collect())
}

/// Reads a table of routers (ids, or names where the network has some) and cabinets (any names). Cabinets are numbered
/// in the order of their names where these are whole numbers, else in the order of their appearance.
fn of_file(network: &Network, path: &str) -> Result<Vec<u32>> {
    let wrong = |line: usize, what: String| Error::Config(format!("{path}: line {line}: {what}"));
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::Config(format!("cabinet: cannot read '{path}': {}", error.kind())))?;
    let names: HashMap<&str, u32> =
        network.router_names().unwrap_or_default().iter().map(String::as_str).zip(0..).collect();
    let mut found: Vec<Option<&str>> = vec![None; network.num_routers()];
    for (line, row) in (1..).zip(text.lines()).filter(|(_, row)| !row.trim().is_empty()) {
        let (router, cabinet) = row
            .split_once(',')
            .map(|(router, cabinet)| (router.trim(), cabinet.trim()))
            .filter(|(_, cabinet)| !cabinet.is_empty() && !cabinet.contains(','))
            .ok_or_else(|| wrong(line, "a router and its cabinet must stand here, as in 17,A3".to_owned()))?;
        if line == 1 && (router, cabinet) == ("router", "cabinet") {
            continue;
        }
        let id = names.get(router).copied().or_else(|| router.parse().ok());
        let place = id.and_then(|id| found.get_mut(id as usize));
        let place = place.ok_or_else(|| wrong(line, format!("{} has no router '{router}'", network.spec())))?;
        if place.replace(cabinet).is_some() {
            return Err(wrong(line, format!("router '{router}' has a cabinet already")));
        }
    }
    if let Some(router) = found.iter().position(Option::is_none) {
        return Err(Error::Config(format!("{path}: router {router} of {} is in no cabinet", network.spec())));
    }
    let found: Vec<&str> = found.into_iter().flatten().collect();
    let mut seen = HashSet::new();
    let mut order: Vec<&str> = found.iter().copied().filter(|&name| seen.insert(name)).collect();
    if order.iter().all(|name| name.parse::<u64>().is_ok()) {
        order.sort_by_key(|name| name.parse::<u64>().unwrap_or(u64::MAX));
    }
    let numbers: HashMap<&str, u32> = order.into_iter().zip(0..).collect();
    Ok(found.into_iter().map(|name| numbers[name]).collect())
}
