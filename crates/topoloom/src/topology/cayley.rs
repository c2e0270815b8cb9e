//! `cayley:7x3,turn=2,generators=1,7`: a Cayley graph of a semidirect product of cyclic groups. Router r is linked to r s
//! for each generator s and its inverse.
//!
//! The sizes, their last as n, and `turn` state which group: see `semidirect.rs`, whose numbers of elements are the ids. A
//! generator is the id of a router that router 0, the neutral element, is linked to. Network ports of a router: in order
//! of generators, to r s, then to r / s; a generator that is its own inverse has one. Link class: `local`.

use super::params::{P, Params, product};
use super::semidirect::{NoGroup, Semidirect};
use super::{Family, Roles};
use crate::catalogue::grammar::list;
use crate::catalogue::{Arguments, Key, Kind};
use crate::error::Result;
use crate::network::{LinkClass, Network, NetworkBuilder, Structure, WorstCase};

pub(super) const FAMILY: Family = Family {
    name: "cayley",
    summary: "Cayley graph of a semidirect product of cyclic groups: every router sees the same network",
    sizes: Some("7x3"),
    keys: &[TURN, GENERATORS, P],
    example: "cayley:7x3,turn=2,generators=1,7",
    source: "Akers and Krishnamurthy, A group-theoretic model for symmetric interconnection networks, IEEE Transactions on \
             Computers 38, 1989; such groups: Loz and Širáň, New record graphs in the degree-diameter problem, \
             Australasian Journal of Combinatorics 41, 2008",
    routings: &[],
    roles: Roles::ANY,
    build,
};

const GENERATORS: Key = Key::new(
    "generators",
    Kind::List("ids of routers, as in 1,7"),
    "routers that router 0 is linked to, one of each pair of inverse elements",
);

/// The key of a group whose last size turns the others.
pub(crate) const TURN: Key = Key::new(
    "turn",
    Kind::List("whole numbers below the first size, as in 1,2"),
    "how the last size turns the others, one number for each of them: x^k = turn_0 + turn_1 x + … (default: not at all)",
);

/// A Cayley graph.
#[derive(Debug)]
struct Cayley;

impl Structure for Cayley {
    fn worst_case(&self) -> WorstCase {
        WorstCase::LongestMatching
    }

    fn vertex_transitive(&self) -> bool {
        true
    }
}

fn build(params: &Params) -> Result<Network> {
    let generators = numbers(params, GENERATORS)?.ok_or_else(|| params.missing(GENERATORS.name))?;
    let p = params.concentration();
    let routers = product(params.sizes().iter().copied());
    params.guard_size(routers, product([routers, p.into()]), product([routers, generators.len() as u128]))?;
    let group = group(params)?;
    let inverses = inverses(params, &group, &generators)?;
    let products: Vec<Vec<u32>> = generators.iter().map(|&generator| group.times(generator)).collect();
    let reached = reached(&products);
    if reached < routers as u32 {
        return Err(
            params.mistake(format!("the generators reach {reached} of {routers} routers; add one for the others"))
        );
    }
    let mut builder = NetworkBuilder::new(routers as u32).terminals_everywhere(p);
    for (place, (&generator, inverse)) in (0..).zip(generators.iter().zip(inverses)) {
        let [on, back] = [2 * place, 2 * place + u32::from(generator != inverse)];
        for (router, &peer) in (0..).zip(&products[place as usize]) {
            if generator != inverse || router < peer {
                builder.ranked_link((router, on), (peer, back), LinkClass::Local);
            }
        }
    }
    builder.build(params.spec().to_owned(), FAMILY.name, Box::new(Cayley))
}

/// The elements that products of the generators make.
fn reached(products: &[Vec<u32>]) -> u32 {
    let mut seen = vec![false; products[0].len()];
    seen[0] = true;
    let mut found = vec![0];
    let mut next = 0;
    while let Some(&at) = found.get(next) {
        next += 1;
        for product in products {
            let to = product[at as usize];
            if !std::mem::replace(&mut seen[to as usize], true) {
                found.push(to);
            }
        }
    }
    found.len() as u32
}

/// The numbers of a list.
pub(crate) fn numbers(given: &Arguments, key: Key) -> Result<Option<Vec<u32>>> {
    let Some(text) = given.text(key.name) else { return Ok(None) };
    let numbers = list(text).map(|number| number.trim().parse().ok()).collect::<Option<Vec<u32>>>();
    let wrong = || given.mistake(format!("{} is '{text}'; it must be {}", key.name, key.kind.wanted()));
    numbers.map(Some).ok_or_else(wrong)
}

/// The group that sizes and a turn define, whose order is in bounds.
///
/// # Errors
/// If there is none.
pub(crate) fn group(given: &Arguments) -> Result<Semidirect> {
    let (sizes, turn) = (given.sizes(), numbers(given, TURN)?);
    Semidirect::new(&sizes, turn.as_deref()).map_err(|why| {
        given.mistake(match why {
            NoGroup::Digits => format!("turn must have a number for each size but the last, {}", sizes.len() - 1),
            NoGroup::Moduli => "sizes that turn, all but the last, must be the same".to_owned(),
            NoGroup::Digit => format!("turn must have numbers below the first size, {}", sizes[0]),
            NoGroup::Order => "turn does not lead back to 1 after as many turns as the last size".to_owned(),
        })
    })
}

/// The inverse of each generator.
fn inverses(params: &Params, group: &Semidirect, generators: &[u32]) -> Result<Vec<u32>> {
    let mut inverses: Vec<u32> = Vec::new();
    for (place, &generator) in generators.iter().enumerate() {
        if generator == 0 || generator >= group.order() {
            let last = group.order() - 1;
            return Err(params.mistake(format!("a generator is {generator}; it must be a router from 1 to {last}")));
        }
        if let Some(twin) = (0..place).find(|&twin| generators[twin] == generator || inverses[twin] == generator) {
            let twin = generators[twin];
            return Err(params.mistake(format!("the generators {twin} and {generator} make the same links")));
        }
        inverses.push(group.inverse(generator));
    }
    Ok(inverses)
}
