//! `rails:copies=8,fabric=(clos:radix=8,levels=2),join=(clos:radix=16,levels=2)`: copies of one tree, the rails of a
//! cluster, whose top routers another tree joins.
//!
//! Each router of the highest level of each copy has `uplinks` links to the joining tree, in the positions of its
//! terminals: by default as many as it has links down, or as the joining tree has positions. Copy by copy and router by
//! router, they are dealt in turn round the first routers of its lowest level, no more of these than have places
//! enough. Its higher levels are left out where each of those routers meets all copies, and otherwise trimmed to what
//! joins them.
//!
//! Ids: copy by copy, the routers of the tree in its order, then those of the joining one. Terminals: copy by copy.
//! Ports: those of the tree, then the links to the joining one. A link between the two (class `up`) has the lower of the
//! rates of their terminals.

use super::params::{Params, product};
use super::{Family, Roles, Tree};
use crate::catalogue::grammar::bracketed;
use crate::catalogue::{Key, Kind};
use crate::error::Result;
use crate::network::{LinkClass, Network, NetworkBuilder, RouterId, Structure, TerminalId, Wire, WorstCase};

/// The key of what joins the copies, here and in clusters.
pub(super) const JOIN: Key = Key::new(
    "join",
    Kind::Network,
    "the tree that joins the top routers of all copies, in brackets: (clos:radix=64,levels=2,rate=400G)",
);

/// The key of the links to it.
pub(super) const UPLINKS: Key = Key::new(
    "uplinks",
    Kind::count(1),
    "links from a top router of a copy to what joins them (default: as many as it has down, if there are free ports)",
);

pub(super) const FAMILY: Family = Family {
    name: "rails",
    summary: "copies of one tree, such as the rails of a cluster, joined by another tree above them",
    sizes: None,
    keys: &[
        Key::new("copies", Kind::count(1), "copies of the tree"),
        Key::new("fabric", Kind::Network, "a tree, in brackets: (clos:radix=64,levels=2,rate=400G)"),
        JOIN,
        UPLINKS,
    ],
    example: "rails:copies=4,fabric=(clos:radix=8,levels=2),join=(clos:radix=16,levels=2),uplinks=4",
    source: "NVIDIA DGX SuperPOD reference architecture",
    routings: &["nca", "anca"],
    roles: Roles { minimal: "nca", adaptive: "anca" },
    build,
};

/// The levels of all routers, and how many terminals a copy has.
#[derive(Debug)]
struct Rails {
    levels: Vec<u32>,
    each: u32,
}

impl Structure for Rails {
    fn level(&self, router: RouterId) -> Option<u32> {
        Some(self.levels[router.index()])
    }

    fn group_size(&self) -> Option<u32> {
        Some(self.each)
    }

    fn worst_case(&self) -> WorstCase {
        WorstCase::AcrossTheTop
    }
}

/// Why a fabric cannot be joined or join: a sentence without its beginning.
pub(super) type Refusal = String;

fn build(params: &Params) -> Result<Network> {
    let copies = params.required("copies")?;
    let [fabric, join] = ["fabric", "join"].map(|key| tree_in(params, key));
    let (fabric, join) = (fabric?, join?);
    let used = vec![true; fabric.num_terminals()];
    let parts = Parts::new(&fabric, &used, &join, copies, params.count("uplinks"))
        .map_err(|refusal| params.mistake(refusal))?;
    let [routers, links] = parts.size();
    params.guard_size(routers, product([copies, fabric.num_terminals() as u32]), links)?;
    parts.assembled(params.spec())
}

/// The network that a key names in brackets.
pub(super) fn tree_in(params: &Params, key: &str) -> Result<Network> {
    let text = params.text(key).ok_or_else(|| params.missing(key))?;
    let spec = bracketed(text).ok_or_else(|| params.mistake(format!("{key} is '{text}'; write it in brackets")))?;
    super::build(spec).map_err(|error| match error {
        crate::error::Error::TooLarge(_) => error,
        other => params.mistake(other.to_string()),
    })
}

/// The level of each router of a tree, a single router being one of one level; `None` of what is no tree.
fn levels(network: &Network) -> Option<Vec<u32>> {
    if network.num_routers() == 1 {
        return Some(vec![0]);
    }
    let levels: Vec<u32> =
        network.routers().map(|router| network.any_structure().level(router)).collect::<Option<_>>()?;
    let at_leaves = network.routers().all(|r| levels[r.index()] == 0 || network.terminals_of(r).next().is_none());
    let by_one = |link: &crate::network::Link| {
        let [a, b] = network.routers_of(link).map(|router| levels[router.index()]);
        a.abs_diff(b) == 1
    };
    (at_leaves && network.links().iter().all(by_one)).then_some(levels)
}

