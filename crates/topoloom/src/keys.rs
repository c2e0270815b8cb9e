//! What users type behind a name, `name:key=value,…`, or an argument there such as the name of a file: of traffic
//! patterns, applications and mappings.

use std::fmt::Display;

use crate::error::{Error, Result, unknown};

/// The argument of a name that is the path of a file.
pub(crate) const FILE: &str = "FILE";

/// The file that `rest`, what stands behind a name's colon, is, if the name takes one.
pub(crate) fn file(argument: Option<&str>, rest: &str) -> Vec<String> {
    if argument == Some(FILE) && !rest.is_empty() { vec![rest.to_owned()] } else { Vec::new() }
}

/// What can be asked for by name, as far as its keys go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named {
    /// What it is, in a sentence: "the traffic".
    pub noun: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The keys it takes, with their meaning.
    pub keys: &'static [(&'static str, &'static str)],
    /// What stands behind the name instead of keys, such as FILE.
    pub argument: Option<&'static str>,
    /// The error that a mistake becomes.
    pub wrong: fn(String) -> Error,
}

/// The keys that are given behind a name.
#[derive(Debug)]
pub(crate) struct Keys<'a> {
    name: &'static str,
    wrong: fn(String) -> Error,
    given: Vec<(&'a str, &'a str)>,
    argument: &'a str,
}

impl<'a> Keys<'a> {
    /// Reads `rest`, what stands behind the colon.
    pub fn read(named: Named, rest: &'a str) -> Result<Self> {
        let Named { noun, name, keys, argument, wrong } = named;
        let mut this = Self { name, wrong, given: Vec::new(), argument: "" };
        if let Some(argument) = argument {
            if rest.is_empty() {
                return Err(this.mistake(format_args!("needs a {argument}, as in {name}:{argument}")));
            }
            this.argument = rest;
            return Ok(this);
        }
        for item in items(rest) {
            let (key, value) = item.split_once('=').unwrap_or((item, ""));
            if keys.is_empty() {
                return Err(wrong(format!("{noun} '{name}' takes no keys, but '{key}' is given")));
            }
            if !keys.iter().any(|(known, _)| *known == key) {
                let known = keys.iter().map(|(known, _)| *known);
                return Err(wrong(unknown(format_args!("key of {name}"), key, known)));
            }
            if this.value(key).is_some() {
                return Err(this.mistake(format_args!("{key} is given twice")));
            }
            this.given.push((key, value));
        }
        Ok(this)
    }

    /// For a file that is read under a name of its own.
    pub fn file(name: &'static str, wrong: fn(String) -> Error, path: &'a str) -> Self {
        Self { name, wrong, given: Vec::new(), argument: path }
    }

    /// A mistake, as the rest of a sentence.
    pub fn mistake(&self, what: impl Display) -> Error {
        (self.wrong)(format!("{}: {what}", self.name))
    }

    /// What stands behind the colon where that is an argument.
    pub fn argument(&self) -> &'a str {
        self.argument
    }

    /// The value of a key, if it is given.
    pub fn value(&self, key: &str) -> Option<&'a str> {
        self.given.iter().find(|(k, _)| *k == key).map(|(_, value)| *value)
    }

    /// True if a flag is given.
    pub fn flag(&self, key: &str) -> Result<bool> {
        match self.value(key) {
            None => Ok(false),
            Some("" | "true") => Ok(true),
            Some("false") => Ok(false),
            Some(other) => Err(self.mistake(format_args!("{key} is '{other}'; it must be true or false"))),
        }
    }

    /// A whole number.
    pub fn number(&self, key: &str) -> Result<Option<u64>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let read = value.parse::<u64>();
        read.map(Some).map_err(|_| {
            self.mistake(format_args!("{key} is '{value}'; it must be a whole number from 0 to {}", u64::MAX))
        })
    }

    /// A whole number from 1 up.
    pub fn positive(&self, key: &str) -> Result<Option<u32>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let read = value.parse::<u32>().ok().filter(|number| *number > 0);
        read.map(Some).ok_or_else(|| {
            self.mistake(format_args!("{key} is '{value}'; it must be a whole number from 1 to {}", u32::MAX))
        })
    }

    /// Whole numbers from 1 up with an x between them, as in 16x16x8.
    pub fn sides(&self, key: &str) -> Result<Option<Vec<u32>>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let sides = value.split('x').map(|side| side.parse::<u32>().ok().filter(|side| *side > 0));
        sides.collect::<Option<Vec<u32>>>().map(Some).ok_or_else(|| {
            self.mistake(format_args!("{key} is '{value}'; it must be whole numbers from 1 up, as in 16x16x8"))
        })
    }

    /// One of several words; the first unless given.
    pub fn choice(&self, key: &str, words: &[&'static str]) -> Result<&'static str> {
        let Some(value) = self.value(key) else { return Ok(words[0]) };
        let found = words.iter().find(|word| **word == value).copied();
        found.ok_or_else(|| self.mistake(unknown(format_args!("value of {key}"), value, words.iter().copied())))
    }

    /// A part of 1.
    pub fn part(&self, key: &str) -> Result<Option<f64>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match fraction(value) {
            Some(part) if (0.0..=1.0).contains(&part) => Ok(Some(part)),
            _ => Err(self.mistake(format_args!("{key} is '{value}'; it must be from 0 to 1, or from 0% to 100%"))),
        }
    }
}

