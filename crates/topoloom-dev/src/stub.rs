//! The stub of the bindings: what Python sees of each class and function, with its types.

use std::collections::BTreeSet;

use quote::ToTokens;
use syn::visit::{Visit, visit_expr_method_call, visit_macro};
use syn::{
    Attribute, ExprMethodCall, FnArg, GenericArgument, ImplItem, ImplItemFn, Item, ItemFn, ItemImpl, ItemStruct, Macro,
    Meta, Pat, ReturnType, Signature, Type,
};

use crate::docs;
use crate::sources::{Found, Sources};
use crate::types::{arguments, last, plain};

const HEAD: &str = r#""""The engine, in Rust. Everything here is wrapped by friendlier modules.

Generated from the bindings by ``make generate``: do not edit.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

"#;

const CONSTANTS: &str = r#"
__version__: str
MODEL_VERSION: int
DEFAULT_GBPS: float

class TopoloomError(ValueError):
    """A user's mistake, as one sentence: what was wrong, where, and what is allowed."""
"#;

/// A stub, and the results that its functions return.
pub struct Stub {
    /// The stub.
    pub text: String,
    /// The names of the results.
    pub results: Vec<String>,
}

/// The stub of all that the bindings register, in the order in which they do.
pub fn generate(bindings: &Sources) -> Result<Stub, String> {
    let mut registered = Registered::default();
    bindings.items().for_each(|item| registered.visit_item(item));
    let mut names = Names { bindings, results: BTreeSet::new() };
    let mut classes = String::new();
    for class in &registered.classes {
        classes += &names.class(class)?;
    }
    let mut functions = String::new();
    for name in &registered.functions {
        let of_name = |item: &&ItemFn| item.sig.ident == name;
        let functions_of = bindings.items().filter_map(|item| if let Item::Fn(own) = item { Some(own) } else { None });
        let own = functions_of.filter(|own| marked(&own.attrs, "pyfunction")).find(of_name);
        let own = own.ok_or_else(|| format!("there is no function {name}"))?;
        functions += &names.function(&own.sig, &own.attrs, &Place { class: None, is_static: false })?;
    }
    let results: Vec<String> = names.results.into_iter().collect();
    let import = format!("from topoloom.engine.results import {}\n", results.join(", "));
    Ok(Stub { text: format!("{HEAD}{import}{CONSTANTS}{classes}\n{functions}"), results })
}

/// What the module has, by the names of Rust.
#[derive(Default)]
struct Registered {
    classes: Vec<String>,
    functions: Vec<String>,
}

impl<'a> Visit<'a> for Registered {
    fn visit_macro(&mut self, own: &'a Macro) {
        if own.path.is_ident("wrap_pyfunction") {
            let text = own.tokens.to_string();
            let path = text.split(',').next().unwrap_or_default();
            self.functions.extend(path.rsplit("::").next().map(|name| name.trim().to_owned()));
        }
        visit_macro(self, own);
    }

    fn visit_expr_method_call(&mut self, call: &'a ExprMethodCall) {
        // Calls are nested: the first of a chain, or the argument of one, comes first.
        visit_expr_method_call(self, call);
        if call.method == "add_class" {
            let kinds = call.turbofish.iter().flat_map(|fish| &fish.args);
            self.classes.extend(kinds.filter_map(|kind| match kind {
                GenericArgument::Type(own) => last(own).map(|segment| segment.ident.to_string()),
                _ => None,
            }));
        }
    }
}

/// Where a function stands.
struct Place<'a> {
    class: Option<&'a str>,
    is_static: bool,
}

/// What names stand for.
struct Names<'s> {
    bindings: &'s Sources,
    results: BTreeSet<String>,
}

