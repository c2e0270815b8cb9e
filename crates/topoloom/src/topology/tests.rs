//! Every family against its definition, written here a second time as a rule over pairs of routers.

use super::*;
use crate::network::{Grid, LinkClass, Peer, RouterId, TerminalId};

fn network(spec: &str) -> Network {
    build(spec).unwrap_or_else(|error| panic!("{error}"))
}

fn mistake(spec: &str) -> String {
    build(spec).expect_err("a mistake was accepted").to_string()
}

/// The links as sorted pairs of routers, the smaller first.
fn edges(network: &Network) -> Vec<(u32, u32)> {
    let router = |port: crate::network::PortId| network.ports()[port.index()].router.0;
    let mut edges: Vec<_> = network.links().iter().map(|link| (router(link.ends[0]), router(link.ends[1]))).collect();
    assert!(edges.iter().all(|(a, b)| a < b), "ends are in order");
    edges.sort_unstable();
    edges
}

/// The pairs that `links` states are linked, as many times as it states.
fn expected(routers: u32, links: impl Fn(u32, u32) -> usize) -> Vec<(u32, u32)> {
    let pairs = (0..routers).flat_map(|a| (a + 1..routers).map(move |b| (a, b)));
    pairs.flat_map(|(a, b)| std::iter::repeat_n((a, b), links(a, b))).collect()
}

fn peers(network: &Network, router: u32) -> Vec<u32> {
    network.neighbors(RouterId(router)).map(|(_, peer)| peer.0).collect()
}

/// (routers, terminals, links, radix, network radix)
fn counts(spec: &str) -> (usize, usize, usize, usize, usize) {
    let n = network(spec);
    (n.num_routers(), n.num_terminals(), n.links().len(), n.radix(), n.network_radix())
}

/// What must hold in any network.
fn check_ports(network: &Network) {
    for (id, port) in network.ports().iter().enumerate() {
        match port.peer {
            Peer::Terminal(terminal) => assert_eq!(network.terminal_port(terminal).index(), id),
            Peer::Port(peer) => {
                let back = network.ports()[peer.index()];
                assert_eq!(back.peer, Peer::Port(crate::network::PortId(id as u32)));
                assert_eq!(back.class, port.class);
                assert_ne!(back.router, port.router);
            }
        }
    }
    for router in network.routers() {
        let ports = network.ports_of(router);
        assert!(ports.iter().all(|port| port.router == router));
        let links_follow = ports.is_sorted_by_key(|port| !matches!(port.peer, Peer::Terminal(_)));
        assert!(links_follow, "terminals come before links");
    }
}

#[test]
fn every_example_builds_and_its_ports_agree() {
    // The file of the example is not there.
    for family in FAMILIES.iter().filter(|family| family.name != "file") {
        check_ports(&network(family.example));
    }
}

#[test]
fn terminals_are_numbered_router_by_router() {
    for spec in [
        "mesh:3x4,p=3",
        "torus:3x4,p=3",
        "hyperx:3x4,p=3",
        "dragonfly:a=4,h=2,p=3",
        "slimfly:q=4,p=3",
        "flex:3x3x3,p=3",
    ] {
        let network = network(spec);
        for terminal in 0..network.num_terminals() as u32 {
            assert_eq!(network.router_of(TerminalId(terminal)).0, terminal / 3, "{spec}");
        }
    }
}

#[test]
fn mesh_links_neighbours_in_port_order() {
    let n = network("mesh:4x3x2,p=2");
    let grid = Grid { sides: vec![4, 3, 2] };
    let distance = |a: u32, b: u32| -> u32 {
        grid.coordinates(a).iter().zip(grid.coordinates(b)).map(|(a, b)| a.abs_diff(b)).sum()
    };
    assert_eq!(edges(&n), expected(24, |a, b| usize::from(distance(a, b) == 1)));
    assert_eq!(peers(&n, 5), [6, 4, 9, 1, 17], "+ before -, dimension by dimension");
    assert_eq!(peers(&n, 0), [1, 4, 12]);
}

fn ring_distance(a: u32, b: u32, side: u32) -> u32 {
    a.abs_diff(b).min(side - a.abs_diff(b))
}

