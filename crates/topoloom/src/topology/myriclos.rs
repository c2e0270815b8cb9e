//! `myriclos:1024`: the Clos network of Myrinet for 32 to 8192 terminals, of routers with 16 ports.
//!
//! - Up to 128 terminals N: N/8 routers of the first tier, with 8 terminals each, all linked to all N/16 of the second,
//!   over 128/N links each.
//! - Beyond, leaf enclosures of 8 routers of the first tier, with 8 terminals each, and 8 of the second, all linked to
//!   all. Uplink q of an enclosure, 0 ≤ q < 64, belongs to router q / 8 of its second tier.
//! - Up to 1024, N/16 spine routers: uplink q leads to spine q mod N/16.
//! - Beyond, N/128 spine enclosures of 16 routers of the third tier and 8 of the fourth, all linked to all. Uplink q of
//!   leaf enclosure b leads to spine enclosure e = q mod N/128, to its port b m + q / (N/128), m = 8192/N; port x is on router
//!   x / 8 of the third tier.
//!
//! Router ids, enclosure by enclosure, leaf enclosures first, the lower tier of an enclosure first. Ports of a router:
//! terminals or links down, in the order of the routers below (of uplinks: in the order of enclosures, then of q), then
//! links up, in the order of the routers above (of uplinks: of q). Terminal t is at router t / 8 of the first tier.
//! Link class: `up`.

use super::params::Params;
use super::{Family, Roles};
use crate::error::Result;
use crate::network::{LinkClass, Network, NetworkBuilder, RouterId, Structure, WorstCase};

pub(super) const FAMILY: Family = Family {
    name: "myriclos",
    summary: "Clos network of Myrinet: routers of 16 ports in enclosures, two to four tiers",
    sizes: Some("1024"),
    keys: &[],
    example: "myriclos:256",
    source: "Fujiwara, Koibuchi, Matsutani and Casanova, Swap-and-randomize: a method for building low-latency HPC \
             interconnects, table 1; Boden et al., Myrinet: a gigabit-per-second \
             local area network, IEEE Micro 15, 1995",
    routings: &[],
    roles: Roles::ANY,
    build,
};

/// Terminals of a router of the first tier, and links up of every router but the last tier's.
const HALF: u32 = 8;
/// Routers of a leaf enclosure, half of them in each of its two tiers.
const LEAF: u32 = 2 * HALF;
/// Uplinks, and terminals, of a leaf enclosure.
const UPLINKS: u32 = HALF * HALF;
/// Routers of a spine enclosure, 16 of the third tier and 8 of the fourth.
const SPINE: u32 = 24;

/// A Myrinet Clos network.
#[derive(Debug)]
pub struct Myriclos {
    /// The number of terminals.
    pub terminals: u32,
}

impl Myriclos {
    /// Leaf enclosures; without them the network is one enclosure of two tiers.
    fn leaf_enclosures(&self) -> u32 {
        if self.terminals <= 128 { 0 } else { self.terminals / UPLINKS }
    }

    /// Spine enclosures of four-tier networks.
    fn spine_enclosures(&self) -> u32 {
        if self.terminals <= 1024 { 0 } else { self.terminals / 128 }
    }

    fn routers(&self) -> u32 {
        match self.terminals {
            n @ ..=128 => n / 8 + n / 16,
            n @ ..=1024 => self.leaf_enclosures() * LEAF + n / 16,
            _ => self.leaf_enclosures() * LEAF + self.spine_enclosures() * SPINE,
        }
    }

    /// The tier of a router, 0 for the one with terminals.
    fn tier(&self, router: u32) -> u32 {
        let leaves = self.leaf_enclosures() * LEAF;
        match self.terminals {
            n @ ..=128 => u32::from(router >= n / 8),
            _ if router < leaves => router % LEAF / HALF,
            ..=1024 => 2,
            _ => 2 + u32::from((router - leaves) % SPINE >= 2 * HALF),
        }
    }

    /// The router of the third tier that uplink `q` of leaf enclosure `b` leads to.
    fn spine(&self, b: u32, q: u32) -> u32 {
        let leaves = self.leaf_enclosures() * LEAF;
        if self.terminals <= 1024 {
            return leaves + q % (self.terminals / 16);
        }
        let enclosures = self.spine_enclosures();
        let port = b * (UPLINKS / enclosures) + q / enclosures;
        leaves + q % enclosures * SPINE + port / HALF
    }
}

impl Structure for Myriclos {
    fn level(&self, router: RouterId) -> Option<u32> {
        Some(self.tier(router.0))
    }

    /// Four enclosures a cabinet, leaf enclosures first. Spine routers of three tiers share enclosures by eight.
    fn cabinet(&self, router: RouterId) -> Option<u32> {
        let leaves = self.leaf_enclosures() * LEAF;
        let spine = if self.terminals <= 1024 { HALF } else { SPINE };
        Some(match self.terminals {
            ..=128 => 0,
            _ if router.0 < leaves => router.0 / LEAF / 4,
            _ => (self.leaf_enclosures() + (router.0 - leaves) / spine) / 4,
        })
    }

    /// All packets go through the last tier.
    fn worst_case(&self) -> WorstCase {
        WorstCase::AcrossTheTop
    }
}

fn build(params: &Params) -> Result<Network> {
    let &[terminals] = params.sizes() else {
        return Err(params.mistake("a Myrinet Clos network has one size, its terminals, as in myriclos:1024"));
    };
    if !terminals.is_power_of_two() || !(32..=8192).contains(&terminals) {
        return Err(params.mistake(format!("the size is {terminals}; it must be a power of two from 32 to 8192")));
    }
    let clos = Myriclos { terminals };
    let mut builder = NetworkBuilder::new(clos.routers());
    let ends = (0..clos.routers()).filter(|&router| clos.tier(router) == 0);
    ends.for_each(|router| builder.terminals(router, HALF));
    if terminals <= 128 {
        link_all(&mut builder, 0, [terminals / 8, terminals / 16]);
    }
    for enclosure in 0..clos.leaf_enclosures() {
        link_all(&mut builder, enclosure * LEAF, [HALF, HALF]);
    }
    for enclosure in 0..clos.leaf_enclosures() {
        for q in 0..UPLINKS {
            let lower = enclosure * LEAF + HALF + q / HALF;
            builder.link(lower, clos.spine(enclosure, q), LinkClass::Up);
        }
    }
    for enclosure in 0..clos.spine_enclosures() {
        let first = clos.leaf_enclosures() * LEAF + enclosure * SPINE;
        link_all(&mut builder, first, [2 * HALF, HALF]);
    }
    builder.build(params.spec().to_owned(), FAMILY.name, Box::new(clos))
}

/// Links the `lower` routers from `first` on to the `upper` ones behind them, all to all, with all their links up.
fn link_all(builder: &mut NetworkBuilder, first: u32, [lower, upper]: [u32; 2]) {
    for low in first..first + lower {
        for high in first + lower..first + lower + upper {
            (0..HALF / upper).for_each(|_| builder.link(low, high, LinkClass::Up));
        }
    }
}
