//! `uniform`: every terminal is equally likely, the source itself included, as in BookSim; `uniform:exclude-self` leaves
//! the source out.

use super::Pattern;
use super::keys::Request;
use super::registry::PatternInfo;
use crate::catalogue::{Key, Kind};
use crate::error::Result;

pub(super) const INFO: PatternInfo = PatternInfo {
    name: "uniform",
    summary: "a uniformly random terminal, the source included",
    keys: &[Key::new("exclude-self", Kind::Flag, "never the source itself")],
    argument: None,
    build,
};

fn build(request: &Request) -> Result<Pattern> {
    Ok(if request.flag("exclude-self") { Pattern::UniformOthers } else { Pattern::Uniform })
}
