//! The worst case of a fabric, between accelerators of the hosts that are plugged into it. An accelerator stands for the
//! router behind its nearest interface, and sends to accelerators of other hosts at the router, or in the group, that the
//! fabric's own worst case names. Each copy of the fabric is taken by itself.
//!
//! Every accelerator gets as much as it sends, whatever of the fabric is used. Where a router named has fewer
//! accelerators than send to it, or none, the others send where that router would send, and so on; what is left then is
//! matched in reverse. Groups of unequal size send as far further on as the largest one is long.

use std::collections::VecDeque;

use super::Pattern;
use super::draw::{Rows, Share, ranges};
use super::worst_case::Goal;
use crate::error::Result;
use crate::network::{Network, Plugs, RouterId};

/// The accelerators on one copy of the fabric, router by router. A place is one in this order.
struct OnCopy<'a> {
    terminals: &'a [u32],
    /// The fabric's router of each.
    routers: Vec<RouterId>,
    /// Terminals of a host.
    each: u32,
}

pub(super) fn on_hosts(network: &Network, plugged: &Plugs) -> Result<Pattern> {
    let Plugs { fabric, at } = plugged;
    let each = network.any_structure().hosts().map_or(1, |hosts| hosts.terminals);
    let mut order: Vec<u32> = (0..at.len() as u32).collect();
    order.sort_by_key(|&terminal| (at[terminal as usize], terminal));
    let mut ends: Vec<RouterId> = at.iter().map(|(_, router)| *router).collect();
    ends.sort();
    ends.dedup();
    let goal = Goal::of(fabric, &ends)?;
    let (mut to, mut rows) = (vec![0; at.len()], Rows::new(at.len() as u32));
    for terminals in order.chunk_by(|a, b| at[*a as usize].0 == at[*b as usize].0) {
        let routers: Vec<RouterId> = terminals.iter().map(|&terminal| at[terminal as usize].1).collect();
        let copy = OnCopy { terminals, routers, each };
        let half = copy.terminals.len() / 2;
        match &goal {
            Goal::NextGroup => {
                copy.next_group(fabric.any_structure().group_size().unwrap_or(1), &mut rows);
                continue;
            }
            Goal::Across => copy.send(copy.shifted(half), &mut to),
            Goal::Routers(routers) => copy.send(copy.by_routers(routers), &mut to),
        }
    }
    Ok(if matches!(goal, Goal::NextGroup) { Pattern::Drawn(rows) } else { Pattern::Fixed(to) })
}

