//! Which terminals jobs get that share a machine.

use super::Mapping;
use crate::catalogue::grammar::split_head;
use crate::catalogue::{Alone, Arguments, Entry, Key, Kind, Lead};
use crate::error::{Error, Result, unknown};
use crate::network::{Network, TerminalId};
use crate::rng::Rng;

/// What users read about an allocator.
#[derive(Debug, Clone, Copy)]
pub struct AllocatorInfo {
    /// The name that users type.
    pub name: &'static str,
    /// Which terminals a job gets.
    pub summary: &'static str,
    choose: Choose,
}

/// Chooses so many of the free terminals, which are in their order; the most that there are if they do not suffice.
type Choose = fn(&[u32], usize, &mut Rng) -> std::result::Result<Vec<u32>, usize>;

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
        choose: |free, tasks, _| {
            let found = runs(free).find(|run| run.len() >= tasks);
            found.map(|run| run[..tasks].to_vec()).ok_or_else(|| longest(free))
        },
    },
    AllocatorInfo {
        name: "best-fit",
        summary: "the fewest free terminals that follow one another and suffice; else the longest rows of them",
        choose: |free, tasks, _| {
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
        choose: |free, tasks, rng| {
            let mut drawn = free.to_vec();
            rng.shuffle(&mut drawn);
            Ok(drawn.into_iter().take(tasks).collect())
        },
    },
    AllocatorInfo {
        name: "spread",
        summary: "free terminals at equal distances",
        choose: |free, tasks, _| Ok((0..tasks).map(|task| free[task * free.len() / tasks]).collect()),
    },
];

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

/// The terminals of each job, in the order of its tasks, and how many others have. Jobs that say which get them first; the others
/// are served in their order, as `text` (`name`, `name:key=value,…`) says.
///
/// # Errors
/// [`Error::Workload`] if there is no such allocator or key, for a job that does not fit, and for terminals that do not exist, have
/// failed or are taken.
pub fn allocate(text: &str, network: &Network, jobs: &[Demand]) -> Result<(Vec<Vec<TerminalId>>, usize)> {
    let (name, rest) = split_head(text);
    let found = ALLOCATORS.iter().find(|own| own.name == name);
    let info =
        found.ok_or_else(|| Error::Workload(unknown("allocator", name, ALLOCATORS.iter().map(|own| own.name))))?;
    let (lead, alone) = (Lead::Nothing, Alone::Flag);
    let entry =
        Entry { noun: "the allocator", name: info.name, lead, keys: KEYS, shared: &[], alone, wrong: Error::Workload };
    let keys = Arguments::read(entry, info.name, rest)?;
    let mut rng = Rng::stream(keys.int("seed").unwrap_or(1), 2);
    let mut free: Vec<u32> = Mapping::room(network).into_iter().map(|terminal| terminal.0).collect();
    for job in jobs {
        take_listed(&mut free, network, job)?;
    }
    let occupied = occupy(&mut free, network, keys.part("occupied").unwrap_or(0.0), &mut rng);
    let mut placed = Vec::with_capacity(jobs.len());
    for Demand { name, tasks, on } in jobs {
        let own = match on {
            Some(on) => on.clone(),
            None => {
                let tasks = *tasks as usize;
                let (spec, there) = (network.spec(), free.len());
                let wrong = |what: String| Error::Workload(format!("{name} has {tasks} tasks; {what} on {spec}"));
                if tasks > there {
                    return Err(wrong(format!("{there} terminals are free")));
                }
                (info.choose)(&free, tasks, &mut rng).map_err(|most| {
                    wrong(format!("at most {most} free terminals follow one another, of {there} that are free"))
                })?
            }
        };
        let mut taken = own.clone();
        taken.sort_unstable();
        free.retain(|terminal| taken.binary_search(terminal).is_err());
        placed.push(own.into_iter().map(TerminalId).collect());
    }
    Ok((placed, occupied))
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

/// Others take whole hosts, which are drawn, until they have a part of all terminals; returns how many they have.
fn occupy(free: &mut Vec<u32>, network: &Network, part: f64, rng: &mut Rng) -> usize {
    let each = network.any_structure().hosts().map_or(1, |hosts| hosts.terminals);
    let mut hosts: Vec<&[u32]> = free.chunk_by(|a, b| a / each == b / each).collect();
    rng.shuffle(&mut hosts);
    let wanted = (part * network.num_terminals() as f64).round() as usize;
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
        ] {
            let error = placed(text, &[6, tasks]).expect_err(text).to_string();
            assert!(error.contains(told), "{error}");
        }
        let network = topology::build("mesh:4").expect("it fits");
        let error = allocate("random", &network, &[demand(0, 6)]).expect_err("there are four").to_string();
        assert!(error.contains("terminal 9 is not free; mesh:4 has the terminals 0 to 3"), "{error}");
    }
}
