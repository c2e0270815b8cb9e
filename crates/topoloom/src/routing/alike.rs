//! Routers that look alike: those that a permutation of all routers maps onto each other, and that keeps the numbers of
//! ports.
//!
//! Such a permutation is known by the image of one router: from there on every link states where the router at its end
//! goes. So one attempt takes a walk over the network, and one router of those that are known to be alike stands for them.

use std::collections::VecDeque;

use crate::network::{Network, Peer, RouterId};

/// No router.
const NONE: u32 = u32::MAX;

/// Which routers look alike.
pub(crate) struct Alike {
    /// By router, the first that it looks like.
    first: Vec<RouterId>,
}

impl Alike {
    /// Every router looks like itself alone.
    pub(crate) fn none(network: &Network) -> Self {
        Self { first: network.routers().collect() }
    }

    /// What permutations of routers show that keep every link with its class, every terminal, and the numbers of their ports.
    /// Every router looks like itself alone where some are not joined with the rest.
    pub(crate) fn new(network: &Network) -> Self {
        let mut first: Vec<RouterId> = network.routers().collect();
        let origin = RouterId(0);
        // The routers that the origin cannot be mapped onto.
        let mut refused = vec![false; first.len()];
        for to in network.routers().skip(1) {
            let known = root(&first, to);
            if known == root(&first, origin) || refused[known.index()] {
                continue;
            }
            let Some(image) = image(network, origin, to) else {
                refused[known.index()] = true;
                continue;
            };
            for (from, to) in network.routers().zip(image) {
                let (one, other) = (root(&first, from), root(&first, to));
                let no = refused[one.index()] || refused[other.index()];
                let (low, high) = (one.min(other), one.max(other));
                first[high.index()] = low;
                refused[low.index()] = no;
            }
        }
        let first = network.routers().map(|router| root(&first, router)).collect();
        Self { first }
    }

    /// The first router that this one looks like, or itself.
    pub(crate) fn first(&self, router: RouterId) -> RouterId {
        self.first[router.index()]
    }

    /// True for a router that looks like none before it.
    pub(crate) fn is_first(&self, router: RouterId) -> bool {
        self.first(router) == router
    }

    /// True if no two routers look alike.
    pub(crate) fn is_none(&self) -> bool {
        self.first.iter().enumerate().all(|(router, first)| first.index() == router)
    }
}

fn root(first: &[RouterId], mut router: RouterId) -> RouterId {
    while first[router.index()] != router {
        router = first[router.index()];
    }
    router
}

/// The images of all routers if `from` is mapped onto `to`; `None` if there is no such permutation.
fn image(network: &Network, from: RouterId, to: RouterId) -> Option<Vec<RouterId>> {
    let mut image = vec![RouterId(NONE); network.num_routers()];
    let mut taken = vec![false; image.len()];
    let mut queue = VecDeque::from([from]);
    (image[from.index()], taken[to.index()]) = (to, true);
    let mut found = 1;
    while let Some(router) = queue.pop_front() {
        let (own, other) = (network.ports_of(router), network.ports_of(image[router.index()]));
        if own.len() != other.len() {
            return None;
        }
        for (own, other) in own.iter().zip(other) {
            let (own_peer, other_peer) = match (own.peer, other.peer) {
                (Peer::Terminal(_), Peer::Terminal(_)) => continue,
                (Peer::Port(own_peer), Peer::Port(other_peer)) if own.class == other.class => (own_peer, other_peer),
                _ => return None,
            };
            let ((own_end, own_port), (other_end, other_port)) =
                (network.local_port(own_peer), network.local_port(other_peer));
            if own_port != other_port {
                return None;
            }
            let known = &mut image[own_end.index()];
            if known.0 == NONE {
                if std::mem::replace(&mut taken[other_end.index()], true) {
                    return None;
                }
                *known = other_end;
                found += 1;
                queue.push_back(own_end);
            } else if *known != other_end {
                return None;
            }
        }
    }
    (found == image.len()).then_some(image)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{GraphAlone, LinkClass, NetworkBuilder};

    /// A ring of four routers, the first port of each to the next one, with further links between (router, rank).
    fn ring(classes: [LinkClass; 4], more: &[[(u32, u32); 2]], terminals: &[u32]) -> Network {
        let mut builder = NetworkBuilder::new(4);
        terminals.iter().for_each(|&router| builder.terminal(router));
        for (router, class) in (0..).zip(classes) {
            builder.ranked_link((router, 1), ((router + 1) % 4, 2), class);
        }
        more.iter().for_each(|&[a, b]| builder.ranked_link(a, b, LinkClass::Local));
        builder.build("ring of four".to_owned(), "test", Box::new(GraphAlone)).expect("one piece")
    }

    #[test]
    fn routers_are_alike_if_all_links_and_terminals_and_their_ports_are() {
        let (local, mixed) = ([LinkClass::Local; 4], [LinkClass::Local, LinkClass::Global].repeat(2));
        let mixed = [mixed[0], mixed[1], mixed[2], mixed[3]];
        let straight = [[(0, 3), (2, 3)], [(0, 4), (2, 4)], [(1, 3), (3, 3)], [(1, 4), (3, 4)]];
        let crossed = [[(0, 3), (2, 3)], [(0, 4), (2, 4)], [(1, 3), (3, 4)], [(1, 4), (3, 3)]];
        for (network, expected) in [
            (ring(local, &[], &[]), [0, 0, 0, 0]),
            (ring(local, &[], &[0, 1, 2, 3]), [0, 0, 0, 0]),
            (ring(local, &[], &[0, 2]), [0, 1, 0, 1]),
            (ring(local, &[], &[0]), [0, 1, 2, 3]),
            (ring(mixed, &[], &[]), [0, 1, 0, 1]),
            (ring(local, &[[(0, 3), (2, 3)]], &[]), [0, 1, 0, 1]),
            (ring(local, &straight, &[]), [0, 0, 0, 0]),
            (ring(local, &crossed, &[]), [0, 1, 0, 1]),
        ] {
            let alike = Alike::new(&network);
            let first = network.routers().map(|router| alike.first(router).0);
            assert_eq!(first.collect::<Vec<_>>(), expected);
            assert_eq!(alike.is_none(), expected == [0, 1, 2, 3]);
        }
    }
}
