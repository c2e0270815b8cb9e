//! Messages that are made when they can be sent: a regular collective on the engine of all messages, without a list.

use std::cell::RefCell;
use std::collections::VecDeque;

use super::Case;
use super::ideal::Ideal;
use crate::error::{Error, Result};
use crate::flow::FlowResult;
use crate::flow::engine::{Engine, Facts, PathObserver, Script};
use crate::network::TerminalId;
use crate::watch::Control;
use crate::workload::{Message, Parts, Ready, Stage};

/// Runs a regular collective message by message; none if its steps have different numbers of messages.
///
/// # Errors
/// As [`run`](crate::flow::run).
pub(super) fn run(case: &Case, control: &dyn Control) -> Result<Option<FlowResult>> {
    let Some(rule) = Rule::of(case) else { return Ok(None) };
    case.regular.guard(case.spec).map_err(|error| match error {
        Error::TooLarge(text) => {
            let network = case.network.spec();
            Error::TooLarge(format!("{text}; on {network} the tasks are not alike, so each is simulated by itself"))
        }
        other => other,
    })?;
    let (count, alone) = (case.regular.messages() as usize, case.alone());
    let alone_s = RefCell::new(vec![0.0; count]);
    let noted = |message: u32, ends: [TerminalId; 2], path: &[u32]| {
        let bytes = rule.message(message).bytes as f64;
        alone_s.borrow_mut()[message as usize] = alone.seconds_on(bytes, ends, path);
    };
    let message = |id: u32| rule.message(id);
    let ends = |id: u32| case.ends(&rule.message(id));
    let reduces = |id: u32| rule.step(id).1.reduces;
    let tasks = case.regular.members().iter().max().map_or(0, |last| *last as usize + 1);
    let known_s = |id: u32| alone_s.borrow()[id as usize];
    let (noted, alone_s_of): (PathObserver, &dyn Fn(u32) -> f64) = (&noted, &known_s);
    let (message, ends, reduces) = (&message, &ends, &reduces);
    let facts = Facts {
        messages: count,
        tasks,
        message,
        ends,
        reduces,
        alone_s: alone_s_of,
        in_order: true,
        noted: Some(noted),
    };
    let engine = Engine::new(case.network, case.routing, facts, case.config, 0.0, false);
    let (result, _) = engine.run(&mut Rounds::new(&rule), control)?;
    let (mut ideal, alone_s) = (Ideal::new(case), alone_s.borrow());
    for (stage, alone_s) in rule.steps.iter().zip(alone_s.chunks(rule.each)) {
        ideal.step(stage, alone_s);
    }
    Ok(Some(FlowResult { ideal_s: ideal.end(), ..result }))
}

/// What the id of a message states.
struct Rule<'a> {
    case: &'a Case<'a>,
    steps: Vec<&'a Stage>,
    /// The position of each task among the members.
    places: Vec<u32>,
    /// Messages of a step, and those that a member sends and receives in it.
    each: usize,
    own: u32,
}

impl<'a> Rule<'a> {
    fn of(case: &'a Case) -> Option<Self> {
        let (steps, members) = (case.regular.steps().collect::<Vec<&Stage>>(), case.regular.members());
        let own = steps[0].shifts();
        let mut places = vec![0; members.iter().max().map_or(0, |last| *last as usize + 1)];
        members.iter().zip(0..).for_each(|(task, place)| places[*task as usize] = place);
        // Parts go over several connections, which only the list has.
        let same = steps.iter().all(|stage| stage.shifts() == own) && case.regular.parts() == Parts::ONE;
        same.then(|| Self { case, steps, places, each: own as usize * members.len(), own })
    }

    /// The step of a message, its stage, and the position of the message in the step.
    fn step(&self, id: u32) -> (usize, &Stage, usize) {
        let step = id as usize / self.each;
        (step, self.steps[step], id as usize % self.each)
    }

    fn message(&self, id: u32) -> Message {
        let (_, stage, place) = self.step(id);
        let members = self.case.regular.members().len();
        self.case.regular.message(place % members, stage.first + (place / members) as u32, stage)
    }
}

