//! What a network costs and draws in a layout at the prices of a list.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{CablePurchase, Layout, PriceList};
use crate::error::Result;
use crate::network::{LinkClass, Network, PortId, TerminalId};
use crate::statistics::rounded;

/// The equipment at the far end of a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A port of another router.
    Port(PortId),
    /// A terminal.
    Terminal(TerminalId),
}

/// One cable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cable {
    /// The port at its near end; of two routers' that of the smaller id.
    pub port: PortId,
    /// Its far end.
    pub end: End,
    /// The class of its link.
    pub class: LinkClass,
    /// Its length.
    pub length_m: f64,
    /// What is bought for it; `None` if the list prices no cables.
    pub bought: Option<CablePurchase>,
}

/// Cables of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KindTotal {
    /// The kind.
    pub kind: String,
    /// Cables of it.
    pub cables: usize,
    /// Metres of it.
    pub length_m: f64,
    /// What they cost.
    pub cost_usd: f64,
    /// What they draw.
    pub power_w: f64,
}

/// Cables of one class, kind and length.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LengthCount {
    /// The class of their links.
    pub class: LinkClass,
    /// Their kind; `None` if the list prices no cables.
    pub kind: Option<String>,
    /// The length of each.
    pub length_m: f64,
    /// How many there are.
    pub cables: usize,
}

/// The cables between two cabinets, which run the same way and are bundled.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bundle {
    /// The cabinets, the smaller number first.
    pub cabinets: [u32; 2],
    /// Cables in it.
    pub cables: usize,
    /// The length of the longest.
    pub length_m: f64,
}

/// What a network costs and draws. Terminal cables are included unless the layout leaves them out; network interfaces
/// are included where the list has them; the terminals themselves never are. The names are the keys of the JSON; what
/// is per terminal is null without terminals. The cost of cables is null if the list does not price them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cost {
    /// The name of the price list.
    pub prices: String,
    /// What no public source gives of the things that are bought: each with the keys of the list that are assumed.
    pub prices_assumed: Vec<String>,
    /// The layout, as it was asked for; `rack` unless that was something else.
    pub layout: String,
    /// What the layout assumes, in a sentence.
    pub layout_assumptions: String,
    /// In which order routers filled racks; none without the rule `rack`.
    pub layout_order: Option<&'static str>,
    /// Cabinets that hold anything.
    pub cabinet_count: usize,
    /// Routers, cables and network interfaces, as far as the list has prices.
    pub cost_usd: f64,
    /// Routers.
    pub router_cost_usd: f64,
    /// Cables, those of terminals included.
    pub cable_cost_usd: Option<f64>,
    /// Of these, the cables of terminals.
    pub terminal_cable_cost_usd: Option<f64>,
    /// Network interfaces.
    pub nic_cost_usd: f64,
    /// `cost_usd` less `terminal_cable_cost_usd`: some papers count so.
    pub cost_without_terminal_cables_usd: f64,
    /// `cost_usd` over the terminals.
    pub cost_per_terminal_usd: Option<f64>,
    /// `router_cost_usd` over the terminals.
    pub router_cost_per_terminal_usd: Option<f64>,
    /// `cable_cost_usd` over the terminals.
    pub cable_cost_per_terminal_usd: Option<f64>,
    /// What all that draws.
    pub power_w: f64,
    /// What the routers draw.
    pub router_power_w: f64,
    /// What active cables draw.
    pub cable_power_w: f64,
    /// What network interfaces draw.
    pub nic_power_w: f64,
    /// `power_w` over the terminals.
    pub power_per_terminal_w: Option<f64>,
    /// Years of electricity that are counted; none if the list does not price energy.
    pub energy_years: Option<f64>,
    /// What `power_w` costs over these years, with what the site draws beside the equipment.
    pub energy_cost_usd: Option<f64>,
    /// `cost_usd` + `energy_cost_usd`.
    pub lifetime_cost_usd: Option<f64>,
    /// `lifetime_cost_usd` over the terminals.
    pub lifetime_cost_per_terminal_usd: Option<f64>,
    /// Cables, those of terminals included.
    pub cables: usize,
    /// Metres of cable, those of terminals included.
    pub cable_m: f64,
    /// Metres of terminals' cables.
    pub terminal_cable_m: f64,
    /// `cable_m` over the terminals.
    pub cable_per_terminal_m: Option<f64>,
    /// The longest cable between two routers.
    pub longest_cable_m: f64,
    /// The kinds of cable in use.
    pub cable_kinds: Vec<KindTotal>,
    /// Sentences on cabinets that are not full.
    pub layout_notes: Vec<String>,
}

