//! A class of Python for each result: the structs that cross to Python, and those within them.

use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Field, ItemEnum, ItemStruct, Lit, Meta, Token, Type};

use crate::docs;
use crate::sources::{Found, Sources};
use crate::types::{arguments, last, plain};

const HEAD: &str = r#""""The results of the engine. Generated from the crate by ``make generate``: do not edit."""

from typing import Literal

from topoloom.engine.records import Record
"#;

/// Words of Python that no attribute can be called.
const KEYWORDS: [&str; 10] = ["from", "global", "in", "is", "as", "class", "def", "import", "lambda", "with"];

/// Names that records have already.
const TAKEN: [&str; 12] =
    ["clear", "copy", "fields", "fromkeys", "get", "items", "keys", "of_json", "pop", "setdefault", "update", "values"];

/// The module with the classes of `roots`, and of all that they hold.
pub fn generate(engine: &Sources, roots: &[String]) -> Result<String, String> {
    let mut classes = Classes { engine, written: Vec::new(), text: HEAD.to_owned() };
    for root in roots {
        classes.type_of_name(root)?;
    }
    Ok(classes.text)
}

/// The classes so far.
struct Classes<'s> {
    engine: &'s Sources,
    written: Vec<String>,
    text: String,
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
            (name, _) => self.type_of_name(name),
        }
    }

    fn type_of_name(&mut self, name: &str) -> Result<String, String> {
        if let Some(plain) = plain(name) {
            return Ok(plain.to_owned());
        }
        match self.engine.find_serialised(name)? {
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
        let attributes = self.attributes(item)?;
        let mut below = "\n    Attributes:\n".to_owned();
        let mut fields = String::new();
        for Attr { name, kind, doc } in &attributes {
            below += &format!("{}\n", docs::wrapped(&format!("{name}: {doc}"), 8, 4));
            fields += &format!("    {name}: {kind}\n");
        }
        let doc = docs::docstring(&docs::of(&item.attrs), &below, 4);
        Ok(format!("\n\nclass {}(Record):\n{doc}\n{fields}", item.ident))
    }

    /// The attributes of a struct, with those of the structs that are flattened into it.
    fn attributes(&mut self, item: &ItemStruct) -> Result<Vec<Attr>, String> {
        let mut found = Vec::new();
        for field in &item.fields {
            let options = serde_options(&field.attrs);
            let has = |name: &str| options.iter().any(|option| option.path().is_ident(name));
            if has("flatten") {
                found.extend(self.flattened(field)?);
            } else if !has("skip") {
                found.push(self.attribute(field, &options)?);
            }
        }
        Ok(found)
    }

    fn attribute(&mut self, field: &Field, options: &[Meta]) -> Result<Attr, String> {
        let own = field.ident.as_ref().ok_or("a result has a field without a name")?.to_string();
        let renamed = options.iter().find(|option| option.path().is_ident("rename")).and_then(text_of);
        let name = renamed.unwrap_or(own);
        if TAKEN.contains(&name.as_str()) {
            return Err(format!("a result has a field {name}, as records have a method of that name"));
        }
        let name = if KEYWORDS.contains(&name.as_str()) { format!("{name}_") } else { name };
        let mut kind = self.type_of(&field.ty)?;
        if options.iter().any(|option| option.path().is_ident("skip_serializing_if")) && !kind.ends_with(" | None") {
            kind.push_str(" | None");
        }
        Ok(Attr { name, kind, doc: docs::of(&field.attrs).join(" ") })
    }

    fn flattened(&mut self, field: &Field) -> Result<Vec<Attr>, String> {
        let segment = last(&field.ty).ok_or("only structs are flattened")?;
        let (segment, optional) = match arguments(segment).as_slice() {
            [own] if segment.ident == "Option" => (last(own).ok_or("only structs are flattened")?, true),
            _ => (segment, false),
        };
        let Found::Struct(item) = self.engine.find_serialised(&segment.ident.to_string())? else {
            return Err(format!("{} is flattened and no struct", segment.ident));
        };
        let mut found = self.attributes(item)?;
        for attribute in found.iter_mut().filter(|own| optional && !own.kind.ends_with(" | None")) {
            attribute.kind.push_str(" | None");
        }
        Ok(found)
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

/// What stands in the `serde` attributes of an item.
fn serde_options(attributes: &[Attribute]) -> Vec<Meta> {
    let own = attributes.iter().filter(|attribute| attribute.path().is_ident("serde"));
    let parsed = own.filter_map(|own| own.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok());
    parsed.flatten().collect()
}

fn text_of(option: &Meta) -> Option<String> {
    let Meta::NameValue(pair) = option else { return None };
    match &pair.value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}
