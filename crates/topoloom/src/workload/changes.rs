//! Changes of a workload before it runs: slow tasks and noise, and a smaller scale.

use std::sync::OnceLock;

use super::{MOST, Op, Order, StepFacts, Workload, Yardstick};
use crate::catalogue::{Alone, Arguments, Entry, Key, Kind, Lead};
use crate::error::{Error, Result};
use crate::rng::Rng;

/// The keys of noise, with their meaning.
pub const KEYS: &[Key] = &[
    Key::new(
        "stragglers",
        Kind::Part,
        "the part of the tasks, one at least, whose computing takes slow times as long (default: none)",
    ),
    Key::new("slow", Kind::Real(1.0, 1e6), "how many times as long stragglers compute (default 1.5)"),
    Key::new(
        "jitter",
        Kind::Part,
        "each computation takes longer by a random part of its time, exponentially distributed with this mean (default 0)",
    ),
    Key::new("seed", Kind::SEED, "of all that is drawn (default 1)"),
];

/// How noise is read.
pub const ENTRY: Entry = Entry {
    noun: "the noise",
    name: "noise",
    lead: Lead::Nothing,
    keys: KEYS,
    shared: &[],
    alone: Alone::Flag,
    wrong: Error::Workload,
};

/// How many times as long stragglers compute unless it is given.
const SLOW: f64 = 1.5;

/// Tasks that compute slowly, and noise of all computing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// The part of the tasks that are slow.
    pub stragglers: f64,
    /// How many times as long they compute.
    pub slow: f64,
    /// The mean of what each computation takes longer, as a part of its time.
    pub jitter: f64,
    /// The seed of what is drawn.
    pub seed: u64,
}

impl Noise {
    /// Reads `key=value,…`; nothing: there is no noise.
    ///
    /// # Errors
    /// [`Error::Workload`] for keys and values that do not exist, and for noise that changes nothing.
    pub fn read(text: &str) -> Result<Option<Self>> {
        if text.is_empty() {
            return Ok(None);
        }
        let keys = Arguments::read(ENTRY, ENTRY.name, text)?;
        let part = |key| keys.part(key).unwrap_or(0.0);
        let slow = keys.real("slow").unwrap_or(SLOW);
        let noise =
            Self { stragglers: part("stragglers"), slow, jitter: part("jitter"), seed: keys.int("seed").unwrap_or(1) };
        if noise.stragglers == 0.0 && keys.has("slow") {
            return Err(keys.mistake("slow changes nothing without stragglers, as in stragglers=1%"));
        }
        if noise.stragglers == 0.0 && noise.jitter == 0.0 {
            return Err(keys.mistake("nothing is slow; give stragglers=1%, jitter=5% or both"));
        }
        Ok(Some(noise))
    }

    /// How many times as long each of this many tasks computes.
    fn slowness(&self, tasks: u32) -> Vec<f64> {
        let mut factors = vec![1.0; tasks as usize];
        if self.stragglers > 0.0 {
            let count = ((self.stragglers * f64::from(tasks)).round() as usize).max(1);
            let mut order: Vec<u32> = (0..tasks).collect();
            Rng::stream(self.seed, 0).shuffle(&mut order);
            order[..count].iter().for_each(|task| factors[*task as usize] = self.slow);
        }
        factors
    }
}

impl Workload {
    /// The same with noise.
    ///
    /// # Errors
    /// [`Error::Workload`] if no task computes, [`Error::TooLarge`] if tasks compute more often than can be numbered.
    pub fn with_noise(mut self, noise: &Noise) -> Result<Self> {
        if self.durations.iter().all(|seconds| *seconds == 0.0) {
            return Err(Error::Workload(format!("{} computes nothing, so that noise changes nothing", self.spec)));
        }
        let factors = noise.slowness(self.tasks);
        // Computations of tasks that do one thing after the other share times until now.
        let shared = matches!(self.order, Order::Sequence { .. }).then(|| std::mem::take(&mut self.durations));
        for (task, factor) in (0..self.tasks).zip(factors) {
            let mut rng = Rng::stream(noise.seed, u64::from(task) + 1);
            for place in self.range(task) {
                let Op::Compute(at) = self.ops[place].unpack() else { continue };
                let longer = factor * (1.0 - noise.jitter * rng.unit().ln());
                match &shared {
                    None => self.durations[at as usize] *= longer,
                    Some(times) => {
                        self.ops[place] = Op::Compute(self.durations.len() as u32).into();
                        self.durations.push(times[at as usize] * longer);
                    }
                }
            }
        }
        if self.durations.len() as u64 > MOST {
            return Err(Error::TooLarge(format!("{} computes more than {MOST} times", self.spec)));
        }
        Ok(Self { listed: OnceLock::new(), ..self })
    }

