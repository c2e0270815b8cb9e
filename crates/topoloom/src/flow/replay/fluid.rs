//! Collectives that are under way together, each as a fluid: how far each comes by when.
//!
//! A job that communicates alone uses a part of each channel on its paths, of the busiest one all. Beside others it goes at a part
//! of that speed, the same on all of its channels. Flows share channels max-min fairly: a level rises for the flows of all jobs
//! until a channel on a job's paths is full, or the job has reached the speed that it has alone.

/// What a job uses of the network while it communicates alone.
#[derive(Debug, Clone, Default)]
pub(super) struct Load {
    /// Channels in their order, with the part of each that it uses: 1 of the busiest.
    pub channels: Vec<(u32, f64)>,
    /// Seconds of one collective.
    pub alone_s: f64,
    /// Bytes per second of one of its flows.
    pub flow_rate: f64,
}

/// Parts of a channel that exceed it by less are rounding.
const ROUNDING: f64 = 1e-9;

/// A job on the machine.
#[derive(Debug)]
struct Member {
    load: Load,
    /// Its channels that can be full, as of `version`.
    critical: Vec<(u32, f64)>,
    version: u64,
    /// Seconds that are left of its collective at the speed that it has alone; not a number while it computes.
    left_s: f64,
    /// Its speed, in parts of that alone.
    speed: f64,
}

/// The jobs on a machine, by the slots that they have.
#[derive(Debug)]
pub(super) struct Fluid {
    members: Vec<Option<Member>>,
    active: Vec<usize>,
    /// Of each channel what all jobs would use of it at their full speeds, and how many use it.
    wanted: Vec<(f64, u32)>,
    version: u64,
    /// What is used of a channel, and how fast that grows with the level; and the channels where that is known.
    filled: Vec<[f64; 2]>,
    touched: Vec<u32>,
}

impl Fluid {
    pub fn new(channels: usize) -> Self {
        let (wanted, filled) = (vec![(0.0, 0); channels], vec![[0.0; 2]; channels]);
        Self { members: Vec::new(), active: Vec::new(), wanted, version: 0, filled, touched: Vec::new() }
    }

    /// A job begins; returns its slot.
    pub fn add(&mut self, load: Load) -> usize {
        self.version += 1;
        for (channel, part) in &load.channels {
            let (sum, users) = &mut self.wanted[*channel as usize];
            (*sum, *users) = (*sum + part, *users + 1);
        }
        let member = Member { load, critical: Vec::new(), version: 0, left_s: f64::NAN, speed: 0.0 };
        let free = self.members.iter().position(Option::is_none).unwrap_or(self.members.len());
        if free == self.members.len() {
            self.members.push(None);
        }
        self.members[free] = Some(member);
        free
    }

    /// A job ends.
    pub fn remove(&mut self, slot: usize) -> Load {
        self.version += 1;
        let load = self.members[slot].take().expect("a job has the slot").load;
        for (channel, part) in &load.channels {
            let (sum, users) = &mut self.wanted[*channel as usize];
            *users -= 1;
            *sum = if *users == 0 { 0.0 } else { *sum - part };
        }
        load
    }

    /// The job in a slot begins to communicate.
    pub fn begin(&mut self, slot: usize) {
        let member = self.members[slot].as_mut().expect("a job has the slot");
        member.left_s = member.load.alone_s;
        self.active.push(slot);
    }

    /// Seconds until the next collective is done; infinite if none is under way.
    pub fn next_s(&self) -> f64 {
        let of = |slot: &usize| self.members[*slot].as_ref().map_or(f64::INFINITY, |own| own.left_s / own.speed);
        self.active.iter().map(of).fold(f64::INFINITY, f64::min)
    }

    /// Time passes; adds the slots whose collectives are done to `done`.
    pub fn pass(&mut self, seconds: f64, done: &mut Vec<usize>) {
        let members = &mut self.members;
        self.active.retain(|slot| {
            let own = members[*slot].as_mut().expect("it is active");
            own.left_s -= seconds * own.speed;
            let is_done = own.left_s <= ROUNDING * own.load.alone_s;
            if is_done {
                own.left_s = f64::NAN;
                done.push(*slot);
            }
            !is_done
        });
    }

