//! The traffic patterns by name.

use super::{Pattern, SILENT, Traffic};
use crate::error::{Error, Result, unknown};
use crate::network::{Grid, Network, RouterId, TerminalId};
use crate::rng::Rng;

/// What users read about a pattern.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct PatternInfo {
    /// The name that users type.
    pub name: &'static str,
    /// Who sends to whom.
    pub summary: &'static str,
    /// The keys it takes, written `name:key=value` (or `name:key` for a flag), with their meaning.
    pub keys: &'static [(&'static str, &'static str)],
}

const BITS: (&str, &str) = ("bits", "number of id bits b (default: the nearest to log2 of the terminals)");

/// Every pattern, in the order in which users see them.
pub static PATTERNS: &[PatternInfo] = &[
    PatternInfo {
        name: "uniform",
        summary: "a uniformly random terminal, the source included",
        keys: &[("exclude-self", "never the source itself")],
    },
    PatternInfo { name: "bit-complement", summary: "all b bits of the id inverted", keys: &[BITS] },
    PatternInfo { name: "bit-reversal", summary: "the b bits of the id in reverse order", keys: &[BITS] },
    PatternInfo { name: "shuffle", summary: "the b bits of the id rotated left by one", keys: &[BITS] },
    PatternInfo { name: "transpose", summary: "upper and lower half of the b bits exchanged", keys: &[BITS] },
    PatternInfo {
        name: "tornado",
        summary: "nearly half way round in each coordinate (mesh, torus, HyperX), else on the ring of terminal ids",
        keys: &[],
    },
    PatternInfo {
        name: "neighbor",
        summary: "the next one in each coordinate (mesh, torus, HyperX), else on the ring of terminal ids",
        keys: &[],
    },
    PatternInfo {
        name: "next-group",
        summary: "a random terminal of the next group (dragonfly) or layer (FleX)",
        keys: &[],
    },
    PatternInfo {
        name: "random-permutation",
        summary: "a fixed random permutation of all terminals",
        keys: &[("seed", "which permutation (default 1)")],
    },
];

/// Builds the pattern that `text` (`name`, `name:key=value`) names, for `network`.
///
/// # Errors
/// [`Error::Traffic`] if there is no such pattern or key, or it has no meaning on the network.
pub fn build(network: &Network, text: &str) -> Result<Traffic> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let info = PATTERNS
        .iter()
        .find(|p| p.name == name)
        .ok_or_else(|| Error::Traffic(unknown("traffic", name, PATTERNS.iter().map(|p| p.name))))?;
    let keys = Keys::read(info, rest)?;
    let terminals = network.num_terminals() as u32;
    if terminals == 0 {
        return Err(Error::Traffic(format!("{} has no terminals, so there is no traffic", network.spec())));
    }
    let pattern = match name {
        "uniform" if keys.flag("exclude-self") => Pattern::UniformOthers,
        "uniform" => Pattern::Uniform,
        "next-group" => next_group(network)?,
        "tornado" => fixed(terminals, shifted(network, |side| side.div_ceil(2) - 1)),
        "neighbor" => fixed(terminals, shifted(network, |_| 1)),
        "random-permutation" => Pattern::Fixed(permutation(terminals, keys.number("seed")?.unwrap_or(1))),
        _ => bits_pattern(name, terminals, keys.number("bits")?)?,
    };
    let mut traffic = Traffic { pattern, terminals, active: 0 };
    traffic.active = (0..terminals).filter(|&t| traffic.is_active(TerminalId(t))).count() as u32;
    if traffic.active == 0 {
        return Err(Error::Traffic(format!("{text} on {}: no terminal has anybody to send to", network.spec())));
    }
    Ok(traffic)
}

struct Keys<'a> {
    info: &'a PatternInfo,
    given: Vec<(&'a str, &'a str)>,
}

impl<'a> Keys<'a> {
    fn read(info: &'a PatternInfo, rest: &'a str) -> Result<Self> {
        let items = rest.split(',').filter(|item| !item.is_empty());
        let given: Vec<_> = items.map(|item| item.split_once('=').unwrap_or((item, ""))).collect();
        for (key, _) in &given {
            if info.keys.is_empty() {
                return Err(Error::Traffic(format!("the traffic '{}' takes no keys, but '{key}' is given", info.name)));
            }
            if !info.keys.iter().any(|(known, _)| known == key) {
                let known = info.keys.iter().map(|(known, _)| *known);
                return Err(Error::Traffic(unknown(format_args!("key of {}", info.name), key, known)));
            }
        }
        Ok(Self { info, given })
    }

