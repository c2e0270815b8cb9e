//! Slurm's `topology.conf` and `topology.yaml`: which nodes are near each other, as a tree.
//!
//! Slurm knows trees of switches alone. Each router with terminals is a leaf switch; above it stand, in a tree, the
//! parts of the network that hang together up to each level, and in others the groups (dragonfly groups, layers); one
//! switch is the root. Routers without terminals, and single links, have no place in it.

use std::fmt::Write;

use super::{Format, Holds, Timing};
use crate::error::{Error, Result, several};
use crate::network::{Network, RouterId, levels};

pub(super) const CONF: Format = Format {
    name: "slurm",
    endings: &["conf"],
    summary: "Slurm's topology.conf: a tree of switches over the nodes",
    holds: HOLDS,
    read: None,
    write: Some(|network, timing| Ok(conf(&tree(network, timing)?))),
    beside: None,
};

pub(super) const YAML: Format = Format {
    name: "slurm-yaml",
    endings: &["yaml", "yml"],
    summary: "Slurm's topology.yaml (25.05 and later), with the same tree",
    holds: HOLDS,
    read: None,
    write: Some(|network, timing| Ok(yaml(&tree(network, timing)?))),
    beside: None,
};

/// It holds no links; the documentation names those that a tree omits.
const HOLDS: &[Holds] =
    &[Holds::Terminals, Holds::TerminalIds, Holds::ParallelLinks, Holds::LoneRouters, Holds::Classes];

/// A switch of the tree, with nodes or with other switches below it.
struct Switch {
    name: String,
    nodes: Vec<String>,
    children: Vec<String>,
}

/// A part of the network that has been given a switch: its name, and one of its leaf routers for each leaf.
struct Part {
    name: String,
    leaves: Vec<RouterId>,
}

fn tree(network: &Network, timing: &Timing) -> Result<Vec<Switch>> {
    let terminals = network.num_terminals();
    if let Some(names) = timing.names.as_ref().filter(|names| names.len() != terminals) {
        let (given, spec) = (names.len(), network.spec());
        return Err(Error::Spec(format!(
            "the names of nodes are {given}; {spec} has {}",
            several(terminals, "terminal")
        )));
    }
    let node = |id: usize| timing.names.as_ref().map_or_else(|| format!("n{id}"), |names| names[id].clone());
    let mut switches = Vec::new();
    let mut parts = Vec::new();
    for router in network.up_routers().filter(|&router| network.has_terminals(router)) {
        let nodes = network.terminals_of(router).map(|terminal| node(terminal.index())).collect();
        let name = format!("s{router}");
        switches.push(Switch { name: name.clone(), nodes, children: Vec::new() });
        parts.push(Part { name, leaves: vec![router] });
    }
    for (level, above) in (1..).zip(levels(network).into_iter().skip(1)) {
        parts = join(parts, &above.part_of, level, &mut switches);
    }
    if parts.len() > 1 {
        let children = parts.into_iter().map(|part| part.name).collect();
        switches.push(Switch { name: "root".to_owned(), nodes: Vec::new(), children });
    }
    Ok(switches)
}

/// Joins the parts that are in one place, under a new switch where there are several.
fn join(parts: Vec<Part>, place_of: &[u32], level: u32, switches: &mut Vec<Switch>) -> Vec<Part> {
    let mut places: std::collections::BTreeMap<u32, Vec<Part>> = std::collections::BTreeMap::new();
    for part in parts {
        places.entry(place_of[part.leaves[0].index()]).or_default().push(part);
    }
    let mut joined = Vec::new();
    for (place, mut parts) in places {
        if parts.len() == 1 {
            joined.append(&mut parts);
            continue;
        }
        let name = format!("l{level}p{place}");
        let children = parts.iter().map(|part| part.name.clone()).collect();
        switches.push(Switch { name: name.clone(), nodes: Vec::new(), children });
        joined.push(Part { name, leaves: parts.into_iter().flat_map(|part| part.leaves).collect() });
    }
    joined
}

/// Names as Slurm writes lists of them: `n[0-3],login`.
fn hostlist(names: &[String]) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut rest = names;
    while let Some(first) = rest.first() {
        let run = rest.windows(2).take_while(|pair| follows(&pair[0], &pair[1])).count() + 1;
        out.push(match run {
            1 => first.clone(),
            _ => {
                let (prefix, from) = split(first);
                format!("{prefix}[{from}-{}]", split(&rest[run - 1]).1)
            }
        });
        rest = &rest[run..];
    }
    out.join(",")
}

/// A name without the digits at its end, and these.
fn split(name: &str) -> (&str, &str) {
    name.split_at(name.trim_end_matches(|c: char| c.is_ascii_digit()).len())
}

/// True if `next` is the name behind `name`, as Slurm counts.
fn follows(name: &str, next: &str) -> bool {
    let ((prefix, a), (other, b)) = (split(name), split(next));
    let padded = |digits: &str| digits.len() > 1 && digits.starts_with('0');
    let same_width = a.len() == b.len() || !(padded(a) || padded(b));
    let number = |digits: &str| digits.parse::<u64>().ok();
    prefix == other && same_width && number(a).zip(number(b)).is_some_and(|(a, b)| a + 1 == b)
}

fn conf(switches: &[Switch]) -> String {
    let mut text = String::new();
    for switch in switches {
        let (what, below) = below(switch);
        writeln!(text, "SwitchName={} {}={below}", switch.name, ["Switches", "Nodes"][usize::from(what == "nodes")])
            .expect("a string takes what is written");
    }
    text
}

fn yaml(switches: &[Switch]) -> String {
    let mut text = "---\n- topology: topoloom\n  cluster_default: true\n  tree:\n    switches:\n".to_owned();
    for switch in switches {
        let (what, below) = below(switch);
        writeln!(text, "      - switch: {}\n        {what}: {below}", switch.name)
            .expect("a string takes what is written");
    }
    text
}

/// The key and the names of a switch's children in `topology.yaml`.
fn below(switch: &Switch) -> (&'static str, String) {
    match switch.children.as_slice() {
        [] => ("nodes", hostlist(&switch.nodes)),
        children => ("children", hostlist(children)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::build;

    #[test]
    fn names_that_follow_each_other_are_ranges() {
        let list = |names: &[&str]| hostlist(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
        assert_eq!(list(&["n8", "n9", "n10", "n12", "login"]), "n[8-10],n12,login");
        assert_eq!(list(&["a08", "a09", "a10", "b11", "a099", "a100"]), "a[08-10],b11,a[099-100]");
        assert_eq!(list(&["n1", "n02"]), "n1,n02");
    }

    #[test]
    fn trees_have_their_levels_and_dragonflies_their_groups() {
        let text = |spec: &str| conf(&tree(&build(spec).expect(spec), &Timing::default()).expect(spec));
        let fat = text("fattree:k=2,levels=3");
        assert_eq!(fat.lines().filter(|line| line.contains("Nodes=")).count(), 4);
        assert_eq!(fat.lines().last(), Some("SwitchName=root Switches=l1p[0-1]"));
        let groups = text("dragonfly:a=2,h=1,p=1");
        assert!(groups.contains("SwitchName=l1p1 Switches=s[2-3]"), "{groups}");
        assert_eq!(
            text("mesh:2,p=2"),
            "SwitchName=s0 Nodes=n[0-1]\nSwitchName=s1 Nodes=n[2-3]\nSwitchName=root Switches=s[0-1]\n"
        );
    }
}
