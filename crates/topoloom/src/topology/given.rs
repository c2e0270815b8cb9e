//! Graphs that a program gives: no file, no lines, but the same checks.

use super::{of_file, rates};
use crate::error::{Error, Result, unknown};
use crate::formats::{ATTRIBUTES, Mistake, Node, Origin, RawGraph, RawLink, link_class};
use crate::network::{Network, Wire};

/// The families of networks that a program gives.
pub const GIVEN: [&str; 2] = ["networkx", "links"];

/// A link as a program gives it; see [`RawLink`].
#[derive(Debug, Clone, PartialEq)]
pub struct GivenLink {
    /// Its ends as positions among the nodes.
    pub ends: [u32; 2],
    /// The name of its class.
    pub class: Option<String>,
    /// Its latency in cycles.
    pub latency: Option<u32>,
    /// Its rate, delay and length.
    pub wire: Wire,
    /// The local ports at its ends.
    pub ports: Option<[u32; 2]>,
}

/// Builds the network `family:label,sha256=…` from nodes and links; `p` as in [`RawGraph::into_network`]. `written_as` is the
/// spec that the graph claims to be, if it does.
///
/// # Errors
/// [`Error::Spec`] if there is no such family in [`GIVEN`], or for what is wrong with the graph; [`Error::TooLarge`].
pub fn given(
    (family, label): (&str, &str),
    nodes: Vec<Node>,
    links: impl Iterator<Item = GivenLink>,
    directed: bool,
    p: Option<u32>,
    written_as: Option<String>,
) -> Result<Network> {
    let known = GIVEN.iter().copied().find(|known| *known == family);
    let family = known.ok_or_else(|| Error::Spec(unknown("kind of graph", family, GIVEN)))?;
    let refuse = |mistake: Mistake| Error::Spec(format!("{family}:{label}: {}", mistake.what));
    let mut raw = RawGraph::default();
    raw.directed = directed;
    let count = nodes.len() as u32;
    for node in nodes {
        let name = node.name.clone();
        if !raw.add_node(node) {
            return Err(refuse(Mistake::whole(format!("two nodes are called '{name}'"))));
        }
    }
    for GivenLink { ends, class, latency, wire, ports } in links {
        if let Some(end) = ends.iter().find(|&&end| end >= count) {
            return Err(refuse(Mistake::whole(format!("a link leads to node {end} of {count}, counted from 0"))));
        }
        let class = class.map(|name| link_class(&name, 0)).transpose().map_err(refuse)?;
        raw.link(RawLink { ends, class, latency, wire, ports, line: None }).map_err(refuse)?;
    }
    let sha256 = raw.sha256();
    let spec = format!("{family}:{label},sha256={}{}", &sha256[..16], p.map_or(String::new(), |p| format!(",p={p}")));
    raw.written_as = written_as;
    let network = of_file(raw, Origin { spec: spec.clone(), family, sha256 }, ATTRIBUTES, p, None)?;
    rates::check_whole(network, |what| Error::Spec(format!("{spec}: {what}")))
}
