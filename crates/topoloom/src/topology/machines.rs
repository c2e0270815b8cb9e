//! Machines that exist: data, one file per machine in `machines/`, and files of the user's own in the same form.
//!
//! A machine is a spec with formulas in braces, whose names are the keys that scale it; the routing that it runs; and
//! published figures, each with its source, or marked as an assumption. A file that includes another has its values,
//! but for those that it gives itself.

use std::path::Path;

use serde::Deserialize;

use super::figures::FIGURES;
use super::formula;
use crate::catalogue::grammar::{items, pair, sides, split_head};
use crate::catalogue::{Key, Kind, Name};
use crate::error::{Error, Result, several, unknown};
use crate::inputs;

/// Lists the machines that are built in, with their files.
macro_rules! machines {
    ($($name:literal),+ $(,)?) => {
        /// The machines that are built in, with their files.
        pub const MACHINES: &[(&str, &str)] = &[$(($name, include_str!(concat!("machines/", $name, ".toml")))),+];
    };
}

machines! {
    "frontier",
    "aurora",
    "perlmutter",
    "lumi",
    "alps",
    "leonardo",
    "summit",
    "fugaku",
    "sequoia",
    "mira",
    "titan",
    "piz-daint",
    "tpu-v4",
    "tpu-v4-twisted",
    "hyperx-sc19",
    "slimfly-nsdi24",
    "superpod-h100",
    "hpn-7",
    "meta-24k",
    "gb200-superpod",
    "abci-v",
    "abci-a",
    "slingshot-64x8",
}

/// The keys that machines are scaled by; each machine has some of them.
pub(super) const SCALES: &[Key] = &[
    Key::new("groups", Kind::count(1), "groups of routers, or cells"),
    Key::new("switches", Kind::count(1), "routers of a group"),
    Key::new("racks", Kind::count(1), "racks"),
    Key::new("pods", Kind::count(1), "pods, blocks or clusters below the highest level"),
    Key::new("units", Kind::count(1), "scalable units or segments"),
    Key::new("sides", Kind::Sides, "sides of the torus or grid"),
    Key::new("hosts", Kind::count(1), "hosts; of a machine in groups, racks or the like: whole ones of them"),
];

/// The value of a key that scales a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Size {
    Count(u32),
    Sides(Vec<u32>),
}

impl Size {
    fn of(text: &str) -> Option<Self> {
        let read: Option<Vec<u32>> = sides(text).map(|side| side.parse().ok().filter(|&side| side > 0)).collect();
        Some(match read?.as_slice() {
            [count] => Self::Count(*count),
            sides => Self::Sides(sides.to_vec()),
        })
    }

    fn numbers(&self) -> &[u32] {
        match self {
            Self::Count(count) => std::slice::from_ref(count),
            Self::Sides(sides) => sides,
        }
    }

    /// As specs write it.
    pub fn text(&self) -> String {
        let numbers: Vec<String> = self.numbers().iter().map(u32::to_string).collect();
        numbers.join("x")
    }

    fn product(&self) -> u64 {
        self.numbers().iter().fold(1, |product: u64, &side| product.saturating_mul(side.into()))
    }
}

/// A key that scales a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// The key.
    pub key: &'static str,
    /// What the whole machine has.
    pub(super) full: Size,
    /// The least that is possible, of each side.
    pub least: u32,
    /// The most that is possible, of each side.
    pub most: u32,
    /// What each must be a multiple of.
    pub multiple: u32,
    /// What it counts.
    pub doc: String,
    /// A formula of the hosts of each, if `hosts` may be given in its place.
    pub hosts: Option<String>,
}

impl Scale {
    /// What the whole machine has, as specs write it.
    pub fn whole(&self) -> String {
        self.full.text()
    }
}

/// A figure that was published, or is assumed.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What it is a number of: one of the facts that `topology/figures.rs` lists.
    pub fact: &'static str,
    /// The number.
    pub value: f64,
    /// How far the machine as it is built may be from it, in parts of it: published figures are rounded.
    pub tolerance: f64,
    /// Where it was published; `None` of an assumption.
    pub source: Option<String>,
}

