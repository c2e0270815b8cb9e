//! Which terminal runs which task.

use std::collections::HashMap;

use super::Workload;
use crate::catalogue::grammar::split_head;
use crate::catalogue::{Alone, Arguments, Entry, FILE, Key, Kind, Lead};
use crate::error::{Error, Result, several, unknown};
use crate::inputs;
use crate::network::{Grid, Network, TerminalId};
use crate::rng::Rng;
use crate::table::{Rows, heading};

/// What users read about a mapping.
#[derive(Debug, Clone, Copy)]
pub struct MappingInfo {
    /// The name that users type.
    pub name: &'static str,
    /// Where tasks go.
    pub summary: &'static str,
    /// The keys it takes.
    pub keys: &'static [Key],
    place: fn(&Arguments, &Workload, &mut Vec<TerminalId>) -> Result<()>,
}

impl MappingInfo {
    /// How its names are read.
    pub fn entry(&self) -> Entry {
        let lead = if self.keys.first().is_some_and(|key| key.kind == Kind::File) { Lead::Path } else { Lead::Nothing };
        let alone = Alone::Flag;
        Entry {
            noun: "the mapping",
            name: self.name,
            lead,
            keys: self.keys,
            shared: &[],
            alone,
            wrong: Error::Workload,
        }
    }
}

/// The mapping called `name`.
///
/// # Errors
/// [`Error::Workload`] names those that there are.
pub fn find(name: &str) -> Result<&'static MappingInfo> {
    let found = MAPPINGS.iter().find(|mapping| mapping.name == name);
    found.ok_or_else(|| Error::Workload(unknown("mapping", name, MAPPINGS.iter().map(|mapping| mapping.name))))
}

/// Every mapping, in the order in which users see them.
pub static MAPPINGS: &[MappingInfo] = &[
    MappingInfo {
        name: "linear",
        summary: "task i on terminal i; terminals of failed routers are passed over",
        keys: &[],
        place: |_, _, _| Ok(()),
    },
    MappingInfo {
        name: "random",
        summary: "every task on a terminal that is drawn",
        keys: &[Key::new("seed", Kind::SEED, "which terminals (default 1)")],
        place: |keys, _, terminals| {
            seeded(keys).shuffle(terminals);
            Ok(())
        },
    },
    MappingInfo {
        name: "blocks",
        summary: "blocks of this many tasks on neighbouring terminals, in random order",
        keys: &[
            Key::new("size", Kind::count(1), "tasks of a block (default 8)"),
            Key::new("seed", Kind::SEED, "which order (default 1)"),
        ],
        place: blocks,
    },
    MappingInfo {
        name: "tiles",
        summary: "tiles of the application's grid on neighbouring terminals, tile after tile",
        keys: &[Key::new("size", Kind::Sides, "the tasks of a tile in each dimension, as in 2x2x2")],
        place: tiles,
    },
    MappingInfo {
        name: "file",
        summary: "each task on the terminal that a table names: task,terminal, or one terminal per line",
        keys: &[Key::new("file", Kind::File, "the table, CSV")],
        place: listed,
    },
];

/// The terminal of each task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping(Vec<TerminalId>);

impl Mapping {
    /// Maps the tasks of a workload as `text` (`name`, `name:key=value,…`) states.
    ///
    /// # Errors
    /// [`Error::Workload`] if there is no such mapping or key, or more tasks than terminals that have not failed.
    pub fn new(text: &str, workload: &Workload, network: &Network) -> Result<Self> {
        let (name, rest) = split_head(text);
        let info = find(name)?;
        let keys = Arguments::read(info.entry(), info.name, rest)?;
        let mut terminals = Self::room(network);
        if terminals.len() < workload.tasks() as usize {
            return Err(Error::Workload(format!(
                "{} has {}; {} has {} for them",
                workload.spec(),
                several(workload.tasks(), "task"),
                network.spec(),
                several(terminals.len(), "terminal")
            )));
        }
        (info.place)(&keys, workload, &mut terminals)?;
        terminals.truncate(workload.tasks() as usize);
        Ok(Self(terminals))
    }

    /// Tasks on these terminals, in their order, a terminal each.
    ///
    /// # Errors
    /// [`Error::Workload`] unless there is a terminal for each task, that exists and has not failed, and no other task's.
    pub fn on(terminals: Vec<u32>, workload: &Workload, network: &Network) -> Result<Self> {
        let wrong = |what: String| Error::Workload(format!("{}: {what}", workload.spec()));
        if terminals.len() != workload.tasks() as usize {
            return Err(wrong(format!("{} terminals are listed for {} tasks", terminals.len(), workload.tasks())));
        }
        let room = Self::room(network);
        let mut sorted = terminals.clone();
        sorted.sort_unstable();
        let taken = |terminal: &&u32| room.binary_search(&TerminalId(**terminal)).is_err();
        if let Some(terminal) = sorted.iter().find(taken) {
            return Err(wrong(format!("{} has no terminal {terminal} that works", network.spec())));
        }
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(wrong(format!("terminal {} is listed twice", twice[0])));
        }
        Ok(Self(terminals.into_iter().map(TerminalId).collect()))
    }

    /// The terminals that can run tasks: those whose routers have not failed.
    pub fn room(network: &Network) -> Vec<TerminalId> {
        let terminals = (0..network.num_terminals() as u32).map(TerminalId);
        terminals.filter(|terminal| network.is_up(network.router_of(*terminal))).collect()
    }

    /// The terminal of a task.
    pub fn terminal(&self, task: u32) -> TerminalId {
        self.0[task as usize]
    }

    /// The terminals of all tasks.
    pub fn terminals(&self) -> &[TerminalId] {
        &self.0
    }
}

