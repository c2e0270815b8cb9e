//! What a user has written behind a name, cut into items and checked against the types of the keys.

use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

use super::entry::{Alone, Entry, FILE, Lead};
use super::grammar::{items, pair, sides, split_behind, split_first, unquoted};
use super::key::{Key, Kind};
use super::values;
use crate::error::{Error, Result, unknown};

/// The values of a text. Every one has the type of its key.
#[derive(Debug, Clone)]
pub struct Arguments<'a> {
    entry: Entry,
    place: &'a str,
    lead: &'a str,
    values: Vec<(&'static Key, &'a str)>,
}

impl<'a> Arguments<'a> {
    /// Reads `rest`, the text after the colon. Mistakes begin with `place` and a colon.
    ///
    /// # Errors
    /// That of the entry, for a text that is no list of its keys and their values.
    pub fn read(entry: Entry, place: &'a str, rest: &'a str) -> Result<Self> {
        let mut this = Self { entry, place, lead: "", values: Vec::new() };
        match entry.lead {
            Lead::All(argument) if rest.is_empty() => {
                return Err(this.mistake(format_args!("needs a {argument}, as in {}:{argument}", entry.name)));
            }
            Lead::All(_) => this.lead = unquoted(rest),
            _ => this.read_items(rest)?,
        }
        Ok(this)
    }

    /// For a value that is read under a name of its own, without keys.
    pub fn alone(name: &'static str, wrong: fn(String) -> Error, value: &'a str) -> Self {
        let lead = Lead::All("");
        let entry = Entry { noun: "", name, lead, keys: &[], shared: &[], alone: Alone::Flag, wrong };
        Self { entry, place: name, lead: value, values: Vec::new() }
    }

    fn read_items(&mut self, rest: &'a str) -> Result<()> {
        let mut items = self.cut(rest)?.into_iter().peekable();
        if items.peek().is_some_and(|first| self.take_lead(first)) {
            items.next();
        } else if self.entry.lead == Lead::Sizes {
            return Err(self.mistake(format_args!("the sizes are missing{}", self.entry.alone.instead())));
        }
        for item in items {
            self.take(item, rest)?;
        }
        self.check()
    }

