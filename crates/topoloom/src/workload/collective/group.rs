//! The members of a collective, and their hosts.

use crate::catalogue::grammar::range;
use crate::catalogue::{Key, Kind};
use crate::error::Result;
use crate::workload::request::Request;

pub const GROUP: Key = Key::new(
    "group",
    Kind::Text("ranks, ranges of them with a stride, or several joined by +, as in 0-31, 0-63/8 or 0-7+16-23"),
    "the ranks that take part, in their order: 0-31, 0-63/8 (every eighth), 0-7+16-23 (default: all tasks)",
);
pub const RANKS: Key = Key::new(
    "ranks-per-host",
    Kind::count(1),
    "ranks of a host, which hierarchical, auto and channels follow (default: those of the network's hosts)",
);

/// The ranks of a collective.
#[derive(Debug)]
pub struct Group {
    /// All tasks, those included that take no part.
    pub tasks: u32,
    /// The ranks that take part, in the order in which algorithms number them.
    pub members: Vec<u32>,
    /// Ranks of the group on each host, if hosts are known and have equally many.
    pub on_host: Option<usize>,
    /// How many hosts the group is on, if they are known.
    pub hosts: Option<usize>,
}

impl Group {
    pub fn read(request: &Request) -> Result<Self> {
        let tasks = request.tasks()?;
        let members = match request.text("group") {
            Some(text) => ranks(request, text, tasks)?,
            None => (0..tasks).collect(),
        };
        let Some(each) = request.count_if_declared("ranks-per-host").or(request.hosts().map(|hosts| hosts.terminals))
        else {
            return Ok(Self { tasks, members, on_host: None, hosts: None });
        };
        let hosts: Vec<&[u32]> = members.chunk_by(|a, b| a / each == b / each).collect();
        let equal = hosts.iter().all(|host| host.len() == hosts[0].len()).then(|| hosts[0].len());
        let hosts = hosts.len();
        Ok(Self { tasks, members, on_host: equal, hosts: Some(hosts) })
    }

    /// Ranks that take part.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Ranks of each host, as hierarchical algorithms need them.
    pub fn width_of_hosts(&self, request: &Request) -> Result<usize> {
        match (self.on_host, self.hosts) {
            (Some(width), _) => Ok(width),
            (None, None) => {
                Err(request
                    .mistake("hierarchical follows hosts; give ranks-per-host, or a network of the family cluster"))
            }
            (None, Some(_)) => Err(request.mistake(format_args!(
                "the {} ranks of the group do not divide among their hosts: some have more than others",
                self.len()
            ))),
        }
    }

    /// The members from `root` on, in a circle.
    pub fn rooted(&self, request: &Request) -> Result<Vec<u32>> {
        let root = request.count("root").unwrap_or(self.members[0]);
        let Some(place) = self.members.iter().position(|member| *member == root) else {
            return Err(request.mistake(format_args!("root is {root}, which is no rank of the group")));
        };
        let (before, from) = self.members.split_at(place);
        Ok([from, before].concat())
    }

    /// The members for a channel: rings begin one rank of each host further on each, to leave it by another interface.
    pub fn on_channel(&self, channel: u32) -> Vec<u32> {
        turned(&self.members, channel, self.on_host.unwrap_or(1))
    }
}

/// The members of hosts of `width`, each host from the member on whose number is that of the channel.
pub fn turned(members: &[u32], channel: u32, width: usize) -> Vec<u32> {
    let by = channel as usize % width;
    members.chunks(width).flat_map(|host| [&host[by..], &host[..by]].concat()).collect()
}

/// Reads `0-7+16-23/2`.
fn ranks(request: &Request, text: &str, tasks: u32) -> Result<Vec<u32>> {
    let wrong = || request.mistake(format_args!("group is '{text}'; it must be {}", GROUP.kind.wanted()));
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let mut members = Vec::new();
    for part in text.split('+') {
        let (ends, stride) = match part.split_once('/') {
            Some((ends, stride)) => (ends, number(stride).filter(|stride| *stride > 0).ok_or_else(wrong)?),
            None => (part, 1),
        };
        let (first, last) = range(ends).unwrap_or((ends, ends));
        let (first, last) = (number(first).ok_or_else(wrong)?, number(last).ok_or_else(wrong)?);
        if last < first {
            return Err(wrong());
        }
        if last >= tasks {
            return Err(request.mistake(format_args!("group names rank {last}; tasks are 0 to {}", tasks - 1)));
        }
        members.extend((first..=last).step_by(stride as usize));
    }
    let mut sorted = members.clone();
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(request.mistake(format_args!("group names rank {} twice", twice[0])));
    }
    if members.len() < 2 {
        return Err(request.mistake("group has one rank, which has no other rank to send to; at least two are needed"));
    }
    Ok(members)
}
