//! The options of the input-queued models: `iq`, and `vct`, the same with the times of a paper.

use std::borrow::Cow;

use crate::cycle::Sizes;
use crate::cycle::router::buffer_policy::{self, Buffers};
use crate::cycle::router::words::{counted, significant};
use crate::cycle::router::{Interface, Key, Kind, RouterInfo, RouterOptions, Unless, Value, Wishes};
use crate::error::{Error, Result};
use crate::limits::{MAX_VCS, USUAL_VCS};
use crate::links::Latencies;

/// The router of BookSim2's timing.
pub static INFO: RouterInfo = IQ;

const IQ: RouterInfo = RouterInfo {
    name: "iq",
    summary: "input-queued with virtual channels, timed like BookSim2's router",
    source: "Dally and Towles, Principles and Practices of Interconnection Networks (2004)",
    cycle_ns: None,
    keys: KEYS,
    preset: &[],
    preset_engine: |_| {},
    check,
    fill,
    interface,
    most_ports: None,
    memory: |stride, _| stride * 80 + 64,
    describe,
    prepare: super::prepare,
};

/// The same router under virtual cut-through: switches of 100 ns, links of 20 ns, packets of 33 flits of 256 bits at
/// 96 Gb/s.
///
/// A cycle is a flit, 8/3 ns; 100 ns are 37.5 cycles and 20 ns are 7.5, rounded up to 38 and 8. A router of one step a
/// cycle takes `routing_delay` + 2 cycles, a link of latency L takes L + 1. Buffers hold two packets per VC, more than a
/// link's round trip.
pub static VCT: RouterInfo = RouterInfo {
    name: "vct",
    summary: "the same under virtual cut-through, with the times of a switch of InfiniBand's days",
    source: "Fujiwara et al., Swap-and-randomize, section 6.1",
    cycle_ns: Some(256.0 / 96.0),
    preset: &[
        ("vcs", Value::Int(4)),
        ("buffer", Value::Int(66)),
        ("flow", Value::Text(Cow::Borrowed("vct"))),
        ("speedup", Value::Real(1.0)),
        ("routing_delay", Value::Int(36)),
    ],
    preset_engine: |config| {
        config.links = Latencies { terminal: 7, local: 7, global: 7, up: 7, internal: 7, ..Latencies::default() };
        config.packet = Sizes::One(33);
    },
    check: |options, largest| {
        if options.text("flow") != "vct" {
            return Err(Error::Config("model=vct is virtual cut-through: leave flow out, or flow=vct".to_owned()));
        }
        check(options, largest)
    },
    ..IQ
};

/// Flits of a VC's buffer at least, unless given.
const BUFFER: u32 = 64;

const KEYS: &[Key] = &[
    Key {
        name: "vcs",
        kind: Kind::Int(1, MAX_VCS as u64),
        unless: Unless::Depends(
            "what the routing needs, twice that where its paths are of several kinds, and 4 at least",
        ),
        doc: "virtual channels per port",
    },
    Key {
        name: "buffer",
        kind: Kind::Int(1, 65_535),
        unless: Unless::Depends("64, or, where links have rates, what keeps the one of the longest credit loop busy"),
        doc: "flits that the buffer of one VC holds",
    },
    Key {
        name: "buffers",
        kind: Kind::Text("private or shared:FLITS"),
        unless: Unless::word("private"),
        doc: "how the buffers of a port are divided among its VCs: private, or shared:R, of which R flits are private to \
              each VC (as many as the largest packet has, at least, where packets need room for all of it)",
    },
    Key {
        name: "flow",
        kind: Kind::Choice(&["wormhole", "vct"]),
        unless: Unless::word("wormhole"),
        doc: "the flow control: wormhole, or vct for virtual cut-through",
    },
    Key {
        name: "speedup",
        kind: Kind::Real(1.0, 16.0),
        unless: Unless::Is(Value::Real(2.0)),
        doc: "internal steps of a router per cycle; 1.5 alternates one and two",
    },
    Key {
        name: "routing_delay",
        kind: Kind::Int(0, 1000),
        unless: Unless::Own(Value::Int(0)),
        doc: "cycles of route computation; 0 looks ahead",
    },
    Key { name: "vc_alloc_delay", kind: Kind::Int(1, 1000), unless: Unless::int(1), doc: "cycles of VC allocation" },
    Key {
        name: "sw_alloc_delay",
        kind: Kind::Int(1, 1000),
        unless: Unless::int(1),
        doc: "cycles of switch allocation",
    },
    Key {
        name: "credit_delay",
        kind: Kind::Int(0, 1000),
        unless: Unless::int(2),
        doc: "cycles that a router takes to process a credit",
    },
    Key {
        name: "allocator",
        kind: Kind::Choice(&["separable-input-first", "islip", "wavefront"]),
        unless: Unless::word("separable-input-first"),
        doc: "the allocator of VCs and of the switch",
    },
    Key { name: "iterations", kind: Kind::Int(1, 64), unless: Unless::int(1), doc: "iterations of the allocator" },
    Key {
        name: "priority",
        kind: Kind::Choice(&["none", "transit", "age"]),
        unless: Unless::Own(Value::Text(Cow::Borrowed("none"))),
        doc: "which packets get VCs and the switch first: none, transit (packets from other routers before those of \
              the router's own terminals), or age (packets created earlier)",
    },
];

