//! What routers send to routers on average: the sum of what traffic does between terminals.

use std::ops::Range;

use super::{Share, Traffic};
use crate::error::{Error, Result};
use crate::memory::available_memory;
use crate::network::{Network, RouterId, TerminalId};
use crate::statistics::rounded;

/// Flits per cycle from routers to routers.
#[derive(Debug, Clone)]
pub(crate) struct Matrix {
    /// Routers.
    pub routers: usize,
    flits: Vec<f64>,
}

impl Matrix {
    /// Nothing.
    pub fn new(routers: usize) -> Self {
        Self { routers, flits: vec![0.0; routers * routers] }
    }

    /// What `source` sends to each.
    pub fn row(&mut self, source: RouterId) -> &mut [f64] {
        &mut self.flits[source.index() * self.routers..][..self.routers]
    }

    /// What `source` sends to `target`.
    pub fn at(&self, source: RouterId, target: RouterId) -> f64 {
        self.flits[source.index() * self.routers + target.index()]
    }

    /// (target, flits) of what `source` sends to others.
    pub fn of(&self, source: RouterId) -> impl Iterator<Item = (RouterId, f64)> + '_ {
        let row = &self.flits[source.index() * self.routers..][..self.routers];
        let all = (0..).map(RouterId).zip(row.iter().copied());
        all.filter(move |&(target, flits)| target != source && flits > 0.0)
    }

    /// (source, flits) of what `target` gets from others.
    pub fn column(&self, target: RouterId) -> impl Iterator<Item = (RouterId, f64)> + '_ {
        let column = self.flits[target.index()..].iter().copied().step_by(self.routers);
        (0..).map(RouterId).zip(column).filter(move |&(source, flits)| source != target && flits > 0.0)
    }

    /// True if every router sends as much to every other one.
    pub fn is_even(&self) -> bool {
        let each = self.flits.get(1);
        (0..self.routers).all(|source| {
            let row = &self.flits[source * self.routers..][..self.routers];
            row.iter().enumerate().all(|(target, flits)| target == source || Some(flits) == each)
        })
    }

    /// What each of some targets gets from every router, target by target; nothing from itself. Those that are side by side
    /// share lines of memory, which a look at one column after the other would read once for each.
    pub fn columns(&self, targets: &[RouterId]) -> Vec<Vec<f64>> {
        let mut columns = vec![vec![0.0; self.routers]; targets.len()];
        for source in 0..self.routers {
            let row = &self.flits[source * self.routers..][..self.routers];
            for (column, target) in columns.iter_mut().zip(targets).filter(|(_, target)| target.index() != source) {
                column[source] = row[target.index()];
            }
        }
        columns
    }

    /// (source, all that it sends to others), for those that send.
    pub fn sources(&self) -> impl Iterator<Item = (RouterId, f64)> + '_ {
        let all = (0..self.routers as u32).map(RouterId);
        let sum = |source| self.of(source).map(|(_, flits)| flits).sum();
        all.map(move |source| (source, sum(source))).filter(|(_, sum)| *sum > 0.0)
    }

    /// All that each router gets from others.
    pub fn column_sums(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.routers];
        for source in (0..self.routers as u32).map(RouterId) {
            self.of(source).for_each(|(target, flits)| sums[target.index()] += flits);
        }
        sums
    }
}

/// The traffic between routers if every active terminal offers load 1, one flit per cycle. Where links have rates, that
/// is what [`Network::injection_gbps`] carries in a cycle.
#[derive(Debug, Clone)]
pub(crate) struct Demands {
    /// Flits per cycle.
    pub flits: Matrix,
    /// The largest load of a channel from or to a terminal.
    pub max_terminal_load: f64,
}

impl Demands {
    /// Adds up the shares of all terminals.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if they do not fit in memory; [`Error::Traffic`] for traffic without shares.
    pub fn new(network: &Network, traffic: &Traffic) -> Result<Self> {
        /// Matrices of routers by routers that are held at a time.
        const MATRICES: u128 = 6;
        if traffic.trace().is_some() {
            return Err(Error::Traffic("a trace has a load of its own, and none that it saturates at".to_owned()));
        }
        let (routers, terminals) = (network.num_routers(), network.num_terminals());
        let bytes = MATRICES * 8 * (routers as u128).pow(2);
        if bytes > available_memory() / 2 {
            return Err(Error::TooLarge(format!(
                "{}: the loads that {routers} routers cause each other need about {} GB",
                network.spec(),
                bytes.div_ceil(1_000_000_000)
            )));
        }
        let home: Vec<usize> = (0..terminals as u32).map(|t| network.router_of(TerminalId(t)).index()).collect();
        let mut flits = Matrix::new(routers);
        let mut received = vec![0.0; terminals];
        let unit = network.injection_gbps();
        let share = |id: usize| network.injection_share(TerminalId(id as u32), unit);
        let mut to = vec![0.0; terminals];
        for router in network.routers() {
            to.fill(0.0);
            sum_shares(network, traffic, router, unit, &mut to);
            let row = flits.row(router);
            for (terminal, &flits) in to.iter().enumerate() {
                row[home[terminal]] += flits;
                received[terminal] += flits;
            }
        }
        let sent = if traffic.active() > 0 { 1.0 } else { 0.0 };
        received.iter_mut().enumerate().for_each(|(id, flits)| *flits /= share(id));
        Ok(Self { flits, max_terminal_load: rounded(received.into_iter().fold(sent, f64::max)) })
    }
}

/// Adds up what the terminals of a router send to each terminal. Terminals that send as the one before does, as all do
/// under uniform traffic, are counted first.
fn sum_shares(network: &Network, traffic: &Traffic, router: RouterId, unit: Option<f64>, to: &mut [f64]) {
    let mut add = |shares: &[Share], terminals: f64| {
        for Share { destinations: Range { start, end }, each } in shares.iter().cloned() {
            let flits = terminals * each;
            to[start as usize..end as usize].iter_mut().for_each(|sum| *sum += flits);
        }
    };
    let (mut shares, mut own, mut alike) = (Vec::new(), Vec::new(), 0.0);
    for terminal in network.terminals_of(router) {
        own.clear();
        traffic.weights(terminal, &mut own);
        let rate = network.injection_share(terminal, unit);
        own.iter_mut().for_each(|share| share.each *= rate);
        if own == shares {
            alike += 1.0;
            continue;
        }
        add(&shares, alike);
        std::mem::swap(&mut shares, &mut own);
        alike = 1.0;
    }
    add(&shares, alike);
}

/// The traffic between routers if every active terminal offers one flit per cycle: flits per cycle from router s to
/// router d at s * routers + d, and the largest load of a channel from or to a terminal.
///
/// # Errors
/// [`Error::TooLarge`] if they do not fit in memory.
pub fn router_demands(network: &Network, traffic: &Traffic) -> Result<(Vec<f64>, f64)> {
    let demands = Demands::new(network, traffic)?;
    Ok((demands.flits.flits, demands.max_terminal_load))
}