impl Names<'_> {
    fn class(&mut self, rust: &str) -> Result<String, String> {
        let Found::Struct(item) = self.bindings.find(rust)? else { return Err(format!("{rust} is no struct")) };
        let name = python_name(item);
        let mut text = format!("\nclass {name}:\n{}", docs::docstring(&docs::of(&item.attrs), "", 4));
        for field in item.fields.iter().filter(|field| is_read(&field.attrs)) {
            let own = field.ident.as_ref().ok_or("a field that Python reads has no name")?;
            let kind = self.type_of(&field.ty, false, None)?;
            text += &format!("    @property\n    def {own}(self) -> {kind}: ...\n");
        }
        let bindings = self.bindings;
        let blocks = bindings.items().filter_map(|item| if let Item::Impl(own) = item { Some(own) } else { None });
        for block in blocks.filter(|own| marked(&own.attrs, "pymethods") && is_of(own, rust)) {
            for item in &block.items {
                if let ImplItem::Fn(own) = item {
                    text += &self.method(own, &name)?;
                }
            }
        }
        Ok(text)
    }

    fn method(&mut self, own: &ImplItemFn, class: &str) -> Result<String, String> {
        let is_static = marked(&own.attrs, "staticmethod");
        let above = match () {
            () if is_static => "    @staticmethod\n",
            () if marked(&own.attrs, "getter") => "    @property\n",
            () => "",
        };
        let place = Place { class: Some(class), is_static };
        Ok(format!("{above}{}", self.function(&own.sig, &own.attrs, &place)?))
    }

    fn function(&mut self, of: &Signature, attributes: &[Attribute], place: &Place<'_>) -> Result<String, String> {
        let (is_new, indent) = (marked(attributes, "new"), if place.class.is_some() { 4 } else { 0 });
        let mut parameters = Vec::new();
        if place.class.is_some() && !place.is_static {
            parameters.push("self".to_owned());
        }
        let defaults = defaults(attributes);
        for argument in &of.inputs {
            let FnArg::Typed(own) = argument else { continue };
            let Pat::Ident(name) = &*own.pat else { return Err(format!("{}: a parameter without a name", of.ident)) };
            let name = name.ident.to_string();
            let outer = last(match &*own.ty {
                Type::Reference(reference) => &reference.elem,
                other => other,
            });
            if name == "slf" || outer.is_some_and(|segment| segment.ident == "Python") {
                continue;
            }
            let kind = self.type_of(&own.ty, true, place.class)?;
            let default = defaults.iter().find(|(known, _)| *known == name);
            parameters
                .push(default.map_or(format!("{name}: {kind}"), |(_, value)| format!("{name}: {kind} = {value}")));
        }
        let result = match &of.output {
            _ if is_new => "None".to_owned(),
            ReturnType::Default => "None".to_owned(),
            ReturnType::Type(_, own) => self.type_of(own, false, place.class)?,
        };
        let name = if is_new { "__init__".to_owned() } else { of.ident.to_string() };
        let doc = docs::of(attributes);
        let head = format!("{}def {name}({}) -> {result}:", " ".repeat(indent), parameters.join(", "));
        if doc.is_empty() {
            return Ok(format!("{head} ...\n"));
        }
        Ok(format!("{head}\n{}", docs::docstring(&doc, "", indent + 4)))
    }

    /// Python's type of a type of Rust, as an argument or as a result.
    fn type_of(&mut self, of: &Type, takes: bool, class: Option<&str>) -> Result<String, String> {
        match of {
            Type::Reference(reference) => return self.type_of(&reference.elem, takes, class),
            Type::Array(array) => return self.several(&array.elem, takes, class),
            Type::Tuple(tuple) if tuple.elems.is_empty() => return Ok("None".to_owned()),
            Type::Tuple(tuple) => {
                let kinds = tuple.elems.iter().map(|own| self.type_of(own, takes, class));
                return Ok(format!("tuple[{}]", kinds.collect::<Result<Vec<_>, _>>()?.join(", ")));
            }
            _ => {}
        }
        let segment = last(of).ok_or_else(|| format!("no type of Python stands for {}", of.to_token_stream()))?;
        let inner = arguments(segment);
        match (segment.ident.to_string().as_str(), inner.as_slice()) {
            ("PyResult" | "Result" | "Py" | "Bound" | "PyRef", [own]) => self.type_of(own, takes, class),
            ("Option", [own]) => Ok(format!("{} | None", self.type_of(own, takes, class)?)),
            ("Vec", [own]) => self.several(own, takes, class),
            ("Record", [own]) => {
                let name = last(own).ok_or("a record is of a type with a name")?.ident.to_string();
                self.results.insert(name.clone());
                Ok(name)
            }
            ("PyArray1" | "PyArray2" | "PyReadonlyArray1" | "PyReadonlyArray2", [own]) => {
                let kind = own.to_token_stream().to_string().replace('f', "float").replace('u', "uint");
                let kind = if kind.starts_with('i') { kind.replacen('i', "int", 1) } else { kind };
                Ok(format!("NDArray[np.{kind}]"))
            }
            ("Self", []) => Ok(class.ok_or("Self stands outside of a class")?.to_owned()),
            (name, _) => self.named(name, takes, class),
        }
    }

    fn named(&mut self, name: &str, takes: bool, class: Option<&str>) -> Result<String, String> {
        if let Some(plain) = plain(name) {
            return Ok(plain.to_owned());
        }
        match self.bindings.find(name)? {
            Found::Struct(item) => Ok(python_name(item)),
            Found::Alias(alias) => self.type_of(&alias.ty, takes, class),
            Found::Enum(_) | Found::Id => Err(format!("no type of Python stands for {name}")),
        }
    }

    fn several(&mut self, own: &Type, takes: bool, class: Option<&str>) -> Result<String, String> {
        let kind = if takes { "Sequence" } else { "list" };
        Ok(format!("{kind}[{}]", self.type_of(own, takes, class)?))
    }
}

fn marked(attributes: &[Attribute], name: &str) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident(name))
}

fn is_of(block: &ItemImpl, name: &str) -> bool {
    last(&block.self_ty).is_some_and(|segment| segment.ident == name)
}

fn is_read(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|own| own.path().is_ident("pyo3") && own.meta.to_token_stream().to_string().contains("get"))
}

/// The name by which Python knows a class.
fn python_name(item: &ItemStruct) -> String {
    let own = item.attrs.iter().find(|attribute| attribute.path().is_ident("pyclass"));
    let text = own.map(|own| own.meta.to_token_stream().to_string()).unwrap_or_default();
    let named = text.split_once("name = \"").and_then(|(_, rest)| rest.split_once('"'));
    named.map_or(item.ident.to_string(), |(name, _)| name.to_owned())
}

/// The defaults of parameters, as Python writes them.
fn defaults(attributes: &[Attribute]) -> Vec<(String, String)> {
    let of_python = |own: &&Attribute| own.path().is_ident("pyo3");
    let text = |own: &Attribute| match &own.meta {
        Meta::List(list) => list.tokens.to_string(),
        _ => String::new(),
    };
    let signature = attributes.iter().filter(of_python).map(text).find(|text| text.starts_with("signature"));
    let inside = signature.as_deref().and_then(|text| text.split_once('(')).map_or("", |(_, rest)| rest);
    let pairs = inside.trim_end().trim_end_matches(')').split(',').filter_map(|item| item.split_once('='));
    pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect()
}
