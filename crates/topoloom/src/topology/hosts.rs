//! Hosts: the equipment at the ports of a fabric. Each built-in host is a data file in `hosts/`; users' files have the
//! same form.
//!
//! The parts of a host are its accelerators (or sockets), which are the terminals, and then its switches, numbered
//! after them. Links join parts; network interfaces are attached to parts and lead out. All rates are those of one
//! direction.

use serde::Deserialize;

use crate::catalogue::Kind;
use crate::error::{Error, Result, unknown};
use crate::inputs;
use crate::network::Wire;

/// The hosts that are built in, with their files.
pub const HOSTS: &[(&str, &str)] = &[
    ("plain", include_str!("hosts/plain.toml")),
    ("hgx-h100", include_str!("hosts/hgx-h100.toml")),
    ("dgx-a100", include_str!("hosts/dgx-a100.toml")),
    ("gb200-nvl72", include_str!("hosts/gb200-nvl72.toml")),
    ("mi300x", include_str!("hosts/mi300x.toml")),
    ("v100-4", include_str!("hosts/v100-4.toml")),
    ("cray-ex", include_str!("hosts/cray-ex.toml")),
    ("tpu-v4", include_str!("hosts/tpu-v4.toml")),
    ("abci-a", include_str!("hosts/abci-a.toml")),
    ("mi250x-8", include_str!("hosts/mi250x-8.toml")),
    ("aurora", include_str!("hosts/aurora.toml")),
    ("gh200-4", include_str!("hosts/gh200-4.toml")),
    ("leonardo", include_str!("hosts/leonardo.toml")),
    ("summit", include_str!("hosts/summit.toml")),
    ("hpn", include_str!("hosts/hpn.toml")),
    ("slingshot-8", include_str!("hosts/slingshot-8.toml")),
];

/// Parts of a host, and its interfaces, at most.
const MOST: u32 = 250;

/// A network interface of a host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nic {
    /// The part that it is attached to.
    pub at: u32,
    /// Its rate in one direction in Gb/s, if it has one of its own: else that of the port that it is plugged into.
    pub gbps: Option<f64>,
    /// What its cable takes, in nanoseconds, if the fabric does not give it.
    pub latency_ns: Option<f64>,
}

/// A host.
#[derive(Debug, Clone, PartialEq)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// What it is, in a line.
    pub summary: String,
    /// Where its numbers are from.
    pub source: String,
    /// Assumptions without a source.
    pub assumptions: Vec<String>,
    /// Accelerators or sockets: its terminals, and its first parts.
    pub accelerators: u32,
    /// Switches, its last parts.
    pub switches: u32,
    /// The links between its parts.
    pub links: Vec<([u32; 2], Wire)>,
    /// Its network interfaces.
    pub nics: Vec<Nic>,
}

/// A host as its file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HostFile {
    summary: String,
    source: String,
    #[serde(default)]
    assumptions: Vec<String>,
    accelerators: u32,
    #[serde(default)]
    switches: u32,
    #[serde(default)]
    link: Vec<LinkRow>,
    #[serde(default)]
    nic: Vec<NicRow>,
}

/// Links of one kind: between each pair of accelerators, from each accelerator to a part, or between pairs of parts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkRow {
    #[serde(default)]
    mesh: bool,
    from: Option<Parts>,
    to: Option<u32>,
    #[serde(default)]
    pairs: Vec<[u32; 2]>,
    gbps: f64,
    latency_ns: Option<f64>,
}

/// Interfaces of one kind, one on each of these parts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NicRow {
    at: Parts,
    gbps: Option<f64>,
    latency_ns: Option<f64>,
}

/// Parts of a host: `"accelerators"`, or their numbers.
#[derive(Deserialize)]
#[serde(untagged)]
enum Parts {
    Named(String),
    Numbers(Vec<u32>),
}

impl Host {
    /// The built-in host `name`, or that of a file whose name ends in `.toml`.
    ///
    /// # Errors
    /// [`Error::Config`] for an unknown host, and for a file that describes none.
    pub fn named(name: &str) -> Result<Self> {
        if Kind::Host.file(name).is_some() {
            let bytes =
                inputs::read(name).map_err(|why| Error::Config(format!("cannot read the host '{name}': {why}")))?;
            let text = inputs::text(&bytes).map_err(|line| {
                Error::Config(format!("{name}: line {line}: this is no text in UTF-8, so it is no host"))
            })?;
            return Self::parse(name, text);
        }
        let found = HOSTS.iter().find(|(known, _)| *known == name);
        let known = || HOSTS.iter().map(|(known, _)| *known);
        let (_, text) = found.ok_or_else(|| {
            Error::Config(format!(
                "{}; a host of your own is a file that ends in .toml",
                unknown("host", name, known())
            ))
        })?;
        Self::parse(name, text)
    }