#[test]
fn torus_links_neighbours_in_port_order() {
    let n = network("torus:4x3x1x2");
    let grid = Grid { sides: vec![4, 3, 1, 2] };
    let distance = |a: u32, b: u32| -> u32 {
        let pairs = grid.coordinates(a).into_iter().zip(grid.coordinates(b));
        pairs.zip(&grid.sides).map(|((a, b), &side)| ring_distance(a, b, side)).sum()
    };
    assert_eq!(edges(&n), expected(24, |a, b| usize::from(distance(a, b) == 1)));
    assert_eq!(peers(&n, 0), [1, 3, 4, 8, 12]);
    assert_eq!(peers(&n, 17), [18, 16, 21, 13, 5]);
}

#[test]
fn torus_dimension_of_two_has_one_link_or_two() {
    assert_eq!(edges(&network("torus:2x3")).len(), 3 + 6);
    let double = network("torus:2x3,double=true");
    assert_eq!(edges(&double).len(), 6 + 6);
    let both: Vec<_> = double.ports_of(RouterId(0)).iter().skip(1).take(2).map(|port| port.peer).collect();
    let base = double.port_base(RouterId(1));
    let back = [base + 2, base + 1].map(|port| Peer::Port(crate::network::PortId(port)));
    assert_eq!(both, back, "+ of the one is - of the other");
}

#[test]
fn counts_of_the_published_configurations() {
    assert_eq!(counts("torus:16x8x8"), (1024, 1024, 3072, 7, 6));
    assert_eq!(counts("hyperx:10x10,p=10"), (100, 1000, 900, 28, 18));
    assert_eq!(counts("fattree:k=10,levels=3"), (300, 1000, 2000, 20, 20));
    assert_eq!(counts("dragonfly:a=8,h=4,p=4"), (264, 1056, 1452, 15, 11));
    assert_eq!(counts("slimfly:q=9,p=6"), (162, 972, 1053, 19, 13));
    assert_eq!(counts("flex:6x6x3,p=10"), (108, 1080, 1080, 30, 20));
    assert_eq!(counts("flex:8x8x3,p=5"), (192, 960, 2688, 33, 28));
}

#[test]
fn networks_of_one_router() {
    for spec in ["mesh:1,p=4", "torus:1x1,p=4", "hyperx:1,p=4", "dragonfly:a=1,h=1,g=1,p=4"] {
        assert_eq!(counts(spec), (1, 4, 0, 4, 0), "{spec}");
    }
}

#[test]
fn hyperx_links_lines_with_trunks() {
    let n = network("hyperx:4x3x2,trunk=2");
    let grid = Grid { sides: vec![4, 3, 2] };
    let differ =
        |a: u32, b: u32| grid.coordinates(a).iter().zip(grid.coordinates(b)).filter(|(a, b)| **a != *b).count();
    assert_eq!(edges(&n), expected(24, |a, b| if differ(a, b) == 1 { 2 } else { 0 }));
    assert_eq!(peers(&n, 5), [4, 4, 6, 6, 7, 7, 1, 1, 9, 9, 17, 17]);
}

#[test]
fn hyperx_tiles_number_the_grid_of_all_terminals() {
    let n = network("hyperx:3x2,tile=2x4");
    assert_eq!(n.num_terminals(), 48);
    for (x, y) in (0..6).flat_map(|x| (0..8).map(move |y| (x, y))) {
        assert_eq!(n.router_of(TerminalId(y * 6 + x)).0, y / 4 * 3 + x / 2);
    }
    let tile: Vec<u32> = n.terminals_of(RouterId(1)).map(|terminal| terminal.0).collect();
    assert_eq!(tile, [2, 3, 8, 9, 14, 15, 20, 21]);
    let grid = n.any_structure().terminal_grid().expect("tiled terminals have a grid");
    assert_eq!((grid.routers.sides, grid.tile), (vec![3, 2], vec![2, 4]));
    check_ports(&n);
}

