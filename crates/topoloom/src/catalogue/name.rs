//! What a name is: its canonical text, its family, and the files that it reads.

use super::grammar::{bracketed, quoted, wrapped};
use super::{Alone, Arguments, BASE, Entry, Key, Kind, Lead};
use crate::error::Result;

/// A name that has been read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Name {
    /// What means the same in one way of writing: without blanks, keys in the order in which they are declared.
    pub canonical: String,
    /// The family, pattern, routing, …: the head.
    pub family: String,
    /// The keys with their values as they are written, those that stand first without their name included.
    pub values: Vec<(String, String)>,
    /// The sizes that stand first.
    pub sizes: Vec<u32>,
    /// The canonical name of the network that a network is made of.
    pub within: Option<String>,
    /// The paths of the files that it reads, those of networks within it first.
    pub files: Vec<String>,
}

impl Name {
    /// A value that is no name, but may be the path of a file.
    pub fn of_value(kind: Kind, text: &str) -> Self {
        let files = kind.file(text).map(str::to_owned).into_iter().collect();
        Self { canonical: text.to_owned(), files, ..Self::default() }
    }

    /// A name with what is given behind `head`, by keys that take no networks or layouts.
    ///
    /// # Errors
    /// None: names within would have some.
    pub fn of(given: &Arguments, head: &str) -> Result<Self> {
        Self::with_parts(given, head, |_, text| Ok(Self { canonical: text.to_owned(), ..Self::default() }))
    }

    /// The same by keys that take machines, or names of networks or layouts in brackets, which `part` reads.
    ///
    /// # Errors
    /// Those of `part`.
    pub fn with_parts(given: &Arguments, head: &str, part: fn(Kind, &str) -> Result<Self>) -> Result<Self> {
        let entry = given.entry();
        let mut this = Self { family: head.to_owned(), ..Self::default() };
        let mut written = Vec::new();
        match entry.lead {
            Lead::All(_) => {
                this.files.push(given.lead().to_owned());
                written.push((0, given.lead().to_owned()));
            }
            Lead::Sizes => {
                this.sizes = given.sizes();
                written.push((0, given.lead().to_owned()));
            }
            _ => {}
        }
        for (key, value) in given.values() {
            let value = this.take(key, value, part)?;
            let place = entry.place(key.name).unwrap_or_default();
            written.push((place + 1, item(entry, key, &value)));
        }
        written.sort();
        let behind = |place: usize| entry.lead == Lead::Behind && place == entry.keys.len();
        for (place, text) in written {
            let before = [":", ","][usize::from(!this.canonical.is_empty())];
            this.canonical.push_str(if behind(place) { "" } else { before });
            this.canonical.push_str(&text);
        }
        this.canonical.insert_str(0, head);
        Ok(this)
    }

    /// Notes a value, and returns it as it is written in one way.
    fn take(&mut self, key: &Key, value: &str, part: fn(Kind, &str) -> Result<Self>) -> Result<String> {
        self.values.push((key.name.to_owned(), value.to_owned()));
        if key.kind == Kind::Machine {
            self.files.extend(part(key.kind, value)?.files);
            return Ok(value.to_owned());
        }
        self.files.extend(key.kind.file(value).map(str::to_owned));
        let within = match key.kind {
            Kind::Network => wrapped(value).map(|(word, inner)| Ok((word, part(key.kind, inner)?))),
            Kind::Layout => bracketed(value).map(|inner| Ok(("", part(key.kind, inner)?))),
            _ => None,
        };
        let Some((word, within)) = within.transpose()? else { return Ok(value.to_owned()) };
        // Those of networks within come first, wherever they stand.
        self.files.splice(0..0, within.files);
        if key.name == BASE {
            self.within = Some(within.canonical.clone());
        }
        Ok(format!("{word}({})", within.canonical))
    }
}

/// A key and its value, as they stand between commas.
fn item(entry: &Entry, key: &Key, value: &str) -> String {
    let leads = matches!(entry.lead, Lead::Path | Lead::Network) && entry.keys[0].name == key.name;
    let behind = entry.lead == Lead::Behind && entry.keys[entry.keys.len() - 1].name == key.name;
    let text = match key.kind {
        Kind::File | Kind::Machine if leads && !value.contains([',', '"']) => value.to_owned(),
        Kind::File | Kind::Machine | Kind::Cabinet | Kind::Host => quoted(value),
        Kind::Flag if value == "true" && entry.alone == Alone::Flag => return key.name.to_owned(),
        _ => value.to_owned(),
    };
    if leads || behind { text } else { format!("{}={text}", key.name) }
}
