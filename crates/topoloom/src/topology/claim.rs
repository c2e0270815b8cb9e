//! What a file states that it was written of, and whether that is so.
//!
//! Our own files have the spec of their network. If the graph in the file is still the one that the spec builds, what
//! the family knows of it beyond the graph (coordinates, levels, groups) holds as well, so that routings and packaging
//! come back; if not, that is stated and the file is a graph like any other.

use std::collections::HashMap;

use super::{GIVEN, build, name, rates};
use crate::catalogue::grammar::wrapped;
use crate::error::{Error, Result, several};
use crate::formats::{FileCabinets, Holds, Origin, RawGraph};
use crate::limits::at_most;
use crate::network::{Link, LinkClass, Network, Source};
use crate::permute::OPTIMISED;

/// Ports of networks that are built in a moment, whatever is in the file: clusters are trimmed to the part of a fabric that
/// they use, which may be small.
const SMALL: u128 = 1 << 22;

/// The network in a file of a format that `holds` this, `p` terminals on every router if given. `stated` is what the
/// user states that it is; else the file's own word counts.
///
/// # Errors
/// [`Error::Spec`] for what is wrong with the graph, and if it is not what the user states; [`Error::TooLarge`].
pub fn of_file(
    raw: RawGraph,
    origin: Origin,
    holds: &[Holds],
    p: Option<u32>,
    stated: Option<&str>,
) -> Result<Network> {
    read(raw, origin, holds, p, stated).map(rates::with_terminal_rates)
}

/// The same, terminals of which nothing is stated without a rate.
fn read(raw: RawGraph, origin: Origin, holds: &[Holds], p: Option<u32>, stated: Option<&str>) -> Result<Network> {
    let written = raw.written_as.clone().filter(|spec| is_buildable(spec));
    let told = FileContents {
        terminals: p.is_some() || holds.contains(&Holds::Terminals),
        terminal_ids: holds.contains(&Holds::TerminalIds),
        classes: holds.contains(&Holds::Classes),
        ports: raw.has_ports(),
    };
    let network = raw.into_network(origin, p)?;
    let spec = network.spec().to_owned();
    let recognised = |claim: &str| {
        // A family may count a few ports too many before it builds; a format without terminals has none of theirs.
        let ports = 4 * network.ports().len() as u128;
        let most = SMALL.max(if told.terminals { ports } else { 1000 * ports });
        let known = at_most(most, || build(claim)).map_err(|error| error.to_string())?;
        let twins = told.same(&network, &known);
        Ok((known, twins))
    };
    match (stated, written) {
        (Some(claim), _) => {
            let wrong = |what: String| Error::Spec(format!("{spec}: this is not {claim}: {what}"));
            let (known, twins) =
                recognised(claim).map_err(|error: String| wrong(format!("that network cannot be built: {error}")))?;
            let twins = twins.map_err(wrong)?;
            Ok(named(network.known_as(&known, &twins), claim, known))
        }
        (None, None) => Ok(network),
        (None, Some(claim)) if claim.contains(SEARCHED) => Ok(searched(network, &claim)),
        (None, Some(claim)) => Ok(match recognised(&claim) {
            Ok((known, Ok(twins))) => named(network.known_as(&known, &twins), &claim, known),
            Ok((known, Err(what))) => noted(network, &claim, &format!("but {what}"), Some(known)),
            Err(error) => noted(network, &claim, &format!("which cannot be built: {error}"), None),
        }),
    }
}

/// False for specs that read a file, or name a graph of a program: these may be others here.
fn is_buildable(spec: &str) -> bool {
    /// Networks in networks that are gone into.
    const DEEPEST: usize = 8;
    let given = GIVEN.iter().any(|family| spec.contains(&format!("{family}:")));
    let reads_none = || name(spec).map_or(true, |name| name.files.is_empty());
    !given && spec.matches('(').count() <= DEEPEST && !spec.contains("file:") && reads_none()
}

/// What is in the specs of networks that are searched for each time that they are built.
const SEARCHED: &str = "optimised(";

/// A network that a search has found, which is not repeated: its graph and its cabinets are in the file and the spec.
fn searched(network: Network, claim: &str) -> Network {
    let unmoved =
        unmoved(claim).and_then(|spec| at_most(4 * network.ports().len() as u128 + 1000, || build(&spec)).ok());
    let Some(unmoved) = unmoved.filter(|unmoved| unmoved.num_routers() == network.num_routers()) else {
        return network;
    };
    let cabinets =
        unmoved.routers().map(|router| unmoved.any_structure().cabinet(router).unwrap_or(router.0)).collect();
    // No rule was written, so that racks are what they are for the network itself, cabinet by cabinet.
    let network = network.with_structure(Box::new(FileCabinets { cabinets: Some(cabinets) }));
    with_source(network, |source| {
        source.notes.push(format!(
            "it was written of {claim}; the search is not repeated: graph and cabinets are the file's, and the record \
             of the search is left out"
        ));
        laid_out(source, unmoved);
    })
}

