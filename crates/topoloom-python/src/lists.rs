//! Lists of topologies, routings and traffic patterns; and names.

use pyo3::prelude::*;
use topoloom::catalogue::Name;
use topoloom::catalogue::grammar::{names, split_failures, split_head};
use topoloom::cycle::ROUTERS;
use topoloom::formats::FORMATS;
use topoloom::layout::{LAYOUT_PRESETS, PriceList};
use topoloom::names::What;
use topoloom::routing::ROUTINGS;
use topoloom::topology::{FAMILIES, HOSTS, Host, MACHINES, Machine};
use topoloom::traffic::PATTERNS;
use topoloom::workload::{ALLOCATORS, APPS, MAPPINGS};

use crate::descriptions::{
    AppDescription, FamilyDescription, FormatDescription, HostDescription, LayoutDescription, MachineDescription,
    MappingDescription, RouterDescription, RoutingDescription, TrafficDescription,
};
use crate::error::raise;
use crate::results::Record;

/// "unknown KIND 'NAME' (did you mean 'NEAR'?); there are: …"
#[pyfunction]
pub fn unknown(kind: &str, name: &str, known: Vec<String>) -> String {
    topoloom::error::unknown(kind, name, known)
}

/// A sentence that quotes what users gave, short enough to be read.
#[pyfunction]
pub fn concise(sentence: &str) -> String {
    topoloom::error::concise(sentence).into_owned()
}

/// The bytes of memory that this process can still take.
#[pyfunction]
pub fn available_memory() -> u128 {
    topoloom::memory::available_memory()
}

/// The processors that this process may use, by its affinity and the quotas of its control groups.
#[pyfunction]
pub fn processors() -> usize {
    topoloom::threads::processors()
}

/// The families of networks.
#[pyfunction]
pub fn families() -> Vec<Record<FamilyDescription>> {
    FAMILIES.iter().map(|family| Record::sorted(&FamilyDescription::from(*family))).collect()
}

/// The routing that plays a role, `minimal` or `adaptive`, on networks of a family; nothing if there is no such role.
#[pyfunction]
pub fn routing_in_role(role: &str, family: &str) -> Option<&'static str> {
    topoloom::topology::Roles::of(family).routing(role)
}

/// The file formats.
#[pyfunction]
pub fn formats() -> Vec<Record<FormatDescription>> {
    FORMATS.iter().map(|format| Record::sorted(&FormatDescription::from(*format))).collect()
}

/// The hosts that are built in.
#[pyfunction]
pub fn hosts() -> PyResult<Vec<Record<HostDescription>>> {
    let described = |(name, _): &(&str, &str)| Ok(Record::sorted(&HostDescription::from(raise(Host::named(name))?)));
    HOSTS.iter().map(described).collect()
}

/// The machines that are built in.
#[pyfunction]
pub fn machines() -> PyResult<Vec<Record<MachineDescription>>> {
    let described = |(name, _): &(&str, &str)| {
        let machine = raise(Machine::named(name))?;
        Ok(Record::sorted(&raise(MachineDescription::new(machine))?))
    };
    MACHINES.iter().map(described).collect()
}

/// The name of the format of a file: `name` if given, else that of the ending of `path`.
#[pyfunction]
#[pyo3(signature = (path, name=None))]
pub fn format_of(path: &str, name: Option<&str>) -> PyResult<&'static str> {
    raise(topoloom::formats::of_path(path, name, topoloom::formats::Use::Writing)).map(|format| format.name)
}

/// The paths of the files that a name reads; `what` it is the name of: topology, routing, traffic, app, layout, cabinet
/// or file.
#[pyfunction]
pub fn files_of(what: &str, name: &str) -> PyResult<Vec<String>> {
    raise(topoloom::names::files_of(what, name))
}

/// A name that has been read: `what` it is the name of as for [`files_of`].
#[pyclass(frozen, module = "topoloom._core", name = "Name")]
pub struct PyName(Name);

#[pymethods]
impl PyName {
    #[new]
    fn new(what: &str, text: &str) -> PyResult<Self> {
        raise(What::named(what).and_then(|what| what.read(text))).map(Self)
    }

    /// What means the same in one way of writing.
    #[getter]
    fn canonical(&self) -> &str {
        &self.0.canonical
    }

    /// The head: the family, the pattern, ….
    #[getter]
    fn family(&self) -> &str {
        &self.0.family
    }

    /// The sizes that stand first.
    #[getter]
    fn sizes(&self) -> Vec<u32> {
        self.0.sizes.clone()
    }

    /// The keys with their values as they are written, in their order.
    #[getter]
    fn values(&self) -> Vec<(String, String)> {
        self.0.values.clone()
    }