impl OnCopy<'_> {
    fn host(&self, place: usize) -> u32 {
        self.terminals[place] / self.each
    }

    /// The place so much further on, for each.
    fn shifted(&self, by: usize) -> Vec<usize> {
        let count = self.terminals.len();
        (0..count).map(|place| (place + by) % count).collect()
    }

    /// Any accelerator among as many as the own group has, so far on as the largest group is long: where all are equally
    /// large, any of the next group.
    fn next_group(&self, size: u32, rows: &mut Rows) {
        let groups: Vec<&[RouterId]> = self.routers.chunk_by(|a, b| a.0 / size == b.0 / size).collect();
        let largest = groups.iter().map(|group| group.len()).max().unwrap_or(0);
        let further = self.shifted(largest);
        let mut first = 0;
        for group in groups {
            let own = first..first + group.len();
            let mut to: Vec<u32> = further[own.clone()].iter().map(|&place| self.terminals[place]).collect();
            to.sort_unstable();
            let even = 1.0 / to.len() as f64;
            let row = rows.push(ranges(to).into_iter().map(|destinations| Share { destinations, each: even }));
            self.terminals[own].iter().for_each(|&source| rows.assign(source, row));
            first += group.len();
        }
    }

    /// A place at the router that the own one sends to, for each, and every place once.
    fn by_routers(&self, to: &[RouterId]) -> Vec<usize> {
        let mut free: Vec<VecDeque<usize>> = vec![VecDeque::new(); to.len()];
        self.routers.iter().enumerate().for_each(|(place, router)| free[router.index()].push_back(place));
        let mut places: Vec<Option<usize>> =
            self.routers.iter().map(|router| free[to[router.index()].index()].pop_front()).collect();
        for (place, router) in
            self.routers.iter().enumerate().filter(|(place, _)| places[*place].is_none()).collect::<Vec<_>>()
        {
            let way = std::iter::successors(Some(to[router.index()]), |next| Some(to[next.index()]));
            let found =
                way.take(to.len()).take_while(|next| next != router).find(|next| !free[next.index()].is_empty());
            places[place] = found.and_then(|router| free[router.index()].pop_front());
        }
        let mut others = free.into_iter().flatten().rev();
        places.into_iter().map(|place| place.unwrap_or_else(|| others.next().expect("as many are left"))).collect()
    }

    /// Has each send to the router of its place, to one of another host if there is one.
    fn send(&self, mut places: Vec<usize>, to: &mut [u32]) {
        let named: Vec<RouterId> = places.iter().map(|&place| self.routers[place]).collect();
        let mut sources: Vec<usize> = (0..places.len()).collect();
        sources.sort_by_key(|&source| (named[source], source));
        for alike in sources.chunk_by(|a, b| named[*a] == named[*b]) {
            let mut left: Vec<usize> = alike.iter().map(|&source| places[source]).collect();
            left.sort_unstable();
            // Interfaces of a host may be dealt round all routers in the same order.
            left.rotate_left(alike.len() / 2);
            let mut left = VecDeque::from(left);
            for &source in alike {
                let other = left.iter().position(|&place| self.host(place) != self.host(source)).unwrap_or(0);
                left.swap(0, other);
                places[source] = left.pop_front().expect("as many as send to it");
            }
        }
        self.part_hosts(&mut places);
        places
            .iter()
            .enumerate()
            .for_each(|(source, &place)| to[self.terminals[source] as usize] = self.terminals[place]);
    }

    /// Exchanges the destinations of those that send within their host with the next ones that it suits.
    fn part_hosts(&self, places: &mut [usize]) {
        let count = places.len();
        let within = |source: usize, place: usize| self.host(source) == self.host(place);
        for source in 0..count {
            if within(source, places[source]) {
                let mut others = (1..count).map(|step| (source + step) % count);
                if let Some(other) =
                    others.find(|&other| !within(source, places[other]) && !within(other, places[source]))
                {
                    places.swap(source, other);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Network, TerminalId};
    use crate::topology;
    use crate::traffic;

    const HOSTS: [(&str, u32); 5] = [("plain", 1), ("cray-ex", 4), ("hgx-h100", 8), ("v100-4", 2), ("summit", 2)];
    const ATTACHED: [&str; 6] = ["rail", "block", "block,leaves=2", "plane,planes=2", "dual-tor", "spread"];

    /// (source, destination, share) of all.
    fn sent(network: &Network, pattern: &str) -> Vec<(u32, u32, f64)> {
        let traffic = traffic::build(network, pattern).expect(pattern);
        let (mut all, mut shares) = (Vec::new(), Vec::new());
        for source in 0..network.num_terminals() as u32 {
            traffic.weights(TerminalId(source), &mut shares);
            let of = |share: Share| share.destinations.map(move |to| (source, to, share.each));
            all.extend(shares.drain(..).flat_map(of));
        }
        all
    }

    /// Clusters that fill two thirds of fabrics of all kinds of worst cases: terminals of a host, and the network.
    fn clusters() -> Vec<(u32, Network)> {
        let fabrics = [
            "clos:radix=8,levels=2,rate=400G",
            "dragonfly:a=2,h=1,p=8,rate=400G",
            "hyperx:3x3,p=5,rate=400G",
            "mesh:3x4,p=4,rate=400G",
            "slimfly:q=3,p=3,rate=400G",
            "random-regular:10,degree=3,p=4,rate=400G",
        ];
        let mut all = Vec::new();
        for (fabric, (host, nics), attach) in fabrics
            .iter()
            .flat_map(|fabric| HOSTS.iter().map(move |host| (fabric, *host)))
            .flat_map(|(fabric, host)| ATTACHED.iter().map(move |attach| (fabric, host, attach)))
        {
            let places = topology::build(fabric).expect(fabric).num_terminals() as u32 * 2 / 3;
            let (ports, copies) = match *attach {
                "rail" => (1, 1),
                "plane,planes=2" => (nics.div_ceil(2), 1),
                "dual-tor" => (2 * nics, 1),
                _ => (nics, 1),
            };
            let hosts = places * copies / ports;
            let spec = format!("cluster:hosts={hosts},host={host},fabric=({fabric}),attach={attach}");
            if hosts > 1 && !(nics == 1 && attach.starts_with("plane")) {
                let network = topology::build(&spec).expect(&spec);
                all.push((network.any_structure().hosts().expect("a cluster").terminals, network));
            }
        }
        all
    }

    #[test]
    fn accelerators_get_as_much_as_they_send_and_none_of_it_from_their_host() {
        let mut checked = 0;
        for (each, network) in clusters() {
            let mut got = vec![0.0; network.num_terminals()];
            let (mut within, mut all) = (0.0, 0.0);
            for (source, to, share) in sent(&network, "worst-case") {
                got[to as usize] += share;
                all += share;
                within += if source / each == to / each { share } else { 0.0 };
            }
            let spec = network.spec();
            assert!(got.iter().all(|got| (got - 1.0).abs() < 1e-9), "{spec}: {got:?}");
            // A group may hold other parts of the host; less of it than under uniform traffic.
            let most = if spec.contains("dragonfly") { f64::from(each) / all } else { 0.0 };
            assert!(within / all <= most, "{spec}: {within} of {all} stay in a host");
            checked += 1;
        }
        assert!(checked > 150, "{checked}");
    }

    /// Hosts of one accelerator that fill a fabric send as its own terminals do, router by router.
    #[test]
    fn a_full_fabric_of_plain_hosts_is_worst_at_what_the_fabric_is() {
        for fabric in [
            "clos:radix=8,levels=2,rate=1G",
            "xgft:down=2x3x4,up=2x2,rate=1G",
            "dragonfly:a=2,h=1,p=3,rate=1G",
            "dragonfly-plus:leaf=2,spine=2,p=2,h=2,g=3,rate=1G",
            "hyperx:3x4,p=2,rate=1G",
            "torus:5x4,p=2,rate=1G",
            "mesh:3x4,p=2,rate=1G",
            "hypercube:4,p=2,rate=1G",
            "slimfly:q=3,p=2,rate=1G",
            "flex:3x3x3,p=2,rate=1G",
            "galaxyfly:n=2,q=3,a=2,p=2,rate=1G",
            "random-regular:12,degree=3,p=2,rate=1G",
        ] {
            let alone = topology::build(fabric).expect(fabric);
            for attach in ["rail", "block", "spread"] {
                let hosts = alone.num_terminals();
                let spec = format!("cluster:hosts={hosts},host=plain,fabric=({fabric}),attach={attach}");
                let network = topology::build(&spec).expect(&spec);
                let at = network.any_structure().plugged().expect("a cluster").at;
                let mut sums = std::collections::BTreeMap::new();
                for (source, to, share) in sent(&alone, "worst-case") {
                    let ends = [source, to].map(|end| alone.router_of(TerminalId(end)));
                    *sums.entry(ends).or_insert(0.0) += share;
                }
                for (source, to, share) in sent(&network, "worst-case") {
                    let ends = [source, to].map(|end| at[end as usize].1);
                    *sums.entry(ends).or_insert(0.0) -= share;
                }
                assert!(sums.values().all(|left| left.abs() < 1e-9), "{spec}: {sums:?}");
            }
        }
    }

    #[test]
    fn what_is_left_of_a_part_of_a_fabric_sends_on() {
        let to = |rest: &str| {
            let network = topology::build(&format!("cluster:host=plain,attach=block,{rest}")).expect(rest);
            sent(&network, "worst-case").into_iter().map(|(_, to, _)| to).collect::<Vec<_>>()
        };
        // A tornado of 3 on a ring of 8, of which 5 are used: 2 sends to 5, and 5 to 0.
        assert_eq!(to("hosts=5,fabric=(torus:8,rate=1G)"), [3, 4, 0, 1, 2]);
        // The opposite corner of those that are used; the one in the middle exchanges with the next one.
        assert_eq!(to("hosts=5,fabric=(mesh:8,rate=1G)"), [4, 3, 1, 2, 0]);
        // Groups of 4, 4 and 2: each sends four further on.
        let network =
            topology::build("cluster:hosts=10,attach=block,fabric=(dragonfly:a=2,h=1,p=2,rate=1G)").expect("small");
        let of = |source: u32| {
            sent(&network, "worst-case")
                .into_iter()
                .filter(|(from, _, _)| *from == source)
                .map(|(_, to, _)| to)
                .collect::<Vec<_>>()
        };
        assert_eq!([0, 4, 8].map(of), [vec![4, 5, 6, 7], vec![0, 1, 8, 9], vec![2, 3]]);
    }

    #[test]
    fn one_host_sends_within_itself() {
        let network = topology::build("cluster:hosts=1,host=cray-ex,fabric=(hyperx:2x2,p=1,rate=1G),attach=block")
            .expect("small");
        assert!(sent(&network, "worst-case").iter().all(|(source, to, _)| source != to));
    }
}
