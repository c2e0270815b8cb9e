//! Typed keys: what a value may be, in one place for parsing, lists, help and schemas.

use super::{grammar, values};

/// A key that a name may give, as in `key=value`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key {
    /// What users write.
    pub name: &'static str,
    /// What its value may be.
    pub kind: Kind,
    /// One line: what it means, with its default.
    pub doc: &'static str,
}

impl Key {
    /// A key of this type.
    pub const fn new(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { name, kind, doc }
    }
}

/// The path of a file that is read: what [`Kind::File`] takes, where options are fields of a struct.
pub type FilePath = String;

/// The cabinets of routers, by a rule or a file: the value of [`Kind::Cabinet`], likewise.
pub type CabinetRule = String;

/// What a value may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A whole number within these bounds.
    Int(u64, u64),
    /// A finite number within these bounds.
    Real(f64, f64),
    /// A number above 0, up to this one.
    Above(f64),
    /// A fraction of 1: from 0 to 1, or from 0% to 100%.
    Part,
    /// One of several words. The first is what holds unless another is given.
    Choice(&'static [&'static str]),
    /// A number of bytes with a unit, from 1 up: `64KiB`.
    Bytes,
    /// Bits or bytes per second with their unit: `400Gb/s`, `50GB/s`.
    Rate,
    /// Seconds with their unit, from 0 up; the text is an example of one.
    Time(&'static str),
    /// The same, above 0.
    Delay(&'static str),
    /// Metres, from 0 to these.
    Metres(f64),
    /// `true` or `false`.
    Flag,
    /// The path of a file that is read.
    File,
    /// A host, or the path of a file that describes one, which ends in `.toml`.
    Host,
    /// A machine, or the path of a file that describes one, which ends in `.toml`.
    Machine,
    /// The cabinets of routers, by a rule or a file: `16`, `4x4`, `racks.csv`.
    Cabinet,
    /// Whole numbers from 1 up with an x between them: `16x16x8`.
    Sides,
    /// A network's spec in brackets, perhaps behind a word: `two-cab(torus:64x64)`.
    Network,
    /// A layout in brackets.
    Layout,
    /// This word, or what the other allows.
    Or(&'static str, &'static Kind),
    /// Anything else, in one item, which its owner reads; the text states what it must be.
    Text(&'static str),
    /// The same with commas between its parts, each of which begins with a digit.
    List(&'static str),
}

impl Kind {
    /// A whole number from `least` up, as large as counts of things can be.
    pub const fn count(least: u64) -> Self {
        Self::Int(least, u32::MAX as u64)
    }

    /// Any whole number.
    pub const SEED: Self = Self::Int(0, u64::MAX);

    /// The type's name, as lists and schemas show it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Int(..) => "int",
            Self::Real(..) | Self::Above(_) | Self::Metres(_) => "real",
            Self::Part => "part",
            Self::Choice(_) => "choice",
            Self::Bytes => "bytes",
            Self::Rate => "rate",
            Self::Time(_) | Self::Delay(_) => "time",
            Self::Flag => "flag",
            Self::File => "file",
            Self::Cabinet => "cabinet",
            Self::Host => "host",
            Self::Machine => "machine",
            Self::Sides => "sides",
            Self::Network => "network",
            Self::Layout => "layout",
            Self::Or(_, kind) => kind.name(),
            Self::Text(_) => "text",
            Self::List(_) => "list",
        }
    }

    /// The words that it may be, the default first; none where it is no choice.
    pub fn words(self) -> &'static [&'static str] {
        if let Self::Choice(words) = self { words } else { &[] }
    }

    /// What a value must be, as the end of "it must be …".
    pub fn wanted(self) -> String {
        match self {
            Self::Int(least, most) if most >= u32::MAX.into() => format!("a whole number from {least} up"),
            Self::Int(least, most) => format!("a whole number from {least} to {most}"),
            Self::Real(least, most) => format!("a number from {least} to {most}"),
            Self::Above(most) => format!("a number above 0, up to {most}"),
            Self::Part => "from 0 to 1, or from 0% to 100%".to_owned(),
            Self::Choice(words) => listed(words),
            Self::Bytes => "a number of bytes from 1 up, as in 64KiB".to_owned(),
            Self::Rate => "bits or bytes per second above 0, as in 400G, 10Gb/s or 25GB/s".to_owned(),
            Self::Time(example) => format!("a time with its unit, as in {example}"),
            Self::Delay(example) => format!("a time above 0 with its unit, as in {example}"),
            Self::Metres(most) => format!("metres, from 0 to {most}"),
            Self::Flag => "true or false".to_owned(),
            Self::File => "the path of a file".to_owned(),
            Self::Host => "a host, or a file ending in .toml".to_owned(),
            Self::Machine => "a machine, or a file ending in .toml".to_owned(),
            Self::Cabinet => {
                "a whole number from 1, sides of blocks such as 4x4, a file ending in .csv, metis:16, fit, \
                              or own"
                    .to_owned()
            }
            Self::Sides => "whole numbers from 1 up, as in 16x16x8".to_owned(),
            Self::Network => "a network in brackets".to_owned(),
            Self::Layout => "a layout in brackets".to_owned(),
            Self::Or(word, kind) => format!("{}, or {word}", kind.wanted()),
            Self::Text(form) | Self::List(form) => form.to_owned(),
        }
    }

    /// True if `text` is a value of this type. What a name in brackets, a cabinet or a text of its own states is checked
    /// by those who read it.
    pub fn allows(self, text: &str) -> bool {
        match self {
            Self::Int(least, most) => text.parse::<u64>().is_ok_and(|number| (least..=most).contains(&number)),
            Self::Real(least, most) => text.parse::<f64>().is_ok_and(|number| (least..=most).contains(&number)),
            Self::Above(most) => text.parse::<f64>().is_ok_and(|number| number > 0.0 && number <= most),
            Self::Part => values::fraction(text).is_some_and(|part| (0.0..=1.0).contains(&part)),
            Self::Choice(words) => words.contains(&text),
            Self::Bytes => values::bytes(text).is_some(),
            Self::Rate => values::rate(text).is_some(),
            Self::Time(_) => values::seconds(text).is_some(),
            Self::Delay(_) => values::seconds(text).is_some_and(|time| time > 0.0),
            Self::Metres(most) => text.parse::<f64>().is_ok_and(|metres| (0.0..=most).contains(&metres)),
            Self::Flag => matches!(text, "true" | "false"),
            Self::Sides => grammar::sides(text).all(|side| side.parse::<u32>().is_ok_and(|side| side > 0)),
            Self::Or(word, kind) => text == word || kind.allows(text),
            Self::File
            | Self::Host
            | Self::Machine
            | Self::Cabinet
            | Self::Network
            | Self::Layout
            | Self::Text(_)
            | Self::List(_) => !text.is_empty(),
        }
    }

    /// The file that a value names, if it names one; files of networks and layouts in brackets are theirs.
    pub fn file(self, text: &str) -> Option<&str> {
        match self {
            Self::File => Some(text),
            Self::Cabinet => is_table(text).then_some(text),
            Self::Host | Self::Machine => text.ends_with(".toml").then_some(text),
            _ => None,
        }
    }
}