/// The published wiring of three levels, on words (a, b): leaf(a,b) - middle(a,c), middle(a,b) - top(c,b).
#[test]
fn fat_tree_is_wired_as_published() {
    let k = 3;
    let n = network("fattree:k=3,levels=3");
    let word = |router: u32| (router / (k * k), router / k % k, router % k);
    let linked = |lower: u32, upper: u32| match (word(lower), word(upper)) {
        ((0, a, _), (1, c, _)) => usize::from(a == c),
        ((1, _, b), (2, _, d)) => usize::from(b == d),
        _ => 0,
    };
    assert_eq!(edges(&n), expected(27, linked));
    assert!(n.links().iter().all(|link| link.class == LinkClass::Up));
    assert_eq!(n.router_of(TerminalId(26)).0, 8);
    assert_eq!(n.radix_of(RouterId(18)), 3, "the top has no ports up");
}

/// Whatever the levels, tapers and numbering: the routers below a router are those of its group, each over one way.
#[test]
fn trees_know_levels_groups_and_copies() {
    for spec in [
        "fattree:k=3,levels=3",
        "fattree:k=2,levels=5",
        "fattree:k=4,levels=4,taper=2x1.5",
        "clos:radix=6,levels=4",
        "clos:radix=8,levels=3,taper=2",
        "xgft:down=2x3x4x2,up=3x1x2",
    ] {
        let n = network(spec);
        let tree: &Tree = n.structure().expect("a tree");
        let mut ways = vec![vec![0u32; tree.width(0) as usize]; n.num_routers()];
        for router in n.routers() {
            let (level, group, copy) = tree.place(router);
            assert_eq!(n.any_structure().level(router), Some(level));
            assert_eq!(tree.first(level) + group * tree.copies(level) + copy, router.0);
            let up = n.neighbors(router).filter(|(port, _)| *port >= tree.down[level as usize]);
            let above: Vec<u32> = up.map(|(_, peer)| tree.level_of(peer)).collect();
            assert!(above.iter().all(|&upper| upper == level + 1));
            assert_eq!(above.len(), tree.up.get(level as usize).copied().unwrap_or(0) as usize, "{spec}");
            if level == 0 {
                ways[router.index()][router.index()] = 1;
            }
            let down = n.neighbors(router).filter(|(port, _)| level > 0 && *port < tree.down[level as usize]);
            let below: Vec<RouterId> = down.map(|(_, peer)| peer).collect();
            assert!(below.iter().all(|&peer| tree.level_of(peer) + 1 == level) && below.is_sorted());
            for peer in below {
                for (leaf, below) in ways[peer.index()].clone().into_iter().enumerate() {
                    ways[router.index()][leaf] += below;
                }
            }
            let leaves: u32 = tree.down[1..=level as usize].iter().product();
            let want = (0..tree.width(0)).map(|leaf| u32::from(leaf / leaves == group));
            assert!(ways[router.index()].iter().copied().eq(want), "{spec}: router {router}");
        }
    }
}

#[test]
fn a_twin_torus_splits_its_middle_dimension_between_two_cards() {
    let n = network("twin-torus:3x3x3");
    assert_eq!((n.num_routers(), n.num_terminals(), n.radix(), n.links().len()), (54, 54, 5, 27 * 4));
    // Node 0: d0+ d0- d1- internal on card 0, d1+ d2+ d2- internal on card 1; a hop in d1 changes the card.
    assert_eq!(peers(&n, 0), [2, 4, 13, 1]);
    assert_eq!(peers(&n, 1), [6, 19, 37, 0]);
    let internal = n.links().iter().filter(|link| link.class == LinkClass::Internal).count();
    assert_eq!(internal, 27);
}

#[test]
fn both_links_of_a_twin_torus_dimension_of_two_are_kept() {
    let n = network("twin-torus:2x2x2");
    assert_eq!(peers(&n, 0), [2, 2, 5, 1], "d0 twice on one card; d1 once on each, to the other card");
    assert_eq!(peers(&n, 1), [4, 9, 9, 0]);
}

#[test]
fn a_twin_torus_of_even_dimensions_splits_none() {
    let n = network("twin-torus:3x3");
    assert_eq!(n.radix(), 4, "cards of n + 1 ports, and a terminal");
    assert_eq!((peers(&n, 0), peers(&n, 1)), (vec![2, 4, 1], vec![7, 13, 0]));
}

