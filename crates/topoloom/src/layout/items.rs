//! The bill of materials: what is to be bought, item by item.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::bill::micrometres;
use super::{Bill, CablePurchase, NicPrice};
use crate::error::{Result, several};
use crate::network::LinkClass;

/// What sort of thing an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Routers.
    Router,
    /// Cables.
    Cable,
    /// Network interfaces of terminals.
    Interface,
    /// Cabinets.
    Cabinet,
}

/// A line of the bill: things that are alike.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Item {
    /// What sort of thing it is.
    pub part: Part,
    /// What it is, in words.
    pub item: String,
    /// Of a router: its ports in use, with those of terminals.
    pub ports: Option<usize>,
    /// Of a cable: its kind, if the list prices cables.
    pub kind: Option<String>,
    /// Of a cable: the class of its link.
    pub class: Option<LinkClass>,
    /// Of a cable: the length that is bought.
    pub length_m: Option<f64>,
    /// How many.
    pub count: usize,
    /// Of cables: metres of all.
    pub total_m: Option<f64>,
    /// What each costs; `None` if the list does not give it.
    pub unit_usd: Option<f64>,
    /// What all cost.
    pub cost_usd: Option<f64>,
    /// What all draw.
    pub power_w: f64,
}

impl Item {
    fn new(part: Part, item: String, count: usize, unit_usd: Option<f64>, unit_w: f64) -> Self {
        let cost_usd = unit_usd.map(|usd| usd * count as f64);
        let power_w = unit_w * count as f64;
        let (ports, kind, class, length_m, total_m) = (None, None, None, None, None);
        Self { part, item, ports, kind, class, length_m, count, total_m, unit_usd, cost_usd, power_w }
    }
}

/// What cables of one line have in common: kind, class and micrometres.
type AlikeCables = (Option<usize>, LinkClass, u64);

