//! How a user asks for a layout: `rack:units=48,kw=20`, or `cabinet=16,width=0.6,depth=2.1,overhead=4,inside=2`.

use super::Packing;
use super::racks::{Order, Racking};
use crate::catalogue::grammar::{split_optional_head, weighted};
use crate::catalogue::{Alone, Arguments, Entry, Key, Kind, Lead, Name};
use crate::error::{Error, Result, unknown};

/// The keys of a layout. The values that they have unless given are those of [`PRESETS`].
pub const KEYS: &[Key] = &[
    Key::new("units", Kind::count(1), "rack units of a rack; without rack as many as its routers need"),
    Key::new("kw", Kind::Above(MOST_UNITS), "kW that a rack can power and cool"),
    Key::new("router-units", Kind::count(1), "rack units of a router"),
    Key::new(
        "node-units",
        Kind::Real(0.0, MOST_UNITS),
        "rack units of a node, a terminal: 0.5 where four nodes share two units",
    ),
    Key::new(
        "router-kw",
        Kind::Real(0.0, MOST_UNITS),
        "kW of a router, for the limit kw only: the price list states what it draws",
    ),
    Key::new("node-kw", Kind::Real(0.0, MOST_UNITS), "kW of a node, for the limit kw only"),
    Key::new("max-routers", Kind::Or("none", &Kind::count(1)), "routers of a rack at most, or none"),
    Key::new("max-nodes", Kind::Or("none", &Kind::count(1)), "nodes of a rack at most, or none"),
    Key::new("order", Kind::Choice(Order::NAMES), Order::DOC),
    Key::new("cabinet", Kind::Cabinet, Packing::DOC),
    Key::new(
        "nodes",
        Kind::count(1),
        "terminals per node-only cabinet (default: terminals share the cabinets of their routers)",
    ),
    Key::new("width", Kind::Metres(MOST_M), "metres from a rack to the next one in its row"),
    Key::new(
        "depth",
        Kind::Metres(MOST_M),
        "metres from the front of a rack to its back; without aisle, from a row to the next one",
    ),
    Key::new(
        "aisle",
        Kind::Text("metres, from 0 to 10000, or two as in 1:1.2"),
        "metres of the aisle behind a row, or two that alternate, hot and cold, as 1:1.2",
    ),
    Key::new(
        "rows",
        Kind::Or(Rows::SQUARE, &Kind::count(1)),
        "rows of racks (default: as the columns need); square: the square root of their number, rounded up",
    ),
    Key::new("columns", Kind::count(1), "racks of a row (default: a floor as near to a square as possible)"),
    Key::new(
        "overhead",
        Kind::Metres(MOST_M),
        "metres that a cable between racks needs beside its way on the floor, both ends together",
    ),
    Key::new(
        "inside",
        Kind::Metres(MOST_M),
        "metres of a cable between two routers of a rack (default: of rack 1.5, else the family's, or 2)",
    ),
    Key::new(
        "terminal",
        Kind::Or("none", &Kind::Metres(MOST_M)),
        "metres of a cable to a terminal in the rack of its router, or none to leave all cables of terminals out",
    ),
    Key::new(
        "place",
        Kind::Choice(&["order", "anneal"]),
        "order: racks in order of their numbers (default); anneal: where cables are short",
    ),
    Key::new("seed", Kind::SEED, "of place=anneal (default 1)"),
    Key::new(
        "copper",
        Kind::Metres(MOST_M),
        "metres up to which cables are copper, and optical beyond, by a price list with both (default: as the list lays them)",
    ),
];

/// The keys of racks that are filled by one rule.
const OF_RACK: &[&str] = &["kw", "router-kw", "node-kw", "max-routers", "max-nodes", "order"];

/// The keys of all other layouts.
const OF_OTHERS: &[&str] = &["cabinet", "nodes"];

/// Rules with a name, which stands first: `rack:units=48`, `permutation,place=anneal`.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// What it is about, in a line.
    pub summary: &'static str,
    /// The keys that it stands for.
    pub stands_for: &'static str,
    /// Where its numbers are from.
    pub source: &'static str,
}

impl Preset {
    /// True if it has such a key.
    pub fn takes(&self, key: &Key) -> bool {
        !(if self.name == RACK { OF_OTHERS } else { OF_RACK }).contains(&key.name)
    }
}