/// A machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// Its name, or the path of its file.
    pub name: String,
    /// What it is, in a line.
    pub summary: String,
    /// Where most of it is published.
    pub source: String,
    /// The spec, with formulas in braces.
    pub spec: String,
    /// The routing that it runs.
    pub routing: String,
    /// The keys of a form of 256 to 1,024 terminals.
    pub scaled: String,
    /// What sending and receiving costs, as `--endpoint` takes it, where that was published.
    pub endpoint: Option<String>,
    /// Assumptions without a source.
    pub assumptions: Vec<String>,
    /// The keys that it is scaled by.
    pub scale: Vec<Scale>,
    /// Its figures.
    pub figures: Vec<Figure>,
    /// The files that it was read from; none of one that is built in.
    pub files: Vec<String>,
}

/// A machine as its file has it.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct MachineFile {
    include: Option<String>,
    summary: Option<String>,
    source: Option<String>,
    spec: Option<String>,
    routing: Option<String>,
    scaled: Option<String>,
    endpoint: Option<String>,
    assumptions: Option<Vec<String>>,
    scale: Option<Vec<ScaleRow>>,
    figure: Option<Vec<FigureRow>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScaleRow {
    key: String,
    full: Full,
    least: Option<u32>,
    most: Option<u32>,
    multiple: Option<u32>,
    doc: String,
    hosts: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Full {
    Count(u32),
    Sides(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FigureRow {
    fact: String,
    value: f64,
    #[serde(default)]
    tolerance: f64,
    source: Option<String>,
    #[serde(default)]
    assumption: bool,
}

impl Machine {
    /// The built-in machine `name`, or that of a file whose name ends in `.toml`.
    ///
    /// # Errors
    /// [`Error::Config`] for an unknown machine, and for a file that describes none.
    pub fn named(name: &str) -> Result<Self> {
        let mut files = Vec::new();
        let file = included(name, &mut Vec::new(), &mut files)?;
        let machine = file.machine(name).map_err(|what| wrong(name, &what))?;
        Ok(Self { files, ..machine })
    }

    /// Reads the text of a machine's file, which includes machines that are built in at most.
    ///
    /// # Errors
    /// [`Error::Config`] reports what is wrong.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let file = MachineFile::read(name, text)?.with_included(name, &mut vec![name.to_owned()], &mut Vec::new())?;
        file.machine(name).map_err(|what| wrong(name, &what))
    }

    /// The values of the keys that scale it: those of the whole machine, unless `given` has others.
    ///
    /// # Errors
    /// A sentence on what is not possible.
    pub(super) fn sizes(&self, given: &[(&str, &str)]) -> std::result::Result<Vec<(&'static str, Size)>, String> {
        let known = || self.scale.iter().map(|scale| scale.key);
        let mut sizes: Vec<(&str, Size)> = self.scale.iter().map(|scale| (scale.key, scale.full.clone())).collect();
        for (key, text) in given {
            let by_hosts = *key == "hosts" && self.scale.iter().any(|scale| scale.hosts.is_some());
            let Some((scale, size)) = self.scale.iter().zip(&mut sizes).find(|(scale, _)| scale.key == *key) else {
                if by_hosts {
                    continue;
                }
                let known: Vec<&str> = known().collect();
                return Err(format!("{} has no {key}; it is scaled by {}", self.name, known.join(" and ")));
            };
            size.1 = scale.checked(text)?;
        }
        let of_hosts = given.iter().find(|(key, _)| *key == "hosts" && known().all(|known| known != "hosts"));
        if let Some((_, text)) = of_hosts {
            self.take_hosts(text, given, &mut sizes)?;
        }
        Ok(sizes)
    }

    /// This many hosts as `text` states, in whole groups, racks or the like.
    fn take_hosts(
        &self,
        text: &str,
        given: &[(&str, &str)],
        sizes: &mut [(&'static str, Size)],
    ) -> std::result::Result<(), String> {
        let Some((at, scale)) = self.scale.iter().enumerate().find(|(_, scale)| scale.hosts.is_some()) else {
            return Ok(());
        };
        let key = scale.key;
        if given.iter().any(|(other, _)| *other == key) {
            return Err(format!("hosts and {key} are given; one of them sets the size of the machine"));
        }
        let each = self.formula(scale.hosts.as_deref().unwrap_or_default(), sizes)?.max(1);
        let hosts: u64 = text.parse().map_err(|_| format!("hosts is '{text}'; it must be a whole number"))?;
        if !hosts.is_multiple_of(each) || hosts == 0 {
            let below = hosts / each * each;
            let near = if below == 0 { each.to_string() } else { format!("{below} or {}", below + each) };
            return Err(format!(
                "hosts is {hosts}; whole {key} have {} each: {near} are possible",
                several(each, "host")
            ));
        }
        sizes[at].1 = scale.checked(&(hosts / each).to_string())?;
        Ok(())
    }

    /// The spec of the machine with these sizes.
    ///
    /// # Errors
    /// A sentence on a formula that is none, or is not whole.
    pub(super) fn spec_of(&self, sizes: &[(&str, Size)]) -> std::result::Result<String, String> {
        let mut spec = String::new();
        let mut rest = self.spec.as_str();
        while let Some((before, behind)) = rest.split_once('{') {
            let (formula, after) =
                behind.split_once('}').ok_or_else(|| format!("a brace of the spec '{}' is not closed", self.spec))?;
            spec.push_str(before);
            match sizes.iter().find(|(key, _)| *key == formula.trim()) {
                Some((_, size)) => spec.push_str(&size.text()),
                None => spec.push_str(&self.formula(formula, sizes)?.to_string()),
            }
            rest = after;
        }
        spec.push_str(rest);
        Ok(spec)
    }

    fn formula(&self, formula: &str, sizes: &[(&str, Size)]) -> std::result::Result<u64, String> {
        let size = |name: &str| sizes.iter().find(|(key, _)| *key == name).map(|(_, size)| size.product());
        formula::value(formula, &size).map_err(|what| {
            let with: Vec<String> = sizes.iter().map(|(key, size)| format!("{key}={}", size.text())).collect();
            format!("the machine is not possible with {}: {formula}: {what}", with.join(","))
        })
    }

    /// The spec of the whole machine.
    ///
    /// # Errors
    /// [`Error::Config`] for a formula that is none.
    pub fn whole_spec(&self) -> Result<String> {
        self.whole().map_err(|what| wrong(&self.name, &what))
    }

    /// The same, mistakes without the machine's name.
    fn whole(&self) -> std::result::Result<String, String> {
        self.spec_of(&self.sizes(&[])?)
    }
}

impl Scale {
    fn checked(&self, text: &str) -> std::result::Result<Size, String> {
        let key = self.key;
        let size = Size::of(text).ok_or_else(|| format!("{key} is '{text}'; it must be like {}", self.whole()))?;
        let (numbers, wanted) = (size.numbers(), self.full.numbers().len());
        if numbers.len() != wanted {
            return Err(format!("{key} is {text}; it must have {}, as {}", several(wanted, "number"), self.whole()));
        }
        if let Some(below) = numbers.iter().find(|&&number| number < self.least) {
            return Err(format!("{key} is {text}; at least {} is possible, and {below} is less", self.least));
        }
        if let Some(above) = numbers.iter().find(|&&number| number > self.most) {
            return Err(format!("{key} is {text}; at most {} is possible, and {above} is more", self.most));
        }
        match numbers.iter().find(|&number| number % self.multiple != 0) {
            Some(_) => Err(format!("{key} is {text}; only multiples of {} are whole {}", self.multiple, self.doc)),
            None => Ok(size),
        }
    }
}

impl MachineFile {
    fn read(name: &str, text: &str) -> Result<Self> {
        toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(String::new(), |span| {
                format!("line {}: ", 1 + text[..span.start.min(text.len())].matches('\n').count())
            });
            wrong(name, &format!("{line}{}", error.message().replace('\n', " ")))
        })
    }

    /// The values of this file, and those of what it includes where it has none.
    fn with_included(self, name: &str, chain: &mut Vec<String>, files: &mut Vec<String>) -> Result<Self> {
        let Some(include) = self.include.clone() else { return Ok(self) };
        let path = beside(name, &include);
        let base = included(&path, chain, files)?;
        Ok(Self {
            include: None,
            summary: self.summary.or(base.summary),
            source: self.source.or(base.source),
            spec: self.spec.or(base.spec),
            routing: self.routing.or(base.routing),
            scaled: self.scaled.or(base.scaled),
            endpoint: self.endpoint.or(base.endpoint),
            assumptions: self.assumptions.or(base.assumptions),
            scale: self.scale.or(base.scale),
            figure: self.figure.or(base.figure),
        })
    }

    fn machine(self, name: &str) -> std::result::Result<Machine, String> {
        let given = |value: Option<String>, key: &str| value.ok_or_else(|| format!("{key} is missing"));
        let scale = self.scale.unwrap_or_default().into_iter().map(ScaleRow::scale);
        let figures = self.figure.unwrap_or_default().into_iter().map(FigureRow::figure);
        let machine = Machine {
            name: name.to_owned(),
            summary: given(self.summary, "summary")?,
            source: given(self.source, "source")?,
            spec: given(self.spec, "spec")?,
            routing: given(self.routing, "routing")?,
            scaled: self.scaled.unwrap_or_default(),
            endpoint: self.endpoint,
            assumptions: self.assumptions.unwrap_or_default(),
            scale: scale.collect::<std::result::Result<_, _>>()?,
            figures: figures.collect::<std::result::Result<_, _>>()?,
            files: Vec::new(),
        };
        let spec = machine.whole()?;
        if names_machine(&spec) {
            return Err("its spec names a machine; include that one's file instead".to_owned());
        }
        let keys = items(&machine.scaled).map_err(|broken| format!("scaled: {}", broken.sentence()))?;
        let pairs = keys.into_iter().filter(|item| !item.is_empty()).map(pair);
        let pairs: Vec<(&str, &str)> = pairs.map(|(key, value)| (key.unwrap_or_default(), value)).collect();
        machine.sizes(&pairs).map_err(|what| format!("scaled: {what}"))?;
        Ok(machine)
    }
}

impl ScaleRow {
    fn scale(self) -> std::result::Result<Scale, String> {
        let known = || SCALES.iter().map(|key| key.name);
        let key = known().find(|known| *known == self.key).ok_or_else(|| unknown("key", &self.key, known()))?;
        let full = match &self.full {
            Full::Count(count) => (*count > 0).then_some(Size::Count(*count)),
            Full::Sides(text) => Size::of(text),
        };
        let full = full.ok_or_else(|| format!("{key}: full must be a number above 0, or sides as in 4x4"))?;
        let (least, multiple) = (self.least.unwrap_or(1), self.multiple.unwrap_or(1).max(1));
        let most = self.most.unwrap_or(u32::MAX);
        Ok(Scale { key, full, least, most, multiple, doc: self.doc, hosts: self.hosts })
    }
}

impl FigureRow {
    fn figure(self) -> std::result::Result<Figure, String> {
        let known = || FIGURES.iter().map(|figure| figure.name);
        let fact = known().find(|known| *known == self.fact).ok_or_else(|| unknown("fact", &self.fact, known()))?;
        if self.source.is_some() == self.assumption {
            return Err(format!("the figure {fact} needs a source, or assumption = true, and not both"));
        }
        if !self.value.is_finite() || !(0.0..1.0).contains(&self.tolerance) {
            return Err(format!("the figure {fact} needs a number, and a tolerance from 0 up and below 1"));
        }
        Ok(Figure { fact, value: self.value, tolerance: self.tolerance, source: self.source })
    }
}

/// The file of the machine called `name`, with what it includes; `chain` are the machines that include it, and `files`
/// gets the paths of all files that are read.
fn included(name: &str, chain: &mut Vec<String>, files: &mut Vec<String>) -> Result<MachineFile> {
    if chain.iter().any(|known| known == name) {
        chain.push(name.to_owned());
        return Err(wrong(&chain[0], &format!("files include each other in a circle: {}", chain.join(", "))));
    }
    chain.push(name.to_owned());
    let file = match Kind::Machine.file(name) {
        Some(path) => {
            files.push(path.to_owned());
            let bytes =
                inputs::read(path).map_err(|why| Error::Config(format!("cannot read the machine '{name}': {why}")))?;
            let text = inputs::text(&bytes).map_err(|line| {
                Error::Config(format!("{name}: line {line}: this is no text in UTF-8, so it is no machine"))
            })?;
            MachineFile::read(name, text)?
        }
        None => {
            let found = MACHINES.iter().find(|(known, _)| *known == name);
            let known = || MACHINES.iter().map(|(known, _)| *known);
            let (_, text) = found.ok_or_else(|| {
                Error::Config(format!(
                    "{}; a machine of your own is a file that ends in .toml",
                    unknown("machine", name, known())
                ))
            })?;
            MachineFile::read(name, text)?
        }
    };
    file.with_included(name, chain, files)
}

/// The machine or file that the file `name` includes: paths are relative to it.
fn beside(name: &str, include: &str) -> String {
    let folder = Path::new(name).parent().filter(|_| Kind::Machine.file(include).is_some());
    let path = folder.map_or_else(|| include.into(), |folder| folder.join(include));
    path.to_string_lossy().into_owned()
}

/// True if a spec is that of a machine, or holds one.
fn names_machine(spec: &str) -> bool {
    split_head(spec).0 == super::machine::NAME || spec.contains(&format!("({}:", super::machine::NAME))
}

fn wrong(name: &str, what: &str) -> Error {
    Error::Config(format!("machine {name}: {what}"))
}

/// The name of a machine, with the files that it reads: its own, those that it includes, and those of its spec.
pub(super) fn name(text: &str) -> Name {
    let mut files = Vec::new();
    if Kind::Machine.file(text).is_some() {
        let file = included(text, &mut Vec::new(), &mut files).ok();
        let machine = file.and_then(|file| file.machine(text).ok());
        let spec = machine.and_then(|machine| machine.whole().ok());
        files.extend(spec.and_then(|spec| super::name(&spec).ok()).map(|name| name.files).unwrap_or_default());
    }
    Name { canonical: text.to_owned(), files, ..Name::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::build;

    #[test]
    fn every_machine_has_figures_and_a_scaled_form() {
        for (name, _) in MACHINES {
            let machine = Machine::named(name).expect(name);
            let sourced = machine.figures.iter().filter(|figure| figure.source.is_some()).count();
            assert!(sourced >= 5, "{name} has {sourced} figures with a source");
            let mut facts: Vec<&str> = machine.figures.iter().map(|figure| figure.fact).collect();
            facts.sort_unstable();
            facts.dedup();
            assert_eq!(facts.len(), machine.figures.len(), "{name} gives a figure twice");
            assert!(!machine.assumptions.is_empty(), "{name}");
            let spec = format!("machine:{name},{}", machine.scaled).trim_end_matches(',').to_owned();
            let network = build(&spec).expect(&spec);
            assert!((200..=1024).contains(&network.num_terminals()), "{spec}: {}", network.num_terminals());
            assert!(network.has_rates() && network.has_delays(), "{spec}");
            assert_eq!(network.spec(), spec);
        }
    }

    const HEAD: &str = "summary = 's'\nsource = 's'\nrouting = 'min'\n";
    const SCALE: &str = "[[scale]]\nkey = 'groups'\nfull = 4\nleast = 2\ndoc = 'groups'\nhosts = '8'\n";

    fn own(rest: &str) -> Result<Machine> {
        Machine::parse("mine", &format!("{HEAD}{rest}"))
    }

    #[test]
    fn formulas_scale_machines() {
        let machine = own(&format!("spec = 'mesh:{{groups}}x{{groups*2}},p=4'\n{SCALE}")).expect("a machine");
        let spec = |given: &[(&str, &str)]| machine.sizes(given).and_then(|sizes| machine.spec_of(&sizes));
        assert_eq!(spec(&[]), Ok("mesh:4x8,p=4".to_owned()));
        assert_eq!(spec(&[("groups", "3")]), Ok("mesh:3x6,p=4".to_owned()));
        assert_eq!(spec(&[("hosts", "40")]), Ok("mesh:5x10,p=4".to_owned()));
        for (given, words) in [
            (&[("hosts", "41")][..], "hosts is 41; whole groups have 8 hosts each: 40 or 48 are possible"),
            (&[("hosts", "3")], "hosts is 3; whole groups have 8 hosts each: 8 are possible"),
            (&[("hosts", "8")], "groups is 1; at least 2 is possible"),
            (&[("hosts", "16"), ("groups", "2")], "hosts and groups are given"),
            (&[("racks", "3")], "mine has no racks; it is scaled by groups"),
            (&[("groups", "2x2")], "groups is 2x2; it must have 1 number, as 4"),
        ] {
            let sentence = spec(given).expect_err("a mistake");
            assert!(sentence.contains(words), "{sentence}");
        }
    }

    #[test]
    fn mistakes_say_what_is_wrong() {
        let figure = |rest: &str| format!("spec = 'mesh:4'\n[[figure]]\n{rest}\n");
        for (rest, words) in [
            ("", "machine mine: spec is missing".to_owned()),
            ("spec = 'mesh:4'\nspeck = 1", "line 5: unknown field `speck`".to_owned()),
            ("spec = 'mesh:{groups'", "a brace of the spec 'mesh:{groups' is not closed".to_owned()),
            ("spec = 'mesh:{groups}'", "'groups' is neither a number nor a key".to_owned()),
            ("spec = 'machine:abci-v'", "its spec names a machine; include that one's file instead".to_owned()),
            ("spec = 'cluster:fabric=(machine:abci-v)'", "its spec names a machine".to_owned()),
            ("spec = 'mesh:4'\nscaled = 'racks=3'", "scaled: mine has no racks".to_owned()),
            ("include = 'abci'", "unknown machine 'abci' (did you mean 'abci-".to_owned()),
            (&figure("fact = 'router'\nvalue = 3\nassumption = true"), "did you mean 'routers'".to_owned()),
            (&figure("fact = 'routers'\nvalue = 3"), "needs a source, or assumption = true".to_owned()),
        ] {
            let sentence = own(rest).expect_err(rest).to_string();
            assert!(sentence.contains(&words) && !sentence.contains('\n'), "{rest}: {sentence}");
        }
        let unknown = own("spec = 'mesh:4'\n[[scale]]\nkey = 'group'\nfull = 3\ndoc = ''").expect_err("no key");
        assert!(unknown.to_string().contains("did you mean 'groups'"), "{unknown}");
    }

    #[test]
    fn files_include_others() {
        let folder = std::env::temp_dir().join(format!("topoloom-machines-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("writable");
        let path = |name: &str| folder.join(name).to_str().expect("text").to_owned();
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("writable");
        write("a.toml", &format!("{HEAD}include = 'b.toml'\nspec = 'mesh:{{racks}}'"));
        write("b.toml", "include = 'abci-v'\nrouting = 'val'");
        let machine = Machine::named(&path("a.toml")).expect("a machine");
        assert_eq!(
            (machine.routing.as_str(), machine.figures.len()),
            ("min", Machine::named("abci-v").expect("known").figures.len())
        );
        assert_eq!(machine.files, [path("a.toml"), path("b.toml")]);
        assert_eq!(name(&path("a.toml")).files, machine.files);
        assert_eq!(build(&format!("machine:{},racks=5", path("a.toml"))).expect("small").num_routers(), 5);
        write("b.toml", "include = 'a.toml'");
        let sentence = Machine::named(&path("a.toml")).expect_err("a circle").to_string();
        let (a, b) = (path("a.toml"), path("b.toml"));
        assert!(sentence.contains(&format!("files include each other in a circle: {a}, {b}, {a}")), "{sentence}");
        std::fs::remove_dir_all(&folder).expect("ours");
    }
}