    /// Finds the speeds of all that are under way.
    pub fn settle(&mut self) {
        for place in 0..self.active.len() {
            self.refresh(self.active[place]);
        }
        let speed = |members: &mut [Option<Member>], slot: usize, speed: f64| {
            members[slot].as_mut().expect("it is active").speed = speed;
        };
        let mut growing: Vec<usize> = Vec::new();
        for slot in &self.active {
            speed(&mut self.members, *slot, 1.0);
            if self.active.len() > 1 && !self.member(*slot).critical.is_empty() {
                growing.push(*slot);
            }
        }
        let shared = growing.clone();
        let mut level = 0.0;
        while !growing.is_empty() {
            level = self.next_level(level, &shared, &growing);
            let full = |(channel, _): &(u32, f64)| self.filled[*channel as usize][0] >= 1.0 - ROUNDING;
            let stops = |slot: &usize| {
                let own = self.member(*slot);
                own.load.flow_rate <= level * (1.0 + ROUNDING) || own.critical.iter().any(full)
            };
            let (stopped, still): (Vec<usize>, Vec<usize>) = growing.iter().partition(|slot| stops(slot));
            for slot in stopped {
                let part = (level / self.member(slot).load.flow_rate).min(1.0);
                speed(&mut self.members, slot, part);
            }
            growing = still;
        }
    }

    /// The level at which the next channel is full, or the next job has its full speed; `filled` is what channels carry then.
    fn next_level(&mut self, level: f64, shared: &[usize], growing: &[usize]) -> f64 {
        let Self { members, filled, touched, .. } = self;
        touched.drain(..).for_each(|channel: u32| filled[channel as usize] = [0.0; 2]);
        let mut next = f64::INFINITY;
        for slot in shared {
            let own = members[*slot].as_ref().expect("it is active");
            let grows = growing.contains(slot);
            let (speed, slope) = match grows {
                true => (level / own.load.flow_rate, 1.0 / own.load.flow_rate),
                false => (own.speed, 0.0),
            };
            if grows {
                next = next.min(own.load.flow_rate);
            }
            for (channel, part) in &own.critical {
                let sums = &mut filled[*channel as usize];
                if *sums == [0.0; 2] {
                    touched.push(*channel);
                }
                *sums = [sums[0] + part * speed, sums[1] + part * slope];
            }
        }
        for channel in touched.iter() {
            let [used, slope] = filled[*channel as usize];
            if slope > 0.0 {
                next = next.min(level + ((1.0 - used) / slope).max(0.0));
            }
        }
        for channel in touched.iter() {
            let sums = &mut filled[*channel as usize];
            sums[0] += sums[1] * (next - level);
        }
        next
    }

    /// The channels of a job that can be full.
    fn refresh(&mut self, slot: usize) {
        let (version, wanted) = (self.version, &self.wanted);
        let own = self.members[slot].as_mut().expect("it is active");
        if own.version != version {
            own.version = version;
            own.critical.clear();
            let can_fill = |(channel, _): &&(u32, f64)| {
                let (sum, users) = wanted[*channel as usize];
                users > 1 && sum > 1.0 + ROUNDING
            };
            own.critical.extend(own.load.channels.iter().filter(can_fill));
        }
    }

    fn member(&self, slot: usize) -> &Member {
        self.members[slot].as_ref().expect("it is active")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(channels: &[(u32, f64)], flow_rate: f64) -> Load {
        Load { channels: channels.to_vec(), alone_s: 1.0, flow_rate }
    }

    fn speeds(loads: &[Load]) -> Vec<f64> {
        let mut fluid = Fluid::new(4);
        for load in loads {
            let slot = fluid.add(load.clone());
            fluid.begin(slot);
        }
        fluid.settle();
        (0..loads.len()).map(|slot| fluid.member(slot).speed).collect()
    }

    #[test]
    fn flows_share_the_channels_that_they_fill() {
        let close = |found: Vec<f64>, wanted: &[f64]| {
            assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}, {wanted:?}");
        };
        // Alone; apart; on one channel that holds both; on one that does not.
        close(speeds(&[load(&[(0, 1.0)], 5.0)]), &[1.0]);
        close(speeds(&[load(&[(0, 1.0)], 5.0), load(&[(1, 1.0)], 5.0)]), &[1.0, 1.0]);
        close(speeds(&[load(&[(0, 0.4), (1, 1.0)], 5.0), load(&[(0, 0.6), (2, 1.0)], 5.0)]), &[1.0, 1.0]);
        close(speeds(&[load(&[(0, 1.0)], 5.0), load(&[(0, 1.0)], 5.0)]), &[0.5, 0.5]);
        // One flow at the rate of the channel beside four at a quarter of it: a fifth of it each.
        close(speeds(&[load(&[(0, 1.0)], 1.0), load(&[(0, 1.0)], 0.25)]), &[0.2, 0.8]);
        // A job that is slow elsewhere leaves the rest to the other.
        let three = [load(&[(0, 1.0), (1, 1.0)], 1.0), load(&[(0, 1.0)], 1.0), load(&[(0, 1.0), (2, 1.0)], 1.0)];
        close(speeds(&three), &[1.0 / 3.0; 3]);
        let bound =
            [load(&[(0, 1.0), (1, 1.0)], 1.0), load(&[(0, 1.0)], 1.0), load(&[(1, 1.0)], 1.0), load(&[(1, 1.0)], 1.0)];
        close(speeds(&bound), &[1.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]);
    }
}
