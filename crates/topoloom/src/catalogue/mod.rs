//! Names and their keys: the one grammar of everything that users write in one word.
//!
//! A name is `head`, `head:rest`, or `head:sizes,key=value,…`: a topology, a routing, a traffic pattern, an application,
//! a mapping, a layout. Each is described by an [`Entry`]: the typed [`Key`]s that it takes, each with its one line of
//! documentation. [`grammar`] cuts a name into items, [`Given`] holds the values that were written, checked against the
//! types. Lists, help, errors with the nearest name and the JSON schema all read the same entries.

pub mod grammar;
mod key;

pub use key::{Key, Kind};