    /// What stands between the commas; a network that ends the text is taken off it.
    fn cut(&mut self, rest: &'a str) -> Result<Vec<&'a str>> {
        let cut = |text| items(text).map_err(|broken| self.mistake(broken.sentence()));
        match self.entry.lead {
            Lead::Path => {
                let (first, behind) = self.split_path(rest);
                let behind = behind.map_or(Ok(Vec::new()), cut)?;
                Ok([first].into_iter().chain(behind).collect())
            }
            Lead::Behind => {
                cut(rest)?;
                let (before, network) =
                    split_behind(rest).filter(|(before, _)| !before.ends_with('=')).unwrap_or((rest, ""));
                let items = cut(before)?;
                if let Some(key) = self.entry.keys.last().filter(|_| !network.is_empty()) {
                    self.values.push((key, network));
                }
                Ok(items)
            }
            _ => cut(rest),
        }
    }

    /// The item that stands first, and the text after its comma. A path continues behind commas, as long as what follows
    /// them is no item: neither a key nor `key=value`.
    fn split_path(&self, rest: &'a str) -> (&'a str, Option<&'a str>) {
        let (first, mut behind) = split_first(rest);
        let file = &self.entry.keys[0];
        let is_path = pair(first).0.is_none_or(|key| key == file.name || self.entry.key(key).is_none());
        if file.kind != Kind::File || !is_path || first.is_empty() || first.ends_with('"') {
            return (first, behind);
        }
        while let Some(text) = behind {
            let (next, after) = split_first(text);
            if next.is_empty() || pair(next).0.is_some() || self.entry.key(next).is_some() {
                break;
            }
            behind = after;
        }
        let end = behind.map_or(rest.len(), |text| text.as_ptr() as usize - rest.as_ptr() as usize - 1);
        (rest[..end].trim(), behind)
    }

    /// Takes the first item if it is what stands first, without a key.
    fn take_lead(&mut self, item: &'a str) -> bool {
        let (key, value) = pair(item);
        match self.entry.lead {
            Lead::Sizes if key.is_none() && !item.is_empty() => self.lead = value,
            Lead::Path | Lead::Network if !item.is_empty() && key.is_none_or(|key| self.entry.key(key).is_none()) => {
                self.values.push((&self.entry.keys[0], unquoted(item)));
            }
            _ => return false,
        }
        true
    }

    /// Takes an item of `rest`, the whole text.
    fn take(&mut self, item: &'a str, rest: &'a str) -> Result<()> {
        let nothing = item.is_empty() && (rest.trim().is_empty() || self.entry.alone == Alone::Flag);
        if nothing || self.continues_list(item, rest) {
            return Ok(());
        }
        let (name, value) = match (pair(item), self.entry.alone) {
            ((Some(name), value), _) => (name, value),
            ((None, _), Alone::Flag) => (item, ""),
            ((None, _), alone) => {
                return Err(self.mistake(format_args!("'{item}' is not key=value{}", alone.instead())));
            }
        };
        let Entry { noun, name: own, keys, wrong, .. } = self.entry;
        if keys.is_empty() && self.entry.shared.is_empty() {
            return Err(wrong(format!("{noun} '{own}' takes no keys, but '{name}' is given")));
        }
        let Some(key) = self.entry.key(name) else { return Err(self.unknown_key(name)) };
        let value = match (value, key.kind) {
            ("", Kind::Flag) if self.entry.alone == Alone::Flag => "true",
            ("", _) => return Err(self.mistake(format_args!("{name} has no value"))),
            _ => value,
        };
        if self.has(name) {
            return Err(self.mistake(format_args!("{name} is given twice")));
        }
        self.values.push((key, value));
        Ok(())
    }

    /// A sentence on a key that there is not, with those that there are.
    fn unknown_key(&self, name: &str) -> Error {
        let Entry { name: own, wrong, alone, lead, .. } = self.entry;
        let known = || self.entry.offered(name);
        let short = own == self.place && alone != Alone::Flag;
        let what = if short { "key".to_owned() } else { format!("key of {own}") };
        let mut sentence = unknown(what, name, known());
        if lead == Lead::Path && self.entry.keys[0].kind == Kind::File {
            sentence.push_str("; a path with such a comma needs quotes");
        }
        match alone {
            Alone::Flag => wrong(sentence),
            _ => self.mistake(sentence),
        }
    }

    /// True if the item belongs to the list before it, as the 5 of `nodes=1,5`, which then ends with it.
    fn continues_list(&mut self, item: &str, rest: &'a str) -> bool {
        let Some((key, value)) = self.values.last_mut() else { return false };
        let is_number = matches!(key.kind, Kind::List(_)) && item.starts_with(|first: char| first.is_ascii_digit());
        if is_number {
            let begin = value.as_ptr() as usize - rest.as_ptr() as usize;
            let end = item.as_ptr() as usize + item.len() - rest.as_ptr() as usize;
            *value = &rest[begin..end];
        }
        is_number
    }

    /// Checks that every value has its key's type.
    fn check(&self) -> Result<()> {
        if self.entry.lead == Lead::Sizes {
            sides(self.lead).try_for_each(|size| self.check_value("size", Kind::count(1), size))?;
        }
        self.values.iter().try_for_each(|(key, value)| self.check_value(key.name, key.kind, value))
    }

    fn check_value(&self, key: &str, kind: Kind, value: &str) -> Result<()> {
        if kind.allows(value) {
            return Ok(());
        }
        let number = value.parse::<f64>().is_ok();
        Err(self.mistake(match kind {
            Kind::Choice(words) if self.entry.alone == Alone::Flag => {
                unknown(format_args!("value of {key}"), value, words)
            }
            Kind::Choice(words) => unknown(key, value, words),
            Kind::Int(_, most) if value.parse::<u128>().is_ok_and(|number| number > most.into()) => {
                format!("{key} is {value}; at most {most} is possible")
            }
            Kind::Int(..) | Kind::Real(..) | Kind::Above(_) | Kind::Metres(_) | Kind::Or(..) | Kind::Rate if number => {
                format!("{key} is {value}; it must be {}", kind.wanted())
            }
            _ => format!("{key} is '{value}'; it must be {}", kind.wanted()),
        }))
    }

    /// A mistake, as the rest of a sentence.
    pub fn mistake(&self, what: impl Display) -> Error {
        (self.entry.wrong)(format!("{}: {what}", self.place))
    }

    /// The mistake that a file cannot be read, and why. A key that is taken for the path, as there is no such key, is
    /// named.
    pub fn unreadable(&self, path: &str, why: impl Display) -> Error {
        let is_word = |key: &str| key.starts_with(|c: char| c.is_ascii_alphabetic()) && !key.contains(['/', '.']);
        match pair(path).0 {
            Some(key) if is_word(key) && !Path::new(path).exists() => {
                let known: Vec<&str> = self.entry.offered(key).collect();
                let keys =
                    if known.is_empty() { format!("there is no key '{key}'") } else { unknown("key", key, known) };
                self.mistake(format_args!("the {FILE} is missing; {keys}"))
            }
            _ => self.mistake(format_args!("{path}: {why}")),
        }
    }

    /// What the text was read by.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// What stands first, without a key: sizes, or all of the text; empty where it is the value of a key.
    pub fn lead(&self) -> &'a str {
        self.lead
    }