/// A network in a layout, at the prices of a list.
#[derive(Debug, Clone, Copy)]
pub struct Bill<'a> {
    /// The network.
    pub network: &'a Network,
    /// Its layout.
    pub layout: &'a Layout,
    /// The list.
    pub prices: &'a PriceList,
}

/// What `network` costs and draws in `layout` at `prices`.
///
/// # Errors
/// [`Error::Config`](crate::error::Error::Config) if no kind of cable reaches, or a router would cost less than nothing.
pub fn cost(network: &Network, layout: &Layout, prices: &PriceList) -> Result<Cost> {
    Bill { network, layout, prices }.total()
}

/// The list that a network is priced by unless one is asked for: of the lists of switches, cards and cables of one rate
/// the slowest that has the rate of the network's fastest link and can build it, as an EDR switch is no price of a 400G
/// one. The default list where links have no rates, or no such list has the switches or the cables.
pub fn usual_prices(network: &Network, layout: &Layout) -> &'static PriceList {
    let builds = |prices: &&PriceList| cost(network, layout, prices).is_ok();
    let of_rate = network.fastest_gbps().and_then(|gbps| PriceList::from_rate(gbps).find(builds));
    of_rate.unwrap_or_default()
}

impl Bill<'_> {
    /// Every cable: between routers in the order of [`Network::links`], then those of the terminals, by terminal.
    pub fn cables(&self) -> impl Iterator<Item = Result<Cable>> + '_ {
        let links = self.network.links().iter().map(|link| {
            let [a, b] = link.ends.map(|port| self.network.ports()[port.index()].router);
            let cable = self.laid(link.ends[0], End::Port(link.ends[1]), link.class, self.layout.cable_m(a, b));
            self.priced(cable, self.layout.cabinet(a) == self.layout.cabinet(b))
        });
        let terminals = (0..self.network.num_terminals() as u32).map(TerminalId).filter_map(|terminal| {
            let length_m = self.layout.terminal_cable_m(self.network, terminal)?;
            let port = self.network.terminal_port(terminal);
            let at = self.layout.cabinet(self.network.router_of(terminal));
            let within = at == self.layout.terminal_cabinet(self.network, terminal);
            Some(self.priced(self.laid(port, End::Terminal(terminal), LinkClass::Terminal, length_m), within))
        });
        links.chain(terminals)
    }

    fn laid(&self, port: PortId, end: End, class: LinkClass, length_m: f64) -> Cable {
        Cable { port, end, class, length_m, bought: None }
    }

    fn priced(&self, cable: Cable, within_cabinet: bool) -> Result<Cable> {
        let copper_m = self.layout.rules().copper_m;
        let bought = self.prices.cheapest_cable(cable.length_m, within_cabinet, copper_m)?;
        Ok(Cable { bought, ..cable })
    }

    /// How many cables there are of each class, kind and length, shortest first.
    ///
    /// # Errors
    /// As [`cost`].
    pub fn lengths(&self) -> Result<Vec<LengthCount>> {
        let mut counts = BTreeMap::<(LinkClass, Option<usize>, u64), usize>::new();
        for cable in self.cables() {
            let Cable { class, length_m, bought, .. } = cable?;
            *counts.entry((class, bought.map(|bought| bought.kind), micrometres(length_m))).or_default() += 1;
        }
        let kind = |kind: usize| self.prices.cables[kind].kind.clone();
        let count = |((class, of, length), cables): ((_, Option<usize>, u64), _)| LengthCount {
            class,
            kind: of.map(kind),
            length_m: length as f64 / 1e6,
            cables,
        };
        Ok(counts.into_iter().map(count).collect())
    }

    /// The bundles of cables between cabinets, by cabinets.
    ///
    /// # Errors
    /// As [`cost`].
    pub fn bundles(&self) -> Result<Vec<Bundle>> {
        let mut found = BTreeMap::<[u32; 2], Bundle>::new();
        for cable in self.cables() {
            let cable = cable?;
            let near = self.layout.cabinet(self.network.ports()[cable.port.index()].router);
            let far = match cable.end {
                End::Port(port) => self.layout.cabinet(self.network.ports()[port.index()].router),
                End::Terminal(terminal) => self.layout.terminal_cabinet(self.network, terminal),
            };
            let cabinets = [near.min(far), near.max(far)];
            if near != far {
                let bundle = Bundle { cabinets, cables: 0, length_m: cable.length_m };
                let bundle = found.entry(cabinets).or_insert(bundle);
                bundle.cables += 1;
                bundle.length_m = bundle.length_m.max(cable.length_m);
            }
        }
        Ok(found.into_values().collect())
    }

    /// The sums of all parts.
    ///
    /// # Errors
    /// As [`cost`].
    pub fn total(&self) -> Result<Cost> {
        let Bill { network, layout, prices } = *self;
        let terminals = network.num_terminals();
        let per_terminal = |whole: f64| (terminals > 0).then(|| whole / terminals as f64);
        let routers = self.sum_routers()?;
        let (router_cost_usd, router_power_w) = (rounded(routers.usd), rounded(routers.w));
        let sums = self.sum_cables()?;
        let priced = !prices.cables.is_empty();
        let nic_cost_usd = terminals as f64 * prices.nic.usd;
        let nic_power_w = terminals as f64 * prices.nic.w;
        // The sum of no numbers is −0.
        let cable_usd = sums.kinds.iter().fold(0.0, |all, kind| all + kind.cost_usd);
        let cable_power_w = sums.kinds.iter().fold(0.0, |all, kind| all + kind.power_w);
        let (cost_usd, power_w) =
            (router_cost_usd + cable_usd + nic_cost_usd, router_power_w + cable_power_w + nic_power_w);
        let energy_usd = prices.energy.map(|energy| energy.usd(power_w));
        let lifetime_usd = energy_usd.map(|usd| cost_usd + usd);
        let kinds: Vec<KindTotal> = sums.kinds.into_iter().filter(|kind| kind.cables > 0).collect();
        let used = routers.used.into_iter().chain(kinds.iter().map(|kind| kind.kind.clone()));
        let used = used.chain(["nic", "energy"].map(str::to_owned)).collect();
        Ok(Cost {
            prices: prices.name.clone(),
            prices_assumed: prices.assumed(&used),
            layout: layout.rules().text.clone(),
            layout_assumptions: layout.rules().assumptions(),
            layout_order: layout.order(),
            cabinet_count: layout.cabinets(network).len(),
            cost_usd,
            router_cost_usd,
            cable_cost_usd: priced.then_some(cable_usd),
            terminal_cable_cost_usd: priced.then_some(sums.terminal_usd),
            nic_cost_usd,
            cost_without_terminal_cables_usd: cost_usd - sums.terminal_usd,
            cost_per_terminal_usd: per_terminal(cost_usd),
            router_cost_per_terminal_usd: per_terminal(router_cost_usd),
            cable_cost_per_terminal_usd: per_terminal(cable_usd).filter(|_| priced),
            power_w,
            router_power_w,
            cable_power_w,
            nic_power_w,
            power_per_terminal_w: per_terminal(power_w),
            energy_years: prices.energy.map(|energy| energy.years),
            energy_cost_usd: energy_usd,
            lifetime_cost_usd: lifetime_usd,
            lifetime_cost_per_terminal_usd: lifetime_usd.and_then(per_terminal),
            cables: sums.cables,
            cable_m: sums.cable_m,
            terminal_cable_m: sums.terminal_m,
            cable_per_terminal_m: per_terminal(sums.cable_m),
            longest_cable_m: sums.longest_m,
            cable_kinds: kinds,
            layout_notes: layout.notes(network),
        })
    }

    fn sum_routers(&self) -> Result<RouterSums> {
        let mut sums = RouterSums::default();
        for router in self.network.routers() {
            let (ports, terminals) = (self.network.radix_of(router), self.network.terminals_of(router).count());
            let bought = self.prices.router(ports, terminals)?;
            sums.usd += bought.usd;
            sums.w += bought.w;
            if let Some(switch) = bought.switch {
                sums.used.insert(switch.figure());
            }
        }
        Ok(sums)
    }

    fn sum_cables(&self) -> Result<Sums> {
        let kind = |kind: &super::CableKind| KindTotal {
            kind: kind.kind.clone(),
            cables: 0,
            length_m: 0.0,
            cost_usd: 0.0,
            power_w: 0.0,
        };
        let mut sums = Sums { kinds: self.prices.cables.iter().map(kind).collect(), ..Sums::default() };
        for cable in self.cables() {
            sums.add(&cable?, self.prices);
        }
        Ok(sums)
    }
}

