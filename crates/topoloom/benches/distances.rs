//! All distances of networks without symmetry: seconds, and searches moved over links in a nanosecond.
//!
//! `cargo bench -p topoloom --bench distances`, with an argument to run those whose name contains it.

use std::time::Instant;

use topoloom::Network;
use topoloom::distances::Distances;
use topoloom::network::{LinkClass, NetworkBuilder, Structure};
use topoloom::rng::Rng;

#[derive(Debug)]
struct Plain;
impl Structure for Plain {}

/// Random cycles through all routers, two links per router each.
fn random(routers: u32, degree: u32) -> Network {
    let mut builder = NetworkBuilder::new(routers).terminals_everywhere(1);
    let mut order: Vec<u32> = (0..routers).collect();
    for cycle in 0..degree / 2 {
        Rng::stream(1, cycle.into()).shuffle(&mut order);
        (0..routers as usize).for_each(|i| builder.link(order[i], order[(i + 1) % order.len()], LinkClass::Local));
    }
    builder.build(format!("random {routers}, degree {degree}"), "random", Box::new(Plain)).expect("small")
}

fn grid(side: u32) -> Network {
    let mut builder = NetworkBuilder::new(side * side).terminals_everywhere(1);
    for (x, y) in (0..side).flat_map(|y| (0..side).map(move |x| (x, y))) {
        if x + 1 < side {
            builder.link(y * side + x, y * side + x + 1, LinkClass::Local);
        }
        if y + 1 < side {
            builder.link(y * side + x, (y + 1) * side + x, LinkClass::Local);
        }
    }
    builder.build(format!("grid {side}x{side}"), "grid", Box::new(Plain)).expect("small")
}

fn main() {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    type Case = (&'static str, fn() -> Network);
    let networks: [Case; 5] = [
        ("small", || random(4096, 16)),
        ("grid-64", || grid(64)),
        ("grid-128", || grid(128)),
        ("grid-316", || grid(316)),
        ("large", || random(100_000, 16)),
    ];
    for (name, build) in networks {
        if wanted.as_ref().is_some_and(|wanted| !name.contains(wanted.as_str())) {
            continue;
        }
        let network = build();
        let start = Instant::now();
        let distances = Distances::new(&network);
        let seconds = start.elapsed().as_secs_f64();
        let moved = network.num_routers() as f64 * 2.0 * network.links().len() as f64;
        println!(
            "{name:9} {:26} {seconds:8.3} s  {:6.2} searches over links in a ns  diameter {:?}",
            network.spec(),
            moved / seconds * 1e-9,
            distances.diameter()
        );
    }
}