#[test]
fn hypercubes_link_ids_that_differ_in_one_bit_or_in_all() {
    for dimensions in 1..7u32 {
        let n = network(&format!("hypercube:{dimensions},p=2"));
        assert_eq!(edges(&n), expected(1 << dimensions, |a, b| usize::from((a ^ b).count_ones() == 1)));
        if dimensions > 1 {
            let n = network(&format!("folded-hypercube:{dimensions}"));
            let linked = |a: u32, b: u32| usize::from([1, dimensions].contains(&(a ^ b).count_ones()));
            assert_eq!(edges(&n), expected(1 << dimensions, linked));
        }
    }
    assert_eq!(peers(&network("folded-hypercube:4"), 5), [4, 7, 1, 13, 10]);
}

/// Al-Fares et al., section 3: pods of edge and aggregation routers, cores by k/2 of them.
#[test]
fn clos_at_three_levels_is_the_tree_of_al_fares() {
    let k = 6;
    let n = network("clos:radix=6,levels=3");
    assert_eq!((n.num_terminals() as u32, n.num_routers() as u32), (k * k * k / 4, 5 * k * k / 4));
    let half = k / 2;
    // Kind (edge, aggregation, core), pod, index.
    let place = |r: u32| if r < k * k { (r / (k * half), r % (k * half) / half, r % half) } else { (2, 0, r - k * k) };
    let linked = |a: u32, b: u32| match (place(a), place(b)) {
        ((0, pod, _), (1, other, _)) => usize::from(pod == other),
        ((1, _, index), (2, _, core)) => usize::from(core / half == index),
        _ => 0,
    };
    assert_eq!(edges(&n), expected(5 * k * k / 4, linked));
    assert!(n.routers().all(|router| n.radix_of(router) == 6));
}

/// (group, port) pairs that are joined, from the network.
fn global_ports(n: &Network, a: u32, h: u32) -> Vec<(u32, u32, u32)> {
    let mut ports = Vec::new();
    for router in n.routers() {
        let global_ports = n.ports_of(router).iter().filter(|port| port.class == LinkClass::Global);
        for (port, index) in global_ports.zip(0..) {
            let Peer::Port(peer) = port.peer else { panic!("a global link leads to a router") };
            let peer = n.ports()[peer.index()].router;
            ports.push((router.0 / a, router.0 % a * h + index, peer.0 / a));
        }
    }
    ports
}

#[test]
fn dragonfly_arrangements_lead_where_they_say() {
    let (a, h, g) = (4, 2, 9);
    type Rule = fn(u32, u32) -> u32;
    let rules: [(&str, Rule); 4] = [
        ("absolute", |i, k| if k < i { k } else { k + 1 }),
        ("relative", |i, k| (i + k + 1) % 9),
        ("palmtree", |i, k| (i + 9 - k - 1) % 9),
        ("circulant", |i, k| if k % 2 == 0 { (i + k / 2 + 1) % 9 } else { (i + 9 - k / 2 - 1) % 9 }),
    ];
    for (name, rule) in rules {
        let n = network(&format!("dragonfly:a={a},h={h},arrangement={name}"));
        let want: Vec<_> = (0..g).flat_map(|i| (0..a * h).map(move |k| (i, k, rule(i, k)))).collect();
        assert_eq!(global_ports(&n, a, h), want, "{name}");
    }
    let default = network("dragonfly:a=4,h=2");
    assert_eq!(edges(&default), edges(&network("dragonfly:a=4,h=2,arrangement=absolute")));
    // BookSim: the link between groups G and D is at index D, or D-1 beyond the own group.
    let index = |own: u32, peer: u32| if peer < own { peer } else { peer - 1 };
    let linked = |x: u32, y: u32| {
        let (i, j) = (x / a, y / a);
        usize::from(i == j || index(i, j) / h == x % a && index(j, i) / h == y % a)
    };
    assert_eq!(edges(&default), expected(36, linked));
    assert_eq!(peers(&default, 5)[..3], [4, 6, 7]);
}

