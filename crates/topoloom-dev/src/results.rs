//! A class of Python for each result: the structs that cross to Python, and those within them.

use quote::ToTokens;
use syn::{Field, ItemEnum, ItemStruct, Meta, Type};

use crate::docs;
use crate::serde::{options as serde_options, text_of};
use crate::sources::{Found, Sources};
use crate::types::{arguments, attribute_name, last, plain};

const HEAD: &str = r#""""The results of the engine. Generated from the crate by ``make generate``: do not edit."""

from typing import Any, Literal

from topoloom.engine.records import Record
"#;

/// Names that records have already: attributes of that name have an underscore behind them, as words of Python have.
const TAKEN: [&str; 12] =
    ["clear", "copy", "fields", "fromkeys", "get", "items", "keys", "of_json", "pop", "setdefault", "update", "values"];

/// The module with the classes of `roots`, and of all that they hold.
pub fn generate(sources: &Sources, roots: &[String]) -> Result<String, String> {
    let mut classes = Classes { sources, written: Vec::new(), text: HEAD.to_owned() };
    for root in roots {
        classes.type_of_name(root)?;
    }
    Ok(classes.text)
}

/// The classes so far.
struct Classes<'s> {
    sources: &'s Sources,
    written: Vec<String>,
    text: String,
}

/// What a class declares itself, and the classes of the structs that are flattened into its own.
#[derive(Default)]
struct Declaration {
    bases: Vec<String>,
    attributes: Vec<Attr>,
}

/// An attribute of a class.
struct Attr {
    name: String,
    kind: String,
    doc: String,
}

impl Classes<'_> {
    /// Python's type of a type of Rust as JSON has it; writes the classes that it needs.
    fn type_of(&mut self, of: &Type) -> Result<String, String> {
        match of {
            Type::Reference(reference) => return self.type_of(&reference.elem),
            Type::Array(array) => return Ok(format!("list[{}]", self.type_of(&array.elem)?)),
            Type::Slice(slice) => return Ok(format!("list[{}]", self.type_of(&slice.elem)?)),
            Type::Tuple(tuple) => {
                let mut kinds = tuple.elems.iter().map(|own| self.type_of(own)).collect::<Result<Vec<_>, _>>()?;
                kinds.dedup();
                return Ok(format!("list[{}]", kinds.join(" | ")));
            }
            _ => {}
        }
        let segment = last(of).ok_or_else(|| format!("results cannot hold {}", of.to_token_stream()))?;
        let inner = arguments(segment);
        match (segment.ident.to_string().as_str(), inner.as_slice()) {
            ("Option", [own]) => Ok(format!("{} | None", self.type_of(own)?)),
            ("Vec", [own]) => Ok(format!("list[{}]", self.type_of(own)?)),
            ("Box" | "Arc", [own]) => self.type_of(own),
            ("Map" | "BTreeMap", [_, own]) => Ok(format!("dict[str, {}]", self.type_of(own)?)),
            ("Value", []) => Ok("Any".to_owned()),
            (name, _) => self.type_of_name(name),
        }
    }

    fn type_of_name(&mut self, name: &str) -> Result<String, String> {
        if let Some(plain) = plain(name) {
            return Ok(plain.to_owned());
        }
        match self.sources.find_serialised(name)? {
            Found::Id => Ok("int".to_owned()),
            Found::Alias(alias) => self.type_of(&alias.ty),
            Found::Enum(item) => Ok(literal(item)),
            Found::Struct(item) => {
                if !self.written.iter().any(|known| known == name) {
                    self.written.push(name.to_owned());
                    let class = self.class(item)?;
                    self.text.push_str(&class);
                }
                Ok(name.to_owned())
            }
        }
    }

    fn class(&mut self, item: &ItemStruct) -> Result<String, String> {
        let Declaration { bases, attributes } = self.declaration(item)?;
        let mut below = String::new();
        let mut fields = String::new();
        for Attr { name, kind, doc } in &attributes {
            below += &format!("{}\n", docs::wrapped(&format!("{name}: {doc}"), 8, 4));
            fields += &format!("    {name}: {kind}\n");
        }
        if !attributes.is_empty() {
            (below, fields) = (format!("\n    Attributes:\n{below}"), format!("\n{fields}"));
        }
        let doc = docs::docstring(&docs::of(&item.attrs), &below, 4);
        let bases = if bases.is_empty() { "Record".to_owned() } else { bases.join(", ") };
        Ok(format!("\n\nclass {}({bases}):\n{doc}{fields}", item.ident))
    }

    fn declaration(&mut self, item: &ItemStruct) -> Result<Declaration, String> {
        let mut found = Declaration::default();
        for field in &item.fields {
            let options = serde_options(&field.attrs);
            let has = |name: &str| options.iter().any(|option| option.path().is_ident(name));
            if has("flatten") {
                self.flatten(field, &mut found)?;
            } else if !has("skip") {
                found.attributes.push(self.attribute(field, &options)?);
            }
        }
        Ok(found)
    }

    fn attribute(&mut self, field: &Field, options: &[Meta]) -> Result<Attr, String> {
        let own = field.ident.as_ref().ok_or("a result has a field without a name")?.to_string();
        let renamed = options.iter().find(|option| option.path().is_ident("rename")).and_then(text_of);
        let name = attribute_name(renamed.as_deref().unwrap_or(own.trim_start_matches("r#")), &TAKEN);
        let mut kind = self.type_of(&field.ty)?;
        if options.iter().any(|option| option.path().is_ident("skip_serializing_if")) && !kind.ends_with(" | None") {
            kind.push_str(" | None");
        }
        Ok(Attr { name, kind, doc: docs::of(&field.attrs).join(" ") })
    }

    /// Adds what a flattened struct has: its class as a base; or, where the struct need not be there, its attributes, each
    /// of which may be missing.
    fn flatten(&mut self, field: &Field, into: &mut Declaration) -> Result<(), String> {
        let segment = last(&field.ty).ok_or("only structs are flattened")?;
        let [own] = arguments(segment)[..] else {
            into.bases.push(self.type_of_name(&segment.ident.to_string())?);
            return Ok(());
        };
        let name = last(own).ok_or("only structs are flattened")?.ident.to_string();
        let Found::Struct(item) = self.sources.find_serialised(&name)? else {
            return Err(format!("{name} is flattened and no struct"));
        };
        let Declaration { bases, attributes } = self.declaration(item)?;
        if !bases.is_empty() {
            return Err(format!("{name} is flattened where it is there, and has bases itself"));
        }
        let optional = |own: Attr| Attr { kind: format!("{} | None", own.kind.trim_end_matches(" | None")), ..own };
        into.attributes.extend(attributes.into_iter().map(optional));
        Ok(())
    }
}

/// The words that stand for the variants of an enum.
fn literal(item: &ItemEnum) -> String {
    let style = serde_options(&item.attrs).iter().find(|option| option.path().is_ident("rename_all")).and_then(text_of);
    let word = |name: String| match style.as_deref() {
        Some("kebab-case") => separated(&name, '-'),
        Some("snake_case") => separated(&name, '_'),
        Some("lowercase") => name.to_lowercase(),
        _ => name,
    };
    let words: Vec<String> = item.variants.iter().map(|own| format!("\"{}\"", word(own.ident.to_string()))).collect();
    format!("Literal[{}]", words.join(", "))
}

fn separated(name: &str, by: char) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push(by);
        }
        text.extend(letter.to_lowercase());
    }
    text
}
