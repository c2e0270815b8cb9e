//! Any routing behind one type, called through a reference.

use std::any::Any;

use super::{Again, Looks, Move, PacketState, Routing, View};
use crate::network::RouterId;
use crate::rng::Rng;

/// Any routing that users can name.
pub struct AnyRouting(Box<dyn DynRouting>);

impl AnyRouting {
    /// Puts `routing` behind a reference.
    pub fn new<R: Routing + 'static>(routing: R) -> Self {
        Self(Box::new(routing))
    }

    /// The routing itself, if it is an `R`: for code that is compiled for it.
    pub fn downcast_ref<R: Routing + 'static>(&self) -> Option<&R> {
        let any: &dyn Any = &*self.0;
        any.downcast_ref()
    }
}

/// The face of a routing that can be called through a reference.
pub trait DynRouting: Routing + Any {
    /// [`Routing::start_with_hop`].
    fn start_dyn(&self, src: RouterId, dst: RouterId, view: &dyn View, rng: &mut Rng) -> (PacketState, Option<Move>);

    /// [`Routing::choose`].
    fn choose_dyn(&self, at: RouterId, state: PacketState, dst: RouterId, view: &dyn View, rng: &mut Rng) -> Move;
}

impl<R: Routing + Any> DynRouting for R {
    fn start_dyn(&self, src: RouterId, dst: RouterId, view: &dyn View, rng: &mut Rng) -> (PacketState, Option<Move>) {
        self.start_with_hop(src, dst, &view, rng)
    }

    fn choose_dyn(&self, at: RouterId, state: PacketState, dst: RouterId, view: &dyn View, rng: &mut Rng) -> Move {
        self.choose(at, state, dst, &view, rng)
    }
}

impl Routing for AnyRouting {
    fn classes(&self) -> u32 {
        self.0.classes()
    }

    fn vcs(&self) -> u32 {
        self.0.vcs()
    }

    fn by_terminal(&self) -> bool {
        self.0.by_terminal()
    }

    fn starts(&self, src: RouterId, dst: RouterId, out: &mut Vec<PacketState>) {
        self.0.starts(src, dst, out);
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        self.0.moves(at, state, dst, out);
    }

    fn start<V: View>(&self, src: RouterId, dst: RouterId, view: &V, rng: &mut Rng) -> PacketState {
        self.0.start_dyn(src, dst, view, rng).0
    }

    fn start_with_hop<V: View>(
        &self,
        src: RouterId,
        dst: RouterId,
        view: &V,
        rng: &mut Rng,
    ) -> (PacketState, Option<Move>) {
        self.0.start_dyn(src, dst, view, rng)
    }

    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move {
        self.0.choose_dyn(at, state, dst, view, rng)
    }

    fn eject_class(&self, state: PacketState) -> Option<u8> {
        self.0.eject_class(state)
    }

    fn snapshot_period(&self) -> u32 {
        self.0.snapshot_period()
    }

    fn wants(&self) -> u32 {
        self.0.wants()
    }

    fn decides_again(&self) -> Again {
        self.0.decides_again()
    }

    fn undo(&self, after: PacketState) -> Option<PacketState> {
        self.0.undo(after)
    }

    fn looks_in_transit(&self) -> Looks {
        self.0.looks_in_transit()
    }

    fn compares_classes(&self) -> bool {
        self.0.compares_classes()
    }

    fn takes_whole_packets(&self, class: u8) -> bool {
        self.0.takes_whole_packets(class)
    }

    fn diverts(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<PacketState>) {
        self.0.diverts(at, state, dst, out);
    }

    fn escape_classes(&self) -> u32 {
        self.0.escape_classes()
    }

    fn keeps_bubbles(&self) -> bool {
        self.0.keeps_bubbles()
    }

    fn enters(&self, before: PacketState, hop: &Move) -> bool {
        self.0.enters(before, hop)
    }

    fn traffic_groups(&self) -> u32 {
        self.0.traffic_groups()
    }

    fn traffic_group(&self, src: RouterId) -> u32 {
        self.0.traffic_group(src)
    }

    fn unproved(&self) -> bool {
        self.0.unproved()
    }

    fn contents(&self) -> u64 {
        self.0.contents()
    }

    fn note(&self) -> Option<String> {
        self.0.note()
    }

    fn hops(&self, src: RouterId, dst: RouterId) -> Option<u32> {
        self.0.hops(src, dst)
    }

    fn oblivious(&self) -> bool {
        self.0.oblivious()
    }

    fn takes_detours(&self) -> bool {
        self.0.takes_detours()
    }

