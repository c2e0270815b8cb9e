//! Price lists: data, one file per list in `prices/`, and lists of the user's own in the same form.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, several, unknown};

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
    /// Routers, priced by a line in k; nothing where `switches` are listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub router: Option<RouterPrice>,
    /// The switches that are sold. A router is the cheapest one with at least k ports, bought whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub switches: Vec<SwitchPrice>,
    /// Routers that share a board with the one terminal that they have; nothing: as any other router.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<RouterPrice>,
    /// Network interfaces, one per terminal.
    #[serde(default)]
    pub nic: NicPrice,
    /// The kinds of cable that there are. The cheapest that reaches is taken. None: cables are measured, not priced.
    pub cables: Vec<CableKind>,
    /// What electricity costs; nothing: energy is not priced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<EnergyPrice>,
    /// Where each figure is from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<PriceFigure>,
}

/// A switch that is sold: it costs and draws the same whatever part of its ports is used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchPrice {
    /// What it is, such as a model.
    #[serde(default)]
    pub model: String,
    /// Its ports, those of terminals included.
    pub ports: usize,
    /// Each switch.
    pub usd: f64,
    /// Each switch draws this, without active cables.
    #[serde(default)]
    pub w: f64,
}

/// What electricity costs over the years that a network runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnergyPrice {
    /// Each kWh.
    pub usd_per_kwh: f64,
    /// Power of the site over that of the equipment (power usage effectiveness), 1 at least.
    pub pue: f64,
    /// Years of operation.
    pub years: f64,
}

impl EnergyPrice {
    /// What equipment that draws `w` watts all the time costs in electricity.
    pub fn usd(&self, w: f64) -> f64 {
        const HOURS_A_YEAR: f64 = 8766.0;
        w / 1000.0 * HOURS_A_YEAR * self.years * self.pue * self.usd_per_kwh
    }
}

/// Where a figure of a price list is from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceFigure {
    /// What it is of: `switch of 64 ports`, `nic`, `energy`, or a kind of cable.
    pub of: String,
    /// Its key there, such as `usd` or `w`.
    pub key: String,
    /// When it held: a year, or a year and a month.
    pub date: String,
    /// The public source; of an assumption, what it rests on.
    pub source: String,
    /// True if no public source gives it.
    #[serde(default)]
    pub assumed: bool,
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

/// What is bought for a router.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RouterPurchase<'a> {
    /// The switch, where the list has switches.
    pub switch: Option<&'a SwitchPrice>,
    /// What it costs.
    pub usd: f64,
    /// What it draws.
    pub w: f64,
}

/// The cable that is bought to lay one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CablePurchase {
    /// Its kind, by its position in the price list.
    pub kind: usize,
    /// Its length, in metres: what is needed, or the next length that is sold.
    pub length_m: f64,
    /// What it costs.
    pub usd: f64,
}

/// The largest number of a price list: of $, W or m. Sums of larger ones could leave the range of numbers.
const MOST: f64 = 1e12;

/// Lengths are sums of steps, and may be off in their last digit: less than this is none.
const SLACK_M: f64 = 1e-6;