    fn flag(&self, key: &str) -> bool {
        self.given.iter().any(|(k, _)| *k == key)
    }

    fn number(&self, key: &str) -> Result<Option<u64>> {
        let Some((_, value)) = self.given.iter().find(|(k, _)| *k == key) else { return Ok(None) };
        let read = value.parse::<u64>();
        read.map(Some).map_err(|_| {
            Error::Traffic(format!("{}: {key} is '{value}'; it must be a whole number from 0 up", self.info.name))
        })
    }
}

fn fixed(terminals: u32, to: impl Fn(u32) -> u32) -> Pattern {
    Pattern::Fixed((0..terminals).map(to).collect())
}

/// Shifts each coordinate of a terminal by `by(side)` modulo the side.
fn shifted(network: &Network, by: impl Fn(u32) -> u32 + 'static) -> Box<dyn Fn(u32) -> u32 + '_> {
    let structure = network.any_structure();
    let shift = move |grid: &Grid, place: u32| {
        let moved = grid.coordinates(place).into_iter().zip(&grid.sides).map(|(c, &side)| (c + by(side)) % side);
        grid.id(&moved.collect::<Vec<_>>())
    };
    if let Some(grid) = structure.terminal_grid() {
        let sides = grid.routers.sides.iter().zip(&grid.tile).map(|(side, tile)| side * tile).collect();
        let all = Grid { sides };
        return Box::new(move |terminal| shift(&all, terminal));
    }
    match structure.grid() {
        Some(grid) if ["mesh", "torus", "hyperx"].contains(&network.family()) => Box::new(move |terminal| {
            // Terminals of a router share its coordinates: the i-th sends to the i-th.
            let router = network.router_of(TerminalId(terminal));
            let place = network.terminals_of(router).position(|t| t.0 == terminal);
            let to = RouterId(shift(grid, router.0));
            let peer = place.and_then(|place| network.terminals_of(to).nth(place));
            peer.map_or(SILENT, |t| t.0)
        }),
        _ => {
            let ring = Grid { sides: vec![network.num_terminals() as u32] };
            Box::new(move |terminal| shift(&ring, terminal))
        }
    }
}

fn next_group(network: &Network) -> Result<Pattern> {
    let size = network.any_structure().group_size();
    let per_router = network.num_terminals() / network.num_routers().max(1);
    size.map(|size| Pattern::NextGroup { size: size * per_router as u32 }).ok_or_else(|| {
        Error::Traffic(format!("next-group: the routers of {} do not come in groups or layers", network.spec()))
    })
}

fn permutation(terminals: u32, seed: u64) -> Vec<u32> {
    let mut rng = Rng::stream(seed, 0);
    let mut to: Vec<u32> = (0..terminals).collect();
    rng.shuffle(&mut to);
    to
}

/// A pattern over the `bits` bits of an id. Terminals whose own or whose destination's id does not exist are silent.
fn bits_pattern(name: &str, terminals: u32, bits: Option<u64>) -> Result<Pattern> {
    let bits = match bits {
        Some(bits @ 1..=31) => bits as u32,
        Some(other) => return Err(Error::Traffic(format!("{name}: bits is {other}; it must be from 1 to 31"))),
        None => (f64::from(terminals).log2().round() as u32).max(1),
    };
    if name == "transpose" && bits % 2 == 1 {
        return Err(Error::Traffic(format!(
            "transpose needs an even number of bits; {terminals} terminals have {bits}: give one, as in transpose:bits={}",
            (bits - 1).max(2)
        )));
    }
    let all = (1u32 << bits) - 1;
    let half = bits / 2;
    let to = |id: u32| match name {
        "bit-complement" => !id & all,
        "bit-reversal" => id.reverse_bits() >> (32 - bits),
        "shuffle" => (id << 1 | id >> (bits - 1)) & all,
        _ => (id << half | id >> half) & all,
    };
    Ok(fixed(terminals, |id| if id <= all && to(id) < terminals { to(id) } else { SILENT }))
}