    /// The same with this many times smaller messages and shorter computations. What is counted of it, as its data or the
    /// operations of a training step, is divided likewise, so that rates stay what they are.
    pub fn scaled(mut self, by: u32) -> Self {
        if by == 1 {
            return self;
        }
        let (bytes, seconds) = (u64::from(by), f64::from(by));
        self.messages.iter_mut().for_each(|message| message.bytes = message.bytes.div_ceil(bytes));
        self.durations.iter_mut().for_each(|time| *time /= seconds);
        for stage in self.regular.iter_mut().flat_map(|regular| &mut regular.stages) {
            stage.bytes = stage.bytes.div_ceil(bytes);
        }
        if let Some(calls) = &mut self.calls {
            calls.scale(bytes);
        }
        let yardstick = self.yardstick.map(|own| Yardstick { bytes: own.bytes / seconds, ..own });
        let step = self.step.map(|own| StepFacts { tokens: own.tokens / seconds, flops: own.flops / seconds, ..own });
        Self { yardstick, step, listed: OnceLock::new(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::build;

    #[test]
    fn stragglers_are_drawn_and_jitter_has_its_mean() {
        let noise = Noise::read("stragglers=25%,slow=3").expect("it reads").expect("there is some");
        let halo = || build("halo:grid=8x8,compute=10us,iterations=400", 64).expect("an application");
        let own = halo().with_noise(&noise).expect("it computes");
        let time = |workload: &Workload, task: u32| {
            let of = |op: Op| if let Op::Compute(at) = op { workload.durations()[at as usize] } else { 0.0 };
            workload.program(task).map(of).sum::<f64>()
        };
        let slow = (0..64).filter(|task| (time(&own, *task) / time(&halo(), *task) - 3.0).abs() < 1e-9).count();
        let same = (0..64).filter(|task| (time(&own, *task) / time(&halo(), *task) - 1.0).abs() < 1e-9).count();
        assert_eq!((slow, same), (16, 48));
        let noise = Noise::read("jitter=10%,seed=5").expect("it reads").expect("there is some");
        let own = halo().with_noise(&noise).expect("it computes");
        let mean =
            (0..64).map(|task| time(&own, task)).sum::<f64>() / (0..64).map(|task| time(&halo(), task)).sum::<f64>();
        // 25,600 draws: a hundredth of the tenth is 1.6 standard errors.
        assert!((mean - 1.1).abs() < 0.002, "{mean}");
    }

    #[test]
    fn noise_that_changes_nothing_is_rejected() {
        for (text, told) in [
            ("seed=2", "nothing is slow"),
            ("slow=2,jitter=1%", "slow changes nothing without stragglers"),
            ("jitter=2", "jitter is '2'"),
            ("straggler=1%", "did you mean 'stragglers'"),
        ] {
            let error = Noise::read(text).expect_err(text).to_string();
            assert!(error.contains(told), "{error}");
        }
        let noise = Noise::read("jitter=10%").expect("it reads").expect("there is some");
        let error = build("alltoall", 8).expect("an application").with_noise(&noise).expect_err("nothing").to_string();
        assert!(error.contains("computes nothing"), "{error}");
    }

    #[test]
    fn a_rule_and_its_list_are_scaled_alike() {
        for app in ["allreduce:algorithm=ring,size=1MiB", "allreduce:algorithm=ring,size=64000"] {
            let scaled = build(app, 256).expect("an application").scaled(64);
            let listed = scaled.listed().expect("it fits");
            assert_eq!(scaled.total_bytes(), listed.messages().iter().map(|own| u128::from(own.bytes)).sum::<u128>());
            assert!(scaled.total_bytes() * 64 >= build(app, 256).expect("an application").total_bytes());
        }
    }
}