/// The layouts that have a name; the first is the default.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: RACK,
        summary: "the same racks for every family: routers with their nodes, as many as units and kW allow",
        stands_for: "units=42,kw=30,router-units=1,node-units=1,router-kw=0.25,node-kw=0.5,max-routers=none,max-nodes=none,\
                     width=0.6,depth=1.2,aisle=1:1.2,overhead=4,inside=1.5,terminal=1.5",
        source: "EIA-310 racks; cold aisles of TIA-942; overhead as Fujiwara et al., Swap-and-randomize; the rest assumed",
    },
    Preset {
        name: "family",
        summary: "each family's own packaging, by which its paper was priced; not comparable between families",
        stands_for: "cabinet=own,width=1,depth=1,aisle=0,overhead=2,terminal=1,router-units=1,node-units=0",
        source: "overhead: Kim, Dally and Abts, Flattened butterfly, ISCA 2007; terminals: FleX paper, section IV-A",
    },
    Preset { name: "own", summary: "the former name of family", stands_for: "", source: "as family" },
    Preset {
        name: "permutation",
        summary: "sixteen routers per cabinet, by their ids",
        stands_for: "cabinet=16,rows=square,width=0.6,depth=2.1,overhead=4,inside=2,terminal=none",
        source: "Fujiwara, Koibuchi, Matsutani and Casanova, Swap-and-randomize, section 7",
    },
    Preset {
        name: "flattened-butterfly",
        summary: "the family's own packaging in cabinets of 0.57 m x 1.44 m",
        stands_for: "width=0.57,depth=1.44,overhead=2,inside=2",
        source: "Kim, Dally and Abts, Flattened butterfly, ISCA 2007",
    },
];

/// The name of the rule that is the same for every family.
const RACK: &str = "rack";

/// How many rows of cabinets a floor has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// This many.
    Count(u32),
    /// The square root of the number of cabinets, rounded up, unless columns are given.
    Square,
}

impl Rows {
    const SQUARE: &str = "square";

    /// Reads the text after `rows=`, which its key has checked.
    fn parse(text: &str) -> Option<Self> {
        if text == Self::SQUARE { Some(Self::Square) } else { text.parse().ok().map(Self::Count) }
    }

    /// The number, if it was given as one.
    pub fn count(self) -> Option<u32> {
        match self {
            Self::Count(count) => Some(count),
            Self::Square => None,
        }
    }
}

/// What a layout follows. Lengths are in metres; `None` where the family decides.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// The text that asked for it.
    pub text: String,
    /// What racks hold, if they are filled by the rule that is the same for every family.
    pub racks: Option<Racking>,
    /// Which routers share a cabinet, without such racks.
    pub cabinet: Packing,
    /// From a cabinet to the next one in its row.
    pub width_m: f64,
    /// From a row to the next one.
    pub depth_m: f64,
    /// Rows of cabinets.
    pub rows: Option<Rows>,
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
    /// Terminals per node-only cabinet.
    pub nodes: Option<u32>,
    /// Rack units of a cabinet.
    pub units: Option<u32>,
    /// Rack units of a router.
    pub router_units: u32,
    /// Rack units of a terminal: several may share one.
    pub node_units: f64,
    /// Up to which length cables are copper; `None` where the price list decides.
    pub copper_m: Option<f64>,
}

impl Default for Rules {
    /// `rack`, as given in [`PRESETS`].
    fn default() -> Self {
        Self::parse("").expect("the default reads")
    }
}