#[test]
fn dragonfly_spreads_ports_over_fewer_groups() {
    for arrangement in ["absolute", "relative", "palmtree", "circulant", "random"] {
        for (a, h) in [(4, 2), (3, 3), (5, 1), (2, 5)] {
            for g in 2..=a * h + 1 {
                let n = network(&format!("dragonfly:a={a},h={h},g={g},arrangement={arrangement}"));
                check_ports(&n);
                let mut links = vec![vec![0; g as usize]; g as usize];
                global_ports(&n, a, h).iter().for_each(|&(i, _, j)| links[i as usize][j as usize] += 1);
                let share = a * h / (g - 1);
                let pairs =
                    links.iter().enumerate().flat_map(|(i, row)| row.iter().enumerate().filter(move |(j, _)| *j != i));
                assert!(pairs.map(|(_, &count)| count).all(|count| count == share || count == share + 1));
                let used: u32 = links.iter().flatten().sum();
                assert_eq!(
                    used,
                    g * a * h - g * a * h % 2,
                    "{arrangement} a={a} h={h} g={g}: at most one port is unused"
                );
            }
        }
    }
    let n = network("dragonfly:a=4,h=2,g=1");
    assert_eq!(edges(&n), expected(4, |_, _| 1));
}

#[test]
fn dragonfly_random_follows_its_seed() {
    let of = |seed: u32| edges(&network(&format!("dragonfly:a=4,h=2,arrangement=random,seed={seed}")));
    assert_eq!(of(7), of(7));
    assert_ne!(of(7), of(8));
    assert_eq!(of(1), edges(&network("dragonfly:a=4,h=2,arrangement=random")));
}

/// Prime fields by ordinary arithmetic: X is the even powers of the smallest primitive root (δ = 1), or the union of
/// the published two halves (δ = -1).
#[test]
fn slim_fly_over_prime_fields() {
    for (q, root) in [(3u32, 2u32), (5, 2), (7, 3), (13, 2), (19, 2)] {
        let power = |e: u32| (0..e).fold(1, |product, _| product * root % q);
        let x: Vec<u32> = if q % 4 == 1 {
            (0..q - 1).step_by(2).map(power).collect()
        } else {
            let l = q.div_ceil(4);
            (0..2 * l - 1).step_by(2).chain((2 * l - 1..4 * l - 2).step_by(2)).map(power).collect()
        };
        let linked = |a: u32, b: u32| {
            let [(s, x0, y0), (t, x1, y1)] = [a, b].map(|r| (r / q / q, r / q % q, r % q));
            let difference = (y1 + q - y0) % q;
            usize::from(match (s, t) {
                (0, 0) => x0 == x1 && x.contains(&difference),
                (1, 1) => x0 == x1 && x.iter().any(|&g| g * root % q == difference),
                _ => y0 == (x1 * x0 + y1) % q,
            })
        };
        assert_eq!(edges(&network(&format!("slimfly:q={q}"))), expected(2 * q * q, linked), "q={q}");
    }
}

#[test]
fn slim_fly_has_its_degree_and_diameter_two() {
    for (q, degree) in [(3, 5), (4, 6), (5, 7), (7, 11), (8, 12), (9, 13), (11, 17), (16, 24)] {
        let n = network(&format!("slimfly:q={q}"));
        assert!(n.routers().all(|router| n.neighbors(router).count() == degree), "q={q}");
        for router in n.routers() {
            let mut near = vec![false; n.num_routers()];
            for (_, peer) in n.neighbors(router) {
                near[peer.index()] = true;
                n.neighbors(peer).for_each(|(_, second)| near[second.index()] = true);
            }
            assert!(near.iter().all(|&reached| reached), "q={q}: {router} reaches all in two hops");
        }
    }
}

#[test]
fn slim_fly_ports_follow_generators() {
    // q = 5: ξ = 2, X = (1, 4), X' = (2, 3).
    let n = network("slimfly:q=5");
    assert_eq!(peers(&n, 5 + 2), [5 + 3, 5 + 1, 27, 31, 35, 44, 48]);
    assert_eq!(peers(&n, 25)[..2], [27, 28]);
    // GF(9) modulo x^2 + x + 2: ξ = x, so ξ^2 = 2x + 1 = 7, ξ^4 = 2, ξ^6 = x + 2 = 5.
    assert_eq!(peers(&network("slimfly:q=9"), 0)[..4], [1, 7, 2, 5]);
}