    /// The canonical name of the network that a network is made of.
    #[getter]
    fn within(&self) -> Option<&str> {
        self.0.within.as_deref()
    }

    /// The path of each file that it reads, with its SHA-256; nothing of one that is missing.
    #[getter]
    fn files(&self) -> Vec<(String, Option<String>)> {
        self.0.files.iter().map(|path| (path.clone(), topoloom::names::digest(path))).collect()
    }
}

/// Whether the routing of this name decides by congestion; None where its file decides, false for an unknown name.
#[pyfunction]
pub fn adapts_by_name(name: &str) -> Option<bool> {
    topoloom::routing::find(split_head(name).0).map_or(Some(false), |info| info.adapts)
}

/// The head of a name, whether or not there is such a name.
#[pyfunction]
pub fn head(text: &str) -> &str {
    split_head(text).0
}

/// The family of a network by its spec, whether or not there is such a family.
#[pyfunction]
pub fn family_of(spec: &str) -> &str {
    let (intact, failures) = split_failures(spec);
    if failures.is_some() { topoloom::faults::FAMILY } else { split_head(intact).0 }
}

/// The names in a text with commas between them; nothing where one is missing or a bracket is not closed.
#[pyfunction]
pub fn split_names(text: &str) -> Option<Vec<String>> {
    names(text)
}

/// The keys and values of `key=value,…`, keys with underscores; mistakes begin with the name of the option.
#[pyfunction]
pub fn parse_pairs(option: &str, text: &str, keys: Vec<String>) -> PyResult<Vec<(String, String)>> {
    raise(topoloom::catalogue::pairs(option, text, &keys))
}

/// The router models.
#[pyfunction]
pub fn router_models() -> PyResult<Vec<Record<RouterDescription>>> {
    ROUTERS.iter().map(|model| raise(RouterDescription::new(model)).map(Record::from)).collect()
}

/// The routings.
#[pyfunction]
pub fn routings() -> Vec<Record<RoutingDescription>> {
    ROUTINGS.iter().map(|routing| Record::sorted(&RoutingDescription::from(*routing))).collect()
}

/// The traffic patterns.
#[pyfunction]
pub fn traffic_patterns() -> Vec<Record<TrafficDescription>> {
    PATTERNS.iter().map(|pattern| Record::sorted(&TrafficDescription::from(pattern))).collect()
}

/// The applications.
#[pyfunction]
pub fn apps() -> Vec<Record<AppDescription>> {
    APPS.iter().map(|app| Record::sorted(&AppDescription::from(app))).collect()
}

/// The mappings of tasks to terminals.
#[pyfunction]
pub fn mappings() -> Vec<Record<MappingDescription>> {
    MAPPINGS.iter().map(|mapping| Record::sorted(&MappingDescription::from(mapping))).collect()
}

/// What gives jobs their terminals that share a machine.
#[pyfunction]
pub fn allocators() -> Vec<Record<MappingDescription>> {
    ALLOCATORS.iter().map(|allocator| Record::sorted(&MappingDescription::from(allocator))).collect()
}

/// The price lists, the default one first.
#[pyfunction]
pub fn price_lists() -> Vec<Record<PriceList>> {
    PriceList::all().iter().map(Record::sorted).collect()
}

/// One price list, by its name or from your own JSON; nothing: the default one.
#[pyfunction]
pub fn price_list(prices: &str) -> PyResult<Record<PriceList>> {
    raise(PriceList::read(prices)).map(|list| Record::sorted(&list))
}

/// What a router costs whose ports in use are 0, 1, 2, … `most`, in dollars; nothing where the list has no such router.
#[pyfunction]
pub fn router_costs(prices: &str, most: usize) -> PyResult<Vec<Option<f64>>> {
    let list = raise(PriceList::read(prices))?;
    // A router with one terminal may be a board; two terminals stand for all others.
    Ok((0..=most).map(|ports| list.router(ports, 2).ok().map(|bought| bought.usd)).collect())
}

/// Bytes per second that are written as in `400Gb/s`.
#[pyfunction]
pub fn bytes_per_second(rate: &str) -> PyResult<f64> {
    let found = topoloom::catalogue::values::rate(rate);
    raise(found.ok_or_else(|| {
        let wanted = "it must be bits or bytes per second, as in 400Gb/s or 50GB/s";
        topoloom::Error::Config(format!("rate is '{rate}'; {wanted}"))
    }))
}

/// The layouts that have a name, the default one first.
#[pyfunction]
pub fn layouts() -> Vec<Record<LayoutDescription>> {
    LAYOUT_PRESETS.iter().map(|preset| Record::sorted(&LayoutDescription::from(preset))).collect()
}
