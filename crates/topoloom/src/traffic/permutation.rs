//! `random-permutation:seed=1`: a fixed permutation of all terminals, every one equally likely; a terminal may be its own
//! destination.

use super::Pattern;
use super::keys::Request;
use super::registry::PatternInfo;
use crate::catalogue::{Key, Kind};
use crate::error::Result;
use crate::rng::Rng;

pub(super) const INFO: PatternInfo = PatternInfo {
    name: "random-permutation",
    summary: "a fixed random permutation of all terminals",
    keys: &[Key::new("seed", Kind::SEED, "which permutation (default 1)")],
    argument: None,
    build,
};

fn build(request: &Request) -> Result<Pattern> {
    let mut rng = Rng::stream(request.int("seed").unwrap_or(1), 0);
    let mut to: Vec<u32> = (0..request.terminals).collect();
    rng.shuffle(&mut to);
    Ok(Pattern::Fixed(to))
}
