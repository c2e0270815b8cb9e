//! Which terminals jobs get that share a machine.

use std::collections::BTreeMap;

use crate::catalogue::grammar::split_head;
use crate::catalogue::{Alone, Arguments, Entry, Key, Kind, Lead};
use crate::error::{Error, Result, unknown};
use crate::network::{Level, NO_PART, Network, TerminalId, levels};
use crate::rng::Rng;

/// What users read about an allocator.
#[derive(Debug, Clone, Copy)]
pub struct AllocatorInfo {
    /// The name that users type.
    pub name: &'static str,
    /// Which terminals a job gets.
    pub summary: &'static str,
    /// The keys that it takes, beside [`KEYS`].
    pub keys: &'static [Key],
    choose: Choose,
}

/// Chooses as many units as a job needs from the free ones, which are sorted by id. If there are too few, the error is how
/// many it could have.
type Choose = fn(&[u32], usize, &Near, &mut Rng) -> std::result::Result<Vec<u32>, usize>;

/// Terminals, or hosts, that are near each other.
struct Near {
    /// The part of each unit at each level, from the lowest level up.
    part_of: Vec<Vec<u32>>,
    /// The levels on which one part is to hold a job.
    wanted: std::ops::Range<usize>,
}

/// The keys of every allocator.
pub const KEYS: &[Key] = &[
    Key::new("occupied", Kind::Part, "the part of all terminals that others have: whole hosts, drawn (default 0)"),
    Key::new("seed", Kind::SEED, "of all that is drawn (default 1)"),
];

/// Every allocator, in the order in which users see them.
pub static ALLOCATORS: &[AllocatorInfo] = &[
    AllocatorInfo {
        name: "contiguous",
        summary: "the first free terminals that follow one another",
        keys: &[],
        choose: |free, tasks, _, _| {
            let found = runs(free).find(|run| run.len() >= tasks);
            found.map(|run| run[..tasks].to_vec()).ok_or_else(|| longest(free))
        },
    },
    AllocatorInfo {
        name: "best-fit",
        summary: "the fewest free terminals that follow one another and suffice; else the longest rows of them",
        keys: &[],
        choose: |free, tasks, _, _| {
            let mut rows: Vec<&[u32]> = runs(free).collect();
            rows.sort_by_key(|row| row.len());
            let fits = rows.iter().find(|row| row.len() >= tasks);
            let own = fits.map_or_else(|| rows.iter().rev().copied().collect(), |row| vec![*row]);
            Ok(own.concat().into_iter().take(tasks).collect())
        },
    },
    AllocatorInfo {
        name: "random",
        summary: "free terminals that are drawn",
        keys: &[],
        choose: |free, tasks, _, rng| {
            let mut drawn = free.to_vec();
            rng.shuffle(&mut drawn);
            Ok(drawn.into_iter().take(tasks).collect())
        },
    },
    AllocatorInfo {
        name: "spread",
        summary: "free terminals at equal distances",
        keys: &[],
        choose: |free, tasks, _, _| Ok((0..tasks).map(|task| free[task * free.len() / tasks]).collect()),
    },
    AllocatorInfo {
        name: "topology",
        summary: "those of the smallest host, switch, pod or group that holds the job; else of as few as possible",
        keys: &[Key::new(
            "level",
            Kind::Text("a level of the network, such as switch or group"),
            "the parts of which a job gets one, or as few as possible: host, switch, level1, …, pod or group (default: the smallest that hold it)",
        )],
        choose: |free, tasks, near, _| Ok(nearest(free, tasks, near)),
    },
];

/// The free units of the part with the fewest of them that suffice, on the lowest level where one does; else of as few parts as
/// possible.
fn nearest(free: &[u32], tasks: usize, near: &Near) -> Vec<u32> {
    for level in near.wanted.clone() {
        if let Some(part) = tightest(&parts(free, &near.part_of[level]), tasks) {
            return compact(part, tasks, &near.part_of[..level]);
        }
    }
    compact(free, tasks, &near.part_of[..near.wanted.end])
}

/// This many of the free units, in as few parts of the highest of these levels as possible, and in each of these in the same way.
fn compact(free: &[u32], tasks: usize, part_of: &[Vec<u32>]) -> Vec<u32> {
    let Some((highest, lower)) = part_of.split_last() else { return free[..tasks].to_vec() };
    let mut rest = parts(free, highest);
    let mut found = Vec::new();
    // The largest is the last, and of parts that are equal the first.
    rest.sort_by_key(|part| (part.len(), std::cmp::Reverse(part[0])));
    while found.len() < tasks {
        let left = tasks - found.len();
        match tightest(&rest, left) {
            Some(part) => found.extend(compact(part, left, lower)),
            None => found.extend(rest.pop().expect("there are free units for all tasks")),
        }
    }
    found
}

