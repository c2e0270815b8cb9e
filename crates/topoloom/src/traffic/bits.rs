//! `bit-complement`, `bit-reversal`, `shuffle`, `transpose`: permutations of the b bits of a terminal's id, b being
//! round(log2 N) unless `bits` states otherwise. Terminals whose own or whose destination's id does not exist are silent.
//!
//! Dally and Towles, Principles and Practices of Interconnection Networks, section 3.2.

use super::keys::Request;
use super::registry::PatternInfo;
use super::{Pattern, SILENT};
use crate::catalogue::{Key, Kind};
use crate::error::Result;

const KEYS: &[Key] =
    &[Key::new("bits", Kind::Int(1, 31), "number of id bits b (default: the nearest to log2 of the terminals)")];

pub(super) const COMPLEMENT: PatternInfo = PatternInfo {
    name: "bit-complement",
    summary: "all b bits of the id inverted",
    keys: KEYS,
    argument: None,
    build: |request| permutation(request, |id, bits| !id & ones(bits)),
};

pub(super) const REVERSAL: PatternInfo = PatternInfo {
    name: "bit-reversal",
    summary: "the b bits of the id in reverse order",
    keys: KEYS,
    argument: None,
    build: |request| permutation(request, |id, bits| id.reverse_bits() >> (32 - bits)),
};

pub(super) const SHUFFLE: PatternInfo = PatternInfo {
    name: "shuffle",
    summary: "the b bits of the id rotated left by one",
    keys: KEYS,
    argument: None,
    build: |request| permutation(request, |id, bits| rotated(id, 1, bits)),
};

pub(super) const TRANSPOSE: PatternInfo = PatternInfo {
    name: "transpose",
    summary: "upper and lower half of the b bits exchanged",
    keys: KEYS,
    argument: None,
    build: transpose,
};

fn transpose(request: &Request) -> Result<Pattern> {
    let bits = bits(request);
    if bits % 2 == 1 {
        return Err(request.mistake(format_args!(
            "an even number of bits is needed; {} terminals have {bits}: give one, as in transpose:bits={}",
            request.terminals,
            (bits - 1).max(2)
        )));
    }
    permutation(request, |id, bits| rotated(id, bits / 2, bits))
}

fn bits(request: &Request) -> u32 {
    request.count("bits").unwrap_or_else(|| (f64::from(request.terminals).log2().round() as u32).max(1))
}

fn ones(bits: u32) -> u32 {
    (1 << bits) - 1
}

/// The `bits` bits of an id rotated left by `by`, which is less than `bits` or both are 1.
fn rotated(id: u32, by: u32, bits: u32) -> u32 {
    (id << by | id >> (bits - by)) & ones(bits)
}

fn permutation(request: &Request, to: fn(u32, u32) -> u32) -> Result<Pattern> {
    let bits = bits(request);
    let exists = |id: u32| id < request.terminals;
    let destination = |id: u32| if id <= ones(bits) && exists(to(id, bits)) { to(id, bits) } else { SILENT };
    Ok(Pattern::Fixed((0..request.terminals).map(destination).collect()))
}