    /// The keys that are given, with their values, in their order.
    pub fn values(&self) -> &[(&'static Key, &'a str)] {
        &self.values
    }

    /// The value of a key as it is written, if it is given.
    pub fn text(&self, key: &str) -> Option<&'a str> {
        debug_assert!(self.entry.key(key).is_some(), "{key} is not declared by {}", self.entry.name);
        self.values.iter().find(|(known, _)| known.name == key).map(|(_, value)| *value)
    }

    /// True if a key is given; of shared code, for which not every name has the key.
    pub fn has(&self, key: &str) -> bool {
        self.values.iter().any(|(known, _)| known.name == key)
    }

    fn value<T>(&self, key: &str, read: impl Fn(&'a str) -> Option<T>) -> Option<T> {
        self.text(key).map(|text| read(text).expect("values are checked when they are read"))
    }

    /// A whole number.
    pub fn int(&self, key: &str) -> Option<u64> {
        self.value(key, |text| text.parse().ok())
    }

    /// A whole number of a type whose numbers have 32 bits.
    pub fn count(&self, key: &str) -> Option<u32> {
        self.value(key, |text| text.parse().ok())
    }

    /// A number.
    pub fn real(&self, key: &str) -> Option<f64> {
        self.value(key, |text| text.parse().ok())
    }

    /// A value in whose place a word may stand, if it is given; `None` for the word.
    pub fn unless_word<T: FromStr>(&self, key: &str) -> Option<Option<T>> {
        self.text(key).map(|text| text.parse().ok())
    }

    /// A part of 1.
    pub fn part(&self, key: &str) -> Option<f64> {
        self.value(key, values::fraction)
    }

    /// True if a flag is given.
    pub fn flag(&self, key: &str) -> bool {
        self.text(key) == Some("true")
    }

    /// One of the words of a key; the first unless given.
    pub fn choice(&self, key: &str) -> &'static str {
        let words = self.entry.key(key).map_or(&[][..], |key| key.kind.words());
        let given = self.text(key).and_then(|text| words.iter().find(|word| **word == text));
        given.or(words.first()).copied().unwrap_or_default()
    }

    /// Whole numbers from 1 up with an x between them.
    pub fn sides(&self, key: &str) -> Option<Vec<u32>> {
        self.value(key, read_sides)
    }

    /// The sizes that stand first.
    pub fn sizes(&self) -> Vec<u32> {
        read_sides(self.lead).expect("sizes are checked when they are read")
    }

    /// A number of bytes.
    pub fn bytes(&self, key: &str) -> Option<u64> {
        self.value(key, values::bytes)
    }

    /// Bytes per second.
    pub fn rate(&self, key: &str) -> Option<f64> {
        self.value(key, values::rate)
    }

    /// Seconds.
    pub fn seconds(&self, key: &str) -> Option<f64> {
        self.value(key, values::seconds)
    }
}

