//! One routing, three readers: whatever the hot pair `start`, `choose` decides, for any view and any random numbers,
//! the cold pair `starts`, `moves` has enumerated; and every packet arrives, in as many hops as it may take.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::select;
use topoloom::Network;
use topoloom::metrics::load::channel_load;
use topoloom::network::{Peer, PortId, RouterId, TerminalId};
use topoloom::rng::Rng;
use topoloom::routing::{ANY_VIA, Idle, NO_VIA, PacketState, Routing, View, build, offered, verify};
use topoloom::topology::{self, Nest};

/// A congestion that changes whenever it is looked at.
struct Anything {
    seed: u64,
    leaves_by: u32,
    arrived_by: u32,
}

impl View for Anything {
    fn copy(&self) -> Self {
        Self { ..*self }
    }

    fn occupancy(&self, port: u32) -> u32 {
        let draw = Rng::stream(self.seed, port.into()).below(8);
        [0, 0, 1, 2, 7, 40, 300, 4000][draw as usize]
    }

    fn published(&self, port: PortId) -> u32 {
        self.occupancy(port.0 ^ 0x5A5A)
    }

    fn interval(&self) -> u32 {
        self.occupancy(0)
    }

    fn free_vcs(&self, port: u32, class: u8) -> u32 {
        self.occupancy(port ^ u32::from(class) << 16) / 2
    }

    fn buffer(&self, class: u8) -> u32 {
        16 * (u32::from(class) + 1)
    }

    fn arrived_by(&self) -> u32 {
        self.arrived_by
    }

    fn leaves_by(&self) -> u32 {
        self.leaves_by
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
    let ends: Vec<RouterId> = network.up_routers().filter(|&r| network.terminals_of(r).next().is_some()).collect();
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
        // To the intermediate router and on from there, each minimally.
        let detour = || {
            let vias = network.up_routers().map(|via| distances_to(network, via)[src.index()] + far[via.index()]);
            vias.max().unwrap_or(0)
        };
        let most = match name.split(':').next().expect("split gives one part at least") {
            "min" if network.family() == "dragonfly" => 3,
            "min" | "nar" if network.family() == "galaxyfly" => 5,
            "nal" => 6,
            "nag" => 7,
            "par" if network.family() == "dragonfly" => 7,
            // Escapes in dimension order are minimal; up*/down* takes each router twice at most.
            "duato" if dimension_ordered(network) => least,
            // An internal hop before each outer one at most, and one at the end.
            "ts-dor" | "dort" => 2 * least + 1,
            "duato" | "updown" => 2 * network.num_routers() as u32,
            "dor" | "nca" | "anca" if nested(network) => nested_bound(network),
            // A class for each hop.
            "omniwar" | "polarized" => routing.classes(),
            // Where links have failed, up and then down may be longer than other ways, but no longer than on the whole tree.
            "nca" | "anca" if network.failures().is_some() => {
                distances_to(network.intact(), dst).into_iter().max().unwrap_or(0)
            }
            "nca" | "anca" | "dor" | "min" | "min-spread" | "min-updown" => least,
            _ if network.family() == "dragonfly" => 6,
            // Perhaps from the second router on.
            "par" => detour() + 2,
            _ => detour(),
        };
        assert!(
            (least..=most).contains(&hops),
            "{spec}, {name}: {src} to {dst} by {path:?}: {hops} hops, not {least} to {most}"
        );
    }
}

/// True if dimension order reaches every router by a minimal path.
fn dimension_ordered(network: &Network) -> bool {
    offered(network).contains(&"dor") && !nested(network)
}

/// True for subtori under an upper network.
fn nested(network: &Network) -> bool {
    network.structure::<Nest>().is_some()
}

/// Hops that a packet may take there: across two subtori, and up and down.
fn nested_bound(network: &Network) -> u32 {
    let nest = network.structure::<Nest>().expect("a nested network");
    2 * (3 * (nest.side / 2) + nest.sizes.len() as u32)
}

