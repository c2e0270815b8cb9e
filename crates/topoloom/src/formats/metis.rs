//! METIS's graph files: a line of numbers, then a line of neighbours for each router, counted from 1.
//!
//! The weight of a vertex is the number of its terminals, and the weight of an edge the number of parallel links: what
//! a partition balances and cuts. Sizes of vertices have no meaning here.

use std::collections::HashMap;
use std::fmt::Write;

use super::{Format, Holds, Mistake, RawGraph, RawLink, Timing, comment, commented, number, text};
use crate::graph::metis_graph;
use crate::network::Network;

pub(super) const FORMAT: Format = Format {
    name: "metis",
    endings: &["graph", "metis"],
    summary: "METIS graph: a line of neighbours for each router",
    holds: &[Holds::Terminals, Holds::ParallelLinks, Holds::LoneRouters, Holds::Spec],
    read: Some(read),
    write: Some(write),
    beside: None,
};

/// The first line: numbers of vertices and edges, and which weights are in the others.
struct Header {
    vertices: u64,
    edges: u64,
    vertex_sizes: bool,
    vertex_weights: bool,
    edge_weights: bool,
}

fn header(line: usize, text: &str) -> Result<Header, Mistake> {
    let fields: Vec<&str> = text.split_whitespace().collect();
    if !(2..=4).contains(&fields.len()) {
        return Err(Mistake::at(line, "a METIS graph begins with 'vertices edges [fmt [ncon]]'"));
    }
    let fmt = fields.get(2).copied().unwrap_or("0");
    if fmt.len() > 3 || !fmt.bytes().all(|digit| matches!(digit, b'0' | b'1')) {
        return Err(Mistake::at(line, format!("fmt is '{fmt}'; it must be up to three digits of 0 or 1")));
    }
    let flag = |place: usize| fmt.len() >= place && fmt.as_bytes()[fmt.len() - place] == b'1';
    let header = Header {
        vertices: number("the number of vertices", fields[0], line)?,
        edges: number("the number of edges", fields[1], line)?,
        vertex_sizes: flag(3),
        vertex_weights: flag(2),
        edge_weights: flag(1),
    };
    match fields.get(3) {
        Some(&ncon) if ncon != "1" => {
            Err(Mistake::at(line, format!("ncon is '{ncon}'; one weight a vertex is read, its terminals")))
        }
        _ => Ok(header),
    }
}

fn read(bytes: &[u8]) -> Result<RawGraph, Mistake> {
    let whole = text(bytes)?;
    let mut lines = (1..).zip(whole.lines()).filter(|(_, text)| !text.trim_start().starts_with('%'));
    let (line, first) = lines.find(|(_, text)| !text.trim().is_empty()).ok_or(Mistake::whole("the file is empty"))?;
    let header = header(line, first)?;
    let mut rows: Vec<(usize, &str)> = lines.collect();
    while rows.len() as u64 > header.vertices && rows.last().is_some_and(|(_, text)| text.trim().is_empty()) {
        rows.pop();
    }
    if rows.len() as u64 != header.vertices {
        let what = format!("{} vertices are promised, and {} lines follow", header.vertices, rows.len());
        return Err(Mistake::at(line, what));
    }
    let mut raw = RawGraph::default();
    raw.written_as = commented(whole);
    (0..rows.len()).for_each(|router| {
        raw.node(&router.to_string(), rows[router].0);
    });
    let mut open = HashMap::new();
    let mut edges = 0;
    for (router, &(line, text)) in (0u32..).zip(&rows) {
        let row = row(&header, line, text)?;
        raw.node_mut(router).terminals = row.weight;
        for (neighbor, weight) in row.neighbors {
            edges += half_edge(&mut raw, &mut open, [router, neighbor], weight, line)?;
        }
    }
    if let Some((&(a, b), &(_, line))) = open.iter().min_by_key(|(_, (_, line))| *line) {
        return Err(Mistake::at(line, format!("vertex {} lists {}, but not vice versa", a + 1, b + 1)));
    }
    if edges != header.edges {
        return Err(Mistake::at(line, format!("{} edges are promised, and {edges} are listed", header.edges)));
    }
    if header.vertex_sizes {
        raw.notes.push("the sizes of vertices were ignored".to_owned());
    }
    Ok(raw)
}