/// What of a network's routers stays, given which of its terminals are used: of a tree the routers below which some are,
/// and the levels that join them; of others all.
pub(super) fn kept(fabric: &Network, used: &[bool]) -> Vec<bool> {
    let Some(tree) = fabric.structure::<Tree>() else { return vec![true; fabric.num_routers()] };
    let needed = |router: RouterId| fabric.terminals_of(router).any(|terminal| used[terminal.index()]);
    let mut kept: Vec<bool> = fabric.routers().map(needed).collect();
    for level in 0..tree.levels() {
        let below: Vec<u32> =
            (tree.first(level)..tree.first(level) + tree.width(level)).filter(|&r| kept[r as usize]).collect();
        // Routers that stand above the same leaves are one place: once there is one alone, nothing above joins anything.
        let mut places: Vec<u32> = below.iter().map(|&router| tree.place(RouterId(router)).1).collect();
        places.dedup();
        if places.len() < 2 {
            break;
        }
        for router in below {
            for (_, peer) in fabric.neighbors(RouterId(router)).filter(|(_, peer)| tree.level_of(*peer) > level) {
                kept[peer.index()] = true;
            }
        }
    }
    kept
}

/// The terminals of routers in turn: the first of each, then the second of each, and so on.
pub(super) fn dealt(leaves: &[Vec<u32>]) -> Vec<u32> {
    let most = leaves.iter().map(Vec::len).max().unwrap_or(0);
    let turn = |turn: usize| leaves.iter().filter_map(move |leaf| leaf.get(turn).copied());
    (0..most).flat_map(turn).collect()
}

/// What is built of a tree and of what joins its copies.
pub(super) struct Parts<'a> {
    fabric: &'a Network,
    join: &'a Network,
    used: &'a [bool],
    copies: u32,
    /// The routers of the fabric that stay, in order, and their levels.
    routers: Vec<RouterId>,
    levels: Vec<u32>,
    /// Those of them that are joined.
    tops: Vec<RouterId>,
    /// The same of what joins them.
    joining: Vec<RouterId>,
    join_levels: Vec<u32>,
    uplinks: u32,
    /// The position in the joining tree of each link to it: copy by copy, router by router.
    places: Vec<u32>,
}

impl<'a> Parts<'a> {
    /// # Errors
    /// If one of the two is no tree, or has too few positions.
    pub(super) fn new(
        fabric: &'a Network,
        used: &'a [bool],
        join: &'a Network,
        copies: u32,
        uplinks: Option<u32>,
    ) -> std::result::Result<Self, Refusal> {
        let tree = |network: &Network, what: &str| {
            levels(network).ok_or_else(|| {
                format!("{what} must be a tree, with terminals at its lowest level alone; {} is none", network.spec())
            })
        };
        let (levels, join_levels) = (tree(fabric, "fabric")?, tree(join, "join")?);
        let stays = kept(fabric, used);
        let routers: Vec<RouterId> = fabric.routers().filter(|router| stays[router.index()]).collect();
        let top = routers.iter().map(|router| levels[router.index()]).max().unwrap_or(0);
        let tops: Vec<RouterId> = routers.iter().copied().filter(|router| levels[router.index()] == top).collect();
        let joined = u64::from(copies) * tops.len() as u64;
        let places = join.num_terminals() as u64;
        let down = |router: &RouterId| {
            let links = fabric.neighbors(*router).filter(|(_, peer)| stays[peer.index()]).count();
            links + fabric.terminals_of(*router).filter(|terminal| used[terminal.index()]).count()
        };
        let wanted = uplinks.map_or_else(|| tops.iter().map(down).max().unwrap_or(1) as u64, u64::from);
        let most = places / joined;
        let uplinks = if uplinks.is_some() { wanted } else { wanted.min(most).max(1) };
        if uplinks > most {
            return Err(format!(
                "{joined} top routers with uplinks={uplinks} need {} ports, and {} has {places}",
                joined * uplinks,
                join.spec()
            ));
        }
        let mut parts = Self {
            fabric,
            join,
            used,
            copies,
            routers,
            levels,
            tops,
            joining: Vec::new(),
            join_levels,
            uplinks: uplinks as u32,
            places: Vec::new(),
        };
        parts.plug((joined * uplinks) as usize);
        Ok(parts)
    }

