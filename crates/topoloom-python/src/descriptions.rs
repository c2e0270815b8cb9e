//! What lists state about topologies, routings, traffic patterns and all else that has a name.

use serde::Serialize;
use serde_json::{Map, Value, json};
use topoloom::catalogue::{Key, Kind};
use topoloom::cycle::{Config, RouterInfo};
use topoloom::formats::Format;
use topoloom::layout::{LAYOUT_KEYS, LayoutPreset};
use topoloom::routing::RoutingInfo;
use topoloom::topology::{Family, Figure, Host, Machine, Scale};
use topoloom::traffic::PatternInfo;
use topoloom::workload::{ALLOCATOR_KEYS, AllocatorInfo, AppInfo, MappingInfo};

/// A key that a name may give, as in `key=value`.
#[derive(Serialize)]
pub struct KeyDescription {
    /// What users write.
    name: &'static str,
    /// What its value may be, in a word.
    r#type: &'static str,
    /// What it means, with its default.
    doc: &'static str,
    /// Of a choice, its words; the first is what holds unless another is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<&'static [&'static str]>,
    /// Of a whole number, the least.
    #[serde(skip_serializing_if = "Option::is_none")]
    least: Option<u64>,
    /// Of a whole number, the most, where that is less than what the engine has room for.
    #[serde(skip_serializing_if = "Option::is_none")]
    most: Option<u64>,
    /// The word that may replace a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    or: Option<&'static str>,
    /// True of a key that all of its kind take.
    #[serde(skip_serializing_if = "Option::is_none")]
    shared: Option<bool>,
}

impl From<&Key> for KeyDescription {
    fn from(key: &Key) -> Self {
        let (or, kind) = if let Kind::Or(word, other) = key.kind { (Some(word), *other) } else { (None, key.kind) };
        let (least, most) = if let Kind::Int(least, most) = kind { (Some(least), Some(most)) } else { (None, None) };
        Self {
            name: key.name,
            r#type: key.kind.name(),
            doc: key.doc,
            words: if let Kind::Choice(words) = kind { Some(words) } else { None },
            least,
            most: most.filter(|&most| most < u32::MAX.into()),
            or,
            shared: None,
        }
    }
}

fn described(keys: &[Key]) -> Vec<KeyDescription> {
    keys.iter().map(KeyDescription::from).collect()
}

/// A family of networks.
#[derive(Serialize)]
pub struct FamilyDescription {
    /// The name in specs.
    name: &'static str,
    /// What it is, in a line.
    summary: &'static str,
    /// How its sizes are written; `None` of a family without sizes.
    sizes: Option<&'static str>,
    /// A spec that works.
    example: &'static str,
    /// Where it was published.
    source: &'static str,
    /// The keys that a spec may give.
    keys: Vec<KeyDescription>,
}

impl From<&Family> for FamilyDescription {
    fn from(family: &Family) -> Self {
        let Family { name, summary, sizes, example, source, keys, .. } = *family;
        let shared = described(family.entry().shared).into_iter();
        let shared = shared.map(|key| KeyDescription { shared: Some(true), ..key });
        let keys = described(keys).into_iter().chain(shared).collect();
        Self { name, summary, sizes, example, source, keys }
    }
}

/// What the ports of a fabric can be attached to.
#[derive(Serialize)]
pub struct HostDescription {
    /// The name in specs.
    name: String,
    /// What it is, in a line.
    summary: String,
    /// Where its numbers are from.
    source: String,
    /// Assumptions without a source.
    assumptions: Vec<String>,
    /// Accelerators or sockets: its terminals.
    accelerators: u32,
    /// Switches within it.
    switches: u32,
    /// The rate of each network interface in one direction, in Gb/s; `None` of one that has the rate of its port.
    interface_gbps: Vec<Option<f64>>,
}

impl From<Host> for HostDescription {
    fn from(host: Host) -> Self {
        let interface_gbps = host.nics.iter().map(|nic| nic.gbps).collect();
        let Host { name, summary, source, assumptions, accelerators, switches, .. } = host;
        Self { name, summary, source, assumptions, accelerators, switches, interface_gbps }
    }
}