    /// Reads the file of a host.
    ///
    /// # Errors
    /// [`Error::Config`] reports what is wrong, with `name` before it.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let wrong = |what: String| Error::Config(format!("host {name}: {what}"));
        let file: HostFile = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(String::new(), |span| {
                format!("line {}: ", 1 + text[..span.start.min(text.len())].matches('\n').count())
            });
            wrong(format!("{line}{}", error.message().replace('\n', " ")))
        })?;
        file.host(name).map_err(wrong)
    }

    /// Its parts.
    pub fn parts(&self) -> u32 {
        self.accelerators + self.switches
    }

    /// The parts that links join a part with, one for each link, with the number of the link.
    pub fn neighbors(&self, part: u32) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.links.iter().enumerate().filter_map(move |(link, ([a, b], _))| match part {
            _ if *a == part => Some((link, *b)),
            _ if *b == part => Some((link, *a)),
            _ => None,
        })
    }

    /// Links between each pair of parts, at least.
    pub fn distances(&self) -> Vec<Vec<u32>> {
        let from = |part: u32| {
            let mut distance = vec![u32::MAX; self.parts() as usize];
            let mut queue = vec![part];
            distance[part as usize] = 0;
            let mut next = 0;
            while let Some(&at) = queue.get(next) {
                next += 1;
                for (_, peer) in self.neighbors(at) {
                    if distance[peer as usize] == u32::MAX {
                        distance[peer as usize] = distance[at as usize] + 1;
                        queue.push(peer);
                    }
                }
            }
            distance
        };
        (0..self.parts()).map(from).collect()
    }
}

impl HostFile {
    fn host(self, name: &str) -> std::result::Result<Host, String> {
        let parts = u64::from(self.accelerators) + u64::from(self.switches);
        if self.accelerators == 0 {
            return Err("accelerators is 0; it must be 1 at least".to_owned());
        }
        if parts > MOST.into() {
            return Err(format!("it has {parts} parts; at most {MOST} are possible"));
        }
        let parts = parts as u32;
        let links = self.link.iter().map(|row| row.links(self.accelerators, parts));
        let links: Vec<_> = links.collect::<std::result::Result<Vec<_>, _>>()?.concat();
        let mut nics = Vec::new();
        for row in &self.nic {
            let at = row.at.numbers(self.accelerators, parts)?;
            check("gbps", row.gbps)?;
            check("latency_ns", row.latency_ns)?;
            nics.extend(at.into_iter().map(|at| Nic { at, gbps: row.gbps, latency_ns: row.latency_ns }));
        }
        if nics.is_empty() {
            return Err("it has no network interface; give [[nic]] with at".to_owned());
        }
        if nics.len() > MOST as usize {
            return Err(format!("it has {} network interfaces; at most {MOST} are possible", nics.len()));
        }
        let HostFile { summary, source, assumptions, accelerators, switches, .. } = self;
        let host = Host { name: name.to_owned(), summary, source, assumptions, accelerators, switches, links, nics };
        match host.distances()[0].iter().position(|&distance| distance == u32::MAX) {
            Some(part) => Err(format!("no links join part {part} with part 0")),
            None => Ok(host),
        }
    }
}

impl LinkRow {
    fn links(&self, accelerators: u32, parts: u32) -> std::result::Result<Vec<([u32; 2], Wire)>, String> {
        check("gbps", Some(self.gbps))?;
        check("latency_ns", self.latency_ns)?;
        let wire = Wire { gbps: Some(self.gbps), latency_ns: self.latency_ns, length_m: None };
        let mut pairs = self.pairs.clone();
        match (&self.from, self.to) {
            (Some(from), Some(to)) => pairs.extend(from.numbers(accelerators, parts)?.into_iter().map(|a| [a, to])),
            (None, None) => {}
            _ => return Err("a link has from without to, or to without from".to_owned()),
        }
        if self.mesh {
            pairs.extend((0..accelerators).flat_map(|a| (a + 1..accelerators).map(move |b| [a, b])));
        }
        for &[a, b] in &pairs {
            if a == b || a >= parts || b >= parts {
                return Err(format!("a link joins the parts {a} and {b}; there are the parts 0 to {}", parts - 1));
            }
        }
        if pairs.is_empty() {
            return Err("a link joins nothing; give mesh = true, from and to, or pairs".to_owned());
        }
        Ok(pairs.into_iter().map(|pair| (pair, wire)).collect())
    }
}

