//! GraphML (Brandes et al., GD 2001), as networkx, igraph and Gephi write it.
//!
//! The reader uses these attributes and ignores all others. Of a node: `terminals`, their number, and `kind` or `type`,
//! which marks nodes that are terminals themselves. Of an edge: `link_class`, `latency` (cycles), `port_a` and `port_b`
//! (local ports at source and target). An edge may also have `rate_gbps` (in each direction), `latency_ns` and
//! `length_m`; a node has those of its terminals' links as `terminal_rate_gbps` and so on.

use std::collections::HashMap;
use std::fmt::Write;

use roxmltree::{Document, Node as Element};

use super::{
    ATTRIBUTES, Format, Mistake, RawGraph, RawLink, Timing, WIRE, link_class, number, real, short, text, wire,
    wire_values,
};
use crate::network::{Network, RouterId, Wire};

pub(super) const FORMAT: Format = Format {
    name: "graphml",
    endings: &["graphml", "xml"],
    summary: "GraphML, with terminals, classes, latencies, rates, ports and names",
    holds: ATTRIBUTES,
    read: Some(read),
    write: Some(write),
    beside: None,
};

/// What `kind` or `type` states about a node that is a terminal.
const TERMINAL_KINDS: [&str; 5] = ["terminal", "host", "endpoint", "server", "compute"];

/// True if a node of this `kind` or `type` is a terminal.
pub fn is_terminal_kind(kind: &str) -> bool {
    TERMINAL_KINDS.iter().any(|known| known.eq_ignore_ascii_case(kind.trim()))
}

/// Nested elements that a file may have: what reads it would use up the stack on many more.
const DEEPEST: usize = 64;

/// The declared attributes by their keys.
type Keys<'a> = HashMap<&'a str, Attribute<'a>>;

struct Attribute<'a> {
    name: &'a str,
    /// The elements that it is declared for: node, edge, all, …
    of: &'a str,
    default: Option<&'a str>,
}

fn read(bytes: &[u8]) -> Result<RawGraph, Mistake> {
    let text = text(bytes)?;
    check_depth(text)?;
    let document = Document::parse(text).map_err(|error| not_xml(&error))?;
    let root = document.root_element();
    let ends = text.match_indices('\n').map(|(end, _)| end).collect();
    let reader = Reader { ends, keys: children(root, "key").filter_map(key).collect() };
    let at = |element: Element, what: String| reader.mistake(element, what);
    if root.tag_name().name() != "graphml" {
        let what = format!("the outermost element is <{}>; in GraphML it is <graphml>", short(root.tag_name().name()));
        return Err(at(root, what));
    }
    let mut graphs = children(root, "graph");
    let graph = graphs.next().ok_or_else(|| at(root, "there is no <graph> in it".to_owned()))?;
    if let Some(second) = graphs.next() {
        return Err(at(second, "a second <graph> stands here; a file holds one graph".to_owned()));
    }
    let mut raw = RawGraph::default();
    raw.directed = graph.attribute("edgedefault") == Some("directed");
    for element in graph.children().filter(Element::is_element) {
        match element.tag_name().name() {
            "node" => read_node(&mut raw, &reader, element)?,
            "hyperedge" => return Err(at(element, "a hyperedge stands here; a link joins two routers".to_owned())),
            _ => {}
        }
    }
    raw.written_as = Data { reader: &reader, element: graph }.get("spec").map(|(spec, _)| spec.to_owned());
    children(graph, "edge").try_for_each(|element| read_edge(&mut raw, &reader, element))?;
    Ok(raw)
}

/// Rejects deeply nested documents. It counts tags, and also `<` and `>` in comments and text, which is close enough.
fn check_depth(text: &str) -> Result<(), Mistake> {
    let mut depth = 0usize;
    for (place, _) in text.match_indices('<') {
        let rest = &text[place + 1..];
        if rest.starts_with('/') {
            depth = depth.saturating_sub(1);
        } else if !rest.starts_with(['!', '?']) && !is_closed(rest) {
            depth += 1;
        }
        if depth > DEEPEST {
            let line = 1 + text[..place].matches('\n').count();
            return Err(Mistake::at(line, format!("elements are nested more than {DEEPEST} deep")));
        }
    }
    Ok(())
}

/// True if a tag ends at once, as in `<a/>`. It is looked for up to the next tag alone: each byte once.
fn is_closed(rest: &str) -> bool {
    rest.find(['<', '>']).is_some_and(|end| rest[end..].starts_with('>') && rest[..end].ends_with('/'))
}

