//! Prices, and what a network costs and draws by them.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::Layout;
use crate::error::{Error, Result, unknown};
use crate::network::Network;

/// What routers and cables cost and draw. k is the number of ports of a router that are in use, terminals included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceList {
    /// Its name.
    pub name: String,
    /// Where the prices are from.
    pub source: String,
    /// A router costs this …
    pub router_usd: f64,
    /// … and this times k.
    pub router_usd_per_port: f64,
    /// A cable costs this …
    pub cable_usd: f64,
    /// … and this for each metre.
    pub cable_usd_per_m: f64,
    /// A router draws this times k.
    pub power_w_per_port: f64,
}

/// The lists that come with the program; the first is the default.
static LISTS: LazyLock<Vec<PriceList>> =
    LazyLock::new(|| serde_json::from_str(include_str!("prices.json")).expect("a test reads the list"));

impl PriceList {
    /// The lists that come with the program, the default one first.
    pub fn all() -> &'static [PriceList] {
        &LISTS
    }

    /// The list called `name`.
    ///
    /// # Errors
    /// [`Error::Config`] if there is none.
    pub fn named(name: &str) -> Result<&'static PriceList> {
        let names = || Self::all().iter().map(|list| &list.name);
        let found = Self::all().iter().find(|list| list.name == name);
        found.ok_or_else(|| Error::Config(unknown("price list", name, names())))
    }

    /// A list of the user's own, as JSON.
    ///
    /// # Errors
    /// [`Error::Config`] if it lacks a price, has an unknown one, or one that is negative or no number.
    pub fn from_json(text: &str) -> Result<PriceList> {
        let list: PriceList = serde_json::from_str(text)
            .map_err(|error| Error::Config(format!("the price list does not read: {error}")))?;
        for (name, price) in list.prices() {
            if !(price >= 0.0 && price.is_finite()) {
                return Err(Error::Config(format!(
                    "{name} of price list {} is {price}; it must not be negative",
                    list.name
                )));
            }
        }
        Ok(list)
    }

    fn prices(&self) -> [(&'static str, f64); 5] {
        [
            ("router_usd", self.router_usd),
            ("router_usd_per_port", self.router_usd_per_port),
            ("cable_usd", self.cable_usd),
            ("cable_usd_per_m", self.cable_usd_per_m),
            ("power_w_per_port", self.power_w_per_port),
        ]
    }
}

impl Default for &PriceList {
    fn default() -> Self {
        &LISTS[0]
    }
}

/// What a network costs and draws. Terminal cables are included, the terminals themselves are not. The names are the
/// keys of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cost {
    /// Routers and cables.
    pub cost_usd: f64,
    /// Routers.
    pub router_cost_usd: f64,
    /// Cables, those of terminals included.
    pub cable_cost_usd: f64,
    /// `cost_usd` over the terminals, if there are any.
    pub cost_per_terminal_usd: Option<f64>,
    /// What the routers draw.
    pub power_w: f64,
    /// `power_w` over the terminals, if there are any.
    pub power_per_terminal_w: Option<f64>,
    /// Cable, that of terminals included.
    pub cable_m: f64,
    /// The longest cable between two routers.
    pub longest_cable_m: f64,
}