fn read_sides(text: &str) -> Option<Vec<u32>> {
    sides(text).map(|side| side.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: &[Key] = &[
        Key::new("p", Kind::count(1), ""),
        Key::new("seed", Kind::SEED, ""),
        Key::new("nodes", Kind::List("ids"), ""),
        Key::new("way", Kind::Choice(&["short", "long"]), ""),
        Key::new("share", Kind::Part, ""),
        Key::new("sides", Kind::Sides, ""),
        Key::new("open", Kind::Flag, ""),
        Key::new("base", Kind::Network, ""),
    ];

    const SHARED: &[Key] = &[
        Key::new("rate", Kind::Rate, ""),
        Key::new("rate.global", Kind::Rate, ""),
        Key::new("delay.up", Kind::Delay("350ns"), ""),
    ];

    fn entry(lead: Lead, alone: Alone) -> Entry {
        Entry { noun: "the thing", name: "thing", lead, keys: KEYS, shared: SHARED, alone, wrong: Error::Config }
    }

    #[test]
    fn values_have_the_types_of_their_keys() {
        let text = "p=2,nodes=1,5-7,way=long,share=10%,sides=2x3,open";
        let given = Arguments::read(entry(Lead::Nothing, Alone::Flag), "thing", text).expect("reads");
        assert_eq!((given.count("p"), given.int("seed"), given.text("nodes")), (Some(2), None, Some("1,5-7")));
        assert_eq!((given.choice("way"), given.part("share"), given.flag("open")), ("long", Some(0.1), true));
        assert_eq!(given.sides("sides"), Some(vec![2, 3]));
        let strict = entry(Lead::Sizes, Alone::Example("thing:4x4"));
        let given = Arguments::read(strict, "thing:3x4, p = 2", "3x4, p = 2").expect("reads");
        assert_eq!((given.sizes(), given.count("p"), given.choice("way")), (vec![3, 4], Some(2), "short"));
    }

    #[test]
    fn leads_stand_first_or_behind() {
        let read = |lead, text| Arguments::read(entry(lead, Alone::Mistake("")), "thing", text).expect("reads");
        assert_eq!(read(Lead::All("FILE"), "a,b=(c").lead(), "a,b=(c");
        let behind = read(Lead::Behind, "p=1,seed=2(torus:4x4,p=3)");
        let expected = (Some("(torus:4x4,p=3)"), Some(1), Some(2));
        assert_eq!((behind.text("base"), behind.count("p"), behind.int("seed")), expected);
    }

    #[test]
    fn paths_keep_commas_that_begin_no_item() {
        const FILES: &[Key] = &[Key::new("file", Kind::File, ""), Key::new("p", Kind::count(1), "")];
        let entry = Entry { keys: FILES, ..entry(Lead::Path, Alone::Flag) };
        let read = |text| {
            Arguments::read(entry, "thing", text)
                .map(|given| (given.text("file").unwrap_or_default().to_owned(), given.count("p")))
        };
        for (text, path, p) in [
            ("a,b.csv", "a,b.csv", None),
            ("a, b(1,2.csv,p=2", "a, b(1,2.csv", Some(2)),
            ("\"a,b.csv\",p=2", "a,b.csv", Some(2)),
            ("file=a,b.csv,p=2", "a,b.csv", Some(2)),
            ("a=1,b.csv", "a=1,b.csv", None),
            ("a.csv,", "a.csv", None),
            ("p=2,file=a.csv", "a.csv", Some(2)),
        ] {
            assert_eq!(read(text), Ok((path.to_owned(), p)), "{text}");
        }
        let sentence = |text| read(text).expect_err(text).to_string();
        assert!(sentence("a,q=1.csv").contains("'q'"), "{}", sentence("a,q=1.csv"));
        assert!(sentence("a,q=1.csv").ends_with("a path with such a comma needs quotes"), "{}", sentence("a,q=1.csv"));
        assert!(sentence("a,p").contains("p has no value"));
    }

    #[test]
    fn mistakes_are_sentences() {
        let strict = entry(Lead::Sizes, Alone::Example("thing:4x4"));
        let loose = entry(Lead::Nothing, Alone::Flag);
        for (entry, text, words) in [
            (strict, "", "x: the sizes are missing; write it like 'thing:4x4'"),
            (strict, "p=1", "x: the sizes are missing; write it like 'thing:4x4'"),
            (strict, "4x0", "x: size is 0; it must be a whole number from 1 up"),
            (strict, "4,5", "x: '5' is not key=value; write it like 'thing:4x4'"),
            (strict, "4,", "x: '' is not key=value"),
            (strict, "4,p=", "x: p has no value"),
            (strict, "4,p=1,p=2", "x: p is given twice"),
            (strict, "4,p=5000000000", "x: p is 5000000000; at most 4294967295 is possible"),
            (strict, "4,(", "x: a bracket is not closed"),
            (strict, "4,q=1", "x: unknown key of thing 'q' (did you mean 'p'?)"),
            (loose, "q=1", "unknown key of thing 'q'"),
            (loose, "p", "x: p has no value"),
            (loose, "way=lng", "x: unknown value of way 'lng' (did you mean 'long'?); there are: short, long"),
            (loose, "share=2", "x: share is '2'; it must be from 0 to 1, or from 0% to 100%"),
            (loose, "seed=-1", "x: seed is -1; it must be a whole number from 0 up"),
            (loose, "open=maybe", "x: open is 'maybe'; it must be true or false"),
            (loose, "sides=2xx", "x: sides is '2xx'; it must be whole numbers from 1 up, as in 16x16x8"),
            (
                strict,
                "4,rate.globl=1G",
                "x: unknown key of thing 'rate.globl' (did you mean 'rate.global'?); there are: rate.",
            ),
            (strict, "4,rte=1G", "x: unknown key of thing 'rte' (did you mean 'rate'?)"),
            (strict, "4,rate=400", "x: rate is 400; it must be bits or bytes per second above 0, as in 400G"),
            (strict, "4,rate=-1G", "x: rate is '-1G'; it must be bits or bytes per second above 0"),
            (strict, "4,delay.up=0ns", "x: delay.up is '0ns'; it must be a time above 0 with its unit, as in 350ns"),
            (Entry { keys: &[], shared: &[], ..loose }, "p=1", "the thing 'thing' takes no keys, but 'p' is given"),
        ] {
            let sentence = Arguments::read(entry, "x", text).expect_err(text).to_string();
            assert!(sentence.starts_with(words), "{text}: {sentence}");
        }
    }
}
