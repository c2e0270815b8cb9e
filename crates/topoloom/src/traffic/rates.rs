//! The relative rates of terminals, a CSV of `terminal,rate`: how much each sends beside the others.

use super::Traffic;
use super::keys::Request;
use crate::error::Result;
use crate::network::{Network, TerminalId};
use crate::rows::{Columns, rows};

const COLUMNS: Columns = Columns { names: &["terminal", "rate"], needed: 2 };

/// The rate of every terminal relative to the mean of those that send, from the file `path`; 0 for those that do not:
/// silent in `traffic`, or of rate 0. Terminals that are left out have rate 1.
///
/// # Errors
/// [`crate::Error::Traffic`] for a file that cannot be read, a row that is no terminal and rate, a terminal in two
/// rows, and a file after which no terminal sends.
pub fn rates(network: &Network, traffic: &Traffic, path: &str) -> Result<Vec<f64>> {
    let request = Request::file(network, "rates", path);
    let mut given = vec![None; network.num_terminals()];
    rows(&request, request.terminals, &COLUMNS, |row| {
        let (terminal, rate) = (row.terminal(0)?, row.weight(1)?.unwrap_or(1.0));
        match given[terminal as usize].replace(rate) {
            None => Ok(()),
            Some(_) => Err(row.mistake(format_args!("terminal {terminal} is given twice"))),
        }
    })?;
    let sends = |terminal: usize| traffic.is_active(TerminalId(terminal as u32));
    let rate = |(terminal, rate): (usize, &Option<f64>)| if sends(terminal) { rate.unwrap_or(1.0) } else { 0.0 };
    let mut rates: Vec<f64> = given.iter().enumerate().map(rate).collect();
    let senders = rates.iter().filter(|rate| **rate > 0.0).count();
    if senders == 0 {
        return Err(request.mistake(format_args!("{path} leaves no terminal that sends")));
    }
    let mean = rates.iter().sum::<f64>() / senders as f64;
    rates.iter_mut().for_each(|rate| *rate /= mean);
    Ok(rates)
}