    /// Deals `count` links round the routers of the joining tree, and keeps what of it joins them.
    fn plug(&mut self, count: usize) {
        let join = self.join;
        let mut leaves: Vec<Vec<u32>> = Vec::new();
        let mut found = 0;
        for router in join.routers().filter(|&router| join.has_terminals(router)) {
            if found >= count {
                break;
            }
            leaves.push(join.terminals_of(router).map(|terminal| terminal.0).collect());
            found += leaves[leaves.len() - 1].len();
        }
        self.places = dealt(&leaves);
        self.places.truncate(count);
        let mut used = vec![false; join.num_terminals()];
        self.places.iter().for_each(|&place| used[place as usize] = true);
        let each = count / self.copies as usize;
        let meets_all = |leaf: &Vec<u32>| {
            let met = |copy: &[u32]| copy.iter().any(|place| leaf.contains(place));
            self.places.chunks_exact(each).all(met)
        };
        let stays = if leaves.iter().all(meets_all) {
            join.routers().map(|router| join.terminals_of(router).any(|terminal| used[terminal.index()])).collect()
        } else {
            kept(join, &used)
        };
        self.joining = join.routers().filter(|router| stays[router.index()]).collect();
    }

    /// Routers and links, at most.
    pub(super) fn size(&self) -> [u128; 2] {
        let copies = u128::from(self.copies);
        [
            copies * self.routers.len() as u128 + self.joining.len() as u128,
            copies * self.fabric.links().len() as u128 + (self.join.links().len() + self.places.len()) as u128,
        ]
    }

    /// The used terminals of a copy, in order: their ids in the joined network count on from copy to copy.
    pub(super) fn terminals(&self) -> Vec<TerminalId> {
        (0..self.fabric.num_terminals() as u32).map(TerminalId).filter(|terminal| self.used[terminal.index()]).collect()
    }

    /// Where routers come to stand: the first one's id, and the position of each among those that stay.
    fn numbers(routers: &[RouterId], all: usize) -> Vec<Option<u32>> {
        let mut numbers = vec![None; all];
        for (number, router) in (0u32..).zip(routers) {
            numbers[router.index()] = Some(number);
        }
        numbers
    }

    /// The network.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::error::Error::TooLarge) if there are more ports than ids.
    pub(super) fn assembled(&self, spec: &str) -> Result<Network> {
        let own = Self::numbers(&self.routers, self.fabric.num_routers());
        let above = Self::numbers(&self.joining, self.join.num_routers());
        let (each, first) = (self.routers.len() as u32, self.routers.len() as u32 * self.copies);
        let mut builder = NetworkBuilder::new(first + self.joining.len() as u32);
        let terminals = self.terminals();
        for copy in 0..self.copies {
            for &terminal in &terminals {
                let router = own[self.fabric.router_of(terminal).index()].expect("it is used");
                builder.terminal(copy * each + router);
                builder.terminal_wire(self.fabric.wire(self.fabric.terminal_port(terminal)));
            }
        }
        for copy in 0..self.copies {
            link(&mut builder, self.fabric, &own, copy * each);
        }
        link(&mut builder, self.join, &above, first);
        self.link_up(&mut builder, &own, &above);
        let top = self.tops.first().map_or(0, |router| self.levels[router.index()]);
        let own_levels = self.routers.iter().map(|router| self.levels[router.index()]);
        let join_levels = self.joining.iter().map(|router| self.join_levels[router.index()] + top + 1);
        let levels = (0..self.copies).flat_map(|_| own_levels.clone()).chain(join_levels).collect();
        let rails = Rails { levels, each: terminals.len() as u32 };
        builder.build(spec.to_owned(), FAMILY.name, Box::new(rails))
    }

    /// Adds the links between the copies and what joins them.
    fn link_up(&self, builder: &mut NetworkBuilder, own: &[Option<u32>], above: &[Option<u32>]) {
        /// Links up come after all others of a router.
        const BEHIND: u32 = 1 << 20;
        let (each, first) = (self.routers.len() as u32, self.routers.len() as u32 * self.copies);
        let plain = self.terminals().first().map(|&terminal| self.fabric.wire(self.fabric.terminal_port(terminal)));
        let plain = plain.unwrap_or(Wire::UNSAID);
        let lower = (0..self.copies).flat_map(|copy| self.tops.iter().map(move |top| (copy, top)));
        for ((copy, top), places) in lower.zip(self.places.chunks_exact(self.uplinks as usize)) {
            let at = copy * each + own[top.index()].expect("top routers stay");
            for (number, &place) in (0u32..).zip(places) {
                let plug = self.join.terminal_port(TerminalId(place));
                let (router, local) = self.join.local_port(plug);
                let to = first + above[router.index()].expect("what is plugged into stays");
                builder.ranked_link((at, BEHIND + number), (to, local), LinkClass::Up);
                let said = self.join.wire(plug);
                let gbps = plain.gbps.into_iter().chain(said.gbps).reduce(f64::min);
                builder.wire(Wire { gbps, latency_ns: said.latency_ns.or(plain.latency_ns), length_m: said.length_m });
            }
        }
    }
}