impl Bill<'_> {
    /// Everything that is to be bought: routers by ports in use; cables by kind, class and the length that is bought;
    /// network interfaces; cabinets by what they hold, which no list prices. The sums are those of [`Bill::total`].
    ///
    /// # Errors
    /// As [`cost`](super::cost).
    pub fn items(&self) -> Result<Vec<Item>> {
        let mut items = self.routers()?;
        items.extend(self.lengths_bought()?);
        items.extend(self.interfaces());
        items.extend(self.cabinets());
        Ok(items)
    }

    fn routers(&self) -> Result<Vec<Item>> {
        let mut alike = BTreeMap::<(bool, Reverse<usize>), usize>::new();
        for router in self.network.routers() {
            let board = self.prices.is_board(self.network.terminals_of(router).count());
            *alike.entry((board, Reverse(self.network.radix_of(router)))).or_default() += 1;
        }
        let item = |((board, Reverse(ports)), count): ((bool, Reverse<usize>), usize)| {
            let bought = self.prices.router(ports, usize::from(board))?;
            let place = if board { " on the board of its terminal" } else { "" };
            let switch = bought
                .switch
                .map_or_else(String::new, |own| format!(": {} of {}", own.model, several(own.ports, "port")));
            let words = format!("router with {} in use{place}{switch}", several(ports, "port"));
            let item = Item::new(Part::Router, words, count, Some(bought.usd), bought.w);
            Ok(Item { ports: Some(ports), ..item })
        };
        alike.into_iter().map(item).collect()
    }

    fn lengths_bought(&self) -> Result<Vec<Item>> {
        let mut alike = BTreeMap::<AlikeCables, (usize, Option<f64>)>::new();
        for cable in self.cables() {
            let cable = cable?;
            let kind = cable.bought.map(|bought| bought.kind);
            let length_m = cable.bought.map_or(cable.length_m, |CablePurchase { length_m, .. }| length_m);
            let usd = cable.bought.map(|bought| bought.usd);
            alike.entry((kind, cable.class, micrometres(length_m))).or_insert((0, usd)).0 += 1;
        }
        let item = |((kind, class, length), (count, usd)): (AlikeCables, (usize, Option<f64>))| {
            let (kind, length_m) = (kind.map(|kind| &self.prices.cables[kind]), length as f64 / 1e6);
            let words = kind.map_or_else(String::new, |kind| format!("{} ", kind.kind));
            let words = format!("{words}cable of {length_m} m, {}", class.name());
            let item = Item::new(Part::Cable, words, count, usd, kind.map_or(0.0, |kind| kind.w));
            Item {
                kind: kind.map(|kind| kind.kind.clone()),
                class: Some(class),
                length_m: Some(length_m),
                total_m: Some(length_m * count as f64),
                ..item
            }
        };
        Ok(alike.into_iter().map(item).collect())
    }

    fn interfaces(&self) -> Option<Item> {
        let NicPrice { usd, w } = self.prices.nic;
        let terminals = Some(self.network.num_terminals()).filter(|&terminals| terminals > 0)?;
        Some(Item::new(Part::Interface, "network interface".to_owned(), terminals, (usd > 0.0).then_some(usd), w))
    }

    fn cabinets(&self) -> Vec<Item> {
        let mut alike = BTreeMap::<Reverse<[u32; 2]>, usize>::new();
        for cabinet in self.layout.cabinets(self.network) {
            *alike.entry(Reverse([cabinet.routers, cabinet.terminals])).or_default() += 1;
        }
        let some = |count: u32, noun: &str| {
            (count > 0).then(|| format!("{count} {noun}{}", if count == 1 { "" } else { "s" }))
        };
        let item = |(Reverse([routers, terminals]), count): (Reverse<[u32; 2]>, usize)| {
            let holds: Vec<String> =
                [some(routers, "router"), some(terminals, "terminal")].into_iter().flatten().collect();
            Item::new(Part::Cabinet, format!("cabinet of {}", holds.join(" and ")), count, None, 0.0)
        };
        alike.into_iter().map(item).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Layout, PriceList, Rules};
    use super::*;
    use crate::topology::build;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * a.abs().max(1.0)
    }

    /// All lists that come with the program, over families, packings and price rules.
    #[test]
    fn the_items_sum_up_to_the_cost() {
        let specs = [
            "mesh:5x3,p=2",
            "torus:4x3x2,p=9",
            "hypercube:4,p=8",
            "hyperx:4x4,p=4",
            "dragonfly:a=4,h=2,p=2",
            "slimfly:q=5,p=4",
            "fattree:k=4,levels=3",
            "xgft:down=3x4x4,up=2x3",
            "flex:3x3x4,p=3",
            "galaxyfly:n=7,q=5,a=2,p=20",
            "nesttree:t=2,u=2,endpoints=64",
            "myriclos:256",
            "dragonfly-plus:leaf=4,spine=4,h=4,p=4",
        ];
        let own = PriceList::from_json(
            r#"{"name": "own", "source": "quote", "router": {"usd": 10, "w": 5}, "nic": {"usd": 7, "w": 3}, "cables": [
                {"kind": "copper", "copper": true, "lengths_m": [1, 2, 3, 5], "usd": 1, "usd_per_m": 1},
                {"kind": "optical", "lengths_m": [3, 10, 30, 100], "usd": 2, "usd_per_m": 0.5, "w": 4}]}"#,
        )
        .expect("reads");
        for spec in specs {
            let network = build(spec).expect(spec);
            for text in ["", "cabinet=4,inside=1.5,nodes=7,width=0.6", "terminal=none", "copper=3"] {
                let layout = Layout::new(&network, &Rules::parse(text).expect(text)).expect(text);
                for prices in PriceList::all().iter().chain([&own]) {
                    let bill = Bill { network: &network, layout: &layout, prices };
                    let (Ok(total), Ok(items)) = (bill.total(), bill.items()) else {
                        assert!(bill.total().is_err() && bill.items().is_err(), "one alone refuses");
                        continue;
                    };
                    let case = format!("{spec} {text} {}", prices.name);
                    let of = |part| items.iter().filter(move |item| item.part == part);
                    let usd = |part| of(part).filter_map(|item| item.cost_usd).sum::<f64>();
                    let watts = |part| of(part).map(|item| item.power_w).sum::<f64>();
                    let count = |part| of(part).map(|item| item.count).sum::<usize>();
                    assert!(close(usd(Part::Router), total.router_cost_usd), "{case}");
                    assert!(close(usd(Part::Cable), total.cable_cost_usd.unwrap_or(0.0)), "{case}");
                    assert!(close(usd(Part::Interface), total.nic_cost_usd), "{case}");
                    assert!(close(watts(Part::Router), total.router_power_w), "{case}");
                    assert!(close(watts(Part::Cable), total.cable_power_w), "{case}");
                    assert!(close(watts(Part::Interface), total.nic_power_w), "{case}");
                    assert_eq!(count(Part::Router), network.num_routers(), "{case}");
                    assert_eq!(count(Part::Cable), total.cables, "{case}");
                    assert_eq!(count(Part::Interface), network.num_terminals(), "{case}");
                    assert_eq!(count(Part::Cabinet), layout.cabinets(&network).len(), "{case}");
                    let metres: f64 = items.iter().filter_map(|item| item.total_m).sum();
                    let sold = prices.cables.iter().any(|kind| !kind.lengths_m.is_empty());
                    assert!(if sold { metres >= total.cable_m } else { close(metres, total.cable_m) }, "{case}");
                }
            }
        }
    }

    #[test]
    fn alike_is_one_line() {
        let network = build("mesh:3,p=2").expect("small");
        let layout = Layout::of_family(&network);
        let bill = Bill { network: &network, layout: &layout, prices: PriceList::named("").expect("default") };
        let items = bill.items().expect("priced");
        let told: Vec<_> = items.iter().map(|item| (item.item.as_str(), item.count, item.total_m)).collect();
        let expected = [
            ("router with 4 ports in use", 1, None),
            ("router with 3 ports in use", 2, None),
            ("optical cable of 1 m, terminal", 6, Some(6.0)),
            ("optical cable of 3 m, local", 2, Some(6.0)),
            ("network interface", 6, None),
            ("cabinet of 1 router and 2 terminals", 3, None),
        ];
        assert_eq!(told, expected);
        assert_eq!(items[1].unit_usd, Some(15029.0 + 3.0 * 128.0));
    }
}
