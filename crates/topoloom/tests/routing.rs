//! One routing, three readers: whatever the hot pair `start`, `choose` decides, for any view and any random numbers,
//! the cold pair `starts`, `moves` has enumerated; and every packet arrives, in as many hops as it may take.

use proptest::prelude::*;
use proptest::sample::select;
use topoloom::Network;
use topoloom::network::{Peer, RouterId};
use topoloom::rng::Rng;
use topoloom::routing::{ANY_VIA, AnyRouting, NO_VIA, PacketState, Routing, View, build, offered, verify};
use topoloom::topology;

/// Evaluates an expression with the routing inside an [`AnyRouting`].
macro_rules! with {
    ($any:expr, $routing:ident => $body:expr) => {
        with!(@ $any, $routing => $body;
            MinMesh MinTorus MinHyperXDor MinHyperX MinDragonfly MinFlex MinTable
            ValMesh ValTorus ValHyperX ValDragonfly ValFlex ValTable
            UgalMesh UgalTorus UgalHyperX UgalDragonfly UgalFlex UgalTable
            Nca Anca)
    };
    (@ $any:expr, $routing:ident => $body:expr; $($variant:ident)*) => {
        match $any {
            $(AnyRouting::$variant($routing) => $body,)*
        }
    };
}

/// A congestion that changes whenever it is looked at.
struct Anything(u64);

impl View for Anything {
    fn occupancy(&self, port: u32) -> u32 {
        let draw = Rng::stream(self.0, port.into()).below(8);
        [0, 0, 1, 2, 7, 40, 300, 4000][draw as usize]
    }
}

fn distances_to(network: &Network, to: RouterId) -> Vec<u32> {
    let mut distance = vec![u32::MAX; network.num_routers()];
    distance[to.index()] = 0;
    let mut queue = vec![to];
    let mut place = 0;
    while let Some(&at) = queue.get(place) {
        place += 1;
        for (_, peer) in network.neighbors(at) {
            if distance[peer.index()] == u32::MAX {
                distance[peer.index()] = distance[at.index()] + 1;
                queue.push(peer);
            }
        }
    }
    distance
}

/// Sends `packets` packets between random routers, hop by hop as the engine does.
fn walk<R: Routing>(network: &Network, name: &str, routing: &R, packets: u64, seed: u64) {
    let ends: Vec<RouterId> = network.routers().filter(|&r| network.terminals_of(r).next().is_some()).collect();
    if ends.len() < 2 {
        return;
    }
    let spec = network.spec();
    let mut dice = Rng::stream(seed, 0);
    for packet in 0..packets {
        let src = ends[dice.below(ends.len() as u32) as usize];
        let dst = ends[dice.below(ends.len() as u32) as usize];
        if src == dst {
            continue;
        }
        let path = send(network, routing, src, dst, seed ^ packet << 20);
        let far = distances_to(network, dst);
        let hops = path.len() as u32;
        let least = far[src.index()];
        let most = match name.split(':').next().expect("split gives one part at least") {
            "min" if network.family() == "dragonfly" => 3,
            "nca" | "anca" | "dor" | "min" | "min-spread" => least,
            _ if network.family() == "dragonfly" => 6,
            // To the intermediate router and on from there, each minimally.
            _ => network
                .routers()
                .map(|via| distances_to(network, via)[src.index()] + far[via.index()])
                .max()
                .unwrap_or(0),
        };
        assert!(
            (least..=most).contains(&hops),
            "{spec}, {name}: {src} to {dst} by {path:?}: {hops} hops, not {least} to {most}"
        );
    }
}

/// The routers that a packet goes through after its source; every decision is checked against the enumeration.
fn send<R: Routing>(network: &Network, routing: &R, src: RouterId, dst: RouterId, seed: u64) -> Vec<u32> {
    let spec = network.spec();
    let (mut at, mut path) = (src, Vec::new());
    let (mut starts, mut moves) = (Vec::new(), Vec::new());
    let mut state = PacketState::direct(0);
    while at != dst {
        let hop = path.len() as u64;
        let view = Anything(seed ^ hop);
        let mut rng = Rng::stream(seed, hop + 1);
        if at == src && path.is_empty() {
            state = routing.start(src, dst, &view, &mut rng);
            routing.starts(src, dst, &mut starts);
            let any_via = PacketState { via: ANY_VIA, bits: state.bits };
            let via_is_free = state.via != NO_VIA && state.via != src.0 && state.via != dst.0;
            let known = starts.contains(&state) || (via_is_free && starts.contains(&any_via));
            assert!(known, "{spec}: {src} to {dst} starts as {state:?}, not one of {starts:?}");
            assert!(state.via == NO_VIA || state.via < network.num_routers() as u32, "{spec}: no router {}", state.via);
        }
        let hop = routing.choose(at, state, dst, &view, &mut rng);
        moves.clear();
        routing.moves(at, state, dst, &mut moves);
        assert!(moves.contains(&hop), "{spec}: at {at} to {dst} in {state:?} goes {hop:?}, not one of {moves:?}");
        assert!(u32::from(hop.class) < routing.classes(), "{spec}: class {} of {}", hop.class, routing.classes());
        let Peer::Port(peer) = network.ports_of(at)[hop.port as usize].peer else {
            panic!("{spec}: at {at} to {dst} out of the port of a terminal");
        };
        (at, state) = (network.ports()[peer.index()].router, hop.next);
        path.push(at.0);
        assert!(path.len() < 1000, "{spec}: {src} to {dst} never arrives: {path:?}");
    }
    let class = routing.eject_class(state);
    assert!(class.is_none_or(|class| u32::from(class) < routing.classes()), "{spec}: ejection in class {class:?}");
    path
}

