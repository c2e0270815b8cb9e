//! What there is: topologies, routings, traffic patterns.

use pyo3::prelude::*;
use serde_json::{Value, json};
use topoloom::catalogue::grammar::{names, split_failures, split_head};
use topoloom::catalogue::{Key, Kind, Name};
use topoloom::cycle::{self, Config, ROUTERS, RouterInfo, Unless};
use topoloom::formats::FORMATS;
use topoloom::layout::{LAYOUT_KEYS, LAYOUT_PRESETS, PriceList};
use topoloom::names::What;
use topoloom::routing::ROUTINGS;
use topoloom::topology::FAMILIES;
use topoloom::traffic::PATTERNS;
use topoloom::workload::{APPS, MAPPINGS};

use crate::error::raise;

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

/// A list of {name, summary, sizes, example, source, keys}.
#[pyfunction]
pub fn families_json() -> String {
    let families = FAMILIES.iter().map(|family| {
        json!({
            "name": family.name,
            "summary": family.summary,
            "sizes": family.sizes,
            "example": family.example,
            "source": family.source,
            "keys": keys(family.keys),
        })
    });
    families.collect::<Value>().to_string()
}

/// The routing that plays a role, `minimal` or `adaptive`, on networks of a family; nothing if there is no such role.
#[pyfunction]
pub fn routing_in_role(role: &str, family: &str) -> Option<&'static str> {
    topoloom::topology::Roles::of(family).routing(role)
}

/// A list of {name, summary, endings, read, write, beside}.
#[pyfunction]
pub fn formats_json() -> String {
    let formats = FORMATS.iter().map(|format| {
        json!({
            "name": format.name,
            "summary": format.summary,
            "endings": format.endings,
            "read": format.read.is_some(),
            "write": format.write.is_some(),
            "beside": format.beside.map(|graph| json!({"name": graph.name, "ending": graph.endings[0]})),
        })
    });
    formats.collect::<Value>().to_string()
}

/// The name of the format of a file: `name` if given, else what the ending of `path` tells.
#[pyfunction]
#[pyo3(signature = (path, name=None))]
pub fn format_of(path: &str, name: Option<&str>) -> PyResult<&'static str> {
    raise(topoloom::formats::of_path(path, name)).map(|format| format.name)
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

/// Whether the routing of this name decides by congestion; nothing where a file says so, or there is no such routing.
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

/// The router models, a list of {name, summary, source, cycle_ns, preset}, and the options of all of them, a list of
/// {name, kind, words, default, unless, doc, models}.
#[pyfunction]
pub fn routers_json() -> PyResult<String> {
    let models = ROUTERS.iter().map(|model| {
        Ok(json!({
            "name": model.name,
            "summary": model.summary,
            "source": model.source,
            "cycle_ns": model.cycle_ns,
            "preset": raise(preset(model))?,
        }))
    });
    let models = models.collect::<PyResult<Value>>()?;
    let keys = cycle::keys().into_iter().map(|key| {
        let has = |model: &&&RouterInfo| model.key(key.name).is_some_and(|own| own.unless.why_not().is_none());
        let default = if let Unless::Is(value) = &key.unless { Some(value) } else { None };
        json!({
            "name": key.name,
            "kind": key.kind.name(),
            "words": words(key.name),
            "default": default,
            "unless": unless(key.name),
            "doc": key.doc,
            "models": ROUTERS.iter().filter(has).map(|model| model.name).collect::<Value>(),
        })
    });
    Ok(json!({"models": models, "keys": keys.collect::<Value>()}).to_string())
}

