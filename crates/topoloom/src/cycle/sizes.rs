//! How many flits packets have.

use serde::{Deserialize, Serialize};

use crate::catalogue::grammar::{list, range, weighted as split_weight};
use crate::error::{Error, Result};
use crate::rng::Rng;

/// The largest packet, in flits.
const MOST: u32 = 65_535;

/// The sizes of packets, in flits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SizesText", into = "SizesText")]
pub enum Sizes {
    /// All of one size.
    One(u32),
    /// Any size from the first to the second, all equally likely.
    Between(u32, u32),
    /// These sizes, each with its weight.
    Weighted(Vec<(u32, f64)>),
}

/// What users type, and what is in JSON: `4`, `"1-32"`, `"4:0.8,16:0.2"`.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum SizesText {
    Number(u32),
    Text(String),
}

impl Sizes {
    /// The mean size.
    pub fn mean(&self) -> f64 {
        self.expect(f64::from)
    }

    /// The mean of the squared size.
    pub fn mean_square(&self) -> f64 {
        self.expect(|size| f64::from(size).powi(2))
    }

    /// The largest size.
    pub fn largest(&self) -> u32 {
        match self {
            Self::One(size) | Self::Between(_, size) => *size,
            Self::Weighted(sizes) => sizes.iter().map(|(size, _)| *size).max().unwrap_or(1),
        }
    }

    fn expect(&self, of: impl Fn(u32) -> f64) -> f64 {
        match self {
            Self::One(size) => of(*size),
            Self::Between(first, last) => (*first..=*last).map(of).sum::<f64>() / f64::from(last - first + 1),
            Self::Weighted(sizes) => {
                let total: f64 = sizes.iter().map(|(_, weight)| weight).sum();
                sizes.iter().map(|&(size, weight)| of(size) * weight).sum::<f64>() / total
            }
        }
    }

    /// The size of a packet. Nothing is drawn if all are of one.
    #[inline(always)]
    pub fn draw(&self, rng: &mut Rng) -> u32 {
        match self {
            Self::One(size) => *size,
            Self::Between(first, last) => first + rng.below(last - first + 1),
            Self::Weighted(sizes) => weighted(sizes, rng),
        }
    }

    /// Checks the sizes.
    ///
    /// # Errors
    /// [`Error::Config`] reports what is allowed.
    pub fn check(&self) -> Result<()> {
        match self {
            Self::One(size) => possible(*size),
            Self::Between(first, last) => {
                possible(*first)?;
                possible(*last)?;
                if first > last {
                    return Err(mistake(&format!("{first}-{last}"), "the range ends before it begins"));
                }
                Ok(())
            }
            Self::Weighted(sizes) => sizes.iter().try_for_each(|(size, _)| possible(*size)),
        }
    }
}

/// One of the sizes, by their weights.
fn weighted(sizes: &[(u32, f64)], rng: &mut Rng) -> u32 {
    let total: f64 = sizes.iter().map(|(_, weight)| weight).sum();
    let mut left = rng.unit() * total;
    for &(size, weight) in sizes {
        left -= weight;
        if left <= 0.0 {
            return size;
        }
    }
    sizes[sizes.len() - 1].0
}

fn possible(size: u32) -> Result<()> {
    if (1..=MOST).contains(&size) {
        return Ok(());
    }
    Err(Error::Config(format!("packet is {size}; it must be from 1 to {MOST}")))
}

fn mistake(text: &str, what: &str) -> Error {
    Error::Config(format!("packet is '{text}'; {what}"))
}

impl TryFrom<SizesText> for Sizes {
    type Error = Error;

    fn try_from(written: SizesText) -> Result<Self> {
        let text = match written {
            SizesText::Number(size) => return Ok(Self::One(size)),
            SizesText::Text(text) => text,
        };
        let flits = |part: &str| {
            let wanted = "it must be flits, as in 4, 1-32 or 4:0.8,16:0.2";
            part.trim().parse::<u32>().map_err(|_| mistake(&text, wanted))
        };
        if text.contains(':') {
            return weights(&text, flits).map(Self::Weighted);
        }
        match range(&text) {
            Some((first, last)) => Ok(Self::Between(flits(first)?, flits(last)?)),
            None => Ok(Self::One(flits(&text)?)),
        }
    }
}

/// Reads `4:0.8,16:0.2`.
fn weights(text: &str, flits: impl Fn(&str) -> Result<u32>) -> Result<Vec<(u32, f64)>> {
    let mut sizes: Vec<(u32, f64)> = Vec::new();
    for item in list(text) {
        let (size, weight) = split_weight(item).ok_or_else(|| mistake(text, &format!("'{item}' has no weight")))?;
        let size = flits(size)?;
        let read = weight.trim().parse::<f64>().ok().filter(|w| *w > 0.0 && *w <= 1e100);
        let weight = read
            .ok_or_else(|| mistake(text, &format!("the weight of {size} must be a number above 0, at most 1e100")))?;
        if sizes.iter().any(|(other, _)| *other == size) {
            return Err(mistake(text, &format!("{size} is given twice")));
        }
        sizes.push((size, weight));
    }
    Ok(sizes)
}

impl From<Sizes> for SizesText {
    fn from(sizes: Sizes) -> Self {
        match sizes {
            Sizes::One(size) => Self::Number(size),
            Sizes::Between(first, last) => Self::Text(format!("{first}-{last}")),
            Sizes::Weighted(sizes) => {
                let items: Vec<String> = sizes.iter().map(|(size, weight)| format!("{size}:{weight}")).collect();
                Self::Text(items.join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Sizes {
        serde_json::from_str(text).expect(text)
    }

    #[test]
    fn what_is_drawn_has_the_moments_that_are_said() {
        for text in ["7", "\"1-32\"", "\"4:0.8,16:0.2\"", "\"1:3,5:1,2:2.5\"", "\"9-9\""] {
            let sizes = read(text);
            assert_eq!(serde_json::to_string(&sizes).expect("a text"), text);
            let mut rng = Rng::stream(3, 5);
            let drawn: Vec<f64> = (0..200_000).map(|_| f64::from(sizes.draw(&mut rng))).collect();
            let mean = |of: &dyn Fn(f64) -> f64| drawn.iter().map(|&size| of(size)).sum::<f64>() / 200_000.0;
            assert!((mean(&|size| size) / sizes.mean() - 1.0).abs() < 0.01, "{text}");
            assert!((mean(&|size| size * size) / sizes.mean_square() - 1.0).abs() < 0.015, "{text}");
            assert_eq!(drawn.iter().copied().fold(0.0, f64::max), f64::from(sizes.largest()));
        }
        assert!((read("\"4:0.8,16:0.2\"").mean() - 6.4).abs() < 1e-12);
        assert!((read("\"1-32\"").mean() - 16.5).abs() < 1e-12);
    }
}
