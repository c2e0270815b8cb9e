//! The algorithms of each collective: what users type, what they need, and one pass of each.

use super::auto::{Machine, choose};
use super::blocks::{Blocks, Span, Steps, Transfer};
use super::group::Group;
use super::halving::Folding;
use super::levels::{Rows, Within};
use super::{Collective, Plan, direct, ring, tree};
use crate::error::Result;
use crate::workload::request::Request;
use crate::workload::{Circle, Parts, Regular, Stage};

/// An algorithm, by whatever name it goes in a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    Ring,
    Binomial,
    Linear,
    DoubleBinaryTree,
    RecursiveDoubling,
    Halving,
    Bruck,
    Direct,
    Pairwise,
    Hierarchical,
    Grid,
    Dissemination,
}

/// The algorithms by the names that users type.
const NAMES: &[(&str, Algorithm)] = &[
    ("ring", Algorithm::Ring),
    ("chain", Algorithm::Ring),
    ("tree", Algorithm::Binomial),
    ("binomial", Algorithm::Binomial),
    ("linear", Algorithm::Linear),
    ("double-binary-tree", Algorithm::DoubleBinaryTree),
    ("recursive-doubling", Algorithm::RecursiveDoubling),
    ("rabenseifner", Algorithm::Halving),
    ("halving-doubling", Algorithm::Halving),
    ("bruck", Algorithm::Bruck),
    ("direct", Algorithm::Direct),
    ("pairwise", Algorithm::Pairwise),
    ("hierarchical", Algorithm::Hierarchical),
    ("2d", Algorithm::Grid),
    ("dissemination", Algorithm::Dissemination),
];

impl Algorithm {
    /// The algorithm that is asked for; `auto` becomes one, and `notes` state which.
    pub fn read(request: &Request, what: Collective, group: &Group, size: u64, notes: &mut Vec<String>) -> Self {
        let asked = if what == Collective::SendRecv { "direct" } else { request.choice("algorithm") };
        let name = if asked == "auto" { automatic(request, what, group, size, notes) } else { asked };
        NAMES.iter().find(|(known, _)| *known == name).expect("a choice of the key").1
    }

    /// The algorithm called `asked` of a collective, else the one that comes nearest.
    pub fn nearest(what: Collective, asked: &str) -> Self {
        let own = NAMES.iter().find(|(known, _)| *known == asked).map_or(Self::Ring, |(_, own)| *own);
        match (what, own) {
            (Collective::Allreduce, _) => own,
            (Collective::ReduceScatter, Self::Halving | Self::Direct) => own,
            (Collective::AllGather, Self::RecursiveDoubling | Self::Direct) => own,
            (Collective::AllGather, Self::Halving) => Self::RecursiveDoubling,
            (Collective::Broadcast | Collective::Reduce, Self::DoubleBinaryTree) => own,
            (Collective::Broadcast | Collective::Reduce, Self::RecursiveDoubling | Self::Halving) => Self::Binomial,
            (Collective::Broadcast | Collective::Reduce, Self::Direct) => Self::Linear,
            (Collective::AllToAll | Collective::SendRecv, _) => Self::Direct,
            (Collective::Barrier, _) => Self::Dissemination,
            _ => Self::Ring,
        }
    }

    /// Ranks of a row, where they are in rows.
    pub fn width(self, request: &Request, group: &Group) -> Result<usize> {
        let n = group.len();
        match self {
            Self::Hierarchical => group.width_of_hosts(request),
            Self::Grid => {
                let nearest = (1..=n.isqrt()).rev().find(|width| n.is_multiple_of(*width)).unwrap_or(1);
                let width = request.count("width").map_or(nearest, |width| width as usize);
                if n.is_multiple_of(width) {
                    return Ok(width);
                }
                Err(request.mistake(format_args!("width is {width}; it must divide the {n} ranks of the group")))
            }
            _ if request.count_if_declared("width").is_some() => Err(request.mistake("width is for algorithm=2d")),
            _ => Ok(1),
        }
    }
}

