//! What there is: topologies, routings, traffic patterns.

use pyo3::prelude::*;
use serde_json::{Value, json};
use topoloom::routing::ROUTINGS;
use topoloom::topology::FAMILIES;
use topoloom::traffic::PATTERNS;

/// "unknown KIND 'NAME' (did you mean 'NEAR'?); there are: …"
#[pyfunction]
pub fn unknown(kind: &str, name: &str, known: Vec<String>) -> String {
    topoloom::error::unknown(kind, name, known)
}

/// A list of {name, summary, sizes, example, source, keys}.
#[pyfunction]
pub fn families_json() -> String {
    let families = FAMILIES.iter().map(|family| {
        let keys = family.keys.iter().map(|key| json!({"name": key.name, "doc": key.doc}));
        json!({
            "name": family.name,
            "summary": family.summary,
            "sizes": family.sizes,
            "example": family.example,
            "source": family.source,
            "keys": keys.collect::<Value>(),
        })
    });
    families.collect::<Value>().to_string()
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

fn keys(keys: &[(&str, &str)]) -> Value {
    keys.iter().map(|(name, doc)| json!({"name": name, "doc": doc})).collect()
}
