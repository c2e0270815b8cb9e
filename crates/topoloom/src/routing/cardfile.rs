//! Tables of cards as text, hierarchical: see docs/extoll-model.md.
//!
//! The destinations of a table are in blocks of equal size. Its first level has an entry a block: where all packets for
//! the block go alike, that is their entry; else it names a table of the second level, with an entry a destination. Equal
//! tables of the second level are there once for each table of the first: each input of a card has memory of its own.

use std::collections::HashMap;
use std::fmt::{Display, Write};
use std::ops::RangeInclusive;

use serde::Serialize;

use super::cards::{CardTables, Classes, Entry, NONE};
use crate::error::{Error, Result};
use crate::limits::MAX_VCS;
use crate::network::{Network, Peer, RouterId};

/// What such a file begins with.
const HEADER: &str = "card-tables 1";

/// True for the line that such a file begins with.
pub(super) fn is_header(line: &str) -> bool {
    line.trim().starts_with("card-tables ")
}

/// How large tables are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CardSizes {
    /// Destinations: the entries of a table without a hierarchy.
    pub destinations: usize,
    /// Destinations of a block.
    pub block: usize,
    /// Tables: one for each input of a card and group that packets come by.
    pub tables: usize,
    /// Entries of both levels, of the largest table.
    pub most_entries: usize,
    /// Of all tables.
    pub entries: usize,
}

/// A table's second level: where the table of each block stands among the different ones, `None` if all in the block go
/// alike.
fn second_level(table: &[u32], block: usize) -> (Vec<Option<usize>>, Vec<&[u32]>) {
    let (mut places, mut different) = (HashMap::new(), Vec::new());
    let blocks = table.chunks(block).map(|members| {
        members.iter().any(|&entry| entry != members[0]).then(|| {
            *places.entry(members).or_insert_with(|| {
                different.push(members);
                different.len() - 1
            })
        })
    });
    (blocks.collect(), different)
}

impl CardTables {
    /// The sizes of tables in blocks of the size at which the largest table is smallest.
    pub fn sizes(&self) -> CardSizes {
        let destinations = self.destinations();
        let blocks = (1..=destinations).filter(|block| destinations.is_multiple_of(*block));
        let sizes = blocks.map(|block| self.sizes_in(block));
        let empty = CardSizes { destinations, block: 1, tables: 0, most_entries: 0, entries: 0 };
        sizes.min_by_key(|sizes| (sizes.most_entries, sizes.entries)).unwrap_or(empty)
    }

    fn sizes_in(&self, block: usize) -> CardSizes {
        let destinations = self.destinations();
        let entries = |table: &[u32]| destinations / block + second_level(table, block).1.len() * block;
        let (mut tables, mut most_entries, mut all) = (0, 0, 0);
        for entries in self.tables().map(entries) {
            (tables, most_entries, all) = (tables + 1, most_entries.max(entries), all + entries);
        }
        CardSizes { destinations, block, tables, most_entries, entries: all }
    }

    /// The tables as text.
    pub fn write(&self, network: &Network) -> String {
        let CardSizes { destinations, block, .. } = self.sizes();
        let Classes { groups, vcs, adaptive } = self.classes;
        let mut text = format!("{HEADER}\ndestinations {destinations} block {block}\n");
        let mut add = |line: std::fmt::Arguments| text.write_fmt(line).expect("a string takes what is written");
        add(format_args!("groups {groups} vcs {vcs} adaptive {}\n", u32::from(adaptive)));
        for at in network.routers() {
            add(format_args!("card {at} group {}\n", self.group_of[at.index()]));
            for (input, group) in self.inputs(at).flat_map(|input| (0..groups).map(move |group| (input, group))) {
                let table = self.table(at, input, group);
                if table.is_empty() {
                    continue;
                }
                let name = if input == 0 { "host".to_owned() } else { self.port_of(at, input).to_string() };
                let (places, different) = second_level(table, block);
                add(format_args!("input {name} group {group}\nblocks"));
                for (place, members) in places.iter().zip(table.chunks(block)) {
                    match place {
                        Some(place) => add(format_args!(" @{place}")),
                        None => add(format_args!(" {}", self.word(network, at, members[0]))),
                    }
                }
                for (place, members) in different.iter().enumerate() {
                    add(format_args!("\n@{place}"));
                    members.iter().for_each(|&entry| add(format_args!(" {}", self.word(network, at, entry))));
                }
                add(format_args!("\n"));
            }
        }
        text
    }