fn not_xml(error: &roxmltree::Error) -> Mistake {
    let text = error.to_string();
    let what = text.rsplit_once(" at ").map_or(text.as_str(), |(what, _)| what);
    Mistake::at(error.pos().row as usize, format!("this is no XML, so it is no GraphML: {what}"))
}

/// What is on which line, and what the keys of data mean.
struct Reader<'a> {
    /// Where lines end.
    ends: Vec<usize>,
    keys: Keys<'a>,
}

impl Reader<'_> {
    fn line(&self, element: Element) -> usize {
        1 + self.ends.partition_point(|&end| end < element.range().start)
    }

    fn mistake(&self, element: Element, what: String) -> Mistake {
        Mistake::at(self.line(element), what)
    }
}

fn children<'a>(parent: Element<'a, 'a>, name: &'static str) -> impl Iterator<Item = Element<'a, 'a>> {
    parent.children().filter(move |child| child.is_element() && child.tag_name().name() == name)
}

fn key<'a>(element: Element<'a, 'a>) -> Option<(&'a str, Attribute<'a>)> {
    let default = children(element, "default").next().and_then(|default| default.text()).map(str::trim);
    let of = element.attribute("for").unwrap_or("all");
    Some((element.attribute("id")?, Attribute { name: element.attribute("attr.name")?, of, default }))
}

/// The data of a node or an edge by the names of the attributes.
struct Data<'a> {
    reader: &'a Reader<'a>,
    element: Element<'a, 'a>,
}

impl<'a> Data<'a> {
    /// The text of the attribute `name` and its line, or the attribute's default and the line of the element.
    fn get(&self, name: &str) -> Option<(&'a str, usize)> {
        let named = |data: &Element| {
            data.attribute("key").and_then(|key| self.reader.keys.get(key)).is_some_and(|known| known.name == name)
        };
        match children(self.element, "data").find(named) {
            Some(data) => Some((data.text().unwrap_or("").trim(), self.reader.line(data))),
            None => {
                let here = |known: &&Attribute| {
                    known.name == name && [self.element.tag_name().name(), "all"].contains(&known.of)
                };
                let default = self.reader.keys.values().filter(here).find_map(|known| known.default);
                default.map(|default| (default, self.reader.line(self.element)))
            }
        }
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, Mistake> {
        let whole = |text: &'a str| text.strip_suffix(".0").unwrap_or(text);
        self.get(name).map(|(text, line)| number(name, whole(text), line)).transpose()
    }
}

impl Data<'_> {
    /// What the attributes of [`WIRE`] hold, whose names begin with `prefix`.
    fn wire(&self, prefix: &str) -> Result<Wire, Mistake> {
        let mut values = [None; WIRE.len()];
        for (value, name) in values.iter_mut().zip(WIRE) {
            let name = format!("{prefix}{name}");
            *value = self.get(&name).map(|(text, line)| real(&name, text, line)).transpose()?;
        }
        Ok(wire(values))
    }
}

/// What the names of attributes of a node begin with that are about the links of its terminals.
const OF_TERMINALS: &str = "terminal_";

fn read_node<'a>(raw: &mut RawGraph, reader: &'a Reader<'a>, element: Element<'a, 'a>) -> Result<(), Mistake> {
    let at = |element: Element, what: String| reader.mistake(element, what);
    let id = element.attribute("id").ok_or_else(|| at(element, "a node has no id".to_owned()))?;
    if children(element, "graph").next().is_some() {
        return Err(at(
            element,
            format!("node '{}' holds a graph of its own; graphs in graphs are not read", short(id)),
        ));
    }
    if raw.find(id).is_some() {
        return Err(at(element, format!("node '{}' stands here a second time", short(id))));
    }
    let data = Data { reader, element };
    let terminals = data.number("terminals")?;
    let is_terminal =
        ["kind", "type"].iter().any(|name| data.get(name).is_some_and(|(kind, _)| is_terminal_kind(kind)));
    let place = raw.node(id, reader.line(element));
    let node = raw.node_mut(place);
    (node.terminals, node.is_terminal) = (terminals, is_terminal);
    raw.terminal_wire(place, data.wire(OF_TERMINALS)?, reader.line(element))
}

