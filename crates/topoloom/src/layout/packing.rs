//! Which cabinet each router is in, where a user gives it.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::Layout;
use crate::catalogue::grammar::{sides, split_head};
use crate::catalogue::{Kind, is_table};
use crate::error::{Error, Result, several};
use crate::inputs;
use crate::network::{Network, RouterId};
use crate::table::{Rows, heading};

/// How routers are put into cabinets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Packing {
    /// The family's own packaging.
    Own,
    /// This many routers per cabinet, in order of their ids.
    Routers(u32),
    /// Blocks of the family's grid, with these sides; cabinets count as routers do, the first dimension fastest.
    Blocks(Vec<u32>),
    /// A table of routers and cabinets.
    File(String),
    /// This many routers per cabinet at most, with few cables between cabinets. The partition comes from outside.
    Metis(u32),
    /// As many routers per cabinet, in order of their ids, as its rack units hold. What units there are is a layout's.
    Fit,
}

impl Packing {
    /// What `cabinet=` takes.
    pub const DOC: &str = "routers per cabinet, in order of their ids; or 4x4, blocks of the family's grid; or FILE.csv, \
                           a table router,cabinet; or metis:16, in a layout, so that few cables join cabinets; or fit, in \
                           a layout, as many as units=N hold; or own, the family's own packaging (default own)";

    /// Reads `16`, `4x4`, `racks.csv` or `own`.
    ///
    /// # Errors
    /// [`Error::Config`] for anything else.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = || Error::Config(format!("cabinet is {text}; it must be {}", Kind::Cabinet.wanted()));
        if text == "own" {
            return Ok(Self::Own);
        }
        if text == "fit" {
            return Ok(Self::Fit);
        }
        if is_table(text) {
            return Ok(Self::File(text.to_owned()));
        }
        if let ("metis", size) = split_head(text) {
            return size.parse().ok().filter(|&size| size > 0).map(Self::Metis).ok_or_else(wrong);
        }
        let sides: Option<Vec<u32>> = sides(text).map(|side| side.parse().ok().filter(|&side| side > 0)).collect();
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
                let layout = Layout::of_file(network).unwrap_or_else(|| Layout::of_family(network));
                Ok(layout.router_cabinets(network))
            }
            Self::Routers(size) => Ok(network.routers().map(|router| router.0 / size).collect()),
            Self::Blocks(block) => blocks(network, block),
            Self::File(path) => of_file(network, path),
            Self::Metis(_) | Self::Fit => Err(Error::Config(format!(
                "cabinet={self} belongs to a layout; write its cabinets to a file, and name that"
            ))),
        }
    }

    /// Routers per cabinet, if METIS is to state which.
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
            return Err(Error::Config(format!("a partition has {given} entries for {}", several(routers, "router"))));
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

    /// A sentence on cabinets that are not full, where all are meant to hold as many; `cabinets` are those of the
    /// routers.
    pub fn note(&self, network: &Network, cabinets: &[u32]) -> Option<String> {
        let routers = network.num_routers() as u32;
        let held = held(cabinets);
        let most = held.iter().copied().max().unwrap_or(0);
        match self {
            Self::Routers(size) if !routers.is_multiple_of(*size) => Some(format!(
                "{size} routers per cabinet do not divide {}: the last of {} holds {}",
                several(routers, "router"),
                several(routers.div_ceil(*size), "cabinet"),
                routers % size
            )),
            Self::Blocks(block) => {
                let full = block.iter().product();
                let sides: Vec<String> = network.any_structure().grid()?.sides.iter().map(u32::to_string).collect();
                partly_filled(&held, full, &format!("blocks of {self} do not divide the grid {}", sides.join("x")))
            }
            Self::Metis(size) => partly_filled(&held, *size, &format!("{self} does not fill all cabinets")),
            Self::Fit => partly_filled(&held, most, &format!("a cabinet has room for {most} routers")),
            _ => None,
        }
    }
}

/// How many routers each cabinet holds that holds any.
fn held(cabinets: &[u32]) -> Vec<u32> {
    let mut held = vec![0; cabinets.iter().max().map_or(0, |&last| last as usize + 1)];
    cabinets.iter().for_each(|&cabinet| held[cabinet as usize] += 1);
    held.retain(|&routers| routers > 0);
    held
}

/// A sentence on the last node-only cabinet, if it is not full.
pub fn note_on_nodes(network: &Network, size: u32) -> Option<String> {
    let terminals = network.num_terminals() as u32;
    (!terminals.is_multiple_of(size)).then(|| {
        format!(
            "{size} terminals per node-only cabinet do not divide {}: the last of {} holds {}",
            several(terminals, "terminal"),
            terminals.div_ceil(size),
            terminals % size
        )
    })
}