#[test]
fn flex_links_rows_and_columns_of_neighbouring_layers() {
    for (nx, ny, layers) in [(3u32, 4u32, 3u32), (4, 3, 5), (3, 3, 4), (3, 4, 2), (2, 2, 3), (1, 4, 3)] {
        let n = network(&format!("flex:{nx}x{ny}x{layers}"));
        let linked = |a: u32, b: u32| {
            let [(x, y, z), (u, v, w)] = [a, b].map(|r| (r % nx, r / nx % ny, r / nx / ny));
            let adjacent = (z + 1) % layers == w || (w + 1) % layers == z;
            usize::from(adjacent && ((x == u) != (y == v)))
        };
        assert_eq!(edges(&n), expected(nx * ny * layers, linked), "{nx}x{ny}x{layers}");
        let degree = (nx + ny - 2) * if layers == 2 { 1 } else { 2 };
        assert!(n.routers().all(|router| n.neighbors(router).count() == degree as usize));
        check_ports(&n);
    }
    // (1, 0, 0): the row of layer 1, its column, then those of layer 2.
    assert_eq!(peers(&network("flex:3x3x3"), 1), [9, 11, 13, 16, 18, 20, 22, 25]);
}

#[test]
fn flex_structure_knows_coordinates() {
    let n = network("flex:3x4x5");
    let flex: &Flex = n.structure().expect("a FleX");
    for router in n.routers() {
        let (x, y, layer) = flex.coordinates(router);
        assert_eq!(vec![x, y, layer], n.any_structure().grid().expect("a grid").coordinates(router.0));
        assert_eq!(flex.router(x, y, layer), router);
    }
}

#[test]
fn mistakes_are_one_clear_sentence() {
    for (spec, words) in [
        ("torus:4x4,double=maybe", "double is 'maybe'; it must be true or false"),
        ("hyperx:4x4,tile=2", "tile has 1 dimension; it must have 2"),
        ("hyperx:4x4,tile=2x2,p=3", "p is 3, but a tile holds 4 terminals"),
        ("hyperx:4x4,tile=2x0", "tile is '2x0'; it must be whole numbers from 1 up, as in 16x16x8"),
        ("fattree:k=1,levels=3", "k is 1; it must be a whole number from 2 up"),
        ("fattree:k=4,levels=1", "levels is 1; it must be a whole number from 2 up"),
        ("fattree:k=4", "levels is missing"),
        ("fattree:k=4,levels=3,taper=5", "taper=5 leaves no uplink: a router has 4 links up"),
        ("clos:radix=7,levels=3", "radix is 7; it must be even"),
        ("clos:radix=2,levels=3", "radix is 2; it must be a whole number from 4 up"),
        ("clos:radix=8,levels=3,taper=4.1", "taper=4.1 leaves no uplink"),
        ("clos:radix=8,levels=3,taper=0.5", "taper is '0.5'; it must be a number from 1 up"),
        ("clos:radix=8,levels=3,taper=2xy", "taper is 'y'"),
        ("clos:radix=8,levels=3,taper=nan", "taper is 'nan'"),
        ("clos:radix=8,levels=3,taper=1x1x1", "taper has 3 numbers; 3 levels have at most 2"),
        ("xgft:down=4x4", "up is missing"),
        ("xgft:up=4x4", "down is missing"),
        ("xgft:down=4,up=4", "down has 1 number"),
        ("xgft:down=4x4x4,up=4", "up has 1 number; it must have 2"),
        ("xgft:down=4x4x4,up=4x4,trunk=2", "trunk has 1 number; it must have 2, as many as up"),
        ("xgft:down=4x4,up=4,trunk=0", "trunk is '0'; it must be whole numbers from 1 up"),
        ("xgft:down=4x4,up=0", "up is '0'; it must be whole numbers from 1 up"),
        ("hypercube:4x4", "one size, its number of dimensions"),
        ("folded-hypercube:1", "there is 1 dimension"),
        ("dragonfly:a=4,h=2,g=10", "g is 10; at most a*h+1 = 9 groups can be linked"),
        ("dragonfly:a=4,h=2,g=0", "g is 0"),
        ("dragonfly:a=4,h=2,arrangement=relativ", "did you mean 'relative'?"),
        ("dragonfly:a=4,h=2,seed=3", "seed is for arrangement=random only"),
        ("dragonfly:8x4", "is not key=value"),
        ("slimfly:q=2", "q is 2; it must be a prime power but 2: the nearest is 3"),
        ("slimfly:q=1", "q is 1; it must be a prime power but 2, such as 3"),
        ("slimfly:q=12", "q is 12; it must be a prime power but 2, such as 11 or 13"),
        ("slimfly:q=15", "such as 13 or 16"),
        ("twin-torus:4", "a twin torus has 2 dimensions or more"),
        ("twin-torus:4x1x4", "dimension 1 has size 1; each dimension of a twin torus has 2 nodes or more"),
        ("twin-torus:4x4x4,cards=2", "key of twin-torus"),
        ("flex:6x6", "2 sizes are given; FleX has 3"),
        ("flex:6x6x1", "there is 1 layer; FleX needs 2 or more"),
        ("flex:6x0x3", "size is 0"),
    ] {
        let sentence = mistake(spec);
        assert!(sentence.starts_with(spec) && sentence.contains(words), "{sentence}");
    }
}