fn read_edge<'a>(raw: &mut RawGraph, reader: &'a Reader<'a>, element: Element<'a, 'a>) -> Result<(), Mistake> {
    let at = |element: Element, what: String| reader.mistake(element, what);
    let end = |name: &str| {
        let id = element.attribute(name).ok_or_else(|| at(element, format!("an edge has no {name}")))?;
        raw.find(id).ok_or_else(|| at(element, format!("an edge leads to '{}', which is no node", short(id))))
    };
    let (source, target) = (end("source")?, end("target")?);
    if element.attribute("directed").is_some_and(|directed| (directed == "true") != raw.directed) {
        return Err(at(element, "some edges are directed and some are not; all must be alike".to_owned()));
    }
    let data = Data { reader, element };
    let mut link = RawLink::new(source, target, reader.line(element));
    link.class = data.get("link_class").map(|(name, line)| link_class(name, line)).transpose()?;
    link.latency = data.number("latency")?;
    link.wire = data.wire("")?;
    link.ports = data.number("port_a")?.zip(data.number("port_b")?).map(|(a, b)| [a, b]);
    raw.link(link)
}

/// Text as it may be in an element or an attribute.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // Characters that XML has no way to write.
            '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {
                escaped.push('\u{fffd}')
            }
            '\t' | '\n' | '\r' => write!(escaped, "&#{};", c as u32).expect("a string takes what is written"),
            c => escaped.push(c),
        }
    }
    escaped
}

const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="spec" for="graph" attr.name="spec" attr.type="string"/>
  <key id="terminals" for="node" attr.name="terminals" attr.type="int"/>
  <key id="link_class" for="edge" attr.name="link_class" attr.type="string"/>
  <key id="latency" for="edge" attr.name="latency" attr.type="int"/>
  <key id="port_a" for="edge" attr.name="port_a" attr.type="int"/>
  <key id="port_b" for="edge" attr.name="port_b" attr.type="int"/>
"#;

/// The declarations of what is stated of links.
fn wire_keys() -> String {
    let keys = [("node", OF_TERMINALS), ("edge", "")].into_iter().flat_map(|of| WIRE.map(|name| (of, name)));
    let line = |((of, prefix), name)| {
        format!("  <key id=\"{prefix}{name}\" for=\"{of}\" attr.name=\"{prefix}{name}\" attr.type=\"double\"/>\n")
    };
    keys.map(line).collect()
}

/// What is stated of a link, as data.
fn wire_data(wire: Wire, prefix: &str) -> String {
    let said = WIRE.iter().zip(wire_values(wire)).filter_map(|(name, value)| Some((name, value?)));
    said.map(|(name, value)| format!("<data key=\"{prefix}{name}\">{value}</data>")).collect()
}

/// What is stated of the links of a router's terminals.
fn terminal_wire(network: &Network, router: RouterId) -> String {
    let first = network.terminals_of(router).next().map(|terminal| network.terminal_port(terminal));
    first.map_or(String::new(), |port| wire_data(network.wire(port), OF_TERMINALS))
}

fn write(network: &Network, timing: &Timing) -> crate::error::Result<String> {
    let mut text = String::from(HEAD);
    if network.has_wires() {
        text.push_str(&wire_keys());
    }
    let apart = network.has_wires() && network.has_terminal_links();
    let names = network.router_names();
    let name = |router: usize| names.map_or_else(|| router.to_string(), |names| escaped(&names[router]));
    let mut add = |line: std::fmt::Arguments| text.write_fmt(line).expect("a string takes what is written");
    add(format_args!(
        "  <graph edgedefault=\"undirected\">\n    <data key=\"spec\">{}</data>\n",
        escaped(network.written_as().unwrap_or(network.spec()))
    ));
    for router in network.routers() {
        let terminals = network.terminals_of(router).count();
        let id = name(router.index());
        let wire = if apart { terminal_wire(network, router) } else { String::new() };
        add(format_args!("    <node id=\"{id}\"><data key=\"terminals\">{terminals}</data>{wire}</node>\n"));
    }
    for (id, link) in network.links().iter().enumerate() {
        let [(a, port_a), (b, port_b)] = link.ends.map(|port| network.local_port(port));
        let latency = timing.of(network, link);
        let latency = latency.map_or(String::new(), |latency| format!("<data key=\"latency\">{latency}</data>"));
        add(format_args!(
            "    <edge id=\"{id}\" source=\"{}\" target=\"{}\"><data key=\"link_class\">{}</data>{latency}{}\
             <data key=\"port_a\">{port_a}</data><data key=\"port_b\">{port_b}</data></edge>\n",
            name(a.index()),
            name(b.index()),
            link.class.name(),
            wire_data(network.wire(link.ends[0]), "")
        ));
    }
    add(format_args!("  </graph>\n</graphml>\n"));
    Ok(text)
}