fn seeded(keys: &Arguments) -> Rng {
    Rng::stream(keys.int("seed").unwrap_or(1), 1)
}

fn blocks(keys: &Arguments, workload: &Workload, terminals: &mut Vec<TerminalId>) -> Result<()> {
    let size = keys.count("size").unwrap_or(8) as usize;
    if size > workload.tasks() as usize {
        return Err(keys.mistake(format_args!("size is {size}; {} has {} tasks", workload.spec(), workload.tasks())));
    }
    // What is left over behind the last whole block comes last.
    let whole = terminals.len() / size;
    let mut order: Vec<usize> = (0..whole).collect();
    seeded(keys).shuffle(&mut order);
    let rest = &terminals[whole * size..];
    *terminals =
        order.iter().flat_map(|block| &terminals[block * size..(block + 1) * size]).chain(rest).copied().collect();
    Ok(())
}

/// Tasks on the terminals of a table, which may name more tasks than the workload has.
fn listed(keys: &Arguments, workload: &Workload, terminals: &mut Vec<TerminalId>) -> Result<()> {
    let Some(path) = keys.text("file") else {
        return Err(keys.mistake(format_args!("needs a {FILE}, as in file:tasks.csv")));
    };
    let bytes = inputs::read(path).map_err(|why| keys.unreadable(path, why))?;
    let text = inputs::text(&bytes)
        .map_err(|line| keys.mistake(format_args!("{path}, line {line}: this is no text in UTF-8")))?;
    *terminals = read_listed(text, workload.tasks(), terminals)
        .map_err(|(line, what)| keys.mistake(format_args!("{path}, line {line}: {what}")))?;
    Ok(())
}

/// The terminals of this many tasks, or what is wrong on which line.
fn read_listed(text: &str, tasks: u32, room: &[TerminalId]) -> std::result::Result<Vec<TerminalId>, (usize, String)> {
    let mut rows = Rows::of(text).peekable();
    let columns = rows.next_if(|row| row.fields.iter().any(|field| heading(field) == "terminal"));
    let place = |name: &str| columns.as_ref()?.fields.iter().position(|field| heading(field) == name);
    let (terminal_at, task_at) = (place("terminal"), place("task"));
    let (mut on, mut task_of, mut last) = (vec![None; tasks as usize], HashMap::new(), 1);
    for (next, row) in (0u32..).zip(rows) {
        let line = row.line;
        let (task_at, terminal_at) = match (terminal_at, row.fields.len()) {
            (Some(terminal), _) => (task_at, terminal),
            (None, 1) => (None, 0),
            (None, _) => (Some(0), 1),
        };
        let number = |what: &str, place: usize| {
            let wrong = || (line, format!("the {what} is '{}'; it must be a whole number", row.field(place)));
            row.field(place).parse::<u32>().map_err(|_| wrong())
        };
        let task = task_at.map_or(Ok(next), |place| number("task", place))?;
        let terminal = number("terminal", terminal_at)?;
        if room.binary_search(&TerminalId(terminal)).is_err() {
            return Err((line, format!("the network has no terminal {terminal} that works")));
        }
        if let Some(before) = task_of.insert(terminal, task) {
            return Err((line, format!("terminal {terminal} has task {before} already")));
        }
        last = line;
        let Some(own) = on.get_mut(task as usize) else { continue };
        if own.replace(TerminalId(terminal)).is_some() {
            return Err((line, format!("task {task} is listed twice")));
        }
    }
    match on.iter().position(Option::is_none) {
        Some(task) => Err((last, format!("the table ends, and no line has task {task} of {tasks}"))),
        None => Ok(on.into_iter().flatten().collect()),
    }
}

fn tiles(keys: &Arguments, workload: &Workload, terminals: &mut Vec<TerminalId>) -> Result<()> {
    let Some(grid) = workload.grid() else {
        return Err(keys.mistake(format_args!("the tasks of {} are on no grid", workload.spec())));
    };
    let Some(size) = keys.sides("size") else {
        return Err(keys.mistake("size is missing; write it like tiles:size=2x2x2"));
    };
    let fits = size.len() == grid.sides.len() && grid.sides.iter().zip(&size).all(|(side, size)| side % size == 0);
    if !fits {
        let [sides, size] =
            [&grid.sides, &size].map(|sides| sides.iter().map(u32::to_string).collect::<Vec<_>>().join("x"));
        return Err(keys.mistake(format_args!("tiles of {size} do not divide the grid of {sides} tasks")));
    }
    let tile = Grid { sides: size };
    let tiles = Grid { sides: grid.sides.iter().zip(&tile.sides).map(|(side, size)| side / size).collect() };
    let place = |task: u32| {
        let at = grid.coordinates(task);
        let split = |part: fn(u32, u32) -> u32| {
            at.iter().zip(&tile.sides).map(|(&at, &size)| part(at, size)).collect::<Vec<u32>>()
        };
        tiles.id(&split(|at, size| at / size)) * tile.len() as u32 + tile.id(&split(|at, size| at % size))
    };
    *terminals = (0..workload.tasks()).map(|task| terminals[place(task) as usize]).collect();
    Ok(())
}
