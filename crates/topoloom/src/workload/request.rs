//! An application that is asked for, with its keys.

use std::cell::Cell;
use std::ops::Deref;

use super::Mapping;
use super::registry::AppInfo;
use crate::catalogue::Arguments;
use crate::catalogue::grammar::range;
use crate::catalogue::values::bytes;
use crate::error::{Result, several};
use crate::network::{Grid, Hosts, Network};
use crate::rng::Rng;

/// The size of a message unless it is given.
const SIZE: u64 = 64 * 1024;

/// What an application is built for: how many tasks there is room for, and what is known of where they run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Room {
    tasks: u32,
    hosts: Option<Hosts>,
    /// Bytes per second of a terminal.
    rate: f64,
    records: bool,
    calls: bool,
}

/// The rate of links in Gb/s, each direction, where neither the network nor the user gives one: that of NDR and of 400G
/// Ethernet.
pub const DEFAULT_GBPS: f64 = 400.0;

/// The same in bytes per second.
const RATE: f64 = DEFAULT_GBPS * 1e9 / 8.0;

impl Room {
    /// The room of a network, whose terminals send at `rate` bytes per second unless its links have rates of their own.
    pub fn of(network: &Network, rate: Option<f64>) -> Self {
        let own = network.injection_gbps().map(|gbps| gbps * 1e9 / 8.0);
        Self {
            tasks: Mapping::room(network).len() as u32,
            hosts: network.any_structure().hosts(),
            rate: own.or(rate).unwrap_or(RATE),
            records: false,
            calls: false,
        }
    }

    /// The same for this many tasks.
    pub fn with_tasks(self, tasks: u32) -> Self {
        Self { tasks, ..self }
    }

    /// The same, with what messages carry recorded.
    pub fn recording(self) -> Self {
        Self { records: true, ..self }
    }

    /// The same, for a workload that is only written: collectives stay calls, without messages.
    pub fn with_calls(self) -> Self {
        Self { calls: true, ..self }
    }
}

impl From<u32> for Room {
    fn from(tasks: u32) -> Self {
        Self { tasks, hosts: None, rate: RATE, records: false, calls: false }
    }
}

/// An application that is asked for.
pub(super) struct Request<'a> {
    spec: &'a str,
    keys: Arguments<'a>,
    room: Room,
    /// Whether the number of tasks was taken from that.
    fills_room: Cell<bool>,
}

impl<'a> Deref for Request<'a> {
    type Target = Arguments<'a>;

    fn deref(&self) -> &Arguments<'a> {
        &self.keys
    }
}

impl<'a> Request<'a> {
    /// Reads the text after the name of `info` in `spec`.
    pub fn read(spec: &'a str, info: &AppInfo, rest: &'a str, room: Room) -> Result<Self> {
        let keys = Arguments::read(info.entry(), info.name, rest)?;
        Ok(Self { spec, keys, room, fills_room: Cell::new(false) })
    }

