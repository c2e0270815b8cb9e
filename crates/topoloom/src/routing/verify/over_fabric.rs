//! Proofs over hosts by parts: the dependencies of the fabric's routing between those of its routers that hosts are
//! plugged into; those within a host, which are the same in all; and those between the two, at the links of interfaces.
//!
//! The parts make the whole where each of these routers sends to each other one for every port of a host: from hosts
//! other than that of the port. Otherwise, and where the fabric's proof is not by order alone, packets are followed from
//! accelerator to accelerator.

use std::collections::BTreeSet;

use super::super::hosts::HostRouting;
use super::{Alike, Findings, Graph, Routing, Seams, judged, phases};
use crate::network::{Network, PortId, RouterId, TerminalId};

/// The hosts with some port at a router.
#[derive(Clone, Copy, PartialEq)]
enum With {
    None,
    One(u32),
    Several,
}

/// A port of a host at a router of the fabric, and the fabric's local port there.
struct Plug {
    host: u32,
    port: u32,
    local: u32,
}

/// The ports of hosts at each router of a copy of the fabric.
fn plugs(hosts: &HostRouting, copy: u32) -> Vec<Vec<Plug>> {
    let cluster = hosts.cluster();
    let mut at: Vec<Vec<Plug>> = cluster.fabric.routers().map(|_| Vec::new()).collect();
    for host in 0..cluster.hosts {
        for (port, _) in (0..).zip(&cluster.ports).filter(|(_, port)| port.copy == copy) {
            let terminal: TerminalId = cluster.terminal(host, port as usize);
            let (router, local) = cluster.fabric.local_port(cluster.fabric.terminal_port(terminal));
            at[router.index()].push(Plug { host, port, local });
        }
    }
    at
}

/// By which ports of a host packets leave, and get into another one.
struct Joins {
    pairs: BTreeSet<(u32, u32)>,
    out: BTreeSet<u32>,
    into: BTreeSet<u32>,
}

impl Joins {
    fn new(pairs: BTreeSet<(u32, u32)>) -> Self {
        let (out, into) = pairs.iter().copied().unzip();
        Self { pairs, out, into }
    }

    fn has(&self, out: u32, into: u32) -> bool {
        self.pairs.contains(&(out, into))
    }
}

/// True if every router in use sends to every other one, from each of its ports and to each port there.
fn is_whole(at: &[Vec<Plug>], ports: u32, joins: &Joins) -> bool {
    let mut place = vec![Vec::new(); ports as usize];
    for (router, plugs) in at.iter().enumerate() {
        plugs.iter().for_each(|plug| place[plug.port as usize].push((plug.host, router)));
    }
    // A port finds a partner at a router unless there is none, or but those of its own host.
    let lonely = |router: usize, partners: &dyn Fn(u32) -> bool, port: u32| {
        let mut with = With::None;
        for plug in at[router].iter().filter(|plug| partners(plug.port)) {
            with = match with {
                With::None => With::One(plug.host),
                With::One(host) if host == plug.host => with,
                _ => With::Several,
            };
        }
        match with {
            With::Several => false,
            With::None => place[port as usize].iter().any(|&(_, other)| other != router),
            With::One(host) => place[port as usize].iter().any(|&(own, other)| own == host && other != router),
        }
    };
    let used = || (0..at.len()).filter(|&router| !at[router].is_empty());
    let by_port = |port: u32| {
        let goes =
            !joins.out.contains(&port) || !used().any(|router| lonely(router, &|into| joins.has(port, into), port));
        let comes =
            !joins.into.contains(&port) || !used().any(|router| lonely(router, &|out| joins.has(out, port), port));
        goes && comes
    };
    (0..ports).filter(|&port| !place[port as usize].is_empty()).all(by_port)
}