/// A finite number, or one in percent.
pub(crate) fn fraction(text: &str) -> Option<f64> {
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.parse::<f64>().ok()? / 100.0,
        None => text.parse().ok()?,
    };
    number.is_finite().then_some(number)
}

/// The items between commas; one that begins with a digit belongs to the list of the one before.
fn items(rest: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let mut start = 0;
    for (comma, _) in rest.match_indices(',').chain([(rest.len(), "")]) {
        if !rest[comma..].trim_start_matches(',').starts_with(|c: char| c.is_ascii_digit()) {
            items.push(&rest[start..comma]);
            start = comma + 1;
        }
    }
    items.retain(|item| !item.is_empty());
    items
}

/// A number of bytes, one at least: `64`, `64B`, `64kB`, `64KiB`, `1.5MiB`, `2GB`, `1GiB`; units of bits are refused.
pub(crate) fn bytes(text: &str) -> Option<u64> {
    const UNITS: [(&str, u64); 8] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("kB", 1_000),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("B", 1),
    ];
    let (digits, unit) = UNITS
        .iter()
        .find_map(|(unit, factor)| text.strip_suffix(unit).map(|digits| (digits.trim_end(), *factor)))
        .unwrap_or((text, 1));
    let exact = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    let read = exact.or_else(|| {
        // Anything but a plain number, such as 1e9 or inf, is no size.
        let plain = digits.chars().all(|c| c.is_ascii_digit() || c == '.');
        let number = digits.parse::<f64>().ok().filter(|_| plain)? * unit as f64;
        (number < 1e18 && number.fract() == 0.0).then_some(number as u64)
    });
    read.filter(|bytes| *bytes > 0)
}

/// A time with its unit, from 0 up.
pub(crate) fn seconds(text: &str) -> Option<f64> {
    let units = [("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    let (digits, unit) = units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))?;
    let time = digits.trim_end().parse::<f64>().ok()? * unit;
    (time.is_finite() && time >= 0.0).then_some(time)
}

/// Bytes a second: `10Gb/s`, `400Gbit/s`, `12.5GB/s`, `100MB/s`.
pub(crate) fn rate(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 9] = [
        ("Gbit/s", 1e9 / 8.0),
        ("Mbit/s", 1e6 / 8.0),
        ("Tbit/s", 1e12 / 8.0),
        ("Gb/s", 1e9 / 8.0),
        ("Mb/s", 1e6 / 8.0),
        ("Tb/s", 1e12 / 8.0),
        ("GB/s", 1e9),
        ("MB/s", 1e6),
        ("TB/s", 1e12),
    ];
    let (digits, unit) = UNITS.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))?;
    let rate = digits.trim_end().parse::<f64>().ok()? * unit;
    (rate > 0.0 && rate.is_finite()).then_some(rate)
}

#[cfg(test)]
mod tests {
    use super::{bytes, rate};

    #[test]
    fn sizes_have_units_of_bytes() {
        let read = ["64", "64B", "64KiB", "1.5MiB", "2GB", "3 kB"].map(bytes);
        assert_eq!(read, [64, 64, 65_536, 1_572_864, 2_000_000_000, 3_000].map(Some));
        for wrong in ["0", "0KiB", "", "KiB", "64Kib", "64 Mb", "-1", "1e3", "inf", "0.3B", "99999999999GiB"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn rates_tell_bits_from_bytes() {
        let read = ["10Gb/s", "10 Gbit/s", "12.5GB/s", "800Mb/s"].map(rate);
        assert_eq!(read, [1.25e9, 1.25e9, 12.5e9, 1e8].map(Some));
        for wrong in ["10", "10Gb", "0Gb/s", "-1GB/s", "infGB/s", "nanGb/s", "Gb/s"] {
            assert_eq!(rate(wrong), None, "{wrong}");
        }
    }
}