/// The spec of a network in the cabinets of one that a search has found, with no cable moved.
fn unmoved(claim: &str) -> Option<String> {
    let name = name(claim).ok()?;
    let value = |key: &str| name.values.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str());
    let (method, base) = wrapped(value("base")?)?;
    let keys: String = ["cabinet", "nodes"].iter().filter_map(|key| Some(format!(",{key}={}", value(key)?))).collect();
    let one_searched = name.family == "permuted" && method == OPTIMISED && !base.contains(SEARCHED);
    one_searched.then(|| format!("permuted:two-cab({base}){keys},trials=1,swappable=0"))
}

/// A network that has been recognised.
fn named(network: Network, claim: &str, known: Network) -> Network {
    with_source(network, |source| {
        source.written_as = Some(claim.to_owned());
        laid_out(source, known);
    })
}

/// A network that is not what its file states.
fn noted(network: Network, claim: &str, what: &str, known: Option<Network>) -> Network {
    let routers = network.num_routers();
    with_source(network, |source| {
        let what = format!("its spec is {claim}, {what}; it is read as a graph without that structure");
        source.notes.push(what);
        if let Some(known) = known.filter(|known| known.num_routers() == routers) {
            laid_out(source, known);
        }
    })
}

fn with_source(network: Network, change: impl FnOnce(&mut Source)) -> Network {
    let Some(mut source) = network.source().cloned() else { return network };
    change(&mut source);
    network.with_source(source)
}

fn laid_out(source: &mut Source, known: Network) {
    if let Some(floor) = &mut source.floor {
        floor.of = Some(known);
    }
}

/// What a file states of a network, beside which routers are linked.
struct FileContents {
    terminals: bool,
    terminal_ids: bool,
    classes: bool,
    ports: bool,
}

/// A link by the routers at its ends, the lower one first; by its class and its slots among the links there, where
/// given.
type Key = ([u32; 2], Option<LinkClass>, Option<[u32; 2]>);

impl FileContents {
    /// The link of `network` for each link of `known`, if all given attributes agree; else the first that does not.
    fn same(&self, network: &Network, known: &Network) -> std::result::Result<Vec<usize>, String> {
        let counts = [network, known].map(Network::num_routers);
        if counts[0] != counts[1] {
            return Err(format!("it has {} and not {}", several(counts[0], "router"), counts[1]));
        }
        self.same_terminals(network, known)?;
        let mut places: HashMap<Key, Vec<usize>> = HashMap::new();
        for (place, link) in network.links().iter().enumerate().rev() {
            places.entry(self.key(network, link)).or_default().push(place);
        }
        let twins: Vec<Option<usize>> =
            known.links().iter().map(|link| places.get_mut(&self.key(known, link))?.pop()).collect();
        let missing = twins.iter().filter(|twin| twin.is_none()).count();
        let others = places.values().map(Vec::len).sum::<usize>();
        if missing + others > 0 {
            let all = known.links().len();
            return Err(format!(
                "it lacks {missing} of the {} of that network, and has {} of its own",
                several(all, "link"),
                several(others, "link")
            ));
        }
        Ok(twins.into_iter().flatten().collect())
    }

    fn same_terminals(&self, network: &Network, known: &Network) -> std::result::Result<(), String> {
        if !self.terminals {
            return Ok(());
        }
        let counts = [network, known].map(Network::num_terminals);
        if counts[0] != counts[1] {
            return Err(format!("it has {} and not {}", several(counts[0], "terminal"), counts[1]));
        }
        let differs = |router: &crate::network::RouterId| {
            let own = |network: &Network| network.terminals_of(*router).collect::<Vec<_>>();
            let [here, there] = [own(network), own(known)];
            here.len() != there.len() || (self.terminal_ids && here != there)
        };
        match network.routers().find(differs) {
            Some(router) => Err(format!("router {router} has other terminals")),
            None => Ok(()),
        }
    }

    fn key(&self, network: &Network, link: &Link) -> Key {
        let ends = link.ends.map(|port| {
            let (router, place) = network.local_port(port);
            (router.0, place - network.terminals_of(router).count() as u32)
        });
        let [a, b] = if ends[0] <= ends[1] { ends } else { [ends[1], ends[0]] };
        ([a.0, b.0], self.classes.then_some(link.class), self.ports.then_some([a.1, b.1]))
    }
}
