//! Price lists: data, one file a list in `prices/`, and lists of the user's own in the same form.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, unknown};

/// What routers, network interfaces and cables cost and draw. k is the number of ports of a router that are in use,
/// terminals included. What a list leaves out is free and draws nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceList {
    /// Its name.
    pub name: String,
    /// What it is about, in a line.
    #[serde(default)]
    pub summary: String,
    /// Where the prices are from.
    pub source: String,
    /// The bandwidth of a port, which prices per Gb/s are multiplied by.
    #[serde(default)]
    pub port_gbps: f64,
    /// Routers.
    pub router: RouterPrice,
    /// Routers that share a board with the one terminal that they have; nothing: as any other router.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<RouterPrice>,
    /// Network interfaces, one a terminal.
    #[serde(default)]
    pub nic: NicPrice,
    /// The kinds of cable that there are. The cheapest that reaches is taken. None: cables are measured, not priced.
    pub cables: Vec<CableKind>,
}

/// What a router costs and draws: a line in k.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RouterPrice {
    /// Each router. It may be below zero, as the constant of a fitted line, if ports cost something.
    pub usd: f64,
    /// Each port in use.
    pub usd_per_port: f64,
    /// Each router draws this …
    pub w: f64,
    /// … and this for each port in use.
    pub w_per_port: f64,
}

/// What the network interface of a terminal costs and draws.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NicPrice {
    /// Each interface.
    pub usd: f64,
    /// What it draws.
    pub w: f64,
}

/// Where a kind of cable may be laid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CablePlace {
    /// Everywhere.
    #[default]
    Any,
    /// Within a cabinet only.
    Cabinet,
    /// Between cabinets only.
    Floor,
}

/// A kind of cable. A cable of x metres costs usd + usd_per_m x + port_gbps (usd_per_gbps + usd_per_gbps_m x).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CableKind {
    /// Its name, such as `copper`.
    pub kind: String,
    /// Where it may be laid.
    #[serde(default)]
    pub place: CablePlace,
    /// True of cables that carry electric signals: a layout can ask for these up to a length, and for others beyond.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub copper: bool,
    /// The longest that there is, in metres; none: as long as need be.
    #[serde(default)]
    pub reach_m: Option<f64>,
    /// The lengths that are sold, in metres; empty: every length. A cable is bought in the shortest that will do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lengths_m: Vec<f64>,
    /// Each cable.
    #[serde(default)]
    pub usd: f64,
    /// Each metre.
    #[serde(default)]
    pub usd_per_m: f64,
    /// Each Gb/s.
    #[serde(default)]
    pub usd_per_gbps: f64,
    /// Each Gb/s and metre.
    #[serde(default)]
    pub usd_per_gbps_m: f64,
    /// What an active cable draws, both ends together.
    #[serde(default)]
    pub w: f64,
}

/// The cable that is bought to lay one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CablePurchase {
    /// Its kind, by its place in the price list.
    pub kind: usize,
    /// Its length, in metres: what is needed, or the next length that is sold.
    pub length_m: f64,
    /// What it costs.
    pub usd: f64,
}

/// Lengths are sums of steps, and may be off in their last digit: less than this is none.
const SLACK_M: f64 = 1e-6;

impl CableKind {
    /// The shortest cable of this kind that is `length_m` long, in metres; `None` if all are shorter.
    fn bought_m(&self, length_m: f64) -> Option<f64> {
        if self.reach_m.is_some_and(|reach| length_m > reach + SLACK_M) {
            return None;
        }
        if self.lengths_m.is_empty() {
            return Some(length_m);
        }
        self.lengths_m.iter().copied().filter(|sold| length_m <= sold + SLACK_M).min_by(f64::total_cmp)
    }
}

/// The lists that come with the program; the first is the default.
static LISTS: LazyLock<Vec<PriceList>> = LazyLock::new(|| {
    [
        include_str!("prices/edr-flex.json"),
        include_str!("prices/fdr10-slimfly.json"),
        include_str!("prices/galaxyfly.json"),
        include_str!("prices/multitier.json"),
    ]
    .map(|text| PriceList::from_json(text).expect("a test reads the lists"))
    .into()
});