/// What `auto` chooses: for an allreduce by a cost model, else the one algorithm that NCCL has.
fn automatic(request: &Request, what: Collective, group: &Group, size: u64, notes: &mut Vec<String>) -> &'static str {
    let (name, why) = match what {
        Collective::Allreduce => {
            let (ranks, hosts) = (group.len() as f64, group.hosts.unwrap_or(group.len()) as f64);
            let outside = request.rate();
            let inside = request.hosts().map_or(outside, |hosts| hosts.inside_gbps * 1e9 / 8.0);
            choose(&Machine { ranks, hosts, inside: if inside > 0.0 { inside } else { outside }, outside }, size)
        }
        Collective::AllToAll => ("direct", "direct, as NCCL does".to_owned()),
        Collective::Broadcast | Collective::Reduce => ("chain", "chain, as NCCL does".to_owned()),
        _ => ("ring", "ring, as NCCL does".to_owned()),
    };
    notes.push(format!("{}: auto is {why}", request.spec()));
    name
}

impl Plan {
    /// Blocks that the algorithm cuts a vector into.
    pub fn blocks_of_vector(&self) -> u64 {
        use Algorithm::{Direct, Grid, Halving, Hierarchical, Ring};
        let n = self.group.len() as u64;
        match (self.what, self.algorithm) {
            (Collective::ReduceScatter | Collective::AllGather, _) => n,
            (Collective::Allreduce, Halving) => 1 << n.ilog2(),
            (Collective::Allreduce, Ring | Direct | Grid | Hierarchical) => n,
            _ => 1,
        }
    }

    /// Messages of one pass.
    pub fn messages(&self) -> u128 {
        let n = self.group.len() as u128;
        let (rows, folding) = (self.rows(&self.group.members), Folding::new(&self.group.members));
        let doublings = u128::from(self.group.len().next_power_of_two().ilog2());
        let halves = match self.what {
            Collective::Allreduce | Collective::Barrier => 2,
            _ => 1,
        };
        match self.algorithm {
            _ if self.what == Collective::SendRecv => n,
            Algorithm::Dissemination => n * doublings,
            Algorithm::RecursiveDoubling => folding.steps() + folding.folded(),
            Algorithm::Halving => halves * folding.steps() + folding.folded(),
            Algorithm::DoubleBinaryTree => 2 * halves * (n - 1),
            Algorithm::Binomial | Algorithm::Linear => halves * (n - 1),
            Algorithm::Bruck => n * doublings,
            Algorithm::Ring | Algorithm::Hierarchical
                if matches!(self.what, Collective::Broadcast | Collective::Reduce) =>
            {
                n - 1
            }
            Algorithm::Ring | Algorithm::Direct | Algorithm::Pairwise => halves * n * (n - 1),
            Algorithm::Hierarchical | Algorithm::Grid => halves * rows.messages(),
        }
    }

    /// The rule of all messages, where every member does the same as all others.
    pub fn regular(&self, iterations: u32) -> Option<Regular> {
        let n = self.group.len() as u32;
        let vector = matches!(self.what, Collective::Allreduce | Collective::ReduceScatter | Collective::AllGather);
        let parts = self.parts()?;
        let blocks = parts.count() * if vector { u64::from(n) } else { 1 };
        if !self.size.is_multiple_of(blocks) {
            // Blocks that do not divide evenly differ.
            return None;
        }
        let each = self.size / blocks;
        let bytes = each;
        let stage = |first, last, reduces, steps| Stage { circle: Circle::All, first, last, bytes, reduces, steps };
        let halves = |first, last, steps| match self.what {
            Collective::Allreduce => vec![stage(first, last, true, steps), stage(first, last, false, steps)],
            what => vec![stage(first, last, what == Collective::ReduceScatter, steps)],
        };
        let stages = match (self.what, self.algorithm) {
            (Collective::SendRecv, _) => vec![stage(self.shift as u32 % n, self.shift as u32 % n, false, 1)],
            (Collective::AllToAll, Algorithm::Pairwise) => (1..n).map(|by| stage(by, by, false, 1)).collect(),
            (Collective::AllToAll, Algorithm::Direct) => vec![stage(1, n - 1, false, 1)],
            _ if !vector => return None,
            (_, Algorithm::Ring) => halves(1, 1, n - 1),
            (_, Algorithm::Direct) => halves(1, n - 1, 1),
            (_, Algorithm::Hierarchical | Algorithm::Grid) => self.in_rows(each),
            _ => return None,
        };
        let (tasks, members, in_order) = (self.group.tasks, self.group.members.clone(), self.in_order());
        Some(Regular { tasks, members, stages, iterations, in_order, parts })
    }

