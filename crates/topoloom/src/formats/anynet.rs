//! BookSim's anynet: a line for each router (or node) with what it is connected to, `router 0 node 0 router 1 5`.
//!
//! A number after a connection is its latency. Either end or both may list a link: each end lists it once. Two routers
//! have as many links as the end that lists more of them (BookSim itself merges these).

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use super::{Format, Holds, Mistake, RawGraph, RawLink, Timing, number, short, text};
use crate::network::{Network, PortId, TerminalId};

pub(super) const FORMAT: Format = Format {
    name: "anynet",
    endings: &["anynet"],
    summary: "BookSim2's anynet: 'router 0 node 0 router 1 5', with nodes and latencies",
    holds: &[Holds::Terminals, Holds::TerminalIds, Holds::ParallelLinks, Holds::LoneRouters, Holds::Latencies],
    read: Some(read),
    write: Some(write),
    beside: None,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thing {
    Router,
    Node,
}

/// A thing, its id, and the latency behind it.
type Item = (Thing, u32, Option<u32>);

/// The items of a line; the first is its head.
fn items(line: usize, text: &str) -> Result<Vec<Item>, Mistake> {
    let mut items: Vec<Item> = Vec::new();
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        let thing = match word {
            "router" => Thing::Router,
            "node" => Thing::Node,
            _ => match items.last_mut() {
                // A number behind a connection; the head has none.
                Some((_, _, latency @ None)) if word.parse::<u32>().is_ok() => {
                    *latency = Some(number("a latency", word, line)?);
                    continue;
                }
                _ => {
                    let what = format!("'{}' stands where 'router' or 'node' should", short(word));
                    return Err(Mistake::at(line, what));
                }
            },
        };
        let id = words.next().ok_or_else(|| Mistake::at(line, format!("the number of the last {word} is missing")))?;
        items.push((thing, number(&format!("the number of a {word}"), id, line)?, None));
    }
    match items.first() {
        Some((_, id, Some(_))) => {
            Err(Mistake::at(line, format!("two numbers follow the head of the line, the first is {id}")))
        }
        _ => Ok(items),
    }
}

/// What is collected over all lines.
#[derive(Default)]
struct Reader {
    raw: RawGraph,
    /// The home of each node.
    homes: BTreeMap<u32, u32>,
    /// The links between two routers in the order of their mention, by (mentioning, mentioned).
    mentions: HashMap<(u32, u32), Vec<usize>>,
    links: Vec<RawLink>,
    node_latencies: bool,
}

fn read(bytes: &[u8]) -> Result<RawGraph, Mistake> {
    let mut reader = Reader::default();
    for (line, text) in (1..).zip(text(bytes)?.lines()) {
        let items = items(line, text.split('#').next().unwrap_or(""))?;
        let Some((&(head, id, _), body)) = items.split_first() else { continue };
        if head == Thing::Router {
            reader.raw.node(&id.to_string(), line);
        }
        for &(thing, other, latency) in body {
            match (head, thing) {
                (Thing::Router, Thing::Router) => reader.link(id, other, latency, line)?,
                (Thing::Router, Thing::Node) => reader.home(other, id, latency, line)?,
                (Thing::Node, Thing::Router) => reader.home(id, other, latency, line)?,
                (Thing::Node, Thing::Node) => {
                    return Err(Mistake::at(
                        line,
                        format!("node {id} is connected to node {other}; a node is attached to a router"),
                    ));
                }
            }
        }
        if head == Thing::Node && body.is_empty() {
            return Err(Mistake::at(line, format!("node {id} is attached to no router")));
        }
    }
    reader.finish()
}

impl Reader {
    fn home(&mut self, node: u32, router: u32, latency: Option<u32>, line: usize) -> Result<(), Mistake> {
        self.node_latencies |= latency.is_some_and(|latency| latency != 1);
        let place = self.raw.node(&router.to_string(), line);
        match self.homes.insert(node, place) {
            Some(other) if other != place => {
                let other = &self.raw.node_mut(other).name;
                Err(Mistake::at(line, format!("node {node} is attached to router {router} and to router {other}")))
            }
            _ => Ok(()),
        }
    }

    /// One end mentions a link: the n-th mention from here and the n-th from there are the same link.
    fn link(&mut self, a: u32, b: u32, latency: Option<u32>, line: usize) -> Result<(), Mistake> {
        let ends = [a, b].map(|router| self.raw.node(&router.to_string(), line));
        let nth = self.mentions.get(&(a, b)).map_or(0, Vec::len);
        let known = self.mentions.get(&(b, a)).filter(|_| a != b).and_then(|mentions| mentions.get(nth)).copied();
        let link = known.unwrap_or(self.links.len());
        self.mentions.entry((a, b)).or_default().push(link);
        if known.is_none() {
            self.links.push(RawLink { latency, ..RawLink::new(ends[0], ends[1], line) });
            return Ok(());
        }
        let first = &mut self.links[link];
        match (first.latency, latency) {
            (Some(one), Some(other)) if one != other => Err(Mistake::at(
                line,
                format!(
                    "from router {a} to router {b} the latency is {other}, back {one}; a link has one for both directions"
                ),
            )),
            _ => {
                first.latency = first.latency.or(latency);
                Ok(())
            }
        }
    }

    fn finish(mut self) -> Result<RawGraph, Mistake> {
        self.links.into_iter().try_for_each(|link| self.raw.link(link))?;
        if let (Some((&last, _)), count) = (self.homes.last_key_value(), self.homes.len())
            && last as usize + 1 != count
        {
            self.raw.notes.push(format!("the nodes up to {last} are numbered from 0 to {} in their order", count - 1));
        }
        self.homes.values().for_each(|&home| self.raw.terminal(home));
        if self.node_latencies {
            self.raw.notes.push("latencies of nodes were ignored: --links terminal=… sets them".to_owned());
        }
        Ok(self.raw)
    }
}

fn write(network: &Network, timing: &Timing) -> crate::error::Result<String> {
    let mut text = String::new();
    // A link is at its first end.
    let mut below = vec![String::new(); network.num_routers()];
    for terminal in 0..network.num_terminals() as u32 {
        let router = network.router_of(TerminalId(terminal));
        write!(below[router.index()], " node {terminal}").expect("a string takes what is written");
    }
    for link in network.links() {
        let [PortId(_), to] = link.ends;
        let from = network.routers_of(link)[0];
        let to = network.ports()[to.index()].router;
        let latency = timing.of(network, link).map_or(String::new(), |latency| format!(" {latency}"));
        write!(below[from.index()], " router {to}{latency}").expect("a string takes what is written");
    }
    for (router, connections) in below.iter().enumerate() {
        writeln!(text, "router {router}{connections}").expect("a string takes what is written");
    }
    Ok(text)
}
