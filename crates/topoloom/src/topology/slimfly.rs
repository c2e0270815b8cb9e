//! `slimfly:q=9,p=6`: Slim Fly, the graphs of McKay, Miller and Širáň, for every prime power q but 2.
//!
//! A router is (subgraph, x, y), x and y elements of GF(q); its id is subgraph * q * q + x * q + y. Links, all of class
//! `local`: (0,x,y) - (0,x,y') if y - y' is in X; (1,m,c) - (1,m,c') if c - c' is in X'; (0,x,y) - (1,m,c) if y = m x + c.
//! X and X' are the sets of [`GeneratorSets`]. Network ports of a router: one for each generator g, to y + g (or c + g),
//! in order of the set; then one for each m (or x), ascending.

use super::field::{Field, prime_power};
use super::params::{P, Params, product};
use super::{Family, Roles};
use crate::catalogue::{Key, Kind};
use crate::error::{Error, Result};
use crate::network::{LinkClass, Network, NetworkBuilder, RouterId, Structure, WorstCase};

pub(super) const FAMILY: Family = Family {
    name: "slimfly",
    summary: "McKay-Miller-Siran graphs of diameter 2, for every prime power q but 2",
    sizes: None,
    keys: &[Key::new("q", Kind::count(1), "a prime power but 2: 2 q^2 routers"), P],
    example: "slimfly:q=9,p=6",
    source: "Besta and Hoefler, Slim Fly: a cost effective low-diameter network topology, SC 2014",
    routings: &["par"],
    roles: Roles::ANY,
    build,
};

/// A Slim Fly's parameter.
#[derive(Debug)]
pub struct SlimFly {
    /// The order of the field.
    pub q: u32,
}

impl Structure for SlimFly {
    /// Bit complement on q=9,p=6 at load 1: 0.45 accepted without, 0.59 with it, and 0.57 by Valiant's routing.
    fn bias_when_refused(&self) -> Option<u32> {
        Some(8)
    }

    /// Two subgraphs of q columns.
    fn blocks(&self) -> Option<[u32; 3]> {
        Some([self.q, self.q, 2])
    }

    /// A column: the q routers (s,x,·).
    fn group_of(&self, router: RouterId) -> Option<u32> {
        Some(router.0 / self.q)
    }

    /// One cabinet for the q routers (0,x,·) and the q routers (1,x,·), so that all cabinets are linked alike (Besta and
    /// Hoefler).
    fn cabinet(&self, router: RouterId) -> Option<u32> {
        Some(router.0 / self.q % self.q)
    }

    /// From (s,x,y) to (s,x+1,y), codes of x modulo q: the same subgraph, another subgroup (Galaxyfly, section 5.1). The one
    /// minimal path of a router leads over the other subgraph and carries all that its p terminals send: 2 p flits a
    /// cycle between (0,0,y) and (1,0,y), where the first hop of some is the second of others.
    fn worst_case(&self) -> WorstCase {
        let square = self.q * self.q;
        WorstCase::Routers((0..2 * square).map(|r| RouterId(r / square * square + (r + self.q) % square)).collect())
    }
}

/// The sets X and X' = ξ X of a field GF(q), q = 4 l + δ. Both are symmetric (X = -X) and of size (q - δ) / 2. They are
/// disjoint only if δ = 1.
pub(super) struct GeneratorSets {
    pub x: Vec<u32>,
    pub x_prime: Vec<u32>,
}

impl GeneratorSets {
    pub fn new(field: &Field, q: u32) -> Self {
        let exponents: Vec<u32> = if q % 4 == 3 {
            let l = q.div_ceil(4);
            (0..l).map(|i| 2 * i).chain((0..l).map(|i| 2 * l - 1 + 2 * i)).collect()
        } else {
            (0..q / 2).map(|i| 2 * i).collect()
        };
        let set = |shift: u32| exponents.iter().map(|exponent| field.power(exponent + shift)).collect();
        Self { x: set(0), x_prime: set(1) }
    }
}

/// (q - δ) / 2: the size of a generator set.
pub(super) fn generators(q: u32) -> u32 {
    match q % 4 {
        1 => (q - 1) / 2,
        3 => q / 2 + 1,
        _ => q / 2,
    }
}

/// Rejects a `q` that is not a prime power, or 2.
pub(super) fn check_order(params: &Params, q: u32) -> Result<()> {
    if q == 2 {
        return Err(params.mistake("q is 2; it must be a prime power but 2: the nearest is 3"));
    }
    if prime_power(q).is_some() {
        return Ok(());
    }
    Err(not_a_prime_power(params, q))
}

fn not_a_prime_power(params: &Params, q: u32) -> Error {
    let usable = |n: &u32| *n != 2 && prime_power(*n).is_some();
    let below = (3..q).rev().find(usable);
    let above = (q..u32::MAX).find(usable);
    let near: Vec<String> = below.into_iter().chain(above).map(|n| n.to_string()).collect();
    params.mistake(format!("q is {q}; it must be a prime power but 2, such as {}", near.join(" or ")))
}

fn build(params: &Params) -> Result<Network> {
    let (q, p) = (params.required("q")?, params.concentration());
    check_order(params, q)?;
    let routers = product([2, q, q]);
    let links = product([u128::from(q), q.into(), u128::from(q) + u128::from(generators(q))]);
    params.guard_size(routers, product([routers, p.into()]), links)?;
    let field = Field::new(q).ok_or_else(|| not_a_prime_power(params, q))?;
    let sets = GeneratorSets::new(&field, q);
    let mut builder = NetworkBuilder::new(routers as u32).terminals_everywhere(p);
    for column in 0..2 * q {
        link_column(&mut builder, &field, column * q, if column < q { &sets.x } else { &sets.x_prime });
    }
    link_subgraphs(&mut builder, &field, q, sets.x.len() as u32);
    builder.build(params.spec().to_owned(), FAMILY.name, Box::new(SlimFly { q }))
}

/// Links the q routers from `base` on: two are neighbours if their difference is a generator.
fn link_column(builder: &mut NetworkBuilder, field: &Field, base: u32, generators: &[u32]) {
    for y in 0..field.order() {
        for (port, &generator) in (0..).zip(generators) {
            let peer = field.add(y, generator);
            if y < peer {
                let back = field.subtract(y, peer);
                let back = generators.iter().position(|&g| g == back).expect("generator sets are symmetric");
                builder.ranked_link((base + y, port), (base + peer, back as u32), LinkClass::Local);
            }
        }
    }
}

fn link_subgraphs(builder: &mut NetworkBuilder, field: &Field, q: u32, first_port: u32) {
    for x in 0..q {
        for m in 0..q {
            let slope = field.multiply(m, x);
            for y in 0..q {
                let c = field.subtract(y, slope);
                let (here, there) = (x * q + y, q * q + m * q + c);
                builder.ranked_link((here, first_port + m), (there, first_port + x), LinkClass::Local);
            }
        }
    }
}
