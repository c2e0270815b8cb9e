//! `faulty:links=5%,seed=1(torus:8x8)`: another network of which links and routers have failed at random. Command lines
//! write the same as `torus:8x8 --fail links=5%,seed=1`. Ids of routers and terminals are those of the network within;
//! ports and links are counted again (see [`crate::faults`]).

use super::params::Params;
use super::{Family, Roles};
use crate::catalogue::grammar::bracketed;
use crate::error::{Error, Result};
use crate::faults::{BASE, FAMILY as NAME, Failures, KEYS};
use crate::network::Network;

pub(super) const FAMILY: Family = Family {
    name: NAME,
    summary: "another network of which links and routers have failed at random; --fail writes it",
    sizes: None,
    keys: KEYS,
    example: "faulty:links=5%,seed=1(torus:8x8)",
    source: "the network within",
    routings: &[],
    roles: Roles::ANY,
    build,
};

fn build(params: &Params) -> Result<Network> {
    let failures = Failures::of(params)?;
    let base = params.text(BASE.name).and_then(bracketed).filter(|base| !base.trim().is_empty());
    let wanted = || params.mistake(format!("the network must be at the end, in brackets: '{}'", FAMILY.example));
    let intact = super::build(base.ok_or_else(wanted)?).map_err(|error| named(params, error))?;
    failures.leave(&intact, params.spec().to_owned()).map_err(|error| named(params, error))
}

/// An error of the network within, or of what is to fail of it.
fn named(params: &Params, error: Error) -> Error {
    match error {
        Error::TooLarge(_) => error,
        other => params.mistake(other.to_string()),
    }
}