#[test]
fn sizes_beyond_memory_are_refused_before_anything_is_allocated() {
    for spec in [
        "mesh:99999999x99999999x99999",
        "torus:99999999x99999999x99999",
        "torus:4294967295x4294967295x4294967295x4294967295x4294967295x4294967295",
        "hyperx:99999999x99999999x99999,trunk=4294967295",
        "hyperx:4x4,tile=4294967295x4294967295",
        "fattree:k=4294967295,levels=4294967295",
        "fattree:k=4294967295,levels=31",
        "clos:radix=4294967294,levels=31",
        "clos:radix=4,levels=32",
        "xgft:down=4294967295x4294967295x4294967295,up=4294967295x4294967295",
        "twin-torus:99999999x99999999x99999",
        "hypercube:4294967295",
        "hypercube:31,p=4",
        "folded-hypercube:40",
        "dragonfly:a=4294967295,h=4294967295,p=4294967295",
        "dragonfly:a=4294967295,h=4294967295,g=1",
        "dragonfly:a=1,h=4294967295,g=1",
        "slimfly:q=4294967291,p=4294967295",
        "flex:4294967295x4294967295x4294967295,p=4294967295",
        "mesh:8,p=4294967295",
    ] {
        assert!(matches!(build(spec), Err(Error::TooLarge(_))), "{spec}");
    }
}

#[test]
fn links_of_pairs_of_groups_are_spread_over_routers() {
    // 20 groups of 8 routers, 3 links per pair: 57 global links per group, 7 or 8 per router.
    let n = network("dragonfly:a=8,p=2,g=20,pair=3");
    assert_eq!((n.num_routers(), n.links().len()), (160, 20 * 28 + 190 * 3));
    let mut of_router = vec![0; 160];
    let mut of_pair = std::collections::BTreeMap::new();
    for link in n.links().iter().filter(|link| link.class == LinkClass::Global) {
        let [a, b] = n.routers_of(link).map(|router| router.index());
        of_router[a] += 1;
        of_router[b] += 1;
        of_pair.entry((a / 8, b / 8)).or_insert_with(Vec::new).push((a, b));
    }
    assert!(of_router.iter().all(|&links| links == 7 || links == 8));
    assert_eq!(of_pair.len(), 190);
    for links in of_pair.values() {
        assert_eq!(links.len(), 3);
        assert!((0..3).all(|i| links[i].0 != links[(i + 1) % 3].0 && links[i].1 != links[(i + 1) % 3].1));
    }
    // The same as links where these fill all ports.
    let of = |spec: &str| edges(&network(spec));
    assert_eq!(of("dragonfly:a=4,p=1,g=9,pair=1"), of("dragonfly:a=4,h=2,p=1"));
    assert_eq!(of("dragonfly:a=4,p=1,g=5,pair=2"), of("dragonfly:a=4,h=2,p=1,g=5"));
    assert_eq!(counts("dragonfly:a=4,p=3,g=1,pair=2"), (4, 12, 6, 6, 3));
    for (spec, words) in [
        ("dragonfly:a=4,g=9,pair=2,h=3", "h is 3; 2 links between each two groups need 4 global ports of some routers"),
        ("dragonfly:a=4,pair=2", "g is missing"),
        ("dragonfly:a=4,h=2,pair=2,links=1,g=3", "links and pair are given"),
    ] {
        assert!(mistake(spec).contains(words), "{}", mistake(spec));
    }
}