/// What a vertex's line states.
struct Row {
    weight: Option<u64>,
    /// Neighbours, counted from 0, and the weights of the edges to them.
    neighbors: Vec<(u32, u32)>,
}

fn row(header: &Header, line: usize, text: &str) -> Result<Row, Mistake> {
    let mut fields = text.split_whitespace();
    if header.vertex_sizes && fields.next().is_none() {
        return Err(Mistake::at(line, "the size of the vertex is missing"));
    }
    let mut weight = None;
    if header.vertex_weights {
        let field = fields.next().ok_or_else(|| Mistake::at(line, "the weight of the vertex is missing"))?;
        weight = Some(number("the weight of the vertex", field, line)?);
    }
    let mut neighbors = Vec::new();
    while let Some(field) = fields.next() {
        let neighbor: u64 = number("a neighbour", field, line)?;
        if neighbor == 0 || neighbor > header.vertices {
            let what = format!("a neighbour is {neighbor}; vertices are counted from 1 to {}", header.vertices);
            return Err(Mistake::at(line, what));
        }
        let mut weight = 1;
        if header.edge_weights {
            let field = fields.next().ok_or_else(|| Mistake::at(line, "the weight of the last edge is missing"))?;
            weight = number("the weight of an edge", field, line)?;
        }
        neighbors.push((neighbor as u32 - 1, weight));
    }
    Ok(Row { weight, neighbors })
}

/// Edges that were listed at one end: how often and with which weight, and the line.
type Open = HashMap<(u32, u32), (Vec<u32>, usize)>;

/// Takes note of one mention of an edge; the second one, from the other end, makes links of it. Returns the edges made.
fn half_edge(raw: &mut RawGraph, open: &mut Open, ends: [u32; 2], weight: u32, line: usize) -> Result<u64, Mistake> {
    /// Parallel links that one edge may stand for.
    const MOST: u32 = 1_000_000;
    let [a, b] = ends;
    if a == b {
        return Err(Mistake::at(line, format!("vertex {} lists itself; a link joins two routers", a + 1)));
    }
    if !(1..=MOST).contains(&weight) {
        let what = format!("the weight of an edge is {weight}; it is a number of parallel links, from 1 to {MOST}");
        return Err(Mistake::at(line, what));
    }
    let Some((weights, _)) = open.get_mut(&(b, a)) else {
        open.entry((a, b)).or_insert((Vec::new(), line)).0.push(weight);
        return Ok(0);
    };
    let other = weights.remove(0);
    if weights.is_empty() {
        open.remove(&(b, a));
    }
    if other != weight {
        let what = format!("the edge between {} and {} weighs {weight} here and {other} there", a + 1, b + 1);
        return Err(Mistake::at(line, what));
    }
    raw.make_room(weight, line)?;
    (0..weight).try_for_each(|_| raw.link(RawLink::new(b, a, line)))?;
    Ok(1)
}

fn write(network: &Network, _timing: &Timing) -> crate::error::Result<String> {
    let graph = metis_graph(network);
    let vertex_weights = graph.vwgt.iter().any(|&terminals| terminals != 1);
    let edge_weights = graph.adjwgt.iter().any(|&links| links != 1);
    let fmt = match (vertex_weights, edge_weights) {
        (false, false) => "",
        (false, true) => " 001",
        (true, false) => " 010",
        (true, true) => " 011",
    };
    let about = comment(network, '%');
    let mut text = format!("{about}{} {}{fmt}\n", graph.vwgt.len(), graph.adjncy.len() / 2);
    for (router, terminals) in graph.vwgt.iter().enumerate() {
        let mut fields = Vec::new();
        if vertex_weights {
            fields.push(terminals.to_string());
        }
        for place in graph.xadj[router] as usize..graph.xadj[router + 1] as usize {
            fields.push((graph.adjncy[place] + 1).to_string());
            if edge_weights {
                fields.push(graph.adjwgt[place].to_string());
            }
        }
        writeln!(text, "{}", fields.join(" ")).expect("a string takes what is written");
    }
    Ok(text)
}