/// The part with the fewest units that suffice.
fn tightest(parts: &[Vec<u32>], tasks: usize) -> Option<&Vec<u32>> {
    parts.iter().filter(|part| part.len() >= tasks).min_by_key(|part| (part.len(), part[0]))
}

/// The free units of each part.
fn parts(free: &[u32], part_of: &[u32]) -> Vec<Vec<u32>> {
    let mut found: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    free.iter().for_each(|unit| found.entry(part_of[*unit as usize]).or_default().push(*unit));
    found.into_values().collect()
}

/// Terminals that follow one another.
fn runs(free: &[u32]) -> impl Iterator<Item = &[u32]> {
    free.chunk_by(|a, b| a + 1 == *b)
}

fn longest(free: &[u32]) -> usize {
    runs(free).map(<[u32]>::len).max().unwrap_or(0)
}

/// What a job asks for.
#[derive(Debug, Clone)]
pub struct Demand {
    /// What the job is called.
    pub name: String,
    /// How many terminals.
    pub tasks: u32,
    /// Which ones, in the order of its tasks, if that is given.
    pub on: Option<Vec<u32>>,
}

/// The terminals of each job, in the order of its tasks, and how many others have. Jobs that state which get them first; the others
/// are served in their order, as `text` (`name`, `name:key=value,…`) states.
///
/// # Errors
/// [`Error::Workload`] if there is no such allocator or key, for a job that does not fit, and for terminals that do not exist, have
/// failed or are taken.
pub fn allocate(text: &str, network: &Network, jobs: &[Demand]) -> Result<(Vec<Vec<TerminalId>>, usize)> {
    let mut allocator = Allocator::new(text, network, 1)?;
    for job in jobs {
        take_listed(&mut allocator.free, network, job)?;
    }
    let occupied = allocator.occupy(network);
    let mut placed = Vec::with_capacity(jobs.len());
    for Demand { name, tasks, on } in jobs {
        let own = match on {
            Some(on) => on.clone(),
            None => allocator
                .take(*tasks as usize)
                .map_err(|what| Error::Workload(format!("{name} has {tasks} tasks; {what} on {}", network.spec())))?,
        };
        placed.push(own.into_iter().map(TerminalId).collect());
    }
    Ok((placed, occupied))
}

/// Gives jobs their terminals, and takes them back.
pub struct Allocator {
    info: &'static AllocatorInfo,
    occupied: f64,
    near: Near,
    rng: Rng,
    /// Terminals of a unit: one, or those of a host.
    each: u32,
    /// Units that no job has, in their order.
    free: Vec<u32>,
}

impl Allocator {
    /// The allocator that `text` (`name`, `name:key=value,…`) names, for terminals, or for units of `each` that follow one another.
    ///
    /// # Errors
    /// [`Error::Workload`] if there is no such allocator, key or level.
    pub fn new(text: &str, network: &Network, each: u32) -> Result<Self> {
        let (name, rest) = split_head(text);
        let found = ALLOCATORS.iter().find(|own| own.name == name);
        let info =
            found.ok_or_else(|| Error::Workload(unknown("allocator", name, ALLOCATORS.iter().map(|own| own.name))))?;
        let (lead, alone) = (Lead::Nothing, Alone::Flag);
        let (keys, wrong) = (info.keys, Error::Workload);
        let entry = Entry { noun: "the allocator", name: info.name, lead, keys, shared: KEYS, alone, wrong };
        let keys = Arguments::read(entry, info.name, rest)?;
        let near = match info.keys {
            [] => Near { part_of: Vec::new(), wanted: 0..0 },
            _ => near(&keys, network, each)?,
        };
        let up =
            |unit: &u32| (unit * each..(unit + 1) * each).all(|at| network.is_up(network.router_of(TerminalId(at))));
        Ok(Self {
            info,
            occupied: keys.part("occupied").unwrap_or(0.0),
            near,
            rng: Rng::stream(keys.int("seed").unwrap_or(1), 2),
            each,
            free: (0..network.num_terminals() as u32 / each).filter(up).collect(),
        })
    }

    /// Units that no job has.
    pub fn num_free(&self) -> usize {
        self.free.len()
    }