fn partly_filled(held: &[u32], full: u32, why: &str) -> Option<String> {
    let fewer: Vec<u32> = held.iter().copied().filter(|&routers| routers < full).collect();
    let least = fewer.iter().min()?;
    let (some, all) = (fewer.len(), held.len());
    let verb = if some == 1 { "holds" } else { "hold" };
    Some(format!("{why}: {some} of {all} cabinets {verb} fewer than {full} routers, down to {least}"))
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
            Self::Fit => f.write_str("fit"),
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
            "cabinet is {}; {} has no grid of as many dimensions to cut into blocks",
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

/// The columns of a table of cabinets, in the order of one without a header.
const COLUMNS: [&str; 2] = ["router", "cabinet"];

/// Reads a table of routers (ids, or names where the network has some) and cabinets (any names). The first line may
/// name the columns, which may then have any order and others between them; lines that begin with # are ignored.
/// Cabinets are numbered in the order of their names where these are whole numbers, else in the order of their
/// appearance.
fn of_file(network: &Network, path: &str) -> Result<Vec<u32>> {
    let text = inputs::read_text(path).map_err(|why| Error::Config(format!("cabinet: cannot read '{path}': {why}")))?;
    let found = read_table(network, path, &text)?;
    let mut seen = HashSet::new();
    let mut order: Vec<&str> = found.iter().map(String::as_str).filter(|&name| seen.insert(name)).collect();
    if order.iter().all(|name| name.parse::<u64>().is_ok()) {
        order.sort_by_key(|name| name.parse::<u64>().unwrap_or(u64::MAX));
    }
    let numbers: HashMap<&str, u32> = order.into_iter().zip(0..).collect();
    Ok(found.iter().map(|name| numbers[name.as_str()]).collect())
}

/// The name of each router's cabinet.
fn read_table(network: &Network, path: &str, text: &str) -> Result<Vec<String>> {
    let wrong = |line: usize, what: String| Error::Config(format!("{path}: line {line}: {what}"));
    let names: HashMap<&str, u32> =
        network.router_names().unwrap_or_default().iter().map(String::as_str).zip(0..).collect();
    let mut found: Vec<Option<String>> = vec![None; network.num_routers()];
    let (mut columns, mut fields) = ([0, 1], 2);
    for (place, row) in Rows::of(text).enumerate() {
        let names_column = |field: &str| COLUMNS.contains(&heading(field).as_str()) && !names.contains_key(field);
        if place == 0 && row.fields.iter().any(names_column) {
            for (column, name) in columns.iter_mut().zip(COLUMNS) {
                let at = row.fields.iter().position(|field| heading(field) == name);
                *column = at.ok_or_else(|| wrong(row.line, format!("the column {name} is missing")))?;
            }
            fields = row.fields.len();
            continue;
        }
        let [router, cabinet] = columns.map(|column| row.field(column));
        if row.fields.len() != fields || router.is_empty() || cabinet.is_empty() {
            return Err(wrong(row.line, "a router and its cabinet must stand here, as in 17,A3".to_owned()));
        }
        let id = names.get(router).copied().or_else(|| router.parse().ok());
        let place = id.and_then(|id| found.get_mut(id as usize));
        let place = place.ok_or_else(|| wrong(row.line, format!("{} has no router '{router}'", network.spec())))?;
        if place.replace(cabinet.to_owned()).is_some() {
            return Err(wrong(row.line, format!("router '{router}' has a cabinet already")));
        }
    }
    let missing = |router| Error::Config(format!("{path}: router {router} of {} is in no cabinet", network.spec()));
    (0..).zip(found).map(|(router, cabinet): (u32, _)| cabinet.ok_or_else(|| missing(router))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::build;

    #[test]
    fn tables_name_their_columns_in_any_order() {
        let network = build("mesh:3").expect("small");
        let read = |text: &str| read_table(&network, "racks.csv", text);
        for text in [
            "0,A\n1,B\n2,A\n",
            "router,cabinet\n0,A\n1,B\n2,A\n",
            "cabinet,router\nA,2\nA,0\nB,1\n",
            "# written by hand\n\nroom , cabinet, router\nx,A,0\n\n# then\nx,B,1\nx,\"A\",2\n",
        ] {
            assert_eq!(read(text).expect(text), ["A", "B", "A"], "{text}");
        }
        for (text, words) in [
            ("# one\n\n0,A\n# two\n\n7,B\n", "line 6: mesh:3 has no router '7'"),
            ("0,A\r\n\r\n1,B\r\n0,C\r\n", "line 4: router '0' has a cabinet already"),
            ("cabinet,rack\n0,A\n", "line 1: the column router is missing"),
            ("0,A\n1\n", "line 2: a router and its cabinet must stand here"),
            ("router,cabinet\n0,A,5\n", "line 2: a router and its cabinet must stand here"),
            ("router,cabinet\n0,\n", "line 2: a router and its cabinet must stand here"),
            ("0,A\n1,B\n", "router 2 of mesh:3 is in no cabinet"),
        ] {
            let sentence = read(text).expect_err(text).to_string();
            assert!(sentence.starts_with("racks.csv: ") && sentence.contains(words), "{sentence}");
        }
    }
}
