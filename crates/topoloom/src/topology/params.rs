//! The parameters of a spec: sizes and `key=value` pairs, with one clear sentence for every mistake.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::Family;
use crate::error::{Error, Result, unknown};
use crate::layout::Packing;
use crate::memory::available_memory;

/// A key that a family's specs may give.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it means, with its default.
    pub doc: &'static str,
}

/// The key that every family with terminals on all routers has.
pub const P: Key = Key { name: "p", doc: "terminals per router (default 1)" };

/// The key of a family of files: the path, which stands first in a spec, without its name, where others have sizes.
pub const PATH: Key = Key { name: "path", doc: "the file; stands first, where other families have sizes" };

/// The key of a family that is made of another network: how, and that network's spec, in brackets. It stands first in a
/// spec, without its name, where others have sizes.
pub const BASE: Key = Key { name: "base", doc: "the other network; stands first, where other families have sizes" };

/// The key of a family whose routers can be put into cabinets, by a table if need be.
pub const CABINET: Key = Key { name: "cabinet", doc: Packing::DOC };

/// The key of a family of files that says which network is in one, with the spec in brackets.
pub const AS: Key = Key {
    name: "as",
    doc: "the network that the file was written of, as=(torus:4x4,p=2): its family's routings and packaging, if the graph \
          is the same (default: what the file says)",
};

/// Brackets that may be open at a time. Networks made of networks are built one within the other, on one stack.
const DEEPEST: u32 = 16;

/// The parsed parameters of one spec.
#[derive(Debug)]
pub struct Params {
    spec: String,
    family: &'static Family,
    sizes: Vec<u32>,
    values: BTreeMap<String, String>,
}

impl Params {
    /// Reads `rest`, what stands behind the colon of `spec`.
    pub fn parse(spec: &str, family: &'static Family, rest: &str) -> Result<Self> {
        let mut params = Self { spec: spec.to_owned(), family, sizes: Vec::new(), values: BTreeMap::new() };
        for (place, item) in params.items(rest)?.into_iter().map(str::trim).enumerate() {
            match item.split_once('=') {
                _ if place == 0 && params.begins_unnamed(item) => params.set(family.keys[0].name, item)?,
                Some((key, value)) => params.set(key.trim(), value.trim())?,
                None if item.is_empty() && rest.is_empty() => {}
                None if place == 0 && family.sizes.is_some() => params.sizes = params.read_sizes(item)?,
                None => {
                    let wanted = params.usage();
                    return Err(params.mistake(format!("'{item}' is not key=value; write {wanted}")));
                }
            }
        }
        if family.sizes.is_some() && params.sizes.is_empty() {
            return Err(params.mistake(format!("the sizes are missing; write {}", params.usage())));
        }
        Ok(params)
    }

