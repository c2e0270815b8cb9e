//! Speed of the cycle engine: `make bench`. `make bench-peers` runs it beside other simulators.
//!
//! Prints simulated cycles and flit-hops a CPU second, and, where valgrind is installed, instructions a flit-hop (the
//! difference of two runs, so that start-up does not count).

use std::process::Command;

use topoloom::cycle::{Config, Point, simulate};
use topoloom::watch::NoControl;

struct Case {
    name: &'static str,
    spec: &'static str,
    routing: &'static str,
    traffic: &'static str,
    load: f64,
    /// Cycles to measure.
    cycles: u64,
}

const fn case(
    name: &'static str,
    spec: &'static str,
    routing: &'static str,
    traffic: &'static str,
    load: f64,
    cycles: u64,
) -> Case {
    Case { name, spec, routing, traffic, load, cycles }
}

impl Case {
    fn run(&self, cycles: u64, threads: u32) -> Point {
        let config = Config { warmup: Some(200), measure: Some(cycles), threads, ..Config::default() };
        let network = topoloom::topology::build(self.spec).expect("a spec that works");
        simulate(&network, self.routing, self.traffic, self.load, &config, &NoControl).expect("a run that works")
    }
}

const FAT: &str = "fattree:k=10,levels=3";
const FLY: &str = "dragonfly:a=8,h=4,p=4";
const HYPERX: &str = "hyperx:10x10,p=10";
const FLEX: &str = "flex:6x6x3,p=10";

const CASES: &[Case] = &[
    case("mesh 8x8", "mesh:8x8", "dor", "uniform", 0.3, 60_000),
    case("fat tree", FAT, "nca", "uniform", 0.5, 3_000),
    case("dragonfly", FLY, "min", "uniform", 0.4, 4_000),
    case("HyperX", HYPERX, "dor", "uniform", 0.5, 5_000),
    case("Slim Fly", "slimfly:q=9,p=6", "min", "uniform", 0.4, 5_000),
    case("FleX", FLEX, "min", "uniform", 0.4, 5_000),
    case("Galaxyfly, 3,480 terminals", "galaxyfly:n=15,q=29,a=4,p=2", "min", "uniform", 0.3, 1_500),
    case("HyperX Valiant", HYPERX, "val", "uniform", 0.3, 4_000),
    case("HyperX UGAL", HYPERX, "ugal-l", "uniform", 0.5, 4_000),
    case("dragonfly UGAL", FLY, "ugal-l", "uniform", 0.4, 4_000),
    case("mesh past saturation", "mesh:8x8", "dor", "uniform", 1.0, 20_000),
    case("HyperX past saturation", HYPERX, "dor", "bit-complement", 1.0, 4_000),
    case("HyperX near idle", HYPERX, "dor", "uniform", 0.01, 150_000),
    case("HyperX 20x20, 8,000 terminals", "hyperx:20x20,p=20", "dor", "uniform", 0.5, 600),
];

fn main() {
    let args: Vec<String> = std::env::args().collect();
    // Called again by itself, under valgrind: `--one NAME CYCLES`.
    if let Some(place) = args.iter().position(|arg| arg == "--one") {
        let case = CASES.iter().find(|c| c.name == args[place + 1]).expect("a case's name");
        let point = case.run(args[place + 2].parse().expect("a number of cycles"), 1);
        println!("{}", point.flit_hops);
        return;
    }
    let valgrind = Command::new("valgrind").arg("--version").output().is_ok_and(|out| out.status.success());
    println!("case                            load  M flit-hops/s     cycles/s  instr/flit-hop");
    for case in CASES {
        let runs: Vec<Point> = (0..3).map(|_| case.run(case.cycles, 1)).collect();
        let fastest = runs.iter().min_by(|a, b| a.cpu_s.total_cmp(&b.cpu_s)).expect("three runs");
        let cycles = fastest.cycles as f64 / fastest.cpu_s;
        let instructions = if valgrind { instructions(case) } else { None };
        println!(
            "{:<31} {:>4}  {:>13.1}  {:>11.0}  {:>14}",
            case.name,
            case.load,
            fastest.flit_hops as f64 / fastest.cpu_s / 1e6,
            cycles,
            instructions.map_or("-".to_owned(), |n| format!("{n:.0}")),
        );
    }
    let large = CASES.last().expect("there are cases");
    let (one, two) = (large.run(large.cycles, 1), large.run(large.cycles, 2));
    println!("{}: two threads are {:.2} times as fast as one on the clock", large.name, one.wall_s / two.wall_s);
}

/// Instructions a flit-hop: callgrind's count over two runs of different length, and the difference of their hops.
fn instructions(case: &Case) -> Option<f64> {
    let short = (case.cycles / 40).max(20);
    let (a, b) = (counted(case, short)?, counted(case, 3 * short)?);
    Some((b.0 - a.0) / (b.1 - a.1))
}

/// (instructions, flit-hops) of one run under callgrind.
fn counted(case: &Case, cycles: u64) -> Option<(f64, f64)> {
    let itself = std::env::current_exe().ok()?;
    let out = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(itself)
        .args(["--one", case.name, &cycles.to_string()])
        .output()
        .ok()?;
    let log = String::from_utf8_lossy(&out.stderr);
    let refs = log.lines().find_map(|line| line.split_once("refs:"))?.1.replace(',', "");
    let hops = String::from_utf8_lossy(&out.stdout).trim().parse().ok()?;
    Some((refs.trim().parse().ok()?, hops))
}