/// What `network` costs and draws in `layout` at `prices`.
pub fn cost(network: &Network, layout: &Layout, prices: &PriceList) -> Cost {
    let (routers, terminals) = (network.num_routers() as f64, network.num_terminals() as f64);
    let ports = network.ports().len() as f64;
    let lengths = layout.link_lengths_m(network);
    let cables = lengths.len() as f64 + terminals;
    let cable_m = lengths.iter().sum::<f64>() + terminals * layout.terminal_cable_m();
    let router_cost_usd = routers * prices.router_usd + ports * prices.router_usd_per_port;
    let cable_cost_usd = cables * prices.cable_usd + cable_m * prices.cable_usd_per_m;
    let (cost_usd, power_w) = (router_cost_usd + cable_cost_usd, ports * prices.power_w_per_port);
    let per_terminal = |whole: f64| (terminals > 0.0).then(|| whole / terminals);
    Cost {
        cost_usd,
        router_cost_usd,
        cable_cost_usd,
        cost_per_terminal_usd: per_terminal(cost_usd),
        power_w,
        power_per_terminal_w: per_terminal(power_w),
        cable_m,
        longest_cable_m: lengths.into_iter().fold(0.0, f64::max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::build;

    fn of(spec: &str) -> Cost {
        let network = build(spec).expect(spec);
        cost(&network, &Layout::of_family(&network), Default::default())
    }

    /// Table 6 of the FleX paper, as recomputed to the dollar.
    #[test]
    fn published_costs() {
        for (spec, usd) in [
            ("flex:6x6x3,p=10", 3_059_532.0),
            ("flex:8x8x3,p=5", 5_490_046.0),
            ("hyperx:10x10,p=10", 2_757_277.0),
            // Published as 5,162,592, without the cables of the 1,056 terminals.
            ("dragonfly:a=8,h=4,p=4", 5_162_592.0 + 470_733.0),
        ] {
            let found = of(spec).cost_usd;
            assert!((found - usd).abs() < 2.0, "{spec}: {found}");
        }
        for (spec, usd) in
            [("flex:6x6x3,p=10", 3_059_532.0), ("flex:8x8x3,p=5", 5_490_046.0), ("hyperx:10x10,p=10", 2_757_277.0)]
        {
            assert_eq!(of(spec).cost_usd.floor(), usd, "{spec}");
        }
    }

    #[test]
    fn published_power() {
        for (spec, watts) in [
            ("flex:6x6x3,p=10", 9072.0),
            ("flex:8x8x3,p=5", 17740.8),
            ("hyperx:10x10,p=10", 7840.0),
            ("dragonfly:a=8,h=4,p=4", 11088.0),
            ("slimfly:q=9,p=6", 8618.4),
            ("fattree:k=10,levels=3", 14000.0),
        ] {
            assert!((of(spec).power_w - watts).abs() < 1e-6, "{spec}");
        }
    }

    #[test]
    fn the_parts_add_up() {
        let path = of("mesh:3,p=2");
        assert_eq!(path.cable_m, 6.0 + 2.0 * 3.0);
        assert_eq!(path.longest_cable_m, 3.0);
        assert_eq!(path.router_cost_usd, 3.0 * 15029.0 + 128.0 * (3.0 + 4.0 + 3.0));
        assert!((path.cable_cost_usd - (8.0 * 434.1 + 12.0 * 11.67)).abs() < 1e-9);
        assert_eq!(path.cost_usd, path.router_cost_usd + path.cable_cost_usd);
        assert_eq!(path.power_per_terminal_w, Some(28.0 / 6.0));
    }

    #[test]
    fn price_lists_are_data() {
        assert_eq!(PriceList::all()[0].name, "edr-flex");
        let own = r#"{"name": "own", "source": "quote", "router_usd": 1, "router_usd_per_port": 0, "cable_usd": 0,
                      "cable_usd_per_m": 0, "power_w_per_port": 1}"#;
        let network = build("mesh:2").expect("small");
        let list = PriceList::from_json(own).expect("reads");
        assert_eq!(cost(&network, &Layout::of_family(&network), &list).cost_usd, 2.0);
        for (wrong, words) in [
            (own.replace("\"router_usd\": 1", "\"router_usd\": -1"), "router_usd of price list own is -1"),
            (own.replace("router_usd\"", "router_eur\""), "unknown field `router_eur`"),
        ] {
            let sentence = PriceList::from_json(&wrong).expect_err("a mistake was accepted").to_string();
            assert!(sentence.contains(words), "{sentence}");
        }
        let sentence = PriceList::named("edr").expect_err("no such list").to_string();
        assert!(sentence.contains("there are: edr-flex"), "{sentence}");
    }
}
