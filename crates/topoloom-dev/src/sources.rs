//! The sources of a crate, parsed.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use proc_macro2::TokenTree;
use quote::ToTokens;
use syn::{Attribute, Item, ItemEnum, ItemStruct, ItemType};

/// All items of a crate, those of tests aside.
pub struct Sources {
    /// The items of each file, by its path.
    pub files: BTreeMap<String, Vec<Item>>,
}

impl Sources {
    /// Reads all files below a directory.
    pub fn read(directory: &Path) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        let mut directories = vec![directory.to_owned()];
        while let Some(next) = directories.pop() {
            for entry in fs::read_dir(next)? {
                let path = entry?.path();
                if path.is_dir() {
                    directories.push(path);
                } else if path.extension().is_some_and(|ending| ending == "rs") {
                    let parsed = syn::parse_file(&fs::read_to_string(&path)?);
                    let parsed = parsed.map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?;
                    files.insert(path.display().to_string(), parsed.items);
                }
            }
        }
        Ok(Self { files })
    }

    /// These and others.
    pub fn and(mut self, others: Self) -> Self {
        self.files.extend(others.files);
        self
    }

    /// All items.
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.files.values().flatten()
    }

    /// The type of a name that is serialised, which must be one alone; another name of a type only where there is none.
    pub fn find_serialised(&self, name: &str) -> Result<Found<'_>, String> {
        self.one(name, |attributes| {
            attributes.iter().any(|own| own.meta.to_token_stream().to_string().contains("Serialize"))
        })
    }

    /// The type of a name, likewise.
    pub fn find(&self, name: &str) -> Result<Found<'_>, String> {
        self.one(name, |_| true)
    }

    fn one(&self, name: &str, wanted: impl Fn(&[Attribute]) -> bool) -> Result<Found<'_>, String> {
        let found = self.items().filter_map(|item| match item {
            Item::Struct(item) if item.ident == name && wanted(&item.attrs) => Some(Found::Struct(item)),
            Item::Enum(item) if item.ident == name && wanted(&item.attrs) => Some(Found::Enum(item)),
            Item::Type(item) if item.ident == name => Some(Found::Alias(item)),
            Item::Macro(item) if item.mac.path.is_ident("id") && last_name(&item.mac.tokens) == name => Some(Found::Id),
            _ => None,
        });
        let (aliases, types): (Vec<_>, Vec<_>) = found.partition(|found| matches!(found, Found::Alias(_)));
        let mut found = if types.is_empty() { aliases } else { types };
        match (found.pop(), found.pop()) {
            (Some(one), None) => Ok(one),
            (None, _) => Err(format!("there is no type {name}")),
            (Some(_), Some(_)) => Err(format!("{name} is the name of several types: results need names of their own")),
        }
    }
}

fn last_name(tokens: &proc_macro2::TokenStream) -> String {
    let names = tokens.clone().into_iter().filter_map(|token| match token {
        TokenTree::Ident(name) => Some(name.to_string()),
        _ => None,
    });
    names.last().unwrap_or_default()
}

/// What a name stands for.
pub enum Found<'s> {
    /// A struct.
    Struct(&'s ItemStruct),
    /// An enum.
    Enum(&'s ItemEnum),
    /// Another name of a type.
    Alias(&'s ItemType),
    /// A number that identifies something.
    Id,
}