    /// Others take whole hosts, which are drawn, until they have their part of all terminals; returns how many they have.
    pub fn occupy(&mut self, network: &Network) -> usize {
        let host = network.any_structure().hosts().map_or(1, |hosts| hosts.terminals.div_ceil(self.each));
        self.each as usize
            * occupy(&mut self.free, host, network.num_terminals() / self.each as usize, self.occupied, &mut self.rng)
    }

    /// The terminals of this many units.
    ///
    /// # Errors
    /// What is free, as a part of a sentence, if that does not suffice.
    pub fn take(&mut self, units: usize) -> std::result::Result<Vec<u32>, String> {
        let (there, what) = (self.free.len(), if self.each == 1 { "terminals" } else { "hosts" });
        if units > there {
            return Err(format!("{there} {what} are free"));
        }
        let own = (self.info.choose)(&self.free, units, &self.near, &mut self.rng)
            .map_err(|most| format!("at most {most} free {what} follow one another, of {there} that are free"))?;
        let mut taken = own.clone();
        taken.sort_unstable();
        self.free.retain(|unit| taken.binary_search(unit).is_err());
        let each = self.each;
        Ok(own.into_iter().flat_map(|unit| unit * each..(unit + 1) * each).collect())
    }

    /// Takes terminals back that [`Allocator::take`] gave.
    pub fn give_back(&mut self, terminals: &[u32]) {
        self.free.extend(terminals.iter().step_by(self.each as usize).map(|terminal| terminal / self.each));
        self.free.sort_unstable();
    }
}

/// Where units are, and the levels that `keys` asks for.
fn near(keys: &Arguments, network: &Network, each: u32) -> Result<Near> {
    let levels = levels(network);
    let wanted = match keys.text("level") {
        None => 0..levels.len(),
        Some(name) => {
            let names = || levels.iter().map(|level| level.name.as_str());
            let place = names().position(|own| own == name);
            let place = place.ok_or_else(|| {
                let names: Vec<&str> = names().collect();
                keys.mistake(format_args!("level is '{name}'; {} has the levels {}", network.spec(), names.join(", ")))
            })?;
            place..place + 1
        }
    };
    let units = 0..network.num_terminals() as u32 / each;
    let place = |level: &Level, unit: u32| level.part_of[network.router_of(TerminalId(unit * each)).index()];
    let part_of: Vec<Vec<u32>> =
        levels.iter().map(|level| units.clone().map(|unit| place(level, unit)).collect()).collect();
    debug_assert!(part_of.iter().flatten().all(|part| *part != NO_PART), "terminals are below all levels");
    Ok(Near { part_of, wanted })
}

/// Takes the terminals that a job lists.
fn take_listed(free: &mut Vec<u32>, network: &Network, job: &Demand) -> Result<()> {
    for terminal in job.on.iter().flatten() {
        let Ok(place) = free.binary_search(terminal) else {
            let last = network.num_terminals() - 1;
            return Err(Error::Workload(format!(
                "{}: terminal {terminal} is not free; {} has the terminals 0 to {last}, less those of routers that have failed \
                 and of jobs before",
                job.name,
                network.spec()
            )));
        };
        free.remove(place);
    }
    Ok(())
}