fn walk_all(spec: &str, packets: u64, seed: u64) {
    let network = topology::build(spec).expect(spec);
    let names = offered(&network);
    for name in names.into_iter().chain(["val:via=any", "ugal-l:bias=0"]) {
        let routing = build(&network, name).expect(name);
        with!(&routing, r => walk(&network, name, r, packets, seed));
    }
}

#[test]
fn every_decision_has_been_enumerated() {
    for spec in [
        "mesh:4x3x2",
        "mesh:1x5",
        "torus:4x4",
        "torus:5x2",
        "torus:2x3,double=true",
        "hyperx:3x3x2",
        "hyperx:4x3,trunk=3",
        "hyperx:2",
        "fattree:k=2,levels=4",
        "fattree:k=3,levels=3",
        "dragonfly:a=4,h=2",
        "dragonfly:a=4,h=2,g=4",
        "dragonfly:a=5,h=1,g=3",
        "dragonfly:a=1,h=3",
        "dragonfly:a=3,h=1,g=1",
        "dragonfly:a=4,h=2,arrangement=random",
        "slimfly:q=4",
        "slimfly:q=5",
        "flex:3x3x3",
        "flex:4x3x3",
        "flex:3x3x2",
        "flex:2x3x3",
        "flex:3x4x5",
    ] {
        walk_all(spec, 400, 1);
    }
}

fn grids() -> impl Strategy<Value = String> {
    let sides = prop::collection::vec(1u32..6, 1..4).prop_filter("two routers", |s| s.iter().product::<u32>() > 1);
    let written = |sides: Vec<u32>| sides.iter().map(u32::to_string).collect::<Vec<_>>().join("x");
    (select(vec!["mesh", "torus", "hyperx"]), sides, select(vec!["", ",p=2"]))
        .prop_map(move |(family, sides, p)| format!("{family}:{}{p}", written(sides)))
}

fn dragonflies() -> impl Strategy<Value = String> {
    (1u32..6, 1u32..4)
        .prop_flat_map(|(a, h)| (Just(a), Just(h), 1..=a * h + 1))
        .prop_map(|(a, h, g)| format!("dragonfly:a={a},h={h},g={g}"))
}

fn flexes() -> impl Strategy<Value = String> {
    (3u32..6, 3u32..6, 2u32..6).prop_map(|(x, y, layers)| format!("flex:{x}x{y}x{layers}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn on_any_network(spec in prop_oneof![grids(), dragonflies(), flexes()], seed in any::<u64>()) {
        walk_all(&spec, 40, seed);
    }
}

/// The engine's routings are safe where they are offered. A routing built for another wiring is not, and shows that a
/// proof can fail: on the ring 0-1-2-3 what was made for the square 0-1-3-2 goes round and round.
#[test]
fn a_routing_made_for_another_wiring_is_refused() {
    let ring = topology::build("torus:4").expect("a ring");
    let square = topology::build("hyperx:2x2").expect("a square");
    let routing = build(&square, "dor").expect("the square's own");
    assert!(verify::verify(&square, "dor", &routing).deadlock_free);
    let proof = verify::verify(&ring, "dor of hyperx:2x2", &routing);
    assert!(!proof.deadlock_free);
    assert!(proof.unserved_pairs > 0, "some packets never arrive");
    assert_eq!(proof.unserved_examples.len(), proof.unserved_pairs.min(10));
    check_circle(&ring, &proof);
}

fn check_circle(network: &Network, proof: &verify::Proof) {
    assert!(!proof.cycle.is_empty());
    for (hop, next) in proof.cycle.iter().zip(proof.cycle.iter().cycle().skip(1)) {
        assert_eq!(hop.to, next.from, "the cycle closes");
        let neighbor = network.neighbors(RouterId(hop.from)).find(|(port, _)| *port == hop.port);
        assert_eq!(neighbor.map(|(_, peer)| peer.0), Some(hop.to), "over links that exist");
    }
}
