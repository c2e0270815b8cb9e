//! How long links take: by their class, by whether they leave a cabinet, or a latency of their own.

use serde::{Deserialize, Serialize};

use crate::catalogue::CabinetRule;
use crate::error::{Error, Result};
use crate::layout::{Layout, Packing};
use crate::limits::within;
use crate::network::{LinkClass, Network, Peer, PortId};

/// Latency in cycles, by link class or by cabinets. A flit that is sent over a link of latency L in cycle s is at hand
/// in s + L + 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Latencies {
    /// Of links between a terminal and its router.
    pub terminal: u32,
    /// Of links within a group, or of a family without a hierarchy.
    pub local: u32,
    /// Of links between groups.
    pub global: u32,
    /// Of links of trees.
    pub up: u32,
    /// Of links between the routers of one node.
    pub internal: u32,
    /// Of links between network interfaces of hosts and routers.
    pub nic: u32,
    /// Of links between routers of one cabinet, whatever their class; None for their class's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside: Option<u32>,
    /// Of links between routers of different cabinets, whatever their class; None for their class's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between: Option<u32>,
    /// Which routers share a cabinet, as a layout's `cabinet` states; None for the default layout's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cabinet: Option<CabinetRule>,
}

impl Default for Latencies {
    fn default() -> Self {
        let (inside, between, cabinet) = (None, None, None);
        Self { terminal: 1, local: 1, global: 1, up: 1, internal: 1, nic: 1, inside, between, cabinet }
    }
}

impl Latencies {
    /// True if cabinets decide.
    pub fn by_cabinet(&self) -> bool {
        self.inside.is_some() || self.between.is_some()
    }

    /// Checks every latency by itself.
    ///
    /// # Errors
    /// [`Error::Config`] names the latency and what is allowed.
    pub fn check(&self) -> Result<()> {
        for class in LinkClass::ALL {
            within(&format!("the latency of {} links", class.name()), self.of(class).into(), 1, 10_000)?;
        }
        for (name, latency) in [("inside", self.inside), ("between", self.between)] {
            within(&format!("the latency of links {name} cabinets"), latency.unwrap_or(1).into(), 1, 10_000)?;
        }
        match &self.cabinet {
            Some(cabinet) if !self.by_cabinet() => Err(Error::Config(format!(
                "links: cabinet={cabinet} changes nothing without inside or between, the latencies that depend on cabinets"
            ))),
            _ => Ok(()),
        }
    }

    /// The latency of a class.
    pub fn of(&self, class: LinkClass) -> u32 {
        match class {
            LinkClass::Terminal => self.terminal,
            LinkClass::Local => self.local,
            LinkClass::Global => self.global,
            LinkClass::Up => self.up,
            LinkClass::Internal => self.internal,
            LinkClass::Nic => self.nic,
        }
    }
}

/// Bytes of a flit, unless a run states otherwise.
pub const FLIT_BYTES: u32 = 64;

/// Nanoseconds of a cycle of the cycle engine, in which a flit of this many bytes goes at [`Network::clock_gbps`], where
/// links have rates.
pub fn cycle_ns(network: &Network, flit_bytes: u32) -> Option<f64> {
    network.clock_gbps().map(|gbps| f64::from(flit_bytes) * 8.0 / gbps)
}

/// The latency of each link of a network.
#[derive(Debug, Clone)]
pub struct LinkTimes {
    latencies: Latencies,
    /// The cabinet of each router; empty if no latency depends on cabinets.
    cabinets: Vec<u32>,
    /// Nanoseconds of a cycle, where links have rates.
    cycle_ns: Option<f64>,
}

impl LinkTimes {
    /// Finds out which links are in which cabinets, if that is asked for.
    ///
    /// # Errors
    /// [`Error::Config`] for cabinets that this network cannot be put into.
    pub fn new(network: &Network, latencies: &Latencies) -> Result<Self> {
        Self::of_flits(network, latencies, FLIT_BYTES)
    }

    /// The same with flits of `flit_bytes` bytes: where links have rates, the size of a flit sets the length of a
    /// cycle.
    ///
    /// # Errors
    /// As [`LinkTimes::new`].
    pub fn of_flits(network: &Network, latencies: &Latencies, flit_bytes: u32) -> Result<Self> {
        latencies.check()?;
        let said = |error| match error {
            Error::Config(what) => Error::Config(format!("links: {what}")),
            other => other,
        };
        let cabinets = match (latencies.by_cabinet(), &latencies.cabinet) {
            (false, _) => Vec::new(),
            (true, None) => Layout::usual(network).router_cabinets(network),
            (true, Some(text)) => Packing::parse(text).and_then(|packing| packing.cabinets(network)).map_err(said)?,
        };
        let this = Self { latencies: latencies.clone(), cabinets, cycle_ns: cycle_ns(network, flit_bytes) };
        let ports = (0..network.ports().len() as u32).map(PortId);
        let longest = ports.filter(|_| network.has_wires()).filter_map(|port| this.by_delay(network, port)).max();
        within("a delay, in cycles of the fastest link,", longest.unwrap_or(1).into(), 1, 10_000)?;
        Ok(this)
    }

    /// The latency of the links of a class, where cabinets do not decide.
    pub fn of_class(&self, class: LinkClass) -> u32 {
        self.latencies.of(class)
    }

    /// The latency of the link at a port: its own if it has one, else by its cabinets or its class.
    pub fn of(&self, network: &Network, port: PortId) -> u32 {
        network.own_latency(port).or_else(|| self.by_delay(network, port)).unwrap_or_else(|| {
            let this = &network.ports()[port.index()];
            self.by_cabinet(network, port, this.peer).unwrap_or_else(|| self.of_class(this.class))
        })
    }

    /// The cycles that the link's own delay takes, rounded up.
    fn by_delay(&self, network: &Network, port: PortId) -> Option<u32> {
        let (cycle_ns, delay_ns) = (self.cycle_ns?, network.wire(port).latency_ns?);
        Some((delay_ns / cycle_ns - 1e-9).ceil().max(1.0) as u32)
    }

    fn by_cabinet(&self, network: &Network, port: PortId, peer: Peer) -> Option<u32> {
        let (Peer::Port(peer), false) = (peer, self.cabinets.is_empty()) else { return None };
        let [here, there] = [port, peer].map(|port| self.cabinets[network.ports()[port.index()].router.index()]);
        if here == there { self.latencies.inside } else { self.latencies.between }
    }
}
