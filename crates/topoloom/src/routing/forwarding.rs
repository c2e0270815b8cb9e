//! A routing as forwarding tables: one output at each router towards each terminal.
//!
//! Switches that are programmed by such tables look at the destination alone. So a routing fits only if its way from a
//! router to a terminal is one, and is the same for packets that come from elsewhere as for those of that router.

use super::tables::{Columns, NO_PORT, Tables};
use super::{AnyRouting, NO_VIA, NamedRouting, PacketState, Routing};
use crate::error::{Error, Result};
use crate::network::{Network, Peer, RouterId};
use crate::watch;

/// A routing's tables, checked: every path leads to its terminal.
///
/// # Errors
/// A routing whose paths depend on more than router and destination, or that does not serve every pair.
pub fn forwarding(network: &Network, routing: &NamedRouting) -> Result<Tables> {
    let text = routing.name();
    let mut tables = Tables::new(network, text, Columns::Terminals)?;
    let mut ways = Ways { network, routing, text, starts: Vec::new(), moves: Vec::new() };
    let stage = watch::stage("routing tables", network.num_routers() as u64);
    for dst in network.up_routers() {
        stage.step();
        for (place, terminal) in network.terminals_of(dst).enumerate() {
            let column = tables.column_of(network, terminal.0);
            for src in network.up_routers().filter(|&src| src != dst) {
                let state = ways.start(src, dst, place)?;
                if let Some((port, _)) = ways.hop(src, state, dst)? {
                    tables.set_next(src, column, port);
                }
            }
            for src in network.up_routers().filter(|&src| src != dst) {
                ways.follow(&tables, src, dst, place, column)?;
            }
        }
    }
    tables.check(network)?;
    Ok(tables)
}

/// The paths of a routing, with room for what it enumerates.
struct Ways<'n> {
    network: &'n Network,
    routing: &'n AnyRouting,
    text: &'n str,
    starts: Vec<PacketState>,
    moves: Vec<super::Move>,
}

impl Ways<'_> {
    fn refuse(&self, at: RouterId, dst: RouterId, why: &str) -> Error {
        let (spec, text) = (self.network.spec(), self.text);
        Error::Routing(format!(
            "{spec}: {text} is no forwarding table: at router {at} the way to router {dst} {why}; lash and dfsssp are tables on \
             any network"
        ))
    }

    /// How a packet starts to the terminal at a place of `dst`.
    fn start(&mut self, src: RouterId, dst: RouterId, place: usize) -> Result<PacketState> {
        self.starts.clear();
        self.routing.starts(src, dst, &mut self.starts);
        let own = if self.routing.by_terminal() { self.starts.get(place) } else { self.starts.first() };
        match own {
            Some(_) if self.starts.len() > 1 && !self.routing.by_terminal() => {
                Err(self.refuse(src, dst, "is chosen where a packet starts"))
            }
            Some(state) if state.via != NO_VIA => Err(self.refuse(src, dst, "goes over another router first")),
            Some(state) => Ok(*state),
            None => Err(self.refuse(src, dst, "is missing")),
        }
    }

    /// The port to which a packet goes, and its next state.
    fn hop(&mut self, at: RouterId, state: PacketState, dst: RouterId) -> Result<Option<(u16, PacketState)>> {
        self.moves.clear();
        self.routing.moves(at, state, dst, &mut self.moves);
        let Some(first) = self.moves.first() else { return Ok(None) };
        if self.moves.iter().any(|hop| hop.port != first.port) {
            return Err(self.refuse(at, dst, "is one of several"));
        }
        Ok(Some((first.port, first.next)))
    }

    /// Follows the routing from `src`; every hop must be that of the tables.
    fn follow(&mut self, tables: &Tables, src: RouterId, dst: RouterId, place: usize, column: u32) -> Result<()> {
        let (mut at, mut state) = (src, self.start(src, dst, place)?);
        while let Some((port, next)) = self.hop(at, state, dst)? {
            if port != tables.next(at, column) {
                return Err(self.refuse(
                    at,
                    dst,
                    &format!("depends on where a packet comes from, such as router {src}"),
                ));
            }
            let Some(Peer::Port(peer)) = self.network.ports_of(at).get(port as usize).map(|port| port.peer) else {
                break;
            };
            (at, state) = (self.network.ports()[peer.index()].router, next);
            if at == dst {
                break;
            }
        }
        Ok(())
    }
}

/// Tables as a CSV that `table:FILE` reads: `at,destination,port`.
pub fn write_csv(network: &Network, tables: &Tables) -> String {
    let mut text = String::from("at,destination,port\n");
    for at in network.routers() {
        for terminal in 0..network.num_terminals() as u32 {
            let port = tables.next(at, tables.column_of(network, terminal));
            if port != NO_PORT {
                text.push_str(&format!("{at},{terminal},{port}\n"));
            }
        }
    }
    text
}