    /// What stands between commas; commas in brackets belong to another network.
    fn items<'a>(&self, rest: &'a str) -> Result<Vec<&'a str>> {
        if !self.begins_with(BASE) {
            // A path may have brackets; what stands behind this key has them in pairs.
            let Some(at) = rest.find(",as=(").filter(|_| self.begins_with(PATH)) else {
                return Ok(rest.split(',').collect());
            };
            let behind = self.in_brackets(&rest[at + 1..])?;
            return Ok(rest[..at].split(',').chain(behind).collect());
        }
        self.in_brackets(rest)
    }

    /// What stands between commas that are in no brackets.
    fn in_brackets<'a>(&self, rest: &'a str) -> Result<Vec<&'a str>> {
        let (mut items, mut first, mut depth) = (Vec::new(), 0, 0u32);
        for (at, byte) in rest.bytes().enumerate() {
            match byte {
                b'(' if depth == DEEPEST => {
                    return Err(self.mistake(format!("brackets are nested more than {DEEPEST} deep")));
                }
                b'(' => depth += 1,
                b')' if depth == 0 => return Err(self.mistake("a bracket closes that none opens")),
                b')' => depth -= 1,
                b',' if depth == 0 => {
                    items.push(&rest[first..at]);
                    first = at + 1;
                }
                _ => {}
            }
        }
        if depth > 0 {
            return Err(self.mistake("a bracket is not closed"));
        }
        items.push(&rest[first..]);
        Ok(items)
    }

    /// True if `key` is the family's first one.
    pub fn begins_with(&self, key: Key) -> bool {
        self.family.keys.first().is_some_and(|first| first.name == key.name)
    }

    /// True if `item`, the first one, is a path or a base: it has no name, or none of the family's keys.
    fn begins_unnamed(&self, item: &str) -> bool {
        let key = item.split_once('=').map(|(key, _)| key.trim());
        (self.begins_with(PATH) || self.begins_with(BASE))
            && !item.is_empty()
            && !self.family.keys.iter().any(|known| key == Some(known.name))
    }

    fn usage(&self) -> String {
        format!("it like '{}'", self.family.example)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        if !self.family.keys.iter().any(|k| k.name == key) {
            let keys = self.family.keys.iter().map(|k| k.name);
            return Err(self.mistake(unknown(format_args!("key of {}", self.family.name), key, keys)));
        }
        if value.is_empty() {
            return Err(self.mistake(format!("{key} has no value")));
        }
        if self.values.insert(key.to_owned(), value.to_owned()).is_some() {
            return Err(self.mistake(format!("{key} is given twice")));
        }
        Ok(())
    }

    fn read_sizes(&self, text: &str) -> Result<Vec<u32>> {
        self.list("size", text)
    }

    fn list(&self, what: &str, text: &str) -> Result<Vec<u32>> {
        text.split('x').map(|side| self.number(what, side, 1)).collect()
    }

    /// The positive whole numbers of `key`, written like sizes ("2x2"), if given.
    pub fn optional_list(&self, key: &str) -> Result<Option<Vec<u32>>> {
        self.text(key).map(|text| self.list(key, text)).transpose()
    }

    fn number(&self, what: &str, text: &str, least: u32) -> Result<u32> {
        let wanted = format!("a whole number from {least} up");
        match text.parse::<i128>() {
            Ok(n) if n < i128::from(least) => Err(self.mistake(format!("{what} is {n}; it must be {wanted}"))),
            Ok(n) if n > i128::from(u32::MAX) => {
                Err(Error::TooLarge(format!("{}: {what} is {n}; at most {} is possible", self.spec, u32::MAX)))
            }
            Ok(n) => Ok(n as u32),
            Err(_) => Err(self.mistake(format!("{what} is '{text}'; it must be {wanted}"))),
        }
    }

    /// An [`Error::Spec`] that names the spec.
    pub fn mistake(&self, what: impl AsRef<str>) -> Error {
        Error::Spec(format!("{}: {}", self.spec, what.as_ref()))
    }

    /// The spec as the user wrote it.
    pub fn spec(&self) -> &str {
        &self.spec
    }

    /// The sizes, at least one, all positive.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// The text of `key`, if given.
    pub fn text(&self, key: &str) -> Option<&str> {
        debug_assert!(self.family.keys.iter().any(|k| k.name == key), "{key} is not declared");
        self.values.get(key).map(String::as_str)
    }

    /// The paths of the files that it names itself, not those of a network within it.
    pub fn files(&self) -> Vec<String> {
        let path = self.values.get(PATH.name).cloned();
        let packing = self.values.get(CABINET.name).and_then(|text| Packing::parse(text).ok());
        path.into_iter().chain(packing.iter().flat_map(Packing::files)).collect()
    }

    /// A whole number of at least `least`, if given.
    pub fn optional(&self, key: &str, least: u32) -> Result<Option<u32>> {
        self.text(key).map(|text| self.number(key, text, least)).transpose()
    }

    /// A whole number of at least `least` that must be given.
    pub fn required(&self, key: &str, least: u32) -> Result<u32> {
        self.optional(key, least)?.ok_or_else(|| self.mistake(format!("{key} is missing; write {}", self.usage())))
    }

    /// The terminals per router: `p`, or 1.
    pub fn concentration(&self) -> Result<u32> {
        Ok(self.optional("p", 1)?.unwrap_or(1))
    }

    /// A number from 0 to 1, if given.
    pub fn fraction(&self, key: &str) -> Result<Option<f64>> {
        let read = |text: &str| {
            let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
            number.ok_or_else(|| self.mistake(format!("{key} is '{text}'; it must be a number from 0 to 1")))
        };
        self.text(key).map(read).transpose()
    }

    /// `true` or `false`, if given.
    pub fn flag(&self, key: &str) -> Result<bool> {
        match self.text(key) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(other) => Err(self.mistake(format!("{key} is '{other}'; it must be true or false"))),
        }
    }

    /// One of `choices`, the first unless given.
    pub fn choice<'a>(&self, key: &str, choices: &[&'a str]) -> Result<&'a str> {
        let Some(text) = self.text(key) else { return Ok(choices[0]) };
        choices.iter().find(|c| **c == text).copied().ok_or_else(|| self.mistake(unknown(key, text, choices)))
    }

    /// Refuses, before anything is allocated, a network that ids cannot name or memory cannot hold.
    pub fn guard_size(&self, routers: u128, terminals: u128, links: u128) -> Result<()> {
        guard_size(&self.spec, routers, terminals, links)
    }
}

thread_local! {
    /// Ports that a network may have that is built in [`at_most`].
    static MOST_PORTS: Cell<u128> = const { Cell::new(u128::MAX) };
}

/// Lets networks be built with so many ports at most: what only has to equal something need not be larger.
pub(crate) fn at_most<T>(ports: u128, build: impl FnOnce() -> T) -> T {
    let before = MOST_PORTS.replace(ports);
    let built = build();
    MOST_PORTS.set(before);
    built
}

/// As [`Params::guard_size`], for what no family builds.
pub fn guard_size(spec: &str, routers: u128, terminals: u128, links: u128) -> Result<()> {
    /// Bytes that a port costs while the network is built.
    const PORT: u128 = 48;
    let ports = links.saturating_mul(2).saturating_add(terminals);
    let bytes = ports.saturating_mul(PORT).saturating_add(routers.saturating_mul(8));
    let available = available_memory();
    if ports > MOST_PORTS.get() {
        return Err(Error::TooLarge(format!("{spec}: {} ports are more than there are here", count(ports))));
    }
    if ports > u128::from(u32::MAX) || routers > u128::from(u32::MAX) || bytes > available {
        return Err(Error::TooLarge(format!(
            "{spec}: {} routers, {} terminals and {} links need about {} GB; {} GB are available",
            count(routers),
            count(terminals),
            count(links),
            count(bytes.div_ceil(1_000_000_000)),
            available / 1_000_000_000
        )));
    }
    Ok(())
}

/// A number for a sentence: beyond 10^18 its digits tell nothing (and products may have saturated).
fn count(number: u128) -> String {
    if number > 1_000_000_000_000_000_000 { "more than 10^18".to_owned() } else { number.to_string() }
}

/// The product of `factors`, or the largest number if it is larger still: sizes are checked before they can overflow.
pub(super) fn product<T: Into<u128>>(factors: impl IntoIterator<Item = T>) -> u128 {
    factors.into_iter().fold(1, |product: u128, factor| product.saturating_mul(factor.into()))
}