/// The routers that a packet goes through after its source; every decision is checked against the enumeration.
fn send<R: Routing>(network: &Network, routing: &R, src: RouterId, dst: RouterId, seed: u64) -> Vec<u32> {
    let spec = network.spec();
    let (mut at, mut path) = (src, Vec::new());
    let (mut starts, mut moves, mut turned) = (Vec::new(), Vec::new(), Vec::new());
    let mut state = PacketState::direct(0);
    let mut dice = Rng::stream(seed, 0);
    let [arrived_by, leaves_by] = [src, dst].map(|end| dice.below(network.terminals_of(end).count().max(1) as u32));
    while at != dst {
        let hop = path.len() as u64;
        let view = Anything { seed: seed ^ hop, leaves_by, arrived_by };
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
        if state.via == NO_VIA && hop.next.via != NO_VIA {
            assert!(![at.0, dst.0].contains(&hop.next.via), "{spec}: at {at} to {dst} a detour by {}", hop.next.via);
            turned.clear();
            routing.diverts(at, state, dst, &mut turned);
            assert!(turned.iter().all(|state| state.via == ANY_VIA), "{spec}: turns to {turned:?}");
            for state in &turned {
                routing.moves(at, PacketState { via: hop.next.via, ..*state }, dst, &mut moves);
            }
        }
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
    for name in names.into_iter().chain(["val:via=any", "ugal-l:bias=0", "lbr:n=3,m=5,t=7,ties=paper", "lbr:n=all"]) {
        let routing = build(&network, name).expect(name);
        walk(&network, name, &routing, packets, seed);
    }
}

#[test]
fn every_decision_has_been_enumerated() {
    for spec in [
        "mesh:4x3x2",
        "mesh:1x5",
        "mesh:4x3 --fail links=3,seed=1",
        "torus:4x4 --fail links=10%,routers=3,seed=3",
        "dragonfly:a=4,h=2 --fail links=5%,routers=1,seed=1",
        "torus:4x4",
        "torus:5x2",
        "torus:2x3,double=true",
        "twin-torus:4x3x2",
        "twin-torus:3x4",
        "twin-torus:2x2x4x2x2",
        "hyperx:3x3x2",
        "hyperx:4x3,trunk=3",
        "hyperx:2",
        "fattree:k=2,levels=4",
        "fattree:k=3,levels=3",
        "fattree:k=4,levels=3,taper=2",
        "fattree:k=4,levels=3 --fail links=5%,seed=1",
        "xgft:down=2x3x4,up=3x3 --fail links=4,routers=1,seed=2",
        "clos:radix=4,levels=3",
        "clos:radix=6,levels=3,taper=1.5",
        "xgft:down=3x2x4,up=2x3",
        "xgft:down=1x3x2,up=4x1",
        "permuted:two-cab(torus:4x4,p=2),cabinet=4",
        "myriclos:32",
        "myriclos:256",
        "hypercube:4",
        "folded-hypercube:4,p=2",
        "dragonfly:a=4,h=2",
        "dragonfly:a=4,h=2,g=4",
        "dragonfly:a=4,h=2,g=6,arrangement=circulant",
        "dragonfly:a=5,h=1,g=3",
        "dragonfly:a=1,h=3",
        "dragonfly:a=3,h=1,g=1",
        "dragonfly:a=4,h=2,arrangement=random",
        "galaxyfly:n=3,q=5,a=2,p=2",
        "galaxyfly:n=2,q=4,a=3,wiring=random",
        "galaxyfly:n=1,q=9,a=2,wiring=round-robin",
        "galaxyfly:n=3,q=7,a=1",
        "galaxyfly:n=5,q=1,a=3",
        "galaxyfly:n=1,q=1,a=4",
        "galaxyfly:n=3,q=8,a=2 --fail links=5%,seed=1",
        "dragonfly-plus:leaf=2,spine=3,p=2,h=1",
        "dragonfly-plus:leaf=3,spine=2,p=1,h=2,g=3,arrangement=palmtree",
        "ring:16,degree=3,seed=2",
        "ring:9,degree=2",
        "random-regular:15,degree=4,seed=3",
        "cayley:13x4,turn=5,generators=1,13",
        "torus:3x4,twist=0:2/0:0",
        "slimfly:q=4",
        "slimfly:q=5",
        "flex:3x3x3",
        "flex:4x3x3",
        "flex:3x3x2",
        "flex:2x3x3",
        "flex:3x4x5",
        "nesttree:t=2,u=4,endpoints=48",
        "nesttree:t=4,u=8,endpoints=128,attach=published",
        "nestghc:t=3,u=1,endpoints=54",
        "nestghc:t=4,u=2,endpoints=128,upper=4x2x8",
    ] {
        walk_all(spec, 400, 1);
    }
}

/// Over hosts too, late detours of the fabric's routing among them.
#[test]
fn every_decision_over_hosts_has_been_enumerated() {
    let small = "dragonfly:a=2,h=2,p=4,g=5,rate=200G";
    let plus = "dragonfly-plus:leaf=2,spine=2,p=8,h=1,g=3,rate=200G";
    for (fabric, routing) in [
        (small, "par"),
        (small, "ugal-l"),
        (plus, "ugal-g"),
        ("hyperx:3x3,p=4,rate=200G", "dimwar"),
        ("torus:3x3,p=4,rate=200G", "duato"),
    ] {
        let network = topology::build(&format!("cluster:hosts=9,host=mi250x-8,fabric=({fabric}),attach=block"));
        let network = network.expect("small");
        let name = format!("hosts:nic=spread,fabric={routing}");
        let built = build(&network, &name).expect(&name);
        let mut dice = Rng::stream(1, 0);
        for packet in 0..400 {
            let [src, dst] = [0; 2].map(|_| network.router_of(TerminalId(dice.below(network.num_terminals() as u32))));
            if src != dst {
                send(&network, &built, src, dst, packet << 20);
            }
        }
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

/// Trees of two and three levels, of any widths.
fn trees() -> impl Strategy<Value = String> {
    let written = |widths: &[u32]| widths.iter().map(u32::to_string).collect::<Vec<_>>().join("x");
    (prop::array::uniform3(1u32..5), prop::array::uniform2(1u32..4), 2usize..4).prop_map(move |(down, up, levels)| {
        format!("xgft:down={},up={}", written(&down[..levels]), written(&up[..levels - 1]))
    })
}

fn megaflies() -> impl Strategy<Value = String> {
    (1u32..4, 1u32..4, 1u32..3)
        .prop_flat_map(|(leaf, spine, h)| (Just(leaf), Just(spine), Just(h), 1..=spine * h + 1))
        .prop_map(|(leaf, spine, h, g)| format!("dragonfly-plus:leaf={leaf},spine={spine},p=2,h={h},g={g}"))
}

fn cubes() -> impl Strategy<Value = String> {
    (select(vec!["hypercube", "folded-hypercube"]), 2u32..6)
        .prop_map(|(family, dimensions)| format!("{family}:{dimensions}"))
}

/// Rings with matchings and random regular graphs of even sizes, so that any degree is possible.
fn random_graphs() -> impl Strategy<Value = String> {
    (select(vec!["ring", "random-regular"]), 4u32..16, 2u32..6, 1u32..1000)
        .prop_map(|(family, half, degree, seed)| format!("{family}:{},degree={degree},seed={seed}", 2 * half))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn on_any_network(spec in prop_oneof![grids(), dragonflies(), flexes()], seed in any::<u64>()) {
        walk_all(&spec, 40, seed);
    }

    #[test]
    fn on_any_tree_cube_or_random_graph(
        spec in prop_oneof![trees(), megaflies(), cubes(), random_graphs()],
        seed in any::<u64>(),
    ) {
        walk_all(&spec, 40, seed);
    }
}

/// The engine's routings are safe where they are offered. A routing built for another wiring is not, and shows that a
/// proof can fail: on the ring 0-1-2-3 what was made for the square 0-1-3-2 has a cycle.
#[test]
fn a_routing_made_for_another_wiring_is_refused() {
    let ring = topology::build("torus:4").expect("a ring");
    let square = topology::build("hyperx:2x2").expect("a square");
    let routing = build(&square, "dor").expect("the square's own");
    let proof = verify::verify(&square, "dor", &routing, None).expect("a proof");
    assert!(proof.deadlock_free);
    let proof = verify::verify(&ring, "dor of hyperx:2x2", &routing, None).expect("a proof");
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

/// The slots of every buffer of [`Busy`] routers.
const BUFFER: u32 = 100;

/// One output is occupied in one way, all others in another.
struct Busy {
    port: u32,
    here: u32,
    elsewhere: u32,
}

impl View for Busy {
    fn copy(&self) -> Self {
        Self { ..*self }
    }

    fn occupancy(&self, port: u32) -> u32 {
        if port == self.port { self.here } else { self.elsewhere }
    }

    fn published(&self, _port: PortId) -> u32 {
        panic!("none of the routings tested with this reads a snapshot")
    }

    fn interval(&self) -> u32 {
        panic!("none of the routings tested with this reads a snapshot")
    }

    fn free_vcs(&self, _port: u32, _class: u8) -> u32 {
        panic!("none of the routings tested with this asks for free VCs")
    }

    fn buffer(&self, _class: u8) -> u32 {
        BUFFER
    }
}

/// The intermediate routers that UGAL takes from `src` to `dst`, over many draws, if the minimal output holds `q_min`
/// flits and every other `q_non`.
fn detours(spec: &str, name: &str, [src, dst]: [u32; 2], q_min: u32, q_non: u32) -> BTreeSet<u32> {
    let network = topology::build(spec).expect(spec);
    let (src, dst) = (RouterId(src), RouterId(dst));
    let minimal = build(&network, if spec.starts_with("hyperx") { "dor" } else { "min" }).expect("a minimal routing");
    let mut rng = Rng::stream(1, 1);
    let state = minimal.start(src, dst, &Idle, &mut rng);
    let port = minimal.choose(src, state, dst, &Idle, &mut rng).port;
    let view = Busy { port: port.into(), here: q_min, elsewhere: q_non };
    let routing = build(&network, name).expect(name);
    let start = |seed| routing.start(src, dst, &view, &mut Rng::stream(seed, 7));
    (0..600).map(start).map(|state| state.via).filter(|via| *via != NO_VIA).collect()
}

/// From (0, 0) to (1, 1) on a 4 x 4 HyperX: two hops, or by a router of the rectangle between, of 2 hops in all at its
/// corners. Minimal if 2 q_min <= H q_non + 2.
#[test]
fn ugal_on_a_hyperx_weighs_hops_and_prefers_the_minimal_way_by_two() {
    let taken = |q_min, q_non| detours("hyperx:4x4", "ugal-l", [0, 5], q_min, q_non);
    let hops = |via: u32| {
        [0, 5].map(|end: u32| u32::from(via % 4 != end % 4) + u32::from(via / 4 != end / 4)).iter().sum::<u32>()
    };
    assert!(taken(1, 0).is_empty());
    assert!(!taken(2, 0).is_empty());
    for (q_min, longest) in [(11, 0), (12, 2), (16, 2), (17, 3), (21, 3), (22, 4)] {
        let found = taken(q_min, 10);
        assert_eq!(found.iter().map(|&via| hops(via)).max().unwrap_or(0), longest, "q_min {q_min}: {found:?}");
    }
    // One dimension differs: the detour stays in it.
    let line = detours("hyperx:4x4", "ugal-l", [0, 2], 50, 0);
    assert_eq!(line, BTreeSet::from([1, 3]));
}

/// On a dragonfly minimal if q_min <= 2 q_non + 3, and only a third group is a detour.
#[test]
fn ugal_on_a_dragonfly_weighs_one_to_two_and_prefers_the_minimal_way_by_three() {
    let taken = |ends, q_min, q_non| detours("dragonfly:a=4,h=2", "ugal-l", ends, q_min, q_non);
    for q_non in [0, 1, 20, 300] {
        assert!(taken([0, 20], 2 * q_non + 3, q_non).is_empty(), "{q_non}");
        let found = taken([0, 20], 2 * q_non + 4, q_non);
        assert!(!found.is_empty() && found.iter().all(|via| ![0, 5].contains(&(via / 4))), "{q_non}: {found:?}");
    }
    assert!(taken([0, 3], 5000, 0).is_empty(), "within a group there is no detour");
    assert!(detours("dragonfly:a=4,h=2", "ugal-l:bias=0", [0, 20], 40, 20).is_empty());
    assert!(!detours("dragonfly:a=4,h=2", "ugal-l:bias=0", [0, 20], 41, 20).is_empty());
}

/// Elsewhere hops weigh, without a bias. On this Slim Fly one path of two hops joins a pair of routers; a detour that
/// leaves by another output has three or four.
#[test]
fn ugal_elsewhere_weighs_hops() {
    let network = topology::build("slimfly:q=5").expect("a Slim Fly");
    let far = distances_to(&network, RouterId(0));
    let dst = (1..50).find(|&r| far[r as usize] == 2).expect("diameter 2");
    let towards = distances_to(&network, RouterId(dst));
    for (q_min, q_non, longest) in [(0, 0, 0), (1, 0, 4), (15, 10, 0), (16, 10, 3), (20, 10, 3), (21, 10, 4)] {
        let found = detours("slimfly:q=5", "ugal-l", [0, dst], q_min, q_non);
        let hops = |via: &u32| far[*via as usize] + towards[*via as usize];
        assert_eq!(found.iter().map(hops).max().unwrap_or(0), longest, "{q_min}, {q_non}: {found:?}");
    }
}

#[test]
fn anca_takes_the_less_occupied_of_two() {
    let network = topology::build("fattree:k=4,levels=2").expect("a tree");
    let routing = build(&network, "anca").expect("its routing");
    // Outputs up of a leaf are 4 to 7; 5 is taken only if it is drawn twice, once in sixteen.
    let view = Busy { port: 5, here: 9, elsewhere: 3 };
    let choose =
        |seed| routing.choose(RouterId(0), PacketState::direct(0), RouterId(3), &view, &mut Rng::stream(seed, 3)).port;
    let ports: Vec<u16> = (0..8000).map(choose).collect();
    let share = |port: u16| ports.iter().filter(|p| **p == port).count() as f64 / 8000.0;
    assert!((share(5) - 1.0 / 16.0).abs() < 0.012, "{}", share(5));
    assert!([4, 6, 7].iter().all(|&port| (share(port) - 5.0 / 16.0).abs() < 0.025));
}

/// The expected load of each pair of neighbours, against packets that are sent one by one.
#[test]
fn expected_loads_are_those_of_many_packets() {
    const PACKETS: u32 = 40_000;
    for spec in [
        "mesh:4x3",
        "torus:4x2,p=2",
        "hyperx:3x3,trunk=2",
        "fattree:k=3,levels=3",
        "dragonfly:a=4,h=2",
        "dragonfly:a=4,h=2,g=3",
        "slimfly:q=3,p=2",
        "flex:3x3x3",
        "flex:4x3x4",
    ] {
        let network = topology::build(spec).expect(spec);
        let traffic = topoloom::traffic::build(&network, "uniform").expect("any network offers it");
        for name in offered(&network).into_iter().chain(["val:via=any"]) {
            let routing = build(&network, name).expect(name);
            if !routing.oblivious() {
                continue;
            }
            let load = channel_load(&network, name, &routing, &traffic).expect("oblivious");
            let mut expected = std::collections::BTreeMap::new();
            for (from, port, load) in load.channels(&network) {
                let (_, to) = network.neighbors(from).find(|&(other, _)| other == port).expect("a neighbour");
                *expected.entry((from.0, to.0)).or_insert(0.0) += load;
            }
            let mut seen = std::collections::BTreeMap::new();
            let mut dice = Rng::stream(11, 0);
            for packet in 0..PACKETS {
                let source = TerminalId(dice.below(network.num_terminals() as u32));
                let to = network.router_of(traffic.destination(source, &mut dice));
                let mut at = network.router_of(source);
                let path = send(&network, &routing, at, to, u64::from(packet) << 20);
                for next in path {
                    *seen.entry((at.0, next)).or_insert(0u32) += 1;
                    at = RouterId(next);
                }
            }
            let packets = f64::from(PACKETS) / network.num_terminals() as f64;
            for (pair, load) in expected {
                let (drawn, mean) = (f64::from(seen.remove(&pair).unwrap_or(0)), load * packets);
                assert!(
                    (drawn - mean).abs() <= 6.0 * (mean + 1.0).sqrt(),
                    "{spec}, {name}: {drawn} packets over {pair:?}, {mean} expected"
                );
            }
            assert!(seen.is_empty(), "{spec}, {name}");
        }
    }
}

/// Whether packets of `name` between these routers ever leave by another output than those of `min`, whose outputs hold
/// `q_min` flits while all others hold `q_non`.
fn leaves_elsewhere(spec: &str, name: &str, [src, dst]: [u32; 2], [q_min, q_non]: [u32; 2]) -> bool {
    let network = topology::build(spec).expect(spec);
    let (src, dst) = (RouterId(src), RouterId(dst));
    let minimal = build(&network, "min").expect("always offered");
    let mut starts = Vec::new();
    minimal.starts(src, dst, &mut starts);
    let routing = build(&network, name).expect(name);
    let first = |state| routing.choose(src, state, dst, &Idle, &mut Rng::stream(1, 1)).port;
    let port = minimal.choose(src, starts[0], dst, &Idle, &mut Rng::stream(1, 1)).port;
    assert_eq!(starts.len(), 1, "{spec}: one minimal path, so that there is one output to fill");
    let view = Busy { port: port.into(), here: q_min, elsewhere: q_non };
    (0..200).any(|seed| first(routing.start(src, dst, &view, &mut Rng::stream(seed, 7))) != port)
}

#[test]
fn thresholds_of_galaxyfly_decide() {
    let (spec, pair) = ("galaxyfly:n=2,q=7,a=1", [0, 1]);
    for name in ["nar", "nag"] {
        let leaves = |keys: &str, queues| leaves_elsewhere(spec, &format!("{name}{keys}"), pair, queues);
        assert!(leaves("", [BUFFER * 8 / 10 + 1, 40]), "{name}: above 0.8 of the buffer, and less than half elsewhere");
        assert!(!leaves("", [BUFFER * 8 / 10, 0]), "{name}: not above 0.8 of the buffer");
        assert!(!leaves("", [90, 45]), "{name}: half as much elsewhere");
        assert!(leaves(":th-nonmin=0.51", [90, 45]), "{name}");
        assert!(leaves(":th-min=0", [1, 0]), "{name}");
        assert!(!leaves(":th-min=0", [0, 0]), "{name}");
        assert!(leaves(":th-min=0.3,th-nonmin=2", [31, 61]), "{name}");
    }
    assert!(leaves_elsewhere("galaxyfly:n=1,q=3,a=4", "nal", [0, 1], [90, 0]), "within a supernode");
    assert!(!leaves_elsewhere("galaxyfly:n=1,q=3,a=4", "nag", [0, 1], [90, 0]), "within a supernode");
    assert!(!leaves_elsewhere("galaxyfly:n=2,q=5,a=1", "nar", [0, 1], [90, 0]), "no neighbour in common");
    assert!(!leaves_elsewhere("galaxyfly:n=2,q=7,a=1", "nar", [0, 7], [90, 0]), "neighbours in two clusters");
}
