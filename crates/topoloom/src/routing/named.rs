//! Routings under the names that users give them, and what the routings of one network share.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock};

use super::verify::{self, Proof};
use super::{AnyRouting, Routing, Tables, build, tables};
use crate::error::{Error, Result};
use crate::network::Network;

/// Why a routing must not run, if it must not; empty until it has been proved.
type Refusal = Arc<OnceLock<Option<String>>>;

/// A routing on one network under the name that users gave it. It holds the proof that it needs.
pub struct NamedRouting {
    name: String,
    routing: AnyRouting,
    refusal: Refusal,
}

impl NamedRouting {
    /// Builds the routing that `name` names, for `network`.
    ///
    /// # Errors
    /// Those of [`build`].
    pub fn build(network: &Network, name: &str) -> Result<Self> {
        Ok(Self { name: name.to_owned(), routing: build(network, name)?, refusal: Refusal::default() })
    }

    /// The name that users gave it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Rejects a routing that can deadlock or lose packets on `network`, for which it was built. The proof takes long and
    /// is made once; most routings need none.
    ///
    /// # Errors
    /// [`Error::Routing`] states what is wrong with it.
    pub fn require_safe(&self, network: &Network) -> Result<()> {
        if !self.routing.unproved() {
            return Ok(());
        }
        let prove = || self.verify(network, None)?.refuse_unsafe();
        let refusal = self.refusal.get_or_init(|| prove().err().map(|error| error.to_string()));
        refusal.clone().map_or(Ok(()), |sentence| Err(Error::Routing(sentence)))
    }

    /// Verifies it: see [`verify::verify`].
    ///
    /// # Errors
    /// Those of [`verify::verify`].
    pub fn verify(&self, network: &Network, vcs: Option<u32>) -> Result<Proof> {
        verify::verify(network, &self.name, &self.routing, vcs)
    }
}

impl Deref for NamedRouting {
    type Target = AnyRouting;

    fn deref(&self) -> &AnyRouting {
        &self.routing
    }
}

impl std::fmt::Debug for NamedRouting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NamedRouting({})", self.name)
    }
}

/// What the routings of a network share, and those of the same network with failures: the tables that a program holds
/// for it, and the proofs that were made.
#[derive(Debug, Default)]
pub struct Routings {
    /// By the name of the routing.
    tables: Mutex<BTreeMap<String, Arc<Tables>>>,
    /// By network, name and [`Routing::contents`].
    proofs: Mutex<BTreeMap<(String, String, u64), Refusal>>,
}

impl Routings {
    /// Holds tables. Returns the name of the routing by them, which depends on their contents alone.
    pub fn hold(&self, tables: Tables) -> String {
        let name = tables.name_in_memory();
        self.tables.lock().expect("no thread panics with the lock").insert(name.clone(), Arc::new(tables));
        name
    }

    /// Builds a routing for `network`; its name may be one that [`Routings::hold`] returned.
    ///
    /// # Errors
    /// Those of [`build`].
    pub fn build(&self, network: &Network, name: &str) -> Result<NamedRouting> {
        let held = self.tables.lock().expect("no thread panics with the lock").get(name.trim()).cloned();
        let routing = match held {
            Some(tables) => tables::by_tables(network, tables)?,
            None => build(network, name)?,
        };
        let refusal = if routing.unproved() {
            let key = (network.spec().to_owned(), name.to_owned(), routing.contents());
            Arc::clone(self.proofs.lock().expect("no thread panics with the lock").entry(key).or_default())
        } else {
            Refusal::default()
        };
        Ok(NamedRouting { name: name.to_owned(), routing, refusal })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::RouterId;
    use crate::routing::Columns;
    use crate::topology;

    /// Everything clockwise round a ring of five: a cycle.
    fn clockwise(ring: &Network) -> Tables {
        let port = |at: usize, to: usize| {
            let next = (at + 1) % 5;
            let mut ports = ring.neighbors(RouterId(at as u32));
            let found = ports.find(|(_, router)| router.index() == next).filter(|_| at != to);
            found.map_or(-1, |(port, _)| i64::from(port))
        };
        let rows: Vec<Vec<i64>> = (0..5).map(|at| (0..5).map(|to| port(at, to)).collect()).collect();
        Tables::from_rows(ring, "the table", Columns::Routers, &rows, None).expect("a table")
    }

    #[test]
    fn tables_in_memory_are_known_to_their_network_alone() {
        let ring = topology::build("torus:5").expect("a ring");
        let (routings, others) = (Routings::default(), Routings::default());
        let name = routings.hold(clockwise(&ring));
        assert_eq!(others.hold(clockwise(&ring)), name, "the same tables have the same name");
        assert!(routings.build(&ring, &name).is_ok());
        let unknown = Routings::default().build(&ring, &name).expect_err("nobody holds them");
        assert!(unknown.to_string().contains("stands for no table"), "{unknown}");
        let mesh = topology::build("mesh:4").expect("a mesh");
        assert!(routings.build(&mesh, &name).is_err(), "tables of another network");
    }

    #[test]
    fn a_proof_is_made_once_for_all_that_have_the_same_contents() {
        let ring = topology::build("torus:5").expect("a ring");
        let routings = Routings::default();
        let name = routings.hold(clockwise(&ring));
        let (one, two) = (routings.build(&ring, &name).expect("known"), routings.build(&ring, &name).expect("known"));
        assert!(one.refusal.get().is_none());
        assert!(one.require_safe(&ring).expect_err("a cycle").to_string().contains("can deadlock"));
        assert!(two.refusal.get().is_some(), "the second one knows");
        let dor = routings.build(&ring, "dor").expect("tori have it");
        dor.require_safe(&ring).expect("it is safe by construction");
        assert!(dor.refusal.get().is_none(), "and needs no proof");
    }
}
