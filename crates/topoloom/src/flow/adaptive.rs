//! Adaptive routings: each part of a message takes the path on which it adds least to what is still to cross the channels.
//!
//! Packets decide again while they are blocked, until those that share a channel have spread over the paths that their
//! routing offers. Here all parts that begin at an instant do so together: at first each takes the path of an idle
//! network; then, round after round, each draws another one, and moves there if that is better by the channels' *backlogs*,
//! what is still to cross them. Parts of messages compare the sums of the times that the backlogs of two paths take, as UGAL
//! compares queues; a detour has more channels, and has to find less on each. A whole message on one path compares the
//! sums of the 16th powers of all backlogs: the fullest channels decide, for it cannot leave them again.

use super::Paths;
use super::paths::Queues;
use crate::error::Result;
use crate::network::TerminalId;
use crate::rng::Rng;
use crate::watch::Control;

/// How often each part draws another path: by turns in an idle network, and by queues of which that of the first channel of
/// its present path is the longest.
const ROUNDS: u32 = 16;
/// A move has to save this part of what it costs, lest rounding decides.
const WORTH: f64 = 1e-9;
/// Parts between two looks for a cancellation.
const LOOK: usize = 4096;

/// The 16th power: what a backlog counts for a whole message.
fn power(x: f64) -> f64 {
    let square = x * x;
    let fourth = square * square;
    let eighth = fourth * fourth;
    eighth * eighth
}

/// What flows that are under way have yet to send through a channel.
#[derive(Debug, Clone, Copy, Default)]
struct Backlog {
    /// Bytes at `since`.
    bytes: f64,
    since: f64,
    /// Bytes per second of all flows.
    rate: f64,
    /// Flows under way; what is yet to begin is not counted.
    flows: f64,
}

impl Backlog {
    fn at(&self, now: f64) -> f64 {
        self.left(now).max(0.0)
    }

    /// The same, below 0 if flows have sent more than was expected of them.
    fn left(&self, now: f64) -> f64 {
        self.bytes - self.rate * (now - self.since)
    }
}

/// A part of a message that is to begin.
#[derive(Debug)]
pub struct Part {
    /// The message.
    pub message: u32,
    /// Its bytes.
    pub bytes: f64,
    /// Its ends.
    pub ends: [TerminalId; 2],
    /// Its channels, not empty.
    pub path: Vec<u32>,
    /// How many of them are between routers.
    pub between: u32,
    /// What it draws from.
    pub rng: Rng,
}

/// The paths that an adaptive routing decides for.
#[derive(Debug)]
pub struct AdaptivePaths {
    channels: Vec<Backlog>,
    /// By channel: how much longer a byte takes than on the fastest.
    slower: Vec<f64>,
    /// True if messages have several parts.
    split: bool,
    waiting: Vec<Part>,
    drawn: Vec<u32>,
    /// Channels that a part would leave, and those that it would take; kept for their memory.
    left: Vec<u32>,
    taken: Vec<u32>,
    diverted: bool,
}

impl AdaptivePaths {
    /// Nothing is under way yet on channels of these capacities; messages have `parts` parts each.
    pub fn new(capacities: impl IntoIterator<Item = f64>, parts: u32) -> Self {
        let capacities: Vec<f64> = capacities.into_iter().collect();
        let fastest = capacities.iter().copied().filter(|capacity| capacity.is_finite()).fold(0.0, f64::max);
        Self {
            channels: vec![Backlog::default(); capacities.len()],
            slower: capacities.iter().map(|capacity| fastest / capacity).collect(),
            split: parts > 1,
            waiting: Vec::new(),
            drawn: Vec::new(),
            left: Vec::new(),
            taken: Vec::new(),
            diverted: false,
        }
    }

    /// True if any part has left the path that it came with.
    pub fn diverted(&self) -> bool {
        self.diverted
    }

    /// True if parts wait to be decided for.
    pub fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Takes in a part that begins at `now`, on the path of an idle network.
    pub fn offer(&mut self, part: Part, now: f64) {
        self.load(&part.path, part.bytes, now);
        self.waiting.push(part);
    }

    /// Adds bytes to the backlogs of channels.
    pub fn load(&mut self, path: &[u32], bytes: f64, now: f64) {
        path.iter().for_each(|&channel| self.change(channel, bytes, [0.0, 0.0], now));
    }

    /// Changes a channel's backlog at `now` by bytes, and by a rate and a number of flows under way.
    pub fn change(&mut self, channel: u32, bytes: f64, [rate, flows]: [f64; 2], now: f64) {
        let own = &mut self.channels[channel as usize];
        let left = if self.split { own.left(now) } else { own.at(now) };
        *own = Backlog { bytes: left + bytes, since: now, rate: own.rate + rate, flows: own.flows + flows };
        if flows < 0.0 && own.flows == 0.0 {
            // What rounding leaves is not to be carried on.
            (own.bytes, own.rate) = (0.0, 0.0);
        }
    }

    /// Decides for all parts that have been taken in, and returns them; early if the run is cancelled.
    ///
    /// # Errors
    /// As [`Paths::walk`].
    pub fn place(&mut self, paths: &Paths, now: f64, control: Option<&dyn Control>) -> Result<Vec<Part>> {
        let mut parts = std::mem::take(&mut self.waiting);
        let mut still = 0;
        for round in 0..ROUNDS {
            let mut moved = false;
            for (place, part) in parts.iter_mut().enumerate() {
                if place % LOOK == 0 && control.is_some_and(Control::cancelled) {
                    return Ok(parts);
                }
                moved |= self.decide(part, paths, round, now)?;
            }
            self.diverted |= moved;
            still = if moved { 0 } else { still + 1 };
            if still == 2 {
                break;
            }
        }
        Ok(parts)
    }

