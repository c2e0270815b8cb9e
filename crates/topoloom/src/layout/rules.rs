//! How a user asks for a layout: `cabinet=16,width=0.6,depth=2.1,overhead=4,inside=2`.

use super::Packing;
use crate::error::{Error, Result, unknown};

/// The keys of a layout, with their meaning.
pub const KEYS: &[(&str, &str)] = &[
    ("cabinet", Packing::DOC),
    ("width", "metres from a cabinet to the next one in its row (default 1)"),
    ("depth", "metres from a row of cabinets to the next one (default 1)"),
    ("rows", "rows of cabinets (default: as the columns need)"),
    ("columns", "cabinets of a row (default: a floor as near to a square as can be)"),
    ("overhead", "metres that a cable between cabinets needs beside the way, both ends together (default 2)"),
    ("inside", "metres of a cable within a cabinet (default: the family's own, or 2)"),
    ("terminal", "metres of a cable to a terminal, or none to leave these cables out (default 1)"),
    ("aisle", "metres of the aisle behind a row, or two that take turns, as 1.2:0.6 (default 0: depth has it)"),
    ("place", "order: cabinets in order of their numbers (default); anneal: where cables are short"),
    ("seed", "of place=anneal (default 1)"),
    ("nodes", "terminals a node-only cabinet (default: terminals stand with their routers)"),
    ("units", "rack units of a cabinet (default: as many as its routers need)"),
    ("router-units", "rack units of a router (default 1)"),
    ("node-units", "rack units of a terminal, in cabinets of so many units (default 0: they take none)"),
    (
        "copper",
        "metres up to which cables are copper, and optical beyond, by a price list with both (default: as the list lays them)",
    ),
];

/// Rules with a name, which may stand first: `permutation,place=anneal`.
pub const PRESETS: &[(&str, &str)] = &[
    // Fujiwara, Koibuchi, Matsutani and Casanova, Swap-and-randomize, section 7.
    ("permutation", "cabinet=16,width=0.6,depth=2.1,overhead=4,inside=2,terminal=none"),
    // Kim, Dally and Abts, Flattened butterfly, ISCA 2007: cabinets of 0.57 x 1.44 m, 2 m of overhead.
    ("flattened-butterfly", "width=0.57,depth=1.44,overhead=2,inside=2"),
];

/// What a layout follows. Lengths are in metres; `None` where the family decides.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// The text that asked for it.
    pub text: String,
    /// Which routers share a cabinet.
    pub cabinet: Packing,
    /// From a cabinet to the next one in its row.
    pub width_m: f64,
    /// From a row to the next one.
    pub depth_m: f64,
    /// Rows of cabinets.
    pub rows: Option<u32>,
    /// Cabinets of a row.
    pub columns: Option<u32>,
    /// What a cable between cabinets needs beside the way.
    pub overhead_m: f64,
    /// A cable within a cabinet.
    pub inside_m: Option<f64>,
    /// A cable to a terminal; `None` leaves these cables out.
    pub terminal_m: Option<f64>,
    /// Behind even and behind odd rows.
    pub aisles_m: [f64; 2],
    /// The seed, if cabinets are placed by annealing.
    pub anneal: Option<u64>,
    /// Terminals a node-only cabinet.
    pub nodes: Option<u32>,
    /// Rack units of a cabinet.
    pub units: Option<u32>,
    /// Rack units of a router.
    pub router_units: u32,
    /// Rack units of a terminal: several may share one.
    pub node_units: f64,
    /// Up to which length cables are copper; `None` where the price list says.
    pub copper_m: Option<f64>,
}

