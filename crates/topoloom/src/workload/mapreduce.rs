//! `mapreduce`: task 0 hands parts out, the others shuffle among themselves, and send their results back.
//!
//! The paper shuffles "in an all-to-all fashion": `partners=all`. INRFlow lets each task send to each other one with a
//! probability: `share=`. By default each sends to a few others, which is what fits at the paper's size.

use super::Workload;
use super::builder::Builder;
use super::registry::{AppInfo, SEED, SIZE, TASKS};
use super::request::Request;
use crate::catalogue::{Key, Kind};
use crate::error::{Result, several};
use crate::rng::Rng;

/// Tasks to which each one sends in the shuffle, unless given.
const PARTNERS: u32 = 16;

pub(super) const INFO: AppInfo = AppInfo {
    name: "mapreduce",
    summary: "task 0 hands parts out, the others shuffle, and send their results back to it",
    keys: &[
        TASKS,
        SIZE,
        Key::new(
            "partners",
            Kind::Or("all", &Kind::count(1)),
            "other tasks that each sends to in the shuffle (default 16, or fewer if there are fewer), or all",
        ),
        Key::new(
            "share",
            Kind::Part,
            "instead: the probability with which a task sends to each other one, as in 0.1 (INRFlow's reading)",
        ),
        SEED,
    ],
    argument: None,
    build,
};

fn build(request: &Request) -> Result<Workload> {
    let (tasks, size, mut rng) = (request.tasks()?, request.size(), request.rng(1));
    let others = tasks - 2;
    let partners = match (request.part("share"), request.unless_word::<u32>("partners")) {
        (Some(_), Some(_)) => {
            return Err(request.mistake("share and partners are given; one of them sets the shuffle"));
        }
        (Some(share), None) => Partners::Likely(share),
        (None, None) => Partners::Some(PARTNERS.min(others)),
        (None, Some(None)) => Partners::Some(others),
        (None, Some(Some(partners))) if partners <= others => Partners::Some(partners),
        (None, Some(Some(partners))) => {
            return Err(
                request.mistake(format_args!("partners is {partners}; each task has {}", several(others, "other")))
            );
        }
    };
    let n = u128::from(tasks);
    let shuffled = match partners {
        Partners::Some(partners) => (n - 1) * u128::from(partners),
        Partners::Likely(share) => (f64::from(tasks - 1) * f64::from(others) * share) as u128,
    };
    let mut builder = Builder::new(request, tasks, 2 * (n - 1) + shuffled)?;
    builder.exchange((1..tasks).map(|task| (0, task, size)));
    let mut chosen = Vec::new();
    builder.exchange((1..tasks).flat_map(|task| {
        partners.choose(task, others, &mut rng, &mut chosen);
        std::mem::take(&mut chosen).into_iter().map(move |to| (task, to, size))
    }));
    builder.exchange((1..tasks).map(|task| (task, 0, size)));
    Ok(builder.build())
}

/// The tasks that a task sends to in the shuffle.
#[derive(Clone, Copy)]
enum Partners {
    /// To this many others.
    Some(u32),
    /// To each with this probability.
    Likely(f64),
}

impl Partners {
    /// Draws the partners of `task` among the `others`: all tasks but itself and task 0.
    fn choose(self, task: u32, others: u32, rng: &mut Rng, chosen: &mut Vec<u32>) {
        let other = |place: u32| place + 1 + u32::from(place + 1 >= task);
        match self {
            Self::Some(partners) if partners == others => chosen.extend((0..others).map(other)),
            Self::Some(partners) => {
                while chosen.len() < partners as usize {
                    let to = other(rng.below(others));
                    if !chosen.contains(&to) {
                        chosen.push(to);
                    }
                }
            }
            Self::Likely(share) => chosen.extend((0..others).filter(|_| rng.unit() <= share).map(other)),
        }
    }
}
