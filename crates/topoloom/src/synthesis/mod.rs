//! Networks that are made for a number of routers and a degree: a search over the generators of Cayley graphs, of which
//! every router sees the same, for the shortest paths or the least loaded channels.
//!
//! One breadth-first search from one router is all that a graph costs. What is found is a spec of one line. Beside it
//! stand the best torus with twists of the same search, what no torus can do better than, and what no graph can.

mod search;
mod space;
mod table;

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::catalogue::{Alone, Arguments, Entry, Lead};
use crate::error::{Error, Result, several};
use crate::limits::guard_size;
use crate::statistics::rounded;
use crate::topology::{TURN, group, numbers};
use crate::watch;
pub use search::Aim;
use search::{Candidate, Search};
use space::{Cayleys, Shape, Space, Tori};

/// What is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// Routers.
    pub routers: u32,
    /// Links of a router.
    pub degree: u32,
    /// The group, if it is not to be any of that order: `16x16x16` or `16x16x16,turn=5,2`, as in specs.
    pub group: Option<String>,
    /// What is to be least.
    pub aim: Aim,
    /// Of the search.
    pub seed: u64,
    /// The time that it may take, in seconds; it ends with a round of starts.
    pub seconds: f64,
    /// The graphs of each kind after which it ends, with the round.
    pub graphs: Option<u64>,
}

/// A network that was found. The names are keys of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SynthesisedNetwork {
    /// Its spec.
    pub spec: String,
    /// Links between two routers, on average over all pairs.
    pub average_distance: f64,
    /// The most links between two routers.
    pub diameter: u32,
    /// The largest load of a channel between routers under uniform traffic of one terminal per router, in flits per cycle at
    /// load 1, if any minimal next hop is equally likely (`min`, `min-updown`).
    pub max_channel_load: f64,
    /// The load that these channels and the terminals' links carry at most, in flits per terminal per cycle.
    pub uniform_bound: f64,
}

/// What a search found. The names are keys of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Synthesis {
    /// Routers.
    pub routers: u32,
    /// Links of a router.
    pub degree: u32,
    /// The seed of the search.
    pub seed: u64,
    /// The best Cayley graph.
    pub best: SynthesisedNetwork,
    /// The best torus with twists; none where the degree or the number of routers has none.
    pub torus: Option<SynthesisedNetwork>,
    /// The average distance that no graph of this many routers of this degree is below (Moore).
    pub least_average_distance: f64,
    /// The average distance that no torus is below, whatever its sides and twists.
    pub least_torus_distance: f64,
    /// The uniform bound that no torus is above, whatever its sides and twists.
    pub most_torus_bound: f64,
    /// The Cayley graphs that were compared.
    pub graphs: u64,
    /// The tori that were compared.
    pub tori: u64,
}

/// Searches until the time is over. This many graphs with one seed give the same result on every machine.
///
/// # Errors
/// [`Error::Config`] for numbers that no graph has, or a group of another order; [`Error::TooLarge`].
pub fn synthesise(question: &Question) -> Result<Synthesis> {
    let &Question { routers, degree, seed, aim, .. } = question;
    check(question)?;
    let shape = question.group.as_deref().map(|text| shape(text, routers)).transpose()?;
    let (cayleys, tori) = (Cayleys::new(routers, degree, shape), Tori::new(routers, degree));
    let mut graphs = Search::new(&cayleys, routers, degree, aim, seed);
    let mut twisted = Search::new(&tori, routers, degree, aim, seed);
    let stage = watch::stage("search for generators", 0);
    let begun = Instant::now();
    let most = question.graphs.unwrap_or(u64::MAX);
    let time = Duration::try_from_secs_f64(question.seconds).unwrap_or(Duration::MAX);
    let mut idle = 0;
    loop {
        let before = graphs.scored;
        graphs.round(&stage);
        twisted.round(&stage);
        idle = if graphs.scored == before { idle + 1 } else { 0 };
        if graphs.scored >= most || begun.elapsed() >= time || idle > IDLE_ROUNDS {
            break;
        }
    }
    let found = |found: &Candidate<_>| described(&cayleys, found, routers);
    let best = graphs.best().map(found).ok_or_else(|| nothing(question))?;
    // Channels carry the hops of packets to all routers, the sender's own among them, at best evenly.
    let least_torus_load =
        table::torus_distance(routers, degree) * (1.0 - 1.0 / f64::from(routers)) / f64::from(degree);
    Ok(Synthesis {
        routers,
        degree,
        seed,
        best,
        torus: twisted.best().map(|found| described(&tori, found, routers)),
        least_average_distance: rounded(table::moore_distance(routers, degree)),
        least_torus_distance: rounded(table::torus_distance(routers, degree)),
        most_torus_bound: rounded(1.0 / least_torus_load.max(1.0)),
        graphs: graphs.scored,
        tori: twisted.scored,
    })
}

/// Rounds without a graph after which there is none.
const IDLE_ROUNDS: u32 = 4;

fn check(question: &Question) -> Result<()> {
    let &Question { routers, degree, .. } = question;
    let wrong = |what: String| Err(Error::Config(what));
    if routers < 4 {
        return wrong(format!("routers is {routers}; it must be at least 4"));
    }
    if degree < 3 || degree >= routers {
        return wrong(format!("degree is {degree}; it must be from 3 to {}", routers - 1));
    }
    if degree % 2 == 1 && routers % 2 == 1 {
        return wrong(format!("degree is {degree}; with {routers} routers, an odd number, it must be even"));
    }
    guard_size("a synthesised network", routers.into(), routers.into(), u128::from(routers) * u128::from(degree))?;
    if !question.seconds.is_finite() || question.seconds <= 0.0 {
        return wrong(format!("seconds is {}; it must be above 0", question.seconds));
    }
    Ok(())
}

/// How a group is read.
const GROUP: Entry = Entry {
    noun: "the group",
    name: "group",
    lead: Lead::Sizes,
    keys: &[TURN],
    shared: &[],
    alone: Alone::Example("16x16x16,turn=5,2"),
    wrong: Error::Config,
};

/// The sizes and the turn of a group.
fn shape(text: &str, routers: u32) -> Result<Shape> {
    let given = Arguments::read(GROUP, text, text)?;
    let (sizes, turn) = (given.sizes(), numbers(&given, TURN)?);
    let order = sizes.iter().fold(1u64, |product, &size| product.saturating_mul(size.into()));
    if order != u64::from(routers) {
        return Err(given.mistake(format!("it has {}; {routers} routers need as many", several(order, "element"))));
    }
    group(&given)?;
    Ok(Shape { sizes, turn })
}

fn nothing(question: &Question) -> Error {
    let Question { routers, degree, .. } = question;
    Error::Config(format!(
        "no Cayley graph of {routers} routers of degree {degree} was found: semidirect products of cyclic groups of that \
         order that do not commute are too few, or there are none"
    ))
}

fn described<S: Space>(space: &S, found: &Candidate<S::Member>, routers: u32) -> SynthesisedNetwork {
    let score = found.score;
    SynthesisedNetwork {
        spec: space.spec(&found.member),
        average_distance: rounded(score.hops as f64 / f64::from(routers - 1)),
        diameter: score.diameter,
        max_channel_load: rounded(score.load),
        uniform_bound: rounded(1.0 / score.load.max(1.0)),
    }
}