/// Others take whole hosts of this many units, which are drawn, until they have a part of all units; returns how many they have.
fn occupy(free: &mut Vec<u32>, host: u32, units: usize, part: f64, rng: &mut Rng) -> usize {
    let mut hosts: Vec<&[u32]> = free.chunk_by(|a, b| a / host == b / host).collect();
    rng.shuffle(&mut hosts);
    let wanted = (part * units as f64).round() as usize;
    let mut taken = 0;
    let mut left: Vec<u32> = Vec::new();
    for host in hosts {
        if taken < wanted {
            taken += host.len();
        } else {
            left.extend(host);
        }
    }
    left.sort_unstable();
    *free = left;
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology;

    fn placed(text: &str, sizes: &[u32]) -> Result<Vec<Vec<u32>>> {
        let network = topology::build("mesh:16").expect("it fits");
        let jobs: Vec<Demand> = (0..).zip(sizes).map(|(job, tasks)| demand(job, *tasks)).collect();
        let (placed, _) = allocate(text, &network, &jobs)?;
        Ok(placed.into_iter().map(|own| own.into_iter().map(|terminal| terminal.0).collect()).collect())
    }

    /// The first job has terminals that leave rows of two, five and three free.
    fn demand(job: u32, tasks: u32) -> Demand {
        let on = (job == 0).then(|| vec![2, 3, 9, 10, 11, 15]);
        Demand { name: format!("job {job}"), tasks, on }
    }

    #[test]
    fn jobs_get_what_their_allocator_says() {
        let of = |text: &str, tasks: u32| placed(text, &[6, tasks]).expect("it fits")[1].clone();
        assert_eq!(of("contiguous", 3), [4, 5, 6]);
        assert_eq!(of("best-fit", 3), [12, 13, 14]);
        assert_eq!(of("best-fit", 7), [4, 5, 6, 7, 8, 12, 13]);
        assert_eq!(of("spread", 5), [0, 4, 6, 8, 13]);
        let mut drawn = of("random:seed=7", 10);
        assert_ne!(drawn, of("random", 10));
        drawn.sort_unstable();
        assert_eq!(drawn, [0, 1, 4, 5, 6, 7, 8, 12, 13, 14]);
        assert_eq!(of("topology", 3), [0, 1, 4]);
        let both = placed("contiguous", &[6, 4, 3]).expect("they fit");
        assert_eq!(both[1..], [vec![4, 5, 6, 7], vec![12, 13, 14]]);
    }

    #[test]
    fn jobs_that_do_not_fit_are_named() {
        for (text, tasks, told) in [
            ("contiguous", 6, "job 1 has 6 tasks; at most 5 free terminals follow one another, of 10 that are free"),
            ("random", 11, "job 1 has 11 tasks; 10 terminals are free on mesh:16"),
            ("spread:occupied=50%", 3, "job 1 has 3 tasks; 2 terminals are free"),
            ("nearest", 1, "allocator"),
            ("random:occupied=2", 1, "occupied is"),
            ("topology:level=group", 1, "level is 'group'; mesh:16 has the levels switch"),
            ("random:level=switch", 1, "level"),
        ] {
            let error = placed(text, &[6, tasks]).expect_err(text).to_string();
            assert!(error.contains(told), "{error}");
        }
        let network = topology::build("mesh:4").expect("it fits");
        let error = allocate("random", &network, &[demand(0, 6)]).expect_err("there are four").to_string();
        assert!(error.contains("terminal 9 is not free; mesh:4 has the terminals 0 to 3"), "{error}");
    }

    #[test]
    fn jobs_get_the_smallest_part_that_holds_them() {
        let of = |text: &str, spec: &str, taken: &[u32], tasks: u32| {
            let network = topology::build(spec).expect(spec);
            let first = Demand { name: "first".to_owned(), tasks: taken.len() as u32, on: Some(taken.to_vec()) };
            let own = Demand { name: "own".to_owned(), tasks, on: None };
            let (placed, _) = allocate(text, &network, &[first, own]).expect(spec);
            placed[1].iter().map(|terminal| terminal.0).collect::<Vec<u32>>()
        };
        // Groups of eight terminals, two each on four routers. Group 0 has three on three routers, group 1 all.
        let (dragonfly, taken) = ("dragonfly:a=4,h=1,p=2", [0, 2, 4, 6, 7]);
        assert_eq!(of("topology", dragonfly, &taken, 1), [1]);
        assert_eq!(of("topology", dragonfly, &taken, 2), [8, 9]);
        assert_eq!(of("topology:level=group", dragonfly, &taken, 2), [1, 3]);
        assert_eq!(of("topology", dragonfly, &taken, 3), [1, 3, 5]);
        assert_eq!(of("topology", dragonfly, &taken, 7)[..6], [8, 9, 10, 11, 12, 13]);
        // More than a group: one whole group, and the least of another that suffices.
        assert_eq!(of("topology:level=group", dragonfly, &taken, 11)[8..], [1, 3, 5]);
        // A tree of 16 terminals: four on two leaves in each of four pods.
        let (tree, taken) = ("clos:radix=4,levels=3", [0, 5, 6]);
        assert_eq!(of("topology", tree, &taken, 2), [2, 3]);
        assert_eq!(of("topology", tree, &taken, 3), [2, 3, 1]);
        assert_eq!(of("topology:level=pod", tree, &taken, 2), [4, 7]);
        // Hosts of four on a dragonfly, a leaf for each.
        let hosts = "cluster:hosts=8,host=v100-4,fabric=(clos:radix=4,levels=3,rate=100G)";
        assert_eq!(of("topology", hosts, &[0, 1, 4], 3), [5, 6, 7]);
        assert_eq!(of("topology", hosts, &[0, 1, 4], 4), [8, 9, 10, 11]);
    }
}