#[test]
fn racks_are_joined_by_director_switches() {
    let n = network("rack-tree:racks=3,leaf=4,p=5,upper=3,trunk=6,top=2,links=4");
    let level = |router: u32| n.any_structure().level(RouterId(router)).expect("levels");
    let joined = |a: u32, b: u32| match (level(a), level(b)) {
        (0, 1) if a / 7 == b / 7 => 6,
        (1, 2) => 4,
        _ => 0,
    };
    assert_eq!(edges(&n), expected(23, |a, b| if level(a) < level(b) { joined(a, b) } else { joined(b, a) }));
    assert_eq!(n.num_terminals(), 3 * 4 * 5);
    assert_eq!(n.orbits().iter().map(|(_, size)| size).sum::<u32>(), 23);
    assert_eq!(counts("rack-tree:racks=1,leaf=2,p=3,upper=1,top=2"), (3, 6, 2, 4, 2));
}

#[test]
fn twisted_tori_shift_the_long_dimensions() {
    let n = network("twisted-torus:3x3x6");
    let grid = Grid { sides: vec![3, 3, 6] };
    // Neighbours are those of the infinite grid modulo the vectors (3, 0, 3), (0, 3, 3) and (0, 0, 6).
    let same = |d: [i64; 3]| d[0] % 3 == 0 && d[1] % 3 == 0 && (d[2] - d[0] - d[1]) % 6 == 0;
    let steps = |a: u32, b: u32| {
        let (a, b) = (grid.coordinates(a), grid.coordinates(b));
        let apart: Vec<i64> = a.iter().zip(&b).map(|(a, b)| i64::from(*b) - i64::from(*a)).collect();
        let unit = |i: usize, sign: i64| {
            let mut left = [apart[0], apart[1], apart[2]];
            left[i] -= sign;
            same(left)
        };
        (0..3).flat_map(|i| [unit(i, 1), unit(i, -1)]).filter(|joined| *joined).count()
    };
    assert_eq!(edges(&n), expected(54, steps));
    let facts = |spec: &str| crate::distances::Distances::new(&network(spec));
    assert!(facts("twisted-torus:4x4x8").diameter() < facts("torus:4x4x8").diameter());
    for spec in ["twisted-torus:4x4x4", "twisted-torus:4x6", "twisted-torus:1x2"] {
        assert!(mistake(spec).contains("must be k and 2k"), "{}", mistake(spec));
    }
}

#[test]
fn groups_of_a_cascade_are_grids() {
    let n = network("cascade:columns=4,rows=3,trunk=2,p=2,g=4,pair=5");
    let place = |router: u32| (router / 12, router % 4, router % 12 / 4);
    let local = |a: u32, b: u32| match (place(a), place(b)) {
        ((g, x, y), (h, u, v)) if g == h && y == v && x != u => 1,
        ((g, x, y), (h, u, v)) if g == h && x == u && y != v => 2,
        _ => 0,
    };
    let mut within = edges(&n);
    within.retain(|(a, b)| a / 12 == b / 12);
    assert_eq!(within, expected(48, local));
    let mut of_router = [0; 48];
    let mut of_pair = std::collections::BTreeMap::new();
    for (a, b) in edges(&n).into_iter().filter(|(a, b)| a / 12 != b / 12) {
        of_router[a as usize] += 1;
        of_router[b as usize] += 1;
        *of_pair.entry((a / 12, b / 12)).or_insert(0) += 1;
    }
    assert!(of_router.iter().all(|&links| links == 1 || links == 2));
    assert_eq!(of_pair.into_values().collect::<Vec<_>>(), [5; 6]);
    assert_eq!(counts("cascade:columns=16,rows=6,trunk=3,p=4,g=1,pair=1"), (96, 384, 6 * 120 + 16 * 15 * 3, 34, 30));
}