impl Rules {
    /// The family's own packaging, a metre from place to place. The overhead of two metres is that of Kim, Dally and
    /// Abts, ISCA 2007; terminals are in the rack of their router (FleX paper, section IV-A).
    pub fn family() -> Self {
        Self {
            text: "family".to_owned(),
            racks: None,
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

    /// Reads `name`, `name:key=value,key=value`, or `key=value,key=value`, which begins with the family's own
    /// packaging; nothing is `rack`.
    ///
    /// # Errors
    /// [`Error::Config`] for a name or key that is unknown, a key that is repeated or goes with another layout, and for a
    /// value that is none.
    pub fn parse(text: &str) -> Result<Self> {
        let text = Some(text.trim()).filter(|text| !text.is_empty()).unwrap_or(RACK);
        let (name, keys) = split_optional_head(text);
        let mut rules = Self { text: text.to_owned(), ..Self::family() };
        if let Some(name) = name {
            let preset = preset(name)?;
            rules.racks = (preset.name == RACK).then(Racking::default);
            if !preset.stands_for.is_empty() {
                rules.set_all(preset.stands_for)?;
            }
        }
        if let Some(keys) = keys {
            rules.set_all(keys)?;
        }
        rules.check()?;
        Ok(rules)
    }

    /// Keys that mean nothing without another.
    fn check(&self) -> Result<()> {
        if self.racks.is_some() && self.rows == Some(Rows::Square) {
            return Err(mistake("rows=square does not go with rack, whose floor is as wide as it is deep"));
        }
        match self.units {
            None if self.cabinet == Packing::Fit => Err(mistake("cabinet=fit goes with units=N")),
            None if self.node_units > 0.0 => Err(mistake("node-units goes with units=N")),
            _ => Ok(()),
        }
    }

    /// The assumptions of the layout, in a sentence to print beside its numbers.
    pub fn assumptions(&self) -> String {
        let aisles = match self.aisles_m {
            [even, odd] if even == odd => format!("{even} m"),
            [even, odd] => format!("{even} and {odd} m in turn"),
        };
        let floor = format!("{} m x {} m on the floor, aisles of {aisles}", self.width_m, self.depth_m);
        let terminal = match self.terminal_m {
            Some(metres) => format!("{metres} m to a terminal"),
            None => "none to terminals".to_owned(),
        };
        let inside = self.inside_m.map_or_else(String::new, |metres| format!("{metres} m within a rack, "));
        let cables = format!("cables: {inside}{terminal}, {} m more than the distance between two", self.overhead_m);
        let holds = match &self.racks {
            Some(racks) => racks.words(self),
            None if self.cabinet == Packing::Own => "cabinets: each family's own packaging".to_owned(),
            None => format!("cabinets: {}", self.cabinet),
        };
        format!("{holds}; {floor}; {cables}")
    }

    /// Rack units of that many routers and terminals.
    pub(super) fn units_of(&self, routers: u32, terminals: u32) -> f64 {
        f64::from(routers) * f64::from(self.router_units) + f64::from(terminals) * self.node_units
    }

    /// True if a cabinet has room for that many rack units.
    pub(super) fn has_room(&self, units: f64) -> bool {
        self.units.is_none_or(|most| units <= f64::from(most) + 1e-9)
    }

    fn set_all(&mut self, text: &str) -> Result<()> {
        if text.is_empty() {
            return Err(mistake("'' is not key=value"));
        }
        let given = read(text)?;
        for (key, _) in given.values() {
            self.check_use(key.name)?;
        }
        self.set(&given)?;
        if given.text("place").is_some() {
            self.anneal = (given.choice("place") == "anneal").then_some(1);
        }
        match (given.int("seed"), &mut self.anneal) {
            (Some(_), None) => return Err(mistake("seed goes with place=anneal")),
            (Some(seed), Some(anneal)) => *anneal = seed,
            (None, _) => {}
        }
        Ok(())
    }

    /// Whether a key goes with the layout.
    fn check_use(&self, name: &str) -> Result<()> {
        match &self.racks {
            None if OF_RACK.contains(&name) => Err(mistake(format!("{name} goes with rack, as rack:{name}=…"))),
            Some(_) if OF_OTHERS.contains(&name) => {
                Err(mistake(format!("{name} does not go with rack, whose racks hold what their units and kW allow")))
            }
            _ => Ok(()),
        }
    }

    fn set(&mut self, given: &Arguments) -> Result<()> {
        let metres = |key: &str, before: f64| given.real(key).unwrap_or(before);
        if let Some(text) = given.text("cabinet") {
            self.cabinet = Packing::parse(text).map_err(mistake)?;
        }
        if let Some(text) = given.text("aisle") {
            self.aisles_m = aisles(text)?;
        }
        self.rows = given.text("rows").and_then(Rows::parse).or(self.rows);
        self.columns = given.count("columns").or(self.columns);
        self.width_m = metres("width", self.width_m);
        self.depth_m = metres("depth", self.depth_m);
        self.overhead_m = metres("overhead", self.overhead_m);
        self.inside_m = given.real("inside").or(self.inside_m);
        self.terminal_m = given.unless_word("terminal").unwrap_or(self.terminal_m);
        self.nodes = given.count("nodes").or(self.nodes);
        self.units = given.count("units").or(self.units);
        self.router_units = given.count("router-units").unwrap_or(self.router_units);
        self.node_units = metres("node-units", self.node_units);
        self.copper_m = given.real("copper").or(self.copper_m);
        if let Some(racks) = &mut self.racks {
            racks.set(given);
        }
        Ok(())
    }
}

/// How the keys of a layout are read.
pub const ENTRY: Entry = Entry {
    noun: "the layout",
    name: "layout",
    lead: Lead::Nothing,
    keys: KEYS,
    shared: &[],
    alone: Alone::Mistake(""),
    wrong: Error::Config,
};

/// Reads the keys of a layout, without the optional name before them.
pub fn read(keys: &str) -> Result<Arguments<'_>> {
    Arguments::read(ENTRY, ENTRY.name, keys)
}

/// The aisles behind even and behind odd rows.
fn aisles(text: &str) -> Result<[f64; 2]> {
    let (even, odd) = weighted(text).unwrap_or((text, text));
    let metres = |text: &str| Some(text).filter(|text| Kind::Metres(MOST_M).allows(text))?.parse().ok();
    let read = metres(even).zip(metres(odd)).map(|(even, odd)| [even, odd]);
    read.ok_or_else(|| mistake(format!("aisle is {text}; it must be metres, from 0 to {MOST_M}, or two as in 1:1.2")))
}

/// The rules called `name`.
fn preset(name: &str) -> Result<&'static Preset> {
    let found = PRESETS.iter().find(|preset| preset.name == name);
    let names = || PRESETS.iter().map(|preset| preset.name);
    found.ok_or_else(|| mistake(format!("'{name}' is not key=value, and {}", unknown("preset", name, names()))))
}