    /// An entry as it is written: `-`, `PORT` to a terminal, `PORT/VC`, `PORT/VC+PORT+PORT` with adaptive outputs.
    fn word(&self, network: &Network, at: RouterId, number: u32) -> String {
        if number == NONE {
            return "-".to_owned();
        }
        let Entry { port, vc, adaptive } = self.entry(number);
        if matches!(network.ports_of(at)[usize::from(*port)].peer, Peer::Terminal(_)) {
            return port.to_string();
        }
        adaptive.iter().fold(format!("{port}/{vc}"), |word, port| word + "+" + &port.to_string())
    }

    /// Reads tables from the text of a file.
    ///
    /// # Errors
    /// What is no such text, tables of another network, or tables by which a packet does not come to its destination.
    pub(super) fn read(network: &Network, file: &str, text: &str) -> Result<Self> {
        let lines = text.lines().zip(1..).map(|(line, number)| (line.trim(), number));
        let lines: Vec<_> = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#')).collect();
        let mut reader = Reader { network, file, lines: &lines };
        if reader.line() != HEADER {
            return Err(
                reader.mistake(format!("'{}' is another version of such tables; this is '{HEADER}'", reader.line()))
            );
        }
        reader.skip();
        let terminals = network.num_terminals() as u32;
        let [destinations, block] = reader.numbers(["destinations", "block"], [1..=u32::MAX, 1..=u32::MAX])?;
        if destinations != terminals || destinations % block != 0 {
            let spec = network.spec();
            return Err(reader.mistake(format!(
                "{destinations} destinations in blocks of {block}; {spec} has {terminals}, and blocks must divide them evenly"
            )));
        }
        reader.skip();
        let [groups, vcs, adaptive] = reader.numbers(["groups", "vcs", "adaptive"], [1..=16, 1..=16, 0..=1])?;
        if groups * (vcs + adaptive) > MAX_VCS {
            return Err(reader.mistake(format!("{} VCs; at most {MAX_VCS} are possible", groups * (vcs + adaptive))));
        }
        reader.skip();
        let mut tables = Self::new(network, file, Classes { groups, vcs, adaptive: adaptive == 1 })?;
        for at in network.routers() {
            let [_, group] = reader.numbers(["card", "group"], [at.0..=at.0, 0..=groups - 1])?;
            tables.group_of[at.index()] = group as u8;
            reader.skip();
            while reader.line().starts_with("input") {
                reader.table(&mut tables, at, block as usize)?;
            }
        }
        if !reader.lines.is_empty() {
            return Err(reader.mistake(format!("'{}' behind the tables of the last card", reader.line())));
        }
        tables.check(network)?;
        Ok(tables)
    }
}

/// What is left of a file.
struct Reader<'n, 't> {
    network: &'n Network,
    file: &'n str,
    /// Lines with their numbers.
    lines: &'t [(&'t str, usize)],
}

