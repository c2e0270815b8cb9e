//! The options of cards.

use std::borrow::Cow;

use crate::cycle::router::buffer_policy::{self, Buffers};
use crate::cycle::router::words::counted;
use crate::cycle::router::{Interface, Key, Kind, RouterInfo, RouterOptions, Unless, Value, Wishes};
use crate::error::{Error, Result};
use crate::limits::{CARD_PORTS, MAX_VCS};

/// Cards with virtual output queues.
pub static INFO: RouterInfo = RouterInfo {
    name: "extoll",
    summary: "cards with virtual output queues, iSLIP, whole packets and traffic classes",
    source: "the papers on the twin torus and on EXTOLL cards",
    cycle_ns: None,
    keys: KEYS,
    preset: &[],
    preset_engine: |_| {},
    check,
    fill,
    interface,
    most_ports: Some(CARD_PORTS),
    // A queue for each input VC and output, with when packets join it, and a round robin for each input and output.
    memory: |stride, radix| stride * 80 + radix.next_power_of_two() * (stride * 8 + 24) + 128,
    describe,
    prepare: super::prepare,
};

const KEYS: &[Key] = &[
    Key {
        name: "vcs",
        kind: Kind::Int(1, MAX_VCS as u64),
        unless: Unless::Follows("tcs, tc-vcs and adaptive-tcs set their number"),
        doc: "virtual channels per port",
    },
    Key {
        name: "buffer",
        kind: Kind::Int(1, 65_535),
        unless: Unless::int(64),
        doc: "cells that the buffer of one VC holds, at least the largest packet",
    },
    Key {
        name: "buffers",
        kind: Kind::Text("private or shared:CELLS"),
        unless: Unless::word("private"),
        doc: "private, or shared:R: the VCs of a port share their buffers but for R cells each, or the cells of the \
              largest packet if that has more",
    },
    Key {
        name: "flow",
        kind: Kind::Choice(&["vct"]),
        unless: Unless::Fixed(Value::Text(Cow::Borrowed("vct")), "it sends whole packets"),
        doc: "the flow control",
    },
    Key {
        name: "speedup",
        kind: Kind::Real(1.0, 1.0),
        unless: Unless::Fixed(Value::Real(1.0), "its crossbar is as fast as its links"),
        doc: "internal steps of a card per cycle",
    },
    Key {
        name: "routing_delay",
        kind: Kind::Int(0, 1000),
        unless: Unless::Own(Value::Int(1)),
        doc: "cycles to route a packet",
    },
    Key {
        name: "vc_alloc_delay",
        kind: Kind::Int(1, 1),
        unless: Unless::Fixed(Value::Int(1), "routing has decided on the VC"),
        doc: "cycles of VC allocation",
    },
    Key { name: "sw_alloc_delay", kind: Kind::Int(1, 1000), unless: Unless::int(1), doc: "cycles of arbitration" },
    Key {
        name: "credit_delay",
        kind: Kind::Int(0, 1000),
        unless: Unless::int(2),
        doc: "cycles until a card uses a credit that has arrived",
    },
    Key {
        name: "buffer_delay",
        kind: Kind::Int(0, 1000),
        unless: Unless::Own(Value::Int(1)),
        doc: "cycles to store a packet",
    },
    Key {
        name: "crossbar_delay",
        kind: Kind::Int(0, 1000),
        unless: Unless::Own(Value::Int(1)),
        doc: "cycles through the crossbar",
    },
    Key { name: "tcs", kind: Kind::Int(1, 16), unless: Unless::Own(Value::Int(4)), doc: "traffic classes" },
    Key {
        name: "tc_vcs",
        kind: Kind::Int(1, 16),
        unless: Unless::Own(Value::Int(2)),
        doc: "deterministic VCs of a traffic class",
    },
    Key {
        name: "adaptive_tcs",
        kind: Kind::Int(0, 16),
        unless: Unless::Depends("2, or 1 if that is all"),
        doc: "traffic classes that have an adaptive VC as well, spread evenly among all",
    },
    Key {
        name: "tc_use",
        kind: Kind::Choice(&["all", "deterministic", "adaptive"]),
        unless: Unless::Depends("adaptive with an adaptive routing, else all"),
        doc: "the traffic classes in which packets are sent: all, deterministic (without an adaptive VC), adaptive",
    },
    Key {
        name: "allocator",
        kind: Kind::Choice(&["islip"]),
        unless: Unless::Fixed(Value::Text(Cow::Borrowed("islip")), "it has iSLIP"),
        doc: "the allocator of the crossbar",
    },
    Key { name: "iterations", kind: Kind::Int(1, 64), unless: Unless::int(1), doc: "iterations of iSLIP" },
];