impl PriceList {
    /// The lists that come with the program, the default one first.
    pub fn all() -> &'static [PriceList] {
        &LISTS
    }

    /// The list called `name`; the default one if `name` is empty.
    ///
    /// # Errors
    /// [`Error::Config`] if there is none.
    pub fn named(name: &str) -> Result<&'static PriceList> {
        if name.is_empty() {
            return Ok(Default::default());
        }
        let names = || Self::all().iter().map(|list| &list.name);
        let found = Self::all().iter().find(|list| list.name == name);
        found.ok_or_else(|| Error::Config(unknown("price list", name, names())))
    }

    /// The list that `text` names, or is: a JSON object is a list of the user's own.
    ///
    /// # Errors
    /// As [`PriceList::named`] and [`PriceList::from_json`].
    pub fn read(text: &str) -> Result<PriceList> {
        if text.trim_start().starts_with('{') { Self::from_json(text) } else { Self::named(text).cloned() }
    }

    /// A list of the user's own, as JSON.
    ///
    /// # Errors
    /// [`Error::Config`] if it lacks a price, has an unknown one, or one that is negative or no number.
    pub fn from_json(text: &str) -> Result<PriceList> {
        let list: PriceList = serde_json::from_str(text)
            .map_err(|error| Error::Config(format!("the price list does not read: {error}")))?;
        list.check()?;
        Ok(list)
    }

    fn mistake(&self, what: impl std::fmt::Display) -> Error {
        Error::Config(format!("price list {}: {what}", self.name))
    }

    fn check(&self) -> Result<()> {
        self.check_router("router", self.router)?;
        self.check_router("board", self.board.unwrap_or_default())?;
        let NicPrice { usd: nic_usd, w: nic_w } = self.nic;
        let own = [("nic.usd", nic_usd), ("nic.w", nic_w), ("port_gbps", self.port_gbps)];
        own.iter().try_for_each(|&(name, price)| self.bounded(name, price, 0.0))?;
        for (place, cable) in self.cables.iter().enumerate() {
            self.check_cable(cable)?;
            if self.cables[..place].iter().any(|other| other.kind == cable.kind) {
                return Err(self.mistake(format!("the kind of cable '{}' is there twice", cable.kind)));
            }
        }
        Ok(())
    }

    fn check_router(&self, name: &str, RouterPrice { usd, usd_per_port, w, w_per_port }: RouterPrice) -> Result<()> {
        let least = if usd_per_port > 0.0 { f64::MIN } else { 0.0 };
        self.bounded(&format!("{name}.usd"), usd, least)?;
        let others = [("usd_per_port", usd_per_port), ("w", w), ("w_per_port", w_per_port)];
        others.iter().try_for_each(|(key, price)| self.bounded(&format!("{name}.{key}"), *price, 0.0))
    }

    fn check_cable(&self, cable: &CableKind) -> Result<()> {
        let prices = [
            ("usd", cable.usd),
            ("usd_per_m", cable.usd_per_m),
            ("usd_per_gbps", cable.usd_per_gbps),
            ("usd_per_gbps_m", cable.usd_per_gbps_m),
            ("w", cable.w),
            ("reach_m", cable.reach_m.unwrap_or(0.0)),
        ];
        for (name, price) in prices {
            self.bounded(&format!("{name} of the cable '{}'", cable.kind), price, 0.0)?;
        }
        for &sold in &cable.lengths_m {
            self.bounded(&format!("a length in lengths_m of the cable '{}'", cable.kind), sold, 0.0)?;
        }
        if cable.usd_per_gbps.max(cable.usd_per_gbps_m) > 0.0 && self.port_gbps == 0.0 {
            return Err(self.mistake(format!("the cable '{}' is priced per Gb/s; port_gbps is missing", cable.kind)));
        }
        Ok(())
    }

    fn bounded(&self, name: &str, price: f64, least: f64) -> Result<()> {
        if price >= least && price.is_finite() {
            return Ok(());
        }
        Err(self.mistake(format!("{name} is {price}; it must not be negative")))
    }

    /// True of a router that has so many terminals and shares a board with them.
    pub(super) fn is_board(&self, terminals: usize) -> bool {
        self.board.is_some() && terminals == 1
    }

    /// What a router with `ports` ports in use, `terminals` of them terminals', costs.
    ///
    /// # Errors
    /// [`Error::Config`] if the line of the prices is below zero there.
    pub fn router_usd(&self, ports: usize, terminals: usize) -> Result<f64> {
        let price = self.board.filter(|_| self.is_board(terminals)).unwrap_or(self.router);
        let usd = price.usd + price.usd_per_port * ports as f64;
        if usd >= 0.0 {
            return Ok(usd);
        }
        Err(self.mistake(format!(
            "a router with {ports} ports would cost {usd:.2} $; the line {} k {:+} $ is for routers of more ports",
            price.usd_per_port, price.usd
        )))
    }

    /// What a cable of a kind and a length costs.
    fn cable_usd(&self, cable: &CableKind, length_m: f64) -> f64 {
        cable.usd + cable.usd_per_m * length_m + self.port_gbps * (cable.usd_per_gbps + cable.usd_per_gbps_m * length_m)
    }

    /// The cheapest cable that is long enough; `None` if the list has no cables. With `copper_m`, cables up to that length
    /// are of copper and longer ones are not, wherever the list would lay them.
    ///
    /// # Errors
    /// [`Error::Config`] if the list has cables and none is long enough, or has not both kinds where `copper_m` asks.
    pub fn cheapest_cable(
        &self,
        length_m: f64,
        within_cabinet: bool,
        copper_m: Option<f64>,
    ) -> Result<Option<CablePurchase>> {
        if let Some(most) = copper_m.filter(|_| !self.has_both()) {
            return Err(self.lacks_a_kind(most));
        }
        let of_copper = copper_m.map(|most| length_m <= most + SLACK_M);
        let may_lie = |cable: &CableKind| match (of_copper, cable.place) {
            (Some(of_copper), _) => cable.copper == of_copper,
            (None, CablePlace::Any) => true,
            (None, CablePlace::Cabinet) => within_cabinet,
            (None, CablePlace::Floor) => !within_cabinet,
        };
        let fitting = self.cables.iter().enumerate().filter(|(_, cable)| may_lie(cable));
        let bought = fitting.filter_map(|(kind, cable)| {
            let length_m = cable.bought_m(length_m)?;
            Some(CablePurchase { kind, length_m, usd: self.cable_usd(cable, length_m) })
        });
        let cheapest = bought.min_by(|a, b| a.usd.total_cmp(&b.usd));
        if cheapest.is_none() && !self.cables.is_empty() {
            let place = if within_cabinet { "within a cabinet" } else { "between cabinets" };
            let kind = match of_copper {
                None => "no kind of cable",
                Some(true) => "no copper cable",
                Some(false) => "no cable but copper",
            };
            return Err(self.mistake(format!("{kind} reaches {length_m:.2} m {place}")));
        }
        Ok(cheapest)
    }

    /// True if there are cables of copper, and others.
    fn has_both(&self) -> bool {
        [true, false].iter().all(|copper| self.cables.iter().any(|cable| cable.copper == *copper))
    }

    fn lacks_a_kind(&self, copper_m: f64) -> Error {
        let lists: Vec<_> = Self::all().iter().filter(|list| list.has_both()).map(|list| list.name.as_str()).collect();
        self.mistake(format!(
            "copper={copper_m} needs a kind of cable with \"copper\": true and one without; there are both in {}",
            lists.join(", ")
        ))
    }
}

