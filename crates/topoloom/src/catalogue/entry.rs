//! What can be asked for by name, as far as its text goes.

use super::grammar;
use super::key::Key;
use crate::error::Error;

/// The argument of a name that is the path of a file.
pub const FILE: &str = "FILE";
/// The key of a network that another network is made of.
pub const BASE: &str = "base";

/// What can be asked for by name: the description that texts are read by.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// What it is, in a sentence: "the traffic".
    pub noun: &'static str,
    /// Its name, the head of the text.
    pub name: &'static str,
    /// What stands first behind the colon, without a key.
    pub lead: Lead,
    /// The keys it takes.
    pub keys: &'static [Key],
    /// Keys that it shares with all others of its kind.
    pub shared: &'static [Key],
    /// What stands alone between commas.
    pub alone: Alone,
    /// The error that a mistake becomes.
    pub wrong: fn(String) -> Error,
}

/// What stands first behind the colon, without a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lead {
    /// Nothing: keys alone.
    Nothing,
    /// Sizes, as in `4x4`.
    Sizes,
    /// The value of the first key, whose name may be left out, and whose brackets need not be in pairs: a path.
    Path,
    /// The value of the first key, whose name may be left out: another network in brackets.
    Network,
    /// Everything is one value, such as a path with commas; what users read for it, such as `FILE`.
    All(&'static str),
    /// Nothing, but the value of the last key, a network in brackets, ends the text.
    Behind,
}

/// What a value without a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alone {
    /// A flag, or a key without its value.
    Flag,
    /// A mistake; the rest of the sentence on it.
    Mistake(&'static str),
    /// A mistake, and this is how it is written.
    Example(&'static str),
}

impl Alone {
    /// How it is written instead, as the rest of a sentence.
    pub fn instead(self) -> String {
        match self {
            Self::Flag => String::new(),
            Self::Mistake(rest) => rest.to_owned(),
            Self::Example(example) => format!("; write it like '{example}'"),
        }
    }
}

impl Entry {
    /// The key called `name`.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.all_keys().find(|key| key.name == name)
    }

    /// The position of a key among all that it takes, its own first.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.all_keys().position(|key| key.name == name)
    }

    /// Its own keys, then those that it shares.
    fn all_keys(&self) -> impl Iterator<Item = &'static Key> {
        self.keys.iter().chain(self.shared)
    }

    /// The keys that a sentence on the unknown key `name` offers: those of one class of links only where it looks for one.
    pub fn offered(&self, name: &str) -> impl Iterator<Item = &'static str> {
        let of_class = grammar::is_of_class(name);
        let own = self.keys.iter().filter(move |_| !of_class);
        let shared = self.shared.iter().filter(move |key| grammar::is_of_class(key.name) == of_class);
        own.chain(shared).map(|key| key.name)
    }
}
