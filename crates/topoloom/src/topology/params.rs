//! The parameters of a spec: sizes and `key=value` pairs, with one clear sentence for every mistake.

use std::ops::Deref;

use super::Family;
use crate::catalogue::{self, Arguments, Key, Kind};
use crate::error::{Error, Result};
use crate::layout::Packing;
use crate::limits;

/// The key that every family with terminals on all routers has.
pub const P: Key = Key::new("p", Kind::count(1), "terminals per router (default 1)");

/// The key of a family of files: the path, which stands first in a spec, without its name, where others have sizes.
pub const PATH: Key = Key::new("path", Kind::File, "the file; stands first, where other families have sizes");

/// The key of a family that is made of another network: how, and that network's spec, in brackets. It stands first in a
/// spec, without its name, where others have sizes.
pub const BASE: Key =
    Key::new(catalogue::BASE, Kind::Network, "the other network; stands first, where other families have sizes");

/// The key of a family whose routers can be put into cabinets, by a table if need be.
pub const CABINET: Key = Key::new("cabinet", Kind::Cabinet, Packing::DOC);

/// The key of a family of files that states which network is in one, with the spec in brackets.
pub const AS: Key = Key::new(
    "as",
    Kind::Network,
    "the network that the file was written of, as=(torus:4x4,p=2): its family's routings and packaging, if the graph \
     is the same (default: that of the file)",
);

/// The parsed parameters of one spec. Those of its keys are of the keys' types; [`Arguments`] has them.
#[derive(Debug)]
pub struct Params<'a> {
    spec: &'a str,
    family: &'static Family,
    given: Arguments<'a>,
    sizes: Vec<u32>,
}

impl<'a> Deref for Params<'a> {
    type Target = Arguments<'a>;

    fn deref(&self) -> &Arguments<'a> {
        &self.given
    }
}

impl<'a> Params<'a> {
    /// Reads `rest`, the text after the colon of `spec`.
    ///
    /// # Errors
    /// [`Error::Spec`] for what is no list of the family's sizes and keys.
    pub fn parse(spec: &'a str, family: &'static Family, rest: &'a str) -> Result<Self> {
        let given = Arguments::read(family.entry(), spec, rest)?;
        let sizes = if family.sizes.is_some() { given.sizes() } else { Vec::new() };
        Ok(Self { spec, family, given, sizes })
    }

    /// The spec as the user wrote it.
    pub fn spec(&self) -> &'a str {
        self.spec
    }

    /// The sizes, at least one, all positive.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// A whole number that must be given.
    ///
    /// # Errors
    /// If it is not.
    pub fn required(&self, key: &str) -> Result<u32> {
        self.count(key).ok_or_else(|| self.missing(key))
    }

    /// A sentence on a key that must be given.
    pub fn missing(&self, key: &str) -> Error {
        self.mistake(format_args!("{key} is missing; write it like '{}'", self.family.example))
    }

    /// The terminals per router: `p`, or 1.
    pub fn concentration(&self) -> u32 {
        self.count(P.name).unwrap_or(1)
    }

    /// Rejects, before anything is allocated, a network that ids cannot name or memory cannot hold.
    ///
    /// # Errors
    /// [`Error::TooLarge`] reports what it would need.
    pub fn guard_size(&self, routers: u128, terminals: u128, links: u128) -> Result<()> {
        limits::guard_size(self.spec, routers, terminals, links)
    }
}

/// The product of `factors`, or the largest number if it is larger still: sizes are checked before they can overflow.
pub(super) fn product<T: Into<u128>>(factors: impl IntoIterator<Item = T>) -> u128 {
    factors.into_iter().fold(1, |product: u128, factor| product.saturating_mul(factor.into()))
}
