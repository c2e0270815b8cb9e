//! graph6 (McKay): the upper triangle of the adjacency matrix, six bits a printable byte. Simple graphs without names.

use super::{Format, Holds, Mistake, RawGraph, RawLink, Timing, text};
use crate::network::Network;

pub(super) const FORMAT: Format = Format {
    name: "graph6",
    endings: &["g6", "graph6"],
    summary: "McKay's graph6: one simple graph",
    holds: &[Holds::LoneRouters],
    read: Some(read),
    write: Some(write),
    beside: None,
};

/// What a file may begin with.
const HEADER: &str = ">>graph6<<";

fn read(bytes: &[u8]) -> Result<RawGraph, Mistake> {
    let text = text(bytes)?.trim_end();
    let text = text.strip_prefix(HEADER).unwrap_or(text);
    match text.bytes().next() {
        Some(b':') => return Err(Mistake::at(1, "this is a graph in sparse6; graph6 is read")),
        Some(b'&') => return Err(Mistake::at(1, "this is a directed graph in digraph6; graph6 is read")),
        _ => {}
    }
    if let Some(rest) = text.lines().nth(1) {
        let what = if rest.trim().is_empty() { "a blank line" } else { "a second graph" };
        return Err(Mistake::at(2, format!("{what} stands here; a file holds one graph")));
    }
    let sixes = text.bytes().map(six).collect::<Result<Vec<u8>, Mistake>>()?;
    let (nodes, matrix) = size(&sixes)?;
    let wanted = (u128::from(nodes) * u128::from(nodes.saturating_sub(1)) / 2).div_ceil(6);
    if wanted != matrix.len() as u128 {
        return Err(Mistake::at(1, format!("{nodes} nodes need {wanted} bytes of links; there are {}", matrix.len())));
    }
    let mut raw = RawGraph::default();
    (0..nodes).for_each(|node| {
        raw.node(&node.to_string(), 1);
    });
    let (mut a, mut b) = (0, 1);
    for bit in matrix.iter().flat_map(|six| (0..6).rev().map(move |place| six >> place & 1)) {
        if bit == 1 {
            if u64::from(b) >= nodes {
                return Err(Mistake::at(1, "the padding bits at the end are not 0"));
            }
            raw.link(RawLink::new(a, b, 1))?;
        }
        a += 1;
        if a == b {
            (a, b) = (0, b + 1);
        }
    }
    Ok(raw)
}

fn six(byte: u8) -> Result<u8, Mistake> {
    let what = || format!("byte {byte} stands here; graph6 has bytes from 63 ('?') to 126 ('~')");
    if (63..=126).contains(&byte) { Ok(byte - 63) } else { Err(Mistake::at(1, what())) }
}

/// The number of nodes, and what follows it: one byte up to 62, else 63 and three, else 63, 63 and six.
fn size(sixes: &[u8]) -> Result<(u64, &[u8]), Mistake> {
    let (skip, digits) = match sixes {
        [63, 63, ..] => (2, 6),
        [63, ..] => (1, 3),
        _ => (0, 1),
    };
    let number = sixes.get(skip..skip + digits).ok_or_else(|| Mistake::at(1, "the number of nodes is cut off"))?;
    Ok((number.iter().fold(0, |value, &six| value << 6 | u64::from(six)), &sixes[skip + digits..]))
}

fn write(network: &Network, _timing: &Timing) -> crate::error::Result<String> {
    let nodes = network.num_routers();
    let mut sixes: Vec<u8> = match nodes {
        0..=62 => vec![nodes as u8],
        63..=258_047 => std::iter::once(63).chain(digits(nodes, 3)).collect(),
        _ => [63, 63].into_iter().chain(digits(nodes, 6)).collect(),
    };
    let first = sixes.len();
    sixes.resize(first + (nodes * nodes.saturating_sub(1) / 2).div_ceil(6), 0);
    for link in network.links() {
        let [a, b] = network.routers_of(link).map(|router| router.index());
        let (low, high) = (a.min(b), a.max(b));
        let bit = high * (high - 1) / 2 + low;
        sixes[first + bit / 6] |= 1 << (5 - bit % 6);
    }
    Ok(sixes.into_iter().map(|six| char::from(six + 63)).chain(['\n']).collect())
}

/// A number in `count` digits of six bits.
fn digits(number: usize, count: u32) -> impl Iterator<Item = u8> {
    (0..count).rev().map(move |place| (number >> (6 * place) & 63) as u8)
}