/// The traffic classes that packets are sent in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TcUse {
    /// All of them.
    All,
    /// Those without an adaptive VC.
    Deterministic,
    /// Those with one.
    Adaptive,
}

/// The options of a card, read.
#[derive(Debug, Clone)]
pub struct Options {
    /// Virtual channels per port.
    pub vcs: u32,
    /// Traffic classes.
    pub tcs: u32,
    /// Deterministic VCs of each.
    pub tc_vcs: u32,
    /// Traffic classes with an adaptive VC as well.
    pub adaptive_tcs: u32,
    /// The traffic classes used; by the routing if `None`.
    pub tc_use: Option<TcUse>,
    /// Iterations of iSLIP.
    pub iterations: u32,
    /// Cycles from the arrival of a head to the first in which it may be sent.
    pub stages_delay: u32,
    /// Cycles from there to its departure.
    pub crossbar_delay: u32,
}

impl Options {
    /// Reads options that have been checked and filled in.
    pub fn read(options: &RouterOptions) -> Self {
        let stages = ["routing_delay", "buffer_delay", "sw_alloc_delay"];
        Self {
            vcs: options.int("vcs"),
            tcs: options.int("tcs"),
            tc_vcs: options.int("tc_vcs"),
            adaptive_tcs: options.int("adaptive_tcs"),
            tc_use: options.find_text("tc_use").map(|classes| match classes {
                "deterministic" => TcUse::Deterministic,
                "adaptive" => TcUse::Adaptive,
                _ => TcUse::All,
            }),
            iterations: options.int("iterations"),
            stages_delay: stages.iter().map(|stage| options.int(stage)).sum::<u32>() - 1,
            crossbar_delay: options.int("crossbar_delay"),
        }
    }
}

/// Traffic classes, deterministic VCs of each, and how many have an adaptive VC as well.
fn traffic_classes(options: &RouterOptions) -> [u32; 3] {
    let tcs = options.int("tcs");
    [tcs, options.int("tc_vcs"), options.find_int("adaptive_tcs").unwrap_or(tcs.min(2))]
}

fn check(options: &RouterOptions, largest: u32) -> Result<()> {
    let [tcs, tc_vcs, adaptive] = traffic_classes(options);
    if adaptive > tcs {
        return Err(Error::Config(format!("adaptive-tcs is {adaptive}; it must be from 0 to {tcs}")));
    }
    if tcs * tc_vcs > MAX_VCS - tcs {
        let (vcs, most) = (tcs * tc_vcs, MAX_VCS - tcs);
        return Err(Error::Config(format!("tcs times tc-vcs is {vcs}; it must be from 1 to {most}")));
    }
    let buffer = options.int("buffer");
    options.text("buffers").parse::<Buffers>()?.check(buffer)?;
    buffer_policy::check_packet("model=extoll", largest, buffer)
}

fn fill(options: &mut RouterOptions, _wishes: &Wishes) {
    let [tcs, tc_vcs, adaptive] = traffic_classes(options);
    options.fill("adaptive_tcs", adaptive);
    options.write("vcs", tcs * tc_vcs + adaptive);
    options.write("buffers", buffer_policy::of(options).to_string());
}

fn interface(options: &RouterOptions) -> Interface {
    Interface {
        vcs: options.int("vcs"),
        buffer: options.int("buffer"),
        buffers: buffer_policy::of(options),
        cut_through: true,
        credit_delay: options.int("credit_delay"),
        turnaround: ["routing_delay", "buffer_delay", "sw_alloc_delay", "crossbar_delay", "credit_delay"]
            .map(|key| options.int(key))
            .iter()
            .sum(),
        output_delay: options.int("crossbar_delay"),
    }
}

fn describe(options: &RouterOptions) -> Vec<(&'static str, String)> {
    let [tcs, tc_vcs, adaptive] = traffic_classes(options);
    let stages = ["routing_delay", "buffer_delay", "sw_alloc_delay", "crossbar_delay"];
    let stages: Vec<String> = stages.iter().map(|stage| options.int(stage).to_string()).collect();
    let used = options.find_text("tc_use").unwrap_or("all, or with adaptive routings those with an adaptive VC");
    let buffers = options.text("buffers");
    vec![
        ("Router model", format!("extoll: virtual output queues, whole packets, {buffers} buffers")),
        ("Buffer of a VC", counted(options.int("buffer"), "cell")),
        ("Allocator", format!("iSLIP, {}", counted(options.int("iterations"), "iteration"))),
        ("Routing, storing, arbitration, crossbar", format!("{} cycles", stages.join(", "))),
        ("Traffic classes", format!("{tcs} of {tc_vcs} VCs, {adaptive} with an adaptive VC; used: {used}")),
        ("Credit processing", counted(options.int("credit_delay"), "cycle")),
    ]
}