    /// True if ranks send to one other rank again and again: on a connection, where messages do not overtake each other.
    pub fn in_order(&self) -> bool {
        let ring = matches!(self.algorithm, Algorithm::Ring | Algorithm::Hierarchical | Algorithm::Grid);
        self.what == Collective::SendRecv || ring && self.what != Collective::AllToAll
    }

    /// The parts of the data, where one rule describes them: of a ring several, of others all in one.
    fn parts(&self) -> Option<Parts> {
        if !self.in_lanes() {
            return Some(Parts::ONE);
        }
        let ring = self.algorithm == Algorithm::Ring && self.what != Collective::AllToAll;
        // What is sent to another rank takes one path on all channels.
        let turns = self.channels > 1 && self.what != Collective::SendRecv;
        let on_host = if turns { self.group.on_host.unwrap_or(1) as u32 } else { 1 };
        let pieces = u32::try_from(self.pieces).ok()?;
        (ring || self.what == Collective::SendRecv).then_some(Parts { pieces, channels: self.channels, on_host })
    }

    /// The stages of a collective in two levels, whose blocks are of `each` bytes: see [`Rows`].
    fn in_rows(&self, each: u64) -> Vec<Stage> {
        let (width, rows) = (self.width as u32, (self.group.len() / self.width) as u32);
        let of_row = |reduces| {
            let (last, steps) = match self.rows(&self.group.members).within {
                Within::Direct => (width - 1, 1),
                Within::Ring => (1, width - 1),
            };
            // A row hands round what its columns are of, one block of each row.
            let bytes = each * u64::from(rows);
            (width > 1).then_some(Stage { circle: Circle::Row(width), first: 1, last, bytes, reduces, steps })
        };
        let of_column = |reduces| {
            let circle = Circle::Column(width);
            (rows > 1).then_some(Stage { circle, first: 1, last: 1, bytes: each, reduces, steps: rows - 1 })
        };
        let stages = match self.what {
            Collective::ReduceScatter => vec![of_row(true), of_column(true)],
            Collective::AllGather => vec![of_column(false), of_row(false)],
            _ => vec![of_row(true), of_column(true), of_column(false), of_row(false)],
        };
        stages.into_iter().flatten().collect()
    }

