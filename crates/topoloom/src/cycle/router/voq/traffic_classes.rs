//! Traffic classes: how the VCs of a card's port belong to them, and which VC a packet takes.
//!
//! A packet never leaves its traffic class. Each has deterministic VCs, and some have an adaptive one; the VC classes of
//! a routing, or those of a group of packets that it keeps apart, are mapped onto the VCs of each of its traffic classes.

use super::options::{Options, TcUse};
use crate::cycle::router::Case;
use crate::error::{Error, Result};
use crate::limits::class_vcs;
use crate::network::TerminalId;
use crate::routing::Routing;

/// No VC: a class that the packets of a traffic class cannot take.
pub const NO_VC: u8 = u8::MAX;

/// Beside the number of a VC: it is adaptive.
pub const ADAPTIVE: u8 = 1 << 7;

/// The VCs of a port: traffic class by traffic class the deterministic ones, then the adaptive ones.
#[derive(Debug, Clone)]
pub struct TrafficClasses {
    /// The VC that a packet in a VC takes in a class of the routing, or as the class behind these in the ejection channel:
    /// 2^`log` to a VC.
    next: Vec<u8>,
    log: u32,
    /// The VCs into which each terminal may send, a bit each.
    pub injection: Vec<u64>,
}

/// The numbers that the VCs follow from.
struct Division {
    tcs: u32,
    tc_vcs: u32,
    adaptive_tcs: u32,
    groups: u32,
}

impl Division {
    /// The adaptive VC of a traffic class, if it has one: those that have are spread evenly.
    fn adaptive_vc(&self, tc: u32) -> Option<u32> {
        let has = |tc: u32| tc * self.adaptive_tcs % self.tcs < self.adaptive_tcs;
        has(tc).then(|| self.tcs * self.tc_vcs + (0..tc).filter(|tc| has(*tc)).count() as u32)
    }

    /// The traffic class of a VC.
    fn tc_of(&self, vc: u32) -> u32 {
        let deterministic = vc / self.tc_vcs;
        if deterministic < self.tcs {
            return deterministic;
        }
        (0..self.tcs).find(|tc| self.adaptive_vc(*tc) == Some(vc)).expect("every VC belongs to a traffic class")
    }

    /// The group of packets that a traffic class carries.
    fn group_of(&self, tc: u32) -> u32 {
        let carries = |group: &u32| class_vcs(*group, self.groups, self.tcs).contains(&tc);
        (0..self.groups).find(carries).unwrap_or(0)
    }
}

impl TrafficClasses {
    /// The traffic classes that the options ask for, on which the routing runs.
    ///
    /// # Errors
    /// [`Error::Routing`] if they are too few for it, [`Error::Config`] if none is left to use.
    pub fn new(options: &Options, case: &Case<'_>) -> Result<Self> {
        let Case { network, routing, name, .. } = *case;
        let run_unsafe = case.setup.config.run_unsafe;
        let division = Division {
            tcs: options.tcs,
            tc_vcs: options.tc_vcs,
            adaptive_tcs: options.adaptive_tcs,
            groups: routing.traffic_groups(),
        };
        let Division { tcs, tc_vcs, groups, .. } = division;
        let classes = routing.classes();
        let safe = if routing.escape_classes() > 0 { routing.escape_classes() } else { classes };
        let of_group = safe / groups;
        let spec = network.spec();
        if routing.keeps_bubbles() {
            return Err(Error::Config(format!(
                "{name} on {spec} keeps bubbles in its rings, which model=extoll does not"
            )));
        }
        if groups > tcs && !run_unsafe {
            return Err(Error::Routing(format!(
                "{name} on {spec} keeps {groups} groups of packets apart in traffic classes of their own, but tcs is \
                 {tcs}; give tcs={groups} or more"
            )));
        }
        if of_group > tc_vcs && !run_unsafe {
            return Err(Error::Routing(format!(
                "{name} on {spec} needs {of_group} deterministic VCs in a traffic class, but tc-vcs is {tc_vcs}; give \
                 tc-vcs={of_group}, which such cards do not have, or another routing"
            )));
        }
        let vc_in = |vc: u32, class: u32| {
            let tc = division.tc_of(vc);
            if class >= safe && class < classes {
                return division.adaptive_vc(tc).map_or(NO_VC, |vc| vc as u8 | ADAPTIVE);
            }
            // Where a class has several VCs, a packet keeps to its own; the ejection channel has no classes.
            let own = if vc < tcs * tc_vcs { vc % tc_vcs } else { 0 };
            if class == classes {
                return (tc * tc_vcs + own) as u8;
            }
            let of_class = class_vcs(class % of_group, of_group, tc_vcs);
            (tc * tc_vcs + of_class.start + own % of_class.len() as u32) as u8
        };
        let log = (classes + 1).next_power_of_two().trailing_zeros();
        let of_class = |vc, class| if class <= classes { vc_in(vc, class) } else { NO_VC };
        let next = (0..options.vcs).flat_map(|vc| (0..1 << log).map(move |class| of_class(vc, class))).collect();
        let uses = options.tc_use.unwrap_or(if safe < classes { TcUse::Adaptive } else { TcUse::All });
        let injection: Vec<u64> = (0..groups).map(|group| injected(&division, uses, group)).collect();
        if injection.contains(&0) {
            let missing = if uses == TcUse::Adaptive { "with" } else { "without" };
            return Err(Error::Config(format!(
                "no traffic class {missing} an adaptive VC is there for all packets of {name} on {spec}: tcs is {tcs} and \
                 adaptive-tcs {}; tc-use=all uses them all",
                division.adaptive_tcs
            )));
        }
        let group = |terminal: u32| routing.traffic_group(network.router_of(TerminalId(terminal)));
        let injection = (0..network.num_terminals() as u32).map(|t| injection[group(t) as usize]).collect();
        Ok(Self { next, log, injection })
    }

    /// The VC that a packet in VC `vc` of its input takes in `class`, with [`ADAPTIVE`] where that is so, or [`NO_VC`].
    #[inline(always)]
    pub fn next(&self, vc: u32, class: u8) -> u8 {
        if u32::from(class) >> self.log != 0 {
            return NO_VC;
        }
        self.next[((vc << self.log) + u32::from(class)) as usize]
    }

    /// True if some VC is adaptive: a head may fall back.
    pub fn fall_back(&self) -> bool {
        self.next.iter().any(|&vc| vc != NO_VC && vc & ADAPTIVE != 0)
    }

    /// The number of VCs that packets take in `class`.
    pub fn vcs_of(&self, class: u8) -> u32 {
        let of_class = self.next.iter().skip(class.into()).step_by(1 << self.log);
        of_class.filter(|&&vc| vc != NO_VC).fold(0u64, |vcs, &vc| vcs | 1 << (vc & !ADAPTIVE)).count_ones()
    }
}

/// The VCs into which packets of a group are sent: all deterministic ones of its traffic classes, as far as these are
/// used.
fn injected(division: &Division, uses: TcUse, group: u32) -> u64 {
    let used = |tc: &u32| match uses {
        TcUse::All => true,
        TcUse::Deterministic => division.adaptive_vc(*tc).is_none(),
        TcUse::Adaptive => division.adaptive_vc(*tc).is_some(),
    };
    let own = (0..division.tcs).filter(|tc| division.group_of(*tc) == group % division.tcs).filter(used);
    own.fold(0, |vcs, tc| vcs | ((1u64 << division.tc_vcs) - 1) << (tc * division.tc_vcs))
}
