//! Typed keys: what a value may be, in one place for parsing, lists, help and schemas.

use crate::keys;

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

/// What a value may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A whole number within these bounds; a bound of `u64::MAX` is none.
    Int(u64, u64),
    /// A finite number within these bounds.
    Real(f64, f64),
    /// A fraction of 1: from 0 to 1, or from 0% to 100%.
    Part,
    /// One of several words. The first is what holds unless another is given.
    Choice(&'static [&'static str]),
    /// A number of bytes with a unit, from 1 up: `64KiB`.
    Bytes,
    /// Bits or bytes a second with their unit: `400Gb/s`, `50GB/s`.
    Rate,
    /// Seconds with their unit, from 0 up: `5us`.
    Time,
    /// `true` or `false`.
    Flag,
    /// The path of a file that is read.
    File,
    /// Whole numbers from 1 up with an x between them: `16x16x8`.
    Sides,
    /// Anything else, read by its owner.
    Text,
}

impl Kind {
    /// A whole number from `least` up.
    pub const fn from(least: u64) -> Self {
        Self::Int(least, u64::MAX)
    }

    /// The type's name, as lists and schemas show it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Int(..) => "int",
            Self::Real(..) => "real",
            Self::Part => "part",
            Self::Choice(_) => "choice",
            Self::Bytes => "bytes",
            Self::Rate => "rate",
            Self::Time => "time",
            Self::Flag => "flag",
            Self::File => "file",
            Self::Sides => "sides",
            Self::Text => "text",
        }
    }

    /// What a value must be, as the end of "it must be …".
    pub fn wanted(self) -> String {
        match self {
            Self::Int(least, u64::MAX) => format!("a whole number from {least} up"),
            Self::Int(least, most) => format!("a whole number from {least} to {most}"),
            Self::Real(least, most) => format!("a number from {least} to {most}"),
            Self::Part => "from 0 to 1, or from 0% to 100%".to_owned(),
            Self::Choice(words) => listed(words),
            Self::Bytes => "a number of bytes from 1 up, as in 64KiB".to_owned(),
            Self::Rate => "a rate with its unit, as in 400Gb/s or 50GB/s".to_owned(),
            Self::Time => "a time with its unit, as in 5us".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::File => "the path of a file".to_owned(),
            Self::Sides => "whole numbers from 1 up, as in 16x16x8".to_owned(),
            Self::Text => "a text".to_owned(),
        }
    }

    /// True if `text` is a value of this type.
    pub fn allows(self, text: &str) -> bool {
        match self {
            Self::Int(least, most) => text.parse::<u64>().is_ok_and(|number| (least..=most).contains(&number)),
            Self::Real(least, most) => text.parse::<f64>().is_ok_and(|number| (least..=most).contains(&number)),
            Self::Part => keys::fraction(text).is_some_and(|part| (0.0..=1.0).contains(&part)),
            Self::Choice(words) => words.contains(&text),
            Self::Bytes => keys::bytes(text).is_some(),
            Self::Rate => keys::rate(text).is_some(),
            Self::Time => keys::seconds(text).is_some(),
            Self::Flag => matches!(text, "true" | "false"),
            Self::File | Self::Text => !text.is_empty(),
            Self::Sides => text.split('x').all(|side| side.parse::<u32>().is_ok_and(|side| side > 0)),
        }
    }
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
            (Kind::from(2), &["2", "18446744073709551615"], &["1", "18446744073709551616"]),
            (Kind::Real(0.0, 2.0), &["0", "1.5", "2e0"], &["-0.1", "2.1", "nan", "inf", "x"]),
            (Kind::Part, &["0", "1", "0.5", "100%", "0%"], &["1.01", "101%", "-1%", "%", "half"]),
            (Kind::Choice(&["a", "b"]), &["a", "b"], &["c", "", "A"]),
            (Kind::Bytes, &["64", "64KiB"], &["0", "64Kib"]),
            (Kind::Rate, &["10Gb/s"], &["10", "0Gb/s"]),
            (Kind::Time, &["5us", "0s"], &["5", "-1s"]),
            (Kind::Flag, &["true", "false"], &["yes", ""]),
            (Kind::Sides, &["4", "4x4", "2x3x4"], &["4x", "x4", "0x4", "4xx4", "4X4"]),
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
        assert_eq!(Kind::from(1).wanted(), "a whole number from 1 up");
        assert_eq!(Kind::Int(1, 64).wanted(), "a whole number from 1 to 64");
        assert_eq!(Kind::Choice(&["on", "off", "auto"]).wanted(), "'on', 'off' or 'auto'");
        assert_eq!(Kind::Choice(&["on"]).wanted(), "'on'");
    }
}
