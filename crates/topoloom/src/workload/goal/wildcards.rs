//! Which send goes to which receive, where receives take messages of any rank or with any tag.
//!
//! That depends on when messages come, which is known only once the schedule runs. Here they come in the order in which
//! they would if nothing took time: operations are done first come, first served. As in MPI, a message goes to the
//! receive that was posted first among those that accept it, and a receive takes the message that came first.

use std::collections::VecDeque;

use super::{GoalOp, What};

/// The sends and receives that meet, by their operations; what is left of either meets in the order of the file.
pub fn meet(planned: &[GoalOp], edges: &[(u32, u32, bool)]) -> Vec<(u32, u32)> {
    let mut run = Run::new(planned, edges);
    while let Some(op) = run.ready.pop_front() {
        run.begin(op);
    }
    // Operations that wait for each other: the builder of the graph names them.
    for op in 0..planned.len() as u32 {
        if run.is_begun[op as usize] {
            continue;
        }
        match planned[op as usize].what {
            What::Send { .. } => run.deliver(op),
            What::Receive { .. } => run.post(op),
            What::Compute { .. } => {}
        }
    }
    run.met
}

struct Run<'a> {
    planned: &'a [GoalOp],
    needs: Vec<u32>,
    followers: Vec<Vec<(u32, bool)>>,
    is_begun: Vec<bool>,
    ready: VecDeque<u32>,
    /// Of each rank, receives that wait and messages that no receive has taken.
    posted: Vec<Vec<u32>>,
    unexpected: Vec<Vec<u32>>,
    met: Vec<(u32, u32)>,
}

impl<'a> Run<'a> {
    fn new(planned: &'a [GoalOp], edges: &[(u32, u32, bool)]) -> Self {
        let mut needs = vec![0; planned.len()];
        let mut followers = vec![Vec::new(); planned.len()];
        for (earlier, later, start_only) in edges {
            needs[*later as usize] += 1;
            followers[*earlier as usize].push((*later, *start_only));
        }
        let ranks = planned.iter().map(|own| own.task as usize + 1).max().unwrap_or(0);
        let ready = (0..planned.len() as u32).filter(|op| needs[*op as usize] == 0).collect();
        let (is_begun, none) = (vec![false; planned.len()], vec![Vec::new(); ranks]);
        Self { planned, needs, followers, is_begun, ready, posted: none.clone(), unexpected: none, met: Vec::new() }
    }

    fn begin(&mut self, op: u32) {
        self.is_begun[op as usize] = true;
        self.release(op, true);
        match self.planned[op as usize].what {
            What::Compute { .. } => self.release(op, false),
            What::Send { .. } => {
                self.release(op, false);
                self.deliver(op);
            }
            What::Receive { .. } => self.post(op),
        }
    }

    /// What waits for the start of an operation, or for its end, waits no longer.
    fn release(&mut self, op: u32, started: bool) {
        let Self { followers, needs, ready, .. } = self;
        for (later, _) in followers[op as usize].iter().filter(|(_, start_only)| *start_only == started) {
            needs[*later as usize] -= 1;
            if needs[*later as usize] == 0 {
                ready.push_back(*later);
            }
        }
    }

    fn deliver(&mut self, send: u32) {
        let What::Send { peer, .. } = self.planned[send as usize].what else { return };
        // A rank that does nothing receives nothing.
        let Some(posted) = self.posted.get_mut(peer as usize) else { return };
        match posted.iter().position(|receive| accepts(self.planned, *receive, send)) {
            Some(place) => {
                let receive = posted.remove(place);
                self.join(send, receive);
            }
            None => self.unexpected[peer as usize].push(send),
        }
    }

    fn post(&mut self, receive: u32) {
        let rank = self.planned[receive as usize].task as usize;
        match self.unexpected[rank].iter().position(|send| accepts(self.planned, receive, *send)) {
            Some(place) => {
                let send = self.unexpected[rank].remove(place);
                self.join(send, receive);
            }
            None => self.posted[rank].push(receive),
        }
    }

    fn join(&mut self, send: u32, receive: u32) {
        self.met.push((send, receive));
        self.release(receive, false);
    }
}

/// True if a receive takes what a send sends to its rank.
fn accepts(planned: &[GoalOp], receive: u32, send: u32) -> bool {
    let (own, other) = (&planned[receive as usize], &planned[send as usize]);
    match (&own.what, &other.what) {
        (What::Receive { peer, tag, .. }, What::Send { tag: sent, .. }) => {
            peer.is_none_or(|peer| peer == other.task) && tag.is_none_or(|tag| tag == *sent)
        }
        _ => false,
    }
}
