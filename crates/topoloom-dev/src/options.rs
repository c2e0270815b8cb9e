//! Classes of Python for the options of the cycle engine: those of routers by their keys, those of a run by the fields of
//! its structs. Defaults are the engine's own.

use quote::ToTokens;
use serde_json::{Value, json};
use syn::{Field, ItemEnum, Type};
use topoloom::cycle::{self, Config, Key, Kind, ROUTERS, RouterInfo, Unless};
use topoloom::links::Latencies;

use crate::docs;
use crate::serde::{options as serde_options, text_of};
use crate::sources::{Found, Sources};
use crate::types::{arguments, attribute_name, last};

const HEAD: &str = r#""""The options of the cycle engine. Generated from the crate by ``make generate``: do not edit."""

from typing import Literal

from pydantic import Field

from topoloom.simulation.option_types import U32, U64, CabinetRule, FilePath, Options
"#;

/// The class of the latencies of links, which options of a run hold.
const LATENCIES: &str = "LinkLatencies";

/// The module with the classes.
pub fn generate(engine: &Sources) -> Result<String, String> {
    let fields = Fields { engine };
    let links = fields.class("Latencies", LATENCIES, "Options", &json!(Latencies::default()))?;
    let run = fields.class("Config", "RunOptions", "RouterOptions", &json!(Config::default()))?;
    Ok(format!("{HEAD}{links}{}{run}", router()))
}

/// An option as an attribute of a class.
struct Attribute {
    name: String,
    kind: String,
    default: String,
    doc: String,
}

fn class_of(name: &str, base: &str, about: &[String], attributes: &[Attribute]) -> String {
    let mut below = "\n    Attributes:\n".to_owned();
    let mut fields = String::new();
    for Attribute { name, kind, default, doc } in attributes {
        below += &format!("{}\n", docs::wrapped(&format!("{name}: {doc}"), 8, 4));
        fields += &format!("    {name}: {kind} = {default}\n");
    }
    format!("\n\nclass {name}({base}):\n{}\n{fields}", docs::docstring(about, &below, 4))
}

/// The class of a router model and its options.
fn router() -> String {
    let names: Vec<&str> = ROUTERS.iter().map(|model| model.name).collect();
    let goes_with = "what goes with it stands wherever an option is not given.";
    let mut attributes = vec![Attribute {
        name: "model".to_owned(),
        kind: literal(&names),
        default: written(&json!(names[0])),
        doc: format!("The router model: {}; {goes_with}", names.join(", ")),
    }];
    attributes.extend(cycle::keys().into_iter().map(router_option));
    let models =
        ROUTERS.iter().map(|model| format!("``{}``: {}. Source: {}.", model.name, model.summary, model.source));
    let about = "A router model and its options, as the engine lists them. Times are in cycles, sizes in flits.";
    let about: Vec<String> = std::iter::once(about.to_owned()).chain(models).collect();
    class_of("RouterOptions", "Options", &about, &attributes)
}

fn router_option(key: &Key) -> Attribute {
    let kind = match key.kind {
        Kind::Int(..) => "U32".to_owned(),
        Kind::Real(..) => "float".to_owned(),
        Kind::Choice(_) => literal(&words(key.name)),
        _ => "str".to_owned(),
    };
    let (kind, default) = match &key.unless {
        Unless::Is(value) => (kind, written(&json!(value))),
        _ => (format!("{kind} | None"), "None".to_owned()),
    };
    let doc = match &models_with(key.name)[..] {
        [only] => format!("Of ``{only}``: {}", key.doc),
        _ => docs::capitalised(key.doc),
    };
    let unless = unless(key.name).map_or_else(String::new, |words| format!("; unless given, {words}"));
    Attribute { name: key.name.to_owned(), kind, default, doc: format!("{doc}{unless}.") }
}

/// The models that have an option.
fn models_with(key: &str) -> Vec<&'static str> {
    let has = |model: &&&RouterInfo| model.key(key).is_some_and(|own| own.unless.why_not().is_none());
    ROUTERS.iter().filter(has).map(|model| model.name).collect()
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
        let new = own.kind.words().iter().filter(|word| !words.contains(*word));
        words.extend(new.copied().collect::<Vec<_>>());
    }
    words
}

fn literal(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    format!("Literal[{}]", quoted.join(", "))
}

/// A value of JSON as Python writes it.
fn written(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Object(_) => format!("{LATENCIES}()"),
        other => other.to_string(),
    }
}

/// The structs that options are fields of.
struct Fields<'s> {
    engine: &'s Sources,
}

impl Fields<'_> {
    /// A class for the struct called `rust`, with the defaults `usual`.
    fn class(&self, rust: &str, name: &str, base: &str, usual: &Value) -> Result<String, String> {
        let Found::Struct(item) = self.engine.find_serialised(rust)? else {
            return Err(format!("{rust} is no struct"));
        };
        let is_option = |field: &&Field| !serde_options(&field.attrs).iter().any(|own| own.path().is_ident("flatten"));
        let attributes: Result<Vec<Attribute>, String> =
            item.fields.iter().filter(is_option).map(|field| self.attribute(field, usual)).collect();
        Ok(class_of(name, base, &docs::of(&item.attrs), &attributes?))
    }

    fn attribute(&self, field: &Field, usual: &Value) -> Result<Attribute, String> {
        let own = field.ident.as_ref().ok_or("an option has no name")?.to_string();
        let options = serde_options(&field.attrs);
        let key = options.iter().find(|own| own.path().is_ident("rename")).and_then(text_of).unwrap_or(own);
        let name = attribute_name(&key, &[]);
        let usual = written(usual.get(&key).unwrap_or(&Value::Null));
        let default = if name == key { usual } else { format!("Field(default={usual}, alias=\"{key}\")") };
        Ok(Attribute { name, kind: self.type_of(&field.ty)?, default, doc: docs::of(&field.attrs).join(" ") })
    }

    /// Python's type of a type of Rust as JSON has it.
    fn type_of(&self, of: &Type) -> Result<String, String> {
        let segment = last(of).ok_or_else(|| format!("options cannot be {}", of.to_token_stream()))?;
        match (segment.ident.to_string().as_str(), arguments(segment).as_slice()) {
            ("Option", [own]) => Ok(format!("{} | None", self.type_of(own)?)),
            (name, _) => self.type_of_name(name),
        }
    }

    fn type_of_name(&self, name: &str) -> Result<String, String> {
        let known = match name {
            "u32" => "U32",
            "u64" => "U64",
            "f64" => "float",
            "bool" => "bool",
            "String" => "str",
            "FilePath" | "CabinetRule" => name,
            "Latencies" => LATENCIES,
            _ => return self.type_of_enum(name),
        };
        Ok(known.to_owned())
    }

    /// Of an enum that is read from another type, that type; of one without tags, what its variants hold.
    fn type_of_enum(&self, name: &str) -> Result<String, String> {
        let Found::Enum(item) = self.engine.find_serialised(name)? else {
            return Err(format!("options cannot be of the type {name}"));
        };
        let options = serde_options(&item.attrs);
        let read_from = options.iter().find(|own| own.path().is_ident("try_from")).and_then(text_of);
        read_from.map_or_else(|| self.union(item), |other| self.type_of_name(&other))
    }

    fn union(&self, item: &ItemEnum) -> Result<String, String> {
        let held = item.variants.iter().flat_map(|variant| &variant.fields);
        let kinds: Result<Vec<String>, String> = held.map(|field| self.type_of(&field.ty)).collect();
        Ok(kinds?.join(" | "))
    }
}