impl Default for Rules {
    /// The family's own packaging, a metre from place to place. The overhead of two metres is that of Kim, Dally and
    /// Abts, ISCA 2007; terminals stand in the rack of their router (FleX paper, section IV-A).
    fn default() -> Self {
        Self {
            text: "own".to_owned(),
            cabinet: Packing::Own,
            width_m: 1.0,
            depth_m: 1.0,
            rows: None,
            columns: None,
            overhead_m: 2.0,
            inside_m: None,
            terminal_m: Some(1.0),
            aisles_m: [0.0; 2],
            anneal: None,
            nodes: None,
            units: None,
            router_units: 1,
            node_units: 0.0,
            copper_m: None,
        }
    }
}

impl Rules {
    /// Reads `key=value,key=value`; nothing, or `own`, is the family's own packaging.
    ///
    /// # Errors
    /// [`Error::Config`] for a key that is unknown or repeated, and for a value that is none.
    pub fn parse(text: &str) -> Result<Self> {
        let mut rules = Self::default();
        let text = text.trim();
        if text.is_empty() || text == "own" {
            return Ok(rules);
        }
        text.clone_into(&mut rules.text);
        let (name, rest) = text.split_once(',').map_or((text, None), |(name, rest)| (name, Some(rest)));
        match preset(name.trim())? {
            Some(preset) => {
                rules.set_all(preset)?;
                rest.map_or(Ok(()), |rest| rules.set_all(rest))?;
            }
            None => rules.set_all(text)?,
        }
        rules.check()?;
        Ok(rules)
    }

    /// Keys that mean nothing without another.
    fn check(&self) -> Result<()> {
        match self.units {
            None if self.cabinet == Packing::Fit => Err(mistake("cabinet=fit goes with units=N")),
            None if self.node_units > 0.0 => Err(mistake("node-units goes with units=N")),
            _ => Ok(()),
        }
    }

    /// Rack units of so many routers and terminals.
    pub(super) fn units_of(&self, routers: u32, terminals: u32) -> f64 {
        f64::from(routers) * f64::from(self.router_units) + f64::from(terminals) * self.node_units
    }

    /// True if a cabinet has room for so many rack units.
    pub(super) fn has_room(&self, units: f64) -> bool {
        self.units.is_none_or(|most| units <= f64::from(most) + 1e-9)
    }

    fn set_all(&mut self, text: &str) -> Result<()> {
        let (mut seen, mut seed) = (Vec::new(), None);
        for item in text.split(',').map(str::trim) {
            let (key, value) = item
                .split_once('=')
                .map(|(key, value)| (key.trim(), value.trim()))
                .filter(|(_, value)| !value.is_empty())
                .ok_or_else(|| mistake(format!("'{item}' is not key=value")))?;
            if seen.contains(&key) {
                return Err(mistake(format!("{key} is given twice")));
            }
            seen.push(key);
            if key == "seed" {
                seed = Some(value.parse().map_err(|_| mistake(format!("seed is {value}; it must be a whole number")))?);
            } else {
                self.set(key, value)?;
            }
        }
        match (seed, &mut self.anneal) {
            (Some(_), None) => Err(mistake("seed goes with place=anneal")),
            (Some(seed), Some(anneal)) => {
                *anneal = seed;
                Ok(())
            }
            (None, _) => Ok(()),
        }
    }

    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        match key {
            "cabinet" => self.cabinet = Packing::parse(value).map_err(mistake)?,
            "rows" => self.rows = Some(count(key, value)?),
            "columns" => self.columns = Some(count(key, value)?),
            "width" => self.width_m = metres(key, value)?,
            "depth" => self.depth_m = metres(key, value)?,
            "overhead" => self.overhead_m = metres(key, value)?,
            "inside" => self.inside_m = Some(metres(key, value)?),
            "terminal" => self.terminal_m = if value == "none" { None } else { Some(metres(key, value)?) },
            "aisle" => {
                let (even, odd) = value.split_once(':').unwrap_or((value, value));
                self.aisles_m = [metres(key, even)?, metres(key, odd)?];
            }
            "place" => {
                self.anneal = match value {
                    "order" => None,
                    "anneal" => Some(1),
                    _ => return Err(mistake(unknown("place", value, ["order", "anneal"]))),
                }
            }
            "nodes" => self.nodes = Some(count(key, value)?),
            "units" => self.units = Some(count(key, value)?),
            "router-units" => self.router_units = count(key, value)?,
            "node-units" => {
                let units = value.parse().ok().filter(|units| (0.0..=1000.0).contains(units));
                let wrong = || mistake(format!("node-units is {value}; it must be a number from 0 to 1000, as 0.5"));
                self.node_units = units.ok_or_else(wrong)?;
            }
            "copper" => self.copper_m = Some(metres(key, value)?),
            _ => return Err(mistake(unknown("key", key, KEYS.iter().map(|(name, _)| name)))),
        }
        Ok(())
    }
}

