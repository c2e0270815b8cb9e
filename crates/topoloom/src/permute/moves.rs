//! From one cabling to another on a machine that runs: one end of one cable at a time, the network connected throughout.
//!
//! The ends that move form cycles, each moving into the place of the next one. One end of a circle is pulled and
//! waits; the others move on one by one, each into the place that has just become free; the first is plugged in last.
//! So every end is touched once, and two cables at most are out at any time. A circle is entered only if the network
//! stays connected without them at each of its steps; cycles that cannot be entered yet are tried again once others
//! are done, and those that never can are left out.

use serde::Serialize;

use super::cabling::{Cabling, NOWHERE, Ways};
use super::list::List;
use crate::table;

/// What is done with one end of a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// It is pulled, and waits.
    Unplug,
    /// It is pulled from one port and plugged into another one, which is free.
    Move,
    /// It waited, and is plugged in.
    Plug,
}

/// One step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CableMove {
    /// What is done.
    pub action: Action,
    /// The cable.
    pub cable: u32,
    /// Which of its ends.
    pub side: usize,
    /// The plug that it leaves; that it left, if it waited.
    pub from: u32,
    /// The plug that it goes into; that it will go into, if it is to wait.
    pub to: u32,
}

/// The steps from one cabling to another.
#[derive(Debug)]
pub struct Plan {
    /// The steps, in order.
    pub moves: Vec<CableMove>,
    /// The cabling that they lead to.
    pub reached: Cabling,
    /// Ends that stay although they were to move, because the network would fall apart in between.
    pub left_out: usize,
}

/// The steps from `before` to `after`, the same cables between the same cabinets.
pub fn plan(before: &Cabling, after: &Cabling) -> Plan {
    let mut planner = Planner { cabling: before.clone(), ways: Ways::new(before.len()), moves: Vec::new() };
    let mut waiting = circles(before, after);
    loop {
        let before = waiting.len();
        waiting.retain(|circle| !planner.enter(circle));
        if waiting.is_empty() || waiting.len() == before {
            break;
        }
    }
    Plan { moves: planner.moves, reached: planner.cabling, left_out: waiting.iter().map(Vec::len).sum() }
}

/// An end of a cable that is to move: cable, side, where to.
type EndMove = (u32, usize, u32);

/// The cycles: each end moves into the place of the next one, the last into that of the first.
fn circles(before: &Cabling, after: &Cabling) -> Vec<Vec<EndMove>> {
    let plugs = 2 * before.cables();
    let mut moving = vec![None; plugs];
    for cable in 0..before.cables() as u32 {
        for (side, (from, to)) in before.ends(cable).into_iter().zip(after.ends(cable)).enumerate() {
            moving[from as usize] = (from != to).then_some((cable, side, to));
        }
    }
    let mut circles = Vec::new();
    for start in 0..plugs {
        let (mut circle, mut at) = (Vec::new(), start);
        while let Some((cable, side, to)) = moving[at].take() {
            circle.push((cable, side, to));
            at = to as usize;
        }
        if !circle.is_empty() {
            circles.push(circle);
        }
    }
    circles
}

struct Planner {
    cabling: Cabling,
    ways: Ways,
    moves: Vec<CableMove>,
}

impl Planner {
    /// Does a circle if the network stays connected; any of its ends may be the one that waits.
    fn enter(&mut self, circle: &[EndMove]) -> bool {
        (0..circle.len()).any(|waits| self.enter_at(circle, waits))
    }

    fn enter_at(&mut self, circle: &[EndMove], waits: usize) -> bool {
        let done = self.moves.len();
        let (waiter, waiting_side, last) = circle[waits];
        let from = self.cabling.ends(waiter)[waiting_side];
        let mut connected = self.pull(waiter, waiting_side);
        self.moves.push(CableMove { action: Action::Unplug, cable: waiter, side: waiting_side, from, to: last });
        // The place that is free is the waiter's; the end that belongs there is the one before it, and so on.
        for step in 1..circle.len() {
            if !connected {
                break;
            }
            let (cable, side, to) = circle[(waits + circle.len() - step) % circle.len()];
            let from = self.cabling.ends(cable)[side];
            connected = self.pull(cable, side);
            self.cabling.plug(cable, side, to);
            self.moves.push(CableMove { action: Action::Move, cable, side, from, to });
        }
        if connected {
            self.cabling.plug(waiter, waiting_side, last);
            self.moves.push(CableMove { action: Action::Plug, cable: waiter, side: waiting_side, from, to: last });
            return true;
        }
        for step in self.moves.drain(done..).rev() {
            if step.action == Action::Move {
                self.cabling.unplug(step.cable, step.side);
            }
            self.cabling.plug(step.cable, step.side, step.from);
        }
        false
    }

    /// Pulls one end of a cable; true if the network, connected before, still is.
    fn pull(&mut self, cable: u32, side: usize) -> bool {
        let vertices = self.cabling.vertices(cable);
        self.cabling.unplug(cable, side);
        vertices.is_none_or(|[a, b]| self.ways.joins(&self.cabling, a, b))
    }
}

impl Action {
    /// What people read.
    fn name(self) -> &'static str {
        match self {
            Self::Unplug => "unplug",
            Self::Move => "move",
            Self::Plug => "plug",
        }
    }
}

impl CableMove {
    /// Does it. Returns the plug that holds the cable's other end, or [`NOWHERE`].
    fn apply(&self, cabling: &mut Cabling) -> u32 {
        let far = cabling.ends(self.cable)[1 - self.side];
        if self.action != Action::Plug {
            cabling.unplug(self.cable, self.side);
        }
        if self.action != Action::Unplug {
            cabling.plug(self.cable, self.side, self.to);
        }
        far
    }
}

/// The columns of a table of moves; behind them stands the label, if the list has labels.
const COLUMNS: [&str; 10] = [
    "step",
    "action",
    "cable",
    "cabinet",
    "from_switch",
    "from_port",
    "to_switch",
    "to_port",
    "other_switch",
    "other_port",
];

impl Plan {
    /// The steps as a table for people: what to do, with which cable (its line in the file of the list), from where to
    /// where, in which cabinet, where the cable's other end is, and the label that it has.
    pub fn write(&self, list: &List) -> String {
        let mut header = COLUMNS.map(str::to_owned).to_vec();
        header.extend(list.has_labels().then(|| "label".to_owned()));
        let mut now = list.cabling.clone();
        let rows = (1..).zip(&self.moves).map(|(step, at): (u32, &CableMove)| {
            let far = at.apply(&mut now);
            let place = |plug: u32, told: bool| if told { [list.switch(plug), list.port(plug)] } else { [""; 2] };
            let from = place(at.from, at.action != Action::Plug);
            let to = place(at.to, at.action != Action::Unplug);
            let other = place(far, far != NOWHERE);
            let (step, line) = (step.to_string(), list.line(at.cable).to_string());
            let begin = [&step, at.action.name(), &line, list.cabinet(at.from)];
            let fields = begin.into_iter().chain([from, to, other].into_iter().flatten()).chain(list.label(at.cable));
            fields.map(str::to_owned).collect()
        });
        table::write(std::iter::once(header).chain(rows))
    }
}
