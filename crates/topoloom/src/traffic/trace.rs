//! `trace:FILE`: packets that are given one by one, a CSV of `time,source,destination,flits`: the cycle in which a
//! packet is created, two terminals, and its size. Times do not go back; packets that one source creates in one cycle
//! are sent in the order of the file. Terminals that are no packet's source are silent.

use super::Pattern;
use super::draw::Share;
use super::keys::Request;
use super::registry::PatternInfo;
use crate::catalogue::FILE;
use crate::error::Result;
use crate::limits::MAX_CYCLES;
use crate::network::TerminalId;
use crate::rows::{Columns, some_rows};

pub(super) const INFO: PatternInfo = PatternInfo {
    name: "trace",
    summary: "the packets of a CSV file: time,source,destination,flits; only simulate replays it",
    keys: &[],
    argument: Some(FILE),
    build,
};

/// The largest packet, in flits.
const MOST_FLITS: u32 = 65_535;

/// A packet of a trace.
#[derive(Debug, Clone, Copy)]
pub struct Packet {
    source: u32,
    /// The cycle in which it is created.
    pub created: u32,
    /// The terminal that it goes to.
    pub destination: TerminalId,
    /// Its size.
    pub flits: u32,
}

/// Packets that are given one by one.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The packets of a source stand together, by time.
    packets: Vec<Packet>,
    /// Where the packets of each source begin, and behind them the number of packets.
    starts: Vec<u32>,
}

impl Trace {
    fn new(mut packets: Vec<Packet>, terminals: u32) -> Self {
        packets.sort_by_key(|packet| packet.source);
        let starts = (0..=terminals).map(|source| packets.partition_point(|p| p.source < source) as u32).collect();
        Self { packets, starts }
    }

    /// The positions of a source's packets.
    pub fn of(&self, source: TerminalId) -> std::ops::Range<u32> {
        self.starts[source.index()]..self.starts[source.index() + 1]
    }

    /// The flits of the largest packet.
    pub fn largest(&self) -> u32 {
        self.packets.iter().map(|packet| packet.flits).max().unwrap_or(0)
    }

    /// The packet in a place.
    #[inline(always)]
    pub fn packet(&self, place: u32) -> Packet {
        self.packets[place as usize]
    }

    /// The number of packets.
    pub fn packets(&self) -> usize {
        self.packets.len()
    }

    /// The cycle in which the last packet is created.
    pub fn last(&self) -> u32 {
        self.packets.iter().map(|packet| packet.created).max().unwrap_or(0)
    }

    /// Flits per sending terminal per cycle, up to the creation of the last packet.
    pub fn load(&self) -> f64 {
        let flits: u64 = self.packets.iter().map(|packet| u64::from(packet.flits)).sum();
        let active = self.starts.windows(2).filter(|w| w[0] < w[1]).count();
        flits as f64 / active.max(1) as f64 / (f64::from(self.last()) + 1.0)
    }

    /// The destinations of a source, as shares of all its flits.
    pub(super) fn shares(&self, source: TerminalId) -> impl Iterator<Item = Share> + '_ {
        let of = self.of(source);
        let packets = &self.packets[of.start as usize..of.end as usize];
        let flits: u64 = packets.iter().map(|packet| u64::from(packet.flits)).sum();
        packets.iter().map(move |packet| {
            let to = packet.destination.0;
            Share { destinations: to..to + 1, each: f64::from(packet.flits) / flits as f64 }
        })
    }
}

const COLUMNS: Columns = Columns { names: &["time", "source", "destination", "flits"], needed: 4 };

fn build(request: &Request) -> Result<Pattern> {
    let mut packets: Vec<Packet> = Vec::new();
    some_rows(request, request.terminals, &COLUMNS, |row| {
        let created = row.number(0, 0, MAX_CYCLES as u32)?;
        let (source, destination) = (row.terminal(1)?, TerminalId(row.terminal(2)?));
        let packet = Packet { source, created, destination, flits: row.number(3, 1, MOST_FLITS)? };
        if let Some(before) = packets.last().filter(|before| before.created > created) {
            return Err(
                row.mistake(format_args!("time {created} is before time {} of the packet before", before.created))
            );
        }
        packets.push(packet);
        Ok(())
    })?;
    Ok(Pattern::Trace(Trace::new(packets, request.terminals)))
}