/// The progress of all members.
struct Rounds<'a> {
    rule: &'a Rule<'a>,
    /// The step that each member is at.
    at: Vec<usize>,
    /// Messages that have arrived of that step and of later ones.
    arrived: Vec<VecDeque<u32>>,
    /// Messages that have asked each member before it was at their step.
    waiting: Vec<Vec<u32>>,
    /// Members that are not done.
    left: usize,
    /// Messages of each member that have not left it, and those that wait for one to the same target to leave: where
    /// messages are sent in order.
    under_way: Vec<Vec<u32>>,
    queues: Vec<VecDeque<u32>>,
}

impl<'a> Rounds<'a> {
    fn new(rule: &'a Rule<'a>) -> Self {
        let members = rule.case.regular.members().len();
        let (arrived, waiting) = (vec![VecDeque::new(); members], vec![Vec::new(); members]);
        let ordered = if rule.case.regular.in_order() { members } else { 0 };
        let (under_way, queues) = (vec![Vec::new(); ordered], vec![VecDeque::new(); ordered]);
        Self { rule, at: vec![0; members], arrived, waiting, left: members, under_way, queues }
    }

    /// A member sends all that it has to send in its step.
    fn send(&mut self, member: usize, out: &mut Vec<Ready>) {
        let members = self.at.len();
        let first = self.at[member] * self.rule.each + member;
        for message in (0..self.rule.own as usize).map(|shift| (first + shift * members) as u32) {
            if self.waits_for_leaving() {
                let target = self.target(message);
                if self.under_way[member].iter().any(|other| self.target(*other) == target) {
                    self.queues[member].push_back(message);
                    continue;
                }
                self.under_way[member].push(message);
            }
            out.push(Ready::Message(message));
        }
    }

    /// A member answers those that have asked for its step: all its receives are posted.
    fn answer(&mut self, member: usize, out: &mut Vec<Ready>) {
        let step = self.at[member];
        let asked = std::mem::take(&mut self.waiting[member]);
        let (answered, later): (Vec<u32>, Vec<u32>) =
            asked.into_iter().partition(|message| self.rule.step(*message).0 <= step);
        self.waiting[member] = later;
        out.extend(answered.into_iter().map(Ready::Answer));
    }

    /// The member that receives a message.
    fn target(&self, message: u32) -> usize {
        self.rule.places[self.rule.message(message).target as usize] as usize
    }
}

impl Script for Rounds<'_> {
    fn start(&mut self, out: &mut Vec<Ready>) {
        (0..self.at.len()).for_each(|member| self.send(member, out));
    }

    fn delivered(&mut self, message: u32, out: &mut Vec<Ready>) {
        let (step, member) = (self.rule.step(message).0, self.target(message));
        let (arrived, ahead) = (&mut self.arrived[member], step - self.at[member]);
        if arrived.len() <= ahead {
            arrived.resize(ahead + 1, 0);
        }
        arrived[ahead] += 1;
        while self.arrived[member].front() == Some(&self.rule.own) {
            self.arrived[member].pop_front();
            self.at[member] += 1;
            if self.at[member] == self.rule.steps.len() {
                self.left -= 1;
                return;
            }
            self.send(member, out);
            self.answer(member, out);
        }
    }

    fn left(&mut self, message: u32, out: &mut Vec<Ready>) {
        let (member, target) = (message as usize % self.at.len(), self.target(message));
        self.under_way[member].retain(|other| *other != message);
        let next = self.queues[member].iter().position(|other| self.target(*other) == target);
        if let Some(next) = next.and_then(|place| self.queues[member].remove(place)) {
            self.under_way[member].push(next);
            out.push(Ready::Message(next));
        }
    }

    fn waits_for_leaving(&self) -> bool {
        !self.queues.is_empty()
    }

    fn asked(&mut self, message: u32, out: &mut Vec<Ready>) {
        let member = self.target(message);
        self.waiting[member].push(message);
        self.answer(member, out);
    }

    fn computed(&mut self, _op: u32, _out: &mut Vec<Ready>) {
        unreachable!("no rank of a regular collective computes")
    }

    fn finished(&self) -> bool {
        self.left == 0
    }

    fn task_of(&self, _op: u32) -> u32 {
        unreachable!("no rank of a regular collective computes")
    }
}