    /// The text that the user wrote.
    pub fn spec(&self) -> &'a str {
        self.spec
    }

    /// Tasks that there is room for, of an application that has as many.
    pub fn room(&self) -> u32 {
        self.fills_room.set(true);
        self.room.tasks
    }

    /// The same, of an application that has a number of its own.
    pub fn terminals(&self) -> u32 {
        self.room.tasks
    }

    /// The hosts that tasks run on, if they are known.
    pub fn hosts(&self) -> Option<Hosts> {
        self.room.hosts
    }

    /// Bytes per second of a terminal.
    pub fn rate(&self) -> f64 {
        self.room.rate
    }

    /// The value of a count that not every application has.
    pub fn count_if_declared(&self, key: &str) -> Option<u32> {
        self.declares(key).then(|| self.count(key)).flatten()
    }

    /// True if the application has such a key.
    pub fn declares(&self, key: &str) -> bool {
        self.entry().keys.iter().any(|own| own.name == key)
    }

    /// True if what messages carry is to be recorded.
    pub fn records(&self) -> bool {
        self.room.records
    }

    /// True if collectives stay calls.
    pub fn keeps_calls(&self) -> bool {
        self.room.calls
    }

    /// True if the number of tasks was taken from the room that there is.
    pub fn fills_room(&self) -> bool {
        self.fills_room.get()
    }

    /// The tasks: as many as are asked for, or as there is room for; two at least.
    pub fn tasks(&self) -> Result<u32> {
        let tasks = self.count("tasks").unwrap_or_else(|| self.room());
        self.check_tasks(tasks.into(), "tasks")?;
        Ok(tasks)
    }

    /// Rejects fewer than two tasks, and more than there is room for.
    pub fn check_tasks(&self, tasks: u128, what: &str) -> Result<()> {
        let room = self.room.tasks;
        if tasks > u128::from(room) {
            return Err(
                self.mistake(format_args!("{what} asks for {}; there is room for {room}", several(tasks, "task")))
            );
        }
        if tasks < 2 {
            return Err(self.mistake(format_args!(
                "tasks is {tasks}; at least two are needed, so that each has another to send to"
            )));
        }
        Ok(())
    }

    /// The bytes of a message.
    pub fn size(&self) -> u64 {
        self.bytes("size").unwrap_or(SIZE)
    }

    /// The bytes of messages that need not be equal.
    pub fn sizes(&self) -> Result<Sizes> {
        let Some(text) = self.text("size") else { return Ok(Sizes(SIZE, SIZE)) };
        let (least, most) = range(text).unwrap_or((text, text));
        let read = bytes(least).zip(bytes(most)).filter(|(least, most)| least <= most && most - least < 1 << 32);
        let (least, most) = read.ok_or_else(|| {
            self.mistake(format_args!("size is '{text}'; it must be bytes from 1 up, or a range such as 1KiB-64KiB"))
        })?;
        Ok(Sizes(least, most))
    }

    /// The random numbers of an application.
    pub fn rng(&self, default: u64) -> Rng {
        Rng::stream(self.int("seed").unwrap_or(default), 0)
    }

    /// A grid of three dimensions: the requested one, else the largest cube that fits; and a note for users.
    pub fn cube(&self) -> Result<(Grid, Option<String>)> {
        if let Some(sides) = self.grid(3..=3)? {
            return Ok((sides, None));
        }
        let tasks = self.tasks()?;
        let side = (1..).take_while(|side: &u64| side.pow(3) <= tasks.into()).last().unwrap_or(1) as u32;
        if side < 2 {
            return Err(self.mistake(format_args!("{tasks} tasks hold no cube of 2x2x2; give grid, as in grid=4x1x1")));
        }
        let left = tasks - side.pow(3);
        let note = (left > 0).then(|| {
            format!("{}: the largest cube in {tasks} tasks is {side}x{side}x{side}; {left} stay idle", self.spec)
        });
        Ok((Grid { sides: vec![side; 3] }, note))
    }

    /// The grid that is asked for, of this many dimensions.
    pub fn grid(&self, dimensions: std::ops::RangeInclusive<usize>) -> Result<Option<Grid>> {
        let Some(sides) = self.sides("grid") else { return Ok(None) };
        if self.has("tasks") {
            return Err(self.mistake("tasks and grid are given; the grid sets the number of tasks"));
        }
        if !dimensions.contains(&sides.len()) {
            let (least, most) = dimensions.into_inner();
            let wanted = if least == most { least.to_string() } else { format!("from {least} to {most}") };
            return Err(
                self.mistake(format_args!("grid has {}; there must be {wanted}", several(sides.len(), "dimension")))
            );
        }
        let tasks = sides.iter().fold(1u128, |product, side| product.saturating_mul((*side).into()));
        self.check_tasks(tasks, "grid")?;
        Ok(Some(Grid { sides }))
    }
}

/// Sizes that are drawn uniformly, ends included.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes(u64, u64);

impl Sizes {
    /// One size.
    pub fn draw(self, rng: &mut Rng) -> u64 {
        let Self(least, most) = self;
        if least == most { least } else { least + (rng.unit() * (most - least + 1) as f64).ceil() as u64 - 1 }
    }
}