/// A length by which cables are counted: sums of the same steps may differ in their last digit, so that lengths that
/// agree to a micrometre are one.
pub(super) fn micrometres(length_m: f64) -> u64 {
    (length_m * 1e6).round() as u64
}

/// Sums over routers.
#[derive(Default)]
struct RouterSums {
    usd: f64,
    w: f64,
    /// The switches that are bought, as figures name them.
    used: BTreeSet<String>,
}

/// Sums over cables.
#[derive(Default)]
struct Sums {
    kinds: Vec<KindTotal>,
    cables: usize,
    cable_m: f64,
    terminal_m: f64,
    terminal_usd: f64,
    longest_m: f64,
}

impl Sums {
    fn add(&mut self, cable: &Cable, prices: &PriceList) {
        self.cables += 1;
        self.cable_m += cable.length_m;
        let usd = cable.bought.map_or(0.0, |bought| bought.usd);
        match cable.end {
            End::Port(_) => self.longest_m = self.longest_m.max(cable.length_m),
            End::Terminal(_) => {
                self.terminal_m += cable.length_m;
                self.terminal_usd += usd;
            }
        }
        if let Some(CablePurchase { kind, .. }) = cable.bought {
            let total = &mut self.kinds[kind];
            total.cables += 1;
            total.length_m += cable.length_m;
            total.cost_usd += usd;
            total.power_w += prices.cables[kind].w;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Rules;
    use super::*;
    use crate::topology::build;

    fn under(spec: &str, rules: &str, prices: &PriceList) -> Cost {
        let network = build(spec).expect(spec);
        let layout = Layout::new(&network, &Rules::parse(rules).expect(rules)).expect(rules);
        cost(&network, &layout, prices).expect(spec)
    }

    fn of(spec: &str) -> Cost {
        under(spec, "family", Default::default())
    }

    /// Table 6 of the FleX paper, as recomputed to the dollar.
    #[test]
    fn published_costs() {
        for (spec, usd) in
            [("flex:6x6x3,p=10", 3_059_532.0), ("flex:8x8x3,p=5", 5_490_046.0), ("hyperx:10x10,p=10", 2_757_277.0)]
        {
            assert_eq!(of(spec).cost_usd.floor(), usd, "{spec}");
        }
        // Published as 5,162,592: without the cables of the 1,056 terminals.
        let dragonfly = of("dragonfly:a=8,h=4,p=4");
        assert!((dragonfly.cost_without_terminal_cables_usd - 5_162_592.0).abs() < 1.0);
        let bare = under("dragonfly:a=8,h=4,p=4", "terminal=none", Default::default());
        assert!((bare.cost_usd - dragonfly.cost_without_terminal_cables_usd).abs() < 1e-6);
        assert_eq!((bare.cables, bare.terminal_cable_m, bare.terminal_cable_cost_usd), (1452, 0.0, Some(0.0)));
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

    /// Table 6 of the Galaxyfly paper: router dollars and watts per terminal, to the printed digits.
    #[test]
    fn published_costs_and_watts_per_terminal() {
        let prices = PriceList::named("galaxyfly").expect("is there");
        for (spec, usd, watts) in [
            ("dragonfly:a=19,h=9,p=9,g=172", 1130.0, 21.0),
            ("fattree:k=31,levels=3", 1391.0, 24.0),
            ("hyperx:13x13x13,p=13", 1050.0, 21.0),
            ("slimfly:q=27,p=20", 844.0, 19.0),
        ] {
            let found = under(spec, "family", prices);
            assert_eq!(found.router_cost_per_terminal_usd.map(f64::round), Some(usd), "{spec}");
            assert_eq!(found.power_per_terminal_w.map(f64::round), Some(watts), "{spec}");
            assert_eq!((found.cable_cost_usd, found.cost_usd), (None, found.router_cost_usd), "{spec}");
        }
    }

    #[test]
    fn a_network_with_rates_is_priced_by_the_list_of_its_rate() {
        let name = |spec: &str| {
            let network = build(spec).expect(spec);
            usual_prices(&network, &Layout::usual(&network)).name.clone()
        };
        for (spec, list) in [
            ("torus:4x4", "edr-flex"),
            ("torus:4x4,rate=25G", "25g"),
            ("torus:4x4,rate=56G", "100g"),
            ("dragonfly:a=4,h=2,p=2,rate=200G,rate.global=100G", "200g"),
            ("torus:4x4,rate=400G", "400g"),
            // Nothing is as fast, and no switch of 400G has 140 ports.
            ("torus:4x4,rate=900G", "edr-flex"),
            ("hyperx:71,p=70,rate=400G", "edr-flex"),
        ] {
            assert_eq!(name(spec), list, "{spec}");
        }
        // The switches within the hosts, at 3,600 Gb/s, are on no list and on no bill.
        let hosts = build("cluster:hosts=8,host=hgx-h100,fabric=(clos:radix=16,levels=2,rate=400G),attach=block");
        assert_eq!(crate::metrics::facts(&hosts.expect("a cluster")).cost.prices, "400g");
    }

    #[test]
    fn the_parts_add_up() {
        let path = of("mesh:3,p=2");
        assert_eq!((path.cables, path.cable_m, path.terminal_cable_m), (8, 6.0 + 2.0 * 3.0, 6.0));
        assert_eq!(path.longest_cable_m, 3.0);
        assert_eq!(path.router_cost_usd, 3.0 * 15029.0 + 128.0 * (3.0 + 4.0 + 3.0));
        let cables = path.cable_cost_usd.expect("priced");
        assert!((cables - (8.0 * 434.1 + 12.0 * 11.67)).abs() < 1e-9);
        assert_eq!(path.cost_usd, path.router_cost_usd + cables);
        assert_eq!(path.power_per_terminal_w, Some(28.0 / 6.0));
        let kinds: Vec<_> = path.cable_kinds.iter().map(|kind| (kind.kind.as_str(), kind.cables)).collect();
        assert_eq!(kinds, [("optical", 8)]);
    }

    /// Two cabinets of two routers in a line: the kinds, watts and interfaces of a custom list, computed by hand.
    #[test]
    fn every_price_counts_once() {
        let prices = PriceList::from_json(
            r#"{"name": "own", "source": "quote", "router": {"usd": 10, "usd_per_port": 1, "w": 5, "w_per_port": 2},
                "nic": {"usd": 7, "w": 3}, "cables": [{"kind": "copper", "reach_m": 2.5, "usd": 1, "usd_per_m": 1},
                {"kind": "optical", "usd": 20, "w": 4}]}"#,
        )
        .expect("reads");
        let found = under("mesh:4", "cabinet=2,inside=0.5,overhead=3,width=1.5,terminal=2", &prices);
        // Links of 0.5, 1.5 + 3 and 0.5 m, terminals' of 2 m; 10 ports.
        assert_eq!((found.cables, found.cable_m), (7, 0.5 + 4.5 + 0.5 + 8.0));
        assert_eq!(found.router_cost_usd, 4.0 * 10.0 + 10.0);
        assert_eq!(found.cable_cost_usd, Some(2.0 * 1.5 + 4.0 * 3.0 + 20.0));
        assert_eq!((found.terminal_cable_cost_usd, found.nic_cost_usd), (Some(12.0), 28.0));
        assert_eq!((found.router_power_w, found.cable_power_w, found.nic_power_w), (20.0 + 20.0, 4.0, 12.0));
        assert_eq!((found.cost_usd, found.power_w), (50.0 + 35.0 + 28.0, 56.0));
        assert_eq!(found.cost_without_terminal_cables_usd, 113.0 - 12.0);
        let counts: Vec<_> = found.cable_kinds.iter().map(|kind| (kind.cables, kind.length_m)).collect();
        assert_eq!(counts, [(6, 9.0), (1, 4.5)]);
    }

    #[test]
    fn lengths_are_counted_by_class() {
        let network = build("dragonfly:a=2,h=1").expect("small");
        let layout = Layout::of_family(&network);
        let bill = Bill { network: &network, layout: &layout, prices: Default::default() };
        let lengths: Vec<_> =
            bill.lengths().expect("priced").iter().map(|l| (l.class.name(), l.length_m, l.cables)).collect();
        // Three groups on a floor of two columns: two pairs are neighbours, one is across the corner.
        assert_eq!(lengths, [("terminal", 1.0, 6), ("local", 2.0, 3), ("global", 3.0, 2), ("global", 4.0, 1)]);
    }
}
