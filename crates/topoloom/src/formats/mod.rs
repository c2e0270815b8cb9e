//! Files of graphs: one file per format, its reader beside its writer, and the table of them all.
//!
//! A reader turns bytes into a [`RawGraph`], which knows names, terminals and links as the file gives them; the raw
//! graph is checked and becomes a [`Network`] in one place for all formats. To add a format, write a file with a
//! [`Format`] constant and name it in [`FORMATS`].

mod anynet;
mod booksim;
mod caminos;
mod csv;
mod dot;
mod edges;
mod graph6;
mod graphml;
mod ibnet;
mod ibrate;
mod metis;
mod raw_graph;
mod simgrid;
mod slurm;
mod sst;
#[cfg(test)]
mod tests;

pub use graphml::is_terminal_kind;
pub use ibnet::fabric;
pub(crate) use ibnet::is_aggregation_node;
pub(crate) use raw_graph::FileCabinets;
pub use raw_graph::{Mistake, Node, Origin, RawGraph, RawLink, sha256};

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::error::{Error, Result, several, unknown};
use crate::inputs;
use crate::links::LinkTimes;
use crate::network::{Link, LinkClass, Network, TerminalId, Wire};

/// What a format may have a place for, beside routers and links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// The number of terminals of each router.
    Terminals,
    /// Which terminal has which id.
    TerminalIds,
    /// Several links between two routers.
    ParallelLinks,
    /// Routers without links.
    LoneRouters,
    /// Classes of links.
    Classes,
    /// Latencies of links.
    Latencies,
    /// Rates, delays and lengths of links, and those of terminals' links.
    Wires,
    /// One latency for all links, that of most of them.
    OneLatency,
    /// Names of routers.
    Names,
    /// The spec of the network.
    Spec,
}

/// What formats hold that give routers and links attributes of any name: all but the ids of terminals.
pub(crate) const ATTRIBUTES: &[Holds] = &[
    Holds::Terminals,
    Holds::ParallelLinks,
    Holds::LoneRouters,
    Holds::Classes,
    Holds::Latencies,
    Holds::Wires,
    Holds::Names,
    Holds::Spec,
];

/// What turns a file's bytes into a raw graph, or finds the first mistake in them.
pub type Reader = fn(&[u8]) -> std::result::Result<RawGraph, Mistake>;

/// A file format.
#[derive(Debug)]
pub struct Format {
    /// Its name, as `format=` and `--format` take it.
    pub name: &'static str,
    /// The endings of file names that select it, without the dot.
    pub endings: &'static [&'static str],
    /// One line for people.
    pub summary: &'static str,
    /// What it has a place for.
    pub holds: &'static [Holds],
    /// Reads a file's bytes; `None` if the format is only written.
    pub read: Option<Reader>,
    /// Writes a network; `None` if the format is only read.
    pub write: Option<fn(&Network, &Timing) -> Result<String>>,
    /// The format of a second file that it refers to, which has the graph.
    pub beside: Option<&'static Format>,
}

/// Every format, in the order in which users see them.
pub static FORMATS: &[&Format] = &[
    &graphml::FORMAT,
    &csv::FORMAT,
    &edges::FORMAT,
    &anynet::FORMAT,
    &metis::FORMAT,
    &graph6::FORMAT,
    &ibnet::FORMAT,
    &dot::FORMAT,
    &slurm::CONF,
    &slurm::YAML,
    &simgrid::FORMAT,
    &sst::FORMAT,
    &booksim::FORMAT,
    &caminos::FORMAT,
    &caminos::GRAPH,
];

/// What a writer puts down beside the network.
#[derive(Debug, Clone, Default)]
pub struct Timing {
    /// Latencies for the links that have none of their own; `None` leaves these without.
    pub links: Option<LinkTimes>,
    /// The names of terminals by id, for formats that name nodes; `n0`, `n1`, … unless given.
    pub names: Option<Vec<String>>,
    /// The name of the file with the graph, for formats that refer to one.
    pub beside: Option<String>,
}

impl Timing {
    /// The name of the file that accompanies one of `format`.
    fn beside(&self, format: &Format) -> String {
        let ending = format.beside.and_then(|graph| graph.endings.first()).copied().unwrap_or("txt");
        self.beside.clone().unwrap_or_else(|| format!("network.{ending}"))
    }

    /// The latency of a link in cycles, if there is one to write.
    fn of(&self, network: &Network, link: &Link) -> Option<u32> {
        let port = link.ends[0];
        network.own_latency(port).or_else(|| self.links.as_ref().map(|times| times.of(network, port)))
    }

