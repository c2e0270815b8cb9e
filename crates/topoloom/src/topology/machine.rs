//! `machine:abci-v,racks=4`: a machine that exists, whole or scaled by its own keys. See [`machines`](super::machines).

use super::machines::{Machine, SCALES, Size};
use super::params::Params;
use super::{Family, Roles};
use crate::catalogue::{Key, Kind};
use crate::error::{Error, Result};
use crate::network::Network;

/// The family's name.
pub(super) const NAME: &str = "machine";

pub(super) const FAMILY: Family = Family {
    name: NAME,
    summary: "a machine that exists, whole or scaled; topoloom list machines has them",
    sizes: None,
    keys: &{
        let mut keys = [Key::new(NAME, Kind::Machine, "a machine, or a file that describes one; stands first"); 8];
        let mut place = 0;
        while place < SCALES.len() {
            keys[place + 1] = SCALES[place];
            place += 1;
        }
        keys
    },
    example: "machine:abci-v,racks=2",
    source: "the sources of each machine and of each of its figures",
    routings: &[],
    roles: Roles::ANY,
    build,
};

/// A machine in one size.
pub(super) struct Form {
    /// The machine.
    pub machine: Machine,
    /// The keys that scale it, with their values.
    pub sizes: Vec<(&'static str, Size)>,
    /// The spec of the network that it is.
    pub spec: String,
}

impl Form {
    pub fn of(params: &Params) -> Result<Self> {
        let name = params.text(NAME).ok_or_else(|| params.missing(NAME))?;
        let machine = Machine::named(name).map_err(|error| params.mistake(error.to_string()))?;
        let scales = params.values().iter().filter(|(key, _)| SCALES.iter().any(|scale| scale.name == key.name));
        let given: Vec<(&str, &str)> = scales.map(|(key, value)| (key.name, *value)).collect();
        let sizes = machine.sizes(&given).map_err(|what| params.mistake(what))?;
        let spec = machine.spec_of(&sizes).map_err(|what| params.mistake(what))?;
        Ok(Self { machine, sizes, spec })
    }
}

fn build(params: &Params) -> Result<Network> {
    let form = Form::of(params)?;
    let network = super::build(&form.spec).map_err(|error| match error {
        Error::TooLarge(_) => error,
        other => params.mistake(other.to_string()),
    })?;
    Ok(network.of_machine(params.spec()))
}