/// A machine that exists.
#[derive(Serialize)]
pub struct MachineDescription {
    /// The name in specs.
    name: String,
    /// What it is, in a line.
    summary: String,
    /// Where most of it is published.
    source: String,
    /// The spec that builds the whole machine.
    example: String,
    /// The spec that it stands for.
    stands_for: String,
    /// The spec of a form of 256 to 1,024 terminals.
    scaled: String,
    /// The routing that it runs.
    routing: String,
    /// What sending and receiving costs, where that was published.
    endpoint: Option<String>,
    /// Assumptions without a source.
    assumptions: Vec<String>,
    /// The keys that it is scaled by.
    scale: Vec<ScaleDescription>,
    /// Its figures.
    figures: Vec<FigureDescription>,
}

/// A key that scales a machine.
#[derive(Serialize)]
pub struct ScaleDescription {
    /// The key.
    key: &'static str,
    /// What the whole machine has, as specs write it.
    whole: String,
    /// What it counts.
    doc: String,
}

/// A figure of a machine.
#[derive(Serialize)]
pub struct FigureDescription {
    /// What it is a number of.
    fact: &'static str,
    /// The number.
    value: f64,
    /// How far the machine as it is built may be from it, in parts of it.
    tolerance: f64,
    /// Where it was published; `None` of an assumption.
    source: Option<String>,
}

impl MachineDescription {
    pub fn new(machine: Machine) -> topoloom::Result<Self> {
        let stands_for = machine.whole_spec()?;
        let scale = |scale: &Scale| ScaleDescription { key: scale.key, whole: scale.whole(), doc: scale.doc.clone() };
        let figure = |figure: Figure| {
            let Figure { fact, value, tolerance, source } = figure;
            FigureDescription { fact, value, tolerance, source }
        };
        let example = format!("machine:{}", machine.name);
        Ok(Self {
            scaled: if machine.scaled.is_empty() { example.clone() } else { format!("{example},{}", machine.scaled) },
            example,
            stands_for,
            scale: machine.scale.iter().map(scale).collect(),
            figures: machine.figures.into_iter().map(figure).collect(),
            name: machine.name,
            summary: machine.summary,
            source: machine.source,
            routing: machine.routing,
            endpoint: machine.endpoint,
            assumptions: machine.assumptions,
        })
    }
}

/// A routing.
#[derive(Serialize)]
pub struct RoutingDescription {
    /// The name that users type.
    name: &'static str,
    /// What it does, in a line.
    summary: &'static str,
    /// The networks that offer it.
    networks: String,
    /// The VC classes that it needs.
    classes: &'static str,
    /// Whether it decides by congestion; `None` where that depends on the file that it is read from.
    adapts: Option<bool>,
    /// The keys that it takes.
    keys: Vec<KeyDescription>,
}

impl From<&RoutingInfo> for RoutingDescription {
    fn from(routing: &RoutingInfo) -> Self {
        let RoutingInfo { name, summary, classes, adapts, keys, .. } = *routing;
        Self { name, summary, networks: routing.networks(), classes, adapts, keys: described(keys) }
    }
}

/// A traffic pattern.
#[derive(Serialize)]
pub struct TrafficDescription {
    /// The name that users type.
    name: &'static str,
    /// The positional argument behind the name, such as FILE.
    argument: Option<&'static str>,
    /// The destinations, in one line.
    summary: &'static str,
    /// The keys that it takes.
    keys: Vec<KeyDescription>,
}

impl From<&PatternInfo> for TrafficDescription {
    fn from(pattern: &PatternInfo) -> Self {
        let PatternInfo { name, argument, summary, keys, .. } = *pattern;
        Self { name, argument, summary, keys: described(keys) }
    }
}

/// An application.
#[derive(Serialize)]
pub struct AppDescription {
    /// The name that users type.
    name: &'static str,
    /// The positional argument behind the name, such as FILE.
    argument: Option<&'static str>,
    /// The messages, in one line.
    summary: &'static str,
    /// The keys that it takes.
    keys: Vec<KeyDescription>,
}