    /// The latency of links of a class, where nothing else is stated of them.
    fn of_class(&self, class: LinkClass) -> u32 {
        self.links.as_ref().map_or(1, |times| times.of_class(class))
    }

    /// The latency that most links have, the least such; 1 where none is given.
    fn of_most(&self, network: &Network) -> u32 {
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for link in network.links() {
            *counts.entry(self.of(network, link).unwrap_or(1)).or_default() += 1;
        }
        counts.into_iter().min_by_key(|&(latency, count)| (Reverse(count), latency)).map_or(1, |(latency, _)| latency)
    }
}

/// What a format is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// To read a file.
    Reading,
    /// To write one.
    Writing,
}

impl Use {
    /// The formats that have this use.
    fn formats(self) -> impl Iterator<Item = &'static Format> {
        FORMATS.iter().copied().filter(move |format| match self {
            Use::Reading => format.read.is_some(),
            Use::Writing => format.write.is_some(),
        })
    }
}

/// The format called `name`, whatever its use; a message on another name lists those of `wanted`.
///
/// # Errors
/// [`Error::Spec`] if there is none.
pub fn named(name: &str, wanted: Use) -> Result<&'static Format> {
    let names = || wanted.formats().map(|format| format.name);
    FORMATS
        .iter()
        .copied()
        .find(|format| format.name == name)
        .ok_or_else(|| Error::Spec(unknown("format", name, names())))
}

/// The format of a file: the one called `name`, or else the one that the ending of `path` gives; messages list those of
/// `wanted`.
///
/// # Errors
/// [`Error::Spec`] if there is no such format, or the ending names none.
pub fn of_path(path: &str, name: Option<&str>, wanted: Use) -> Result<&'static Format> {
    if let Some(name) = name {
        return named(name, wanted);
    }
    let lower = path.to_ascii_lowercase();
    let told = |format: &&&Format| format.endings.iter().any(|known| lower.ends_with(&format!(".{known}")));
    FORMATS.iter().find(told).copied().ok_or_else(|| {
        let endings: Vec<String> =
            wanted.formats().flat_map(|format| format.endings).map(|ending| format!(".{ending}")).collect();
        let names: Vec<&str> = wanted.formats().map(|format| format.name).collect();
        Error::Spec(format!(
            "the ending of '{path}' selects no format; end it in one of {}, or name the format: {}",
            endings.join(" "),
            names.join(", ")
        ))
    })
}

/// Writes `network` in `format`; returns the text, and a sentence for what of the network the format cannot hold.
///
/// # Errors
/// [`Error::Spec`] if the format is only read, or cannot hold such a network.
pub fn write(network: &Network, format: &Format, timing: &Timing) -> Result<(String, Vec<String>)> {
    let write = format.write.ok_or_else(|| Error::Spec(format!("the format {} is only read", format.name)))?;
    let lost = lost(network, format, timing);
    let note = (!lost.is_empty())
        .then(|| format!("{}: the format {} cannot hold {}", network.spec(), format.name, lost.join(", ")));
    Ok((write(network, timing)?, note.into_iter().collect()))
}

/// A sentence on what a file of `format` cannot state about `network`, so that it comes back as a graph alone.
pub fn unwritten(network: &Network, format: &Format) -> Option<String> {
    if format.read.is_none() || format.holds.contains(&Holds::Spec) {
        return None;
    }
    let spec = network.written_as()?;
    Some(format!(
        "{}: the format {} cannot hold the family, its routings and its packaging; read it with as=({spec})",
        network.spec(),
        format.name
    ))
}

/// The text before the spec in a comment that states which network a file was written of.
const WRITTEN: &str = "topoloom spec:";

/// The comment that states which network was written, if a spec names it: `# topoloom spec: torus:4x4`.
fn comment(network: &Network, sign: char) -> String {
    network.written_as().map_or(String::new(), |spec| format!("{sign} {WRITTEN} {spec}\n"))
}

/// The spec in such a comment, which is the first line that has one.
fn commented(text: &str) -> Option<String> {
    let spec = |line: &str| {
        line.trim().strip_prefix(['#', '%'])?.trim().strip_prefix(WRITTEN).map(|spec| spec.trim().to_owned())
    };
    text.lines().take(10).find_map(spec)
}