impl Parts {
    fn numbers(&self, accelerators: u32, parts: u32) -> std::result::Result<Vec<u32>, String> {
        match self {
            Self::Named(name) if name == "accelerators" => Ok((0..accelerators).collect()),
            Self::Named(name) => Err(format!("parts are '{name}'; they must be \"accelerators\" or a list of numbers")),
            Self::Numbers(numbers) => match numbers.iter().find(|&&number| number >= parts) {
                Some(number) => Err(format!("part {number} is named; there are the parts 0 to {}", parts - 1)),
                None => Ok(numbers.clone()),
            },
        }
    }
}

/// Rejects a value that is not above 0.
fn check(name: &str, value: Option<f64>) -> std::result::Result<(), String> {
    match value.filter(|value| !(value.is_finite() && *value > 0.0)) {
        Some(value) => Err(format!("{name} is {value}; it must be a number above 0")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Accelerators, switches, Gb/s out of an accelerator to others within the host, interfaces, Gb/s of one.
    #[test]
    fn published_hosts() {
        for (name, accelerators, switches, inside, nics, out) in [
            ("hgx-h100", 8, 1, 3600.0, 8, 400.0),
            ("dgx-a100", 8, 1, 2400.0, 8, 200.0),
            ("gb200-nvl72", 72, 1, 7200.0, 72, 400.0),
            ("mi300x", 8, 0, 7.0 * 512.0, 8, 400.0),
            ("cray-ex", 4, 0, 3.0 * 800.0, 4, 200.0),
        ] {
            let host = Host::named(name).expect(name);
            assert_eq!((host.accelerators, host.switches, host.nics.len()), (accelerators, switches, nics), "{name}");
            let own: f64 = host.neighbors(0).filter_map(|(link, _)| host.links[link].1.gbps).sum();
            assert_eq!((own, host.nics[0].gbps), (inside, Some(out)), "{name}");
        }
        for (name, _) in HOSTS {
            let host = Host::named(name).expect(name);
            assert!(!host.source.is_empty() && !host.summary.is_empty());
            assert!(*name == "plain" || !host.assumptions.is_empty(), "{name}");
        }
    }

    #[test]
    fn mistakes_say_what_is_wrong() {
        let head = "summary = ''\nsource = ''\n";
        for (text, words) in [
            ("accelerators = 2\n", "it has no network interface"),
            ("accelerators = 0\n", "accelerators is 0"),
            ("accelerators = 2\n[[nic]]\nat = [0]\n", "no links join part 1 with part 0"),
            ("accelerators = 2\n[[nic]]\nat = [5]\n", "part 5 is named; there are the parts 0 to 1"),
            ("accelerators = 2\n[[nic]]\nat = 'all'\n", "parts are 'all'"),
            ("accelerators = 2\n[[nic]]\nat = [0]\ngbps = 0\n", "gbps is 0; it must be a number above 0"),
            ("accelerators = 2\n[[link]]\ngbps = 5\n", "a link joins nothing"),
            ("accelerators = 2\n[[link]]\nmesh = true\ngbps = -5\n", "gbps is -5; it must be a number above 0"),
            ("accelerators = 2\n[[link]]\npairs = [[0, 2]]\ngbps = 5\n", "joins the parts 0 and 2"),
            ("accelerators = 2\nnics = 3\n", "line 4: unknown field `nics`"),
            ("accelerators = 500\n", "it has 500 parts; at most 250"),
        ] {
            let sentence = Host::parse("mine", &format!("{head}{text}")).expect_err(text).to_string();
            assert!(sentence.contains(words) && !sentence.contains('\n'), "{text}: {sentence}");
        }
        let sentence = Host::named("hgx-h10").expect_err("none").to_string();
        assert!(sentence.contains("did you mean 'hgx-h100'"), "{sentence}");
    }
}