/// Adds those links of a network whose routers stay, from `first` on, on ports in their own order.
fn link(builder: &mut NetworkBuilder, network: &Network, numbers: &[Option<u32>], first: u32) {
    for link in network.links() {
        let ends = link.ends.map(|port| {
            let (router, local) = network.local_port(port);
            numbers[router.index()].map(|number| (first + number, local))
        });
        if let [Some(a), Some(b)] = ends {
            builder.timed_link(a, b, link.class, network.own_latency(link.ends[0]));
            builder.wire(network.wire(link.ends[0]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Peer;
    use crate::topology::build;

    fn rails(rest: &str) -> Network {
        let spec = format!("rails:{rest}");
        build(&spec).expect(&spec)
    }

    /// Routers of each level, lowest first.
    fn widths(network: &Network) -> Vec<usize> {
        let levels: Vec<u32> =
            network.routers().map(|router| network.any_structure().level(router).expect("levels")).collect();
        let most = levels.iter().max().expect("some");
        (0..=*most).map(|wanted| levels.iter().filter(|level| **level == wanted).count()).collect()
    }

    #[test]
    fn top_routers_are_joined_as_documented() {
        // 4 copies of 8 leaves and 4 tops with 8 links down: 16 x 8 uplinks on 16 routers of 8 positions, each of which
        // meets every copy, so that nothing stands above them.
        let joined = rails("copies=4,fabric=(clos:radix=8,levels=2),join=(clos:radix=16,levels=2)");
        assert_eq!(widths(&joined), [32, 16, 16]);
        assert_eq!(joined.num_terminals(), 128);
        assert_eq!(joined.links().len(), 4 * 32 + 128);
        // Half as many positions: 4 links from each top router, round 8 routers.
        let tapered = rails("copies=4,fabric=(clos:radix=8,levels=2),join=(clos:radix=16,levels=2),uplinks=4");
        assert_eq!((widths(&tapered), tapered.links().len()), (vec![32, 16, 8], 4 * 32 + 64));
        // 8 top routers with one link each, 4 routers of 2 positions: each meets two of four copies, and two join them.
        let sparse = rails("copies=4,fabric=(clos:radix=4,levels=2),join=(clos:radix=4,levels=2),uplinks=1");
        assert_eq!(widths(&sparse), [16, 8, 4, 2]);
        // One router joins all.
        let single = rails("copies=2,fabric=(clos:radix=4,levels=2),join=(mesh:1,p=16)");
        assert_eq!((widths(&single), single.links().len()), (vec![8, 4, 1], 2 * 8 + 16));
    }

    #[test]
    fn links_up_have_the_lower_rate() {
        let network = rails("copies=2,fabric=(clos:radix=4,levels=2,rate=400G),join=(mesh:1,p=16,rate=200G)");
        let top = RouterId(network.num_routers() as u32 - 1);
        assert!(network.ports_of(top).iter().all(|port| matches!(port.peer, Peer::Port(_))));
        let first = crate::network::PortId(network.port_base(top));
        assert_eq!(network.gbps(first), Some(200.0));
    }

    #[test]
    fn mistakes_say_what_is_missing() {
        for (rest, words) in [
            ("copies=2,fabric=(torus:4x4),join=(clos:radix=4,levels=2)", "fabric must be a tree"),
            ("copies=2,fabric=(clos:radix=4,levels=2),join=(torus:4x4)", "join must be a tree"),
            ("copies=2,fabric=(clos:radix=4,levels=2)", "join is missing"),
            ("copies=2,fabric=clos,join=(mesh:1,p=4)", "write it in brackets"),
            (
                "copies=2,fabric=(clos:radix=4,levels=2),join=(mesh:1,p=4),uplinks=2",
                "4 top routers with uplinks=2 need 8 ports, and mesh:1,p=4 has 4",
            ),
            (
                "copies=3,fabric=(clos:radix=4,levels=2),join=(mesh:1,p=4)",
                "6 top routers with uplinks=1 need 6 ports, and mesh:1,p=4 has 4",
            ),
        ] {
            let sentence = build(&format!("rails:{rest}")).expect_err(rest).to_string();
            assert!(sentence.contains(words) && !sentence.contains('\n'), "{rest}: {sentence}");
        }
    }
}