/// What the options are, where that model is asked for, unless they are given: those that are not as usual.
fn preset(model: &RouterInfo) -> topoloom::Result<Value> {
    let usual = json!(Config::default());
    let own = json!(Config::of(model.name)?);
    let own = own
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, value)| *name != "model" && usual.get(name.as_str()) != Some(value));
    Ok(own.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// What an option is unless given, in words, where users see no default; by models where they differ.
fn unless(key: &str) -> Option<String> {
    let own = |model: &&'static RouterInfo| Some((model.name, model.key(key)?.unless.words()?));
    let said: Vec<(&str, String)> = ROUTERS.iter().filter_map(own).collect();
    let (_, first) = said.first()?;
    let others = said.iter().filter(|(_, words)| words != first);
    Some(others.fold(first.clone(), |text, (model, words)| format!("{text}, or {words} with model={model}")))
}

/// The words that some model takes for a key.
fn words(key: &str) -> Vec<&'static str> {
    let mut words = Vec::new();
    for own in ROUTERS.iter().filter_map(|model| model.key(key)) {
        let Kind::Choice(choice) = own.kind else { continue };
        words.extend(choice.iter().filter(|word| !words.contains(*word)).copied().collect::<Vec<_>>());
    }
    words
}

/// A list of {name, summary, networks, classes, keys}.
#[pyfunction]
pub fn routings_json() -> String {
    let routings = ROUTINGS.iter().map(|routing| {
        json!({
            "name": routing.name,
            "summary": routing.summary,
            "networks": routing.networks(),
            "classes": routing.classes,
            "adapts": routing.adapts,
            "keys": keys(routing.keys),
        })
    });
    routings.collect::<Value>().to_string()
}

/// A list of {name, argument, summary, keys}; the argument, such as FILE, or null.
#[pyfunction]
pub fn traffic_json() -> String {
    let patterns = PATTERNS.iter().map(|pattern| {
        json!({
            "name": pattern.name,
            "argument": pattern.argument,
            "summary": pattern.summary,
            "keys": keys(pattern.keys),
        })
    });
    patterns.collect::<Value>().to_string()
}

/// A list of {name, argument, summary, keys} of applications; the argument, such as FILE, or null.
#[pyfunction]
pub fn apps_json() -> String {
    let apps = APPS
        .iter()
        .map(|app| json!({"name": app.name, "argument": app.argument, "summary": app.summary, "keys": keys(app.keys)}));
    apps.collect::<Value>().to_string()
}

/// A list of {name, summary, keys} of mappings of tasks to terminals.
#[pyfunction]
pub fn mappings_json() -> String {
    let mappings = MAPPINGS
        .iter()
        .map(|mapping| json!({"name": mapping.name, "summary": mapping.summary, "keys": keys(mapping.keys)}));
    mappings.collect::<Value>().to_string()
}

/// The price lists, each as it stands in its file, the default one first.
#[pyfunction]
pub fn prices_json() -> String {
    json!(PriceList::all()).to_string()
}

/// One price list, by its name or from one's own JSON; nothing: the default one.
#[pyfunction]
pub fn price_list_json(prices: &str) -> PyResult<String> {
    raise(PriceList::read(prices)).map(|list| json!(list).to_string())
}

/// A list of {name, summary, stands_for, source, keys} of layouts, the default one first; a key is {name, doc}.
#[pyfunction]
pub fn layouts_json() -> String {
    let layouts = LAYOUT_PRESETS.iter().map(|preset| {
        let keys: Vec<Value> = LAYOUT_KEYS.iter().filter(|key| preset.takes(key)).map(key).collect();
        json!({
            "name": preset.name, "summary": preset.summary, "stands_for": preset.stands_for, "source": preset.source,
            "keys": keys,
        })
    });
    layouts.collect::<Value>().to_string()
}

fn keys(keys: &[Key]) -> Value {
    keys.iter().map(key).collect()
}

/// {name, type, doc} of a key; with {words} of a choice, {least, most} of a whole number, of which there is a most only
/// where it is less than what the engine has room for, and the word {or} that may stand in the place of a value.
fn key(key: &Key) -> Value {
    let mut told = json!({"name": key.name, "type": key.kind.name(), "doc": key.doc});
    let mut kind = key.kind;
    if let Kind::Or(word, other) = kind {
        told["or"] = json!(word);
        kind = *other;
    }
    match kind {
        Kind::Choice(words) => told["words"] = json!(words),
        Kind::Int(least, most) => {
            told["least"] = json!(least);
            if most < u32::MAX.into() {
                told["most"] = json!(most);
            }
        }
        _ => {}
    }
    told
}