    fn spreads_evenly(&self) -> bool {
        self.0.spreads_evenly()
    }

    fn enough_sources(&self, dst: RouterId, out: &mut Vec<RouterId>) -> bool {
        self.0.enough_sources(dst, out)
    }

    fn follows_ports(&self) -> bool {
        self.0.follows_ports()
    }

    fn likely_starts(&self, src: RouterId, dst: RouterId, out: &mut Vec<(f64, PacketState)>) {
        self.0.likely_starts(src, dst, out);
    }

    fn likely_moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<(f64, Move)>) {
        self.0.likely_moves(at, state, dst, out);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::super::{ANY_VIA, Idle, build, offered};
    use super::*;
    use crate::network::PortId;
    use crate::topology;

    /// Fails whatever a routing looks at.
    struct Blind;

    impl View for Blind {
        fn copy(&self) -> Self {
            Self
        }

        fn occupancy(&self, _port: u32) -> u32 {
            panic!("it looks at a queue")
        }

        fn published(&self, _port: PortId) -> u32 {
            panic!("it looks at a snapshot")
        }

        fn interval(&self) -> u32 {
            panic!("it looks at the number of the interval")
        }

        fn free_vcs(&self, _port: u32, _class: u8) -> u32 {
            panic!("it looks at free VCs")
        }

        fn buffer(&self, _class: u8) -> u32 {
            panic!("it looks at the size of a buffer")
        }

        fn decides_again(&self) -> bool {
            panic!("it looks at whether its request has failed")
        }
    }

    /// One of these states, over whatever router if it is a detour's.
    fn any_of(states: &[PacketState], routers: usize, rng: &mut Rng) -> PacketState {
        let state = states[rng.below(states.len() as u32) as usize];
        let via = rng.below(routers as u32);
        if state.via == ANY_VIA { PacketState { via, ..state } } else { state }
    }

    #[test]
    fn what_does_not_look_in_transit_or_at_the_second_router_alone_decides_blindly_elsewhere() {
        let mut names = std::collections::BTreeSet::new();
        for spec in
            ["hyperx:3x4,p=2", "dragonfly:a=4,h=2,p=2", "slimfly:q=5", "flex:3x3x3", "galaxyfly:n=3,q=5,a=3,p=2"]
        {
            let network = topology::build(spec).expect(spec);
            let routers = network.num_routers();
            for name in offered(&network) {
                let Ok(routing) = build(&network, name) else { continue };
                let looks = routing.looks_in_transit();
                if looks == Looks::Everywhere {
                    continue;
                }
                names.insert((name, (looks == Looks::AtSecond).then_some(spec)));
                for seed in 0..200 {
                    let mut rng = Rng::stream(seed, 3);
                    let [src, dst] = [(); 2].map(|()| RouterId(rng.below(routers as u32)));
                    if src == dst {
                        continue;
                    }
                    let mut starts = Vec::new();
                    routing.starts(src, dst, &mut starts);
                    // Idle queues are no reason for detours.
                    let start = match looks {
                        Looks::AtSecond => any_of(&starts, routers, &mut rng),
                        _ => routing.start(src, dst, &Idle, &mut rng),
                    };
                    let (mut at, mut hop) = (src, routing.choose(src, start, dst, &Idle, &mut rng));
                    for hops in 1.. {
                        let next = network.neighbors(at).find(|(port, _)| *port == u32::from(hop.port));
                        at = next.expect("hops are over links").1;
                        if at == dst {
                            break;
                        }
                        hop = if hops == 1 && looks == Looks::AtSecond {
                            let mut states = vec![hop.next];
                            routing.diverts(at, hop.next, dst, &mut states);
                            routing.choose(at, any_of(&states, routers, &mut rng), dst, &Idle, &mut rng)
                        } else {
                            routing.choose(at, hop.next, dst, &Blind, &mut rng)
                        };
                    }
                }
            }
        }
        for name in ["val", "ugal-l", "ugal-g", "lbr", "nar", "nal", "nag"] {
            assert!(names.contains(&(name, None)), "{name}");
        }
        for spec in ["hyperx:3x4,p=2", "dragonfly:a=4,h=2,p=2"] {
            assert!(names.contains(&("par", Some(spec))), "{spec}");
        }
    }

    /// Queues of any length, by a seed; notes what packets want.
    struct Drawn<'a> {
        seed: u64,
        wanted: &'a RefCell<Vec<u32>>,
    }

    impl View for Drawn<'_> {
        fn copy(&self) -> Self {
            Self { ..*self }
        }

        fn occupancy(&self, port: u32) -> u32 {
            Rng::stream(self.seed, port.into()).below(16)
        }

        fn published(&self, port: PortId) -> u32 {
            Rng::stream(self.seed, 1 << 32 | u64::from(port.0)).below(64)
        }

        fn want(&self, what: u32) {
            self.wanted.borrow_mut().push(what);
        }

        fn interval(&self) -> u32 {
            0
        }

        fn free_vcs(&self, _port: u32, _class: u8) -> u32 {
            1
        }

        fn buffer(&self, _class: u8) -> u32 {
            8
        }
    }

    #[test]
    fn a_hop_that_is_known_at_the_start_is_the_one_that_would_be_chosen() {
        const SPECS: [&str; 4] =
            ["hyperx:3x4,p=2", "dragonfly:a=4,h=2,p=2", "dragonfly-plus:leaf=2,spine=2,p=2,h=4,g=5", "slimfly:q=5"];
        let mut known = std::collections::BTreeSet::new();
        for spec in SPECS {
            let network = topology::build(spec).expect(spec);
            let leaves: Vec<RouterId> = network.routers().filter(|at| network.has_terminals(*at)).collect();
            for name in offered(&network) {
                let Ok(routing) = build(&network, name) else { continue };
                let wanted = RefCell::new(Vec::new());
                for seed in 0..300 {
                    let (mut rng, view) = (Rng::stream(seed, 3), Drawn { seed, wanted: &wanted });
                    let [src, dst] = [(); 2].map(|()| leaves[rng.below(leaves.len() as u32) as usize]);
                    if src == dst {
                        continue;
                    }
                    let (state, hop) = routing.start_with_hop(src, dst, &view, &mut rng);
                    if let Some(hop) = hop {
                        known.insert((name, spec));
                        assert_eq!(hop, routing.choose(src, state, dst, &view, &mut rng), "{name} on {spec}");
                    }
                }
                assert!(wanted.borrow().iter().all(|&what| what < routing.wants()), "{name} on {spec}");
                assert_eq!(wanted.borrow().is_empty(), routing.wants() == 0, "{name} on {spec}");
            }
        }
        for spec in SPECS {
            assert!(known.contains(&("par", spec)) && known.contains(&("ugal-l", spec)), "{spec}: {known:?}");
        }
    }

    #[test]
    fn what_answers_at_the_destination_decides_blindly_there() {
        let of_galaxyfly = ["min", "nar", "nal", "nag"].as_slice();
        for (spec, names) in [
            ("hyperx:3x4,p=2", ["dor", "min", "val", "ugal-l"].as_slice()),
            ("dragonfly:a=4,h=2,p=2", &["min", "val", "ugal-l", "par"]),
            ("flex:3x3x3", &["lbr"]),
            ("galaxyfly:n=3,q=5,a=3,p=2", of_galaxyfly),
            ("galaxyfly:n=2,q=9,a=1,p=2,wiring=random", of_galaxyfly),
            ("galaxyfly:n=6,q=1,a=2,p=1", of_galaxyfly),
            ("galaxyfly:n=1,q=1,a=4,p=2", of_galaxyfly),
        ] {
            let network = topology::build(spec).expect(spec);
            for (name, seed) in names.iter().flat_map(|name| (0..200).map(move |seed| (*name, seed))) {
                let routing = build(&network, name).expect(name);
                let mut rng = Rng::stream(seed, 3);
                let [mut at, dst] = [(); 2].map(|()| RouterId(rng.below(network.num_routers() as u32)));
                // Those that draw a detour do not answer as they start.
                if at == dst && !["dor", "min"].contains(&name) {
                    continue;
                }
                assert!(routing.0.answers_at_destination(false), "{name} on {spec}");
                let mut state = routing.start(at, dst, &Idle, &mut rng);
                if names == of_galaxyfly {
                    // Detours, too, which idle queues are no reason for.
                    let mut starts = Vec::new();
                    routing.starts(at, dst, &mut starts);
                    state = starts[rng.below(starts.len() as u32) as usize];
                }
                while at != dst {
                    let hop = routing.choose(at, state, dst, &Idle, &mut rng);
                    let next = network.neighbors(at).find(|(port, _)| *port == u32::from(hop.port));
                    (at, state) = (next.expect("hops are over links").1, hop.next);
                }
                let mut other = rng;
                routing.choose(at, state, dst, &Blind, &mut rng);
                assert_eq!(rng.bits(), other.bits(), "{name} on {spec}");
            }
        }
    }
}