/// The proof by parts, if they make the whole.
pub(super) fn proof<'n>(network: &'n Network, hosts: &HostRouting) -> Option<(Graph<'n>, Findings)> {
    let (cluster, routing) = (hosts.cluster(), hosts.of_fabric_alone());
    if routing.escape_classes() > 0 || routing.keeps_bubbles() || cluster.hosts < 2 {
        return None;
    }
    let count = cluster.ports.len() as u32;
    let joins = Joins::new(hosts.joins());
    let copies = 1 + cluster.ports.iter().map(|port| port.copy).max().unwrap_or(0);
    let at: Vec<Vec<Vec<Plug>>> = (0..copies).map(|copy| plugs(hosts, copy)).collect();
    if !at.iter().all(|at| is_whole(at, count, &joins)) {
        return None;
    }
    let whole = Whole { graph: Graph::new(network, hosts, Alike::none(network)), hosts };
    let mut known: Option<(Vec<RouterId>, Graph, Seams)> = None;
    for (copy, at) in (0u32..).zip(&at) {
        let ends: Vec<RouterId> = cluster.fabric.routers().filter(|router| !at[router.index()].is_empty()).collect();
        let (_, fabric, seams) = match known.take() {
            Some(known) if known.0 == ends => known,
            _ => {
                let fabric = Graph::new(&cluster.fabric, routing, Alike::none(&cluster.fabric));
                let seams = Seams::new(&fabric);
                let stuck = phases(&fabric, routing, &ends, Some(&seams));
                if stuck.iter().any(|(_, sources)| !sources.is_empty()) {
                    return None;
                }
                (ends.clone(), fabric, seams)
            }
        };
        whole.enter_fabric(copy, &fabric);
        for router in &ends {
            whole.enter_interfaces(copy, *router, &at[router.index()], (&fabric, &seams), &joins);
        }
        known = Some((ends, fabric, seams));
    }
    whole.enter_hosts();
    let found = judged(&whole.graph, Vec::new());
    Some((whole.graph, found))
}

/// What is put together: the dependencies of the whole network.
struct Whole<'n, 'h> {
    graph: Graph<'n>,
    hosts: &'h HostRouting,
}

impl Whole<'_, '_> {
    fn node(&self, router: RouterId, port: u16, class: u8) -> usize {
        (self.graph.network.port_base(router) as usize + usize::from(port)) * self.graph.classes + usize::from(class)
    }

    /// The node of the network for one of the fabric.
    fn of_fabric(&self, copy: u32, fabric: &Graph, node: usize) -> usize {
        let (at, local) = fabric.network.local_port(PortId((node / fabric.classes) as u32));
        let hop = self.hosts.hop_of_fabric(copy, at, local as u16, (node % fabric.classes) as u8);
        let (router, port, class) = hop.expect("packets are in what is kept of the fabric");
        self.node(router, port, class)
    }

    /// Enters that packets hold one node while they wait for another at the router that it leads to.
    fn wait(&self, node: usize, next: usize) {
        let first = self.graph.network.port_base(self.graph.head(node)) as usize * self.graph.classes;
        let bit = next - first;
        super::add(&self.graph.rows.row(node)[bit / 64], 1 << (bit % 64));
    }

    fn enter_fabric(&self, copy: u32, fabric: &Graph) {
        for node in fabric.used.bits() {
            let own = self.of_fabric(copy, fabric, node);
            self.graph.used.insert(own);
            fabric.successors(node).iter().for_each(|&next| {
                self.wait(own, self.of_fabric(copy, fabric, next as usize));
            });
        }
    }

    /// Enters what packets wait for between a router of the fabric and the interfaces that are plugged into it.
    fn enter_interfaces(
        &self,
        copy: u32,
        router: RouterId,
        plugs: &[Plug],
        (fabric, seams): (&Graph, &Seams),
        joins: &Joins,
    ) {
        let first = fabric.network.port_base(router) as usize * fabric.classes;
        let out = |plug: &Plug| {
            let (part, port, class) = self.hosts.out_by(plug.port);
            self.node(RouterId(plug.host * self.hosts.cluster().host.parts() + part), port, class)
        };
        let into = |plug: &Plug| {
            let at = self.hosts.hop_of_fabric(copy, router, plug.local as u16, 0);
            let (router, port, _) = at.expect("a router with hosts is kept");
            self.node(router, port, self.hosts.class_in())
        };
        for plug in plugs.iter().filter(|plug| joins.out.contains(&plug.port)) {
            for bit in seams.out[router.index()].bits() {
                self.wait(out(plug), self.of_fabric(copy, fabric, first + bit));
            }
            for other in plugs.iter().filter(|other| other.host != plug.host && joins.has(plug.port, other.port)) {
                self.graph.used.insert(into(other));
                self.wait(out(plug), into(other));
            }
        }
        for plug in plugs.iter().filter(|plug| joins.into.contains(&plug.port)) {
            for bit in seams.into[router.index()].bits() {
                self.graph.used.insert(into(plug));
                let node = self.of_fabric(copy, fabric, fabric.arrived_on(router, bit) as usize);
                self.wait(node, into(plug));
            }
        }
    }