/// The rules called `name`; none if it is no name.
fn preset(name: &str) -> Result<Option<&'static str>> {
    if name.contains('=') {
        return Ok(None);
    }
    let found = PRESETS.iter().find(|(known, _)| *known == name);
    let names = PRESETS.iter().map(|(known, _)| *known).chain(["own"]);
    let refused = || mistake(format!("'{name}' is not key=value, and {}", unknown("preset", name, names)));
    found.map(|&(_, text)| Some(text)).ok_or_else(refused)
}

/// A mistake in a layout.
pub(super) fn mistake(what: impl std::fmt::Display) -> Error {
    Error::Config(format!("layout: {what}"))
}

fn count(key: &str, value: &str) -> Result<u32> {
    let number = value.parse().ok().filter(|&number| number > 0);
    number.ok_or_else(|| mistake(format!("{key} is {value}; it must be a whole number from 1")))
}

/// Longer cables than this are a slip of the keyboard.
const MOST_M: f64 = 10_000.0;

fn metres(key: &str, value: &str) -> Result<f64> {
    let number = value.parse().ok().filter(|metres| (0.0..=MOST_M).contains(metres));
    number.ok_or_else(|| mistake(format!("{key} is {value}; it must be metres, from 0 to {MOST_M}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read() {
        assert_eq!(Rules::parse("").expect("default"), Rules::default());
        assert_eq!(Rules::parse(" own ").expect("default"), Rules::default());
        let rules = Rules::parse("cabinet=16, width=0.6,depth=2.1,overhead=4,inside=2,terminal=none,rows=3,columns=9");
        let expected = Rules {
            text: "cabinet=16, width=0.6,depth=2.1,overhead=4,inside=2,terminal=none,rows=3,columns=9".to_owned(),
            cabinet: Packing::Routers(16),
            width_m: 0.6,
            depth_m: 2.1,
            rows: Some(3),
            columns: Some(9),
            overhead_m: 4.0,
            inside_m: Some(2.0),
            terminal_m: None,
            ..Rules::default()
        };
        assert_eq!(rules.expect("reads"), expected);
    }

    #[test]
    fn mistakes_are_sentences() {
        for (text, words) in [
            ("cabinets=4", "unknown key 'cabinets' (did you mean 'cabinet'?)"),
            ("cabinet=0", "cabinet is 0; it must be a whole number from 1"),
            ("cabinet", "'cabinet' is not key=value"),
            ("width=1,width=2", "width is given twice"),
            ("width=-1", "width is -1; it must be metres"),
            ("depth=inf", "depth is inf; it must be metres"),
            ("terminal=some", "terminal is some; it must be metres"),
            ("node-units=half,units=4", "node-units is half; it must be a number from 0"),
            ("node-units=0.5", "node-units goes with units=N"),
            ("cabinet=fit", "cabinet=fit goes with units=N"),
            ("copper=short", "copper is short; it must be metres"),
            ("rows=2.5", "rows is 2.5; it must be a whole number"),
        ] {
            let sentence = Rules::parse(text).expect_err(text).to_string();
            assert!(sentence.starts_with("layout: ") && sentence.contains(words), "{text}: {sentence}");
        }
    }
}