/// True if the value of a `cabinet` is the path of a table.
pub fn is_table(cabinet: &str) -> bool {
    cabinet.ends_with(".csv")
}

/// "'a', 'b' or 'c'".
fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} or {last}", first.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn each_type_allows_its_values_alone() {
        let cases: &[(Kind, &[&str], &[&str])] = &[
            (Kind::Int(1, 8), &["1", "8"], &["0", "9", "-1", "1.5", "", "x", "99999999999999999999"]),
            (Kind::SEED, &["0", "18446744073709551615"], &["-1", "18446744073709551616"]),
            (Kind::count(2), &["2", "4294967295"], &["1", "4294967296"]),
            (Kind::Real(0.0, 2.0), &["0", "1.5", "2e0"], &["-0.1", "2.1", "nan", "inf", "x"]),
            (Kind::Above(2.0), &["0.1", "2"], &["0", "2.1", "nan", "-1"]),
            (Kind::Part, &["0", "1", "0.5", "100%", "0%"], &["1.01", "101%", "-1%", "%", "half"]),
            (Kind::Choice(&["a", "b"]), &["a", "b"], &["c", "", "A"]),
            (Kind::Bytes, &["64", "64KiB"], &["0", "64Kib"]),
            (Kind::Rate, &["10Gb/s"], &["10", "0Gb/s"]),
            (Kind::Time("5us"), &["5us", "0s"], &["5", "-1s"]),
            (Kind::Delay("5us"), &["5us", "0.1ns"], &["5", "-1s", "0s", "0ns"]),
            (Kind::Metres(10.0), &["0", "1.5"], &["-1", "11", "inf", "short"]),
            (Kind::Flag, &["true", "false"], &["yes", ""]),
            (Kind::Sides, &["4", "4x4", "2x3x4"], &["4x", "x4", "0x4", "4xx4", "4X4"]),
            (Kind::Or("none", &Kind::Int(1, 8)), &["none", "8"], &["9", "None"]),
            (Kind::File, &["a,b.csv"], &[""]),
        ];
        for (kind, good, bad) in cases {
            for text in *good {
                assert!(kind.allows(text), "{kind:?} allows {text}");
            }
            for text in *bad {
                assert!(!kind.allows(text), "{kind:?} does not allow {text}");
            }
        }
    }

    #[test]
    fn what_is_wanted_reads_as_the_end_of_a_sentence() {
        assert_eq!(Kind::count(1).wanted(), "a whole number from 1 up");
        assert_eq!(Kind::Int(1, 64).wanted(), "a whole number from 1 to 64");
        assert_eq!(Kind::Choice(&["on", "off", "auto"]).wanted(), "'on', 'off' or 'auto'");
        assert_eq!(Kind::Choice(&["on"]).wanted(), "'on'");
        assert_eq!(Kind::Or("none", &Kind::Metres(9.0)).wanted(), "metres, from 0 to 9, or none");
    }
}
