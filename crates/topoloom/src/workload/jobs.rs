//! Jobs that share a machine, as users write them: an application with `tasks`, `start` and `on`.

use super::registry::build;
use super::{Room, Workload};
use crate::catalogue::grammar::{items, pair, range};
use crate::catalogue::{Alone, Arguments, Entry, Key, Kind, Lead};
use crate::error::{Error, Result, several};

/// The keys that a job adds to those of its application.
pub const KEYS: &[Key] = &[
    Key::new("tasks", Kind::count(1), "how many tasks, or terminals, it has"),
    Key::new("start", Kind::Time("0s"), "when it begins (default 0s)"),
    Key::new("on", Kind::Text(LIST), "the terminals of its tasks, in their order, as in 0-31 or 0-63/8+70"),
];

const LIST: &str = "terminals, ranges of them with a stride, or several joined by +, as in 0-31, 0-63/8 or 0-7+16-23";

/// Separates an application from the keys, of those in `keys`, that users write beside its own: `APP,tasks=256`.
///
/// # Errors
/// [`Error::Workload`] for brackets that do not match.
pub fn app_and_keys(text: &str, keys: &[Key]) -> Result<[String; 2]> {
    let all = items(text).map_err(|broken| Error::Workload(format!("{text}: {}", broken.sentence())))?;
    let is_own = |item: &&str| pair(item).0.is_some_and(|key| keys.iter().any(|own| own.name == key));
    let (own, app): (Vec<&str>, Vec<&str>) = all.into_iter().partition(is_own);
    Ok([app.join(","), own.join(",")])
}

/// A job as it is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The application.
    pub app: String,
    /// How many tasks it may have, if that is given.
    pub tasks: Option<u32>,
    /// When it begins, in seconds.
    pub start_s: f64,
    /// The terminals of its tasks, if given.
    pub on: Option<Vec<u32>>,
}

impl Job {
    /// Reads `APP,tasks=256,start=0s`.
    ///
    /// # Errors
    /// [`Error::Workload`] for values that are not allowed.
    pub fn read(text: &str) -> Result<Self> {
        let text = text.trim();
        let [app, own] = app_and_keys(text, KEYS)?;
        let (lead, alone) = (Lead::Nothing, Alone::Mistake(""));
        let entry =
            Entry { noun: "the job", name: "job", lead, keys: KEYS, shared: &[], alone, wrong: Error::Workload };
        let keys = Arguments::read(entry, text, &own)?;
        let on = match keys.text("on") {
            None => None,
            Some(on) => Some(listed(on).ok_or_else(|| keys.mistake(format_args!("on is '{on}'; it must be {LIST}")))?),
        };
        let tasks = keys.count("tasks");
        if let (Some(tasks), Some(on)) = (tasks, &on)
            && tasks as usize != on.len()
        {
            return Err(keys.mistake(format_args!("tasks is {tasks}, but on names {}", several(on.len(), "terminal"))));
        }
        let tasks = tasks.or(on.as_ref().map(|on| on.len() as u32));
        Ok(Self { app, tasks, start_s: keys.seconds("start").unwrap_or(0.0), on })
    }
}

impl Job {
    /// Builds its application, for as many tasks as it may have.
    ///
    /// # Errors
    /// As [`build`], and [`Error::Workload`] if it does not give their number.
    pub fn workload(&self, room: Room) -> Result<Workload> {
        let workload = build(&self.app, self.tasks.map_or(room, |tasks| room.with_tasks(tasks)))?;
        match self.tasks {
            None if workload.fills_room() => Err(Error::Workload(format!(
                "{}: how many tasks has this job? give tasks, or on with its terminals",
                self.app
            ))),
            _ => Ok(workload),
        }
    }
}

/// Terminals at most that a list names.
const MOST: usize = 1 << 24;

/// The numbers of `0-7+16-23/2`, each once.
fn listed(text: &str) -> Option<Vec<u32>> {
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let mut numbers = Vec::new();
    for part in text.split('+') {
        let (ends, stride) = part.split_once('/').map_or((part, Some(1)), |(ends, stride)| (ends, number(stride)));
        let (first, last) = range(ends).unwrap_or((ends, ends));
        let (first, last, stride) = (number(first)?, number(last)?, stride.filter(|stride| *stride > 0)? as usize);
        if last < first || (last - first) as usize / stride >= MOST {
            return None;
        }
        numbers.extend((first..=last).step_by(stride));
    }
    let mut sorted = numbers.clone();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] < pair[1]).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_applications_with_keys_of_their_own() {
        let job = Job::read("alltoall:size=1KiB,tasks=4,algorithm=direct,start=5s").expect("it reads");
        let app = "alltoall:size=1KiB,algorithm=direct".to_owned();
        assert_eq!(job, Job { app, tasks: Some(4), start_s: 5.0, on: None });
        let job = Job::read("alltoall,on=0-6/2+9").expect("it reads");
        assert_eq!((job.tasks, job.on), (Some(5), Some(vec![0, 2, 4, 6, 9])));
        for (text, told) in [
            ("alltoall,tasks=0", "tasks is 0; it must be a whole number from 1 up"),
            ("alltoall,start=5", "start is '5'; it must be a time with its unit"),
            ("alltoall,on=5-3", "on is '5-3'; it must be terminals"),
            ("alltoall,on=1+1", "on is '1+1'"),
            ("alltoall,on=0-3,tasks=5", "tasks is 5, but on names 4 terminals"),
        ] {
            let error = Job::read(text).expect_err(text).to_string();
            assert!(error.contains(told), "{error}");
        }
    }
}