/// How virtual channels and the switch are allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocator {
    /// Inputs choose an output each, then outputs choose an input each, both round robin.
    SeparableInputFirst,
    /// Outputs grant, then inputs accept (McKeown, 1999); pointers move only when a first-iteration grant is accepted.
    Islip,
    /// Diagonal by diagonal over the matrix of requests, as many as fit (Tamir and Chi, 1993).
    Wavefront,
}

/// Which packets are allocated VCs and the switch first; among equals turns decide, as without a priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// All are equal.
    None,
    /// Packets from other routers come before those of the router's own terminals.
    Transit,
    /// Packets come in the order in which they were created; those of a workload in the order of its messages.
    Age,
}

/// The options of a router, read.
#[derive(Debug, Clone)]
pub struct Options {
    /// The allocator of VCs and switch.
    pub allocator: Allocator,
    /// Iterations of the allocator.
    pub iterations: u32,
    /// The priority.
    pub priority: Priority,
    /// Internal steps a cycle.
    pub speedup: f64,
    /// Stages before VC allocation; 0 looks ahead.
    pub routing_delay: u32,
    /// Cycles of VC allocation.
    pub vc_alloc_delay: u32,
    /// Cycles of switch allocation.
    pub sw_alloc_delay: u32,
}

impl Options {
    /// Reads options that have been checked.
    pub fn read(options: &RouterOptions) -> Self {
        Self {
            allocator: match options.text("allocator") {
                "islip" => Allocator::Islip,
                "wavefront" => Allocator::Wavefront,
                _ => Allocator::SeparableInputFirst,
            },
            iterations: options.int("iterations"),
            priority: match options.text("priority") {
                "transit" => Priority::Transit,
                "age" => Priority::Age,
                _ => Priority::None,
            },
            speedup: options.real("speedup"),
            routing_delay: options.int("routing_delay"),
            vc_alloc_delay: options.int("vc_alloc_delay"),
            sw_alloc_delay: options.int("sw_alloc_delay"),
        }
    }

    /// True if some stage takes more than its step.
    pub fn delayed(&self) -> bool {
        (self.routing_delay, self.vc_alloc_delay, self.sw_alloc_delay) != (0, 1, 1)
    }
}

fn check(options: &RouterOptions, largest: u32) -> Result<()> {
    let iterations = options.int("iterations");
    if options.text("allocator") == "wavefront" && iterations != 1 {
        return Err(Error::Config(format!(
            "iterations is {iterations}; the wavefront allocator leaves nothing to a second iteration: it must be 1"
        )));
    }
    let buffer = options.find_int("buffer").unwrap_or(BUFFER);
    options.text("buffers").parse::<Buffers>()?.check(buffer)?;
    if options.text("flow") == "vct" { buffer_policy::check_packet("flow=vct", largest, buffer) } else { Ok(()) }
}

fn fill(options: &mut RouterOptions, wishes: &Wishes) {
    options.fill("vcs", wishes.vcs.max(USUAL_VCS));
    options.fill("buffer", wishes.credit_loop(turnaround(options)).max(BUFFER));
    options.write("buffers", buffer_policy::of(options).to_string());
}

fn interface(options: &RouterOptions) -> Interface {
    Interface {
        vcs: options.int("vcs"),
        buffer: options.int("buffer"),
        buffers: buffer_policy::of(options),
        cut_through: options.text("flow") == "vct",
        credit_delay: options.int("credit_delay"),
        turnaround: turnaround(options),
        output_delay: 0,
    }
}

/// The cycles of the stages that a flit passes, several a cycle at a speedup, and of processing its credit.
fn turnaround(options: &RouterOptions) -> u32 {
    let delays = ["routing_delay", "vc_alloc_delay", "sw_alloc_delay"].map(|key| options.int(key));
    let stages = if delays[0] == 0 { 3.0 } else { 4.0 };
    let passes = ((stages - 1.0) / options.real("speedup")).floor() as u32;
    let longer: u32 = delays.iter().map(|delay| delay.saturating_sub(1)).sum();
    passes + longer + options.int("credit_delay")
}

fn describe(options: &RouterOptions) -> Vec<(&'static str, String)> {
    let (flow, buffers) = (options.text("flow"), options.text("buffers"));
    let lookahead = if options.int("routing_delay") == 0 { " (lookahead)" } else { "" };
    let first = match options.text("priority") {
        "transit" => ", transit before injection",
        "age" => ", oldest packet first",
        _ => "",
    };
    let cycles = |key| counted(options.int(key), "cycle");
    vec![
        ("Router model", format!("{}: input-queued, {flow} flow control, {buffers} buffers", options.model().name)),
        (
            "Buffer of a VC",
            options.find_int("buffer").map_or(format!("{BUFFER} flits or more"), |n| counted(n, "flit")),
        ),
        ("Internal speedup", format!("{} steps per cycle", significant(options.real("speedup")))),
        (
            "Allocator",
            format!("{}, {}{first}", options.text("allocator"), counted(options.int("iterations"), "iteration")),
        ),
        ("Route computation", cycles("routing_delay") + lookahead),
        ("VC allocation", cycles("vc_alloc_delay")),
        ("Switch allocation", cycles("sw_alloc_delay")),
        ("Credit processing", cycles("credit_delay")),
    ]
}
