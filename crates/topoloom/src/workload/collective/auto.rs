//! What `algorithm=auto` chooses for an allreduce: the faster of ring and double binary tree by the cost model that NCCL tunes
//! itself by (version 2.12, `src/graph/tuning.cc`): latency + bytes / bandwidth for each algorithm and protocol, with the
//! constants published there. It is a model of machines with NVLink within hosts; what it chooses runs as any other algorithm
//! here, without its protocols.

/// The group that a collective runs in.
#[derive(Debug, Clone, Copy)]
pub struct Machine {
    /// Ranks of the group.
    pub ranks: f64,
    /// Hosts that they are on.
    pub hosts: f64,
    /// Bytes per second of a rank within its host.
    pub inside: f64,
    /// The same to other hosts.
    pub outside: f64,
}

/// A protocol, with what the model states about it: microseconds, and parts of the bandwidth.
struct Protocol {
    name: &'static str,
    /// What an algorithm takes at least: ring, tree.
    base: [f64; 2],
    /// A step within a host: ring, tree.
    inside: [f64; 2],
    /// A step between hosts: ring, tree.
    outside: [f64; 2],
    /// The part of the bandwidth that carries data: ring, tree.
    share: [f64; 2],
    /// What trees of 64 B, 128 B, … make of their bandwidth.
    tree: [f64; 22],
}

const PROTOCOLS: [Protocol; 3] = [
    Protocol {
        name: "LL",
        base: [3.6, 4.4],
        inside: [0.47, 0.52],
        outside: [2.7, 5.0],
        share: [0.25, 1.0 / 3.8],
        tree: [
            1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0,
            1.0,
        ],
    },
    Protocol {
        name: "LL128",
        base: [10.0, 4.4],
        inside: [1.9, 1.2],
        outside: [4.0, 8.5],
        share: [0.92, 0.915],
        tree: [
            1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.5, 0.6, 0.6, 0.7, 0.7, 0.8, 0.9, 0.9,
            1.0,
        ],
    },
    Protocol {
        name: "Simple",
        base: [8.4, 0.0],
        inside: [3.4, 28.0],
        outside: [9.6, 50.0],
        share: [1.0, 1.0],
        tree: [
            0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.6, 0.6, 0.7, 0.8,
            0.9,
        ],
    },
];

/// The algorithms, with the names that users type, in the order of the arrays above.
const ALGORITHMS: [&str; 2] = ["ring", "double-binary-tree"];

/// Steps within hosts cost this much more in LL where there are several.
const LL_INSIDE: f64 = 1.8;

/// The part of the bandwidth of its links that a tree reaches.
const TREE_SHARE: f64 = 0.9;

/// A tree in LL128 within one host.
const TREE_ALONE: f64 = 7.0 / 9.0;

/// From this many bytes per rank on, the latency of a ring over several hosts is that many times as large.
const PLATEAU: [f64; 2] = [65_536.0 / 16.0, 1.9];

/// The algorithm for an allreduce of this many bytes, and how it was chosen.
pub fn choose(machine: &Machine, bytes: u64) -> (&'static str, String) {
    let mut found: Vec<(f64, &str, &str)> = Vec::new();
    for protocol in &PROTOCOLS {
        for (place, name) in ALGORITHMS.into_iter().enumerate() {
            found.push((microseconds(machine, protocol, place, bytes), name, protocol.name));
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (time, name, protocol) = found[0];
    let other = found.iter().find(|(_, other, _)| *other != name).unwrap_or(&found[0]);
    let note = format!(
        "{name}: {time:.1} us by the cost model of NCCL 2.12 ({protocol}), {} {:.1} us ({}), for {} ranks on {} hosts",
        other.1, other.0, other.2, machine.ranks, machine.hosts
    );
    (ALGORITHMS.into_iter().find(|known| *known == name).unwrap_or(name), note)
}

/// What an algorithm takes with a protocol: latency of its steps, and its bytes.
fn microseconds(machine: &Machine, protocol: &Protocol, place: usize, bytes: u64) -> f64 {
    let Machine { ranks, hosts, inside, outside } = *machine;
    let (tree, several) = (place == 1, hosts > 1.0);
    // All ranks of a host pass data on through interfaces of their own.
    let links = if several { inside.min(outside * ranks / hosts) } else { inside };
    let share = if tree && !several && protocol.name == "LL128" { TREE_ALONE } else { protocol.share[place] };
    let slower = if several && protocol.name == "LL" { LL_INSIDE } else { 1.0 };
    let (within, between) = (protocol.inside[place] * slower, protocol.outside[place]);
    let (steps, crossing) = (2.0 * (ranks - 1.0), 2.0 * (hosts - 1.0));
    let mut bandwidth = links * share * if tree { TREE_SHARE / 2.0 } else { ranks / steps };
    let mut latency = protocol.base[place];
    if tree {
        latency += 2.0 * ((ranks / hosts - 1.0) * within + hosts.log2().floor() * between);
        let size = (bytes >> 6).max(1).ilog2() as usize;
        bandwidth *= protocol.tree.get(size).copied().unwrap_or(1.0);
    } else {
        latency += (steps - crossing) * within + crossing * between;
        if several && protocol.name == "Simple" && bytes as f64 >= ranks * PLATEAU[0] {
            latency *= PLATEAU[1];
        }
    }
    latency + 1e6 * bytes as f64 / bandwidth
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_for_small_data_and_many_hosts() {
        let machine = |ranks, hosts| Machine { ranks, hosts, inside: 200e9, outside: 25e9 };
        let chosen = |hosts: f64, bytes: u64| choose(&machine(8.0 * hosts, hosts), bytes).0;
        assert_eq!(chosen(128.0, 4096), "double-binary-tree");
        assert_eq!(chosen(16.0, 1 << 33), "ring");
        assert_eq!(chosen(1.0, 1 << 28), "ring");
        let (_, note) = choose(&machine(16.0, 2.0), 1 << 20);
        assert!(note.contains("16 ranks on 2 hosts"), "{note}");
        // By hand: 3.6 + (30 - 2) 0.47 1.8 + 2 2.7 us, and 2^10 bytes at 200 / 4 16 / 30 GB/s.
        let small = microseconds(&machine(16.0, 2.0), &PROTOCOLS[0], 0, 1024);
        assert!((small - (3.6 + 28.0 * 0.47 * 1.8 + 5.4 + 1024.0 / (200e3 / 4.0 * 16.0 / 30.0))).abs() < 1e-9);
    }
}