impl<'t> Reader<'_, 't> {
    /// The line at hand; empty at the end.
    fn line(&self) -> &'t str {
        self.lines.first().map_or("", |(line, _)| line)
    }

    fn skip(&mut self) {
        self.lines = self.lines.get(1..).unwrap_or(&[]);
    }

    fn mistake(&self, what: impl Display) -> Error {
        let place = self.lines.first().map_or("at its end".to_owned(), |(_, number)| format!("line {number}"));
        Error::Routing(format!("{}, {place}: {what}", self.file))
    }

    /// The numbers behind the words of the line at hand: `card 3 group 0`.
    fn numbers<const N: usize>(&self, words: [&str; N], ranges: [RangeInclusive<u32>; N]) -> Result<[u32; N]> {
        let parts: Vec<&str> = self.line().split_whitespace().collect();
        let mut numbers = [0; N];
        let fits = parts.len() == 2 * N && words.iter().zip(parts.iter().step_by(2)).all(|(word, part)| word == part);
        if !fits {
            let wanted = words.map(|word| format!("{word} …")).join(" ");
            return Err(self.mistake(format!("'{}' must be a line '{wanted}'", short(self.line()))));
        }
        for (place, range) in ranges.into_iter().enumerate() {
            let given = parts[2 * place + 1];
            let read = given.parse().ok().filter(|number| range.contains(number));
            numbers[place] = read.ok_or_else(|| {
                let (least, most) = (range.start(), range.end());
                let allowed = if least == most { least.to_string() } else { format!("from {least} to {most}") };
                self.mistake(format!("{} is '{given}'; it must be {allowed}", words[place]))
            })?;
        }
        Ok(numbers)
    }

    /// The words of the line at hand, which begins with `name`.
    fn words(&self, name: &str, wanted: usize) -> Result<Vec<&'t str>> {
        let mut words = self.line().split_whitespace();
        if words.next() != Some(name) {
            return Err(self.mistake(format!("'{}' must be a line '{name} …'", short(self.line()))));
        }
        let words: Vec<&str> = words.collect();
        if words.len() != wanted {
            return Err(self.mistake(format!("'{name}' has {} entries; it must have {wanted}", words.len())));
        }
        Ok(words)
    }

    /// A table with its second level.
    fn table(&mut self, tables: &mut CardTables, at: RouterId, block: usize) -> Result<()> {
        let (input, group) = self.input(tables, at)?;
        self.skip();
        let blocks = self.words("blocks", tables.destinations() / block)?;
        let first_line = Reader { lines: self.lines, ..*self };
        self.skip();
        let mut different = Vec::new();
        while self.line().starts_with('@') {
            let words = self.words(&format!("@{}", different.len()), block)?;
            let entries = words.iter().map(|word| self.entry(tables.classes, at, word));
            different.push(entries.collect::<Result<Vec<_>>>()?);
            self.skip();
        }
        for (place, word) in blocks.iter().enumerate() {
            let members = match word.strip_prefix('@') {
                Some(name) => {
                    name.parse().ok().and_then(|name: usize| different.get(name)).cloned().ok_or_else(|| {
                        let there = different.len();
                        first_line
                            .mistake(format!("there is no line {word}; lines @0, @1, … follow, here {there} of them"))
                    })?
                }
                None => vec![first_line.entry(tables.classes, at, word)?; block],
            };
            for (terminal, entry) in (place * block..).zip(members) {
                if let Some(entry) = entry {
                    tables.set(at, input, group, terminal as u32, entry);
                }
            }
        }
        Ok(())
    }

    /// The input and the group of the line at hand, whose table is not there yet.
    fn input(&self, tables: &CardTables, at: RouterId) -> Result<(u32, u32)> {
        let ["input", name, "group", group] = self.line().split_whitespace().collect::<Vec<_>>()[..] else {
            return Err(self.mistake(format!("'{}' must be a line 'input … group …'", short(self.line()))));
        };
        let inputs = tables.inputs(at);
        let input = match name {
            "host" => Some(0),
            _ => {
                name.parse().ok().and_then(|port: u32| inputs.clone().skip(1).find(|&i| tables.port_of(at, i) == port))
            }
        };
        let (first, last) = (tables.port_of(at, 1), tables.port_of(at, inputs.end - 1));
        let groups = tables.classes.groups;
        let input = input.ok_or_else(|| {
            self.mistake(format!("input is '{name}'; router {at} has host and its ports {first} to {last}"))
        })?;
        let group = group
            .parse()
            .ok()
            .filter(|group| *group < groups)
            .ok_or_else(|| self.mistake(format!("group is '{group}'; it must be from 0 to {}", groups - 1)))?;
        if !tables.table(at, input, group).is_empty() {
            return Err(self.mistake(format!("router {at} has a table for input {name}, group {group} already")));
        }
        Ok((input, group))
    }

    /// An entry as [`CardTables::word`] writes it.
    fn entry(&self, classes: Classes, at: RouterId, word: &str) -> Result<Option<Entry>> {
        if word == "-" {
            return Ok(None);
        }
        let (ports, vcs) = (self.network.radix_of(at) as u16, classes.vcs as u8);
        let port = |text: &str| text.parse().ok().filter(|port| *port < ports);
        let (fixed, adaptive) = word.split_once('+').map_or((word, None), |(fixed, rest)| (fixed, Some(rest)));
        let (output, vc) = fixed.split_once('/').unwrap_or((fixed, "0"));
        let adaptive: Option<Vec<u16>> =
            adaptive.map_or(Some(Vec::new()), |ports| ports.split('+').map(port).collect());
        let entry = (port(output), vc.parse().ok().filter(|vc| *vc < vcs), adaptive);
        match entry {
            (Some(port), Some(vc), Some(adaptive)) if adaptive.is_empty() || classes.adaptive => {
                Ok(Some(Entry { port, vc, adaptive }))
            }
            _ => Err(self.mistake(format!(
                "'{word}' is no entry of router {at}: write PORT/VC with ports 0 to {} and VCs 0 to {}{}, or - for none",
                ports - 1,
                vcs - 1,
                if classes.adaptive { ", and +PORT for each adaptive output" } else { "" }
            ))),
        }
    }
}

/// The beginning of a line that may be long.
fn short(line: &str) -> &str {
    line.char_indices().nth(40).map_or(line, |(end, _)| &line[..end])
}