impl SwitchPrice {
    /// What figures call it.
    pub(super) fn figure(&self) -> String {
        format!("switch of {} ports", self.ports)
    }
}

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
        include_str!("prices/25g.json"),
        include_str!("prices/100g.json"),
        include_str!("prices/200g.json"),
        include_str!("prices/400g.json"),
        include_str!("prices/800g.json"),
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
        let found = Self::all().iter().find(|list| list.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| Error::Config(unknown("price list", name, names())))
    }

    /// The lists of things of one rate, of `gbps` Gb/s and more, the slowest first.
    pub fn from_rate(gbps: f64) -> impl Iterator<Item = &'static PriceList> {
        let mut lists: Vec<_> = Self::all().iter().filter(|list| !list.switches.is_empty()).collect();
        lists.sort_by(|a, b| a.port_gbps.total_cmp(&b.port_gbps));
        lists.into_iter().filter(move |list| list.port_gbps >= gbps)
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
        if self.name.trim().is_empty() {
            return Err(Error::Config(
                "the price list has an empty name; results state it beside each cost".to_owned(),
            ));
        }
        match (self.router, self.switches.is_empty()) {
            (None, true) => return Err(self.mistake("router is missing; a list needs router or switches")),
            (Some(_), false) => return Err(self.mistake("router and switches are both given; one prices routers")),
            _ => (),
        }
        self.check_router("router", self.router.unwrap_or_default())?;
        self.check_router("board", self.board.unwrap_or_default())?;
        self.switches.iter().try_for_each(|switch| self.check_switch(switch))?;
        self.check_energy()?;
        let NicPrice { usd: nic_usd, w: nic_w } = self.nic;
        let own = [("nic.usd", nic_usd), ("nic.w", nic_w), ("port_gbps", self.port_gbps)];
        own.iter().try_for_each(|&(name, price)| self.bounded(name, price, 0.0))?;
        for (place, cable) in self.cables.iter().enumerate() {
            self.check_cable(cable)?;
            if self.cables[..place].iter().any(|other| other.kind == cable.kind) {
                return Err(self.mistake(format!("the kind of cable '{}' is there twice", cable.kind)));
            }
        }
        self.figures.iter().try_for_each(|figure| self.check_figure(figure))
    }

    /// The things that the list prices, as figures name them, each with the keys that a figure may be of.
    fn priced(&self) -> Vec<(String, &'static [&'static str])> {
        const ROUTER: &[&str] = &["usd", "usd_per_port", "w", "w_per_port"];
        const CABLE: &[&str] = &["usd", "usd_per_m", "usd_per_gbps", "usd_per_gbps_m", "w", "reach_m", "lengths_m"];
        let named = |name: &str, keys| (name.to_owned(), keys);
        let routers = [self.router.map(|_| named("router", ROUTER)), self.board.map(|_| named("board", ROUTER))];
        let mut things: Vec<(String, &'static [&'static str])> = routers.into_iter().flatten().collect();
        things.extend(self.switches.iter().map(|switch| (switch.figure(), &["usd", "w"] as _)));
        things.push(named("nic", &["usd", "w"]));
        things.extend(self.cables.iter().map(|cable| (cable.kind.clone(), CABLE)));
        things.extend(self.energy.map(|_| named("energy", &["usd_per_kwh", "pue", "years"])));
        things
    }

    fn check_figure(&self, PriceFigure { of, key, .. }: &PriceFigure) -> Result<()> {
        let things = self.priced();
        let Some((_, keys)) = things.iter().find(|(thing, _)| thing == of) else {
            return Err(self.mistake(unknown("thing in figures", of, things.iter().map(|(thing, _)| thing))));
        };
        if keys.contains(&key.as_str()) {
            return Ok(());
        }
        Err(self.mistake(unknown(format_args!("key of {of} in figures"), key, *keys)))
    }

    fn check_router(&self, name: &str, RouterPrice { usd, usd_per_port, w, w_per_port }: RouterPrice) -> Result<()> {
        let least = if usd_per_port > 0.0 { -MOST } else { 0.0 };
        self.bounded(&format!("{name}.usd"), usd, least)?;
        let others = [("usd_per_port", usd_per_port), ("w", w), ("w_per_port", w_per_port)];
        others.iter().try_for_each(|(key, price)| self.bounded(&format!("{name}.{key}"), *price, 0.0))
    }

    fn check_switch(&self, &SwitchPrice { ports, usd, w, .. }: &SwitchPrice) -> Result<()> {
        if ports == 0 {
            return Err(self.mistake("a switch has 0 ports; ports must be at least 1"));
        }
        if self.switches.iter().filter(|other| other.ports == ports).count() > 1 {
            return Err(
                self.mistake(format!("two switches have {}; the list needs one of each size", several(ports, "port")))
            );
        }
        [("usd", usd), ("w", w)]
            .iter()
            .try_for_each(|(key, price)| self.bounded(&format!("{key} of the switch of {ports} ports"), *price, 0.0))
    }

    fn check_energy(&self) -> Result<()> {
        let Some(EnergyPrice { usd_per_kwh, pue, years }) = self.energy else { return Ok(()) };
        self.bounded("energy.usd_per_kwh", usd_per_kwh, 0.0)?;
        self.bounded("energy.years", years, 0.0)?;
        if pue >= 1.0 {
            return self.bounded("energy.pue", pue, 1.0);
        }
        Err(self.mistake(format!("energy.pue is {pue}; a site draws at least what its equipment draws, so from 1")))
    }

    fn check_cable(&self, cable: &CableKind) -> Result<()> {
        if cable.kind.trim().is_empty() {
            return Err(self.mistake("a kind of cable has an empty name"));
        }
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
        if (least..=MOST).contains(&price) {
            return Ok(());
        }
        if price.abs() > MOST {
            return Err(self.mistake(format!("{name} is {price:e}; numbers of a price list are at most {MOST:e}")));
        }
        Err(self.mistake(format!("{name} is {price}; it must not be negative")))
    }

    /// True of a router that has that many terminals and shares a board with them.
    pub(super) fn is_board(&self, terminals: usize) -> bool {
        self.board.is_some() && terminals == 1
    }

    /// What is bought for a router with `ports` ports in use, `terminals` of them terminals'.
    ///
    /// # Errors
    /// [`Error::Config`] if the line of the prices is below zero there, or no switch has that many ports.
    pub fn router(&self, ports: usize, terminals: usize) -> Result<RouterPurchase<'_>> {
        let board = self.board.filter(|_| self.is_board(terminals));
        let Some(price) = board.or(self.router) else { return self.switch(ports) };
        let usd = price.usd + price.usd_per_port * ports as f64;
        if usd >= 0.0 {
            return Ok(RouterPurchase { switch: None, usd, w: price.w + price.w_per_port * ports as f64 });
        }
        Err(self.mistake(format!(
            "a router with {} would cost {usd:.2} $; the line {} k {:+} $ is for routers of more ports",
            several(ports, "port"),
            price.usd_per_port,
            price.usd
        )))
    }

    /// The cheapest switch with at least that many ports.
    fn switch(&self, ports: usize) -> Result<RouterPurchase<'_>> {
        let fitting = self.switches.iter().filter(|switch| switch.ports >= ports);
        let cheapest = fitting.min_by(|a, b| a.usd.total_cmp(&b.usd).then(a.ports.cmp(&b.ports)));
        let bought = cheapest.map(|switch| RouterPurchase { switch: Some(switch), usd: switch.usd, w: switch.w });
        bought.ok_or_else(|| {
            let most = self.switches.iter().map(|switch| switch.ports).max().unwrap_or(0);
            self.mistake(format!("no switch has {ports} ports; the largest has {most}"))
        })
    }

    /// What no public source gives of the things named in `used`: each thing with the keys that are assumed.
    pub fn assumed(&self, used: &BTreeSet<String>) -> Vec<String> {
        let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
        for figure in self.figures.iter().filter(|figure| figure.assumed && used.contains(&figure.of)) {
            match found.iter_mut().find(|(of, _)| *of == figure.of) {
                Some((_, keys)) => keys.push(&figure.key),
                None => found.push((&figure.of, vec![&figure.key])),
            }
        }
        found.into_iter().map(|(of, keys)| format!("{of}: {}", keys.join(", "))).collect()
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
        assert_eq!(
            names,
            ["edr-flex", "fdr10-slimfly", "galaxyfly", "multitier", "25g", "100g", "200g", "400g", "800g"]
        );
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
        assert!(sentence.to_string().contains("there are both in fdr10-slimfly, 25g"), "{sentence}");
        let own = OWN.replace(r#""reach_m": 3"#, r#""reach_m": 3, "copper": true"#);
        let list = PriceList::from_json(&own).expect("reads");
        let sentence = list.cheapest_cable(4.0, false, Some(5.0)).expect_err("copper reaches 3 m").to_string();
        assert_eq!(sentence, "price list own: no copper cable reaches 4.00 m between cabinets");
    }

    #[test]
    fn a_fitted_line_may_start_below_zero_but_no_router_may_cost_less_than_nothing() {
        let list = PriceList::named("fdr10-slimfly").expect("is there");
        assert!((list.router(43, 18).expect("a router").usd - 14_174.9).abs() < 1e-6);
        let boards = OWN.replace(r#""source""#, r#""board": {"usd": 7, "w": 3}, "source""#);
        let boards = PriceList::from_json(&boards).expect("reads");
        let router_usd = |terminals| boards.router(9, terminals).expect("priced").usd;
        assert_eq!([0, 1, 2].map(router_usd), [109.0, 7.0, 109.0]);
        let sentence = list.router(2, 1).expect_err("below zero").to_string();
        assert!(sentence.contains("2 ports would cost -191.50 $") && sentence.contains("350.4 k -892.3"), "{sentence}");
    }

    #[test]
    fn the_cheapest_switch_with_enough_ports_is_bought_whole() {
        let switches = r#""switches": [{"ports": 64, "usd": 50, "w": 7}, {"ports": 16, "usd": 60, "w": 3},
            {"ports": 128, "usd": 90, "w": 9}]"#;
        let own = OWN.replace(r#""router": {"usd": 100, "usd_per_port": 1}"#, switches);
        let list = PriceList::from_json(&own).expect("reads");
        let bought =
            |ports| list.router(ports, 4).map(|router| (router.switch.expect("a switch").ports, router.usd, router.w));
        assert_eq!(bought(10), Ok((64, 50.0, 7.0)), "the smaller one costs more");
        assert_eq!((bought(64), bought(65)), (Ok((64, 50.0, 7.0)), Ok((128, 90.0, 9.0))));
        assert_eq!(
            bought(129).expect_err("too many").to_string(),
            "price list own: no switch has 129 ports; the largest has 128"
        );
    }

    #[test]
    fn energy_is_power_over_years() {
        let energy = EnergyPrice { usd_per_kwh: 0.1, pue: 1.5, years: 5.0 };
        assert!((energy.usd(1000.0) - 43_830.0 * 0.15).abs() < 1e-9);
    }

    /// Of every list of switches, each price above zero has exactly one origin, and no origin is of a thing that is not there.
    #[test]
    fn every_figure_has_a_date_and_a_source() {
        for list in PriceList::all().iter().filter(|list| !list.switches.is_empty()) {
            let wanted = figures(list);
            let mut told: Vec<_> = list.figures.iter().map(|own| (own.of.clone(), own.key.clone())).collect();
            told.sort();
            assert_eq!(told, wanted, "{}", list.name);
            for own in &list.figures {
                assert!(own.date.starts_with("20") && own.source.len() > 15, "{}: {own:?}", list.name);
                assert!(own.assumed || own.source.contains("://"), "{}: {own:?}", list.name);
            }
        }
    }

    /// What and which key, of every price of a list that is not zero.
    fn figures(list: &PriceList) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut add = |of: &str, prices: &[(&str, f64)]| {
            found.extend(prices.iter().filter(|own| own.1 > 0.0).map(|own| (of.to_owned(), own.0.to_owned())));
        };
        for switch in &list.switches {
            add(&switch.figure(), &[("usd", switch.usd), ("w", switch.w)]);
        }
        add("nic", &[("usd", list.nic.usd), ("w", list.nic.w)]);
        for kind in &list.cables {
            let reach = kind.lengths_m.iter().copied().fold(kind.reach_m.unwrap_or(0.0), f64::max);
            add(&kind.kind, &[("usd", kind.usd), ("usd_per_m", kind.usd_per_m), ("w", kind.w), ("reach_m", reach)]);
        }
        let energy = list.energy.expect("priced");
        add("energy", &[("usd_per_kwh", energy.usd_per_kwh), ("pue", energy.pue)]);
        found.sort();
        found
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
            (r#""router": {"usd": 100, "usd_per_port": 1},"#, "", "router is missing; a list needs router or switches"),
            (r#""router""#, r#""switches": [{"ports": 8, "usd": 1}], "router""#, "router and switches are both given"),
            (
                r#""router": {"usd": 100, "usd_per_port": 1}"#,
                r#""switches": [{"ports": 8, "usd": -1}]"#,
                "usd of the switch of 8 ports is -1",
            ),
            (
                r#""router": {"usd": 100, "usd_per_port": 1}"#,
                r#""switches": [{"ports": 0, "usd": 1}]"#,
                "a switch has 0 ports",
            ),
            (
                r#""router": {"usd": 100, "usd_per_port": 1}"#,
                r#""switches": [{"ports": 8, "usd": 1}, {"ports": 8, "usd": 2}]"#,
                "two switches have 8 ports",
            ),
            (
                r#""source": "quote","#,
                r#""source": "quote", "energy": {"usd_per_kwh": 0.1, "pue": 0.9, "years": 5},"#,
                "energy.pue is 0.9",
            ),
            (r#""name": "own""#, r#""name": " ""#, "the price list has an empty name"),
            (r#""kind": "fibre""#, r#""kind": """#, "price list own: a kind of cable has an empty name"),
            (r#""usd": 100"#, r#""usd": 1e308"#, "router.usd is 1e308; numbers of a price list are at most 1e12"),
            (r#""usd": 100"#, r#""usd": -1e308"#, "router.usd is -1e308; numbers"),
            (r#""w": 3"#, r#""w": 2e12"#, "w of the cable 'fibre' is 2e12; numbers"),
            (
                r#""source": "quote","#,
                r#""source": "quote", "figures": [{"of": "fiber", "key": "usd", "date": "2024", "source": "me"}],"#,
                "unknown thing in figures 'fiber' (did you mean 'fibre'?); there are: router, nic, copper, fibre",
            ),
            (
                r#""source": "quote","#,
                r#""source": "quote", "figures": [{"of": "fibre", "key": "us", "date": "2024", "source": "me"}],"#,
                "unknown key of fibre in figures 'us' (did you mean 'usd'?); there are: usd, usd_per_m",
            ),
        ] {
            assert!(OWN.contains(from), "{from}");
            let sentence = PriceList::from_json(&OWN.replace(from, to)).expect_err(to).to_string();
            assert!(sentence.contains(words), "{sentence}");
        }
    }
}
