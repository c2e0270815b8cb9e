//! `unstructured`, `unstructured-mgmt`, `unstructured-hr`: messages between random pairs of tasks. Sizes are fixed, or
//! those of management traffic, or a part of the tasks is hot: more likely to be sent to. A task sends all that it has
//! to send in a round, then waits for all that it is sent.

use super::Workload;
use super::builder::Builder;
use super::registry::{AppInfo, SEED, SIZES, TASKS};
use super::request::{Request, Sizes};
use crate::catalogue::{self, Key};
use crate::error::Result;
use crate::rng::Rng;

const MESSAGES: Key = Key::new(
    "messages",
    catalogue::Kind::count(1),
    "messages of a round, between pairs that are drawn (default: one per task)",
);
const EACH: Key = Key::new("each", catalogue::Kind::count(1), "instead: messages that every task sends in a round");
const ROUNDS: Key =
    Key::new("rounds", catalogue::Kind::count(1), "how often, each time between other pairs (default 1)");

pub(super) const APP: AppInfo = AppInfo {
    name: "unstructured",
    summary: "messages between random pairs of tasks",
    keys: &[TASKS, SIZES, MESSAGES, EACH, ROUNDS, SEED],
    argument: None,
    build: |request| build(request, &Kind { sizes: SizeKind::Even(request.sizes()?), hot: None }),
};

pub(super) const MGMT: AppInfo = AppInfo {
    name: "unstructured-mgmt",
    summary: "messages between random pairs, of the sizes of management traffic: 4 of 5 have 1 to 16 bytes, the others \
              16 to 1501",
    keys: &[TASKS, MESSAGES, EACH, ROUNDS, SEED],
    argument: None,
    build: |request| build(request, &Kind { sizes: SizeKind::Management, hot: None }),
};

pub(super) const HR: AppInfo = AppInfo {
    name: "unstructured-hr",
    summary: "messages between random pairs, where the first tasks are hot: more likely to be sent to",
    keys: &[
        TASKS,
        SIZES,
        MESSAGES,
        EACH,
        ROUNDS,
        Key::new("hot", catalogue::Kind::Part, "the part of the tasks that is hot (default 0.125)"),
        Key::new(
            "share",
            catalogue::Kind::Part,
            "the probability that a message is drawn for a hot task (default 0.25)",
        ),
        SEED,
    ],
    argument: None,
    build: build_hr,
};

fn build_hr(request: &Request) -> Result<Workload> {
    let (hot, share) = (request.part("hot").unwrap_or(0.125), request.part("share").unwrap_or(0.25));
    let tasks = ((f64::from(request.tasks()?) * hot) as u32).max(1);
    build(request, &Kind { sizes: SizeKind::Even(request.sizes()?), hot: Some((share, tasks)) })
}

/// The differences between the three applications.
struct Kind {
    sizes: SizeKind,
    /// With this probability a message goes to one of this many first tasks.
    hot: Option<(f64, u32)>,
}

enum SizeKind {
    Even(Sizes),
    Management,
}

impl Kind {
    fn bytes(&self, rng: &mut Rng) -> u64 {
        match self.sizes {
            SizeKind::Even(sizes) => sizes.draw(rng),
            SizeKind::Management if rng.unit() <= 0.8 => 1 + u64::from(rng.below(16)),
            SizeKind::Management => 16 + u64::from(rng.below(1486)),
        }
    }

    /// A task other than `source`.
    fn target(&self, source: u32, tasks: u32, rng: &mut Rng) -> u32 {
        loop {
            let among = match self.hot {
                Some((share, hot)) if rng.unit() <= share => hot,
                _ => tasks,
            };
            let target = rng.below(among);
            if target != source {
                return target;
            }
            // The only hot task has no other hot task to send to.
            if among == 1 {
                return 1 + rng.below(tasks - 1);
            }
        }
    }
}

fn build(request: &Request, kind: &Kind) -> Result<Workload> {
    let (tasks, rounds, mut rng) = (request.tasks()?, request.count("rounds").unwrap_or(1), request.rng(1));
    let each = request.count("each");
    if each.is_some() && request.text("messages").is_some() {
        return Err(request.mistake("messages and each are given; one of them sets their number"));
    }
    let drawn = request.count("messages").unwrap_or(tasks);
    let messages = each.map_or(drawn.into(), |each| u64::from(each) * u64::from(tasks));
    let mut builder = Builder::new(request, tasks, u128::from(messages) * u128::from(rounds))?;
    for _ in 0..rounds {
        builder.exchange((0..messages).map(|place| {
            let source = each.map_or_else(|| rng.below(tasks), |each| (place / u64::from(each)) as u32);
            let target = kind.target(source, tasks, &mut rng);
            (source, target, kind.bytes(&mut rng))
        }));
    }
    builder.rounds(rounds);
    Ok(builder.build())
}