impl From<&AppInfo> for AppDescription {
    fn from(app: &AppInfo) -> Self {
        let AppInfo { name, argument, summary, keys, .. } = *app;
        Self { name, argument, summary, keys: described(keys) }
    }
}

/// A mapping of tasks to terminals, or what gives jobs their terminals.
#[derive(Serialize)]
pub struct MappingDescription {
    /// The name that users type.
    name: &'static str,
    /// Where tasks go, in a line.
    summary: &'static str,
    /// The keys that it takes.
    keys: Vec<KeyDescription>,
}

impl From<&MappingInfo> for MappingDescription {
    fn from(mapping: &MappingInfo) -> Self {
        let MappingInfo { name, summary, keys, .. } = *mapping;
        Self { name, summary, keys: described(keys) }
    }
}

impl From<&AllocatorInfo> for MappingDescription {
    fn from(allocator: &AllocatorInfo) -> Self {
        let AllocatorInfo { name, summary, keys, .. } = *allocator;
        Self { name, summary, keys: keys.iter().chain(ALLOCATOR_KEYS).map(KeyDescription::from).collect() }
    }
}

/// A layout that has a name.
#[derive(Serialize)]
pub struct LayoutDescription {
    /// Its name.
    name: &'static str,
    /// What it is about, in a line.
    summary: &'static str,
    /// The keys that it stands for.
    stands_for: &'static str,
    /// Where its numbers are from.
    source: &'static str,
    /// The keys that it takes.
    keys: Vec<KeyDescription>,
}

impl From<&LayoutPreset> for LayoutDescription {
    fn from(preset: &LayoutPreset) -> Self {
        let LayoutPreset { name, summary, stands_for, source } = *preset;
        let keys = LAYOUT_KEYS.iter().filter(|key| preset.takes(key)).map(KeyDescription::from).collect();
        Self { name, summary, stands_for, source, keys }
    }
}

/// The format of a second file, which has the graph.
#[derive(Serialize)]
pub struct GraphFormat {
    /// Its name.
    name: &'static str,
    /// How its files end, without the dot.
    ending: &'static str,
}

/// A file format.
#[derive(Serialize)]
pub struct FormatDescription {
    /// Its name, as `format=` and `--format` take it.
    name: &'static str,
    /// What it is, in a line.
    summary: &'static str,
    /// The endings of file names that select it, without the dot.
    endings: &'static [&'static str],
    /// Whether it is read.
    read: bool,
    /// Whether it is written.
    write: bool,
    /// The format of a second file that it refers to, which has the graph.
    beside: Option<GraphFormat>,
}

impl From<&Format> for FormatDescription {
    fn from(format: &Format) -> Self {
        Self {
            name: format.name,
            summary: format.summary,
            endings: format.endings,
            read: format.read.is_some(),
            write: format.write.is_some(),
            beside: format.beside.map(|graph| GraphFormat { name: graph.name, ending: graph.endings[0] }),
        }
    }
}

/// A router model.
#[derive(Serialize)]
pub struct RouterDescription {
    /// The name that users type.
    name: &'static str,
    /// What it is, in a line.
    summary: &'static str,
    /// Where it was published.
    source: &'static str,
    /// Nanoseconds of a cycle, where its times are those of a machine.
    cycle_ns: Option<f64>,
    /// What goes with it: options that are not as usual where it is asked for, unless they are given.
    preset: Map<String, Value>,
}

impl RouterDescription {
    /// What lists state about a model.
    pub fn new(model: &RouterInfo) -> topoloom::Result<Self> {
        let RouterInfo { name, summary, source, cycle_ns, .. } = *model;
        let (usual, own) = (json!(Config::default()), json!(Config::of(name)?));
        let own = own.as_object().into_iter().flatten();
        let own = own.filter(|(key, value)| *key != "model" && usual.get(key.as_str()) != Some(value));
        let preset = own.map(|(key, value)| (key.clone(), value.clone())).collect();
        Ok(Self { name, summary, source, cycle_ns, preset })
    }
}
