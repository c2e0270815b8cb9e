//! The channels of many flows, and the flows of each channel.

use super::Case;
use crate::error::Result;
use crate::network::TerminalId;

/// The paths of flows, one after the other.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// Where each path begins among `hops`, and behind them their number.
    starts: Vec<u32>,
    hops: Vec<u32>,
    /// Channels between routers of each path.
    between: Vec<u16>,
}

impl Links {
    /// No paths yet, with room for that many.
    pub fn with_room(flows: usize) -> Self {
        let mut starts = Vec::with_capacity(flows + 1);
        starts.push(0);
        Self { starts, hops: Vec::new(), between: Vec::with_capacity(flows) }
    }

    /// Adds the path between two terminals; returns its channels.
    ///
    /// # Errors
    /// As [`Paths::walk`](crate::flow::Paths::walk).
    pub fn add(&mut self, case: &Case, [source, target]: [TerminalId; 2]) -> Result<&[u32]> {
        let (first, mut rng) = (self.hops.len(), case.paths.stream(source, target));
        let between = case.paths.walk(source, target, &mut rng, &mut self.hops)?;
        self.starts.push(self.hops.len() as u32);
        self.between.push(between as u16);
        Ok(&self.hops[first..])
    }

    /// Forgets all paths.
    pub fn clear(&mut self) {
        self.starts.truncate(1);
        self.hops.clear();
        self.between.clear();
    }

    /// How many paths there are.
    pub fn len(&self) -> usize {
        self.between.len()
    }

    /// The channels of a flow.
    #[inline]
    pub fn path(&self, flow: usize) -> &[u32] {
        &self.hops[self.starts[flow] as usize..self.starts[flow + 1] as usize]
    }

    /// Its channels between routers.
    pub fn between(&self, flow: usize) -> f64 {
        self.between[flow].into()
    }

    /// The channels of all flows.
    pub fn hops(&self) -> &[u32] {
        &self.hops
    }
}

/// The flows that cross each channel, as many times as they do.
#[derive(Debug)]
pub(super) struct Crossings {
    starts: Vec<u32>,
    flows: Vec<u32>,
}

impl Crossings {
    /// Those of these paths on that many channels.
    pub fn of(links: &Links, channels: usize) -> Self {
        let mut starts = vec![0u32; channels + 1];
        links.hops().iter().for_each(|channel| starts[*channel as usize + 1] += 1);
        (0..channels).for_each(|channel| starts[channel + 1] += starts[channel]);
        let mut next = starts.clone();
        let mut flows = vec![0; links.hops().len()];
        for flow in 0..links.len() {
            for &channel in links.path(flow) {
                let place = &mut next[channel as usize];
                flows[*place as usize] = flow as u32;
                *place += 1;
            }
        }
        Self { starts, flows }
    }

    /// The flows of a channel, in their order.
    pub fn of_channel(&self, channel: u32) -> &[u32] {
        &self.flows[self.starts[channel as usize] as usize..self.starts[channel as usize + 1] as usize]
    }

    /// How many these are.
    pub fn count(&self, channel: u32) -> u32 {
        self.starts[channel as usize + 1] - self.starts[channel as usize]
    }
}