impl Default for &PriceList {
    fn default() -> Self {
        &LISTS[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = r#"{"name": "own", "source": "quote", "port_gbps": 10, "router": {"usd": 100, "usd_per_port": 1},
        "cables": [{"kind": "copper", "reach_m": 3, "usd": 5, "usd_per_m": 2},
                   {"kind": "fibre", "usd_per_gbps": 1, "usd_per_gbps_m": 0.1, "w": 3}]}"#;

    #[test]
    fn the_lists_have_sources_and_names_of_their_own() {
        let names: Vec<&str> = PriceList::all().iter().map(|list| list.name.as_str()).collect();
        assert_eq!(names, ["edr-flex", "fdr10-slimfly", "galaxyfly", "multitier"]);
        for list in PriceList::all() {
            assert!(list.source.len() > 20 && !list.summary.is_empty(), "{}", list.name);
        }
        assert_eq!(PriceList::named("").expect("the default").name, "edr-flex");
        let sentence = PriceList::named("edr").expect_err("no such list").to_string();
        assert!(sentence.contains("there are: edr-flex, "), "{sentence}");
    }

    #[test]
    fn the_cheapest_cable_that_reaches_is_taken() {
        let list = PriceList::from_json(OWN).expect("reads");
        let choose = |length, within| {
            let bought = list.cheapest_cable(length, within, None).expect("reaches").expect("priced");
            (bought.kind, bought.usd)
        };
        assert_eq!(choose(1.0, true), (0, 7.0));
        assert_eq!(choose(2.5, false), (0, 10.0));
        assert_eq!(choose(3.0, false), (0, 11.0), "copper at 11 $ beats fibre at 13 $, and just reaches");
        assert_eq!(choose(4.0, false), (1, 14.0));
        let placed = OWN.replace(r#""reach_m": 3"#, r#""reach_m": 3, "place": "cabinet""#);
        let list = PriceList::from_json(&placed).expect("reads");
        assert_eq!(list.cheapest_cable(1.0, false, None).expect("reaches").expect("priced").kind, 1);
        let short = OWN.replace(r#""w": 3"#, r#""reach_m": 20"#);
        let short = PriceList::from_json(&short).expect("reads");
        let sentence = short.cheapest_cable(21.0, false, None).expect_err("too long");
        assert_eq!(sentence.to_string(), "price list own: no kind of cable reaches 21.00 m between cabinets");
    }

    #[test]
    fn cables_are_bought_in_the_lengths_that_are_sold() {
        let sold = OWN.replace(r#""reach_m": 3"#, r#""lengths_m": [1, 5, 2.5]"#);
        let list = PriceList::from_json(&sold).expect("reads");
        let bought = |length| list.cheapest_cable(length, true, None).expect("reaches").expect("priced");
        assert_eq!(bought(1.0), CablePurchase { kind: 0, length_m: 1.0, usd: 7.0 });
        assert_eq!(bought(1.1), CablePurchase { kind: 0, length_m: 2.5, usd: 10.0 });
        assert_eq!(bought(1.3 + 1.2), bought(2.5), "the last digit of a sum does not count");
        assert_eq!(bought(2.6), CablePurchase { kind: 1, length_m: 2.6, usd: 12.6 }, "copper of 5 m costs 15 $");
        assert_eq!(bought(6.0).kind, 1, "no copper is as long");
    }

    #[test]
    fn copper_up_to_a_length() {
        let list = PriceList::named("fdr10-slimfly").expect("is there");
        let kind = |length, within, most| {
            let bought = list.cheapest_cable(length, within, most).expect("reaches").expect("priced");
            list.cables[bought.kind].kind.as_str()
        };
        assert_eq!([true, false].map(|within| kind(5.0, within, None)), ["electric", "optical"]);
        assert_eq!([true, false].map(|within| kind(5.0, within, Some(5.0))), ["electric"; 2]);
        assert_eq!([true, false].map(|within| kind(5.0, within, Some(4.9))), ["optical"; 2]);
        let sentence = <&PriceList>::default().cheapest_cable(1.0, true, Some(3.0)).expect_err("optical alone");
        assert!(sentence.to_string().contains("copper=3 needs a kind of cable"), "{sentence}");
        assert!(sentence.to_string().ends_with("there are both in fdr10-slimfly"), "{sentence}");
        let own = OWN.replace(r#""reach_m": 3"#, r#""reach_m": 3, "copper": true"#);
        let list = PriceList::from_json(&own).expect("reads");
        let sentence = list.cheapest_cable(4.0, false, Some(5.0)).expect_err("copper reaches 3 m").to_string();
        assert_eq!(sentence, "price list own: no copper cable reaches 4.00 m between cabinets");
    }

    #[test]
    fn a_fitted_line_may_start_below_zero_but_no_router_may_cost_less_than_nothing() {
        let list = PriceList::named("fdr10-slimfly").expect("is there");
        assert!((list.router_usd(43, 18).expect("a router") - 14_174.9).abs() < 1e-6);
        let boards = OWN.replace(r#""source""#, r#""board": {"usd": 7, "w": 3}, "source""#);
        let boards = PriceList::from_json(&boards).expect("reads");
        let router_usd = |terminals| boards.router_usd(9, terminals).expect("priced");
        assert_eq!([0, 1, 2].map(router_usd), [109.0, 7.0, 109.0]);
        let sentence = list.router_usd(2, 1).expect_err("below zero").to_string();
        assert!(sentence.contains("2 ports would cost -191.50 $") && sentence.contains("350.4 k -892.3"), "{sentence}");
    }

    #[test]
    fn mistakes_are_sentences() {
        for (from, to, words) in [
            (r#""usd_per_port": 1"#, r#""usd_per_port": -1"#, "router.usd_per_port is -1; it must not be negative"),
            (r#""usd": 100, "usd_per_port": 1"#, r#""usd": -100"#, "router.usd is -100; it must not be negative"),
            (r#""usd_per_m": 2"#, r#""usd_per_m": -2"#, "usd_per_m of the cable 'copper' is -2"),
            (r#""usd": 100"#, r#""eur": 100"#, "unknown field `eur`"),
            (r#""fibre""#, r#""copper""#, "'copper' is there twice"),
            (r#""port_gbps": 10,"#, "", "the cable 'fibre' is priced per Gb/s; port_gbps is missing"),
            (r#""source": "quote","#, "", "missing field `source`"),
            (r#""reach_m": 3"#, r#""place": "desk""#, "unknown variant `desk`"),
            (r#""reach_m": 3"#, r#""lengths_m": [-1]"#, "a length in lengths_m of the cable 'copper' is -1"),
            (r#""kind": "copper","#, "", "missing field `kind`"),
        ] {
            assert!(OWN.contains(from), "{from}");
            let sentence = PriceList::from_json(&OWN.replace(from, to)).expect_err(to).to_string();
            assert!(sentence.contains(words), "{sentence}");
        }
    }
}