    /// Draws another path for a part; true if it moves there.
    fn decide(&mut self, part: &mut Part, paths: &Paths, round: u32, now: f64) -> Result<bool> {
        if part.between == 0 {
            return Ok(false);
        }
        let seed = part.rng.bits();
        let avoided = part.path[paths.before()];
        let queues = if round.is_multiple_of(2) { Queues::Idle } else { Queues::Drawn { seed, avoided } };
        let mut drawn = std::mem::take(&mut self.drawn);
        drawn.clear();
        let between = paths.walk_by(queues, part.ends[0], part.ends[1], &mut part.rng, &mut drawn)?;
        if drawn == part.path {
            self.drawn = drawn;
            return Ok(false);
        }
        let (mut left, mut taken) = (std::mem::take(&mut self.left), std::mem::take(&mut self.taken));
        left.clear();
        left.extend(part.path.iter().filter(|channel| !drawn.contains(channel)));
        taken.clear();
        taken.extend(drawn.iter().filter(|channel| !part.path.contains(channel)));
        self.load(&left, -part.bytes, now);
        let better = self.cost(&taken, part.bytes, now) < self.cost(&left, part.bytes, now) * (1.0 - WORTH);
        if better {
            self.load(&taken, part.bytes, now);
            (part.between, drawn) = (between, std::mem::replace(&mut part.path, drawn));
        } else {
            self.load(&left, part.bytes, now);
        }
        (self.drawn, self.left, self.taken) = (drawn, left, taken);
        Ok(better)
    }

    /// What that many bytes more cost on these channels. For parts it is what they wait for: the times that all bytes before
    /// them take on each, in bytes of the fastest channel. For a whole message it is by how much it raises the sum of the
    /// 16th powers, in units of its bytes.
    fn cost(&self, path: &[u32], bytes: f64, now: f64) -> f64 {
        let before = |channel: u32| self.channels[channel as usize].at(now);
        if self.split {
            return path.iter().map(|&channel| before(channel) * self.slower[channel as usize]).sum();
        }
        let raised = |&channel: &u32| power(before(channel) / bytes + 1.0) - power(before(channel) / bytes);
        path.iter().map(raised).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::FlowConfig;

    #[test]
    fn backlogs_drain_and_end_with_the_last_flow() {
        let mut paths = AdaptivePaths::new([1.0; 2], 1);
        paths.load(&[0], 12.0, 1.0);
        paths.change(0, 0.0, [3.0, 1.0], 1.0);
        paths.change(0, 0.0, [1.0, 1.0], 2.0);
        let at = |paths: &AdaptivePaths, now| paths.channels[0].at(now);
        assert_eq!([2.0, 4.0, 9.0].map(|now| at(&paths, now)), [9.0, 1.0, 0.0]);
        paths.change(0, 0.0, [-3.0, -1.0], 3.0);
        assert_eq!(at(&paths, 4.0), 4.0);
        paths.change(0, 0.0, [-1.0, -1.0], 4.0);
        assert_eq!(at(&paths, 4.0), 0.0, "what is left is rounding's");
    }

    #[test]
    fn bytes_wait_longer_on_slower_channels() {
        let mut paths = AdaptivePaths::new([2.0, 1.0, f64::INFINITY], 2);
        assert_eq!(paths.slower, [1.0, 2.0, 0.0]);
        paths.load(&[0, 1], 6.0, 0.0);
        let [fast, slow, free] = [0, 1, 2].map(|channel| paths.cost(&[channel], 2.0, 0.0));
        assert_eq!((fast, slow, free), (6.0, 12.0, 0.0));
        assert_eq!(paths.cost(&[0, 1], 2.0, 0.0), fast + slow);
    }

    #[test]
    fn parts_spread_over_detours_where_they_would_share_a_link() {
        let network = crate::topology::build("hyperx:8,p=8").expect("small");
        let routing = crate::routing::build(&network, "ugal-l").expect("offered");
        let paths = Paths::new(&network, &routing, &FlowConfig::default());
        for (parts, most, of) in [(1, 1, 1), (2, 1, 1), (8, 2, 1), (1, 1, 16), (2, 1, 16), (8, 2, 16)] {
            let mut adaptive = AdaptivePaths::new(Paths::capacities(&network, &FlowConfig::default()), of);
            for part in 0..parts {
                let (ends, mut path) = ([TerminalId(part), TerminalId(8 + part)], Vec::new());
                let between =
                    paths.walk(ends[0], ends[1], &mut paths.stream(ends[0], ends[1]), &mut path).expect("ends");
                adaptive.offer(
                    Part { message: part, bytes: 5.0, ends, path, between, rng: paths.stream_of_part(part, 0) },
                    0.0,
                );
            }
            let direct = adaptive.waiting[0].path[paths.before()];
            let placed = adaptive.place(&paths, 0.0, None).expect("paths end");
            let sharing = placed.iter().filter(|part| part.path.contains(&direct)).count();
            assert!((1..=most).contains(&sharing), "{sharing} of {parts}");
            assert!(placed.iter().all(|part| part.between <= 2));
        }
    }
}