    fn rows<'a>(&self, members: &'a [u32]) -> Rows<'a> {
        let within = if self.algorithm == Algorithm::Hierarchical { Within::Direct } else { Within::Ring };
        Rows { members, width: self.width, within }
    }

    /// One pass over a piece of the data: the group in the `order` of a channel.
    pub fn pass(&self, steps: &mut dyn Steps, order: &[u32], piece: [u64; 2]) {
        let blocks = Blocks::new(self.size.into(), self.blocks_of_vector(), piece);
        match self.what {
            Collective::Allreduce => self.allreduce(steps, order, &blocks),
            Collective::ReduceScatter => self.reduce_scatter(steps, order, &self.own(order, &blocks)),
            Collective::AllGather => self.all_gather(steps, order, &self.own(order, &blocks)),
            Collective::AllToAll => self.all_to_all(steps, piece),
            Collective::Broadcast => self.broadcast(steps, &blocks.all()),
            Collective::Reduce => self.reduce(steps, &blocks.all()),
            Collective::SendRecv => self.send_recv(steps, piece),
            Collective::Barrier => self.barrier(steps, &blocks.all()),
        }
    }

    /// The block of each rank, in the order of a channel: blocks are numbered as ranks of the group are.
    fn own(&self, order: &[u32], blocks: &Blocks) -> Vec<Vec<Span>> {
        let mut places: Vec<(u32, u64)> = self.group.members.iter().copied().zip(0..).collect();
        places.sort_unstable();
        let place = |rank: &u32| places[places.partition_point(|(other, _)| other < rank)].1;
        order.iter().map(|rank| blocks.spans([place(rank)])).collect()
    }

    fn reduce_scatter(&self, steps: &mut dyn Steps, order: &[u32], own: &[Vec<Span>]) {
        match self.algorithm {
            Algorithm::Direct => direct::reduce_scatter(steps, order, own),
            Algorithm::Bruck => direct::bruck_reduce_scatter(steps, order, own),
            Algorithm::Hierarchical | Algorithm::Grid => self.rows(order).reduce_scatter(steps, own),
            Algorithm::Halving => {
                let folding = Folding::new(order);
                folding.reduce_in(steps, &own.concat());
                folding.halve(steps, &folding.joined(own));
                folding.hand_back(steps, |place| own[place].clone());
            }
            _ => ring::reduce_scatter(steps, order, own),
        }
    }

    fn all_gather(&self, steps: &mut dyn Steps, order: &[u32], own: &[Vec<Span>]) {
        match self.algorithm {
            Algorithm::Direct => direct::all_gather(steps, order, own),
            Algorithm::Bruck => direct::bruck_all_gather(steps, order, own),
            Algorithm::Hierarchical | Algorithm::Grid => self.rows(order).all_gather(steps, own),
            Algorithm::RecursiveDoubling => {
                let folding = Folding::new(order);
                folding.copy_in(steps, own);
                folding.double(steps, &folding.joined(own));
                folding.hand_back(steps, |_| own.concat());
            }
            _ => ring::all_gather(steps, order, own),
        }
    }

    fn allreduce(&self, steps: &mut dyn Steps, order: &[u32], blocks: &Blocks) {
        let folding = Folding::new(order);
        match self.algorithm {
            Algorithm::RecursiveDoubling => folding.allreduce(steps, &blocks.all()),
            Algorithm::Halving => {
                let own: Vec<Vec<Span>> = (0..folding.members() as u64).map(|block| blocks.spans([block])).collect();
                folding.reduce_in(steps, &blocks.all());
                folding.halve(steps, &own);
                folding.double(steps, &own);
                folding.hand_back(steps, |_| blocks.all());
            }
            Algorithm::Binomial => {
                let levels = tree::binomial(order.len());
                tree::up(steps, order, &levels, &blocks.all());
                tree::down(steps, order, &levels, &blocks.all());
            }
            _ => {
                // Each ends the first half with the block behind its own, which it handed on first.
                let own = ring::shifted(blocks, order.len());
                self.reduce_scatter(steps, order, &own);
                self.all_gather(steps, order, &own);
            }
        }
    }

    /// One of the two trees, with its half of a piece.
    pub fn half_tree(&self, steps: &mut dyn Steps, order: &[u32], half: [u64; 2], second: bool) {
        let spans = Blocks::new(self.size.into(), 1, half).all();
        let below = tree::binary_below(self.group.len(), second);
        match self.what {
            Collective::Broadcast => tree::down(steps, &self.rooted, &below, &spans),
            Collective::Reduce => tree::up(steps, &self.rooted, &below, &spans),
            _ => {
                let levels = tree::binary(order.len(), second);
                tree::up(steps, order, &levels, &spans);
                tree::down(steps, order, &levels, &spans);
            }
        }
    }

    fn all_to_all(&self, steps: &mut dyn Steps, piece: [u64; 2]) {
        let (members, n) = (&self.group.members, self.group.len());
        let blocks = Blocks::new(n as u128 * n as u128 * u128::from(self.size), (n * n) as u64, piece);
        let between = |i: usize, j: usize| blocks.spans([(i * n + j) as u64]);
        match self.algorithm {
            Algorithm::Direct => direct::at_once(steps, members, &between),
            Algorithm::Bruck => direct::bruck(steps, members, &blocks),
            Algorithm::Hierarchical | Algorithm::Grid => direct::two_levels(steps, members, self.width, &blocks),
            _ => direct::pairwise(steps, members, &between),
        }
    }

    fn broadcast(&self, steps: &mut dyn Steps, spans: &[Span]) {
        match self.algorithm {
            Algorithm::Ring => ring::chain_down(steps, &self.rooted, spans),
            Algorithm::Hierarchical => {
                let (leaders, hosts) = self.leaders();
                tree::down(steps, &leaders, &tree::binomial(leaders.len()), spans);
                hosts.iter().for_each(|host| tree::down(steps, host, &tree::binomial(host.len()), spans));
            }
            _ => tree::down(steps, &self.rooted, &self.tree(), spans),
        }
    }

    fn reduce(&self, steps: &mut dyn Steps, spans: &[Span]) {
        match self.algorithm {
            Algorithm::Ring => ring::chain_up(steps, &self.rooted, spans),
            Algorithm::Hierarchical => {
                let (leaders, hosts) = self.leaders();
                hosts.iter().for_each(|host| tree::up(steps, host, &tree::binomial(host.len()), spans));
                tree::up(steps, &leaders, &tree::binomial(leaders.len()), spans);
            }
            _ => tree::up(steps, &self.rooted, &self.tree(), spans),
        }
    }

    fn tree(&self) -> tree::Levels {
        if self.algorithm == Algorithm::Linear {
            tree::flat(self.group.len())
        } else {
            tree::binomial(self.group.len())
        }
    }

    /// The rank of each host that stands for it, the root first, and the ranks of each host behind its own.
    fn leaders(&self) -> (Vec<u32>, Vec<Vec<u32>>) {
        let members = &self.group.members;
        let root = members.iter().position(|member| *member == self.rooted[0]).unwrap_or(0);
        let (row, column) = (root / self.width, root % self.width);
        let hosts: Vec<&[u32]> = members.chunks(self.width).collect();
        let turned = |host: &&[u32]| [&host[column..], &host[..column]].concat();
        let hosts: Vec<Vec<u32>> = hosts[row..].iter().chain(&hosts[..row]).map(turned).collect();
        (hosts.iter().map(|host| host[0]).collect(), hosts)
    }

    fn send_recv(&self, steps: &mut dyn Steps, piece: [u64; 2]) {
        let (members, n) = (&self.group.members, self.group.len());
        let blocks = Blocks::new(n as u128 * u128::from(self.size), n as u64, piece);
        let to = |i: usize| Transfer::copy(members[i], members[(i + self.shift) % n], blocks.spans([i as u64]));
        steps.step(&mut (0..n).map(to));
    }

    fn barrier(&self, steps: &mut dyn Steps, spans: &[Span]) {
        let (members, n) = (&self.group.members, self.group.len());
        if self.algorithm == Algorithm::Binomial {
            let levels = tree::binomial(n);
            tree::up(steps, members, &levels, spans);
            return tree::down(steps, members, &levels, spans);
        }
        for distance in (0..n.next_power_of_two().ilog2()).map(|k| 1usize << k) {
            steps.step(&mut (0..n).map(|i| Transfer::reduce(members[i], members[(i + distance) % n], spans.to_vec())));
        }
    }
}
