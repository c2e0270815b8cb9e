//! `reduce`: all tasks send to task 0, all at once (the paper's, with a hot spot) or up a binomial tree.

use super::Workload;
use super::broadcast::{binomial, up};
use super::builder::Builder;
use super::registry::{AppInfo, SIZE, TASKS};
use super::request::Request;
use crate::catalogue::{Key, Kind};
use crate::error::Result;

pub(super) const INFO: AppInfo = AppInfo {
    name: "reduce",
    summary: "all tasks send to task 0: a collective with a hot spot",
    keys: &[
        TASKS,
        SIZE,
        Key::new(
            "algorithm",
            Kind::Choice(&["linear", "binomial"]),
            "linear: all at once (default), or binomial: up a tree",
        ),
    ],
    argument: None,
    build,
};

fn build(request: &Request) -> Result<Workload> {
    let (tasks, size) = (request.tasks()?, request.size());
    let mut builder = Builder::new(request, tasks, u128::from(tasks) - 1)?;
    match request.choice("algorithm") {
        "linear" => builder.exchange((1..tasks).map(|task| (task, 0, size))),
        _ => up(&mut builder, &binomial(tasks), size),
    }
    Ok(builder.build())
}