    fn enter_hosts(&self) {
        let (cluster, ways) = (self.hosts.cluster(), self.hosts.ways());
        for host in 0..cluster.hosts {
            let node = |(part, port, class)| self.node(RouterId(host * cluster.host.parts() + part), port, class);
            ways.used.iter().for_each(|&channel| self.graph.used.insert(node(channel)));
            ways.waits.iter().for_each(|&(held, next)| self.wait(node(held), node(next)));
            for &(port, next) in &ways.behind {
                let (router, local) =
                    cluster.fabric.local_port(cluster.fabric.terminal_port(cluster.terminal(host, port as usize)));
                let copy = cluster.ports[port as usize].copy;
                let at = self.hosts.hop_of_fabric(copy, router, local as u16, 0).expect("a router with hosts is kept");
                self.wait(self.node(at.0, at.1, self.hosts.class_in()), node(next));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::verify::{acyclic_with, ends};
    use crate::routing::{self, AnyRouting};
    use crate::topology;

    fn rows(graph: &Graph) -> BTreeSet<(usize, u32)> {
        (0..graph.nodes()).flat_map(|node| graph.successors(node).into_iter().map(move |next| (node, next))).collect()
    }

    /// Compares the proof by parts with packets that are followed from accelerator to accelerator: (dependencies that
    /// only the proof by parts has, all), or `None` where the parts do not make the whole.
    fn compared(rest: &str, name: &str) -> Option<(usize, usize)> {
        let network = topology::build(&format!("cluster:{rest}")).expect(rest);
        let routing: AnyRouting = routing::build(&network, name).expect(name);
        let hosts = routing.downcast_ref::<HostRouting>().expect("a routing over hosts");
        let (graph, found) = proof(&network, hosts)?;
        let (all, expected) = acyclic_with(&network, &routing, &ends(&network), Alike::none(&network));
        let (own, all_rows) = (rows(&graph), rows(&all));
        let missing: Vec<_> =
            all_rows.difference(&own).map(|&(a, b)| (all.describe(a), all.describe(b as usize))).collect();
        assert!(missing.is_empty(), "{rest} {name}: {} missing: {:?}", missing.len(), missing[0]);
        assert!(graph.used.bits().eq(all.used.bits()), "{rest} {name}");
        assert_eq!(found.cycle.is_empty(), expected.cycle.is_empty(), "{rest} {name}");
        assert!(expected.stuck.iter().all(|(_, sources)| sources.is_empty()), "{rest} {name}");
        assert_eq!((found.dependencies, expected.dependencies), (own.len(), all_rows.len()), "{rest} {name}");
        Some((own.len() - all_rows.len(), own.len()))
    }

    const NIC: [&str; 3] = ["own", "rail", "spread"];

    /// Every attachment, hosts whose links are trees and others, accelerators with several interfaces and with a shared
    /// one; several hosts at each router.
    #[test]
    fn dependencies_are_those_of_packets_from_accelerator_to_accelerator() {
        let (clos, torus) = ("(clos:radix=8,levels=2,rate=100G)", "(torus:3x3,p=8,rate=100G)");
        for (rest, fabric) in [
            (format!("hosts=8,host=hgx-h100,fabric={clos},attach=rail"), "nca"),
            (format!("hosts=8,host=v100-4,fabric={clos},attach=rail,join=(clos:radix=8,levels=2,rate=100G)"), "anca"),
            (format!("hosts=8,host=cray-ex,fabric={clos},attach=block,leaves=4"), "nca"),
            (format!("hosts=8,host=mi300x,fabric={clos},attach=plane,planes=4"), "nca"),
            (format!("hosts=18,host=v100-4,fabric={torus},attach=plane,planes=1"), "dor"),
            // The first plane has two interfaces of each host, and other routers in use than the others.
            (format!("hosts=16,host=cray-ex,fabric={torus},attach=plane,planes=3"), "dor"),
            (format!("hosts=16,host=v100-4,fabric={torus},attach=dual-tor"), "min"),
            (format!("hosts=18,host=cray-ex,fabric={torus},attach=spread"), "dor"),
            (format!("hosts=9,host=summit,fabric={torus},attach=spread"), "dor"),
            (format!("hosts=12,host=abci-a,fabric={torus},attach=block"), "min"),
            (format!("hosts=27,host=plain,fabric={torus},attach=block"), "dor"),
        ] {
            for nic in NIC {
                // By nic=rail nothing crosses what joins rails, and the parts are not the whole.
                if nic == "rail" && rest.contains("join") {
                    continue;
                }
                let name = format!("hosts:nic={nic},fabric={fabric}");
                let (more, all) = compared(&rest, &name).expect(&rest);
                assert!(more == 0 && all > 100, "{rest} {name}: {more} of {all}");
            }
        }
    }

    /// What comes to an intermediate router is joined with all that leaves it: turns back to where a packet came from,
    /// which none takes to a destination at its own router.
    #[test]
    fn detours_add_but_turns_at_intermediate_routers() {
        for (fabric, routings) in [
            ("dragonfly:a=4,h=1,p=8,rate=100G", &["min", "val", "ugal-l", "par"][..]),
            ("dragonfly-plus:leaf=2,spine=2,p=16,h=2,g=3,rate=100G", &["val", "par"]),
            ("hyperx:3x3,p=8,rate=100G", &["val", "ugal-l", "par", "dimwar"]),
            ("slimfly:q=3,p=8,rate=100G", &["val", "par"]),
        ] {
            for routing in routings {
                for rest in [
                    format!("hosts=18,host=cray-ex,fabric=({fabric}),attach=block,leaves=2"),
                    format!("hosts=27,host=plain,fabric=({fabric}),attach=spread"),
                ] {
                    let (more, all) = compared(&rest, &format!("hosts:fabric={routing}")).expect(&rest);
                    assert!(more * 5 < all, "{rest} {routing}: {more} of {all}");
                    assert!(more == 0 || !["min", "dimwar"].contains(routing), "{rest} {routing}: {more} of {all}");
                }
            }
        }
    }

    /// A host alone at a router sends nothing to the others of its own.
    #[test]
    fn parts_that_make_no_whole_are_told() {
        let torus = "(torus:3x3,p=4,rate=100G)";
        for rest in [
            format!("hosts=1,host=cray-ex,fabric={torus},attach=block"),
            format!("hosts=9,host=cray-ex,fabric={torus},attach=block,leaves=4"),
            format!("hosts=2,host=cray-ex,fabric={torus},attach=spread"),
        ] {
            let whole = compared(&rest, "hosts:fabric=dor");
            assert!(whole.is_none_or(|(more, _)| more == 0), "{rest}: {whole:?}");
        }
        assert!(compared(&format!("hosts=2,host=cray-ex,fabric={torus},attach=spread"), "hosts:fabric=dor").is_none());
        let rails = "hosts=8,host=v100-4,fabric=(clos:radix=8,levels=2,rate=1G),join=(clos:radix=8,levels=2,rate=1G)";
        assert!(
            compared(rails, "hosts:nic=rail,fabric=nca").is_none() && compared(rails, "hosts:fabric=nca").is_some()
        );
        assert!(compared(&format!("hosts=4,host=cray-ex,fabric={torus},attach=block"), "hosts:fabric=duato").is_none());
    }
}