/// What of `network` is lost in `format`.
fn lost(network: &Network, format: &Format, timing: &Timing) -> Vec<String> {
    let lacks = |what: Holds| !format.holds.contains(&what);
    let mut lost = Vec::new();
    let counts: Vec<usize> = network.routers().map(|router| network.terminals_of(router).count()).collect();
    if lacks(Holds::Terminals) && counts.iter().any(|&count| count != 1) {
        lost.push(if counts.iter().all(|count| *count == counts[0]) {
            format!("terminals (read it with p={})", counts[0])
        } else {
            format!(
                "terminals ({} on {} of the routers)",
                network.num_terminals(),
                counts.iter().filter(|c| **c > 0).count()
            )
        });
    } else if lacks(Holds::TerminalIds) {
        let homes = (0..network.num_terminals() as u32).map(|terminal| network.router_of(TerminalId(terminal)));
        if !homes.is_sorted() {
            lost.push("the ids of terminals (they count router by router when it is read)".to_owned());
        }
    }
    let parallel = raw_graph::parallel_links(network.links().iter().map(|link| network.routers_of(link)));
    if lacks(Holds::ParallelLinks) && parallel.links > 0 {
        lost.push(format!("parallel links ({} left out)", several(parallel.links - parallel.pairs, "link")));
    }
    let lone = network.routers().filter(|&router| network.neighbors(router).next().is_none()).count();
    if lacks(Holds::LoneRouters) && lone > 0 {
        lost.push(format!("routers without links ({lone} left out)"));
    }
    if lacks(Holds::Classes) && network.links().iter().any(|link| link.class != LinkClass::Local) {
        lost.push("classes of links".to_owned());
    }
    let differs = |latency: u32| network.links().iter().any(|link| timing.of(network, link).unwrap_or(1) != latency);
    if !lacks(Holds::OneLatency) && differs(timing.of_most(network)) {
        lost.push(format!("different latencies of links (all have {}, that of most)", timing.of_most(network)));
    } else if lacks(Holds::OneLatency) && lacks(Holds::Latencies) && differs(1) {
        lost.push("latencies of links".to_owned());
    }
    if lacks(Holds::Wires) && network.has_wires() {
        lost.push("rates, delays and lengths of links".to_owned());
    }
    if lacks(Holds::Names) && network.router_names().is_some() {
        lost.push("names of routers".to_owned());
    }
    lost
}

/// A file's bytes as text, without the mark of its byte order.
fn text(bytes: &[u8]) -> std::result::Result<&str, Mistake> {
    let text = inputs::text(bytes)
        .map_err(|line| Mistake::at(line, "this is no text in UTF-8, so it is no graph in this format"))?;
    if text.trim().is_empty() {
        return Err(Mistake::whole("the file is empty"));
    }
    Ok(text)
}

/// A whole number on a line.
fn number<T: std::str::FromStr>(what: &str, text: &str, line: usize) -> std::result::Result<T, Mistake> {
    let wrong =
        |_| Mistake::at(line, format!("{what} is '{}'; it must be a whole number, and not too large", short(text)));
    text.trim().parse().map_err(wrong)
}

/// The names of what is stated of a link, as columns and attributes, in the order of [`wire_values`].
pub(crate) const WIRE: [&str; 3] = ["rate_gbps", "latency_ns", "length_m"];

/// What is stated of a link.
fn wire_values(wire: Wire) -> [Option<f64>; 3] {
    [wire.gbps, wire.latency_ns, wire.length_m]
}

/// What columns or attributes state about a link.
fn wire([gbps, latency_ns, length_m]: [Option<f64>; 3]) -> Wire {
    Wire { gbps, latency_ns, length_m }
}

/// A number on a line.
fn real(what: &str, text: &str, line: usize) -> std::result::Result<f64, Mistake> {
    let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| Mistake::at(line, format!("{what} is '{}'; it must be a number above 0", short(text))))
}

/// The class of links that a source calls `name`.
pub(crate) fn link_class(name: &str, line: usize) -> std::result::Result<crate::network::LinkClass, Mistake> {
    let classes = || LinkClass::ALL.into_iter().filter(|&class| class != LinkClass::Terminal).map(LinkClass::name);
    match LinkClass::from_name(name) {
        Some(class) if class != LinkClass::Terminal => Ok(class),
        _ => Err(Mistake::at(line, unknown("class of links", short(name), classes()))),
    }
}

/// The beginning of a text that may be long.
fn short(text: &str) -> &str {
    text.char_indices().nth(40).map_or(text, |(end, _)| &text[..end])
}