/// A mistake in a layout.
pub(super) fn mistake(what: impl std::fmt::Display) -> Error {
    Error::Config(format!("layout: {what}"))
}

/// More rack units than this are a slip of the keyboard, as are more kW.
const MOST_UNITS: f64 = 1000.0;

/// Longer cables than this are a slip of the keyboard.
const MOST_M: f64 = 10_000.0;

/// Reads the name of a layout; nothing is the default.
///
/// # Errors
/// [`Error::Config`] for an unknown preset, key or value.
pub fn name(text: &str) -> Result<Name> {
    let (head, keys) = split_optional_head(text);
    let known = |head: &&str| PRESETS.iter().any(|preset| preset.name == *head);
    if let Some(head) = head.filter(|head| !head.is_empty() && !known(head)) {
        let names = PRESETS.iter().map(|preset| preset.name);
        return Err(Error::Config(format!("layout: {}", unknown("preset", head, names))));
    }
    let name = Name::of(&Arguments::read(ENTRY, ENTRY.name, keys.unwrap_or_default())?, head.unwrap_or_default())?;
    Ok(Name { canonical: name.canonical.trim_start_matches(':').to_owned(), ..name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read() {
        assert_eq!(Rules::parse("").expect("default"), Rules::default());
        assert_eq!(Rules::parse(" rack ").expect("default"), Rules::default());
        assert_eq!(Rules::parse("family").expect("reads"), Rules::family());
        assert_eq!(Rules::parse("own").expect("reads"), Rules { text: "own".to_owned(), ..Rules::family() });
        let rack = Rules::parse("rack:units=48,kw=20,max-nodes=9").expect("reads");
        let racks = rack.racks.clone().expect("racks");
        assert_eq!((rack.units, racks.kw, racks.most_nodes, racks.most_routers), (Some(48), 20.0, Some(9), None));
        assert_eq!(rack.racks, Rules::parse("rack,units=48,kw=20,max-nodes=9").expect("reads").racks);
        let rules = Rules::parse("cabinet=16, width=0.6,depth=2.1,overhead=4,inside=2,terminal=none,rows=3,columns=9");
        let expected = Rules {
            text: "cabinet=16, width=0.6,depth=2.1,overhead=4,inside=2,terminal=none,rows=3,columns=9".to_owned(),
            cabinet: Packing::Routers(16),
            width_m: 0.6,
            depth_m: 2.1,
            rows: Some(Rows::Count(3)),
            columns: Some(9),
            overhead_m: 4.0,
            inside_m: Some(2.0),
            terminal_m: None,
            ..Rules::family()
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
            ("terminal=some", "terminal is 'some'; it must be metres"),
            ("node-units=half,units=4", "node-units is 'half'; it must be a number from 0"),
            ("node-units=0.5", "node-units goes with units=N"),
            ("cabinet=fit", "cabinet=fit goes with units=N"),
            ("copper=short", "copper is 'short'; it must be metres"),
            ("rows=2.5", "rows is 2.5; it must be a whole number"),
            ("kw=20", "kw goes with rack, as rack:kw=…"),
            ("family:order=ids", "order goes with rack"),
            ("rack:cabinet=4", "cabinet does not go with rack"),
            ("rack:kw=0", "kw is 0; it must be a number above 0"),
            ("rack:kw=many", "kw is 'many'; it must be a number above 0"),
            ("rack:node-kw=-1", "node-kw is -1; it must be a number from 0"),
            ("rack:max-nodes=0", "max-nodes is 0; it must be a whole number from 1"),
            ("rack:order=best", "unknown order 'best'"),
            ("racks", "(did you mean 'rack'?)"),
            ("rack:", "'' is not key=value"),
        ] {
            let sentence = Rules::parse(text).expect_err(text).to_string();
            assert!(sentence.starts_with("layout: ") && sentence.contains(words), "{text}: {sentence}");
        }
    }
}
